// Exact summation: the same bits in every order, with every split, and the right ones.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "jit/ir/sum.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/reduced.hpp"

using jit::ExactSum;
using jit::ReductionValue;
using jit::SumAccumulator;
using Kind = jit::ir::Reduction::Kind;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a kernel does with one block of summands.
void add_block(SumAccumulator& acc, const double* x, int lanes, int first_lane) {
  if (!std::all_of(x, x + lanes, [&](double v) { return std::fabs(v) < acc.limit; }))
    return tessera_sum_slow(&acc, x, lanes);
  for (int l = 0; l < lanes; ++l) {
    double rest = x[l];
    for (int k = 0; k < 3; ++k) {
      const double part = (rest + acc.extract[k]) - acc.extract[k];
      acc.level[k][first_lane + l] += part;
      rest -= part;
    }
  }
}

/// An empty one for so many lanes, in memory of which nothing else may be believed.
SumAccumulator in_used_memory(Kind kind, int lanes) {
  SumAccumulator acc;
  std::memset(static_cast<void*>(&acc), 0x3F, sizeof acc);  // 5e-4 everywhere
  reset(acc, kind, lanes);
  return acc;
}

/// Sum in blocks of `lanes`, in turn in the first and the second half of those of one of `threads` accumulators.
double sum(std::vector<double> x, int lanes = 8, int threads = 1) {
  while (x.size() % std::size_t(lanes) != 0) x.push_back(0);
  std::vector<SumAccumulator> acc(static_cast<std::size_t>(threads), in_used_memory(Kind::sum, 2 * lanes));
  const std::size_t blocks = x.size() / std::size_t(lanes);
  for (std::size_t b = 0; b < blocks; ++b)
    add_block(acc[b * acc.size() / blocks], &x[b * std::size_t(lanes)], lanes, b % 2 ? lanes : 0);
  ReductionValue found(Kind::sum);
  for (auto& a : acc) found.add(a);
  return found.value();
}

/// The definition: sum of R(x) in 2^(top-84) units, in integers, rounded once. For |top| < 900.
double definition(const std::vector<double>& x) {
  double largest = 0;
  for (double v : x) largest = std::max(largest, std::fabs(v));
  int top = -868;
  while (largest >= std::ldexp(1.0, top - 1)) top += 28;
  __extension__ __int128 units = 0;
  for (double v : x) units += static_cast<__int128>(std::rint(std::ldexp(static_cast<long double>(v), 84 - top)));
  return std::ldexp(static_cast<double>(units), top - 84);
}

std::vector<double> random_numbers(std::mt19937_64& engine, int count, double smallest, double largest) {
  std::uniform_real_distribution<double> exponent(std::log2(smallest), std::log2(largest)), mantissa(-2, 2);
  std::vector<double> x;
  for (int i = 0; i < count; ++i) x.push_back(std::exp2(exponent(engine)) * mantissa(engine));
  return x;
}

bool same(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

}  // namespace

TEST_CASE("order, lanes and threads do not change a bit, and the bits are those of the definition") {
  std::mt19937_64 engine(7);
  const double ranges[][2] = {{0.5, 2}, {1e-5, 1e5}, {1e-40, 1e40}, {1e-200, 1e200}, {1e-230, 1e-190}};
  for (const auto& range : ranges)
    for (int count : {1, 7, 1000}) {
      CAPTURE(range[0]);
      CAPTURE(count);
      std::vector<double> x = random_numbers(engine, count, range[0], range[1]);
      const double expected = definition(x);
      for (int repeat = 0; repeat < 4; ++repeat) {
        for (int lanes : {1, 2, 8, 16})
          for (int threads : {1, 3}) CHECK(same(sum(x, lanes, threads), expected));
        std::shuffle(x.begin(), x.end(), engine);
      }
      std::sort(x.begin(), x.end(), [](double a, double b) { return std::fabs(a) < std::fabs(b); });
      CHECK(same(sum(x), expected));  // top is raised again and again
      std::reverse(x.begin(), x.end());
      CHECK(same(sum(x), expected));  // top is right from the start
    }
}

