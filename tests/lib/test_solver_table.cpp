// Solvers and predictors as an input document asks for them.

#include "lib/error.hpp"
#include "lib/solver/predictor.hpp"
#include "lib/solver/solver_table.hpp"
#include "tests/lib/solver.hpp"

#include <doctest/doctest.h>

#include <map>

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
