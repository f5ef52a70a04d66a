// The language's site types read into reference values, through elem() alone, as a user's program would.
#pragma once

#include "qdp.h"
#include "tests/reference/site_value.hpp"
#include "tests/reference/whole.hpp"

#include <vector>

namespace reference {

template <class T>
struct Level;  // of one level: its index, and its components in the order rows, columns
template <class T>
struct Level<QDP::PScalar<T>> {
  using Inner = T;
  static Index index() { return Index::number(); }
  static const T& at(const QDP::PScalar<T>& x, int, int) { return x.elem(); }
};
template <class T, int N>
struct Level<QDP::PColorVector<T, N>> {
  using Inner = T;
  static Index index() { return Index::column(N); }
  static const T& at(const QDP::PColorVector<T, N>& x, int i, int) { return x.elem(i); }
};
template <class T, int N>
struct Level<QDP::PSpinVector<T, N>> {
  using Inner = T;
  static Index index() { return Index::column(N); }
  static const T& at(const QDP::PSpinVector<T, N>& x, int i, int) { return x.elem(i); }
};
template <class T, int N>
struct Level<QDP::PColorMatrix<T, N>> {
  using Inner = T;
  static Index index() { return Index::matrix(N); }
  static const T& at(const QDP::PColorMatrix<T, N>& x, int i, int j) { return x.elem(i, j); }
};
template <class T, int N>
struct Level<QDP::PSpinMatrix<T, N>> {
  using Inner = T;
  static Index index() { return Index::matrix(N); }
  static const T& at(const QDP::PSpinMatrix<T, N>& x, int i, int j) { return x.elem(i, j); }
};

template <class W>
Number number(const QDP::RScalar<W>& x) {
  return {static_cast<double>(x.elem()), 0};
}
template <class W>
Number number(const QDP::RComplex<W>& x) {
  return {static_cast<double>(x.real()), static_cast<double>(x.imag())};
}

template <class T>
struct WordOf;
template <class W>
struct WordOf<QDP::RScalar<W>> {
  using type = W;
  static constexpr bool complex = false;
};
template <class W>
struct WordOf<QDP::RComplex<W>> {
  using type = W;
  static constexpr bool complex = true;
};
template <class T>
requires requires { typename Level<T>::Inner; } struct WordOf<T> : WordOf<typename Level<T>::Inner> {};
/// The word of a site type: float, double, int or bool.
template <class T>
using word_of = typename WordOf<T>::type;

template <class T>
SiteValue value(const T& site) {
  using Spin = Level<T>;
  using Color = Level<typename Spin::Inner>;
  SiteValue r(Spin::index(), Color::index(), WordOf<T>::complex);
  for (int s = 0; s < r.spin.rows; ++s)
    for (int t = 0; t < r.spin.cols; ++t)
      for (int a = 0; a < r.color.rows; ++a)
        for (int b = 0; b < r.color.cols; ++b) r.at(s, t, a, b) = number(Color::at(Spin::at(site, s, t), a, b));
  return r;
}

/// Every site of the lattice, in host order. Collective.
template <class T>
std::vector<SiteValue> values(const QDP::OLattice<T>& x) {
  std::vector<SiteValue> r;
  for (const T& site : whole(x)) r.push_back(value(site));
  return r;
}
/// Those of this rank, in host order.
template <class T>
std::vector<SiteValue> values_here(const QDP::OLattice<T>& x) {
  std::vector<SiteValue> r;
  for (int i = 0; i < x.lattice().sitesOnNode(); ++i) r.push_back(value(x.elem(i)));
  return r;
}

}  // namespace reference
