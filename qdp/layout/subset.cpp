#include "qdp/layout/subset.hpp"

#include "jit/comm/collectives.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/support/error.hpp"
#include "qdp/layout/domain.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/layout/set_tables.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace QDP {

Set rb(detail::DefaultSet::rb), rb3(detail::DefaultSet::rb3), mcb(detail::DefaultSet::mcb);
Subset all = Set(detail::DefaultSet::all)[0], even = rb[0], odd = rb[1];

namespace {

using detail::Coord;
using detail::DefaultSet;
using detail::HostSites;
using detail::LatticeState;
using detail::SetTables;
using detail::SubsetTables;

/// Host indices of every colour, ascending.
std::vector<HostSites> host_sites_of(const multi1d<int>& colors, std::size_t n) {
  std::vector<int> counts(n, 0);
  for (int color : colors) ++counts[color];
  std::vector<HostSites> all(n);
  for (std::size_t color = 0; color < n; ++color) all[color].sites.resize(counts[color]);
  std::fill(counts.begin(), counts.end(), 0);
  for (int site = 0; site < colors.size(); ++site) all[colors[site]].sites[counts[colors[site]]++] = site;
  for (HostSites& h : all) {
    const int m = h.sites.size();
    h.ordered = m > 0 && h.sites[m - 1] - h.sites[0] == m - 1;
    if (!h.ordered) continue;
    h.start = h.sites[0];
    h.end = h.sites[m - 1];
  }
  return all;
}

/// The domains of a set whose sites have these colours. Collective: ranks learn how many sites there are in all.
void fill_domains(SetTables& set, const multi1d<int>& colors, int n) {
  std::vector<jit::Domain> domains = detail::make_domains(*set.lattice, colors, n);
  std::vector<std::int64_t> sites;
  for (const jit::Domain& domain : domains) sites.push_back(domain.sites);
  jit::reduce(jit::process_communicator(), std::span(sites), jit::ReductionValue::Kind::sum);
  set.subsets.resize(n);
  for (int color = 0; color < n; ++color)
    set.subsets[color] = {
        .color = color, .domain = std::move(domains[color]), .global_sites = sites[color], .set = &set};
}

int parity_of_first_three(const Coord& x) {
  int sum = 0;
  for (int mu = 0; mu < std::min(3, QDP_ND); ++mu) sum += x[mu];
  return sum & 1;
}

int hypercube_color(const Coord& x) {
  int color = 0, cube = 0;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    color |= (x[mu] & 1) << mu;
    cube += x[mu] >> 1;
  }
  return color | (cube & 1) << QDP_ND;
}

struct Definition {
  const char* name;
  int colors;
  int (*color)(const Coord&);
};
/// [DefaultSet]
const Definition kDefinitions[detail::kDefaultSets] = {
    {"all", 1, [](const Coord&) { return 0; }},
    {"rb", 2, [](const Coord& x) { return detail::parity(x); }},
    {"rb3", 2, parity_of_first_three},
    {"mcb", 2 << QDP_ND, hypercube_color},
};

multi1d<int> colors_of(const LatticeState& lattice, int (*color)(const Coord&)) {
  multi1d<int> colors(static_cast<int>(lattice.sites));
#pragma omp parallel for if (lattice.sites >= detail::kThreadedSites)
  for (std::int64_t site = 0; site < lattice.sites; ++site)
    colors[static_cast<int>(site)] = color(lattice.here().coord(site));
  return colors;
}

}  // namespace

namespace detail {

SetTables::~SetTables() {
  if (keeper) jit::run_deferred_noexcept();
}

const multi1d<int>& SetTables::colors() const {
  return all_colors.get([&] { return std::make_unique<multi1d<int>>(color()); });
}

const HostSites& SubsetTables::host_sites() const {
  return set->all_sites.get([&] {
    return std::make_unique<std::vector<HostSites>>(host_sites_of(set->colors(), set->subsets.size()));
  })[static_cast<std::size_t>(color)];
}

std::size_t SetTables::bytes() const {
  std::size_t bytes = 0;
  for (const SubsetTables& subset : subsets)
    bytes += subset.domain.groups.size() * sizeof(std::int32_t) + subset.domain.masks.size() * sizeof(std::uint64_t);
  if (const auto* made = all_colors.made()) bytes += static_cast<std::size_t>(made->size()) * sizeof(int);
  if (const auto* made = all_sites.made())
    for (const HostSites& one : *made) bytes += static_cast<std::size_t>(one.sites.size()) * sizeof(int);
  return bytes;
}

std::unique_ptr<SetTables> make_default_set(const LatticeState& lattice, DefaultSet which) {
  const Definition& definition = kDefinitions[static_cast<int>(which)];
  auto set = std::make_unique<SetTables>();
  set->name = definition.name;
  set->lattice = &lattice;
  set->color = [&lattice, definition] { return colors_of(lattice, definition.color); };
  fill_domains(*set, set->color(), definition.colors);
  return set;
}

}  // namespace detail

Subset::~Subset() = default;
Subset::Subset(const Subset&) = default;
Subset& Subset::operator=(const Subset&) = default;
Set::~Set() = default;
Set::Set(const Set&) = default;
Set& Set::operator=(const Set&) = default;

