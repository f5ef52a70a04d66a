// Gluonic observables: exact fields, symmetries, and configurations of other programs.

#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

/// diag(exp(i a), exp(-i a), 1) with an angle per site.
LatticeColorMatrix abelian(const LatticeReal& angle) {
  LatticeColorMatrix u;
  u = Real(1);
  pokeColor(u, LatticeComplex(cmplx(cos(angle), sin(angle))), 0, 0);
  pokeColor(u, LatticeComplex(cmplx(cos(angle), -sin(angle))), 1, 1);
  return u;
}

void check_file(const char* cfg_type, const std::string& file, const std::vector<int>& lattice, double plaquette,
                double link, double tolerance) {
  CAPTURE(file);
  tests::use_lattice(lattice);
  const Plaquettes p = measure_plaquettes(tests::read_field(cfg_type, file));
  CHECK(std::fabs(toDouble(p.average) - plaquette) < base_tol(tolerance));
  CHECK(std::fabs(toDouble(p.link) - link) < base_tol(tolerance));
}

}  // namespace

TEST_CASE("a constant Abelian field strength has P = (1 + 2 cos phi)/3 in its plane and 1 elsewhere") {
  TESSERA_NEEDS_QCD("planes of four dimensions, a trace of three colours");
  const std::vector<int> extents = {4, 6, 2, 2};
  tests::use_lattice(extents);
  const double phi = 2 * M_PI / (extents[0] * extents[1]);
  GaugeField u(Nd);
  unit_start(u);
  // U_1 = exp(i phi x), and the jump at the edge of direction 0 taken up by U_0 there.
  const LatticeReal x = Real(1) * Layout::latticeCoordinate(0), y = Real(1) * Layout::latticeCoordinate(1);
  u[1] = abelian(LatticeReal(Real(phi) * x));
  LatticeReal edge =
      where(LatticeBoolean(Layout::latticeCoordinate(0) == extents[0] - 1), LatticeReal(Real(1)), LatticeReal(Real(0)));
  u[0] = abelian(LatticeReal(Real(-phi * extents[0]) * edge * y));
  const Plaquettes p = measure_plaquettes(u);
  const double expected = (1 + 2 * std::cos(phi)) / 3;
  CHECK(toDouble(p.plane(0, 1)) == doctest::Approx(expected).epsilon(base_tol(1e-12)));
  CHECK(toDouble(p.plane(1, 0)) == toDouble(p.plane(0, 1)));
  CHECK(toDouble(p.plane(0, 2)) == doctest::Approx(1).epsilon(base_tol(1e-14)));
  CHECK(toDouble(p.space) == doctest::Approx((expected + 2) / 3).epsilon(base_tol(1e-12)));
  CHECK(toDouble(p.time) == doctest::Approx(1).epsilon(base_tol(1e-14)));
  CHECK(toDouble(p.average) == doctest::Approx((expected + 5) / 6).epsilon(base_tol(1e-12)));
}

TEST_CASE("averages agree with each other and with the unit field") {
  tests::use_lattice({2, 4, 2, 6});
  GaugeField u(Nd);
  unit_start(u);
  CHECK(toDouble(sum_rectangles(u)) == doctest::Approx(Nd * (Nd - 1.0) * static_cast<double>(Layout::vol())));
  CHECK(toDouble(average_link(u)) == doctest::Approx(1));
  for (int mu = 0; mu < Nd; ++mu) {
    const DComplex loop = polyakov_loop(u, mu);
    CHECK(toDouble(real(loop)) == doctest::Approx(1));
    CHECK(toDouble(imag(loop)) == doctest::Approx(0));
  }
  u = tests::random_field();
  const Plaquettes p = measure_plaquettes(u);
  CHECK(toDouble(p.average) == doctest::Approx(toDouble(average_plaquette(u))).epsilon(base_tol(1e-11)));
  CHECK(toDouble(p.average) ==
        doctest::Approx(((Nd - 2) * toDouble(p.space) + 2 * toDouble(p.time)) / Nd).epsilon(base_tol(1e-11)));
}

TEST_CASE("a centre transformation multiplies the Polyakov loop and leaves the plaquette") {
  tests::use_lattice({2, 2, 4, 6});
  GaugeField u = tests::random_field(), v = u;
  constexpr int t = Nd - 1;
  const double turn = 2 * M_PI / (Nc == 1 ? 5 : Nc);
  v[t] = where(LatticeBoolean(Layout::latticeCoordinate(t) == 1),
               LatticeColorMatrix(cmplx(Real(std::cos(turn)), Real(std::sin(turn))) * u[t]), u[t]);
  const DComplex before = polyakov_loop(u, t), after = polyakov_loop(v, t);
  const DComplex turned = cmplx(Double(std::cos(turn)), Double(std::sin(turn))) * before;
  CHECK(toDouble(norm2(DComplex(after - turned))) < std::pow(base_tol(1e-12), 2));
  CHECK(toDouble(average_plaquette(v)) == doctest::Approx(toDouble(average_plaquette(u))).epsilon(base_tol(1e-11)));
}

