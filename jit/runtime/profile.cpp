#include "jit/runtime/profile.hpp"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace jit {
namespace {

void append_row(std::string& text, const KernelInfo& kernel, double all_seconds, double triad) {
  const double seconds = kernel.seconds > 0 ? kernel.seconds : 1;
  const double rate = kernel.bytes / seconds;
  char row[256];
  char share[16] = "-";
  if (triad > 0) std::snprintf(share, sizeof share, "%.2f", rate / triad);
  std::snprintf(row, sizeof row, "%10lld %11.6f %6.1f %9.2f %7s %9.2f %9.1f  ", static_cast<long long>(kernel.calls),
                kernel.seconds, all_seconds > 0 ? 100 * kernel.seconds / all_seconds : 0.0, rate * 1e-9, share,
                kernel.flops / seconds * 1e-9, 1e3 * kernel.compile_seconds);
  text += row + kernel.name + (kernel.hash.empty() ? "" : " " + kernel.hash.substr(0, 8)) +
          (kernel.configuration.empty() ? "" : " [" + kernel.configuration + "]") + "\n";
}

}  // namespace

std::string format_profile(std::span<const KernelInfo> kernels, double triad, const std::string& title) {
  std::vector<KernelInfo> rows;
  KernelInfo total;
  total.name = "all kernels";
  for (const KernelInfo& kernel : kernels) {
    if (kernel.calls == 0) continue;
    rows.push_back(kernel);
    total.calls += kernel.calls;
    total.seconds += kernel.seconds;
    total.compile_seconds += kernel.compile_seconds;
    total.bytes += kernel.bytes;
    total.flops += kernel.flops;
  }
  std::sort(rows.begin(), rows.end(), [](const KernelInfo& a, const KernelInfo& b) { return a.seconds > b.seconds; });

  std::string text = title + "\n";
  if (triad > 0) {
    char line[64];
    std::snprintf(line, sizeof line, "triad: %.2f GB/s\n", triad * 1e-9);
    text += line;
  }
  text += "     calls     seconds      %      GB/s  /triad   GFLOP/s  build ms  kernel\n";
  for (const KernelInfo& row : rows) append_row(text, row, total.seconds, triad);
  append_row(text, total, total.seconds, triad);
  return text;
}

}  // namespace jit
