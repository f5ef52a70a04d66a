// Lattices shared out over ranks: whatever the grid of ranks, every site of every field and every sum has the bits of one
// rank.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "jit/comm/forwarded_ranks.hpp"
#include "jit/runtime.hpp"
#include "qdp.h"
#include "tests/counting_ranks.hpp"
#include "tests/qdp/many_ranks.hpp"
#include "tests/ranks.hpp"
#include "tests/sizes.hpp"

using namespace QDP;
using tests::check_same;
using tests::Extents;
using tests::Findings;
using tests::Program;
using tests::Settings;

namespace {

/// Divided in all ways that Nd directions have.
const std::vector<Extents> kGrids{{1, 1, 1, 2}, {2, 1, 1, 1}, {1, 2, 1, 1}, {2, 2, 1, 1}, {4, 1, 1, 1}, {2, 2, 2, 1}};

struct Reversed : MapFunc {
  multi1d<int> operator()(const multi1d<int>& x, int) const override {
    multi1d<int> y(Nd);
    for (int mu = 0; mu < Nd; ++mu) y[mu] = Layout::lattSize()[mu] - 1 - x[mu];
    return y;
  }
};
/// The first coordinates of a slice all read one site.
struct ToOneSite : MapFunc {
  multi1d<int> operator()(const multi1d<int>& x, int) const override {
    multi1d<int> y = x;
    y[0] = 0;
    y[Nd - 1] = (x[Nd - 1] + x[0]) % Layout::lattSize()[Nd - 1];
    return y;
  }
};
struct Scattered : SetFunc {
  int operator()(const multi1d<int>& x) const override {
    int sum = 0;
    for (int mu = 0; mu < Nd; ++mu) sum = 7 * sum + x[mu];
    return sum % 3;
  }
  int numSubsets() const override { return 3; }
};
struct Slices : SetFunc {
  int operator()(const multi1d<int>& x) const override { return x[Nd - 1]; }
  int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
};

void shifts(Findings& find) {
  LatticeColorMatrix u;
  gaussian(u);
  LatticeReal r;
  random(r);
  find.field(u);
  find.field(r);
  for (int mu = 0; mu < Nd; ++mu)
    for (const int sign : {FORWARD, BACKWARD}) {
      LatticeColorMatrix v = shift(u, sign, mu);
      find.field(v);
      v = adj(u) * shift(u * r, sign, mu) + shift(adj(u), -sign, mu);
      find.field(v);
      for (int cb = 0; cb < 2; ++cb) {
        LatticeColorMatrix w = zero;
        w[rb[cb]] = shift(v, sign, mu) + u;
        find.field(w);
        w[rb[cb]] += r * shift(u, sign, mu);
        find.field(w);
      }
    }
}

void nested(Findings& find) {
  LatticeColorMatrix u, v;
  gaussian(u);
  gaussian(v);
  LatticeColorMatrix w;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu) {
      w = u * shift(v * shift(u, FORWARD, mu), FORWARD, nu) * adj(shift(shift(v, BACKWARD, nu), FORWARD, mu));
      find.field(w);
    }
  w = shift(shift(shift(u, FORWARD, 0), FORWARD, 0), FORWARD, 0);
  find.field(w);
  for (int mu = 0; mu < Nd; ++mu) u = shift(u, FORWARD, mu);
  find.field(u);
  u[rb[0]] = v * shift(u, BACKWARD, Nd - 1);
  find.field(u);
  v = v + shift(v, FORWARD, 0) * shift(v, BACKWARD, Nd - 1);
  find.field(v);
}

void fermions(Findings& find) {
  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  LatticeFermion psi, chi;
  gaussian(psi);
  for (int cb = 0; cb < 2; ++cb) {
    chi = zero;
    for (int mu = 0; mu < std::min(Nd, 4); ++mu)
      chi[rb[cb]] += u[mu] * shift(psi, FORWARD, mu) + shift(adj(u[mu]) * (Gamma(1 << mu) * psi), BACKWARD, mu);
    find.field(chi);
  }
  LatticeHalfFermion half = spinProjectDir0Plus(psi), moved;
  moved = shift(half, FORWARD, 0);
  find.field(moved);
  LatticeFermionF single = psi;
  LatticeFermion both = psi + shift(single, BACKWARD, Nd - 1);
  find.field(both);
}

