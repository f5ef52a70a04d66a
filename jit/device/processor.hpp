// What a processor must have to run our code, and which processors give the same bits.
//
// x86-64 processors with AVX2 and FMA (Intel since Haswell, AMD since Excavator; all with AVX-512) give the same bits: sums and
// products are rounded alike everywhere, and SLEEF's functions for AVX2 and AVX-512 agree. Without FMA, SLEEF and the C library
// compute elementary functions by other formulas, and fused operations are made in software: right, slow, other last bits.
// Without SSE4.2 SLEEF's code does not run at all.
#pragma once

namespace jit {

struct ProcessorFeatures {
  bool sse42 = false, avx2 = false, fma = false;
};

/// Of this machine. Architectures other than x86-64 have no such choice: all true.
ProcessorFeatures processor_features();

/// Throws DeviceError for a processor that cannot run our code; one warning for one with bits of its own.
void check_processor(const ProcessorFeatures& features);

}  // namespace jit
