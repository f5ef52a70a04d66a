#include "lib/action/pseudofermion.hpp"

#include "lib/gauge/checkerboard.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/rational/spectrum_check.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/lanczos.hpp"
#include "lib/solver/multi_shift.hpp"

#include <algorithm>
#include <ostream>
#include <type_traits>

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

template <class Links = GaugeField>
Links no_derivative() {
  Links g(Nd);
  for (int mu = 0; mu < Nd; ++mu) g[mu] = zero;
  return g;
}

// ---- forces in either precision --------------------------------------------------------------------------------------
// P is F, or Single<F> for a force in single precision: M, its inverse and its derivative are then single, while the way
// from V to U, momenta and links stay in the precision of the program.

template <class P, class F>
const FermionOperator<P>& operator_in(const QuarkOperator<F>& quark) {
  if constexpr (std::is_same_v<P, F>)
    return quark.m();
  else
    return quark.system().single();
}

/// What a solver in single precision can reach: the force needs no more.
StoppingCriterion reachable_in_single(StoppingCriterion criterion) {
  criterion.residual = std::max(criterion.residual, 2e-6);
  return criterion;
}

/// x = (M^+ M)^-1 b; with a guess from the past in the precision of the program, from nought in single precision.
template <class P, class F>
SolveResult solve_for_force(P& x, const QuarkOperator<F>& quark, const P& b, const PseudofermionSolver<F>& solver,
                            const char* where) {
  SolveResult result;
  if constexpr (std::is_same_v<P, F>) {
    x = zero;  // what a predictor that leaves x alone leaves
    solver.predictor->guess(x, quark.system(), b);
    result = solver.solver->solve(x, quark.system(), b);
    require_converged(result, solver.solver->criterion(), where);
    solver.predictor->store(x, quark.m().domain());
  } else {
    const CG<P> single(reachable_in_single(solver.solver->criterion()));
    x = zero;
    result = single.solve(x, {operator_in<P>(quark)}, b);
    require_converged(result, single.criterion(), where);
  }
  return result;
}

/// x_k = (M^+ M + shift_k)^-1 b.
template <class P, class F>
SolveResult solve_for_force(std::vector<P>& x, const QuarkOperator<F>& quark, const P& b,
                            const std::vector<double>& shifts, const MultiShiftSolver<F>& solver, const char* where) {
  SolveResult result;
  if constexpr (std::is_same_v<P, F>) {
    result = solver.solve(x, quark.system(), b, shifts);
    require_converged(result, solver.criterion(), where);
  } else {
    const MultiShiftCG<P> single(reachable_in_single(solver.criterion()));
    result = single.solve(x, {operator_in<P>(quark)}, b, shifts);
    require_converged(result, single.criterion(), where);
  }
  return result;
}

/// g += derivative of weight * 2 Re <M x, M x'> at x' = x held fixed on the left: weight * 2 Re <Y, dM x>, Y = M x.
template <class P>
void add_normal_derivative(LinksOf<P>& g, const FermionOperator<P>& m, const P& x, double weight) {
  P y;
  m.apply(y, x, Sign::plus);
  m.add_derivative(g, y, x, weight);
}

/// The force that follows from a derivative with respect to the links of `quark`.
template <class F, class Links>
GaugeField force_of(const QuarkOperator<F>& quark, Links g) {
  GaugeField wide = converted_links<GaugeField>(std::move(g));
  return quark.state().force(wide);
}

/// Derivatives with respect to the links of several quarks. Those of quarks that share a state add up before they are
/// carried to U.
class SumOfDerivatives {
 public:
  template <class Links>
  void add(const LinkState& state, Links g) {
    const auto known = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) { return t.state == &state; });
    (known != terms_.end() ? *known : terms_.emplace_back(Term{&state, {}}))
        .g.add(converted_links<GaugeField>(std::move(g)));
  }
  /// Ends them.
  GaugeField force() {
    GaugeFieldTotal f;
    for (Term& term : terms_) {
      GaugeField g = term.g.take();
      f.add(term.state->force(g));
    }
    return f.take();
  }

 private:
  struct Term {
    const LinkState* state;
    GaugeFieldTotal g;
  };
  std::vector<Term> terms_;
};

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
F pseudofermion_noise(const DiracOperator<F>& d, const Subset& sites) {
  F eta = zero;
  gaussian(eta, sites);
  eta[sites] *= RealOf<F>(0.70710678118654752440);
  d.project(eta);
  return eta;
}

