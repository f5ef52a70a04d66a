#include "jit/comm/mpi_ranks.hpp"

#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <utility>

#include "jit/support/cores.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "jit/support/relax.hpp"

namespace jit {
namespace {

constexpr unsigned kSecondsForAbort = 3;
volatile std::sig_atomic_t end_status = 1;

}  // namespace

/// Lives no longer than what it was made by is open, or does nothing afterwards.
class MpiMessage : public Message {
 public:
  MpiMessage(const MpiRanks& ranks, mpi::Request* request, std::size_t bytes, int partner, bool outgoing, Length length)
      : ranks_(ranks),
        request_(request),
        bytes_(bytes),
        length_(bytes),
        partner_(partner),
        outgoing_(outgoing),
        may_be_shorter_(length == Length::at_most) {}
  ~MpiMessage() override {
    if (mpi::Job* const job = ranks_.job_) job->drop(job, request_, under_way_);
  }

  void start() override {
    if (under_way_) throw InternalError("start of a message that is under way");
    mpi::Job& job = ranks_.job(name());
    ranks_.check(name(), ranks_.inside([&] { return job.start(&job, request_); }));
    under_way_ = true;
  }

  bool done() override {
    if (!under_way_) return true;
    mpi::Job& job = ranks_.job(name());
    int is_done = 0;
    std::size_t came = 0;
    if (const auto failure = ranks_.inside([&] { return job.test(&job, request_, &is_done, &came); })) {
      under_way_ = false;
      throw DeviceError({.what = label(), .got = failure, .where = where()});
    }
    if (is_done == 0) return false;
    under_way_ = false;
    if (outgoing_) return true;
    length_ = came;
    if (came != bytes_ && (came > bytes_ || !may_be_shorter_))
      throw InternalError({.what = label(),
                           .expected = std::to_string(bytes_) + " bytes",
                           .got = came == mpi::kTooLong ? "more" : std::to_string(came),
                           .where = where()});
    return true;
  }

  void wait() override {
    using Clock = std::chrono::steady_clock;
    // Messages of a statement take microseconds. Where ranks share a core the partner may need it.
    const int patience = cores_of_process() < 1 ? 1 : 256;
    Clock::time_point begin{};
    for (int look = 1; !done(); ++look) {
      if (look % patience != 0) {
        relax();
        continue;
      }
      sched_yield();
      if (look == patience) begin = Clock::now();
      if (const int limit = env().timeout; limit > 0 && Clock::now() - begin > std::chrono::seconds(limit))
        throw DeviceError(
            {.what = label(),
             .expected = "it within " + std::to_string(limit) + " s",
             .got = "none",
             .where = where() + ", TESSERA_TIMEOUT",
             .what_now =
                 "The other rank is gone, hangs, or runs other statements; if it is only late, raise the limit"});
    }
  }

  std::size_t length() const override { return length_; }

 private:
  const char* name() const { return outgoing_ ? "message to another rank" : "message from another rank"; }
  std::string label() const {
    return std::string(outgoing_ ? "message to" : "message from") + " rank " + std::to_string(partner_) + " (" +
           std::to_string(bytes_) + " bytes)";
  }
  std::string where() const {
    return "on rank " + std::to_string(ranks_.rank()) + " of " + std::to_string(ranks_.size());
  }

  const MpiRanks& ranks_;
  mpi::Request* request_;
  std::size_t bytes_, length_;
  int partner_;
  bool outgoing_, may_be_shorter_, under_way_ = false;
};

/// Lives no longer than what it was opened by is open.
class MpiFile : public SharedFile {
 public:
  MpiFile(const MpiRanks& ranks, mpi::File* file, std::string path)
      : ranks_(ranks), file_(file), path_(std::move(path)) {}

  void write(std::span<const FileBlock> blocks, const void* data) override {
    move("write", blocks, const_cast<void*>(data), true);  // only read
  }
  void read(std::span<const FileBlock> blocks, void* data) override { move("read", blocks, data, false); }
  void close() override {
    mpi::Job& job = ranks_.job("closing a file");
    check("close",
          ranks_.in_time("closing a file", [&] { return job.close_file(&job, std::exchange(file_, nullptr)); }));
  }

 private:
  void move(const char* operation, std::span<const FileBlock> blocks, void* data, bool writing) {
    static_assert(sizeof(FileBlock) == sizeof(mpi::Block) && offsetof(FileBlock, bytes) == offsetof(mpi::Block, bytes));
    mpi::Job& job = ranks_.job(operation);
    const auto* const first = reinterpret_cast<const mpi::Block*>(blocks.data());
    check(operation,
          ranks_.in_time(operation, [&] { return job.move_file(&job, file_, first, blocks.size(), data, writing); }));
  }
  void check(const char* operation, mpi::Failure failure) const {
    if (failure == nullptr) return;
    throw FileError({.what = operation + (" \"" + path_ + "\" by all ranks together"),
                     .got = failure,
                     .where = "rank " + std::to_string(ranks_.rank()) + " of " + std::to_string(ranks_.size()),
                     .what_now = "See whether the disk is full or damaged"},
                    0);
  }

