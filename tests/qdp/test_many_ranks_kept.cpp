// What another rank has from an earlier message is not sent again; what has changed is, whoever has changed it and how.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "jit/gpu/gpu_device.hpp"
#include "jit/gpu/process_device.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/message_memory.hpp"
#include "jit/support/env.hpp"
#include "tests/counting_ranks.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/qdp/many_ranks.hpp"
#include "tests/ranks.hpp"
#include "tests/sizes.hpp"

using namespace QDP;
using tests::check_same;
using tests::Extents;
using tests::Findings;
using tests::must;

namespace {

constexpr double kReal = sizeof(Real().elem().elem().elem().elem());
/// Colour matrices of a face of 8 x 4 x 8 sites.
constexpr double kFace = 2 * Nc * Nc * kReal * 8 * 4 * 8;
/// Behind a message that is kept; what is sent in the place of one with one value.
constexpr double kPostscript = 16, kNote = 32;

void use_gpus() { setenv("TESSERA_DEVICE", "sim", 1); }
void lie_on_gpus() {
  use_gpus();
  setenv("TESSERA_GPU_MPI", "1", 1);
}

/// Bytes that each of two ranks sends in each step of a program, which calls its argument after each.
template <class Program>
std::vector<std::vector<double>> sent_in(Program program) {
  return tests::on_ranks<double>(2, [&](jit::Communicator&) {
    auto* counted = new tests::CountedMessages;  // until the process ends
    tests::share_out(Extents{1, 1, 1, 2});
    tests::create_lattice({8, 4, 8, 8});
    std::vector<double> sent;
    {  // to agree on what statements need takes messages, too; what has been of use is kept again
      LatticeColorMatrix u = zero, v;
      for (int i = 0; i < 2; ++i) {
        v = shift(u, FORWARD, 3);
        v = shift(u, BACKWARD, 3);
        v[rb[0]] = shift(u, FORWARD, 3);
        v = shift(u, FORWARD, 3) * shift(u, BACKWARD, 3);
      }
    }
    counted->reset();
    program([&] {
      sent.push_back(static_cast<double>(counted->bytes));
      counted->reset();
    });
    return sent;
  });
}

}  // namespace

TEST_CASE("an unchanged field is sent once, in whatever statements it is shifted") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto sent = sent_in([](const auto& step) {
    LatticeColorMatrix u, v, w;
    gaussian(u);
    v = shift(u, FORWARD, 3);
    step();  // 0
    v = shift(u, FORWARD, 3);
    step();  // 1: again
    w = v * adj(shift(u, FORWARD, 3)) + u;
    step();  // 2: in another statement
    v = shift(u, BACKWARD, 3);
    step();  // 3: other sites of it
    w = shift(u, FORWARD, 3) * shift(u, BACKWARD, 3);
    step();  // 4: both at once
    v[rb[0]] = shift(u, FORWARD, 3);
    step();  // 5: fewer sites
    w = shift(adj(u), FORWARD, 3);
    step();  // 6: another expression of it
    LatticeColorMatrix copy = u;
    w = shift(copy, FORWARD, 3);
    step();  // 7: another field with the same values
    u = w;
    w = shift(u, FORWARD, 3);
    step();  // 8: it has changed
    u[rb[1]] *= Real(2);
    w = shift(u, FORWARD, 3);
    step();  // 9: a part of it has
    w = shift(u, FORWARD, 3);
    step();  // 10: it was not kept after so many changes
    w = shift(u, FORWARD, 3);
    step();  // 11
  });
  for (const auto& rank : sent) {
    REQUIRE(rank.size() == 12);
    CHECK(rank[0] == kFace + kPostscript);
    CHECK(rank[1] == kNote);
    CHECK(rank[2] == kNote);
    CHECK(rank[3] == kFace + kPostscript);
    CHECK(rank[4] == kNote + 16);  // two values
    CHECK(rank[5] == kFace / 2 + kPostscript);
    CHECK(rank[6] == kFace + kPostscript);
    for (const int changed : {7, 8, 9}) CHECK(rank[static_cast<std::size_t>(changed)] >= kFace);
    CHECK(rank[10] == kFace + kPostscript);
    CHECK(rank[11] == kNote);
  }
}

