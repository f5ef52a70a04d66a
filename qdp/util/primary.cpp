#include "qdp/util/primary.hpp"

#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/support/error.hpp"

namespace QDP::io {

void broadcast(void* data, std::size_t bytes) { jit::process_communicator().broadcast(data, bytes, kPrimary); }

void broadcast(std::string& text) { jit::broadcast(jit::process_communicator(), text, kPrimary); }

double sum(double value) {
  jit::reduce(jit::process_communicator(), std::span(&value, 1), jit::ReductionValue::Kind::sum);
  return value;
}

void throw_everywhere(std::string failure) {
  broadcast(failure);
  if (!failure.empty()) throw jit::UserError(failure);
}

}  // namespace QDP::io
