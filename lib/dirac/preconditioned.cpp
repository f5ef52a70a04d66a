#include "lib/dirac/preconditioned.hpp"

#include "lib/dirac/twisted_shift.hpp"
#include "lib/gauge/checkerboard.hpp"

#include <string>

namespace qcd {

using namespace QDP;

namespace {

const Subset& even_sites() { return rb[0]; }
const Subset& odd_sites() { return rb[1]; }

/// What the four operators share: D and the sites that M maps from and to.
template <class F>
class Preconditioned : public FermionOperator<F> {
 public:
  Preconditioned(std::shared_ptr<const DiracOperator<F>> d, const Subset& domain, const Subset& range)
      : d_(std::move(d)), domain_(domain), range_(range) {}
  const Subset& domain() const override { return domain_; }
  const Subset& range() const override { return range_; }

  void add_derivative(LinksOf<F>& g, const F& y, const F& x, double weight) const override {
    const auto diagonal = d().diagonal_derivative();
    add_terms(g, *diagonal, y, x, weight);
    diagonal->add_to(g);
  }
  void add_normal_derivative(LinksOf<F>& g, const std::vector<F>& x,
                             const std::vector<double>& weights) const override {
    const auto diagonal = d().diagonal_derivative();
    for (std::size_t k = 0; k < x.size(); ++k) {
      F y;
      this->apply(y, x[k], Sign::plus);
      add_terms(g, *diagonal, y, x[k], weights.at(k));
    }
    diagonal->add_to(g);
  }

 protected:
  /// The derivative of weight * 2 Re <y, M x>: that of B added to g, that of A to `diagonal`.
  virtual void add_terms(LinksOf<F>& g, DiagonalDerivative<F>& diagonal, const F& y, const F& x,
                         double weight) const = 0;
  const DiracOperator<F>& d() const { return *d_; }
  static double volume() { return static_cast<double>(Layout::vol()); }

 private:
  std::shared_ptr<const DiracOperator<F>> d_;
  const Subset& domain_;
  const Subset& range_;
};

template <class F>
class Unpreconditioned : public Preconditioned<F> {
 public:
  explicit Unpreconditioned(std::shared_ptr<const DiracOperator<F>> d) : Preconditioned<F>(std::move(d), all, all) {}

  void apply(F& out, const F& in, Sign sign) const override { out = (*this)(in, sign); }
  FermionExpr<F> operator()(const F& in, Sign sign) const override {
    return this->d().diagonal(+in, sign) + this->d().hop(+in, sign);
  }
  double flops() const override { return this->volume() * (this->d().hop_flops() + this->d().diagonal_flops()); }

 protected:
  void add_terms(LinksOf<F>& g, DiagonalDerivative<F>& diagonal, const F& y, const F& x, double weight) const override {
    this->d().add_hop_derivative(g, y, x, weight);
    diagonal.add(y, x, weight, all);
  }
};

template <class F>
class EvenOdd : public Preconditioned<F> {
 public:
  explicit EvenOdd(std::shared_ptr<const DiracOperator<F>> d)
      : Preconditioned<F>(std::move(d), odd_sites(), odd_sites()) {}

  void apply(F& out, const F& in, Sign sign) const override { out[odd_sites()] = (*this)(in, sign); }
  FermionExpr<F> operator()(const F& in, Sign sign) const override {
    F even = like(in);
    even[even_sites()] = this->d().diagonal_inverse(this->d().hop(+in, sign), sign);
    return this->d().diagonal(+in, sign) - this->d().hop(+even, sign);
  }

  double flops() const override { return this->volume() * (this->d().hop_flops() + this->d().diagonal_flops()); }

 protected:
  void add_terms(LinksOf<F>& g, DiagonalDerivative<F>& diagonal, const F& y, const F& x, double weight) const override {
    const F left = extended(y, Sign::minus), right = extended(x, Sign::plus);
    this->d().add_hop_derivative(g, left, right, weight);
    diagonal.add(left, right, weight, all);
  }

