// Solvers and predictors as an input document asks for them.

#include "lib/error.hpp"
#include "lib/solver/bicgstab.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "lib/solver/minimal_residual.hpp"
#include "lib/solver/multi_shift.hpp"
#include "lib/solver/predictor.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/solver.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace QDP;
using namespace qcd;

namespace {

using F = LatticeFermionD;

std::string document(const std::string& type, const std::string& elements) {
  return "<InvertParam><invType>" + type + "</invType>" + elements + "</InvertParam>";
}

const std::string kCG = "<RsdCG>1e-9</RsdCG><MaxCG>400</MaxCG>";
const std::string kBiCGStab = "<RsdBiCGStab>1e-9</RsdBiCGStab><MaxBiCGStab>400</MaxBiCGStab>";
const std::string kTarget = "<RsdTarget>1e-9</RsdTarget><MaxIter>400</MaxIter>";
const std::string kClover = kTarget + "<Delta>0.1</Delta><CloverParams><Mass>0.1</Mass></CloverParams>";
const std::string kInner =
    "<InnerSolverParams><invType>BICGSTAB_INVERTER</invType><RsdBiCGStab>1e-3</RsdBiCGStab>"
    "<MaxBiCGStab>100</MaxBiCGStab></InnerSolverParams>";

const std::map<std::string, std::string> kElements = {
    {"CG_INVERTER", kCG + "<RsdCGRestart>1e-9</RsdCGRestart><MaxCGRestart>10</MaxCGRestart><MinCG>1</MinCG>"},
    {"CG_INVERTER_TIMING", kCG},
    {"CG_INVERTER_TIMINGS", kCG},
    {"MIXED_CG_INVERTER", kCG + "<Delta>0.05</Delta>"},
    {"BLOCK_CG_INVERTER", kCG},
    {"BICGSTAB_INVERTER", kBiCGStab},
    {"IBICGSTAB_INVERTER", kBiCGStab},
    {"MIXED_BICGSTAB_INVERTER", kBiCGStab},
    {"MR_INVERTER", "<RsdMR>1e-9</RsdMR><MaxMR>400</MaxMR><MROver>1.1</MROver>"},
    {"GCR_INVERTER", "<RsdGCR>1e-9</RsdGCR><MaxGCR>400</MaxGCR><NKrylov>8</NKrylov>"},
    {"FGMRESDR_INVERTER", kTarget + "<NKrylov>8</NKrylov><NDefl>2</NDefl><PrecondParams><invType>MR_INVERTER</invType>"
                                    "<RsdMR>1e-9</RsdMR><MaxMR>3</MaxMR></PrecondParams>"},
    {"EIG_CG_INVERTER", kCG + "<Nmax>20</Nmax><Neig>4</Neig>"},
    {"RICHARDSON_INVERTER", kTarget + kInner},
    {"RICHARDSON_MP_CLOVER_INVERTER", kTarget + kInner},
    {"RELIABLE_CG_MP_CLOVER_INVERTER", kClover},
    {"RELIABLE_BICGSTAB_MP_CLOVER_INVERTER", kClover},
    {"RELIABLE_IBICGSTAB_MP_CLOVER_INVERTER", kClover},
    {"SINGLE_PREC_CG_CLOVER_INVERTER", "<RsdCG>1e-6</RsdCG><MaxCG>400</MaxCG>"},
};
const std::map<std::string, std::string> kMultiShiftElements = {
    {"CG_INVERTER", "<RsdCG>1e-9 1e-8</RsdCG><MaxCG>400</MaxCG>"},
    {"MIXED_CG_INVERTER", "<RsdCG>1e-9</RsdCG><MaxCG>400</MaxCG><CutoffRsd>1e-4</CutoffRsd>"},
    {"CG_CHRONO_CLOVER_INVERTER",
     "<RsdTarget>1e-9 1e-9</RsdTarget><MaxIter>400</MaxIter><Delta>0.1</Delta><CutoffRsd>1e-4</CutoffRsd>"
     "<MaxChrono>2</MaxChrono>"},
};

/// Every row of the table, read from a document and used.
template <class Table, class Use>
void for_each_row(const Table& table, const std::map<std::string, std::string>& elements, Use use) {
  for (const auto& row : table.rows()) {
    CAPTURE(row.name);
    REQUIRE(elements.count(row.name) == 1);
    const InputFile file = tests::input(document(row.name, elements.at(row.name)));
    const auto solver = row.make(file.root());
    file.require_valid();
    use(row.name, *solver);

    const InputFile bare = tests::input(document(row.name, ""));
    row.make(bare.root());
    CHECK(bare.errors().size() >= 2);  // the residual and the number of iterations at least
  }
}

}  // namespace

