// Wilson-clover quarks: D = A + B with the clover term A (clover_term.hpp) and Wilson's hop B.
#pragma once

#include "lib/dirac/clover_term.hpp"
#include "lib/dirac/wilson.hpp"

namespace qcd {

/// Wilson-clover quarks. Isotropic: coeff_r = coeff_t = c_sw, tadpole factors included.
struct CloverParameters {
  WilsonParameters wilson = {};
  double coeff_r = 0;  ///< c_R of the planes without t_dir
  double coeff_t = 0;  ///< c_T of the planes with t_dir
  double mu = 0;       ///< twisted mass

  /// c_mu,nu: c_T in planes with t_dir, c_R in the others, c_R/xi_0 on anisotropic lattices.
  double coefficient(int mu, int nu) const;
};

/// F: LatticeFermionD or LatticeFermionF. The clover term is built in the precision of the program and kept in that of
/// F.
template <class F>
class CloverOperator : public WilsonOperator<F> {
 public:
  CloverOperator(const LinksOf<F>& v, const CloverParameters& parameters);

  FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const override { return term_.apply(psi, sign); }
  FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const override {
    return term_.apply_inverse(psi, sign);
  }
  std::unique_ptr<DiagonalDerivative<F>> diagonal_derivative() const override;

  bool constant_diagonal() const override { return false; }
  /// Warns if A, without a twisted mass, has negative eigenvalues: its determinant then changes sign on the way here.
  QDP::Double log_det_diagonal(const QDP::Subset& sites) const override;
  void add_log_det_derivative(LinksOf<F>& g, const QDP::Subset& sites, double weight) const override;

  void keep_in_half() override {
    WilsonOperator<F>::keep_in_half();
    term_.keep_in_half();
  }
  double diagonal_flops() const override { return 504; }  ///< two Hermitian blocks: 6 x 2 + 30 x 8 each

  const CloverTerm<F>& term() const { return term_; }

 private:
  class Derivative;

  /// The links in the precision of the program.
  decltype(auto) base_links() const { return converted_links<GaugeField>(v_); }
  /// g += derivative of what the insertions stand for.
  void add_derivative(LinksOf<F>& g, const Insertions& insertions) const;

  LinksOf<F> v_;
  CloverTerm<F> term_;
  bool twisted_;
};

}  // namespace qcd
