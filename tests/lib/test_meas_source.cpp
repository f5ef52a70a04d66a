// Sources and the smearing of quark fields.

#include "lib/meas/mesons.hpp"
#include "lib/meas/source.hpp"
#include "lib/smear/ape.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/lib/sites.hpp"
#include "tests/reference/from_site.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <functional>
#include <map>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

using Q = LatticePropagator;

multi1d<int> coordinates(int x, int y, int z, int t) {
  multi1d<int> s(4);
  s[0] = x;
  s[1] = y;
  s[2] = z;
  s[3] = t;
  return s;
}

QuarkSource<Q> source_from(const std::string& text) {
  const InputFile file = tests::input("<Source>" + text + "</Source>");
  QuarkSource<Q> source = read_quark_source<Q>(file.root());
  file.require_valid();
  return source;
}

GaugeField weak_field() {
  tests::use_lattice({4, 4, 2, 6});
  GaugeField u(Nd);
  weak_field_start(u);
  return u;
}

double difference(const Q& a, const Q& b) { return std::sqrt(toDouble(norm2(a - b))); }

const std::string kSeed = "<ran_seed><Seed><elem>1</elem><elem>2</elem><elem>3</elem><elem>4</elem></Seed></ran_seed>";

}  // namespace

TEST_CASE("profiles: a point, a slice, everywhere") {
  tests::use_lattice({4, 2, 4, 6});
  const LatticeComplex point = point_profile(coordinates(3, 1, 0, 5));
  CHECK(toDouble(norm2(point)) == 1);
  CHECK(toDouble(real(peekSite(point, coordinates(3, 1, 0, 5)))) == 1);
  LatticeComplex one;
  one = cmplx(Real(1), Real(0));
  const LatticeComplex wall = slice_profile(one, 3, 2);
  CHECK(toDouble(norm2(wall)) == 32);
  CHECK(toDouble(real(peekSite(wall, coordinates(1, 1, 1, 2)))) == 1);
  CHECK(toDouble(norm2(slice_profile(one, 3, -1))) == 4 * 2 * 4 * 6);
}

TEST_CASE("noise has modulus one (Gaussian: on average), no mean, and the right powers") {
  tests::use_lattice({8, 8, 4, 4});
  const double v = static_cast<double>(Layout::vol());
  const auto mean = [&](const LatticeComplex& x) { return std::sqrt(toDouble(localNorm2(sum(x)))) / v; };
  for (Noise kind : {Noise::z2, Noise::u1, Noise::gaussian}) {
    const LatticeComplex eta = noise(kind);
    CHECK(toDouble(norm2(eta)) / v == doctest::Approx(1).epsilon(kind == Noise::gaussian ? 0.1 : base_tol(1e-12)));
    CHECK(mean(eta) < 4 / std::sqrt(v));
  }
  LatticeComplex eta = noise(Noise::z2);
  eta = eta * eta * eta * eta;
  CHECK(toDouble(norm2(eta + Real(1))) < std::pow(base_tol(1e-10), 2));  // eighth roots of unity
  eta = zn_noise(3);
  eta = eta * eta * eta;
  CHECK(toDouble(norm2(eta - Real(1))) < std::pow(base_tol(1e-10), 2));
}

TEST_CASE("sources are the profile times the unit matrix") {
  const GaugeField u = weak_field();
  const Q s = source_from("<SourceType>POINT_SOURCE</SourceType><j_decay>3</j_decay><t_srce>1 2 0 4</t_srce>")(u);
  CHECK(toDouble(norm2(s)) == 12);
  const Propagator there = peekSite(s, coordinates(1, 2, 0, 4));
  CHECK(toDouble(real(trace(there))) == 12);

  const QuarkSource<Q> wall =
      source_from("<SourceType>WALL_SOURCE</SourceType><j_decay>3</j_decay><t_source>2</t_source>");
  CHECK(wall.t_source == 2);
  const multi1d<Double> norms = slice_norms(wall(u), 3);
  for (int t = 0; t < 6; ++t) CHECK(toDouble(norms[t]) == (t == 2 ? 12 * 32 : 0));

  const Q partial = source_from(
      "<SourceType>PARTIAL_WALL_SOURCE</SourceType><j_decay>3</j_decay><t_source>1</t_source><FixedDirs>"
      "<elem><dir>3</dir><coord>1</coord></elem><elem><dir>0</dir><coord>2</coord></elem></FixedDirs>")(u);
  CHECK(toDouble(norm2(partial)) == 12 * 8);

  // A momentum wall overlaps with the plane wave of its momentum only.
  const Q wave = source_from(
      "<SourceType>MOMENTUM_WALL_SOURCE</SourceType><j_decay>3</j_decay><t_srce>0 0 0 1</t_srce>"
      "<mom>1 0 0</mom>")(u);
  CHECK(toDouble(norm2(sum(trace(wave)))) < std::pow(base_tol(1e-10), 2));
  CHECK(toDouble(norm2(wave)) == doctest::Approx(12 * 32));
}

