// Several systems at once: shifts, right-hand sides, and guesses from the past.

#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "lib/error.hpp"
#include "lib/solver/bicgstab.hpp"
#include "lib/solver/block_cg.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "lib/solver/multi_shift.hpp"
#include "lib/solver/pending.hpp"
#include "lib/solver/predictor.hpp"
#include "qdp/expr/queue.hpp"
#include "tests/lib/solver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace QDP;
using namespace qcd;

namespace {

using F = LatticeFermionD;

struct Fixture {
  std::unique_ptr<FermionOperator<F>> m;
  std::unique_ptr<FermionOperator<LatticeFermionF>> single, half;
  SystemOperator<F> system() const {
    return {*m, [this]() -> const FermionOperator<LatticeFermionF>& { return *single; },
            [this]() -> const FermionOperator<LatticeFermionF>& { return *half; }};
  }
  const Subset& sites() const { return m->domain(); }
};

Fixture wilson(const std::vector<int>& lattice = {2, 2, 2, 2}, double kappa = 0.12) {
  tests::use_lattice(lattice);
  const auto v = tests::random_links<F>();
  const auto v_single = converted_links<LinksOf<LatticeFermionF>>(v);
  return {tests::even_odd_wilson<F>(v, kappa), tests::even_odd_wilson<LatticeFermionF>(v_single, kappa),
          tests::even_odd_wilson<LatticeFermionF>(v_single, kappa, true)};
}

const std::vector<double> kShifts = {3e-4, 1e-2, 1e-3, 0.1, 1, 10};  // not in order

std::vector<std::unique_ptr<MultiShiftSolver<F>>> multi_shift_solvers(const StoppingCriterion& c) {
  std::vector<std::unique_ptr<MultiShiftSolver<F>>> solvers;
  solvers.push_back(std::make_unique<MultiShiftCG<F>>(c));
  solvers.push_back(std::make_unique<MixedMultiShiftCG<F>>(c));
  solvers.push_back(std::make_unique<MixedMultiShiftCG<F>>(c, std::vector<double>{}, 0.1, 1e-4, 3));
  return solvers;
}

}  // namespace

TEST_CASE("multi-shift solutions are those of Gaussian elimination, their residuals the true ones") {
  const Fixture f = wilson();
  const auto b = tests::random_vector<F>(f.sites());
  const auto matrix = tests::dense_normal(tests::dense_columns(*f.m));
  for (const auto& solver : multi_shift_solvers({1e-11, 500})) {
    std::vector<F> x(2, b);  // of the wrong number, and not nought
    const SolveResult result = solver->solve(x, f.system(), b, kShifts);
    CHECK(result.converged);
    REQUIRE(x.size() == kShifts.size());
    REQUIRE(result.shift_residuals.size() == kShifts.size());
    for (std::size_t k = 0; k < kShifts.size(); ++k) {
      CAPTURE(kShifts[k]);
      const auto exact = tests::dense_solution(matrix, tests::components(b, f.sites()), kShifts[k]);
      CHECK(tests::relative_distance(tests::components(x[k], f.sites()), exact) < 1e-9);
      CHECK(result.shift_residuals[k] < 1.02e-11);
      CHECK(result.shift_residuals[k] ==
            doctest::Approx(tests::normal_residual(*f.m, x[k], b, kShifts[k])).epsilon(0.05).scale(0));
    }
  }
}

TEST_CASE("multi-shift CG applies the operator hardly more often than CG for the smallest shift") {
  const Fixture f = wilson({4, 4, 4, 4}, 0.15);
  const auto b = tests::random_vector<F>(f.sites());
  F x0 = zero;
  const SolveResult one = solve_shifted_by_cg(x0, *f.m, *f.m, kShifts[0], b, {1e-10, 2000}, 0);
  std::vector<F> x;
  const SolveResult all = MultiShiftCG<F>({1e-10, 2000}).solve(x, f.system(), b, kShifts);
  REQUIRE(one.converged);
  REQUIRE(all.converged);
  CHECK(all.iterations <= one.iterations + 1);
  CHECK(all.applications <= all.iterations + static_cast<long>(kShifts.size()));
  CHECK(all.history.back() <= 1e-10);
}

