// Hadron correlators: Chroma's hadspec test as an input document, and identities.

#include "lib/meas/baryons.hpp"
#include "lib/meas/measurement.hpp"
#include "lib/meas/mesons.hpp"
#include "lib/meas/quark_record.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/lib/sites.hpp"
#include "tests/reference/from_site.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <string>
#include <type_traits>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

using tests::measurement;
using tests::Output;
using tests::run_measurements;

const std::string kGaussian =
    "<SmearingParam><wvf_kind>GAUGE_INV_GAUSSIAN</wvf_kind><wvf_param>2.0</wvf_param><wvfIntPar>5</wvfIntPar>"
    "<no_smear_dir>3</no_smear_dir></SmearingParam>";
const std::string kApe =
    "<LinkSmearing><LinkSmearingType>APE_SMEAR</LinkSmearingType><link_smear_fact>2.5</link_smear_fact>"
    "<link_smear_num>1</link_smear_num><no_smear_dir>3</no_smear_dir></LinkSmearing>";

std::string make_source(const std::string& source, const std::string& id) {
  return measurement("MAKE_SOURCE",
                     "<Param><version>6</version><Source><version>2</version>" + source +
                         "<j_decay>3</j_decay></Source></Param><NamedObject><gauge_id>default_gauge_field"
                         "</gauge_id><source_id>" +
                         id + "</source_id></NamedObject>");
}

std::string propagator(const std::string& action, const std::string& source, const std::string& id) {
  return measurement(
      "PROPAGATOR",
      "<Param><version>10</version><quarkSpinType>FULL</quarkSpinType><FermionAction>" + action +
          "</FermionAction><InvertParam><invType>CG_INVERTER</invType><RsdCG>" + tests::solver_residual("1.0e-12") +
          "</RsdCG><MaxCG>1000"
          "</MaxCG></InvertParam></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><source_id>" +
          source + "</source_id><prop_id>" + id + "</prop_id></NamedObject>");
}

std::string sink(const std::string& type, const std::string& from, const std::string& to) {
  return measurement("SINK_SMEAR", "<Param><version>5</version><Sink><version>2</version><SinkType>" + type +
                                       "</SinkType><j_decay>3</j_decay>" + kGaussian + kApe +
                                       "</Sink></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><prop_id>" +
                                       from + "</prop_id><smeared_prop_id>" + to + "</smeared_prop_id></NamedObject>");
}

std::string pair(const std::string& id) {
  return "<elem><first_id>" + id + "</first_id><second_id>" + id + "</second_id></elem>";
}

const std::string kWilson =
    "<FermAct>WILSON</FermAct><Kappa>0.11</Kappa><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary>"
    "</FermionBC>";

/// One number of a correlator in an output document: correlator `n` of `group`, momentum k, time t.
double at(Output& xml, const std::string& group, const std::string& tag, int n, int k, int t) {
  const auto nth = [](int i) { return "/elem[" + std::to_string(i + 1) + "]"; };
  return xml.number("//" + group + nth(n) + "/momenta" + nth(k) + "/" + tag + nth(t) + "/re");
}

GaugeField weak_field() {
  tests::use_lattice({4, 4, 4, 8});
  RNG::setrn(make_seed({11, 11, 11, 0}));
  GaugeField u(Nd);
  weak_field_start(u);
  return u;
}

std::complex<double> number(const DComplex& z) { return {toDouble(real(z)), toDouble(imag(z))}; }

using reference::SiteValue;

/// Quarks of the sink's (q1^T A q2) q3, where each comes from among the places of the source's, and how often.
struct Exchange {
  double weight;
  std::string quarks;
  std::array<std::size_t, 3> from;
};
/// Chroma's contractions, projector T and diquark matrix A of one correlator.
struct NamedBaryon {
  std::vector<Exchange> exchanges;
  SiteValue t, a;
  double factor;
};

std::vector<NamedBaryon> named_baryons() {
  const SiteValue one = reference::gamma(0), g4 = reference::gamma(8);
  const auto times = [](std::complex<double> z, SiteValue m) {
    for (reference::Number& x : m.components) x = reference::Number{z.real(), z.imag()} * x;
    return m;
  };
  const auto product = [](const auto&... m) {
    SiteValue p = reference::gamma(0);
    ((p = multiply(p, m)), ...);
    return p;
  };
  const SiteValue g1 = reference::gamma(1), g2 = reference::gamma(2), g5 = reference::gamma(15);
  const SiteValue positive = times(0.5, add(one, g4)), negative = times(0.5, subtract(one, g4));
  const SiteValue up = add(one, times({0, -1}, product(g1, g2)));  // 1 + Sigma_3
  const SiteValue polarised = product(up, positive), polarised_negative = product(up, negative);
  const SiteValue c = product(g2, g4), c_g5 = product(c, g5), c_g5_g4 = product(c_g5, g4);
  const SiteValue minus = times(0.5, add(g2, times({0, 1}, g1)));  // g_-

  const Exchange kept{1, "suu", {0, 1, 2}}, traded{1, "suu", {0, 2, 1}};
  const Exchange naive{1, "uus", {0, 1, 2}}, far{1, "uus", {0, 2, 1}}, near{1, "usu", {0, 2, 1}};
  const auto twice = [](Exchange e) { return e.weight = 2, e; };
  const std::vector<Exchange> sigma{kept, traded}, lambda{naive, far, near}, naive_lambda{naive},
      xi{{1, "sus", {0, 1, 2}}, {1, "sus", {0, 2, 1}}},
      sigma_star{twice(kept), twice(traded), twice(near), twice(far), naive};
  std::vector<NamedBaryon> list;
  const auto three = [&](const SiteValue& octet, const SiteValue& decuplet, double factor) {
    list.push_back({sigma, polarised, octet, 1});
    list.push_back({lambda, polarised, octet, 1});
    list.push_back({sigma_star, polarised, decuplet, factor});
  };
  three(c_g5, product(c, minus), 1);
  three(c_g5_g4, product(c, g4, minus), 1);
  three(product(c_g5, positive), product(c, minus, positive), 4);
  list.push_back({sigma, positive, c_g5, 1});
  list.push_back({sigma, positive, c_g5_g4, 1});
  list.push_back({sigma, positive, product(c_g5, positive), 1});
  list.push_back({naive_lambda, positive, c_g5, 1});
  list.push_back({xi, positive, c_g5, 1});
  list.push_back({naive_lambda, positive, c_g5, 1});
  list.push_back({xi, polarised, c_g5, 1});
  list.push_back({sigma, polarised_negative, product(c_g5, negative), 1});
  return list;
}

