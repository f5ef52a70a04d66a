// Quark fields that vanish on given sites, such as the boundaries of the Schroedinger functional.
#pragma once

#include "lib/dirac/dirac_operator.hpp"

#include <memory>

namespace qcd {

/// P D P + (1 - P), where P projects on the sites off the boundary: D between fields that vanish on the boundary, and
/// one on the boundary, so that M of any preconditioning has an inverse and det M is that of the sites off the
/// boundary. D's links reach the boundary sites: the clover term beside the boundary needs them.
///
/// log det A runs over boundary sites as well, as Chroma's does. There it is no part of det D but a local term of the
/// action next to the boundary; for Wilson quarks it is a constant.
/// Source: Sint, Nucl. Phys. B421 (1994) 135 (hep-lat/9312079).
template <class F>
class DirichletOperator : public DiracOperator<F> {
 public:
  /// `boundary` is true on the boundary's sites.
  DirichletOperator(std::shared_ptr<const DiracOperator<F>> d, const QDP::LatticeBoolean& boundary)
      : d_(std::move(d)), boundary_(boundary) {}

  FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> hop(const FermionExpr<F>& psi, Sign sign) const override;
  void add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const override;
  std::unique_ptr<DiagonalDerivative<F>> diagonal_derivative() const override;
  void project(F& psi) const override;

  bool constant_diagonal() const override { return d_->constant_diagonal(); }
  QDP::Double log_det_diagonal(const QDP::Subset& sites) const override { return d_->log_det_diagonal(sites); }
  void add_log_det_derivative(LinksOf<F>& g, const QDP::Subset& sites, double weight) const override {
    d_->add_log_det_derivative(g, sites, weight);
  }
  double hop_flops() const override { return d_->hop_flops(); }
  double diagonal_flops() const override { return d_->diagonal_flops(); }

 private:
  class Derivative;
  /// P psi.
  FermionExpr<F> inside(const FermionExpr<F>& psi) const;

  std::shared_ptr<const DiracOperator<F>> d_;
  QDP::LatticeBoolean boundary_;
};

}  // namespace qcd