// ---- two flavours ----------------------------------------------------------------------------------------------------

template <class F>
void TwoFlavorMonomial<F>::refresh(const GaugeField& u) {
  const QuarkOperator<F> quark(quark_, u);
  phi_.resize(1);
  quark.m().apply(phi_[0], pseudofermion_noise(quark.d(), quark.m().range()), Sign::minus);
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
template <class P>
void TwoFlavorMonomial<F>::force_in(GaugeField& f, const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  const P phi = drawn(phi_)[0];
  P x;
  const SolveResult solve = solve_for_force(x, quark, phi, solver_, "TwoFlavorMonomial::force");
  log.write("n_count", solve.iterations);

  auto g = no_derivative<LinksOf<P>>();
  add_normal_derivative(g, operator_in<P>(quark), x, -1);
  f = force_of(quark, std::move(g));
}

template <class F>
void TwoFlavorMonomial<F>::copy_fields_from(const Monomial& other) {
  phi_ = same_kind<TwoFlavorMonomial<F>>(other).phi_;
}

// ---- ratios ----------------------------------------------------------------------------------------------------------

template <class F>
void RatioMonomial<F>::refresh(const GaugeField& u) {
  phi_.resize(ratios_.size());
  LinkStates states(u);
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, states), denominator(ratio.denominator, states);
    if (&denominator.m().domain() != &denominator.m().range())
      throw ShapeError(
          "RatioMonomial: expected operators that map fields on some sites to the same sites, got one from "
          "even sites to all; a ratio of staggered determinants needs a rational function of M^+ M");
    F source, x = zero;
    numerator.m().apply(source, pseudofermion_noise(numerator.d(), numerator.m().range()), Sign::minus);
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
  LinkStates states(u);
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, states), denominator(ratio.denominator, states);
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
template <class P>
void RatioMonomial<F>::force_in(GaugeField& f, const GaugeField& u, const Log& log) {
  drawn(phi_);
  LinkStates states(u);
  SumOfDerivatives derivatives;
  for (std::size_t k = 0; k < ratios_.size(); ++k) {
    const DeterminantRatio<F>& ratio = ratios_[k];
    const QuarkOperator<F> numerator(ratio.numerator, states), denominator(ratio.denominator, states);
    const P phi = phi_[k];
    P source, x;
    operator_in<P>(denominator).apply(source, phi, Sign::minus);
    const SolveResult solve = solve_for_force(x, numerator, source, ratio.solver, "RatioMonomial::force");
    log.write("n_count", solve.iterations);

    auto g = no_derivative<LinksOf<P>>(), g_denominator = g;
    add_normal_derivative(g, operator_in<P>(numerator), x, -1);
    operator_in<P>(denominator).add_derivative(g_denominator, phi, x, +1);
    derivatives.add(numerator.state(), std::move(g));
    derivatives.add(denominator.state(), std::move(g_denominator));
  }
  f = derivatives.force();
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
      given_{action_.approximation, force_.approximation},
      bounds_(bounds) {}

template <class F>
MemoryNeed RationalMonomial<F>::memory() const {
  // Each shift has a solution and a direction.
  const int degree = std::max(action_.approximation.degree(), force_.approximation.degree());
  return pseudofermion_memory<F>(pseudofermions_, kSolverFields + 2 * static_cast<std::size_t>(degree));
}

template <class F>
std::string RationalMonomial<F>::state() const {
  if (bounds_.interval == 0) return {};
  std::string text = std::to_string(refreshes_);
  for (const RationalTerm<F>* term : {&action_, &force_})
    for (double end : {term->approximation.lower, term->approximation.upper}) {
      char digits[40];
      std::snprintf(digits, sizeof digits, ",%.17g", end);
      text += digits;
    }
  return text;
}

template <class F>
void RationalMonomial<F>::set_state(const std::string& state) {
  int refreshes = 0;
  double ends[4];
  if (std::sscanf(state.c_str(), "%d,%lf,%lf,%lf,%lf", &refreshes, &ends[0], &ends[1], &ends[2], &ends[3]) != 5)
    throw InputError("RationalMonomial: expected a state of five numbers with commas between, got " + state);
  refreshes_ = refreshes;
  RationalTerm<F>* terms[] = {&action_, &force_};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto is = [&](const RationalApproximation& r) {
      return r.lower == ends[2 * i] && r.upper == ends[2 * i + 1];
    };
    RationalApproximation& now = terms[i]->approximation;
    if (is(now)) continue;
    now = is(given_[i]) ? given_[i] : remez(given_[i].power, ends[2 * i], ends[2 * i + 1], given_[i].degree());
  }
}

