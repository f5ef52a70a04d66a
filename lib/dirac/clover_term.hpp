// The clover term: the part of the Wilson-clover operator that acts within a site,
//
//   A = T + i mu gamma_5,   T = a - 1/2 sum_{mu<nu} c_mu,nu gamma_mu gamma_nu F_mu,nu,   F = 1/8 sum_leaves (W - W^+),
//
// a the Wilson operator's diagonal, W the four plaquettes that begin and end at a site, walked in the sense +mu -> +nu.
// F is anti-Hermitian, so T is Hermitian; it commutes with gamma_5, so T is two Hermitian blocks of 2 Nc rows. They are
// kept in compressed form: 2 Nc real diagonal entries and Nc (2 Nc - 1) complex ones below the diagonal.
// Source: Sheikholeslami and Wohlert, Nucl. Phys. B259 (1985) 572; Chroma's normalisation and anisotropic coefficients.
#pragma once

#include "lib/solver/linear_operator.hpp"

#include <functional>

namespace qcd {

/// Two Hermitian blocks per site (x | block, entry): the diagonal, then the rows of the triangle below it as (re, im).
template <class W>
using PackedHermitian = QDP::OLattice<QDP::PSpinVector<QDP::PColorVector<QDP::RScalar<W>, 4 * QDP::Nc * QDP::Nc>, 2>>;

/// Per plane mu < nu, a colour matrix field l; together they stand for 2 Re sum_{mu<nu} tr F_mu,nu l_mu,nu.
struct Insertion {
  int mu, nu;
  QDP::LatticeColorMatrix l;
};
using Insertions = std::vector<Insertion>;

/// g += derivative (conv. 9) of what l stands for, at the links v.
void add_field_strength_derivative(GaugeField& g, const GaugeField& v, const Insertions& l);

/// c_mu,nu, mu < nu.
using PlaneCoefficient = std::function<double(int mu, int nu)>;

/// A in F's precision (LatticeFermionD or LatticeFermionF), built from links in the program's.
template <class F>
class CloverTerm {
 public:
  CloverTerm(const GaugeField& v, double a, PlaneCoefficient c, double twist);

  /// A psi, and A^-1 psi = (T - i mu gamma_5) (T^2 + mu^2)^-1 psi; or with A^+.
  FermionExpr<F> apply(const FermionExpr<F>& psi, Sign sign) const;
  FermionExpr<F> apply_inverse(const FermionExpr<F>& psi, Sign sign) const;

  /// T and its inverse in 16 bits from now on.
  void keep_in_half() {
    keepInHalf(term_);
    keepInHalf(inverse_);
  }

  /// sum over `sites` of ln |det A|. Throws NumericsError where that is not finite.
  QDP::Double log_det(const QDP::Subset& sites) const;
  /// How many eigenvalues of T at `sites` are negative; for an odd number det T is, too.
  long negative_eigenvalues(const QDP::Subset& sites) const;

  /// Adds what stands for weight * 2 Re sum_sites y^+ A x; an empty list is one of zeros.
  void add_insertions(Insertions& l, const F& y, const F& x, double weight, const QDP::Subset& sites) const;
  /// What stands for the derivative of weight * log_det(sites).
  Insertions log_det_insertions(const QDP::Subset& sites, double weight) const;

 private:
  using Packed = PackedHermitian<typename QDP::WordType<F>::Type_t>;

  RealOf<F> mu(Sign sign) const { return sign == Sign::plus ? mu_ : -mu_; }

  PlaneCoefficient c_;
  double mu_;
  Packed term_;     ///< T
  Packed inverse_;  ///< T^-1; with a twisted mass (T^2 + mu^2)^-1
};

}  // namespace qcd
