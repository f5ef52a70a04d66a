// Which processes are ranks of a job: by the variables of launchers, as they set them.
#include "jit/comm/launcher.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

namespace {

using Variables = std::map<std::string, std::string>;

jit::LaunchedRank launch(const Variables& variables) {
  return jit::launch_of([&](const char* name) {
    const auto found = variables.find(name);
    return found != variables.end() ? found->second.c_str() : nullptr;
  });
}

void check(const Variables& variables, const std::string& by, int ranks, int rank) {
  const jit::LaunchedRank found = launch(variables);
  CAPTURE(variables.begin()->first);
  CHECK(found.by == by);
  CHECK(found.ranks == ranks);
  CHECK(found.rank == rank);
}

}  // namespace

TEST_CASE("launchers tell how many ranks there are, and which one this is") {
  check({{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_RANK", "3"}, {"PMIX_RANK", "3"}}, "OMPI_COMM_WORLD_SIZE", 4,
        3);
  check({{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}}, "PMI_SIZE", 2, 1);
  check({{"MV2_COMM_WORLD_SIZE", "8"}, {"MV2_COMM_WORLD_RANK", "6"}}, "MV2_COMM_WORLD_SIZE", 8, 6);
  check({{"PALS_NRANKS", "7"}, {"PALS_RANKID", "5"}}, "PALS_NRANKS", 7, 5);
  check({{"PMI_SIZE", "9"}}, "PMI_SIZE", 9, 0);
  check({{"FLUX_JOB_SIZE", "3"}, {"FLUX_TASK_RANK", "2"}}, "FLUX_JOB_SIZE", 3, 2);
  check({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "5"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "6"}},
        "SLURM_STEP_NUM_TASKS", 6, 5);
  check({{"SLURM_STEP_ID", "2"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "8"}}, "SLURM_NTASKS", 8, 1);
}

TEST_CASE("one rank is one rank, and no launcher is one") {
  check({{"HOME", "/"}}, "", 1, 0);
  check({{"OMPI_COMM_WORLD_SIZE", "1"}, {"OMPI_COMM_WORLD_RANK", "0"}}, "OMPI_COMM_WORLD_SIZE", 1, 0);
  check({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}},
        "SLURM_STEP_NUM_TASKS", 1, 0);
}

TEST_CASE("the shells of sbatch and salloc are one process, however many tasks were asked for") {
  check({{"SLURM_JOB_ID", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, "", 1, 0);  // sbatch
  check({{"SLURM_JOB_ID", "1"}, {"SLURM_NTASKS", "8"}}, "", 1, 0);                         // salloc
  for (const char* shell : {"4294967290", "4294967291", "4294967292"})                     // as steps
    check({{"SLURM_STEP_ID", shell}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, "", 1, 0);
  // The first number that is no step's, and the last that is; a rank that the job does not have.
  check({{"SLURM_STEP_ID", "4294967280"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}}, "", 1, 0);
  check({{"SLURM_STEP_ID", "4294967279"}, {"SLURM_PROCID", "7"}, {"SLURM_NTASKS", "8"}}, "SLURM_NTASKS", 8, 7);
  check({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "8"}, {"SLURM_NTASKS", "8"}}, "", 1, 0);
  check({{"SLURM_STEP_ID", "0"}, {"SLURM_PROCID", "3"}, {"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "3"}},
        "SLURM_NTASKS", 8, 3);
}

TEST_CASE("mpirun within a step of srun counts") {
  check({{"SLURM_STEP_ID", "0"},
         {"SLURM_PROCID", "1"},
         {"SLURM_STEP_NUM_TASKS", "2"},
         {"OMPI_COMM_WORLD_SIZE", "16"},
         {"OMPI_COMM_WORLD_RANK", "9"}},
        "OMPI_COMM_WORLD_SIZE", 16, 9);
}

TEST_CASE("a launcher that tells the rank only has started several, as far as one knows") {
  check({{"PMIX_RANK", "2"}, {"PMIX_NAMESPACE", "x"}}, "PMIX_RANK", 0, 2);
  check({{"ALPS_APP_PE", "0"}}, "ALPS_APP_PE", 0, 0);
  check({{"PMI_RANK", "4"}}, "PMI_RANK", 0, 4);
  check({{"PALS_RANKID", "3"}}, "PALS_RANKID", 0, 3);
  check({{"MPI_LOCALNRANKS", "6"}, {"MPI_LOCALRANKID", "5"}}, "MPI_LOCALRANKID", 6, 5);
  check({{"MPI_LOCALNRANKS", "1"}, {"MPI_LOCALRANKID", "0"}}, "MPI_LOCALRANKID", 0, 0);  // on this machine
  check({{"MPI_LOCALRANKID", "0"}}, "", 1, 0);
}

TEST_CASE("what is no number does not count") {
  for (const char* text : {"", "x", "4x", "-1"}) check({{"OMPI_COMM_WORLD_SIZE", text}}, "", 1, 0);
}