TEST_CASE("numbers in an expression are part of what it is") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto sent = sent_in([](const auto& step) {
    LatticeColorMatrix u, v;
    gaussian(u);
    for (const double x : {0.5, 0.5, 0.25}) {
      v = shift(Real(x) * u, FORWARD, 3);
      step();
    }
    must(toDouble(norm2(v - Real(0.25) * shift(u, FORWARD, 3))) == 0);
  });
  for (const auto& rank : sent) CHECK(rank == std::vector{kFace + kPostscript, kNote, kFace + kPostscript});
}

TEST_CASE("of several values those travel that the other rank does not have") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto sent = sent_in([](const auto& step) {
    LatticeColorMatrix u, v, w, up;
    gaussian(u);
    gaussian(v);
    v[rb[0]] = u;
    up = shift(u, FORWARD, 3);
    step();  // 0
    for (int i = 0; i < 2; ++i) {
      w = shift(v, FORWARD, 3) * adj(shift(u, FORWARD, 3)) - shift(LatticeColorMatrix(v * adj(u)), FORWARD, 3);
      must(toDouble(norm2(w)) == 0);
      w = shift(v, FORWARD, 3) * shift(u, FORWARD, 3);
      step();  // 1, 2
    }
    w -= shift(LatticeColorMatrix(v * u), FORWARD, 3);
    must(toDouble(norm2(w)) == 0);
    step();  // 3
    v *= Real(0.5);
    w = shift(u, FORWARD, 3) + shift(v, FORWARD, 3) + shift(v, BACKWARD, 3);
    step();  // 4
    w -= up;
    w -= shift(v, FORWARD, 3);
    w -= shift(v, BACKWARD, 3);
    must(toDouble(norm2(w)) < 1e-8 * toDouble(norm2(up)));
  });
  for (const auto& rank : sent) {
    CHECK(rank[0] == kFace + kPostscript);
    CHECK(rank[2] <= kFace + 3 * (kNote + 8 + 16 * 3));  // the product is new, the factors are not
  }
}

TEST_CASE("what changes each time is soon not kept any more, and is again when it pays") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto sent = sent_in([](const auto& step) {
    LatticeColorMatrix u, v;
    gaussian(u);
    for (int i = 0; i < 4; ++i) {
      u *= Real(0.5);
      v = shift(u, FORWARD, 3);
      step();  // 0 to 3
    }
    v = shift(u, FORWARD, 3);
    step();  // 4: the fourth was not kept; this one is
    v = shift(u, FORWARD, 3);
    step();  // 5
    u *= Real(0.5);
    v = shift(u, FORWARD, 3);
    step();  // 6: kept at once
  });
  for (const auto& rank : sent)
    CHECK(rank == std::vector{kFace + kPostscript, kFace + kPostscript, kFace, kFace, kFace + kPostscript, kNote,
                              kFace + kPostscript});
}

TEST_CASE("a site written by one rank alone is seen by the other in the next statement, and only that rank sends") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  for (const char* way : {"element", "site"}) {
    CAPTURE(way);
    const bool by_element = std::string(way) == "element";
    const auto sent = sent_in([&](const auto& step) {
      LatticeColorMatrix u = zero, v;
      v = shift(u, FORWARD, 3);
      v = shift(u, FORWARD, 3);
      step();
      multi1d<int> x(Nd);
      x = 0;
      x[3] = 4;  // the first slice of rank 1, which rank 0 needs
      const bool mine = Layout::nodeNumber(x) == Layout::nodeNumber();
      if (by_element) {
        if (mine) u.elem(Layout::linearSiteIndex(x)).elem().elem(0, 0).real() = 17;
      } else {
        ColorMatrix one = Real(17);
        pokeSite(u, one, x);
      }
      v = shift(u, FORWARD, 3);
      step();
      --x[3];
      must(toDouble(real(peekColor(peekSite(v, x), 0, 0))) == 17);
      must(toDouble(norm2(v)) == (by_element ? 17. * 17 : 17. * 17 * Nc));
    });
    CHECK(sent[1][1] >= kFace);
    if (by_element) CHECK(sent[0][1] == kNote);
  }
}

