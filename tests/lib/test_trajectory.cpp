// One trajectory: accept or reject, and what the ensemble must satisfy.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/hmc/trajectory.hpp"
#include "tests/lib/measurements.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace QDP;
using namespace qcd;

namespace {

struct System {
  MonomialMap monomials;
  std::unique_ptr<Hamiltonian> hamiltonian;
  std::unique_ptr<Integrator> integrator;

  System(double beta, int steps, double tau) {
    monomials["gauge"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(wilson_action(beta)));
    hamiltonian = std::make_unique<Hamiltonian>(monomials, std::vector<std::string>{"gauge"});
    integrator =
        std::make_unique<Integrator>(tau, make_evolution(find_scheme("LCM_STS_MIN_NORM_2").stages({0.1931833275037836}),
                                                         steps, {{"gauge", monomials["gauge"]}}));
  }
  TrajectoryResult run(GaugeField& u, bool warm_up = false) {
    TrajectoryOptions options;
    options.warm_up = warm_up;
    return run_trajectory(u, *hamiltonian, *integrator, options);
  }
};

/// A monomial that counts, and whose action jumps: trajectories with it are always rejected.
class Jumping : public Monomial {
 public:
  int refreshed = 0, evaluated = 0;
  Double action(const GaugeField&, const Log&) override { return Double(1000.0 * evaluated++); }
  void force(GaugeField& f, const GaugeField&, const Log&) override {
    f.resize(Nd);
    for (int mu = 0; mu < Nd; ++mu) f[mu] = zero;
  }
  void refresh(const GaugeField&) override { ++refreshed; }
  bool exact() const override { return exact_; }
  std::string log_tag() const override { return "Jumping"; }
  bool exact_ = true;
};

}  // namespace

TEST_CASE("Metropolis accepts what lowers H without a random number, and rejects what is not a number") {
  tests::use_lattice({2, 2, 2, 2});
  Seed before, after;
  RNG::savern(before);
  CHECK(metropolis(-1));
  CHECK(metropolis(0));
  RNG::savern(after);
  CHECK(toBool(before == after));
  CHECK_FALSE(metropolis(std::nan("")));
  CHECK_FALSE(metropolis(1000));
  RNG::savern(after);
  CHECK_FALSE(toBool(before == after));
}

TEST_CASE("Metropolis accepts dH with probability exp(-dH)") {
  tests::use_lattice({2, 2, 2, 2});
  const int n = 20000;
  for (double dh : {0.2, 1.0}) {
    int accepted = 0;
    for (int i = 0; i < n; ++i) accepted += metropolis(dh);
    const double p = std::exp(-dh);
    CHECK(std::fabs(accepted - n * p) < 4 * std::sqrt(n * p * (1 - p)));
  }
}

TEST_CASE("a rejected trajectory leaves the field as it was, to the bit") {
  tests::use_lattice({2, 2, 4, 2});
  System system(5.7, 4, 0.5);
  auto jumping = std::make_shared<Jumping>();
  system.monomials["jumping"] = jumping;
  system.hamiltonian = std::make_unique<Hamiltonian>(system.monomials, std::vector<std::string>{"gauge", "jumping"});
  GaugeField u = tests::random_field();
  const GaugeField before = u;
  CHECK_FALSE(system.run(u).accepted);
  CHECK(tests::distance(u, before) == 0);
  CHECK(jumping->refreshed == 1);
  CHECK(system.run(u, true).accepted);  // warm-up does not ask
  CHECK(tests::distance(u, before) > 1);
}

TEST_CASE("the Hamiltonian refuses unknown monomials and those without an action") {
  System system(5.7, 4, 0.5);
  auto jumping = std::make_shared<Jumping>();
  jumping->exact_ = false;
  system.monomials["jumping"] = jumping;
  using Ids = std::vector<std::string>;
  CHECK_THROWS_WITH_AS(Hamiltonian(system.monomials, Ids{"nobody"}), doctest::Contains("nobody"), InputError);
  CHECK_THROWS_WITH_AS(Hamiltonian(system.monomials, Ids{"jumping"}), doctest::Contains("jumping"), InputError);
}

TEST_CASE("the same seed gives the same trajectory, to the bit") {
  tests::use_lattice({4, 2, 2, 2});
  System system(5.7, 4, 0.5);
  GaugeField a(Nd), b(Nd);
  weak_field_start(a);
  b = a;
  Seed seed;
  RNG::savern(seed);
  const double first = system.run(a).delta_h;
  RNG::setrn(seed);
  const double second = system.run(b).delta_h;
  CHECK(first == second);
  CHECK(tests::distance(a, b) == 0);
}

