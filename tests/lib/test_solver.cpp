// The solvers against Gaussian elimination on tiny lattices, their residuals, and what they do when they cannot
// succeed.

#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "lib/dirac/staggered.hpp"
#include "lib/error.hpp"
#include "lib/solver/bicgstab.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "lib/solver/minimal_residual.hpp"
#include "lib/solver/multi_shift.hpp"
#include "tests/jit/settings.hpp"
#include "tests/lib/solver.hpp"
#include "tests/sizes.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <map>

using namespace QDP;
using namespace qcd;

namespace {

/// An operator, its partners for inner iterations, and its matrix.
template <class F>
struct Fixture {
  std::unique_ptr<FermionOperator<F>> m;
  std::unique_ptr<FermionOperator<Single<F>>> single, half = nullptr;
  std::vector<std::vector<tests::Complex>> matrix;

  SystemOperator<F> system() const {
    return {*m, [this]() -> const FermionOperator<Single<F>>& { return *single; },
            [this]() -> const FermionOperator<Single<F>>& { return half ? *half : *single; }};
  }
};

/// M with eigenvalues in the right half plane, so that every iteration can succeed.
template <class F>
Fixture<F> hopping() {
  tests::use_lattice({2, 2, 2, 2});
  const LinksOf<F> v = tests::random_links<F>();
  Fixture<F> f;
  f.m = std::make_unique<tests::HoppingOperator<F>>(v, 2.5, -0.3, -0.1);
  f.single =
      std::make_unique<tests::HoppingOperator<Single<F>>>(converted_links<LinksOf<Single<F>>>(v), 2.5, -0.3, -0.1);
  f.matrix = tests::dense_columns(*f.m);
  return f;
}

Fixture<LatticeFermionD> wilson(const std::vector<int>& lattice = {2, 2, 2, 2}, double kappa = 0.12) {
  tests::use_lattice(lattice);
  const auto v = tests::random_links<LatticeFermionD>();
  Fixture<LatticeFermionD> f;
  f.m = tests::even_odd_wilson<LatticeFermionD>(v, kappa);
  const auto v_single = converted_links<LinksOf<LatticeFermionF>>(v);
  f.single = tests::even_odd_wilson<LatticeFermionF>(v_single, kappa);
  f.half = tests::even_odd_wilson<LatticeFermionF>(v_single, kappa, true);
  return f;
}

template <class F>
std::map<std::string, std::shared_ptr<const DirectSolver<F>>> direct_solvers(const StoppingCriterion& c) {
  return {{"BiCGStab", std::make_shared<BiCGStab<F>>(c)},
          {"MixedBiCGStab", std::make_shared<MixedBiCGStab<F>>(c)},
          {"MixedBiCGStab, half", std::make_shared<MixedBiCGStab<F>>(c, 0.1, InnerPrecision::half)},
          {"MR", std::make_shared<MR<F>>(c)},
          {"MR, overrelaxed", std::make_shared<MR<F>>(c, 1.1)},
          {"GCR", std::make_shared<GCR<F>>(c, 5)},
          {"GCR, preconditioned", std::make_shared<GCR<F>>(c, 8, std::make_shared<MR<F>>(StoppingCriterion{1e-30, 3}))},
          {"CG", std::make_shared<DirectByNormal<F>>(std::make_shared<CG<F>>(c))},
          {"Richardson", std::make_shared<DirectRichardson<F>>(
                             c, std::make_shared<BiCGStab<Single<F>>>(StoppingCriterion{1e-3, 100}))}};
}

template <class F>
std::map<std::string, std::shared_ptr<const NormalSolver<F>>> normal_solvers(const StoppingCriterion& c) {
  return {{"CG", std::make_shared<CG<F>>(c)},
          {"MixedCG", std::make_shared<MixedCG<F>>(c)},
          {"MixedCG, half", std::make_shared<MixedCG<F>>(c, 0.1, InnerPrecision::half)},
          {"BiCGStab", std::make_shared<NormalByDirect<F>>(std::make_shared<BiCGStab<F>>(c))},
          {"MixedBiCGStab", std::make_shared<NormalByDirect<F>>(std::make_shared<MixedBiCGStab<F>>(c))},
          {"MR", std::make_shared<NormalByDirect<F>>(std::make_shared<MR<F>>(c))},
          {"GCR", std::make_shared<NormalByDirect<F>>(std::make_shared<GCR<F>>(c))},
          {"Richardson",
           std::make_shared<NormalRichardson<F>>(c, std::make_shared<CG<Single<F>>>(StoppingCriterion{1e-3, 100}))}};
}

/// Another operator until it has been applied so many times; from then on no number is finite.
template <class F>
class FailingOperator : public FermionOperator<F> {
 public:
  FailingOperator(const FermionOperator<F>& m, long good) : m_(m), good_(good) {}
  const Subset& domain() const override { return m_.domain(); }
  void apply(F& out, const F& in, Sign sign) const override {
    m_.apply(out, in, sign);
    if (good_-- <= 0) out[m_.domain()] = RealOf<F>(std::numeric_limits<double>::quiet_NaN()) * out;
  }
  void add_derivative(LinksOf<F>&, const F&, const F&, double) const override {}
  double flops() const override { return m_.flops(); }

 private:
  const FermionOperator<F>& m_;
  mutable long good_;
};

template <class F>
void direct_solvers_are_elimination() {
  const Fixture<F> f = hopping<F>();
  const F b = tests::random_vector<F>(all);
  const auto exact = tests::dense_solution(f.matrix, tests::components(b, all));
  const auto exact_adjoint = tests::dense_solution(tests::dense_columns(*f.m, Sign::minus), tests::components(b, all));
  for (const auto& [name, solver] : direct_solvers<F>({1e-11, 2000})) {
    CAPTURE(name);
    F x = zero;
    SolveResult result = solver->solve(x, f.system(), b);
    CHECK(result.converged);
    CHECK(tests::relative_distance(tests::components(x, all), exact) < 1e-9);
    CHECK(result.residual == doctest::Approx(tests::direct_residual(*f.m, x, b)).epsilon(0.1).scale(0));

    gaussian(x);  // the guess must not matter
    result = solver->solve(x, f.system(), b, Sign::minus);
    CHECK(result.converged);
    CHECK(tests::relative_distance(tests::components(x, all), exact_adjoint) < 1e-9);
    CHECK(result.residual == doctest::Approx(tests::direct_residual(*f.m, x, b, Sign::minus)).epsilon(0.1).scale(0));
  }
}

}  // namespace

