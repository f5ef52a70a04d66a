#include "jit/support/lock.hpp"

#include <mutex>

namespace jit {
namespace {

// Never destroyed: fields of static storage may die after main.
constinit std::mutex mutex;
// How many locks this thread has. INVARIANT: constant initialisation and the initial-exec model, so that an access is one
// instruction: a statement takes several.
[[gnu::tls_model("initial-exec")]] constinit thread_local int held = 0;

}  // namespace

RuntimeLock::RuntimeLock() noexcept {
  if (held++ == 0) mutex.lock();
}

RuntimeLock::~RuntimeLock() {
  if (--held == 0) mutex.unlock();
}

}  // namespace jit
