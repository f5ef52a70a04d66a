// The ranks of a job: the one seam through which processes talk. A job of one rank needs nothing else; a library of
// messages (MPI) comes in as a class derived from Communicator.
//
// Collective operations are called by all ranks in the same order, and return when the rank has what it asked for.
// One thread at a time. What is typed (sums, strings) is said with these: collectives.hpp.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace jit {

/// A message of fixed partner, length and place, sent or received as often as it is started. Messages from one rank to
/// another arrive in the order in which they are started there, and meet those that the other expects in the order in which it
/// starts them.
class Message {
 public:
  /// Must not be under way.
  virtual ~Message() = default;
  /// From now until it is done, what is sent must not be changed, and what is received not be looked at. Returns at once.
  /// Throws InternalError if it is under way.
  virtual void start() = 0;
  /// Whether it is not under way any more: what was sent may be changed, what was received is there. Other messages of this
  /// rank make progress too. Throws DeviceError if the partner is gone, InternalError if it sent another length.
  virtual bool done() = 0;
  /// Returns when it is done, and throws as done() does.
  virtual void wait() = 0;
  /// Bytes of what was sent, or came, the last time.
  virtual std::size_t length() const = 0;
};

/// How long a message may be that another rank sends: as expected, or shorter too.
enum class Length { exact, at_most };

/// into[i] = into[i] joined with from[i], i < count: values of the length that came with it, at any address. Associative and
/// commutative to the bit, as values are joined in any order and grouping. Must not throw.
using Join = void (*)(void* into, const void* from, std::size_t count);

class Communicator {
 public:
  virtual ~Communicator() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The name of the machine that this rank runs on.
  virtual std::string host() const;
  /// Whether messages may lie in the memory of a GPU, as the GPU names it.
  virtual bool reaches_gpu_memory() const { return false; }
  /// Whether every thread may call it, one at a time; otherwise the one that made the job.
  virtual bool serves_all_threads() const { return true; }

  // ---- collective

  /// Every rank gets the bytes of `root`. Throws UserError if there is no such rank.
  virtual void broadcast(void* data, std::size_t bytes, int root) = 0;
  /// Every rank gets, for each of `count` values of `bytes` each, those of all ranks joined.
  virtual void combine(void* values, std::size_t bytes, std::size_t count, Join join) = 0;
  /// Every rank gets all[rank] = mine, `bytes` from each rank.
  virtual void gather(const void* mine, std::size_t bytes, void* all) = 0;
  /// Returns when all ranks have called it.
  virtual void barrier() = 0;

  // ---- between two ranks. The partner is another rank: these throw UserError if it is not.

  virtual std::unique_ptr<Message> outgoing(const void* data, std::size_t bytes, int to) = 0;
  virtual std::unique_ptr<Message> incoming(void* data, std::size_t bytes, int from, Length = Length::exact) = 0;
  /// One message, to its end. send() may wait for the receiver: two ranks that send to each other first wait forever.
  void send(const void* data, std::size_t bytes, int to) { run(*outgoing(data, bytes, to)); }
  void receive(void* data, std::size_t bytes, int from) { run(*incoming(data, bytes, from)); }

  /// Ends the processes of the other ranks with this status. May end this one too; the caller ends it if not.
  virtual void abort(int status) = 0;

 protected:
  /// Throw UserError: `operation` is that of the caller.
  void check_root(const char* operation, int root) const;
  void check_partner(const char* operation, int partner) const;

 private:
  static void run(Message& message) {
    message.start();
    message.wait();
  }
};

/// The communicator of this process: a job of one rank, unless another was put in its place.
Communicator& process_communicator();

/// Puts another one in its place (nullptr: a job of one rank) and returns the one that was there. For the start
/// of a process, before the run time or anybody else has asked how many ranks there are; and for tests.
std::unique_ptr<Communicator> replace_process_communicator(std::unique_ptr<Communicator> other);

}  // namespace jit
