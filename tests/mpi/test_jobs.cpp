// Programs as ranks of a job under mpirun: what they say, how they end, and what becomes of the others when one fails.
#include <doctest/doctest.h>

#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

#define TESSERA_NEEDS_MPI                                                                                              \
  if (*TESSERA_MPIRUN == '\0') TESSERA_SKIP("MPI was not there when the tests were configured");                       \
  if (!std::filesystem::exists(program("mpi_job"))) TESSERA_SKIP("the programs for MPI are not here")

using tests::contains;

namespace {

namespace fs = std::filesystem;

std::string program(const std::string& name) { return (tests::binary_folder() / "tests/bin" / name).string(); }

struct Ended {
  int status = 0;
  double seconds = 0;
  std::string text;  ///< stdout and stderr
};

Ended run(const std::string& command) {
  Ended end;
  const auto begin = std::chrono::steady_clock::now();
  std::FILE* const pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  REQUIRE(pipe != nullptr);
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) end.text += static_cast<char>(c);
  const int status = pclose(pipe);
  end.status = WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return end;
}

Ended mpirun(int ranks, const std::string& what, const std::string& variables = "",
             const std::string& name = "mpi_job") {
  return run(variables + " timeout 100 " TESSERA_MPIRUN " -np " + std::to_string(ranks) + " " + program(name) + " " +
             what);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

}  // namespace

TEST_CASE("ranks of mpirun are one job: output comes once, sums are of all, logs name the rank") {
  TESSERA_NEEDS_MPI;
  for (const int ranks : {1, 2, 4}) {
    const Ended end = mpirun(ranks, "hello");
    CAPTURE(end.text);
    CHECK(end.status == 0);
    CHECK(count(end.text, "once, from " + std::to_string(ranks) + "\n") == 1);
    CHECK(count(end.text, "sum " + std::to_string(ranks * (ranks - 1) / 2) + ", exact\n") == 1);
    for (int rank = 0; rank < ranks && ranks > 1; ++rank)
      CHECK(count(end.text, "tessera warn [test] rank " + std::to_string(rank) + ": a line of each\n") == 1);
  }
}

TEST_CASE("TESSERA_MPI=0 under mpirun: each process is a run of its own") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(2, "hello", "TESSERA_MPI=0");
  CAPTURE(end.text);
  CHECK(end.status == 0);
  CHECK(count(end.text, "once, from 1\n") == 2);
}

TEST_CASE("a process that a rank forks off may end as it likes") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(2, "fork");
  CAPTURE(end.text);
  CHECK(end.status == 0);
  CHECK(contains(end.text, "child 3\n"));
  CHECK(count(end.text, "sum 1, exact\n") == 1);
}

TEST_CASE("flags that end a program print once, also under mpirun") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(3, "-h");
  CAPTURE(end.text);
  CHECK(end.status == 0);
  CHECK(count(end.text, "Flags of the language") == 1);
}

TEST_CASE("large messages and broadcasts arrive whole") {
  TESSERA_NEEDS_MPI;
  for (const char* bytes : {"100000", "30000001"}) {
    const Ended end = mpirun(2, std::string("exchange ") + bytes);
    CAPTURE(end.text);
    CHECK(end.status == 0);
    CHECK(contains(end.text, "exchanged " + std::string(bytes) + "\n"));
  }
}

TEST_CASE("one rank that fails ends all within seconds, with one message and a status") {
  TESSERA_NEEDS_MPI;
  struct Way {
    const char *what, *message;
  };
  for (const Way& way : {Way{"fail_one", "the message (rank 1 of 3)\n"},
                         Way{"throw_one", "error that ends the program: the message (rank 1 of 3)\n"},
                         Way{"exit_one", "tessera: rank 1 of 3 ended with status 3; the others are ended\n"},
                         Way{"abort_one", "QDP abort: the program ends with status 5 (rank 1 of 3)\n"}}) {
    const Ended end = mpirun(3, way.what);
    CAPTURE(way.what);
    CAPTURE(end.text);
    CHECK(end.status != 0);
    CHECK(end.status != 124);  // timeout's
    CHECK(end.seconds < 10);
    CHECK(count(end.text, way.message) == 1);
    CHECK(count(end.text, "tessera") + count(end.text, "the message") == (way.what[0] == 'a' ? 0 : 1));
  }
}

TEST_CASE("a rank that is killed ends all within seconds") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(3, "kill_one");
  CAPTURE(end.text);
  CHECK(end.status != 0);
  CHECK(end.seconds < 10);
  CHECK(count(end.text, "tessera") <= count(end.text, "mpi_job"));  // the launcher says who; we say nothing
}

TEST_CASE("an error of all ranks is told once, and MPI ends in order") {
  TESSERA_NEEDS_MPI;
  const Ended failed = mpirun(3, "fail_all");
  CAPTURE(failed.text);
  CHECK(failed.status == 4);
  CHECK(failed.seconds < 10);
  CHECK(count(failed.text, "the message") == 1);
  CHECK(!contains(failed.text, "MPI_ABORT"));
  const Ended threw = mpirun(3, "throw_all");
  CAPTURE(threw.text);
  CHECK(threw.status != 0);
  CHECK(count(threw.text, "the message") == 1);
  const Ended left = mpirun(3, "exit_all");
  CAPTURE(left.text);
  CHECK(left.status == 3);
  CHECK(!contains(left.text, "MPI_ABORT"));
}

