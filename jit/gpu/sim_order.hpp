// Whether operations on the same memory of the simulated GPU are ordered by streams, events and what the host has
// waited for, whichever happens to run first: two that are not, and of which one writes, are a mistake even if all goes
// well.
//
// Vector clocks (Fidge 1988, Mattern 1989): a clock has for each stream the number of its last operation that comes
// before. What is known at the calls decides; nothing depends on time. Of a launch it is not known what it writes: it
// is taken to read, so a copy to the host that does not wait for the kernel that writes is left to chance, and to
// poison.
//
// Not thread safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace jit {

class SimOrder {
 public:
  /// By stream.
  using Clock = std::vector<std::uint64_t>;

  /// What happened to a piece of memory.
  struct History {
    std::size_t writer = 0;  // the stream that wrote it last, by which operation; 0: none
    std::uint64_t written = 0;
    std::string written_by;
    Clock read;  // since then, by stream
  };

  /// The number of a new stream.
  std::size_t add_stream();
  /// The next operation of the stream begins; `what` for messages.
  void begin(std::size_t stream, const char* what);
  /// It uses this memory. Throws InternalError if an operation that it is not ordered with does too, and one writes.
  void use(History& memory, std::size_t stream, bool writes);
  /// Throws InternalError if the host has not waited for all that used the memory.
  void end_use(const History& memory) const;

  /// What an event recorded now stands for.
  const Clock& clock(std::size_t stream) const { return streams_[stream].clock; }
  void wait(std::size_t stream, const Clock& event) { join(streams_[stream].clock, event); }
  void host_waits(const Clock& clock) { join(host_, clock); }

 private:
  struct Stream {
    Clock clock;  ///< of its last operation, which it includes
    const char* what = "";
  };
  static void join(Clock& into, const Clock& other);
  static std::uint64_t at(const Clock& clock, std::size_t stream) { return stream < clock.size() ? clock[stream] : 0; }

  std::vector<Stream> streams_;
  Clock host_;
};

}  // namespace jit
