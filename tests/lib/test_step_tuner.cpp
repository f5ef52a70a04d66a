// Choosing step numbers: what schemes conserve, costs, the search, and predictions against measured energy violations.

#include "lib/action/monomial_table.hpp"
#include "lib/hmc/step_tuner.hpp"
#include "lib/hmc/trajectory.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <sstream>

using namespace QDP;
using namespace qcd;
using tests::tag;

namespace {

std::vector<Stage> stages_of(const std::string& name) {
  std::vector<double> parameters;
  for (const auto& parameter : find_scheme(name).parameters) parameters.push_back(parameter.value);
  return find_scheme(name).stages(parameters);
}

/// No force, but counts how often it is asked for.
class Counting : public Monomial {
 public:
  int forces = 0;
  Double action(const GaugeField&, const Log&) override { return Double(0); }
  void force(GaugeField& f, const GaugeField&, const Log&) override {
    ++forces;
    f.resize(Nd);
    for (int mu = 0; mu < Nd; ++mu) f[mu] = zero;
  }
  std::string log_tag() const override { return "Counting"; }
};

std::string level(const std::string& name, int steps, const std::string& id, const std::string& inner = "") {
  return tag("Name", name) + tag("n_steps", std::to_string(steps)) + tag("monomial_ids", tag("elem", id)) +
         (inner.empty() ? "" : tag("SubIntegrator", inner));
}

Integrator make(const std::string& integrator, const MonomialMap& monomials, const std::string& tau = "1") {
  const InputFile document = tests::input(tag("MDIntegrator", tag("tau0", tau) + tag("Integrator", integrator)));
  Integrator made = Integrator::read(document.root(), monomials);
  document.require_valid();
  return made;
}

/// Plaquettes and weak rectangles as monomials of their own.
MonomialMap two_scales() {
  const auto gauge = [](const std::string& action, const std::string& id) {
    return tag("elem",
               tag("Name", "GAUGE_MONOMIAL") + tag("GaugeAction", action) + tag("NamedObject", tag("monomial_id", id)));
  };
  const InputFile document = tests::input(
      tag("HMCTrj", tag("Monomials", gauge(tag("Name", "WILSON_GAUGEACT") + tag("beta", "8"), "plaquettes") +
                                         gauge(tag("Name", "RECT_GAUGEACT") + tag("coeff", "-0.5"), "rectangles"))));
  const MonomialMap monomials = read_monomials(document.root());
  document.require_valid();
  return monomials;
}

/// A thermalised field with two time scales.
struct Tuned {
  struct Lattice {
    Lattice() { tests::use_lattice({4, 4, 4, 4}); }
  } before_fields;
  MonomialMap monomials = two_scales();
  Hamiltonian hamiltonian{monomials, {"plaquettes", "rectangles"}};
  GaugeField u{Nd};

  Tuned() {
    weak_field_start(u);
    Integrator integrator =
        make(level("LCM_STS_MIN_NORM_2", 6, "rectangles", level("LCM_STS_MIN_NORM_2", 2, "plaquettes")), monomials);
    for (int i = 0; i < 15; ++i) trajectory(integrator, nullptr);
  }
  double trajectory(const Integrator& integrator, DynamicsObserver* observer) {
    TrajectoryOptions options;
    options.warm_up = true;
    options.observer = observer;
    return run_trajectory(u, hamiltonian, integrator, options).delta_h;
  }
};

double number(XMLReader& xml, const std::string& path) {
  double value;
  read(xml, path, value);
  return value;
}

}  // namespace

