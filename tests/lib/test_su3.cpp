// The group at one site: projections and the exponential.

#include "tests/lib/lattice.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;

namespace {

/// exp by the Taylor series of x/1024 squared ten times: an independent way, good to about 1e-13 |x|.
LatticeColorMatrix exp_by_squaring(const LatticeColorMatrix& x) {
  LatticeColorMatrix e;
  e = su3_exp12(Real(1.0 / 1024) * x);
  for (int i = 0; i < 10; ++i) e = e * e;
  return e;
}

/// i diag(a, b, 0, ..., -a-b) everywhere; i diag(a, -a) and i a for two colours and one.
LatticeColorMatrix diagonal_algebra(double a, double b) {
  LatticeColorMatrix x = zero;
  std::vector<double> entry(Nc, 0);
  entry[0] = a;
  if (Nc > 2) entry[1] = b;
  if (Nc > 1) entry[Nc - 1] = Nc > 2 ? -a - b : -a;
  for (int c = 0; c < Nc; ++c)
    pokeColor(x, LatticeComplex(cmplx(Real(0), Real(entry[static_cast<std::size_t>(c)]))), c, c);
  return x;
}

/// exp(i alpha) times the unit matrix.
LatticeColorMatrix phase(double alpha) {
  LatticeColorMatrix x;
  x = cmplx(Real(std::cos(alpha)), Real(std::sin(alpha)));
  return x;
}

}  // namespace

TEST_CASE("taproj gives the traceless anti-Hermitian part and is a projection") {
  tests::use_lattice({2, 4, 2, 2});
  LatticeColorMatrix m;
  gaussian(m);
  const LatticeColorMatrix a = taproj(m);
  CHECK(distance(a, LatticeColorMatrix(-adj(a))) < base_tol(1e-13));
  if (Nc > 1) CHECK(toDouble(norm2(trace(a))) < std::pow(base_tol(1e-12), 2));
  CHECK(distance(taproj(a), a) < base_tol(1e-13));
  // The rest, m - a, is orthogonal to every algebra element.
  LatticeColorMatrix other;
  gaussian(other);
  CHECK(std::fabs(toDouble(innerProductReal(taproj(other), LatticeColorMatrix(m - a)))) < base_tol(1e-11));
}

TEST_CASE("su3_exp agrees with the squared Taylor series from tiny to large arguments") {
  tests::use_lattice({4, 4, 2, 2});
  for (double size : {0.0, 1e-9, 1e-5, 2e-4, 4e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, 2.0, 5.0}) {
    CAPTURE(size);
    LatticeColorMatrix x;
    gaussian(x);
    x = taproj(Real(size) * x);
    const double n = std::sqrt(toDouble(norm2(x)));
    CHECK(distance(su3_exp(x), exp_by_squaring(x)) < base_tol(1e-13) * (32 + 4 * n));
    CHECK(distance(LatticeColorMatrix(su3_exp(x) * su3_exp(-x)), phase(0)) < base_tol(1e-13) * (32 + n));
  }
}

TEST_CASE("su3_exp is right where eigenvalues coincide") {
  tests::use_lattice({2, 2, 2, 2});
  for (double a : {1e-7, 1e-3, 0.3, -0.3, 2.0, -2.0}) {
    CAPTURE(a);
    const LatticeColorMatrix twofold = diagonal_algebra(a, a);  // theta = 0 or c0 < 0
    CHECK(distance(su3_exp(twofold), exp_by_squaring(twofold)) < base_tol(1e-11));
    const LatticeColorMatrix with_zero = diagonal_algebra(a, 0);  // c0 = 0
    CHECK(distance(su3_exp(with_zero), exp_by_squaring(with_zero)) < base_tol(1e-11));
  }
}

