// What hmc prints: a header, one line per trajectory, a summary.
#pragma once

#include "apps/hmc/arguments.hpp"

#include "lib/hmc/simulation.hpp"

namespace hmc {

class Progress {
 public:
  explicit Progress(QDP::StandardOutputStream& out) : out_(out) {}

  void begin(const qcd::HmcParameters& parameters);
  void update(const qcd::UpdateReport& report);
  void warning(const std::string& text);
  void end(const qcd::RunSummary& summary, const Arguments& arguments);

  void nothing_to_do(const qcd::HmcParameters& parameters);
  void input_is_valid(const std::string& file, const qcd::HmcParameters& parameters);
  void input_is_valid(const std::string& file, const qcd::LeapfrogParameters& parameters);
  void unused_elements(const std::vector<std::string>& elements);
  void leapfrog(double delta_h, const Arguments& arguments);

 private:
  QDP::StandardOutputStream& out_;
};

/// 75 -> "1:15", 4000 -> "1:06:40".
std::string clock_text(double seconds);

}  // namespace hmc