TEST_CASE("numbers of similar size are summed with one rounding") {
  std::mt19937_64 engine(11);
  const std::vector<double> x = random_numbers(engine, 4096, 0.25, 1);
  long double exact = 0;  // 2^12 summands of 53 bits down to 2^-80 of the largest: a pairwise two-sum keeps all of it
  long double error = 0;
  for (double v : x) {
    const long double next = exact + v, back = next - exact;
    error += (exact - (next - back)) + (v - back);
    exact = next;
  }
  CHECK(sum(x) == static_cast<double>(exact + error));
}

TEST_CASE("cancellation leaves what is left") {
  CHECK(sum({1e10, 3.5, -1e10}) == 3.5);
  CHECK(sum({1.0, 1e-20, -1.0}, 1) ==
        doctest::Approx(1e-20).epsilon(1e-4));  // 1e-20 in units of 2^-84 (top = 28: 2^-56)
  CHECK(same(sum({1.5, -1.5}), 0.0));
}

TEST_CASE("a late large summand gives what an early one gives") {
  std::mt19937_64 engine(3);
  for (double large : {1e3, 1e12, 1e30, 1e100, 1e290, 1e300, 1.7e308}) {
    CAPTURE(large);
    std::vector<double> x = random_numbers(engine, 256, 1e-3, 1);
    std::vector<double> early = x, late = x;
    early.insert(early.begin(), large);
    late.push_back(large);
    CHECK(same(sum(early, 1), sum(late, 1)));
    CHECK(same(sum(early, 1), sum(late, 8, 4)));
  }
}

TEST_CASE("a summand rounds alike before and after one that is larger by the whole window") {
  for (double small : {0.9, 0.5, 0.51, 0.4})
    for (int steps : {2, 3, 4}) {
      CAPTURE(small);
      CAPTURE(steps);
      const double x = std::ldexp(small, 28), large = std::ldexp(1.0, 28 * steps);
      CHECK(same(sum({x, large, -large}, 1), sum({large, x, -large}, 1)));
      CHECK(same(sum({x, large, -large}, 1), definition({x, large, -large})));
      CHECK(same(sum({x, large, -large}, 1, 3), sum({large, x, -large}, 1)));
    }
}

TEST_CASE("huge summands: no overflow on the way, infinity only in the result") {
  const double large = std::numeric_limits<double>::max();
  CHECK(sum({large, large, -large}, 1) == large);
  CHECK(sum({std::ldexp(3.0, 990), large, -large}, 2) == std::ldexp(3.0, 990));
  CHECK(sum({large, large}, 1) == kInfinity);
  CHECK(sum({-large, -large}, 2, 2) == -kInfinity);
  CHECK(sum({std::ldexp(1.0, 980), 1.0, -std::ldexp(1.0, 979)}, 1) == std::ldexp(1.0, 979));
}

TEST_CASE("infinities and NaN come out as in IEEE addition, wherever they stand") {
  CHECK(sum({1, kInfinity, 3}) == kInfinity);
  CHECK(sum({1, -kInfinity, 3}, 1) == -kInfinity);
  CHECK(std::isnan(sum({kInfinity, 2, -kInfinity}, 1)));
  CHECK(std::isnan(sum({1, std::nan(""), 3})));
}

TEST_CASE("denormals and zeros") {
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(same(sum({}), 0.0));
  CHECK(same(sum({0.0, -0.0}), 0.0));
  CHECK(sum({1024 * tiny, 2048 * tiny}) == 3072 * tiny);  // multiples of the smallest unit, 2^-1064
  CHECK(sum({std::numeric_limits<double>::min(), -1024 * tiny}, 1) == std::numeric_limits<double>::min() - 1024 * tiny);
  CHECK(sum({tiny, tiny}) == 0);  // below it
}

TEST_CASE("an accumulator of zeroed memory is empty") {
  SumAccumulator acc{};
  CHECK(reduced(Kind::sum, acc) == 0);
  const double x[] = {1.25, 2.5};
  add_block(acc, x, 2, 0);
  CHECK(reduced(Kind::sum, acc) == 3.75);
}