TEST_CASE("direct solvers give the solution of Gaussian elimination, of M and of its adjoint") {
  direct_solvers_are_elimination<LatticeFermionD>();
  direct_solvers_are_elimination<LatticeStaggeredFermionD>();
}

TEST_CASE("solvers of the normal equation give the solution of Gaussian elimination, on one parity, from any guess") {
  const Fixture<LatticeFermionD> f = wilson();
  const Subset& s = f.m->domain();
  const auto b = tests::random_vector<LatticeFermionD>(s);
  const auto exact = tests::dense_solution(tests::dense_normal(tests::dense_columns(*f.m)), tests::components(b, s));
  for (const auto& [name, solver] : normal_solvers<LatticeFermionD>({1e-11, 2000})) {
    CAPTURE(name);
    auto x = tests::random_vector<LatticeFermionD>(s);
    const SolveResult result = solver->solve(x, f.system(), b);
    CHECK(result.converged);
    CHECK(result.residual < 1.1e-11);
    CHECK(result.residual == doctest::Approx(tests::normal_residual(*f.m, x, b)).epsilon(0.1).scale(0));
    CHECK(tests::relative_distance(tests::components(x, s), exact) < 1e-9);
    CHECK(toDouble(norm2(x, rb[0])) == 0);  // nothing is written elsewhere
    CHECK(solver->criterion().residual == 1e-11);
  }
}

namespace {

using Vector = std::vector<tests::Complex>;
using Image = std::function<Vector(const Vector&)>;

tests::Complex dot(const Vector& a, const Vector& b) {
  tests::Complex sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}
double norm(const Vector& a) { return std::sqrt(dot(a, a).real()); }
/// a + c b.
Vector plus(Vector a, tests::Complex c, const Vector& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += c * b[i];
  return a;
}

// |r| after each of so many iterations from nought, as textbooks have them.

std::vector<double> plain_cg(const Image& a, Vector r, int iterations) {
  std::vector<double> sizes;
  Vector p = r;
  for (double rr = dot(r, r).real(); iterations > 0; --iterations) {
    const Vector ap = a(p);
    r = plus(r, -rr / dot(p, ap).real(), ap);
    const double next = dot(r, r).real();
    p = plus(r, next / rr, p);
    rr = next;
    sizes.push_back(std::sqrt(rr));
  }
  return sizes;
}

/// van der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992) 631.
std::vector<double> plain_bicgstab(const Image& m, Vector r, int iterations) {
  std::vector<double> sizes;
  const Vector r0 = r;
  Vector p = r;
  for (; iterations > 0; --iterations) {
    const tests::Complex rho = dot(r0, r);
    const Vector v = m(p);
    const tests::Complex alpha = rho / dot(r0, v);
    r = plus(r, -alpha, v);
    const Vector t = m(r);
    const tests::Complex omega = dot(t, r) / dot(t, t);
    r = plus(r, -omega, t);
    p = plus(r, dot(r0, r) / rho * (alpha / omega), plus(p, -omega, v));
    sizes.push_back(norm(r));
  }
  return sizes;
}

std::vector<double> plain_mr(const Image& m, Vector r, int iterations, double overrelaxation) {
  std::vector<double> sizes;
  for (; iterations > 0; --iterations) {
    const Vector mr = m(r);
    r = plus(r, -overrelaxation * dot(mr, r) / dot(mr, mr), mr);
    sizes.push_back(norm(r));
  }
  return sizes;
}

/// r less its part in the span of M r, M^2 r, ..., of which `most` are kept, then none.
std::vector<double> plain_gcr(const Image& m, Vector r, int iterations, std::size_t most) {
  std::vector<double> sizes;
  std::vector<Vector> images;
  for (; iterations > 0; --iterations) {
    if (images.size() == most) images.clear();
    Vector q = m(r);
    for (const Vector& before : images) q = plus(q, -dot(before, q), before);
    q = plus(Vector(q.size()), 1 / norm(q), q);
    r = plus(r, -dot(q, r), q);
    images.push_back(q);
    sizes.push_back(norm(r));
  }
  return sizes;
}

template <class F>
void iterations_are_those_of_textbooks() {
  const Fixture<F> f = hopping<F>();
  const F b = tests::random_vector<F>(all);
  const Vector plain_b = tests::components(b, all);
  const auto image_of = [](const std::vector<Vector>& columns) -> Image {
    return [columns](const Vector& x) {
      Vector y(x.size());
      for (std::size_t j = 0; j < x.size(); ++j) y = plus(y, x[j], columns[j]);
      return y;
    };
  };
  constexpr int kMost = 8;
  const auto check = [&](const std::string& name, const std::vector<double>& history, const std::vector<double>& sizes,
                         std::size_t count, double tolerance = 1e-7) {
    CAPTURE(name);
    REQUIRE(history.size() >= count);
    for (std::size_t i = 0; i < count; ++i) {
      CAPTURE(i);
      CHECK(history[i] == doctest::Approx(sizes[i] / norm(plain_b)).epsilon(tolerance).scale(0));
    }
  };
  const StoppingCriterion c{1e-12, 2000};
  for (const Sign sign : {Sign::plus, Sign::minus}) {
    const Image m = image_of(tests::dense_columns(*f.m, sign));
    const auto history_of = [&](const DirectSolver<F>& solver) {
      F x = zero;
      return solver.solve(x, f.system(), b, sign).history;
    };
    const std::vector<double> bicgstab = plain_bicgstab(m, plain_b, kMost);
    check("BiCGStab", history_of(BiCGStab<F>(c)), bicgstab, kMost);
    check("MixedBiCGStab", history_of(MixedBiCGStab<F>(c, 1e-6)), bicgstab, 4, 1e-3);
    check("MR", history_of(MR<F>(c)), plain_mr(m, plain_b, kMost, 1), kMost);
    check("MR, overrelaxed", history_of(MR<F>(c, 1.1)), plain_mr(m, plain_b, kMost, 1.1), kMost);
    check("GCR", history_of(GCR<F>(c, 5)), plain_gcr(m, plain_b, kMost, 5), kMost);
  }
  const Image normal = image_of(tests::dense_normal(f.matrix));
  const std::vector<double> cg = plain_cg(normal, plain_b, kMost);
  const auto history_of = [&](const NormalSolver<F>& solver) {
    F x = zero;
    return solver.solve(x, f.system(), b).history;
  };
  check("CG", history_of(CG<F>(c)), cg, kMost);
  check("MixedCG", history_of(MixedCG<F>(c, 1e-6)), cg, 4, 1e-3);
  // The slowest system is that of the smallest shift, wherever that stands.
  constexpr double kSmallest = 0.2;
  std::vector<F> x;
  check("MultiShiftCG", MultiShiftCG<F>(c).solve(x, f.system(), b, {3.0, kSmallest, 0.7}).history,
        plain_cg([&](const Vector& p) { return plus(normal(p), kSmallest, p); }, plain_b, kMost), kMost);
}

}  // namespace

