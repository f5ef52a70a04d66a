#include "lib/meas/momenta.hpp"

#include "lib/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <numbers>
#include <string>

namespace qcd {

using namespace QDP;

namespace {

class SliceFunction : public SetFunc {
 public:
  explicit SliceFunction(int direction) : direction_(direction) {}
  int operator()(const multi1d<int>& coordinate) const override { return coordinate[direction_]; }
  int numSubsets() const override { return Layout::lattSize()[direction_]; }

 private:
  int direction_;
};

using Vector = std::vector<int>;

/// Every integer vector of squared length up to `mom2_max`, first component fastest.
std::vector<Vector> vectors_in_sphere(int mom2_max) {
  int reach = 0;
  while ((reach + 1) * (reach + 1) <= mom2_max) ++reach;
  std::vector<Vector> list;
  Vector n(Nd - 1, -reach);
  for (bool more = true; more;) {
    int length2 = 0;
    for (int component : n) length2 += component * component;
    if (length2 <= mom2_max) list.push_back(n);
    more = false;
    for (int& component : n) {
      if (component < reach) {
        ++component;
        more = true;
        break;
      }
      component = -reach;
    }
  }
  return list;
}

/// Components without signs, the largest first.
Vector canonical(Vector n) {
  for (int& component : n) component = std::abs(component);
  std::sort(n.rbegin(), n.rend());
  return n;
}

}  // namespace

multi1d<int> as_array(const std::vector<int>& n) {
  multi1d<int> array(static_cast<int>(n.size()));
  for (int i = 0; i < array.size(); ++i) array[i] = n[static_cast<std::size_t>(i)];
  return array;
}

Set time_slices(int direction) {
  if (direction < 0 || direction >= Nd)
    throw ShapeError("time_slices: expected a direction 0.." + std::to_string(Nd - 1) + ", got " +
                     std::to_string(direction));
  return Set(SliceFunction(direction));
}

Momenta::Momenta(int mom2_max, const multi1d<int>& origin, bool average, int j_decay)
    : j_decay_(j_decay), slices_(time_slices(j_decay)) {
  for (int mu = 0; mu < Nd; ++mu)
    if (origin.size() != Nd || origin[mu] < 0 || origin[mu] >= Layout::lattSize()[mu])
      throw ShapeError("Momenta: expected an origin on the lattice, one coordinate per direction");
  const std::vector<Vector> all_vectors = vectors_in_sphere(mom2_max);
  std::map<Vector, int> degeneracy;
  for (const Vector& n : all_vectors) ++degeneracy[canonical(n)];
  std::map<Vector, std::size_t> place;
  for (const Vector& n : all_vectors)
    if (!average || n == canonical(n)) {
      place[n] = list_.size();
      list_.push_back(as_array(n));
    }
  phases_.resize(list_.size());
  for (LatticeComplex& phase : phases_) phase = zero;
  for (const Vector& n : all_vectors) {
    const Vector key = average ? canonical(n) : n;
    add(as_array(n), origin, place.at(key), average ? 1.0 / degeneracy[key] : 1.0);
  }
}

Momenta::Momenta(int j_decay) : Momenta(0, as_array(Vector(Nd, 0)), false, j_decay) {}

void Momenta::add(const multi1d<int>& n, const multi1d<int>& origin, std::size_t place, double weight) {
  LatticeReal angle = zero;
  int component = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    if (mu == j_decay_) continue;
    angle += Real(2 * std::numbers::pi * n[component++] / Layout::lattSize()[mu]) *
             LatticeReal(Layout::latticeCoordinate(mu) - origin[mu]);
  }
  phases_[place] += Real(weight) * cmplx(cos(angle), sin(angle));
}

multi2d<DComplex> Momenta::project(const LatticeComplex& f) const {
  multi2d<DComplex> sums(size(), length());
  for (int k = 0; k < size(); ++k) {
    const multi1d<DComplex> slices = sumMulti(phases_[static_cast<std::size_t>(k)] * f, slices_);
    for (int t = 0; t < length(); ++t) sums(k, t) = slices[t];
  }
  return sums;
}

}  // namespace qcd
