// The host side of a field as elements see it: where its sites lie, if they may be used now. Any number of threads look at it while one,
// under the run time's lock, brings the contents there.
#pragma once

#include <atomic>
#include <cstdint>

namespace jit {

class HostSide {
 public:
  std::uint32_t sites() const { return sites_; }
  void resize(std::uint32_t sites) { sites_ = sites; }  ///< while nobody looks
  /// Its first site, or nullptr while it may not be read (written) directly.
  void* readable() const { return look<void* volatile>(readable_); }
  void* writable() const { return look<void* volatile>(writable_); }
  /// The same as it was when a loop over elements began, perhaps.
  void* seen_readable() const { return look<void*>(readable_); }
  void* seen_writable() const { return look<void*>(writable_); }

  /// For others to see: after memory has contents and before it goes.
  void announce(void* readable, void* writable) noexcept {
    readable_.store(readable, std::memory_order_release);
    writable_.store(writable, std::memory_order_release);
  }

 private:
  /// INVARIANT: a pointer seen before is good for the rest of a loop over elements, since no statement changes a field while others use
  /// its elements. So it is read as a plain word, once; to compilers an atomic read is one after which all else must be read anew.
  template <class Word> static void* look(const std::atomic<void*>& pointer) {
#if defined(__SANITIZE_THREAD__) || !defined(__x86_64__)
    return pointer.load(std::memory_order_acquire);
#else
    static_assert(sizeof pointer == sizeof(void*));
    return *reinterpret_cast<Word const*>(&pointer);
#endif
  }

  std::atomic<void*> readable_{nullptr}, writable_{nullptr};
  std::uint32_t sites_ = 0;
};

}  // namespace jit
