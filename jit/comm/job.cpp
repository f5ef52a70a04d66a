#include "jit/comm/job.hpp"

#include <dlfcn.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/comm/launcher.hpp"
#include "jit/comm/mpi_ranks.hpp"
#include "jit/comm/numa.hpp"
#include "jit/comm/plugin.hpp"
#include "jit/support/cores.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/host_memory.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

/// How long a rank that failed waits for the others to fail as well.
constexpr double kTogether = 2;

/// A rank that knows of others and cannot talk to them: better no run than as many runs as there are ranks.
class Stranded : public Communicator {
 public:
  explicit Stranded(const LaunchedRank& launch)
      : rank_(launch.rank), size_(std::max({launch.ranks, launch.rank + 1, 2})) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void broadcast(void*, std::size_t, int) override { fail("broadcast"); }
  void combine(void*, std::size_t, std::size_t, Join) override { fail("combine"); }
  void gather(const void*, std::size_t, void*) override { fail("gather"); }
  void barrier() override { fail("barrier"); }
  std::unique_ptr<Message> outgoing(const void*, std::size_t, int) override { fail("message to"); }
  std::unique_ptr<Message> incoming(void*, std::size_t, int, Length) override { fail("message from"); }
  void abort(int) override {}

 private:
  [[noreturn]] void fail(const char* operation) const {
    throw DeviceError({.what = operation,
                       .expected = "the other ranks",
                       .got = "no way to talk to them, as the start of the job failed",
                       .where = "rank " + std::to_string(rank_)});
  }
  int rank_, size_;
};

/// What the process remembers of its job.
struct Process {
  MpiRanks* ranks = nullptr;        ///< owned by the process's communicator, for ever
  std::optional<int> communicator;  ///< the program's
  pid_t pid = 0;
  bool leaving = false;
};
Process& process() {
  static auto* state = new Process;  // exit handlers ask for it
  return *state;
}

/// The ranks while there is something to leave. A process that the program has forked off is none of them. From within MPI nothing can be
/// said: MPICH calls exit() there when another rank has aborted.
MpiRanks* open_ranks() {
  MpiRanks* const ranks = process().ranks;
  return ranks != nullptr && !ranks->closed() && !ranks->is_inside() && process().pid == getpid() ? ranks : nullptr;
}

/// Whether the program has initialised the MPI that it is linked with.
bool mpi_is_initialized() {
  const auto ask = [](const char* name) {
    int yes = 0;
    if (void* address = dlsym(RTLD_DEFAULT, name)) reinterpret_cast<int (*)(int*)>(address)(&yes);
    return yes != 0;
  };
  return ask("MPI_Initialized") && !ask("MPI_Finalized");
}

std::string ranks_text(const LaunchedRank& launch) {
  return launch.ranks == 0 ? "several" : std::to_string(launch.ranks);
}

[[noreturn]] void refuse_without_plugin(const LaunchedRank& launch, bool initialized) {
  std::string places;
  for (const std::string& place : plugin_places()) places += (places.empty() ? "" : ", ") + place;
  const bool launched = launch.ranks != 1;
  throw DeviceError(
      {.what = launched ? "a job of " + ranks_text(launch) + " ranks (" + launch.by + ")"
                        : std::string(initialized ? "a program that has initialised MPI" : "TESSERA_MPI=1"),
       .expected = "Tessera's plug-in for MPI, libtessera_mpi.so",
       .got = "none",
       .where = "looked for " + places,
       .what_now =
           "Build it with tessera-build-mpi, or name it in TESSERA_MPI_LIBRARY; TESSERA_MPI=0 makes each process a "
           "run of its own"});
}

void check_size(const LaunchedRank& launch, const mpi::Job& job, const std::string& file) {
  if (job.size > 1 || launch.ranks == 1 || (launch.ranks == 0 && launch.rank == 0)) return;
  throw DeviceError(
      {.what = "a job of " + ranks_text(launch) + " ranks (" + launch.by + ")",
       .expected = "MPI to see them",
       .got = std::string("one rank that is alone, by ") + job.library,
       .where = file,
       .what_now =
           "The launcher is of another MPI than the plug-in: use that MPI's mpirun (for srun its --mpi), or build "
           "the plug-in for this one with tessera-build-mpi; TESSERA_MPI=0 makes each process a run of its own"});
}

std::string text_of(const std::exception_ptr& error) {
  if (!error) return "terminate was called";
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (const std::string& text) {
    return text;
  } catch (const char* text) {
    return text;
  } catch (...) {
    return "something that is no std::exception";
  }
}

/// Behind std::terminate.
[[noreturn]] void on_terminate() {
  fail_ranks("error that ends the program: " + text_of(std::current_exception()), 1);
  std::fflush(nullptr);
  _exit(1);  // no SIGABRT: MPIs write the stack of each rank then, and the message is lost in it
}

/// Behind exit() and the end of main.
void on_process_exit(int status, void*) {
  MpiRanks* const ranks = open_ranks();
  if (ranks == nullptr) return;
  if (status != 0) return fail_ranks("", status);
  // Without QDP_finalize, perhaps alone.
  const int limit = env().timeout;
  try {
    if (ranks->is_my_thread() && ranks->leave(false, limit > 0 ? limit : -1) >= 0) return ranks->close(true);
  } catch (const Error& error) {
    log_error("comm", error.what());
  }
  log_error("comm", "this rank has ended without QDP_finalize() and the others go on; they are ended");
  ranks->abort(1);
}

