// How threads divide a launch: each takes its own share of the groups piece by piece, and then what others have not begun.
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
    std::int64_t size = 1;  ///< groups of a piece
    /// A piece is of both halves, so that sites of one checkerboard find their neighbours in the cache, which those of the other have
    /// read; otherwise one half comes after the other.
    bool both = false;
    bool may_move = true;  ///< from one thread's share to another thread
  };
  /// `launches`: that were divided before, for tests.
  explicit Pieces(std::uint64_t launches = 0) : launch_(launches % kLaunches * kLaunch) {}

  /// Must not be called while threads take pieces. Costs the same for any number of threads, but for one time in kLaunches.
  void divide(const std::array<Range, 2>& halves, int threads, How how) {
    if (capacity_ < threads) {
      taken_ = std::make_unique<Taken[]>(static_cast<std::size_t>(threads));
      capacity_ = threads;
    }
    halves_ = halves, how_ = how, threads_ = threads;
    launch_ += kLaunch;
    if (launch_ == 0) {  // the numbers have been used up
      for (int i = 0; i < capacity_; ++i)
        taken_[static_cast<std::size_t>(i)].pieces.store(0, std::memory_order_relaxed);
      launch_ = kLaunch;
    }
    // If shares are one piece, there is nothing to look for at others.
    const std::int64_t longest = std::max(halves[0].end - halves[0].begin, halves[1].end - halves[1].begin);
    owners_ = how.may_move && longest > how.size * threads ? std::min(threads, kMostOwners) : 1;
  }

  /// run(begin, end) for this thread's pieces, then for those that are left of others'. Each piece is run once, if each thread calls it.
  template <class Run>
  void take(int thread, Run&& run) {
    for (int i = 0; i < owners_; ++i) take_of((thread + i) % threads_, run);
  }

 private:
  struct alignas(64) Taken {
    std::atomic<std::uint64_t> pieces{0};  ///< of the launch whose number its upper bits are
  };
  static constexpr std::uint64_t kLaunch = std::uint64_t{1} << 40;
  // Threads whose shares one looks at: many looks would take longer than a piece.
  static constexpr int kMostOwners = 16;

  template <class Run>
  void take_of(int owner, Run& run) {
    std::array<Share, 2> shares;
    std::array<std::int64_t, 2> count;
    for (std::size_t half = 0; half < 2; ++half) {
      shares[half] = share(halves_[half].begin, halves_[half].end, owner, threads_);
      count[half] = (shares[half].end - shares[half].begin + how_.size - 1) / how_.size;
    }
    const std::int64_t all = how_.both ? std::max(count[0], count[1]) : count[0] + count[1];
    const auto run_piece = [&](std::size_t half, std::int64_t piece) {
      const std::int64_t begin = shares[half].begin + piece * how_.size;
      if (begin < shares[half].end) run(begin, std::min(begin + how_.size, shares[half].end));
    };
    for (std::int64_t piece; (piece = next(taken_[static_cast<std::size_t>(owner)], all)) < all;) {
      if (how_.both)
        run_piece(0, piece), run_piece(1, piece);
      else
        piece < count[0] ? run_piece(0, piece) : run_piece(1, piece - count[0]);
    }
  }

  /// A piece of `all` that nobody has taken, which is taken then; or `all`.
  std::int64_t next(Taken& taken, std::int64_t all) {
    std::uint64_t found = taken.pieces.load(std::memory_order_relaxed);
    for (;;) {
      if (found < launch_) {  // an earlier launch's
        if (taken.pieces.compare_exchange_weak(found, launch_ + 1, std::memory_order_relaxed)) return 0;
        continue;
      }
      const auto piece = static_cast<std::int64_t>(found - launch_);
      if (piece >= all) return all;
      if (taken.pieces.compare_exchange_weak(found, found + 1, std::memory_order_relaxed)) return piece;
    }
  }

  std::unique_ptr<Taken[]> taken_;  ///< [owners of shares]
  int capacity_ = 0, threads_ = 0, owners_ = 1;
  std::array<Range, 2> halves_;
  How how_;
  std::uint64_t launch_ = 0;
};

}  // namespace jit