TEST_CASE("residuals sink from iteration to iteration as in plain iterations on the dense matrix") {
  iterations_are_those_of_textbooks<LatticeFermionD>();
  iterations_are_those_of_textbooks<LatticeStaggeredFermionD>();
}

TEST_CASE("an overrelaxed step of MR is the plain one times its factor") {
  const Fixture<LatticeFermionD> f = wilson();
  const Subset& s = f.m->domain();
  const auto b = tests::random_vector<LatticeFermionD>(s);
  for (const Sign sign : {Sign::plus, Sign::minus}) {
    LatticeFermionD plain = zero, over = zero;
    MR<LatticeFermionD>({1e-30, 1}).solve(plain, f.system(), b, sign);
    MR<LatticeFermionD>({1e-30, 1}, 1.3).solve(over, f.system(), b, sign);
    const LatticeFermionD expected = RealD(1.3) * plain;
    CHECK(tests::relative_distance(tests::components(over, s), tests::components(expected, s)) < 1e-14);
  }
}

TEST_CASE("an operator as an expression is what apply() stores, alone and within a larger one") {
  using W = LatticeFermionD;
  using S = LatticeStaggeredFermionD;
  tests::use_lattice({2, 4, 2, 2});
  const auto check = [&](auto dirac, Preconditioning p, auto in, double twist = 0) {
    using F = decltype(in);
    const auto m = make_preconditioned(dirac, p, twist);
    for (const Sign sign : {Sign::plus, Sign::minus}) {
      CAPTURE(static_cast<int>(p));
      CAPTURE(static_cast<int>(sign));
      const Subset& from = sign == Sign::plus ? m->domain() : m->range();
      const Subset& to = sign == Sign::plus ? m->range() : m->domain();
      in = tests::random_vector<F>(from);
      const F b = tests::random_vector<F>(to);
      F applied = zero, alone = zero, within = zero, expected = zero;
      m->apply(applied, in, sign);
      expected[to] = b - RealD(0.5) * applied;
      alone[to] = (*m)(in, sign);
      within[to] = b - RealD(0.5) * (*m)(in, sign);
      CHECK(toDouble(norm2(applied)) > 0);
      CHECK(toDouble(norm2(alone - applied, to)) == 0);
      CHECK(toDouble(norm2(within - expected)) == 0);
      CHECK(toDouble(norm2(alone)) == toDouble(norm2(applied, to)));  // nothing beside its sites
    }
  };
  const std::shared_ptr<const DiracOperator<W>> wilson =
      std::make_shared<WilsonOperator<W>>(tests::random_links<W>(), WilsonParameters{.mass = 1});
  const std::shared_ptr<const DiracOperator<S>> staggered =
      std::make_shared<StaggeredOperator<S>>(tests::random_links<S>(), StaggeredParameters{.mass = 1});
  for (const Preconditioning p :
       {Preconditioning::none, Preconditioning::even_odd, Preconditioning::symmetric_even_odd}) {
    check(wilson, p, W());
    check(wilson, p, W(), 0.3);
    check(staggered, p, S());
  }
  check(wilson, Preconditioning::even_source, W());
  check(staggered, Preconditioning::even_source, S());
}

/// Words that all kernels have moved so far, each operand and each result once.
double words_moved() {
  double bytes = 0;
  for (const jit::KernelInfo& kernel : jit::Runtime::instance().kernels()) bytes += kernel.bytes;
  return bytes / sizeof(double);
}

/// Words per site and iteration of `solve(iterations)`, in the long run.
template <class Solve>
double words_per_iteration(Solve solve) {
  constexpr int kFirst = 6, kMore = 24;  // whole batches of the multi-shift solver
  const auto words = [&](int iterations) {
    const double before = words_moved();
    solve(iterations);
    return words_moved() - before;
  };
  words(kFirst);
  const double start = words(kFirst);
  return (words(kFirst + kMore) - start) / kMore / static_cast<double>(Layout::vol());
}

