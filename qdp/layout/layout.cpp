#include "qdp/layout/layout.hpp"

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/rng/random_field.hpp"
#include "qdp/rng/random_state.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

namespace QDP {

namespace {

/// All that the namespace Layout remembers.
struct Process {
  multi1d<int> extents;  ///< as set, perhaps not created yet
  std::optional<detail::LayoutState> layout;
  std::uint64_t generations = 0;
  multi1d<int> subgrid, ranks, rank;  ///< extents of a rank's part, of the grid of ranks, this rank's place in it
};

Process& process() {
  static Process instance;
  return instance;
}

multi1d<int> filled(int value) {
  multi1d<int> x(QDP_ND);
  x = value;
  return x;
}

std::string numbers(const multi1d<int>& x) {
  std::string text;
  for (int i = 0; i < x.size(); ++i) text += (i ? " " : "") + std::to_string(x[i]);
  return text.empty() ? "none" : text;
}

/// The extents to create, checked.
detail::Coord checked_extents(const multi1d<int>& x) {
  bool good = x.size() == QDP_ND;
  for (int mu = 0; mu < x.size(); ++mu) good = good && x[mu] >= 1;
  if (!good)
    throw jit::UserError({.what = "Layout::create",
                          .expected = std::to_string(QDP_ND) + " extents of at least 1",
                          .got = numbers(x),
                          .what_now = "give the extents with Layout::setLattSize first"});
  double sites = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) sites *= x[mu];
  if (sites > std::numeric_limits<std::int32_t>::max())
    throw jit::UserError({.what = "Layout::create",
                          .expected = "less than 2^31 sites on one rank",
                          .got = numbers(x),
                          .what_now = "use a smaller lattice, or more ranks"});
  return detail::to_coord(x, "Layout::create");
}

const detail::LayoutState& layout(const char* what) { return detail::layout(what); }

const detail::Geometry& lattice(const char* what) { return layout(what).lattice; }

/// Host index of coordinates given by the user.
int checked_index(const detail::Coord& x, const char* what) {
  const detail::Geometry& sites = lattice(what);
  if (!sites.contains(x))
    throw jit::UserError({.what = what,
                          .expected = "a site of the lattice " + detail::to_string(sites.extents()),
                          .got = detail::to_string(x)});
  return static_cast<int>(sites.index(x));
}

void check_rank(int rank, const char* what) {
  if (rank != 0) throw jit::UserError({.what = what, .expected = "rank 0 of 1", .got = std::to_string(rank)});
}

std::int64_t checked_number(std::int64_t number, const char* what) {
  const std::int64_t volume = lattice(what).volume();
  if (number < 0 || number >= volume)
    throw jit::UserError({.what = what,
                          .expected = "the number of a site, 0.." + std::to_string(volume - 1),
                          .got = std::to_string(number)});
  return number;
}

detail::Coord from_lexicographic(std::int64_t number, const detail::Coord& extents) {
  detail::Coord x;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    x[mu] = static_cast<int>(number % extents[mu]);
    number /= extents[mu];
  }
  return x;
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

const LayoutState& layout(const char* what) {
  const auto& present = process().layout;
  if (!present)
    throw jit::UserError({.what = what,
                          .expected = "a lattice",
                          .got = "none yet",
                          .what_now = "call Layout::setLattSize(extents) and Layout::create() first"});
  return *present;
}

const std::shared_ptr<const jit::SiteOrder>& site_order() { return layout("lattice field").order; }

Coord to_coord(const multi1d<int>& x, const char* what) {
  if (x.size() != QDP_ND)
    throw jit::UserError(
        {.what = what, .expected = std::to_string(QDP_ND) + " coordinates", .got = std::to_string(x.size())});
  Coord coord;
  for (int mu = 0; mu < QDP_ND; ++mu) coord[mu] = x[mu];
  return coord;
}

multi1d<int> to_multi1d(const Coord& x) {
  multi1d<int> coord(QDP_ND);
  for (int mu = 0; mu < QDP_ND; ++mu) coord[mu] = x[mu];
  return coord;
}

const std::shared_ptr<jit::Field>& coordinate_field(int mu) {
  const jit::RuntimeLock lock;
  if (mu < 0 || mu >= QDP_ND)
    throw jit::UserError({.what = "Layout::latticeCoordinate(" + std::to_string(mu) + ")",
                          .expected = "a direction 0.." + std::to_string(QDP_ND - 1),
                          .got = std::to_string(mu)});
  const LayoutState& present = layout("Layout::latticeCoordinate");
  auto& field = process().layout->coordinates[static_cast<std::size_t>(mu)];
  if (field) return field;
  const Geometry& sites = present.lattice;
  auto made = std::make_shared<jit::Field>(present.order, jit::ir::Type::i32, 1);
  auto* x = static_cast<std::int32_t*>(made->host_overwrite());
#pragma omp parallel for if (sites.volume() >= kThreadedSites)
  for (std::int64_t site = 0; site < sites.volume(); ++site) x[site] = sites.coord(site)[mu];
  field = std::move(made);
  return field;
}

}  // namespace detail

