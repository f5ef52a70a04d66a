#include "qdp/layout/layout.hpp"

#include "jit/comm/communicator.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/rng/random_state.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace QDP {

namespace {

/// The grid of ranks that create() takes; empty: chosen by it.
multi1d<int>& wanted_ranks() {
  static multi1d<int> ranks;
  return ranks;
}

/// That for another lattice: the same if it divides it.
multi1d<int> ranks_for(const multi1d<int>& extents) {
  const multi1d<int>& wanted = wanted_ranks();
  bool divides = wanted.size() == extents.size();
  for (int mu = 0; divides && mu < extents.size(); ++mu) divides = extents[mu] % wanted[mu] == 0;
  return divides ? wanted : multi1d<int>();
}

/// A lattice with what the namespace Layout returns by reference.
struct Present {
  multi1d<int> extents;  ///< as set, perhaps not created yet
  std::shared_ptr<const detail::LatticeState> lattice;
  multi1d<int> part, ranks, place;  ///< extents of a rank's box, of the grid of ranks, this rank's place in it

  void use(std::shared_ptr<const detail::LatticeState> used) {
    lattice = std::move(used);
    extents = detail::to_multi1d(lattice->whole().extents());
    part = detail::to_multi1d(lattice->grid().part());
    ranks = detail::to_multi1d(lattice->grid().ranks());
    place = detail::to_multi1d(lattice->grid().place(lattice->rank()));
  }
};

Present& present() {
  static Present instance;
  return instance;
}

const Present& present(const char* what) {
  if (!present().lattice)
    throw jit::UserError({.what = what,
                          .expected = "a lattice",
                          .got = "none yet",
                          .what_now = "call Layout::setLattSize(extents) and Layout::create() first"});
  return present();
}

const detail::LatticeState& lattice(const char* what) { return *present(what).lattice; }

multi1d<int> filled(int value) {
  multi1d<int> x(QDP_ND);
  x = value;
  return x;
}

/// As the user gave them, right or wrong.
std::string numbers(const multi1d<int>& list) {
  std::string text;
  for (int i = 0; i < list.size(); ++i) text += (i > 0 ? " " : "") + std::to_string(list[i]);
  return text.empty() ? "not given" : text;
}

/// `ranks`: the grid of ranks, chosen if empty.
std::shared_ptr<const detail::LatticeState> make_lattice(const char* what, const multi1d<int>& extents,
                                                         const multi1d<int>& ranks) {
  const jit::RuntimeLock lock;
  io::require_same_on_all_ranks(what, "extents " + numbers(extents) + ", grid of ranks " + numbers(ranks),
                                "create the same lattice everywhere, with the same -geom");
  auto made = detail::LatticeState::make(what, extents, ranks, jit::Runtime::instance().lanes());
  jit::log_info("layout", describe(*made), ": ", made->whole().volume(), " sites on ", made->grid().size(),
                " ranks, grid ", detail::to_string(made->grid().ranks()), ", here in ", made->groups, " groups of ",
                made->lanes);
  return made;
}

/// Coordinates given by the user, of a site of the lattice.
detail::Coord checked_site(const multi1d<int>& coord, const char* what) {
  const detail::Coord x = detail::to_coord(coord, what);
  const detail::Geometry& whole = lattice(what).whole();
  if (!whole.contains(x))
    throw jit::UserError({.what = what,
                          .expected = "a site of the lattice " + detail::to_string(whole.extents()),
                          .got = detail::to_string(x)});
  return x;
}

int rank_of(const detail::Coord& x, const char* what) { return lattice(what).grid().owner(x).rank; }

/// Host index on the rank that has the site.
int index_of(const detail::Coord& x, const char* what) { return static_cast<int>(lattice(what).grid().owner(x).index); }

int checked_rank(int rank, const char* what) {
  const int ranks = lattice(what).grid().size();
  if (rank < 0 || rank >= ranks)
    throw jit::UserError({.what = what,
                          .expected = ranks == 1 ? "rank 0 of 1" : "a rank 0.." + std::to_string(ranks - 1),
                          .got = std::to_string(rank)});
  return rank;
}

std::int64_t checked_number(std::int64_t number, const detail::Geometry& box, const char* what) {
  if (number < 0 || number >= box.volume())
    throw jit::UserError({.what = what,
                          .expected = "the number of a site, 0.." + std::to_string(box.volume() - 1),
                          .got = std::to_string(number)});
  return number;
}

/// Coordinates of the site with this index on a rank.
detail::Coord site_of(int rank, int index, const char* what) {
  const detail::Geometry box = lattice(what).grid().box(checked_rank(rank, what));
  return box.coord(checked_number(index, box, what));
}

}  // namespace

