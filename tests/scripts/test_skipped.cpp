// What a skipped case leaves behind: the list that scripts/test shows, and the exit status.

#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace {

/// Runs the cases of this program that are named so, with a list at `list`; the exit status.
int run_cases(const std::string& cases, const std::string& list) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const int status = std::system(
      ("TEST_SKIPPED_LIST='" + list + "' '" + program + "' --no-skip=true -tc='" + cases + "' >/dev/null").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::string text_of(const std::string& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("example: leaves" * doctest::skip()) { TESSERA_SKIP("as it was told"); }
TEST_CASE("example: stays" * doctest::skip()) { CHECK(true); }

TEST_CASE("each skipped case is listed with its reason, also where others of the program ran") {
  const std::string list =
      (std::filesystem::temp_directory_path() / ("tessera_skipped_" + std::to_string(::getpid()))).string();
  CHECK(run_cases("example: *", list) == 0);
  const std::string text = text_of(list);
  CHECK(text.starts_with("test_skipped.cpp:"));
  CHECK(text.ends_with("\"example: leaves\": as it was told\n"));
  CHECK(text.find('\n') == text.size() - 1);

  CHECK(run_cases("example: leaves", list) == 77);
  CHECK(run_cases("example: stays", list) == 0);
  CHECK(text_of(list).empty());
  std::filesystem::remove(list);
}