TEST_CASE("random walls come from their own seed and leave the generator alone") {
  const GaugeField u = weak_field();
  LatticeReal expected, after;
  Seed seed;
  RNG::savern(seed);
  random(expected);
  RNG::setrn(seed);
  const std::string wall = kSeed + "<j_decay>3</j_decay><t_source>2</t_source>";
  const Q a = source_from("<SourceType>RAND_Z2_WALL_SOURCE</SourceType>" + wall)(u);
  const Q b = source_from("<SourceType>RAND_Z2_WALL_SOURCE</SourceType>" + wall)(u);
  random(after);
  CHECK(toDouble(norm2(expected - after)) == 0);
  CHECK(difference(a, b) == 0);
  CHECK(toDouble(norm2(a)) == doctest::Approx(12 * 32));
  const Q c = source_from("<SourceType>RAND_ZN_WALL_SOURCE</SourceType><N>4</N>" + wall)(u);
  const Q d = source_from("<SourceType>RAND_U1_WALL_SOURCE</SourceType>" + wall)(u);
  CHECK(toDouble(norm2(c)) == doctest::Approx(12 * 32));
  CHECK(toDouble(norm2(d)) == doctest::Approx(12 * 32));
  CHECK(difference(a, c) > 1);
}

TEST_CASE("smearing of quarks is gauge covariant, keeps constants on free fields, and Jacobi is its series") {
  const GaugeField u = weak_field();
  LatticeColorMatrix g;
  const GaugeField turned = tests::gauge_transformed(u, g);
  Q psi;
  gaussian(psi);
  const auto covariant = [&](const std::function<void(Q&, const GaugeField&)>& smear) {
    Q straight = psi, rotated = g * psi;
    smear(straight, u);
    smear(rotated, turned);
    CHECK(difference(Q(g * straight), rotated) < base_tol(1e-11) * std::sqrt(toDouble(norm2(straight))));
  };
  covariant([](Q& q, const GaugeField& v) { gaussian_smear(q, v, 2.0, 4, 3); });
  covariant([](Q& q, const GaugeField& v) { jacobi_smear(q, v, 0.1, 3, 3); });
  covariant([](Q& q, const GaugeField& v) { displace(q, v, 2, 0); });
  covariant([](Q& q, const GaugeField& v) { displace(q, v, -1, 1); });

  GaugeField free(Nd);
  unit_start(free);
  Q constant;
  constant = Real(1);
  const Q before = constant;
  gaussian_smear(constant, free, 3.0, 7, -1);
  CHECK(difference(constant, before) < base_tol(1e-11));
  jacobi_smear(constant, free, 0.05, 2, 3);  // 1 + 6 kappa + (6 kappa)^2
  CHECK(difference(constant, Q(Real(1 + 0.3 + 0.09) * before)) < base_tol(1e-11));

  Q there = psi;
  displace(there, u, 2, 1);
  displace(there, u, -2, 1);
  CHECK(difference(there, psi) < base_tol(1e-11));
}