multi1d<int> crtesn(int ipos, const multi1d<int>& latt_size) {
  multi1d<int> coord(latt_size.size());
  int rest = ipos;
  for (int mu = 0; mu < latt_size.size(); ++mu) {
    coord[mu] = rest % latt_size[mu];
    rest /= latt_size[mu];
  }
  if (ipos < 0 || rest != 0)
    throw jit::UserError({.what = "crtesn", .expected = "a site number of the box", .got = std::to_string(ipos)});
  return coord;
}

multi1d<int> uniquify_list(const multi1d<int>& list) {
  std::vector<int> once;
  for (const int x : list)
    if (std::find(once.begin(), once.end(), x) == once.end()) once.push_back(x);
  multi1d<int> result(static_cast<int>(once.size()));
  std::copy(once.begin(), once.end(), result.begin());
  return result;
}

int local_site(const multi1d<int>& coord, const multi1d<int>& latt_size) {
  int site = 0;
  for (int mu = latt_size.size() - 1; mu >= 0; --mu) {
    if (coord[mu] < 0 || coord[mu] >= latt_size[mu])
      throw jit::UserError(
          {.what = "local_site",
           .expected = "0.." + std::to_string(latt_size[mu] - 1) + " in direction " + std::to_string(mu),
           .got = std::to_string(coord[mu])});
    site = site * latt_size[mu] + coord[mu];
  }
  return site;
}

namespace detail {

const std::shared_ptr<const LatticeState>& present_lattice(const char* what) { return present(what).lattice; }

std::shared_ptr<jit::Field> coordinate_field(const LatticeState& lattice, int mu) {
  if (mu < 0 || mu >= QDP_ND)
    throw jit::UserError({.what = "Layout::latticeCoordinate(" + std::to_string(mu) + ")",
                          .expected = "a direction 0.." + std::to_string(QDP_ND - 1),
                          .got = std::to_string(mu)});
  static const char owner = 0;
  return lattice.constant_field(&owner, mu, jit::ir::Type::i32, 1, [&](void* host) {
    auto* x = static_cast<std::int32_t*>(host);
#pragma omp parallel for if (lattice.sites >= kThreadedSites)
    for (std::int64_t site = 0; site < lattice.sites; ++site) x[site] = lattice.here().coord(site)[mu];
  });
}

}  // namespace detail

