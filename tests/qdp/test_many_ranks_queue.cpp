// Statements that need values of other ranks wait as others do: what they send leaves at once, and what follows joins them.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/queue.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/qdp/many_ranks.hpp"
#include "tests/ranks.hpp"

using namespace QDP;
using tests::check_same;
using tests::Extents;
using tests::Findings;

namespace {

constexpr int kMu = 0;  // two ranks share out the first direction, which there is in any number of dimensions
constexpr int kNu = Nd - 1;

const detail::QueueCounters& counters() { return detail::Queue::instance().counters(); }

/// Of two ranks.
template <class Program>
std::vector<std::vector<double>> on_two(Program program) {
  return tests::on_ranks<double>(2, [&](jit::Communicator& comm) {
    tests::share_out(Extents{2, 1, 1, 1});
    tests::create_lattice({8, 4, 4, 4});
    return program(comm);
  });
}

/// The bits of one rank.
template <class T>
double only(const std::vector<std::vector<T>>& ranks, std::size_t i) {
  for (const auto& rank : ranks) REQUIRE(rank.at(i) == ranks[0].at(i));
  return ranks[0][i];
}

void use_gpus() { setenv("TESSERA_DEVICE", "sim", 1); }

/// An iteration of conjugate gradients with a hopping term, each of whose kernels has more than one statement.
void iterations(Findings& find) {
  LatticeFermion p, r, x = zero;
  LatticeColorMatrix u;
  random(u), gaussian(p), gaussian(r);
  for (int i = 0; i < 3; ++i) {
    LatticeFermion hop, ap;
    hop[rb[1]] = u * shift(p, FORWARD, kMu) + shift(adj(u) * p, BACKWARD, kMu);
    ap[rb[0]] = p - Real(0.1) * (u * shift(hop, FORWARD, kMu) + shift(adj(u) * hop, BACKWARD, kNu));
    const Double energy = norm2(ap, rb[0]);
    r[rb[0]] -= Real(0.3) * ap;
    const Double rr = norm2(r, rb[0]);
    x[rb[0]] += Real(0.2) * p;
    p[rb[0]] = r + Real(0.7) * p;
    find.sum(energy), find.sum(rr);
  }
  find.sum(innerProduct(shift(x, FORWARD, kMu), r));
  find.sum(norm2(shift(shift(x, FORWARD, kMu), FORWARD, kNu) + x));
  find.field(x), find.field(p), find.field(r);
}

}  // namespace

TEST_CASE("iterations with hopping terms: the bits of one rank") {
  check_same({8, 4, 4, 8}, {{1, 1, 1, 2}, {2, 1, 1, 1}, {2, 1, 1, 2}, {2, 2, 2, 1}}, iterations);
}
TEST_CASE("iterations with hopping terms: boxes of odd extents") {
  check_same({6, 2, 2, 4}, {{2, 1, 1, 1}, {2, 1, 1, 4}}, iterations);
}
TEST_CASE("iterations with hopping terms: messages before all, other lanes, other devices") {
  const std::vector<Extents> grids{{2, 1, 1, 1}, {2, 1, 1, 2}};
  check_same({4, 4, 4, 8}, grids, iterations,
             {[](int) { setenv("TESSERA_OVERLAP", "0", 1); },
              [](int rank) { setenv("TESSERA_LANES", rank % 2 ? "4" : "8", 1); },
              [](int rank) { rank == 1 ? use_gpus() : void(); }});
}
TEST_CASE("iterations with hopping terms: statement by statement where kernels would be too large for the device") {
  check_same({8, 4, 4, 4}, {{2, 1, 1, 1}}, iterations, [](int) {
    use_gpus();
    setenv("TESSERA_SPILL", "1", 1);
  });
}