TEST_CASE("shell sources, displacements, and sinks from inputs") {
  const GaugeField u = weak_field();
  const std::string point = "<j_decay>3</j_decay><t_srce>0 0 0 0</t_srce>";
  const std::string smear =
      "<SmearingParam><wvf_kind>GAUGE_INV_GAUSSIAN</wvf_kind><wvf_param>1.5</wvf_param><wvfIntPar>3"
      "</wvfIntPar><no_smear_dir>3</no_smear_dir></SmearingParam>";
  const std::string shift_x =
      "<Displacement><DisplacementType>SIMPLE_DISPLACEMENT</DisplacementType><disp_length>1</disp_length>"
      "<disp_dir>0</disp_dir></Displacement>";
  Q expected = source_from("<SourceType>POINT_SOURCE</SourceType>" + point)(u);
  displace(expected, u, -1, 0);
  gaussian_smear(expected, u, 1.5, 3, 3);
  CHECK(difference(source_from("<SourceType>SHELL_SOURCE</SourceType>" + point + smear + shift_x)(u), expected) <
        base_tol(1e-12));

  const InputFile file = tests::input("<Sink><SinkType>WALL_SINK</SinkType><j_decay>3</j_decay></Sink>");
  Q s;
  gaussian(s);
  Q wall = s;
  read_quark_sink<Q>(file.root())(wall, u);
  file.require_valid();
  const Set slices = time_slices(3);
  const Propagator total = sum(s, slices[2]), found = peekSite(wall, coordinates(1, 3, 1, 2));
  CHECK(toDouble(norm2(total - found)) < std::pow(base_tol(1e-9), 2));
}

TEST_CASE("sources refuse sites off the lattice and names that do not exist") {
  tests::use_lattice({2, 2, 2, 2});
  CHECK_THROWS_WITH_AS(point_profile(coordinates(0, 0, 0, 2)), doctest::Contains("got 2 in direction 3"), ShapeError);
  CHECK_THROWS_WITH_AS(point_profile(multi1d<int>(3)), doctest::Contains("4 coordinates"), ShapeError);
  LatticeComplex eta = zero;
  CHECK_THROWS_AS(slice_profile(eta, 4, 0), ShapeError);
  LatticePropagator psi = zero;
  const GaugeField few(Nd - 1);
  CHECK_THROWS_AS(displace(psi, few, 1, 0), ShapeError);
  CHECK_THROWS_AS(gaussian_smear(psi, few, 0.5, 2, -1), ShapeError);
  CHECK_THROWS_AS(jacobi_smear(psi, few, 0.5, 2, -1), ShapeError);
  CHECK_THROWS_WITH_AS(source_from("<SourceType>SHELL_SOURCE</SourceType><j_decay>3</j_decay><t_srce>0 0 0 0</t_srce>"),
                       doctest::Contains("SmearingParam"), InputError);
  CHECK_THROWS_WITH_AS(source_from("<SourceType>WALL_SOURCE</SourceType><j_decay>7</j_decay><t_source>0</t_source>"),
                       doctest::Contains("from 0 to 3"), InputError);
}

