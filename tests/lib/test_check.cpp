// TESSERA_CHECK=1 finds nothing in forces and actions that are right. A process of its own, because it is read at the
// start. The twin on the simulated GPU is the sharper one: there memory that nobody wrote is NaN.
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <string>

using namespace QDP;

namespace {

[[maybe_unused]] const bool checked = [] {
  setenv("TESSERA_CHECK", "1", 1);
  jit::reload_env();
  return true;
}();

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

void use(const std::string& name, const std::string& elements) {
  CAPTURE(name);
  const tests::GaugeField u = tests::random_field();
  const auto monomial = tests::make_monomial(name, elements);
  monomial->draw_constants();
  monomial->refresh(u);
  tests::GaugeField f;
  monomial->force(f, u, {});
  for (int mu = 0; mu < Nd; ++mu) CHECK(std::isfinite(toDouble(norm2(f[mu]))));
  if (monomial->exact()) CHECK(std::isfinite(toDouble(monomial->action(u, {}))));
}

}  // namespace

TEST_CASE("what is wrong is found") {
  tests::use_lattice({4, 4, 4, 4});
  LatticeReal x = 0.0;
  CHECK_THROWS_WITH_AS(x = x / x, doctest::Contains("NaN"), jit::UserError);
}

TEST_CASE(
    "no monomial computes on what nobody set, periodic or between the boundaries of the Schroedinger functional") {
  tests::use_lattice({4, 4, 4, 4});
  const std::string schroedinger = tests::tag(
      "FermionBC", tests::tag("FermBC", "SCHROEDINGER_NONPERT_FERMBC") + tests::tag("SchrPhiMult", "2.0") +
                       tests::tag("loop_extent", "1") + tests::tag("decay_dir", "3") + tests::tag("theta", "0 0 0"));
  for (const auto& [name, elements] : tests::monomial_inputs()) {
    use(name, elements);
    const std::string bounded = replaced(elements, tests::fermion_bc(), schroedinger);
    if (bounded != elements) use(name, bounded);
  }
}
