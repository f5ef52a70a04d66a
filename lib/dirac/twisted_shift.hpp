// M + i mu gamma_5 for a given M: a mass shift that commutes with preconditioning, for Hasenbusch ratios in mu.
#pragma once

#include "lib/solver/linear_operator.hpp"

#include <memory>

namespace qcd {

/// M' = M + i mu gamma_5 on M's sites; (M + i mu g5)^+ (M + i mu g5) = M^+ M + mu^2 where g5 M = M^+ g5.
template <class F>
class TwistedShift : public FermionOperator<F> {
 public:
  TwistedShift(std::unique_ptr<FermionOperator<F>> m, double mu) : m_(std::move(m)), mu_(mu) {}

  const QDP::Subset& domain() const override { return m_->domain(); }
  void apply(F& out, const F& in, Sign sign) const override { out[domain()] = (*this)(in, sign); }
  FermionExpr<F> operator()(const F& in, Sign sign) const override {
    const RealOf<F> mu = sign == Sign::plus ? mu_ : -mu_;
    return (*m_)(in, sign) + mu * i_gamma_5(in);
  }
  void add_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const override {
    m_->add_derivative(g, y, x, weight);
  }
  double flops() const override { return m_->flops() + 48.0 * static_cast<double>(globalSites(domain())); }

 private:
  std::unique_ptr<FermionOperator<F>> m_;
  double mu_;
};

}  // namespace qcd
