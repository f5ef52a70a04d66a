// Every gauge action by name against the traces of its loops, walked on plain arrays; every element of a row's input has a
// value of its own, none of them the default. The formulas are those of the papers that the rows name.

#include "lib/action/gauge_actions.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <map>

using namespace QDP;
using namespace qcd;
using C = reference::Complex;
using reference::Links;
using tests::tag;

namespace {

constexpr int kTime = 1;     // t_dir of the anisotropic rows
constexpr double kXi = 2.3;  // xi_0
constexpr double kUs = 0.85, kUt = 0.95;

using Weight = std::function<double(int mu, int nu)>;

std::vector<int> plaquette(int mu, int nu) { return {mu + 1, nu + 1, -mu - 1, -nu - 1}; }
/// Two links along mu.
std::vector<int> rectangle(int mu, int nu) { return {mu + 1, mu + 1, nu + 1, -mu - 1, -mu - 1, -nu - 1}; }

double plaquettes(const Links& u, const Weight& weight) {
  double total = 0;
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu) total += weight(mu, nu) * u.sum_real_trace(plaquette(mu, nu));
  return total;
}
double rectangles(const Links& u, const Weight& weight) {
  double total = 0;
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu)
      if (mu != nu) total += weight(mu, nu) * u.sum_real_trace(rectangle(mu, nu));
  return total;
}
double parallelograms(const Links& u) {
  double total = 0;
  for (int a = 1; a <= 4; ++a)
    for (int b = a + 1; b <= 4; ++b)
      for (int c = b + 1; c <= 4; ++c)
        for (const int sb : {b, -b})
          for (const int sc : {c, -c}) total += u.sum_real_trace({a, sb, sc, -a, -sb, -sc});
  return total;
}
bool temporal(int mu, int nu) { return mu == kTime || nu == kTime; }
double xi_factor(int mu, int nu) { return temporal(mu, nu) ? kXi : 1 / kXi; }
Weight isotropic(double weight) {
  return [weight](int, int) { return weight; };
}

/// The sum over all plaquettes of f(T), T = tr P/3; `f` may depend on the site and the plane.
double of_traces(const Links& u, const std::function<double(C t, int site, int mu, int nu)>& f) {
  double total = 0;
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = mu + 1; nu < 4; ++nu)
      total += u.sum(plaquette(mu, nu), [&](const reference::Color& p, int x) { return f(trace(p) / 3.0, x, mu, nu); });
  return total;
}

/// sum over spatial planes of r(x) r(x + t), r = Re tr P/3.
double neighbours(const Links& u) {
  return of_traces(u, [&](C t, int x, int mu, int nu) {
    if (temporal(mu, nu)) return 0.0;
    return t.real() * trace(u.walk(u.neighbour(x, kTime, 1), plaquette(mu, nu))).real() / 3;
  });
}

struct Row {
  std::string input;
  std::function<double(const Links&)> action;
};