namespace {

/// Room for two faces and a half on each of two ranks; fields are shifted in the given order. Whether each was there already;
/// `shifted(v, u)` is called behind each.
template <class Shifted>
std::vector<std::vector<double>> were_there(const std::vector<int>& order, Shifted shifted) {
  return tests::on_ranks<double>(2, [&](jit::Communicator&) {
    setenv("TESSERA_KEEP_HALOS", std::to_string(static_cast<int>(2.5 * kFace)).c_str(), 1);
    auto* counted = new tests::CountedMessages;  // until the process ends
    tests::share_out(Extents{1, 1, 1, 2});
    tests::create_lattice({8, 4, 8, 8});
    multi1d<LatticeColorMatrix> u(*std::max_element(order.begin(), order.end()) + 1);
    LatticeColorMatrix v;
    for (int i = 0; i < u.size(); ++i) gaussian(u[i]);
    std::vector<double> there;
    for (const int i : order) {
      counted->reset();
      v = shift(u[i], FORWARD, 3);
      there.push_back(static_cast<double>(counted->bytes) < kFace);
      shifted(v, u[i]);
    }
    return there;
  });
}

}  // namespace

TEST_CASE("the oldest go when there are too many, and are sent again") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto there = were_there({0, 0, 1, 0, 1, 2, 1, 2, 0, 1, 2, 0}, [](const auto& v, const auto& u) {
    must(toDouble(norm2(shift(v, BACKWARD, 3) - u)) == 0);  // that of v takes room, too
  });
  for (const auto& rank : there) CHECK(rank[1] == 1);
  for (const auto& rank : there) CHECK(std::count(rank.begin(), rank.end(), 0.) >= 4);
}

TEST_CASE("when the oldest has gone its room is there for the next ones") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const auto there = were_there({0, 0, 0, 1, 1, 2, 2, 3, 3, 2, 3, 2, 3}, [](const auto&, const auto&) {});
  // Two have room: each new one is sent once, and the last two are there whenever one of them is asked for.
  for (const auto& rank : there) CHECK(rank == std::vector<double>{0, 1, 1, 0, 1, 0, 1, 0, 1, 1, 1, 1, 1});
}

namespace {

/// Statements, elements, parts and exchanges of contents in any order, over fields that are shifted again and again.
void any_changes(Findings& find) {
  std::mt19937 random(11);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  multi1d<LatticeComplex> x(4);
  for (int i = 0; i < 4; ++i) gaussian(x[i]);
  LatticeComplex y = zero;
  multi1d<int> site(Nd);
  for (int step = 0; step < 120; ++step) {
    LatticeComplex& a = x[below(4)];
    LatticeComplex& b = x[below(4)];
    const int mu = below(Nd), sign = below(2) == 0 ? FORWARD : BACKWARD;
    for (int nu = 0; nu < Nd; ++nu) site[nu] = below(Layout::lattSize()[nu]);
    const Real number = Real(below(3) + 1) / Real(2);
    switch (below(12)) {
      case 0:
        if (Layout::nodeNumber(site) == Layout::nodeNumber())
          a.elem(Layout::linearSiteIndex(site)).elem().elem().real() = static_cast<float>(step);
        break;
      case 1:
        pokeSite(a, cmplx(number, Real(step)), site);
        break;
      case 2:
        a = shift(a, sign, mu);
        break;
      case 3:
        a[rb[below(2)]] = number * b;
        break;
      case 4:
        a = b;
        break;
      default:
        break;
    }
    switch (below(4)) {
      case 0:
        y = shift(a, sign, mu);
        break;
      case 1:
        y = number * a + shift(number * b, sign, mu) - shift(a, -sign, mu);
        break;
      case 2:
        y[rb[below(2)]] = shift(a, sign, mu) * shift(conj(a), sign, mu);
        break;
      default:
        y = shift(a * shift(b, sign, mu), FORWARD, below(Nd));
    }
    find.field(y);
  }
}

}  // namespace

