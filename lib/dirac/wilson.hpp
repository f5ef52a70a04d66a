// The Wilson operator (conv. 10): D = A + B, A = Nd + m, B = -H/2.
#pragma once

#include "lib/dirac/dirac_operator.hpp"

#include <vector>

namespace qcd {

/// Anisotropy of a quark action: spatial hops times nu/xi_0.
struct FermionAnisotropy {
  bool on = false;
  int t_dir = QDP::Nd - 1;
  double xi_0 = 1;
  double nu = 1;

  /// Factor of the hop in direction mu.
  double factor(int mu) const { return !on || mu == t_dir ? 1 : nu / xi_0; }
};

struct WilsonParameters {
  double mass = 0;  ///< m; kappa = 1/(2 (Nd + m)) in the isotropic case
  FermionAnisotropy aniso = {};

  /// A: sum_mu factor(mu) + m.
  double diagonal() const;
};

/// F: LatticeFermionD or LatticeFermionF.
template <class F>
class WilsonOperator : public DiracOperator<F> {
 public:
  /// Throws ShapeError if `v` is not one field per direction, or if A = 0.
  WilsonOperator(const LinksOf<F>& v, const WilsonParameters& parameters);

  FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const override;
  FermionExpr<F> hop(const FermionExpr<F>& psi, Sign sign) const override;
  void add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const override;
  QDP::Double log_det_diagonal(const QDP::Subset& sites) const override;
  void keep_in_half() override;
  double hop_flops() const override { return 1320; }  ///< 8 directions of 12 + 132, 7 sums of 24
  double diagonal_flops() const override { return 48; }

 protected:
  const WilsonParameters& parameters() const { return parameters_; }

 private:
  LinksOf<F> v_;  ///< V, as two rows where that fits and pays, [Nd]
  WilsonParameters parameters_;
};

}  // namespace qcd
