// The lock of the run time: programs may issue statements from any thread, and one runs at a time.
#pragma once

namespace jit {

/// Whoever lives with one of these may change fields, memory, kernels, devices and the state of random numbers; other
/// threads wait. A thread may hold it several times. Not to be held while functions of the user run on other threads:
/// they may want it too.
class [[nodiscard]] RuntimeLock {
 public:
  RuntimeLock() noexcept;
  ~RuntimeLock();
  RuntimeLock(const RuntimeLock&) = delete;
  RuntimeLock& operator=(const RuntimeLock&) = delete;
};

}  // namespace jit
