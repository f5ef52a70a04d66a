// The kinds of fermion fields, their links and scalars, in both precisions.
#pragma once

#include "lib/gauge/gauge_field.hpp"

#include <type_traits>
#include <utility>

namespace qcd {

/// Links, scalars and precisions that go with a fermion field F.
template <class F>
struct FermionTraits;

struct DoublePrecisionTraits {
  using Links = QDP::multi1d<QDP::LatticeColorMatrixD>;
  using Real = QDP::RealD;
  using Complex = QDP::ComplexD;
};
struct SinglePrecisionTraits {
  using Links = QDP::multi1d<QDP::LatticeColorMatrixF>;
  using Real = QDP::RealF;
  using Complex = QDP::ComplexF;
};

template <>
struct FermionTraits<QDP::LatticeFermionD> : DoublePrecisionTraits {
  using Single = QDP::LatticeFermionF;
};
template <>
struct FermionTraits<QDP::LatticeFermionF> : SinglePrecisionTraits {
  using Single = QDP::LatticeFermionF;
};
template <>
struct FermionTraits<QDP::LatticeStaggeredFermionD> : DoublePrecisionTraits {
  using Single = QDP::LatticeStaggeredFermionF;
};
template <>
struct FermionTraits<QDP::LatticeStaggeredFermionF> : SinglePrecisionTraits {
  using Single = QDP::LatticeStaggeredFermionF;
};

/// The links V that act on F, [Nd].
template <class F>
using LinksOf = typename FermionTraits<F>::Links;
/// A host scalar in F's precision.
template <class F>
using RealOf = typename FermionTraits<F>::Real;
template <class F>
using ComplexOf = typename FermionTraits<F>::Complex;
/// F in single precision.
template <class F>
using Single = typename FermionTraits<F>::Single;

/// An expression with a value of F per site, not yet computed.
template <class F>
using FermionExpr = QDP::QDPExpr<typename F::Site, F>;

/// i gamma_5 psi: what a twisted mass multiplies.
template <class Psi>
auto i_gamma_5(const Psi& psi) {
  return QDP::timesI(QDP::Gamma(QDP::Ns * QDP::Ns - 1) * psi);
}

/// The same links in another precision; themselves if they have it.
template <class To, class From> requires(!std::is_same_v<To, From>) To converted_links(const From& u) {
  To v(u.size());
  for (int mu = 0; mu < u.size(); ++mu) v[mu] = u[mu];
  return v;
}
template <class To>
const To& converted_links(const To& u) {
  return u;
}
template <class To>
To converted_links(To&& u) {
  return std::move(u);
}

}  // namespace qcd