std::map<std::string, std::vector<Row>> rows() {
  const auto element = [](const char* name, double value) { return tag(name, std::to_string(value)); };
  const std::string aniso =
      tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", std::to_string(kTime)) + element("xi_0", kXi));
  const std::string tadpoles = element("u_s", kUs) + element("u_t", kUt);
  const double us2 = kUs * kUs, us4 = us2 * us2, us6 = us4 * us2, us8 = us4 * us4, ut2 = kUt * kUt;

  const std::string coarse = tag("coarse_dirs", "1 0 0 1");
  const auto by_coarseness = [](const std::array<double, 3>& c) -> Weight {
    return [c](int mu, int nu) { return c[static_cast<std::size_t>((mu == 0 || mu == 3) + (nu == 0 || nu == 3))]; };
  };
  const double g2 = 6 / 3.1;  // 2 Nc / beta

  std::string matrix;
  for (int mu = 0; mu < 4; ++mu) {
    std::string line;
    for (int nu = 0; nu < 4; ++nu) line += std::to_string(1 + mu + nu + 10 * mu * nu) + " ";
    matrix += tag("elem", line);
  }

  const double alpha = -4 * std::log(0.85) / 3.06839;
  const std::string pair = element("beta_F", 3.1) + element("beta_A", -0.7);
  const auto adjoint = [](C t) { return 3.1 * (1 - t.real()) - 0.7 * (1 - std::norm(t)); };
  const auto two_plaquettes = [](C t) { return -3.1 * t.real() + 0.7 / 2 * t.real() * t.real(); };
  // One row for each decay_dir.
  const auto on_boundary = [&](const auto& f) {
    std::vector<Row> all;
    for (int decay = 0; decay < 4; ++decay)
      all.push_back({pair + tag("decay_dir", std::to_string(decay)), [f, decay](const Links& u) {
                       return of_traces(u, [&](C t, int x, int mu, int nu) {
                         const auto d = static_cast<std::size_t>(decay);
                         const int at = u.coordinates(x)[d], last = u.extents()[d] - 1;
                         return f(t) * (mu != decay && nu != decay && (at == 0 || at == last) ? 0.5 : 1);
                       });
                     }});
    return all;
  };
  const auto everywhere = [](const auto& f) {
    return [f](const Links& u) { return of_traces(u, [&](C t, int, int, int) { return f(t); }); };
  };
  const std::string power = element("beta", 3.1) + element("gamma", 0.6);

  return {
      {"WILSON", {{element("beta", 3.1) + aniso, [](const Links& u) { return -3.1 * plaquettes(u, xi_factor); }}}},
      {"SPATIAL_WILSON",
       {{element("beta", 3.1) + aniso,
         [](const Links& u) {
           return -3.1 * plaquettes(u, [](int mu, int nu) { return temporal(mu, nu) ? 0 : 1 / kXi; });
         }}}},
      {"TEMPORAL_WILSON",
       {{element("beta", 3.1) + aniso,
         [](const Links& u) {
           return -3.1 * plaquettes(u, [](int mu, int nu) { return temporal(mu, nu) ? kXi : 0; });
         }}}},
      {"WILSON_COARSE_FINE",
       {{coarse + element("coeff_ff", 1.1) + element("coeff_cf", 2.2) + element("coeff_cc", 3.3),
         [=](const Links& u) { return -plaquettes(u, by_coarseness({1.1, 2.2, 3.3})); }}}},
      {"WILSON_COARSE_FINE_1LOOP",
       {{coarse + element("beta", 3.1) + element("xi", 1.5) + element("coeff_ff", 0.2) + element("coeff_cc", -0.3),
         [=](const Links& u) {
           return -3.1 * plaquettes(u, by_coarseness({(1 + 0.2 * g2) * 2.25, 1, (1 - 0.3 * g2) / 2.25}));
         }}}},
      {"PLAQ",
       {{tag("coeffs", matrix),
         [](const Links& u) { return -plaquettes(u, [](int mu, int nu) { return 1 + mu + nu + 10 * mu * nu; }); }}}},
      {"RECT",
       {{element("coeff", -0.4), [](const Links& u) { return 0.4 * rectangles(u, isotropic(1)); }},
        {element("coeff_s", -0.4) + element("coeff_t1", 0.3) + element("coeff_t2", 0.2) + aniso,
         [](const Links& u) {
           return -rectangles(u, [](int mu, int nu) {
             return xi_factor(mu, nu) * (mu == kTime ? 0.3 : nu == kTime ? 0.2 : -0.4);
           });
         }},
        {element("coeff_s", -0.4) + element("coeff_t1", 0.3) + element("coeff_t2", 0.2) + aniso +
             tag("no_temporal_2link", "true"),
         [](const Links& u) {
           return -rectangles(u, [](int mu, int nu) {
             return xi_factor(mu, nu) * (mu == kTime ? 0 : nu == kTime ? 0.2 : -0.4);
           });
         }}}},
      {"PG", {{element("coeff", 0.7), [](const Links& u) { return -0.7 * parallelograms(u); }}}},
      {"LW_TREE",
       {{element("beta", 6.8) + element("u0", 0.85) + aniso,
         [](const Links& u) {
           return -6.8 * (plaquettes(u, xi_factor) - rectangles(u, isotropic(1 / (20 * 0.85 * 0.85))));
         }}}},
      {"LW_1LOOP",  // Alford et al., Phys. Lett. B361 (1995) 87
       {{element("beta", 6.8) + element("u0", 0.85),
         [=](const Links& u) {
           return -6.8 * (plaquettes(u, isotropic(1)) -
                          (1 + 0.4805 * alpha) / (20 * 0.85 * 0.85) * rectangles(u, isotropic(1)) -
                          0.03325 * alpha / (0.85 * 0.85) * parallelograms(u));
         }}}},
      {"RG",
       {{element("beta", 9.5) + element("c1", -0.09),
         [](const Links& u) { return -9.5 * (plaquettes(u, isotropic(1)) - 0.09 * rectangles(u, isotropic(1))); }}}},
      {"RBC",  // Iwasaki
       {{element("beta", 2.6) + element("c1", -0.331),
         [](const Links& u) {
           return -2.6 * ((1 + 8 * 0.331) * plaquettes(u, isotropic(1)) - 0.331 * rectangles(u, isotropic(1)));
         }}}},
      {"ANISO_SYM_SPATIAL",
       {{element("beta", 2) + element("u_s", kUs) + element("ZeroEnergy", 1.5) + aniso,
         [=](const Links& u) {
           const auto part = [](int mu, int nu) { return temporal(mu, nu) ? 0 : 1 / kXi; };
           return -2 * (5 / (3 * us4) * plaquettes(u, part) - rectangles(u, part) / (12 * us6)) + u.volume() * 1.5 / 3;
         }}}},
      {"ANISO_SYM_TEMPORAL",  // Morningstar and Peardon, Phys. Rev. D60 (1999) 034509: no link pair in time
       {{element("beta", 2) + tadpoles + element("ZeroEnergy", 1.5) + aniso,
         [=](const Links& u) {
           return -2 * (4 / (3 * us2 * ut2) * plaquettes(u, [](int mu, int nu) { return temporal(mu, nu) ? kXi : 0; }) -
                        rectangles(u, [](int, int nu) { return nu == kTime ? kXi : 0; }) / (12 * us4 * ut2)) +
                  u.volume() * 1.5 / 3;
         }}}},
      {"SPATIAL_TWO_PLAQ",
       {{element("coeff", -0.4) + aniso, [](const Links& u) { return 0.4 / 2 / kXi * neighbours(u); }}}},
      {"PLAQ_PLUS_SPATIAL_TWO_PLAQ",
       {{element("coeff_plaq_s", 2) + element("coeff_plaq_t", 3) + element("coeff_two_plaq", -0.7) + aniso,
         [](const Links& u) {
           return -plaquettes(u, [](int mu, int nu) { return (temporal(mu, nu) ? 3 : 2) * xi_factor(mu, nu); }) +
                  0.7 / 2 / kXi * neighbours(u);
         }}}},
      {"ANISO_SPECTRUM",
       {{element("beta", 1.7) + element("omega", 3) + tadpoles + aniso,
         [=](const Links& u) {
           const double loops =
               plaquettes(u,
                          [=](int mu, int nu) {
                            return temporal(mu, nu) ? kXi * 4 / (3 * us2 * ut2) : 5 * (1 + 3.0) / (3 * us4) / kXi;
                          }) -
               rectangles(u, [=](int mu, int nu) {
                 return mu == kTime ? 0 : nu == kTime ? kXi / (12 * us4 * ut2) : 1 / (12 * us6) / kXi;
               });
           return -1.7 * loops + 5 * 1.7 * 3 / (6 * us8 * kXi) * neighbours(u);
         }}}},
      {"PLAQ_PLUS_ADJOINT", {{pair, everywhere(adjoint)}}},
      {"SF_PLAQ_PLUS_ADJOINT", on_boundary(adjoint)},
      {"PLAQ_PLUS_TWO_PLAQ", {{pair, everywhere(two_plaquettes)}}},
      {"SF_PLAQ_PLUS_TWO_PLAQ", on_boundary(two_plaquettes)},
      {"CHARACTER",  // chi_S = [(tr P)^2 + tr P^2]/2, 6 at P = 1
       {{pair + element("beta_S", -2.3),
         [=](const Links& u) {
           double sextet = 0;
           for (int mu = 0; mu < 4; ++mu)
             for (int nu = mu + 1; nu < 4; ++nu)
               sextet += u.sum(plaquette(mu, nu), [](const reference::Color& p, int) {
                 return 1 - ((trace(p) * trace(p) + trace(p * p)) / 2.0).real() / 6;
               });
           return everywhere(adjoint)(u) - 2.3 / 2 * sextet;
         }}}},
      {"CONSTRAINED_PLAQ", {{power + element("q", 2.5), everywhere([](C t) {
                               return 3.1 * (1 - t.real()) + 0.6 * std::pow(1 - t.real(), 2.5);
                             })}}},
      {"PLAQ_PLUS_PLAQ_POWER", {{power + tag("q", "3"), everywhere([](C t) {
                                   return (3.1 * (1.0 - t) + 0.6 * std::pow(1.0 - t, 3)).real();
                                 })}}},
      {"PLAQ_PLUS_ADJ_POWER", {{power + tag("q", "6"), everywhere([](C t) {
                                  return 3.1 * (1 - t.real()) + 0.6 * std::pow(1 - std::norm(t), 3);
                                })}}},
  };
}

}  // namespace

TEST_CASE("every gauge action is the sum of the traces of its loops, on 2 x 4 x 2 x 2 and 2^4") {
  const auto known = rows();
  for (const std::vector<int>& extents : {std::vector<int>{2, 4, 2, 2}, {2, 2, 2, 2}}) {
    tests::use_lattice(extents);
    const GaugeField u = tests::random_field();
    const Links plain = tests::plain_links(u);
    for (const auto& row : gauge_action_table().rows()) {
      CAPTURE(row.name);
      const std::string stem = row.name.substr(0, row.name.find("_GAUGEACT"));
      REQUIRE(known.contains(stem));
      for (const Row& proof : known.at(stem)) {
        const InputFile document = tests::input(tag("GaugeAction", tag("Name", row.name) + proof.input));
        const auto action = row.make(document.root());
        document.require_valid();
        CHECK(document.unused_elements().size() <= 1);  // Name
        const double expected = proof.action(plain);
        CHECK(std::fabs(toDouble(action->action(u)) - expected) < tests::base_tol(1e-11) * (100 + std::fabs(expected)));
      }
    }
  }
}
