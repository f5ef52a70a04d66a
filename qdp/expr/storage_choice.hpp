// Whether fields that are read often, links above all, are kept in fewer words: these are decoded at each read, which pays where memory is
// what one waits for. How far that is so depends on the lattice, the machine, and what else it does; no model of it was right everywhere,
// and two rates that were measured once in a bad moment decided for months. So what reads the fields is timed with both storages, in turn.
#pragma once

#include <span>

#include "qdp/expr/operand.hpp"

namespace QDP::detail {

/// What reads fields often.
struct FieldReader {
  const char* name = "";  ///< the same for all that read alike; "": nothing is known of it
  void (*read)(void* self) = nullptr;
  void* self = nullptr;

  /// `read`, a function without arguments, which must outlive it.
  template <class Read>
  static FieldReader of(const char* name, Read& read) {
    return {name, [](void* self) { (*static_cast<Read*>(self))(); }, &read};
  }
};

/// Fields that fit two rows, scaled or not, are reduced to what these leave, and are kept so where that pays:
///   if TESSERA_TWO_ROWS says so; else
///   on GPUs, where less to move is less time;
///   not if caches hold them for certain;
///   without times (TESSERA_TUNE=0), a reader, or memory for a trial: if caches do not hold them;
///   else by trial: the reader reads them, so kept and plain in turn, some twelve times each. The shortest
///   counts, for this process, as many sites and threads, and this reader.
/// All of one shape. The same on all ranks of their lattice: collective.
void compact_fields(std::span<FieldOwner* const> fields, Shape shape, const FieldReader& reader);

}  // namespace QDP::detail
