// Joining a job: when a plug-in is loaded, which one is refused, and that no process of several runs alone. Each case is a process
// of its own. What the real plug-in does under mpirun: tests/mpi.
#include "jit/comm/job.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <thread>

#include "jit/comm/collectives.hpp"
#include "jit/comm/plugin.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"

using tests::contains;

namespace {

std::string fake(const std::string& name) {
  return (tests::binary_folder() / "tests/bin/fake_mpi" / ("libmpi_" + name + ".so")).string();
}

struct Ended {
  int status;
  std::string text;  ///< what the process returned or threw, and what it wrote to stderr
};

/// Runs `body` in a process with these variables.
Ended in_process(const std::map<std::string, std::string>& variables, const std::function<std::string()>& body) {
  std::FILE* const file = std::tmpfile();
  std::fflush(nullptr);
  const pid_t process = fork();
  if (process == 0) {
    alarm(100);
    for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "SLURM_STEP_ID"}) unsetenv(name);
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
    dup2(fileno(file), STDERR_FILENO);
    try {
      jit::reload_env();
      const std::string text = body();
      std::fwrite(text.data(), 1, text.size(), stderr);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s", error.what());
      std::fflush(nullptr);
      _exit(9);
    }
    std::fflush(nullptr);
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), text};
}

jit::Communicator& ranks() { return jit::process_communicator(); }

std::string place() { return std::to_string(ranks().rank()) + "/" + std::to_string(ranks().size()); }

Ended start(std::map<std::string, std::string> variables, const std::string& plugin) {
  if (!plugin.empty()) variables["TESSERA_MPI_LIBRARY"] = fake(plugin);
  return in_process(variables, [] {
    jit::start_ranks(nullptr, nullptr);
    return place();
  });
}

const std::map<std::string, std::string> kTwo{{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "0"}};

/// What `action` throws in a job of two.
template <class Error>
std::string thrown(const std::function<void()>& action) {
  auto variables = kTwo;
  variables["TESSERA_MPI_LIBRARY"] = fake("works");
  variables["TESSERA_TIMEOUT"] = "1";
  const Ended end = in_process(variables, [&] {
    jit::start_ranks(nullptr, nullptr);
    try {
      action();
    } catch (const Error& error) {
      return "as expected: " + std::string(error.what());
    }
    return std::string("nothing");
  });
  CHECK(end.status == 0);
  return end.text;
}

}  // namespace

TEST_CASE("no launcher, one rank, or TESSERA_MPI=0: no plug-in is looked for") {
  CHECK(start({}, "older").text == "0/1");
  CHECK(start({{"OMPI_COMM_WORLD_SIZE", "1"}}, "older").text == "0/1");
  auto variables = kTwo;
  variables["TESSERA_MPI"] = "0";
  CHECK(start(variables, "older").text == "0/1");
}

TEST_CASE("whether messages may lie in a GPU's memory is what MPI says") {
  for (const bool aware : {false, true}) {
    auto variables = kTwo;
    variables["TESSERA_MPI_LIBRARY"] = fake(aware ? "cuda_aware" : "works");
    const Ended end = in_process(variables, [] {
      jit::start_ranks(nullptr, nullptr);
      return std::string(ranks().reaches_gpu_memory() ? "yes" : "no");
    });
    CHECK(end.text == (aware ? "yes" : "no"));
  }
}

TEST_CASE("an exception that nobody catches ends a process by itself with one message and status 1") {
  const auto thrown_by = [](const std::map<std::string, std::string>& variables, std::terminate_handler own) {
    return in_process(variables, [own]() -> std::string {
      if (own != nullptr) std::set_terminate(own);
      jit::start_ranks(nullptr, nullptr);
      std::thread([] { throw jit::UserError("no such file"); }).join();
      return "went on";
    });
  };
  auto without_mpi = kTwo;
  without_mpi["TESSERA_MPI"] = "0";
  for (const auto& variables : {std::map<std::string, std::string>{}, without_mpi}) {
    const Ended end = thrown_by(variables, nullptr);
    CHECK(end.status == 1);
    CHECK(end.text == "error that ends the program: no such file\n");
  }
  const Ended own = thrown_by({}, [] { _exit(77); });  // a handler of the program's own stays
  CHECK(own.status == 77);
  CHECK(own.text == "");
}

TEST_CASE("a launcher, or TESSERA_MPI=1: the ranks are those of the plug-in") {
  CHECK(start(kTwo, "works").text == "0/2");
  CHECK(start({{"PMIX_RANK", "0"}}, "works").text == "0/2");
  CHECK(start({{"TESSERA_MPI", "1"}}, "works").text == "0/2");
  CHECK(start({{"TESSERA_MPI", "1"}}, "alone").text == "0/1");
  CHECK(start({{"PMIX_RANK", "0"}}, "alone").text == "0/1");
}

