// Gauge fields for any number of dimensions and colours: the group, forces, both updates against averages known exactly
// or from strong coupling, and what a build leaves out with a message.

#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/action/monomial_table.hpp"
#include "lib/dirac/fermion_action.hpp"
#include "lib/heatbath/heatbath.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/inline.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/reference/metropolis.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

/// A determinant by elimination with pivots.
double determinant(std::vector<std::vector<double>> m) {
  double d = 1;
  for (std::size_t i = 0; i < m.size(); ++i) {
    std::size_t pivot = i;
    for (std::size_t k = i; k < m.size(); ++k)
      if (std::fabs(m[k][i]) > std::fabs(m[pivot][i])) pivot = k;
    if (m[pivot][i] == 0) return 0;
    if (pivot != i) std::swap(m[pivot], m[i]), d = -d;
    d *= m[i][i];
    for (std::size_t k = i + 1; k < m.size(); ++k)
      for (std::size_t j = m.size(); j-- > i;) m[k][j] -= m[k][i] / m[i][i] * m[i][j];
  }
  return d;
}

/// The integral of exp(beta Re tr U/n) over U(1) or SU(n): Toeplitz determinants of Bessel functions (I. Bars and
/// F. Green, Phys. Rev. D20 (1979) 3311).
double one_plaquette_integral(double beta, int n) {
  if (n == 1) return std::cyl_bessel_i(0, beta);
  double z = 0;
  for (int charge = -20; charge <= 20; ++charge) {
    std::vector<std::vector<double>> m(static_cast<std::size_t>(n), std::vector<double>(static_cast<std::size_t>(n)));
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        m[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)] =
            std::cyl_bessel_i(std::abs(charge + i - j), beta / n);
    z += determinant(std::move(m));
  }
  return z;
}

/// The average of Re tr U/n with that weight.
double one_plaquette(double beta, int n = Nc) {
  constexpr double h = 1e-4;
  return (std::log(one_plaquette_integral(beta + h, n)) - std::log(one_plaquette_integral(beta - h, n))) / (2 * h);
}

/// Extents of the present number of dimensions.
std::vector<int> extents(std::vector<int> all) {
  all.resize(Nd, 4);
  return all;
}

struct System {
  MonomialMap monomials;
  std::unique_ptr<Hamiltonian> hamiltonian;
  std::unique_ptr<Integrator> integrator;

  System(const LoopAction& action, int steps, double tau) {
    monomials["gauge"] = std::make_shared<GaugeMonomial>(std::make_shared<LoopAction>(action));
    hamiltonian = std::make_unique<Hamiltonian>(monomials, std::vector<std::string>{"gauge"});
    integrator =
        std::make_unique<Integrator>(tau, make_evolution(find_scheme("LCM_STS_MIN_NORM_2").stages({0.1931833275037836}),
                                                         steps, {{"gauge", monomials["gauge"]}}));
  }
};

struct Average {
  double mean = 0, error = 0;
};
/// Mean and error of blocks of measurements.
Average average(int blocks, int block, const std::function<double()>& measure) {
  std::vector<double> means;
  for (int b = 0; b < blocks; ++b) {
    double mean = 0;
    for (int i = 0; i < block; ++i) mean += measure() / block;
    means.push_back(mean);
  }
  Average a;
  for (double m : means) a.mean += m / blocks;
  for (double m : means) a.error += (m - a.mean) * (m - a.mean);
  a.error = std::sqrt(a.error / (blocks * (blocks - 1)));
  return a;
}

/// The plaquettes of one plane, or of all.
double one_plane(const GaugeField& u) { return toDouble(measure_plaquettes(u).plane(0, 1)); }
double all_planes(const GaugeField& u) { return toDouble(measure_plaquettes(u).average); }

/// That both updates give the average plaquette `expected` for the action, to four errors of at most `precision`.
/// The shorter steps are, the more trajectories of `steps` are accepted.
void check_updates(const LoopAction& action, double expected, double uncertainty, double precision,
                   double (*plaquette)(const GaugeField&) = one_plane, int steps = 6) {
  const auto check = [&](const char* update, const Average& p) {
    CAPTURE(update);
    CAPTURE(p.mean);
    CAPTURE(expected);
    CHECK(p.error > 0);
    CHECK(p.error < precision);
    CHECK(std::fabs(p.mean - expected) < 4 * p.error + uncertainty);
  };
  System system(action, steps, 1.0);
  GaugeField u = tests::random_field();
  for (int i = 0; i < 15; ++i) run_trajectory(u, *system.hamiltonian, *system.integrator, {.warm_up = true});
  int accepted = 0;
  const Average by_hmc = average(20, 6, [&] {
    accepted += run_trajectory(u, *system.hamiltonian, *system.integrator, {}).accepted;
    return plaquette(u);
  });
  CHECK(accepted > 60);
  check("hmc", by_hmc);
  if constexpr (Nc > 1) {
    Heatbath heatbath(std::make_shared<LoopAction>(action), {}, {.over_relaxation = 1});
    for (int i = 0; i < 10; ++i) heatbath.update(u);
    check("heatbath", average(20, 5, [&] {
            heatbath.update(u);
            return plaquette(u);
          }));
  }
  for (int mu = 0; mu < Nd; ++mu) CHECK_NOTHROW(check_unitarity(u[mu], "after the updates"));
}

}  // namespace

