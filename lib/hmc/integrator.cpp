#include "lib/hmc/integrator.hpp"

#include "lib/action/monomial_table.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/hmc/force_monitor.hpp"

#include <chrono>
#include <cmath>
#include <optional>

namespace qcd {

using namespace QDP;

StepContext::StepContext() : factor(Nd) { factor = Real(1); }

namespace {

multi1d<Real> step_sizes(double dt, const StepContext& context) {
  multi1d<Real> sizes(Nd);
  for (int mu = 0; mu < Nd; ++mu) sizes[mu] = Real(dt) * context.factor[mu];
  return sizes;
}

/// `use` is called with f = sum of the monomials' forces at `u`, each of which is logged. What is done with f there can be done while it is
/// computed: nobody needs it afterwards.
template <class Use>
void with_total_force(const GaugeField& u, const KickMonomials& monomials, const StepContext& context, const Use& use) {
  const Log& log = context.log;
  const auto outer = log.group("AbsHamiltonianForce");
  log.write("num_terms", static_cast<int>(monomials.size()));
  const auto list = log.group("ForcesByMonomial");
  GaugeFieldTotal f;
  if (monomials.empty()) use(f.take());
  for (std::size_t i = 0; i < monomials.size(); ++i) {
    const auto& [id, monomial] = monomials[i];
    const auto elem = log.group("elem");
    log.write("monomial_id", id);
    const auto tag = log.group(monomial->log_tag());
    GaugeField one;
    context.single_forces ? monomial->force_in_single(one, u, log) : monomial->force(one, u, log);
    std::optional<ForceMonitor> monitor;
    if (context.monitor_forces && log.active()) monitor.emplace(one);
    f.add(std::move(one));
    if (i + 1 == monomials.size()) use(f.take());
    if (monitor) monitor->write(log, context.factor);
  }
}

/// Tells the observer of the force f.
void observe(const GaugeField& f, const GaugeField& p, double lag, const TimeScale& scale, const StepContext& context,
             std::chrono::steady_clock::time_point begin) {
  double squares = 0, power = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    const double factor = toDouble(context.factor[mu]);
    squares += factor * factor * toDouble(norm2(f[mu]));
    power += factor * toDouble(innerProductReal(p[mu], f[mu]));
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  context.observer->force(scale.level, squares, power + lag * squares, seconds.count());
}

/// P <- taproj(P + dt F(u)). `lag`: how far the links' time is ahead of the momenta's.
void kick(GaugeField& p, const GaugeField& u, double dt, const TimeScale& scale, const StepContext& context,
          double lag = 0) {
  const auto group = context.log.group("leapP");
  const multi1d<Real> step = step_sizes(dt, context);
  context.log.write("dt", Real(dt));
  context.log.write("dt_actual_per_dir", step);
  const auto begin = std::chrono::steady_clock::now();
  with_total_force(u, scale.monomials, context, [&](const GaugeField& f) {
    if (context.observer) observe(f, p, lag, scale, context, begin);
    for (int mu = 0; mu < Nd; ++mu) p[mu] = taproj(p[mu] + step[mu] * f[mu]);
  });
}

/// U <- exp(dt P) U, checked and projected back to the group.
void drift(GaugeField& u, const GaugeField& p, double dt, const StepContext& context) {
  const auto group = context.log.group("leapQ");
  const multi1d<Real> step = step_sizes(dt, context);
  context.log.write("dt", Real(dt));
  context.log.write("dt_actual_per_dir", step);
  std::vector<UnitarityCheck> checks;
  for (int mu = 0; mu < Nd; ++mu) {
    u[mu] = su3_exp(step[mu] * p[mu]) * u[mu];
    checks.emplace_back(u[mu]);
    u[mu] = su3_unitarize(u[mu]);
  }
  for (const UnitarityCheck& check : checks) check.require("link update of molecular dynamics");
  if (context.observer) context.observer->drift(dt);
}

/// Force-gradient kick: P <- P + h F(U'), U' = exp(g F(U)) U. Source: Yin and Mawhinney, arXiv:1111.5059, eqs. (2.4),
/// (2.5).
void gradient_kick(PhaseSpace& state, double h, double g, const TimeScale& scale, const StepContext& context) {
  PhaseSpace moved;
  for (int mu = 0; mu < Nd; ++mu) {
    moved.u[mu] = state.u[mu];
    moved.p[mu] = zero;
  }
  StepContext aside = context;  // U' is not a place that the trajectory passes
  aside.observer = nullptr;
  kick(moved.p, moved.u, g, scale, aside);
  drift(moved.u, moved.p, 1, aside);
  kick(state.p, moved.u, h, scale, aside);
}

class Drift : public Evolution {
 public:
  explicit Drift(int steps) : steps_(steps) {}
  void run(PhaseSpace& state, double tau, const StepContext& context) const override {
    for (int i = 0; i < steps_; ++i) drift(state.u, state.p, tau / steps_, context);
  }

