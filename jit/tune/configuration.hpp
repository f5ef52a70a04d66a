// How a kernel is run, in words: for people, and for the disk, where what tuning has found outlives the process.
#pragma once

#include <optional>
#include <string>

#include "jit/codegen/codegen.hpp"

namespace jit {

/// The options of the kernel's code, and the threads per block (GPU; 0: there is no such choice, or it is the
/// device's).
struct Configuration {
  CodeOptions code = {};
  int block = 0;
  bool operator==(const Configuration&) const = default;
};

/// What differs from plain code: "block 256, sites 2, streaming"; empty if nothing does.
std::string describe(const Configuration& configuration);

/// How far the tuning of a kernel has come.
struct TuningProgress {
  Configuration best = {};
  int rounds = 0;      ///< that are over
  double seconds = 0;  ///< the median of the launches of the best
  double bytes = 0;    ///< that such a launch moved
  bool operator==(const TuningProgress&) const = default;
};

/// One line "name value" per knob. CodeOptions::check is not told: it is no knob.
std::string text(const TuningProgress& progress);
/// Nothing if the text is not exactly what text() writes.
std::optional<TuningProgress> parse_progress(const std::string& text);

}  // namespace jit
