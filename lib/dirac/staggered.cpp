#include "lib/dirac/staggered.hpp"

#include "lib/gauge/checkerboard.hpp"

#include <cmath>
#include <optional>
#include <string>

namespace qcd {

using namespace QDP;

const LatticeReal& StaggeredSigns::eta(int mu) const {
  if (eta_.size() == 0) {
    eta_.resize(Nd);
    LatticeInteger sum = 0;
    for (int nu = 0; nu < Nd; ++nu) {
      eta_[nu] = where((sum & 1) == 0, LatticeReal(1.0), LatticeReal(-1.0));
      sum += Layout::latticeCoordinate(nu);
    }
  }
  return eta_[mu];
}

template <class F>
StaggeredOperator<F>::StaggeredOperator(const LinksOf<F>& v, const StaggeredParameters& parameters)
    : w_(v.size()), parameters_(parameters) {
  if (v.size() != Nd)
    throw ShapeError("StaggeredOperator: expected one link field per direction (" + std::to_string(Nd) + "), got " +
                     std::to_string(v.size()));
  require_checkerboard("StaggeredOperator");  // else the signs eta jump at the boundary
  for (int mu = 0; mu < Nd; ++mu) w_[mu] = Real(0.5) * parameters_.signs->eta(mu) * v[mu];
  compact<F>(w_, [this](const F& psi) { return StaggeredOperator::hop(+psi, Sign::plus); });
}

template <class F>
void StaggeredOperator<F>::require_mass(const char* where) const {
  if (parameters_.mass == 0)
    throw ShapeError(std::string("StaggeredOperator::") + where + ": expected a mass other than 0");
}

template <class F>
FermionExpr<F> StaggeredOperator<F>::diagonal(const FermionExpr<F>& psi, Sign) const {
  return RealOf<F>(parameters_.mass) * psi;
}

template <class F>
FermionExpr<F> StaggeredOperator<F>::diagonal_inverse(const FermionExpr<F>& psi, Sign) const {
  require_mass("diagonal_inverse");
  return RealOf<F>(1 / parameters_.mass) * psi;
}

template <class F>
FermionExpr<F> StaggeredOperator<F>::hop(const FermionExpr<F>& psi, Sign sign) const {
  std::optional<FermionExpr<F>> sum;
  for (int mu = 0; mu < Nd; ++mu) {
    const FermionExpr<F> ahead = w_[mu] * shift(psi, FORWARD, mu);
    const FermionExpr<F> behind = shift(adj(w_[mu]) * psi, BACKWARD, mu);
    const FermionExpr<F> along = sign == Sign::plus ? ahead - behind : behind - ahead;
    sum = sum ? *sum + along : along;
  }
  return *sum;
}

// <y, B x> holds y^+(x) W x(x+mu) - y^+(x+mu) W^+ x(x); the adjoint of the second term has the same real part.
template <class F>
void StaggeredOperator<F>::add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const {
  for (int mu = 0; mu < Nd; ++mu)
    g[mu] += RealOf<F>(0.5 * weight) * parameters_.signs->eta(mu) *
             traceSpin(outerProduct(shift(x, FORWARD, mu), y) - outerProduct(shift(y, FORWARD, mu), x));
}

template <class F>
Double StaggeredOperator<F>::log_det_diagonal(const Subset& sites) const {
  require_mass("log_det_diagonal");
  const LatticeReal one = 1.0;
  return Double(Nc * std::log(std::fabs(parameters_.mass))) * norm2(one, sites);
}

template <class F>
void StaggeredOperator<F>::keep_in_half() {
  keepInHalf(w_);
}

template class StaggeredOperator<LatticeStaggeredFermionD>;
template class StaggeredOperator<LatticeStaggeredFermionF>;

}  // namespace qcd