TEST_CASE("exit(0) on all ranks is a good end, on one it ends the others when their patience ends") {
  TESSERA_NEEDS_MPI;
  const Ended peace = mpirun(3, "exit_in_peace");
  CAPTURE(peace.text);
  CHECK(peace.status == 0);
  const Ended alone = mpirun(3, "exit_one_in_peace", "TESSERA_TIMEOUT=1");
  CAPTURE(alone.text);
  CHECK(alone.status != 0);
  CHECK(alone.seconds < 12);
  CHECK(count(alone.text, "rank 1: this rank has ended without QDP_finalize()") == 1);
}

TEST_CASE("a message that does not come is an error after TESSERA_TIMEOUT that names both ranks") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(2, "late", "TESSERA_TIMEOUT=1");
  CAPTURE(end.text);
  CHECK(end.status != 0);
  CHECK(end.seconds < 12);
  CHECK(count(end.text, "message from rank 1 (4 bytes): expected it within 1 s, got none (on rank 0 of 2") == 1);
}

TEST_CASE("ranks of a machine share its cores, unless OMP_NUM_THREADS says how many threads each has") {
  TESSERA_NEEDS_MPI;
  const Ended shared = mpirun(4, "threads", "env -u OMP_NUM_THREADS OMPI_MCA_hwloc_base_binding_policy=none");
  CAPTURE(shared.text);
  int all = 0;
  for (int rank = 0; rank < 4; ++rank) {
    const std::string head = "rank " + std::to_string(rank) + ": ";
    const auto at = shared.text.find(head);
    REQUIRE(at != std::string::npos);
    const int threads = std::atoi(shared.text.c_str() + at + head.size());
    all += threads;
    CHECK(contains(shared.text,
                   head + std::to_string(threads) + " of the run time, " + std::to_string(threads) + " of OpenMP\n"));
  }
  const Ended cores = run("nproc");
  CHECK(all <= std::max(4, std::atoi(cores.text.c_str())));
  const Ended told = mpirun(2, "threads", "OMP_NUM_THREADS=3");
  CHECK(count(told.text, ": 3 of the run time, 3 of OpenMP\n") == 2);
}

TEST_CASE("a program's own communicator: two jobs in one, and MPI stays the program's") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(4, "halves", "", "mpi_own");
  CAPTURE(end.text);
  CHECK(end.status == 0);
  CHECK(count(end.text, "half 0 of 2: 2\n") == 1);
  CHECK(count(end.text, "half 1 of 2: 4\n") == 1);
}

TEST_CASE("MPI for one thread only: another one gets an error that says so") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(2, "funneled", "", "mpi_own");
  CAPTURE(end.text);
  CHECK(end.status == 0);
  if (contains(end.text, "level funneled"))
    CHECK(contains(end.text, "expected the thread that initialised MPI"));
  else
    CHECK(contains(end.text, "sum 2"));
}

TEST_CASE(
    "without the plug-in ranks of a launcher do not run as so many jobs: what is missing, where, and what to do") {
  if (!fs::exists(program("mpi_job"))) TESSERA_SKIP("the programs for MPI are not here");
  // The same program and libraries in a place where there is no plug-in.
  const tests::TemporaryFolder folder;
  fs::create_directories(folder.file("bin"));
  fs::create_directories(folder.file("lib"));
  fs::copy(program("mpi_job"), folder.file("bin"));
  for (const auto& entry : fs::directory_iterator(tests::binary_folder() / "lib"))
    if (const std::string name = entry.path().filename().string();
        name.starts_with("libtessera_jit.so") || name.starts_with("libtessera_qdp.so"))
      fs::copy(fs::canonical(entry.path()), folder.file("lib/" + name));
  const std::string command =
      "LD_LIBRARY_PATH=" + folder.file("lib") + ":$LD_LIBRARY_PATH " + folder.file("bin/mpi_job") + " hello";
  const Ended alone = run(command);
  CAPTURE(alone.text);
  CHECK(alone.status == 0);
  CHECK(contains(alone.text, "once, from 1\n"));
  const Ended one = run("OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 " + command);
  CHECK(one.status == 0);
  const Ended launched = run("OMPI_COMM_WORLD_SIZE=4 OMPI_COMM_WORLD_RANK=0 " + command);
  CAPTURE(launched.text);
  CHECK(launched.status != 0);
  for (const std::string& part :
       {std::string(
            "a job of 4 ranks (OMPI_COMM_WORLD_SIZE): expected Tessera's plug-in for MPI, libtessera_mpi.so, got none"),
        folder.file("lib/libtessera_mpi.so"), std::string("tessera-build-mpi"), std::string("TESSERA_MPI=0")})
    CHECK(contains(launched.text, part));
  CHECK(!contains(launched.text, "once"));
}
