// Messages that ranks of one machine read where the sender has written them.
#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "jit/memory/memory.hpp"
#include "jit/memory/shared_messages.hpp"
#include "qdp/expr/exchange.hpp"
#include "tests/counting_ranks.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/other_processes.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/qdp/many_ranks.hpp"
#include "tests/ranks.hpp"

using namespace QDP;
using tests::check_same;
using tests::Extents;
using tests::Findings;
using tests::must;

namespace {

/// Bytes that messages take and bytes that they stand for, of a statement on two ranks.
std::vector<std::vector<double>> sent(bool are_shared) {
  return tests::on_ranks<double>(2, [&](jit::Communicator&) {
    setenv("TESSERA_DEVICE", "cpu", 1);
    auto* counted = new tests::CountedMessages(are_shared);  // until the process ends
    tests::share_out(Extents{2, 1, 1, 1});
    tests::create_lattice({8, 8, 8, 8});
    LatticeColorMatrixD u, v;
    gaussian(u);
    v = shift(u, FORWARD, 0);
    v = shift(v, FORWARD, 0);
    jit::run_deferred();
    counted->reset();
    const auto before = detail::exchange_times();
    v = shift(v, FORWARD, 0);
    return std::vector<double>{static_cast<double>(counted->bytes),
                               static_cast<double>(detail::exchange_times().bytes - before.bytes)};
  });
}

}  // namespace

TEST_CASE("ranks of one machine are told where a message lies; others get all of it") {
  TESSERA_NEEDS_OTHER_PROCESSES();
  TESSERA_NEEDS_FOUR_DIMENSIONS("in fewer a face is short");
  const auto bytes = [](const std::vector<std::vector<double>>& ranks, std::size_t i) {
    for (const auto& rank : ranks) REQUIRE(rank.at(i) == ranks[0].at(i));
    return ranks[0][i];
  };
  const auto shared = sent(true), copied = sent(false);
  CHECK(bytes(shared, 0) == sizeof(jit::SharedMessages::Address));
  CHECK(bytes(copied, 0) >= 512 * sizeof(ColorMatrixD));
  CHECK(bytes(shared, 1) == bytes(copied, 1));
  CHECK(bytes(copied, 1) == bytes(copied, 0));
  const tests::Machines two(2);
  CHECK(bytes(sent(true), 0) == bytes(copied, 0));
}

namespace {

/// Shifts of what changes and of what does not, and of shifts.
void steps(Findings& find) {
  LatticeFermionD p, q, r;
  LatticeColorMatrixD u;
  gaussian(u), gaussian(p), gaussian(r);
  for (int i = 0; i < 4; ++i) {
    q = zero;
    for (int mu = 0; mu < Nd; ++mu) q += u * shift(p, FORWARD, mu) - shift(adj(u) * p, BACKWARD, mu);
    r[rb[i % 2]] += shift(shift(q, FORWARD, 0), BACKWARD, Nd - 1);
    find.sum(norm2(r));
    p = q - r;
  }
  find.field(p), find.field(q), find.field(r);
}

void not_on_rank_1(int rank) {
  if (rank == 1) setenv("TESSERA_SHARE_MESSAGES", "0", 1);
}

}  // namespace

TEST_CASE("whoever reads whose memory, the bits are those of one rank") {
  const Extents lattice{8, 8, 4, 4};
  const std::vector<Extents> grids{{2, 1, 1, 1}, {2, 2, 1, 1}, {4, 1, 1, 1}};
  check_same(lattice, grids, steps);
  check_same(lattice, grids, steps, not_on_rank_1);
  check_same(lattice, grids, steps, [](int rank) { rank == 1 ? (void)setenv("TESSERA_DEVICE", "sim", 1) : void(); });
  check_same(lattice, grids, steps, [](int) { setenv("TESSERA_KEEP_HALOS", "0", 1); });
  const tests::Machines two(2);
  check_same(lattice, {{2, 2, 1, 1}, {4, 1, 1, 1}}, steps);
}