/// sum of T_(r3 s3) A_(s1 s2) A_(r1 r2) eps(c) eps(d) prod_i Q_i(s_i c_i, r_from(i) d_from(i)), with the sign of the order
/// `from` of quarks that anticommute; spins s and colours c of the sink, r and d of the source.
std::complex<double> plain_baryon(const NamedBaryon& baryon, const SiteValue& s, const SiteValue& u) {
  using Triple = std::array<int, 3>;
  const auto sign = [](const auto& p) {  // of a permutation
    return (p[0] < p[1] ? 1 : -1) * (p[0] < p[2] ? 1 : -1) * (p[1] < p[2] ? 1 : -1);
  };
  std::vector<Triple> colours;
  Triple order{0, 1, 2};
  do colours.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  std::vector<std::array<int, 2>> spins;
  for (int i = 0; i < 16; ++i) spins.push_back({i / 4, i % 4});
  const auto element = [](const SiteValue& m, int i, int j) {
    return std::complex(m.at(i, j, 0, 0).re, m.at(i, j, 0, 0).im);
  };
  std::complex<double> total = 0;
  for (const Exchange& e : baryon.exchanges)
    for (const auto& [s1, s2] : spins)
      for (const auto& [r1, r2] : spins)
        for (const auto& [r3, s3] : spins) {
          const std::complex<double> weight =
              element(baryon.t, r3, s3) * element(baryon.a, s1, s2) * element(baryon.a, r1, r2);
          if (weight == 0.0) continue;
          const Triple sink{s1, s2, s3}, source{r1, r2, r3};
          for (const Triple& c : colours)
            for (const Triple& d : colours) {
              std::complex<double> term = e.weight * sign(e.from) * sign(c) * sign(d) * weight;
              for (std::size_t i = 0; i < 3; ++i) {
                const reference::Number q =
                    (e.quarks[i] == 's' ? s : u).at(sink[i], source[e.from[i]], c[i], d[e.from[i]]);
                term *= std::complex(q.re, q.im);
              }
              total += term;
            }
        }
  return baryon.factor * total;
}

}  // namespace

// Chroma's regression test chroma/hadron/hadspec: kappa = 0.11 on the WEAK_FIELD start of seed 11 11 11 0. Its numbers
// are in single precision; some correlators are differences of larger ones.
TEST_CASE("Chroma's hadron spectrum from its input: shell source, point and shell sinks, mesons and baryons") {
  const std::string text = run_measurements(
      make_source("<SourceType>SHELL_SOURCE</SourceType><t_srce>0 0 0 0</t_srce>" + kGaussian + kApe, "sh_source_1") +
          propagator(kWilson, "sh_source_1", "sh_prop_1") + sink("POINT_SINK", "sh_prop_1", "sh_pt_sink_1") +
          sink("SHELL_SINK", "sh_prop_1", "sh_sh_sink_1") +
          measurement("HADRON_SPECTRUM",
                      "<Param><version>1</version><MesonP>true</MesonP><CurrentP>true</CurrentP><BaryonP>true</BaryonP>"
                      "<time_rev>false</time_rev><mom2_max>3</mom2_max><avg_equiv_mom>true</avg_equiv_mom></Param>"
                      "<NamedObject><gauge_id>default_gauge_field</gauge_id><sink_pairs>" +
                          pair("sh_pt_sink_1") + pair("sh_sh_sink_1") + "</sink_pairs></NamedObject>"),
      weak_field());
  Output xml(text);

  CHECK(xml.number("//hadspec//elem[1]/Mass_1") == doctest::Approx(0.5454545).epsilon(1e-6));
  CHECK(xml.numbers("//make_source/Source_correlator/source_corr")[0] ==
        doctest::Approx(6.68018574848822).epsilon(1e-6));

  const auto check = [&](const char* group, const char* tag, int n, int k, double expected, double tolerance) {
    CAPTURE(group);
    CAPTURE(n);
    CHECK(at(xml, group, tag, n, k, 1) == doctest::Approx(expected).epsilon(tolerance));
  };
  const double point_mesons[] = {-0.00246847271591832, 0.0157467928511323,  0.0157465106276504,  0.0020129678214289,
                                 0.0157539706851821,   0.00201792177176685, 0.00202007974439766, -0.0152879671331903,
                                 -0.00179089200082672, -0.0155203630638425, -0.0155206702256692, 0.00224674227501964,
                                 -0.0155134514589452,  0.00224196287126688, 0.00223982143143076, 0.015980780684913};
  const double shell_mesons[] = {-0.00239450114918327, 0.0379861852343311,  0.0379863630728323,  0.00196369738432622,
                                 0.037992617000782,    0.00196852428325656, 0.00196985827642493, -0.0375587783569244,
                                 -0.00175373533602396, -0.0377757873057334, -0.0377755631751171, 0.00218461952822224,
                                 -0.0377693186768546,  0.00217979558447912, 0.00217843033225051, 0.0382032748502752};
  const double point_baryons[] = {0.0006697738, 0.0008922667, 0.001992569,  0.0006563552, 0.0008743753, 0.001979415,
                                  0.000661019,  0.0008813587, 0.007931856,  0.0006697791, 0.0006563608, 0.0006610253,
                                  0.0004472849, 0.0006697791, 0.0004472849, 0.0006697738, -2.667373e-07};
  const double shell_baryons[] = {0.003099367, 0.004131777, 0.00928753,  0.003091898, 0.004121817,  0.009280182,
                                  0.003093717, 0.004124956, 0.03712406,  0.003099388, 0.003091919,  0.003093739,
                                  0.002066972, 0.003099388, 0.002066972, 0.003099367, -2.428891e-07};
  for (int n = 0; n < 16; ++n) {
    check("Shell_Point_Wilson_Mesons", "mesprop", n, 0, point_mesons[n], 1e-5);
    check("Shell_Shell_Wilson_Mesons", "mesprop", n, 0, shell_mesons[n], 1e-5);
  }
  for (int n = 0; n < 17; ++n) {
    check("Shell_Point_Wilson_Baryons", "barprop", n, 0, point_baryons[n], 3e-5);
    check("Shell_Shell_Wilson_Baryons", "barprop", n, 0, shell_baryons[n], 3e-5);
  }
  const auto current = [&](const char* list, const char* tag, int n) {
    return xml.numbers(std::string("//Shell_Point_Meson_Currents/") + list + "/elem[" + std::to_string(n + 1) + "]/" +
                       tag)[1];
  };
  const double vector_currents[] = {0.01355096, 0.01355221,  0.0135622,   0.01340274, 0.01340681,
                                    0.0134216,  -0.01545619, -0.01545128, -0.01545225};
  for (int n = 0; n < 9; ++n)
    CHECK(current("Vector_currents", "vector_current", n) == doctest::Approx(vector_currents[n]).epsilon(1e-5));
  CHECK(current("Axial_currents", "axial_current", 0) == doctest::Approx(-0.009218655).epsilon(1e-5));
  CHECK(current("Axial_currents", "axial_current", 1) == doctest::Approx(-0.01545205).epsilon(1e-5));
  // Momenta (1,0,0) and (1,1,0), averaged over directions.
  check("Shell_Point_Wilson_Mesons", "mesprop", 15, 1, 0.00107522905953455, 1e-5);
  check("Shell_Point_Wilson_Mesons", "mesprop", 15, 2, 0.000152774238567585, 1e-5);
  check("Shell_Point_Wilson_Mesons", "mesprop", 1, 2, 0.000152550131129014, 1e-5);
  check("Shell_Point_Wilson_Baryons", "barprop", 0, 1, 8.762907e-05, 3e-5);
  check("Shell_Shell_Wilson_Baryons", "barprop", 2, 1, 0.0007096258, 3e-5);
}

