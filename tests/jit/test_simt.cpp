// Kernels of one thread per site or per few sites, in their host form: they mean what the interpreter means and have
// the bits of the CPU's kernels, sums included, for any number of threads.
#include <doctest/doctest.h>

#include <atomic>
#include <thread>

#include "codegen_kernels.hpp"
#include "jit/support/error.hpp"
#include "jit/support/relax.hpp"

using namespace lab;
using Kind = jit::ir::Reduction::Kind;

namespace {

jit::Compiler& compiler() {
  static jit::Compiler instance(jit::make_simt_host_target());
  return instance;
}

jit::Compiler& cpu() {
  static jit::Compiler instance(jit::make_cpu_target());
  return instance;
}

constexpr int kSites[] = {1, 2, 4};  ///< per thread

jit::SimtFunction function(const Kernel& kernel, int sites) {
  return code<jit::SimtFunction>(compiler().compile(kernel, {.sites = sites}));
}

int disagreements(Lab& bench, int sites) {
  return bench.disagreements<jit::SimtFunction>(compiler(), {.sites = sites});
}
int disagreements(Lab&& bench, int sites) { return disagreements(bench, sites); }

/// Words in which two runs from the same fields differ: the CPU's kernel, and `threads` threads.
int differences_from_cpu(const Kernel& k, unsigned seed, std::int64_t threads, int sites) {
  Lab here(k, seed), there(k, seed);
  here.run(function(k, sites), threads, sites);
  there.run(code<jit::KernelFunction>(cpu().compile(k, {})));
  return here.differences(there);
}

std::uint64_t bits(double x) { return std::bit_cast<std::uint64_t>(x); }

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Sum, maximum and minimum of a field of doubles.
Kernel reductions_of_field(int lanes, bool listed) {
  Kernel k;
  k.name = "reductions";
  k.lanes = lanes;
  k.listed = listed;
  k.leaves = {{Type::f64, 1, true, false}};
  const Value x = load(k, 0, 0);
  k.reductions = {{Kind::sum, x}, {Kind::max, x}, {Kind::min, x}};
  return k;
}

constexpr int kWindow = 28 * 36 - 981;  ///< exponent of a power of two where a window of the exact sum begins

/// Numbers for sums: many sizes in one set, the largest early or late.
double summand(Dice& dice, int set, int number) {
  const double mantissa = std::uniform_real_distribution<double>(-2, 2)(dice.engine());
  const auto power = [&](int smallest, int largest) {
    return std::ldexp(mantissa, smallest + dice.below(largest - smallest + 1));
  };
  switch (set) {
    case 0:
      return mantissa;
    case 1:
      return power(-60, 60);
    case 2:
      return power(-1074, 1000);
    case 3:
      return power(-1074, -960);  // around the lowest window, with denormals
    case 4:
      return power(970, 1023);  // around the highest
    case 5:
      return number % 50 == 49 ? 1e300 : power(-20, 20);
    case 6:
      return number % 2 ? -std::ldexp(1.5, number) : std::ldexp(1.5, number + 1);
    case 7:
      return -0.0;
    case 8:
      return number == 77 ? kInfinity : power(-20, 20);
    case 9:
      return number % 70 == 7 ? -kInfinity : number % 70 == 9 ? kInfinity : mantissa;
    case 10:
      return number == 13 ? std::nan("") : mantissa;
    case 11:  // the largest begins a window, the others lie around its last unit
      return number == 50 ? -std::ldexp(1.0, kWindow) : power(kWindow - 64, kWindow - 50);
    case 12:  // the largest just fits a window, and cancels
      return number == 50 || number == 51 ? std::nextafter(std::ldexp(1.0, kWindow), 0.0) * (number == 50 ? 1 : -1)
                                          : power(kWindow - 92, kWindow - 78);
    default:
      return std::nan("");
  }
}
constexpr int kSets = 14;

void fill(Lab& bench, unsigned seed, int set) {
  Dice dice(seed);
  for (int p = 0; p < bench.sites(); ++p) bench.fields()[0].set(p, 0, bits(summand(dice, set, p)));
}

}  // namespace

