// What memory this process has, as Linux counts it.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace tests {

namespace detail {
/// A number of /proc/self/statm, which are in pages, in bytes.
inline std::int64_t bytes_in_statm(int number) {
  std::ifstream file("/proc/self/statm");
  std::int64_t pages = 0;
  for (int i = 0; i <= number; ++i) file >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}
}  // namespace detail

/// Bytes of addresses.
inline std::int64_t mapped_bytes() { return detail::bytes_in_statm(0); }
/// Bytes in memory.
inline std::int64_t resident_bytes() { return detail::bytes_in_statm(1); }

/// Ranges of addresses with something of their own behind each.
inline std::int64_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
}

}  // namespace tests
