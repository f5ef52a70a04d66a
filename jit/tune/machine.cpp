#include "jit/tune/machine.hpp"

#include <algorithm>
#include <limits>

#include "jit/device/cpu_device.hpp"
#include "jit/tune/clock.hpp"

namespace jit {

double measure_triad(Device& device) {
  const std::size_t bytes = std::max<std::size_t>(3 * CpuDevice::last_level_cache(), std::size_t{48} << 20);
  double* arrays[3] = {};
  for (double*& array : arrays) array = static_cast<double*>(device.allocate(bytes));
  double best = 0;
  if (arrays[0] != nullptr && arrays[1] != nullptr && arrays[2] != nullptr) {
    const auto n = static_cast<std::int64_t>(bytes / sizeof(double));
    const Range all{0, n};
    device.parallel_for({&all, 1}, [&](std::int64_t begin, std::int64_t end) {
      for (double* array : arrays) std::fill(array + begin, array + end, 1.0);
    });
    double fastest = std::numeric_limits<double>::infinity();
    for (int pass = 0; pass < 7; ++pass) {
      const std::uint64_t start = ticks();
      device.parallel_for({&all, 1}, [&](std::int64_t begin, std::int64_t end) {
        double* __restrict a = arrays[0];
        const double* __restrict b = arrays[1];
        const double* __restrict c = arrays[2];
        for (std::int64_t i = begin; i < end; ++i) a[i] = b[i] + 0.5 * c[i];
      });
      fastest = std::min(fastest, static_cast<double>(ticks() - start));
    }
    best = 3 * static_cast<double>(bytes) / (fastest * seconds_per_tick());
  }
  for (double* array : arrays)
    if (array != nullptr) device.free(array, bytes);
  return best;
}

}  // namespace jit
