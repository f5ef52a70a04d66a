// An object on the heap with one owner, for members of classes in headers that many programs include.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace jit {

/// As std::unique_ptr<T>, from which it is made. Each std::unique_ptr<T> that a header names costs whoever includes it 10 ms of
/// compile time (a tuple, a deleter, comparisons); this costs nothing to speak of. T may be incomplete where nothing is destroyed.
template <class T>
class Owned {
 public:
  Owned() = default;
  Owned(std::nullptr_t) {}
  template <class U>
  Owned(std::unique_ptr<U> object) : object_(object.release()) {}
  Owned(Owned&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    T* const object = std::exchange(other.object_, nullptr);  // first: it may be this one's
    const Owned old(std::move(*this));
    object_ = object;
    return *this;
  }
  ~Owned() {
    static_assert(sizeof(T) > 0, "an object of a type that is not known here cannot be destroyed");
    delete object_;
  }

  T* get() const { return object_; }
  T& operator*() const { return *object_; }
  T* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  bool operator==(std::nullptr_t) const { return object_ == nullptr; }
  void reset() { Owned old(std::move(*this)); }

 private:
  T* object_ = nullptr;
};

}  // namespace jit
