// Ranks of a test (ranks.hpp) as a grid that lattices are shared out over.
//
//   tests::on_ranks<double>(tests::ranks_of(grid), [&](jit::Communicator&) {
//     tests::share_out(grid);
//     ...   // lattices that are created now
//   });
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "jit/comm/forwarded_ranks.hpp"
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

/// While it lives, ranks that are shared out pretend to run on so many machines, one after the other in turn.
class Machines {
 public:
  explicit Machines(int machines) { number() = machines; }
  ~Machines() { number() = 0; }
  Machines(const Machines&) = delete;
  Machines& operator=(const Machines&) = delete;

  static void pretend() {
    if (number() == 0) return;
    struct Elsewhere : jit::ForwardedRanks {
      using ForwardedRanks::ForwardedRanks;
      std::string host() const override { return "machine " + std::to_string(rank() % number()); }
    };
    jit::replace_process_communicator(std::make_unique<Elsewhere>(jit::replace_process_communicator(nullptr)));
  }

 private:
  static int& number() {
    static int machines = 0;
    return machines;
  }
};

/// In each of them, before it creates a lattice. One thread computes: there may be more ranks than cores.
template <class Grid>
void share_out(const Grid& grid) {
  Machines::pretend();
  jit::Runtime::instance().set_threads(1);
  QDP::multi1d<int> ranks(QDP_ND);
  for (int mu = 0; mu < QDP_ND; ++mu) ranks[mu] = grid[static_cast<std::size_t>(mu)];
  QDP::Layout::setLogicalSize(ranks);
}

}  // namespace tests