  /// psi on odd sites, -A_ee^-1 B_eo psi on even ones (or with the adjoints of A and B_oe).
  F extended(const F& psi, Sign sign) const {
    F full;
    full[odd_sites()] = psi;
    full[even_sites()] = -this->d().diagonal_inverse(this->d().hop(+psi, sign), sign);
    return full;
  }
};

template <class F>
class SymmetricEvenOdd : public EvenOdd<F> {
 public:
  using EvenOdd<F>::EvenOdd;

  FermionExpr<F> operator()(const F& in, Sign sign) const override {
    const DiracOperator<F>& d = this->d();
    F even = like(in);
    if (sign == Sign::plus) {
      even[even_sites()] = d.diagonal_inverse(d.hop(+in, sign), sign);
      return in - d.diagonal_inverse(d.hop(+even, sign), sign);
    }
    F odd = like(in);
    odd[odd_sites()] = d.diagonal_inverse(+in, sign);
    even[even_sites()] = d.diagonal_inverse(d.hop(+odd, sign), sign);
    return in - d.hop(+even, sign);
  }

 protected:
  // M = A_oo^-1 (A_oo - B A^-1 B):  <y, dM x> = <A_oo^-1+ y, d(A_oo - B A^-1 B) x> - <A_oo^-1+ y, dA_oo M x>.
  void add_terms(LinksOf<F>& g, DiagonalDerivative<F>& diagonal, const F& y, const F& x, double weight) const override {
    F scaled;
    scaled[odd_sites()] = this->d().diagonal_inverse(+y, Sign::minus);
    EvenOdd<F>::add_terms(g, diagonal, scaled, x, weight);
    if (this->d().constant_diagonal()) return;
    F image;
    this->apply(image, x, Sign::plus);
    diagonal.add(scaled, image, -weight, odd_sites());
  }
};

template <class F>
class EvenSource : public Preconditioned<F> {
 public:
  explicit EvenSource(std::shared_ptr<const DiracOperator<F>> d) : Preconditioned<F>(std::move(d), even_sites(), all) {}

  void apply(F& out, const F& in, Sign sign) const override {
    if (sign == Sign::plus) {
      out[even_sites()] = this->d().diagonal(+in, sign);
      out[odd_sites()] = this->d().hop(+in, sign);
    } else {
      out[even_sites()] = (*this)(in, sign);
    }
  }
  FermionExpr<F> operator()(const F& in, Sign sign) const override {
    if (sign == Sign::plus) return Preconditioned<F>::operator()(in, sign);  // two expressions, each for its sites
    return this->d().diagonal(+in, sign) + this->d().hop(+in, sign);
  }
  FermionExpr<F> normal(const F& in, PendingReal* energy) const override {
    const DiracOperator<F>& d = this->d();
    const FermionExpr<F> even = d.diagonal(+in, Sign::plus);
    F odd = like(in);
    odd[odd_sites()] = d.hop(+in, Sign::plus);
    if (energy != nullptr) {
      energy->add(1, pending_sum(localNorm2(even), even_sites()));
      energy->add(1, pending_sum(localNorm2(odd), odd_sites()));
    }
    return d.diagonal(even, Sign::minus) + d.hop(+odd, Sign::minus);
  }
  double flops() const override { return this->volume() / 2 * (this->d().hop_flops() + this->d().diagonal_flops()); }

