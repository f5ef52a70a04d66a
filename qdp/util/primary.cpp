#include "qdp/util/primary.hpp"

#include <cstdint>

#include "jit/support/error.hpp"

namespace QDP::io {
namespace {

Process& state() {
  static Process current;
  return current;
}

}  // namespace

const Process& process() { return state(); }
void set_process(const Process& process) { state() = process; }

void broadcast(void* data, std::size_t bytes) {
  if (process().broadcast != nullptr && bytes > 0) process().broadcast(data, bytes);
}

void broadcast(std::string& text) {
  if (process().broadcast == nullptr) return;
  std::uint64_t size = text.size();
  broadcast(&size, sizeof size);
  text.resize(size);
  broadcast(text.data(), size);
}

double sum(double value) { return process().sum != nullptr ? process().sum(value) : value; }

void throw_everywhere(std::string failure) {
  broadcast(failure);
  if (!failure.empty()) throw jit::UserError(failure);
}

}  // namespace QDP::io
