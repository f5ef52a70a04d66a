// Small matrices, Lanczos against them, spectral bounds, deflation.

#include "lib/dirac/staggered.hpp"
#include "lib/error.hpp"
#include "lib/gauge/start.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/dense.hpp"
#include "lib/solver/lanczos.hpp"
#include "tests/lib/solver.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <random>

using namespace QDP;
using namespace qcd;

namespace {

using F = LatticeFermionD;

Matrix random_hermitian(std::size_t n) {
  std::mt19937 generator(5);
  std::normal_distribution<double> normal;
  Matrix h(n, n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      h(i, j) = {normal(generator), i == j ? 0 : normal(generator)};
      h(j, i) = std::conj(h(i, j));
    }
  return h;
}

double distance(const Matrix& a, const Matrix& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.rows(); ++i)
    for (std::size_t j = 0; j < a.columns(); ++j) sum += std::norm(a(i, j) - b(i, j));
  return std::sqrt(sum);
}

/// Eigenvalues of M^+ M, ascending.
std::vector<double> spectrum(const FermionOperator<F>& m) {
  const auto columns = tests::dense_normal(tests::dense_columns(m));
  Matrix a(columns.size(), columns.size());
  for (std::size_t j = 0; j < columns.size(); ++j)
    for (std::size_t i = 0; i < columns.size(); ++i) a(i, j) = columns[j][i];
  return eigensystem(a).values;
}

}  // namespace

TEST_CASE("eigensystem: H V = V D and V^+ V = 1, values ascending, also with equal values") {
  Matrix h = random_hermitian(40);
  const auto check = [](const Matrix& h) {
    const Eigensystem e = eigensystem(h);
    Matrix d(h.rows(), h.rows());
    for (std::size_t i = 0; i < h.rows(); ++i) d(i, i) = e.values[i];
    CHECK(distance(h * e.vectors, e.vectors * d) < 1e-11);
    CHECK(distance(adjoint(e.vectors) * e.vectors, Matrix::identity(h.rows())) < 1e-12);
    CHECK(std::is_sorted(e.values.begin(), e.values.end()));
  };
  check(h);
  check(h * h);
  check(Matrix::identity(5));
  check(Matrix(3, 3));
  Matrix rank_two(20, 20);
  for (std::size_t i = 0; i < 20; ++i)
    for (std::size_t j = 0; j < 20; ++j) rank_two(i, j) = h(i, 0) * std::conj(h(j, 0)) + h(i, 1) * std::conj(h(j, 1));
  check(rank_two);
  h(2, 3) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(eigensystem(h), NumericsError);
  CHECK_THROWS_AS(eigensystem(Matrix(2, 3)), ShapeError);
  CHECK_THROWS_AS(Matrix(2, 3) * Matrix(2, 3), ShapeError);
}

TEST_CASE("pseudo-inverse: A A' A = A, the inverse where there is one") {
  const Matrix h = random_hermitian(12), a = h * h;
  CHECK(distance(a * pseudo_inverse(a), Matrix::identity(12)) < 1e-8);
  Matrix b(12, 5);
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 5; ++j) b(i, j) = h(i, j);
  const Matrix low_rank = b * adjoint(b);
  CHECK(distance(low_rank * pseudo_inverse(low_rank, 1e-10) * low_rank, low_rank) < 1e-9);
}

TEST_CASE("Lanczos finds both ends of the spectrum, plain and with a Chebyshev polynomial") {
  tests::use_lattice({2, 2, 2, 2});
  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.13);
  const std::vector<double> exact = spectrum(*m);
  Seed before, after;
  RNG::savern(before);
  for (const SpectrumEnd end : {SpectrumEnd::lowest, SpectrumEnd::highest})
    for (const int degree : {0, 7, 8}) {  // an odd polynomial knows the sign of its argument
      CAPTURE(degree);
      LanczosParameters p{.wanted = 4, .end = end, .tolerance = 1e-10, .basis = 24, .chebyshev_degree = degree};
      p.low = end == SpectrumEnd::lowest ? exact[10] : 0;
      p.high = end == SpectrumEnd::lowest ? 1.1 * exact.back() : exact[exact.size() - 10];
      const Eigenpairs<F> pairs = lanczos<F>(*m, p);
      CHECK(pairs.converged);
      REQUIRE(pairs.values.size() == 4);
      for (std::size_t j = 0; j < 4; ++j) {
        const double expected = end == SpectrumEnd::lowest ? exact[j] : exact[exact.size() - 1 - j];
        CHECK(pairs.values[j] == doctest::Approx(expected).epsilon(1e-9));
        F av = zero;
        av[m->domain()] = m->normal(pairs.vectors[j]) - Real(pairs.values[j]) * pairs.vectors[j];
        CHECK(std::sqrt(toDouble(norm2(av, m->domain()))) ==
              doctest::Approx(pairs.residuals[j]).epsilon(1e-6).scale(0));
        CHECK(pairs.residuals[j] < 1e-8);
        for (std::size_t i = 0; i <= j; ++i)
          CHECK(toDouble(sqrt(localNorm2(innerProduct(pairs.vectors[i], pairs.vectors[j], m->domain())))) ==
                doctest::Approx(i == j ? 1 : 0).epsilon(1e-10));
      }
    }
  RNG::savern(after);
  CHECK(toBool(before == after));
}

