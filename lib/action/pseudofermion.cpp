#include "lib/action/pseudofermion.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/rational/spectrum_check.hpp"
#include "lib/solver/lanczos.hpp"

#include <ostream>

namespace qcd {

using namespace QDP;

namespace {

/// Complex components of F per site.
template <class F>
constexpr int kComponents = F::kShape.components() / 2;

/// Re <a, b> on M's domain less its mean, the number of components there, taken off site by site so that sums stay small.
template <class F>
Double action_value(const FermionOperator<F>& m, const F& a, const F& b) {
  return sum(localInnerProductReal(a, b) - Real(kComponents<F>), m.domain());
}

GaugeField no_derivative() {
  GaugeField g(Nd);
  for (int mu = 0; mu < Nd; ++mu) g[mu] = zero;
  return g;
}

/// The pseudofermions, which must have been drawn.
template <class F>
const std::vector<F>& drawn(const std::vector<F>& phi) {
  if (phi.empty())
    throw ShapeError("pseudofermion action: expected pseudofermions, got none so far; call refresh() first");
  return phi;
}

template <class Kind>
const Kind& same_kind(const Monomial& other) {
  if (const auto* kind = dynamic_cast<const Kind*>(&other)) return *kind;
  throw InputError("copyList: expected two monomials of the same kind, got " + other.log_tag() +
                   " as the source of another kind; copy between monomials that hold the same pseudofermions");
}

}  // namespace

template <class F>
F pseudofermion_noise(const Subset& where) {
  F eta = zero;
  gaussian(eta, where);
  eta[where] *= RealOf<F>(0.70710678118654752440);
  return eta;
}

// ---- two flavours ----------------------------------------------------------------------------------------------------

template <class F>
void TwoFlavorMonomial<F>::refresh(const GaugeField& u) {
  const QuarkOperator<F> quark(quark_, u);
  phi_.resize(1);
  quark.m().apply(phi_[0], pseudofermion_noise<F>(quark.m().range()), Sign::minus);
  solver_.predictor->reset();
}

template <class F>
Double TwoFlavorMonomial<F>::action(const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  const F& phi = drawn(phi_)[0];
  solver_.predictor->reset();
  F x = zero;
  const SolveResult solve = solver_.solver->solve(x, quark.system(), phi);
  require_converged(solve, solver_.solver->criterion(), "TwoFlavorMonomial::action");
  log.write("n_count", solve.iterations);
  return action_value(quark.m(), phi, x);
}

template <class F>
void TwoFlavorMonomial<F>::force(GaugeField& f, const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  const F& phi = drawn(phi_)[0];
  F x, y;
  solver_.predictor->guess(x, quark.system(), phi);
  const SolveResult solve = solver_.solver->solve(x, quark.system(), phi);
  require_converged(solve, solver_.solver->criterion(), "TwoFlavorMonomial::force");
  solver_.predictor->store(x, quark.m().domain());
  log.write("n_count", solve.iterations);

  quark.m().apply(y, x, Sign::plus);
  GaugeField g = no_derivative();
  quark.m().add_derivative(g, y, x, -1);
  f = quark.state().force(g);
}

template <class F>
void TwoFlavorMonomial<F>::copy_fields_from(const Monomial& other) {
  phi_ = same_kind<TwoFlavorMonomial<F>>(other).phi_;
}

// ---- ratios ----------------------------------------------------------------------------------------------------------

template <class F>
void RatioMonomial<F>::refresh(const GaugeField& u) {
  phi_.resize(ratios_.size());
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, u), denominator(ratio.denominator, u);
    F source, x = zero;
    numerator.m().apply(source, pseudofermion_noise<F>(numerator.m().range()), Sign::minus);
    const SolveResult solve = ratio.refresh_solver->solve(x, denominator.system(), source);
    require_converged(solve, ratio.refresh_solver->criterion(), "RatioMonomial::refresh");
    denominator.m().apply(phi_[k], x, Sign::plus);
    ratio.solver.predictor->reset();
  }
}

template <class F>
Double RatioMonomial<F>::action(const GaugeField& u, const Log& log) {
  drawn(phi_);
  Double total = zero;
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, u), denominator(ratio.denominator, u);
    ratio.solver.predictor->reset();
    F source, x = zero;
    denominator.m().apply(source, phi_[k], Sign::minus);
    const SolveResult solve = ratio.solver.solver->solve(x, numerator.system(), source);
    require_converged(solve, ratio.solver.solver->criterion(), "RatioMonomial::action");
    log.write("n_count", solve.iterations);
    total += action_value(numerator.m(), source, x);
  }
  return total;
}

