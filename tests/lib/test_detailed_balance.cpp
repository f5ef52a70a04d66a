// <exp(-dH)> = 1 for every monomial, which holds only if refresh, action, force and integrator belong together.
// A short run always; 500 trajectories each with QCD_ENSEMBLE_TESTS=1.

#include "lib/hmc/trajectory.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace QDP;
using namespace qcd;
using tests::tag;

TEST_CASE("<exp(-dH)> = 1 with every monomial beside the gauge action, on 2^4") {
  const bool long_run = std::getenv("QCD_ENSEMBLE_TESTS") != nullptr;
  const int trajectories = long_run ? 500 : 25, warm_up = 10;
  tests::use_lattice({2, 2, 2, 2});
  int beyond_two_sigma = 0, cases = 0;
  const auto inputs = tests::monomial_inputs();
  for (const auto& [name, elements] : inputs) {
    CAPTURE(name);
    RNG::setrn(make_seed({11, 7, 0, 0}));
    const bool gauge_only = name == "GAUGE_MONOMIAL";
    MonomialMap monomials{{"gauge", tests::make_monomial("GAUGE_MONOMIAL", inputs.at("GAUGE_MONOMIAL"))}};
    if (!gauge_only) monomials["term"] = tests::make_monomial(name, elements);
    const std::string ids = tag("monomial_ids", tag("elem", "gauge") + (gauge_only ? "" : tag("elem", "term")));
    const InputFile document =
        tests::input(tag("MDIntegrator", tag("tau0", "0.5") + tag("Integrator", tag("Name", "LCM_STS_MIN_NORM_2") +
                                                                                    tag("n_steps", "1") + ids)));
    const Integrator integrator = Integrator::read(document.root(), monomials);
    document.require_valid();
    Hamiltonian hamiltonian(monomials,
                            gauge_only ? std::vector<std::string>{"gauge"} : std::vector<std::string>{"gauge", "term"});
    GaugeField u(Nd);
    weak_field_start(u);
    double sum = 0, squares = 0, violations = 0;
    for (int n = -warm_up; n < trajectories; ++n) {
      TrajectoryOptions options;
      options.warm_up = n < 0;
      options.monitor_forces = false;
      const double dh = run_trajectory(u, hamiltonian, integrator, options).delta_h;
      if (n < 0) continue;
      sum += std::exp(-dh);
      squares += std::exp(-2 * dh);
      violations += dh * dh;
    }
    const double mean = sum / trajectories;
    const double error = std::sqrt((squares / trajectories - mean * mean) / (trajectories - 1));
    const double size = std::sqrt(violations / trajectories);
    std::printf("%-75s <exp(-dH)> = %.4f(%.0f)  rms dH %.3f\n", name.c_str(), mean, 1e4 * error, size);
    CHECK(std::fabs(mean - 1) < 4 * error);
    CHECK(size > 1e-3);  // otherwise nothing was tested
    CHECK(size < 1.5);
    ++cases;
    beyond_two_sigma += std::fabs(mean - 1) > 2 * error;
  }
  CHECK(beyond_two_sigma <= cases / 5);  // 5% expected
}
