// What a thread does between two looks at memory that another one will change.
#pragma once

namespace jit {

/// Tens of cycles in which the processor saves power and leaves its units to the other thread of the core.
inline void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace jit
