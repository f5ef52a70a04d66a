// What operators and forces send when the lattice is shared out over ranks: the messages of each neighbour are the
// statements with shifts through its face (stages), their bytes the fields under those shifts, each once however often it stands
// there in a statement.
//
// Counted below for ranks that cut the last direction t, from the formulas of lib/. F and B are the colour matrices that a
// statement needs from t + 1 and from t - 1: one message to the only neighbour of a ring of two ranks; with four one for F and
// one for B. s is any direction but t.
#include "lib/action/gauge_actions.hpp"
#include "lib/dirac/clover.hpp"
#include "lib/dirac/staggered.hpp"
#include "lib/smear/fat_links.hpp"
#include "lib/smear/stout.hpp"
#include "tests/counting_ranks.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/ranks.hpp"
#include "tests/sizes.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <tuple>
#include <vector>

using namespace QDP;
using namespace qcd;

namespace {

using Grid = std::vector<int>;
/// Makes what is to be counted, with all that it needs, and returns it.
using Prepare = std::function<std::function<void()>()>;

struct Sent {
  double messages = 0, bytes = 0;
};

/// Of each rank, the second time: at first ranks also agree on what they will send.
std::vector<std::vector<Sent>> sent(const std::vector<int>& extents, const Grid& grid, const Prepare& prepare) {
  return tests::on_ranks<Sent>(tests::ranks_of(grid), [&](jit::Communicator&) {
    setenv("TESSERA_KEEP_HALOS", "0", 1);        // what they need, not what has changed
    auto* counted = new tests::CountedMessages;  // until the process ends
    tests::share_out(grid);
    tests::use_lattice(extents);
    const std::function<void()> statements = prepare();
    statements();
    counted->reset();
    statements();
    return std::vector<Sent>{{static_cast<double>(counted->messages), static_cast<double>(counted->bytes)}};
  });
}

constexpr double kReal = sizeof(Real().elem().elem().elem().elem());
constexpr double kMatrix = 2 * 3 * 3 * kReal, kHalfSpinor = 2 * 2 * 3 * kReal, kVector = 2 * 3 * kReal;

/// Statements that need something from a neighbour; how many of them from both; and what they need.
struct Expected {
  int stages, both;
  double bytes;  ///< for a site of the face
};

/// On a face of 4 x 2 x 4 sites.
void check_sent(const Expected& expected, const Prepare& prepare) {
  const double face = 4 * 2 * 4;
  for (const auto& [extents, grid, messages] :
       {std::tuple{std::vector{4, 2, 4, 8}, Grid{1, 1, 1, 2}, expected.stages},
        {std::vector{4, 2, 4, 16}, Grid{1, 1, 1, 4}, expected.stages + expected.both}}) {
    CAPTURE(grid[3]);
    for (const auto& rank : sent(extents, grid, prepare)) {
      CHECK(rank[0].messages == messages);
      CHECK(rank[0].bytes == expected.bytes * face);
    }
  }
}

/// A force or the like of a gauge field.
Prepare of_field(const std::function<void(GaugeField& result, const GaugeField& u)>& compute) {
  return [=]() -> std::function<void()> {
    const GaugeField u = tests::random_field();
    return [=] {
      GaugeField result = tests::random_algebra();
      compute(result, u);
    };
  };
}

CloverOperator<LatticeFermion> clover(const GaugeField& u) {
  CloverParameters p;
  p.wilson.mass = 0.1;
  p.coeff_r = p.coeff_t = 1;
  return CloverOperator<LatticeFermion>(u, p);
}

}  // namespace

TEST_CASE("the clover term is applied without a message; a hop takes one, of half spinors") {
  TESSERA_NEEDS_QCD("the hop");
  const auto applied = [](auto apply) -> Prepare {
    return [=]() -> std::function<void()> {
      const auto d = std::make_shared<CloverOperator<LatticeFermion>>(clover(tests::random_field()));
      LatticeFermion psi;
      gaussian(psi);
      return [=] {
        LatticeFermion chi = zero;
        apply(*d, chi, psi);
      };
    };
  };
  using Operator = CloverOperator<LatticeFermion>;
  check_sent({0, 0, 0}, applied([](const Operator& d, LatticeFermion& chi, const LatticeFermion& psi) {
               chi = d.diagonal(+psi, Sign::plus);
               chi[rb[0]] = d.diagonal_inverse(+psi, Sign::minus);
             }));
  // A^-1 goes into the statement of the hop, before or after it. One half spinor each way, on half of the sites.
  const Expected hop{1, 1, 2 * kHalfSpinor / 2};
  check_sent(hop, applied([](const Operator& d, LatticeFermion& chi, const LatticeFermion& psi) {
               chi[rb[1]] = d.diagonal_inverse(d.hop(+psi, Sign::plus), Sign::plus);
             }));
  check_sent(hop, applied([](const Operator& d, LatticeFermion& chi, const LatticeFermion& psi) {
               chi[rb[1]] = d.hop(d.diagonal_inverse(+psi, Sign::plus), Sign::plus);
             }));
}

