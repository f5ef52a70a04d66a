// Values that are made when somebody first asks for them.
#pragma once

#include <atomic>
#include <utility>

#include "jit/support/lock.hpp"
#include "jit/support/owned.hpp"

namespace jit {

/// Any thread may ask; one makes the value, under the lock of the run time. Copies of the owner make their own.
template <class T>
class OnDemand {
 public:
  OnDemand() = default;
  OnDemand(const OnDemand&) noexcept {}
  OnDemand(OnDemand&& other) noexcept : value_(std::move(other.value_)), made_(other.made_.exchange(nullptr)) {}
  OnDemand& operator=(OnDemand other) noexcept {
    value_ = std::move(other.value_);
    made_.store(value_.get(), std::memory_order_release);
    return *this;
  }

  /// The value; `make` returns it as a std::unique_ptr<T> if it is not there yet. It stays as long as its owner.
  template <class Make>
  const T& get(Make&& make) const {
    if (const T* made = made_.load(std::memory_order_acquire)) [[likely]]
      return *made;
    return first(std::forward<Make>(make));
  }

  /// The value if it has been made, else nullptr.
  const T* made() const { return made_.load(std::memory_order_acquire); }

 private:
  template <class Make>
  [[gnu::noinline]] const T& first(Make&& make) const {
    const RuntimeLock lock;
    if (!value_) {
      value_ = std::forward<Make>(make)();
      made_.store(value_.get(), std::memory_order_release);
    }
    return *value_;
  }

  mutable Owned<T> value_;
  mutable std::atomic<const T*> made_{nullptr};
};

}  // namespace jit
