// Sites of the whole lattice by number, in host order, wherever they lie: loops over them say the same on any grid of ranks.
#pragma once

#include <vector>

#include "qdp.h"
#include "tests/reference/whole.hpp"

namespace tests {

inline int all_sites() { return static_cast<int>(QDP::Layout::vol()); }

inline QDP::multi1d<int> coordinates_of(int number) {
  return QDP::detail::to_multi1d(QDP::detail::present_lattice("coordinates_of")->whole().coord(number));
}

inline int number_of(const QDP::multi1d<int>& x) {
  return static_cast<int>(
      QDP::detail::present_lattice("number_of")->whole().index(QDP::detail::to_coord(x, "number_of")));
}

/// Host index on this rank; -1: another has the site.
inline int index_here(int number) {
  const QDP::multi1d<int> x = coordinates_of(number);
  return QDP::Layout::nodeNumber(x) == QDP::Layout::nodeNumber() ? QDP::Layout::linearSiteIndex(x) : -1;
}

/// The sites of a subset, ascending. Collective.
inline std::vector<int> numbers_in(const QDP::Subset& subset) {
  QDP::LatticeInteger member = 0;
  member[subset] = 1;
  std::vector<int> numbers;
  const auto members = reference::whole(member);
  for (int n = 0; n < all_sites(); ++n)
    if (members[static_cast<std::size_t>(n)].elem().elem().elem() == 1) numbers.push_back(n);
  return numbers;
}

/// Its value. Collective.
template <class T>
T site(const QDP::OLattice<T>& field, int number) {
  return peekSite(field, coordinates_of(number)).elem();
}
/// Sets it. Collective.
template <class T>
void set_site(QDP::OLattice<T>& field, int number, const T& value) {
  QDP::OScalar<T> scalar;
  scalar.elem() = value;
  pokeSite(field, scalar, coordinates_of(number));
}

}  // namespace tests