void sums(Findings& find) {
  LatticeColorMatrix u;
  gaussian(u);
  LatticeReal r;
  random(r);
  find.sum(sum(trace(u)));
  find.sum(norm2(u));
  find.sum(norm2(u, rb[1]));
  find.sum(innerProduct(u, shift(u, FORWARD, 0)));
  find.sum(sum(real(trace(u * shift(u, BACKWARD, Nd - 1))), rb[0]));
  find.sum(globalMax(r));
  find.sum(globalMin(shift(r, FORWARD, Nd - 1) - r));
  const Set slices{Slices()}, scattered{Scattered()};
  for (const Set* set : {&slices, &scattered}) {
    const multi1d<DComplex> by_subset = sumMulti(trace(u * shift(u, FORWARD, 0)), *set);
    for (int i = 0; i < by_subset.size(); ++i) find.sum(by_subset[i]);
  }
  multi1d<int> site(Nd);
  for (int mu = 0; mu < Nd; ++mu) site[mu] = Layout::lattSize()[mu] - 1;
  find.sum(peekSite(r, site));
  find.sum(peekSite(LatticeReal(r * shift(r, FORWARD, 0)), site));
  site = 0;
  pokeSite(r, Real(17), site);
  find.field(r);
  LatticeReal moved = shift(r, BACKWARD, 0);
  find.field(moved);
  for (const Subset& s : {all, rb[0], rb[1], rb3[1]}) find.sum(Real(static_cast<double>(globalSites(s))));
}

void maps_and_sets(Findings& find) {
  LatticeComplex x;
  gaussian(x);
  const Map reversed{Reversed()}, to_one_site{ToOneSite()};
  const Set scattered{Scattered()};
  LatticeComplex y;
  y = reversed(x) + x;
  find.field(y);
  y = to_one_site(x * y);
  find.field(y);
  for (int i = 0; i < scattered.numSubsets(); ++i) {
    y[scattered[i]] = shift(x, FORWARD, Nd - 1) + reversed(shift(x, BACKWARD, 0));
    find.field(y);
    y[scattered[i]] *= to_one_site(reversed(x));
    find.field(y);
  }
  LatticeInteger number = Layout::latticeCoordinate(0) + 10 * Layout::latticeCoordinate(Nd - 1);
  find.field(number);
  LatticeInteger moved = shift(number, FORWARD, 0);
  find.field(moved);
  LatticeBoolean flag = shift(number > 12, BACKWARD, Nd - 1);
  find.field(flag);
  LatticeReal chosen = where(flag, Real(1.0), LatticeReal(shift(real(x), FORWARD, 0)));
  find.field(chosen);
}

/// Fields in storages of fewer words, of three colours whatever the build has: words travel as they are.
void kept_fields(Findings& find) {
  using Matrices = OLattice<PScalar<PColorMatrix<RComplex<REAL>, 3>>>;
  LatticeReal factor;
  random(factor);
  factor += Real(0.5);
  LatticeInteger sum = 0;
  for (int mu = 0; mu < Nd; ++mu) sum += Layout::latticeCoordinate(mu) * (mu + 1);
  const LatticeBoolean some = (sum & 1) == 0, others = (sum & 2) == 0;
  for (const FieldStorage storage :
       {FieldStorage::two_rows, FieldStorage::two_rows_scaled, FieldStorage::two_rows_phased, FieldStorage::half,
        FieldStorage::two_rows_scaled_half}) {
    const auto made = [&] {
      Matrices u;
      gaussian(u);
      const auto entry = [&](int row, int c) { return LatticeComplex(peekColor(u, row, c % 3)); };
      for (int c = 0; c < 3; ++c) {
        LatticeComplex z = conj(entry(0, c + 1) * entry(1, c + 2) - entry(0, c + 2) * entry(1, c + 1));
        if (storage != FieldStorage::two_rows) z = factor * z;
        if (storage == FieldStorage::two_rows_phased) z = cmplx(factor, factor) * z;
        pokeColor(u, z, 2, c);
      }
      return u;
    };
    Matrices a(storage), b(storage), w(storage);
    a = made(), b = made();
    const auto look = [&] { find.field(Matrices(w)); };
    for (int mu = 0; mu < Nd; ++mu) {
      w = shift(a, FORWARD, mu), look();
      w = shift(shift(w, FORWARD, mu), BACKWARD, Nd - 1), look();
      w = where(some, shift(a, BACKWARD, mu), b), look();
      w = where(some, shift(where(others, a, b), FORWARD, mu), a), look();
      w[rb[mu % 2]] = shift(b, FORWARD, mu), look();
      find.field(Matrices(a * shift(adj(b), BACKWARD, mu) + shift(a * b, FORWARD, mu)));
      find.sum(norm2(w - shift(a, FORWARD, mu)));
    }
  }
}

}  // namespace

