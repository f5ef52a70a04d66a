// Which weight each monomial simulates: on 2^4 and 2^3 x 4 its action equals that of a dense matrix T built here from plain
// arrays, phi = T eta, S = phi^+ (T T^+)^-1 phi, for two gauge fields and pseudofermions drawn on the first; and det T T^+ is
// the determinant that the monomial's name stands for, computed from the whole operator without preconditioning.

#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"
#include "tests/reference/quarks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numeric>

using namespace QDP;
using namespace qcd;
using reference::Dense;
using reference::Links;
using tests::tag;

namespace {

// ---- quarks ------------------------------------------------------------------------------------------------------------

enum class Form { whole, even_odd, symmetric };

/// A quark of the Wilson kind: how an input asks for it, and its matrices.
struct WilsonKind {
  const char* name;  ///< FermAct
  Form form;
  double mass, clover = 0, twist = 0;  ///< twist: i twist g_5 of the whole operator
  const char* twist_name = "";         ///< the element for it
  double shift = 0;                    ///< i shift g_5 of the preconditioned one, TwistedM

  std::string input() const {
    std::string text = tag("FermAct", name) + tag("Mass", std::to_string(mass));
    if (clover != 0) text += tag("clovCoeff", std::to_string(clover));
    if (twist != 0) text += tag(twist_name, std::to_string(twist));
    if (shift != 0) text += tag("TwistedM", std::to_string(shift));
    return tag("FermionAction", text + tests::fermion_bc());
  }
  /// On top of what it has.
  WilsonKind shifted(double mu) const {
    WilsonKind q = *this;
    q.shift += mu;
    return q;
  }

