// A plug-in for MPI without MPI: rank 0 of FAKE_MPI_SIZE, whose partners send zeros and have left the job when they are asked. MPI says no
// to a broadcast of 13 bytes, and to a message of 13 as well.
#include <cstring>

#include "jit/comm/mpi/interface.hpp"

#ifndef FAKE_MPI_INTERFACE
#define FAKE_MPI_INTERFACE jit::mpi::kInterface
#endif
#ifndef FAKE_MPI_GPU
#define FAKE_MPI_GPU 0
#endif
#ifndef FAKE_MPI_REFUSES
#define FAKE_MPI_REFUSES 0
#endif

#ifdef FAKE_MPI_NO_PLUGIN
extern "C" int something_else() { return 0; }
#else

using jit::mpi::Block;
using jit::mpi::Failure;
using jit::mpi::File;
using jit::mpi::Job;

struct jit::mpi::Request {
  std::size_t bytes;
};

namespace {

using jit::mpi::Request;

Failure broadcast(Job*, void*, std::size_t bytes, int) { return bytes == 13 ? "MPI_Bcast: thirteen" : nullptr; }
Failure combine(Job*, void*, std::size_t, std::size_t, void (*)(void*, const void*, std::size_t)) { return nullptr; }
Failure gather(Job* job, const void* mine, std::size_t bytes, void* all) {
  for (int rank = 0; rank < job->size && bytes > 0; ++rank)
    std::memcpy(static_cast<char*>(all) + static_cast<std::size_t>(rank) * bytes, mine, bytes);
  return nullptr;
}
Failure barrier(Job*) { return nullptr; }
Failure make(Job*, void*, std::size_t bytes, int, int, Request** made) {
  *made = new Request{bytes};
  return nullptr;
}
Failure start(Job*, Request*) { return nullptr; }
/// Messages of 1 byte never come, of 2 are too short, of 3 too long.
Failure test(Job*, Request* request, int* done, std::size_t* came) {
  *done = request->bytes != 1;
  *came = request->bytes == 2 ? 1 : request->bytes == 3 ? jit::mpi::kTooLong : request->bytes;
  return request->bytes == 13 ? "MPI_Test: thirteen" : nullptr;
}
void drop(Job*, Request* request, int) { delete request; }
Failure open_file(Job*, const char*, int, File** opened) {
  *opened = nullptr;
  return "MPI_File_open: no files here";
}
Failure move_file(Job*, File*, const Block*, std::size_t, void*, int) { return "MPI_File_write_at_all: no files here"; }
Failure close_file(Job*, File*) { return nullptr; }
Failure leave(Job* job, int failed, double, int* lowest) {
  *lowest = failed != 0 ? 0 : job->size;
  return nullptr;
}
void close(Job*, int) {}
void abort(Job*, int) {}

Job job{.rank = 0,
        .size = FAKE_MPI_SIZE,
        .one_thread = 0,
        .gpu_memory = FAKE_MPI_GPU,
        .library = "Fake MPI 1.0",
        .host = "here",
        .broadcast = broadcast,
        .combine = combine,
        .gather = gather,
        .barrier = barrier,
        .make = make,
        .start = start,
        .test = test,
        .drop = drop,
        .open_file = open_file,
        .move_file = move_file,
        .close_file = close_file,
        .leave = leave,
        .close = close,
        .abort = abort};

}  // namespace

extern "C" int tessera_mpi_interface() { return FAKE_MPI_INTERFACE; }
extern "C" Failure tessera_mpi_open(const jit::mpi::Wanted*, Job** opened) {
  *opened = &job;
  return FAKE_MPI_REFUSES ? "MPI_Init_thread: no such thing" : nullptr;
}

#endif