TEST_CASE("the one-plaquette averages that follow are the published ones") {
  CHECK(one_plaquette(2, 3) == doctest::Approx(0.128627785322).epsilon(1e-7));
  CHECK(one_plaquette(6, 3) == doctest::Approx(0.422531739650).epsilon(1e-7));
  CHECK(one_plaquette(2, 1) == doctest::Approx(std::cyl_bessel_i(1, 2.0) / std::cyl_bessel_i(0, 2.0)).epsilon(1e-7));
  CHECK(one_plaquette(2.3, 2) == doctest::Approx(std::cyl_bessel_i(2, 2.3) / std::cyl_bessel_i(1, 2.3)).epsilon(1e-7));
}

TEST_CASE("plaquettes of planes are independent: their average is exact") {
  // A torus of 64 plaquettes differs by u^64.
  tests::use_lattice(extents({8, 8, 2, 2}));
  for (const double beta : {1.0, 2.0 * Nc}) {
    CAPTURE(beta);
    check_updates(LoopAction({{plaquette_loop(1, 0), beta}}), one_plaquette(beta), 0, 0.02);
  }
}

TEST_CASE("strong coupling: <P> = u + 2 (d - 2) u^5") {
  // The cubes on a plaquette, in characters: J.-M. Drouffe and J.-B. Zuber, Phys. Rep. 102 (1983) 1. Next is u^7.
  tests::use_lattice(Nd == 2 ? std::vector{32, 32} : extents({4, 4, 4, 4}));
  const double beta = Nc == 1 ? 2.0 : 0.25 * Nc * Nc, u = one_plaquette(beta);
  const double next = Nd == 2 ? 0 : 8 * (Nd - 2) * std::pow(u, 7);
  check_updates(wilson_action(beta), u + 2 * (Nd - 2) * std::pow(u, 5), next, 0.02);
}

TEST_CASE("weak coupling: the published series of <1 - P>") {
  // 1 - P = c1 g^2 + c2 g^4 + c3 g^6, beta = 2 N/g^2. Four dimensions: B. Alles, M. Campostrini, A. Feo, H. Panagopoulos,
  // Phys. Lett. B426 (1998) 361. Three: A. Hietanen et al., JHEP 01 (2005) 013, for N = 3, of which N^2 - 1 and the 1/(8 d^2 N^2)
  // of the measure and the action's quartic terms give every N; c3 is not known for all. A finite lattice has 1 - 1/V times c1.
  if (Nc == 1 || Nd == 2) TESSERA_SKIP("exactly known in two dimensions");
  tests::use_lattice(Nd == 3 ? std::vector{6, 6, 6} : std::vector{4, 4, 4, 4});
  constexpr double n = Nc, generators = n * n - 1, gg = 0.25;
  const double c1 = generators / (2 * Nd * n) * (1 - 1.0 / Layout::vol());
  const double a2 = Nd == 3 ? 1.951315 / (36 * 8) + 1.0 / (72 * 9) : 0.0051069297;
  const double c2 = generators * (a2 - 1 / (8 * Nd * Nd * n * n));
  const double c3 = Nd == 3 ? 0 : generators * (0.0023152583 / (n * n * n) - 0.002265487 / n + 0.000794223 * n);
  const double next = gg * gg * gg * (Nd == 3 ? 0.02 : 0.3 * c3);
  check_updates(wilson_action(2 * n / gg), 1 - gg * (c1 + gg * (c2 + gg * c3)), next, 1e-3, all_planes, 16);
}

TEST_CASE("between strong and weak coupling: the plaquettes that Metropolis finds on plain arrays") {
  const int extent = Nd == 2 ? 8 : 2;
  const double beta = Nc == 1 ? 2.0 : 0.65 * Nc * Nc;
  reference::PlainGauge plain(Nd, extent, Nc, beta, 5);
  for (int i = 0; i < 200; ++i) plain.sweep();
  const Average expected = average(20, 200, [&] {
    plain.sweep();
    return plain.plaquette();
  });
  CHECK(plain.acceptance() > 0.3);
  CHECK(expected.error < 0.004);
  tests::use_lattice(std::vector<int>(Nd, extent));
  check_updates(wilson_action(beta), expected.mean, 3 * expected.error, 0.02, all_planes);
}