TEST_CASE("MESON_SPECTRUM with gamma_5 at both ends is the pion, and terms add with their factors") {
  const std::string insertion =
      "SpinInsertion><SpinInsertionType>RIGHT_GAMMA_INSERTION</SpinInsertionType><gamma>15</gamma></";
  const auto term = [&](const std::string& factor) {
    return "<elem><first_id>p</first_id><second_id>p</second_id><factor>" + factor + "</factor><Source" + insertion +
           "SourceSpinInsertion><Sink" + insertion + "SinkSpinInsertion></elem>";
  };
  tests::use_lattice({2, 4, 2, 6});
  GaugeField u(Nd);
  weak_field_start(u);
  const std::string text = run_measurements(
      make_source("<SourceType>POINT_SOURCE</SourceType><t_srce>1 2 0 4</t_srce>", "s") +
          propagator(kWilson, "s", "p") +
          measurement("MESON_SPECTRUM",
                      "<Param><version>1</version><mom2_max>0</mom2_max><avg_equiv_mom>true</avg_equiv_mom></Param>"
                      "<NamedObject><gauge_id>default_gauge_field</gauge_id><correlators><elem><source_particle>pion"
                      "</source_particle><source_wavetype>1</source_wavetype><sink_particle>pion</sink_particle>"
                      "<sink_wavetype>1</sink_wavetype><correlator_terms>" +
                          term("1.5") + term("-0.5") + "</correlator_terms></elem></correlators></NamedObject>"),
      u);
  Output xml(text);
  const std::vector<double> norms = xml.numbers("//propagator/Prop_correlator/prop_corr");
  for (std::size_t t = 0; t < 6; ++t)
    CHECK(xml.number("//Mesons/momenta/elem/mesprop/elem[" + std::to_string(t + 1) + "]/re") ==
          doctest::Approx(norms[(t + 4) % 6]).epsilon(base_tol(1e-10)));
}

TEST_CASE("the momentum list is ordered, averaged vectors stand for their orbit, and phases follow the origin") {
  tests::use_lattice({4, 4, 4, 2});
  multi1d<int> origin(Nd);
  origin = 0;
  origin[0] = 1;
  const Momenta every(2, origin, false, 3), averaged(2, origin, true, 3);
  CHECK(every.size() == 1 + 6 + 12);
  CHECK(averaged.size() == 3);
  CHECK(averaged[2][0] == 1);
  CHECK(averaged[2][1] == 1);
  CHECK(averaged[2][2] == 0);

  // A plane wave of momentum (1,0,0) about the origin is found in the slot of (-1,0,0), with weight V3 per slice.
  LatticeReal angle = Real(2 * M_PI / 4) * LatticeReal(Layout::latticeCoordinate(0) - 1);
  LatticeComplex wave;
  wave = cmplx(cos(angle), sin(angle));
  const multi2d<DComplex> sums = every.project(wave);
  for (int k = 0; k < every.size(); ++k) {
    const bool match = every[k][0] == -1 && every[k][1] == 0 && every[k][2] == 0;
    CHECK(toDouble(real(sums(k, 1))) == doctest::Approx(match ? 64 : 0).epsilon(base_tol(1e-12)));
  }
  CHECK(toDouble(real(averaged.project(wave)(1, 0))) == doctest::Approx(64.0 / 6).epsilon(base_tol(1e-12)));
  CHECK_THROWS_AS(Momenta(1, multi1d<int>(2), true, 3), ShapeError);
  CHECK_THROWS_WITH_AS(time_slices(7), doctest::Contains("got 7"), ShapeError);
}

TEST_CASE("projections are the plain Fourier sums of every slice, on unequal extents, whichever direction is time") {
  tests::use_lattice({2, 6, 4, 8});
  LatticeComplex f;
  gaussian(f);
  multi1d<int> origin(Nd);
  for (int mu = 0; mu < Nd; ++mu) origin[mu] = mu == 0 ? 1 : mu + 1;
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    const Momenta every(3, origin, false, j), averaged(3, origin, true, j);
    const multi2d<DComplex> sums = every.project(f), means = averaged.project(f);
    using Slices = std::vector<std::complex<double>>;
    std::map<std::vector<int>, std::pair<Slices, int>> orbits;
    const int length = Layout::lattSize()[j];
    for (int k = 0; k < every.size(); ++k) {
      CAPTURE(k);
      Slices plain(static_cast<std::size_t>(length));
      for (int n = 0; n < static_cast<int>(Layout::vol()); ++n) {
        const multi1d<int> x = crtesn(n, Layout::lattSize());
        double turns = 0;
        for (int mu = 0, component = 0; mu < Nd; ++mu)
          if (mu != j) turns += double(every[k][component++] * (x[mu] - origin[mu])) / Layout::lattSize()[mu];
        const reference::Number z = reference::value(tests::site(f, tests::number_of(x))).components[0];
        plain[static_cast<std::size_t>(x[j])] += std::polar(1.0, 2 * M_PI * turns) * std::complex(z.re, z.im);
      }
      std::vector<int> orbit;
      for (int i = 0; i < Nd - 1; ++i) orbit.push_back(std::abs(every[k][i]));
      std::sort(orbit.rbegin(), orbit.rend());
      auto& [total, members] = orbits[orbit];
      total.resize(plain.size());
      ++members;
      for (int t = 0; t < length; ++t) {
        const auto& expected = plain[static_cast<std::size_t>(t)];
        CHECK(std::abs(number(sums(k, t)) - expected) < base_tol(1e-11));
        total[static_cast<std::size_t>(t)] += expected;
      }
    }
    for (int k = 0; k < averaged.size(); ++k) {
      const auto& [total, members] = orbits.at({averaged[k][0], averaged[k][1], averaged[k][2]});
      for (int t = 0; t < length; ++t)
        CHECK(std::abs(number(means(k, t)) - total[static_cast<std::size_t>(t)] / double(members)) < base_tol(1e-11));
    }
  }
}

