#include "jit/device/processor.hpp"

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {

ProcessorFeatures processor_features() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  return {.sse42 = __builtin_cpu_supports("sse4.2") != 0,
          .avx2 = __builtin_cpu_supports("avx2") != 0,
          .fma = __builtin_cpu_supports("fma") != 0};
#else
  return {.sse42 = true, .avx2 = true, .fma = true};
#endif
}

void check_processor(const ProcessorFeatures& features) {
  if (!features.sse42)
    throw DeviceError({.what = "this processor",
                       .expected = "SSE4.2, which x86-64 processors have had since 2009",
                       .got = "none",
                       .what_now = "Run on a newer one; in a virtual machine, let the guest see its host's processor"});
  if (!features.avx2 || !features.fma)
    log_warn("device", "this processor lacks ", features.fma ? "AVX2" : "FMA",
             ": the last bits of exp, sin and the like are not those of other machines, and it is slow");
}

}  // namespace jit
