// Fields stay on the GPU: no operation of the language moves one, and no trajectory after the first.
#include "jit/memory/deferred.hpp"
#include "jit/memory/residency.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/simulated_gpu.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace QDP;

namespace {

[[maybe_unused]] const bool simulated = tests::compute_on_simulated_gpu();

/// What crossed between the host and the GPU since it was made.
class Traffic {
 public:
  Traffic() {
    jit::run_deferred();
    jit::Residency::instance().reset_transfers();
    start_ = all_copies();
  }

  /// Fields, whatever their size.
  std::int64_t fields() const {
    jit::run_deferred();
    const jit::TransferCounts& counts = jit::Residency::instance().transfers();
    return counts.in + counts.out + counts.spilled + counts.dropped;
  }
  /// Copies larger than GpuCopies::kSmall: fields, tables.
  std::uint64_t copies() const {
    jit::run_deferred();
    return all_copies() - start_;
  }

 private:
  static std::uint64_t all_copies() {
    const jit::GpuTraffic& now = tests::gpu().traffic();
    return now.to_device.copies + now.to_host.copies;
  }

  std::uint64_t start_;
};

class ByTime : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const override { return x[Nd - 1]; }
  int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
};

/// (x, y, z, t) <- (y, x, z, t): no shift.
class Mirror : public MapFunc {
 public:
  multi1d<int> operator()(const multi1d<int>& x, int) const override {
    multi1d<int> y = x;
    y[0] = x[1];
    y[1] = x[0];
    return y;
  }
};

struct Operation {
  std::string name;
  std::function<void()> run;
};

void check_none_moves(const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) {
    CAPTURE(operation.name);
    operation.run();  // compiles, and brings the tables of its maps and subsets
    const Traffic traffic;
    operation.run();
    CHECK(traffic.fields() == 0);
    CHECK(traffic.copies() == 0);
  }
}

}  // namespace

TEST_CASE("what does move is counted") {
  tests::use_lattice({8, 8, 8, 4});
  LatticeColorMatrix u;
  const auto look = [&] { return std::as_const(u).elem(0).elem().elem(0, 0).real(); };
  gaussian(u);
  look();  // brings the table of the order of sites
  gaussian(u);
  const Traffic traffic;
  CHECK(std::isfinite(look()));
  CHECK(traffic.fields() == 1);
  CHECK(traffic.copies() == 1);
  u.elem(3).elem().elem(1, 2).real() = 2;
  u = u * u;
  CHECK(traffic.fields() == 2);
  CHECK(traffic.copies() == 2);
}