TEST_CASE("baryons are sums over spins and colours of quarks that trade places, for each operator by its formula") {
  tests::use_lattice({2, 2, 2, 2});
  LatticePropagator s, u;
  gaussian(s);
  gaussian(u);
  const auto computed = baryon_correlators(s, u, Momenta(3));
  const std::vector<NamedBaryon> operators = named_baryons();
  REQUIRE(computed.size() == operators.size());
  for (std::size_t b = 0; b < operators.size(); ++b) {
    CAPTURE(baryon_operators()[b].name);
    for (int t = 0; t < 2; ++t) {
      std::complex<double> expected = 0;
      double size = 0;
      for (int n = 0; n < static_cast<int>(Layout::vol()); ++n) {
        const multi1d<int> x = crtesn(n, Layout::lattSize());
        if (x[3] != t) continue;
        const int at = tests::number_of(x);
        const auto here =
            plain_baryon(operators[b], reference::value(tests::site(s, at)), reference::value(tests::site(u, at)));
        expected += here;
        size += std::abs(here);
      }
      CHECK(std::abs(number(computed[b](0, t)) - expected) < base_tol(1e-12) * size);
    }
  }
}

TEST_CASE("correlators are gauge invariant") {
  tests::use_lattice({2, 2, 4, 4});
  LatticePropagator s;
  gaussian(s);
  LatticeColorMatrix g;
  gaussian(g);
  g = su3_exp(taproj(g));
  const Momenta rest(3);
  const LatticePropagator turned = g * s;
  const auto before = baryon_correlators(s, s, rest), after = baryon_correlators(turned, turned, rest);
  for (std::size_t b = 0; b < before.size(); ++b) {
    CAPTURE(baryon_operators()[b].name);
    const double scale = std::sqrt(toDouble(norm2(before[b](0, 0))));
    CHECK(std::sqrt(toDouble(norm2(DComplex(before[b](0, 0) - after[b](0, 0))))) < base_tol(1e-11) * scale);
  }
  const auto meson = meson_correlators(s, s, rest), meson_after = meson_correlators(turned, turned, rest);
  for (std::size_t n = 0; n < meson.size(); ++n)
    CHECK(std::sqrt(toDouble(norm2(DComplex(meson[n](0, 1) - meson_after[n](0, 1))))) <
          base_tol(1e-14) * toDouble(norm2(s)));
}

TEST_CASE(
    "baryons counted from the source change sign behind an antiperiodic boundary, and average with their reverse") {
  multi1d<DComplex> forward(4), backward(4);
  for (int t = 0; t < 4; ++t) {
    forward[t] = cmplx(Double(t + 1), Double(0));
    backward[t] = cmplx(Double(10 * (t + 1)), Double(0));
  }
  const auto periodic = baryon_from_source(forward, nullptr, 1, 1), anti = baryon_from_source(forward, nullptr, 1, -1);
  const double expected[] = {2, 3, 4, 1};
  for (int t = 0; t < 4; ++t) {
    CHECK(toDouble(real(periodic[t])) == expected[t]);
    CHECK(toDouble(real(anti[t])) == (t == 3 ? -expected[t] : expected[t]));
    // A sign that no crossing of a fixed boundary has.
    CHECK(toDouble(real(baryon_from_source(forward, nullptr, 1, 0)[t])) == expected[t]);
    CHECK(toDouble(real(baryon_from_source(forward, &backward, 1, 0)[t])) ==
          toDouble(real(baryon_from_source(forward, &backward, 1, 1)[t])));
  }
  const auto both = baryon_from_source(forward, &backward, 0, 1);
  CHECK(toDouble(real(both[0])) == doctest::Approx((1 + 10) / 2.0));
  CHECK(toDouble(real(both[1])) == doctest::Approx((2 + 40) / 2.0));
}

TEST_CASE("propagators from different slices do not make a hadron") {
  tests::use_lattice({2, 2, 2, 4});
  GaugeField u(Nd);
  unit_start(u);
  const std::string text =
      make_source("<SourceType>POINT_SOURCE</SourceType><t_srce>0 0 0 0</t_srce>", "a") +
      make_source("<SourceType>POINT_SOURCE</SourceType><t_srce>0 0 0 1</t_srce>", "b") +
      propagator(kWilson, "a", "pa") + propagator(kWilson, "b", "pb") +
      measurement(
          "HADRON_SPECTRUM",
          "<Param><version>1</version><MesonP>true</MesonP><BaryonP>false</BaryonP><mom2_max>0</mom2_max>"
          "<avg_equiv_mom>true</avg_equiv_mom></Param><NamedObject><gauge_id>default_gauge_field</gauge_id>"
          "<sink_pairs><elem><first_id>pa</first_id><second_id>pb</second_id></elem></sink_pairs></NamedObject>");
  CHECK_THROWS_WITH_AS(run_measurements(text, u), doctest::Contains("same slice"), InputError);
}

namespace {

/// Objects of random components with the records that propagators of a point source at `site` have.
struct RandomQuarks {
  LatticePropagator first, second;
  LatticeStaggeredPropagator staggered;
  NamedObjects objects;
  ObjectPlan plan;

  /// `action`: what is said of the quarks besides their masses.
  RandomQuarks(const GaugeField& u, const std::string& site, int j_decay, const std::string& action = "") {
    gaussian(first);
    gaussian(second);
    gaussian(staggered);
    objects.set_default_gauge_field(u, "<Cfg/>");
    QuarkRecord record;
    record.source = "<version>6</version><Source><version>2</version><SourceType>POINT_SOURCE</SourceType><t_srce>" +
                    site + "</t_srce><j_decay>" + std::to_string(j_decay) + "</j_decay></Source>";
    const auto add = [&](const char* id, const auto& field, const char* mass) {
      record.forward = xml_element("FermionAction", xml_element("Mass", mass) + action);
      const InputFile ids = tests::input("<ids>" + xml_element("id", id) + "</ids>");
      plan.makes<std::remove_cvref_t<decltype(field)>>(ids.root(), "id");
      objects.create(id, field, {"<file/>", record.xml()});
    };
    add("first", first, "0.125");
    add("second", second, "0.25");
    add("staggered", staggered, "0.5");
  }

  /// What the measurement writes, in an element <out>.
  std::string measure(const std::string& name, const std::string& content) {
    const InputFile file = tests::input(measurement(name, content));
    const auto* row = measurement_table().find(file.root());
    const auto made = row->make(file.root(), plan);
    file.require_valid();
    XMLBufferWriter out;
    push(out, "out");
    made->measure(0, objects, Log{&out});
    pop(out);
    return out.str();
  }
};

/// The plain sum of f(host index) over slice t.
template <class F>
std::complex<double> slice_sum(int j, int t, const F& f) {
  std::complex<double> total = 0;
  for (int i = 0; i < tests::all_sites(); ++i)
    if (tests::coordinates_of(i)[j] == t) {
      const reference::Number z = f(i);
      total += std::complex<double>(z.re, z.im);
    }
  return total;
}

/// Gamma(n) on neither, the left or the right side of a matrix, with its name in inputs.
struct Side {
  const char* name;
  std::function<SiteValue(const SiteValue& matrix, int n)> insert;
};
const std::vector<Side>& sides() {
  static const std::vector<Side> all = {
      {"NONE", [](const SiteValue& m, int) { return m; }},
      {"LEFT_GAMMA_INSERTION", [](const SiteValue& m, int n) { return multiply(reference::gamma(n), m); }},
      {"RIGHT_GAMMA_INSERTION", [](const SiteValue& m, int n) { return multiply(m, reference::gamma(n)); }}};
  return all;
}

}  // namespace