TEST_CASE("the conserved energy of an oscillator is that of the expansion in Poisson brackets") {
  // S(l h) T(h/2) S((1-2l) h) T(h/2) S(l h): H' = H + h^2 [(6 l - 1)/24 p^2 + (6 l^2 - 6 l + 1)/12 q^2].
  for (double lambda : {0.1931833275037836, 1.0 / 6, 0.25, 0.4}) {
    CAPTURE(lambda);
    const SchemeError error = scheme_error(find_scheme("LCM_STS_MIN_NORM_2").stages({lambda}));
    CHECK(error.order == 2);
    CHECK(std::fabs(error.momentum - (6 * lambda - 1) / 12) < 1e-5);
    CHECK(std::fabs(error.position - (6 * lambda * lambda - 6 * lambda + 1) / 6) < 1e-5);
  }
  const SchemeError kick_first = scheme_error(stages_of("LCM_STS_LEAPFROG")),
                    drift_first = scheme_error(stages_of("LCM_TST_LEAPFROG"));
  CHECK(kick_first.momentum == doctest::Approx(1.0 / 6).epsilon(1e-4));
  CHECK(kick_first.position == doctest::Approx(-1.0 / 12).epsilon(1e-4));
  CHECK(drift_first.position == doctest::Approx(kick_first.momentum).epsilon(1e-12));  // p and q change roles
  CHECK(drift_first.momentum == doctest::Approx(kick_first.position).epsilon(1e-12));
}

TEST_CASE("the order of every scheme follows from its stages") {
  for (const Scheme& scheme : schemes()) {
    CAPTURE(scheme.name);
    const bool fourth = scheme.name.find("4MN") != std::string::npos || scheme.name == "LCM_CREUTZ_GOCKSCH_4" ||
                        scheme.name == "LCM_STS_FORCE_GRAD";
    CHECK(scheme_error(stages_of(scheme.name)).order == (fourth ? 4 : 2));
  }
  CHECK_THROWS_WITH_AS(scheme_error({{Stage::kick, 0.5, 0}, {Stage::drift, 0.7, 0}, {Stage::kick, 0.5, 0}}),
                       doctest::Contains("one step"), ShapeError);
  CHECK_THROWS_WITH_AS(scheme_error({{Stage::kick, 0.3, 0}, {Stage::drift, 1, 0}, {Stage::kick, 0.7, 0}}),
                       doctest::Contains("palindrom"), ShapeError);
}

TEST_CASE("acceptance and width of dH are inverse to each other") {
  CHECK(acceptance_of_sigma(0) == 1);
  CHECK(acceptance_of_sigma(1) == doctest::Approx(0.617075));  // erfc(1/sqrt(8))
  for (double acceptance : {0.05, 0.5, 0.8, 0.99})
    CHECK(acceptance_of_sigma(sigma_of_acceptance(acceptance)) == doctest::Approx(acceptance).epsilon(1e-10));
}

TEST_CASE("the cost of a trajectory counts the forces that the integrator computes") {
  tests::use_lattice({2, 2, 2, 2});
  MonomialMap monomials;
  const auto outer = std::make_shared<Counting>(), inner = std::make_shared<Counting>();
  monomials["outer"] = outer;
  monomials["inner"] = inner;
  GaugeField u(Nd);
  unit_start(u);
  for (const Scheme& a : schemes())
    for (const char* b : {"LCM_STS_MIN_NORM_2", "LCM_TST_LEAPFROG", "LCM_4MN5FV"}) {
      if (a.step_from_delta_tau) continue;
      CAPTURE(a.name);
      CAPTURE(std::string(b));
      Integrator integrator = make(level(a.name, 2, "outer", level(b, 2, "inner")), monomials, "0.1");
      PhaseSpace state;
      state.u = u;
      for (int mu = 0; mu < Nd; ++mu) state.p[mu] = zero;
      outer->forces = inner->forces = 0;
      integrator.run(state);
      for (int counted : {0, 1}) {
        std::vector<StepModel::Level> levels;
        for (const TimeScale* scale : integrator.time_scales()) {
          levels.emplace_back(scale->stages);
          levels.back().seconds = static_cast<int>(levels.size()) - 1 == counted;
        }
        CHECK(StepModel(0.1, levels).cost({2, 2}) == (counted ? inner : outer)->forces);
      }
    }
}

