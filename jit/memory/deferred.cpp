#include "jit/memory/deferred.hpp"

#include <exception>

#include "jit/support/lock.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

void (*holder)(const Field*) = nullptr;

}  // namespace

constinit bool statements_are_deferred = false;

void set_deferred(void (*run)(const Field* look)) { holder = run; }

void run_deferred() {
  const RuntimeLock lock;
  if (deferred_waiting()) holder(nullptr);
}

void run_deferred(const Field& look) {
  const RuntimeLock lock;
  if (deferred_waiting()) holder(&look);
}

void run_deferred_noexcept() noexcept {
  try {
    run_deferred();
  } catch (const std::exception& error) {
    log_error("runtime", error.what());
  }
}

}  // namespace jit