TEST_CASE("fields in fewer words") { check_same({4, 4, 4, 8}, kGrids, kept_fields); }
TEST_CASE("shifts of fields and of expressions") { check_same({4, 4, 4, 8}, kGrids, shifts); }
TEST_CASE("shifts inside of shifts") { check_same({4, 4, 2, 4}, kGrids, nested); }
TEST_CASE("fermions") { check_same({4, 2, 2, 8}, kGrids, fermions); }
TEST_CASE("sums and single sites") { check_same({4, 4, 4, 8}, kGrids, sums); }
TEST_CASE("maps and sets of the user") { check_same({4, 4, 2, 4}, kGrids, maps_and_sets); }
TEST_CASE("ranks with other lanes, and on other devices") {
  const Settings lanes = [](int rank) { setenv("TESSERA_LANES", rank % 2 == 0 ? "16" : "8", 1); };
  const Settings fewer_lanes = [](int) { setenv("TESSERA_LANES", "4", 1); };
  const Settings devices = [](int rank) {
    if (rank % 2 == 1) setenv("TESSERA_DEVICE", "sim", 1);
  };
  const Settings spilling = [](int) {
    setenv("TESSERA_DEVICE", "sim", 1);
    setenv("TESSERA_SPILL", "1", 1);
  };
  std::vector<Settings> settings{lanes, fewer_lanes};
  const char *const device = std::getenv("TESSERA_DEVICE"), *const spills = std::getenv("TESSERA_SPILL");
  const bool are_there = device != nullptr && std::string(device) == "sim" && spills != nullptr;
  if (!are_there) {  // where all ranks are on simulated GPUs that spill, these would change nothing
    settings.push_back(devices);
    settings.push_back(spilling);
  }
  for (const Program program : {shifts, nested, fermions, sums, maps_and_sets, kept_fields})
    check_same({4, 4, 4, 8}, {{1, 1, 1, 2}, {2, 2, 1, 1}}, program, settings);
}
TEST_CASE("where other directions fill the lanes, whole groups travel, from and to the memory of messages") {
  for (const Program program : {shifts, nested, fermions, sums, maps_and_sets})
    check_same({16, 8, 4, 4}, {{1, 1, 1, 2}, {1, 1, 2, 1}, {1, 1, 2, 2}}, program);
}
TEST_CASE("ranks of one machine side by side") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("grids of ranks written out");
  const tests::Machines two(2);
  for (const Program program : {shifts, nested, sums, maps_and_sets})
    check_same({4, 8, 4, 4}, {{2, 2, 1, 1}, {2, 4, 1, 1}}, program);
  const auto places = tests::on_ranks<int>(4, [](jit::Communicator&) {
    tests::share_out(Extents(2, 2, 1, 1));
    tests::create_lattice({4, 8, 4, 4});
    const multi1d<int>& place = Layout::nodeCoord();
    return std::vector{place[0], place[1]};
  });
  CHECK(places == std::vector<std::vector<int>>{{0, 0}, {0, 1}, {1, 0}, {1, 1}});
}
TEST_CASE("boxes of odd extents, and of one site in a direction") {
  for (const Program program : {shifts, nested, sums, maps_and_sets, kept_fields}) {
    check_same({6, 3, 2, 3}, {{2, 1, 1, 1}, {2, 3, 1, 1}, {6, 1, 1, 1}}, program);
    check_same({2, 2, 2, 2}, {{2, 2, 1, 1}, {1, 2, 2, 2}}, program);
  }
}

namespace {

/// Messages and bytes that each rank sends in the second run of a statement; the first also agrees on what will be sent.
template <class Statement>
std::vector<std::vector<double>> sent(const Extents& extents, const Extents& grid, Statement statement) {
  return tests::on_ranks<double>(tests::ranks_of(grid), [&](jit::Communicator&) {
    setenv("TESSERA_KEEP_HALOS", "0", 1);        // what it needs, not what has changed
    auto* counted = new tests::CountedMessages;  // until the process ends
    tests::share_out(grid);
    tests::create_lattice(extents);
    multi1d<LatticeColorMatrix> u(Nd);
    for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
    LatticeFermion psi, chi = zero;
    gaussian(psi);
    statement(u, psi, chi);
    counted->reset();
    statement(u, psi, chi);
    return std::vector<double>{static_cast<double>(counted->messages), static_cast<double>(counted->bytes)};
  });
}

using Links = multi1d<LatticeColorMatrix>;
constexpr double kReal = sizeof(Real().elem().elem().elem().elem());

}  // namespace