namespace {
/// Fields that are read by one statement and stored by the next; their number is more than the memory holds.
void narrow(Findings& find) {
  std::vector<LatticeRealD> a(6);
  for (auto& one : a) random(one);
  LatticeRealD p, x, y, z;
  random(p), random(x), random(z);
  for (const auto& one : a) (void)one.elem(0);
  jit::Memory& memory = jit::Memory::instance();
  memory.release_kept();
  if (&memory != &jit::Memory::host()) memory.set_limit(7 * Layout::sitesOnNode() * sizeof(double));
  for (int i = 0; i < 2; ++i) {
    y = x + shift(p, FORWARD, kMu);
    z = z + y * a[2];  // meanwhile x leaves
    x = y * a[0] + a[1];
    p = z * a[3] + y * a[4];
    z = x - a[5];
    jit::run_deferred();
  }
  find.field(x), find.field(y), find.field(z), find.field(p);
  memory.set_limit(0);
}
}  // namespace
TEST_CASE("programs with messages whose fields are too many for the device's memory run statement by statement") {
  check_same({16, 16, 4, 4}, {{2, 1, 1, 1}}, narrow, [](int) {
    use_gpus();
    setenv("TESSERA_SPILL", "1", 1);  // fields leave between statements
  });
}

TEST_CASE(
    "what follows a statement with messages is computed with it, its sum too, and a value that nobody reads is not stored") {
  const auto found = on_two([](jit::Communicator&) {
    LatticeComplexD r, p;
    random(r), random(p);
    const auto step = [&](std::vector<double>& told) {
      const auto before = counters();
      LatticeComplexD rr = r;
      {
        const LatticeComplexD ap = shift(p, FORWARD, kMu) + p;
        rr -= Real(0.5) * ap;
      }
      told.push_back(toDouble(norm2(rr)));
      told.push_back(static_cast<double>(counters().fused - before.fused));
      told.push_back(static_cast<double>(counters().dropped - before.dropped));
    };
    std::vector<double> told;
    step(told);
    const LatticeComplexD by_itself = r - Real(0.5) * (shift(p, FORWARD, kMu) + p);
    (void)by_itself.elem(0);
    told.push_back(toDouble(norm2(by_itself)));
    // A GPU's sum would have to wait for each part.
    told.push_back(jit::Runtime::instance().waits_for_sums() ? 2 : 3);
    return told;
  });
  CHECK(only(found, 0) == only(found, 3));
  CHECK(only(found, 1) == only(found, 4));
  CHECK(only(found, 2) == 1);
}

TEST_CASE("a sum of what comes from other ranks is found without storing that") {
  const auto found = on_two([](jit::Communicator&) {
    LatticeComplexD a, b;
    random(a), random(b);
    const LatticeComplexD product = a * shift(b, FORWARD, kMu);
    std::vector<double> told{toDouble(norm2(product))};
    (void)toDouble(norm2(a * shift(b, FORWARD, kMu)));  // ranks agree, buffers are made
    const std::size_t before = jit::Runtime::instance().peak_field_bytes();
    told.push_back(toDouble(norm2(a * shift(b, FORWARD, kMu))));
    const std::size_t more = jit::Runtime::instance().peak_field_bytes() - before;
    told.push_back(jit::Runtime::instance().waits_for_sums() ? 0 : static_cast<double>(more));
    LatticeRealD largest = real(a * shift(b, FORWARD, kMu));
    told.push_back(toDouble(globalMax(largest)));
    told.push_back(toDouble(globalMax(real(a * shift(b, FORWARD, kMu)))));
    return told;
  });
  CHECK(only(found, 0) == only(found, 1));
  CHECK(only(found, 2) == 0);
  CHECK(only(found, 3) == only(found, 4));
}

TEST_CASE("a rank may look alone at what waits, while the others are elsewhere") {
  const auto found = on_two([](jit::Communicator& comm) {
    LatticeRealD x, y, z;
    random(x);
    y = x + shift(x, FORWARD, kMu);
    z = y + shift(x, BACKWARD, kMu);
    // Which the other rank is told before it looks at anything, so before it computes.
    double seen = comm.rank() == 0 ? z.elem(0).elem().elem().elem() : 0;
    comm.broadcast(&seen, sizeof seen, 0);
    const LatticeRealD once_more = x + shift(x, FORWARD, kMu) + shift(x, BACKWARD, kMu);
    double expected = once_more.elem(0).elem().elem().elem();
    comm.broadcast(&expected, sizeof expected, 0);
    return std::vector<double>{seen, expected};
  });
  CHECK(only(found, 0) == only(found, 1));
}

