#include "qdp/init/internal.hpp"

#include <cstdint>
#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/support/error.hpp"

namespace QDP::QDPInternal {
namespace {

std::size_t checked(const char* operation, int bytes) {
  if (bytes < 0)
    throw jit::UserError({.what = std::string("QDPInternal::") + operation,
                          .expected = "a number of bytes",
                          .got = std::to_string(bytes)});
  return static_cast<std::size_t>(bytes);
}

}  // namespace

void sendToWait(void* buffer, int to, int bytes) {
  jit::process_communicator().send(buffer, checked("sendToWait", bytes), to);
}

void recvFromWait(void* buffer, int from, int bytes) {
  jit::process_communicator().receive(buffer, checked("recvFromWait", bytes), from);
}

void route(void* buffer, int from, int to, int bytes) {
  const int rank = jit::process_communicator().rank();
  if (from == to) return;
  if (rank == from) sendToWait(buffer, to, bytes);
  if (rank == to) recvFromWait(buffer, from, bytes);
}

namespace detail {
namespace {

template <class W> void reduce_words(void* words, std::size_t count, Join join) {
  using Kind = jit::ReductionValue::Kind;
  jit::reduce(jit::process_communicator(), std::span(static_cast<W*>(words), count),
              join == Join::sum   ? Kind::sum
              : join == Join::max ? Kind::max
                                  : Kind::min);
}
template <class Signed, class Unsigned>
void reduce_integers(void* words, std::size_t count, bool with_sign, Join join) {
  with_sign ? reduce_words<Signed>(words, count, join) : reduce_words<Unsigned>(words, count, join);
}

}  // namespace

void reduce(void* words, std::size_t count, Words type, Join join) {
  if (type.floating)
    return type.bytes == 4 ? reduce_words<float>(words, count, join) : reduce_words<double>(words, count, join);
  switch (type.bytes) {
    case 1:
      return reduce_integers<std::int8_t, std::uint8_t>(words, count, type.with_sign, join);
    case 2:
      return reduce_integers<std::int16_t, std::uint16_t>(words, count, type.with_sign, join);
    case 4:
      return reduce_integers<std::int32_t, std::uint32_t>(words, count, type.with_sign, join);
    default:
      return reduce_integers<std::int64_t, std::uint64_t>(words, count, type.with_sign, join);
  }
}
bool all_of(bool here) { return jit::all_of(jit::process_communicator(), here); }
bool any_of(bool here) { return jit::any_of(jit::process_communicator(), here); }

}  // namespace detail

}  // namespace QDP::QDPInternal