TEST_CASE("Lanczos and spectral bounds report every application of the operator") {
  tests::use_lattice({2, 2, 2, 2});
  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.13);
  for (const int degree : {0, 5}) {
    long applications = 0;
    const HermitianOperator<F> a = [&](const F& in) {
      ++applications;
      return m->normal(in);
    };
    LanczosParameters p{.wanted = 3, .tolerance = 1e-8, .chebyshev_degree = degree};
    p.low = 1;
    p.high = 6;
    const Eigenpairs<F> pairs = lanczos<F>(a, m->domain(), p);
    CHECK(pairs.applications == applications);
  }
  const tests::CountedOperator<F> counted(*m);
  const SpectralBounds bounds = spectral_bounds<F>(counted, 1e-3);
  CHECK(2 * bounds.applications == counted.applications());
}

TEST_CASE("Lanczos in an invariant subspace, and with parameters that make no sense") {
  tests::use_lattice({2, 2, 2, 2});
  // M = 2: every vector is an eigenvector.
  const tests::HoppingOperator<F> two(tests::random_links<F>(), 2, 0, 0);
  const Eigenpairs<F> pairs = lanczos<F>(two, {.wanted = 1});
  REQUIRE(pairs.values.size() == 1);
  CHECK(pairs.values[0] == doctest::Approx(4));
  CHECK(pairs.converged);
  CHECK(!lanczos<F>(two, {.wanted = 2}).converged);  // one start vector shows one of them

  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.13);
  CHECK_THROWS_AS(lanczos<F>(*m, {.wanted = 0}), ShapeError);
  CHECK_THROWS_AS(lanczos<F>(*m, {.wanted = 4, .basis = 5}), ShapeError);
  CHECK_THROWS_AS(lanczos<F>(*m, {.chebyshev_degree = 5, .low = 1, .high = 0.5}), ShapeError);
  CHECK(!lanczos<F>(*m, {.wanted = 5, .tolerance = 1e-14, .basis = 8, .max_restarts = 0}).converged);
}

TEST_CASE("spectral bounds enclose the ends of the spectrum") {
  tests::use_lattice({2, 2, 2, 4});
  for (const double kappa : {0.10, 0.15}) {
    const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), kappa);
    const std::vector<double> exact = spectrum(*m);
    const SpectralBounds bounds = spectral_bounds<F>(*m, 1e-3);
    CHECK(bounds.converged);
    CHECK(std::fabs(bounds.lowest - exact.front()) <= bounds.lowest_error + 1e-12);
    CHECK(std::fabs(bounds.highest - exact.back()) <= bounds.highest_error + 1e-12);
    CHECK(bounds.lowest_error <= 1e-3 * exact.front());
    CHECK(bounds.highest_error <= 1e-3 * exact.back());
  }
}

