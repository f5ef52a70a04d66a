// Every quark action by name, and every way to its links, against dense matrices and smeared links made from plain arrays.
// Every element of a row's input has a value of its own, none of them the default.

#include "lib/dirac/quark_operator.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/smear/fat_links.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"
#include "tests/reference/quarks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <tuple>

using namespace QDP;
using namespace qcd;
using C = reference::Complex;
using reference::Dense;
using reference::Links;
using tests::tag;

namespace {

std::string element(const char* name, double value) { return tag(name, std::to_string(value)); }

// ---- operators -----------------------------------------------------------------------------------------------------------

struct Case {
  std::string input;
  reference::WilsonQuark quark;
  double shift = 0;  ///< TwistedM
};

constexpr int kTime = 2;  // t_dir
constexpr double kXi = 2.3, kNu = 0.8;

/// The same coefficient in all planes, or c_T in those with time and c_R/xi_0 in the others.
std::array<std::array<double, 4>, 4> clover(double r, double t) {
  std::array<std::array<double, 4>, 4> c{};
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu)
      c[static_cast<std::size_t>(mu)][static_cast<std::size_t>(nu)] = mu == kTime || nu == kTime ? t : r;
  return c;
}

std::map<std::string, std::vector<Case>> wilson_cases() {
  const std::string aniso = tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", std::to_string(kTime)) +
                                                  element("xi_0", kXi) + element("nu", kNu));
  std::array<double, 4> f;
  f.fill(kNu / kXi);
  f[kTime] = 1;
  const std::vector<Case> wilson = {{element("Mass", 0.3), {.mass = 0.3}},
                                    {element("Kappa", 0.11), {.mass = 1 / 0.22 - 4}},
                                    {element("Mass", 0.3) + aniso, {.mass = 0.3, .f = f}}};
  const std::vector<Case> clovers = {
      {element("Mass", 0.3) + element("clovCoeff", 1.2) + element("u0", 0.9) + element("MaxNorm", 1.5),
       {.mass = 0.3, .clover = clover(1.2, 1.2)}},
      {element("Mass", 0.3) + element("clovCoeff", 1.2) + element("TwistedM", 0.4),
       {.mass = 0.3, .clover = clover(1.2, 1.2)},
       0.4},
      {element("Mass", 0.3) + element("clovCoeffR", 1.2) + element("clovCoeffT", 0.7) + aniso,
       {.mass = 0.3, .f = f, .clover = clover(1.2 / kXi, 0.7)}}};
  const std::vector<Case> parity = {{element("Mass", 0.3) + element("H", 0.25), {.mass = 0.3, .twist = 0.25}}};
  const std::vector<Case> twisted = {
      {element("Mass", 0.3) + element("TwistedMass", 0.25), {.mass = 0.3, .twist = 0.25}},
      {element("Kappa", 0.11) + element("TwoKappaMu", 0.05), {.mass = 1 / 0.22 - 4, .twist = 0.05 / 0.22}}};
  std::vector<Case> twisted_clover = twisted;
  for (Case& c : twisted_clover) {
    c.input += element("clovCoeff", 1.2);
    c.quark.clover = clover(1.2, 1.2);
  }
  return {{"WILSON", wilson},
          {"UNPRECONDITIONED_WILSON", wilson},
          {"CLOVER", clovers},
          {"SEOPREC_CLOVER", clovers},
          {"UNPRECONDITIONED_CLOVER", clovers},
          {"PARWILSON", parity},
          {"UNPRECONDITIONED_PARWILSON", parity},
          {"TWISTED_MASS", twisted},
          {"UNPRECONDITIONED_TWISTED_MASS", twisted},
          {"TWISTED_MASS_CLOVER", twisted_clover},
          {"SEOPREC_TWISTED_MASS_CLOVER", twisted_clover}};
}

