// Whether values can be kept in a storage of fewer words: asked before they are assigned.
#pragma once

#include "qdp/expr/node.hpp"
#include "qdp/expr/storage.hpp"

namespace jit {
struct Domain;
}

namespace QDP::detail {

class LatticeState;

/// Whether all values could be kept so: |x - kept(x)| <= tolerance |x| at each site of the domain. Collective.
bool fits(const Expr& value, const jit::Domain& domain, FieldStorage storage, double tolerance);

/// The value, computed unless any fits, if it fits the storage to storage_tolerance; otherwise throws jit::UserError that names site
/// and deviation.
Expr fitting(Expr value, Shape shape, const jit::Domain& domain, FieldStorage storage, const LatticeState& lattice);

}  // namespace QDP::detail