  const MpiRanks& ranks_;
  mpi::File* file_;
  std::string path_;
};

MpiRanks::MpiRanks(mpi::Job* job)
    : job_(job),
      rank_(job->rank),
      size_(job->size),
      host_(job->host),
      reaches_gpu_memory_(job->gpu_memory != 0),
      limit_(size_ > 1 ? env().timeout : 0, [this](const char* operation) { end_late(operation); }) {}

mpi::Job& MpiRanks::job(const char* operation) const {
  if (closed())
    throw UserError({.what = operation,
                     .expected = "the job to be there",
                     .got = "a call after its end, QDP_finalize()",
                     .where = "rank " + std::to_string(rank_)});
  if (!is_my_thread())
    throw UserError(
        {.what = operation,
         .expected = "the thread that initialised MPI, as that was done with less than MPI_THREAD_SERIALIZED",
         .got = "another one",
         .where = "rank " + std::to_string(rank_),
         .what_now = "Issue statements from that thread, or call MPI_Init_thread with MPI_THREAD_SERIALIZED"});
  return *job_;
}

void MpiRanks::check(const char* operation, mpi::Failure failure) const {
  if (failure == nullptr) return;
  throw DeviceError({.what = operation,
                     .expected = "MPI to do it",
                     .got = failure,
                     .where = "rank " + std::to_string(rank_) + " of " + std::to_string(size_)});
}

/// Of the thread that looks after the time. What the others do is not known here; the launcher ends them.
void MpiRanks::end_late(const char* operation) {
  const Error error(
      {.what = operation,
       .expected = "the other ranks within " + std::to_string(env().timeout) + " s",
       .got = "not all",
       .where = "on rank " + std::to_string(rank_) + " of " + std::to_string(size_) + ", TESSERA_TIMEOUT",
       .what_now = "Another rank is gone, hangs, or runs other statements; if it is only late, raise the limit"});
  const std::string line = std::string(error.what()) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
  abort(1);
  _exit(1);
}

void MpiRanks::broadcast(void* data, std::size_t bytes, int root) {
  check_root("broadcast", root);
  collective("broadcast", [&](mpi::Job* job) { return job->broadcast(job, data, bytes, root); });
}

void MpiRanks::combine(void* values, std::size_t bytes, std::size_t count, Join join) {
  collective("combination of values", [&](mpi::Job* job) { return job->combine(job, values, bytes, count, join); });
}

void MpiRanks::gather(const void* mine, std::size_t bytes, void* all) {
  collective("gathering of values", [&](mpi::Job* job) { return job->gather(job, mine, bytes, all); });
}

void MpiRanks::barrier() {
  collective("barrier", [](mpi::Job* job) { return job->barrier(job); });
}

std::unique_ptr<Message> MpiRanks::message(const char* operation, void* data, std::size_t bytes, int partner,
                                           bool outgoing, Length length) {
  check_partner(operation, partner);
  mpi::Job& mine = job(operation);
  mpi::Request* request = nullptr;
  check(operation, inside([&] { return mine.make(&mine, data, bytes, partner, outgoing, &request); }));
  return std::make_unique<MpiMessage>(*this, request, bytes, partner, outgoing, length);
}

std::unique_ptr<Message> MpiRanks::outgoing(const void* data, std::size_t bytes, int to) {
  return message("message to", const_cast<void*>(data), bytes, to, true, Length::exact);  // only read
}

std::unique_ptr<Message> MpiRanks::incoming(void* data, std::size_t bytes, int from, Length length) {
  return message("message from", data, bytes, from, false, length);
}

std::unique_ptr<SharedFile> MpiRanks::open_file(const std::string& path, bool writing, std::string& why_not) {
  mpi::Job& mine = job("opening a file");
  mpi::File* file = nullptr;
  const auto failure = in_time("opening a file", [&] { return mine.open_file(&mine, path.c_str(), writing, &file); });
  if (file != nullptr) return std::make_unique<MpiFile>(*this, file, path);
  why_not = failure;
  return nullptr;
}

void MpiRanks::abort(int status) {
  // Some MPIs call exit() in it, whose handlers come back here.
  mpi::Job* const mine = job_.exchange(nullptr);
  if (mine == nullptr) return;
  // MPICH waits until the others have heard of it, which one that computes never does. When this process is gone, its launcher ends them.
  end_status = status;
  std::signal(SIGALRM, [](int) { _exit(end_status); });
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(kSecondsForAbort);
  std::fflush(nullptr);  // which waits for who writes
  mine->abort(mine, status);
}

int MpiRanks::leave(bool failed, double seconds) {
  mpi::Job& mine = job("end of the job");
  int lowest = -1;
  check("end of the job", inside([&] { return mine.leave(&mine, failed, seconds, &lowest); }));
  return lowest;
}

void MpiRanks::close(bool end) {
  if (mpi::Job* const mine = job_.exchange(nullptr)) mine->close(mine, end);
}

}  // namespace jit