TEST_CASE("a statement sends one message to each neighbour and stage, with projected spinors only") {
  TESSERA_NEEDS_QCD("the hop");
  const auto hop = [](Links& u, LatticeFermion& psi, LatticeFermion& chi) {
    chi[rb[0]] = spinReconstructDir0Minus(u[0] * shift(spinProjectDir0Minus(psi), FORWARD, 0)) +
                 spinReconstructDir0Plus(shift(adj(u[0]) * spinProjectDir0Plus(psi), BACKWARD, 0)) +
                 spinReconstructDir3Minus(u[3] * shift(spinProjectDir3Minus(psi), FORWARD, 3)) +
                 spinReconstructDir3Plus(shift(adj(u[3]) * spinProjectDir3Plus(psi), BACKWARD, 3));
  };
  const auto check = [&](const Extents& extents, const Extents& grid, auto statement, double messages, double reals) {
    for (const auto& rank : sent(extents, grid, statement)) {
      CAPTURE(detail::to_string(grid));
      CHECK(rank[0] == messages);
      CHECK(rank[1] == reals * kReal);
    }
  };
  // 12 complex numbers for each site of a face on one checkerboard and direction, to one neighbour or to two.
  check({8, 4, 8, 8}, {1, 1, 1, 2}, hop, 1, 24 * 8 * 4 * 8 / 2);
  check({8, 4, 8, 16}, {1, 1, 1, 4}, hop, 2, 24 * 8 * 4 * 8 / 2);
  check({8, 4, 8, 8}, {2, 1, 1, 2}, hop, 2, 24 * (4 * 8 * 4 + 4 * 4 * 8) / 2);
  // Nothing leaves where there is one rank in the directions of the shifts.
  check({8, 4, 8, 8}, {1, 2, 1, 1}, hop, 0, 0);
  // A covariant derivative: the field forward, its product with a link backward.
  check(
      {8, 4, 8, 8}, {1, 1, 1, 2},
      [](Links& u, LatticeFermion& psi, LatticeFermion& chi) {
        chi = u[3] * shift(psi, FORWARD, 3) - shift(adj(u[3]) * psi, BACKWARD, 3);
      },
      1, 2 * 24 * 8 * 4 * 8);
  // A plaquette: links in one stage. A staple that is moved: two.
  check(
      {8, 4, 8, 8}, {1, 1, 1, 2},
      [](Links& u, LatticeFermion&, LatticeFermion& chi) {
        LatticeColorMatrix p = u[0] * shift(u[3], FORWARD, 0) * adj(shift(u[0], FORWARD, 3)) * adj(u[3]);
        chi = zero;
      },
      1, 18 * 8 * 4 * 8);
  check(
      {8, 4, 8, 8}, {1, 1, 1, 2},
      [](Links& u, LatticeFermion&, LatticeFermion& chi) {
        LatticeColorMatrix p = shift(adj(u[3]) * u[0] * shift(u[3] * shift(u[0], FORWARD, 3), FORWARD, 0), BACKWARD, 3);
        chi = zero;
      },
      2, 2 * 18 * 8 * 4 * 8);
}

namespace {

/// For each message that is waited for: kernels that were launched since it was expected.
class WatchedRanks : public jit::ForwardedRanks {
 public:
  WatchedRanks(std::unique_ptr<jit::Communicator> ranks, std::vector<double>& launches)
      : ForwardedRanks(std::move(ranks)), launches_(launches) {}
  std::unique_ptr<jit::Message> incoming(void* data, std::size_t bytes, int from, jit::Length length) override {
    return std::make_unique<Watched>(ForwardedRanks::incoming(data, bytes, from, length), launches_);
  }

