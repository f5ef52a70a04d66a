// Lattices for tests of the language: comfortable, odd, tiny and unequal ones.
#pragma once

#include "jit/comm/collectives.hpp"
#include "qdp/layout/layout.hpp"
#include "tests/mpirun.hpp"
#include "tests/sizes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tests {

/// Extents or coordinates. Written for four dimensions; fewer leave off the last ones.
struct Extents : std::array<int, QDP_ND> {
  Extents() = default;
  constexpr Extents(const std::array<int, QDP_ND>& x) : std::array<int, QDP_ND>(x) {}
  constexpr Extents(int x, int y, int z, int t) : std::array<int, QDP_ND>{} {
    const int all[] = {x, y, z, t};
    for (std::size_t mu = 0; mu < size(); ++mu) (*this)[mu] = all[mu];
  }
  /// 0 in dimensions that are not there.
  constexpr int operator[](std::size_t mu) const { return mu < size() ? std::array<int, QDP_ND>::operator[](mu) : 0; }
  constexpr int& operator[](std::size_t mu) { return at(mu); }
};

/// Those that the grid of ranks, if there is one, shares out.
inline std::vector<Extents> shared_out(std::vector<Extents> all) {
  std::erase_if(all, [](const Extents& extents) { return !can_share_out(extents.data()); });
  return all;
}

/// In four dimensions 4x4x4x8 and 8x4x8x4 can be cut into 16 sub-lattices, 4x6x8x4 into 8, 3x5x4x8 into 4; 3x5x7x2, 2^4 and 1^4 not at
/// all.
inline const std::vector<Extents>& lattices() {
  static const std::vector<Extents> all = shared_out(
      {{4, 4, 4, 8}, {8, 4, 8, 4}, {4, 6, 8, 4}, {3, 5, 4, 8}, {3, 5, 7, 2}, {2, 2, 2, 2}, {1, 1, 1, 1}, {5, 3, 1, 3}});
  return all;
}

/// Leaves the case if the grid of ranks does not share it out.
inline void create_lattice(const Extents& extents) {
  must_share_out(extents.data());
  QDP::multi1d<int> nrow(QDP_ND);
  nrow = extents.data();
  QDP::Layout::setLattSize(nrow);
  QDP::Layout::create();
}

/// For tests that need some lattice, however small: these extents, or on ranks two sites in each direction.
inline void create_small(const Extents& extents) { create_lattice(job_ranks() == 1 ? extents : Extents{2, 2, 2, 2}); }

/// Coordinates of a lexicographic number, x fastest: the tests' own arithmetic.
inline Extents lexicographic_coordinates(int number, const Extents& extents) {
  Extents x;
  for (int mu = 0; mu < QDP_ND; ++mu) {
    x[mu] = number % extents[mu];
    number /= extents[mu];
  }
  return x;
}

inline int volume(const Extents& extents) {
  int v = 1;
  for (int l : extents) v *= l;
  return v;
}

inline int parity_of(const Extents& x) { return std::accumulate(x.begin(), x.end(), 0) & 1; }

/// Sites in host order: even ones first, lexicographic within a parity.
inline std::vector<Extents> sites_in_host_order(const Extents& extents) {
  std::vector<Extents> sites;
  for (int parity = 0; parity < 2; ++parity)
    for (int n = 0; n < volume(extents); ++n) {
      const Extents x = lexicographic_coordinates(n, extents);
      if (parity_of(x) == parity) sites.push_back(x);
    }
  return sites;
}

inline QDP::multi1d<int> to_multi1d(const Extents& x) {
  QDP::multi1d<int> m(QDP_ND);
  m = x.data();
  return m;
}

/// Those of the present lattice that this rank has, in its host order: the same order, without the sites of others.
inline std::vector<Extents> sites_here(const Extents& extents) {
  std::vector<Extents> sites = sites_in_host_order(extents);
  std::erase_if(sites,
                [](const Extents& x) { return QDP::Layout::nodeNumber(to_multi1d(x)) != QDP::Layout::nodeNumber(); });
  return sites;
}

/// The sum of what the ranks have counted. Collective.
inline std::int64_t total(std::int64_t here) {
  if (job_ranks() > 1) jit::reduce(jit::process_communicator(), std::span(&here, 1), jit::ReductionValue::Kind::sum);
  return here;
}

inline Extents to_extents(const QDP::multi1d<int>& x) {
  Extents e{};
  for (int mu = 0; mu < QDP_ND; ++mu) e[mu] = x[mu];
  return e;
}

}  // namespace tests
