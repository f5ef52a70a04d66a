// Linear operators on fermion fields: what a solver sees, and what molecular dynamics needs besides.
#pragma once

#include "lib/solver/fermion.hpp"

#include <utility>
#include <vector>

namespace qcd {

/// M or its adjoint M^+ (QDP++'s PLUS and MINUS).
enum class Sign { plus, minus };

/// sum_k w_k s_k of sums over the lattice that may not have been computed yet.
class PendingReal {
 public:
  PendingReal() = default;
  explicit PendingReal(QDP::PendingSum<QDP::Double> sum) { add(1, std::move(sum)); }
  void add(double weight, QDP::PendingSum<QDP::Double> sum) { terms_.emplace_back(weight, std::move(sum)); }
  double get() const {
    double total = 0;
    for (const auto& [weight, sum] : terms_) total += weight * QDP::toDouble(sum.get());
    return total;
  }

 private:
  std::vector<std::pair<double, QDP::PendingSum<QDP::Double>>> terms_;
};

/// M: fields on domain() -> fields on range(). F holds values on all sites; those outside are neither read nor written.
template <class F>
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  virtual const QDP::Subset& domain() const = 0;
  virtual const QDP::Subset& range() const { return domain(); }

  /// out = M in (plus), on range(); out = M^+ in (minus), on domain(). `out` and `in` are different fields.
  virtual void apply(F& out, const F& in, Sign sign) const = 0;
  /// The same as an expression for a larger one, on the same sites: r - alpha * m(p, Sign::plus). Parts of it may have been
  /// computed; the rest is when it is used, from what `in` holds then.
  virtual FermionExpr<F> operator()(const F& in, Sign sign) const {
    F out = like(in);
    apply(out, in, sign);
    return +out;
  }

  /// Floating-point operations of one apply(), on the whole lattice.
  virtual double flops() const = 0;
};

/// An operator that depends on links V, with its derivative.
template <class F>
class FermionOperator : public LinearOperator<F> {
 public:
  /// g += G, where G is the derivative (conv. 9) of weight * 2 Re <y, M x>; y on range(), x on domain().
  virtual void add_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const = 0;

  /// g += derivative of sum_k weights[k] <x_k, M^+ M x_k>, that is of the sum of weight * 2 Re <y, M x> with y = M x_k
  /// kept fixed. Cheaper than term by term for operators whose site-diagonal part depends on links.
  virtual void add_normal_derivative(LinksOf<F>& g, const std::vector<F>& x, const std::vector<double>& weights) const {
    for (std::size_t k = 0; k < x.size(); ++k) {
      F y;
      this->apply(y, x[k], Sign::plus);
      add_derivative(g, y, x[k], weights.at(k));
    }
  }

  /// M^+ M in on domain(), as an expression for a larger one (see operator()). If asked for, energy = <in, M^+ M in> = |M in|^2.
  virtual FermionExpr<F> normal(const F& in, PendingReal* energy = nullptr) const {
    F image = like(in);
    this->apply(image, in, Sign::plus);
    if (energy != nullptr) energy->add(1, QDP::pending_sum(QDP::localNorm2(image), this->range()));
    return (*this)(image, Sign::minus);
  }
};

}  // namespace qcd