TEST_CASE("lanes of as many summands as they may hold lose nothing") {
  // On both sides of where 64 of them leave a double, and one unit more in one lane.
  SumAccumulator acc;
  reset(acc, Kind::sum);
  const double seed = 1;
  tessera_sum_slow(&acc, &seed, 1);
  const double unit = std::ldexp(1.0, static_cast<int>(acc.top) - 28);
  for (const double each : {0x1p46 - 1, 0x1p47 - 1, 0x1p51 - 1, -(0x1p51 - 1)}) {
    for (double& lane : acc.level[0]) lane = each * unit;
    acc.level[0][5] += unit;
    ExactSum found, all;
    found.add(acc);
    for (int l = 0; l < jit::kMaxLanes; ++l) {
      SumAccumulator one = acc;
      std::fill(std::begin(one.level[0]), std::end(one.level[0]), 0.0);
      one.level[0][0] = acc.level[0][l];
      all.add(one);
    }
    // Less what all have: the unit is left.
    SumAccumulator most = acc;
    std::fill(std::begin(most.level[0]), std::end(most.level[0]), 0.0);
    for (int i = 0; i < jit::kMaxLanes; ++i) {
      most.level[0][0] = -each * unit;
      found.add(most), all.add(most);
    }
    CHECK(found.value() == unit);
    CHECK(all.value() == unit);
  }
}

TEST_CASE("exact sums add up, also with different windows, and accumulators can be emptied into them midway") {
  std::mt19937_64 engine(5);
  const std::vector<double> x = random_numbers(engine, 600, 1e-30, 1e30);
  const double expected = sum(x);
  ExactSum parts[3], total;
  for (int part = 0; part < 3; ++part) {
    SumAccumulator acc;
    reset(acc, Kind::sum);
    for (int i = 0; i < 200; ++i) {
      add_block(acc, &x[std::size_t(200 * part + i)], 1, 0);
      if (i % 37 == 0) {
        parts[part].add(acc);
        reset(acc, Kind::sum);
      }
    }
    parts[part].add(acc);
  }
  for (int part : {2, 0, 1}) total.add(parts[part]);
  CHECK(same(total.value(), expected));
}

namespace {

using jit::SumBins;

/// The index of the smallest top above |x|, as SumBins counts.
std::uint64_t lowest_top(double x) {
  std::uint64_t i = 0;
  while (28 * int(i) - 981 < 1024 && std::fabs(x) >= std::ldexp(1.0, 28 * int(i) - 981)) ++i;
  return i;
}

/// What a thread of a GPU does with one summand: digits relative to a top of its own choice, added as integers.
void add_digits(SumBins& bins, double x, std::uint64_t top) {
  bins.top = std::max(bins.top, lowest_top(x));
  const bool huge = top > 70;
  double rest = huge ? std::ldexp(x, -112) : x;
  for (std::uint64_t k = 0; k < 3; ++k) {
    const int unit = 28 * int(top + 2 - k - (huge ? 4 : 0)) - 1064;
    const double extract = std::ldexp(1.5, unit + 52), part = (rest + extract) - extract;
    bins.bin[top + 2 - k] += static_cast<std::int64_t>(std::scalbn(part, -unit));
    rest -= part;
  }
}

}  // namespace

TEST_CASE("digits relative to any top up to that of all summands add up to the same bits") {
  std::mt19937_64 engine(13);
  const double ranges[][2] = {{0.5, 2},         {1e-40, 1e40},    {1e-300, 1e300},
                              {1e-320, 1e-290}, {1e290, 1.7e308}, {1e-8, 1e308}};
  for (const auto& range : ranges)
    for (int repeat = 0; repeat < 20; ++repeat) {
      CAPTURE(range[0]);
      const std::vector<double> x = random_numbers(engine, 300, range[0], range[1] / 2);
      std::uint64_t top = 0;
      for (double v : x) top = std::max(top, lowest_top(v));
      SumBins bins{};
      for (double v : x) {
        const std::uint64_t own = lowest_top(v);
        add_digits(bins, v, own + engine() % (top - own + 1));
      }
      CHECK(bins.top == top);
      CHECK(same(reduced(Kind::sum, bins), sum(x)));
    }
}

