// Gauge fields and momenta: one colour matrix per site and direction, [Nd] fields (x | c,c).
#pragma once

#include "lib/error.hpp"

#include "qdp.h"

#include <string>

namespace qcd {

/// U[mu](x): the link from x to x + mu, in SU(Nc). Also momenta and forces: traceless anti-Hermitian (conv. 2).
using GaugeField = QDP::multi1d<QDP::LatticeColorMatrix>;

/// Bytes per site.
constexpr double bytes_of_gauge_field() { return 2.0 * QDP::Nd * QDP::Nc * QDP::Nc * sizeof(QDP::REAL); }

/// Throws ShapeError unless `u` has one field per direction, all on the present lattice: what is measured on them is divided by
/// its volume.
inline void require_gauge_field(const GaugeField& u, const char* where) {
  if (u.size() != QDP::Nd)
    throw ShapeError(std::string(where) + ": expected one colour matrix field per direction (" +
                     std::to_string(QDP::Nd) + "), got " + std::to_string(u.size()));
  const QDP::Layout::Lattice present = QDP::Layout::Lattice::present();
  for (const QDP::LatticeColorMatrix& link : u)
    if (link.lattice() != present)
      throw ShapeError(std::string(where) + ": expected fields on the present lattice of " +
                       std::to_string(present.vol()) + " sites, got one on another lattice of " +
                       std::to_string(link.lattice().vol()) + " sites; make that the present one with Layout::Scope");
}

}  // namespace qcd