TEST_CASE(
    "an iteration of even-odd Wilson CG moves 40 vectors of one parity with the links, multi-shift CG with 12 shifts 50") {
  TESSERA_NEEDS_QCD("words of spinors and links");
  if (!jit::env().fuse || Layout::numNodes() > 1) return;  // one by one it takes more passes; messages have buffers
  const double vector = 24 / 2.0;                          // per site of the lattice
  const auto cg_words = [&](const Fixture<LatticeFermionD>& f) {
    const LatticeFermionD b = tests::random_vector<LatticeFermionD>(f.m->domain());
    return words_per_iteration([&](int iterations) {
      LatticeFermionD x = zero;
      CG<LatticeFermionD>({1e-30, iterations}).solve(x, f.system(), b);
    });
  };
  {
    // Four hops of 144 words of links on half of the sites, or of 96 in two rows. Vectors: 2 + 3 + 2 of the first three hops and
    // diagonals; b - alpha A p and its norm 4; x and p 5.
    const tests::Setting kept("TESSERA_TWO_ROWS", "1");
    const double cg = cg_words(wilson({4, 4, 4, 4}));
    CHECK(cg == 4 * 96 / 2.0 + (2 + 3 + 2 + 4 + 5) * vector);
    CHECK(cg == 384);
  }
  const tests::Setting plain("TESSERA_TWO_ROWS", "0");
  const Fixture<LatticeFermionD> f = wilson({4, 4, 4, 4});
  const double cg = cg_words(f);
  CHECK(cg == 4 * 144 / 2.0 + (2 + 3 + 2 + 4 + 5) * vector);
  CHECK(cg == 480);
  const LatticeFermionD b = tests::random_vector<LatticeFermionD>(f.m->domain());

  std::vector<double> shifts(12);
  for (std::size_t k = 0; k < shifts.size(); ++k) shifts[k] = 1e-3 * static_cast<double>(k + 1);
  const double multi = words_per_iteration([&](int iterations) {
    std::vector<LatticeFermionD> x;
    MultiShiftCG<LatticeFermionD>({1e-30, iterations}).solve(x, f.system(), b, shifts);
  });
  CHECK(multi == 50 * vector);  // each shift's x and p, and the batch of residuals, once per batch
}

TEST_CASE("an operator counts its hops and its diagonal on the sites where it has them") {
  using W = LatticeFermionD;
  using S = LatticeStaggeredFermionD;
  tests::use_lattice({2, 4, 2, 2});
  const auto volume = static_cast<double>(Layout::vol());
  const auto check = [&](auto dirac, Preconditioning p, double share) {
    const double site = dirac->hop_flops() + dirac->diagonal_flops();
    CHECK(make_preconditioned(dirac, p)->flops() == share * volume * site);
  };
  const std::shared_ptr<const DiracOperator<W>> wilson =
      std::make_shared<WilsonOperator<W>>(tests::random_links<W>(), WilsonParameters{.mass = 1});
  const std::shared_ptr<const DiracOperator<S>> staggered =
      std::make_shared<StaggeredOperator<S>>(tests::random_links<S>(), StaggeredParameters{.mass = 1});
  check(wilson, Preconditioning::none, 1);
  // A hop to each parity; A on one of them, its inverse on the other (or on both).
  check(wilson, Preconditioning::even_odd, 1);
  check(wilson, Preconditioning::symmetric_even_odd, 1);
  check(staggered, Preconditioning::none, 1);
  check(staggered, Preconditioning::even_source, 0.5);  // a hop to the odd sites, A on the even ones
  const double of_shift = 48 * volume / 2;  // i twist gamma_5 psi on the odd sites: two for each of 24 words
  CHECK(make_preconditioned(wilson, Preconditioning::even_odd, 0.3)->flops() ==
        make_preconditioned(wilson, Preconditioning::even_odd)->flops() + of_shift);
}

TEST_CASE("a solve reports the operations that it did") {
  using F = LatticeFermionD;
  using Counted = tests::CountedSystem<F>;
  const Fixture<F> f = wilson();
  const Subset& s = f.m->domain();
  const std::vector<F> b = {tests::random_vector<F>(s), tests::random_vector<F>(s)},
                       guesses = {F(zero), tests::random_vector<F>(s)};
  const auto sum = [](const std::vector<SolveResult>& results) {
    double flops = 0;
    for (const SolveResult& result : results) flops += result.flops;
    return flops;
  };
  auto of_m = direct_solvers<F>({1e-11, 2000});
  const auto in_single = std::make_shared<DirectRichardson<F>>(
      StoppingCriterion{1e-30, 1}, std::make_shared<MR<LatticeFermionF>>(StoppingCriterion{1e-10, 4}));
  of_m.emplace("GCR, preconditioned in single", std::make_shared<GCR<F>>(StoppingCriterion{1e-11, 2000}, 8, in_single));
  for (const auto& [name, solver] : of_m) {
    CAPTURE(name);
    for (const F& guess : guesses)
      for (const Sign sign : {Sign::plus, Sign::minus}) {
        const Counted counted(f.system());
        F x = guess;
        const SolveResult result = solver->solve(x, counted.system(), b[0], sign);
        CHECK(Counted::applications_in(result.flops) == counted.applications());
        if (name != "CG") {  // which counts those of M^+ M
          CHECK(result.applications == counted.m.applications());
          CHECK(result.single_applications == counted.inner_applications());
        }
        CHECK(static_cast<int>(result.history.size()) == result.iterations);
      }
    const Counted counted(f.system());
    std::vector<F> x = guesses;
    const double flops = sum(solver->solve_all(x, counted.system(), b));
    CHECK(Counted::applications_in(flops) == counted.applications());
  }
  auto solvers = normal_solvers<F>({1e-11, 2000});
  solvers.emplace("single", std::make_shared<SinglePrecision<F>>(
                                std::make_shared<CG<LatticeFermionF>>(StoppingCriterion{1e-5, 1000})));
  for (const auto& [name, solver] : solvers) {
    CAPTURE(name);
    for (const F& guess : guesses) {
      const Counted counted(f.system());
      F x = guess;
      const SolveResult result = solver->solve(x, counted.system(), b[0]);
      CHECK(Counted::applications_in(result.flops) == counted.applications());
      CHECK(static_cast<int>(result.history.size()) == result.iterations);
      if (name != "CG" && !name.starts_with("MixedCG") && name != "Richardson" && name != "single") {
        CHECK(result.single_applications == counted.inner_applications());  // of M, in two steps
        continue;
      }
      CHECK(2 * result.applications == counted.m.applications());  // of M^+ M
      CHECK(2 * result.single_applications == counted.inner_applications());
      CHECK((counted.half.applications() > 0) == name.ends_with("half"));
    }
    const Counted counted(f.system());
    std::vector<F> x = guesses;
    const double flops = sum(solver->solve_all(x, counted.system(), b));
    CHECK(Counted::applications_in(flops) == counted.applications());
  }
}

