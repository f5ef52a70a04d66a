#include "jit/support/bytes.hpp"

#include <cstdio>

namespace jit {

std::string format_bytes(std::size_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  for (; value >= 1024 && unit < 4; ++unit) value /= 1024;
  char text[32];
  std::snprintf(text, sizeof text,
                value < 10 && unit > 0    ? "%.2f %s"
                : value < 100 && unit > 0 ? "%.1f %s"
                                          : "%.0f %s",
                value, kUnits[unit]);
  return text;
}

}  // namespace jit
