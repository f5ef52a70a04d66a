#include "apps/bench/machine.hpp"

#include <omp.h>
#include <stdlib.h>
#include <sys/mman.h>

#include <fstream>
#include <memory>

#include "apps/bench/statistics.hpp"
#include "jit/comm/collectives.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"

namespace bench {
namespace {

// Enough independent chains to hide the latency of two pipes (4 cycles each), few enough for sixteen registers.
constexpr int kChains = 12;

template <class T>
struct Loops {
  void (*triad)(T* a, const T* b, const T* c, T s, long begin, long end);
  double (*fused_multiply_adds)(long rounds, T factor, T summand);
  double flops_per_round;
};

namespace baseline {
constexpr int kVectorBytes = 16;
#include "apps/bench/machine_loops.inc"
}  // namespace baseline

#ifdef __x86_64__
#pragma GCC push_options
#pragma GCC target("avx2,fma")
namespace avx2 {
constexpr int kVectorBytes = 32;
#include "apps/bench/machine_loops.inc"
}  // namespace avx2
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,fma")
namespace avx512 {
constexpr int kVectorBytes = 64;
#include "apps/bench/machine_loops.inc"
}  // namespace avx512
#pragma GCC pop_options
#endif

const char* instruction_set() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "baseline";
}

template <class T>
Loops<T> widest_loops() {
#ifdef __x86_64__
  const std::string set = instruction_set();
  if (set == "avx512") return avx512::loops<T>();
  if (set == "avx2") return avx2::loops<T>();
#endif
  return baseline::loops<T>();
}

struct Free {
  void operator()(void* p) const { ::free(p); }
};

/// n words on whole pages, not touched yet.
template <class T>
std::unique_ptr<T[], Free> untouched_array(long n) {
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
  void* p = nullptr;
  if (posix_memalign(&p, 2 << 20, bytes) != 0)
    throw jit::DeviceError({.what = "allocating " + std::to_string(bytes >> 20) + " MiB for the triad",
                            .where = "machine measurement",
                            .what_now = "free memory, or measure on a larger machine"});
#ifdef MADV_HUGEPAGE
  madvise(p, bytes, MADV_HUGEPAGE);  // as the fields of the language: otherwise half of the time goes into page tables
#endif
  return std::unique_ptr<T[], Free>(static_cast<T*>(p));
}

/// The calling thread's share of n words: whole multiples of `unit` words.
struct Share {
  long begin, end;
};
Share my_share(long n, long unit) {
  const long units = n / unit, threads = omp_get_num_threads(), me = omp_get_thread_num();
  return {units * me / threads * unit, units * (me + 1) / threads * unit};
}

template <class T>
double triad_rate(const Loops<T>& loops, int threads, double min_seconds) {
  constexpr long kWords = (128L << 20) / sizeof(T), kPage = 4096 / sizeof(T);
  const auto a = untouched_array<T>(kWords), b = untouched_array<T>(kWords), c = untouched_array<T>(kWords);
#pragma omp parallel num_threads(threads)
  {
    const Share share = my_share(kWords, kPage);
    for (long i = share.begin; i < share.end; ++i) {
      a[i] = 0;
      b[i] = 1;
      c[i] = 2;
    }
  }
  const Timing timing = measure(
      [&](long repeats) {
        for (long n = 0; n < repeats; ++n) {
#pragma omp parallel num_threads(threads)
          {
            const Share share = my_share(kWords, kPage);
            loops.triad(a.get(), b.get(), c.get(), T(0.5), share.begin, share.end);
          }
        }
      },
      min_seconds);
  return 3.0 * kWords * sizeof(T) / timing.seconds * 1e-9;
}

template <class T>
double fma_rate(const Loops<T>& loops, int threads, double min_seconds) {
  constexpr long kRounds = 300000;  // long against starting the threads
  volatile double sink = 0;         // the sums are looked at
  const Timing timing = measure(
      [&](long repeats) {
        for (long n = 0; n < repeats; ++n) {
          double total = 0;
#pragma omp parallel num_threads(threads) reduction(+ : total)
          total += loops.fused_multiply_adds(kRounds, T(0.5), T(1));
          sink = total;
        }
      },
      min_seconds);
  return loops.flops_per_round * kRounds * threads / timing.seconds * 1e-9;
}

template <class T>
Ceiling measure_ceiling(Precision precision, int threads, double min_seconds) {
  const Loops<T> loops = widest_loops<T>();
  return {.precision = precision,
          .threads = threads,
          .triad_gbytes_per_s = triad_rate(loops, threads, min_seconds),
          .fma_gflops = fma_rate(loops, threads, min_seconds)};
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

const char* name_of(Precision precision) { return precision == Precision::kSingle ? "single" : "double"; }

int bytes_of(Precision precision) { return precision == Precision::kSingle ? 4 : 8; }

Precision precision_from(const std::string& name) {
  if (name == "single") return Precision::kSingle;
  if (name == "double") return Precision::kDouble;
  throw jit::UserError({.what = "--precision", .expected = "single or double", .got = name});
}

const Ceiling& Machine::ceiling(Precision precision, int threads) const {
  for (const Ceiling& ceiling : ceilings)
    if (ceiling.precision == precision && ceiling.threads == threads) return ceiling;
  throw jit::InternalError({.what = "Machine::ceiling",
                            .expected = "a measured precision and thread count",
                            .got = std::string(name_of(precision)) + ", " + std::to_string(threads) + " threads"});
}

namespace {

/// A GPU's ceilings do not depend on the host's threads.
Machine measure_gpu(const std::vector<Precision>& precisions, const std::vector<int>& thread_counts) {
  jit::Runtime& runtime = jit::Runtime::instance();
  Machine machine{.cpu = cpu_model(),
                  .gpu = runtime.device_model(),
                  .instruction_set = "one thread per site",
                  .cores = omp_get_num_procs(),
                  .ceilings = {}};
  const double triad = runtime.bandwidth() * 1e-9, copy = runtime.copy_bandwidth() * 1e-9;
  for (const Precision precision : precisions) {
    const jit::ir::Type word = precision == Precision::kSingle ? jit::ir::Type::f32 : jit::ir::Type::f64;
    const double gflops = runtime.arithmetic_rate(word) * 1e-9;
    for (const int threads : thread_counts) machine.ceilings.push_back({precision, threads, triad, gflops, copy});
  }
  return machine;
}

}  // namespace

Machine measure_machine(const std::vector<Precision>& precisions, const std::vector<int>& thread_counts,
                        double min_seconds) {
  if (jit::Runtime::instance().device() != "cpu") return measure_gpu(precisions, thread_counts);
  Machine machine{.cpu = cpu_model(),
                  .gpu = {},
                  .instruction_set = instruction_set(),
                  .cores = omp_get_num_procs(),
                  .ceilings = {}};
  // Ranks measure at the same time; what they reach together is what the job may reach.
  const auto of_all_ranks = [](Ceiling one) {
    double rates[] = {one.triad_gbytes_per_s, one.fma_gflops};
    jit::reduce(jit::process_communicator(), std::span(rates), jit::ReductionValue::Kind::sum);
    one.triad_gbytes_per_s = rates[0], one.fma_gflops = rates[1];
    return one;
  };
  for (int threads : thread_counts)
    for (Precision precision : precisions)
      machine.ceilings.push_back(of_all_ranks(precision == Precision::kSingle
                                                  ? measure_ceiling<float>(precision, threads, min_seconds)
                                                  : measure_ceiling<double>(precision, threads, min_seconds)));
  return machine;
}

}  // namespace bench
