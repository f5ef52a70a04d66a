// What Tessera and its plug-in for MPI tell each other: functions and plain data. So the plug-in can be compiled by any compiler against
// any MPI, needs no library of Tessera, and an older or newer one is known before anything of it is called.
//
// A library that is a plug-in has two functions with C linkage:
//   int tessera_mpi_interface(void)                 kInterface of its sources; the next only if it is ours
//   Failure tessera_mpi_open(const Wanted*, Job**)  makes a communicator
#pragma once

#include <cstddef>
#include <cstdint>

namespace jit::mpi {

/// Raised with each change of what stands below.
inline constexpr int kInterface = 3;

/// nullptr: it went well. Otherwise what did not; the text stays until the next call.
using Failure = const char*;

/// Over which processes.
struct Wanted {
  int* argc;  ///< of main, or nullptr
  char*** argv;
  const int* communicator;  ///< the program's own, as Fortran knows it (MPI_Comm_c2f), or nullptr: all processes
};

/// A message between two ranks: a persistent request. Messages in one direction meet in the order of their starts.
struct Request;

/// A file that all ranks have opened, and bytes that follow each other in one.
struct File;
struct Block {
  std::uint64_t offset, bytes;
};

/// A communicator of its own, so that nothing meets the program's messages. One thread at a time calls.
struct Job {
  int rank, size;
  int one_thread;       ///< 1: MPI was initialised so that only the thread that did it may call
  int gpu_memory;       ///< 1: messages may lie in the memory of a CUDA GPU
  const char* library;  ///< MPI's name and version
  const char* host;

  Failure (*broadcast)(Job*, void* data, std::size_t bytes, int root);
  /// `join` is jit::Join: into[i] = into[i] joined with from[i], i < count.
  Failure (*combine)(Job*, void* values, std::size_t bytes, std::size_t count,
                     void (*join)(void* into, const void* from, std::size_t count));
  Failure (*gather)(Job*, const void* mine, std::size_t bytes, void* all);
  Failure (*barrier)(Job*);

  Failure (*make)(Job*, void* data, std::size_t bytes, int partner, int outgoing, Request**);
  Failure (*start)(Job*, Request*);
  /// *done: whether it is over. If so, *came: how many bytes a receiver got, kTooLong if there were more than expected.
  Failure (*test)(Job*, Request*, int* done, std::size_t* came);
  /// Also of one that is under way, after an error: what was to come is forgotten.
  void (*drop)(Job*, Request*, int under_way);

  /// By all ranks together: a file that is there, to be changed if `writing`. *opened is nullptr on all ranks if one could not.
  Failure (*open_file)(Job*, const char* path, int writing, File** opened);
  /// By all ranks together: the blocks of this one (`count` may be 0), rising; their bytes follow each other in `data`. A rank that
  /// fails has taken part to the end.
  Failure (*move_file)(Job*, File*, const Block* blocks, std::size_t count, void* data, int writing);
  /// By all ranks together: what was written is on disk. The file is gone in any case.
  Failure (*close_file)(Job*, File*);

  /// Tells the other ranks that this one leaves the job, 1: after a failure, and waits until all have. After `seconds` (negative: never)
  /// it gives up for now: *lowest = -1. Else *lowest is the lowest rank that failed, `size` if none did. May be called again.
  Failure (*leave)(Job*, int failed, double seconds, int* lowest);
  /// After all ranks have left: frees what this job has, and ends MPI if `end` and MPI was initialised here.
  void (*close)(Job*, int end);
  void (*abort)(Job*, int status);
};

inline constexpr std::size_t kTooLong = ~std::size_t{0};

using InterfaceFunction = int (*)();
using OpenFunction = Failure (*)(const Wanted*, Job**);

}  // namespace jit::mpi