TEST_CASE("the cheapest steps are those that trying all finds") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0, 1);
  const std::vector<std::string> names = {"LCM_STS_MIN_NORM_2", "LCM_4MN5FV", "LCM_TST_LEAPFROG"};
  for (int trial = 0; trial < 40; ++trial) {
    std::vector<StepModel::Level> levels;
    for (int l = 0; l < 3; ++l) {
      levels.emplace_back(stages_of(names[static_cast<std::size_t>(uniform(random) * 3)]));
      levels[static_cast<std::size_t>(l)].variance = std::pow(10, 2 + 4 * uniform(random));
      levels[static_cast<std::size_t>(l)].frequency2 = std::pow(10, 2 * uniform(random));
      levels[static_cast<std::size_t>(l)].seconds = std::pow(10, -2 * l * uniform(random));
    }
    const StepModel model(1, levels);
    const std::vector<int> low = {1, 2, 1}, high = {9, 6, 5};
    const double bound = std::pow(10, -2 + 3 * uniform(random));
    double best = 1e300;
    for (int a = low[0]; a <= high[0]; ++a)
      for (int b = low[1]; b <= high[1]; ++b)
        for (int c = low[2]; c <= high[2]; ++c)
          if (model.variance({a, b, c}) <= bound) best = std::min(best, model.cost({a, b, c}));
    const std::vector<int> found = model.cheapest(bound, low, high);
    if (best < 1e300) {
      CHECK(model.variance(found) <= bound);
      CHECK(model.cost(found) == doctest::Approx(best));
    } else {
      CHECK(found == high);
    }
  }
}

TEST_CASE("more steps make the predicted violation smaller by the order of the level") {
  std::vector<StepModel::Level> levels = {StepModel::Level(stages_of("LCM_4MN5FV")),
                                          StepModel::Level(stages_of("LCM_STS_LEAPFROG"))};
  for (auto& l : levels) l.variance = l.frequency2 = 1;
  const StepModel model(1, levels);
  CHECK(model.variance({4, 2}, 0) / model.variance({8, 2}, 0) == doctest::Approx(256));
  CHECK(model.variance({4, 2}, 0) == model.variance({4, 4}, 0));
  CHECK(model.variance({4, 2}, 1) / model.variance({4, 4}, 1) == doctest::Approx(16));
  CHECK(model.variance({4, 2}, 1) / model.variance({8, 2}, 1) == doctest::Approx(16));
}

TEST_CASE("the predicted variance of dH is the measured one, with no parameter") {
  TESSERA_NEEDS_QCD("an ensemble of SU(3)");
  Tuned system;
  struct Case {
    std::string outer, inner;
    int outer_steps, inner_steps;
    double within;  // factor; the variance of 24 trajectories alone is known to 1.3
  };
  for (const Case& c : {Case{"LCM_STS_MIN_NORM_2", "LCM_STS_MIN_NORM_2", 5, 1, 2.5},  // both levels alike
                        Case{"LCM_STS_LEAPFROG", "LCM_STS_MIN_NORM_2", 8, 2, 2.5},    // the outer one dominates
                        Case{"LCM_STS_MIN_NORM_2", "LCM_TST_LEAPFROG", 8, 2, 2.5},    // the inner one
                        Case{"LCM_4MN5FV", "LCM_4MN5FV", 2, 1, 8}}) {
    CAPTURE(c.outer);
    CAPTURE(c.inner);
    Integrator integrator = make(
        level(c.outer, c.outer_steps, "rectangles", level(c.inner, c.inner_steps, "plaquettes")), system.monomials);
    StepTuner::Options options;
    options.rounds = 1;
    options.trajectories = 24;
    StepTuner tuner(options, integrator);
    XMLBufferWriter text;
    push(text, "log");
    for (int i = 0; i < options.trajectories; ++i)
      tuner.end_trajectory(system.trajectory(integrator, &tuner), Log{&text});
    pop(text);
    std::istringstream stream(text.str());
    XMLReader xml(stream);
    const double calibration = number(xml, "//StepTuning/calibration");
    CAPTURE(calibration);
    CHECK(std::fabs(std::log(calibration)) < std::log(c.within));
  }
}

