// Sums of doubles that do not depend on the order of summation, nor on lanes, threads or ranks (design D11).
//
// Result = round( sum_i R(x_i) ),  R(x) = x rounded to the nearest multiple of 2^(top-84), ties to even,
// top = the smallest multiple of 28 (at least -980) with max_i |x_i| < 2^(top-1).
// The sum is exact and is rounded once. top is a function of the set of summands alone, hence so is the result.
// The error is at most n 2^(top-85), i.e. below n 2^-56 times the largest summand; for n < 2^30 a sum without
// cancellation is correctly rounded but for rare ties.
//
// How. Level k = 0, 1, 2 has the unit u_k = 2^(top - 28(k+1)). With C_k = 1.5 * 2^52 u_k, and r_0 = x,
//   d_k = (r_k + C_k) - C_k      is r_k rounded to a multiple of u_k (the addition rounds, the subtraction is exact),
//   r_(k+1) = r_k - d_k          is exact, |r_(k+1)| <= u_k / 2,
// and level k collects d_k. Since |d_k| <= 2^27 u_k, 2^24 additions stay below 2^53 u_k: exact.
// d_0 + ... + d_k = x rounded to a multiple of u_k for every k: rounding r_k to u_k is rounding x to u_k, because
// the d_j before it are even multiples of u_k, so ties fall alike.
// A larger summand raises top by 28: u_0, u_1 become u_1, u_2. By the line above levels 1, 2 must hold what levels 0, 1
// held and the old level 2 is dropped, which gives exactly the sum with the larger top from the start. All levels may
// be dropped because |x| < 2^(top-1) rounds to 0 in every unit from 2^top upwards; with |x| < 2^top it would not.
//
// Summands of 2^980 and more overflow C_0: then limit is 0 (every block takes the slow path) and the levels hold the
// sum times 2^-112. Infinities and NaN are added up in `special`, whose result (+-inf or NaN) does not depend on order.
//
// Threads of a GPU (SumBins) take the digits d_k relative to a top of their own, any that is at least that of the
// summand, and add them as integers to the bin of their weight, u_k = 2^(28 (i + 2 - k) - 1064) for top = 28 i - 980.
// Result: the bins from 2^(top-84) upwards, top now that of all summands. It has the same bits, because
//   - for any such choice the digits of x of weight u and more add up to x rounded to a multiple of u, by the line
//     above and the one on 2^(top-1); for u = 2^(top-84) that is R(x);
//   - no thread's top is above that of all summands, so each has digits down to 2^(top-84) at least. What a thread with
//     a lower top has below that, or dropped when its own top rose, is what R drops.
// A bin holds 2^35 summands. Summands of 2^980 and more are scaled by 2^-112, and their digits go four bins higher.
#pragma once

#include <cstdint>

#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

/// Additions per lane that a SumAccumulator takes before it must be moved into an ExactSum and reset.
constexpr std::int64_t kMaxAdditions = std::int64_t{1} << 24;

/// The empty accumulator of a kind of reduction (max: -inf, min: +inf), for so many lanes: others are neither written nor read.
void reset(SumAccumulator& acc, ir::Reduction::Kind kind, int lanes = kMaxLanes);

/// The exact value of a sum so far: any number of accumulators, threads, ranks. Holds up to 2^42 summands.
class ExactSum {
 public:
  static constexpr std::int64_t kLowestTop = -980;

  void add(double x);
  void add(const SumAccumulator& acc);
  void add(const ExactSum& other);
  void add(const SumBins& bins);
  /// Rounded to nearest, ties to even. 0 for no summands; NaN or an infinity as IEEE addition gives them.
  double value() const;

 private:
  __extension__ typedef __int128 Int128;
  struct Wide {  ///< signed 128-bit integer as two words
    std::uint64_t low = 0;
    std::int64_t high = 0;
  };
  void raise(std::int64_t top);
  void add(int level, Int128 units);
  Int128 get(int level) const;

  std::int64_t top_ = kLowestTop;
  Wide level_[3];  ///< multiples of 2^(top - 28 (k+1))
  double special_ = 0;
};

/// What a reduction has found so far, in any part of its domain. Parts join in any order and grouping with the same bits;
/// value() rounds, so it comes last. Plain data: ranks send it as bytes.
/// The largest and the smallest leave NaN out, and -0 is below +0.
class ReductionValue {
 public:
  using Kind = ir::Reduction::Kind;
  /// What is found in nothing: the neutral element.
  explicit ReductionValue(Kind kind = Kind::sum) : kind_(kind) {}

  void add(double x);
  void add(const SumAccumulator& acc);
  void add(const SumBins& bins);
  void add(const ReductionValue& other);
  /// The sum as ExactSum gives it; the largest (-inf of nothing), the smallest (+inf of nothing).
  /// Throws InternalError if values of different kinds were joined: on every rank, if ranks were at different statements.
  double value() const;

 private:
  std::uint64_t key(double x) const;

  ExactSum sum_;
  std::uint64_t extremum_ = 0;  ///< as in SumBins: 0, or larger for what is to be kept
  Kind kind_;
  bool mixed_ = false;  ///< values of another kind have joined
};

}  // namespace jit
