// Gauge fields and momenta: one colour matrix per site and direction, [Nd] fields (x | c,c).
#pragma once

#include "lib/error.hpp"

#include "qdp.h"

#include <optional>
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

/// A sum that comes in parts: the first is stored, not added to nought.
class ColorMatrixTotal {
 public:
  template <class Part>
  void add(Part&& part) {
    if (sum_)
      *sum_ += part;
    else
      sum_.emplace(std::forward<Part>(part));
  }
  /// What there is; something has been added.
  const QDP::LatticeColorMatrix& value() const { return *sum_; }
  /// Ends it. Nought if nothing was added.
  QDP::LatticeColorMatrix take() {
    if (!sum_) sum_.emplace(QDP::zero);
    QDP::LatticeColorMatrix sum = std::move(*sum_);
    sum_.reset();
    return sum;
  }

 private:
  std::optional<QDP::LatticeColorMatrix> sum_;
};

/// The same of every direction.
class GaugeFieldTotal {
 public:
  ColorMatrixTotal& operator[](int mu) { return totals_[static_cast<std::size_t>(mu)]; }
  void add(GaugeField part) {
    for (int mu = 0; mu < QDP::Nd; ++mu) (*this)[mu].add(std::move(part[mu]));
  }
  GaugeField take() {
    GaugeField sum(QDP::Nd);
    for (int mu = 0; mu < QDP::Nd; ++mu) sum[mu] = (*this)[mu].take();
    return sum;
  }

 private:
  std::vector<ColorMatrixTotal> totals_ = std::vector<ColorMatrixTotal>(QDP::Nd);
};

}  // namespace qcd
