// What a run prints: a header, one line per update, a summary.
#pragma once

#include "apps/common/arguments.hpp"

#include "lib/hmc/update_loop.hpp"

namespace common {

class Progress {
 public:
  explicit Progress(QDP::StandardOutputStream& out) : out_(out) {}

  /// `method` says what an update is: "trajectory length 1".
  void begin(const qcd::RunParameters& parameters, const std::string& method);
  void update(const qcd::UpdateReport& report);
  void warning(const std::string& text);
  void end(const qcd::RunSummary& summary, const Arguments& arguments);

  void nothing_to_do(const qcd::RunParameters& parameters);
  /// `contents`: "2 monomial(s)".
  void input_is_valid(const std::string& file, const std::vector<int>& lattice, const std::string& contents);

 private:
  QDP::StandardOutputStream& out_;
  bool metropolis_ = true;
};

/// 75 -> "1:15", 4000 -> "1:06:40".
std::string clock_text(double seconds);

}  // namespace common
