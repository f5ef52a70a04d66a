#include "qdp/util/multi.hpp"

#include <string>

#include "jit/support/error.hpp"

namespace QDP::detail {
namespace {

std::string name(int rank) { return rank >= 1 && rank <= 5 ? "multi" + std::to_string(rank) + "d" : "multiNd"; }

}  // namespace

void throw_multi_index(int rank, const char* position, int index, int extent) {
  throw jit::UserError({.what = name(rank) + ": " + position + " index",
                        .expected = extent > 0 ? "0.." + std::to_string(extent - 1) : "none, the array is empty",
                        .got = std::to_string(index)});
}

void throw_multi_sizes(const char* operation, int left, int right) {
  throw jit::UserError({.what = std::string("multi1d ") + operation + " multi1d",
                        .expected = "arrays of one size",
                        .got = std::to_string(left) + " and " + std::to_string(right) + " elements"});
}

void throw_multi_extent(int rank, int extent) {
  throw jit::UserError({.what = name(rank) + ": size", .expected = "0 or more", .got = std::to_string(extent)});
}

void throw_multi_borrowed(int rank) {
  throw jit::UserError({.what = name(rank) + ": new size for a view of another array's memory",
                        .what_now = "assign an array of the view's size, or copy the view into an array of its own"});
}

void throw_multi_empty(const char* operation) {
  throw jit::UserError({.what = std::string("multi ") + operation + " value: the array has no elements yet",
                        .what_now = "call resize first"});
}

void throw_multi_rank(int expected, int got) {
  throw jit::UserError(
      {.what = "multiNd: number of indices", .expected = std::to_string(expected), .got = std::to_string(got)});
}

}  // namespace QDP::detail
