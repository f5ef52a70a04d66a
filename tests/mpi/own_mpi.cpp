// A program that uses MPI itself, as its first argument says.
#include <qdp_mpi.h>

#include <cstdio>
#include <string>
#include <thread>

#include "qdp.h"

namespace {

/// Half of the ranks are a job, the other half are another one.
void halves(int* argc, char*** argv) {
  int level = 0, rank = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
  QDP::QDP_use_communicator(half);
  QDP::QDP_initialize(argc, argv);
  int sum = rank;
  QDP::QDPInternal::globalSum(sum);
  QDP::QDPIO::cout << "half " << rank % 2 << " of " << QDP::Layout::numNodes() << ": " << sum << std::endl;
  QDP::QDP_finalize();
  MPI_Comm_free(&half);
}

/// All ranks, and MPI for the main thread only.
void funneled(int* argc, char*** argv) {
  int level = 0;
  MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
  QDP::QDP_initialize(argc, argv);
  std::string said = "nothing";
  std::thread other([&] {
    try {
      int sum = 1;
      QDP::QDPInternal::globalSum(sum);
    } catch (const jit::UserError& error) {
      said = error.what();
    }
  });
  other.join();
  int sum = 1;
  QDP::QDPInternal::globalSum(sum);
  QDP::QDPIO::cout << "sum " << sum << ", level " << (level < MPI_THREAD_SERIALIZED ? "funneled" : "more")
                   << ", other thread: " << said << std::endl;
  QDP::QDP_finalize();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  (what == "halves" ? halves : funneled)(&argc, &argv);
  int finalized = 0, ranks = 0, total = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return 7;
  const int one = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&one, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  // still the program's
  MPI_Finalize();
  return total == ranks ? 0 : 8;
}
