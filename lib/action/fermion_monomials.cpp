#include "lib/action/fermion_monomials.hpp"

#include "lib/action/pseudofermion.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/io/lattice.hpp"
#include "lib/rational/input.hpp"
#include "lib/solver/predictor.hpp"
#include "lib/solver/solver_table.hpp"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>

namespace qcd {

using namespace QDP;

namespace {

using Row = Table<std::shared_ptr<Monomial>>::Row;
using MonomialPtr = std::shared_ptr<Monomial>;

const char* name_of(Preconditioning p) {
  switch (p) {
    case Preconditioning::none:
      return "an unpreconditioned one (UNPRECONDITIONED_WILSON, UNPRECONDITIONED_CLOVER ...)";
    case Preconditioning::even_odd:
      return "an even-odd preconditioned one (WILSON, CLOVER ...)";
    case Preconditioning::symmetric_even_odd:
      return "a symmetrically even-odd preconditioned one (SEOPREC_CLOVER ...)";
    case Preconditioning::even_source:
      return "a staggered one (STAGGERED)";
  }
  return "";
}

/// FermionAction{FermAct, ...}; the monomial's name says which preconditioning it needs.
template <class F>
Quark<F> read_quark(const Input& in, Preconditioning preconditioning) {
  const Input group = in.group("FermionAction");
  const auto* row = fermion_action_table<F>().find(group, "FermAct");
  Quark<F> quark(row ? row->make(group) : nullptr, preconditioning);
  if (quark.action && quark.action->preconditioning() != preconditioning)
    group.error("FermAct", name_of(preconditioning), group.word("FermAct"));
  return quark;
}

/// [ChronologicalPredictor{Name, ...}], zero guess where absent.
template <class F>
std::shared_ptr<Predictor<F>> read_predictor(const Input& in) {
  if (!in.has("ChronologicalPredictor")) return std::make_shared<ZeroGuess<F>>();
  const Input group = in.group("ChronologicalPredictor");
  const auto* row = predictor_table<F>().find(group);
  return row ? row->make(group) : nullptr;
}

constexpr const char* kTwoFlavor =
    "FermionAction{FermAct, ...}, InvertParam{invType, ...}, [ChronologicalPredictor{Name, ...}]: ";

template <class F>
MonomialPtr read_two_flavor(const Input& in, Preconditioning preconditioning) {
  return std::make_shared<TwoFlavorMonomial<F>>(
      read_quark<F>(in, preconditioning),
      PseudofermionSolver<F>{read_normal_solver<F>(in.group("InvertParam")), read_predictor<F>(in)});
}

template <class F>
Row two_flavor(const char* name, Preconditioning preconditioning, const char* about) {
  return {name, std::string(kTwoFlavor) + about,
          [preconditioning](const Input& in) { return read_two_flavor<F>(in, preconditioning); }};
}

/// The pseudofermion term and the logarithm of the determinant that preconditioning splits off.
Row two_flavor_log_det(const char* name, Preconditioning preconditioning, LogDetMonomial<LatticeFermion>::Sites sites) {
  return {name, std::string(kTwoFlavor) + "two flavours including the determinant of the site-diagonal part",
          [preconditioning, sites](const Input& in) -> MonomialPtr {
            const auto quark = read_quark<LatticeFermion>(in, preconditioning);
            std::vector<MonomialPtr> terms = {read_two_flavor<LatticeFermion>(in, preconditioning)};
            if (quark.action) terms.push_back(std::make_shared<LogDetMonomial<LatticeFermion>>(quark.action, sites, 2));
            return std::make_shared<SumMonomial>("TwoFlavorExactLogDetWilsonTypeFermMonomial", terms);
          }};
}

/// Action{FermionAction, [InvertParam]}, PrecAction{FermionAction, [InvertParam]}: at least one InvertParam, which
/// then serves both.
template <class F>
Row ratio(const char* name, Preconditioning preconditioning, const char* about) {
  return {name,
          std::string("Action{FermionAction, InvertParam}, PrecAction{FermionAction, [InvertParam]}, "
                      "[ChronologicalPredictor{Name, ...}]: ") +
              about,
          [preconditioning](const Input& in) -> MonomialPtr {
            const Input light = in.group("Action"), heavy = in.group("PrecAction");
            const Input& light_solver = light.has("InvertParam") || !heavy.has("InvertParam") ? light : heavy;
            const Input& heavy_solver = heavy.has("InvertParam") ? heavy : light_solver;
            return std::make_shared<RatioMonomial<F>>(std::vector<DeterminantRatio<F>>{
                {read_quark<F>(light, preconditioning),
                 {read_normal_solver<F>(light_solver.group("InvertParam")), read_predictor<F>(in)},
                 read_quark<F>(heavy, preconditioning),
                 read_normal_solver<F>(heavy_solver.group("InvertParam"))}});
          }};
}

/// prod_k |det(M + i mu_k gamma_5)|^2 / |det(M + i mu_{k+1} gamma_5)|^2, one pseudofermion per factor. Of a hermitian
/// gamma_5 M each is det(M^+M + mu_k^2) / det(M^+M + mu_{k+1}^2); a symmetrically preconditioned clover operator has none.
Row multi_hasenbusch(const char* name, Preconditioning preconditioning) {
  using F = LatticeFermion;
  return {name,
          "Action{FermionAction, InvertParam}, ShiftedMass (NumofHasenTerms + 1 numbers mu_k), NumofHasenTerms, "
          "[ChronologicalPredictor{Name, ...}]: prod_k |det(M + i mu_k gamma_5)|^2/|det(M + i mu_{k+1} gamma_5)|^2",
          [preconditioning](const Input& in) -> MonomialPtr {
            const Input action = in.group("Action");
            const int terms = in.integer("NumofHasenTerms", at_least(1));
            const std::vector<double> mu = in.reals("ShiftedMass", terms + 1);
            std::vector<DeterminantRatio<F>> ratios;
            Quark<F> light = read_quark<F>(action, preconditioning), heavy = light;
            const double twist = light.twist;  // TwistedM of the action: the mu_k come on top, as in Chroma
            const auto solver = read_normal_solver<F>(action.group("InvertParam"));
            for (std::size_t k = 0; k + 1 < mu.size(); ++k) {
              light.twist = twist + mu[k];
              heavy.twist = twist + mu[k + 1];
              ratios.push_back({light, {solver, read_predictor<F>(in)}, heavy, solver});
            }
            return std::make_shared<RatioMonomial<F>>(std::move(ratios));
          }};
}

/// |det(M + i mu gamma_5)|^2: what the last denominator of a Hasenbusch chain in mu leaves.
Row hasenbusch_cancel(const char* name, Preconditioning preconditioning) {
  using F = LatticeFermion;
  return {name, std::string("ShiftedMass (mu), ") + kTwoFlavor + "|det(M + i mu gamma_5)|^2",
          [preconditioning](const Input& in) -> MonomialPtr {
            Quark<F> quark = read_quark<F>(in, preconditioning);
            quark.twist += in.real("ShiftedMass");
            return std::make_shared<TwoFlavorMonomial<F>>(
                quark, PseudofermionSolver<F>{read_normal_solver<F>(in.group("InvertParam")), read_predictor<F>(in)});
          }};
}

template <class F>
RationalTerm<F> read_rational_term(const Input& in) {
  return {read_rational_approx(in.group("RationalApprox")), read_multi_shift_solver<F>(in.group("InvertParam"))};
}

/// [BoundsCheckFrequency = 0], [BoundsAccuracy = 0.01], [WidenBounds = false].
template <class F>
typename RationalMonomial<F>::BoundsCheck read_bounds_check(const Input& in) {
  typename RationalMonomial<F>::BoundsCheck check;
  check.interval = in.integer("BoundsCheckFrequency", at_least(0), check.interval);
  check.accuracy = in.real("BoundsAccuracy", positive(), check.accuracy);
  check.widen = in.flag("WidenBounds", check.widen);
  return check;
}

/// p of r(x) ~ x^p: as the input says, or from the coefficients, between the second and the last but one of the poles.
double power_of(const RationalApproximation& r) {
  if (r.power.numerator != 0) return r.power;
  std::vector<double> x = r.function.poles;
  std::sort(x.begin(), x.end());
  if (x.size() > 3) x = {x[1], x[x.size() - 2]};
  return x.size() < 2
             ? 0
             : std::log(r.function.value(x.back()) / r.function.value(x.front())) / std::log(x.back() / x.front());
}

std::string four_digits(double x) {
  std::ostringstream text;
  text << std::setprecision(4) << x;
  return text.str();
}

/// Powers, num_pf and num_flavors have to say one thing: det(M^+M)^alpha, alpha = num_flavors/`per_alpha`, is num_pf times
/// the power of ForceApprox, which is twice that of ActionApprox. `flavors` 0: no default.
void check_powers(const Input& in, int num_pf, const RationalApproximation& action, const RationalApproximation& force,
                  int per_alpha, int flavors) {
  const bool given = in.has("num_flavors");
  const double asked = given ? in.real("num_flavors", positive()) : flavors;
  const double p = power_of(action), q = power_of(force);
  if (in.has_errors() || p == 0 || q == 0) return;
  const double tolerance = action.power.numerator != 0 && force.power.numerator != 0 ? 1e-9 : 0.05;
  const auto equal = [&](double a, double b) { return std::fabs(a - b) <= tolerance * std::fabs(b); };
  const Input approximations = in.group("Action");
  const double simulated = -q * num_pf * per_alpha;
  if (p > 0)
    approximations.error("ActionApprox", "a negative power, -alpha/(2 num_pf)", four_digits(p));
  else if (!equal(q, 2 * p))
    approximations.error("ForceApprox", "twice the power of ActionApprox, " + four_digits(2 * p), four_digits(q));
  else if (asked > 0 && !equal(simulated, asked))
    in.error(
        "num_pf",
        "num_pf times the power of ForceApprox to be -num_flavors/" + std::to_string(per_alpha) + " = " +
            four_digits(-asked / per_alpha) + (given ? "" : " (num_flavors is 1 unless given)"),
        std::to_string(num_pf) + " times " + four_digits(q) + ", which is for " + four_digits(simulated) + " flavours");
  else if (asked == 0 && num_pf > 1)
    in.error("num_flavors", "the number of flavours where num_pf is above 1",
             "none, and the powers are for " + four_digits(simulated));
}

/// `per_alpha` flavours are det M^+M; `flavors` is the default for num_flavors, 0 for none.
template <class F>
Row rational(const char* name, Preconditioning preconditioning, int per_alpha, int flavors, const char* about) {
  return {name,
          std::string("num_pf, [num_flavors") +
              (flavors > 0 ? " = " + std::to_string(flavors) : " (needed where num_pf is above 1)") +
              "], Action{FermionAction, ActionApprox{RationalApprox, InvertParam}, ForceApprox{RationalApprox, "
              "InvertParam}}, [BoundsCheckFrequency = 0 (trajectories between checks of the spectrum)], "
              "[BoundsAccuracy = 0.01], [WidenBounds = false]: " +
              about,
          [=](const Input& in) -> MonomialPtr {
            const Input group = in.group("Action");
            const Quark<F> quark = read_quark<F>(group, preconditioning);
            auto action = read_rational_term<F>(group.group("ActionApprox")),
                 force = read_rational_term<F>(group.group("ForceApprox"));
            const int num_pf = in.integer("num_pf", at_least(1));
            check_powers(in, num_pf, action.approximation, force.approximation, per_alpha, flavors);
            return std::make_shared<RationalMonomial<F>>(quark, num_pf, std::move(action), std::move(force),
                                                         read_bounds_check<F>(in));
          }};
}

Row n_flavor_log_det(const char* name, LogDetMonomial<LatticeFermion>::Sites sites, const char* about) {
  return {name, std::string("FermionAction{FermAct, ...}, num_flavors: ") + about,
          [sites](const Input& in) -> MonomialPtr {
            const Input group = in.group("FermionAction");
            const auto* row = wilson_type_action_table().find(group, "FermAct");
            const int flavors = in.integer("num_flavors");
            const auto action = row ? row->make(group) : nullptr;
            if (sites == LogDetMonomial<LatticeFermion>::Sites::even) require_checkerboard(in, "Name");
            if (!action) return nullptr;
            return std::make_shared<LogDetMonomial<LatticeFermion>>(action, sites, flavors);
          }};
}

}  // namespace

std::vector<Row> fermion_monomial_rows() {
  using W = LatticeFermion;
  using S = LatticeStaggeredFermion;
  using enum Preconditioning;
  using Sites = LogDetMonomial<W>::Sites;
  constexpr const char* kTwo = "det(M^+M)";
  constexpr const char* kRatio = "det(M^+M)/det(M'^+M'), M of Action and M' of PrecAction";
  constexpr const char* kRational =
      "det(M^+M)^alpha with num_pf pseudofermions: ActionApprox ~ x^(-alpha/(2 num_pf)), ForceApprox ~ "
      "x^(-alpha/num_pf); one flavour: alpha = 1/2";
  return {
      two_flavor<W>("TWO_FLAVOR_UNPREC_FERM_MONOMIAL", none, kTwo),
      two_flavor<W>("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", even_odd, kTwo),
      two_flavor<W>("TWO_FLAVOR_SEOPREC_CONSTDET_FERM_MONOMIAL", symmetric_even_odd, kTwo),
      two_flavor_log_det("TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", even_odd, Sites::even),
      two_flavor_log_det("TWO_FLAVOR_SEOPREC_LOGDET_FERM_MONOMIAL", symmetric_even_odd, Sites::all),
      ratio<W>("TWO_FLAVOR_UNPREC_RATIO_CONV_CONV_FERM_MONOMIAL", none, kRatio),
      ratio<W>("TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", even_odd, kRatio),
      ratio<W>("TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", symmetric_even_odd, kRatio),
      multi_hasenbusch("TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", even_odd),
      multi_hasenbusch("TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", symmetric_even_odd),
      hasenbusch_cancel("TWO_FLAVOR_EOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL", even_odd),
      hasenbusch_cancel("TWO_FLAVOR_SEOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL", symmetric_even_odd),
      rational<W>("ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL", none, 2, 1, kRational),
      rational<W>("ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", even_odd, 2, 1, kRational),
      rational<W>("ONE_FLAVOR_SEOPREC_CONSTDET_FERM_RAT_MONOMIAL", symmetric_even_odd, 2, 1, kRational),
      n_flavor_log_det("N_FLAVOR_LOGDET_EVEN_EVEN_FERM_MONOMIAL", Sites::even,
                       "det(A)^num_flavors over the even sites, A the site-diagonal part"),
      n_flavor_log_det("N_FLAVOR_LOGDET_DIAG_FERM_MONOMIAL", Sites::all, "det(A)^num_flavors over all sites"),
      two_flavor<S>("FOUR_TASTE_STAGGERED_FERM_MONOMIAL", even_source, "det(M^+M)_ee = det M: four tastes, no root"),
      rational<S>(
          "ROOTED_STAGGERED_FERM_RAT_MONOMIAL", even_source, 4, 0,
          "det(M)^alpha = [det(M^+M)_ee]^alpha, alpha = Nf/4: ActionApprox ~ x^(-alpha/(2 num_pf)), ForceApprox ~ "
          "x^(-alpha/num_pf)"),
      {"FIXED_RANDOM_X_FERM_MONOMIAL",
       "FermState{Name, ...}: 2 sum Re tr(V X) with fixed random X, a test of smeared links",
       [](const Input& in) -> MonomialPtr { return std::make_shared<FixedRandomMonomial>(read_fermion_state(in)); }},
  };
}

}  // namespace qcd
