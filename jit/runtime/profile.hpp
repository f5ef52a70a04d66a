// The profile as a table for people.
#pragma once

#include <span>
#include <string>

#include "jit/runtime.hpp"

namespace jit {

/// One row per kernel that ran, most time first: calls, seconds, share of all kernels' time, GB/s, share of `triad`
/// (bytes per second; 0: not known), GFLOP/s, compile time, name, configuration. Ends with a line of totals.
std::string format_profile(std::span<const KernelInfo> kernels, double triad, const std::string& title);

}  // namespace jit
