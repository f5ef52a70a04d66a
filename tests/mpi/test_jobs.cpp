// Programs as ranks of a job under mpirun: what they say, how they end, and what becomes of the others when one fails.
#include <doctest/doctest.h>

#include <sched.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <numeric>
#include <regex>
#include <string>
#include <vector>

#include "qdp_config.h"
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

struct Part {
  int ranks;
  std::string command;
};
/// Ranks of one job that were not started alike.
Ended mpirun(const std::vector<Part>& parts, const std::string& variables = "") {
  std::string command = variables + " timeout 100 " TESSERA_MPIRUN;
  for (std::size_t i = 0; i < parts.size(); ++i)
    command += (i > 0 ? " : -np " : " -np ") + std::to_string(parts[i].ranks) + ' ' + parts[i].command;
  return run(command);
}

/// Ended by an error that all ranks have, so it is told once: within seconds, with all of these words.
void check_error_of_all(const Ended& end, const std::vector<std::string>& words) {
  CAPTURE(end.text);
  CHECK(end.status != 0);
  CHECK(end.status != 124);  // timeout's
  CHECK(end.seconds < 30);
  for (const std::string& word : words) CHECK(contains(end.text, word));
  CHECK(end.text.find(words.front()) == end.text.rfind(words.front()));
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

TEST_CASE("cases of a test on ranks: what is wrong on one of them is wrong, and none waits for ever") {
  TESSERA_NEEDS_MPI;
  std::string grid = "2";
  for (int mu = 1; mu < QDP_ND; ++mu) grid += " 1";
  const tests::TemporaryFolder folder;
  const auto cases = [&](const std::string& which, const std::string& limit) {
    const std::string verdicts = folder.file(std::to_string(std::hash<std::string>()(which)));
    Ended end =
        mpirun(2, "-nc=1 '-tc=" + which + "'",
               "TEST_GRID='" + grid + "' TEST_CASE_SECONDS=" + limit + " TEST_VERDICTS=" + verdicts, "mpi_verdicts");
    std::ifstream in(verdicts);
    end.text += std::string(std::istreambuf_iterator<char>(in), {});
    return end;
  };
  struct Wanted {
    std::string which;
    int status;
    std::vector<std::string> words;
    std::future<Ended> job;
  };
  std::vector<Wanted> all;  // beside each other
  const auto check = [&](const std::string& which, int status, const std::vector<std::string>& words,
                         const std::string& limit = "20") {
    all.push_back({which, status, words, std::async(std::launch::async, cases, which, limit)});
  };
  check("well on both", 0, {"1 passed | 0 failed", "passed\tverdicts.cpp:"});
  check("wrong on the second", 1, {"FAILED on rank 1", "rank 1: ", "tests::job_rank() == 0", "failed\tverdicts.cpp:"});
  check("thrown on the first", 1, {"lost on the first", "failed\tverdicts.cpp:"});
  check("not divided", 77, {"the grid of ranks does not divide the lattice", "skipped\tverdicts.cpp:"});
  check("*wrong*,*well*", 1, {"passed\tverdicts.cpp:", "failed\tverdicts.cpp:"});
  check("one waits for the other", 1, {"one waits for the other\": not done after 2 s"}, "2");
  for (Wanted& wanted : all) {
    const Ended end = wanted.job.get();
    CAPTURE(wanted.which);
    CAPTURE(end.text);
    CHECK(end.status == wanted.status);
    CHECK(end.seconds < 30);
    for (const std::string& word : wanted.words) CHECK(contains(end.text, word));
  }
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

TEST_CASE("ranks write a file together and read it, by MPI; where there is no room all end and leave nothing") {
  TESSERA_NEEDS_MPI;
  const tests::TemporaryFolder folder;
  for (const int ranks : {2, 4}) {
    const Ended end = mpirun(ranks, "save " + folder.file("u"), "TESSERA_LOG=info,io");
    CAPTURE(end.text);
    CHECK(end.status == 0);
    CHECK(contains(end.text, "difference 0, checksum verified"));
    CHECK(count(end.text, ", all ranks together") == 2);  // written and read
    fs::remove(folder.file("u"));
  }
  if (QDP_ND < 3) return;  // there is room
  for (const int ranks : {2, 4}) {
    const Ended end = mpirun(ranks, "save_full " + folder.file("u"), "TESSERA_CACHE=0");
    CAPTURE(end.text);
    CHECK(end.status != 0);
    CHECK(end.seconds < 30);
    CHECK(count(end.text, "error that ends the program: write \"" + folder.file("u")) == 1);
    CHECK(fs::is_empty(folder.file("")));
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
  const Ended alone = mpirun(3, "exit_one_in_peace", "TESSERA_TIMEOUT=3");
  CAPTURE(alone.text);
  CHECK(alone.status != 0);
  CHECK(alone.seconds < 12);
  CHECK(count(alone.text, "rank 1: this rank has ended without QDP_finalize()") == 1);
}

TEST_CASE("a message that does not come is an error after TESSERA_TIMEOUT that names both ranks") {
  TESSERA_NEEDS_MPI;
  const Ended end = mpirun(2, "late", "TESSERA_TIMEOUT=3");
  CAPTURE(end.text);
  CHECK(end.status != 0);
  CHECK(end.seconds < 12);
  CHECK(count(end.text, "message from rank 1 (4 bytes): expected it within 3 s, got none (on rank 0 of 2") == 1);
}

TEST_CASE("a collective operation that does not end is an error after TESSERA_TIMEOUT, and ends all") {
  TESSERA_NEEDS_MPI;
  std::map<std::string, std::future<Ended>> jobs;  // beside each other, as they wait
  for (const char* operation : {"barrier", "combination", "broadcast", "gathering"})
    jobs[operation] = std::async(
        std::launch::async, [operation] { return mpirun(3, std::string("late_") + operation, "TESSERA_TIMEOUT=3"); });
  for (auto& [operation, job] : jobs) {
    const Ended end = job.get();
    CAPTURE(end.text);
    CHECK(end.status != 0);
    CHECK(end.seconds < 15);
    CHECK(contains(end.text, operation));
    CHECK(contains(end.text, "expected the other ranks within 3 s, got not all (on rank "));
  }
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

TEST_CASE("ranks that nobody has bound to processors stay in their share of the NUMA domains") {
  TESSERA_NEEDS_MPI;
  cpu_set_t mine;
  REQUIRE(sched_getaffinity(0, sizeof mine, &mine) == 0);
  const int cores = CPU_COUNT(&mine);
  if (cores % 2 != 0 || !CPU_ISSET(static_cast<std::size_t>(cores - 1), &mine))
    TESSERA_SKIP("needs processors 0 to an odd number");
  // A machine of two domains that is made up.
  const std::string program_here =
      "env HWLOC_SYNTHETIC='numa:2 pu:" + std::to_string(cores / 2) + "' " + program("mpi_job") + " threads";
  const auto job = [&](const std::string& variables, int ranks) {  // beside each other
    return std::async(std::launch::async,
                      [=] { return mpirun({{ranks, program_here}}, variables + " TESSERA_LOG=info,comm").text; });
  };
  const std::string unbound =
      "env -u OMP_NUM_THREADS -u OMP_PROC_BIND -u OMP_PLACES OMPI_MCA_hwloc_base_binding_policy=none";
  std::future<std::string> jobs[] = {job(unbound, 2), job(unbound, 4), job(unbound + " TESSERA_NUMA=0", 2),
                                     job(unbound + " OMP_PROC_BIND=close", 2),
                                     job("env OMPI_MCA_hwloc_base_binding_policy=core", 2)};
  const std::string stays = "stays in its part of the NUMA domains: processors ";
  const auto range = [](int begin, int end) {
    return std::to_string(begin) + (end > begin + 1 ? "-" + std::to_string(end - 1) : "") + "\n";
  };
  const std::string two = jobs[0].get(), four = jobs[1].get();
  if (contains(two, stays) || std::filesystem::exists("/usr/include/hwloc.h")) {
    CHECK_MESSAGE(contains(two, "rank 0: " + stays + range(0, cores / 2)), two);
    CHECK_MESSAGE(contains(two, "rank 1: " + stays + range(cores / 2, cores)), two);
    const std::string half = ": " + std::to_string(cores / 2) + " of the run time, " + std::to_string(cores / 2);
    CHECK_MESSAGE(count(two, half) == 2, two);
    CHECK_MESSAGE(contains(four, "rank 1: " + stays + range(0, cores / 2)), four);
    CHECK_MESSAGE(contains(four, "rank 2: " + stays + range(cores / 2, cores)), four);
  }
  for (std::future<std::string>* other = jobs + 2; other != std::end(jobs); ++other) {
    const std::string text = other->get();
    CHECK_MESSAGE(count(text, " of the run time, ") == 2, text);
    CHECK_MESSAGE(!contains(text, stays), text);
  }
}

TEST_CASE("ranks of a machine compile each kernel once, also without a kernel cache") {
  TESSERA_NEEDS_MPI;
  const tests::TemporaryFolder folder;
  const auto compiled = [](const Ended& end) {
    REQUIRE_MESSAGE(end.status == 0, end.text);
    std::vector<int> counts;
    const std::regex count("rank \\d+: (\\d+) compilations");
    for (std::sregex_iterator i(end.text.begin(), end.text.end(), count), last; i != last; ++i)
      counts.push_back(std::stoi((*i)[1]));
    return counts;
  };
  const auto sum = [](const std::vector<int>& counts) { return std::accumulate(counts.begin(), counts.end(), 0); };
  const std::string cold = "TESSERA_CACHE_DIR=" + folder.file("cache");
  const auto two = compiled(mpirun(2, "compilations", "TESSERA_CACHE=0"));
  REQUIRE(two.size() == 2);
  const int kernels = sum(two);
  CHECK(kernels > 4);
  CHECK(compiled(run("env TESSERA_CACHE=0 " + program("mpi_job") + " compilations"))[0] <= kernels);
  // Ranks on the same side of faces have the same kernels, if not the same buffers.
  const auto four = compiled(mpirun(4, "compilations", cold));
  CHECK(four.size() == 4);
  CHECK(sum(four) <= 2 * kernels);
  CHECK(sum(compiled(mpirun(4, "compilations", cold))) == 0);
}

TEST_CASE("ranks of a machine share its GPUs") {
  TESSERA_NEEDS_MPI;
  const std::string two_gpus = "TESSERA_LIBCUDA=" + program("fake_cuda/libcuda_works.so") + " ";
  for (const std::string wanted : {"", "TESSERA_DEVICE=cuda "}) {
    const Ended end = mpirun(4, "device", two_gpus + wanted);
    REQUIRE_MESSAGE(end.status == 0, end.text);
    for (int rank = 0; rank < 4; ++rank)
      CHECK_MESSAGE(contains(end.text, "rank " + std::to_string(rank) + ": cuda:" + std::to_string(rank % 2) + "\n"),
                    end.text);
  }
  const Ended named = mpirun(2, "device", two_gpus + "TESSERA_DEVICE=cuda:1");
  CHECK_MESSAGE(contains(named.text, "rank 0: cuda:1\n"), named.text);
  CHECK_MESSAGE(contains(named.text, "rank 1: cuda:1\n"), named.text);
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

TEST_CASE("ranks of different programs, or with other rules for what is collective, do not begin: both are named") {
  TESSERA_NEEDS_MPI;
  const std::string job = program("mpi_job") + " hello";
  check_error_of_all(mpirun({{2, job}, {1, program("mpi_own") + " funneled"}}),
                     {"programs of a job", "mpi_job ", " on rank 0", "mpi_own ", " on rank 2", "from one build"});
  check_error_of_all(mpirun({{1, job}, {2, "env TESSERA_CHECK=1 " + job}}),
                     {"programs of a job", ", TESSERA_CHECK=1 on rank 1", " on rank 0"});
  // A copy elsewhere is the same program.
  const tests::TemporaryFolder folder;
  fs::copy(program("mpi_job"), folder.file("mpi_job"));
  const Ended copy = mpirun({{1, job}, {1, folder.file("mpi_job") + " hello"}});
  CAPTURE(copy.text);
  CHECK(copy.status == 0);
  CHECK(count(copy.text, "sum 1, exact\n") == 1);
}

TEST_CASE("programs of the same name and another build do not begin") {
  TESSERA_NEEDS_MPI;
  // One bit of the build identifier is another: the rest runs as before.
  const tests::TemporaryFolder folder;
  std::ifstream from(program("mpi_job"), std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(from), {}};
  using namespace std::string_literals;
  const std::string note = "\x03\0\0\0GNU\0"s;  // NT_GNU_BUILD_ID, behind the sizes of name and identifier
  const auto at = bytes.find(note);
  if (at == std::string::npos) TESSERA_SKIP("the linker gives programs no build identifier");
  bytes[at + note.size()] ^= 1;
  std::ofstream(folder.file("mpi_job"), std::ios::binary) << bytes;
  fs::permissions(folder.file("mpi_job"), fs::perms::owner_all);
  check_error_of_all(mpirun({{3, program("mpi_job") + " hello"}, {1, folder.file("mpi_job") + " hello"}}),
                     {"programs of a job", "mpi_job ", " on rank 0", " on rank 3"});
}

TEST_CASE("ranks that make different lattices are told so, all of them") {
  TESSERA_NEEDS_MPI;
  check_error_of_all(mpirun(3, "lattice_of_one"),
                     {"Layout::create", "extents 4", " on rank 0", "extents 8", " on rank 1"});
  const std::string job = program("mpi_job") + " lattice", ones = " 1";
  std::string along_first = " -geom 2", along_last = " -geom";
  for (int mu = 1; mu < QDP_ND; ++mu) along_first += ones, along_last += ones;
  along_last += " 2";
  if (QDP_ND > 1)
    check_error_of_all(mpirun({{1, job + along_first}, {1, job + along_last}}),
                       {"Layout::create", "-geom", " on rank 0", " on rank 1"});
}

TEST_CASE(
    "eight ranks and a cold cache, one that cannot be, and one that only one rank cannot have: the same numbers") {
  TESSERA_NEEDS_MPI;
  const tests::TemporaryFolder folder;
  const std::string job = program("mpi_job") + " lattice", none = "/dev/null/cache";
  const auto norm = [](const Ended& end) {
    CAPTURE(end.text);
    CHECK(end.status == 0);
    std::smatch found;
    REQUIRE(std::regex_search(end.text, found, std::regex("norm 0x[^\n]*\n")));
    return found.str();
  };
  const std::string alone = norm(mpirun(1, "lattice"));
  const std::string shared = "TESSERA_CACHE_DIR=" + folder.file("cache");
  CHECK(norm(mpirun({{8, job}}, shared)) == alone);  // cold
  CHECK(fs::exists(folder.file("cache")));
  CHECK(norm(mpirun({{8, job}}, shared)) == alone);  // warm
  CHECK(norm(mpirun({{8, job}}, "TESSERA_CACHE_DIR=" + none)) == alone);
  for (const char* one : {"first", "last"}) {
    const Part well{7, "env TESSERA_CACHE_DIR=" + folder.file(one) + ' ' + job},
        ill{1, "env TESSERA_CACHE_DIR=" + none + ' ' + job};
    CHECK(norm(*one == 'f' ? mpirun({ill, well}) : mpirun({well, ill})) == alone);
  }
}

TEST_CASE("hmc: the primary's input counts, other arguments are an error, and so is a full disk, on all ranks") {
  TESSERA_NEEDS_MPI;
  const std::string hmc = (tests::binary_folder() / "bin/hmc").string();
  if (QDP_ND != 4 || QDP_NC != 3 || !fs::exists(hmc)) TESSERA_SKIP("hmc for QCD is not here");
  const tests::TemporaryFolder folder;
  std::ifstream example(tests::source_folder() / "examples/hmc/quickstart.xml");
  std::string text{std::istreambuf_iterator<char>(example), {}};
  for (const auto& [tag, value] :
       {std::pair{"nrow", "4 4 2 4"}, {"NUpdatesThisRun", "1"}, {"SaveInterval", "1"}, {"n_steps", "1"}})
    text = std::regex_replace(text, std::regex(std::string("<") + tag + ">[^<]*<"),
                              std::string("<") + tag + '>' + value + '<');
  const auto input_of = [&](const std::string& name, const std::string& input) {
    fs::create_directories(folder.file(name));
    std::ofstream(folder.file(name + "/in.xml")) << input;
    return "-wdir " + folder.file(name) + ' ' + hmc + " -i in.xml";
  };
  const std::string one = input_of("one", text),
                    other = input_of("other", std::regex_replace(text, std::regex("5\\.7"), "6.0")),
                    broken = input_of("broken", "<Params>"), none = input_of("none", "");
  fs::remove(folder.file("none/in.xml"));
  const auto plaquette = [](const Ended& end) {
    CAPTURE(end.text);
    CHECK(end.status == 0);
    std::smatch found;
    REQUIRE(std::regex_search(end.text, found, std::regex("<plaquette> [0-9.]+")));
    return found.str();
  };
  const std::string right = plaquette(mpirun({{2, one}}));
  for (const std::string& file : {other, broken, none})
    CHECK(plaquette(mpirun({{1, one + " --overwrite"}, {1, file + " --overwrite"}})) == right);
  CHECK(plaquette(mpirun({{1, other}, {1, one}})) != right);
  check_error_of_all(mpirun({{1, broken}, {3, one}}), {"hmc: in.xml:1: expected well-formed XML"});
  check_error_of_all(mpirun({{1, none}, {3, one}}), {"in.xml: "});
  check_error_of_all(mpirun({{1, one}, {1, one + " --overwrite"}}),
                     {"command lines of a job", "-i in.xml on rank 0", "--overwrite on rank 1"});
  check_error_of_all(mpirun({{1, hmc + " --check " + folder.file("one/in.xml")}, {1, one}}),
                     {"command lines of a job", "--check"});
  check_error_of_all(mpirun({{4, one + " --overwrite -o /dev/full"}}),
                     {"could not be written (disk full?)", "hmc: ", "/dev/full"});
}