TEST_CASE("any changes between statements: the same on every grid") {
  check_same({4, 4, 2, 8}, {{1, 1, 1, 2}, {2, 1, 1, 2}, {1, 2, 2, 1}, {1, 1, 1, 4}}, any_changes);
}
TEST_CASE("any changes between statements: little room, other lanes and devices") {
  const tests::Settings little = [](int) { setenv("TESSERA_KEEP_HALOS", "2000", 1); };
  const tests::Settings unlike = [](int rank) { setenv("TESSERA_KEEP_HALOS", rank == 0 ? "1M" : "0", 1); };
  const tests::Settings lanes = [](int rank) { setenv("TESSERA_LANES", rank % 2 == 0 ? "16" : "8", 1); };
  const tests::Settings spilling = [](int rank) {
    if (rank == 1) return;
    setenv("TESSERA_DEVICE", "sim", 1);
    setenv("TESSERA_SPILL", "1", 1);
  };
  const tests::Settings on_gpus = [](int) { lie_on_gpus(); };
  const tests::Settings leaving = [](int) {
    lie_on_gpus();
    setenv("TESSERA_SPILL", "1", 1);
  };
  const tests::Settings on_some = [](int rank) { rank == 1 ? lie_on_gpus() : use_gpus(); };
  check_same({4, 4, 2, 8}, {{1, 1, 1, 2}, {2, 1, 1, 2}}, any_changes,
             {little, unlike, lanes, spilling, on_gpus, leaving, on_some});
}
TEST_CASE("any changes between statements: whole groups, which lie where messages do") {
  check_same({16, 8, 4, 4}, {{1, 1, 1, 2}, {1, 1, 2, 1}}, any_changes);
}
TEST_CASE(
    "any changes between statements: whole groups, which lie where messages do, on GPUs that are short of memory") {
  const tests::Settings leaving = [](int) {
    lie_on_gpus();
    setenv("TESSERA_SPILL", "1", 1);
  };
  check_same({16, 8, 4, 4}, {{1, 1, 1, 2}, {1, 1, 2, 1}}, any_changes, leaving);
}

namespace {

/// Of two ranks: bytes that a GPU has sent to its host and got from it in one statement with a message, which is its second, and
/// kept messages that have left the GPU and come back by the end.
std::vector<std::vector<double>> copies(void (*settings)()) {
  return tests::on_ranks<double>(2, [&](jit::Communicator&) {
    setenv("TESSERA_SPILL", "0", 1);
    setenv("TESSERA_GPU_MPI", "0", 1);
    settings();
    jit::reload_env();
    tests::share_out(Extents{1, 1, 1, 2});
    tests::create_lattice({8, 8, 8, 8});
    const auto& gpu = dynamic_cast<jit::GpuDevice&>(jit::process_device());
    LatticeColorMatrix u, v, w;
    gaussian(u);
    v = shift(u, FORWARD, 3);
    u *= Real(2);
    const jit::GpuTraffic before = gpu.traffic();
    v = shift(u, FORWARD, 3);
    jit::run_deferred();
    const jit::GpuTraffic after = gpu.traffic();
    w = shift(v, FORWARD, 3);
    must(toDouble(norm2(v - shift(u, FORWARD, 3))) == 0);
    const jit::MessagePool& pool = jit::MessagePool::on_device();
    return std::vector{static_cast<double>(after.to_host.bytes - before.to_host.bytes),
                       static_cast<double>(after.to_device.bytes - before.to_device.bytes),
                       static_cast<double>(pool.left()), static_cast<double>(pool.returned())};
  });
}

}  // namespace

TEST_CASE("messages that lie on GPUs are not copied by way of the host, and leave when memory is short") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("direction 3 is cut");
  const double face = 2 * Nc * Nc * kReal * 8 * 8 * 8;
  for (const auto& rank : copies(use_gpus)) {
    CHECK(rank[0] >= face);
    CHECK(rank[1] >= face);
  }
  for (const auto& rank : copies(lie_on_gpus)) {
    CHECK(rank[0] < 1000);
    CHECK(rank[1] < 1000);
    CHECK(rank[2] == 0);
  }
  for (const auto& rank : copies([] {
         lie_on_gpus();
         setenv("TESSERA_SPILL", "1", 1);
       })) {
    CHECK(rank[2] > 0);
    CHECK(rank[3] > 0);
  }
}