TEST_CASE("quick code tells quotients of products from fused multiply-adds") {
  for (Type t : {Type::f32, Type::f64})
    for (int sites : kSites)
      for (const Op last : {Op::load, Op::select, Op::sin}) {
        const Kernel k = products(t, 8, last);
        CHECK(disagreements(Lab(k, 4), sites) == 0);
      }
}

TEST_CASE("every operation agrees with the interpreter, for every type and width") {
  for (Type t : kTypes)
    for (int lanes : kWidths)
      for (int sites : kSites) {
        CAPTURE(jit::ir::name(t));
        CAPTURE(lanes);
        CAPTURE(sites);
        const Kernel k = all_operations(t, lanes);
        for (unsigned seed = 1; seed <= 5; ++seed) CHECK(disagreements(Lab(k, seed), sites) == 0);
      }
}

TEST_CASE("every operation has the CPU's bits, elementary functions too") {
  for (Type t : kTypes)
    for (int lanes : {32, 2, 1})
      for (int sites : kSites) {
        CAPTURE(jit::ir::name(t));
        CAPTURE(lanes);
        CAPTURE(sites);
        CHECK(differences_from_cpu(all_operations(t, lanes), 3, 64, sites) == 0);
      }
}

TEST_CASE("every conversion agrees with the interpreter") {
  for (Type from : kTypes)
    for (Type to : kTypes)
      for (int lanes : {32, 1})
        for (int sites : kSites) {
          CAPTURE(jit::ir::name(from));
          CAPTURE(jit::ir::name(to));
          CAPTURE(sites);
          CHECK(disagreements(Lab(conversion(from, to, lanes), 3), sites) == 0);
        }
}

TEST_CASE("integer division by zero gives 0, the smallest integer by -1 wraps, floats out of range saturate") {
  for (int sites : kSites) check_corners([&](Lab& bench) { return disagreements(bench, sites); });
}

TEST_CASE("fma rounds once and a product followed by a sum rounds twice") {
  for (int sites : kSites)
    check_rounding([&](Lab& bench, const Kernel& k) { bench.run(function(k, sites), 13, sites); });
}

TEST_CASE("random programs agree with the interpreter, and with the CPU to the bit, for any number of threads") {
  for (int lanes : {64, 32, 16, 4, 2, 1})
    for (unsigned seed = 1; seed <= 24; ++seed) {
      const Kernel k = random_kernel(seed, lanes, seed % 2 == 0);
      CAPTURE(lanes);
      CAPTURE(seed);
      jit::ir::verify(k);
      for (int sites : kSites) {
        CAPTURE(sites);
        CHECK(disagreements(Lab(k, seed), sites) == 0);
        for (std::int64_t threads : {1, 31, 1000}) CHECK(differences_from_cpu(k, seed, threads, sites) == 0);
      }
    }
}

TEST_CASE("fields in host order are read and written where the host has them") {
  for (int lanes : {32, 2})
    for (unsigned seed = 1; seed <= 8; ++seed) {
      Kernel k = random_kernel(seed, lanes, seed % 2 == 0);
      for (const std::size_t leaf : {1u, 3u, 5u, 6u}) k.leaves[leaf].host_order = true;
      CAPTURE(lanes);
      CAPTURE(seed);
      for (int sites : kSites) CHECK(disagreements(Lab(k, seed), sites) == 0);
    }
}

TEST_CASE("trips: loads and stores walk by their strides, reductions see every trip") {
  for (int lanes : kWidths)
    for (int sites : kSites) {
      CAPTURE(lanes);
      CAPTURE(sites);
      CHECK(disagreements(Lab(trips(lanes), 2), sites) == 0);
      CHECK(disagreements(Lab(rounds(lanes), 2), sites) == 0);
    }
}