TEST_CASE("tuning finds the wanted acceptance from too few and from too many steps, and then leaves the steps alone") {
  TESSERA_NEEDS_QCD("an ensemble of SU(3)");
  Tuned system;
  const double target = 0.85;
  for (const auto& [outer, inner] : {std::pair{2, 1}, std::pair{24, 3}}) {
    CAPTURE(outer);
    Integrator integrator =
        make(level("LCM_STS_MIN_NORM_2", outer, "rectangles", level("LCM_STS_MIN_NORM_2", inner, "plaquettes")),
             system.monomials);
    StepTuner::Options options;
    options.target_acceptance = target;
    options.rounds = 5;
    options.trajectories = 8;
    options.first_update = 3;
    options.costs = {1, 0.3};
    StepTuner tuner(options, integrator);
    CHECK_FALSE(tuner.observes(2));
    unsigned long n = 3;
    for (; tuner.observes(n); ++n) tuner.end_trajectory(system.trajectory(integrator, &tuner), {});
    CHECK(n == 43);
    double squares = 0;
    constexpr int kTrajectories = 40;
    for (int i = 0; i < kTrajectories; ++i)
      squares += std::pow(system.trajectory(integrator, nullptr), 2) / kTrajectories;
    const double sigma = std::sqrt(2 * (std::sqrt(1 + squares) - 1));
    CAPTURE(sigma);
    // Step numbers are integers and few here: the next smaller ones would be far worse.
    CHECK(acceptance_of_sigma(sigma) > target - 0.1);
    CHECK(integrator.time_scales()[0]->steps <= 6);
  }
}

TEST_CASE("the predicted variance of dH is 2 h^(2p) w^(2p-4) Var(R) with the mean h that a level's steps have") {
  const double l = 0.17, tau = 0.8;
  StepModel::Level outer(find_scheme("LCM_TST_MIN_NORM_2").stages({l}));
  outer.variance = 3;
  outer.frequency2 = 7;
  // Drifts of 2 l (those of two steps in one) and 1 - 2 l: h^p over their time, the longer ones weigh more.
  const auto mean_power = [&](int p) { return std::pow(2 * l, p + 1) + std::pow(1 - 2 * l, p + 1); };
  for (const auto& [name, order] : {std::pair{"LCM_STS_LEAPFROG", 2}, std::pair{"LCM_4MN5FV", 4}}) {
    CAPTURE(order);
    StepModel::Level inner(stages_of(name));
    inner.variance = 5;
    inner.frequency2 = 11;
    const StepModel model(tau, {outer, inner});
    const double of_outer = 2 * std::pow(tau / 3, 4) * 3;
    const double power = std::pow(tau / (3 * 2), order) * mean_power(order);
    const double of_inner = 2 * power * power * std::pow(11, order - 2) * 5;
    CHECK(model.variance({3, 2}, 0) == doctest::Approx(of_outer).epsilon(1e-12));
    CHECK(model.variance({3, 2}, 1) == doctest::Approx(of_inner).epsilon(1e-12));
    CHECK(model.variance({3, 2}) == doctest::Approx(of_outer + of_inner).epsilon(1e-12));
  }
}

namespace {

/// The forces of one level in a trajectory, run by run.
struct Seen {
  double time, squares, power, seconds;
};
using Runs = std::vector<std::vector<Seen>>;

/// Mean over trajectories of Var(R) and of (dR/dt)^2 within them, R between forces of one run.
struct Fluctuations {
  double variance = 0, rate2 = 0, seconds = 0;
  void add(const Runs& runs, const SchemeError& error) {
    std::vector<std::pair<double, double>> r;  // time, value
    double sum = 0, time = 0, forces = 0;
    for (const auto& run : runs) {
      for (std::size_t i = 1; i < run.size(); ++i) {
        const Seen &a = run[i - 1], &b = run[i];
        const double squares = (a.squares + b.squares) / 2,
                     half_second_derivative = (a.power - b.power) / (b.time - a.time);
        r.emplace_back((a.time + b.time) / 2,
                       error.momentum * (squares + half_second_derivative) + error.position * squares);
        sum += r.back().second;
      }
      for (const Seen& force : run) time += force.seconds, ++forces;
    }
    const double n = static_cast<double>(r.size());
    double squares = 0, rates = 0;
    for (std::size_t i = 0; i < r.size(); ++i) squares += std::pow(r[i].second - sum / n, 2);
    for (std::size_t i = 1; i < r.size(); ++i)
      rates += std::pow((r[i].second - r[i - 1].second) / (r[i].first - r[i - 1].first), 2);
    variance += squares / (n - 1);
    rate2 += rates / (n - 1);
    seconds += time / forces;
  }
};

}  // namespace

