// Shifts, user maps and single sites.
#pragma once

#include "qdp/layout/layout.hpp"
#include "qdp/layout/map.hpp"
#include "qdp/types/typedefs.hpp"

namespace QDP {

namespace detail {
/// x read through a map: result(site) = x(map(site)). A scalar is the same everywhere.
template <class X> requires Lang<X> auto make_shift(const X& x, const MapFamily& maps, int sign, int dir) {
  if constexpr (LatticeLike<X>) {
    using R = site_t<X>;
    return QDPExpr<R, OLattice<R>>(shifted(operand_of(x), maps, sign, dir));
  } else {
    maps.check(sign, dir);
    return x;
  }
}
/// The value at a site of a field's lattice on all ranks, which is collective; and the reverse. Throw jit::UserError if there
/// is no such site; `where` names the function of the language.
void peek_site(jit::Field& field, const multi1d<int>& coord, void* value, const char* where);
void poke_site(jit::Field& field, const multi1d<int>& coord, const void* value, const char* where);
/// Of a field in compressed storage.
void poke_encoded_site(const std::shared_ptr<jit::Field>& field, Shape shape, const multi1d<int>& coord, Expr value);
}  // namespace detail

/// The value at one site, on all ranks; of an expression, computed first. Collective.
template <class T> OScalar<T> peekSite(const OLattice<T>& x, const multi1d<int>& coord) {
  OScalar<T> r;
  detail::peek_site(*detail::plain_field(x.field(), detail::shape_of<T>), coord, &r.elem(), "peekSite");
  return r;
}
template <class T, class C> OScalar<T> peekSite(const QDPExpr<T, C>& x, const multi1d<int>& coord) {
  return peekSite(OLattice<T>(x), coord);
}
template <class T> OScalar<T> peekSite(const OScalar<T>& x, const multi1d<int>&) { return x; }
template <class T, class X> requires detail::assignable_from_scalar<T, X>
OLattice<T>& pokeSite(OLattice<T>& x, const X& value, const multi1d<int>& coord) {
  const OScalar<T> v(value);
  if (x.storage() != FieldStorage::plain) {
    detail::poke_encoded_site(x.field(), detail::shape_of<T>, coord, detail::to_expr(v));
    return x;
  }
  detail::poke_site(*x.field(), coord, &v.elem(), "pokeSite");
  return x;
}
/// The value at a host index of this rank.
template <class T> OScalar<T> getSite(const OLattice<T>& x, int site) {
  detail::check_site("getSite", *x.field(), site, detail::shape_of<T>);
  OScalar<T> r;
  detail::plain_field(x.field(), detail::shape_of<T>)->read_site(site, &r.elem());
  return r;
}
/// Site values of a subset in the order of its siteTable, and back.
template <class T> void QDP_extract(multi1d<OScalar<T>>& dest, const OLattice<T>& src, const Subset& s) {
  const multi1d<int>& tab = s.sites_for(src.field()->order());
  for (int i = 0; i < tab.size(); ++i) dest[tab[i]].elem() = src.elem(tab[i]);
}
template <class T> void QDP_insert(OLattice<T>& dest, const multi1d<OScalar<T>>& src, const Subset& s) {
  const multi1d<int>& tab = s.sites_for(dest.field()->order());
  for (int i = 0; i < tab.size(); ++i) dest.elem(tab[i]) = src[tab[i]].elem();
}

namespace Layout {
/// The coordinate in direction mu of each site. Throws jit::UserError unless 0 <= mu < Nd.
LatticeInteger latticeCoordinate(int mu);
}  // namespace Layout

}  // namespace QDP