/// M x and M^+ y, and x as D^-1 would give it, against the dense matrix on the components `domain` and `range`.
template <class F>
void check_operator(const QuarkOperator<F>& quark, const Links& u, const Dense& m, const std::vector<int>& domain,
                    const std::vector<int>& range) {
  F x, y, image;
  gaussian(x);
  gaussian(y);
  const auto error = [&](const F& got, const std::vector<int>& where, const reference::Vector& expected) {
    const reference::Vector v = tests::part(tests::plain_vector(got, u), where);
    double difference = 0, size = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
      difference += std::norm(v[i] - expected[i]), size += std::norm(expected[i]);
    return std::sqrt(difference / size);
  };
  const reference::Vector forward = m * tests::part(tests::plain_vector(x, u), domain),
                          back = m.adjoint() * tests::part(tests::plain_vector(y, u), range);
  quark.m().apply(image, x, Sign::plus);
  CHECK(error(image, range, forward) < tests::base_tol(1e-12));
  quark.m().apply(image, y, Sign::minus);
  CHECK(error(image, domain, back) < tests::base_tol(1e-12));

  // The partners for inner iterations to their digits: floats, and 16 bits with a scale for each site.
  const SystemOperator<F> system = quark.system();
  for (const auto& [partner, least, most] :
       {std::tuple{&system.single(), 0.0, 3e-6}, std::tuple{&system.half(), 3e-6, 1e-3}}) {
    CAPTURE(most);
    const Single<F> x_single = x, y_single = y;
    Single<F> image_single;
    partner->apply(image_single, x_single, Sign::plus);
    image = image_single;
    const double of_forward = error(image, range, forward);
    partner->apply(image_single, y_single, Sign::minus);
    image = image_single;
    const double of_back = error(image, domain, back);
    for (const double found : {of_forward, of_back}) {
      CHECK(found >= least);
      CHECK(found < most);
    }
  }
}

std::vector<int> all_components(const Links& u, int per_site) {
  std::vector<int> all(static_cast<std::size_t>(per_site * u.volume()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

// ---- links ---------------------------------------------------------------------------------------------------------------

/// The links that the maps of an input's fermion state give.
void check_links(const std::string& elements, const GaugeField& u, const Links& expected) {
  CAPTURE(elements);
  const InputFile document = tests::input(tag("FermionAction", elements));
  const LinkMaps maps = read_fermion_state(document.root());
  document.require_valid();
  const Links got = tests::plain_links(LinkState(u, maps).links());
  double difference = 0;
  for (int x = 0; x < got.volume(); ++x)
    for (int mu = 0; mu < 4; ++mu) {
      const reference::Color d = got.at(x, mu) + C(-1) * expected.at(x, mu);
      difference += trace(d * adjoint(d)).real();
    }
  CHECK(std::sqrt(difference) < tests::base_tol(1e-12));
}

std::string state(const std::string& name, const std::string& elements, const std::string& bc) {
  return tag("FermState", tag("Name", name) + elements + bc);
}

std::array<std::array<double, 4>, 4> stout_weights(double rho, const std::array<bool, 4>& smear) {
  std::array<std::array<double, 4>, 4> weights{};
  for (std::size_t mu = 0; mu < 4; ++mu)
    for (std::size_t nu = 0; nu < 4; ++nu) weights[mu][nu] = smear[mu] && smear[nu] ? rho : 0;
  return weights;
}

}  // namespace

TEST_CASE("every quark action is its dense matrix, preconditioned as its name says") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u), v = tests::with_boundary(plain, {1, 1, 1, -1});
  const std::vector<int> even = components(v, true, 12), odd = components(v, false, 12), all = all_components(v, 12);
  const auto known = wilson_cases();
  for (const auto& row : wilson_type_action_table().rows()) {
    CAPTURE(row.name);
    REQUIRE(known.contains(row.name));
    for (const Case& c : known.at(row.name)) {
      CAPTURE(c.input);
      const InputFile document =
          tests::input(tag("FermionAction", tag("FermAct", row.name) + c.input + tests::fermion_bc()));
      const auto action = row.make(document.root());
      document.require_valid();
      const QuarkOperator<LatticeFermion> quark({action, action->preconditioning(), action->twist()}, u);
      const Dense d = wilson_matrix(v, c.quark), shift = C(c.shift) * reference::i_gamma_5(v.volume());
      if (row.name.starts_with("UNPREC"))
        check_operator(quark, v, d + shift, all, all);
      else if (row.name.starts_with("SEOPREC"))
        check_operator(quark, v, symmetric_schur(d, even, odd) + shift.block(odd, odd), odd, odd);
      else
        check_operator(quark, v, schur(d, even, odd) + shift.block(odd, odd), odd, odd);
      // The part that preconditioning splits off.
      const std::vector<int>* parts[] = {&even, &odd};
      for (int parity : {0, 1})
        CHECK(toDouble(quark.d().log_det_diagonal(rb[parity])) ==
              doctest::Approx(log_abs_det(d.block(*parts[parity], *parts[parity]))).epsilon(tests::base_tol(1e-12)));
    }
  }
  CHECK(known.size() == wilson_type_action_table().rows().size());
}

