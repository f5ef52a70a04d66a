// Traces of inverse Dirac operators from noise, and eigenvalues.

#include "lib/meas/condensate.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::measurement;
using tests::Output;
using tests::run_measurements;

namespace {

const std::string kInvert = "<InvertParam><invType>CG_INVERTER</invType><RsdCG>" + tests::solver_residual("1e-11") +
                            "</RsdCG><MaxCG>1000</MaxCG></InvertParam>";
const std::string kAntiperiodic = "<FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>";

template <class F>
QuarkInverter<F> inverter(const std::string& action, const GaugeField& u) {
  const InputFile file =
      tests::input("<q><FermionAction>" + action + kAntiperiodic + "</FermionAction>" + kInvert + "</q>");
  const Input group = file.root().group("FermionAction");
  std::shared_ptr<const FermionAction<F>> quark;
  if constexpr (std::is_same_v<F, LatticeFermion>)
    quark = wilson_type_action_table().find(group, "FermAct")->make(group);
  else
    quark = staggered_type_action_table().find(group, "FermAct")->make(group);
  auto solver = read_direct_solver<F>(file.root().group("InvertParam"));
  file.require_valid();
  return QuarkInverter<F>(std::move(quark), std::move(solver), u);
}

/// Tr D^-1/V from a point source at every site.
template <class F>
double exact_trace(const QuarkInverter<F>& inverse) {
  double trace_sum = 0;
  multi1d<int> x(Nd);
  for (int n = 0; n < static_cast<int>(Layout::vol()); ++n) {
    int rest = n;
    for (int mu = 0; mu < Nd; ++mu) {
      x[mu] = rest % Layout::lattSize()[mu];
      rest /= Layout::lattSize()[mu];
    }
    LatticeComplex delta = zero;
    pokeSite(delta, Complex(cmplx(Real(1), Real(0))), x);
    PropagatorOf<F> source;
    source = delta;
    trace_sum += toDouble(real(trace(peekSite(inverse.propagator(source), x))));
  }
  return trace_sum / static_cast<double>(Layout::vol());
}

template <class F>
void check_estimate(const std::string& action) {
  tests::use_lattice({2, 2, 2, 2});
  GaugeField u(Nd);
  weak_field_start(u);
  const QuarkInverter<F> inverse = inverter<F>(action, u);
  const double exact = exact_trace(inverse);
  for (TraceNoise kind : {TraceNoise::z2, TraceNoise::u1, TraceNoise::gaussian}) {
    CAPTURE(static_cast<int>(kind));
    constexpr int kSources = 40;
    double mean = 0, squares = 0;
    for (int i = 0; i < kSources; ++i) {
      const double x = toDouble(real(estimate_condensate(inverse, trace_source<F>(kind)).scalar));
      mean += x / kSources;
      squares += x * x / kSources;
    }
    const double error = std::sqrt((squares - mean * mean) / (kSources - 1));
    CHECK(error < 0.05 * exact);
    CHECK(std::fabs(mean - exact) < 4 * error);
  }
}

}  // namespace

TEST_CASE("noise sources have unit modulus in every component") {
  tests::use_lattice({4, 2, 2, 2});
  const double components = 12.0 * static_cast<double>(Layout::vol());
  for (TraceNoise kind : {TraceNoise::z2, TraceNoise::u1, TraceNoise::unit}) {
    const auto eta = trace_source<LatticeFermion>(kind);
    CHECK(toDouble(norm2(eta)) == doctest::Approx(components).epsilon(base_tol(1e-12)));
    const LatticeReal size = localNorm2(peekColor(peekSpin(eta, 3), 1));
    CHECK(toDouble(globalMax(size)) == doctest::Approx(1).epsilon(base_tol(1e-12)));
    CHECK(toDouble(globalMin(size)) == doctest::Approx(1).epsilon(base_tol(1e-12)));
  }
  CHECK(toDouble(norm2(trace_source<LatticeFermion>(TraceNoise::gaussian))) ==
        doctest::Approx(components).epsilon(0.2));
  const auto eta = trace_source<LatticeFermion>(TraceNoise::z2);
  CHECK(std::fabs(toDouble(real(sum(peekColor(peekSpin(eta, 0), 0))))) < 4 * std::sqrt(32.0));
}

TEST_CASE("noise estimates agree with the exact trace: Wilson") {
  check_estimate<LatticeFermion>("<FermAct>WILSON</FermAct><Kappa>0.12</Kappa>");
}

TEST_CASE("noise estimates agree with the exact trace: staggered") {
  check_estimate<LatticeStaggeredFermion>("<FermAct>STAGGERED</FermAct><Mass>0.5</Mass>");
}

