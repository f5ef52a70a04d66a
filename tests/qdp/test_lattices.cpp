// Several lattices in one process, and the arithmetic of the parts that ranks will have.
#include "lattices.hpp"

#include "jit/support/error.hpp"
#include "qdp.h"
#include "qdp/layout/site_order.hpp"
#include "tests/message_of.hpp"
#include "tests/reference/whole.hpp"
#include "tests/temporary_folder.hpp"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace QDP;
using tests::Extents;
using tests::message_of;

namespace {

Layout::Lattice lattice_of_extents(const Extents& extents) {
  multi1d<int> nrow(QDP_ND);
  nrow = extents.data();
  return Layout::Lattice(nrow);
}

/// At every site of the lattice.
std::vector<double> all_values(const LatticeReal& x) {
  std::vector<double> values;
  for (const auto& site : reference::whole(x)) values.push_back(static_cast<double>(site.elem().elem().elem()));
  return values;
}

/// A lattice on its own: what its fields hold, by plain loops over sites.
struct Alone {
  Extents extents;
  std::vector<Extents> sites = tests::sites_in_host_order(extents);
  std::map<Extents, int> index = [this] {
    std::map<Extents, int> numbers;
    for (std::size_t i = 0; i < sites.size(); ++i) numbers[sites[i]] = static_cast<int>(i);
    return numbers;
  }();
  std::vector<double> x = {};

  int neighbour(int site, int sign, int mu) const {
    Extents y = sites[static_cast<std::size_t>(site)];
    y[mu] = (y[mu] + sign + extents[mu]) % extents[mu];
    return index.at(y);
  }
};

/// A field with the numbers that a process gets which never had another lattice.
LatticeReal noise(const Layout::Lattice& lattice) {
  RNG::initDefaultRNG();
  LatticeReal x(lattice);
  random(x);
  return x;
}

Alone made_alone(const Extents& extents) {
  tests::create_lattice(extents);
  Alone alone{extents};
  LatticeReal x;
  random(x);
  alone.x = all_values(x);
  return alone;
}

/// Statements of every kind on a lattice that may not be the present one, against the loops.
void check_statements(const Layout::Lattice& lattice, const Alone& alone) {
  const int n = static_cast<int>(alone.sites.size());
  REQUIRE(lattice.sitesOnNode() * tests::job_ranks() == n);
  const LatticeReal x = noise(lattice);
  CHECK(x.lattice() == lattice);
  CHECK(all_values(x) == alone.x);
  const double total = std::accumulate(alone.x.begin(), alone.x.end(), 0.0);
  CHECK(toDouble(sum(x)) == doctest::Approx(total).epsilon(1e-14));

  for (int mu = 0; mu < Nd; ++mu)
    for (int sign : {FORWARD, BACKWARD}) {
      const LatticeReal moved = shift(2 * x, sign, mu) - x;
      LatticeReal half = x;
      half[rb[1]] = shift(x, sign, mu);
      CHECK(moved.lattice() == lattice);
      const std::vector<double> of_moved = all_values(moved), of_half = all_values(half);
      for (int i = 0; i < n; ++i) {
        const double there = alone.x[static_cast<std::size_t>(alone.neighbour(i, sign, mu))],
                     here = alone.x[static_cast<std::size_t>(i)];
        CHECK(of_moved[static_cast<std::size_t>(i)] == 2 * there - here);
        const bool odd = tests::parity_of(alone.sites[static_cast<std::size_t>(i)]) == 1;
        CHECK(of_half[static_cast<std::size_t>(i)] == (odd ? there : here));
      }
    }

  // Reading its own destination, shifted, goes through a temporary field.
  LatticeReal own = x;
  own = own + shift(own, FORWARD, 0);
  const std::vector<double> of_own = all_values(own);
  for (int i = 0; i < n; ++i)
    CHECK(of_own[static_cast<std::size_t>(i)] ==
          alone.x[static_cast<std::size_t>(i)] + alone.x[static_cast<std::size_t>(alone.neighbour(i, FORWARD, 0))]);

  double even_sum = 0;
  for (int i = 0; i < n; ++i)
    if (tests::parity_of(alone.sites[static_cast<std::size_t>(i)]) == 0)
      even_sum += alone.x[static_cast<std::size_t>(i)];
  CHECK(toDouble(sum(x, even)) == doctest::Approx(even_sum).epsilon(1e-14));
  CHECK(toDouble(norm2(x)) == toDouble(sum(x * x)));

  const multi1d<int> last = detail::to_multi1d(alone.sites.back());
  CHECK(toDouble(peekSite(x, last)) == alone.x.back());
  LatticeReal poked = x;
  pokeSite(poked, Real(-3), last);
  CHECK(all_values(poked).back() == -3);
  CHECK(poked.lattice() == lattice);

  LatticeColorMatrix big(lattice);  // a sum of many components, a scalar of many words
  big = 1;
  CHECK(toDouble(real(trace(sum(big)))) == n * Nc);
  LatticePropagator q(lattice);
  q = 1;
  CHECK(toDouble(norm2(q)) == n * Nc * Ns);
}

}  // namespace

