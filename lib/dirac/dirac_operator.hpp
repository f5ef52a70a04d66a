// A lattice Dirac operator D = A + B: A acts within a site, B connects a site with its nearest neighbours. Every kind
// of quark is one such pair; preconditioning, pseudofermions and propagators are built from the pair
// (preconditioned.hpp).
#pragma once

#include "lib/solver/linear_operator.hpp"

#include <memory>

namespace qcd {

/// A sum of derivatives of 2 Re sum_sites y^+ A x over pairs (y, x): collected pair by pair, carried to the links once.
/// This one is that of an A that does not depend on links: nothing.
template <class F>
class DiagonalDerivative {
 public:
  virtual ~DiagonalDerivative() = default;
  /// Adds the pair with a weight.
  virtual void add(const F& /*y*/, const F& /*x*/, double /*weight*/, const QDP::Subset& /*sites*/) {}
  /// g += the sum so far (conv. 9).
  virtual void add_to(LinksOf<F>& /*g*/) const {}
};

template <class F>
class DiracOperator {
 public:
  virtual ~DiracOperator() = default;

  /// A psi, or A^+ psi.
  virtual FermionExpr<F> diagonal(const FermionExpr<F>& psi, Sign sign) const = 0;
  /// A^-1 psi, or A^-1+ psi.
  virtual FermionExpr<F> diagonal_inverse(const FermionExpr<F>& psi, Sign sign) const = 0;
  /// B psi, or B^+ psi: at each site from the values on its neighbours. psi is evaluated there, once per neighbour: a field
  /// or little more.
  virtual FermionExpr<F> hop(const FermionExpr<F>& psi, Sign sign) const = 0;

  /// g += derivative (conv. 9) of weight * 2 Re <y, B x>, all sites.
  virtual void add_hop_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const = 0;
  /// The derivative of A, still without pairs. Valid as long as *this.
  virtual std::unique_ptr<DiagonalDerivative<F>> diagonal_derivative() const {
    return std::make_unique<DiagonalDerivative<F>>();
  }

  /// True if A does not depend on the links: log det A is then a constant that drops out of the dynamics.
  virtual bool constant_diagonal() const { return true; }
  /// sum over `sites` of ln |det A|.
  virtual QDP::Double log_det_diagonal(const QDP::Subset& sites) const = 0;
  /// g += derivative (conv. 9) of weight * log_det_diagonal(sites).
  virtual void add_log_det_derivative(LinksOf<F>& /*g*/, const QDP::Subset& /*sites*/, double /*weight*/) const {}

  /// psi = 0 on the sites where boundary conditions demand it.
  virtual void project(F& /*psi*/) const {}

  /// From now on links, and what else D reads at each site, are kept in 16 bits (QDP::keepInHalf) where it knows how: for inner
  /// iterations, which correct for it.
  virtual void keep_in_half() {}

  /// Floating-point operations per site.
  virtual double hop_flops() const = 0;
  virtual double diagonal_flops() const = 0;
};

}  // namespace qcd