namespace {

/// The input of a source with a place, in slice t of direction j, and what it is at x.
struct PlacedSource {
  std::string input;
  std::function<std::complex<double>(const multi1d<int>& x)> at;
};

/// All sources without noise, around the site `origin`.
std::map<std::string, PlacedSource> placed_sources(const multi1d<int>& origin, int j) {
  const auto numbers = [](const auto& list) {
    std::string text;
    for (const int n : list) text += std::to_string(n) + ' ';
    return text;
  };
  const std::string decay = "<j_decay>" + std::to_string(j) + "</j_decay>";
  const std::string site = decay + "<t_srce>" + numbers(origin) + "</t_srce>";
  const std::string slice = decay + "<t_source>" + std::to_string(origin[j]) + "</t_source>";
  const int across = (j + 2) % Nd;
  const auto fixed = [&](int mu) {
    return "<elem><dir>" + std::to_string(mu) + "</dir><coord>" + std::to_string(origin[mu]) + "</coord></elem>";
  };
  const std::array<int, 3> momentum{1, -1, 2};
  const auto in_slice = [origin, j](const multi1d<int>& x) { return x[j] == origin[j] ? 1.0 : 0.0; };
  const auto wave = [=](const multi1d<int>& x) {
    double angle = 0;
    std::size_t k = 0;
    for (int mu = 0; mu < Nd; ++mu)
      if (mu != j) angle += 2 * std::numbers::pi * momentum[k++] * (x[mu] - origin[mu]) / Layout::lattSize()[mu];
    return in_slice(x) * std::complex<double>(std::cos(angle), std::sin(angle));
  };
  return {{"POINT_SOURCE", {site, [origin](const multi1d<int>& x) { return x == origin ? 1.0 : 0.0; }}},
          {"SHELL_SOURCE",
           {site + "<SmearingParam><wvf_kind>NONE</wvf_kind></SmearingParam>",
            [origin](const multi1d<int>& x) { return x == origin ? 1.0 : 0.0; }}},
          {"WALL_SOURCE", {slice, in_slice}},
          {"PARTIAL_WALL_SOURCE",
           {slice + "<FixedDirs>" + fixed(j) + fixed(across) + "</FixedDirs>",
            [=](const multi1d<int>& x) { return in_slice(x) * (x[across] == origin[across] ? 1 : 0); }}},
          {"MOMENTUM_WALL_SOURCE", {site + "<mom>" + numbers(momentum) + "</mom>", wave}}};
}

/// Whether values are those of a named noise.
const std::map<std::string, std::pair<std::string, std::function<bool(std::complex<double>)>>>& noises() {
  const auto near = [](std::complex<double> a, std::complex<double> b) { return std::abs(a - b) < base_tol(1e-12); };
  static const std::map<std::string, std::pair<std::string, std::function<bool(std::complex<double>)>>> known = {
      {"RAND_Z2_WALL_SOURCE", {"", [=](std::complex<double> z) { return near(z * z * z * z, -1); }}},
      {"RAND_ZN_WALL_SOURCE", {"<N>3</N>", [=](std::complex<double> z) { return near(z * z * z, 1); }}},
      {"RAND_U1_WALL_SOURCE", {"", [=](std::complex<double> z) { return near(std::norm(z), 1); }}}};
  return known;
}

/// The largest difference between a source and f(x) times the unit matrix of spin and colour.
template <class F>
double distance_from(const Q& source, const F& f) {
  double most = 0;
  for (int i = 0; i < tests::all_sites(); ++i) {
    const reference::SiteValue s = reference::value(tests::site(source, i));
    const std::complex<double> expected = f(tests::coordinates_of(i));
    for (int a = 0; a < Ns; ++a)
      for (int b = 0; b < Ns; ++b)
        for (int c = 0; c < Nc; ++c)
          for (int d = 0; d < Nc; ++d) {
            const reference::Number z = s.at(a, b, c, d);
            most = std::max(most, std::abs(std::complex<double>(z.re, z.im) - (a == b && c == d ? expected : 0.0)));
          }
  }
  return most;
}

}  // namespace

TEST_CASE(
    "every source is its formula at every site, on unequal extents, wherever it is and whichever direction is time") {
  tests::use_lattice({4, 3, 6, 5});
  GaugeField u(Nd);
  unit_start(u);
  const multi1d<int> origin = coordinates(3, 1, 4, 2);
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    const auto placed = placed_sources(origin, j);
    for (const auto& row : source_table().rows()) {
      CAPTURE(row.name);
      const std::string type = "<SourceType>" + row.name + "</SourceType>";
      if (const auto found = placed.find(row.name); found != placed.end()) {
        const QuarkSource<Q> source = source_from(type + found->second.input);
        CHECK(distance_from(source(u), found->second.at) < base_tol(1e-13));
        CHECK(source.j_decay == j);
        CHECK(source.t_source == origin[j]);
        continue;
      }
      REQUIRE(noises().contains(row.name));
      const auto& [more, is_noise] = noises().at(row.name);
      const QuarkSource<Q> source = source_from(type + more + kSeed + "<j_decay>" + std::to_string(j) +
                                                "</j_decay><t_source>" + std::to_string(origin[j]) + "</t_source>");
      const Q wall = source(u);
      bool right = true;
      const double distance = distance_from(wall, [&](const multi1d<int>& x) {
        const reference::Number z = reference::value(tests::site(wall, tests::number_of(x))).at(0, 0, 0, 0);
        const std::complex<double> number(z.re, z.im);
        right = right && (x[j] == origin[j] ? is_noise(number) : number == 0.0);
        return number;
      });
      CHECK(right);
      CHECK(distance == 0);
      CHECK(source.t_source == origin[j]);
    }
  }
}