TEST_CASE("values that nobody reads any more are received all the same, and those after them are right") {
  const auto found = on_two([](jit::Communicator&) {
    LatticeRealD x, y;
    random(x);
    y = x + shift(x, FORWARD, kMu);
    std::vector<double> told{toDouble(norm2(y))};
    for (int i = 0; i < 3; ++i) {
      const LatticeRealD never = x + Double(i) * shift(x, FORWARD, kMu);
    }
    y = x + shift(x, FORWARD, kMu);
    told.push_back(toDouble(norm2(y)));
    return told;
  });
  CHECK(only(found, 0) == only(found, 1));
}

TEST_CASE("letters are looked at in the order in which they come, whichever statement is wanted first") {
  // Room for few letters, so that the later ones say that earlier ones are not needed any more.
  for (const char* const room : {"0", "3000", "9000", "100000"}) {
    CAPTURE(std::string(room));
    const auto found = on_two([&](jit::Communicator&) {
      setenv("TESSERA_KEEP_HALOS", room, 1);
      jit::reload_env();
      const int n = 6;
      std::vector<LatticeRealD> x(n), ahead(n);
      for (auto& one : x) random(one);
      double wrong = 0;
      for (int round = 0; round < 12; ++round) {
        LatticeRealD a, b, c, d;
        const auto at = [&](int i) -> LatticeRealD& { return x[static_cast<std::size_t>((i * round + i) % n)]; };
        a = shift(at(1), FORWARD, kMu);
        b[rb[0]] = shift(at(2), FORWARD, kMu);
        c = shift(at(3), BACKWARD, kMu) + at(1);
        d[rb[1]] = shift(at(4), FORWARD, kMu) + shift(at(2), BACKWARD, kMu);
        const auto look = [](const LatticeRealD& f) { (void)f.elem(0); };
        switch (round % 4) {  // first what comes last
          case 0:
            look(d), look(a);
            break;
          case 1:
            look(c), look(b);
            break;
          case 2:
            look(b), look(d);
            break;
          default:
            look(d), look(c);
            break;
        }
        const LatticeRealD back = shift(a, BACKWARD, kMu) - at(1);
        wrong += toDouble(norm2(back));
        LatticeRealD other;
        other[rb[1]] = shift(b, FORWARD, kNu) - shift(shift(at(2), FORWARD, kMu), FORWARD, kNu);
        wrong += toDouble(norm2(other, rb[1]));
        const LatticeRealD third = c - at(1) - shift(at(3), BACKWARD, kMu);
        wrong += toDouble(norm2(third));
      }
      return std::vector<double>{wrong};
    });
    CHECK(only(found, 0) < 1e-20);
  }
}

TEST_CASE(
    "a statement that fails while its messages travel loses what it should have stored, and the next ones are right") {
  const auto found = on_two([](jit::Communicator&) {
    LatticeRealD x, y, z;
    random(x);
    const Double expected = norm2(x);
    std::vector<double> told;
    y = shift(x, FORWARD, kMu);
    z = y * y;
    jit::Memory& memory = jit::Memory::instance();
    memory.release_kept();
    memory.set_limit(1);
    try {
      told.push_back(toDouble(norm2(z)));
    } catch (const jit::DeviceError&) {
      told.push_back(-1);
    }
    memory.set_limit(0);
    for (const LatticeRealD* lost : {&y, &z}) try {
        (void)lost->elem(0);
        told.push_back(0);
      } catch (const std::exception& error) {
        told.push_back(std::string(error.what()).find("it failed") != std::string::npos ? -1 : 0);
      }
    y = shift(x, FORWARD, kMu);
    told.push_back(toDouble(norm2(y)) == toDouble(expected) ? 1 : 0);
    return told;
  });
  for (std::size_t i = 0; i < 3; ++i) CHECK(only(found, i) == -1);
  CHECK(only(found, 3) == 1);
}