TEST_CASE(
    "MESON_SPECTRUM is the plain trace for every pair of insertions, counted from the source, whichever direction is "
    "time") {
  const std::vector<int> extents = {2, 3, 4, 5};
  const int at_source = 6, at_sink = 9;
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    tests::use_lattice(extents);
    GaugeField u(Nd);
    unit_start(u);
    RandomQuarks quarks(u, "1 2 3 4", j);
    const int length = extents[static_cast<std::size_t>(j)], t0 = j + 1;
    std::string correlators;
    const auto insertion = [](const std::string& end, const Side& side, int gamma) {
      const std::string which =
          side.name == std::string("NONE") ? std::string() : xml_element("gamma", std::to_string(gamma));
      return xml_element(end + "SpinInsertion", xml_element("SpinInsertionType", side.name) + which);
    };
    for (const Side& source : sides())
      for (const Side& sink : sides())
        correlators +=
            "<elem><source_particle>a</source_particle><source_wavetype>1</source_wavetype><sink_particle>b"
            "</sink_particle><sink_wavetype>1</sink_wavetype><correlator_terms><elem><first_id>first"
            "</first_id><second_id>second</second_id><factor>1.5</factor>" +
            insertion("Source", source, at_source) + insertion("Sink", sink, at_sink) +
            "</elem></correlator_terms></elem>";
    Output xml(quarks.measure("MESON_SPECTRUM",
                              "<Param><version>1</version><mom2_max>0</mom2_max><avg_equiv_mom>true</avg_equiv_mom>"
                              "</Param><NamedObject><gauge_id>default_gauge_field</gauge_id><correlators>" +
                                  correlators + "</correlators></NamedObject>"));
    int number = 0;
    for (const Side& source : sides())
      for (const Side& sink : sides()) {
        CAPTURE(source.name);
        CAPTURE(sink.name);
        const std::string elem = "//Wilson_hadron_measurements/elem[" + std::to_string(++number) + "]";
        CHECK(xml.number(elem + "/Mass_1") == 0.125);
        CHECK(xml.number(elem + "/Mass_2") == 0.25);
        CHECK(xml.number(elem + "/t0") == t0);
        for (int t = 0; t < length; ++t) {
          const auto expected = slice_sum(j, (t + t0) % length, [&](int i) {
            const SiteValue g5 = reference::gamma(15);
            const SiteValue back = multiply(multiply(g5, adjoint(reference::value(tests::site(quarks.second, i)))), g5);
            return trace(multiply(sink.insert(back, at_sink),
                                  source.insert(reference::value(tests::site(quarks.first, i)), at_source)),
                         true, true)
                .components.at(0);
          });
          const std::string path = elem + "/Mesons/momenta/elem/mesprop/elem[" + std::to_string(t + 1) + "]";
          const std::complex<double> got(xml.number(path + "/re"), xml.number(path + "/im"));
          CHECK(std::abs(got - 1.5 * expected) < base_tol(1e-11) * static_cast<double>(Layout::vol()));
        }
      }
  }
}

TEST_CASE(
    "pions of HADRON_SPECTRUM and SPECTRUM_STAG are sums of squares counted from the source, along any direction") {
  const std::vector<int> extents = {2, 3, 4, 5};
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    tests::use_lattice(extents);
    GaugeField u(Nd);
    unit_start(u);
    RandomQuarks quarks(u, "1 2 3 4", j);
    const int length = extents[static_cast<std::size_t>(j)], t0 = j + 1;
    Output wilson(quarks.measure(
        "HADRON_SPECTRUM",
        "<Param><version>1</version><MesonP>true</MesonP><BaryonP>false</BaryonP><mom2_max>0</mom2_max>"
        "<avg_equiv_mom>true</avg_equiv_mom></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><sink_pairs>" +
            pair("first") + "</sink_pairs></NamedObject>"));
    Output staggered(quarks.measure("SPECTRUM_STAG", "<NamedObject><prop_id>staggered</prop_id></NamedObject>"));
    const std::vector<double> goldstone = staggered.numbers("//goldstone_pion");
    REQUIRE(goldstone.size() == static_cast<std::size_t>(length));
    CHECK(wilson.number("//Wilson_hadron_measurements/elem/t0") == t0);
    CHECK(staggered.number("//t0") == t0);
    for (int t = 0; t < length; ++t) {
      const auto squares = [&](const auto& field) {
        return slice_sum(j, (t + t0) % length,
                         [&](int i) { return local_norm2(reference::value(tests::site(field, i))).components.at(0); })
            .real();
      };
      CHECK(at(wilson, "Point_Point_Wilson_Mesons", "mesprop", 15, 0, t) ==
            doctest::Approx(squares(quarks.first)).epsilon(base_tol(1e-12)));
      CHECK(goldstone[static_cast<std::size_t>(t)] ==
            doctest::Approx(squares(quarks.staggered)).epsilon(base_tol(1e-12)));
    }
  }
}

namespace {

/// f at host index i times exp(i p (x - origin)), summed over each slice across j and counted from that of the origin; the
/// momentum n has a component for each direction but j.
template <class F>
std::vector<std::complex<double>> plain_correlator(int j, const std::vector<int>& origin, const std::vector<double>& n,
                                                   const F& f) {
  const int length = Layout::lattSize()[j];
  std::vector<std::complex<double>> sums(static_cast<std::size_t>(length));
  for (int i = 0; i < tests::all_sites(); ++i) {
    const multi1d<int> x = tests::coordinates_of(i);
    double turns = 0;
    std::size_t component = 0;
    for (int mu = 0; mu < Nd; ++mu)
      if (mu != j) turns += n[component++] * (x[mu] - origin[static_cast<std::size_t>(mu)]) / Layout::lattSize()[mu];
    sums[static_cast<std::size_t>((x[j] - origin[static_cast<std::size_t>(j)] + length) % length)] +=
        std::polar(1.0, 2 * M_PI * turns) * f(i);
  }
  return sums;
}

std::complex<double> traced(const SiteValue& m) {
  const reference::Number z = trace(m, true, true).components.at(0);
  return {z.re, z.im};
}

/// Whether a correlator that was written is the expected one.
bool written(Output& xml, const std::string& path, const std::vector<std::complex<double>>& expected, double size) {
  for (std::size_t t = 0; t < expected.size(); ++t) {
    const std::string elem = path + "/elem[" + std::to_string(t + 1) + "]";
    const std::complex<double> got(xml.number(elem + "/re"), xml.number(elem + "/im"));
    if (!(std::abs(got - expected[t]) < base_tol(1e-11) * size)) return false;
  }
  return xml.count(path + "/elem") == static_cast<int>(expected.size());
}

std::string spectrum_of(const std::string& flags, const std::string& pairs) {
  return "<Param><version>1</version>" + flags +
         "<avg_equiv_mom>false</avg_equiv_mom></Param><NamedObject><gauge_id>default_gauge_field</gauge_id>"
         "<sink_pairs>" +
         pairs + "</sink_pairs></NamedObject>";
}
const std::string kTwo = "<elem><first_id>first</first_id><second_id>second</second_id></elem>";

}  // namespace