TEST_CASE("lanes are exchanged across the halves of a group, alone and nested") {
  for (int lanes : {32, 8, 4, 2})
    for (const jit::LaneExchange& exchange : every_exchange(lanes))
      for (int sites : kSites) {
        const Kernel k = halves(lanes, exchange);
        CAPTURE(lanes);
        CAPTURE(exchange.flip);
        CAPTURE(exchange.ring);
        CAPTURE(exchange.step);
        CAPTURE(sites);
        for (unsigned seed = 1; seed < 5; ++seed) CHECK(disagreements(Lab(k, seed), sites) == 0);
      }
}

TEST_CASE("a hopping term has the same bits whatever a thread takes") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : {32, 16, 4})
      for (int sites : kSites) {
        CAPTURE(jit::ir::name(t));
        CAPTURE(lanes);
        CAPTURE(sites);
        CHECK(disagreements(Lab(wilson_hop(t, lanes), 1), sites) == 0);
      }
}

TEST_CASE("a launch handles the groups from begin to end and no others") {
  Kernel k;
  k.name = "part";
  k.lanes = 32;
  k.leaves = {{Type::i32, 1, false, true}};
  store(k, 0, 0, push(k, {.op = Op::constant, .type = Type::i32, .integer = 7}));
  for (int sites : kSites) {
    CAPTURE(sites);
    Lab bench(k, 1);
    for (int p = 0; p < bench.sites(); ++p) bench.fields()[0].set(p, 0, 1);
    const std::vector<std::uint64_t> packet = bench.simt_packet(nullptr, 2, 5);
    function(k, sites)(packet.data(), 0, 128, 128);  // more than there are sites
    for (int p = 0; p < bench.sites(); ++p)
      CHECK(bench.fields()[0].get(p, 0).bits == (p >= 2 * 32 && p < 5 * 32 ? 7 : 1));
  }
}

TEST_CASE("a thread takes the sites next to each other that its number says, in small groups and lists fewer") {
  Kernel k;
  k.name = "one_thread";
  k.leaves = {{Type::f64, 1, false, true}};
  store(k, 0, 0, push(k, {.op = Op::constant, .type = Type::f64, .real = 7}));
  for (int lanes : kWidths)
    for (int sites : kSites)
      for (const bool listed : {false, true}) {
        CAPTURE(lanes);
        CAPTURE(sites);
        CAPTURE(listed);
        k.lanes = lanes;
        k.listed = listed;
        const int taken = jit::sites_per_thread(k, sites);
        CHECK(taken == (listed ? 1 : std::min(sites, lanes)));
        Lab bench(k, 1);
        for (int p = 0; p < bench.sites(); ++p) bench.fields()[0].set(p, 0, 0);
        std::vector<std::uint64_t> packet = bench.simt_packet(nullptr, 0, 2);
        const std::int32_t groups[] = {0, 1};
        const std::uint64_t masks[] = {~std::uint64_t{0}, ~std::uint64_t{0}};
        if (listed) packet[1] = reinterpret_cast<std::uintptr_t>(groups);
        if (listed) packet[2] = reinterpret_cast<std::uintptr_t>(masks);
        function(k, sites)(packet.data(), 1, 2, 2);
        for (int p = 0; p < bench.sites(); ++p)
          CHECK(bench.fields()[0].get(p, 0).real() == (p / taken == 1 && p < 2 * lanes ? 7 : 0));
      }
}

TEST_CASE("other numbers of sites per thread are refused") {
  const auto target = jit::make_simt_host_target();
  NoNotes notes;
  for (int sites : {0, 3, 8, -1})
    CHECK_THROWS_WITH_AS(target->build(trips(32), "k", {.sites = sites}, notes),
                         doctest::Contains("1, 2 or 4 sites per thread"), jit::InternalError);
}

TEST_CASE(
    "sums, maxima and minima have the CPU's bits: wild magnitudes, denormals, huge numbers, infinities, NaN, -0") {
  for (int set = 0; set < kSets; ++set)
    for (const bool listed : {false, true}) {
      const Kernel k = reductions_of_field(32, listed);
      CAPTURE(set);
      CAPTURE(listed);
      for (unsigned seed = 1; seed <= 4; ++seed) {
        Lab there(k, seed);
        fill(there, seed, set);
        there.run(code<jit::KernelFunction>(cpu().compile(k, {})));
        for (int sites : kSites)
          for (std::int64_t threads : {1, 2, 29, 192}) {
            Lab here(k, seed);
            fill(here, seed, set);
            here.run(function(k, sites), threads, sites);
            CHECK(here.differences(there) == 0);
          }
      }
    }
}