/// What of the machine's memory its ranks share. They may live without.
void share_memory(Communicator& all, const Host& host) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // of kernels; it takes what is used
  struct Name {
    char text[64];
  };
  Name mine{};
  std::optional<HostMemory> memory;
  const auto try_it = [&](auto get) {
    try {
      memory.emplace(get());
    } catch (const FileError& error) {
      log_info("comm", "ranks of this machine share no memory: ", error.what());
    }
  };
  if (host.rank == 0 && host.ranks > 1) {
    std::string name;
    try_it([&] { return HostMemory::make(kMost, name); });
    if (memory) name.copy(mine.text, sizeof mine.text - 1);
  }
  std::vector<Name> names(static_cast<std::size_t>(all.size()));
  all.gather(&mine, sizeof mine, names.data());
  const std::string name = names[static_cast<std::size_t>(host.first)].text;
  if (host.rank > 0 && !name.empty()) try_it([&] { return HostMemory::open(name); });
  all.barrier();
  if (host.rank == 0 && memory) HostMemory::forget(name);
  if (memory) use_memory_of_host(std::move(*memory));
}

void share_machine() {
  Communicator& all = process_communicator();
  const std::vector<int> hosts = hosts_of(all);
  stay_in_domain(all, hosts);
  const double cores = cores_of_rank(all);
  set_cores_of_process(cores);
  const Host host = place_on_host(all, hosts);
  set_rank_on_host(host.rank, host.ranks);
  share_memory(all, host);
  if (const char* threads = std::getenv("OMP_NUM_THREADS"); threads == nullptr || *threads == '\0')
    omp_set_num_threads(std::max(1, static_cast<int>(cores)));
}

}  // namespace

void use_ranks_of(int fortran_communicator) {
  if (process().ranks != nullptr)
    throw UserError("use_ranks_of: called after the job was joined; call it before QDP_initialize()");
  process().communicator = fortran_communicator;
}

void start_ranks(int* argc, char*** argv) {
  if (MpiRanks* ranks = process().ranks) {
    if (!ranks->closed()) return;
    throw UserError({.what = "a second start of the job",
                     .expected = "one in the life of a process with MPI",
                     .got = "one after QDP_finalize()",
                     .where = "rank " + std::to_string(ranks->rank())});
  }
  const LaunchedRank launch = launch_of_process();
  const std::terminate_handler before = std::set_terminate(on_terminate);
  if (launch.ranks != 1)
    replace_process_communicator(std::make_unique<Stranded>(launch));
  else if (before != __gnu_cxx::__verbose_terminate_handler)
    std::set_terminate(before);  // the program's own
  const std::optional<bool> wanted = env().mpi;
  if (wanted == false) {
    replace_process_communicator(nullptr);
    return;
  }
  const std::optional<int>& communicator = process().communicator;
  const bool initialized = communicator || mpi_is_initialized();
  if (!wanted && !initialized && launch.ranks == 1) return;

  const Plugin plugin = load_plugin();
  if (plugin.open == nullptr) refuse_without_plugin(launch, initialized);
  const mpi::Wanted what{argc, argv, communicator ? &*communicator : nullptr};
  mpi::Job* job = nullptr;
  if (const mpi::Failure failure = plugin.open(&what, &job))
    throw DeviceError({.what = "the start of MPI", .expected = "a communicator", .got = failure, .where = plugin.file});
  auto ranks = std::make_unique<MpiRanks>(job);
  if (!communicator) {
    try {
      check_size(launch, *job, plugin.file);
    } catch (const DeviceError&) {
      ranks->close(true);  // alone, so that nobody is waited for
      throw;
    }
  }
  process().ranks = ranks.get();
  process().pid = getpid();
  on_exit(on_process_exit, nullptr);  // after MPI has registered what it has to do, so before that
  replace_process_communicator(std::move(ranks));
  if (job->size == 1) return;
  set_log_rank(job->rank);
  std::set_terminate(on_terminate);
  share_machine();
  log_info("comm", "rank ", job->rank, " of ", job->size, " on ", job->host, ", ", cores_of_process(), " cores, ",
           job->library, ", ", plugin.file);
}

void finish_ranks() {
  MpiRanks* const ranks = open_ranks();
  if (ranks == nullptr) return;
  std::fflush(nullptr);
  ranks->leave(false, -1);
  ranks->close(true);
}

void fail_ranks(const std::string& text, int status) {
  const Communicator& all = process_communicator();
  const auto tell = [&](const std::string& more) {
    if (text.empty() && more.empty()) return;
    const std::string line = text + (text.empty() || more.empty() ? "" : " ") + more + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
  };
  const std::string here = "(rank " + std::to_string(all.rank()) + " of " + std::to_string(all.size()) + ")";
  MpiRanks* const ranks = open_ranks();
  std::fflush(nullptr);
  if (ranks == nullptr) {  // there was no job, or there is none any more
    if (all.rank() == 0) return tell("");
    sleep(static_cast<unsigned>(
        kTogether));  // an error of all ranks has been told by then, and the launcher ends this one
    return tell(here);
  }
  int lowest = -1;
  if (ranks->is_my_thread() && !std::exchange(process().leaving, true)) {
    try {
      lowest = ranks->leave(true, kTogether);
    } catch (const Error& error) {
      log_error("comm", error.what());
    }
  }
  if (lowest >= 0) {
    if (lowest == ranks->rank() && !text.empty()) tell("");
    ranks->close(true);
    return;
  }
  tell(text.empty() ? "tessera: rank " + std::to_string(ranks->rank()) + " of " + std::to_string(ranks->size()) +
                          " ended with status " + std::to_string(status) + "; the others are ended"
                    : here);
  ranks->abort(status);
  _exit(status);  // where MPI's abort spares the caller
}

}  // namespace jit