TEST_CASE("the operations of a solver's vectors are those of its updates and norms, beside an operator of none") {
  using F = LatticeFermionD;
  const Fixture<F> f = hopping<F>();
  const F b = tests::random_vector<F>(all);
  // An update y += a x with real a, or a norm; with complex a twice as much.
  const double real_update = 4.0 * Ns * Nc * static_cast<double>(Layout::vol());
  const StoppingCriterion c{1e-30, 7};
  const auto updates = [&](const auto& solver) {
    F x = zero;
    const SolveResult result = solver.solve(x, f.system(), b);
    CHECK(result.iterations == 7);
    return result.flops / real_update;
  };
  CHECK(updates(CG<F>(c)) == 7 * (3 + 2));  // r, x, p; <p, A p> = |M p|^2, |r|^2
  const auto direct = [](auto solver) { return solver; };
  CHECK(updates(direct(BiCGStab<F>(c))) ==
        7 * (2 * 6 + 2 * 3 + 2));                           // x twice, r twice, p twice; three products, |t|, |r|
  CHECK(updates(direct(MR<F>(c))) == 7 * (2 * 2 + 2 + 2));  // x, r; a product; |M r|, |r|
  // In a cycle of three directions the second and third are made orthogonal to those before: q and z, a product each.
  CHECK(updates(direct(GCR<F>(c, 3))) == 7 * 9 + 8 * (0 + 1 + 2) * 2);
  for (const auto& [name, solver] : normal_solvers<F>(c)) {
    CAPTURE(name);
    if (name != "MixedCG") continue;
    F x = zero;
    const SolveResult result = solver->solve(x, f.system(), b);
    CHECK(result.flops == 5.0 * result.iterations * real_update);
  }
}

TEST_CASE("single precision reaches what single precision can") {
  const Fixture<LatticeStaggeredFermionF> f = hopping<LatticeStaggeredFermionF>();
  const auto b = tests::random_vector<LatticeStaggeredFermionF>(all);
  const auto matrix = tests::dense_normal(f.matrix);
  const auto exact = tests::dense_solution(matrix, tests::components(b, all));
  for (const auto& [name, solver] : normal_solvers<LatticeStaggeredFermionF>({1e-5, 1000})) {
    CAPTURE(name);
    LatticeStaggeredFermionF x = zero;
    CHECK(solver->solve(x, f.system(), b).converged);
    CHECK(tests::relative_distance(tests::components(x, all), exact) < 1e-4);
  }
}

TEST_CASE("mixed precision reaches a true residual of 1e-12 with a few applications in double") {
  const Fixture<LatticeFermionD> f = wilson({4, 4, 4, 4}, 0.14);
  const Subset& s = f.m->domain();
  const auto b = tests::random_vector<LatticeFermionD>(s);
  const StoppingCriterion asked{1e-12, 2000};
  LatticeFermionD x = zero;
  const SolveResult pure = CG<LatticeFermionD>(asked).solve(x, f.system(), b);
  REQUIRE(pure.converged);

  LatticeFermionD y = zero;
  const SolveResult mixed = MixedCG<LatticeFermionD>(asked).solve(y, f.system(), b);
  CHECK(mixed.converged);
  CHECK(tests::normal_residual(*f.m, y, b) < 1.01e-12);
  CHECK(mixed.applications < 20);
  CHECK(mixed.single_applications == mixed.iterations);
  CHECK(mixed.iterations < 1.6 * pure.iterations);

  y = zero;
  const SolveResult direct = MixedBiCGStab<LatticeFermionD>(asked).solve(y, f.system(), b);
  CHECK(direct.converged);
  CHECK(tests::direct_residual(*f.m, y, b) < 1.01e-12);
  CHECK(direct.applications < 20);
  CHECK(direct.single_applications >= 2 * direct.iterations - 1);
}

TEST_CASE("half precision: the same solution, by an operator and vectors in 16 bits") {
  const Fixture<LatticeFermionD> f = wilson({4, 4, 4, 4}, 0.14);
  const Subset& s = f.m->domain();
  const auto b = tests::random_vector<LatticeFermionD>(s);
  const StoppingCriterion asked{1e-12, 2000};

  // Sixteen bits are what M is made with: it is as far from the operator in single precision as these tell.
  auto psi = LatticeFermionF(b), image = psi, coarse = psi;
  f.single->apply(image, psi, Sign::plus);
  f.half->apply(coarse, psi, Sign::plus);
  const double distance = std::sqrt(toDouble(norm2(image - coarse, s)) / toDouble(norm2(image, s)));
  CHECK(distance < 1e-4);
  if (Nc == 3) CHECK(distance > 1e-6);
  LatticeFermionF kept(FieldStorage::half);
  kept = psi;
  const LatticeFermionF rounded = kept;
  LatticeFermionF from_kept, from_rounded;
  from_kept[s] = (*f.half)(kept, Sign::plus);
  from_rounded[s] = (*f.half)(rounded, Sign::plus);
  CHECK(toDouble(norm2(from_kept - from_rounded, s)) > 0);  // what is between the hops is in 16 bits, too
  CHECK(toDouble(norm2(from_kept - from_rounded, s)) < 1e-8 * toDouble(norm2(from_kept, s)));

  const auto check = [&](const auto& half, const auto& single, const auto& residual) {
    LatticeFermionD x = zero, y = zero;
    const SolveResult result = half.solve(x, f.system(), b), reference = single.solve(y, f.system(), b);
    CHECK(result.converged);
    CHECK(residual(x) < 1.01e-12);
    CHECK(result.iterations < 1.7 * reference.iterations);
    CHECK(result.applications < 40);
    CHECK(result.history != reference.history);
    CHECK(toDouble(norm2(x - y, s)) < 1e-20 * toDouble(norm2(y, s)));
  };
  check(MixedCG<LatticeFermionD>(asked, 0.1, InnerPrecision::half), MixedCG<LatticeFermionD>(asked),
        [&](const auto& x) { return tests::normal_residual(*f.m, x, b); });
  check(MixedBiCGStab<LatticeFermionD>(asked, 0.1, InnerPrecision::half), MixedBiCGStab<LatticeFermionD>(asked),
        [&](const auto& x) { return tests::direct_residual(*f.m, x, b); });
}

