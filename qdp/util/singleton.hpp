// SingletonHolder<T, Creation, Lifetime, Threading>: one object of T, made at the first Instance().
// Policies and names follow A. Alexandrescu, "Modern C++ Design" (2001), chapter 6, as QDP++ and Chroma use them.
#pragma once

#include <cstdlib>
#include <new>
#include <stdexcept>

namespace QDP {

template <class T>
struct CreateUsingNew {
  static T* Create() { return new T; }
  static void Destroy(T* object) { delete object; }
};

/// The object lives in static memory.
template <class T>
struct CreateStatic {
  static T* Create() {
    alignas(T) static unsigned char memory[sizeof(T)];
    return new (&memory) T;
  }
  static void Destroy(T* object) { object->~T(); }
};

/// Destroyed at exit in reverse order of creation; later use is an error.
template <class T>
struct DefaultLifetime {
  static void ScheduleDestruction(T*, void (*destroy)()) { std::atexit(destroy); }
  static void OnDeadReference() { throw std::logic_error("SingletonHolder: use after destruction at exit"); }
};

/// Destroyed at exit, made again when it is used later.
template <class T>
struct PhoenixSingleton {
  static void ScheduleDestruction(T*, void (*destroy)()) { std::atexit(destroy); }
  static void OnDeadReference() {}
};

/// Never destroyed.
template <class T>
struct NoDestroy {
  static void ScheduleDestruction(T*, void (*)()) {}
  static void OnDeadReference() {}
};

template <class T>
struct SingleThreaded {
  struct Lock {};
  using VolatileType = T;
};

template <class T, template <class> class CreationPolicy = CreateUsingNew,
          template <class> class LifetimePolicy = DefaultLifetime,
          template <class> class ThreadingModel = SingleThreaded>
class SingletonHolder {
 public:
  SingletonHolder() = delete;

  static T& Instance() {
    if (instance_ == nullptr) make();
    return *instance_;
  }

 private:
  static void make() {
    [[maybe_unused]] typename ThreadingModel<T>::Lock guard;
    if (instance_ != nullptr) return;
    if (destroyed_) {
      LifetimePolicy<T>::OnDeadReference();
      destroyed_ = false;
    }
    instance_ = CreationPolicy<T>::Create();
    LifetimePolicy<T>::ScheduleDestruction(instance_, &destroy);
  }
  static void destroy() {
    CreationPolicy<T>::Destroy(instance_);
    instance_ = nullptr;
    destroyed_ = true;
  }

  inline static T* instance_ = nullptr;
  inline static bool destroyed_ = false;
};

}  // namespace QDP
