#include "jit/codegen/builders.hpp"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "jit/support/cores.hpp"

namespace jit {
namespace {

/// More would take memory, and time from the program.
constexpr int kMostThreads = 4;
/// LLVM needs some ten megabytes, which the C library keeps: a thread that has had nothing to build for so long gives them back.
constexpr std::chrono::seconds kRest{1};

/// LLVM makes static objects when they are first needed. Those of a build that begins with none must be older than what waits for
/// threads at the end of the process, or they would go first.
void make_static_objects(Target& target) {
  ir::Kernel kernel;
  kernel.name = "first";
  kernel.lanes = native_lanes();
  kernel.leaves = {{ir::Type::f32, 1, true, false}, {ir::Type::f32, 1, false, true}};
  kernel.nodes = {{.op = ir::Op::load, .type = ir::Type::f32},
                  {.op = ir::Op::add, .type = ir::Type::f32, .a = 0, .b = 0}};
  kernel.stores = {{{1, 0, 0, 0}, 1}};
  (void)build_kernel(target, kernel, {});
}

}  // namespace

struct Builders::Order::State {
  ir::Kernel kernel;
  CodeOptions options;
  bool soon = false;
  BuiltKernel built;
  std::exception_ptr failure;
  std::atomic<bool> done = false;
};

bool Builders::Order::done() const { return state_->done.load(std::memory_order_acquire); }

BuiltKernel Builders::Order::take() {
  if (state_->failure) std::rethrow_exception(state_->failure);
  return std::move(state_->built);
}

struct Builders::State {
  std::function<std::unique_ptr<Target>()> make_target;
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::weak_ptr<Order::State>> open;
  std::vector<std::thread> threads;
  int idle = 0;
  bool ended = false;
  std::mutex making_target;
  std::mutex building[kMostThreads];                       ///< held by the thread of this number while LLVM is at work
  std::array<const Order::State*, kMostThreads> orders{};  ///< that the thread of this number is at work on

  void serve(int number) {
    std::unique_ptr<Target> target;
    const auto wanted = [&] { return ended || !open.empty(); };
    bool has_built = false;
    for (std::unique_lock lock(mutex);;) {
      ++idle;
      changed.notify_all();
      if (has_built && !changed.wait_for(lock, kRest, wanted)) {
        lock.unlock();
        malloc_trim(0);
        lock.lock();
        has_built = false;
      }
      changed.wait(lock, wanted);
      --idle;
      if (ended) return;
      const std::shared_ptr<Order::State> order = open.front().lock();
      open.pop_front();
      const Order::State*& mine = orders[static_cast<std::size_t>(number)] = order.get();
      lock.unlock();
      if (order) build(*order, target, building[number]);
      has_built |= order != nullptr;
      lock.lock();
      mine = nullptr;
    }
  }

  void build(Order::State& order, std::unique_ptr<Target>& target, std::mutex& at_work) {
    const std::lock_guard lock(at_work);
    try {
      if (!target) {
        const std::lock_guard one_at_a_time(making_target);
        target = make_target();
      }
      order.built = build_kernel(*target, order.kernel, order.options);
    } catch (...) {
      order.failure = std::current_exception();
    }
    order.done.store(true, std::memory_order_release);
  }

  void end() {
    {
      const std::lock_guard lock(mutex);
      ended = true;
      changed.notify_all();
    }
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }

  static std::vector<State*>& all() {
    static auto* const states = new std::vector<State*>;
    return *states;
  }
  static void end_all() {
    for (State* state : all()) state->end();
  }

  /// Objects of a thread go before all static ones, while at the end of the process those go first that LLVM has made last, perhaps
  /// in a build under way.
  static void end_with_main_thread() {
    struct End {
      ~End() {
        if (::gettid() == ::getpid()) end_all();
      }
    };
    thread_local const End end;
    (void)end;
  }
};

namespace {

std::mutex& mutex_of_all() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

}  // namespace

Builders::Builders(std::function<std::unique_ptr<Target>()> make_target) : state_(new State) {
  state_->make_target = std::move(make_target);
  const std::lock_guard lock(mutex_of_all());
  if (State::all().empty()) {
    make_static_objects(*state_->make_target());
    std::atexit(State::end_all);
    // LLVM's locks must not be held by threads that the child does not have.
    pthread_atfork(
        [] {
          mutex_of_all().lock();
          for (State* state : State::all()) {
            for (std::mutex& mutex : state->building) mutex.lock();
            state->mutex.lock();
          }
        },
        [] {
          for (State* state : State::all()) {
            state->mutex.unlock();
            for (std::mutex& mutex : state->building) mutex.unlock();
          }
          mutex_of_all().unlock();
        },
        [] {
          for (State* state : State::all()) {
            auto make_target = std::move(state->make_target);
            new (state) State;  // in the place of the other, whose threads are not here to be ended
            state->make_target = std::move(make_target);
          }
          mutex_of_all().unlock();
        });
  }
  State::all().push_back(state_);
}

Builders::Order Builders::order(const ir::Kernel& kernel, const CodeOptions& options, bool soon) {
  Order order;
  order.state_ = std::make_shared<Order::State>();
  order.state_->kernel = kernel;
  order.state_->options = options;
  order.state_->soon = soon;
  const auto can_wait = [](const std::weak_ptr<Order::State>& other) {
    const auto state = other.lock();
    return !state || !state->soon;
  };
  const std::lock_guard lock(state_->mutex);
  State::end_with_main_thread();
  std::deque<std::weak_ptr<Order::State>>& open = state_->open;
  open.insert(soon ? std::ranges::find_if(open, can_wait) : open.end(), order.state_);
  const auto most = std::clamp(static_cast<int>(cores_of_process()), 1, kMostThreads);
  const auto number = static_cast<int>(state_->threads.size());
  if (std::ssize(state_->open) > state_->idle && number < most && !state_->ended) try {
      state_->threads.emplace_back([state = state_, number] { state->serve(number); });
    } catch (const std::system_error&) {  // no more threads are to be had: those that are there build it, or none does
    }
  state_->changed.notify_one();
  return order;
}

bool Builders::finish(const Order& order) {
  std::unique_lock lock(state_->mutex);
  const auto is_it = [&](const std::weak_ptr<Order::State>& other) { return other.lock() == order.state_; };
  if (std::erase_if(state_->open, is_it) > 0) return false;
  // In a process that was forked off since nobody is at work.
  state_->changed.wait(lock, [&] {
    return order.done() || std::ranges::find(state_->orders, order.state_.get()) == state_->orders.end();
  });
  return order.done();
}

void Builders::finish() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->open.clear();
  }
  wait();
}

void Builders::wait() {
  std::unique_lock lock(state_->mutex);
  const auto ready = [&] { return state_->open.empty() && state_->idle == std::ssize(state_->threads); };
  state_->changed.wait(lock, ready);
}

}  // namespace jit
