// The operators made of a DiracOperator D = A + B: D itself, and its Schur complements on one parity.
//
// With e, o the even and odd sites, and M the operator that pseudofermions and solvers see:
//   none                 M = D on all sites
//   even_odd             M = A_oo - B_oe A_ee^-1 B_eo on odd sites,              det D = det A_ee det M
//   symmetric_even_odd   M = 1 - A_oo^-1 B_oe A_ee^-1 B_eo on odd sites,         det D = det A_ee det A_oo det M
//   even_source          M = D restricted to fields on even sites (even -> all): M^+ M = (D^+ D)_ee, for staggered
//                        quarks, where D^+ D does not mix parities and det D = det (D^+ D)_ee.
// Derivatives: with x' = (-A_ee^-1 B_eo x, x) and y' = (-A_ee^-1+ (B_oe)^+ y, y),  <y, dM x> = <y', dD x'> for even_odd.
#pragma once

#include "lib/dirac/dirac_operator.hpp"

#include <memory>

namespace qcd {

enum class Preconditioning { none, even_odd, symmetric_even_odd, even_source };

/// M with its links' derivative, plus i twist gamma_5 (twisted_shift.hpp). Shares the ownership of `dirac`.
/// Throws ShapeError for a twist of staggered quarks, and for any preconditioning on a lattice where a hop may keep parity
/// (checkerboard.hpp).
template <class F>
std::unique_ptr<FermionOperator<F>> make_preconditioned(std::shared_ptr<const DiracOperator<F>> dirac,
                                                        Preconditioning preconditioning, double twist = 0);

/// The solution of D' psi = chi through M (any preconditioning but even_source), D' being the operator on all sites that M
/// with its twist stands for: D + T, with T = i twist gamma_5 for none, the same on odd sites only for even_odd, and
/// A_oo i twist gamma_5 there for symmetric_even_odd.
/// prepare() makes the right-hand side b of M x = b; reconstruct() puts psi together from x and chi.
template <class F>
class SchurSystem {
 public:
  SchurSystem(std::shared_ptr<const DiracOperator<F>> dirac, Preconditioning preconditioning, double twist = 0);

  const FermionOperator<F>& op() const { return *op_; }
  F prepare(const F& chi) const;
  F reconstruct(const F& x, const F& chi) const;
  /// D' psi.
  F apply(const F& psi) const;

 private:
  std::shared_ptr<const DiracOperator<F>> dirac_;
  Preconditioning preconditioning_;
  double twist_;
  std::shared_ptr<FermionOperator<F>> op_;
};

}  // namespace qcd
