// What statements are to the compiler, for tests: nothing is looked up, kept or run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "jit/ir/ir.hpp"
#include "qdp/expr/evaluate.hpp"

namespace QDP::detail {

struct Inspected {
  std::vector<std::byte> key;  ///< what its kernel is found by inside of the process
  jit::ir::Kernel kernel;      ///< lowered now
  // What this execution would bind to it:
  std::vector<jit::Field*> fields;
  std::vector<const jit::SiteMap*> maps;  ///< [slots], nullptr for the site itself
  std::vector<std::uint64_t> scalars;
};
/// Of dest = rhs as one kernel, whatever must be computed aside when it runs.
Inspected inspect_assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs);
/// Of the reduction of the first `count` components.
Inspected inspect_reduce(const Expr& rhs, const jit::Domain& domain, Reduce kind, int count);

}  // namespace QDP::detail
