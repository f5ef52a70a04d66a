// Every number of the gluonic measurements and of the condensates against plain arrays and dense matrices.

#include "lib/meas/condensate.hpp"
#include "lib/meas/field_strength.hpp"
#include "lib/meas/glue.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"
#include "tests/reference/quarks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace QDP;
using namespace qcd;
using reference::Links;
using tests::base_tol;
using tests::tag;
using C = reference::Complex;

namespace {

constexpr int kTime = 3;

bool close(double a, double b, double tolerance = 1e-12) {
  return std::fabs(a - b) < base_tol(tolerance) * (1 + std::fabs(b));
}

std::vector<int> plaquette(int mu, int nu) { return {mu + 1, nu + 1, -mu - 1, -nu - 1}; }

/// The sum of the four leaves around a site, over 4.
reference::Color leaves(const Links& u, int x, int mu, int nu) {
  const int m = mu + 1, n = nu + 1;
  reference::Color q{};
  for (const std::vector<int>& leaf :
       std::vector<std::vector<int>>{{m, n, -m, -n}, {n, -m, -n, m}, {-m, -n, m, n}, {-n, m, n, -m}})
    q = q + u.walk(x, leaf);
  return C(0.25) * q;
}

}  // namespace

TEST_CASE("PLAQUETTE, RECTANGLE and POLYAKOV_LOOP report traces of loops") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u);
  const double sites = plain.volume();
  tests::Output out(tests::run_measurements(tests::measurement("PLAQUETTE", "") + tests::measurement("RECTANGLE", "") +
                                                tests::measurement("POLYAKOV_LOOP", ""),
                                            u, 7));

  double all = 0, space = 0, time = 0, link = 0, rectangles = 0;
  for (int mu = 0; mu < 4; ++mu) {
    for (int x = 0; x < plain.volume(); ++x) link += trace(plain.at(x, mu)).real() / 3 / (4 * sites);
    for (int nu = 0; nu < 4; ++nu) {
      if (nu == mu) continue;
      rectangles += plain.sum_real_trace({mu + 1, mu + 1, nu + 1, -mu - 1, -mu - 1, -nu - 1}) / (12 * sites);
      if (nu < mu) continue;
      const double p = plain.sum_real_trace(plaquette(mu, nu)) / sites;
      CHECK(close(out.number("//plane_" + std::to_string(mu) + std::to_string(nu) + "_plaq"), p));
      all += p / 6;
      (nu == kTime ? time : space) += p / 3;
    }
  }
  CHECK(close(out.number("//w_plaq"), all));
  CHECK(close(out.number("//s_plaq"), space));
  CHECK(close(out.number("//t_plaq"), time));
  CHECK(close(out.number("//link"), link));
  CHECK(close(out.number("//w_rect"), rectangles));
  CHECK(out.number("//Rectangle/update_no") == 7);

  for (int mu = 0; mu < 4; ++mu) {
    C loop = 0;
    for (int x = 0; x < plain.volume(); ++x)
      loop += trace(plain.walk(x, std::vector<int>(static_cast<std::size_t>(Layout::lattSize()[mu]), mu + 1))) /
              (3 * sites);
    const std::string path = "//PolyakovLoop/poly_loop/elem[" + std::to_string(mu + 1) + "]";
    CHECK(close(out.number(path + "/re"), loop.real()));
    CHECK(close(out.number(path + "/im"), loop.imag()));
  }
}

TEST_CASE("topological charge and energy density are those of the leaves") {
  tests::use_lattice({2, 4, 2, 4});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u);
  double charge = 0, clover = 0, space = 0, time = 0, plaquettes = 0;
  for (int x = 0; x < plain.volume(); ++x) {
    const auto g = [&](int mu, int nu) { return algebra_part(leaves(plain, x, mu, nu)); };
    charge -= (trace(g(0, 1) * g(2, 3)) - trace(g(0, 2) * g(1, 3)) + trace(g(0, 3) * g(1, 2))).real() /
              (4 * std::numbers::pi * std::numbers::pi);
    for (int mu = 0; mu < 4; ++mu)
      for (int nu = mu + 1; nu < 4; ++nu) {
        clover -= trace(g(mu, nu) * g(mu, nu)).real() / plain.volume();
        const reference::Color q = leaves(plain, x, mu, nu), a = C(0.5) * (q + C(-1) * adjoint(q));
        (nu == kTime ? time : space) -= trace(a * a).real() / plain.volume();
        plaquettes += 2 * (3 - trace(plain.walk(x, plaquette(mu, nu))).real()) / plain.volume();
      }
  }
  CHECK(close(toDouble(topological_charge(u)), charge));
  const EnergyDensity e = energy_density(u, kTime);
  CHECK(close(toDouble(e.clover), clover));
  CHECK(close(toDouble(e.space), space));
  CHECK(close(toDouble(e.time), time));
  CHECK(close(toDouble(e.plaquette), plaquettes));
}

namespace {

/// eta^+ D^-1 eta and eta^+ p D^-1 eta per site, `p` the sign of gamma_5 or of the parity of the site.
template <class F>
void check_condensate(const std::string& action, const GaugeField& u, const reference::Dense& d, const Links& v,
                      const std::function<double(int component)>& p) {
  const InputFile file =
      tests::input(tag("q", tag("FermionAction", action + tests::fermion_bc()) + tests::inverter("1.0e-13")));
  const Input group = file.root().group("FermionAction");
  std::shared_ptr<const FermionAction<F>> quark;
  if constexpr (std::is_same_v<F, LatticeFermion>)
    quark = wilson_type_action_table().find(group, "FermAct")->make(group);
  else
    quark = staggered_type_action_table().find(group, "FermAct")->make(group);
  const QuarkInverter<F> inverse(quark, read_direct_solver<F>(file.root().group("InvertParam")), u);
  file.require_valid();
  for (const TraceNoise kind : {TraceNoise::z2, TraceNoise::gaussian, TraceNoise::unit}) {
    const F source = trace_source<F>(kind);
    const Condensate c = estimate_condensate(inverse, source);
    const reference::Vector eta = tests::plain_vector(source, v), psi = solve(d, eta);
    C scalar = 0, pseudoscalar = 0;
    for (std::size_t i = 0; i < eta.size(); ++i) {
      const C term = std::conj(eta[i]) * psi[i] / static_cast<double>(v.volume());
      scalar += term;
      pseudoscalar += p(static_cast<int>(i)) * term;
    }
    const auto check = [&](const DComplex& got, const C& expected) {
      CHECK(close(toDouble(real(got)), expected.real(), 1e-10));
      CHECK(close(toDouble(imag(got)), expected.imag(), 1e-10));
    };
    check(c.scalar, scalar);
    check(c.pseudoscalar, pseudoscalar);
  }
}

}  // namespace

TEST_CASE("condensates, with and without parity, are those of the dense inverse") {
  TESSERA_NEEDS_DOUBLES("inverses to ten digits");
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const Links v = tests::with_boundary(tests::plain_links(u), {1, 1, 1, -1});
  check_condensate<LatticeFermion>(tag("FermAct", "WILSON") + tag("Mass", "0.4"), u, wilson_matrix(v, {.mass = 0.4}), v,
                                   [](int i) { return i % 12 < 6 ? 1.0 : -1.0; });  // gamma_5 = diag(1, 1, -1, -1)
  check_condensate<LatticeStaggeredFermion>(tag("FermAct", "STAGGERED") + tag("Mass", "0.4"), u,
                                            staggered_matrix(v, 0.4), v,
                                            [&](int i) { return v.even(i / 3) ? 1.0 : -1.0; });
}
