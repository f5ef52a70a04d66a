#include "qdp/init/internal.hpp"

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

}  // namespace QDP::QDPInternal
