// Counts the messages that a rank sends.
//
//   tests::CountedMessages sent;      // from here on, in the body of a rank
//   psi = shift(chi, FORWARD, 0);
//   sent.messages, sent.bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>

#include "jit/comm/forwarded_ranks.hpp"
#include "jit/support/env.hpp"

namespace tests {

struct CountedMessages {
  std::int64_t messages = 0;
  std::size_t bytes = 0;

  /// Before the first lattice: then they are all copied, unless ranks are to read them where they lie.
  explicit CountedMessages(bool are_shared = false) {
    setenv("TESSERA_SHARE_MESSAGES", are_shared ? "1" : "0", 1);
    jit::reload_env();
    auto ranks = jit::replace_process_communicator(nullptr);
    jit::replace_process_communicator(std::make_unique<Counting>(*this, std::move(ranks)));
  }
  ~CountedMessages() = default;  // the process ends with it in place
  CountedMessages(const CountedMessages&) = delete;
  CountedMessages& operator=(const CountedMessages&) = delete;

  void reset() { messages = 0, bytes = 0; }

 private:
  class Counted : public jit::Message {
   public:
    Counted(CountedMessages& counts, std::unique_ptr<jit::Message> message, std::size_t bytes)
        : counts_(counts), message_(std::move(message)), bytes_(bytes) {}
    void start() override {
      ++counts_.messages;
      counts_.bytes += bytes_;
      message_->start();
    }
    bool done() override { return message_->done(); }
    void wait() override { message_->wait(); }
    std::size_t length() const override { return message_->length(); }

   private:
    CountedMessages& counts_;
    std::unique_ptr<jit::Message> message_;
    std::size_t bytes_;
  };

  struct Counting : jit::ForwardedRanks {
    Counting(CountedMessages& c, std::unique_ptr<jit::Communicator> ranks)
        : ForwardedRanks(std::move(ranks)), counts(c) {}
    std::unique_ptr<jit::Message> outgoing(const void* data, std::size_t n, int to) override {
      return std::make_unique<Counted>(counts, ForwardedRanks::outgoing(data, n, to), n);
    }

    CountedMessages& counts;
  };
};

}  // namespace tests
