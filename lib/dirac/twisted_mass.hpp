// Wilson quarks with a twisted mass: D = D_W + i mu gamma_5, one flavour of a doublet +-mu.
//
// gamma_5 D(mu) gamma_5 = D(-mu)^+, so that det D^+ D = det D(mu) D(-mu) = det (D_W^+ D_W + mu^2): the two flavours.
// With kappa = 1/(2 (Nd + m)) the hopping-parameter form is 1 - kappa H + 2 i kappa mu gamma_5.
// Source: Frezzotti, Grassi, Sint and Weisz, JHEP 0108 (2001) 058 (hep-lat/0101001), eq. (2.5).
#pragma once

#include "lib/dirac/wilson.hpp"

namespace qcd {

struct TwistedMassParameters {
  WilsonParameters wilson = {};
  double mu = 0;
};

/// F: LatticeFermionD or LatticeFermionF.
template <class F>
class TwistedMassOperator : public WilsonOperator<F> {
 public:
  TwistedMassOperator(const LinksOf<F>& v, const TwistedMassParameters& parameters)
      : WilsonOperator<F>(v, parameters.wilson), mu_(parameters.mu) {}

  FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const override;
  QDP::Double log_det_diagonal(const QDP::Subset& sites) const override;
  double diagonal_flops() const override { return 72; }

 private:
  double mass_term() const { return this->parameters().diagonal(); }

  double mu_;
};

}  // namespace qcd
