#include "qdp/layout/faces.hpp"

#include "jit/memory/residency.hpp"
#include "jit/runtime.hpp"

#include "jit/comm/communicator.hpp"
#include "qdp/layout/domain.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/map_sites.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace QDP::detail {

namespace {

/// Stretches of groups are visited one by one, as kernels go through them faster than through lists, unless there are more
/// than kFewRanges and shorter ones, on average, than pays for a launch.
constexpr std::size_t kFewRanges = 8, kLongRange = 64;

/// Lanes of each group of the lattice that take part in the domain.
std::vector<std::uint64_t> lanes_of(const jit::SiteOrder& order, const jit::Domain& domain) {
  std::vector<std::uint64_t> lanes(static_cast<std::size_t>(order.groups));
  for (std::int64_t i = domain.begin; i < domain.end; ++i)
    if (domain.listed)
      lanes[static_cast<std::size_t>(domain.groups[static_cast<std::size_t>(i)])] =
          domain.masks[static_cast<std::size_t>(i)];
    else
      lanes[static_cast<std::size_t>(i)] = every_lane(order.lanes);
  return lanes;
}

/// Adds a group to a list.
void append(jit::Domain& domain, std::size_t group, std::uint64_t mask) {
  domain.groups.push_back(static_cast<std::int32_t>(group));
  domain.masks.push_back(mask);
  domain.sites += std::popcount(mask);
}

/// Whole groups as ranges, if these are few or long.
std::vector<jit::Domain> in_ranges(jit::Domain list, int lanes) {
  const std::size_t most = std::max(kFewRanges, list.groups.size() / kLongRange);
  std::vector<jit::Domain> ranges;
  for (std::size_t i = 0; i < list.groups.size() && ranges.size() <= most; ++i) {
    if (i == 0 || list.groups[i] != list.groups[i - 1] + 1 || list.masks[i] != list.masks[i - 1]) ranges.emplace_back();
    append(ranges.back(), static_cast<std::size_t>(list.groups[i]), list.masks[i]);
  }
  if (ranges.size() > most) {
    ranges.clear();
    ranges.push_back(std::move(list));
  }
  for (jit::Domain& range : ranges) use_range_if_possible(range, lanes);
  return ranges;
}

/// Cut where messages are to be looked after in between: many MPIs move long ones only while somebody calls them. Not where a device of
/// its own computes: the host has time then.
std::vector<jit::Domain> with_pauses(const std::vector<jit::Domain>& domains, int lanes) {
  constexpr std::int64_t kMostPauses = 32, kFewSites = 1024;  // these take some 0.1 ms of a core
  if (jit::Residency::instance().separate()) return domains;
  std::int64_t sites = 0;
  for (const jit::Domain& domain : domains) sites += domain.sites;
  const std::int64_t most = std::max(sites / kMostPauses, kFewSites * jit::Runtime::instance().threads());
  std::vector<jit::Domain> pieces;
  for (const jit::Domain& domain : domains) {
    const std::int64_t entries = domain.end - domain.begin, n = std::max<std::int64_t>(domain.sites / most, 1);
    if (n == 1) pieces.push_back(domain);
    for (std::int64_t i = 0; n > 1 && i < n; ++i) {
      jit::Domain& piece = pieces.emplace_back();
      piece.listed = domain.listed;
      piece.begin = domain.begin + i * entries / n;
      piece.end = domain.begin + (i + 1) * entries / n;
      piece.sites = (piece.end - piece.begin) * lanes;
      if (!domain.listed) continue;
      piece.groups.assign(domain.groups.begin() + piece.begin, domain.groups.begin() + piece.end);
      piece.masks.assign(domain.masks.begin() + piece.begin, domain.masks.begin() + piece.end);
      piece.end -= std::exchange(piece.begin, 0);
      piece.sites = 0;
      for (const std::uint64_t mask : piece.masks) piece.sites += std::popcount(mask);
    }
  }
  return pieces;
}

/// An order of groups in which these lanes hold a site, in host order of their positions.
std::shared_ptr<jit::SiteOrder> order_of(const std::vector<std::uint64_t>& used, int lanes) {
  auto order = std::make_shared<jit::SiteOrder>();
  order->lanes = lanes;
  order->groups = order->first_odd = static_cast<std::int64_t>(used.size());
  order->host_index.assign(used.size() * static_cast<std::size_t>(lanes), -1);
  for (std::size_t group = 0; group < used.size(); ++group)
    for (std::uint64_t rest = used[group]; rest != 0; rest &= rest - 1) {
      const std::size_t position =
          group * static_cast<std::size_t>(lanes) + static_cast<std::size_t>(std::countr_zero(rest));
      order->host_index[position] = static_cast<std::int32_t>(order->position.size());
      order->position.push_back(static_cast<std::int32_t>(position));
    }
  order->sites = static_cast<std::int64_t>(order->position.size());
  return order;
}

/// A buffer for values that other ranks send or get. `positions`: [ranks] those that the receiver wants, ascending. A group
/// of the buffer has the lanes of one of the receiver's, so that values need not change lanes on their way to it; where
/// lanes differ between ranks, groups are full. nullptr if there are none.
std::shared_ptr<jit::SiteOrder> buffer_for(const LatticeState& lattice, const std::vector<int>& ranks,
                                           const std::vector<std::vector<std::int32_t>>& positions,
                                           std::vector<Segment>& segments) {
  const int lanes = lattice.lanes;
  std::vector<std::uint64_t> used;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (positions[i].empty()) continue;
    const std::size_t first = used.size();
    std::int64_t group = -1;
    for (std::size_t k = 0; k < positions[i].size(); ++k) {
      const std::int64_t wanted = lattice.alike() ? positions[i][k] : static_cast<std::int64_t>(k);
      if (used.size() == first || wanted / lanes != group) used.push_back(0);
      group = wanted / lanes;
      used.back() |= std::uint64_t{1} << wanted % lanes;
    }
    const auto own = static_cast<std::int64_t>(positions[i].size());
    segments.push_back({.rank = ranks[i],
                        .first_group = static_cast<std::int64_t>(first),
                        .groups = static_cast<std::int64_t>(used.size() - first),
                        .first_site = count,
                        .sites = own});
    count += own;
  }
  return used.empty() ? nullptr : order_of(used, lanes);
}

