#include "jit/comm/launcher.hpp"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

namespace jit {
namespace {

/// A variable for the number of ranks and one for the own number, either may be nullptr.
struct Pair {
  const char *ranks, *rank;
};
// Nearest to the process first: mpirun within a step of srun, which started one process for each machine.
constexpr Pair kLaunchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},  // Open MPI, jsrun
    {"MV2_COMM_WORLD_SIZE", "MV2_COMM_WORLD_RANK"},    // MVAPICH
    {"PMI_SIZE", "PMI_RANK"},                          // MPICH, Intel MPI
    {"PALS_NRANKS", "PALS_RANKID"},                    // HPE Cray
    {"FLUX_JOB_SIZE", "FLUX_TASK_RANK"},
};
// Those that tell less.
constexpr Pair kOthers[] = {{nullptr, "PMIX_RANK"},
                            {nullptr, "PMI_RANK"},
                            {nullptr, "PALS_RANKID"},
                            {nullptr, "ALPS_APP_PE"},
                            {"MPI_LOCALNRANKS", "MPI_LOCALRANKID"}};
/// Numbers that srun gives to what is no step: the shells of sbatch and salloc.
constexpr long kFirstSpecialStep = 0xfffffff0L;

using Variables = std::function<const char*(const char*)>;

std::optional<long> number(const Variables& variable, const char* name) {
  const char* text = name != nullptr ? variable(name) : nullptr;
  if (text == nullptr) return std::nullopt;
  long value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, failure] = std::from_chars(text, end, value);
  if (failure != std::errc{} || stop != end || value < 0) return std::nullopt;
  return value;
}

std::optional<LaunchedRank> step_of_slurm(const Variables& variable) {
  const auto step = number(variable, "SLURM_STEP_ID"), rank = number(variable, "SLURM_PROCID");
  if (!step || *step >= kFirstSpecialStep || !rank) return std::nullopt;
  // SLURM_NTASKS is that of the allocation where a step's own number is told.
  for (const char* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})
    if (const auto ranks = number(variable, name); ranks && *ranks > *rank)
      return LaunchedRank{name, static_cast<int>(*ranks), static_cast<int>(*rank)};
  return std::nullopt;
}

}  // namespace

LaunchedRank launch_of(const Variables& variable) {
  for (const Pair& launcher : kLaunchers)
    if (const auto ranks = number(variable, launcher.ranks); ranks && *ranks > 0)
      return {launcher.ranks, static_cast<int>(*ranks), static_cast<int>(number(variable, launcher.rank).value_or(0))};
  if (const auto step = step_of_slurm(variable)) return *step;
  for (const Pair& other : kOthers) {
    const auto rank = number(variable, other.rank), ranks = number(variable, other.ranks);
    if (rank && (ranks || other.ranks == nullptr))
      return {other.rank, ranks && *ranks > 1 ? static_cast<int>(*ranks) : 0, static_cast<int>(*rank)};
  }
  return {};
}

LaunchedRank launch_of_process() {
  return launch_of([](const char* name) -> const char* { return std::getenv(name); });
}

}  // namespace jit
