#include "lib/dirac/dirichlet.hpp"

namespace qcd {

using namespace QDP;

template <class F>
FermionExpr<F> DirichletOperator<F>::inside(const FermionExpr<F>& psi) const {
  const OScalar<typename F::Site> nought = zero;
  return where(boundary_, nought, psi);
}

template <class F>
FermionExpr<F> DirichletOperator<F>::diagonal(const FermionExpr<F>& psi, Sign sign) const {
  return where(boundary_, psi, d_->diagonal(psi, sign));
}

template <class F>
FermionExpr<F> DirichletOperator<F>::diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const {
  return where(boundary_, psi, d_->diagonal_inverse(psi, sign));
}

template <class F>
FermionExpr<F> DirichletOperator<F>::hop(const FermionExpr<F>& psi, Sign sign) const {
  return inside(d_->hop(inside(psi), sign));
}

template <class F>
void DirichletOperator<F>::add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const {
  d_->add_hop_derivative(g, F(inside(+y)), F(inside(+x)), weight);
}

template <class F>
class DirichletOperator<F>::Derivative : public DiagonalDerivative<F> {
 public:
  explicit Derivative(const DirichletOperator& d) : d_(d), of_all_(d.d_->diagonal_derivative()) {}
  void add(const F& y, const F& x, double weight, const Subset& sites) override {
    F within;
    within[sites] = d_.inside(+y);
    of_all_->add(within, x, weight, sites);
  }
  void add_to(LinksOf<F>& g) const override { of_all_->add_to(g); }

 private:
  const DirichletOperator& d_;
  std::unique_ptr<DiagonalDerivative<F>> of_all_;
};

template <class F>
std::unique_ptr<DiagonalDerivative<F>> DirichletOperator<F>::diagonal_derivative() const {
  if (constant_diagonal()) return d_->diagonal_derivative();
  return std::make_unique<Derivative>(*this);
}

template <class F>
void DirichletOperator<F>::project(F& psi) const {
  psi = inside(+psi);
}

template class DirichletOperator<LatticeFermionD>;
template class DirichletOperator<LatticeFermionF>;
template class DirichletOperator<LatticeStaggeredFermionD>;
template class DirichletOperator<LatticeStaggeredFermionF>;

}  // namespace qcd
