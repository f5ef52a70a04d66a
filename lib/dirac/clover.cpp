#include "lib/dirac/clover.hpp"

namespace qcd {

using namespace QDP;

double CloverParameters::coefficient(int mu, int nu) const {
  const FermionAnisotropy& aniso = wilson.aniso;
  if (!aniso.on) return coeff_r;
  return mu == aniso.t_dir || nu == aniso.t_dir ? coeff_t : coeff_r / aniso.xi_0;
}

namespace {

/// g += what `add` adds in the precision of the program.
template <class Links, class Add>
void add_in_base_precision(Links& g, const Add& add) {
  if constexpr (std::is_same_v<Links, GaugeField>) {
    add(g);
  } else {
    GaugeField sum(Nd);
    for (int mu = 0; mu < Nd; ++mu) sum[mu] = zero;
    add(sum);
    for (int mu = 0; mu < Nd; ++mu) g[mu] += sum[mu];
  }
}

}  // namespace

template <class F>
CloverOperator<F>::CloverOperator(const LinksOf<F>& v, const CloverParameters& p)
    : WilsonOperator<F>(v, p.wilson),
      term_(
          base_links(), p.wilson.diagonal(), [p](int mu, int nu) { return p.coefficient(mu, nu); }, p.mu) {}

template <class F>
void CloverOperator<F>::add_diagonal_derivative(LinksOf<F>& g, const F& y, const F& x, double weight,
                                                const Subset& sites) const {
  add_in_base_precision(g, [&](GaugeField& sum) { term_.add_derivative(sum, base_links(), y, x, weight, sites); });
}

template <class F>
void CloverOperator<F>::add_log_det_derivative(LinksOf<F>& g, const Subset& sites, double weight) const {
  add_in_base_precision(g, [&](GaugeField& sum) { term_.add_log_det_derivative(sum, base_links(), sites, weight); });
}

template class CloverOperator<LatticeFermionD>;
template class CloverOperator<LatticeFermionF>;

}  // namespace qcd
