// Which storage a field's contents fit (qdp/expr/storage.hpp). Ours, not QDP++'s.
#pragma once

#include <typeinfo>
#include <utility>
#include <vector>

#include "qdp/expr/storage_choice.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/types/outer.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

/// The storage of fewest words that keeps x to |x - kept(x)| <= tolerance |x| at each site; plain if none does. Collective.
template <class T>
FieldStorage fittingStorage(const OLattice<T>& x, double tolerance) {
  return detail::fitting_storage(x.field(), detail::shape_of<T>, tolerance);
}

namespace detail {
template <class T>
void compact(multi1d<OLattice<T>>& u, const FieldReader& reader) {
  std::vector<FieldOwner*> fields;
  for (int mu = 0; mu < u.size(); ++mu) fields.push_back(&u[mu].owner());
  compact_fields(fields, shape_of<T>, reader);
}
}  // namespace detail

/// Links that an operator will read often. Those that are SU(3) matrices, or these times numbers, to within 64 epsilon of their
/// word become what two rows leave of them, and are kept so where that is faster (TESSERA_TWO_ROWS): values are the same bits in any
/// storage, on any machine. Others, and those of other numbers of colours, stay what they are. Collective.
/// (su3_unitarize leaves matrices that two rows keep to 16 epsilon of a double.)
/// What is faster is found with `use(x)`, an expression over u and a field x of type F, on the even sites.
template <class F, class T, class Use>
void compact(multi1d<OLattice<T>>& u, const Use& use) {
  std::vector<F> x_and_y;
  auto read = [&] {
    if (x_and_y.empty()) {
      for (int i = 0; i < 2; ++i) x_and_y.emplace_back(u[0].lattice());
      x_and_y[0] = zero;
    }
    x_and_y[1][rb[0]] = use(std::as_const(x_and_y[0]));
  };
  detail::compact(u, detail::FieldReader::of(typeid(Use).name(), read));
}
/// The same without a trial: kept so where caches do not hold them, and on GPUs.
template <class T>
void compact(multi1d<OLattice<T>>& u) {
  detail::compact(u, {});
}

/// In 16 bits from now on, with a scale for each site (qdp/expr/storage.hpp); links in two rows where these keep them as well as
/// 16 bits do, to 2^-12. What cannot be kept so stays as it is. Collective.
template <class T>
void keepInHalf(OLattice<T>& x) {
  constexpr detail::Shape shape = detail::shape_of<T>;
  constexpr FieldStorage rows = FieldStorage::two_rows_half;
  if (detail::can_store(rows, shape))
    x.setStorage(detail::with_half(fittingStorage(x, detail::storage_tolerance(rows, shape.word) / 4)));
  else if (detail::can_store(FieldStorage::half, shape))
    x.setStorage(FieldStorage::half);
}

template <class T>
void keepInHalf(multi1d<OLattice<T>>& u) {
  for (int mu = 0; mu < u.size(); ++mu) keepInHalf(u[mu]);
}

/// A field without contents that lives where x does, and is kept as x is: for what an operator computes from x on its way.
template <class T>
OLattice<T> like(const OLattice<T>& x) {
  return OLattice<T>(x.storage(), x.lattice());
}

}  // namespace QDP
