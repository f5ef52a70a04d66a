#include "apps/bench/session.hpp"

#include <omp.h>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "lib/gauge/checkerboard.hpp"
#include "qdp.h"

namespace bench {

void create_lattice(const std::vector<int>& extents) {
  if (extents.size() != static_cast<std::size_t>(QDP::Nd))
    throw jit::UserError({.what = "--lattice " + qcd::lattice_text(extents),
                          .expected = std::to_string(QDP::Nd) + " extents",
                          .got = std::to_string(extents.size())});
  QDP::multi1d<int> size(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) size[mu] = extents[static_cast<std::size_t>(mu)];
  QDP::Layout::setLattSize(size);
  QDP::Layout::create();
}

void set_threads(int threads) {
  omp_set_num_threads(threads);
  jit::Runtime::instance().set_threads(threads);
}

}  // namespace bench