int Subset::color() const { return tables().color; }
bool Subset::hasOrderedRep() const { return host_sites().ordered; }
int Subset::start() const { return host_sites().start; }
int Subset::end() const { return host_sites().end; }
const multi1d<int>& Subset::siteTable() const { return host_sites().sites; }
int Subset::numSiteTable() const { return static_cast<int>(domain().sites); }

const jit::Domain& Subset::domain() const { return tables().domain; }
std::int64_t Subset::global_sites() const { return tables().global_sites; }
const LatticeState& Subset::lattice() const { return *tables().set->lattice; }
const HostSites& Subset::host_sites() const { return tables().host_sites(); }

const detail::SubsetTables& Subset::tables() const {
  if (default_set_ >= 0) {
    const SetTables& set = detail::present_lattice("subset")->set(static_cast<DefaultSet>(default_set_));
    return set.subsets[static_cast<std::size_t>(color_)];
  }
  if (!tables_)
    throw jit::UserError({.what = "Subset",
                          .expected = "a subset of a set",
                          .got = "an empty one",
                          .what_now = "assign it from a set, as in s = rb[0]"});
  return *tables_;
}

inline const SubsetTables& Subset::tables_for(const jit::SiteOrder& field_order) const {
  if (default_set_ >= 0) [[likely]] {
    const SetTables& set = detail::lattice_of(field_order).set(static_cast<DefaultSet>(default_set_));
    return set.subsets[static_cast<std::size_t>(color_)];
  }
  const SubsetTables& own = tables();
  if (own.set->lattice != &field_order) [[unlikely]]
    fail_lattice(field_order);
  return own;
}
const jit::Domain& Subset::domain_for(const jit::SiteOrder& field_order) const {
  return tables_for(field_order).domain;
}
const multi1d<int>& Subset::sites_for(const jit::SiteOrder& field_order) const {
  return tables_for(field_order).host_sites().sites;
}

void Subset::fail_lattice(const jit::SiteOrder& field_order) const {
  throw jit::UserError(
      {.what = "subset " + name() + " of a field",
       .expected = "a field on the lattice of the subset, " + describe(*tables().set->lattice),
       .got = "one on another lattice, " + describe(detail::lattice_of(field_order)),
       .what_now = "make the set again on that lattice: after Layout::create(), or in a Layout::Scope"});
}

std::string Subset::name() const {
  const std::string set = default_set_ >= 0 ? kDefinitions[default_set_].name : tables().set->name;
  return set == "all" ? set : set + "[" + std::to_string(color_) + "]";
}

Set Subset::getSet() const {
  if (default_set_ >= 0) return Set(static_cast<DefaultSet>(default_set_));
  Set set;
  set.share({tables_, tables().set});
  return set;
}

Set::Set(DefaultSet which) {
  const int number = static_cast<int>(which);
  for (int color = 0; color < kDefinitions[number].colors; ++color) subsets_.push_back(Subset(number, color));
}

void Set::share(std::shared_ptr<const detail::SetTables> tables) {
  tables_ = std::move(tables);
  subsets_.assign(tables_->subsets.size(), Subset());
  for (std::size_t i = 0; i < subsets_.size(); ++i) {
    subsets_[i].color_ = static_cast<int>(i);
    subsets_[i].tables_ = {tables_, &tables_->subsets[i]};
  }
}

void Set::make(const SetFunc& function) {
  const int n = function.numSubsets();
  if (n < 1)
    throw jit::UserError({.what = "Set::make: numSubsets()", .expected = "at least 1", .got = std::to_string(n)});
  const auto lattice = detail::present_lattice("Set::make");
  multi1d<int> colors(static_cast<int>(lattice->sites));
  const auto ask = [&](int site) {
    const Coord x = lattice->here().coord(site);
    const int color = function(detail::to_multi1d(x));
    if (color < 0 || color >= n)
      throw jit::UserError({.what = "Set::make: colour of site " + detail::to_string(x),
                            .expected = "0.." + std::to_string(n - 1),
                            .got = std::to_string(color),
                            .what_now = "numSubsets() must be larger than every colour"});
    colors[site] = color;
  };
  io::on_every_rank([&] {
    for (int site = 0; site < colors.size(); ++site) ask(site);
  });
  auto set = std::make_shared<SetTables>();
  set->name = "set";
  set->lattice = lattice.get();
  set->keeper = lattice;
  fill_domains(*set, colors, n);
  set->all_colors.get([&] { return std::make_unique<multi1d<int>>(std::move(colors)); });
  share(std::move(set));
}

void Set::fail_index(int subset_index) const {
  if (subsets_.empty())
    throw jit::UserError({.what = "Set",
                          .expected = "a set that was made",
                          .got = "an empty one",
                          .what_now = "call make(function) first"});
  const int n = numSubsets();
  const std::string whole = subsets_[0].name(), name = whole.substr(0, whole.find('['));
  throw jit::UserError({.what = name + "[" + std::to_string(subset_index) + "]",
                        .expected = "0.." + std::to_string(n - 1) + ", set " + name + " has " + std::to_string(n) +
                                    (n == 1 ? " subset" : " subsets"),
                        .got = std::to_string(subset_index),
                        .what_now = "Did you mean " + name + "[" + std::to_string(std::clamp(subset_index, 0, n - 1)) +
                                    "], or a set of your own?"});
}

const multi1d<int>& Set::latticeColoring() const {
  if (subsets_.empty()) fail_index(0);
  return subsets_[0].tables().set->colors();
}

void initDefaultSets() {}

}  // namespace QDP