TEST_CASE("each shift may have a residual of its own, and a list of another length is refused") {
  const Fixture f = wilson();
  const auto b = tests::random_vector<F>(f.sites());
  const std::vector<double> residuals = {1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-12};
  for (const bool mixed : {false, true}) {
    std::unique_ptr<MultiShiftSolver<F>> solver;
    if (mixed)
      solver = std::make_unique<MixedMultiShiftCG<F>>(StoppingCriterion{1, 500}, residuals);
    else
      solver = std::make_unique<MultiShiftCG<F>>(StoppingCriterion{1, 500}, residuals);
    CHECK(solver->criterion().residual == 1e-12);
    std::vector<F> x;
    const SolveResult result = solver->solve(x, f.system(), b, kShifts);
    CHECK(result.converged);
    for (std::size_t k = 0; k < residuals.size(); ++k) CHECK(result.shift_residuals[k] <= 1.02 * residuals[k]);
    if (!mixed) CHECK(result.shift_residuals[0] > 1e-8);  // it was not updated any longer
    CHECK_THROWS_WITH_AS(solver->solve(x, f.system(), b, {0.1, 0.2}), doctest::Contains("2 shifts, got 6"), ShapeError);
  }
}

TEST_CASE("the residual of several shifts is the worst of theirs, whichever shift that is") {
  const Fixture f = wilson();
  const auto b = tests::random_vector<F>(f.sites());
  std::vector<double> shifts = kShifts, residuals = {1e-4, 1e-11, 1e-6, 1e-10, 1e-8, 1e-9};
  for (std::size_t n = 0; n < shifts.size(); ++n) {
    std::rotate(residuals.begin(), residuals.begin() + 1, residuals.end());
    std::vector<std::unique_ptr<MultiShiftSolver<F>>> solvers;
    for (const int iterations : {500, 4}) {  // all converge, and none
      solvers.push_back(std::make_unique<MultiShiftCG<F>>(StoppingCriterion{1, iterations}, residuals));
      solvers.push_back(std::make_unique<MixedMultiShiftCG<F>>(StoppingCriterion{1, iterations}, residuals));
    }
    for (const auto& solver : solvers) {
      std::vector<F> x;
      const SolveResult result = solver->solve(x, f.system(), b, shifts);
      double worst = 0;
      for (std::size_t k = 0; k < shifts.size(); ++k)
        worst = std::max(worst, tests::normal_residual(*f.m, x[k], b, shifts[k]));
      CHECK(result.residual == *std::max_element(result.shift_residuals.begin(), result.shift_residuals.end()));
      CHECK(result.residual == doctest::Approx(worst).epsilon(1e-3).scale(0));
    }
  }
}

TEST_CASE("a multi-shift solve reports the operations that it did") {
  using Counted = tests::CountedSystem<F>;
  const Fixture f = wilson();
  const auto b = tests::random_vector<F>(f.sites());
  for (const int iterations : {500, 4})
    for (const auto& solver : multi_shift_solvers({1e-11, iterations})) {
      const Counted counted(f.system());
      std::vector<F> x;
      const SolveResult result = solver->solve(x, counted.system(), b, kShifts);
      CHECK(Counted::applications_in(result.flops) == counted.applications());
      CHECK(2 * result.applications == counted.m.applications());
      CHECK(2 * result.single_applications == counted.single.applications());
      // Those of all shifts together, and of each alone where single precision was not enough.
      if (result.single_applications > 0) CHECK(result.iterations == result.single_applications);
      CHECK(result.iterations >= static_cast<int>(result.history.size()));
      if (result.single_applications > 0 && iterations == 500)
        CHECK(result.iterations > static_cast<int>(result.history.size()));
    }
}