 private:
  int steps_;
};

class Kick : public Evolution {
 public:
  explicit Kick(TimeScale scale) : scale_(std::move(scale)) {}
  void run(PhaseSpace& state, double tau, const StepContext& context) const override {
    for (int i = 0; i < scale_.steps; ++i) kick(state.p, state.u, tau / scale_.steps, scale_, context);
  }
  void collect(std::vector<TimeScale*>& scales) override { scales.push_back(&scale_); }

 private:
  TimeScale scale_;
};

class Splitting : public Evolution {
 public:
  Splitting(TimeScale scale, std::unique_ptr<Evolution> drift) : scale_(std::move(scale)), drift_(std::move(drift)) {
    if (!drift_) drift_ = std::make_unique<Drift>(1);
  }

  void run(PhaseSpace& state, double tau, const StepContext& context) const override {
    const std::vector<Stage>& stages = scale_.stages;
    const int steps =
        scale_.steps > 0 ? scale_.steps : std::max(1, static_cast<int>(std::ceil(std::fabs(tau) / scale_.limit)));
    const double dt = tau / steps;
    const bool join = steps > 1 && can_join(stages);
    if (context.observer) context.observer->begin_run(scale_.level);
    double kicked = 0, drifted = 0;  // time that the momenta and the links have gone, in steps
    for (int step = 0; step < steps; ++step)
      for (std::size_t k = 0; k < stages.size(); ++k) {
        Stage stage = stages[k];
        if (join && k == 0 && step > 0) continue;
        if (join && k + 1 == stages.size() && step + 1 < steps) stage.h += stages.front().h;
        apply(stage, state, dt, (drifted - kicked) * dt, context);
        (stage.kind == Stage::drift ? drifted : kicked) += stage.h;
      }
  }

  void collect(std::vector<TimeScale*>& scales) override {
    scales.push_back(&scale_);
    drift_->collect(scales);
  }

 private:
  void apply(const Stage& stage, PhaseSpace& state, double dt, double lag, const StepContext& context) const {
    switch (stage.kind) {
      case Stage::kick:
        return kick(state.p, state.u, stage.h * dt, scale_, context, lag);
      case Stage::drift:
        return drift_->run(state, stage.h * dt, context);
      case Stage::gradient_kick:
        return gradient_kick(state, stage.h * dt, stage.g * dt * dt, scale_, context);
    }
  }