TEST_CASE("Polyakov loops have a direction") {
  tests::use_lattice({2, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  CHECK_THROWS_WITH_AS(polyakov_loop(u, Nd), doctest::Contains(("got " + std::to_string(Nd)).c_str()), ShapeError);
  CHECK_THROWS_AS(polyakov_loop(u, -1), ShapeError);
}

TEST_CASE("plaquettes and links of files in double precision") {
  TESSERA_NEEDS_QCD("files of QCD");
  check_file("SCIDAC", tests::data_file("conf.00200"), {4, 4, 4, 4}, 0.57107711169452713, -0.0047031551, 1e-10);
  check_file("SCIDAC", tests::data_file("weak_field.lime"), {4, 4, 4, 8}, 0.994804132267, 0.3794493487, 1e-10);
}

TEST_CASE("plaquettes and links of larger files") {
  TESSERA_NEEDS_QCD("files of QCD");
  const auto nersc = tests::large_data_file("nersc.l8t4b3360"), ildg = tests::large_data_file("ildg.l8t4b3360");
  if (!nersc || !ildg) TESSERA_SKIP("no large reference configurations (QCD_TEST_DATA)");
  check_file("NERSC", *nersc, {8, 8, 8, 4}, 0.5038664469, 0.005406083858, 1e-10);
  check_file("SCIDAC", *ildg, {8, 8, 8, 4}, 0.5038664469, 0.005406083858, 1e-10);
}

TEST_CASE("plaquettes and links of files in single precision") {
  TESSERA_NEEDS_QCD("files of QCD");
  check_file("NERSC", tests::data_file("t_nersc.cfg"), {4, 4, 4, 4}, 0.0382422893, 0.4630322098, 1e-7);
  check_file("SCIDAC", tests::data_file("lat.sample.l4444.ildg"), {4, 4, 4, 4}, 0.5948501589, 0.6467587374, 1e-7);
  check_file("SCIDAC", tests::data_file("lat.sample.l4444.scidac"), {4, 4, 4, 4}, 0.5948501589, 0.6467587374, 1e-7);
}

TEST_CASE("plaquette, rectangle and Polyakov loop of conf.00200") {
  TESSERA_NEEDS_QCD("files of QCD");
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  const Plaquettes p = measure_plaquettes(u);
  CHECK(toDouble(p.average) == doctest::Approx(0.57107711169452713).epsilon(base_tol(1e-13)));
  CHECK(toDouble(p.space) == doctest::Approx(0.5706798849).epsilon(base_tol(1e-9)));
  CHECK(toDouble(p.time) == doctest::Approx(0.5714743385).epsilon(base_tol(1e-9)));
  CHECK(toDouble(sum_rectangles(u)) == doctest::Approx(1103.2398401620451).epsilon(base_tol(1e-12)));
  const DComplex loop = polyakov_loop(u, 3);
  CHECK(toDouble(real(loop)) == doctest::Approx(-0.11349672123636857).epsilon(base_tol(1e-12)));
  CHECK(toDouble(imag(loop)) == doctest::Approx(0.22828243566855227).epsilon(base_tol(1e-12)));
}

TEST_CASE("links on a lattice that is not the present one are refused by name: averages are over the present volume") {
  tests::use_lattice(std::vector<int>(Nd, 4));
  multi1d<int> extents(Nd);
  extents = 2;
  const Layout::Lattice small(extents);
  GaugeField u(Nd);
  {
    const Layout::Scope here(small);
    for (int mu = 0; mu < Nd; ++mu) u[mu] = LatticeColorMatrix(Real(1));
    CHECK(toDouble(average_plaquette(u)) == doctest::Approx(1));
    CHECK(toDouble(average_link(u)) == doctest::Approx(1));
  }
  CHECK_THROWS_WITH_AS(average_plaquette(u), doctest::Contains("present lattice"), ShapeError);
  CHECK_THROWS_WITH_AS(measure_plaquettes(u), doctest::Contains("present lattice"), ShapeError);
  CHECK_THROWS_WITH_AS(average_link(u), doctest::Contains("present lattice"), ShapeError);
  CHECK_THROWS_WITH_AS(polyakov_loop(u, 0), doctest::Contains("present lattice"), ShapeError);
  CHECK_THROWS_WITH_AS(sum_rectangles(u), doctest::Contains("present lattice"), ShapeError);
  GaugeField mixed(Nd);
  for (int mu = 0; mu < Nd; ++mu) mixed[mu] = mu == 1 ? u[mu] : LatticeColorMatrix(Real(1));
  CHECK_THROWS_WITH_AS(average_link(mixed), doctest::Contains("present lattice"), ShapeError);
}
