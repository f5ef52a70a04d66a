#include "qdp/layout/lattice.hpp"

#include "jit/comm/collectives.hpp"
#include "jit/memory/shared_messages.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "qdp/layout/faces.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/map_sites.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/layout/subset.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace QDP::detail {

namespace {

/// The extents of a lattice.
Coord checked_extents(const char* what, const multi1d<int>& extents) {
  std::string numbers;
  bool good = extents.size() == QDP_ND;
  for (int mu = 0; mu < extents.size(); ++mu) {
    numbers += (mu ? " " : "") + std::to_string(extents[mu]);
    good = good && extents[mu] >= 1;
  }
  if (!good)
    throw jit::UserError({.what = what,
                          .expected = std::to_string(QDP_ND) + " extents of at least 1",
                          .got = numbers.empty() ? "none" : numbers,
                          .what_now = "give the extents with Layout::setLattSize first"});
  return to_coord(extents, what);
}

/// Of the grids of `ranks` ranks that divide the lattice the one whose boxes have the smallest surface to other ranks; of
/// equals the one that cuts later directions. Throws jit::UserError if there is none.
Coord best_grid(const char* what, const Coord& extents, int ranks) {
  std::optional<Coord> best;
  double least = 0;
  const auto surface = [&](const Coord& grid) {  // per site of a box
    double sum = 0;
    for (int mu = 0; mu < QDP_ND; ++mu)
      if (grid[mu] > 1) sum += static_cast<double>(grid[mu]) / extents[mu];
    return sum;
  };
  for_each_grid(extents, ranks, [&](const Coord& grid) {
    if (const double found = surface(grid); !best || found < least * (1 - 1e-12)) best = grid, least = found;
  });
  if (!best)
    throw jit::UserError(
        {.what = what,
         .expected = "a number of ranks that can share out the lattice " + to_string(extents) + " in equal boxes",
         .got = std::to_string(ranks),
         .what_now = "choose as many ranks as a product of divisors of the extents"});
  return *best;
}

RankGrid make_grid(const char* what, const Coord& extents, const multi1d<int>& ranks) {
  const int size = jit::process_communicator().size();
  if (ranks.size() == 0) return RankGrid(what, extents, best_grid(what, extents, size));
  const Coord wanted = to_coord(ranks, what);
  const RankGrid grid(what, extents, wanted);
  if (grid.size() != size)
    throw jit::UserError({.what = what,
                          .expected = "a grid of ranks with as many as the job has, " + std::to_string(size),
                          .got = to_string(wanted) + ", " + std::to_string(grid.size()),
                          .what_now = "start that many processes, or give a grid that fits with -geom or "
                                      "Layout::setLogicalSize"});
  return grid;
}

void check_part(const char* what, const Coord& part) {
  double sites = 1;  // the product of any extents, which 64 bits may not hold
  for (const int n : part) sites *= n;
  if (sites > std::numeric_limits<std::int32_t>::max())
    throw jit::UserError({.what = what,
                          .expected = "less than 2^31 sites on one rank",
                          .got = to_string(part),
                          .what_now = "use a smaller lattice, or more ranks"});
}

}  // namespace

std::shared_ptr<const LatticeState> LatticeState::make(const char* what, const multi1d<int>& extents,
                                                       const multi1d<int>& ranks, int lanes) {
  const Coord whole = checked_extents(what, extents);
  RankGrid grid = make_grid(what, whole, ranks);
  jit::Communicator& ranks_of_job = jit::process_communicator();
  const std::vector<int> hosts = jit::hosts_of(ranks_of_job);
  grid.keep_together(hosts);
  jit::SharedMessages::instance().connect(ranks_of_job, hosts);
  const int rank = ranks_of_job.rank();
  check_part(what, grid.part());
  if (!jit::env().lanes) lanes = fitting_lanes(grid.part(), lanes, grid.ranks());
  int most = lanes;
  jit::reduce(ranks_of_job, std::span(&most, 1), jit::ReductionValue::Kind::max);
  const bool alike = jit::all_of(ranks_of_job, lanes == most);
  return std::shared_ptr<const LatticeState>(new LatticeState(Geometry(whole), grid, rank, lanes, alike));
}

LatticeState::LatticeState(const Geometry& whole, const RankGrid& grid, int rank, int lanes, bool alike)
    : jit::SiteOrder(make_site_order(grid.box(rank), lanes, grid.ranks())),
      whole_(whole),
      here_(grid.box(rank)),
      grid_(grid),
      rank_(rank),
      alike_(alike) {}

LatticeState::~LatticeState() = default;

const SetTables& LatticeState::make_set(DefaultSet which) const {
  return sets_[static_cast<std::size_t>(which)].get([&] { return make_default_set(*this, which); });
}

const jit::Domain& LatticeState::everything() const { return set(DefaultSet::all).subsets[0].domain; }

const std::shared_ptr<const jit::SiteMap>& LatticeState::neighbours(int sign, int mu) const {
  using Shared = std::shared_ptr<const jit::SiteMap>;
  return neighbours_[sign > 0 ? 0 : 1][static_cast<std::size_t>(mu)].get([&] {
    return std::make_unique<Shared>(
        std::make_shared<const jit::SiteMap>(make_neighbours(whole_, grid_, rank_, *this, sign, mu)));
  });
}

std::shared_ptr<const Faces> LatticeState::faces(const jit::Domain& domain,
                                                 std::span<const jit::SiteMap* const> maps) const {
  // Which are dropped follows from the questions alone, so it is the same on all ranks.
  constexpr std::size_t kMost = 256;
  const jit::RuntimeLock lock;
  std::vector<std::uint64_t> key{domain.identity.value()};
  for (const jit::SiteMap* map : maps) key.push_back(map->identity().value());
  KnownFaces& known = faces_[key];
  known.used = ++questions_;
  if (!known.faces) {
    known.faces = make_faces(*this, domain, maps);
    if (faces_.size() > kMost)
      faces_.erase(std::ranges::min_element(faces_, {}, [](const auto& one) { return one.second.used; }));
    return faces_.at(key).faces;
  }
  return known.faces;
}

std::shared_ptr<jit::Field> LatticeState::constant_field(const void* owner, int number, jit::ir::Type word,
                                                         int components,
                                                         const std::function<void(void* host)>& make) const {
  const jit::RuntimeLock lock;
  auto& field = constants_[{owner, number}];
  if (!field) {
    // The lattice owns the field, not the other way round.
    std::shared_ptr<const jit::SiteOrder> unowned(std::shared_ptr<const void>{}, this);
    auto made = std::make_unique<jit::Field>(std::move(unowned), word, components);
    make(made->host_overwrite());
    field = std::move(made);
  }
  return {std::const_pointer_cast<LatticeState>(shared_from_this()), field.get()};
}

std::size_t LatticeState::table_bytes() const {
  std::size_t bytes = (host_index.size() + position.size()) * sizeof(std::int32_t);
  for (const auto& one : sets_)
    if (const SetTables* made = one.made()) bytes += made->bytes();
  for (const auto& sign : neighbours_)
    for (const auto& one : sign)
      if (const auto* made = one.made()) bytes += (*made)->bytes();
  return bytes;
}

std::string describe(const LatticeState& lattice) { return "lattice " + to_string(lattice.whole().extents()); }

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

const LatticeState& lattice_of(const jit::Field& field) { return lattice_of(field.order()); }

}  // namespace QDP::detail
