// The staggered operator (conv. 10): D = A + B, A = m, B = 1/2 sum_mu eta_mu (forward - backward), B^+ = -B.
#pragma once

#include "lib/dirac/dirac_operator.hpp"

#include <memory>

namespace qcd {

/// The signs eta_mu(x) = (-)^(x_0 + ... + x_(mu-1)), fields of the lattice on which they are first asked for.
class StaggeredSigns {
 public:
  /// eta_mu, 0 <= mu < Nd.
  const QDP::LatticeReal& eta(int mu) const;

 private:
  mutable QDP::multi1d<QDP::LatticeReal> eta_;
};

struct StaggeredParameters {
  double mass = 0;
  /// Shared by the operators that are made with these parameters.
  std::shared_ptr<const StaggeredSigns> signs = std::make_shared<StaggeredSigns>();
};

/// F: LatticeStaggeredFermionD or LatticeStaggeredFermionF. Keeps W_mu = eta_mu V_mu / 2, so that a hop costs no more
/// than its matrix products: B psi(x) = sum_mu W_mu(x) psi(x+mu) - W_mu(x-mu)^+ psi(x-mu), as eta_mu(x-mu) = eta_mu(x).
template <class F>
class StaggeredOperator : public DiracOperator<F> {
 public:
  /// Throws ShapeError if `v` is not one field per direction, or an extent is odd (checkerboard.hpp).
  StaggeredOperator(const LinksOf<F>& v, const StaggeredParameters& parameters);

  FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const override;
  /// Throws ShapeError if m = 0, as does log_det_diagonal().
  FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> hop(const FermionExpr<F>& psi, Sign sign) const override;
  void add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const override;
  QDP::Double log_det_diagonal(const QDP::Subset& sites) const override;
  void keep_in_half() override;
  double hop_flops() const override { return 570; }  ///< 8 products of 66, 7 sums of 6
  double diagonal_flops() const override { return 6; }

 private:
  void require_mass(const char* where) const;

  LinksOf<F> w_;
  StaggeredParameters parameters_;
};

}  // namespace qcd