// F_s,t: plaquettes from each of the four corners around a site,
//   F: U_s(t), U_s(t-s).   B: U_t(-t), U_s(-t), and U_t, U_s at -s-t, U_t at s-t.
// A statement for each of the three planes with t. U_t(-t), in two of the plaquettes, is sent once.
TEST_CASE("the clover term is made with one message for each plane") {
  TESSERA_NEEDS_QCD("the clover term");
  check_sent({3, 3, 3 * (2 + 5) * kMatrix}, of_field([](GaugeField&, const GaugeField& u) { clover(u); }));
}

// A statement for each direction of the force, with the six staples of it.
//   F_t: for each s F: U_s(t), U_s(t-s).   F_s: F: U_s(t), B: U_t(s-t), U_s(-t), U_t(-t).
TEST_CASE("the gauge force takes one message for each direction") {
  check_sent({1 + 3, 3, (3 * 2 + 3 * (1 + 3)) * kMatrix},
             of_field([](GaugeField& f, const GaugeField& u) { wilson_action(5.7).force(f, u); }));
}

// Where two directions are cut, x and t, shifts inside of others are a stage of their own, along x, before what they stand in: one
// message for all of a statement.
//   F_t: U_x(-x) inside of t.   F_x: U_s(x) inside of the other s.   F_y, F_z: U_x(-x) inside of y, z.
// At the end of each direction x and t, with the values that have been moved along x:
//   F_t: x: U_t at x and -x, U_x(-x);  t: as above.   F_x: x: U_s(x) for each s.   F_y: x: U_y at x and -x, U_x(-x).
TEST_CASE("where two directions are cut the gauge force takes a message more for the shifts inside of others") {
  TESSERA_NEEDS_QCD("the gauge force in four dimensions");
  const Prepare force = of_field([](GaugeField& f, const GaugeField& u) { wilson_action(5.7).force(f, u); });
  const int inner = 4, outer = 4 * 2;
  const int along_x = (1 + 3 + 1 + 1) + 4 * 3, along_t = 6 + 3 * 4;
  const double x_face = 2 * 4 * 4, t_face = 4 * 2 * 4;
  for (const auto& rank : sent({8, 2, 4, 8}, {2, 1, 1, 2}, force)) {
    CHECK(rank[0].messages == inner + outer);
    CHECK(rank[0].bytes == (along_x * x_face + along_t * t_face) * kMatrix);
  }
}

// For each plane s,t and each of its four links one statement, which goes around the other three with L put in at the four corners.
//   s above:  F: U_s, L at t, L at s+t.                      s below:  B: U_s, U_t, L at -t, U_t and L at s-t.
//   t, left:  F: U_s and L at t-s, L at t.                   t, right: F: U_s and L at t, L at t+s.
// Links stand in ((L1 U1 + U1 L2) U2 + U1 U2 L3) U3 + U1 U2 U3 L4 four, three and two times, and are sent once.
TEST_CASE("the force of the clover term takes one message for each of the twelve links in the planes with t") {
  TESSERA_NEEDS_QCD("the clover term");
  check_sent({3 * 4, 0, 3 * (3 + 5 + 3 + 3) * kMatrix}, [] {
    const auto d = std::make_shared<CloverOperator<LatticeFermion>>(clover(tests::random_field()));
    LatticeFermion x, y;
    gaussian(x), gaussian(y);
    return std::function<void()>([=] {
      GaugeField g = tests::random_algebra();
      const auto derivative = d->diagonal_derivative();
      derivative->add(y, x, 1, all);
      derivative->add_to(g);
    });
  });
  // The hop's: projections of x and y at t, in one.
  check_sent({1, 0, 2 * kHalfSpinor}, [] {
    const auto d = std::make_shared<CloverOperator<LatticeFermion>>(clover(tests::random_field()));
    LatticeFermion x, y;
    gaussian(x), gaussian(y);
    return std::function<void()>([=] {
      GaugeField g = tests::random_algebra();
      d->add_hop_derivative(g, y, x, 1);
    });
  });
}

namespace {

// Fat links of direction m are made plane by plane, a statement for the staples to both sides in a plane m,n: T of a node below in the
// place of the link, U_n beside it.
//   Value,    m = t:  F: U_n(t), U_n(t-n).                                  n = t:  F: T(t).  B: U_t, T at -t, U_t(m-t).
// The derivative, with g of the node, takes a statement for the sides and one for T; two if the nodes to both sides differ.
//   By sides, m = t:  F: U_n(t).  B: g, U_n, T at -t, T and g at n-t.       n = t:  F: T, g at t, T and g at t-m.
//   By T,     m = t:  F: U_n(t), U_n(t-n).                                  n = t:  F: g(t).  B: U_t(m-t), g and U_t at -t.

struct Count {
  int stages = 0, both = 0, matrices = 0;
  Count operator+(const Count& o) const { return {stages + o.stages, both + o.both, matrices + o.matrices}; }
  friend Count operator*(int n, const Count& c) { return {n * c.stages, n * c.both, n * c.matrices}; }
  operator Expected() const { return {stages, both, matrices * kMatrix}; }
};

}  // namespace

