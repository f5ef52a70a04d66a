#include "jit/ir/sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "jit/support/error.hpp"

namespace jit {
namespace {

constexpr std::int64_t kStep = 28;                      // bits between levels
constexpr std::int64_t kLowest = ExactSum::kLowestTop;  // the last unit, 2^(top-84), is a double
constexpr std::int64_t kHighestFast = 980;              // above it 1.5 * 2^(top+24) overflows
constexpr std::int64_t kHugeShift = 4 * kStep;          // levels of huge sums are scaled by 2^-112

bool is_fresh(const SumAccumulator& acc) { return acc.limit == 0 && acc.top <= kHighestFast; }
std::int64_t lanes_of(const SumAccumulator& acc) { return acc.lanes == 0 ? kMaxLanes : acc.lanes; }

/// log2 of what one unit of the levels' numbers stands for, relative to the true sum.
std::int64_t scale(std::int64_t top) { return top > kHighestFast ? kHugeShift : 0; }

/// 2^exponent, for -1022 <= exponent <= 1023.
double power_of_two(std::int64_t exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// x 2^exponent where that is a double: std::ldexp without a call. 2^1064 is no double, its root is.
double scaled(double x, std::int64_t exponent) {
  const std::int64_t half = exponent / 2;
  return x * power_of_two(half) * power_of_two(exponent - half);
}

std::int64_t top_for(double largest) {
  if (largest < std::numeric_limits<double>::min()) return kLowest;
  const std::int64_t exponent =
      static_cast<std::int64_t>(std::bit_cast<std::uint64_t>(largest) >> 52) - 1023 + 2;  // largest < 2^(exponent - 1)
  const std::int64_t steps = exponent >= 0 ? (exponent + kStep - 1) / kStep : -(-exponent / kStep);
  return std::max(kLowest, steps * kStep);
}

void set_window(SumAccumulator& acc, std::int64_t top) {
  acc.top = top;
  acc.limit = top > kHighestFast ? 0.0 : power_of_two(top - 1);
  for (int k = 0; k < 3; ++k) acc.extract[k] = 1.5 * power_of_two(top - scale(top) - kStep * (k + 1) + 52);
}

/// The sum of the lanes of a level in its unit, 2^exponent. Each is below 2^53 of them.
std::int64_t in_units(const double (&level)[kMaxLanes], std::int64_t lanes, std::int64_t exponent) {
  // Four at a time, as processors do. Sums of units below 2^53 are exact.
  double sum[4] = {}, largest[4] = {};
  for (std::int64_t l = 0; l < lanes; l += 4)
    for (int i = 0; i < 4; ++i) {
      sum[i] += level[l + i];
      largest[i] = std::max(largest[i], std::fabs(level[l + i]));
    }
  const double bound = std::max(std::max(largest[0], largest[1]), std::max(largest[2], largest[3]));
  if (scaled(bound, -exponent) * kMaxLanes < 0x1p53)
    return static_cast<std::int64_t>(scaled((sum[0] + sum[1]) + (sum[2] + sum[3]), -exponent));
  std::int64_t units = 0;
  for (std::int64_t l = 0; l < lanes; ++l) units += static_cast<std::int64_t>(scaled(level[l], -exponent));
  return units;
}

void raise(SumAccumulator& acc, std::int64_t top) {
  const int change = int(scale(acc.top) - scale(top));
  const auto by = static_cast<int>(std::min<std::int64_t>((top - acc.top) / kStep, 3));  // levels, all of them at 3
  const std::int64_t lanes = lanes_of(acc);
  for (int k = 2; k >= 0; --k) {
    if (k >= by)
      std::copy_n(acc.level[k - by], lanes, acc.level[k]);
    else
      std::fill_n(acc.level[k], lanes, 0.0);
  }
  if (change != 0)
    for (auto& level : acc.level)
      for (std::int64_t l = 0; l < lanes; ++l) level[l] = std::ldexp(level[l], change);
  set_window(acc, top);
}

/// Makes the window one that a summand of this size fits.
void fit_window(SumAccumulator& acc, double largest) {
  const std::int64_t top = top_for(largest);
  if (is_fresh(acc)) {
    for (auto& level : acc.level) std::fill_n(level, lanes_of(acc), 0.0);
    set_window(acc, top);
  } else if (top > acc.top) {
    raise(acc, top);
  }
}

}  // namespace

void reset(SumAccumulator& acc, ir::Reduction::Kind kind, int lanes) {
  acc.lanes = std::max(lanes, 4);
  if (kind == ir::Reduction::Kind::sum) {
    acc.limit = acc.special = 0;
    acc.top = 0;
    return;
  }
  const double infinity = std::numeric_limits<double>::infinity();
  std::fill_n(acc.extremum, acc.lanes, kind == ir::Reduction::Kind::min ? infinity : -infinity);
}

extern "C" void tessera_sum_slow(SumAccumulator* acc, const double* x, int lanes) {
  double rest[kMaxLanes], largest = 0;
  for (int l = 0; l < lanes; ++l) {
    rest[l] = std::isfinite(x[l]) ? x[l] : 0.0;
    largest = std::max(largest, std::fabs(rest[l]));
  }
  fit_window(*acc, largest);
  for (int l = 0; l < lanes; ++l)
    if (!std::isfinite(x[l])) acc->special += x[l];
  if (acc->top > kHighestFast)
    for (int l = 0; l < lanes; ++l) rest[l] = std::ldexp(rest[l], -int(kHugeShift));
  for (int k = 0; k < 3; ++k)  // to each level the multiple of its unit that is left
    for (int l = 0; l < lanes; ++l) {
      const double part = (rest[l] + acc->extract[k]) - acc->extract[k];
      acc->level[k][l] += part;
      rest[l] -= part;
    }
}

ExactSum::Int128 ExactSum::get(int level) const { return (Int128{level_[level].high} << 64) | level_[level].low; }

void ExactSum::add(int level, Int128 units) {
  const Int128 total = get(level) + units;
  level_[level] = {static_cast<std::uint64_t>(total), static_cast<std::int64_t>(total >> 64)};
}

void ExactSum::raise(std::int64_t top) {
  if (top <= top_) return;
  const auto by = static_cast<int>(std::min<std::int64_t>((top - top_) / kStep, 3));
  for (int k = 2; k >= 0; --k) level_[k] = k >= by ? level_[k - by] : Wide{};
  top_ = top;
}

void ExactSum::add(double x) {
  if (!std::isfinite(x)) {
    special_ += x;
    return;
  }
  raise(top_for(std::fabs(x)));
  double rest = std::ldexp(x, -int(scale(top_)));
  for (int k = 0; k < 3; ++k) {
    const int exponent = int(top_ - scale(top_) - kStep * (k + 1));
    const double units = std::nearbyint(std::scalbn(rest, -exponent));
    add(k, static_cast<std::int64_t>(units));
    rest -= std::scalbn(units, exponent);
  }
}

void ExactSum::add(const SumAccumulator& acc) {
  special_ += acc.special;
  if (is_fresh(acc)) return;
  raise(acc.top);
  const int lost = int((top_ - acc.top) / kStep);  // levels of acc that now lie below the last unit
  for (int k = 0; k + lost < 3; ++k)
    add(k + lost, in_units(acc.level[k], lanes_of(acc), acc.top - scale(acc.top) - kStep * (k + 1)));
}

void ExactSum::add(const ExactSum& other) {
  special_ += other.special_;
  raise(other.top_);
  const int lost = int((top_ - other.top_) / kStep);
  for (int k = 0; k + lost < 3; ++k) add(k + lost, other.get(k));
}

void ExactSum::add(const SumBins& bins) {
  if ((bins.special & 1) != 0) special_ = std::numeric_limits<double>::quiet_NaN();
  if ((bins.special & 2) != 0) special_ += std::numeric_limits<double>::infinity();
  if ((bins.special & 4) != 0) special_ -= std::numeric_limits<double>::infinity();
  const std::int64_t top = kLowest + kStep * static_cast<std::int64_t>(bins.top);
  raise(top);
  const int lost = int((top_ - top) / kStep);
  for (int k = 0; k + lost < 3; ++k) add(k + lost, bins.bin[bins.top + 2 - std::uint64_t(k)]);
}

double ExactSum::value() const {
  if (special_ != 0) return std::isnan(special_) ? std::numeric_limits<double>::quiet_NaN() : special_;
  const Int128 units = (((get(0) << kStep) + get(1)) << kStep) + get(2);
  // The conversion rounds to nearest even. The scaling is exact: results below 2^-1022 are multiples of 2^-1064.
  return scaled(static_cast<double>(units), top_ - 3 * kStep);
}

std::uint64_t ReductionValue::key(double x) const {
  if (std::isnan(x)) return 0;
  const std::uint64_t ordered = ordered_bits(std::bit_cast<std::uint64_t>(x));
  return kind_ == Kind::max ? ordered : ~ordered;
}

void ReductionValue::add(double x) {
  if (kind_ == Kind::sum) return sum_.add(x);
  extremum_ = std::max(extremum_, key(x));
}

void ReductionValue::add(const SumAccumulator& acc) {
  if (kind_ == Kind::sum) return sum_.add(acc);
  for (std::int64_t l = 0; l < lanes_of(acc); ++l) extremum_ = std::max(extremum_, key(acc.extremum[l]));
}

void ReductionValue::add(const SumBins& bins) {
  if (kind_ == Kind::sum) return sum_.add(bins);
  extremum_ = std::max(extremum_, bins.extremum);
}

void ReductionValue::add(const ReductionValue& other) {
  mixed_ |= other.mixed_ || kind_ != other.kind_;
  sum_.add(other.sum_);
  extremum_ = std::max(extremum_, other.extremum_);
}

double ReductionValue::value() const {
  if (mixed_)
    throw InternalError({.what = "a reduction over parts of a domain",
                         .expected = "sums, largest or smallest values from all of them",
                         .got = "some of each",
                         .what_now = "If the parts are ranks: they must run the same statements in the same order"});
  if (kind_ == Kind::sum) return sum_.value();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (extremum_ == 0) return kind_ == Kind::max ? -infinity : infinity;
  return std::bit_cast<double>(from_ordered_bits(kind_ == Kind::max ? extremum_ : ~extremum_));
}

}  // namespace jit