TEST_CASE("bins join exact sums of other windows") {
  std::mt19937_64 engine(17);
  const std::vector<double> x = random_numbers(engine, 400, 1e-30, 1e30);
  for (bool bins_are_larger : {false, true}) {
    SumBins bins{};
    SumAccumulator acc;
    reset(acc, Kind::sum);
    for (double v : x) {
      const bool to_bins = (std::fabs(v) > 1e10) == bins_are_larger;
      to_bins ? add_digits(bins, v, lowest_top(v)) : add_block(acc, &v, 1, 0);
    }
    ExactSum first, second;
    first.add(bins);
    first.add(acc);
    second.add(acc);
    second.add(bins);
    CHECK(same(first.value(), sum(x)));
    CHECK(same(second.value(), sum(x)));
  }
}

TEST_CASE("bins of special values and extrema") {
  SumBins bins{};
  CHECK(same(reduced(Kind::sum, bins), 0.0));
  CHECK(reduced(Kind::max, bins) == -kInfinity);
  CHECK(reduced(Kind::min, bins) == kInfinity);
  bins.special = 2;
  CHECK(reduced(Kind::sum, bins) == kInfinity);
  bins.special = 4;
  CHECK(reduced(Kind::sum, bins) == -kInfinity);
  for (const std::uint64_t special : {1u, 6u, 7u}) {
    bins.special = special;
    CHECK(std::isnan(reduced(Kind::sum, bins)));
  }
  for (double x : {-kInfinity, -1e300, -1.5, -0.0, 0.0, 5e-324, 2.5, kInfinity}) {
    bins.extremum = jit::ordered_bits(std::bit_cast<std::uint64_t>(x));
    CHECK(same(reduced(Kind::max, bins), x));
    bins.extremum = ~bins.extremum;
    CHECK(same(reduced(Kind::min, bins), x));
  }
}

TEST_CASE("the largest and the smallest") {
  SumAccumulator acc;
  reset(acc, Kind::max);
  CHECK(reduced(Kind::max, acc) == -kInfinity);
  acc.extremum[3] = 2;
  acc.extremum[40] = 5;
  CHECK(reduced(Kind::max, acc) == 5);
  reset(acc, Kind::min);
  acc.extremum[3] = -2;
  CHECK(reduced(Kind::min, acc) == -2);
  acc = in_used_memory(Kind::max, 4);
  acc.extremum[3] = -7;
  CHECK(reduced(Kind::max, acc) == -7);
}

namespace {

/// What one rank has found: in accumulators, in bins, or number by number.
ReductionValue found_on_rank(Kind kind, const std::vector<double>& x, std::uint64_t way) {
  ReductionValue found(kind);
  if (way == 0) {
    for (double v : x) found.add(v);
  } else if (way == 1) {
    SumAccumulator acc;
    reset(acc, kind);
    for (std::size_t i = 0; i < x.size(); ++i) {
      double& best = acc.extremum[i % 8];
      if (kind == Kind::sum) add_block(acc, &x[i], 1, 0);
      if (kind == Kind::max && x[i] > best) best = x[i];
      if (kind == Kind::min && x[i] < best) best = x[i];
    }
    found.add(acc);
  } else {
    SumBins bins{};
    for (double v : x) {
      if (kind != Kind::sum) {
        const std::uint64_t key = jit::ordered_bits(std::bit_cast<std::uint64_t>(v));
        if (!std::isnan(v)) bins.extremum = std::max(bins.extremum, kind == Kind::max ? key : ~key);
      } else if (std::isfinite(v)) {
        add_digits(bins, v, lowest_top(v));
      } else {
        bins.special |= std::isnan(v) ? 1 : v > 0 ? 2 : 4;
      }
    }
    found.add(bins);
  }
  return found;
}

/// Joins neighbours or others until one is left.
ReductionValue joined(std::vector<ReductionValue> parts, std::mt19937_64& engine) {
  while (parts.size() > 1) {
    std::shuffle(parts.begin(), parts.end(), engine);
    parts[parts.size() - 2].add(parts.back());
    parts.pop_back();
  }
  return parts[0];
}

}  // namespace

