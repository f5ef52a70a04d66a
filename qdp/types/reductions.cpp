#include "qdp/types/reductions.hpp"

#include <algorithm>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/sites.hpp"

namespace QDP::detail {

namespace {
template <class W> bool any_of_words(const void* memory, std::size_t n, WordTest test) {
  const auto* const words = static_cast<const W*>(memory);
  switch (test) {
    case WordTest::nan:
      return std::any_of(words, words + n, [](W x) { return std::isnan(x); });
    case WordTest::inf:
      return std::any_of(words, words + n, [](W x) { return std::isinf(x); });
    case WordTest::not_normal:
      break;
  }
  return std::any_of(words, words + n, [](W x) { return !std::isnormal(x); });
}

bool any_word(const void* memory, Type word, std::size_t n, WordTest test) {
  switch (word) {
    case Type::f32:
      return any_of_words<float>(memory, n, test);
    case Type::f64:
      return any_of_words<double>(memory, n, test);
    case Type::i32:
      return any_of_words<int>(memory, n, test);
    case Type::i64:
      return any_of_words<long>(memory, n, test);
    case Type::b1:
      break;
  }
  return any_of_words<unsigned char>(memory, n, test);
}
}  // namespace

bool any_word(const void* words, Shape shape, WordTest test) {
  return any_word(words, shape.word, static_cast<std::size_t>(shape.components()), test);
}

bool any_word(jit::Field& field, WordTest test) {
  const auto words = static_cast<std::size_t>(field.order().sites) * static_cast<std::size_t>(field.components());
  const bool here = any_word(field.host_read(), field.word(), words, test);
  field.host_done();
  return jit::any_of(jit::process_communicator(), here);
}

}  // namespace QDP::detail
