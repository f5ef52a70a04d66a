#include "qdp/io/binary_containers.hpp"

#include "jit/support/error.hpp"

namespace QDP::io {

void throw_wrong_count(long long count) {
  throw jit::UserError({.what = "BinaryReader: number of elements",
                        .expected = "0..2147483647",
                        .got = std::to_string(count),
                        .what_now = "the data have another layout"});
}

}  // namespace QDP::io