TEST_CASE("statements on two lattices at once are those of each alone, whichever is present") {
  std::vector<Alone> alone;
  for (const Extents& extents : tests::lattices()) alone.push_back(made_alone(extents));
  for (std::size_t a = 0; a < alone.size(); ++a) {
    const Alone &one = alone[a], &two = alone[(a + 3) % alone.size()];
    CAPTURE(a);
    tests::create_lattice(one.extents);
    const Layout::Lattice first = Layout::Lattice::present(), second = lattice_of_extents(two.extents);
    CHECK_FALSE(first == second);
    check_statements(first, one);
    check_statements(second, two);
    {
      const Layout::Scope here(second);
      check_statements(first, one);
      check_statements(second, two);
    }
    check_statements(first, one);
  }
}

TEST_CASE("in a scope everything that asks for the present lattice gets another, and its end puts back what was") {
  const Extents outer{4, 4, 4, 8}, inner{2, 6, 4, 2}, innermost{3, 5, 4, 8};
  tests::create_lattice(outer);
  const auto check_present = [](const Extents& extents) {
    CHECK(tests::to_extents(Layout::lattSize()) == extents);
    const std::vector<Extents> here = tests::sites_here(extents);
    const int sites = static_cast<int>(here.size());
    CHECK(tests::volume(tests::to_extents(Layout::subgridLattSize())) == sites);
    CHECK(Layout::vol() == static_cast<std::size_t>(tests::volume(extents)));
    CHECK(Layout::sitesOnNode() == sites);
    CHECK(sites * tests::job_ranks() == tests::volume(extents));
    CHECK(rb[0].numSiteTable() + rb[1].numSiteTable() == sites);
    CHECK(all.siteTable().size() == sites);
    CHECK(tests::to_extents(Layout::siteCoords(Layout::nodeNumber(), sites - 1)) == here.back());
    const LatticeReal x = Real(1);
    CHECK(toDouble(sum(x)) == tests::volume(extents));
    LatticeInteger t = Layout::latticeCoordinate(Nd - 1);
    CHECK(toInt(globalMax(LatticeInteger(t))) == extents[Nd - 1] - 1);
  };
  const Layout::Lattice middle = lattice_of_extents(inner);
  check_present(outer);
  {
    const Layout::Scope here(middle);
    check_present(inner);
    try {
      const Layout::Scope further(lattice_of_extents(innermost));
      check_present(innermost);
      throw 1;
    } catch (int) {
    }
    check_present(inner);
    tests::create_lattice(innermost);
    check_present(innermost);
  }
  check_present(outer);
}