TEST_CASE("where half precision comes no further, single precision goes on") {
  const Fixture<LatticeFermionD> f = wilson({4, 4, 2, 4}, 0.13);
  const auto other =  // says little of this one
      tests::even_odd_wilson<LatticeFermionF>(tests::random_links<LatticeFermionF>(), -0.12, true);
  const auto b = tests::random_vector<LatticeFermionD>(f.m->domain());
  const StoppingCriterion asked{1e-11, 2000};
  int asked_for_single = 0;
  const SystemOperator<LatticeFermionD> system{*f.m,
                                               [&]() -> const FermionOperator<LatticeFermionF>& {
                                                 ++asked_for_single;
                                                 return *f.single;
                                               },
                                               [&]() -> const FermionOperator<LatticeFermionF>& { return *other; }};
  LatticeFermionD x = zero;
  CHECK(MixedCG<LatticeFermionD>(asked, 0.1, InnerPrecision::half).solve(x, system, b).converged);
  CHECK(tests::normal_residual(*f.m, x, b) < 1.01e-11);
  CHECK(asked_for_single == 1);
  x = zero;
  CHECK(MixedBiCGStab<LatticeFermionD>(asked, 0.1, InnerPrecision::half).solve(x, system, b).converged);
  CHECK(tests::direct_residual(*f.m, x, b) < 1.01e-11);
  CHECK(asked_for_single == 2);
}

TEST_CASE("single precision only: the residual that is reported is that of the double-precision operator") {
  const Fixture<LatticeFermionD> f = wilson();
  const auto b = tests::random_vector<LatticeFermionD>(f.m->domain());
  LatticeFermionD x = zero;
  const SinglePrecision<LatticeFermionD> solver(std::make_shared<CG<LatticeFermionF>>(StoppingCriterion{1e-6, 200}));
  const SolveResult result = solver.solve(x, f.system(), b);
  CHECK(result.converged);
  CHECK(result.residual == doctest::Approx(tests::normal_residual(*f.m, x, b)).epsilon(1e-3).scale(0));
  CHECK(result.residual < 1e-5);
  CHECK(result.applications <= 1);
}

TEST_CASE("CG stops at the first |r| <= residual |b|, and counts as Chroma does") {
  // Chroma's regression hmc.prec_wilson: weak field, momenta drawn, phi = M^+ eta; 18 iterations from nought to 1e-7.
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  RNG::setrn(make_seed({11, 0, 0, 0}));
  {
    GaugeField p(Nd);  // momenta come first: two draws of a matrix field for each direction
    for (int mu = 0; mu < Nd; ++mu) gaussian(p[mu]);
  }
  auto v = converted_links<LinksOf<LatticeFermionD>>(u);
  v[Nd - 1] *= where(Layout::latticeCoordinate(Nd - 1) == Layout::lattSize()[Nd - 1] - 1, Integer(-1), Integer(1));
  const auto m = tests::even_odd_wilson<LatticeFermionD>(v, 0.11);
  const Subset& s = m->domain();
  LatticeFermionD eta = zero, phi = zero, x = zero;
  gaussian(eta, s);
  eta[s] *= Real(std::sqrt(0.5));
  m->apply(phi, eta, Sign::minus);
  const SolveResult result = CG<LatticeFermionD>({1e-7, 1000}).solve(x, {*m, {}}, phi);
  CHECK(result.iterations == 18);
  CHECK(result.applications == 19);  // and the residual at the end
  // Chroma subtracts the mean of <eta, eta>: one per complex component.
  const double action = toDouble(innerProductReal(phi, x, s)) - 12 * 128;
  CHECK(action == doctest::Approx(-1.03018386151604).epsilon(tests::base_tol(1e-6)));
  REQUIRE(result.history.size() == 18);
  CHECK(result.history[17] <= 1e-7);
  CHECK(result.history[16] > 1e-7);
}

TEST_CASE("a guess that is good enough costs no iteration, and a better guess fewer") {
  const Fixture<LatticeFermionD> f = wilson();
  const auto b = tests::random_vector<LatticeFermionD>(f.m->domain());
  const CG<LatticeFermionD> solver({1e-8, 1000});
  LatticeFermionD x = zero;
  const int from_nought = solver.solve(x, f.system(), b).iterations;
  CHECK(solver.solve(x, f.system(), b).iterations == 0);
  const CG<LatticeFermionD> better({1e-10, 1000});
  CHECK(better.solve(x, f.system(), b).iterations < from_nought / 2);
}

TEST_CASE("a right-hand side of nought has the solution nought, whatever the guess") {
  const Fixture<LatticeFermionD> f = hopping<LatticeFermionD>();
  const LatticeFermionD b = zero;
  for (const auto& [name, solver] : direct_solvers<LatticeFermionD>({1e-10, 100})) {
    CAPTURE(name);
    auto x = tests::random_vector<LatticeFermionD>(all);
    const SolveResult result = solver->solve(x, f.system(), b);
    CHECK(result.converged);
    CHECK(result.iterations == 0);
    CHECK(toDouble(norm2(x)) == 0);
  }
  for (const auto& [name, solver] : normal_solvers<LatticeFermionD>({1e-10, 100})) {
    CAPTURE(name);
    auto x = tests::random_vector<LatticeFermionD>(all);
    CHECK(solver->solve(x, f.system(), b).converged);
    CHECK(toDouble(norm2(x)) == 0);
  }
}