namespace Layout {

Lattice::Lattice(const multi1d<int>& extents) : state_(make_lattice("Layout::Lattice", extents, ranks_for(extents))) {}
Lattice Lattice::of(const jit::Field& field) { return Lattice(detail::lattice_of(field).shared_from_this()); }
multi1d<int> Lattice::extents() const { return detail::to_multi1d(state_->whole().extents()); }
std::size_t Lattice::vol() const { return static_cast<std::size_t>(state_->whole().volume()); }
int Lattice::sitesOnNode() const { return static_cast<int>(state_->sites); }
Lattice Lattice::present() { return Lattice(detail::present_lattice("Layout::Lattice::present")); }

struct Scope::Before {
  Present present;
};

Scope::Scope(const Lattice& lattice) {
  const jit::RuntimeLock lock;
  before_ = std::make_unique<Before>(Before{QDP::present()});
  QDP::present().use(lattice.state());
}
Scope::~Scope() {
  const jit::RuntimeLock lock;
  QDP::present() = std::move(before_->present);
}

void setLattSize(const multi1d<int>& nrows) { present().extents = nrows; }

void setLogicalSize(const multi1d<int>& ranks) {
  const char* const what = "Layout::setLogicalSize";
  const detail::Coord grid = detail::to_coord(ranks, what);
  const int size = jit::process_communicator().size();
  if (std::int64_t product = 1;
      std::ranges::any_of(grid, [&](int n) { return n < 1 || (product *= n) > size; }) || product != size)
    throw jit::UserError(
        {.what = what,
         .expected = "numbers of ranks of which the product is that of the job, " + std::to_string(size),
         .got = detail::to_string(grid),
         .what_now = "start as many processes as the grid has places, or change -geom"});
  wanted_ranks() = ranks;
}

void create() {
  const jit::RuntimeLock lock;
  present().use(make_lattice("Layout::create", present().extents, wanted_ranks()));
  detail::set_random_seed(detail::kDefaultSeed);
}

void destroy() {
  const jit::RuntimeLock lock;
  present().lattice.reset();
}
void init() {}
void setSMPFlag(bool) {}
void setNumProc(int n) {
  if (const int size = numNodes(); n != size)
    throw jit::UserError({.what = "Layout::setNumProc",
                          .expected = "the number of ranks of the job, " + std::to_string(size),
                          .got = std::to_string(n)});
}

const multi1d<int>& lattSize() { return present().extents; }
const multi1d<int>& subgridLattSize() { return present("Layout::subgridLattSize").part; }
const multi1d<int>& logicalSize() { return present("Layout::logicalSize").ranks; }
std::size_t vol() { return static_cast<std::size_t>(lattice("Layout::vol").whole().volume()); }
int sitesOnNode() { return static_cast<int>(lattice("Layout::sitesOnNode").sites); }

int numNodes() { return jit::process_communicator().size(); }
int nodeNumber() { return jit::process_communicator().rank(); }
bool primaryNode() { return io::is_primary(); }

int nodeNumber(const multi1d<int>& coord) {
  return rank_of(checked_site(coord, "Layout::nodeNumber"), "Layout::nodeNumber");
}

const multi1d<int>& nodeCoord() { return present("Layout::nodeCoord").place; }

multi1d<int> nodeCoord(const multi1d<int>& coord) {
  return getLogicalCoordFrom(rank_of(checked_site(coord, "Layout::nodeCoord"), "Layout::nodeCoord"));
}

int getNodeNumberFrom(const multi1d<int>& node_coord) {
  const char* const what = "Layout::getNodeNumberFrom";
  const detail::RankGrid& grid = lattice(what).grid();
  const detail::Coord place = detail::to_coord(node_coord, what);
  if (!grid.contains(place))
    throw jit::UserError({.what = what,
                          .expected = "a place in the grid of ranks " + detail::to_string(grid.ranks()),
                          .got = detail::to_string(place)});
  return grid.rank(place);
}

multi1d<int> getLogicalCoordFrom(int node) {
  const char* const what = "Layout::getLogicalCoordFrom";
  return detail::to_multi1d(lattice(what).grid().place(checked_rank(node, what)));
}

int linearSiteIndex(const multi1d<int>& coord) {
  const char* const what = "Layout::linearSiteIndex";
  return index_of(checked_site(coord, what), what);
}

int linearSiteIndex(int lexicosite) {
  const char* const what = "Layout::linearSiteIndex";
  const detail::Geometry& whole = lattice(what).whole();
  return index_of(whole.from_lexicographic(checked_number(lexicosite, whole, what)), what);
}

multi1d<int> siteCoords(int node, int index) { return detail::to_multi1d(site_of(node, index, "Layout::siteCoords")); }

multi1d<int> localLexiCoordFromLinear(const int& linearr) {
  const char* const what = "Layout::localLexiCoordFromLinear";
  const detail::Geometry box(lattice(what).here().extents());
  return detail::to_multi1d(box.from_lexicographic(checked_number(linearr, box, what)));
}

extern "C" void QDPXX_getSiteCoords(int coord[], int node, int linear) {
  const detail::Coord x = site_of(node, linear, "QDPXX_getSiteCoords");
  std::copy(x.begin(), x.end(), coord);
}

namespace {
detail::Coord checked_site(const int coord[], const char* what) {
  multi1d<int> x(QDP_ND);
  x = coord;
  return QDP::checked_site(x, what);
}
}  // namespace

extern "C" int QDPXX_getLinearSiteIndex(const int coord[]) {
  const char* const what = "QDPXX_getLinearSiteIndex";
  return index_of(checked_site(coord, what), what);
}

extern "C" int QDPXX_nodeNumber(const int coord[]) {
  const char* const what = "QDPXX_nodeNumber";
  return rank_of(checked_site(coord, what), what);
}

namespace {
/// Empty: not set.
multi1d<int>& io_grid_of_ranks() {
  static multi1d<int> grid;
  return grid;
}
}  // namespace

bool isIOGridDefined() { return io_grid_of_ranks().size() > 0 || jit::process_communicator().size() == 1; }

void setIONodeGrid(const multi1d<int>& io_grid) {
  const char* const what = "Layout::setIONodeGrid";
  const detail::Coord grid = detail::to_coord(io_grid, what);
  if (std::ranges::min(grid) < 1)
    throw jit::UserError({.what = what, .expected = "at least 1 in each direction", .got = detail::to_string(grid)});
  // One rank does its own, whatever grid is asked for.
  if (jit::process_communicator().size() > 1) io_grid_of_ranks() = io_grid;
}

const multi1d<int>& getIONodeGrid() {
  static const multi1d<int> one = filled(1);
  return io_grid_of_ranks().size() > 0 ? io_grid_of_ranks() : one;
}

int numIONodeGrid() {
  int number = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) number *= getIONodeGrid()[mu];
  return number;
}

}  // namespace Layout

}  // namespace QDP
