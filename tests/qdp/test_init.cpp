// Flags of the language, and the beginning and end of a program: each in a process of its own, which begins once.
#include "qdp/init/init.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/init/about.hpp"
#include "qdp/layout/layout.hpp"
#include "tests/jit/settings.hpp"
#include "tests/mpirun.hpp"
#include "tests/skip.hpp"

using namespace QDP;

#define TESSERA_NEEDS_ONE_RANK()                                                                                       \
  do {                                                                                                                 \
    if (tests::job_ranks() > 1) TESSERA_SKIP("programs that begin here would be ranks of their own");                  \
  } while (false)

namespace {

struct Ended {
  int status = -1;
  std::string printed;
};

constexpr int kReturned = 7;  // `then` was called, and is true

/// What becomes of a program with these arguments that calls QDP_initialize, and then `then`. Errors are printed.
Ended program(std::vector<std::string> words, const std::function<bool()>& then = [] { return true; }) {
  const tests::Folder folder;
  std::filesystem::create_directories(folder.path);
  const std::string out = folder.path / "out";
  std::cout.flush();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    const int file = ::open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(file, STDOUT_FILENO);
    words.insert(words.begin(), "program");
    std::vector<char*> list;
    for (std::string& word : words) list.push_back(word.data());
    list.push_back(nullptr);
    int argc = static_cast<int>(words.size());
    char** argv = list.data();
    bool good = false;
    try {
      QDP_initialize(&argc, &argv);
      good = then();
    } catch (const std::exception& error) {
      std::printf("error: %s\n", error.what());
    }
    std::cout.flush();
    std::fflush(nullptr);
    _exit(good ? kReturned : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  std::ifstream text(out);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, {std::istreambuf_iterator<char>(text), {}}};
}

/// A flag and as many values.
std::vector<std::string> with(const std::string& flag, int values, const std::string& value) {
  std::vector<std::string> words(static_cast<std::size_t>(values), value);
  words.insert(words.begin(), flag);
  return words;
}

std::vector<std::string> joined(const std::vector<std::vector<std::string>>& parts) {
  std::vector<std::string> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a flag takes the values that it has, whatever they look like, and leaves the next flag alone") {
  TESSERA_NEEDS_ONE_RANK();
  const tests::Folder folder;
  std::filesystem::create_directories(folder.path);
  const auto arrives = [&] {
    return std::filesystem::equivalent(std::filesystem::current_path(), folder.path) && QDP_isInitialized();
  };
  const std::vector<std::string> there = {"-cd", folder.path.string()};
  CHECK(program(there, arrives).status == kReturned);
  CHECK(program(joined({{"-mine", "x"}, there, {"-yours"}}), arrives).status == kReturned);
  for (const auto& [flag, values] : {std::pair{"-poolsize", 1}, std::pair{"-p", 1}, std::pair{"-bind", 1},
                                     std::pair{"-rti", 1}, std::pair{"-rtinode", 1}}) {
    CAPTURE(flag);
    CHECK(program(joined({with(flag, values, "-h"), there}), arrives).status == kReturned);
    const Ended cut = program(with(flag, values - 1, "1"));
    CHECK(cut.status == 1);
    CHECK(contains(cut.printed, std::string(flag) + ": expected " + std::to_string(values) + " values"));
  }
  for (const std::string flag : {"-geom", "-qmp-geom", "-iogeom"}) {
    CAPTURE(flag);
    CHECK(program(joined({with(flag, QDP_ND, "1"), there}), arrives).status == kReturned);
    for (const std::vector<std::string>& wrong :
         {with(flag, QDP_ND - 1, "1"), joined({with(flag, QDP_ND - 1, "1"), {"1x"}})}) {
      const Ended ended = program(wrong);
      CHECK(ended.status == 1);
      CHECK(contains(ended.printed, flag + ": expected an integer"));
    }
    if (flag == "-iogeom") {
      CHECK(contains(program(with(flag, QDP_ND, "0")).printed, "expected at least 1 in each direction"));
      continue;
    }
    // As many ranks as the job has, which is one.
    CHECK(contains(program(joined({with(flag, QDP_ND - 1, "1"), {"2"}})).printed, "that of the job, 1"));
  }
  CHECK(contains(program({"-cd"}).printed, "-cd: expected a folder, got the end of the command line"));
  CHECK(contains(program({"-cd", folder.path / "nowhere"}).printed, "nowhere"));
}

TEST_CASE("-h and -V say what they are for and end the program with success") {
  TESSERA_NEEDS_ONE_RANK();
  const Ended help = program({"-p", "1", "-h"}), version = program({"-V", "-h"});
  CHECK(help.status == 0);
  CHECK(help.printed == QDP_help());
  for (const char* word : {"-geom P1 .. PNd", "-cd DIR", "TESSERA_CACHE_DIR"}) CHECK(contains(help.printed, word));
  CHECK(version.status == 0);
  CHECK(contains(version.printed, "Tessera "));
  CHECK(contains(version.printed, "Nd " + std::to_string(QDP_ND) + ", Nc " + std::to_string(QDP_NC)));
  CHECK(!contains(version.printed, "-geom"));
}

TEST_CASE("a program begins once; its end is noted, and a second one is nothing") {
  TESSERA_NEEDS_ONE_RANK();
  CHECK_FALSE(QDP_isInitialized());
  const Ended twice = program({}, [] {
    int argc = 0;
    char** argv = nullptr;
    QDP_initialize(&argc, &argv);
    return true;
  });
  CHECK(twice.status == 1);
  CHECK(contains(twice.printed, "called twice"));
  CHECK(program({}, [] {
          const bool before = QDP_isInitialized();
          QDP_finalize();
          const bool after = QDP_isInitialized();
          QDP_finalize();
          return before && !after;
        }).status == kReturned);
}

TEST_CASE("what a program is described by: threads in their number, precision, directions and colours") {
  ProgramAbout about{.version = "1.2",
                     .commit = "abc",
                     .host = "node7",
                     .device = "cpu",
                     .device_model = "a model",
                     .threads = 1,
                     .precision = 32,
                     .nd = 3,
                     .nc = 2,
                     .ns = 4};
  CHECK(describe(about) == "Tessera 1.2 (abc), 32 bits, Nd 3, Nc 2; cpu (a model), 1 thread, on node7");
  about.threads = 2;
  CHECK(describe(about) == "Tessera 1.2 (abc), 32 bits, Nd 3, Nc 2; cpu (a model), 2 threads, on node7");
}