TEST_CASE("mesons of two different quarks are plain sums at every momentum about the source, along any direction") {
  const std::vector<int> origin = {1, 2, 3, 4};
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    tests::use_lattice({2, 3, 4, 5});
    GaugeField u(Nd);
    unit_start(u);
    RandomQuarks quarks(u, "1 2 3 4", j);
    Output xml(quarks.measure(
        "HADRON_SPECTRUM", spectrum_of("<MesonP>true</MesonP><BaryonP>false</BaryonP><mom2_max>1</mom2_max>", kTwo)));
    const std::string list = "//Point_Point_Wilson_Mesons/elem";
    REQUIRE(xml.count(list) == 16);
    REQUIRE(xml.count(list + "[1]/momenta/elem") == 7);
    for (int n = 0; n < 16; ++n) {
      CAPTURE(n);
      std::vector<std::complex<double>> local;
      for (int i = 0; i < tests::all_sites(); ++i) {
        const SiteValue g5 = reference::gamma(15), g = reference::gamma(n);
        const SiteValue back = multiply(multiply(g5, reference::value(tests::site(quarks.second, i))), g5);
        local.push_back(
            traced(multiply(adjoint(back), multiply(multiply(g, reference::value(tests::site(quarks.first, i))), g))));
      }
      for (int k = 1; k <= 7; ++k) {
        const std::string here = list + "[" + std::to_string(n + 1) + "]/momenta/elem[" + std::to_string(k) + "]";
        const auto expected = plain_correlator(j, origin, xml.numbers(here + "/sink_mom"),
                                               [&](int i) { return local[static_cast<std::size_t>(i)]; });
        CHECK(xml.number(here + "/sink_mom_num") == k - 1);
        CHECK(written(xml, here + "/mesprop", expected, 120));
      }
      CHECK(xml.number(list + "[" + std::to_string(n + 1) + "]/gamma_value") == n);
    }
    const auto slices = [&](const LatticePropagator& s) {  // those of the lattice, not counted from the source
      std::vector<double> norms(static_cast<std::size_t>(Layout::lattSize()[j]));
      for (int i = 0; i < tests::all_sites(); ++i)
        norms[static_cast<std::size_t>(tests::coordinates_of(i)[j])] +=
            local_norm2(reference::value(tests::site(s, i))).components.at(0).re;
      return norms;
    };
    int number = 0;
    for (const LatticePropagator* s : {&quarks.first, &quarks.second}) {
      const std::vector<double> expected = slices(*s),
                                got = xml.numbers("//forward_prop_corr_" + std::to_string(++number));
      REQUIRE(got.size() == expected.size());
      for (std::size_t t = 0; t < got.size(); ++t)
        CHECK(got[t] == doctest::Approx(expected[t]).epsilon(base_tol(1e-12)));
    }
  }
}

TEST_CASE("meson currents of two different quarks are their formulas on any links, along any direction") {
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    tests::use_lattice({2, 3, 4, 5});
    const GaugeField u = tests::random_field();
    RandomQuarks quarks(u, "1 2 3 4", j);
    Output xml(quarks.measure(
        "HADRON_SPECTRUM",
        spectrum_of("<MesonP>false</MesonP><BaryonP>false</BaryonP><CurrentP>true</CurrentP><mom2_max>0</mom2_max>",
                    kTwo)));
    const SiteValue g5 = reference::gamma(15);
    const auto gamma = [](int n) { return reference::gamma(n); };
    const auto s1 = [&](int i) { return reference::value(tests::site(quarks.first, i)); };
    const auto b = [&](int i) { return multiply(multiply(g5, reference::value(tests::site(quarks.second, i))), g5); };
    const auto ahead = [](int i, int mu) {
      multi1d<int> x = tests::coordinates_of(i);
      x[mu] = (x[mu] + 1) % Layout::lattSize()[mu];
      return tests::number_of(x);
    };
    /// The neighbour's value, brought here.
    const auto brought = [&](const auto& f, int i, int mu) {
      return multiply(reference::value(tests::site(u[mu], i)), f(ahead(i, mu)));
    };
    const auto check = [&](const std::string& path, const std::function<double(int)>& f) {
      CAPTURE(path);
      const auto expected =
          plain_correlator(j, {1, 2, 3, 4}, {0, 0, 0}, [&](int i) { return std::complex<double>(f(i)); });
      const std::vector<double> got = xml.numbers("//Point_Point_Meson_Currents" + path);
      REQUIRE(got.size() == expected.size());
      for (std::size_t t = 0; t < got.size(); ++t) CHECK(std::fabs(got[t] - expected[t].real()) < base_tol(1e-9));
    };
    const auto product = [](const auto& first, const auto&... more) {
      SiteValue p = first;
      ((p = multiply(p, more)), ...);
      return p;
    };
    int number = 0;
    for (int k = 0; k < Nd; ++k) {
      if (k == j) continue;
      const SiteValue gk = gamma(1 << k), gkd = gamma((1 << k) ^ (1 << j));
      const auto split = [&, k](int i) {
        return 0.5 * (traced(product(adjoint(b(i)), gk, brought(s1, i, k), gk)) +
                      traced(product(adjoint(product(gk, brought(b, i, k), gk)), s1(i))))
                         .real();
      };
      const auto conserved = [&, k](int i) {
        return split(i) + 0.5 * (traced(product(adjoint(product(brought(b, i, k), gk)), s1(i))) -
                                 traced(product(adjoint(b(i)), brought(s1, i, k), gk)))
                                    .real();
      };
      const auto tensor = [&](int i) { return -traced(product(adjoint(b(i)), gkd, s1(i), gk)).real(); };
      const auto path = [&](int which) {
        return "/Vector_currents/elem[" + std::to_string(3 * which + number + 1) + "]/vector_current";
      };
      check(path(0), split);
      check(path(1), conserved);
      check(path(2), tensor);
      ++number;
    }
    const SiteValue axial = gamma(15 ^ (1 << j));
    check("/Axial_currents/elem[1]/axial_current", [&](int i) {
      return -0.5 * (traced(product(adjoint(b(i)), axial, brought(s1, i, j), g5)) -
                     traced(product(adjoint(product(axial, brought(b, i, j), g5)), s1(i))))
                        .real();
    });
    check("/Axial_currents/elem[2]/axial_current",
          [&](int i) { return -traced(product(adjoint(b(i)), axial, s1(i), g5)).real(); });
    CHECK(xml.number("//num_vec_cur") == 3);
  }
}

