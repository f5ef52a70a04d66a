// Whether fields that are read often, links above all, are kept in fewer words: these are decoded at each read, which pays where memory is
// what one waits for. How far that is so depends on the lattice, the machine, and what else it does; no model of it was right everywhere,
// and two rates that were measured once in a bad moment decided for months. So what reads the fields is timed with both storages, in turn.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "qdp/expr/operand.hpp"

namespace QDP::detail {

/// Fields that fit two rows, scaled or not, are reduced to what these leave, and are kept so where that pays:
///   if TESSERA_TWO_ROWS says so; else
///   on GPUs, where less to move is less time;
///   not if caches hold them for certain;
///   without times (TESSERA_TUNE=0), a reader, or memory for a trial: if caches do not hold them;
///   else by trial: read() reads them as what is named `reader` does, so kept and plain in turn, some twelve times each. The shortest
///   counts, for this process, as many sites and threads, and this reader.
/// All of one shape. The same on all ranks of their lattice: collective.
void compact_fields(std::span<FieldOwner* const> fields, Shape shape, const std::string& reader,
                    const std::function<void()>& read);

}  // namespace QDP::detail