TEST_CASE("threads of the host may add to the same sums at once") {
  const Kernel k = reductions_of_field(32, false);
  Lab bench(k, 1), there(k, 1);
  fill(bench, 1, 1);
  fill(there, 1, 1);
  there.run(code<jit::KernelFunction>(cpu().compile(k, {})));
  const jit::SimtFunction run = function(k, 2);
  constexpr int kHostThreads = 4, kRounds = 200;
  SimtSums sums(k);
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<std::uint64_t> packet = bench.simt_packet(&sums, 0, Lab::kGroups);
    std::vector<std::thread> threads;
    for (int t = 0; t < kHostThreads; ++t)
      threads.emplace_back([&, t] { run(packet.data(), 8 * t, 8 * (t + 1), 8 * kHostThreads); });
    for (std::thread& t : threads) t.join();
    const std::vector<double> values = sums.take();
    for (std::size_t r = 0; r < values.size(); ++r) CHECK(bits(values[r]) == bits(there.reductions()[r]));
  }
}

TEST_CASE(
    "the results are there when their mark is the launch's number, and not before all threads have added theirs") {
  const Kernel k = reductions_of_field(32, false);
  Lab bench(k, 1), there(k, 1);
  fill(bench, 1, 1);
  fill(there, 1, 1);
  there.run(code<jit::KernelFunction>(cpu().compile(k, {})));
  const jit::SimtFunction run = function(k, 1);
  SimtSums sums(k);
  std::vector<std::uint64_t> packet;
  for (std::uint64_t launch = 1; launch <= 3; ++launch) {
    packet = bench.simt_packet(&sums, 0, Lab::kGroups);
    run(packet.data(), 20, 100, 100);
    run(packet.data(), 5, 20, 100);
    CHECK(sums.results()->mark == launch - 1);
    CHECK(sums.sums()->mark == 95);
    run(packet.data(), 0, 5, 100);
    CHECK(sums.results()->mark == launch);
    CHECK(bits(sums.take()[0]) == bits(there.reductions()[0]));
  }
}

TEST_CASE("a host that polls the mark sees the whole result") {
  const Kernel k = reductions_of_field(32, false);
  const jit::SimtFunction run = function(k, 1);
  std::vector<Lab> labs;
  for (int set : {1, 5}) fill(labs.emplace_back(k, unsigned(set)), 1, set), labs.back().run(run);
  SimtSums sums(k);
  int wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    Lab& bench = labs[std::size_t(round % 2)];
    const std::vector<std::uint64_t> packet = bench.simt_packet(&sums, 0, Lab::kGroups);
    std::thread one([&] { run(packet.data(), 0, 50, 100); }), other([&] { run(packet.data(), 50, 100, 100); });
    const std::atomic_ref<std::uint64_t> mark(sums.results()->mark);
    while (mark.load(std::memory_order_acquire) != std::uint64_t(round + 1)) jit::relax();
    const std::vector<double> values = sums.take();
    for (std::size_t r = 0; r < values.size(); ++r) wrong += bits(values[r]) != bits(bench.reductions()[r]);
    one.join();
    other.join();
  }
  CHECK(wrong == 0);
}

TEST_CASE("checked kernels pass LLVM's verifier and compute the same") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Kernel k = random_kernel(seed, 32, false);
    Lab bench(k, seed);
    CHECK(bench.disagreements<jit::SimtFunction>(compiler(), {.check = true, .sites = 4}) == 0);
  }
}

TEST_CASE("streaming, which the host's threads have no use for, changes nothing") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const Kernel k = random_kernel(seed, 32, false);
    Lab bench(k, seed);
    CHECK(bench.disagreements<jit::SimtFunction>(compiler(), {.streaming = true, .sites = 2}) == 0);
  }
}