TEST_CASE("the largest number of iterations is kept, the result says so, and require_converged names the figures") {
  const Fixture<LatticeFermionD> f = hopping<LatticeFermionD>();
  const auto b = tests::random_vector<LatticeFermionD>(all);
  const StoppingCriterion asked{1e-12, 4};
  const auto check = [&](const std::string& name, const SolveResult& result, int allowed) {
    CAPTURE(name);
    CHECK(!result.converged);
    CHECK(result.iterations <= allowed);
    CHECK(result.residual > 1e-12);
    CHECK(result.residual < 1);
    CHECK_THROWS_WITH_AS(require_converged(result, asked, "pion"), doctest::Contains("pion: expected"), NumericsError);
  };
  for (const auto& [name, solver] : direct_solvers<LatticeFermionD>(asked)) {
    if (name == "Richardson") continue;  // its iterations are corrections
    LatticeFermionD x = zero;
    check(name, solver->solve(x, f.system(), b), 4);
  }
  for (const auto& [name, solver] : normal_solvers<LatticeFermionD>(asked)) {
    if (name == "Richardson") continue;
    LatticeFermionD x = zero;
    check(name, solver->solve(x, f.system(), b), 8);
  }
  LatticeFermionD x = zero;
  const NormalRichardson<LatticeFermionD> richardson(
      {1e-12, 1}, std::make_shared<CG<LatticeFermionF>>(StoppingCriterion{1e-3, 50}));
  check("Richardson", richardson.solve(x, f.system(), b), 50);
  SolveResult fine;
  fine.converged = true;
  CHECK_NOTHROW(require_converged(fine, asked, "pion"));
}

TEST_CASE("a residual below what rounding allows ends the solve instead of going round for ever") {
  const Fixture<LatticeFermionD> f = wilson();
  const auto b = tests::random_vector<LatticeFermionD>(f.m->domain());
  for (const auto& [name, solver] : normal_solvers<LatticeFermionD>({1e-18, 5000})) {
    if (name == "MR") continue;  // takes all of them
    CAPTURE(name);
    LatticeFermionD x = zero;
    const SolveResult result = solver->solve(x, f.system(), b);
    CHECK(!result.converged);
    CHECK(result.iterations < 1000);
    CHECK(result.residual < 1e-13);
  }
}

TEST_CASE("what rounding allows no closer counts as converged up to ten times the target") {
  using Narrow = LatticeFermionF;
  const Fixture<Narrow> f = hopping<Narrow>();
  const Narrow b = tests::random_vector<Narrow>(all);
  int reached = 0, near = 0, far = 0;
  for (double residual = 4e-7; residual > 2e-9; residual /= 1.25) {
    CAPTURE(residual);
    const StoppingCriterion c{residual, 2000};
    Narrow x = zero, y = zero, z = zero, w = zero;
    for (const SolveResult& result :
         {CG<Narrow>(c).solve(x, f.system(), b), GCR<Narrow>(c, 5).solve(y, f.system(), b),
          BiCGStab<Narrow>(c).solve(z, f.system(), b), MR<Narrow>(c).solve(w, f.system(), b)}) {
      const double ratio = result.residual / residual;
      CHECK(result.iterations < 2000);
      CHECK(result.converged == (ratio <= 10));
      reached += ratio <= 1.01;
      near += ratio > 1.01 && ratio <= 10;
      far += ratio > 10;
    }
  }
  CHECK(reached > 0);
  CHECK(near > 0);
  CHECK(far > 0);
}

TEST_CASE("numbers that are not finite and operators that are not positive are errors") {
  const Fixture<LatticeFermionD> f = hopping<LatticeFermionD>();
  LatticeFermionD b = tests::random_vector<LatticeFermionD>(all);
  LatticeFermionD not_finite = b;
  not_finite *= Real(std::numeric_limits<double>::quiet_NaN());
  for (const auto& [name, solver] : direct_solvers<LatticeFermionD>({1e-10, 100})) {
    CAPTURE(name);
    LatticeFermionD x = zero;
    CHECK_THROWS_WITH_AS(solver->solve(x, f.system(), not_finite), doctest::Contains("finite"), NumericsError);
    x = not_finite;
    CHECK_THROWS_AS(solver->solve(x, f.system(), b, Sign::plus), NumericsError);
  }
  for (const auto& [name, solver] : normal_solvers<LatticeFermionD>({1e-10, 100})) {
    CAPTURE(name);
    LatticeFermionD x = zero;
    CHECK_THROWS_WITH_AS(solver->solve(x, f.system(), not_finite), doctest::Contains("finite"), NumericsError);
  }
  const tests::HoppingOperator<LatticeFermionD> nothing(tests::random_links<LatticeFermionD>(), 0, 0, 0);
  LatticeFermionD x = zero;
  CHECK_THROWS_WITH_AS(CG<LatticeFermionD>({1e-10, 100}).solve(x, {nothing, {}}, b), doctest::Contains("positive"),
                       NumericsError);
  x = zero;
  CHECK_THROWS_AS(solve_shifted_by_cg(x, *f.m, *f.m, -100.0, b, {1e-10, 100}, 0), NumericsError);
}