TEST_CASE(
    "spectral bounds converge where the low end is a dense band, and stay above the mass squared of staggered quarks") {
  using S = LatticeStaggeredFermionD;
  tests::use_lattice({4, 4, 4, 8});
  GaugeField smooth(Nd);
  weak_field_start(smooth);
  for (const GaugeField& u : {smooth, tests::random_field()}) {
    const auto links = converted_links<LinksOf<S>>(u);
    const auto bounds_at = [&](double mass) {
      const auto m =
          make_preconditioned<S>(std::make_shared<StaggeredOperator<S>>(links, StaggeredParameters{.mass = mass}),
                                 Preconditioning::even_source);
      return spectral_bounds<S>(*m, 1e-2);
    };
    for (const double mass : {0.5, 0.05, 0.01}) {
      CAPTURE(mass);
      const SpectralBounds bounds = bounds_at(mass);
      // M^+ M = m^2 - D^2 on the even sites: at least m^2, and the same D^2 for each mass.
      CHECK(bounds.converged);
      CHECK(bounds.lowest >= mass * mass * (1 - 1e-10));
      CHECK(bounds.lowest_error <= 1e-2 * bounds.lowest);
      CHECK(bounds.lowest - bounds.lowest_error >= 0.98 * mass * mass);
      CHECK(bounds.applications < 40000);
    }
    const double at_half = bounds_at(0.5).lowest - 0.25, at_tenth = bounds_at(0.1).lowest - 0.01;
    CHECK(std::fabs(at_half - at_tenth) <= 1e-2 * (0.25 + at_half));
  }
}

TEST_CASE("lowest and highest lie inside the spectrum, so a spectrum inside an interval is never found outside") {
  tests::use_lattice({2, 2, 2, 4});
  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.15);
  const std::vector<double> exact = spectrum(*m);
  for (const int restarts : {0, 1, 50}) {  // also before anything has converged
    CAPTURE(restarts);
    const SpectralBounds bounds = spectral_bounds<F>(*m, 1e-2, restarts);
    CHECK(bounds.lowest >= exact.front() * (1 - 1e-12));
    CHECK(bounds.highest <= exact.back() * (1 + 1e-12));
  }
}

TEST_CASE("deflation takes known modes out of the residual and saves iterations") {
  tests::use_lattice({4, 4, 4, 4});
  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.17);
  const SystemOperator<F> system{*m, {}};
  const Subset& s = m->domain();
  const auto deflation = std::make_shared<Deflation<F>>(lanczos<F>(*m, {.wanted = 12, .tolerance = 1e-10}));
  REQUIRE(deflation->pairs().converged);

  const auto b = tests::random_vector<F>(s);
  F x = zero, r = zero, half = zero, part = zero;
  deflation->improve(x, system, b);
  m->apply(half, x, Sign::plus);
  m->apply(r, half, Sign::minus);
  r[s] = b - r;
  deflation->project(part, r, s);
  CHECK(toDouble(norm2(part, s)) < 1e-18 * toDouble(norm2(b, s)));

  const auto cg = std::make_shared<CG<F>>(StoppingCriterion{1e-10, 5000});
  F plain = zero, deflated = zero;
  const SolveResult without = cg->solve(plain, system, b);
  const SolveResult with = DeflatedSolver<F>(deflation, cg).solve(deflated, system, b);
  CHECK(with.converged);
  CHECK(with.iterations < without.iterations);
  CHECK(tests::normal_residual(*m, deflated, b) < 1.02e-10);
}

TEST_CASE("the ends of the staggered spectrum of conf.00200 are those that another code finds") {
  const std::string file = tests::data_file("conf.00200");
  using S = LatticeStaggeredFermionD;
  tests::use_lattice({4, 4, 4, 4});
  auto v = converted_links<LinksOf<S>>(tests::read_field("SCIDAC", file));
  v[Nd - 1] *= where(Layout::latticeCoordinate(Nd - 1) == Layout::lattSize()[Nd - 1] - 1, Integer(-1), Integer(1));
  // Massless, so that M^+ M = -D^2 on even sites.
  const auto m = make_preconditioned<S>(std::make_shared<StaggeredOperator<S>>(v, StaggeredParameters{}),
                                        Preconditioning::even_source);
  const SpectralBounds bounds = spectral_bounds<S>(*m, 1e-5);
  CHECK(bounds.converged);
  CHECK(bounds.lowest == doctest::Approx(0.00792635908882).epsilon(tests::base_tol(1e-9)));
  CHECK(bounds.highest == doctest::Approx(4.9378793763516).epsilon(tests::base_tol(1e-9)));
  CHECK(std::fabs(bounds.lowest - 0.00792635908882) <= bounds.lowest_error + tests::base_tol(1e-13));  // its last digit
  CHECK(std::fabs(bounds.highest - 4.9378793763516) <= bounds.highest_error + tests::base_tol(1e-13));
}
