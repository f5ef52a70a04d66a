// What the log says while an object of this class lives. One at a time.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "jit/support/log.hpp"

namespace tests {

class CapturedLog {
 public:
  CapturedLog() {
    lines_.clear();
    jit::set_log_sink([](std::string_view line) { lines_.emplace_back(line); });
  }
  ~CapturedLog() { jit::set_log_sink(nullptr); }
  CapturedLog(const CapturedLog&) = delete;
  CapturedLog& operator=(const CapturedLog&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }
  /// A line end behind each line.
  std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all.append(line).append("\n");
    return all;
  }
  /// Whether a line holds this.
  bool says(std::string_view part) const {
    return std::ranges::any_of(lines_, [&](const std::string& line) { return line.find(part) != line.npos; });
  }
  void clear() { lines_.clear(); }

 private:
  static inline std::vector<std::string> lines_;
};

}  // namespace tests
