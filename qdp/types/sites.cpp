#include "jit/support/error.hpp"
#include "qdp/types/shift.hpp"

namespace QDP::Layout {

LatticeInteger latticeCoordinate(int mu) {
  if (mu < 0 || mu >= Nd) detail::throw_range("direction", mu, Nd, "Layout::latticeCoordinate");
  LatticeInteger x;
  int* to = static_cast<int*>(x.field()->host_overwrite());
  for (int i = 0; i < sitesOnNode(); ++i) to[i] = siteCoords(nodeNumber(), i)[mu];
  return x;
}

}  // namespace QDP::Layout