  TimeScale scale_;
  std::unique_ptr<Evolution> drift_;
};

// ---- the schemes ---------------------------------------------------------------------------------------------------

constexpr Stage S(double h) { return {Stage::kick, h, 0}; }
constexpr Stage T(double h) { return {Stage::drift, h, 0}; }

/// half, middle, half reversed.
std::vector<Stage> palindrome(std::vector<Stage> half, Stage middle) {
  std::vector<Stage> stages = half;
  stages.push_back(middle);
  stages.insert(stages.end(), half.rbegin(), half.rend());
  return stages;
}

/// Kicks and drifts exchanged.
std::vector<Stage> exchanged(std::vector<Stage> stages) {
  for (Stage& stage : stages) stage.kind = stage.kind == Stage::kick ? Stage::drift : Stage::kick;
  return stages;
}

std::vector<Stage> leapfrog_s(const std::vector<double>&) { return palindrome({S(0.5)}, T(1)); }
std::vector<Stage> leapfrog_t(const std::vector<double>& c) { return exchanged(leapfrog_s(c)); }

std::vector<Stage> minimum_norm_s(const std::vector<double>& c) {
  const double lambda = c[0];
  return palindrome({S(lambda), T(0.5)}, S(1 - 2 * lambda));
}
std::vector<Stage> minimum_norm_t(const std::vector<double>& c) { return exchanged(minimum_norm_s(c)); }

std::vector<Stage> four_kicks(const std::vector<double>& c) {
  const double rho = c[0], theta = c[1], lambda = c[2];
  return palindrome({T(rho), S(lambda), T(theta), S(0.5 - lambda)}, T(1 - 2 * (theta + rho)));
}

std::vector<Stage> five_kicks_v(const std::vector<double>& c) {
  const double theta = c[0], rho = c[1], lambda = c[2], mu = c[3];
  return palindrome({S(theta), T(rho), S(lambda), T(mu), S(0.5 - (lambda + theta))}, T(1 - 2 * (mu + rho)));
}
std::vector<Stage> five_kicks_p(const std::vector<double>& c) { return exchanged(five_kicks_v(c)); }

/// Three leapfrogs of lengths s, t, s with s^3 + t^3 + s^3 = 0, which cancels the third-order error.
std::vector<Stage> creutz_gocksch(const std::vector<double>&) {
  const double s = 1 / (2 - std::cbrt(2.0)), t = 1 - 2 * s;
  return palindrome({S(s / 2), T(s), S((s + t) / 2)}, T(t));
}

std::vector<Stage> force_gradient(const std::vector<double>&) {
  const double lambda = 1.0 / 6, xi = 1.0 / 72, middle = 1 - 2 * lambda;
  return palindrome({S(lambda), T(0.5)}, {Stage::gradient_kick, middle, 2 * xi / middle});
}

constexpr Scheme::Parameter kLambda = {"lambda", 0.1931833275037836};
constexpr const char* kOmelyan = "Omelyan, Mryglod, Folk, Comput. Phys. Commun. 151 (2003) 272";

}  // namespace

bool can_join(const std::vector<Stage>& stages) {
  return stages.front().kind == stages.back().kind && stages.front().kind != Stage::gradient_kick;
}

const std::vector<Scheme>& schemes() {
  static const std::vector<Scheme> table = {
      {"LCM_STS_LEAPFROG", "2nd order, kick first", {}, leapfrog_s},
      {"LCM_TST_LEAPFROG", "2nd order, drift first", {}, leapfrog_t},
      {"LCM_STS_MIN_NORM_2",
       std::string("2nd order, minimum norm, kick first; ") + kOmelyan,
       {kLambda},
       minimum_norm_s},
      {"LCM_TST_MIN_NORM_2",
       std::string("2nd order, minimum norm, drift first; ") + kOmelyan,
       {kLambda},
       minimum_norm_t},
      {"LCM_STS_MIN_NORM_2_DTAU",
       "as LCM_STS_MIN_NORM_2, steps of at most delta_tau_max",
       {kLambda},
       minimum_norm_s,
       true},
      {"LCM_TST_MIN_NORM_2_DTAU",
       "as LCM_TST_MIN_NORM_2, steps of at most delta_tau_max",
       {kLambda},
       minimum_norm_t,
       true},
      {"LCM_4MN4FP",
       std::string("4th order, 4 forces, drift first; ") + kOmelyan,
       {{"rho", 0.1786178958448091}, {"theta", -0.06626458266981843}, {"lambda", 0.7123418310626056}},
       four_kicks},
      {"LCM_4MN5FP",
       std::string("4th order, 5 forces, drift first; ") + kOmelyan,
       {{"theta", 0.08398315262876693},
        {"rho", 0.2539785108410595},
        {"lambda", 0.6822365335719091},
        {"mu", -0.03230286765269967}},
       five_kicks_p},
      {"LCM_4MN5FV",
       std::string("4th order, 5 forces, kick first; ") + kOmelyan,
       {{"theta", 0.08398315262876693},
        {"rho", 0.2539785108410595},
        {"lambda", 0.6822365335719091},
        {"mu", -0.03230286765269967}},
       five_kicks_v},
      {"LCM_CREUTZ_GOCKSCH_4",
       "4th order, 3 forces; Creutz and Gocksch, Phys. Rev. Lett. 63 (1989) 9",
       {},
       creutz_gocksch},
      {"LCM_STS_FORCE_GRAD", "4th order, force gradient; Yin and Mawhinney, arXiv:1111.5059", {}, force_gradient},
  };
  return table;
}

const Scheme& find_scheme(const std::string& name) {
  std::string known;
  for (const Scheme& scheme : schemes()) {
    if (scheme.name == name) return scheme;
    known += ' ' + scheme.name;
  }
  throw InputError("integrator " + name + ": expected one of" + known);
}

std::unique_ptr<Evolution> make_evolution(std::vector<Stage> stages, int steps, KickMonomials monomials,
                                          std::unique_ptr<Evolution> drift) {
  return std::make_unique<Splitting>(TimeScale{std::move(stages), steps, 0, std::move(monomials)}, std::move(drift));
}

// ---- from the input ------------------------------------------------------------------------------------------------

namespace {

using IntegratorTable = Table<std::unique_ptr<Evolution>, const MonomialMap&>;

KickMonomials read_kick_monomials(const Input& input, const std::string& tag, const MonomialMap& monomials) {
  KickMonomials kicks;
  for (const std::string& id : read_monomial_ids(input, tag, monomials))
    if (const auto found = monomials.find(id); found != monomials.end()) kicks.push_back({id, found->second});
  return kicks;
}

std::unique_ptr<Evolution> read_evolution(const Input& input, const MonomialMap& monomials) {
  const auto* row = integrator_table().find(input);
  return row ? row->make(input, monomials) : nullptr;
}

std::unique_ptr<Evolution> read_scheme(const Scheme& scheme, const Input& input, const MonomialMap& monomials) {
  std::vector<double> parameters;
  for (const Scheme::Parameter& parameter : scheme.parameters)
    parameters.push_back(input.real(parameter.name, {}, parameter.value));
  TimeScale scale;
  scale.stages = scheme.stages(parameters);
  scale.monomials = read_kick_monomials(input, "monomial_ids", monomials);
  scale.steps = scheme.step_from_delta_tau ? 0 : input.integer("n_steps", at_least(1));
  if (scheme.step_from_delta_tau) scale.limit = input.real("delta_tau_max", positive());
  std::unique_ptr<Evolution> drift;
  if (input.has("SubIntegrator")) drift = read_evolution(input.group("SubIntegrator"), monomials);
  return std::make_unique<Splitting>(std::move(scale), std::move(drift));
}

std::string schema(const Scheme& scheme) {
  std::string text = scheme.step_from_delta_tau ? "delta_tau_max" : "n_steps";
  text += ", monomial_ids{elem...}";
  for (const Scheme::Parameter& parameter : scheme.parameters) {
    std::string value = std::to_string(parameter.value);
    text += ", [" + std::string(parameter.name) + " = " + value + "]";
  }
  return text + ", [SubIntegrator{Name, ...}]: " + scheme.about;
}

IntegratorTable make_integrator_table() {
  std::vector<IntegratorTable::Row> rows;
  for (const Scheme& scheme : schemes())
    rows.push_back({scheme.name, schema(scheme), [&scheme](const Input& input, const MonomialMap& monomials) {
                      return read_scheme(scheme, input, monomials);
                    }});
  rows.push_back({"LCM_EXP_S", "n_steps, monomial_list{elem...}: kicks only",
                  [](const Input& input, const MonomialMap& monomials) {
                    TimeScale scale;
                    scale.steps = input.integer("n_steps", at_least(1));
                    scale.monomials = read_kick_monomials(input, "monomial_list", monomials);
                    return std::unique_ptr<Evolution>(new Kick(std::move(scale)));
                  }});
  rows.push_back({"LCM_EXP_T", "n_steps: drifts only; what a missing SubIntegrator stands for, with n_steps 1",
                  [](const Input& input, const MonomialMap&) {
                    return std::unique_ptr<Evolution>(new Drift(input.integer("n_steps", at_least(1))));
                  }});
  return IntegratorTable("an integrator", std::move(rows));
}

}  // namespace

const IntegratorTable& integrator_table() {
  static const IntegratorTable table = make_integrator_table();
  return table;
}

Integrator::Integrator(double tau, std::unique_ptr<Evolution> evolution) : tau_(tau), evolution_(std::move(evolution)) {
  int level = 0;
  for (TimeScale* scale : time_scales()) scale->level = level++;
}

std::vector<TimeScale*> Integrator::time_scales() {
  std::vector<TimeScale*> scales;
  if (evolution_) evolution_->collect(scales);
  return scales;
}

Integrator Integrator::read(const Input& input, const MonomialMap& monomials) {
  Integrator integrator(input.real("tau0", positive()), read_evolution(input.group("Integrator"), monomials));
  if (input.has("copyList"))
    for (const Input& elem : input.elements("copyList", Empty::allowed)) {
      const auto find = [&](const char* tag) -> std::shared_ptr<Monomial> {
        const std::string id = elem.word(tag);
        const auto found = monomials.find(id);
        if (found != monomials.end()) return found->second;
        if (!id.empty()) elem.error(tag, "the monomial_id of a monomial in the list Monomials", id);
        return nullptr;
      };
      integrator.copies_.emplace_back(find("copyFrom"), find("copyTo"));
    }
  const std::string precision = input.word("MDPrecision", "double");
  if (precision != "double" && precision != "single") input.error("MDPrecision", "double or single", precision);
  integrator.single_forces_ = precision == "single";
  if (input.flag("anisoP", false)) {
    integrator.t_dir_ = input.integer("t_dir", {0, Nd - 1});
    integrator.xi_mom_ = input.real("xi_mom", positive());
  } else {
    input.accept_unused({"t_dir", "xi_mom"});
  }
  return integrator;
}

void Integrator::copy_fields() const {
  for (const auto& [from, to] : copies_) to->copy_fields_from(*from);
}

void Integrator::run(PhaseSpace& state, const Log& log, bool monitor_forces, DynamicsObserver* observer) const {
  StepContext context;
  context.observer = observer;
  context.log = log;
  context.monitor_forces = monitor_forces;
  context.single_forces = single_forces_;
  context.factor[t_dir_] = Real(1 / xi_mom_);
  evolution_->run(state, tau_, context);
}

}  // namespace qcd
