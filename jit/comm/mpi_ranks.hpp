// The ranks of a job that talk by MPI, through its plug-in.
#pragma once

#include <atomic>
#include <thread>

#include "jit/comm/communicator.hpp"
#include "jit/comm/mpi/interface.hpp"
#include "jit/comm/shared_file.hpp"
#include "jit/comm/time_limit.hpp"

namespace jit {

/// Operations throw DeviceError for what MPI refuses, and UserError after close(), or if MPI was initialised for another thread
/// than the one that calls.
class MpiRanks : public Communicator, public SharedFiles {
 public:
  /// Of the thread that calls: that of MPI, where it is for one only. `job` is from the plug-in's tessera_mpi_open().
  explicit MpiRanks(mpi::Job* job);
  /// Leaves MPI's own things behind if it is not closed.
  ~MpiRanks() override = default;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string host() const override { return host_; }
  bool reaches_gpu_memory() const override { return reaches_gpu_memory_; }
  bool serves_all_threads() const override {
    const mpi::Job* const job = job_;
    return job == nullptr || job->one_thread == 0;
  }
  void broadcast(void* data, std::size_t bytes, int root) override;
  void combine(void* values, std::size_t bytes, std::size_t count, Join join) override;
  void gather(const void* mine, std::size_t bytes, void* all) override;
  void barrier() override;
  std::unique_ptr<Message> outgoing(const void* data, std::size_t bytes, int to) override;
  std::unique_ptr<Message> incoming(void* data, std::size_t bytes, int from, Length length) override;
  void abort(int status) override;
  std::unique_ptr<SharedFile> open_file(const std::string& path, bool writing, std::string& why_not) override;

  /// Tells the others that this rank leaves, after a failure or not, and waits until all have, or so many seconds (negative:
  /// for ever). Returns the lowest rank that left after a failure, size() if none did, -1 if not all have left.
  int leave(bool failed, double seconds);
  /// After all have left. Ends MPI if `end` and MPI was not initialised by the program.
  void close(bool end);
  bool closed() const { return job_ == nullptr; }
  /// Whether this thread may call MPI.
  bool is_my_thread() const { return serves_all_threads() || std::this_thread::get_id() == thread_; }
  /// Whether a call of MPI is under way: then the process may be ending from within, as some MPIs do when another rank aborts.
  bool is_inside() const { return inside_.load(std::memory_order_relaxed); }

 private:
  friend class MpiMessage;
  friend class MpiFile;
  template <class Call> mpi::Failure inside(Call&& call) const {
    inside_.store(true, std::memory_order_relaxed);
    const mpi::Failure failure = call();
    inside_.store(false, std::memory_order_relaxed);
    return failure;
  }
  mpi::Job& job(const char* operation) const;
  void check(const char* operation, mpi::Failure failure) const;
  /// Within TESSERA_TIMEOUT, or the end of the job.
  template <class Call> mpi::Failure in_time(const char* operation, Call&& call) const {
    const TimeLimit::Call timed(limit_, operation);
    return inside(call);
  }
  template <class Call> void collective(const char* operation, Call&& call) {
    mpi::Job& mine = job(operation);
    check(operation, in_time(operation, [&] { return call(&mine); }));
  }
  [[noreturn]] void end_late(const char* operation);
  std::unique_ptr<Message> message(const char* operation, void* data, std::size_t bytes, int partner, bool outgoing,
                                   Length length);

  std::atomic<mpi::Job*> job_;  ///< the thread that looks after the time may end the job
  int rank_, size_;
  std::string host_;
  bool reaches_gpu_memory_;
  std::thread::id thread_ = std::this_thread::get_id();
  mutable std::atomic<bool> inside_{false};
  mutable TimeLimit limit_;  // the last, as it looks at the others
};

}  // namespace jit