TEST_CASE("the operations of the vectors of many systems: two updates per shift that goes on, blocks of n x n") {
  tests::use_lattice({2, 4, 2, 2});
  const tests::HoppingOperator<F> m(tests::random_links<F>(), 2.5, -0.3, -0.1);  // of no operations
  const F b = tests::random_vector<F>(all);
  const double real_update = 4.0 * Ns * Nc * static_cast<double>(Layout::vol());
  const auto updates = [&](const StoppingCriterion& c, const std::vector<double>& residuals) {
    std::vector<F> x;
    const SolveResult result = MultiShiftCG<F>(c, residuals).solve(x, {m, {}}, b, {0.1, 5});
    return std::pair{result.flops / real_update, result.iterations};
  };
  // r, p, and two norms per iteration; of each shift x and p.
  CHECK(updates({1e-30, 5}, {}) == std::pair{5.0 * (4 + 2 * 2), 5});
  // The heavier shift is there after the first step of its own, and is left alone.
  const auto [flops, iterations] = updates({1, 6}, {1e-30, 0.9});
  CHECK(iterations == 6);
  CHECK(flops == 6 * (4 + 2) + 2 * 1);

  std::vector<F> many(3), x(3, F(zero));
  for (F& v : many) v = tests::random_vector<F>(all);
  for (const SolveResult& result : BlockCG<F>({1e-30, 4}).solve_all(x, {m, {}}, many)) {
    CHECK(result.iterations == 4);
    CHECK(result.history.size() == 4);
    CHECK(result.flops == 4 * (2 * 7 * 3 * 3) * real_update);  // about seven complex updates of each by each
    CHECK(result.applications == 4 * 3 + 1);                   // those of the block, and its own residual at the end
  }
}

TEST_CASE("a shift that misses its target goes on alone") {
  // In single precision the recursion says 2e-7 long before b - A x does.
  tests::use_lattice({4, 4, 4, 4});
  const auto v = tests::random_links<LatticeFermionF>();
  const auto m = tests::even_odd_wilson<LatticeFermionF>(v, 0.17);
  const auto b = tests::random_vector<LatticeFermionF>(m->domain());
  std::vector<LatticeFermionF> x;
  const SolveResult result = MultiShiftCG<LatticeFermionF>({2e-7, 3000}).solve(x, {*m, {}}, b, {1e-5, 1e-3});
  CHECK(result.converged);
  CHECK(result.iterations > static_cast<int>(result.history.size()));
  for (std::size_t k = 0; k < 2; ++k) CHECK(result.shift_residuals[k] < 1e-5);
}

TEST_CASE("multi-shift: nought, too few iterations, numbers that are not finite, negative operators") {
  const Fixture f = wilson();
  const auto b = tests::random_vector<F>(f.sites());
  for (const auto& solver : multi_shift_solvers({1e-12, 5})) {
    std::vector<F> x;
    const SolveResult nought = solver->solve(x, f.system(), F(zero), kShifts);
    CHECK(nought.converged);
    REQUIRE(x.size() == kShifts.size());
    for (const F& x_k : x) CHECK(toDouble(norm2(x_k, f.sites())) == 0);

    const SolveResult stopped = solver->solve(x, f.system(), b, kShifts);
    CHECK(!stopped.converged);
    CHECK(stopped.iterations <= 5);
    CHECK(stopped.residual > 1e-12);
    CHECK(stopped.residual < 1);

    F bad = b;
    bad *= Real(std::numeric_limits<double>::infinity());
    CHECK_THROWS_AS(solver->solve(x, f.system(), bad, kShifts), NumericsError);
    CHECK(solver->solve(x, f.system(), b, {}).converged);
    CHECK(x.empty());
  }
}