TEST_CASE("a plug-in that cannot be used is an error that says why") {
  const std::pair<const char*, const char*> wrong[] = {
      {"older", "got version 0, of an older Tessera"}, {"newer", "got version 1000, of a newer Tessera"},
      {"no_plugin", "without its functions"},          {"missing", "cannot open shared object file"},
      {"refusing", "MPI_Init_thread: no such thing"},  {"alone", "The launcher is of another MPI"}};
  for (const auto& [name, word] : wrong) {
    const Ended end = start(kTwo, name);
    CAPTURE(end.text);
    CHECK(end.status == 9);
    CHECK(contains(end.text, word));
    CHECK(contains(end.text, fake(name)));
  }
  CHECK(contains(start(kTwo, "older").text, "tessera-build-mpi"));
}

TEST_CASE("after a start that failed no rank believes to be alone") {
  for (const char* plugin : {"older", "alone"}) {
    auto variables = kTwo;
    variables["OMPI_COMM_WORLD_RANK"] = "1";
    variables["TESSERA_MPI_LIBRARY"] = fake(plugin);
    const Ended end = in_process(variables, [] {
      try {
        jit::start_ranks(nullptr, nullptr);
      } catch (const jit::DeviceError&) {
      }
      std::string text = place();
      try {
        ranks().barrier();
      } catch (const jit::DeviceError& error) {
        text += error.what();
      }
      return text;
    });
    CAPTURE(end.text);
    CHECK(contains(end.text, "1/2"));
    CHECK(contains(end.text, "the start of the job failed"));
  }
}

TEST_CASE("what MPI refuses names the operation, the rank and what MPI says") {
  const std::string collective = thrown<jit::DeviceError>([] {
    char x[13] = {};
    ranks().broadcast(x, 13, 0);
  });
  CHECK(contains(collective, "as expected: broadcast"));
  CHECK(contains(collective, "MPI_Bcast: thirteen (rank 0 of 2)"));
  const std::string message = thrown<jit::DeviceError>([] {
    char x[13] = {};
    ranks().receive(x, 13, 1);
  });
  CHECK(contains(message, "as expected: message from rank 1 (13 bytes)"));
  CHECK(contains(message, "MPI_Test: thirteen (on rank 0 of 2)"));
}

TEST_CASE("a message of another length, or none in time, is an error that names both ranks") {
  char x[4] = {};
  const auto receive = [&](std::size_t bytes) { return [&x, bytes] { ranks().receive(x, bytes, 1); }; };
  const std::string shorter = thrown<jit::InternalError>(receive(2)), longer = thrown<jit::InternalError>(receive(3)),
                    none = thrown<jit::DeviceError>(receive(1));
  CHECK(contains(shorter, "from rank 1 (2 bytes): expected 2 bytes, got 1 (on rank 0 of 2)"));
  CHECK(contains(longer, "expected 3 bytes, got more"));
  CHECK(contains(none,
                 "message from rank 1 (1 bytes): expected it within 1 s, got none (on rank 0 of 2, TESSERA_TIMEOUT)"));
}

TEST_CASE("after the end of the job its rank is known, and operations are errors; it cannot begin again") {
  CHECK(contains(thrown<jit::UserError>([] {
                   jit::finish_ranks();
                   jit::finish_ranks();
                   ranks().barrier();
                 }),
                 "after its end, QDP_finalize() (rank 0)"));
  CHECK(contains(thrown<jit::UserError>([] {
                   jit::finish_ranks();
                   jit::start_ranks(nullptr, nullptr);
                 }),
                 "a second start of the job"));
  CHECK(contains(thrown<jit::UserError>([] { jit::use_ranks_of(0); }), "before QDP_initialize()"));
}

TEST_CASE("the log names the rank") {
  auto variables = kTwo;
  variables["TESSERA_MPI_LIBRARY"] = fake("works");
  const Ended end = in_process(variables, [] {
    jit::log_warn("topic", "before");
    jit::start_ranks(nullptr, nullptr);
    jit::log_warn("topic", "after");
    return std::string();
  });
  CHECK(end.text == "tessera warn [topic]: before\ntessera warn [topic] rank 0: after\n");
}

TEST_CASE("ends of a process with ranks: message, exception, exit") {
  auto variables = kTwo;
  variables["TESSERA_MPI_LIBRARY"] = fake("works");
  const auto end = [&](const std::function<void()>& how) {
    return in_process(variables, [&] {
      jit::start_ranks(nullptr, nullptr);
      how();
      return std::string(", went on");
    });
  };
  // The partners of the fake leave with this rank, so errors are those of all.
  CHECK(end([] { jit::fail_ranks("the message", 1); }).text == "the message\n, went on");
  const Ended thrown = end([] { std::thread([] { throw jit::UserError("unheard of"); }).join(); });
  CHECK(thrown.status == 1);
  CHECK(thrown.text == "error that ends the program: unheard of\n");
  const Ended left = end([] { std::exit(3); });
  CHECK(left.status == 3);
  CHECK(left.text.empty());
}

TEST_CASE("without a job a failure is told, and nothing else happens") {
  const Ended end = in_process({}, [] {
    jit::fail_ranks("the message", 1);
    return std::string("went on");
  });
  CHECK(end.text == "the message\nwent on");
}