namespace Layout {

void setLattSize(const multi1d<int>& nrows) { process().extents = nrows; }

void create() {
  const jit::RuntimeLock lock;
  Process& p = process();
  const detail::Geometry lattice(checked_extents(p.extents));
  auto order = detail::make_site_order(lattice, jit::Runtime::instance().lanes());
  jit::log_info("layout", "lattice ", detail::to_string(lattice.extents()), ": ", lattice.volume(), " sites in ",
                order->groups, " groups of ", order->lanes);
  p.layout.emplace(lattice, std::move(order), ++p.generations);
  p.subgrid = p.extents;
  p.ranks = filled(1);
  p.rank = filled(0);
  io::Process whole = io::process();
  whole.sites = static_cast<unsigned long long>(lattice.volume());  // FlopCounter counts per site
  io::set_process(whole);
  initDefaultSets();
  initDefaultMaps();
  detail::set_random_seed(detail::kDefaultSeed);
}

void destroy() {
  const jit::RuntimeLock lock;
  detail::release_site_multipliers();
  process().layout.reset();
}
void init() {}
void setSMPFlag(bool) {}
void setNumProc(int) {}

const multi1d<int>& lattSize() { return process().extents; }

const multi1d<int>& subgridLattSize() {
  layout("Layout::subgridLattSize");
  return process().subgrid;
}

const multi1d<int>& logicalSize() {
  layout("Layout::logicalSize");
  return process().ranks;
}

std::size_t vol() { return static_cast<std::size_t>(lattice("Layout::vol").volume()); }

int sitesOnNode() { return static_cast<int>(lattice("Layout::sitesOnNode").volume()); }

int numNodes() { return 1; }
int nodeNumber() { return 0; }
bool primaryNode() { return true; }

int nodeNumber(const multi1d<int>& coord) {
  checked_index(detail::to_coord(coord, "Layout::nodeNumber"), "Layout::nodeNumber");
  return 0;
}

const multi1d<int>& nodeCoord() {
  layout("Layout::nodeCoord");
  return process().rank;
}

multi1d<int> nodeCoord(const multi1d<int>& coord) {
  checked_index(detail::to_coord(coord, "Layout::nodeCoord"), "Layout::nodeCoord");
  return filled(0);
}

int getNodeNumberFrom(const multi1d<int>& node_coord) {
  for (int c : detail::to_coord(node_coord, "Layout::getNodeNumberFrom")) check_rank(c, "Layout::getNodeNumberFrom");
  return 0;
}

multi1d<int> getLogicalCoordFrom(int node) {
  check_rank(node, "Layout::getLogicalCoordFrom");
  return filled(0);
}

int linearSiteIndex(const multi1d<int>& coord) {
  return checked_index(detail::to_coord(coord, "Layout::linearSiteIndex"), "Layout::linearSiteIndex");
}

int linearSiteIndex(int lexicosite) {
  const detail::Geometry& sites = lattice("Layout::linearSiteIndex");
  const std::int64_t number = checked_number(lexicosite, "Layout::linearSiteIndex");
  return static_cast<int>(sites.index(from_lexicographic(number, sites.extents())));
}

multi1d<int> siteCoords(int node, int index) {
  check_rank(node, "Layout::siteCoords");
  return detail::to_multi1d(lattice("Layout::siteCoords").coord(checked_number(index, "Layout::siteCoords")));
}

multi1d<int> localLexiCoordFromLinear(const int& linearr) {
  const std::int64_t number = checked_number(linearr, "Layout::localLexiCoordFromLinear");
  return detail::to_multi1d(from_lexicographic(number, layout("Layout::localLexiCoordFromLinear").lattice.extents()));
}

extern "C" void QDPXX_getSiteCoords(int coord[], int node, int linear) {
  check_rank(node, "QDPXX_getSiteCoords");
  const detail::Coord x = lattice("QDPXX_getSiteCoords").coord(checked_number(linear, "QDPXX_getSiteCoords"));
  std::copy(x.begin(), x.end(), coord);
}

extern "C" int QDPXX_getLinearSiteIndex(const int coord[]) {
  detail::Coord x;
  std::copy(coord, coord + QDP_ND, x.begin());
  return checked_index(x, "QDPXX_getLinearSiteIndex");
}

extern "C" int QDPXX_nodeNumber(const int coord[]) {
  QDPXX_getLinearSiteIndex(coord);
  return 0;
}

bool isIOGridDefined() { return true; }

void setIONodeGrid(const multi1d<int>& io_grid) {
  // One rank does all input and output, whatever grid is asked for (as in QDP++ on one node).
  detail::to_coord(io_grid, "Layout::setIONodeGrid");
}

const multi1d<int>& getIONodeGrid() {
  static const multi1d<int> grid = filled(1);
  return grid;
}

int numIONodeGrid() { return 1; }

}  // namespace Layout

}  // namespace QDP