namespace {

using Plain = std::vector<reference::SiteValue>;  // by host index

Plain plain_of(const Q& psi) {
  Plain f;
  for (int i = 0; i < tests::all_sites(); ++i) f.push_back(reference::value(tests::site(psi, i)));
  return f;
}

/// U_mu(x) psi(x + mu), or U_mu(x - mu)^+ psi(x - mu) for sign -1.
Plain hopped(const Plain& psi, const GaugeField& u, int mu, int sign) {
  Plain f;
  for (int i = 0; i < tests::all_sites(); ++i) {
    multi1d<int> x = tests::coordinates_of(i);
    const int length = Layout::lattSize()[mu];
    x[mu] = (x[mu] + sign + length) % length;
    const int from = tests::number_of(x);
    const auto link =
        sign > 0 ? reference::value(tests::site(u[mu], i)) : adjoint(reference::value(tests::site(u[mu], from)));
    f.push_back(multiply(link, psi[static_cast<std::size_t>(from)]));
  }
  return f;
}

Plain sum_of(double a, const Plain& x, double b, const Plain& y) {
  Plain f;
  for (std::size_t i = 0; i < x.size(); ++i)
    f.push_back(add(multiply(reference::real_number(a), x[i]), multiply(reference::real_number(b), y[i])));
  return f;
}

double largest_difference(const Plain& a, const Plain& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::sqrt(local_norm2(subtract(a[i], b[i])).components.at(0).re));
  return most;
}

/// What an input calls for between the source and the field: elements, and the same on plain arrays.
struct PlainStep {
  std::string input;
  std::function<Plain(const Plain&, const GaugeField&)> apply;
};

Plain neighbours(const Plain& psi, const GaugeField& u, int without) {
  Plain total = sum_of(0, psi, 0, psi);
  for (int mu = 0; mu < Nd; ++mu)
    for (int sign : {+1, -1})
      if (mu != without) total = sum_of(1, total, 1, hopped(psi, u, mu, sign));
  return total;
}

std::string smearing_input(const std::string& kind, const std::string& param, int steps, int without) {
  return "<SmearingParam><wvf_kind>" + kind + "</wvf_kind><wvf_param>" + param + "</wvf_param><wvfIntPar>" +
         std::to_string(steps) + "</wvfIntPar><no_smear_dir>" + std::to_string(without) +
         "</no_smear_dir></SmearingParam>";
}

/// (1 + (w^2/4n) Laplacian)^n, the Laplacian over the directions but one.
PlainStep gaussian_step(int without) {
  const int steps = 3, directions = without < 0 || without >= Nd ? Nd : Nd - 1;
  return {smearing_input("GAUGE_INV_GAUSSIAN", "1.3", steps, without), [=](const Plain& psi, const GaugeField& u) {
            Plain f = psi;
            const double weight = 1.3 * 1.3 / (4 * steps);
            for (int k = 0; k < steps; ++k)
              f = sum_of(1 - 2 * directions * weight, f, weight, neighbours(f, u, without));
            return f;
          }};
}

/// sum_k (kappa H)^k up to k = steps.
PlainStep jacobi_step(int without) {
  return {smearing_input("GAUGE_INV_JACOBI", "0.2", 3, without), [=](const Plain& psi, const GaugeField& u) {
            Plain term = psi, f = psi;
            for (int k = 1; k <= 3; ++k) {
              const Plain hop = neighbours(term, u, without);
              term = sum_of(0.2, hop, 0, hop);
              f = sum_of(1, f, 1, term);
            }
            return f;
          }};
}

/// At sinks; at sources the other way.
PlainStep displacement_step(int length, int mu, int sign) {
  return {"<Displacement><DisplacementType>SIMPLE_DISPLACEMENT</DisplacementType><disp_length>" +
              std::to_string(length) + "</disp_length><disp_dir>" + std::to_string(mu) + "</disp_dir></Displacement>",
          [=](const Plain& psi, const GaugeField& u) {
            Plain f = psi;
            for (int k = 0; k < std::abs(length); ++k) f = hopped(f, u, mu, length * sign > 0 ? 1 : -1);
            return f;
          }};
}

}  // namespace