 protected:
  void add_terms(LinksOf<F>& g, DiagonalDerivative<F>& diagonal, const F& y, const F& x, double weight) const override {
    F full = zero;
    full[even_sites()] = x;
    this->d().add_hop_derivative(g, y, full, weight);
    diagonal.add(y, full, weight, even_sites());
  }
};

template <class F>
constexpr bool has_spin = std::is_same_v<F, LatticeFermionD> || std::is_same_v<F, LatticeFermionF>;

template <class F>
std::unique_ptr<FermionOperator<F>> without_twist(std::shared_ptr<const DiracOperator<F>> dirac,
                                                  Preconditioning preconditioning) {
  if (preconditioning != Preconditioning::none)
    require_checkerboard("even-odd preconditioning", "an operator on all sites (UNPRECONDITIONED_...)");
  switch (preconditioning) {
    case Preconditioning::none:
      return std::make_unique<Unpreconditioned<F>>(std::move(dirac));
    case Preconditioning::even_odd:
      return std::make_unique<EvenOdd<F>>(std::move(dirac));
    case Preconditioning::symmetric_even_odd:
      return std::make_unique<SymmetricEvenOdd<F>>(std::move(dirac));
    case Preconditioning::even_source:
      return std::make_unique<EvenSource<F>>(std::move(dirac));
  }
  throw ShapeError("make_preconditioned: expected one of the four kinds of preconditioning");
}

}  // namespace

template <class F>
std::unique_ptr<FermionOperator<F>> make_preconditioned(std::shared_ptr<const DiracOperator<F>> dirac,
                                                        Preconditioning preconditioning, double twist) {
  auto m = without_twist(std::move(dirac), preconditioning);
  if (twist == 0) return m;
  if constexpr (has_spin<F>)
    return std::make_unique<TwistedShift<F>>(std::move(m), twist);
  else  // no spin for gamma_5 to act on
    throw ShapeError("make_preconditioned: expected twist = 0 for staggered fermions, got " + std::to_string(twist));
}

template <class F>
SchurSystem<F>::SchurSystem(std::shared_ptr<const DiracOperator<F>> dirac, Preconditioning preconditioning,
                            double twist)
    : dirac_(std::move(dirac)), preconditioning_(preconditioning), twist_(twist) {
  if (preconditioning == Preconditioning::even_source)
    throw ShapeError(
        "SchurSystem: expected none, even_odd or symmetric_even_odd, got even_source, which has no inverse");
  op_ = make_preconditioned(dirac_, preconditioning_, twist_);
}

template <class F>
F SchurSystem<F>::prepare(const F& chi) const {
  if (preconditioning_ == Preconditioning::none) return chi;
  const DiracOperator<F>& d = *dirac_;
  F even, b;
  even[even_sites()] = d.diagonal_inverse(+chi, Sign::plus);
  b[odd_sites()] = preconditioning_ == Preconditioning::even_odd
                       ? chi - d.hop(+even, Sign::plus)
                       : d.diagonal_inverse(chi - d.hop(+even, Sign::plus), Sign::plus);
  return b;
}

template <class F>
F SchurSystem<F>::reconstruct(const F& x, const F& chi) const {
  if (preconditioning_ == Preconditioning::none) return x;
  F psi;
  psi[odd_sites()] = x;
  psi[even_sites()] = dirac_->diagonal_inverse(chi - dirac_->hop(+x, Sign::plus), Sign::plus);
  return psi;
}

template <class F>
F SchurSystem<F>::apply(const F& psi) const {
  F chi = dirac_->diagonal(+psi, Sign::plus) + dirac_->hop(+psi, Sign::plus);
  if constexpr (has_spin<F>)
    if (twist_ != 0) {
      const F turned = RealOf<F>(twist_) * i_gamma_5(psi);
      if (preconditioning_ == Preconditioning::none)
        chi += turned;
      else if (preconditioning_ == Preconditioning::even_odd)
        chi[odd_sites()] += turned;
      else
        chi[odd_sites()] += dirac_->diagonal(+turned, Sign::plus);
    }
  return chi;
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template std::unique_ptr<FermionOperator<F>> make_preconditioned(std::shared_ptr<const DiracOperator<F>>,            \
                                                                   Preconditioning, double);                           \
  template class SchurSystem<F>;
QCD_INSTANTIATE(LatticeFermionD)
QCD_INSTANTIATE(LatticeFermionF)
QCD_INSTANTIATE(LatticeStaggeredFermionD)
QCD_INSTANTIATE(LatticeStaggeredFermionF)
#undef QCD_INSTANTIATE

}  // namespace qcd