namespace {

/// Each of some right-hand sides by itself and all together: the same bits, counts and histories.
template <class Solver>
void check_as_alone(const Solver& solver, const Fixture& f) {
  const Subset& s = f.sites();
  std::vector<F> b, x;
  for (int j = 0; j < 7; ++j) {
    b.push_back(tests::random_vector<F>(s));
    x.push_back(tests::random_vector<F>(s));
  }
  b[1] *= Real(1e-8);
  b[3] = zero;                                            // nothing to do
  CHECK(solver.solve(x[4], f.system(), b[4]).converged);  // little to do
  const std::vector<F> start = x;
  std::vector<F> alone = x;
  std::vector<SolveResult> expected;
  for (std::size_t j = 0; j < b.size(); ++j) expected.push_back(solver.solve(alone[j], f.system(), b[j]));
  const auto kernels = jit::Runtime::instance().kernels().size();
  const auto before = detail::Queue::instance().counters();
  const std::vector<SolveResult> results = solver.solve_all(x, f.system(), b);
  const bool beside = detail::Queue::instance().counters().beside > before.beside;
  if (tests::job_ranks() == 1) CHECK(beside == jit::env().fuse);
  REQUIRE(results.size() == b.size());
  const auto more = jit::Runtime::instance().kernels().size() - kernels;
  MESSAGE(more, " kernels more than for one at a time");
  // Without caches, those of two and of four sides (jit/runtime/merging.hpp), of each kernel that reads the links.
  CHECK(more <= (jit::Runtime::instance().has_caches() ? 2 : 10));
  for (std::size_t j = 0; j < b.size(); ++j) {
    CAPTURE(j);
    CHECK(results[j].converged);
    CHECK(results[j].iterations == expected[j].iterations);
    CHECK(results[j].history == expected[j].history);
    CHECK(results[j].residual == expected[j].residual);
    CHECK(results[j].applications == expected[j].applications);
    CHECK(results[j].single_applications == expected[j].single_applications);
    CHECK(results[j].flops == expected[j].flops);
    CHECK(toDouble(norm2(x[j] - alone[j], s)) == 0);
  }
  if (tests::job_ranks() == 1) {  // messages are more than these vectors
    x = start;
    jit::run_deferred();
    jit::Memory& memory = jit::Memory::instance();
    memory.release_kept();
    const std::size_t limit = memory.limit();
    memory.set_limit(limit - memory.room() + kVectorsOfSolve * b[0].field()->device_bytes());  // for one of them
    const std::vector<SolveResult> in_little_memory = solver.solve_all(x, f.system(), b);
    memory.set_limit(limit);
    for (std::size_t j = 0; j < b.size(); ++j) {
      CHECK(in_little_memory[j].history == expected[j].history);
      CHECK(toDouble(norm2(x[j] - alone[j], s)) == 0);
    }
  }
  std::vector<F> nothing;
  CHECK(solver.solve_all(nothing, f.system(), {}).empty());
  b[5] *= Real(std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_WITH_AS(solver.solve_all(x, f.system(), b), doctest::Contains("finite"), NumericsError);
}

}  // namespace

TEST_CASE("right-hand sides that are solved together are solved as alone, to the last bit") {
  const Fixture f = wilson({4, 4, 2, 4}, 0.13);
  const StoppingCriterion c{1e-9, 400};
  check_as_alone(CG<F>(c), f);
  check_as_alone(MixedCG<F>(c), f);
  check_as_alone(MixedCG<F>(c, 0.1, InnerPrecision::half), f);
  check_as_alone(BiCGStab<F>(c), f);
  check_as_alone(MixedBiCGStab<F>(c), f);
  check_as_alone(MixedBiCGStab<F>(c, 0.1, InnerPrecision::half), f);
  check_as_alone(BiCGStab<F>(c), wilson({2, 2, 2, 6}));
}

TEST_CASE("block CG gives the solutions of elimination, in fewer iterations than one right-hand side needs") {
  const Fixture f = wilson({2, 2, 2, 2}, 0.14);
  const Subset& s = f.sites();
  const auto matrix = tests::dense_normal(tests::dense_columns(*f.m));
  std::vector<F> b, x;
  for (int j = 0; j < 5; ++j) {
    b.push_back(tests::random_vector<F>(s));
    x.push_back(tests::random_vector<F>(s));
  }
  b[3] *= Real(1e-6);
  x[3] = zero;
  const BlockCG<F> solver({1e-11, 200});
  const std::vector<SolveResult> results = solver.solve_all(x, f.system(), b);
  F alone = zero;
  const int iterations_alone = CG<F>({1e-11, 200}).solve(alone, f.system(), b[0]).iterations;
  REQUIRE(results.size() == 5);
  for (std::size_t j = 0; j < 5; ++j) {
    CAPTURE(j);
    CHECK(results[j].converged);
    CHECK(results[j].iterations < iterations_alone);
    CHECK(tests::relative_distance(tests::components(x[j], s),
                                   tests::dense_solution(matrix, tests::components(b[j], s))) < 1e-9);
  }
}

TEST_CASE(
    "block CG makes as many iterations whatever the sizes of its right-hand sides, and its residuals are relative") {
  const Fixture f = wilson();
  const std::vector<F> b = {tests::random_vector<F>(f.sites()), tests::random_vector<F>(f.sites())};
  const auto iterations = [&](double scale) {
    std::vector<F> x(2, F(zero)), scaled = b;
    for (F& v : scaled) v *= Real(scale);
    const std::vector<SolveResult> results = BlockCG<F>({1e-9, 200}).solve_all(x, f.system(), scaled);
    for (std::size_t j = 0; j < 2; ++j) CHECK(tests::normal_residual(*f.m, x[j], scaled[j]) < 1.02e-9);
    return results[0].iterations;
  };
  const int expected = iterations(1);
  for (const double scale : {0x1p-20, 0x1p20}) CHECK(iterations(scale) == expected);  // no other roundings
}

TEST_CASE("block CG for one right-hand side is CG, and for none does nothing") {
  const Fixture f = wilson();
  const std::vector<F> b = {tests::random_vector<F>(f.sites())};
  std::vector<F> x(1, F(zero)), nothing;
  const BlockCG<F> solver({1e-10, 200});
  const std::vector<SolveResult> results = solver.solve_all(x, f.system(), b);
  REQUIRE(results.size() == 1);
  CHECK(results[0].converged);
  CHECK(tests::normal_residual(*f.m, x[0], b[0]) < 1.02e-10);
  CHECK(solver.solve_all(nothing, f.system(), {}).empty());
}

TEST_CASE("block CG stands right-hand sides that depend on one another, and nought") {
  const Fixture f = wilson({4, 2, 2, 2});
  const Subset& s = f.sites();
  std::vector<F> b(4), x(4, F(zero));
  b[0] = tests::random_vector<F>(s);
  b[1] = tests::random_vector<F>(s);
  b[2] = zero;
  b[2][s] = b[0] - Real(2) * b[1];
  b[3] = zero;
  const std::vector<SolveResult> results = BlockCG<F>({1e-10, 300}).solve_all(x, f.system(), b);
  for (std::size_t j = 0; j < 3; ++j) {
    CHECK(results[j].converged);
    CHECK(tests::normal_residual(*f.m, x[j], b[j]) < 1.02e-10);
  }
  CHECK(results[3].converged);
  CHECK(toDouble(norm2(x[3], s)) == 0);

  std::vector<F> same = {b[0], b[0]}, y(2, F(zero));
  CHECK(BlockCG<F>({1e-10, 300}).solve_all(y, f.system(), same)[1].converged);
}

TEST_CASE("block CG: as direct solver, with too few iterations, with wrong numbers") {
  const Fixture f = wilson();
  const Subset& s = f.sites();
  std::vector<F> b = {tests::random_vector<F>(s), tests::random_vector<F>(s)}, x(2, F(zero));
  const auto block = std::make_shared<BlockCG<F>>(StoppingCriterion{1e-10, 300});
  const std::vector<SolveResult> direct = DirectByNormal<F>(block).solve_all(x, f.system(), b);
  for (std::size_t j = 0; j < 2; ++j) {
    CHECK(direct[j].converged);
    CHECK(tests::direct_residual(*f.m, x[j], b[j]) < 1e-9);
    CHECK(direct[j].residual == doctest::Approx(tests::direct_residual(*f.m, x[j], b[j])).epsilon(1e-3).scale(0));
  }

  x.assign(2, F(zero));
  for (const SolveResult& result : BlockCG<F>({1e-10, 3}).solve_all(x, f.system(), b)) {
    CHECK(!result.converged);
    CHECK(result.iterations == 3);
  }
  x.resize(1);
  CHECK_THROWS_AS(block->solve_all(x, f.system(), b), ShapeError);
  x.assign(2, F(zero));
  b[1] *= Real(std::numeric_limits<double>::quiet_NaN());
  CHECK_THROWS_AS(block->solve_all(x, f.system(), b), NumericsError);
}

TEST_CASE("predictors guess what their names say, and nought after a reset") {
  const Fixture f = wilson();
  const Subset& s = f.sites();
  const auto b = tests::random_vector<F>(s), x1 = tests::random_vector<F>(s), x2 = tests::random_vector<F>(s);
  const auto guess = [&](const Predictor<F>& p) {
    F x = zero;
    x[s] = Real(7) * b;
    p.guess(x, f.system(), b);
    return x;
  };
  const auto same = [&](const F& x, const F& y) { return toDouble(norm2(x - y, s)) == 0; };
  LastSolution<F> last;
  LinearExtrapolation<F> linear;
  MinimalResidualExtrapolation<F> minimal(3);
  for (Predictor<F>* p :
       {static_cast<Predictor<F>*>(&last), static_cast<Predictor<F>*>(&linear), static_cast<Predictor<F>*>(&minimal)}) {
    CHECK(toDouble(norm2(guess(*p), s)) == 0);
    p->store(x2, s);
    CHECK(same(guess(*p), x2));
    p->store(x1, s);
  }
  CHECK(same(guess(last), x1));
  CHECK(same(guess(linear), F(Real(2) * x1 - x2)));
  for (Predictor<F>* p :
       {static_cast<Predictor<F>*>(&last), static_cast<Predictor<F>*>(&linear), static_cast<Predictor<F>*>(&minimal)}) {
    p->reset();
    CHECK(toDouble(norm2(guess(*p), s)) == 0);
  }
  CHECK(toDouble(norm2(guess(ZeroGuess<F>()), s)) == 0);
  CHECK(same(guess(NoPredictor<F>()), F(Real(7) * b)));
}

TEST_CASE(
    "minimal residual extrapolation: exact if the solution is a combination of the past, orthogonal error if not") {
  const Fixture f = wilson();
  const Subset& s = f.sites();
  std::vector<F> past = {tests::random_vector<F>(s), tests::random_vector<F>(s), tests::random_vector<F>(s)};
  F half = zero, b = zero, solution = zero, x = zero;
  solution[s] = Real(0.3) * past[0] - Real(1.7) * past[1];
  f.m->apply(half, solution, Sign::plus);
  f.m->apply(b, half, Sign::minus);

  MinimalResidualExtrapolation<F> p(3);
  for (const F& v : past) p.store(v, s);
  p.store(past[2], s);  // a repetition, which pushes past[0] out
  p.guess(x, f.system(), b);
  CHECK(tests::normal_residual(*f.m, x, b) > 1e-3);
  // <v, b - A x> = 0 for every v of the past: the error is orthogonal to it in the norm of A.
  F r = zero;
  f.m->apply(half, x, Sign::plus);
  f.m->apply(r, half, Sign::minus);
  r[s] = b - r;
  for (std::size_t j : {1u, 2u})
    CHECK(toDouble(sqrt(localNorm2(innerProduct(past[j], r, s)))) <
          1e-12 * std::sqrt(toDouble(norm2(past[j], s)) * toDouble(norm2(b, s))));

  p.store(past[0], s);
  p.guess(x, f.system(), b);  // past[0], past[2], past[2]
  p.store(past[1], s);        // past[1], past[0], past[2]
  p.guess(x, f.system(), b);
  CHECK(tests::normal_residual(*f.m, x, b) < 1e-12);
}

TEST_CASE("guesses from the past save iterations along a slow change of the operator") {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u = tests::random_field();
  const GaugeField direction = tests::random_algebra(0.02);
  const auto iterations = [&](Predictor<F>& p) {
    GaugeField moving = u;
    const auto b = [&] {
      RNG::initDefaultRNG();
      return tests::random_vector<F>(rb[1]);
    }();
    int last = 0;
    for (int step = 0; step < 5; ++step) {
      const auto m = tests::even_odd_wilson<F>(converted_links<LinksOf<F>>(moving), 0.13);
      F x = zero;
      p.guess(x, {*m, {}}, b);
      last = CG<F>({1e-8, 1000}).solve(x, {*m, {}}, b).iterations;
      p.store(x, m->domain());
      for (int mu = 0; mu < Nd; ++mu) moving[mu] = su3_exp(direction[mu]) * moving[mu];
    }
    return last;
  };
  ZeroGuess<F> none;
  LastSolution<F> last;
  LinearExtrapolation<F> linear;
  MinimalResidualExtrapolation<F> minimal(4);
  const int from_nought = iterations(none), from_last = iterations(last), from_two = iterations(linear),
            from_four = iterations(minimal);
  CAPTURE(from_nought);
  CAPTURE(from_last);
  CAPTURE(from_two);
  CAPTURE(from_four);
  CHECK(from_last < from_nought);
  CHECK(from_two < from_last);
  CHECK(from_four < from_two);
}