TEST_CASE("every solver of the tables is read from its elements and solves") {
  tests::use_lattice({2, 2, 2, 2});
  const auto v = tests::random_links<F>();
  const auto m = tests::even_odd_wilson<F>(v, 0.11);
  const auto single = tests::even_odd_wilson<LatticeFermionF>(converted_links<LinksOf<LatticeFermionF>>(v), 0.11);
  const SystemOperator<F> system{*m, [&]() -> const FermionOperator<LatticeFermionF>& { return *single; }};
  const auto b = tests::random_vector<F>(m->domain());

  for_each_row(normal_solver_table<F>(), kElements, [&](const std::string& name, const NormalSolver<F>& solver) {
    F x = zero;
    CHECK(solver.solve(x, system, b).converged);
    CHECK(tests::normal_residual(*m, x, b) < (name == "SINGLE_PREC_CG_CLOVER_INVERTER" ? 1e-5 : 1.02e-9));
  });
  for_each_row(direct_solver_table<F>(), kElements, [&](const std::string&, const DirectSolver<F>& solver) {
    F x = zero;
    CHECK(solver.solve(x, system, b).converged);
    CHECK(tests::direct_residual(*m, x, b) < 1e-8);
  });
  for_each_row(multi_shift_solver_table<F>(), kMultiShiftElements,
               [&](const std::string&, const MultiShiftSolver<F>& solver) {
                 std::vector<F> x;
                 CHECK(solver.solve(x, system, b, {0.01, 0.3}).converged);
                 CHECK(tests::normal_residual(*m, x[0], b, 0.01) < 1.02e-9);
                 CHECK(tests::normal_residual(*m, x[1], b, 0.3) < 1.02e-8);
               });
}

TEST_CASE("what is wrong in a solver's group is named") {
  const auto errors = [](const std::string& text) {
    const InputFile file = tests::input(text);
    read_normal_solver<F>(file.root());
    read_multi_shift_solver<F>(file.root());
    std::string all;
    for (const std::string& error : file.errors()) all += error + "\n";
    return all;
  };
  CHECK(errors(document("GMRES_INVERTER", "")).find("CG_INVERTER") != std::string::npos);
  CHECK(errors(document("CG_INVERTER", "<RsdCG>0</RsdCG><MaxCG>100</MaxCG>")).find("RsdCG") != std::string::npos);
  CHECK(errors(document("CG_INVERTER", "<RsdCG>1e-8 -1</RsdCG><MaxCG>100</MaxCG>")).find("above zero and below 1") !=
        std::string::npos);
  CHECK(errors(document("CG_INVERTER", "<RsdCG>1e-8</RsdCG><MaxCG>0</MaxCG>")).find("MaxCG") != std::string::npos);
  CHECK(errors(document("RICHARDSON_INVERTER", kTarget)).find("InnerSolverParams") != std::string::npos);
  CHECK(errors(document("RELIABLE_CG_MP_CLOVER_INVERTER", kTarget)).find("Delta") != std::string::npos);
  CHECK(errors(document("MIXED_CG_INVERTER", kCG + "<SloppyPrecision>half</SloppyPrecision>")).find("SINGLE or HALF") !=
        std::string::npos);
}