TEST_CASE("an operator that fails at any of its applications, in either precision, is an error of every solver") {
  using F = LatticeFermionD;
  const Fixture<F> f = hopping<F>();
  const F b = tests::random_vector<F>(all);
  const auto each_application = [&](const auto& solver) {
    const tests::CountedSystem<F> counted(f.system());
    const F guess = tests::random_vector<F>(all);
    F x = guess;
    REQUIRE(solver.solve(x, counted.system(), b).converged);
    for (long n = 0; n < counted.m.applications(); ++n) {
      CAPTURE(n);
      const FailingOperator<F> failing(*f.m, n);
      x = guess;
      CHECK_THROWS_AS(solver.solve(x, {failing, f.system().single, f.system().half}, b), NumericsError);
    }
    for (long n = 0; n < counted.inner_applications(); ++n) {
      CAPTURE(n);
      const FailingOperator<Single<F>> failing(*f.single, n);
      const auto partner = [&]() -> const FermionOperator<Single<F>>& { return failing; };
      x = guess;
      CHECK_THROWS_AS(solver.solve(x, {*f.m, partner, partner}, b), NumericsError);
    }
  };
  for (const auto& [name, solver] : direct_solvers<F>({1e-8, 100})) {
    CAPTURE(name);
    each_application(*solver);
  }
  for (const auto& [name, solver] : normal_solvers<F>({1e-8, 100})) {
    CAPTURE(name);
    each_application(*solver);
  }
}

TEST_CASE("breakdowns of direct iterations end with what was reached") {
  // M moves a site's value to the next site: a point source is orthogonal to its image.
  tests::use_lattice({4, 2, 2, 2});
  GaugeField u(Nd);
  unit_start(u);
  auto v = converted_links<LinksOf<LatticeFermionD>>(u);
  for (int mu = 1; mu < Nd; ++mu) v[mu] = zero;
  const tests::HoppingOperator<LatticeFermionD> m(v, 0, 1, 0);
  LatticeFermionD b = zero;
  b.elem(0).elem(0).elem(0).real() = 1;
  for (const auto& [name, solver] : direct_solvers<LatticeFermionD>({1e-10, 50})) {
    if (name == "CG" || name == "GCR, preconditioned" || name == "Richardson" || name.starts_with("MixedBiCGStab"))
      continue;
    CAPTURE(name);
    LatticeFermionD x = zero;
    const SolveResult result = solver->solve(x, {m, {}}, b);
    CHECK(!result.converged);
    CHECK(result.residual == doctest::Approx(1));
    CHECK(result.iterations <= 2);
  }
}

namespace {

/// An operator whose apply() gives nought once: what a breakdown looks like to an iteration. As an expression it is right.
template <class F>
class LapsingOperator : public FermionOperator<F> {
 public:
  LapsingOperator(const FermionOperator<F>& m, long good) : m_(m), good_(good) {}
  const Subset& domain() const override { return m_.domain(); }
  void apply(F& out, const F& in, Sign sign) const override {
    m_.apply(out, in, sign);
    if (good_-- == 0) out[m_.domain()] = zero;
  }
  FermionExpr<F> operator()(const F& in, Sign sign) const override { return m_(in, sign); }
  void add_derivative(LinksOf<F>&, const F&, const F&, double) const override {}
  double flops() const override { return m_.flops(); }

 private:
  const FermionOperator<F>& m_;
  mutable long good_;
};

}  // namespace

TEST_CASE("BiCGStab goes on from a breakdown with what it had found, as if it began there") {
  using F = LatticeFermionD;
  const Fixture<F> f = hopping<F>();
  const F b = tests::random_vector<F>(all);
  const StoppingCriterion c{1e-10, 200};
  F straight = zero;
  const SolveResult undisturbed = BiCGStab<F>(c).solve(straight, f.system(), b);
  REQUIRE(undisturbed.converged);
  REQUIRE(undisturbed.iterations > 6);
  for (int before = 1; before < 5; ++before)      // iterations without a lapse
    for (const bool in_second : {false, true}) {  // of the two applications of the next one
      CAPTURE(before);
      CAPTURE(in_second);
      F x = zero, as_new = zero;
      const LapsingOperator<F> lapsing(*f.m, 2 * before + in_second);
      const SolveResult result = BiCGStab<F>(c).solve(x, {lapsing, {}}, b);
      CHECK(result.converged);
      CHECK(tests::direct_residual(*f.m, x, b) < 1.02e-10);
      BiCGStab<F>({1e-30, before}).solve(as_new, f.system(), b);
      if (in_second) continue;  // after half a step more
      const SolveResult rest = BiCGStab<F>(c).solve(as_new, f.system(), b);
      CHECK(result.iterations == before + 1 + rest.iterations);
      CHECK(toDouble(norm2(x - as_new)) == 0);
    }
}

TEST_CASE("solvers refuse systems that they cannot solve") {
  const Fixture<LatticeFermionD> f = hopping<LatticeFermionD>();
  const auto b = tests::random_vector<LatticeFermionD>(all);
  LatticeFermionD x = zero;
  const SystemOperator<LatticeFermionD> without_single{*f.m, {}};
  CHECK_THROWS_WITH_AS(MixedCG<LatticeFermionD>({1e-10, 10}).solve(x, without_single, b),
                       doctest::Contains("single-precision operator"), ShapeError);
  CHECK_THROWS_WITH_AS(MixedCG<LatticeFermionD>({1e-10, 10}, 0.1, InnerPrecision::half).solve(x, without_single, b),
                       doctest::Contains("SystemOperator::half"), ShapeError);

  const auto even_source =
      make_preconditioned<LatticeFermionD>(std::make_shared<WilsonOperator<LatticeFermionD>>(
                                               tests::random_links<LatticeFermionD>(), WilsonParameters{.mass = 1}),
                                           Preconditioning::even_source);
  CHECK_THROWS_WITH_AS(BiCGStab<LatticeFermionD>({1e-10, 10}).solve(x, {*even_source, {}}, b, Sign::plus),
                       doctest::Contains("normal equation"), ShapeError);

  std::vector<LatticeFermionD> one(1), two(2, b);
  CHECK_THROWS_WITH_AS(CG<LatticeFermionD>({1e-10, 10}).solve_all(one, f.system(), two),
                       doctest::Contains("right-hand sides (2)"), ShapeError);
}
