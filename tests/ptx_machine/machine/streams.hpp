// Streams and events: one thread does, of what stands first in the streams and need not wait, something at random. What
// the program forgot to order comes in any order.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>

namespace ptx_machine {

struct Event {
  std::uint64_t recorded = 0, done = 0;
  double seconds = 0;  ///< on the clock when it was last reached
};

struct Stream {
  struct Task {
    std::function<void()> work;
    std::shared_ptr<Event> waits, records;
    std::uint64_t ticket = 0;
  };
  std::deque<Task> tasks;
  bool busy = false;
};

class Streams {
 public:
  explicit Streams(std::uint64_t seed);
  ~Streams();

  Stream* create();
  bool destroy(Stream* stream);  ///< waits for its tasks
  bool known(const Stream* stream);

  void put(Stream* stream, std::function<void()> work);
  void record(Stream* stream, const std::shared_ptr<Event>& event);
  void wait(Stream* stream, const std::shared_ptr<Event>& event);
  void synchronize(Stream* stream);
  void synchronize(const std::shared_ptr<Event>& event);
  void synchronize_all();

  /// After a task has thrown, nothing is done any more: 0, or the error's number and text.
  int error();
  std::string error_text();

 private:
  void work();
  Stream* choose();

  std::mutex mutex_;
  std::condition_variable changed_, idle_;
  std::list<std::unique_ptr<Stream>> streams_;
  std::minstd_rand engine_;
  bool stop_ = false;
  int error_ = 0;
  std::string error_text_;
  std::thread worker_;
};

}  // namespace ptx_machine