TEST_CASE(
    "variances, frequencies, costs, calibration and the steps that follow are those of the forces that were seen") {
  tests::use_lattice({2, 2, 2, 2});
  const double tau = 0.7, target = 0.9;
  Integrator integrator = make(level("LCM_STS_LEAPFROG", 6, "rectangles", level("LCM_STS_MIN_NORM_2", 2, "plaquettes")),
                               two_scales(), "0.7");
  const std::vector<Stage> stages[] = {stages_of("LCM_STS_LEAPFROG"), stages_of("LCM_STS_MIN_NORM_2")};
  StepTuner::Options options;
  options.target_acceptance = target;
  options.rounds = 2;
  options.trajectories = 3;
  StepTuner tuner(options, integrator);
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  Fluctuations seen[2];
  double dh2[2] = {}, sigma2[2] = {};
  std::vector<int> steps[3] = {{6, 2}};
  for (int round = 0; round < 2; ++round) {
    for (int trajectory = 0; trajectory < 3; ++trajectory) {
      // A force of the outer level, a run of three of the inner one, and so on, at uneven times.
      const auto drawn = [&](int of_level, double time, double scale) {
        const Seen one{time, scale * (5 + uniform(random)), scale * uniform(random),
                       0.01 * (1 + of_level + uniform(random))};
        tuner.force(of_level, one.squares, one.power, one.seconds);
        return one;
      };
      Runs outer(1), inner;
      double time = 0;
      tuner.begin_run(0);
      outer[0].push_back(drawn(0, time, 40));
      for (int k = 0; k < 3; ++k) {
        tuner.begin_run(1);
        inner.push_back({drawn(1, time, 900)});
        for (int i = 0; i < 2; ++i) {
          const double dt = 0.08 + 0.05 * uniform(random);
          tuner.drift(dt);
          time += dt;
          inner.back().push_back(drawn(1, time, 900));
        }
        outer[0].push_back(drawn(0, time, 40));
      }
      seen[0].add(outer, scheme_error(stages[0]));
      seen[1].add(inner, scheme_error(stages[1]));
      const double dh = (trajectory - 0.4) * (round + 0.7);
      dh2[round] += dh * dh / 3;
      XMLBufferWriter text;
      push(text, "log");
      tuner.end_trajectory(dh, Log{&text});
      pop(text);
      if (trajectory < 2) continue;

      std::istringstream stream(text.str());
      XMLReader xml(stream);
      const double trajectories = 3.0 * (round + 1);
      std::vector<StepModel::Level> levels;
      for (int l = 0; l < 2; ++l) {
        const std::string here = "//Levels/elem[" + std::to_string(l + 1) + "]/";
        const double variance = seen[l].variance / trajectories, w2 = seen[l].rate2 / (4 * seen[l].variance);
        CHECK(number(xml, here + "variance") == doctest::Approx(variance).epsilon(1e-10));
        CHECK(number(xml, here + "frequency") == doctest::Approx(std::sqrt(w2)).epsilon(1e-10));
        CHECK(number(xml, here + "seconds_per_force") ==
              doctest::Approx(seen[l].seconds / trajectories).epsilon(1e-10));
        levels.emplace_back(stages[l]);
        levels.back().variance = variance;
        levels.back().frequency2 = w2;
        levels.back().seconds = seen[l].seconds / trajectories;
      }
      const StepModel model(tau, levels);
      sigma2[round] = 2 * (std::sqrt(1 + dh2[round]) - 1);
      double weights = 0, calibration = 0;
      for (int r = 0; r <= round; ++r) {
        const double weight = 1 / (1 + sigma2[r] * sigma2[r]);
        weights += weight;
        calibration += weight * sigma2[r] / model.variance(steps[r]);
      }
      calibration /= weights;
      CHECK(number(xml, "//calibration") == doctest::Approx(calibration).epsilon(1e-10));
      for (std::size_t l = 0; l < 2; ++l)
        CHECK(number(xml, "//Levels/elem[" + std::to_string(l + 1) + "]/variance_dH") ==
              doctest::Approx(calibration * model.variance(steps[round], l)).epsilon(1e-10));
      // The cheapest between half of the steps and twice as many.
      double best = 1e300;
      for (int a = (steps[round][0] + 1) / 2; a <= 2 * steps[round][0]; ++a)
        for (int b = (steps[round][1] + 1) / 2; b <= 2 * steps[round][1]; ++b)
          if (const double cost = (a + 1) * levels[0].seconds + a * (2 * b + 1) * levels[1].seconds;
              cost < best && acceptance_of_sigma(std::sqrt(calibration * model.variance({a, b}))) >= target) {
            best = cost;
            steps[round + 1] = {a, b};
          }
      REQUIRE(best < 1e300);
      for (std::size_t l = 0; l < 2; ++l) CHECK(integrator.time_scales()[l]->steps == steps[round + 1][l]);
      const double sigma = std::sqrt(calibration * model.variance(steps[round + 1]));
      CHECK(number(xml, "//predicted_sigma_dH") == doctest::Approx(sigma).epsilon(1e-10));
      CHECK(number(xml, "//predicted_acceptance") == doctest::Approx(acceptance_of_sigma(sigma)).epsilon(1e-10));
    }
  }
  CHECK(steps[1] != steps[0]);
}