TEST_CASE("a lattice lives as long as something needs it") {
  const Extents small{2, 2, 2, 4};
  const int sites = tests::volume(small);
  tests::create_lattice({4, 4, 4, 8});
  auto lattice = std::make_unique<Layout::Lattice>(lattice_of_extents(small));
  const std::weak_ptr<const detail::LatticeState> watch = lattice->state();
  {
    auto x = std::make_unique<LatticeReal>(*lattice);
    *x = 1;
    lattice.reset();
    CHECK(toDouble(sum(shift(*x, FORWARD, 0))) == sites);
    const auto held = shift(*x, BACKWARD, 1) + *x;  // an expression holds its fields
    x.reset();
    CHECK_FALSE(watch.expired());
    CHECK(toDouble(sum(held)) == 2 * sites);
    {
      const Layout::Scope here(LatticeReal(held).lattice());
      const LatticeInteger mu = Layout::latticeCoordinate(0);  // the lattice keeps the coordinates, not they it
      CHECK(toInt(sum(mu)) == sites / 2);
      LatticeReal r;
      gaussian(r);
    }
  }
  jit::run_deferred();  // statements that wait need it, too
  CHECK(watch.expired());
}

TEST_CASE("a field without contents moves to the lattice of its first value, then stays") {
  tests::create_lattice({4, 4, 4, 8});
  const Layout::Lattice fine = Layout::Lattice::present(), coarse = lattice_of_extents({2, 2, 2, 4});
  const LatticeReal x = noise(coarse);
  LatticeReal copied, moved, computed, scalar(coarse), zeroed(coarse), written;
  copied = x;
  moved = LatticeReal(x);
  computed = 2 * shift(x, FORWARD, 0);
  scalar = 1;
  zeroed = zero;
  for (const LatticeReal* y : {&copied, &moved, &computed, &scalar, &zeroed}) CHECK(y->lattice() == coarse);
  CHECK(toDouble(sum(computed)) == doctest::Approx(2 * toDouble(sum(x))));
  CHECK(toDouble(sum(scalar)) == static_cast<double>(coarse.vol()));
  written = 1;
  CHECK(written.lattice() == fine);
  CHECK_THROWS_WITH_AS(written = x, doctest::Contains("another lattice"), jit::UserError);
  CHECK_THROWS_WITH_AS(copied = written, doctest::Contains("another lattice"), jit::UserError);
  CHECK_THROWS_WITH_AS(written = LatticeReal(x), doctest::Contains("another lattice"), jit::UserError);
  LatticeReal by_hand;  // contents from the host count too
  by_hand.elem(0) = x.elem(0);
  CHECK_THROWS_WITH_AS(by_hand = x, doctest::Contains("another lattice"), jit::UserError);

  // So arrays of fields are copied, passed by value and resized on any lattice.
  multi1d<LatticeReal> fields(3);
  for (int i = 0; i < 3; ++i) fields[i] = Real(i) * x;
  multi1d<LatticeReal> others = fields;
  others = fields;
  const auto by_value = [](multi1d<LatticeReal> given) { return given[2].lattice(); };
  CHECK(by_value(fields) == coarse);
  CHECK(others[1].lattice() == coarse);
  CHECK(toDouble(norm2(others[2] - 2 * x)) == 0);
}

TEST_CASE("coordinates outlive the layout as an expression") {
  tests::create_lattice({2, 2, 2, 2});
  const auto expression = 1 * Layout::latticeCoordinate(0);
  Layout::destroy();
  CHECK(toInt(sum(expression)) == tests::volume({2, 2, 2, 2}) / 2);
}

TEST_CASE("the lattice of an expression is found wherever its only field stands") {
  tests::create_lattice({4, 4, 4, 8});
  const Layout::Lattice coarse = lattice_of_extents({2, 2, 2, 4});
  LatticeReal x(coarse);
  x = 1;
  using detail::Expr;
  using detail::Op;
  const detail::Shape shape = detail::shape_of<LatticeReal::Site>;
  const auto number = [&] { return detail::to_expr(Real(3)); };
  const auto sum_of = [&](Expr a, Expr b) { return detail::make_node(Op::add, shape, 0, std::move(a), std::move(b)); };
  const auto negative = [&](Expr a) { return detail::make_node(Op::neg, shape, 0, std::move(a)); };
  const Expr none = negative(sum_of(number(), number()));  // a part without fields, deep
  for (const Expr& tree : {sum_of(none, detail::to_expr(x)), sum_of(none, negative(negative(detail::to_expr(x)))),
                           sum_of(sum_of(none, none), sum_of(none, negative(detail::to_expr(x)))),
                           negative(sum_of(negative(detail::to_expr(x)), none))})
    CHECK(&detail::lattice_of(*tree) == coarse.state().get());
  CHECK(&detail::lattice_of(*none) == detail::present_lattice("test").get());
  // Summed, it is on that lattice: -6 + 1 at each site.
  CHECK(toDouble(sum(QDPExpr<LatticeReal::Site, LatticeReal>(sum_of(none, negative(negative(detail::to_expr(x))))))) ==
        -5 * static_cast<double>(coarse.vol()));
}

