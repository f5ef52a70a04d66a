#include "qdp/layout/lattice_state.hpp"
#include "qdp/types/shift.hpp"

#include <string>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace QDP {

namespace detail {

void check_site(const char* what, const jit::Field& field, int site, Shape shape) {
  const std::int64_t sites = field.order().sites;
  if (site < 0 || site >= sites)
    throw jit::UserError({.what = std::string(what) + "(" + std::to_string(site) + ") of a Lattice" + describe(shape),
                          .expected = "the index of a site, 0.." + std::to_string(sites - 1),
                          .got = std::to_string(site)});
}

const void* host_site_for_reading(jit::Field& field, int site, Shape shape) {
  check_site("elem", field, site, shape);
  return static_cast<const char*>(field.host_read()) + static_cast<std::size_t>(site) * shape.bytes();
}

void* host_site_for_writing(jit::Field& field, int site, Shape shape) {
  check_site("elem", field, site, shape);
  return static_cast<char*>(field.host_write()) + static_cast<std::size_t>(site) * shape.bytes();
}

const void* host_site_for_reading(const FieldOwner& owner, int site, Shape shape) {
  return host_site_for_reading(*owner.get(shape), site, shape);
}
void* host_site_for_writing(const FieldOwner& owner, int site, Shape shape) {
  return host_site_for_writing(*owner.get(shape), site, shape);
}

namespace {

/// For TESSERA_CHECK=1: throws UserError unless all ranks ask for the same site. What they got otherwise would be another's, or the
/// job would hang.
void require_same_site(const Coord& own, const char* where) {
  jit::Communicator& ranks = jit::process_communicator();
  if (!jit::env().check || ranks.size() == 1) return;
  std::vector<Coord> all(static_cast<std::size_t>(ranks.size()));
  ranks.gather(&own, sizeof own, all.data());
  const auto text = [](const Coord& x) {
    std::string list;
    for (const int c : x) list += (list.empty() ? "(" : ", ") + std::to_string(c);
    return list + ")";
  };
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank] != own)
      throw jit::UserError({.what = std::string(where) + " on all ranks",
                            .expected = "the same site on all of them",
                            .got = "rank " + std::to_string(ranks.rank()) + " asks for " + text(own) + "; rank " +
                                   std::to_string(rank) + " for " + text(all[rank]),
                            .what_now =
                                "let all ranks ask for one site after the other; elem() is a rank's own (found by "
                                "TESSERA_CHECK=1)"});
}

RankGrid::Owner find_site(const jit::Field& field, const multi1d<int>& coord, const char* where) {
  if (field.encoding() != 0)  // its words are not the components of the value
    throw jit::UserError({.what = "a site of a field in compressed storage",
                          .expected = "a plain field",
                          .got = name(storage_of(field)),
                          .where = where,
                          .what_now = "read into a plain field and assign that, or use peekSite and pokeSite"});
  const LatticeState& lattice = lattice_of(field);
  const Coord& extents = lattice.whole().extents();
  const Coord x = to_coord(coord, where);
  require_same_site(x, where);
  for (int mu = 0; mu < QDP_ND; ++mu)
    if (x[mu] < 0 || x[mu] >= extents[mu]) throw_range("coordinate", x[mu], extents[mu], where);
  return lattice.grid().owner(x);
}

}  // namespace

void peek_site(jit::Field& field, const multi1d<int>& coord, void* value, const char* where) {
  const RankGrid::Owner site = find_site(field, coord, where);
  if (site.rank == lattice_of(field).rank()) field.read_site(site.index, value);
  const int bytes = field.components() * jit::ir::bytes(field.word());
  jit::process_communicator().broadcast(value, static_cast<std::size_t>(bytes), site.rank);
}

void poke_site(jit::Field& field, const multi1d<int>& coord, const void* value, const char* where) {
  const RankGrid::Owner site = find_site(field, coord, where);
  if (site.rank == lattice_of(field).rank()) field.write_site(site.index, value);
}

void poke_encoded_site(const std::shared_ptr<jit::Field>& field, Shape shape, const multi1d<int>& coord, Expr value) {
  constexpr Shape kTruth{.word = Type::b1};
  const LatticeState& lattice = lattice_of(*field);
  const auto here = new_field(kTruth, lattice);
  const bool no = false, yes = true;
  assign(here, kTruth, lattice.everything(), make_value(&no, kTruth));
  poke_site(*here, coord, &yes, "pokeSite");
  assign(field, shape, lattice.everything(),
         make_node(Op::where, shape, 0, make_field(here, kTruth), std::move(value), make_field(field, shape)));
}

}  // namespace detail

namespace Layout {

LatticeInteger latticeCoordinate(int mu) {
  using Site = LatticeInteger::Site;
  return QDPExpr<Site, LatticeInteger>(detail::make_field(
      detail::coordinate_field(*detail::present_lattice("Layout::latticeCoordinate"), mu), detail::shape_of<Site>));
}

}  // namespace Layout

}  // namespace QDP