TEST_CASE("su3_unitarize lands in SU(3), stays there, and su3_defect measures the distance") {
  tests::use_lattice({4, 2, 2, 2});
  LatticeColorMatrix m;
  gaussian(m);
  const LatticeColorMatrix u = su3_unitarize(m);
  CHECK(toDouble(globalMax(LatticeReal(su3_defect(u)))) < base_tol(1e-13));
  CHECK(distance(LatticeColorMatrix(adj(u) * u), phase(0)) < base_tol(1e-12));
  CHECK(distance(su3_unitarize(u), u) < base_tol(1e-12));
  // The defect sees a wrong determinant of a unitary matrix, and a wrong length.
  if (Nc > 1) CHECK(toDouble(globalMax(LatticeReal(su3_defect(phase(0.1))))) > 0.1);
  CHECK(toDouble(globalMax(LatticeReal(su3_defect(Real(1.01) * phase(0))))) > 0.01);
}

TEST_CASE("reunitarize repairs what is off the group and keeps the bits of the rest") {
  tests::use_lattice({4, 4, 2, 2});
  GaugeField u = tests::random_field();
  const GaugeField before = u;
  CHECK(reunitarize(u) == 0);
  CHECK(distance(u, before) == 0);

  u[1][rb[0]] = Real(tests::kDoubles ? 1 + 1e-6 : 1 + 1e-3) * u[1];
  CHECK(reunitarize(u) == Layout::vol() / 2);
  CHECK(distance(u, before) < base_tol(1e-12));
  LatticeColorMatrix untouched = u[1] - before[1];
  CHECK(toDouble(norm2(untouched, rb[1])) == 0);
}

TEST_CASE(
    "the defect is the length of U^+ U - 1 and of what projection changes, and links count from the tolerance on") {
  tests::use_lattice({2, 4, 2, 2});
  const auto defect = [](const LatticeColorMatrix& u) { return toDouble(globalMax(LatticeReal(su3_defect(u)))); };
  for (const double d : {0.25, 0.01, -0.5}) {
    CAPTURE(d);
    const double length = std::sqrt(Nc * (std::pow(2 * d + d * d, 2) + d * d));
    CHECK(defect(LatticeColorMatrix(Real(1 + d) * phase(0))) == doctest::Approx(length).epsilon(base_tol(1e-12)));
  }
  // For a small d that is sqrt(5 Nc) |d|.
  CHECK(unitarity_tolerance() == (tests::kDoubles ? 1e-10 : 1e-5));
  for (const auto& [share, counts] : {std::pair{0.7, false}, std::pair{1.4, true}}) {
    CAPTURE(share);
    GaugeField u(Nd);
    unit_start(u);
    const Real factor = 1 + share * unitarity_tolerance() / std::sqrt(5.0 * Nc);
    for (const int mu : {0, 1}) u[mu] = where(Layout::latticeCoordinate(1) == 2, factor * u[mu], u[mu]);
    const LatticeColorMatrix first = u[0];
    CHECK(reunitarize(u) == (counts ? 2 * Layout::vol() / 4 : 0));
    CHECK((tests::distance(u[0], phase(0)) == 0) == counts);
    if (counts)
      CHECK_THROWS_AS(check_unitarity(first, "test"), NumericsError);
    else
      CHECK_NOTHROW(check_unitarity(first, "test"));  // though the links together are further off
  }
}

TEST_CASE("a check of links is of the values that they had when it began") {
  tests::use_lattice({2, 2, 2, 2});
  LatticeColorMatrix off = Real(1.2) * phase(0), on = phase(0);
  const UnitarityCheck bad(off), good(on);
  off = su3_unitarize(off);
  on = Real(2) * on;
  CHECK_THROWS_WITH_AS(bad.require("update 8"), doctest::Contains("update 8"), NumericsError);
  CHECK_NOTHROW(good.require("update 8"));
}

TEST_CASE("links off the group or not finite are reported with the moment they were found") {
  tests::use_lattice({2, 2, 2, 2});
  CHECK_NOTHROW(check_unitarity(phase(0), "test"));
  LatticeColorMatrix off = phase(0.2);
  if (Nc == 1) off = Real(1.2) * off;  // a phase is in U(1)
  CHECK_THROWS_WITH_AS(check_unitarity(off, "update 7"), doctest::Contains("update 7"), NumericsError);
  LatticeColorMatrix broken = phase(0);
  LatticeReal huge = Real(1e300);
  broken = huge * huge * broken;
  CHECK_THROWS_AS(check_unitarity(broken, "update 8"), NumericsError);
}
