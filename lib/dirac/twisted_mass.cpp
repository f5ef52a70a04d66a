#include "lib/dirac/twisted_mass.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

/// (a + i b gamma_5) psi.
template <class F>
FermionExpr<F> twisted(double a, double b, const FermionExpr<F>& psi) {
  return RealOf<F>(a) * psi + RealOf<F>(b) * i_gamma_5(psi);
}

}  // namespace

template <class F>
FermionExpr<F> TwistedMassOperator<F>::diagonal(const FermionExpr<F>& psi, Sign sign) const {
  return twisted<F>(mass_term(), sign == Sign::plus ? mu_ : -mu_, psi);
}

// (a + i mu g5) (a - i mu g5) = a^2 + mu^2.
template <class F>
FermionExpr<F> TwistedMassOperator<F>::diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const {
  const double a = mass_term(), norm = a * a + mu_ * mu_;
  return twisted<F>(a / norm, (sign == Sign::plus ? -mu_ : mu_) / norm, psi);
}

template <class F>
Double TwistedMassOperator<F>::log_det_diagonal(const Subset& sites) const {
  const LatticeReal one = 1.0;
  return Double(Ns * Nc * std::log(std::hypot(mass_term(), mu_))) * norm2(one, sites);
}

template class TwistedMassOperator<LatticeFermionD>;
template class TwistedMassOperator<LatticeFermionF>;

}  // namespace qcd