jit::Domain everything(const jit::SiteOrder& order) {
  multi1d<int> one_color(static_cast<int>(order.sites));
  one_color = 0;
  return std::move(make_domains(order, one_color, 1)[0]);
}

/// Messages to all and from all: `out` [partners] to `to`, and what comes from `from` with the lengths that it has said.
template <class T>
std::vector<std::vector<T>> exchanged(const std::vector<int>& to, const std::vector<std::vector<T>>& out,
                                      const std::vector<int>& from, const std::vector<std::int64_t>& lengths) {
  jit::Communicator& ranks = jit::process_communicator();
  std::vector<std::vector<T>> in(from.size());
  std::vector<std::unique_ptr<jit::Message>> messages;
  for (std::size_t i = 0; i < from.size(); ++i) {
    in[i].resize(static_cast<std::size_t>(lengths[i]));
    if (!in[i].empty()) messages.push_back(ranks.incoming(in[i].data(), in[i].size() * sizeof(T), from[i]));
  }
  for (std::size_t i = 0; i < to.size(); ++i)
    if (!out[i].empty()) messages.push_back(ranks.outgoing(out[i].data(), out[i].size() * sizeof(T), to[i]));
  for (const auto& message : messages) message->start();
  for (const auto& message : messages) message->wait();
  return in;
}

/// What a rank needs through one map, and where it wants it.
struct Needed {
  std::vector<int> ranks;
  std::vector<std::vector<std::int32_t>> sites, positions;  ///< [ranks]: host indices there; of the targets, here
};

Needed needed_by(const std::vector<std::uint64_t>& lanes_used, int lanes, const jit::OffRank& off_rank) {
  Needed needed;
  for (const jit::OffRank::Partner& partner : off_rank.from) {
    std::vector<jit::OffRank::Source> sources;
    for (const jit::OffRank::Source& one : partner.sources)
      if ((lanes_used[static_cast<std::size_t>(one.position / lanes)] >> one.position % lanes & 1) != 0)
        sources.push_back(one);
    std::ranges::sort(sources, {}, &jit::OffRank::Source::position);
    needed.ranks.push_back(partner.rank);
    needed.sites.emplace_back(), needed.positions.emplace_back();
    for (const jit::OffRank::Source& one : sources) {
      needed.sites.back().push_back(one.site);
      needed.positions.back().push_back(one.position);
    }
  }
  return needed;
}

/// Tells the others what this rank needs, and learns what they do.
Halo make_halo(const LatticeState& lattice, const Needed& needed, const std::vector<int>& askers) {
  Halo halo;
  std::vector<std::vector<std::int64_t>> counts;
  for (const auto& list : needed.sites) counts.push_back({static_cast<std::int64_t>(list.size())});
  std::vector<std::int64_t> lengths;
  for (const auto& count : exchanged(needed.ranks, counts, askers, std::vector<std::int64_t>(askers.size(), 1)))
    lengths.push_back(count[0]);
  const auto asked = exchanged(needed.ranks, needed.sites, askers, lengths);
  const auto wanted_at = exchanged(needed.ranks, needed.positions, askers, lengths);

  halo.incoming = buffer_for(lattice, needed.ranks, needed.positions, halo.from);
  halo.outgoing = buffer_for(lattice, askers, wanted_at, halo.to);
  if (halo.outgoing) {
    halo.departures = everything(*halo.outgoing);
    std::vector<std::int32_t> source;
    for (const auto& sites : asked)
      for (const std::int32_t site : sites) source.push_back(lattice.position[static_cast<std::size_t>(site)]);
    halo.departing = map_between(*halo.outgoing, source);
  }
  return halo;
}