TEST_CASE("numbers of an expression without fields are on the present lattice") {
  tests::create_lattice({2, 2, 2, 2});
  const LatticeReal x = Real(2) * Real(3);
  CHECK(toDouble(sum(x)) == 6 * tests::volume({2, 2, 2, 2}));
}

TEST_CASE("boxes of any grid of ranks share out the lattice; parity is that of the whole, even sites first") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("grids of ranks written out");
  const std::vector<Extents> lattices{{6, 2, 4, 6}, {4, 4, 4, 8}, {3, 3, 6, 1}};
  const std::vector<Extents> grids{{1, 1, 1, 1}, {2, 1, 1, 1}, {3, 1, 2, 1}, {1, 1, 2, 1}, {6, 2, 4, 6}, {3, 2, 2, 3}};
  int tried = 0;
  for (const Extents& extents : lattices)
    for (const Extents& ranks : grids) {
      bool divides = true;
      for (int mu = 0; mu < Nd; ++mu) divides = divides && extents[mu] % ranks[mu] == 0;
      if (!divides) {
        CHECK(message_of([&] { detail::RankGrid("test", extents, ranks); }).find("divides the lattice") !=
              std::string::npos);
        continue;
      }
      ++tried;
      const detail::RankGrid grid("test", extents, ranks);
      REQUIRE(grid.size() == ranks[0] * ranks[1] * ranks[2] * ranks[3]);
      std::set<detail::Coord> seen;
      const detail::Geometry whole(extents);
      for (int rank = 0; rank < grid.size(); ++rank) {
        const Extents place(grid.place(rank));
        CHECK(place[0] + ranks[0] * (place[1] + ranks[1] * (place[2] + ranks[2] * place[3])) == rank);
        CHECK(grid.rank(place) == rank);
        const detail::Geometry box = grid.box(rank);
        REQUIRE(box.volume() == whole.volume() / grid.size());
        int last_parity = 0;
        std::int64_t last_number = -1, even = 0;
        for (std::int64_t i = 0; i < box.volume(); ++i) {
          const Extents x(box.coord(i));
          CHECK(box.contains(x));
          CHECK(box.index(x) == i);
          CHECK(grid.place_of_site(x) == place);
          CHECK(seen.insert(x).second);
          const int parity = (x[0] + x[1] + x[2] + x[3]) & 1;
          if (parity != last_parity) last_number = -1;
          CHECK(parity >= last_parity);
          CHECK(whole.lexicographic(x) > last_number);
          last_parity = parity, last_number = whole.lexicographic(x);
          even += parity == 0;
        }
        CHECK(box.volume(0) == even);
        CHECK(box.volume(1) == box.volume() - even);
        for (int lanes : {1, 4, 16}) {
          const jit::SiteOrder order = detail::make_site_order(box, lanes);
          for (std::int64_t p = 0; p < order.groups * lanes; ++p)
            if (order.host_index[p] >= 0)
              CHECK(detail::parity(box.coord(order.host_index[p])) == (p / lanes >= order.first_odd ? 1 : 0));
        }
      }
      CHECK(static_cast<std::int64_t>(seen.size()) == whole.volume());
    }
  CHECK(tried >= 7);
  CHECK(message_of([] { detail::RankGrid("test", Extents{4, 4, 4, 4}, Extents{0, 1, 1, 1}); }).find("(0, 1, 1, 1)") !=
        std::string::npos);
}

