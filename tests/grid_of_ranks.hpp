// Ranks of a test (ranks.hpp) as a grid that lattices are shared out over.
//
//   tests::on_ranks<double>(tests::ranks_of(grid), [&](jit::Communicator&) {
//     tests::share_out(grid);
//     ...   // lattices that are created now
//   });
#pragma once

#include <cstddef>

#include "jit/runtime.hpp"
#include "qdp/layout/layout.hpp"

namespace tests {

/// How many ranks a grid has. `grid`: at least Nd numbers, of which more do not count.
template <class Grid>
int ranks_of(const Grid& grid) {
  int ranks = 1;
  for (std::size_t mu = 0; mu < QDP_ND; ++mu) ranks *= grid[mu];
  return ranks;
}

/// In each of them, before it creates a lattice. One thread computes: there may be more ranks than cores.
template <class Grid>
void share_out(const Grid& grid) {
  jit::Runtime::instance().set_threads(1);
  QDP::multi1d<int> ranks(QDP_ND);
  for (int mu = 0; mu < QDP_ND; ++mu) ranks[mu] = grid[static_cast<std::size_t>(mu)];
  QDP::Layout::setLogicalSize(ranks);
}

}  // namespace tests
