// The session that times its cases and holds them against the machine's ceilings.
#pragma once

#include <iosfwd>

#include "apps/bench/cases.hpp"
#include "apps/bench/session.hpp"

namespace bench {

class TimedSession : public Session {
 public:
  /// Prints each record to `out` as it is measured, and appends it to `report.records`.
  TimedSession(const Options& options, Report& report, std::ostream& out);

  /// What the following cases run on. Creates the lattice.
  void set_lattice(const std::vector<int>& lattice);
  void set_case(const std::string& suite, Precision precision, int threads);

  /// Throws if a case was asked for that no suite had.
  void check_cases() const { cases_.check(); }

  void run(const std::string& name, const Work& work, const std::function<void()>& statement) override;
  void run_on_ranks(const std::string& name, const Work& work, const std::function<void()>& statement) override;

 private:
  const Options& options_;
  Report& report_;
  std::ostream& out_;
  Cases cases_;
  std::vector<int> lattice_;
  std::string suite_;
  Precision precision_ = Precision::kDouble;
  int threads_ = 1;
};

}  // namespace bench
