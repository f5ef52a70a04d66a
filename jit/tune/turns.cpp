#include "jit/tune/turns.hpp"

namespace jit {
namespace {

std::vector<std::size_t> all_or_fewer(std::size_t computations) {
  std::vector<std::size_t> numbers{computations};
  for (const std::size_t fewer : {4, 2, 1})
    if (fewer < computations) numbers.push_back(fewer);
  return numbers;
}

}  // namespace

Turns::Turns(std::size_t computations) : numbers_(all_or_fewer(computations)), trial_(numbers_.size()) {}

}  // namespace jit
