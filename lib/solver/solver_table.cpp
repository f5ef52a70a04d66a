#include "lib/solver/solver_table.hpp"

#include "lib/solver/bicgstab.hpp"
#include "lib/solver/block_cg.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/compose.hpp"
#include "lib/solver/iteration.hpp"
#include "lib/solver/minimal_residual.hpp"
#include "lib/solver/multi_shift.hpp"

namespace qcd {

using namespace QDP;

namespace {

template <class F>
using Normal = std::shared_ptr<const NormalSolver<F>>;
template <class F>
using Direct = std::shared_ptr<const DirectSolver<F>>;
template <class F>
using MultiShift = std::shared_ptr<const MultiShiftSolver<F>>;

/// Residual and largest number of iterations, under the names that a solver has for them.
StoppingCriterion read_criterion(const Input& in, const char* residual, const char* iterations) {
  return {in.real(residual, positive_below(1)), in.integer(iterations, at_least(1))};
}
StoppingCriterion cg_criterion(const Input& in) {
  in.accept_unused({"RsdCGRestart", "MaxCGRestart", "MinCG"});
  return read_criterion(in, "RsdCG", "MaxCG");
}
StoppingCriterion bicgstab_criterion(const Input& in) { return read_criterion(in, "RsdBiCGStab", "MaxBiCGStab"); }
StoppingCriterion target_criterion(const Input& in) {
  in.accept_unused({"CloverParams"});
  return read_criterion(in, "RsdTarget", "MaxIter");
}

/// The factor by which |r| falls between reliable updates.
double read_delta(const Input& in, double fallback) { return in.real("Delta", {1e-12, 1}, fallback); }
double read_delta(const Input& in) { return in.real("Delta", {1e-12, 1}); }

/// Chroma's name for it where QUDA solves.
InnerPrecision read_inner_precision(const Input& in) {
  const std::string name = in.word("SloppyPrecision", "SINGLE");
  if (name != "SINGLE" && name != "HALF") in.error("SloppyPrecision", "SINGLE or HALF", name);
  return name == "HALF" ? InnerPrecision::half : InnerPrecision::single;
}

/// A list of residuals and the iterations of a multi-shift solver.
std::pair<StoppingCriterion, std::vector<double>> read_list(const Input& in, const char* residual,
                                                            const char* iterations) {
  in.accept_unused({"RsdCGRestart", "MaxCGRestart", "MinCG", "CloverParams"});
  std::vector<double> residuals = in.reals(residual, 0, positive_below(1));
  return {{residuals.empty() ? 1.0 : residuals[0], in.integer(iterations, at_least(1))}, std::move(residuals)};
}

template <class F>
Normal<F> by_two_steps(Direct<F> direct) {
  return std::make_shared<NormalByDirect<F>>(std::move(direct));
}
template <class F>
Direct<F> by_normal_equation(Normal<F> normal) {
  return std::make_shared<DirectByNormal<F>>(std::move(normal));
}

// ---- solvers that both tables have, direct and for the normal equation ---------------------------------------------

template <class F>
Normal<F> read_cg(const Input& in) {
  return std::make_shared<CG<F>>(cg_criterion(in));
}
template <class F>
Normal<F> read_eig_cg(const Input& in) {
  in.accept_unused({"PrintLevel", "Nmax", "Neig", "esize", "max_nrhs", "eigen_id", "cleanUpEvecs", "updateRestartTol",
                    "restartTol", "NormAest", "vPrecCGvecs", "vPrecCGvecStart"});
  return read_cg<F>(in);
}
template <class F>
Normal<F> read_mixed_cg(const Input& in) {
  return std::make_shared<MixedCG<F>>(cg_criterion(in), read_delta(in, MixedCG<F>::kDelta), read_inner_precision(in));
}
template <class F>
Normal<F> read_clover_mixed_cg(const Input& in) {
  return std::make_shared<MixedCG<F>>(target_criterion(in), read_delta(in), read_inner_precision(in));
}
template <class F>
Normal<F> read_block_cg(const Input& in) {
  return std::make_shared<BlockCG<F>>(cg_criterion(in));
}
template <class F>
Direct<F> read_bicgstab(const Input& in) {
  return std::make_shared<BiCGStab<F>>(bicgstab_criterion(in));
}
template <class F>
Direct<F> read_mixed_bicgstab(const Input& in) {
  return std::make_shared<MixedBiCGStab<F>>(bicgstab_criterion(in), read_delta(in, MixedBiCGStab<F>::kDelta),
                                            read_inner_precision(in));
}
template <class F>
Direct<F> read_clover_mixed_bicgstab(const Input& in) {
  return std::make_shared<MixedBiCGStab<F>>(target_criterion(in), read_delta(in), read_inner_precision(in));
}
template <class F>
Direct<F> read_mr(const Input& in) {
  return std::make_shared<MR<F>>(read_criterion(in, "RsdMR", "MaxMR"), in.real("MROver", positive(), 1));
}
template <class F>
Direct<F> read_gcr(const Input& in) {
  return std::make_shared<GCR<F>>(read_criterion(in, "RsdGCR", "MaxGCR"),
                                  in.integer("NKrylov", at_least(1), GCR<F>::kDirections));
}
template <class F>
Normal<F> read_single_cg(const Input& in) {
  in.accept_unused({"CloverParams"});
  return std::make_shared<SinglePrecision<F>>(std::make_shared<CG<Single<F>>>(cg_criterion(in)));
}
template <class F>
Normal<F> read_normal_richardson(const Input& in) {
  return std::make_shared<NormalRichardson<F>>(target_criterion(in),
                                               read_normal_solver<Single<F>>(in.group("InnerSolverParams")));
}
template <class F>
Direct<F> read_direct_richardson(const Input& in) {
  return std::make_shared<DirectRichardson<F>>(target_criterion(in),
                                               read_direct_solver<Single<F>>(in.group("InnerSolverParams")));
}
/// Flexible GMRES with deflated restarts becomes GCR: the same space between restarts, without the deflation.
template <class F>
Direct<F> read_fgmres(const Input& in) {
  in.accept_unused({"NDefl"});
  return std::make_shared<GCR<F>>(target_criterion(in), in.integer("NKrylov", at_least(1)),
                                  read_direct_solver<F>(in.group("PrecondParams")));
}

// Chroma's solvers for clover quarks make an operator of their own from CloverParams; here the operator is that of the
// action, whatever it is. Its one restart of CG is what every solve does here as often as rounding asks for it.
constexpr const char* kCG = "RsdCG, MaxCG: conjugate gradients; [RsdCGRestart, MaxCGRestart, MinCG] are not used";
constexpr const char* kEigCG = "RsdCG, MaxCG: plain CG; the eigenvectors that eigCG would collect are not";
constexpr const char* kMixedCG =
    "RsdCG, MaxCG, [Delta = 0.1], [SloppyPrecision = SINGLE or HALF]: CG in single or half precision with reliable updates";
constexpr const char* kBlockCG =
    "RsdCG, MaxCG: block CG where there are several right-hand sides, CG where there is one";
constexpr const char* kBiCGStab = "RsdBiCGStab, MaxBiCGStab: stabilised biconjugate gradients";
constexpr const char* kIBiCGStab = "RsdBiCGStab, MaxBiCGStab: BICGSTAB_INVERTER, which has the same iterates";
constexpr const char* kMixedBiCGStab =
    "RsdBiCGStab, MaxBiCGStab, [Delta = 0.1], [SloppyPrecision = SINGLE or HALF]: BiCGStab in single or half precision with "
    "reliable updates";
constexpr const char* kMR = "RsdMR, MaxMR, [MROver = 1]: minimal residual iteration with overrelaxation";
constexpr const char* kGCR = "RsdGCR, MaxGCR, [NKrylov = 16]: generalised conjugate residuals, restarted";
constexpr const char* kCloverMixedCG =
    "RsdTarget, MaxIter, Delta, [SloppyPrecision], [CloverParams, not used]: as MIXED_CG_INVERTER, for any quark";
constexpr const char* kCloverMixedBiCGStab =
    "RsdTarget, MaxIter, Delta, [SloppyPrecision], [CloverParams, not used]: as MIXED_BICGSTAB_INVERTER, for any quark";
constexpr const char* kSingleCG = "RsdCG, MaxCG, [CloverParams, not used]: CG in single precision only, for any quark";
constexpr const char* kRichardson =
    "RsdTarget, MaxIter, InnerSolverParams{invType, ...}, [CloverParams, not used]: defect correction with the inner "
    "solver in single precision, for any quark";

}  // namespace

template <class F>
const Table<std::shared_ptr<const NormalSolver<F>>>& normal_solver_table() {
  static const Table<Normal<F>> table(
      "a solver",
      {
          {"CG_INVERTER", kCG, read_cg<F>},
          {"CG_INVERTER_TIMING", kCG, read_cg<F>},
          {"MIXED_CG_INVERTER", kMixedCG, read_mixed_cg<F>},
          {"BLOCK_CG_INVERTER", kBlockCG, read_block_cg<F>},
          {"BICGSTAB_INVERTER", kBiCGStab, [](const Input& in) { return by_two_steps(read_bicgstab<F>(in)); }},
          {"IBICGSTAB_INVERTER", kIBiCGStab, [](const Input& in) { return by_two_steps(read_bicgstab<F>(in)); }},
          {"MIXED_BICGSTAB_INVERTER", kMixedBiCGStab,
           [](const Input& in) { return by_two_steps(read_mixed_bicgstab<F>(in)); }},
          {"MR_INVERTER", kMR, [](const Input& in) { return by_two_steps(read_mr<F>(in)); }},
          {"GCR_INVERTER", kGCR, [](const Input& in) { return by_two_steps(read_gcr<F>(in)); }},
          {"EIG_CG_INVERTER", kEigCG, read_eig_cg<F>},
          {"RICHARDSON_INVERTER", kRichardson, read_normal_richardson<F>},
          {"RICHARDSON_MP_CLOVER_INVERTER", kRichardson, read_normal_richardson<F>},
          {"RELIABLE_CG_MP_CLOVER_INVERTER", kCloverMixedCG, read_clover_mixed_cg<F>},
          {"RELIABLE_BICGSTAB_MP_CLOVER_INVERTER", kCloverMixedBiCGStab,
           [](const Input& in) { return by_two_steps(read_clover_mixed_bicgstab<F>(in)); }},
          {"RELIABLE_IBICGSTAB_MP_CLOVER_INVERTER", kCloverMixedBiCGStab,
           [](const Input& in) { return by_two_steps(read_clover_mixed_bicgstab<F>(in)); }},
          {"SINGLE_PREC_CG_CLOVER_INVERTER", kSingleCG, read_single_cg<F>},
      });
  return table;
}

template <class F>
const Table<std::shared_ptr<const DirectSolver<F>>>& direct_solver_table() {
  static const Table<Direct<F>> table(
      "a solver",
      {
          {"CG_INVERTER", kCG, [](const Input& in) { return by_normal_equation(read_cg<F>(in)); }},
          {"CG_INVERTER_TIMINGS", kCG, [](const Input& in) { return by_normal_equation(read_cg<F>(in)); }},
          {"MIXED_CG_INVERTER", kMixedCG, [](const Input& in) { return by_normal_equation(read_mixed_cg<F>(in)); }},
          {"BLOCK_CG_INVERTER", kBlockCG, [](const Input& in) { return by_normal_equation(read_block_cg<F>(in)); }},
          {"BICGSTAB_INVERTER", kBiCGStab, read_bicgstab<F>},
          {"IBICGSTAB_INVERTER", kIBiCGStab, read_bicgstab<F>},
          {"MIXED_BICGSTAB_INVERTER", kMixedBiCGStab, read_mixed_bicgstab<F>},
          {"MR_INVERTER", kMR, read_mr<F>},
          {"GCR_INVERTER", kGCR, read_gcr<F>},
          {"FGMRESDR_INVERTER",
           "RsdTarget, MaxIter, NKrylov, NDefl (not used), PrecondParams{invType, ...}: GCR with a solver as "
           "preconditioner",
           read_fgmres<F>},
          {"EIG_CG_INVERTER", kEigCG, [](const Input& in) { return by_normal_equation(read_eig_cg<F>(in)); }},
          {"RICHARDSON_INVERTER", kRichardson, read_direct_richardson<F>},
          {"RICHARDSON_MP_CLOVER_INVERTER", kRichardson, read_direct_richardson<F>},
          {"RELIABLE_CG_MP_CLOVER_INVERTER", kCloverMixedCG,
           [](const Input& in) { return by_normal_equation(read_clover_mixed_cg<F>(in)); }},
          {"RELIABLE_BICGSTAB_MP_CLOVER_INVERTER", kCloverMixedBiCGStab, read_clover_mixed_bicgstab<F>},
          {"RELIABLE_IBICGSTAB_MP_CLOVER_INVERTER", kCloverMixedBiCGStab, read_clover_mixed_bicgstab<F>},
      });
  return table;
}

template <class F>
const Table<std::shared_ptr<const MultiShiftSolver<F>>>& multi_shift_solver_table() {
  static const Table<MultiShift<F>> table(
      "a multi-shift solver",
      {
          {"CG_INVERTER", "RsdCG (one residual, or one per shift), MaxCG: multi-shift conjugate gradients",
           [](const Input& in) -> MultiShift<F> {
             auto [criterion, residuals] = read_list(in, "RsdCG", "MaxCG");
             return std::make_shared<MultiShiftCG<F>>(criterion, std::move(residuals));
           }},
          {"MIXED_CG_INVERTER",
           "RsdCG (one or one per shift), MaxCG, [Delta = 0.1, CutoffRsd = 1e-6]: multi-shift CG in single precision "
           "to "
           "CutoffRsd, then every shift alone by MIXED_CG_INVERTER",
           [](const Input& in) -> MultiShift<F> {
             auto [criterion, residuals] = read_list(in, "RsdCG", "MaxCG");
             return std::make_shared<MixedMultiShiftCG<F>>(
                 criterion, std::move(residuals), read_delta(in, 0.1),
                 in.real("CutoffRsd", positive(), MixedMultiShiftCG<F>::kCutoff));
           }},
          {"CG_CHRONO_CLOVER_INVERTER",
           "RsdTarget (one or one per shift), MaxIter, Delta, CutoffRsd, MaxChrono, [CloverParams, not used]: the "
           "same, "
           "each shift starting from the best combination with the last MaxChrono larger shifts",
           [](const Input& in) -> MultiShift<F> {
             auto [criterion, residuals] = read_list(in, "RsdTarget", "MaxIter");
             return std::make_shared<MixedMultiShiftCG<F>>(criterion, std::move(residuals), read_delta(in),
                                                           in.real("CutoffRsd", positive()),
                                                           in.integer("MaxChrono", at_least(0)));
           }},
      });
  return table;
}

namespace {

template <class Solver>
Solver read_from(const Table<Solver>& table, const Input& invert_param) {
  const auto* row = table.find(invert_param, "invType");
  return row ? row->make(invert_param) : nullptr;
}

}  // namespace

template <class F>
Normal<F> read_normal_solver(const Input& invert_param) {
  return read_from(normal_solver_table<F>(), invert_param);
}
template <class F>
Direct<F> read_direct_solver(const Input& invert_param) {
  return read_from(direct_solver_table<F>(), invert_param);
}
template <class F>
MultiShift<F> read_multi_shift_solver(const Input& invert_param) {
  return read_from(multi_shift_solver_table<F>(), invert_param);
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template const Table<Normal<F>>& normal_solver_table<F>();                                                           \
  template const Table<Direct<F>>& direct_solver_table<F>();                                                           \
  template const Table<MultiShift<F>>& multi_shift_solver_table<F>();                                                  \
  template Normal<F> read_normal_solver<F>(const Input&);                                                              \
  template Direct<F> read_direct_solver<F>(const Input&);                                                              \
  template MultiShift<F> read_multi_shift_solver<F>(const Input&);
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
