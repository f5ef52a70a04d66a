#include "jit/support/error.hpp"
#include "qdp/types/shift.hpp"

namespace QDP::Layout {

LatticeInteger latticeCoordinate(int mu) {
  if (mu < 0 || mu >= Nd) detail::throw_range("direction", mu, Nd, "Layout::latticeCoordinate");
  LatticeInteger x;
  int* to = static_cast<int*>(x.field()->host_overwrite());
  detail::fill_coordinates(mu, to);
  return x;
}

}  // namespace QDP::Layout
