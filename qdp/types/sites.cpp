#include "qdp/types/shift.hpp"

namespace QDP::Layout {

LatticeInteger latticeCoordinate(int mu) {
  using Site = LatticeInteger::Site;
  return QDPExpr<Site, LatticeInteger>(detail::make_field(detail::coordinate_field(mu), detail::shape_of<Site>));
}

}  // namespace QDP::Layout
