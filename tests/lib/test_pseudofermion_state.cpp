// What pseudofermion monomials carry from trajectory to trajectory: guesses from the past must not, copies must.

#include "jit/memory/memory.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/solver/predictor.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <iterator>

using namespace QDP;
using namespace qcd;
using tests::tag;

namespace {

/// Inputs of monomials whose forces solve with a guess, for a predictor.
std::map<std::string, std::string> guessing_monomials(const std::string& predictor) {
  const std::string guess = tag("ChronologicalPredictor", tag("Name", predictor) + tag("MaxChrono", "3"));
  std::map<std::string, std::string> inputs;
  for (auto [name, input] : tests::monomial_inputs()) {
    const std::string kNone = tag("ChronologicalPredictor", tag("Name", "ZERO_GUESS_4D_PREDICTOR"));
    if (const auto at = input.find(kNone); at != std::string::npos)
      inputs[name] = input.replace(at, kNone.size(), guess);
    else if (name.find("MULTIHASEN") != std::string::npos)
      inputs[name] = input + guess;
  }
  return inputs;
}

/// Three fields that follow each other slowly, as in molecular dynamics.
std::vector<GaugeField> slow_fields() {
  std::vector<GaugeField> fields = {tests::random_field()};
  const GaugeField x = tests::random_algebra(0.05);
  for (int i = 0; i < 3; ++i) {
    GaugeField next(Nd);
    for (int mu = 0; mu < Nd; ++mu) next[mu] = su3_exp(x[mu]) * fields.back()[mu];
    fields.push_back(next);
  }
  return fields;
}

/// The forces of a trajectory along `fields`, its first and last action included.
std::vector<GaugeField> trajectory(Monomial& monomial, const std::vector<GaugeField>& fields) {
  RNG::setrn(make_seed({7, 7, 3, 1}));
  monomial.refresh(fields.front());
  monomial.action(fields.front(), {});
  std::vector<GaugeField> forces(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) monomial.force(forces[i], fields[i], {});
  monomial.action(fields.back(), {});
  return forces;
}

double difference(const std::vector<GaugeField>& a, const std::vector<GaugeField>& b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += tests::distance(a[i], b[i]);
  return total;
}

}  // namespace

TEST_CASE("no guess survives the refresh or the action: a trajectory has the same bits whatever came before") {
  tests::use_lattice({2, 2, 2, 4});
  const std::vector<GaugeField> fields = slow_fields(), others = slow_fields();
  for (const auto& row : predictor_table<LatticeFermion>().rows()) {
    CAPTURE(row.name);
    const auto inputs = guessing_monomials(row.name);
    CHECK(inputs.size() >= 13);  // those with a ChronologicalPredictor
    for (const auto& [name, input] : inputs) {
      CAPTURE(name);
      const auto fresh = tests::make_monomial(name, input), used = tests::make_monomial(name, input);
      const std::vector<GaugeField> expected = trajectory(*fresh, fields);
      trajectory(*used, others);
      CHECK(difference(trajectory(*used, fields), expected) == 0);
      // An action in between, as the energies of a way back have it, forgets as well.
      std::vector<GaugeField> again(fields.size());
      for (std::size_t i = 0; i < fields.size(); ++i) used->force(again[i], fields[i], {});
      CHECK(difference(again, expected) == 0);
      // And so does the refresh by itself.
      RNG::setrn(make_seed({7, 7, 3, 1}));
      used->refresh(fields.front());
      for (std::size_t i = 0; i < fields.size(); ++i) used->force(again[i], fields[i], {});
      CHECK(difference(again, expected) == 0);
    }
  }
}

TEST_CASE("a trajectory leaves no memory behind: what waits for nobody holds no field") {
  if (tests::job_ranks() > 1) TESSERA_SKIP("messages live as long as their readers want");
  tests::use_lattice({2, 2, 2, 4});
  const std::vector<GaugeField> fields = slow_fields();
  for (const auto& [name, input] : guessing_monomials("MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR")) {
    CAPTURE(name);
    const auto monomial = tests::make_monomial(name, input);
    std::vector<std::size_t> live;
    for (int n = 0; n < 6; ++n) {
      GaugeField force(Nd);
      monomial->refresh(fields.front());
      for (const GaugeField& field : fields) {
        monomial->force(force, field, {});
        norm2(force);
      }
      monomial->action(fields.back(), {});
      live.push_back(jit::Memory::instance().live_bytes());  // which is no look
    }
    CHECK(std::ranges::count(live, live[1]) == std::ssize(live) - (live[0] != live[1]));
  }
}

TEST_CASE("guesses are of use, so that forgetting them shows") {
  tests::use_lattice({2, 2, 2, 4});
  const std::vector<GaugeField> fields = slow_fields();
  const auto plain = tests::make_monomial(
      "TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL",
      guessing_monomials("ZERO_GUESS_4D_PREDICTOR").at("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL"));
  for (const char* name : {"LAST_SOLUTION_4D_PREDICTOR", "LINEAR_EXTRAPOLATION_4D_PREDICTOR",
                           "MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR"}) {
    const auto guessing = tests::make_monomial("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL",
                                               guessing_monomials(name).at("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL"));
    const double distance = difference(trajectory(*guessing, fields), trajectory(*plain, fields));
    CHECK(distance > 0);  // other roundings
    CHECK(distance < 1e-5);
  }
}

TEST_CASE("copyList: the forces of a trajectory come from the fields that its Hamiltonian drew, each time anew") {
  tests::use_lattice({2, 2, 2, 4});
  const std::string name = "TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", input = tests::monomial_inputs().at(name);
  const auto exact = tests::make_monomial(name, input), steering = tests::make_monomial(name, input);
  const MonomialMap monomials = {{"exact", exact}, {"steering", steering}};
  const auto integrator = [&](const std::string& copies) {
    const InputFile file =
        tests::input(tag("MDIntegrator", tag("tau0", "0.2") + copies +
                                             tag("Integrator", tag("Name", "LCM_STS_MIN_NORM_2") + tag("n_steps", "4") +
                                                                   tag("monomial_ids", tag("elem", "steering")))));
    Integrator made = Integrator::read(file.root(), monomials);
    file.require_valid();
    return made;
  };
  Hamiltonian hamiltonian(monomials, {"exact"});
  GaugeField u = tests::random_field();
  CHECK_THROWS_WITH_AS(run_trajectory(u, hamiltonian, integrator(""), {}), doctest::Contains("refresh()"), ShapeError);

  const Integrator copying =
      integrator(tag("copyList", tag("elem", tag("copyFrom", "exact") + tag("copyTo", "steering"))));
  TrajectoryOptions options;
  options.warm_up = true;
  for (int n = 0; n < 3; ++n) {
    const double dh = run_trajectory(u, hamiltonian, copying, options).delta_h;
    CHECK(std::fabs(dh) < 0.05);
    CHECK(toDouble(exact->action(u, {})) == toDouble(steering->action(u, {})));
  }
  // With the fields of the trajectory before, energies are far off.
  exact->refresh(u);
  CHECK(std::fabs(toDouble(exact->action(u, {})) - toDouble(steering->action(u, {}))) > 1);
  const Integrator none = integrator("");
  CHECK(std::fabs(run_trajectory(u, hamiltonian, none, options).delta_h) > 0.5);
}