  Dense whole(const Links& u) const {
    reference::WilsonQuark w{.mass = mass, .twist = twist};
    for (auto& row : w.clover) row.fill(clover);
    return wilson_matrix(tests::with_boundary(u, {1, 1, 1, -1}), w);
  }
  /// M on the sites where its pseudofermions live: all, or the odd ones.
  Dense preconditioned(const Links& u) const {
    const Dense d = whole(u);
    const std::vector<int> even = components(u, true, 12), odd = components(u, false, 12);
    const reference::Complex mu = shift;
    const Dense g5 = reference::i_gamma_5(u.volume());
    switch (form) {
      case Form::whole:
        return d + mu * g5;
      case Form::even_odd:
        return schur(d, even, odd) + mu * g5.block(odd, odd);
      default:
        return symmetric_schur(d, even, odd) + mu * g5.block(odd, odd);
    }
  }
};

/// ln |det| of the operator on the sites of one parity: its site-diagonal part.
double log_det_diagonal(const Dense& d, const Links& u, bool even, int per_site = 12) {
  const std::vector<int> sites = components(u, even, per_site);
  return log_abs_det(d.block(sites, sites));
}
/// ln |det M| by Schur's formula from the whole operator, where nothing is added to M.
double log_det(const WilsonKind& q, const Links& u) {
  const Dense d = q.whole(u);
  double value = log_abs_det(d);
  if (q.form != Form::whole) value -= log_det_diagonal(d, u, true);
  if (q.form == Form::symmetric) value -= log_det_diagonal(d, u, false);
  return value;
}

constexpr double kStaggeredMass = 0.5;
std::string staggered_input() {
  return tag("FermionAction",
             tag("FermAct", "STAGGERED") + tag("Mass", std::to_string(kStaggeredMass)) + tests::fermion_bc());
}
Dense staggered(const Links& u) { return staggered_matrix(tests::with_boundary(u, {1, 1, 1, -1}), kStaggeredMass); }
/// M from the even sites to all.
Dense from_even(const Links& u) {
  std::vector<int> all(static_cast<std::size_t>(3 * u.volume()));
  std::iota(all.begin(), all.end(), 0);
  return staggered(u).block(all, components(u, true, 3));
}

// ---- what is claimed -----------------------------------------------------------------------------------------------------

enum class Sites { all, even, odd };

/// One pseudofermion: phi = T eta with eta on some sites, so that its weight is that of |det T|^2 = det T T^+.
struct Pseudofermion {
  std::function<Dense(const Links&)> t;
  Sites noise;
  bool staggered = false;
};

struct Claim {
  std::string input;
  std::vector<Pseudofermion> fields;
  std::function<double(const Links&)> other;       ///< terms of S without pseudofermions
  std::function<double(const Links&)> log_weight;  ///< what the name stands for, up to a constant
  bool small_only = false;                         ///< dense powers take too long on 2^3 x 4
};

Sites sites_of(const WilsonKind& q) { return q.form == Form::whole ? Sites::all : Sites::odd; }

Claim two_flavors(const WilsonKind& q) {
  return {q.input() + tests::inverter(),
          {{[q](const Links& u) { return q.preconditioned(u).adjoint(); }, sites_of(q)}},
          nullptr,
          [q](const Links& u) { return 2 * log_det(q, u); }};
}

/// The whole determinant: the site-diagonal part is there as well.
Claim two_flavors_whole(const WilsonKind& q) {
  Claim claim = two_flavors(q);
  claim.other = [q](const Links& u) {
    const Dense d = q.whole(u);
    double value = -2 * log_det_diagonal(d, u, true);
    if (q.form == Form::symmetric) value -= 2 * log_det_diagonal(d, u, false);
    return value;
  };
  claim.log_weight = [q](const Links& u) { return 2 * log_abs_det(q.whole(u)); };
  return claim;
}

/// T = D^-+ N^+ for det(N^+ N)/det(D^+ D).
Pseudofermion ratio(const WilsonKind& light, const WilsonKind& heavy) {
  return {[=](const Links& u) { return solve(heavy.preconditioned(u).adjoint(), light.preconditioned(u).adjoint()); },
          sites_of(light)};
}
Claim hasenbusch(const WilsonKind& light, const WilsonKind& heavy) {
  return {tag("Action", light.input() + tests::inverter()) + tag("PrecAction", heavy.input() + tests::inverter()),
          {ratio(light, heavy)},
          nullptr,
          [=](const Links& u) { return 2 * log_det(light, u) - 2 * log_det(heavy, u); }};
}

const std::vector<double> kShifts = {0.1, 0.35, 0.8};

/// det |M + i mu_0 g5|^2 / det |M + i mu_last g5|^2, and what cancels the latter.
Claim chain(const WilsonKind& q) {
  Claim claim{
      tag("Action", q.input() + tests::inverter()) + tag("ShiftedMass", "0.1 0.35 0.8") + tag("NumofHasenTerms", "2"),
      {},
      nullptr,
      [q](const Links& u) {
        return 2 * log_abs_det(q.shifted(kShifts.front()).preconditioned(u)) -
               2 * log_abs_det(q.shifted(kShifts.back()).preconditioned(u));
      }};
  for (std::size_t k = 0; k + 1 < kShifts.size(); ++k)
    claim.fields.push_back(ratio(q.shifted(kShifts[k]), q.shifted(kShifts[k + 1])));
  return claim;
}
Claim end_of_chain(const WilsonKind& q) {
  const WilsonKind last = q.shifted(kShifts.back());
  Claim claim = two_flavors(last);
  claim.input = q.input() + tests::inverter() + tag("ShiftedMass", "0.8");
  claim.log_weight = [last](const Links& u) {
    const Dense m = last.preconditioned(u);
    return log_abs_det(m.adjoint() * m);
  };
  return claim;
}

std::string powers(const std::string& action, int pseudofermions, int per_flavor, const char* lower,
                   const char* upper) {
  const auto approximation = [&](int denominator) {
    return tests::approximation("-1", std::to_string(denominator), lower, upper);
  };
  return tag("num_pf", std::to_string(pseudofermions)) +
         tag("Action", action + tag("ActionApprox", approximation(2 * per_flavor * pseudofermions)) +
                           tag("ForceApprox", approximation(per_flavor * pseudofermions)));
}

/// det(M^+ M)^(1/2) with n pseudofermions: T = (M^+ M)^(1/4n).
Claim one_flavor(const WilsonKind& q, int n, const char* lower, const char* upper) {
  Claim claim{powers(q.input(), n, 2, lower, upper), {}, nullptr, [q](const Links& u) { return log_det(q, u); }, true};
  claim.fields.assign(static_cast<std::size_t>(n), {[q, n](const Links& u) {
                                                      const Dense m = q.preconditioned(u);
                                                      return power(m.adjoint() * m, 0.25 / n);
                                                    },
                                                    sites_of(q)});
  return claim;
}

Claim log_det_only(const WilsonKind& q, int flavors, bool all_sites) {
  const auto log_weight = [=](const Links& u) {
    const Dense d = q.whole(u);
    return flavors * (log_det_diagonal(d, u, true) + (all_sites ? log_det_diagonal(d, u, false) : 0));
  };
  return {q.input() + tag("num_flavors", std::to_string(flavors)),
          {},
          [=](const Links& u) { return -log_weight(u); },
          log_weight};
}

Claim four_tastes() {
  return {staggered_input() + tests::inverter(),
          {{[](const Links& u) { return from_even(u).adjoint(); }, Sites::all, true}},
          nullptr,
          [](const Links& u) { return log_abs_det(staggered(u)); }};
}
/// One of the four tastes.
Claim rooted() {
  return {powers(staggered_input(), 1, 4, "0.2", "9"),
          {{[](const Links& u) {
              const Dense m = from_even(u);
              return power(m.adjoint() * m, 0.125);
            },
            Sites::even, true}},
          nullptr,
          [](const Links& u) { return log_abs_det(staggered(u)) / 4; }};
}

Claim gauge() {
  const auto s = [](const Links& u) {
    double total = 0;
    for (int mu = 1; mu <= 4; ++mu)
      for (int nu = mu + 1; nu <= 4; ++nu) total += u.sum_real_trace({mu, nu, -mu, -nu});
    return -5.5 * total;
  };
  return {tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", "5.5")), {}, s, [s](const Links& u) {
            return -s(u);
          }};
}

