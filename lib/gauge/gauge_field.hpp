// Gauge fields and momenta: one colour matrix per site and direction, [Nd] fields (x | c,c).
#pragma once

#include "lib/error.hpp"

#include "qdp.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

/// A sum of gauge fields that comes in parts: the first part of a direction is stored, not added to nought.
class GaugeFieldSum {
 public:
  template <class Part>
  void add(int mu, const Part& part) {
    if (begun_[static_cast<std::size_t>(mu)])
      sum_[mu] += part;
    else
      sum_[mu] = part;
    begun_[static_cast<std::size_t>(mu)] = true;
  }
  void add(GaugeField part) {
    if (std::find(begun_.begin(), begun_.end(), true) == begun_.end()) {
      sum_ = std::move(part);
      begun_.assign(QDP::Nd, true);
    } else {
      for (int mu = 0; mu < QDP::Nd; ++mu) add(mu, part[mu]);
    }
  }
  /// Ends it. Nought where nothing was added.
  GaugeField value() && {
    for (int mu = 0; mu < QDP::Nd; ++mu)
      if (!begun_[static_cast<std::size_t>(mu)]) sum_[mu] = QDP::zero;
    return std::move(sum_);
  }

 private:
  GaugeField sum_ = GaugeField(QDP::Nd);
  std::vector<bool> begun_ = std::vector<bool>(QDP::Nd, false);
};

}  // namespace qcd