template <class F>
void RatioMonomial<F>::force(GaugeField& f, const GaugeField& u, const Log& log) {
  drawn(phi_);
  f = no_derivative();
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, u), denominator(ratio.denominator, u);
    F source, x, y;
    denominator.m().apply(source, phi_[k], Sign::minus);
    ratio.solver.predictor->guess(x, numerator.system(), source);
    const SolveResult solve = ratio.solver.solver->solve(x, numerator.system(), source);
    require_converged(solve, ratio.solver.solver->criterion(), "RatioMonomial::force");
    ratio.solver.predictor->store(x, numerator.m().domain());
    log.write("n_count", solve.iterations);

    numerator.m().apply(y, x, Sign::plus);
    GaugeField g = no_derivative(), g_denominator = no_derivative();
    numerator.m().add_derivative(g, y, x, -1);
    denominator.m().add_derivative(g_denominator, phi_[k], x, +1);
    const GaugeField f1 = numerator.state().force(g), f2 = denominator.state().force(g_denominator);
    for (int mu = 0; mu < Nd; ++mu) f[mu] += f1[mu] + f2[mu];
  }
}

template <class F>
void RatioMonomial<F>::copy_fields_from(const Monomial& other) {
  phi_ = same_kind<RatioMonomial<F>>(other).phi_;
}

// ---- rational powers -------------------------------------------------------------------------------------------------

namespace {

/// r(Q) b as its partial fractions say; `count` receives the iterations.
template <class F>
F apply_rational(const PartialFractions& r, const QuarkOperator<F>& quark, const MultiShiftSolver<F>& solver,
                 const F& b, const char* where, int& count) {
  std::vector<F> x;
  const SolveResult solve = solver.solve(x, quark.system(), b, r.poles);
  require_converged(solve, solver.criterion(), where);
  count = solve.iterations;
  const Subset& domain = quark.m().domain();
  F out;
  out[domain] = RealOf<F>(r.constant) * b;
  for (std::size_t k = 0; k < x.size(); ++k) out[domain] += RealOf<F>(r.residues[k]) * x[k];
  return out;
}

}  // namespace

template <class F>
RationalMonomial<F>::RationalMonomial(Quark<F> quark, int pseudofermions, RationalTerm<F> action, RationalTerm<F> force,
                                      BoundsCheck bounds)
    : quark_(std::move(quark)),
      pseudofermions_(static_cast<std::size_t>(pseudofermions)),
      action_(std::move(action)),
      force_(std::move(force)),
      bounds_(bounds) {}

template <class F>
void RationalMonomial<F>::check_bounds(const QuarkOperator<F>& quark) {
  const SpectralBounds bounds = spectral_bounds(quark.m(), bounds_.accuracy);
  const SpectrumBounds spectrum{bounds.lowest - bounds.lowest_error, bounds.highest + bounds.highest_error};
  for (RationalTerm<F>* term : {&action_, &force_}) {
    const SpectrumCheck check = check_spectrum(term->approximation, spectrum);
    if (check.verdict != SpectrumCheck::outside) continue;
    if (!bounds_.widen) throw NumericsError("RationalMonomial: " + check.message);
    term->approximation = widened(term->approximation, spectrum);
    QDPIO::cout << "RationalMonomial: " << check.message << "\n  continuing with " << term->approximation.as_text()
                << std::endl;
  }
}

template <class F>
void RationalMonomial<F>::refresh(const GaugeField& u) {
  const QuarkOperator<F> quark(quark_, u);
  if (bounds_.interval > 0 && refreshes_++ % bounds_.interval == 0) check_bounds(quark);
  int count = 0;
  phi_.resize(pseudofermions_);
  for (F& phi : phi_)
    phi = apply_rational(action_.approximation.inverse, quark, *action_.solver,
                         pseudofermion_noise<F>(quark.m().domain()), "RationalMonomial::refresh", count);
}

template <class F>
Double RationalMonomial<F>::action(const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  Double total = zero;
  multi1d<int> counts(static_cast<int>(drawn(phi_).size()));
  for (std::size_t n = 0; n < phi_.size(); ++n) {
    const F psi = apply_rational(action_.approximation.function, quark, *action_.solver, phi_[n],
                                 "RationalMonomial::action", counts[static_cast<int>(n)]);
    total += sum(localNorm2(psi) - Real(kComponents<F>), quark.m().domain());
  }
  log.write("n_count", counts);
  return total;
}

