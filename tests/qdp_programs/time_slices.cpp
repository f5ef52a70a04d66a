// Correlators projected on momenta: a set of time slices, a class of phases, sums over all slices at once.
#include <iomanip>
#include <vector>

#include "qdp.h"
using namespace QDP;

namespace {

class TimeSliceFunc : public SetFunc {
 public:
  explicit TimeSliceFunc(int dir) : dir_decay(dir) {}
  int operator()(const multi1d<int>& coordinate) const {
    return dir_decay < 0 || dir_decay >= Nd ? 0 : coordinate[dir_decay];
  }
  int numSubsets() const { return dir_decay < 0 || dir_decay >= Nd ? 1 : Layout::lattSize()[dir_decay]; }

 private:
  int dir_decay;
};

class Momenta {
 public:
  Momenta(int mom2_max, int j_decay) : decay(j_decay) {
    slices.make(TimeSliceFunc(j_decay));
    const int most = 1;
    multi1d<int> p(Nd - 1);
    for (p[0] = -most; p[0] <= most; ++p[0])
      for (p[1] = -most; p[1] <= most; ++p[1])
        for (p[2] = -most; p[2] <= most; ++p[2]) {
          int mom2 = 0;
          for (int i = 0; i < p.size(); ++i) mom2 += p[i] * p[i];
          if (mom2 > mom2_max) continue;
          LatticeReal p_dot_x = 0.0;
          for (int mu = 0, i = 0; mu < Nd; ++mu) {
            if (mu == decay) continue;
            p_dot_x += LatticeReal(Layout::latticeCoordinate(mu)) * Real(6.283185307179586 * p[i]) /
                       Real(Layout::lattSize()[mu]);
            ++i;
          }
          phases.push_back(cmplx(cos(p_dot_x), sin(p_dot_x)));
          momenta.push_back(p);
        }
  }
  int size() const { return int(phases.size()); }
  const multi1d<int>& operator[](int i) const { return momenta[i]; }
  template <typename T>
  multi2d<DComplex> sft(const OLattice<T>& f) const {
    multi2d<DComplex> result(size(), slices.numSubsets());
    for (int i = 0; i < size(); ++i) result[i] = sumMulti(phases[i] * f, slices);
    return result;
  }
  const Set& getSet() const { return slices; }

 private:
  int decay;
  Set slices;
  std::vector<LatticeComplex> phases;
  std::vector<multi1d<int>> momenta;
};

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[1] = 2;
  nrow[2] = 2;
  Layout::setLattSize(nrow);
  Layout::create();
  std::cout << std::setprecision(13);

  LatticeFermion a, b;
  random(a);
  random(b);
  for (int decay = 0; decay < Nd; decay += 3) {
    Momenta phases(1, decay);
    const LatticeComplex corr = localInnerProduct(a, Gamma(15) * b);
    const multi2d<DComplex> c = phases.sft(corr);
    QDPIO::cout << "decay " << decay << ": " << c.size2() << " momenta, " << c.size1() << " slices" << std::endl;
    for (int p = 0; p < phases.size(); ++p)
      for (int t = 0; t < c.size1(); t += 2)
        QDPIO::cout << phases[p][0] << phases[p][1] << phases[p][2] << " " << t << " " << c[p][t] << std::endl;
  }

  // One sum of several fields, and of a field on no direction: one slice.
  Set slices(TimeSliceFunc(3)), whole(TimeSliceFunc(-1));
  multi1d<LatticeReal> fields(3);
  for (int i = 0; i < fields.size(); ++i) fields[i] = Layout::latticeCoordinate(i) * (i + 1);
  multi2d<Double> sums(fields.size(), slices.numSubsets());
  for (int i = 0; i < fields.size(); ++i) sums[i] = sumMulti(fields[i], slices);
  for (int i = 0; i < sums.size2(); ++i)
    for (int t = 0; t < sums.size1(); ++t) QDPIO::cout << "sums " << i << " " << t << " " << sums[i][t] << std::endl;
  QDPIO::cout << whole.numSubsets() << " " << sumMulti(localNorm2(a), whole)[0] << " " << norm2(a) << std::endl;
  const multi1d<Int> sites = sumMulti(LatticeInteger(1), slices);
  for (int t = 0; t < sites.size(); ++t) QDPIO::cout << sites[t] << (t + 1 < sites.size() ? " " : "\n");

  QDP_finalize();
  return 0;
}
