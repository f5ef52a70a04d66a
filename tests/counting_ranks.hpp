// Counts the messages that a rank sends.
//
//   tests::CountedMessages sent;      // from here on, in the body of a rank
//   psi = shift(chi, FORWARD, 0);
//   sent.messages, sent.bytes
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "jit/comm/communicator.hpp"

namespace tests {

struct CountedMessages {
  std::int64_t messages = 0;
  std::size_t bytes = 0;

  CountedMessages() {
    auto counting = std::make_unique<Counting>(*this);
    Counting& made = *counting;
    made.ranks = jit::replace_process_communicator(std::move(counting));
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

   private:
    CountedMessages& counts_;
    std::unique_ptr<jit::Message> message_;
    std::size_t bytes_;
  };

  struct Counting : jit::Communicator {
    explicit Counting(CountedMessages& c) : counts(c) {}
    int rank() const override { return ranks->rank(); }
    int size() const override { return ranks->size(); }
    std::string host() const override { return ranks->host(); }
    void broadcast(void* data, std::size_t n, int root) override { ranks->broadcast(data, n, root); }
    void combine(void* values, std::size_t n, std::size_t count, jit::Join join) override {
      ranks->combine(values, n, count, join);
    }
    void gather(const void* mine, std::size_t n, void* all) override { ranks->gather(mine, n, all); }
    void barrier() override { ranks->barrier(); }
    std::unique_ptr<jit::Message> outgoing(const void* data, std::size_t n, int to) override {
      return std::make_unique<Counted>(counts, ranks->outgoing(data, n, to), n);
    }
    std::unique_ptr<jit::Message> incoming(void* data, std::size_t n, int from) override {
      return ranks->incoming(data, n, from);
    }
    void abort(int status) override { ranks->abort(status); }

    CountedMessages& counts;
    std::unique_ptr<jit::Communicator> ranks;
  };
};

}  // namespace tests
