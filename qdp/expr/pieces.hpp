// Statements too long for one kernel: where they are cut.
//
// A sum of hundreds of thousands of terms is computed in pieces of a few hundred. Each piece is a part that is computed
// aside, into a field of its own precision, and read by the next; so the work to cut, to compile and to run is linear in
// the length. Unlike the divisions of divide.hpp, pieces are found from the records alone, by counting.
#pragma once

#include <span>
#include <vector>

#include "qdp/expr/statement.hpp"

namespace QDP::detail {

/// The records to compute aside, operands first; none if the statement is not long. `arguments`: how many fields, shifts
/// and scalars it has.
std::vector<int> pieces(std::span<const Record> records, std::size_t arguments);

/// Which one is the last to read each record: the number of a piece, or that of records for what is left.
std::vector<int> last_readers(std::span<const Record> records, std::span<const int> pieces);

}  // namespace QDP::detail
