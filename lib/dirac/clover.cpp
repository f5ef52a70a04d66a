#include "lib/dirac/clover.hpp"

namespace qcd {

using namespace QDP;

double CloverParameters::coefficient(int mu, int nu) const {
  const FermionAnisotropy& aniso = wilson.aniso;
  if (!aniso.on) return coeff_r;
  return mu == aniso.t_dir || nu == aniso.t_dir ? coeff_t : coeff_r / aniso.xi_0;
}

template <class F>
CloverOperator<F>::CloverOperator(const LinksOf<F>& v, const CloverParameters& p)
    : WilsonOperator<F>(v, p.wilson),
      v_(v),
      term_(
          base_links(), p.wilson.diagonal(), [p](int mu, int nu) { return p.coefficient(mu, nu); }, p.mu),
      twisted_(p.mu != 0) {}

template <class F>
class CloverOperator<F>::Derivative : public DiagonalDerivative<F> {
 public:
  explicit Derivative(const CloverOperator& d) : d_(d) {}
  void add(const F& y, const F& x, double weight, const Subset& sites) override {
    d_.term_.add_insertions(insertions_, y, x, weight, sites);
  }
  void add_to(LinksOf<F>& g) const override { d_.add_derivative(g, insertions_); }

 private:
  const CloverOperator& d_;
  Insertions insertions_;
};

template <class F>
std::unique_ptr<DiagonalDerivative<F>> CloverOperator<F>::diagonal_derivative() const {
  return std::make_unique<Derivative>(*this);
}

template <class F>
Double CloverOperator<F>::log_det_diagonal(const Subset& sites) const {
  const Double value = term_.log_det(sites);
  const long n = twisted_ ? 0 : term_.negative_eigenvalues(sites);
  if (n > 0)
    QDPIO::cerr << "warning: the clover term has " << n
                << " negative eigenvalues; the action takes ln |det A|. The gauge "
                << "field is rough for this c_sw and mass.\n";
  return value;
}

template <class F>
void CloverOperator<F>::add_log_det_derivative(LinksOf<F>& g, const Subset& sites, double weight) const {
  add_derivative(g, term_.log_det_insertions(sites, weight));
}

template <class F>
void CloverOperator<F>::add_derivative(LinksOf<F>& g, const Insertions& insertions) const {
  if constexpr (std::is_same_v<LinksOf<F>, GaugeField>) {
    add_field_strength_derivative(g, v_, insertions);
  } else {
    GaugeField sum(Nd);
    for (int mu = 0; mu < Nd; ++mu) sum[mu] = zero;
    add_field_strength_derivative(sum, base_links(), insertions);
    for (int mu = 0; mu < Nd; ++mu) g[mu] += sum[mu];
  }
}

template class CloverOperator<LatticeFermionD>;
template class CloverOperator<LatticeFermionF>;

}  // namespace qcd