TEST_CASE("predictors by Chroma's names") {
  tests::use_lattice({2, 2, 2, 2});
  const auto m = tests::even_odd_wilson<F>(tests::random_links<F>(), 0.11);
  for (const auto& row : predictor_table<F>().rows()) {
    CAPTURE(row.name);
    const InputFile file = tests::input("<ChronologicalPredictor><Name>" + row.name +
                                        "</Name><MaxChrono>3</MaxChrono></ChronologicalPredictor>");
    const std::unique_ptr<Predictor<F>> predictor = row.make(file.root());
    file.require_valid();
    const auto b = tests::random_vector<F>(m->domain());
    F x = zero;
    predictor->store(b, m->domain());
    predictor->guess(x, {*m, {}}, b);
    const bool remembers = row.name.find("LAST") == 0 || row.name.find("EXTRAPOLATION") != std::string::npos;
    CHECK((toDouble(norm2(x, m->domain())) > 0) == remembers);
  }
  const InputFile missing = tests::input("<P><Name>MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR</Name></P>");
  predictor_table<F>().find(missing.root())->make(missing.root());
  CHECK(missing.errors().size() == 1);
}

TEST_CASE("a solver from an input is the one with the same numbers: criterion, and every parameter of its own") {
  TESSERA_NEEDS_DOUBLES("solvers that mix precisions");
  tests::use_lattice({4, 4, 2, 4});
  const auto v = tests::random_links<F>();
  const auto m = tests::even_odd_wilson<F>(v, 0.12);
  const auto narrow = tests::even_odd_wilson<LatticeFermionF>(converted_links<LinksOf<LatticeFermionF>>(v), 0.12);
  const auto half = tests::even_odd_wilson<LatticeFermionF>(converted_links<LinksOf<LatticeFermionF>>(v), 0.12, true);
  const SystemOperator<F> system{*m, [&]() -> const FermionOperator<LatticeFermionF>& { return *narrow; },
                                 [&]() -> const FermionOperator<LatticeFermionF>& { return *half; }};
  const auto b = tests::random_vector<F>(m->domain());
  using Narrow = LatticeFermionF;

  const StoppingCriterion c{2e-8, 37};
  const std::string cg = "<RsdCG>2e-8</RsdCG><MaxCG>37</MaxCG>",
                    bicgstab = "<RsdBiCGStab>2e-8</RsdBiCGStab><MaxBiCGStab>37</MaxBiCGStab>",
                    mr = "<RsdMR>2e-8</RsdMR><MaxMR>37</MaxMR>", gcr = "<RsdGCR>2e-8</RsdGCR><MaxGCR>37</MaxGCR>",
                    target = "<RsdTarget>2e-8</RsdTarget><MaxIter>37</MaxIter>";
  const std::string inner =
      "<InnerSolverParams><invType>CG_INVERTER</invType><RsdCG>0.03</RsdCG><MaxCG>9</MaxCG></InnerSolverParams>";
  const auto same = [&](const auto& solver, const auto& expected) {
    const auto solve = [&](const auto& s) {
      F x = zero;
      const SolveResult result = s.solve(x, system, b);
      return std::pair{result, x};
    };
    CHECK(solver.criterion().residual == c.residual);
    CHECK(solver.criterion().max_iterations == c.max_iterations);
    const auto [got, x] = solve(solver);
    const auto [wanted, y] = solve(expected);
    CHECK(got.iterations == wanted.iterations);
    CHECK(got.applications == wanted.applications);
    CHECK(got.single_applications == wanted.single_applications);
    CHECK(got.residual == wanted.residual);
    CHECK(got.converged == wanted.converged);
    CHECK(got.history == wanted.history);
    CHECK(toDouble(norm2(x - y, m->domain())) == 0);
  };

  const auto normal_inner = std::make_shared<CG<Narrow>>(StoppingCriterion{0.03, 9});
  const auto direct_inner = std::make_shared<DirectByNormal<Narrow>>(normal_inner);
  const auto direct_mixed = [&](double delta, InnerPrecision inner = InnerPrecision::single) {
    return std::make_shared<MixedBiCGStab<F>>(c, delta, inner);
  };
  const std::string in_single = "<SloppyPrecision>SINGLE</SloppyPrecision>",
                    in_half = "<SloppyPrecision>HALF</SloppyPrecision>";
  const auto normal = [](auto solver) { return std::shared_ptr<const NormalSolver<F>>(std::move(solver)); };
  const auto direct = [](auto solver) { return std::shared_ptr<const DirectSolver<F>>(std::move(solver)); };
  const auto two_steps = [&](auto solver) { return normal(std::make_shared<NormalByDirect<F>>(direct(solver))); };
  const auto by_normal = [&](auto solver) { return direct(std::make_shared<DirectByNormal<F>>(normal(solver))); };
  const auto preconditioner = std::make_shared<MR<F>>(StoppingCriterion{0.2, 2}, 1.2);

  struct FromNormal {
    std::string name, elements;
    std::shared_ptr<const NormalSolver<F>> expected;
  };
  for (const FromNormal& row : std::vector<FromNormal>{
           {"CG_INVERTER", cg, normal(std::make_shared<CG<F>>(c))},
           {"MIXED_CG_INVERTER", cg, normal(std::make_shared<MixedCG<F>>(c, 0.1))},
           {"MIXED_CG_INVERTER", cg + "<Delta>0.004</Delta>", normal(std::make_shared<MixedCG<F>>(c, 0.004))},
           {"MIXED_CG_INVERTER", cg + in_single, normal(std::make_shared<MixedCG<F>>(c, 0.1))},
           {"MIXED_CG_INVERTER", cg + in_half, normal(std::make_shared<MixedCG<F>>(c, 0.1, InnerPrecision::half))},
           {"RELIABLE_CG_MP_CLOVER_INVERTER", target + "<Delta>0.6</Delta>",
            normal(std::make_shared<MixedCG<F>>(c, 0.6))},
           {"RELIABLE_CG_MP_CLOVER_INVERTER", target + "<Delta>0.2</Delta>" + in_half,
            normal(std::make_shared<MixedCG<F>>(c, 0.2, InnerPrecision::half))},
           {"BICGSTAB_INVERTER", bicgstab, two_steps(std::make_shared<BiCGStab<F>>(c))},
           {"MIXED_BICGSTAB_INVERTER", bicgstab + "<Delta>0.004</Delta>", two_steps(direct_mixed(0.004))},
           {"MR_INVERTER", mr + "<MROver>1.2</MROver>", two_steps(std::make_shared<MR<F>>(c, 1.2))},
           {"GCR_INVERTER", gcr + "<NKrylov>3</NKrylov>", two_steps(std::make_shared<GCR<F>>(c, 3))},
           {"RICHARDSON_INVERTER", target + inner, normal(std::make_shared<NormalRichardson<F>>(c, normal_inner))}}) {
    CAPTURE(row.name + row.elements);
    const InputFile file = tests::input(document(row.name, row.elements));
    const auto solver = read_normal_solver<F>(file.root());
    file.require_valid();
    same(*solver, *row.expected);
  }

  struct FromDirect {
    std::string name, elements;
    std::shared_ptr<const DirectSolver<F>> expected;
  };
  for (const FromDirect& row : std::vector<FromDirect>{
           {"CG_INVERTER", cg, by_normal(std::make_shared<CG<F>>(c))},
           {"MIXED_CG_INVERTER", cg + "<Delta>0.004</Delta>", by_normal(std::make_shared<MixedCG<F>>(c, 0.004))},
           {"MIXED_BICGSTAB_INVERTER", bicgstab, direct_mixed(0.1)},
           {"MIXED_BICGSTAB_INVERTER", bicgstab + "<Delta>0.6</Delta>", direct_mixed(0.6)},
           {"MIXED_BICGSTAB_INVERTER", bicgstab + in_half, direct_mixed(0.1, InnerPrecision::half)},
           {"RELIABLE_BICGSTAB_MP_CLOVER_INVERTER", target + "<Delta>0.004</Delta>", direct_mixed(0.004)},
           {"RELIABLE_BICGSTAB_MP_CLOVER_INVERTER", target + "<Delta>0.2</Delta>" + in_half,
            direct_mixed(0.2, InnerPrecision::half)},
           {"RELIABLE_IBICGSTAB_MP_CLOVER_INVERTER", target + "<Delta>0.6</Delta>", direct_mixed(0.6)},
           {"MR_INVERTER", mr, direct(std::make_shared<MR<F>>(c, 1))},
           {"MR_INVERTER", mr + "<MROver>1.2</MROver>", direct(std::make_shared<MR<F>>(c, 1.2))},
           {"GCR_INVERTER", gcr, direct(std::make_shared<GCR<F>>(c, 16))},
           {"GCR_INVERTER", gcr + "<NKrylov>3</NKrylov>", direct(std::make_shared<GCR<F>>(c, 3))},
           {"FGMRESDR_INVERTER",
            target +
                "<NKrylov>4</NKrylov><NDefl>2</NDefl><PrecondParams><invType>MR_INVERTER</invType><RsdMR>0.2</RsdMR>"
                "<MaxMR>2</MaxMR><MROver>1.2</MROver></PrecondParams>",
            direct(std::make_shared<GCR<F>>(c, 4, preconditioner))},
           {"RICHARDSON_INVERTER", target + inner, direct(std::make_shared<DirectRichardson<F>>(c, direct_inner))}}) {
    CAPTURE(row.name + row.elements);
    const InputFile file = tests::input(document(row.name, row.elements));
    const auto solver = read_direct_solver<F>(file.root());
    file.require_valid();
    same(*solver, *row.expected);
  }

  const std::vector<double> shifts = {0.02, 0.1, 0.4}, residuals = {2e-8, 3e-7, 4e-6};
  const std::string list = "2e-8 3e-7 4e-6";
  struct FromShifts {
    std::string name, elements;
    std::shared_ptr<const MultiShiftSolver<F>> expected;
  };
  const auto mixed = [&](double delta, double cutoff, int chrono) {
    return std::make_shared<MixedMultiShiftCG<F>>(c, residuals, delta, cutoff, chrono);
  };
  for (
      const FromShifts& row : std::vector<FromShifts>{
          {"CG_INVERTER", "<RsdCG>" + list + "</RsdCG><MaxCG>37</MaxCG>",
           std::make_shared<MultiShiftCG<F>>(c, residuals)},
          {"CG_INVERTER", cg, std::make_shared<MultiShiftCG<F>>(c)},
          {"MIXED_CG_INVERTER", "<RsdCG>" + list + "</RsdCG><MaxCG>37</MaxCG>",
           mixed(0.1, MixedMultiShiftCG<F>::kCutoff, 0)},
          {"MIXED_CG_INVERTER",
           "<RsdCG>" + list + "</RsdCG><MaxCG>37</MaxCG><Delta>0.004</Delta><CutoffRsd>1e-3</CutoffRsd>",
           mixed(0.004, 1e-3, 0)},
          {"CG_CHRONO_CLOVER_INVERTER",
           "<RsdTarget>" + list +
               "</RsdTarget><MaxIter>37</MaxIter><Delta>0.6</Delta><CutoffRsd>1e-2</CutoffRsd><MaxChrono>2</MaxChrono>",
           mixed(0.6, 1e-2, 2)}}) {
    CAPTURE(row.name + row.elements);
    const InputFile file = tests::input(document(row.name, row.elements));
    const auto solver = read_multi_shift_solver<F>(file.root());
    file.require_valid();
    std::vector<F> x, y;
    const SolveResult got = solver->solve(x, system, b, shifts), wanted = row.expected->solve(y, system, b, shifts);
    CHECK(solver->criterion().residual == row.expected->criterion().residual);
    CHECK(solver->criterion().max_iterations == 37);
    CHECK(got.iterations == wanted.iterations);
    CHECK(got.applications == wanted.applications);
    CHECK(got.single_applications == wanted.single_applications);
    CHECK(got.shift_residuals == wanted.shift_residuals);
    REQUIRE(x.size() == 3);
    for (std::size_t k = 0; k < 3; ++k) CHECK(toDouble(norm2(x[k] - y[k], m->domain())) == 0);
  }
}
