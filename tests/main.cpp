// The doctest main of every test program. Exit status: 0 passed, 77 every case skipped (see skip.hpp), else failed.
// The file $TEST_SKIPPED_LIST, if that is set, receives one line per skipped case: scripts/test shows them all.

#define DOCTEST_CONFIG_IMPLEMENT
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <string>

namespace {

constexpr int kSkippedExitCode = 77;

/// Follows the run: which case is running, how many ran, which of them were skipped.
struct SkipListener : doctest::IReporter {
  static inline std::map<std::string, std::string> skipped;  ///< case, reason
  static inline std::string current;
  static inline unsigned cases_run = 0;

  explicit SkipListener(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& data) override {
    const std::string file = data.m_file.c_str();
    current = file.substr(file.rfind('/') + 1) + ":" + std::to_string(data.m_line) + " \"" + data.m_name + "\"";
    ++cases_run;
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("skips", 1, SkipListener);

}  // namespace

void tests::note_skipped(const std::string& reason) {
  SkipListener::skipped.emplace(SkipListener::current, reason);
  MESSAGE("SKIP: ", reason);
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  if (const char* list = std::getenv("TEST_SKIPPED_LIST")) {
    std::ofstream out(list);
    for (const auto& [test, reason] : SkipListener::skipped) out << test << ": " << reason << '\n';
  }
  const bool all_skipped = SkipListener::cases_run > 0 && SkipListener::skipped.size() == SkipListener::cases_run;
  return status == 0 && all_skipped ? kSkippedExitCode : status;
}
