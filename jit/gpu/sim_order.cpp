#include "jit/gpu/sim_order.hpp"

#include <algorithm>

#include "jit/support/error.hpp"

namespace jit {
namespace {

std::string name_of(std::size_t stream) { return "stream " + std::to_string(stream); }

}  // namespace

void SimOrder::join(Clock& into, const Clock& other) {
  if (into.size() < other.size()) into.resize(other.size());
  for (std::size_t i = 0; i < other.size(); ++i) into[i] = std::max(into[i], other[i]);
}

std::size_t SimOrder::add_stream() {
  streams_.emplace_back();
  return streams_.size() - 1;
}

void SimOrder::begin(std::size_t stream, const char* what) {
  Clock& clock = streams_[stream].clock;
  join(clock, host_);
  if (clock.size() <= stream) clock.resize(stream + 1);
  ++clock[stream];
  streams_[stream].what = what;
}

void SimOrder::use(History& memory, std::size_t stream, bool writes) {
  const Clock& mine = clock(stream);
  const auto fail = [&](std::size_t other, const std::string& earlier) {
    throw InternalError({.what = std::string("simulated GPU: ") + streams_[stream].what + " in " + name_of(stream),
                         .expected = "to come behind " + earlier + " in " + name_of(other) + ", which uses the memory",
                         .got = "no event between them",
                         .what_now = "Let the stream wait"});
  };
  if (memory.written > at(mine, memory.writer)) fail(memory.writer, memory.written_by);
  if (!writes) {
    if (memory.read.size() <= stream) memory.read.resize(stream + 1);
    memory.read[stream] = mine[stream];
    return;
  }
  for (std::size_t other = 0; other < memory.read.size(); ++other)
    if (memory.read[other] > at(mine, other)) fail(other, "a reader");
  memory = {.writer = stream, .written = mine[stream], .written_by = streams_[stream].what, .read = {}};
}

void SimOrder::end_use(const History& memory) const {
  const auto check = [&](std::size_t stream, std::uint64_t number) {
    if (number > at(host_, stream))
      throw InternalError({.what = "simulated GPU: free",
                           .expected = "the host to have waited for the work on the memory",
                           .got = "unfinished work in " + name_of(stream) + " for all that it knows",
                           .what_now = "Synchronise before the call"});
  };
  check(memory.writer, memory.written);
  for (std::size_t stream = 0; stream < memory.read.size(); ++stream) check(stream, memory.read[stream]);
}

}  // namespace jit