/// 2 sum Re tr(V X): X from the generator as draw_constants() takes it, V smeared here.
Claim fixed_random() {
  const auto x = std::make_shared<std::vector<Links>>();
  const auto s = [x](const Links& u) {
    if (x->empty()) {
      RNG::setrn(make_seed({3, 1, 4, 1}));
      GaugeField constants(Nd);
      for (int mu = 0; mu < Nd; ++mu) {
        gaussian(constants[mu]);
        constants[mu] = su3_unitarize(constants[mu]);
      }
      x->push_back(tests::plain_links(constants));
    }
    std::array<std::array<double, 4>, 4> rho{};
    for (auto& row : rho) row.fill(0.1);
    const Links v = tests::with_boundary(stout(stout(u, rho), rho), {1, 1, 1, -1});
    double total = 0;
    for (int site = 0; site < u.volume(); ++site)
      for (int mu = 0; mu < 4; ++mu) total += 2 * trace(v.at(site, mu) * (*x)[0].at(site, mu)).real();
    return total;
  };
  return {
      tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.1") + tag("n_smear", "2") + tests::fermion_bc()),
      {},
      s,
      [s](const Links& u) { return -s(u); }};
}

/// Name of the monomial -> what it must be. Names, not numbers of rows: a new row without a proof fails.
std::map<std::string, std::vector<Claim>> claims() {
  const WilsonKind wilson{"WILSON", Form::even_odd, 0.3}, heavier{"WILSON", Form::even_odd, 0.9};
  const WilsonKind clover{"CLOVER", Form::even_odd, 0.3, 1.2};
  const WilsonKind whole_wilson{"UNPRECONDITIONED_WILSON", Form::whole, 0.3},
      whole_clover{"UNPRECONDITIONED_CLOVER", Form::whole, 0.9, 1.3};
  const WilsonKind seo{"SEOPREC_CLOVER", Form::symmetric, 0.3, 1.2},
      seo_heavy{"SEOPREC_CLOVER", Form::symmetric, 0.9, 1.2};
  const WilsonKind twisted{"TWISTED_MASS", Form::even_odd, 0.2, 0, 0.25, "TwistedMass"};
  const WilsonKind twisted_clover{"TWISTED_MASS_CLOVER", Form::even_odd, 0.2, 1.1, 0.25, "TwistedMass"};
  const WilsonKind seo_twisted{"SEOPREC_TWISTED_MASS_CLOVER", Form::symmetric, 0.2, 1.1, 0.25, "TwistedMass"};
  const WilsonKind parity{"UNPRECONDITIONED_PARWILSON", Form::whole, 0.2, 0, 0.3, "H"};
  Claim with_shift = two_flavors(clover.shifted(0.3));
  with_shift.log_weight = [m = clover.shifted(0.3)](const Links& u) { return 2 * log_abs_det(m.preconditioned(u)); };
  return {
      {"GAUGE_MONOMIAL", {gauge()}},
      {"TWO_FLAVOR_UNPREC_FERM_MONOMIAL", {two_flavors(whole_wilson), two_flavors(whole_clover), two_flavors(parity)}},
      {"TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL", {two_flavors(wilson), two_flavors(twisted), with_shift}},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_FERM_MONOMIAL", {two_flavors(seo)}},
      {"TWO_FLAVOR_EOPREC_LOGDET_FERM_MONOMIAL", {two_flavors_whole(clover), two_flavors_whole(twisted_clover)}},
      {"TWO_FLAVOR_SEOPREC_LOGDET_FERM_MONOMIAL", {two_flavors_whole(seo), two_flavors_whole(seo_twisted)}},
      {"TWO_FLAVOR_UNPREC_RATIO_CONV_CONV_FERM_MONOMIAL", {hasenbusch(whole_wilson, whole_clover)}},
      {"TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", {hasenbusch(wilson, heavier)}},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_FERM_MONOMIAL", {hasenbusch(seo, seo_heavy)}},
      {"TWO_FLAVOR_EOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL",
       {chain(wilson), chain(clover.shifted(0.3))}},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL", {chain(seo)}},
      {"TWO_FLAVOR_EOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL",
       {end_of_chain(wilson), end_of_chain(clover.shifted(0.3))}},
      {"TWO_FLAVOR_SEOPREC_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL", {end_of_chain(seo)}},
      {"ONE_FLAVOR_UNPREC_FERM_RAT_MONOMIAL", {one_flavor(whole_wilson, 1, "0.01", "80")}},
      {"ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL", {one_flavor(wilson, 2, "0.01", "80")}},
      {"ONE_FLAVOR_SEOPREC_CONSTDET_FERM_RAT_MONOMIAL", {one_flavor(seo, 1, "0.001", "8")}},
      {"N_FLAVOR_LOGDET_EVEN_EVEN_FERM_MONOMIAL",
       {log_det_only(clover, 3, false), log_det_only(twisted_clover, 2, false)}},
      {"N_FLAVOR_LOGDET_DIAG_FERM_MONOMIAL", {log_det_only(seo, 1, true)}},
      {"FOUR_TASTE_STAGGERED_FERM_MONOMIAL", {four_tastes()}},
      {"ROOTED_STAGGERED_FERM_RAT_MONOMIAL", {rooted()}},
      {"FIXED_RANDOM_X_FERM_MONOMIAL", {fixed_random()}},
  };
}

