// What a machine is taken for, from rates of reading.
#include "jit/tune/machine.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <vector>

#include "jit/device/cpu_device.hpp"

using namespace jit;

namespace {

/// Sets of 2, 4, 8 ... bytes at these rates.
std::size_t knee(const std::vector<double>& rates) {
  std::vector<ReadingRate> all;
  for (std::size_t i = 0; i < rates.size(); ++i) all.push_back({std::size_t{2} << i, rates[i]});
  return knee_of(all);
}

}  // namespace

TEST_CASE("caches hold the largest set that is read clearly faster than from memory") {
  CHECK(knee({90, 88, 60, 31, 30, 15, 10, 10}) == 64);  // two levels and memory: 2^6 is the last above 13
  CHECK(knee({90, 88, 60, 31, 30, 12, 10, 10}) == 32);  // half in cache is not clearly faster
  CHECK(knee({30, 29, 31, 30, 28, 30, 30, 30}) == 2);   // nothing is seen
  CHECK(knee({10, 12, 40, 40, 40, 12, 10, 10}) == 32);  // the first was disturbed
  CHECK(knee({90, 60, 30, 30, 30, 12, 12, 7}) == 32);   // and here the last
  CHECK(knee({10}) == 2);
}

TEST_CASE("a machine's caches hold some MiB, and no more than was tried") {
  for (const int threads : {1, 2}) {
    CpuDevice device;
    device.set_threads(threads);
    const std::size_t bytes = measure_cache(device);
    CHECK(bytes >= std::size_t{1} << 20);
    CHECK(bytes < std::size_t{256} << 20);
  }
}
