// Sums of paths as links, and their derivatives.
#include "lib/smear/fat_links.hpp"
#include "tests/lib/link_maps.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

LinkMaps map_of(const PathSums& paths) { return {std::make_shared<FatLinks>(paths)}; }

PathSums for_direction(int mu, const std::vector<WeightedPath>& list) {
  PathSums paths(Nd);
  paths[static_cast<std::size_t>(mu)] = list;
  return paths;
}

std::size_t count(const PathSums& paths, int length) {
  std::size_t n = 0;
  for (const auto& [path, weight] : paths[1]) n += path.length() == length ? 1u : 0u;
  return n;
}

/// The sum written out, path by path.
GaugeField plain_sum(const GaugeField& u, const PathSums& paths) {
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    v[mu] = zero;
    for (const auto& [path, weight] : paths[static_cast<std::size_t>(mu)])
      v[mu] += Real(weight) * path_product(u, path);
  }
  return v;
}

double size(const GaugeField& u) { return std::sqrt(tests::inner(u, u)); }

/// One of everything: staples with different weights, twisted paths, paths that turn back on themselves.
PathSums odd_paths() {
  return for_direction(1, {{{forward(1)}, 0.3},
                           {{forward(0), forward(1), backward(0)}, 0.2},
                           {{backward(0), forward(1), forward(0)}, -0.7},
                           {{forward(0), forward(2), forward(1), backward(0), backward(2)}, 0.5},
                           {{forward(1), forward(3), forward(1), backward(3), backward(1)}, 1.1},
                           {{backward(1), backward(3), forward(1), forward(3), forward(1)}, -0.4},
                           {{forward(3), backward(3), forward(1)}, 0.25}});
}

}  // namespace

TEST_CASE("fat7 and asqtad have the known numbers of paths, and weights") {
  const PathSums paths = fat7_paths(asqtad_weights(0.9));
  CHECK(count(paths, 1) == 1);
  CHECK(count(paths, 3) == 6);
  CHECK(count(paths, 5) == 24 + 6);
  CHECK(count(paths, 7) == 48);
  const auto total = [](const PathSums& sums) {
    double w = 0;
    for (const auto& [path, weight] : sums[2]) w += weight;
    return w;
  };
  CHECK(total(fat7_paths(fat7_weights())) == doctest::Approx(1));
  // asqtad: its Naik term, -1/24 for three links in a row, makes up for the rest.
  CHECK(total(fat7_paths(asqtad_weights(1))) - 3.0 / 24 == doctest::Approx(1));
}

TEST_CASE("the tree of staples gives the sum of the paths") {
  tests::use_lattice({3, 5, 3, 2});
  const GaugeField u = tests::random_field();
  for (const PathSums& paths : {fat7_paths(asqtad_weights(0.87)), fat7_paths(fat7_weights()), odd_paths()}) {
    const GaugeField expected = plain_sum(u, paths);
    CHECK(tests::distance(FatLinks(paths).apply(u), expected) < base_tol(1e-14) * size(expected));
  }
}

TEST_CASE("fat links are gauge covariant") {
  tests::use_lattice({3, 5, 3, 2});
  const GaugeField u = tests::random_field();
  tests::check_covariance(map_of(fat7_paths(asqtad_weights(0.87))), u);
  tests::check_covariance(map_of(odd_paths()), u);
}

TEST_CASE("the derivative of fat links is that of finite differences, twice smeared as well") {
  tests::use_lattice({3, 5, 3, 2});
  const GaugeField u = tests::random_field();
  tests::check_pull_back(map_of(odd_paths()), u);
  const LinkMaps fat7 = map_of(fat7_paths({.one = 0.4, .three = 0.1, .five = -0.05, .seven = 0.02, .lepage = 0.03}));
  tests::check_pull_back(fat7, u);
  tests::check_pull_back({fat7[0], fat7[0]}, u);
}

TEST_CASE("paths that end elsewhere are refused") {
  CHECK_THROWS_WITH_AS(FatLinks(for_direction(2, {{{forward(1)}, 1}})), doctest::Contains("x + z"), ShapeError);
  CHECK_THROWS_WITH_AS(FatLinks(PathSums(2)), doctest::Contains("per direction"), ShapeError);
  tests::use_lattice({2, 2, 2, 2});
  const FatLinks map(odd_paths());
  CHECK_THROWS_AS(map.apply(GaugeField(1)), ShapeError);
  GaugeField g(1);
  CHECK_THROWS_AS(map.pull_back(g, tests::random_field()), ShapeError);
}