TEST_CASE("no operation of the language moves a field") {
  tests::use_lattice({8, 8, 8, 4});
  tests::GaugeField u = tests::random_field();
  LatticeFermion psi, chi;
  LatticeColorMatrix m;
  LatticePropagator quark;
  LatticeReal weight;
  LatticeComplex density;
  LatticeInteger count;
  LatticeBoolean mask;
  gaussian(psi);
  gaussian(chi);
  gaussian(quark);
  random(weight);
  multi1d<LatticeFermion> several(3);
  for (int i = 0; i < several.size(); ++i) gaussian(several[i]);
  multi1d<int> site(Nd);
  for (int mu = 0; mu < Nd; ++mu) site[mu] = mu % 2;
  Set times;
  times.make(ByTime());
  Map mirror;
  mirror.make(Mirror());
  double total = 0;
  const auto add = [&total](const auto& x) { total += toDouble(x); };

  check_none_moves({
      {"sum of a real field", [&] { add(sum(weight)); }},
      {"sum of a matrix field", [&] { add(norm2(sum(u[0]))); }},
      {"sum of a propagator, in parts", [&] { add(norm2(sum(quark))); }},
      {"sum on a subset", [&] { add(sum(weight, rb[1])); }},
      {"norm2", [&] { add(norm2(psi)); }},
      {"norm2 on a subset", [&] { add(norm2(psi, rb[0])); }},
      {"norm2 of several fields", [&] { add(norm2(several)); }},
      {"innerProduct", [&] { add(real(innerProduct(psi, chi))); }},
      {"innerProduct of several fields", [&] { add(real(innerProduct(several, several))); }},
      {"innerProductReal on a subset", [&] { add(innerProductReal(psi, chi, rb[1])); }},
      {"sumMulti over time slices", [&] { add(sumMulti(localNorm2(psi), times)[1]); }},
      {"sumMulti of a complex field", [&] { add(real(sumMulti(trace(u[0]), times)[0])); }},
      {"globalMax", [&] { add(globalMax(weight)); }},
      {"isfinite", [&] { total += isfinite(psi); }},
      {"random", [&] { random(weight); }},
      {"gaussian", [&] { gaussian(psi); }},
      {"gaussian on a subset", [&] { gaussian(chi, rb[1]); }},
      {"gaussian propagator", [&] { gaussian(quark); }},
      {"a number for all sites", [&] { weight = Real(0.5); }},
      {"zero", [&] { m = zero; }},
      {"a copy", [&] { chi = psi; }},
      {"a copy from another precision", [&] { chi = LatticeFermionF(psi); }},
      {"an expression", [&] { m = u[0] * adj(u[1]) + Real(0.5) * u[2]; }},
      {"an expression that reads what it writes elsewhere", [&] { psi = psi + shift(psi, BACKWARD, 3); }},
      {"assignment on a subset", [&] { chi[rb[0]] = u[1] * psi; }},
      {"assignment on a time slice", [&] { chi[times[2]] = zero; }},
      {"shift", [&] { chi = shift(psi, FORWARD, 1); }},
      {"shift of a shift", [&] { m = shift(shift(u[0], FORWARD, 1), BACKWARD, 2); }},
      {"a map of the user", [&] { m = mirror(u[0]); }},
      {"spin projection", [&] { chi = spinReconstructDir0Plus(u[0] * spinProjectDir0Plus(psi)); }},
      {"gamma matrices", [&] { chi = Gamma(15) * psi; }},
      {"traces", [&] { density = trace(adj(quark) * quark); }},
      {"functions", [&] { weight = sqrt(localNorm2(psi)) + exp(-weight) * cos(weight); }},
      {"components", [&] { density = peekColor(u[0], 0, 1); }},
      {"pokeColor", [&] { pokeColor(m, density, 1, 2); }},
      {"pokeSpin", [&] { pokeSpin(psi, peekSpin(chi, 1), 2); }},
      {"comparison", [&] { mask = weight > Real(0.25); }},
      {"where", [&] { weight = where(mask, weight, Real(0.5)); }},
      {"copymask", [&] { copymask(psi, mask, chi); }},
      {"coordinates", [&] { count = Layout::latticeCoordinate(2); }},
      {"integers", [&] { count = where(mask, LatticeInteger(1), LatticeInteger(0)); }},
      {"peekSite", [&] { add(norm2(peekSite(psi, site))); }},
      {"peekSite of a propagator", [&] { add(norm2(peekSite(quark, site))); }},
      {"pokeSite", [&] { pokeSite(u[0], ColorMatrix(1), site); }},
      {"site functions", [&] { m = qcd::su3_exp(qcd::taproj(m)); }},
      {"plaquette", [&] { add(qcd::measure_plaquettes(u).average); }},
      {"Polyakov loop", [&] { add(real(qcd::polyakov_loop(u, Nd - 1))); }},
      {"reunitarisation", [&] { total += static_cast<double>(qcd::reunitarize(u)); }},
  });
  CHECK(std::isfinite(total));
}

TEST_CASE("no field moves in trajectories after the first") {
  const auto inputs = tests::monomial_inputs();
  std::vector<std::string> names = {"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", "ROOTED_STAGGERED_FERM_RAT_MONOMIAL"};
  if (std::getenv("QCD_ENSEMBLE_TESTS") != nullptr) {  // a minute
    names.clear();
    for (const auto& [name, elements] : inputs)
      if (tests::make_monomial(name, elements)->exact()) names.push_back(name);
    CHECK(names.size() > 15);
  }
  tests::use_lattice({4, 4, 4, 4});
  const auto check = [](tests::Dynamics dynamics) {
    tests::GaugeField u(Nd);
    qcd::weak_field_start(u);
    dynamics.run(u);
    const Traffic traffic;
    CHECK(std::isfinite(dynamics.run(u).delta_h));
    CHECK(traffic.fields() == 0);
    CHECK(traffic.copies() == 0);
  };
  check(tests::two_flavor_dynamics());
  for (const std::string& name : names) {
    CAPTURE(name);
    check({name, inputs.at(name)});
  }
}