// All three planes of direction t, plane m,t of the other three.
TEST_CASE("stout smearing and its force: one message for each plane and quantity") {
  TESSERA_NEEDS_QCD("stout smearing in four dimensions");
  const auto stout = [](auto compute) {
    return of_field([=](GaugeField& g, const GaugeField& u) {
      compute(StoutLinks(stout_weights(0.1, std::vector<bool>(Nd, true))), g, u);
    });
  };
  const Count staples = 3 * Count{1, 0, 2} + 3 * Count{1, 1, 1 + 3};
  check_sent(staples, stout([](const StoutLinks& map, GaugeField& g, const GaugeField& u) { g = map.apply(u); }));
  const Count of_t = 3 * (Count{1, 1, 1 + 5} + Count{1, 0, 2}), of_others = 3 * (Count{1, 0, 4} + Count{1, 1, 1 + 3});
  check_sent(staples + of_t + of_others,
             stout([](const StoutLinks& map, GaugeField& g, const GaugeField& u) { map.pull_back(g, u); }));
}

// asqtad, for each direction m a tree of nodes: the root with three planes; below it, to either side of a plane n, six with two planes of
// two sides, whose nodes are the same, and Lepage's staple to one side of n; below those three with one plane each, around the link.
TEST_CASE("asqtad links and their force: one message for each plane and node, of nodes below once") {
  TESSERA_NEEDS_QCD("asqtad links in four dimensions");
  const auto asqtad = [](auto compute) {
    return of_field(
        [=](GaugeField& g, const GaugeField& u) { compute(FatLinks(fat7_paths(asqtad_weights(0.87))), g, u); });
  };
  // Direction t: every plane. Of one side only: U_n(t), or U_n(t-n).
  const Count plane_t{1, 0, 2}, side_t{1, 0, 1};
  const Count below_t = 3 * plane_t + 6 * (2 * plane_t + side_t);
  // Others: one of the three nodes at the bottom; of the six those to the sides of the two n other than t, with one plane each, and those
  // above and below along t with their one side: T(t), or the three from -t.
  const Count plane_s{1, 1, 1 + 3}, above{1, 0, 1}, below{1, 0, 3};
  const Count below_s = plane_s + 4 * plane_s + above + below;
  check_sent(below_t + 3 * plane_t + 3 * (below_s + plane_s),
             asqtad([](const FatLinks& map, GaugeField& g, const GaugeField& u) { g = map.apply(u); }));

  // The force needs all nodes below the roots once more.
  const Count sides_t{1, 1, 1 + 5}, one_side_t{1, 1, 1 + 3};
  const Count bottom_t = 3 * (sides_t + plane_t), middle_t = 6 * (2 * (sides_t + plane_t) + one_side_t + side_t),
              root_t = 3 * (sides_t + 2 * side_t);  // the nodes to both sides of the root differ by Lepage's staple
  const Count sides_s{1, 0, 4}, by_t_s{1, 1, 1 + 3}, one_side_s{1, 0, 2};
  const Count bottom_s = sides_s + by_t_s,
              middle_s = 4 * (sides_s + by_t_s) + 2 * one_side_s + Count{1, 0, 3} + Count{1, 0, 1},
              root_s = sides_s + Count{1, 0, 3} + Count{1, 0, 1};
  check_sent(below_t + bottom_t + middle_t + root_t + 3 * (below_s + bottom_s + middle_s + root_s),
             asqtad([](const FatLinks& map, GaugeField& g, const GaugeField& u) { map.pull_back(g, u); }));
}

TEST_CASE("staggered quarks: a hop and its derivative take one message of colour vectors") {
  TESSERA_NEEDS_QCD("staggered quarks");
  const auto made = [] {
    StaggeredParameters p;
    p.mass = 0.1;
    p.signs = std::make_shared<StaggeredSigns>();
    return std::make_shared<StaggeredOperator<LatticeStaggeredFermion>>(tests::random_field(), p);
  };
  check_sent({1, 1, 2 * kVector / 2}, [=] {
    const auto d = made();
    LatticeStaggeredFermion psi;
    gaussian(psi);
    return std::function<void()>([=] {
      LatticeStaggeredFermion chi = zero;
      chi[rb[0]] = d->hop(+psi, Sign::plus);
    });
  });
  check_sent({1, 0, 2 * kVector}, [=] {
    const auto d = made();
    LatticeStaggeredFermion x, y;
    gaussian(x), gaussian(y);
    return std::function<void()>([=] {
      GaugeField g = tests::random_algebra();
      d->add_hop_derivative(g, y, x, 1);
    });
  });
}