TEST_CASE("Metropolis on plain arrays finds published plaquettes") {
  // One plaquette's average in two dimensions; SU(3) on 4^4 from other programs.
  struct Row {
    int dimensions, extent, colors;
    double beta, expected, uncertainty;
  };
  for (const Row& row : {Row{2, 8, 1, 2.0, one_plaquette(2.0, 1), 0}, Row{2, 6, 4, 6.0, one_plaquette(6.0, 4), 0},
                         Row{4, 4, 3, 5.7, 0.55913, 0.0003}}) {
    CAPTURE(row.dimensions);
    CAPTURE(row.colors);
    reference::PlainGauge plain(row.dimensions, row.extent, row.colors, row.beta, 7);
    for (int i = 0; i < 60; ++i) plain.sweep();
    const Average p = average(10, 60, [&] {
      plain.sweep();
      return plain.plaquette();
    });
    CHECK(p.error < 0.01);
    CHECK(std::fabs(p.mean - row.expected) < 4 * p.error + row.uncertainty);
  }
}

TEST_CASE("momenta have a unit Gaussian for every generator") {
  tests::use_lattice(extents({8, 8, 4, 4}));
  GaugeField p(Nd);
  refresh_momenta(p);
  // |P|^2 is chi^2 over 2: mean and variance kGenerators/2.
  const double links = static_cast<double>(Nd * Layout::vol());
  CHECK(std::fabs(toDouble(kinetic_energy(p))) < 4 * std::sqrt(kGenerators / 2.0 * links));
  double squares = 0;
  for (int mu = 0; mu < Nd; ++mu) squares += toDouble(norm2(p[mu])) / links;
  CHECK(squares == doctest::Approx(kGenerators / 2.0).epsilon(0.1));
  for (int mu = 0; mu < Nd; ++mu) CHECK(tests::distance(LatticeColorMatrix(taproj(p[mu])), p[mu]) < base_tol(1e-10));
}

TEST_CASE("the derivative of the exponential, forces of actions: finite differences") {
  TESSERA_NEEDS_DOUBLES("finite differences");
  tests::use_lattice(extents({4, 2, 2, 4}));
  const auto slope = [](const std::function<double(double)>& f) {
    const auto difference = [&](double h) { return (f(h) - f(-h)) / (2 * h); };
    return (4 * difference(5e-4) - difference(1e-3)) / 3;
  };
  LatticeColorMatrix m;
  gaussian(m);
  for (const double size : {0.01, 0.5, 2.0}) {
    CAPTURE(size);
    const LatticeColorMatrix x = tests::random_algebra(size)[0], dx = tests::random_algebra()[0];
    const LatticeColorMatrix a = su3_exp_pull_back(x, m);
    const double expected = slope([&](double t) { return toDouble(sum(real(trace(m * su3_exp(x + Real(t) * dx))))); });
    CHECK(toDouble(sum(real(trace(a * dx)))) == doctest::Approx(expected).epsilon(1e-8));
  }
  const GaugeField u = tests::random_field();
  for (const char* elements :
       {"<Name>WILSON_GAUGEACT</Name><beta>2.5</beta>", "<Name>RBC_GAUGEACT</Name><beta>2.6</beta><c1>-0.331</c1>",
        "<Name>LW_1LOOP_GAUGEACT</Name><beta>6.8</beta><u0>0.85</u0>",
        "<Name>PLAQ_PLUS_ADJOINT_GAUGEACT</Name><beta_F>3.1</beta_F><beta_A>1.7</beta_A>"}) {
    CAPTURE(elements);
    const InputFile document = tests::input(std::string("<GaugeAction>") + elements + "</GaugeAction>");
    const auto* row = gauge_action_table().find(document.root());
    document.require_valid();
    const auto action = row->make(document.root());
    GaugeField f;
    action->force(f, u);
    const GaugeField x = tests::random_algebra();
    const double expected = slope([&](double t) {
      GaugeField v(Nd);
      for (int mu = 0; mu < Nd; ++mu) v[mu] = su3_exp(Real(t) * x[mu]) * u[mu];
      return toDouble(action->action(v));
    });
    CHECK(-2 * tests::inner(x, f) == doctest::Approx(expected).epsilon(1e-8));
  }
}

TEST_CASE("what a build leaves out is refused with the reason, and not listed") {
  const auto check = [](const auto& table, const std::string& name, bool there, const char* need) {
    CAPTURE(name);
    bool listed = false;
    for (const auto& row : table.rows()) listed = listed || row.name == name;
    CHECK(listed == there);
    const InputFile document = tests::input("<Group><Name>" + name + "</Name></Group>");
    CHECK((table.find(document.root()) != nullptr) == there);
    if (!there) CHECK_THROWS_WITH_AS(document.require_valid(), doctest::Contains(need), InputError);
  };
  check(wilson_type_action_table(), "CLOVER", Nd == 4, "it needs four dimensions");
  check(wilson_type_action_table(), "TWISTED_MASS_CLOVER", Nd == 4, "it needs four dimensions");
  check(wilson_type_action_table(), "WILSON", true, "");
  check(gauge_action_table(), "PG_GAUGEACT", Nd > 2, "it needs three dimensions");
  check(measurement_table(), "QTOP_NAIVE", Nd == 4, "it needs four dimensions");
  if (Nc == 1)
    CHECK_THROWS_WITH_AS(Heatbath(std::make_shared<LoopAction>(wilson_action(1)), {}, {}), doctest::Contains("Use hmc"),
                         InputError);
}