TEST_CASE("what ranks have found joins to the bits of one rank, however the numbers are divided and the ranks joined") {
  static_assert(std::is_trivially_copyable_v<ReductionValue>);
  std::mt19937_64 engine(19);
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               ranges[][2] = {{0.5, 2},         {1e-40, 1e40},   {1e-320, 1e-290},
                              {1e290, 1.7e308}, {1e-300, 1e300}, {1e-8, 1e308}};
  const std::vector<double> specials[] = {
      {}, {0.0, -0.0}, {kInfinity}, {-kInfinity}, {kInfinity, -kInfinity}, {nan}, {nan, kInfinity, 0.0}};
  for (const auto& range : ranges)
    for (const auto& special : specials)
      for (int count : {0, 1, 200}) {
        std::vector<double> x = random_numbers(engine, count, range[0], range[1] / 2);
        x.insert(x.end(), special.begin(), special.end());
        std::shuffle(x.begin(), x.end(), engine);
        for (Kind kind : {Kind::sum, Kind::max, Kind::min}) {
          CAPTURE(range[0]);
          CAPTURE(count);
          CAPTURE(int(kind));
          double one = kind == Kind::sum ? sum(x) : kind == Kind::max ? -kInfinity : kInfinity;
          for (double v : x) {
            if (kind == Kind::max && v > one) one = v;
            if (kind == Kind::min && v < one) one = v;
          }
          for (std::size_t ranks : {1u, 2u, 7u, 300u}) {  // some of them without a number
            std::vector<std::vector<double>> parts(ranks);
            for (double v : x) parts[engine() % ranks].push_back(v);
            std::vector<ReductionValue> found;
            for (const auto& part : parts) found.push_back(found_on_rank(kind, part, engine() % 3));
            const double all = joined(found, engine).value();
            CHECK((one == 0 && kind != Kind::sum ? all == 0 : same(all, one)));  // zeros of both signs: the next case
          }
        }
      }
}

TEST_CASE("the largest of zeros is +0 and the smallest -0, in any order") {
  for (const auto& [first, second] : {std::pair{0.0, -0.0}, std::pair{-0.0, 0.0}})
    for (Kind kind : {Kind::max, Kind::min}) {
      ReductionValue a(kind), b(kind);
      a.add(first);
      b.add(second);
      a.add(b);
      CHECK(same(a.value(), kind == Kind::max ? 0.0 : -0.0));
    }
}

TEST_CASE("single numbers, the huge and the denormal among them, are summed as the definition says") {
  std::mt19937_64 engine(23);
  for (const auto& [smallest, largest] : {std::pair{1e-40, 1e40}, {1e-200, 1e200}, {1e-300, 1e-200}, {1.0, 1e250}}) {
    const std::vector<double> x = random_numbers(engine, 300, smallest, largest);
    ReductionValue found;
    for (double v : x) found.add(v);
    CHECK(same(found.value(), sum(x)));
  }
  const double huge = std::numeric_limits<double>::max(), tiny = std::numeric_limits<double>::denorm_min();
  CHECK(reduced(Kind::sum, huge) == huge);
  CHECK(reduced(Kind::sum, huge, huge, -huge) == huge);
  CHECK(reduced(Kind::sum, huge, huge) == kInfinity);
  CHECK(reduced(Kind::sum, 1.5, -huge, huge) == 0);  // far below what is kept beside the largest
  CHECK(reduced(Kind::sum, 1024 * tiny, 2048 * tiny) == 3072 * tiny);
  CHECK(reduced(Kind::sum, tiny, tiny) == 0);
  CHECK(std::isnan(reduced(Kind::sum, 1.0, kInfinity, -kInfinity)));
}

TEST_CASE("nothing is neutral, and has the value of nothing") {
  for (Kind kind : {Kind::sum, Kind::max, Kind::min})
    for (double x : {0.0, -0.0, -1.5, 1e300, kInfinity, -kInfinity}) {
      const ReductionValue nothing(kind);
      CHECK(same(reduced(kind, nothing, x, nothing), reduced(kind, x)));
    }
  CHECK(same(ReductionValue().value(), 0.0));
  CHECK(ReductionValue(Kind::max).value() == -kInfinity);
  CHECK(ReductionValue(Kind::min).value() == kInfinity);
}

TEST_CASE("a sum and a maximum do not join: ranks that are at different statements are found out") {
  for (bool sum_first : {true, false}) {
    ReductionValue sum(Kind::sum), most(Kind::max), total(Kind::sum);
    (sum_first ? sum : most).add(sum_first ? most : sum);
    total.add(sum_first ? sum : most);  // a third rank
    CHECK_THROWS_WITH_AS(total.value(), doctest::Contains("same statements"), jit::InternalError);
  }
}
