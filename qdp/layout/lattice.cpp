#include "qdp/layout/lattice.hpp"

#include "jit/support/error.hpp"
#include "qdp/layout/map_sites.hpp"
#include "qdp/layout/site_order.hpp"
#include "qdp/layout/subset.hpp"

#include <limits>
#include <string>

namespace QDP::detail {

namespace {

void check_extents(const char* what, const Coord& extents) {
  std::string got;
  bool good = true;
  double sites = 1;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    got += (mu ? " " : "") + std::to_string(extents[mu]);
    good = good && extents[mu] >= 1;
    sites *= extents[mu];
  }
  if (!good)
    throw jit::UserError({.what = what,
                          .expected = std::to_string(QDP_ND) + " extents of at least 1",
                          .got = got,
                          .what_now = "give the extents with Layout::setLattSize first"});
  if (sites > std::numeric_limits<std::int32_t>::max())
    throw jit::UserError({.what = what,
                          .expected = "less than 2^31 sites on one rank",
                          .got = got,
                          .what_now = "use a smaller lattice, or more ranks"});
}

}  // namespace

std::shared_ptr<const LatticeState> LatticeState::make(const char* what, const Coord& extents, int lanes) {
  Coord one_rank;
  one_rank.fill(1);
  check_extents(what, extents);
  const RankGrid grid(what, extents, one_rank);
  return std::shared_ptr<const LatticeState>(new LatticeState(Geometry(extents), grid, 0, lanes));
}

LatticeState::LatticeState(const Geometry& whole, const RankGrid& grid, int rank, int lanes)
    : jit::SiteOrder(make_site_order(grid.box(rank), lanes)),
      whole_(whole),
      here_(grid.box(rank)),
      grid_(grid),
      rank_(rank) {}

LatticeState::~LatticeState() = default;

const SetTables& LatticeState::make_set(DefaultSet which) const {
  return sets_[static_cast<std::size_t>(which)].get([&] { return make_default_set(*this, which); });
}

const jit::Domain& LatticeState::everything() const { return set(DefaultSet::all).subsets[0].domain; }

const std::shared_ptr<const jit::SiteMap>& LatticeState::neighbours(int sign, int mu) const {
  using Shared = std::shared_ptr<const jit::SiteMap>;
  return neighbours_[sign > 0 ? 0 : 1][static_cast<std::size_t>(mu)].get([&] {
    return std::make_unique<Shared>(std::make_shared<const jit::SiteMap>(make_neighbours(whole_, *this, sign, mu)));
  });
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

}  // namespace QDP::detail
