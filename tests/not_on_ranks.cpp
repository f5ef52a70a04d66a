// The cases that do not run on several ranks, each with its reason. They count as skipped.
#include "tests/mpirun.hpp"

namespace tests {

namespace {

struct LeftOut {
  std::string_view file;
  std::string_view name;  ///< empty: every case of the file
  const char* reason;
};

constexpr LeftOut kLeftOut[] = {
    {"test_ranks.cpp", "", "starts ranks of its own"},
    {"test_many_ranks.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_kept.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_io.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_programs.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_queue.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_shared.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_messages.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_hmc.cpp", "", "starts ranks of its own"},
    {"test_many_ranks_meas.cpp", "", "starts ranks of its own"},
    {"test_identity_programs.cpp", "200 programs of 20 statements give the bits of each statement by itself",
     "starts processes of its own"},
    {"test_identity_pairs.cpp", "", "interprets kernels, with all sites on one rank"},
    {"test_reductions.cpp", "sums have the same bits for any number of threads and lanes",
     "starts processes of its own"},
    {"test_user_threads.cpp", "",
     "threads of a rank run statements in an order of their own, and ranks wait for each other"},
    {"test_maps.cpp", "a map that leaves the lattice names both sites",
     "which of the sites is named depends on the grid"},
    {"test_maps.cpp", "shift tables point to the periodic neighbours", "tables of sites that are all on one rank"},
    {"test_maps.cpp", "maps of the user: one, a family, with inverses", "tables of sites that are all on one rank"},
    {"test_maps.cpp", "large lattices, tabulated by several threads: shifts forth and back are the identity",
     "tables of sites that are all on one rank"},
    {"test_qdpxx_files.cpp", "numbers as text have QDP++'s digits and order", "the text of one rank"},
    {"test_stopwatch.cpp", "FlopCounter reports flops and rates in their units", "the text of one rank"},
    {"test_wrong_use.cpp", "with TESSERA_CHECK=1, reading a field that was never written is refused",
     "starts processes of its own"},
    {"test_fermion_boundary.cpp", "the boundary costs no kernel and no field: M is as many launches with it as without",
     "faces are launched, too"},
    {"test_hmc.cpp", "hmc killed at any moment continues from its last saved state to the same bits",
     "is about a process"},
    {"test_hmc.cpp", "one and two threads give the same bits", "is about a process"},
    {"test_hmc.cpp", "SIGTERM, SIGUSR1, SIGHUP, SIGXCPU and SIGINT finish the trajectory, save, and exit with status 0",
     "is about a process"},
    {"test_purgaug.cpp", "the program runs an input, stops on a signal, and explains itself", "is about a process"},
    {"test_queue.cpp", "the vectors of conjugate gradients are two kernels, and the sum is part of one",
     "faces are launched, too"},
    {"test_queue.cpp", "a statement that fails later names itself at the look, and its result has no contents",
     "a failure of one rank ends the job"},
    {"test_gpu_faults.cpp", "", "a failure of one rank ends the job"},
    {"test_gpu_transfers.cpp", "", "messages go through the host"},
    {"test_subsets.cpp", "a colour out of range names the site", "which of the sites is named depends on the grid"},
};

}  // namespace

const char* left_out_on_ranks(std::string_view file, std::string_view name) {
  if (job_ranks() == 1) return nullptr;
  for (const LeftOut& one : kLeftOut)
    if (one.file == file && (one.name.empty() || one.name == name)) return one.reason;
  return nullptr;
}

}  // namespace tests