TEST_CASE("smearing and displacement of sources and sinks are their formulas on any links, in the order of the input") {
  tests::use_lattice({3, 4, 2, 5});
  const GaugeField u = tests::random_field();
  const std::string site = "<j_decay>2</j_decay><t_srce>2 3 1 4</t_srce>";
  const Plain point = plain_of(source_from("<SourceType>POINT_SOURCE</SourceType>" + site)(u));
  Q psi;
  gaussian(psi);
  const auto sink = [&](const std::string& input) {
    const InputFile file = tests::input("<Sink><j_decay>2</j_decay>" + input + "</Sink>");
    Q s = psi;
    read_quark_sink<Q>(file.root())(s, u);
    file.require_valid();
    return plain_of(s);
  };
  const auto same = [](const Plain& a, const Plain& b) { return largest_difference(a, b) < base_tol(1e-11); };
  for (const PlainStep& smear :
       {gaussian_step(3), gaussian_step(0), gaussian_step(-1), gaussian_step(Nd), jacobi_step(1), jacobi_step(-1)}) {
    CAPTURE(smear.input);
    for (const int length : {2, -1}) {
      const PlainStep at_source = displacement_step(length, 1, -1), at_sink = displacement_step(length, 3, +1);
      const std::string shell = "<SourceType>SHELL_SOURCE</SourceType>" + site + smear.input + at_source.input;
      const Plain smeared_last = smear.apply(at_source.apply(point, u), u),
                  smeared_first = at_source.apply(smear.apply(point, u), u);
      REQUIRE(!same(smeared_last, smeared_first));
      CHECK(same(plain_of(source_from(shell)(u)), smeared_last));
      CHECK(same(plain_of(source_from(shell + "<quark_smear_lastP>true</quark_smear_lastP>")(u)), smeared_last));
      CHECK(same(plain_of(source_from(shell + "<quark_smear_lastP>false</quark_smear_lastP>")(u)), smeared_first));

      const std::string shell_sink = "<SinkType>SHELL_SINK</SinkType>" + smear.input + at_sink.input;
      const Plain first = at_sink.apply(smear.apply(plain_of(psi), u), u),
                  last = smear.apply(at_sink.apply(plain_of(psi), u), u);
      CHECK(same(sink(shell_sink), first));
      CHECK(same(sink(shell_sink + "<quark_smear_firstP>true</quark_smear_firstP>"), first));
      CHECK(same(sink(shell_sink + "<quark_smear_firstP>false</quark_smear_firstP>"), last));
      CHECK(same(sink("<SinkType>POINT_SINK</SinkType>" + at_sink.input), at_sink.apply(plain_of(psi), u)));
    }
    // Walls are smeared where SmearingParam asks for it, and their links before.
    const std::string
        wall = "<j_decay>2</j_decay><t_source>1</t_source>",
        ape =
            "<LinkSmearing><LinkSmearingType>APE_SMEAR</LinkSmearingType><link_smear_fact>1.5</link_smear_fact>"
            "<link_smear_num>1</link_smear_num></LinkSmearing>";
    ApeSmearing how;
    how.factor = 1.5;
    how.projection = {1e-5, 100};
    const GaugeField v = ape_smeared(u, how);
    for (const std::string& type : {"<SourceType>WALL_SOURCE</SourceType>" + wall,
                                    "<SourceType>RAND_ZN_WALL_SOURCE</SourceType><N>5</N>" + kSeed + wall,
                                    "<SourceType>RAND_U1_WALL_SOURCE</SourceType>" + kSeed + wall}) {
      CAPTURE(type);
      const Plain plain = plain_of(source_from(type)(u));
      CHECK(same(plain_of(source_from(type + smear.input)(u)), smear.apply(plain, u)));
      CHECK(same(plain_of(source_from(type + smear.input + ape)(u)), smear.apply(plain, v)));
    }
  }
}

