// Which access of one thread comes before which of another, by PTX's memory model: barriers, and fences with atomic or
// other strong accesses between them, order; nothing else does within a launch. Two accesses to one place, one of them
// a write, that are not ordered and not both strong are a race.
//
// A thread knows, of each other thread, up to which time its accesses come before the thread's own next one: a clock.
// All threads of a block share one clock after a barrier, so that clocks are copied only there and at fences.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "code.hpp"

namespace ptx_machine {

constexpr std::uint32_t kNobody = ~0u;

struct Access {
  std::uint32_t thread = kNobody, time = 0;
  int line = 0;
};

/// What the threads of one launch did to four bytes.
struct Cell {
  std::uint32_t launch = 0;
  AtomicOp operation = AtomicOp::none;  ///< of `atomics`
  Access write, constant;               ///< the last write; a read as constant data (.nc)
  std::vector<Access> reads, atomics;   ///< the last of each thread, where not ordered by later ones
};

/// Cells of one allocation, made where they are needed: one for each four bytes, and others for accesses of one and two
/// bytes (a place that is accessed in both ways is not compared).
struct Shadow {
  static constexpr std::uint64_t kPage = 64;  ///< cells
  std::unordered_map<std::uint64_t, std::unique_ptr<std::array<Cell, kPage>>> pages;
  Cell& cell(std::uint64_t number, std::uint32_t launch);
  /// Calls f(cell) for each cell of an access.
  template <class F>
  void each(std::uint64_t offset, std::uint32_t bytes, std::uint32_t launch, F&& f) {
    constexpr std::uint64_t kNarrow = std::uint64_t{1} << 60;
    if (bytes < 4)
      for (std::uint64_t k = offset; k < offset + bytes; ++k) f(cell(kNarrow + k, launch));
    else
      for (std::uint64_t k = offset / 4; k < (offset + bytes) / 4; ++k) f(cell(k, launch));
  }
};

using Clock = std::vector<std::uint32_t>;
using SharedClock = std::shared_ptr<const Clock>;

class Races {
 public:
  Races(std::uint32_t launch, std::uint32_t threads, std::uint32_t block_threads);

  std::uint32_t launch() const { return launch_; }
  std::uint32_t now(std::uint32_t thread) const { return threads_[thread].now; }
  /// Whether what `before` did at a time comes before the next access of `thread`.
  bool ordered(std::uint32_t before, std::uint32_t time, std::uint32_t thread) const;

  // Each throws KernelError for a race; `what` describes the place.
  template <class Where>
  void read(Cell& c, std::uint32_t t, int line, bool constant, bool strong, Where&& where);
  template <class Where>
  void write(Cell& c, std::uint32_t t, int line, bool strong, Where&& where);
  template <class Where>
  void atomic(Cell& c, std::uint32_t t, int line, AtomicOp op, bool tells, Where&& where);

  void barrier(const std::vector<std::uint32_t>& threads);
  void fence(std::uint32_t thread, Scope scope);
  /// A strong write or read of a place: what fences before it, and after it, are about.
  void publish(std::uint64_t address, std::uint32_t thread, Scope scope, bool read_too);
  void observe(std::uint64_t address, std::uint32_t thread, Scope scope);

  /// "thread 3 of block 1".
  std::string name(std::uint32_t thread) const;

 private:
  struct Thread {
    std::uint32_t now = 1, released_at = 0;
    SharedClock known;                     ///< nullptr: of nobody
    SharedClock released, released_block;  ///< by the last fence: for all, for its block
    SharedClock pending, pending_block;    ///< seen by strong reads, known after the next fence
  };
  struct Published {
    SharedClock all;
    std::map<std::uint32_t, SharedClock> blocks;
  };
  static SharedClock join(const SharedClock& a, const SharedClock& b);
  static void remember(std::vector<Access>& list, const Access& a, const Races& races);
  [[noreturn]] void fail(const std::string& what, const Access& before, std::uint32_t thread, int line) const;

  const std::uint32_t launch_, block_threads_;
  std::vector<Thread> threads_;
  std::unordered_map<std::uint64_t, Published> published_;
};

template <class Where>
void Races::read(Cell& c, std::uint32_t t, int line, bool constant, bool strong, Where&& where) {
  const Access self{t, now(t), strong ? -line : line};  // a strong access has its line with a minus
  if (constant) {
    if (c.write.thread != kNobody || !c.atomics.empty())
      fail("read as constant data (.nc), and written in the same launch: " + where(),
           c.write.thread != kNobody ? c.write : c.atomics.front(), t, line);
    c.constant = self;
    return;
  }
  if (c.write.thread != kNobody && !ordered(c.write.thread, c.write.time, t) && !(strong && c.write.line < 0))
    fail("race: read and written without order: " + where(), c.write, t, line);
  if (!strong)
    for (const Access& a : c.atomics)
      if (!ordered(a.thread, a.time, t)) fail("race: read while atomic operations go on: " + where(), a, t, line);
  remember(c.reads, self, *this);
}

template <class Where>
void Races::write(Cell& c, std::uint32_t t, int line, bool strong, Where&& where) {
  if (c.constant.thread != kNobody)
    fail("written, and read as constant data (.nc) in the same launch: " + where(), c.constant, t, line);
  if (c.write.thread != kNobody && !ordered(c.write.thread, c.write.time, t) && !(strong && c.write.line < 0))
    fail("race: written twice without order: " + where(), c.write, t, line);
  for (const Access& a : c.reads)
    if (!ordered(a.thread, a.time, t) && !(strong && a.line < 0))
      fail("race: written and read without order: " + where(), a, t, line);
  for (const Access& a : c.atomics)
    if (!ordered(a.thread, a.time, t) && !strong)
      fail("race: written while atomic operations go on: " + where(), a, t, line);
  c.reads.clear();
  c.atomics.clear();
  c.write = {t, now(t), strong ? -line : line};
}

template <class Where>
void Races::atomic(Cell& c, std::uint32_t t, int line, AtomicOp op, bool tells, Where&& where) {
  if (c.constant.thread != kNobody)
    fail("written, and read as constant data (.nc) in the same launch: " + where(), c.constant, t, line);
  if (c.write.thread != kNobody && !ordered(c.write.thread, c.write.time, t) && c.write.line > 0)
    fail("race: written without order, and atomically: " + where(), c.write, t, line);
  for (const Access& a : c.reads)
    if (!ordered(a.thread, a.time, t) && a.line > 0)
      fail("race: read without order, and changed atomically: " + where(), a, t, line);
  // Sums in any order are one sum; an exchange in the middle of them is not. Compare and swap looks itself.
  if (op != c.operation) {
    const bool apart =
        (op == AtomicOp::exch || c.operation == AtomicOp::exch) && op != AtomicOp::cas && c.operation != AtomicOp::cas;
    for (const Access& a : c.atomics)
      if (apart && !ordered(a.thread, a.time, t))
        fail("an exchange and another atomic operation in no order: " + where(), a, t, line);
    c.atomics.clear();
    c.operation = op;
  }
  // One whose result is used tells others what came before its thread's last fence: it counts as done with that.
  const Access self{t, tells && threads_[t].released_at != 0 ? threads_[t].released_at : now(t), line};
  remember(c.atomics, self, *this);
}

}  // namespace ptx_machine
