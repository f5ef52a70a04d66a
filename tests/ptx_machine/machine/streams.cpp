#include "streams.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

#include "code.hpp"

namespace ptx_machine {

Streams::Streams(std::uint64_t seed) : engine_(static_cast<std::uint32_t>(seed) | 1u), worker_([this] { work(); }) {}

Streams::~Streams() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

Stream* Streams::create() {
  const std::lock_guard lock(mutex_);
  streams_.push_back(std::make_unique<Stream>());
  return streams_.back().get();
}

bool Streams::destroy(Stream* stream) {
  if (!known(stream)) return false;
  synchronize(stream);
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [&](const auto& s) { return s.get() == stream; });
  return true;
}

bool Streams::known(const Stream* stream) {
  const std::lock_guard lock(mutex_);
  return std::any_of(streams_.begin(), streams_.end(), [&](const auto& s) { return s.get() == stream; });
}

void Streams::put(Stream* stream, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  stream->tasks.push_back({std::move(work), nullptr, nullptr, 0});
  changed_.notify_one();
}

void Streams::record(Stream* stream, const std::shared_ptr<Event>& event) {
  const std::lock_guard lock(mutex_);
  stream->tasks.push_back({nullptr, nullptr, event, ++event->recorded});
  changed_.notify_one();
}

void Streams::wait(Stream* stream, const std::shared_ptr<Event>& event) {
  const std::lock_guard lock(mutex_);
  stream->tasks.push_back({nullptr, event, nullptr, event->recorded});
  changed_.notify_one();
}

void Streams::synchronize(Stream* stream) {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] { return error_ != 0 || (stream->tasks.empty() && !stream->busy); });
}

void Streams::synchronize(const std::shared_ptr<Event>& event) {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&, ticket = event->recorded] { return error_ != 0 || event->done >= ticket; });
}

void Streams::synchronize_all() {
  std::unique_lock lock(mutex_);
  idle_.wait(lock, [&] {
    return error_ != 0 ||
           std::all_of(streams_.begin(), streams_.end(), [](const auto& s) { return s->tasks.empty() && !s->busy; });
  });
}

int Streams::error() {
  const std::lock_guard lock(mutex_);
  return error_;
}
std::string Streams::error_text() {
  const std::lock_guard lock(mutex_);
  return error_text_;
}

Stream* Streams::choose() {
  std::vector<Stream*> ready;
  for (const auto& s : streams_)
    if (!s->tasks.empty() &&
        (s->tasks.front().waits == nullptr || s->tasks.front().waits->done >= s->tasks.front().ticket))
      ready.push_back(s.get());
  return ready.empty() ? nullptr : ready[engine_() % ready.size()];
}

void Streams::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    Stream* stream = nullptr;
    changed_.wait(lock, [&] { return stop_ || (error_ == 0 && (stream = choose()) != nullptr); });
    if (stop_) return;
    Stream::Task task = std::move(stream->tasks.front());
    stream->tasks.pop_front();
    if (task.work != nullptr) {
      stream->busy = true;
      const bool late = engine_() % 64 == 0;
      lock.unlock();
      if (late) std::this_thread::sleep_for(std::chrono::microseconds(50));
      int error = 0;
      std::string text;
      try {
        task.work();
      } catch (const KernelError& e) {
        error = e.code;
        text = e.what();
      } catch (const std::exception& e) {
        error = 999;
        text = e.what();
      }
      task.work = nullptr;
      if (error != 0) std::fprintf(stderr, "ptx machine: %s\n", text.c_str());
      lock.lock();
      stream->busy = false;
      if (error != 0) {
        error_ = error;
        error_text_ = text;
      }
    }
    if (task.records != nullptr) {
      task.records->done = std::max(task.records->done, task.ticket);
      task.records->seconds =
          std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
    }
    idle_.notify_all();
  }
}

}  // namespace ptx_machine
