// Projection of fields on momenta in slices: C(p, t) = sum_{x, x_t = t} exp(i p (x - x0)) f(x).
#pragma once

#include "qdp.h"

#include <vector>

namespace qcd {

/// Momenta p = 2 pi n/L across direction j_decay, with integer vectors n of squared length up to mom2_max.
/// With averaging, n runs over ordered vectors n1 >= n2 >= ... >= 0 and stands for the average over all permutations
/// and signs. The order of the list is Chroma's (first component fastest).
class Momenta {
 public:
  /// `origin`: x0, [Nd]. Throws ShapeError for a direction or an origin outside the lattice.
  Momenta(int mom2_max, const QDP::multi1d<int>& origin, bool average, int j_decay);
  /// Zero momentum alone.
  explicit Momenta(int j_decay);

  int size() const { return static_cast<int>(list_.size()); }
  /// n, [Nd - 1].
  const QDP::multi1d<int>& operator[](int k) const { return list_[static_cast<std::size_t>(k)]; }
  int j_decay() const { return j_decay_; }
  int length() const { return slices_.numSubsets(); }
  /// The slices across j_decay.
  const QDP::Set& slices() const { return slices_; }

  /// The sums of f in each slice, [momentum][t].
  QDP::multi2d<QDP::DComplex> project(const QDP::LatticeComplex& f) const;

 private:
  void add(const QDP::multi1d<int>& n, const QDP::multi1d<int>& origin, std::size_t place, double weight);

  int j_decay_;
  QDP::Set slices_;
  std::vector<QDP::multi1d<int>> list_;
  std::vector<QDP::LatticeComplex> phases_;
};

/// The same numbers.
QDP::multi1d<int> as_array(const std::vector<int>& values);

/// The set of slices x[direction] = t.
QDP::Set time_slices(int direction);

/// Slice t counted from t0: result[(t - t0) mod L] = values[t].
template <class T>
QDP::multi1d<T> counted_from(const QDP::multi1d<T>& values, int t0) {
  const int length = values.size();
  QDP::multi1d<T> shifted(length);
  for (int t = 0; t < length; ++t) shifted[(t - t0 + length) % length] = values[t];
  return shifted;
}

}  // namespace qcd