TEST_CASE("a dH that is no number counts as very large, and three forces of the outermost level stay") {
  tests::use_lattice({2, 2, 2, 2});
  for (const auto& [name, least] : {std::pair{"LCM_STS_LEAPFROG", 2}, std::pair{"LCM_TST_LEAPFROG", 3}}) {
    CAPTURE(least);
    Integrator integrator = make(level(name, 5, "plaquettes"), two_scales());
    StepTuner::Options options;
    options.trajectories = 2;
    options.costs = {1};
    StepTuner tuner(options, integrator);
    XMLBufferWriter text;
    push(text, "log");
    for (const double dh : {std::nan(""), 3.0, -1e9, 1.0, 0.5, 0.25}) tuner.end_trajectory(dh, Log{&text});
    pop(text);
    std::istringstream stream(text.str());
    XMLReader xml(stream);
    const double squares[] = {(1e12 + 9) / 2, (1e12 + 1) / 2, (0.25 + 0.0625) / 2};
    for (int round = 0; round < 3; ++round) {
      const std::string here = "/log/StepTuning[" + std::to_string(round + 1) + "]/";
      CHECK(number(xml, here + "sigma_dH") ==
            doctest::Approx(std::sqrt(2 * (std::sqrt(1 + squares[round]) - 1))).epsilon(1e-10));
      CHECK(number(xml, here + "calibration") == 1);  // no forces were seen
      CHECK(number(xml, here + "n_steps_new") == std::max(least, round == 0 ? 3 : 2));
    }
  }
}

TEST_CASE("each round reports its own steps and the dH of its own trajectories") {
  tests::use_lattice({2, 2, 2, 2});
  Integrator integrator = make(level("LCM_STS_LEAPFROG", 32, "plaquettes"), two_scales());
  StepTuner::Options options;
  options.rounds = 3;
  options.trajectories = 2;
  options.costs = {0.25};
  StepTuner tuner(options, integrator);
  const double dh[] = {0.5, -0.3, 0.02, 0.01, 1.5, -2};
  XMLBufferWriter text;
  push(text, "log");
  for (const double x : dh) tuner.end_trajectory(x, Log{&text});
  pop(text);
  std::istringstream stream(text.str());
  XMLReader xml(stream);
  for (int round = 0; round < 3; ++round) {
    const std::string here = "/log/StepTuning[" + std::to_string(round + 1) + "]/";
    const double square = (dh[2 * round] * dh[2 * round] + dh[2 * round + 1] * dh[2 * round + 1]) / 2;
    // <dH^2> = sigma^2 + sigma^4/4
    const double sigma2 = std::pow(number(xml, here + "sigma_dH"), 2);
    CHECK(sigma2 + sigma2 * sigma2 / 4 == doctest::Approx(square).epsilon(1e-10));
    CHECK(number(xml, here + "round") == round + 1);
    // Forces that were never asked for show no violation: half of the steps, which is the least.
    CHECK(number(xml, here + "n_steps") == (32 >> round));
    CHECK(number(xml, here + "n_steps_new") == (16 >> round));
    CHECK(number(xml, here + "predicted_sigma_dH") == 0);
    CHECK(number(xml, here + "predicted_acceptance") == 1);
    CHECK(number(xml, here + "Levels/elem/order") == 2);
    CHECK(number(xml, here + "Levels/elem/seconds_per_force") == 0.25);
    bool frozen;
    read(xml, here + "frozen", frozen);
    CHECK(frozen == (round == 2));
  }
}

