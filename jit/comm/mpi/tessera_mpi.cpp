// libtessera_mpi.so: the plug-in through which Tessera's ranks talk by MPI. Needs MPI 3.0, C++17, and interface.hpp, which
// says what each function does. `tessera-build-mpi` compiles it against the MPI of a machine.

#include "jit/comm/mpi/interface.hpp"

// Some versions of MPI have classes for C++ as well, in a library that nobody needs.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#if MPI_VERSION < 3
#error "Tessera needs MPI 3.0 or newer"
#endif

#ifndef TESSERA_MPI_MOST
#define TESSERA_MPI_MOST INT_MAX /* elements that one call of MPI takes; tests have less */
#endif

// Whether this MPI takes addresses of CUDA's memory. Open MPI and MPICH 4 have it; it is not in MPI's standard.
extern "C" __attribute__((weak)) int MPIX_Query_cuda_support();

struct jit::mpi::Request {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype type = MPI_BYTE;
  std::size_t bytes = 0;
  bool own_type = false, outgoing = false;
  bool failed = false;  ///< MPI has no more use for it, nor a state that we could rely on
};

struct jit::mpi::File {
  MPI_File file = MPI_FILE_NULL;
  bool writing = false;
};

namespace {

using jit::mpi::Block;
using jit::mpi::Failure;
using jit::mpi::File;
using jit::mpi::Job;
using jit::mpi::Request;
using Join = void (*)(void* into, const void* from, std::size_t count);

constexpr std::size_t kMost = TESSERA_MPI_MOST;
/// There is nothing else that these messages could meet.
constexpr int kTag = 0;

/// Kept from one call to the next, as it is returned.
std::string failure;

/// The text of what MPI answered, or nullptr if it is content.
Failure say(const char* call, int code) {
  if (code == MPI_SUCCESS) return nullptr;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  failure = std::string(call) + ": " + text;
  return failure.c_str();
}
#define TESSERA_TRY(call, ...)                                                                                         \
  do {                                                                                                                 \
    if (const Failure failed = say(#call, call(__VA_ARGS__))) return failed;                                           \
  } while (false)

/// So many bytes as `count` elements of `type`, however many.
struct Bytes {
  MPI_Datatype type = MPI_BYTE;
  int count = 0;
  bool own = false;
  ~Bytes() {
    if (own) MPI_Type_free(&type);
  }
  Failure make(std::size_t bytes) {
    count = static_cast<int>(bytes);
    if (bytes <= kMost) return nullptr;
    // Whole pieces, and a rest.
    const std::size_t pieces = bytes / kMost, rest = bytes % kMost;
    if (pieces > kMost) {
      failure = "a message of more than 2^62 bytes";
      return failure.c_str();
    }
    MPI_Datatype piece = MPI_DATATYPE_NULL, all = MPI_DATATYPE_NULL;
    TESSERA_TRY(MPI_Type_contiguous, static_cast<int>(kMost), MPI_BYTE, &piece);
    TESSERA_TRY(MPI_Type_contiguous, static_cast<int>(pieces), piece, &all);
    int lengths[] = {1, static_cast<int>(rest)};
    MPI_Aint places[] = {0, static_cast<MPI_Aint>(pieces * kMost)};
    MPI_Datatype types[] = {all, MPI_BYTE};
    TESSERA_TRY(MPI_Type_create_struct, 2, lengths, places, types, &type);
    own = true;
    count = 1;
    TESSERA_TRY(MPI_Type_commit, &type);
    TESSERA_TRY(MPI_Type_free, &all);
    TESSERA_TRY(MPI_Type_free, &piece);
    return nullptr;
  }
};

/// MPI's functions that join values are told nothing but the values: that of the present call. One thread at a time.
Join present_join = nullptr;

void join_values(void* from, void* into, int* count, MPI_Datatype*) {
  present_join(into, from, static_cast<std::size_t>(*count));
}

struct State : Job {
  MPI_Comm ranks = MPI_COMM_NULL, leaving = MPI_COMM_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::map<std::size_t, MPI_Datatype> values;  ///< by their bytes
  std::string library_text, host_text;
  bool started_mpi = false;
  MPI_Request leaves = MPI_REQUEST_NULL;
  bool has_left = false;
  int mine = 0, lowest = -1;
};

State& of(Job* job) { return *static_cast<State*>(job); }

bool is_open() {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized != 0 && finalized == 0;
}

Failure broadcast(Job* job, void* data, std::size_t bytes, int root) {
  Bytes all;
  if (const Failure failed = all.make(bytes)) return failed;
  TESSERA_TRY(MPI_Bcast, data, all.count, all.type, root, of(job).ranks);
  return nullptr;
}

Failure combine(Job* job, void* values, std::size_t bytes, std::size_t count, Join join) {
  State& state = of(job);
  if (bytes == 0 || count == 0) return nullptr;
  if (bytes > kMost) {
    failure = "a value of more than 2^31 bytes";
    return failure.c_str();
  }
  auto [value, is_new] = state.values.emplace(bytes, MPI_DATATYPE_NULL);
  if (is_new) {
    TESSERA_TRY(MPI_Type_contiguous, static_cast<int>(bytes), MPI_BYTE, &value->second);
    TESSERA_TRY(MPI_Type_commit, &value->second);
  }
  present_join = join;
  auto* at = static_cast<char*>(values);
  for (std::size_t begin = 0; begin < count; begin += kMost) {
    const int part = static_cast<int>(std::min(kMost, count - begin));
    TESSERA_TRY(MPI_Allreduce, MPI_IN_PLACE, at + begin * bytes, part, value->second, state.op, state.ranks);
  }
  return nullptr;
}

Failure gather(Job* job, const void* mine, std::size_t bytes, void* all) {
  if (bytes == 0) return nullptr;
  Bytes each;
  if (const Failure failed = each.make(bytes)) return failed;
  TESSERA_TRY(MPI_Allgather, const_cast<void*>(mine), each.count, each.type, all, each.count, each.type, of(job).ranks);
  return nullptr;
}

Failure barrier(Job* job) {
  TESSERA_TRY(MPI_Barrier, of(job).ranks);
  return nullptr;
}

Failure make(Job* job, void* data, std::size_t bytes, int partner, int outgoing, Request** made) {
  Bytes all;
  if (const Failure failed = all.make(bytes)) return failed;
  MPI_Request request = MPI_REQUEST_NULL;
  if (outgoing != 0)
    TESSERA_TRY(MPI_Send_init, data, all.count, all.type, partner, kTag, of(job).ranks, &request);
  else
    TESSERA_TRY(MPI_Recv_init, data, all.count, all.type, partner, kTag, of(job).ranks, &request);
  *made = new Request;
  (*made)->request = request;
  (*made)->type = all.type;
  (*made)->bytes = bytes;
  (*made)->own_type = all.own;
  (*made)->outgoing = outgoing != 0;
  all.own = false;
  return nullptr;
}

Failure start(Job*, Request* message) {
  if (message->failed) return failure = "a message that has failed before", failure.c_str();
  TESSERA_TRY(MPI_Start, &message->request);
  return nullptr;
}

Failure test(Job*, Request* message, int* done, std::size_t* came) {
  MPI_Status status;
  *came = message->bytes;
  const int code = MPI_Test(&message->request, done, &status);
  if (code != MPI_SUCCESS) {
    message->failed = true;
    int kind = MPI_SUCCESS;
    MPI_Error_class(code, &kind);
    if (kind != MPI_ERR_TRUNCATE) return say("MPI_Test", code);
    *done = 1;
    *came = jit::mpi::kTooLong;
  } else if (*done != 0 && !message->outgoing) {
    MPI_Count bytes = 0;  // of elements of MPI_BYTE, whatever type they are in
    TESSERA_TRY(MPI_Get_elements_x, &status, message->type, &bytes);
    *came = bytes == MPI_UNDEFINED ? jit::mpi::kTooLong : static_cast<std::size_t>(bytes);
  }
  return nullptr;
}

void drop(Job*, Request* message, int under_way) {
  if (is_open() && !message->failed) {
    if (under_way != 0 && !message->outgoing) {
      MPI_Cancel(&message->request);
      int done = 0;
      for (int i = 0; i < 1000 && done == 0; ++i) {
        if (i > 0) usleep(1000);
        if (MPI_Test(&message->request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
      }
    }
    MPI_Request_free(&message->request);
    if (message->own_type) MPI_Type_free(&message->type);
  }
  delete message;
}

Failure open_file(Job* job, const char* path, int writing, File** opened) {
  *opened = nullptr;
  // Both ways also for writing: where blocks of ranks lie close together, MPI reads what is between.
  const int mode = writing != 0 ? MPI_MODE_RDWR : MPI_MODE_RDONLY;
  MPI_File file = MPI_FILE_NULL;
  const Failure mine =
      say("MPI_File_open", MPI_File_open(of(job).ranks, const_cast<char*>(path), mode, MPI_INFO_NULL, &file));
  int good = mine == nullptr, all_good = 0;
  TESSERA_TRY(MPI_Allreduce, &good, &all_good, 1, MPI_INT, MPI_MIN, of(job).ranks);
  if (all_good == 0) {  // what some have opened stays so: closing would take all of them
    if (mine == nullptr) failure = "MPI_File_open failed on another rank";
    return failure.c_str();
  }
  *opened = new File;
  (*opened)->file = file;
  (*opened)->writing = writing != 0;
  return nullptr;
}

/// Where the blocks of a rank lie: a type whose data are theirs, from `first` on.
struct Places {
  MPI_Datatype type = MPI_BYTE;
  MPI_Offset first = 0;
  bool own = false;
  ~Places() {
    if (own) MPI_Type_free(&type);
  }
  Failure make(const Block* blocks, std::size_t count) {
    if (count == 0) return nullptr;
    std::vector<int> lengths;
    std::vector<MPI_Aint> places;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t done = 0; done < blocks[i].bytes; done += kMost) {
        lengths.push_back(static_cast<int>(std::min<std::size_t>(kMost, blocks[i].bytes - done)));
        places.push_back(static_cast<MPI_Aint>(blocks[i].offset - blocks[0].offset + done));
      }
    TESSERA_TRY(MPI_Type_create_hindexed, static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_BYTE,
                &type);
    own = true;
    TESSERA_TRY(MPI_Type_commit, &type);
    first = static_cast<MPI_Offset>(blocks[0].offset);
    return nullptr;
  }
};

Failure move_file(Job*, File* file, const Block* blocks, std::size_t count, void* data, int writing) {
  Places places;
  Bytes all;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += blocks[i].bytes;
  std::string text;
  // Whatever goes wrong here, the calls that take all ranks are made.
  const auto go_on = [&text](Failure failed) {
    if (failed != nullptr && text.empty()) text = failed;
    return failed == nullptr;
  };
  const bool ready = go_on(places.make(blocks, count)) && go_on(all.make(bytes));
  char native[] = "native";
  const bool placed =
      go_on(say("MPI_File_set_view", MPI_File_set_view(file->file, ready ? places.first : 0, MPI_BYTE,
                                                       ready ? places.type : MPI_BYTE, native, MPI_INFO_NULL)));
  const int pieces = ready && placed ? all.count : 0;
  const MPI_Datatype type = pieces > 0 ? all.type : MPI_BYTE;
  if (writing != 0)
    go_on(say("MPI_File_write_at_all", MPI_File_write_at_all(file->file, 0, data, pieces, type, MPI_STATUS_IGNORE)));
  else
    go_on(say("MPI_File_read_at_all", MPI_File_read_at_all(file->file, 0, data, pieces, type, MPI_STATUS_IGNORE)));
  if (text.empty()) return nullptr;
  failure = text;
  return failure.c_str();
}

Failure close_file(Job*, File* file) {
  const std::string synced = [&] {
    const Failure failed = file->writing ? say("MPI_File_sync", MPI_File_sync(file->file)) : nullptr;
    return std::string(failed != nullptr ? failed : "");
  }();
  const Failure closed = say("MPI_File_close", MPI_File_close(&file->file));
  delete file;
  if (synced.empty()) return closed;
  failure = synced;
  return failure.c_str();
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Failure leave(Job* job, int failed, double seconds, int* lowest) {
  State& state = of(job);
  *lowest = -1;
  if (!state.has_left) {
    state.has_left = true;
    state.mine = failed != 0 ? state.rank : state.size;
    TESSERA_TRY(MPI_Iallreduce, &state.mine, &state.lowest, 1, MPI_INT, MPI_MIN, state.leaving, &state.leaves);
  }
  const double begin = now();
  for (int tries = 0;; ++tries) {
    int done = 0;
    TESSERA_TRY(MPI_Test, &state.leaves, &done, MPI_STATUS_IGNORE);
    if (done != 0) {
      *lowest = state.lowest;
      return nullptr;
    }
    if (seconds >= 0 && now() - begin >= seconds) return nullptr;
    usleep(tries < 100 ? 10 : 1000);  // others may still compute for long
  }
}

void close(Job* job, int end) {
  State& state = of(job);
  if (is_open()) {
    for (auto& [bytes, type] : state.values) MPI_Type_free(&type);
    MPI_Op_free(&state.op);
    MPI_Comm_free(&state.leaving);
    MPI_Comm_free(&state.ranks);
    if (end != 0 && state.started_mpi) MPI_Finalize();
  }
  delete &state;
}

void abort(Job* job, int status) {
  if (is_open()) MPI_Abort(of(job).ranks, status);
}

Failure fill(State& state, const jit::mpi::Wanted& wanted) {
  int initialized = 0, finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return failure = "MPI was finalised in this process, and cannot start again", failure.c_str();
  MPI_Initialized(&initialized);
  if (initialized == 0 && wanted.communicator != nullptr)
    return failure =
               "the program gave a communicator, but the MPI of this plug-in is not initialised: it is another MPI than the program's",
           failure.c_str();
  int level = MPI_THREAD_SINGLE;
  if (initialized == 0) {
    TESSERA_TRY(MPI_Init_thread, wanted.argc, wanted.argv, MPI_THREAD_SERIALIZED, &level);
    state.started_mpi = true;
  } else {
    TESSERA_TRY(MPI_Query_thread, &level);
  }
  int is_main = 0;
  TESSERA_TRY(MPI_Is_thread_main, &is_main);
  state.one_thread = level < MPI_THREAD_SERIALIZED;
  if (state.one_thread != 0 && is_main == 0)
    return failure =
               "MPI was initialised by another thread, and for that thread only; use MPI_Init_thread with MPI_THREAD_SERIALIZED",
           failure.c_str();

  state.gpu_memory = MPIX_Query_cuda_support != nullptr && MPIX_Query_cuda_support() == 1;

  const MPI_Comm all = wanted.communicator != nullptr ? MPI_Comm_f2c(*wanted.communicator) : MPI_COMM_WORLD;
  if (state.started_mpi) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  TESSERA_TRY(MPI_Comm_dup, all, &state.ranks);
  TESSERA_TRY(MPI_Comm_dup, all, &state.leaving);
  TESSERA_TRY(MPI_Comm_set_errhandler, state.ranks, MPI_ERRORS_RETURN);
  TESSERA_TRY(MPI_Comm_set_errhandler, state.leaving, MPI_ERRORS_RETURN);
  TESSERA_TRY(MPI_Comm_rank, state.ranks, &state.rank);
  TESSERA_TRY(MPI_Comm_size, state.ranks, &state.size);
  TESSERA_TRY(MPI_Op_create, join_values, 1, &state.op);

  char text[MPI_MAX_LIBRARY_VERSION_STRING + 1] = {}, name[MPI_MAX_PROCESSOR_NAME + 1] = {};
  int length = 0;
  TESSERA_TRY(MPI_Get_library_version, text, &length);
  TESSERA_TRY(MPI_Get_processor_name, name, &length);
  state.library_text = text;
  if (const auto end = state.library_text.find_first_of(",\n"); end != std::string::npos)
    state.library_text.resize(end);
  state.host_text = name;
  state.library = state.library_text.c_str();
  state.host = state.host_text.c_str();
  return nullptr;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int tessera_mpi_interface() { return jit::mpi::kInterface; }

extern "C" __attribute__((visibility("default"))) Failure tessera_mpi_open(const jit::mpi::Wanted* wanted, Job** job) {
  auto* state = new State;
  state->broadcast = broadcast;
  state->combine = combine;
  state->gather = gather;
  state->barrier = barrier;
  state->make = make;
  state->start = start;
  state->test = test;
  state->drop = drop;
  state->open_file = open_file;
  state->move_file = move_file;
  state->close_file = close_file;
  state->leave = leave;
  state->close = close;
  state->abort = abort;
  const Failure failed = fill(*state, *wanted);
  if (failed != nullptr)
    delete state;
  else
    *job = state;
  return failed;
}
