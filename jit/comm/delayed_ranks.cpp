#include "jit/comm/delayed_ranks.hpp"

#include <thread>
#include <utility>

namespace jit {
namespace {

using Clock = std::chrono::steady_clock;

class DelayedMessage : public Message {
 public:
  DelayedMessage(std::unique_ptr<Message> message, std::chrono::nanoseconds delay)
      : message_(std::move(message)), delay_(delay) {}
  void start() override {
    message_->start();
    earliest_ = Clock::now() + delay_;
  }
  bool done() override { return message_->done() && Clock::now() >= earliest_; }
  void wait() override {
    message_->wait();
    std::this_thread::sleep_until(earliest_);
  }
  std::size_t length() const override { return message_->length(); }

 private:
  std::unique_ptr<Message> message_;
  std::chrono::nanoseconds delay_;
  Clock::time_point earliest_{};
};

}  // namespace

std::unique_ptr<Message> DelayedRanks::incoming(void* data, std::size_t bytes, int from, Length length) {
  return std::make_unique<DelayedMessage>(ForwardedRanks::incoming(data, bytes, from, length), delay_);
}

}  // namespace jit