namespace {

LatticeFermion with_parity(const LatticeFermion& psi) { return LatticeFermion(Gamma(Ns * Ns - 1) * psi); }
LatticeStaggeredFermion with_parity(const LatticeStaggeredFermion& psi) {
  LatticeInteger sum = 0;
  for (int mu = 0; mu < Nd; ++mu) sum += Layout::latticeCoordinate(mu);
  const LatticeReal sign = Real(1) - Real(2) * (sum % 2);
  return LatticeStaggeredFermion(sign * psi);
}

template <class F>
void check_per_site(const std::string& action) {
  tests::use_lattice({2, 4, 2, 2});
  GaugeField u(Nd);
  disordered_start(u);
  const QuarkInverter<F> inverse = inverter<F>(action, u);
  const F eta = trace_source<F>(TraceNoise::z2), psi = inverse(eta);
  const Condensate c = estimate_condensate(inverse, eta);
  const Double volume = static_cast<double>(Layout::vol());
  const auto same = [](const DComplex& a, const DComplex& b) {
    CHECK(toDouble(real(a)) == doctest::Approx(toDouble(real(b))).epsilon(base_tol(1e-10)));
    CHECK(toDouble(imag(a)) == doctest::Approx(toDouble(imag(b))).epsilon(base_tol(1e-10)));
  };
  same(c.scalar * volume, innerProduct(eta, psi));
  same(c.pseudoscalar * volume, innerProduct(eta, with_parity(psi)));
}

}  // namespace

TEST_CASE("both traces are per site, that with the parity of the quark as well") {
  check_per_site<LatticeFermion>("<FermAct>WILSON</FermAct><Kappa>0.12</Kappa>");
  check_per_site<LatticeStaggeredFermion>("<FermAct>STAGGERED</FermAct><Mass>0.5</Mass>");
}

TEST_CASE("CHIRAL_CONDENSATE writes each source and their average") {
  tests::use_lattice({2, 2, 2, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  const auto condensate = [&](const std::string& name, const std::string& action, const std::string& noise) {
    return measurement(name, "<Param><FermionAction>" + action + kAntiperiodic + "</FermionAction>" + kInvert +
                                 "<noise>" + noise + "</noise><n_sources>3</n_sources></Param>");
  };
  Output out(
      run_measurements(condensate("CHIRAL_CONDENSATE", "<FermAct>WILSON</FermAct><Kappa>0.1</Kappa>", "U1") +
                           condensate("CHIRAL_CONDENSATE_STAG", "<FermAct>STAGGERED</FermAct><Mass>0.5</Mass>", "UNIT"),
                       u));
  CHECK(out.count("/out/elem[1]/ChiralCondensate/sources/elem") == 3);
  double mean = 0;
  for (const char* n : {"1", "2", "3"})
    mean += out.number(std::string("/out/elem[1]/ChiralCondensate/sources/elem[") + n + "]/scalar/re") / 3;
  CHECK(out.number("/out/elem[1]/ChiralCondensate/scalar_mean") == doctest::Approx(mean).epsilon(base_tol(1e-12)));
  CHECK(out.number("/out/elem[1]/ChiralCondensate/scalar_error") > 0);
  CHECK(out.number("/out/elem[2]/ChiralCondensate/scalar_error") < base_tol(1e-12));  // the same source three times

  const auto errors =
      tests::measurement_errors(condensate("CHIRAL_CONDENSATE", "<FermAct>WILSON</FermAct><Kappa>0.1</Kappa>", "Z3"));
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].find("Z2, U1, GAUSSIAN or UNIT") != std::string::npos);
}

// Chroma's regression test chroma/eig/eigbnds, whose accuracy is 1e-2; highest values are those of minus the operator.
TEST_CASE("EIGBNDSMDAGM finds the ends of the spectrum that Chroma finds") {
  tests::use_lattice({4, 4, 4, 8});
  GaugeField u(Nd);
  weak_field_start(u);
  Output out(run_measurements(
      measurement("EIGBNDSMDAGM",
                  "<Ritz><RsdR>1.0e-3</RsdR><RsdA>1.0e-3</RsdA><Neig>2</Neig></Ritz><FermionAction><FermAct>WILSON"
                  "</FermAct><Kappa>0.11</Kappa><boundary>1 1 1 -1</boundary></FermionAction>"),
      u));
  CHECK(out.number("//LowestEv//lambda[1]") == doctest::Approx(1.680115).epsilon(1e-3));
  CHECK(out.count("//LowestEv//lambda") == 2);
  CHECK(out.number("//LowestEv//lambda[2]") >= out.number("//LowestEv//lambda[1]"));
  CHECK(out.number("//HighestEv//lambda") == doctest::Approx(-29.07604).epsilon(1e-2));
}

TEST_CASE("the spectrum of the staggered operator on conf.00200") {
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  Output out(run_measurements(measurement("EIGBNDSMDAGM_STAG",
                                          "<Ritz><RsdR>1.0e-8</RsdR></Ritz><FermionAction><FermAct>STAGGERED"
                                          "</FermAct><Mass>0.1</Mass>" +
                                              kAntiperiodic + "</FermionAction>"),
                              u));
  CHECK(out.number("//LowestEv//lambda") - 0.01 == doctest::Approx(0.00792635908882).epsilon(base_tol(1e-9)));
  CHECK(-out.number("//HighestEv//lambda") - 0.01 == doctest::Approx(4.9378793763516).epsilon(base_tol(1e-12)));
}
