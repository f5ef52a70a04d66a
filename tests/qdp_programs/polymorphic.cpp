// Fields in the containers of the standard library, operators behind base classes and in maps of factories, shared, moved, sorted.
#include <algorithm>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <vector>

#include "qdp.h"
using namespace QDP;

namespace {

template <typename T>
class Smearing {
 public:
  virtual ~Smearing() {}
  virtual T operator()(const T& x) const = 0;
  virtual std::string name() const = 0;
};

template <typename T>
class Nothing : public Smearing<T> {
 public:
  T operator()(const T& x) const { return x; }
  std::string name() const { return "nothing"; }
};

template <typename T>
class Neighbours : public Smearing<T> {
 public:
  Neighbours(double w, int n) : weight(w), steps(n) {}
  T operator()(const T& x) const {
    T y = x;
    for (int k = 0; k < steps; ++k) {
      T sum = y;
      for (int mu = 0; mu < Nd - 1; ++mu) sum += Real(weight) * (shift(y, FORWARD, mu) + shift(y, BACKWARD, mu));
      y = sum / (Real(1) + Real(2 * (Nd - 1)) * Real(weight));
    }
    return y;
  }
  std::string name() const { return "neighbours"; }

 private:
  double weight;
  int steps;
};

template <typename T>
T accumulate(const std::vector<T>& fields) {
  T total;
  total = zero;
  for (typename std::vector<T>::const_iterator x = fields.begin(); x != fields.end(); ++x) total += *x;
  return total;
}

bool smaller(const LatticeReal& a, const LatticeReal& b) { return toBool(norm2(a) < norm2(b)); }

LatticeComplex make(double re) {
  LatticeComplex z;
  z = cmplx(Real(re), Real(1));
  return z;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  typedef Smearing<LatticeColorVector> Base;
  std::map<std::string, std::function<std::shared_ptr<Base>()>> factory;
  factory["none"] = [] { return std::make_shared<Nothing<LatticeColorVector>>(); };
  factory["light"] = [] { return std::make_shared<Neighbours<LatticeColorVector>>(0.1, 1); };
  factory["heavy"] = [] { return std::make_shared<Neighbours<LatticeColorVector>>(0.5, 4); };
  LatticeColorVector source;
  gaussian(source);
  std::map<std::string, LatticeColorVector> results;
  for (auto& entry : factory) results[entry.first] = (*entry.second())(source);
  for (auto& entry : results)
    QDPIO::cout << entry.first << " " << norm2(entry.second) << " " << factory[entry.first]()->name() << std::endl;
  QDPIO::cout << norm2(results["none"] - source) << std::endl;

  std::vector<LatticeReal> fields;
  for (int i = 0; i < 6; ++i) {
    LatticeReal x;
    random(x);
    fields.push_back(Real((i * 5) % 7) * x);
  }
  QDPIO::cout << sum(accumulate(fields)) << std::endl;
  std::sort(fields.begin(), fields.end(), smaller);
  for (size_t i = 0; i < fields.size(); ++i) QDPIO::cout << norm2(fields[i]) << " ";
  QDPIO::cout << std::endl;
  fields.erase(fields.begin() + 2);
  fields.insert(fields.begin(), fields.back());
  std::swap(fields[1], fields[3]);
  std::reverse(fields.begin() + 1, fields.end());
  for (size_t i = 0; i < fields.size(); ++i) QDPIO::cout << sum(fields[i]) << " ";
  QDPIO::cout << fields.size() << std::endl;

  std::list<LatticeComplex> list;
  for (int i = 0; i < 4; ++i) list.push_front(make(i));
  list.remove_if([](const LatticeComplex& z) { return toDouble(real(sum(z))) == 32; });
  for (const LatticeComplex& z : list) QDPIO::cout << sum(z) << " ";
  QDPIO::cout << list.size() << std::endl;

  std::unique_ptr<LatticeFermion> psi(new LatticeFermion);
  gaussian(*psi);
  std::shared_ptr<LatticeFermion> shared(psi.release()), other = shared;
  *other = Real(2) * (*shared);
  const LatticeFermion copy = *shared;
  shared.reset();
  QDPIO::cout << other.use_count() << " " << norm2(copy - *other) << " " << norm2(*other) << std::endl;
  multi1d<std::pair<LatticeReal, int>> pairs(2);
  pairs[1] = std::make_pair(fields[0], 7);
  QDPIO::cout << sum(pairs[1].first - fields[0]) << pairs[1].second << std::endl;
  LatticeReal* raw = new LatticeReal[3];
  for (int i = 0; i < 3; ++i) raw[i] = Real(i);
  QDPIO::cout << sum(raw[0] + raw[1] * raw[2]) << std::endl;
  delete[] raw;

  QDP_finalize();
  return 0;
}