TEST_CASE(
    "baryons of HADRON_SPECTRUM: a pair of the first quark and one of the second, with momenta, boundary, reverse") {
  const std::vector<int> origin = {1, 2, 1, 2};
  const auto bc = [](const std::string& factors) {
    return "<FermState><Name>SIMPLE_FERM_STATE</Name><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>" + factors +
           "</boundary></FermionBC></FermState>";
  };
  struct Case {
    int j;
    std::string action;
    double sign;  ///< of a baryon that went around
    bool reverse;
  };
  for (const Case& c : {Case{3, bc("1 1 1 -1"), -1, true}, Case{3, bc("-1 -1 -1 1"), 1, true},
                        Case{1, "<boundary>1 -1 1 1</boundary>", -1, false}}) {
    CAPTURE(c.j);
    CAPTURE(c.sign);
    tests::use_lattice({2, 3, 2, 4});
    GaugeField u(Nd);
    unit_start(u);
    RandomQuarks quarks(u, "1 2 1 2", c.j, c.action);
    const std::string time_rev = c.reverse ? "<time_rev>true</time_rev>" : "";
    Output xml(quarks.measure(
        "HADRON_SPECTRUM",
        spectrum_of("<MesonP>false</MesonP><BaryonP>true</BaryonP><mom2_max>1</mom2_max>" + time_rev, kTwo)));
    const auto operators = named_baryons();
    const std::string list = "//Point_Point_Wilson_Baryons/elem";
    REQUIRE(xml.count(list) == static_cast<int>(operators.size()));
    const int length = Layout::lattSize()[c.j], t0 = origin[static_cast<std::size_t>(c.j)];
    const SiteValue g7 = reference::gamma(7);
    for (std::size_t n = 0; n < operators.size(); n += c.j == 3 ? 1 : 5) {
      CAPTURE(n);
      std::vector<std::complex<double>> there, back;
      double size = 0;
      for (int i = 0; i < tests::all_sites(); ++i) {
        const SiteValue s = reference::value(tests::site(quarks.second, i)),
                        pair = reference::value(tests::site(quarks.first, i));
        const auto reversed = [&](const SiteValue& q) { return negate(multiply(multiply(g7, q), g7)); };
        there.push_back(plain_baryon(operators[n], s, pair));
        if (c.reverse) back.push_back(plain_baryon(operators[n], reversed(s), reversed(pair)));
        size += std::abs(there.back());
      }
      for (int k = 1; k <= 7; k += 2) {
        const std::string here = list + "[" + std::to_string(n + 1) + "]/momenta/elem[" + std::to_string(k) + "]";
        const std::vector<double> momentum = xml.numbers(here + "/sink_mom");
        const auto of = [&](const auto& values) {
          return plain_correlator(c.j, origin, momentum, [&](int i) { return values[static_cast<std::size_t>(i)]; });
        };
        auto expected = of(there);
        for (int t = 0; t < length; ++t)
          if (t0 + t >= length) expected[static_cast<std::size_t>(t)] *= c.sign;
        if (c.reverse) {
          const auto reverse = of(back);
          for (int t = 0; t < length; ++t)  // t steps back from the source, through the boundary where t > t0
            expected[static_cast<std::size_t>(t)] =
                0.5 * (expected[static_cast<std::size_t>(t)] +
                       (t > t0 ? c.sign : 1) * reverse[static_cast<std::size_t>((length - t) % length)]);
        }
        CHECK(written(xml, here + "/barprop", expected, size));
      }
      CHECK(xml.number(list + "[" + std::to_string(n + 1) + "]/baryon_num") == static_cast<double>(n));
    }
  }
}

