// Messages that take longer, to see what is done meanwhile: measurements on one machine of what networks do.
#pragma once

#include <chrono>

#include "jit/comm/forwarded_ranks.hpp"

namespace jit {

/// What a rank expects from another arrives when it has come and `delay` has gone since it was expected (Message::start). The
/// processors have nothing to do meanwhile. Collective operations take what they take.
class DelayedRanks : public ForwardedRanks {
 public:
  DelayedRanks(std::unique_ptr<Communicator> ranks, std::chrono::nanoseconds delay)
      : ForwardedRanks(std::move(ranks)), delay_(delay) {}
  std::unique_ptr<Message> incoming(void* data, std::size_t bytes, int from, Length length) override;

 private:
  std::chrono::nanoseconds delay_;
};

}  // namespace jit
