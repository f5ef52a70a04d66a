// Which kernel computes a statement.
#pragma once

#include "qdp/expr/statement.hpp"

namespace jit {
class KernelHandle;
}

namespace QDP::detail {

/// One kernel, or, if that would be too large, none before a part of the statement has been computed aside; none at all for
/// the statements of a program that are better computed one by one.
struct Way {
  jit::KernelHandle* kernel = nullptr;
  int aside = -1;  ///< the record of that part
};

/// Looks the statement up; lowers it if it is new. Valid as long as Runtime::find() says.
Way way_of(Statement& value, const Grouping& grouping, const Purpose& purpose);
Way way_of(Statement& program, const Grouping& grouping);

}  // namespace QDP::detail