TEST_CASE("spectra name the sources, sinks and displacements of both quarks, and write the norms of both") {
  tests::use_lattice({2, 4, 3, 2});
  GaugeField u(Nd);
  unit_start(u);
  RandomQuarks quarks(u, "1 3 2 1", 1);
  const std::string moved = "<Displacement><DisplacementType>SIMPLE_DISPLACEMENT</DisplacementType></Displacement>",
                    nowhere = "<Displacement><DisplacementType>NONE</DisplacementType></Displacement>";
  // Nothing about the two quarks is the same but their slice.
  const auto add = [&](const std::string& id, const LatticePropagator& field, const std::string& mass,
                       const std::string& source, const std::string& sink) {
    QuarkRecord record;
    record.source = "<version>6</version><Source>" + source + "<j_decay>1</j_decay></Source>";
    record.forward = xml_element("FermionAction", xml_element("Mass", mass));
    if (!sink.empty()) record.sink = "<Sink>" + sink + "</Sink>";
    const InputFile ids = tests::input("<ids>" + xml_element("id", id) + "</ids>");
    quarks.plan.makes<LatticePropagator>(ids.root(), "id");
    quarks.objects.create(id, LatticePropagator(field), {"<file/>", record.xml()});
  };
  add("shell", quarks.first, "0.5", "<SourceType>SHELL_SOURCE</SourceType><t_srce>1 3 2 1</t_srce>" + moved, "");
  add("wall", quarks.second, "0.75", "<SourceType>RAND_Z2_WALL_SOURCE</SourceType><t_source>3</t_source>",
      "<SinkType>SHELL_SINK</SinkType>" + moved);
  add("still", quarks.second, "1.5", "<SourceType>POINT_SOURCE</SourceType><t_srce>0 3 0 0</t_srce>" + nowhere,
      "<SinkType>WALL_SINK</SinkType>" + nowhere);
  struct End {
    double mass;
    std::string source, source_displacement, sink, sink_displacement;
    const LatticePropagator& field;
  };
  const std::map<std::string, End> ends = {
      {"shell", {0.5, "SHELL_SOURCE", "SIMPLE_DISPLACEMENT", "POINT_SINK", "NONE", quarks.first}},
      {"wall", {0.75, "RAND_Z2_WALL_SOURCE", "NONE", "SHELL_SINK", "SIMPLE_DISPLACEMENT", quarks.second}},
      {"still", {1.5, "POINT_SOURCE", "NONE", "WALL_SINK", "NONE", quarks.second}}};
  struct Pair {
    std::string first, second, group;
  };
  for (const Pair& pair : {Pair{"shell", "wall", "Shell_Point"}, Pair{"wall", "shell", "Wall_Shell"},
                           Pair{"still", "shell", "Point_Wall"}}) {
    CAPTURE(pair.first);
    const std::string ids = xml_element("first_id", pair.first) + xml_element("second_id", pair.second);
    const std::string param = "<mom2_max>0</mom2_max><avg_equiv_mom>false</avg_equiv_mom>",
                      gauge = "<gauge_id>default_gauge_field</gauge_id>",
                      none = "<SpinInsertionType>NONE</SpinInsertionType>";
    Output hadrons(
        quarks.measure("HADRON_SPECTRUM", "<Param><version>1</version><MesonP>true</MesonP><BaryonP>false</BaryonP>" +
                                              param + "</Param><NamedObject>" + gauge + "<sink_pairs><elem>" + ids +
                                              "</elem></sink_pairs></NamedObject>"));
    Output mesons(quarks.measure(
        "MESON_SPECTRUM",
        "<Param><version>1</version>" + param + "</Param><NamedObject>" + gauge +
            "<correlators><elem><source_particle>a</source_particle><source_wavetype>1</source_wavetype>"
            "<sink_particle>b</sink_particle><sink_wavetype>2</sink_wavetype><correlator_terms><elem>" +
            ids + "<factor>1</factor><SourceSpinInsertion>" + none + "</SourceSpinInsertion><SinkSpinInsertion>" +
            none + "</SinkSpinInsertion></elem></correlator_terms></elem></correlators></NamedObject>"));
    CHECK(hadrons.count("//" + pair.group + "_Wilson_Mesons") == 1);
    for (Output* xml : {&hadrons, &mesons})
      for (int n = 1; n <= 2; ++n) {
        const End& end = ends.at(n == 1 ? pair.first : pair.second);
        const std::string number = "_" + std::to_string(n);
        CHECK(xml->number("//Wilson_hadron_measurements/elem/Mass" + number) == end.mass);
        CHECK(xml->text("//SourceSinkType/source_type" + number) == end.source);
        CHECK(xml->text("//SourceSinkType/source_disp_type" + number) == end.source_displacement);
        CHECK(xml->text("//SourceSinkType/sink_type" + number) == end.sink);
        CHECK(xml->text("//SourceSinkType/sink_disp_type" + number) == end.sink_displacement);
        const std::vector<double> norms = xml->numbers("//Forward_prop_correlator/forward_prop_corr" + number);
        REQUIRE(norms.size() == 4);
        for (int t = 0; t < 4; ++t) {
          double expected = 0;
          for (int i = 0; i < tests::all_sites(); ++i)
            if (tests::coordinates_of(i)[1] == t)
              expected += toDouble(norm2(peekSite(end.field, tests::coordinates_of(i))));
          CHECK(norms[static_cast<std::size_t>(t)] == doctest::Approx(expected).epsilon(base_tol(1e-10)));
        }
      }
    for (const auto& [header, end] : {std::pair{"First_forward_prop", ends.at(pair.first)},
                                      std::pair{"Second_forward_prop", ends.at(pair.second)}}) {
      const std::string there = std::string("//Forward_prop_headers/") + header;
      CHECK(hadrons.number(there + "/ForwardProp/FermionAction/Mass") == end.mass);
      CHECK(hadrons.text(there + "/PropSource/Source/SourceType") == end.source);
    }
    for (const auto& [label, word] : {std::pair{"source_particle", "a"}, std::pair{"source_wavetype", "1"},
                                      std::pair{"sink_particle", "b"}, std::pair{"sink_wavetype", "2"}})
      CHECK(mesons.text(std::string("//Wilson_hadron_measurements/elem/") + label) == word);
  }
}

TEST_CASE("the record of a quark tells its mass, boundary, ends and displacements, and survives being written") {
  tests::use_lattice({2, 2, 2, 2});
  const auto source = [](const std::string& place, const std::string& more = "") {
    return "<version>6</version><Source><SourceType>SHELL_SOURCE</SourceType><j_decay>1</j_decay>" + place + more +
           "</Source>";
  };
  const auto displaced = [](const std::string& type) {
    return "<Displacement><DisplacementType>" + type + "</DisplacementType></Displacement>";
  };
  QuarkRecord record;
  record.source = source("<t_source>1</t_source>", displaced("SIMPLE_DISPLACEMENT"));
  record.config = "<Cfg><cfg_type>UNIT</cfg_type></Cfg>";
  const auto action = [&](const std::string& content) { record.forward = xml_element("FermionAction", content); };

  action("<Kappa>0.1</Kappa>");
  CHECK(record.mass() == doctest::Approx(1 / 0.2 - 4));
  action("<Mass>-0.3</Mass>");
  CHECK(record.mass() == -0.3);

  const std::string list = "<boundary>1 -1 0.5 -1</boundary>", bc = xml_element("FermionBC", list);
  for (const std::string& where : {list, bc, xml_element("FermState", bc), xml_element("FermState", list)}) {
    CAPTURE(where);
    action(where);
    CHECK(record.boundary(0) == 1);
    CHECK(record.boundary(1) == -1);
    CHECK(record.boundary(2) == 0);
    CHECK(record.boundary(3) == -1);
  }
  action("<Mass>1</Mass>");
  CHECK(record.boundary(3) == 0);

  CHECK(record.sink_type() == "POINT_SINK");
  CHECK(record.sink_displacement() == "NONE");
  CHECK(record.source_displacement() == "SIMPLE_DISPLACEMENT");
  CHECK(record.read_source().type == "SHELL_SOURCE");
  CHECK(record.read_source().j_decay == 1);
  CHECK(record.read_source().t_source == 1);
  CHECK(record.read_source().origin == std::vector<int>{0, 1, 0, 0});
  CHECK(QuarkRecord::parse(record.xml(), "q").sink.empty());
  const auto name_of = [](const QuarkRecord& r) { return InputFile::from_text(r.xml(), "record").root_name(); };
  CHECK(name_of(record) == "Propagator");
  QuarkRecord source_only = record;
  source_only.forward.clear();
  CHECK(name_of(source_only) == "MakeSource");
  record.sink = "<Sink><SinkType>WALL_SINK</SinkType>" + displaced("OTHER") + "</Sink>";
  const QuarkRecord again = QuarkRecord::parse(record.xml(), "q");
  CHECK(name_of(record) == "SinkSmear");
  CHECK(again.sink_type() == "WALL_SINK");
  CHECK(again.sink_displacement() == "OTHER");
  const auto packed = [](std::string text) {  // written with other blanks
    std::erase_if(text, [](unsigned char c) { return std::isspace(c); });
    return text;
  };
  CHECK(packed(again.source) == record.source);
  CHECK(packed(again.forward) == record.forward);
  CHECK(packed(again.sink) == record.sink);
  CHECK(packed(again.config) == record.config);
  record.source = source("<t_source>-1</t_source>");  // noise in every slice
  CHECK(record.read_source().t_source == -1);
  CHECK(record.read_source().origin == std::vector<int>{0, 0, 0, 0});
  CHECK(record.source_displacement() == "NONE");
  record.source = source("<t_srce>0 1 1 0</t_srce>");
  CHECK(record.read_source().t_source == 1);
  CHECK(record.read_source().origin == std::vector<int>{0, 1, 1, 0});
}
