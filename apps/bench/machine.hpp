// What this machine can do, measured in the same run as everything it is compared with.
#pragma once

#include <string>
#include <vector>

namespace bench {

enum class Precision { kSingle, kDouble };
const char* name_of(Precision precision);  ///< "single", "double"
int bytes_of(Precision precision);         ///< of one word
Precision precision_from(const std::string& name);

/// The two ceilings of a kernel, for one precision and thread count.
struct Ceiling {
  Precision precision;
  int threads;
  double triad_gbytes_per_s;     ///< a[i] = b[i] + s*c[i] out of cache, ordinary stores; 3 words counted per i
  double fma_gflops;             ///< independent fused multiply-adds in registers, 2 flops each
  double copy_gbytes_per_s = 0;  ///< of a GPU: its own copies from memory to memory, read and written
};

struct Machine {
  std::string cpu;              ///< model name
  std::string gpu;              ///< model name; empty if kernels run on the processor
  std::string instruction_set;  ///< that of the measuring loops: avx512, avx2 or baseline
  int cores = 0;
  std::vector<Ceiling> ceilings;

  const Ceiling& ceiling(Precision precision, int threads) const;
};

/// Measures triad and FMA rate for each precision and thread count, at least `min_seconds` each.
/// On a GPU its own rates, by kernels of the compiler and the driver's copies, for every thread count of the host
/// alike. Arrays of the triad are 128 MiB each, first touched by the threads that use them.
Machine measure_machine(const std::vector<Precision>& precisions, const std::vector<int>& thread_counts,
                        double min_seconds);

}  // namespace bench