template <class F>
void RationalMonomial<F>::check_bounds(const QuarkOperator<F>& quark) {
  const SpectralBounds bounds = spectral_bounds(quark.m(), bounds_.accuracy);
  // What a wider interval must hold; of a low end that is hardly known, half.
  const SpectrumBounds measured{bounds.lowest, bounds.highest},
      possible{std::max(bounds.lowest - bounds.lowest_error, 0.5 * bounds.lowest),
               bounds.highest + bounds.highest_error};
  if (!bounds.converged)
    QDPIO::cout << "RationalMonomial: the ends of the spectrum, " << bounds.lowest << " and " << bounds.highest
                << ", are known to " << bounds.lowest_error << " and " << bounds.highest_error
                << " only, not to the BoundsAccuracy " << bounds_.accuracy << std::endl;
  for (RationalTerm<F>* term : {&action_, &force_}) {
    const SpectrumCheck check = check_spectrum(term->approximation, measured);
    if (check.verdict != SpectrumCheck::outside) continue;
    if (!bounds_.widen) throw NumericsError("RationalMonomial: " + check.message);
    term->approximation = widened(term->approximation, possible);
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
                         pseudofermion_noise(quark.d(), quark.m().domain()), "RationalMonomial::refresh", count);
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
template <class P>
void RationalMonomial<F>::force_in(GaugeField& f, const GaugeField& u, const Log& log) {
  const QuarkOperator<F> quark(quark_, u);
  const PartialFractions& s = force_.approximation.function;
  multi1d<int> counts(static_cast<int>(drawn(phi_).size()));
  auto g = no_derivative<LinksOf<P>>();
  for (std::size_t n = 0; n < phi_.size(); ++n) {
    const P phi = phi_[n];
    std::vector<P> x;
    const SolveResult solve = solve_for_force(x, quark, phi, s.poles, *force_.solver, "RationalMonomial::force");
    counts[static_cast<int>(n)] = solve.iterations;
    for (std::size_t k = 0; k < x.size(); ++k) add_normal_derivative(g, operator_in<P>(quark), x[k], -s.residues[k]);
  }
  log.write("n_count", counts);
  f = force_of(quark, std::move(g));
}

template <class F>
void RationalMonomial<F>::copy_fields_from(const Monomial& other) {
  phi_ = same_kind<RationalMonomial<F>>(other).phi_;
}

// ---- determinants of the site-diagonal part --------------------------------------------------------------------------

template <class F>
const Subset& LogDetMonomial<F>::subset() const {
  if (sites_ == Sites::all) return all;
  require_checkerboard("the determinant on even sites");
  return rb[0];
}

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

void SumMonomial::add_forces(GaugeField& f, const GaugeField& u, const Log& log, Force force) {
  GaugeFieldTotal total;
  for (const auto& term : terms_) {
    const auto group = log.group(term->log_tag());
    GaugeField one;
    ((*term).*force)(one, u, log);
    total.add(std::move(one));
  }
  f = total.take();
}

void SumMonomial::copy_fields_from(const Monomial& other) {
  const SumMonomial& sum = same_kind<SumMonomial>(other);
  if (sum.terms_.size() != terms_.size())
    throw InputError("copyList: expected sums of " + std::to_string(terms_.size()) + " terms, got " +
                     std::to_string(sum.terms_.size()));
  for (std::size_t k = 0; k < terms_.size(); ++k) terms_[k]->copy_fields_from(*sum.terms_[k]);
}

MemoryNeed SumMonomial::memory() const {
  MemoryNeed need;
  for (const auto& term : terms_) {
    const MemoryNeed one = term->memory();
    need.kept += one.kept;
    need.working = std::max(need.working, one.working);
  }
  return need;
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

#define QCD_INSTANTIATE(F)                                                                                             \
  template F pseudofermion_noise(const DiracOperator<F>&, const Subset&);                                              \
  template class TwoFlavorMonomial<F>;                                                                                 \
  template class RatioMonomial<F>;                                                                                     \
  template class RationalMonomial<F>;                                                                                  \
  template class LogDetMonomial<F>;
QCD_INSTANTIATE(LatticeFermion)
QCD_INSTANTIATE(LatticeStaggeredFermion)
#undef QCD_INSTANTIATE

}  // namespace qcd