 private:
  struct Watched : jit::Message {
    Watched(std::unique_ptr<jit::Message> m, std::vector<double>& l) : message(std::move(m)), launches(l) {}
    void start() override {
      message->start();
      waits = true;
      before = jit::Runtime::instance().launches();
    }
    bool done() override { return false; }  // it never comes early
    void wait() override {
      if (std::exchange(waits, false))
        launches.push_back(static_cast<double>(jit::Runtime::instance().launches() - before));
      message->wait();
    }
    std::size_t length() const override { return message->length(); }
    std::unique_ptr<jit::Message> message;
    std::vector<double>& launches;
    bool waits = false;
    std::int64_t before = 0;
  };

  std::vector<double>& launches_;
};

/// Kernels that run on each rank between the start of its messages and the end of waiting for the first of them.
std::vector<std::vector<double>> kernels_while_messages_travel(bool overlap) {
  return tests::on_ranks<double>(2, [&](jit::Communicator&) {
    setenv("TESSERA_OVERLAP", overlap ? "1" : "0", 1);
    auto* launches = new std::vector<double>;  // until the process ends
    auto ranks = jit::replace_process_communicator(nullptr);
    jit::replace_process_communicator(std::make_unique<WatchedRanks>(std::move(ranks), *launches));
    tests::share_out(Extents{1, 1, 1, 2});
    tests::create_lattice({8, 8, 4, 8});
    LatticeComplex x, y;
    gaussian(x);
    y = shift(x, FORWARD, 3) + x;
    launches->clear();  // the ranks have agreed on what they send
    y = shift(x, FORWARD, 3) + x;
    return *launches;
  });
}

}  // namespace

TEST_CASE("inner sites are computed while messages travel, and before if that is asked for") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("the last direction is divided");
  for (const auto& launches : kernels_while_messages_travel(true)) {
    REQUIRE(launches.size() == 1);
    CHECK(launches[0] >= 1);
  }
  for (const auto& launches : kernels_while_messages_travel(false)) {
    REQUIRE(launches.size() == 1);
    CHECK(launches[0] == 0);
  }
}

TEST_CASE("a site that one rank alone writes is seen by the next statement of the others") {
  const auto sums = tests::on_ranks<double>(2, [](jit::Communicator& comm) {
    tests::create_lattice({4, 4, 4, 4});
    LatticeReal x = 1.0, y;
    y = shift(x, FORWARD, Nd - 1);
    const double before = toDouble(sum(y));
    if (comm.rank() == 1) x.elem(0).elem().elem().elem() = 3.0;
    y = shift(x, FORWARD, Nd - 1);
    return std::vector<double>{before, toDouble(sum(y))};
  });
  const double volume = tests::volume({4, 4, 4, 4});
  for (const auto& rank : sums) CHECK(rank == std::vector<double>{volume, volume + 2});
}

TEST_CASE("TESSERA_CHECK=1 names the sites if ranks ask for different ones") {
  for (const bool pokes : {false, true}) {
    const auto told = tests::texts_on_ranks(2, [&](jit::Communicator& comm) {
      setenv("TESSERA_CHECK", "1", 1);
      tests::create_lattice({4, 4, 4, 4});
      LatticeReal x = 1.0;
      multi1d<int> site(Nd);
      site = 1;
      const Real before = peekSite(x, site);  // all the same: no objection
      site[0] = 2 * comm.rank();
      try {
        if (pokes)
          pokeSite(x, before, site);
        else
          peekSite(x, site);
      } catch (const jit::UserError& error) {
        return std::string(error.what());
      }
      return std::string("nothing");
    });
    for (const std::string& text : told)
      for (const char* part : {"rank 0 ", "rank 1 ", pokes ? "pokeSite" : "peekSite", "(0, 1", "(2, 1"})
        CHECK_MESSAGE(text.find(part) != std::string::npos, text);
  }
}

TEST_CASE("TESSERA_CHECK=1 names the statements if ranks are not at the same one") {
  const auto told = tests::texts_on_ranks(2, [](jit::Communicator& comm) {
    setenv("TESSERA_CHECK", "1", 1);
    tests::create_lattice({4, 4, 4, 4});
    LatticeReal x = 1.0, y = x + x;
    y = shift(x, FORWARD, Nd - 1);
    try {
      if (comm.rank() == 0)
        y = x * shift(x, FORWARD, Nd - 1);
      else
        y = norm2(x);
    } catch (const jit::UserError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  });
  for (const std::string& text : told)
    for (const char* part : {"rank 0 ", "rank 1 ", "statement 2, mul(", "statement 2, local_norm2("})
      CHECK(text.find(part) != std::string::npos);
}