TEST_CASE("in equilibrium <exp(-dH)> = 1 and <1/2 sum F^2> = 16 V beta <P>, and alike for other groups") {
  tests::use_lattice({2, 2, 2, 2});
  const double beta = 2;
  System system(beta, 3, 1.0);
  GaugeField u(Nd), f(Nd);
  weak_field_start(u);
  for (int i = 0; i < 30; ++i) system.run(u, true);

  // <|grad S|^2> = <laplacian S>: each of the four links of Re tr P/Nc gives its
  // Casimir, (Nc^2 - 1)/(2 Nc), or 1/2 for U(1).
  constexpr double kLaplacian = 4 * (Nc == 1 ? 0.5 : (Nc * Nc - 1) / (2.0 * Nc)) / 2;
  const int n = 400, block = 20;
  const double v = static_cast<double>(Layout::vol());
  std::vector<double> exponentials, differences;
  for (int b = 0; b < n / block; ++b) {
    double exponential = 0, difference = 0;
    for (int i = 0; i < block; ++i) {
      exponential += std::exp(-system.run(u).delta_h) / block;
      system.monomials["gauge"]->force(f, u, {});
      const double action = toDouble(system.monomials["gauge"]->action(u, {}));  // -(number of plaquettes) beta P
      difference += (tests::inner(f, f) + kLaplacian * action) / (v * block);
    }
    exponentials.push_back(exponential);
    differences.push_back(difference);
  }
  const auto check_mean = [](const std::vector<double>& x, double expected) {
    double mean = 0, square = 0;
    for (double y : x) mean += y / static_cast<double>(x.size());
    for (double y : x) square += (y - mean) * (y - mean);
    const double error = std::sqrt(square / static_cast<double>(x.size() * (x.size() - 1)));
    CAPTURE(mean);
    CAPTURE(error);
    CHECK(error > 0);
    CHECK(std::fabs(mean - expected) < 4 * error);
  };
  check_mean(exponentials, 1);
  check_mean(differences, 0);
}

TEST_CASE("the numbers of a trajectory's record follow from each other, whether H rose or fell") {
  tests::use_lattice({2, 2, 2, 2});
  GaugeField u = tests::random_field();
  System coarse(5.0, 2, 1.0);
  int rose = 0, fell = 0;
  for (int n = 0; n < 40; ++n) {
    CAPTURE(n);
    const GaugeField before = u;
    TrajectoryOptions options;
    options.warm_up = n % 8 == 7;
    XMLBufferWriter xml;
    push(xml, "out");
    const TrajectoryResult result =
        run_trajectory(u, *coarse.hamiltonian, *coarse.integrator, options, Log{&xml}, Log{});
    pop(xml);
    tests::Output record(xml.str());
    const auto number = [&](const std::string& name) { return record.number("/out/HMCTrajectory/" + name); };
    const double size = 1 + std::fabs(number("H_new/PE_new")) + std::fabs(number("H_new/KE_new"));
    const auto close = [&](double a, double b) { return std::fabs(a - b) < tests::base_tol(1e-13) * size; };
    CHECK(close(number("deltaKE"), number("H_new/KE_new") - number("H_old/KE_old")));
    CHECK(close(number("deltaPE"), number("H_new/PE_new") - number("H_old/PE_old")));
    CHECK(close(number("deltaH"), number("deltaKE") + number("deltaPE")));
    CHECK(close(number("deltaKE"), result.delta_kinetic));
    CHECK(close(number("deltaPE"), result.delta_potential));
    CHECK(close(number("deltaH"), result.delta_h));
    const double dh = number("deltaH");
    CHECK(number("AccProb") == doctest::Approx(std::min(1.0, std::exp(-dh))).epsilon(tests::base_tol(1e-10)));
    CHECK(record.text("/out/HMCTrajectory/WarmUpP") == (options.warm_up ? "true" : "false"));
    CHECK(record.text("/out/HMCTrajectory/AcceptP") == (result.accepted ? "true" : "false"));
    CHECK((tests::distance(u, before) != 0) == result.accepted);
    if (dh <= 0 || options.warm_up) CHECK(result.accepted);
    ++(dh > 0 ? rose : fell);
  }
  CHECK(rose > 5);
  CHECK(fell > 0);
}