TEST_CASE("ranks of a machine take the boxes of a block where less surface lies between machines then") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("grids of ranks written out");
  struct Job {
    Extents lattice, grid;
    std::vector<int> hosts;
    double surface;  // of the lexicographic order's; 1: that is kept
  };
  const auto in_turn = [](int ranks, int machines) {
    std::vector<int> hosts;
    for (int r = 0; r < ranks; ++r) hosts.push_back(r % machines);
    return hosts;
  };
  const auto filled = [](int ranks, int each) {
    std::vector<int> hosts;
    for (int r = 0; r < ranks; ++r) hosts.push_back(100 - r / each);
    return hosts;
  };
  const std::vector<Job> jobs{
      // Boxes of 2 x 4 and of 4 x 2 sites in x and y: the surface across x is twice that across y, or half of it.
      {{4, 8, 4, 4}, {2, 2, 1, 1}, in_turn(4, 2), 0.5},
      {{4, 8, 4, 4}, {2, 2, 1, 1}, filled(4, 2), 1},
      {{8, 4, 4, 4}, {2, 2, 1, 1}, filled(4, 2), 0.5},
      // A rank of a row of eight has four neighbours on other machines, one of a block of 2 x 2 x 2 three.
      {{16, 16, 16, 16}, {8, 8, 8, 1}, filled(512, 8), 3. / 4},
      {{4, 4, 4, 4}, {4, 1, 1, 1}, in_turn(4, 2), 0.5},
      {{4, 4, 4, 4}, {1, 1, 1, 4}, filled(4, 4), 1},    // one machine
      {{4, 4, 4, 4}, {1, 1, 1, 4}, filled(4, 1), 1},    // one rank each
      {{4, 8, 4, 4}, {2, 2, 1, 1}, {0, 1, 0, 0}, 1},    // unequal ones
      {{4, 8, 4, 6}, {2, 2, 1, 3}, in_turn(12, 4), 1},  // rows along t already
      {{4, 8, 4, 6}, {2, 2, 1, 3}, in_turn(12, 3), 0.4}};
  for (const Job& job : jobs) {
    CAPTURE(detail::to_string(job.lattice));
    CAPTURE(detail::to_string(job.grid));
    CAPTURE(job.hosts.size());
    const detail::RankGrid plain("test", job.lattice, job.grid);
    detail::RankGrid grid = plain;
    grid.keep_together(job.hosts);
    // Counted site by site.
    const auto between = [&](const detail::RankGrid& any) {
      const detail::Geometry whole(job.lattice);
      std::int64_t sites = 0;
      for (std::int64_t i = 0; i < whole.volume(); ++i)
        for (int mu = 0; mu < Nd; ++mu)
          for (const int step : {1, job.lattice[mu] - 1}) {
            const Extents x(whole.coord(i));
            Extents y = x;
            y[mu] = (y[mu] + step) % job.lattice[mu];
            sites += job.hosts[static_cast<std::size_t>(any.owner(x).rank)] !=
                     job.hosts[static_cast<std::size_t>(any.owner(y).rank)];
          }
      return static_cast<double>(sites);
    };
    CHECK(between(grid) == job.surface * between(plain));
    CHECK(static_cast<double>(grid.surface_between(job.hosts)) == between(grid));
    std::set<int> seen;
    bool moved = false;
    for (int rank = 0; rank < grid.size(); ++rank) {
      const detail::Coord place = grid.place(rank);
      CHECK(grid.rank(place) == rank);
      CHECK(grid.owner(grid.box(rank).corner()).rank == rank);
      moved = moved || place != plain.place(rank);
      seen.insert(static_cast<int>(detail::Geometry(job.grid).lexicographic(place)));
    }
    CHECK(static_cast<int>(seen.size()) == grid.size());
    CHECK(moved == (job.surface < 1));
    CHECK(grid.place(0) == detail::Coord{});
  }
}