TEST_CASE("a wall sink sums over the slices across its own direction") {
  tests::use_lattice({3, 4, 2, 5});
  const GaugeField u = tests::random_field();
  Q psi;
  gaussian(psi);
  const Plain before = plain_of(psi);
  for (int j = 0; j < Nd; ++j) {
    CAPTURE(j);
    const InputFile file =
        tests::input("<Sink><SinkType>WALL_SINK</SinkType><j_decay>" + std::to_string(j) + "</j_decay></Sink>");
    Q wall = psi;
    read_quark_sink<Q>(file.root())(wall, u);
    file.require_valid();
    std::map<int, reference::SiteValue> sums;
    const auto slice = [&](int i) { return tests::coordinates_of(i)[j]; };
    for (int i = 0; i < tests::all_sites(); ++i) {
      const reference::SiteValue& here = before[static_cast<std::size_t>(i)];
      const auto [sum, first] = sums.try_emplace(slice(i), here);
      if (!first) sum->second = add(sum->second, here);
    }
    Plain expected;
    for (int i = 0; i < tests::all_sites(); ++i) expected.push_back(sums.at(slice(i)));
    CHECK(largest_difference(plain_of(wall), expected) < base_tol(1e-11));
  }
}

TEST_CASE("noise of N roots has each of them equally often, anywhere, and everywhere for t_source -1") {
  tests::use_lattice({8, 8, 8, 8});
  for (const int n : {2, 3, 4, 5}) {
    CAPTURE(n);
    const LatticeComplex eta = zn_noise(n);
    std::vector<int> count(static_cast<std::size_t>(n));
    for (int i = 0; i < tests::all_sites(); ++i) {
      const reference::Number z = reference::value(tests::site(eta, i)).components.at(0);
      const double k = std::atan2(z.im, z.re) * n / (2 * std::numbers::pi) + n;
      REQUIRE(std::fabs(k - std::round(k)) < base_tol(1e-10));
      ++count[static_cast<std::size_t>(std::lround(k)) % count.size()];
    }
    for (const int c : count) CHECK(std::fabs(c - 4096.0 / n) < 5 * std::sqrt(4096.0 / n));
  }
  // Both parts of Z(2) noise, and all angles of U(1).
  const LatticeComplex z2 = noise(Noise::z2), u1 = noise(Noise::u1);
  std::array<int, 4> quadrants{}, turns{};
  for (int i = 0; i < tests::all_sites(); ++i) {
    const auto quadrant = [&](const LatticeComplex& eta) {
      const reference::Number z = reference::value(tests::site(eta, i)).components.at(0);
      return static_cast<std::size_t>((z.re > 0 ? 1 : 0) + (z.im > 0 ? 2 : 0));
    };
    ++quadrants[quadrant(z2)];
    ++turns[quadrant(u1)];
  }
  for (const int c : quadrants) CHECK(std::abs(c - 1024) < 5 * 32);
  for (const int c : turns) CHECK(std::abs(c - 1024) < 5 * 32);

  tests::use_lattice({2, 3, 2, 5});
  const GaugeField u = tests::random_field();
  for (const char* type : {"RAND_ZN_WALL_SOURCE</SourceType><N>3</N>", "RAND_U1_WALL_SOURCE</SourceType>"}) {
    const QuarkSource<Q> source =
        source_from(std::string("<SourceType>") + type + kSeed + "<j_decay>1</j_decay><t_source>-1</t_source>");
    CHECK(source.t_source == -1);
    CHECK(toDouble(norm2(source(u))) == doctest::Approx(12 * 60).epsilon(base_tol(1e-12)));
  }
}

TEST_CASE("the seed of a random wall is that of the input, digit by digit") {
  tests::use_lattice({2, 3, 2, 5});
  GaugeField u(Nd);
  unit_start(u);
  const Q wall = source_from("<SourceType>RAND_U1_WALL_SOURCE</SourceType>" + kSeed +
                             "<j_decay>3</j_decay><t_source>2</t_source>")(u);
  RNG::setrn(make_seed({1, 2, 3, 4}));
  const LatticeComplex eta = slice_profile(noise(Noise::u1), 3, 2);
  Q expected;
  expected = eta;
  CHECK(difference(wall, expected) == 0);
}
