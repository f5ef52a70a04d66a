// What is wrong with the environment is told when the run time starts, in one message. Each case starts this program anew, since
// the environment is read at the start (OpenMP's even before main).
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"

namespace {

constexpr const char* kChild = "in a process of its own";

struct Outcome {
  std::string text;  ///< of both streams
  int status;        ///< -1: a signal
};

/// Starts the run time in a new process with these variables ("A=1 B=2"), and ends it.
Outcome start(const std::string& variables) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe");
  const std::string command =
      "env TESSERA_CACHE=0 TESSERA_DEVICE=cpu " + variables + " '" + self + "' --no-skip -tc='" + kChild + "' 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  REQUIRE(pipe != nullptr);
  Outcome outcome;
  for (int c; (c = std::fgetc(pipe)) != EOF;) outcome.text += static_cast<char>(c);
  const int status = pclose(pipe);
  outcome.status = WIFEXITED(status) && WEXITSTATUS(status) < 128 ? WEXITSTATUS(status) : -1;
  return outcome;
}

bool contains(const Outcome& outcome, const std::string& part) { return outcome.text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("in a process of its own" * doctest::skip()) {
  try {
    jit::Runtime::instance();
    if (const char* gone = std::getenv("REMOVED_IN_TEST")) std::filesystem::remove_all(gone);
    jit::Runtime::instance().finalize();
    std::puts("started and ended");
    std::fflush(stdout);
    _exit(0);
  } catch (const jit::Error& error) {
    std::printf("error: %s\n", error.what());
    std::fflush(stdout);
    _exit(1);
  }
}

TEST_CASE("devices none of which is there are an error that names all of them, and why of each") {
  const Outcome outcome = start("TESSERA_LIBCUDA=/nowhere/libcuda.so TESSERA_DEVICE=cuda:1,cuda:0");
  CAPTURE(outcome.text);
  CHECK(outcome.status == 1);
  CHECK(contains(outcome, "TESSERA_DEVICE=cuda:1,cuda:0: expected one of these devices to be there"));
  const std::size_t first = outcome.text.find("/nowhere/libcuda.so"), separator = outcome.text.find("; ", first);
  CHECK(outcome.text.find("/nowhere/libcuda.so", separator) != std::string::npos);
}

TEST_CASE("a plain start") {
  const Outcome outcome = start("OMP_NUM_THREADS=2");
  CAPTURE(outcome.text);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome, "started and ended"));
}

TEST_CASE("what cannot be meant is one clean error") {
  const struct {
    const char* variables;
    const char* message;
  } cases[] = {
      {"OMP_NUM_THREADS=100000", "error: threads: expected 1 to 4096, got 100000 (OMP_NUM_THREADS"},
      {"TESSERA_PREFETCH=2147483647", "error: TESSERA_PREFETCH: expected auto, or 0 to 64, got \"2147483647\""},
      {"TESSERA_CASHE=0",
       "error: TESSERA_CASHE: expected a variable of Tessera, got a name that nothing reads (environment). Did you mean TESSERA_CACHE?"},
      {"TESSERA_PROFILE=/nowhere/profile",
       "error: TESSERA_PROFILE: expected a file that can be written at the end of the run"},
      {"TESSERA_PROFILE=/dev/null", "got a device"},
      {"TESSERA_PROFILE=/tmp", "got a folder"}};
  for (const auto& [variables, message] : cases) {
    CAPTURE(variables);
    const Outcome outcome = start(variables);
    CAPTURE(outcome.text);
    CHECK(outcome.status == 1);
    CHECK(contains(outcome, message));
    std::size_t errors = 0;
    for (std::size_t at = 0; (at = outcome.text.find("error:", at)) != std::string::npos; ++at) ++errors;
    CHECK(errors == 1);
  }
}

TEST_CASE("a profile that can no longer be written at the end is told instead of lost") {
  const auto folder = std::filesystem::temp_directory_path() / ("tessera_start_" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const Outcome outcome = start("OMP_NUM_THREADS=1 TESSERA_PROFILE=" + (folder / "profile").string() +
                                " REMOVED_IN_TEST=" + folder.string());
  CAPTURE(outcome.text);
  CHECK(outcome.status == 0);
  CHECK(contains(outcome, "TESSERA_PROFILE would say:"));
  CHECK(contains(outcome, "Tessera profile: device cpu"));
}