TEST_CASE("ranks of which one cannot reach the other's memory send messages both ways") {
  const auto reached = tests::on_ranks<double>(2, [](jit::Communicator& ranks) {
    setenv("TESSERA_DEVICE", "cpu", 1);
    tests::share_out(Extents{2, 1, 1, 1});
    rlimit files{};
    getrlimit(RLIMIT_NOFILE, &files);
    if (ranks.rank() == 1) {  // its own segment may be opened, that of the other not
      const int next = open("/dev/null", O_RDONLY);
      close(next);
      const rlimit one_more{static_cast<rlim_t>(next) + 1, files.rlim_max};
      setrlimit(RLIMIT_NOFILE, &one_more);
    }
    tests::create_lattice({64, 32, 2, 2});
    setrlimit(RLIMIT_NOFILE, &files);
    LatticeFermionD a, b;
    gaussian(a);
    b = shift(a, FORWARD, 0);
    must(toDouble(norm2(shift(b, BACKWARD, 0) - a)) == 0);
    return std::vector<double>{jit::SharedMessages::instance().reach(1 - ranks.rank()) ? 1. : 0.};
  });
  for (const auto& rank : reached) CHECK(rank[0] == 0);
}

TEST_CASE("messages for which there is no such memory left are sent") {
  TESSERA_NEEDS_OTHER_PROCESSES();
  check_same({8, 8, 4, 4}, {{2, 1, 1, 1}}, [](Findings& find) {
    auto& shared = jit::SharedMessages::instance();
    if (Layout::numNodes() == 1) return steps(find);
    const bool reaches = shared.reach(1 - Layout::nodeNumber());
    must(reaches == jit::Memory::instance().device().host_accessible());
    if (!reaches) return steps(find);
    Seed seed;
    RNG::savern(seed);
    for (int round = 0; round < 2; ++round) {
      shared.pool().memory().set_limit(round == 0 ? 1 : 0);
      shared.pool().memory().give_up_all();
      LatticeFermionD a, b;
      gaussian(a);
      b = shift(a, FORWARD, 0);
      must(toDouble(norm2(shift(b, BACKWARD, 0) - a)) == 0);
    }
    shared.pool().memory().set_limit(40000);  // enough for some
    RNG::setrn(seed);
    steps(find);
  });
}

namespace {

/// All sites have the values of the lower half of direction 0: the upper half sends nothing.
struct OfLowerHalf : MapFunc {
  multi1d<int> operator()(const multi1d<int>& site, int sign) const override {
    multi1d<int> source = site;
    if (sign > 0) source[0] %= Layout::lattSize()[0] / 2;
    return source;
  }
};

}  // namespace

TEST_CASE("a rank that is far behind finds each message as it was sent, and its memory is used again") {
  TESSERA_NEEDS_OTHER_PROCESSES();
  const auto found = tests::on_ranks<double>(2, [](jit::Communicator& ranks) {
    setenv("TESSERA_DEVICE", "cpu", 1);
    setenv("TESSERA_KEEP_HALOS", "0", 1);
    jit::reload_env();
    tests::share_out(Extents{2, 1, 1, 1});
    tests::create_lattice({64, 32, 2, 2});
    Map map;
    OfLowerHalf lower;
    map.make(lower);
    LatticeComplexD x, first;
    gaussian(first);
    const LatticeComplexD expected = map(first);
    must(toDouble(norm2(expected)) > 0);
    constexpr int kSteps = 40;
    std::vector<LatticeComplexD> y(kSteps);
    double wrong = 0, most = 0;
    jit::Memory& memory = jit::SharedMessages::instance().pool().memory();
    for (int round = 0; round < 3; ++round) {
      if (ranks.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(200));
      for (int i = 0; i < kSteps; ++i) {
        x = Real(i + 1) * first;
        y[static_cast<std::size_t>(i)] = map(x);
        (void)x.elem(0), (void)y[static_cast<std::size_t>(i)].elem(0);  // so that none waits
      }
      for (int i = 0; i < kSteps; ++i)
        wrong += toDouble(norm2(y[static_cast<std::size_t>(i)] - Real(i + 1) * expected));
      if (round == 0) most = static_cast<double>(memory.peak_bytes());
    }
    return std::vector<double>{wrong, most, static_cast<double>(memory.peak_bytes())};
  });
  for (const auto& rank : found) CHECK(rank[0] == 0);
  CHECK(found[0][1] >= 1024 * sizeof(ComplexD));
  for (const auto& rank : found) CHECK(rank[2] <= 2 * rank[1]);
}
