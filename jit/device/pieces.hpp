// How threads divide a launch: each takes its own share of the groups piece by piece, and then what others have not begun. Pieces
// become smaller towards the end of a share, so that threads which began late or run slower are not waited for long.
//
// A share is the same groups for all launches over a domain, so a thread meets the memory that it touched first. But where the machine has
// given its processor to another process for a while, the others go on with what it has not begun.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "jit/device/device.hpp"
#include "jit/device/thread_pool.hpp"

namespace jit {

class Pieces {
 public:
  /// They are told apart by so many numbers, which a day of small kernels uses up many times.
  static constexpr std::uint64_t kLaunches = std::uint64_t{1} << 24;

  struct How {
    std::int64_t size = 1;   ///< groups of a piece, at most
    std::int64_t least = 0;  ///< at least, towards the end; 0: `size`, which it does not exceed
    /// A piece is of both halves, so that sites of one checkerboard find their neighbours in the cache, which those of the other have
    /// read; otherwise one half comes after the other.
    bool both = false;
    bool may_move = true;  ///< from one thread's share to another thread
  };
  class Division;

  /// `launches`: that were divided before, for tests.
  explicit Pieces(std::uint64_t launches = 0) : launch_(launches % kLaunches * kLaunch) {}

  /// Must not be called while threads take pieces. Costs the same for any number of threads, but for one time in kLaunches.
  Division divide(const std::array<Range, 2>& halves, int threads, How how);

 private:
  struct alignas(64) Taken {
    std::atomic<std::uint64_t> groups{0};  ///< of the launch whose number its upper bits are
  };
  static constexpr std::uint64_t kLaunch = std::uint64_t{1} << 40;
  // Threads whose shares one looks at: many looks would take longer than a piece.
  static constexpr int kMostOwners = 16;

  std::unique_ptr<Taken[]> taken_;  ///< [owners of shares]
  int capacity_ = 0;
  std::uint64_t launch_ = 0;
};

/// Of one launch. Threads have copies.
class Pieces::Division {
 public:
  /// run(begin, end) for this thread's pieces, then for those that are left of others'. Each piece is run once, if each thread calls it.
  template <class Run>
  void take(int thread, Run&& run) const {
    for (int i = 0; i < owners_; ++i) take_of((thread + i) % threads_, run);
  }

 private:
  friend class Pieces;

  template <class Run>
  void take_of(int owner, Run& run) const {
    std::array<Share, 2> shares;
    std::array<std::int64_t, 2> length;
    for (std::size_t half = 0; half < 2; ++half) {
      shares[half] = share(halves_[half].begin, halves_[half].end, owner, threads_);
      length[half] = shares[half].end - shares[half].begin;
    }
    const auto run_part = [&](std::size_t half, std::int64_t begin, std::int64_t end) {
      begin = std::max<std::int64_t>(begin, 0), end = std::min(end, length[half]);
      if (begin < end) run(shares[half].begin + begin, shares[half].begin + end);
    };
    const std::int64_t all = how_.both ? std::max(length[0], length[1]) : length[0] + length[1],
                       behind = how_.both ? 0 : length[0];
    for (;;) {
      const Range piece = next(taken_[owner], all);
      if (piece.begin == piece.end) return;
      run_part(0, piece.begin, piece.end);
      run_part(1, piece.begin - behind, piece.end - behind);
    }
  }

  /// Of a share of `all`, a piece that nobody has taken, which is taken then; empty: there is none.
  Range next(Taken& taken, std::int64_t all) const {
    constexpr std::int64_t kPartOfRest = 4;
    std::uint64_t found = taken.groups.load(std::memory_order_relaxed);
    for (;;) {
      const std::int64_t begin = found < launch_ ? 0 : static_cast<std::int64_t>(found - launch_);  // earlier: nothing
      if (begin >= all) return {all, all};
      const std::int64_t size = std::clamp((all - begin) / kPartOfRest, how_.least, how_.size),
                         end = std::min(begin + size, all);
      if (taken.groups.compare_exchange_weak(found, launch_ + static_cast<std::uint64_t>(end),
                                             std::memory_order_relaxed))
        return {begin, end};
    }
  }

  std::array<Range, 2> halves_;
  How how_;
  Taken* taken_ = nullptr;
  std::uint64_t launch_ = 0;
  int threads_ = 0, owners_ = 1;
};

inline Pieces::Division Pieces::divide(const std::array<Range, 2>& halves, int threads, How how) {
  if (capacity_ < threads) {
    taken_ = std::make_unique<Taken[]>(static_cast<std::size_t>(threads));
    capacity_ = threads;
  }
  launch_ += kLaunch;
  if (launch_ == 0) {  // the numbers have been used up
    for (int i = 0; i < capacity_; ++i) taken_[static_cast<std::size_t>(i)].groups.store(0, std::memory_order_relaxed);
    launch_ = kLaunch;
  }
  // If shares are one piece, there is nothing to look for at others.
  const std::int64_t longest = std::max(halves[0].end - halves[0].begin, halves[1].end - halves[1].begin);
  if (how.least == 0) how.least = how.size;
  Division result;
  result.halves_ = halves, result.how_ = how, result.threads_ = threads;
  result.taken_ = taken_.get(), result.launch_ = launch_;
  result.owners_ = how.may_move && longest > how.least * threads ? std::min(threads, kMostOwners) : 1;
  return result;
}

}  // namespace jit