/// The face of a list of groups, with the values of these maps. `arrivals`: [maps] position in what arrives by position on the
/// lattice, or kElsewhere where nothing does.
Face make_face(const LatticeState& lattice, jit::Domain domain, const std::vector<int>& numbers,
               std::span<const jit::SiteMap* const> maps, const std::vector<std::vector<std::int32_t>>& arrivals) {
  const int lanes = lattice.lanes;
  Face face;
  face.order = order_of(domain.masks, lanes);
  std::vector<std::int32_t> on_lattice;  // positions of the face's sites
  for (std::size_t k = 0; k < domain.groups.size(); ++k)
    for (std::uint64_t rest = domain.masks[k]; rest != 0; rest &= rest - 1)
      on_lattice.push_back(domain.groups[k] * lanes + std::countr_zero(rest));

  std::vector<std::int32_t> to_buffer(static_cast<std::size_t>(lattice.groups), 0);
  for (std::size_t k = 0; k < domain.groups.size(); ++k)
    to_buffer[static_cast<std::size_t>(domain.groups[k])] = static_cast<std::int32_t>(2 * k);
  face.to_buffer = jit::SiteMap::structured(std::move(to_buffer), lanes);

  for (const int number : numbers) {
    const std::vector<std::int32_t>& arrives = arrivals[static_cast<std::size_t>(number)];
    const jit::SiteMap& map = *maps[static_cast<std::size_t>(number)];
    Face::Values values{
        .map = number, .arrived = {}, .from_here = {}, .from_elsewhere = {}, .sources = {}, .arrivals = {}};
    multi1d<int> elsewhere(static_cast<int>(on_lattice.size()));
    std::vector<std::int32_t> here, there;
    for (std::size_t i = 0; i < on_lattice.size(); ++i) {
      const auto position = static_cast<std::size_t>(on_lattice[i]);
      elsewhere[static_cast<int>(i)] = arrives[position] != kElsewhere;
      here.push_back(arrives[position] != kElsewhere ? kElsewhere : map.source(on_lattice[i]));
      there.push_back(arrives[position]);
    }
    std::vector<jit::Domain> parts = make_domains(*face.order, elsewhere, 2);
    values.from_here = std::move(parts[0]);
    values.from_elsewhere = std::move(parts[1]);
    values.sources = map_between(*face.order, here);
    values.arrivals = map_between(*face.order, there);
    if (values.from_here.sites == 0 && values.arrivals.is_structured() && values.arrivals.exchange().is_none()) {
      std::vector<std::int32_t> groups(static_cast<std::size_t>(lattice.groups), 0);
      for (std::size_t k = 0; k < domain.groups.size(); ++k)
        groups[static_cast<std::size_t>(domain.groups[k])] = values.arrivals.group_sources()[k];
      values.arrived = jit::SiteMap::structured(std::move(groups), lanes);
    }
    face.values.push_back(std::move(values));
  }
  use_range_if_possible(domain, lanes);
  face.domain = std::move(domain);
  return face;
}

}  // namespace

std::unique_ptr<Faces> make_faces(const LatticeState& lattice, const jit::Domain& domain,
                                  std::span<const jit::SiteMap* const> maps) {
  const int lanes = lattice.lanes, n = static_cast<int>(maps.size());
  const std::vector<std::uint64_t> lanes_used = lanes_of(lattice, domain);
  auto made = std::make_unique<Faces>();

  // Which map a group needs something of: none, that number, or several.
  constexpr int kNone = -1;
  std::vector<int> needs(lanes_used.size(), kNone);
  std::vector<std::vector<std::int32_t>> arrivals;
  for (int number = 0; number < n; ++number) {
    const jit::OffRank& off_rank = *maps[static_cast<std::size_t>(number)]->off_rank();
    const Needed needed = needed_by(lanes_used, lanes, off_rank);
    made->halos.push_back(make_halo(lattice, needed, off_rank.to));
    std::vector<std::int32_t>& arrives =
        arrivals.emplace_back(static_cast<std::size_t>(lattice.groups * lanes), kElsewhere);
    std::size_t arrival = 0;
    for (const auto& positions : needed.positions)
      for (const std::int32_t position : positions) {
        arrives[static_cast<std::size_t>(position)] = made->halos.back().incoming->position[arrival++];
        int& need = needs[static_cast<std::size_t>(position / lanes)];
        if (need != number) need = need == kNone ? number : n;
      }
  }

  jit::Domain inner;
  std::vector<jit::Domain> faces(maps.size() + 1);
  for (std::size_t group = 0; group < lanes_used.size(); ++group)
    if (lanes_used[group] != 0)
      append(needs[group] == kNone ? inner : faces[static_cast<std::size_t>(needs[group])], group, lanes_used[group]);
  made->inner = in_ranges(std::move(inner), lanes);
  made->inner_pieces = with_pauses(made->inner, lanes);
  std::vector<int> every_map;
  for (int number = 0; number < n; ++number) every_map.push_back(number);
  for (int kind = 0; kind <= n; ++kind)
    if (jit::Domain& face = faces[static_cast<std::size_t>(kind)]; face.sites > 0)
      made->faces.push_back(
          make_face(lattice, std::move(face), kind < n ? std::vector<int>{kind} : every_map, maps, arrivals));
  return made;
}

}  // namespace QDP::detail
