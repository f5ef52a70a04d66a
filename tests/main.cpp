// The doctest main of every test program. Exit status: 0 passed, 77 every case skipped (see skip.hpp), else failed.
// The file $TEST_SKIPPED_LIST, if that is set, receives one line per skipped case: scripts/test shows them all.
//
// On several ranks (mpirun.hpp) a case has failed if it has on one of them. Rank 0 prints; of the others only what they say
// about a case that failed there. $TEST_VERDICTS receives a line for each case as it ends: verdict, name, reason.

#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/mpirun.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

namespace {

constexpr int kSkippedExitCode = 77;

std::string file_of(const doctest::TestCaseData& data) {
  const std::string file = data.m_file.c_str();
  return file.substr(file.rfind('/') + 1);
}

/// Follows the run: which case is running, how many ran, which of them were skipped, which failed on another rank.
struct CaseListener : doctest::IReporter {
  static inline std::map<std::string, std::string> skipped;  ///< case, reason
  static inline std::string current;
  static inline unsigned cases_run = 0;
  static inline bool failed_elsewhere = false;
  static inline std::ostringstream said;  ///< by doctest, on other ranks than the first

  explicit CaseListener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& data) override {
    current = file_of(data) + ":" + std::to_string(data.m_line) + " \"" + data.m_name + "\"";
    ++cases_run;
    tests::begin_case(current);
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& stats) override {
    if (!stats.testCaseSuccess && tests::job_rank() > 0) tell(said.str());
    said.str("");
    const std::vector<int> bad = tests::agree(!stats.testCaseSuccess);
    if (stats.testCaseSuccess && !bad.empty()) failed_elsewhere = true;
    if (tests::job_rank() > 0) return;
    if (stats.testCaseSuccess && !bad.empty()) std::cout << current << ": FAILED on rank " << bad.front() << std::endl;
    if (const char* list = std::getenv("TEST_VERDICTS")) {
      const auto left = skipped.find(current);
      const char* verdict = !bad.empty() ? "failed" : left != skipped.end() ? "skipped" : "passed";
      std::ofstream(list, std::ios::app) << verdict << '\t' << current << '\t'
                                         << (left != skipped.end() ? left->second : "") << '\n';
    }
  }
  void test_case_exception(const doctest::TestCaseException& e) override {
    if (tests::job_rank() > 0) tell(current + ": " + e.error_string.c_str() + (e.is_crash ? " (crash)" : ""));
  }
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

  /// With the rank's number before each line.
  static void tell(const std::string& text) {
    std::istringstream lines(text);
    std::string all;
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) all += "rank " + std::to_string(tests::job_rank()) + ": " + line + "\n";
    std::cerr << all << std::flush;
  }
};

REGISTER_LISTENER("cases", 1, CaseListener);

/// Between doctest, which has no way to leave a case from within, and each case.
std::map<const doctest::TestCaseData*, doctest::detail::funcType> bodies;
void run_case() {
  const doctest::TestCaseData* test = doctest::detail::g_cs->currentTest;
  if (const char* reason = tests::left_out_on_ranks(file_of(*test), test->m_name)) return tests::note_skipped(reason);
  try {
    bodies.at(test)();
  } catch (const tests::CaseLeft&) {
  }
}
void stand_between() {
  for (const auto& test : doctest::detail::getRegisteredTests()) {
    bodies[&test] = test.m_test;
    const_cast<doctest::detail::TestCase&>(test).m_test = run_case;  // no part of the set's order
  }
}

}  // namespace

void tests::note_skipped(const std::string& reason) {
  CaseListener::skipped.emplace(CaseListener::current, reason);
  MESSAGE("SKIP: ", reason);
}

void tests::leave_case(const std::string& reason) {
  note_skipped(reason);
  throw CaseLeft();
}

int main(int argc, char** argv) {
  tests::join_job(&argc, &argv);
  doctest::Context context(argc, argv);
  if (tests::job_rank() > 0) {
    context.setCout(&CaseListener::said);
    context.setOption("no-colors", true);
  }
  stand_between();
  int status = context.run();
  if (status == 0 && CaseListener::failed_elsewhere) status = 1;
  const bool all_skipped = CaseListener::cases_run > 0 && CaseListener::skipped.size() == CaseListener::cases_run;
  if (const char* list = std::getenv("TEST_SKIPPED_LIST"); list != nullptr && tests::job_rank() == 0) {
    std::ofstream out(list);
    for (const auto& [test, reason] : CaseListener::skipped) out << test << ": " << reason << '\n';
  }
  tests::leave_job();
  return status == 0 && all_skipped ? kSkippedExitCode : status;
}