TEST_CASE("and every staggered one") {
  tests::use_lattice({2, 2, 2, 4});
  const GaugeField u = tests::random_field();
  const Links v = tests::with_boundary(tests::plain_links(u), {1, 1, 1, -1});
  const Dense d = staggered_matrix(v, 0.35);
  const std::vector<int> even = components(v, true, 3), all = all_components(v, 3);
  for (const auto& row : staggered_type_action_table().rows()) {
    CAPTURE(row.name);
    const InputFile document =
        tests::input(tag("FermionAction", tag("FermAct", row.name) + element("Mass", 0.35) + tests::fermion_bc()));
    const auto action = row.make(document.root());
    document.require_valid();
    const QuarkOperator<LatticeStaggeredFermion> quark({action, action->preconditioning(), 0}, u);
    REQUIRE((row.name == "STAGGERED" || row.name == "UNPRECONDITIONED_STAGGERED"));
    const std::vector<int>& domain = row.name == "STAGGERED" ? even : all;
    check_operator(quark, v, d.block(all, domain), domain, all);
  }
}

TEST_CASE("smeared links of every fermion state, with their published weights") {
  tests::use_lattice({2, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u), turned = tests::with_boundary(plain, {1, 1, -1, 1});
  const std::string bc = tag("FermionBC", tag("FermBC", "SIMPLE_FERMBC") + tag("boundary", "1 1 -1 1"));
  const auto bounded = [](const Links& v) { return tests::with_boundary(v, {1, 1, -1, 1}); };

  std::map<std::string, int> seen;
  const auto check = [&](const std::string& name, const std::string& elements, const Links& expected) {
    ++seen[name];
    check_links(state(name, elements, bc), u, expected);
  };
  check("SIMPLE_FERM_STATE", "", turned);
  check("PERIODIC_FERM_STATE", "", plain);
  const std::string rho = element("rho", 0.11) + tag("n_smear", "2");
  const auto twice = [&](const std::array<bool, 4>& smear) {
    const auto weights = stout_weights(0.11, smear);
    return bounded(stout(stout(plain, weights), weights));
  };
  check("STOUT_FERM_STATE", rho, twice({true, true, true, true}));
  check("STOUT_FERM_STATE", rho + tag("orthog_dir", "1"), twice({true, false, true, true}));
  check("STOUT_FERM_STATE", rho + tag("smear_in_this_dirP", "true false false true"),
        twice({true, false, false, true}));

  // asqtad at u0: Orginos and Toussaint, Phys. Rev. D59 (1999) 014501; Lepage, Phys. Rev. D59 (1999) 074502. The library
  // has the same numbers by name.
  const double u0 = 0.86, u2 = u0 * u0;
  const reference::FatWeights asqtad{5.0 / 8, 1 / (16 * u2), 1 / (64 * u2 * u2), 1 / (384 * u2 * u2 * u2),
                                     -1 / (16 * u2 * u2)};
  const auto weights = [](const reference::FatWeights& w) {
    const auto digits = [](double x) {
      char text[32];
      std::snprintf(text, sizeof text, "%.17g", x);
      return std::string(text);
    };
    return tag("one", digits(w.one)) + tag("three", digits(w.three)) + tag("five", digits(w.five)) +
           tag("seven", digits(w.seven)) + tag("lepage", digits(w.lepage));
  };
  check("FAT_FERM_STATE", weights(asqtad), bounded(fattened(plain, asqtad)));
  const Fat7Weights named = asqtad_weights(u0);
  check("FAT_FERM_STATE", weights({named.one, named.three, named.five, named.seven, named.lepage}),
        bounded(fattened(plain, asqtad)));
  const reference::FatWeights fat7{1.0 / 8, 1.0 / 16, 1.0 / 64, 1.0 / 384, 0};
  check("FAT_FERM_STATE", weights(fat7) + tag("n_smear", "2") + tag("unitarize", "true"),
        bounded(unitarised(fattened(unitarised(fattened(plain, fat7)), fat7))));
  // HISQ without Naik's term: fat7, projection, asqtad's paths with 7/8 more of the link and twice Lepage's term.
  // Follana et al., Phys. Rev. D75 (2007) 054502.
  check("HISQ_FERM_STATE", "",
        bounded(fattened(unitarised(fattened(plain, fat7)), {1, 1.0 / 16, 1.0 / 64, 1.0 / 384, -1.0 / 8})));

  for (const auto& row : fermion_state_table().rows()) {
    CAPTURE(row.name);
    CHECK(seen.contains(row.name));
  }
}

TEST_CASE("phases of the links: boundary, twists, imaginary chemical potential, constant fields") {
  tests::use_lattice({2, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const Links plain = tests::plain_links(u);
  const double pi = std::numbers::pi;
  const auto turn = [](double angle) { return std::polar(1.0, angle); };

  check_links(tag("FermionBC", tag("FermBC", "SIMPLE_FERMBC") + tag("boundary", "-1 1 0.5 -1")), u,
              tests::with_boundary(plain, {-1, 1, 0.5, -1}));
  check_links(tag("boundary", "-1 1 0.5 -1"), u, tests::with_boundary(plain, {-1, 1, 0.5, -1}));
  check_links(tag("FermionBC", tag("FermBC", "PERIODIC_FERMBC")), u, plain);
  // phases_by_pi[i] belongs to direction phases_dir[i].
  check_links(tag("FermionBC", tag("FermBC", "TWISTED_FERMBC") + tag("boundary", "1 1 1 -1") +
                                   tag("phases_by_pi", "0.3 0.4 0.5") + tag("phases_dir", "3 1 0")),
              u, with_phases(tests::with_boundary(plain, {1, 1, 1, -1}), [&](const reference::Coordinates&, int mu) {
                const double angle[] = {0.5 / 2, 0.4 / 4, 0, 0.3 / 2};
                return turn(pi * angle[mu]);
              }));
  check_links(tag("FermionBC", tag("FermBC", "PERIODIC_FERMBC")) +
                  tag("ImaginaryChemicalPotential", tag("MuByT", "0.7") + tag("t_dir", "1")),
              u,
              with_phases(plain, [&](const reference::Coordinates&, int mu) { return turn(mu == 1 ? 0.7 / 4 : 0); }));

  // Every plaquette of the plane gets 2 pi quanta/(L_mu L_nu), across the boundaries as well, and no other one anything.
  const InputFile document = tests::input(
      tag("FermionAction", tag("FermionBC", tag("FermBC", "PERIODIC_FERMBC")) +
                               tag("ExternalField", tag("elem", tag("plane", "1 3") + tag("quanta", "3")))));
  const Links v = tests::plain_links(LinkState(u, read_fermion_state(document.root())).links());
  document.require_valid();
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu)
      for (int x = 0; x < v.volume(); ++x) {
        const std::vector<int> loop = {mu + 1, nu + 1, -mu - 1, -nu - 1};
        const C expected = (mu == 1 && nu == 3 ? turn(2 * pi * 3 / 8) : 1.0) * trace(plain.walk(x, loop));
        CHECK(std::abs(trace(v.walk(x, loop)) - expected) < tests::base_tol(1e-12));
      }
}
