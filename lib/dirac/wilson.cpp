#include "lib/dirac/wilson.hpp"

#include <cmath>
#include <optional>

namespace qcd {

using namespace QDP;

double WilsonParameters::diagonal() const {
  double sum = mass;
  for (int mu = 0; mu < Nd; ++mu) sum += aniso.factor(mu);
  return sum;
}

template <class F>
WilsonOperator<F>::WilsonOperator(const LinksOf<F>& v, const WilsonParameters& parameters)
    : v_(v), parameters_(parameters) {
  if (v.size() != Nd)
    throw ShapeError("WilsonOperator: expected one link field per direction (" + std::to_string(Nd) + "), got " +
                     std::to_string(v.size()));
  if (parameters.diagonal() == 0)
    throw ShapeError("WilsonOperator: expected Nd + m (anisotropic: 1 + (Nd-1) nu/xi_0 + m) other than 0, got m = " +
                     std::to_string(parameters.mass));
  compact<F>(v_, [this](const F& psi) { return WilsonOperator::hop(+psi, Sign::plus); });
}

template <class F>
FermionExpr<F> WilsonOperator<F>::diagonal(const FermionExpr<F>& psi, Sign) const {
  return RealOf<F>(parameters_.diagonal()) * psi;
}

template <class F>
FermionExpr<F> WilsonOperator<F>::diagonal_inverse(const FermionExpr<F>& psi, Sign) const {
  return RealOf<F>(1 / parameters_.diagonal()) * psi;
}

template <class F>
FermionExpr<F> WilsonOperator<F>::hop(const FermionExpr<F>& psi, Sign sign) const {
  const int s = sign == Sign::plus ? -1 : +1;  // 1 - g forward in D, 1 + g in D^+
  const auto along = [&](int mu) {
    return spinReconstruct(v_[mu] * shift(spinProject(psi, mu, s), FORWARD, mu), mu, s) +
           spinReconstruct(shift(adj(v_[mu]) * spinProject(psi, mu, -s), BACKWARD, mu), mu, -s);
  };
  const auto sum = [&](auto&& is_meant) {
    std::optional<FermionExpr<F>> sum;
    for (int mu = 0; mu < Nd; ++mu)
      if (is_meant(mu)) sum = sum ? *sum + along(mu) : along(mu);
    return *sum;
  };
  const FermionAnisotropy& aniso = parameters_.aniso;
  if (!aniso.on) return RealOf<F>(-0.5) * sum([](int) { return true; });
  const int space = aniso.t_dir == 0 ? 1 : 0;  // one of its directions, whose factors are equal
  return RealOf<F>(-0.5 * aniso.factor(space)) * sum([&](int mu) { return mu != aniso.t_dir; }) +
         RealOf<F>(-0.5) * along(aniso.t_dir);
}

// <y, B x> holds -c/2 [ y^+(x) (1 - g) V x(x+mu) + y^+(x+mu) (1 + g) V^+ x(x) ]; the adjoint of the second term has the
// same real part. 1 -+ g = (reconstruct)(project), and the reconstruction is the adjoint of the projection, so the traces
// run over half spinors.
template <class F>
void WilsonOperator<F>::add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const {
  const auto with_neighbour = [](const F& ahead, const F& here, int mu, int s) {
    return traceSpin(outerProduct(shift(spinProject(ahead, mu, s), FORWARD, mu), spinProject(here, mu, s)));
  };
  for (int mu = 0; mu < Nd; ++mu)
    g[mu] += RealOf<F>(-0.5 * weight * parameters_.aniso.factor(mu)) *
             (with_neighbour(x, y, mu, -1) + with_neighbour(y, x, mu, +1));
}

template <class F>
Double WilsonOperator<F>::log_det_diagonal(const Subset& sites) const {
  const LatticeReal one = 1.0;
  return Double(Ns * Nc * std::log(std::fabs(parameters_.diagonal()))) * norm2(one, sites);
}

template <class F>
void WilsonOperator<F>::keep_in_half() {
  keepInHalf(v_);
}

template class WilsonOperator<LatticeFermionD>;
template class WilsonOperator<LatticeFermionF>;

}  // namespace qcd