template <class F>
void RationalMonomial<F>::force(GaugeField& f, const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  const PartialFractions& s = force_.approximation.function;
  multi1d<int> counts(static_cast<int>(drawn(phi_).size()));
  GaugeField g = no_derivative();
  for (std::size_t n = 0; n < phi_.size(); ++n) {
    std::vector<F> x;
    const SolveResult solve = force_.solver->solve(x, quark.system(), phi_[n], s.poles);
    require_converged(solve, force_.solver->criterion(), "RationalMonomial::force");
    counts[static_cast<int>(n)] = solve.iterations;
    std::vector<double> weights;
    for (double residue : s.residues) weights.push_back(-residue);
    quark.m().add_normal_derivative(g, x, weights);
  }
  log.write("n_count", counts);
  f = quark.state().force(g);
}

template <class F>
void RationalMonomial<F>::copy_fields_from(const Monomial& other) {
  phi_ = same_kind<RationalMonomial<F>>(other).phi_;
}

// ---- determinants of the site-diagonal part --------------------------------------------------------------------------

template <class F>
Double LogDetMonomial<F>::action(const GaugeField& u, const Log&) {
  return Double(-flavors_) * QuarkOperator<F>(quark_, u).d().log_det_diagonal(subset());
}

template <class F>
void LogDetMonomial<F>::force(GaugeField& f, const GaugeField& u, const Log&) {
  const QuarkOperator<F> quark(quark_, u);
  GaugeField g = no_derivative();
  quark.d().add_log_det_derivative(g, subset(), -flavors_);
  f = quark.state().force(g);
}

// ---- sums, and a test term -------------------------------------------------------------------------------------------

void SumMonomial::refresh(const GaugeField& u) {
  for (const auto& term : terms_) term->refresh(u);
}

Double SumMonomial::action(const GaugeField& u, const Log& log) {
  Double total = zero;
  for (const auto& term : terms_) {
    const auto group = log.group(term->log_tag());
    const Double s = term->action(u, log);
    log.write("S", s);
    total += s;
  }
  return total;
}

void SumMonomial::force(GaugeField& f, const GaugeField& u, const Log& log) {
  f = no_derivative();
  GaugeField one;
  for (const auto& term : terms_) {
    const auto group = log.group(term->log_tag());
    term->force(one, u, log);
    for (int mu = 0; mu < Nd; ++mu) f[mu] += one[mu];
  }
}

void SumMonomial::copy_fields_from(const Monomial& other) {
  const SumMonomial& sum = same_kind<SumMonomial>(other);
  if (sum.terms_.size() != terms_.size())
    throw InputError("copyList: expected sums of " + std::to_string(terms_.size()) + " terms, got " +
                     std::to_string(sum.terms_.size()));
  for (std::size_t k = 0; k < terms_.size(); ++k) terms_[k]->copy_fields_from(*sum.terms_[k]);
}

const GaugeField& FixedRandomMonomial::weights() {
  if (x_.size() == 0) {
    x_.resize(Nd);
    for (int mu = 0; mu < Nd; ++mu) {
      gaussian(x_[mu]);
      x_[mu] = su3_unitarize(x_[mu]);
    }
  }
  return x_;
}

Double FixedRandomMonomial::action(const GaugeField& u, const Log&) {
  const LinkState state(u, maps_);
  Double s = zero;
  for (int mu = 0; mu < Nd; ++mu) s += Double(2) * sum(real(trace(state.links()[mu] * weights()[mu])));
  return s;
}

void FixedRandomMonomial::force(GaugeField& f, const GaugeField& u, const Log&) {
  GaugeField g = weights();
  f = LinkState(u, maps_).force(g);
}

#define QCD_INSTANTIATE(F)                                \
  template F pseudofermion_noise<F>(const Subset&);       \
  template class TwoFlavorMonomial<F>;                    \
  template class RatioMonomial<F>;                        \
  template class RationalMonomial<F>;                     \
  template class LogDetMonomial<F>;
QCD_INSTANTIATE(LatticeFermion)
QCD_INSTANTIATE(LatticeStaggeredFermion)
#undef QCD_INSTANTIATE

}  // namespace qcd
