// The group SU(Nc), for one colour U(1), at one site: projections to the algebra and to the group, and the exponential between them.
//
// Each is a site function (traced once, used in expressions like any other function); the formulas are in su3.cpp.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

namespace site {
QDP::Sym taproj(const QDP::Sym& m);
/// cos(acos(x)/3) for 0 <= x <= 1, of which the eigenvalues of 3x3 matrices are made: the largest root of 4 g^3 - 3 g = x by three steps of
/// Newton's method. The parabola through the values at 0, 1/2 and 1 is off by 6e-4 at most, the steps by 5e-7, 4e-13, and rounding.
QDP::Sym cos_of_third(const QDP::Sym& x);
QDP::Sym exp(const QDP::Sym& x);
QDP::Sym exp12(const QDP::Sym& x);
QDP::Sym exp_pull_back(const QDP::Sym& x, const QDP::Sym& m);
QDP::Sym unitarize(const QDP::Sym& u);
QDP::Sym unitarity_defect(const QDP::Sym& u);
}  // namespace site

/// Dimension of the group. One colour is U(1), whose algebra has a trace, as in Chroma.
constexpr int kGenerators = QDP::Nc == 1 ? 1 : QDP::Nc * QDP::Nc - 1;

/// taproj(m) = (m - m^+)/2 - tr(m - m^+)/(2 Nc): the traceless anti-Hermitian part; for one colour i Im m. Idempotent.
inline const auto taproj = QDP::siteFunction<1>("taproj", site::taproj);

/// exp(x) in SU(Nc) of a traceless anti-Hermitian x, exact to working precision. Nc = 3:
/// f0 + f1 Q + f2 Q^2 with Q = -i x, from the Cayley-Hamilton theorem.  Other Nc: the series of x/64, squared six times.
/// Source: Morningstar and Peardon, Phys. Rev. D69 (2004) 054501 (hep-lat/0311018), eqs. (19) to (34).
inline const auto su3_exp = QDP::siteFunction<1>("su3_exp", site::exp);

/// The Taylor series of exp(x) up to x^12; unitary only for small x. Defines the DISORDERED start.
inline const auto su3_exp12 = QDP::siteFunction<1>("su3_exp12", site::exp12);

/// The derivative of the exponential: su3_exp_pull_back(x, m) is the traceless anti-Hermitian a with
///   Re tr(m d exp(x)) = Re tr(a dx)  for every traceless anti-Hermitian dx.
/// Exact to working precision, whatever the eigenvalues of x.
/// Source: hep-lat/0311018, eqs. (57) to (74).
inline const auto su3_exp_pull_back = QDP::siteFunction<2>("su3_exp_pull_back", site::exp_pull_back);

/// The nearby matrix of SU(Nc) by Gram-Schmidt on the columns: the first is normalised, each next one made orthogonal
/// and normalised, the last is the conjugate cross product of the others (so det = 1); for one colour u/|u|.
inline const auto su3_unitarize = QDP::siteFunction<1>("su3_unitarize", site::unitarize);

/// Real, 0 in SU(Nc): sqrt( |u^+ u - 1|^2 + |u - su3_unitarize(u)|^2 ), Frobenius norms; the second term sees the
/// determinant.
inline const auto su3_defect = QDP::siteFunction<1, QDP::LatticeReal>("su3_defect", site::unitarity_defect);

/// The largest defect that rounding may cause: 1e-10 for double words, 1e-5 for float (files in float carry 2e-7).
double unitarity_tolerance();

/// Projects the links whose defect exceeds unitarity_tolerance(); the others keep their bits, so that reading back a
/// saved field changes nothing. Returns how many links were projected.
long reunitarize(GaugeField& u);

/// Whether links are in the group, to be asked for after statements that change them: what has been found of several fields comes from
/// the kernels that compute them.
class UnitarityCheck {
 public:
  /// Of the values that u has now.
  explicit UnitarityCheck(const QDP::LatticeColorMatrix& u);
  /// As check_unitarity().
  void require(const char* when) const;

 private:
  QDP::LatticeReal defect_;
  QDP::PendingSum<QDP::Double> squares_;
};

/// Throws NumericsError if a link of `u` is further from the group than unitarity_tolerance() or not finite; `when`
/// names the moment for the message.
void check_unitarity(const QDP::LatticeColorMatrix& u, const char* when);

}  // namespace qcd