TEST_CASE("a tuner saved and restored in the middle of a round chooses the same steps") {
  Tuned system;
  StepTuner::Options options;
  options.rounds = 2;
  options.trajectories = 3;
  options.costs = {1, 0.3};
  const std::string text = level("LCM_STS_MIN_NORM_2", 9, "rectangles", level("LCM_STS_MIN_NORM_2", 2, "plaquettes"));
  Integrator one = make(text, system.monomials), other = make(text, system.monomials);
  StepTuner undisturbed(options, one), restored(options, other);
  const GaugeField start = system.u;
  Seed seed;
  RNG::savern(seed);
  for (int i = 0; i < 6; ++i) undisturbed.end_trajectory(system.trajectory(one, &undisturbed), {});

  system.u = start;
  RNG::setrn(seed);
  {
    Integrator first = make(text, system.monomials);
    StepTuner interrupted(options, first);
    for (int i = 0; i < 4; ++i) interrupted.end_trajectory(system.trajectory(first, &interrupted), {});
    XMLBufferWriter state;
    interrupted.write_state(state);
    const InputFile file = InputFile::from_text(state.printCurrentContext(), "state");
    restored.read_state(file.root());
    file.require_valid();
    CHECK(other.time_scales()[0]->steps == first.time_scales()[0]->steps);
    CHECK(other.time_scales()[0]->steps != 9);
  }
  for (int i = 0; i < 2; ++i) restored.end_trajectory(system.trajectory(other, &restored), {});
  for (std::size_t l = 0; l < 2; ++l) CHECK(other.time_scales()[l]->steps == one.time_scales()[l]->steps);
  XMLBufferWriter a, b;
  undisturbed.write_state(a);
  restored.write_state(b);
  CHECK(a.str() == b.str());
  CHECK_FALSE(restored.observes(6));
}

TEST_CASE("inputs that cannot be tuned are refused with the reason") {
  tests::use_lattice({2, 2, 2, 2});
  const MonomialMap monomials = two_scales();
  const auto errors = [&](const std::string& integrator, const std::string& tuning, const std::string& warm_up) {
    const InputFile document = tests::input(tag(
        "Params", tag("NWarmUpUpdates", warm_up) +
                      tag("MDIntegrator", tag("tau0", "1") + tag("AutoTune", tuning) + tag("Integrator", integrator))));
    const Input md = document.root().group("MDIntegrator");
    Integrator made = Integrator::read(md, monomials);
    StepTuner::read(md, document.root(), made);
    std::string all;
    for (const std::string& error : document.errors()) all += error + "\n";
    return all;
  };
  const std::string good = level("LCM_STS_LEAPFROG", 4, "plaquettes");
  CHECK(errors(good, "", "30") == "");
  CHECK(errors(good, "", "29").find("at most NWarmUpUpdates, 29") != std::string::npos);
  CHECK(errors(good, tag("TargetAcceptance", "1.2"), "30").find("TargetAcceptance") != std::string::npos);
  CHECK(errors(good, tag("CostPerForce", "1 2"), "30").find("one number per level") != std::string::npos);
  const std::string limited = tag("Name", "LCM_STS_MIN_NORM_2_DTAU") + tag("delta_tau_max", "0.1") +
                              tag("monomial_ids", tag("elem", "plaquettes"));
  CHECK(errors(limited, "", "30").find("delta_tau_max") != std::string::npos);
  CHECK(errors(tag("Name", "LCM_EXP_T") + tag("n_steps", "1"), "", "30").find("drifts only") != std::string::npos);
}