TEST_CASE(
    "what statements need of a lattice takes 24 bytes per site if it is cut, 48 otherwise; lists for the host come later") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents written out");
  for (const Extents& extents :
       tests::shared_out({{16, 16, 16, 16}, {12, 12, 12, 12}, {10, 14, 10, 14}, {9, 11, 7, 13}})) {
    CAPTURE(detail::to_string(extents));
    tests::create_lattice(extents);
    const auto lattice = detail::present_lattice("test");
    const auto per_site = [&] {
      return static_cast<double>(lattice->table_bytes()) / static_cast<double>(lattice->sites);
    };
    CHECK(per_site() >= 8);
    CHECK(per_site() < 9);
    LatticeReal x, y;
    x[rb[0]] = 1;
    x[rb[1]] = 2;
    y = 0;
    for (int mu = 0; mu < Nd; ++mu) y += shift(x, FORWARD, mu) + shift(x, BACKWARD, mu);
    const bool cut = detail::find_lane_cut(extents, lattice->lanes).has_value();
    if (tests::job_ranks() == 1) CHECK(per_site() <= (cut ? 24 : 48));  // otherwise there are messages and faces, too
    std::size_t shifts = 0;
    for (int mu = 0; mu < Nd; ++mu)
      for (int sign : {1, -1}) {
        const jit::SiteMap& map = *shift.family().map(sign, mu);
        shifts += 4 * (map.is_structured() ? map.group_sources().size() : map.sources().size());
      }
    CHECK(lattice->table_bytes() >= shifts + 8 * static_cast<std::size_t>(lattice->sites));
    const double before = per_site();
    (void)rb[0].siteTable();
    (void)rb.latticeColoring();
    CHECK(per_site() >= before + 8);
  }
}

TEST_CASE("numbers of sites have 64 bits") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents written out");
  const Extents huge{4096, 4096, 4096, 8192};
  const detail::Geometry whole(huge);
  CHECK(whole.volume() == std::int64_t{1} << 49);
  const Extents last{4095, 4095, 4095, 8191};
  CHECK(whole.lexicographic(last) == whole.volume() - 1);
  CHECK(whole.from_lexicographic(whole.volume() - 1) == last);
  CHECK(whole.coord(whole.index(last)) == last);
  CHECK(whole.coord(whole.volume(0)) == Extents{1, 0, 0, 0});
}

TEST_CASE("files are of the lattice that was present when they were opened; other fields are refused") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("extents written out");
  tests::create_lattice({4, 4, 4, 8});
  const Layout::Lattice fine = Layout::Lattice::present(), coarse = lattice_of_extents({2, 2, 2, 4});
  const LatticeReal x = noise(fine), y = noise(coarse);
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("field");
  const auto refused = [](const std::string& message) {
    return message.find("4 x 4 x 4 x 8") != std::string::npos && message.find("2 x 2 x 2 x 4") != std::string::npos;
  };
  BinaryBufferWriter buffer;
  CHECK(refused(message_of([&] { write(buffer, y); })));
  write(buffer, x);
  BinaryBufferReader whole(buffer.str());
  LatticeReal into(coarse);
  CHECK(refused(message_of([&] { read(whole, into); })));
  XMLBufferWriter xml;
  push(xml, "fields");
  CHECK(refused(message_of([&] { write(xml, "y", y); })));
  multi1d<int> site(Nd);
  site = 3;  // of the fine lattice only
  CHECK(message_of([&] { write(buffer, y, site); }) != "no error");

  XMLBufferWriter file_xml, record_xml;
  push(file_xml, "file");
  pop(file_xml);
  push(record_xml, "record");
  pop(record_xml);
  QDPFileWriter writer(file_xml, path, QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN);
  CHECK(refused(message_of([&] { write(writer, record_xml, y); })));
  {
    const Layout::Scope here(coarse);
    CHECK(refused(message_of([&] { write(writer, record_xml, y); })));
    BinaryBufferWriter small;
    write(small, y);
    BinaryBufferReader reader(small.str());
    LatticeReal back;
    read(reader, back);
    CHECK(toDouble(norm2(back - y)) == 0);
    CHECK(back.lattice() == coarse);
  }
}