// ---- proofs --------------------------------------------------------------------------------------------------------------

std::vector<int> numbers(const Links& u, Sites sites, int per_site) {
  if (sites != Sites::all) return components(u, sites == Sites::even, per_site);
  std::vector<int> all(static_cast<std::size_t>(per_site * u.volume()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// The next noise of the generator: sqrt(1/2) gaussian on these sites (conv. 10).
template <class F>
reference::Vector noise(const Links& u, Sites sites) {
  F eta = zero;
  gaussian(eta, sites == Sites::all ? QDP::all : rb[sites == Sites::even ? 0 : 1]);
  eta *= Real(std::sqrt(0.5));
  return tests::part(tests::plain_vector(eta, u), numbers(u, sites, tests::kPerSite<F>));
}

void prove(const std::string& name, const Claim& claim) {
  CAPTURE(claim.input);
  const GaugeField u = tests::random_field();
  const GaugeField change = tests::random_algebra(0.3);
  GaugeField moved(Nd);
  for (int mu = 0; mu < Nd; ++mu) moved[mu] = su3_exp(change[mu]) * u[mu];
  const Links here = tests::plain_links(u), there = tests::plain_links(moved);

  const auto monomial = tests::make_monomial(name, claim.input);
  RNG::setrn(make_seed({3, 1, 4, 1}));
  monomial->draw_constants();
  RNG::setrn(make_seed({2, 7, 1, 8}));
  monomial->refresh(u);
  const double s_here = toDouble(monomial->action(u, {})), s_there = toDouble(monomial->action(moved, {}));

  RNG::setrn(make_seed({2, 7, 1, 8}));
  std::vector<reference::Vector> etas;
  for (const Pseudofermion& field : claim.fields)
    etas.push_back(field.staggered ? noise<LatticeStaggeredFermion>(here, field.noise)
                                   : noise<LatticeFermion>(here, field.noise));
  double expected_here = claim.other ? claim.other(here) : 0, expected_there = claim.other ? claim.other(there) : 0;
  double log_ratio = expected_here - expected_there;  // of the weights there and here
  double components = 0;
  for (std::size_t k = 0; k < etas.size(); ++k) {
    const Dense t = claim.fields[k].t(here), t_there = claim.fields[k].t(there);
    const Dense a = t * t.adjoint(), a_there = t_there * t_there.adjoint();
    const reference::Vector phi = t * etas[k];
    expected_here += reference::dot(phi, solve(a, phi)).real() - t.rows();
    expected_there += reference::dot(phi, solve(a_there, phi)).real() - t.rows();
    log_ratio += log_abs_det(a_there) - log_abs_det(a);
    components += t.rows();
  }
  const double scale = 1 + components + std::fabs(expected_here) + std::fabs(expected_there);
  CHECK(std::fabs(s_here - expected_here) < 1e-9 * scale);
  CHECK(std::fabs(s_there - expected_there) < 1e-9 * scale);
  CHECK(std::fabs(s_there - s_here) > 1e-5);  // the two fields do tell weights apart
  CHECK(log_ratio == doctest::Approx(claim.log_weight(there) - claim.log_weight(here)).epsilon(1e-9));
}

void prove_all(bool with_powers) {
  for (const auto& [name, list] : claims())
    for (const Claim& claim : list)
      if (with_powers || !claim.small_only) {
        CAPTURE(name);
        prove(name, claim);
      }
}

}  // namespace

TEST_CASE("every monomial that an input can name has a proof of its weight") {
  const auto proven = claims();
  for (const auto& row : monomial_table().rows()) {
    CAPTURE(row.name);
    CHECK(proven.contains(row.name));
  }
  CHECK(proven.size() == monomial_table().rows().size());
}

TEST_CASE("each monomial's weight is the determinant that its name stands for, on 2^4") {
  TESSERA_NEEDS_DOUBLES("determinants to nine digits");
  tests::use_lattice({2, 2, 2, 2});
  prove_all(true);
}

TEST_CASE("and on 2^3 x 4") {
  TESSERA_NEEDS_DOUBLES("determinants to nine digits");
  tests::use_lattice({2, 2, 2, 4});
  prove_all(false);
}

TEST_CASE("a chain of ratios and the term that ends it are two flavours") {
  const auto all = claims();
  tests::use_lattice({2, 2, 2, 2});
  const Links u = tests::plain_links(tests::random_field());
  for (const std::string kind : {"EOPREC", "SEOPREC"}) {
    const Claim &ratios = all.at("TWO_FLAVOR_" + kind + "_CONSTDET_RATIO_CONV_CONV_MULTIHASEN_FERM_MONOMIAL")[0],
                &end = all.at("TWO_FLAVOR_" + kind + "_CONSTDET_MULTIHASEN_CANCEL_FERM_MONOMIAL")[0];
    const WilsonKind light =
        WilsonKind{kind == "EOPREC" ? "WILSON" : "SEOPREC_CLOVER", kind == "EOPREC" ? Form::even_odd : Form::symmetric,
                   0.3, kind == "EOPREC" ? 0 : 1.2}
            .shifted(kShifts.front());
    CHECK(ratios.log_weight(u) + end.log_weight(u) ==
          doctest::Approx(2 * reference::log_abs_det(light.preconditioned(u))).epsilon(1e-11));
  }
}
