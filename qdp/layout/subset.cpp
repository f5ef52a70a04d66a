#include "qdp/layout/subset.hpp"

#include "jit/support/error.hpp"
#include "qdp/layout/domain.hpp"
#include "qdp/layout/layout.hpp"

#include <algorithm>
#include <utility>

namespace QDP {

Subset all, even, odd;
Set rb, rb3, mcb;

namespace {

using detail::Coord;
using detail::Geometry;
using detail::SetTables;
using detail::SubsetTables;

/// Host indices of every colour, ascending.
void make_site_tables(SetTables& set) {
  const int sites = set.colors.size();
  std::vector<int> counts(set.subsets.size(), 0);
  for (int color : set.colors) ++counts[color];
  for (std::size_t color = 0; color < counts.size(); ++color) set.subsets[color].sites.resize(counts[color]);
  std::fill(counts.begin(), counts.end(), 0);
  for (int site = 0; site < sites; ++site) set.subsets[set.colors[site]].sites[counts[set.colors[site]]++] = site;
}

/// Completes a set whose sites are coloured.
std::shared_ptr<const SetTables> finish(std::shared_ptr<SetTables> set, int colors) {
  set->subsets.resize(colors);
  make_site_tables(*set);
  for (int color = 0; color < colors; ++color) {
    SubsetTables& subset = set->subsets[color];
    const int n = subset.sites.size();
    subset.color = color;
    subset.set = set.get();
    subset.ordered = n > 0 && subset.sites[n - 1] - subset.sites[0] == n - 1;
    if (!subset.ordered) continue;
    subset.start = subset.sites[0];
    subset.end = subset.sites[n - 1];
  }
  std::vector<jit::Domain> domains = detail::make_domains(*set->order, set->colors, colors);
  for (int color = 0; color < colors; ++color) set->subsets[color].domain = std::move(domains[color]);
  return set;
}

std::shared_ptr<SetTables> empty_tables(std::string name) {
  const detail::LayoutState& layout = detail::layout("Set::make");
  auto set = std::make_shared<SetTables>();
  set->name = std::move(name);
  set->order = layout.order;
  set->colors.resize(static_cast<int>(layout.lattice.volume()));
  return set;
}

/// A set of ours: `color` is a function of coordinates that any thread may call.
template <class Color>
std::shared_ptr<const SetTables> default_set(const char* name, int colors, Color color) {
  auto set = empty_tables(name);
  const Geometry& lattice = detail::layout(name).lattice;
#pragma omp parallel for if (lattice.volume() >= detail::kThreadedSites)
  for (std::int64_t site = 0; site < lattice.volume(); ++site)
    set->colors[static_cast<int>(site)] = color(lattice.coord(site));
  return finish(std::move(set), colors);
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

}  // namespace

void Subset::fail_empty() {
  throw jit::UserError({.what = "Subset",
                        .expected = "a subset of a set",
                        .got = "an empty one",
                        .what_now = "assign it from a set, as in s = rb[0], after Layout::create()"});
}

void Subset::fail_layout() const {
  throw jit::UserError({.what = "subset " + name(),
                        .expected = "a subset of the present layout",
                        .got = "one made before the last Layout::create()",
                        .what_now = "make sets again after Layout::create()"});
}

void Subset::fail_field() const {
  throw jit::UserError({.what = "field on subset " + name(),
                        .expected = "a field of the present layout",
                        .got = "one made before the last Layout::create()",
                        .what_now = "make fields again after Layout::create()"});
}

std::string Subset::name() const {
  const std::string& set = tables().set->name;
  return set == "all" ? set : set + "[" + std::to_string(color()) + "]";
}

Set Subset::getSet() const {
  Set set;
  set.share({tables_, tables().set});
  return set;
}

void Set::share(std::shared_ptr<const detail::SetTables> tables) {
  tables_ = std::move(tables);
  subsets_.resize(tables_->subsets.size());
  for (std::size_t i = 0; i < subsets_.size(); ++i) subsets_[i].tables_ = {tables_, &tables_->subsets[i]};
}

void Set::make(const SetFunc& function) {
  const int colors = function.numSubsets();
  if (colors < 1)
    throw jit::UserError({.what = "Set::make: numSubsets()", .expected = "at least 1", .got = std::to_string(colors)});
  auto set = empty_tables("set");
  const Geometry& lattice = detail::layout("Set::make").lattice;
  for (int site = 0; site < set->colors.size(); ++site) {
    const Coord x = lattice.coord(site);
    const int color = function(detail::to_multi1d(x));
    if (color < 0 || color >= colors)
      throw jit::UserError({.what = "Set::make: colour of site " + detail::to_string(x),
                            .expected = "0.." + std::to_string(colors - 1),
                            .got = std::to_string(color),
                            .what_now = "numSubsets() must be larger than every colour"});
    set->colors[site] = color;
  }
  share(finish(std::move(set), colors));
}

void Set::fail_index(int subset_index) const {
  if (!tables_)
    throw jit::UserError({.what = "Set",
                          .expected = "a set that was made",
                          .got = "an empty one",
                          .what_now = "call make(function), for the default sets Layout::create(), first"});
  const int n = numSubsets();
  throw jit::UserError({.what = tables_->name + "[" + std::to_string(subset_index) + "]",
                        .expected = "0.." + std::to_string(n - 1) + ", set " + tables_->name + " has " +
                                    std::to_string(n) + (n == 1 ? " subset" : " subsets"),
                        .got = std::to_string(subset_index),
                        .what_now = "Did you mean " + tables_->name + "[" +
                                    std::to_string(std::clamp(subset_index, 0, n - 1)) + "], or a set of your own?"});
}

const multi1d<int>& Set::latticeColoring() const {
  if (!tables_) fail_index(0);
  return tables_->colors;
}

void initDefaultSets() {
  Set everything;
  everything.share(default_set("all", 1, [](const Coord&) { return 0; }));
  rb.share(default_set("rb", 2, [](const Coord& x) { return detail::parity(x); }));
  rb3.share(default_set("rb3", 2, parity_of_first_three));
  mcb.share(default_set("mcb", 2 << QDP_ND, hypercube_color));
  all = everything[0];
  even = rb[0];
  odd = rb[1];
}

}  // namespace QDP
