// The program bench: what it counts, what its JSON holds, what it refuses.
#include <doctest/doctest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/paths.hpp"
#include "tests/skip.hpp"

namespace {

const std::filesystem::path kProgram = tests::binary_folder() / "bin/bench";
const std::filesystem::path kFolder = tests::binary_folder() / "tests/bench_output";

#define SKIP_WITHOUT_BENCH()                                                                                           \
  if (!std::filesystem::exists(kProgram)) TESSERA_SKIP("this build has no bench (debug or sanitizers)")

/// Exit status; what the program printed is left in kFolder/"out".
int run(const std::string& arguments) {
  std::filesystem::create_directories(kFolder);
  const std::string command = kProgram.string() + " " + arguments + " > " + (kFolder / "out").string() + " 2>&1";
  const int status = std::system(command.c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

std::vector<std::string> lines_with(const std::filesystem::path& file, const std::string& word) {
  std::vector<std::string> lines;
  std::ifstream in(file);
  REQUIRE(in.good());
  for (std::string line; std::getline(in, line);)
    if (line.find(word) != std::string::npos) lines.push_back(line);
  return lines;
}

/// The number behind "name": in a line of JSON.
double number(const std::string& line, const std::string& name) {
  const auto at = line.find('"' + name + "\": ");
  REQUIRE_MESSAGE(at != std::string::npos, name, " in ", line);
  return std::stod(line.substr(at + name.size() + 4));
}

}  // namespace

TEST_CASE("bench expr counts flops and bytes, and its rates and shares follow from them") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "expr.json";
  REQUIRE(run("expr --lattice 4 4 4 4 --precision double --threads 1 --min-time 0.02 --json " + json.string()) == 0);

  struct Expected {
    const char* name;
    double flops, words;
  };
  const Expected cases[] = {{"lcm", 198, 54},
                            {"upsi", 264, 66},
                            {"spmat", 480, 96},
                            {"matvec", 552, 90},
                            {"clover", 504, 120},
                            {"zero", 0, 24},
                            {"copy", 0, 48},
                            {"axpy", 48, 72},
                            {"norm2", 48, 24},
                            {"innerProduct", 96, 48},
                            {"covderiv", 552, 66},
                            {"staples", 3 * (4 * 198 + 36), 90},
                            {"plaquette", 6 * (2 * 198 + 36), 6 * 36}};
  const std::string ceiling = lines_with(json, "triad_gbytes_per_s").at(0);
  for (const Expected& expected : cases) {
    CAPTURE(expected.name);
    const auto lines = lines_with(json, "\"case\": \"" + std::string(expected.name) + "\"");
    REQUIRE(lines.size() == 1);
    const std::string& record = lines[0];
    CHECK(number(record, "flops_per_site") == expected.flops);
    CHECK(number(record, "bytes_per_site") == 8 * expected.words);
    const double seconds = number(record, "seconds");
    CHECK(seconds > 0);
    CHECK(number(record, "gflops") == doctest::Approx(expected.flops * 256 / seconds * 1e-9));
    CHECK(number(record, "share_of_triad") ==
          doctest::Approx(number(record, "gbytes_per_s") / number(ceiling, "triad_gbytes_per_s")));
    CHECK(number(record, "share_of_fma") == doctest::Approx(number(record, "gflops") / number(ceiling, "fma_gflops")));
  }
}

TEST_CASE("bench dslash counts a checkerboard: 1320 flops, 8 links and 2 spinors a site") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "dslash.json";
  REQUIRE(
      run("dslash --lattice 4 4 4 4 --lattice 4 4 4 8 --precision single,double --threads 1,2 --min-time 0.02 --json " +
          json.string()) == 0);
  const auto records = lines_with(json, "\"case\": \"dslash\"");
  REQUIRE(records.size() == 2 * 2 * 2);
  CHECK(number(records[0], "sites") == 128);
  CHECK(number(records[7], "sites") == 256);
  CHECK(number(records[0], "flops_per_site") == 1320);
  CHECK(number(records[0], "bytes_per_site") == 4 * (8 * 18 + 2 * 24));
}

TEST_CASE(
    "bench solver: all converge, mixed precision with few applications in double, shifts with hardly more than one") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "solver.json";
  REQUIRE(run("solver --lattice 4 4 4 4 --threads 1 --min-time 0.02 --json " + json.string()) == 0);
  const auto solver = [&](const std::string& name) {
    const auto lines = lines_with(json, "\"case\": \"" + name + "\"");
    REQUIRE(lines.size() == 1);
    CHECK(lines[0].find("\"converged\": true") != std::string::npos);
    CHECK(number(lines[0], "residual") < 1.01e-12);
    CHECK(number(lines[0], "seconds") > 0);
    return lines[0];
  };
  const std::string cg = solver("cg"), mixed = solver("cg_mixed"), shifts = solver("multi_shift");
  solver("bicgstab");
  CHECK(number(cg, "time_to_cg") == 1);
  CHECK(number(mixed, "applications") < 20);
  CHECK(number(mixed, "single_applications") == number(mixed, "iterations"));
  CHECK(number(shifts, "iterations") <= number(cg, "iterations") + 1);
  CHECK(number(shifts, "applications_to_cg") ==
        doctest::Approx(number(shifts, "applications") / number(cg, "applications")));
}

TEST_CASE("bench --case measures the cases that were asked for, and tells which there are") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "cases.json";
  const std::string small = " --lattice 4 4 4 4 --precision double --threads 1 --min-time 0.01 --json " + json.string();
  REQUIRE(run("expr --case axpy --case norm2" + small) == 0);
  CHECK(lines_with(json, "\"case\": \"").size() == 2);
  CHECK(lines_with(json, "\"case\": \"axpy\"").size() == 1);
  CHECK(lines_with(json, "\"case\": \"norm2\"").size() == 1);
  REQUIRE(run("solver --case bicgstab" + small) == 0);  // the others are told relative to cg
  CHECK(lines_with(json, "\"case\": \"").size() == 2);
  CHECK(lines_with(json, "\"case\": \"cg\"").size() == 1);
  CHECK(lines_with(json, "\"case\": \"bicgstab\"").size() == 1);
  for (const char* wrong :
       {"expr --case axpi", "expr --case axpy --case axpi", "solver --case axpy", "hmc --case axpy"})
    CHECK(run(wrong + small) != 0);
}

TEST_CASE("bench jit compiles every kernel once and finds all of them in the cache the second time") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "jit.json";
  REQUIRE(run("jit --lattice 4 4 4 4 --precision single --min-time 0.02 --json " + json.string()) == 0);
  CHECK(lines_with(json, "\"case\": \"host_axpy\"").size() == 1);
  CHECK(lines_with(json, "\"case\": \"hmc\"").size() > 3);
  const auto kernels = lines_with(json, "\"cold_seconds\"");
  CHECK(kernels.size() > 15);
  for (const std::string& kernel : kernels) {
    CAPTURE(kernel);
    CHECK(number(kernel, "cold_seconds") > 0);
    CHECK(kernel.find("\"warm_from_cache\": true") != std::string::npos);
  }
}

TEST_CASE("bench comm counts the messages of a hop, half a spinor for each site of a face") {
  SKIP_WITHOUT_BENCH();
  if (*TESSERA_MPIRUN == '\0') TESSERA_SKIP("MPI was not there when the tests were configured");
  if (std::filesystem::exists(kProgram.parent_path().parent_path() / "bundle.txt"))
    TESSERA_SKIP("a bundle (scripts/bundle) has no plug-in for MPI");
  const std::filesystem::path json = kFolder / "comm.json";
  std::filesystem::create_directories(kFolder);
  const std::string command =
      TESSERA_MPIRUN " -np 2 " + kProgram.string() +
      " comm --geom 1 1 1 2 --lattice 4 4 4 8 --precision double --threads 1 --min-time 0.01 --json " + json.string() +
      " > " + (kFolder / "out").string() + " 2>&1";
  REQUIRE(std::system(command.c_str()) == 0);
  const auto hop = lines_with(json, "\"inner_seconds\"");
  REQUIRE(hop.size() == 2);  // the hop and the derivative along t
  CHECK(hop[0].find("\"case\": \"hop\"") != std::string::npos);
  CHECK(hop[1].find("\"case\": \"covderiv_3\"") != std::string::npos);
  CHECK(number(hop[0], "sites") == 4 * 4 * 4 * 4 / 2);
  CHECK(number(hop[0], "share_of_faces") >= 0.5);  // of groups: with 16 lanes all of them have a site there
  CHECK(number(hop[0], "messages") == 1);
  CHECK(number(hop[0], "bytes") == 2 * 32 * 12 * 8);
  CHECK(number(hop[1], "bytes") == 64 * (24 + 24) * 8);  // psi from above, U^+ psi from below
}

TEST_CASE("bench io counts the data of files, and leaves none") {
  SKIP_WITHOUT_BENCH();
  const std::filesystem::path json = kFolder / "io.json";
  std::filesystem::remove_all(kFolder / "files");
  std::filesystem::create_directories(kFolder / "files");
  REQUIRE(run("io --folder " + (kFolder / "files").string() +
              " --lattice 4 4 4 4 --precision single --threads 1 --min-time 0.01 --json " + json.string()) == 0);
  const auto cases = lines_with(json, "\"suite\": \"io\"");
  REQUIRE(cases.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    const char* const names[] = {"write_links", "read_links", "write_propagator", "read_propagator"};
    CHECK(cases[i].find(names[i]) != std::string::npos);
    CHECK(number(cases[i], "bytes_per_site") == (i < 2 ? 72 : 288) * 4);
    CHECK(number(cases[i], "gbytes_per_s") > 0);
  }
  CHECK(std::filesystem::is_empty(kFolder / "files"));
}

TEST_CASE("bench chains runs statements one by one, and fused") {
  SKIP_WITHOUT_BENCH();
  const auto json = kFolder / "chains.json";
  REQUIRE(run("chains --lattice 4 4 4 4 --precision double --threads 1 --min-time 0.01 --json " + json.string()) == 0);
  const auto cases = lines_with(json, "\"suite\": \"chains\"");
  REQUIRE(cases.size() == 12);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CHECK((cases[i].find(" fused\"") != std::string::npos) == (i % 2 == 1));
    CHECK(number(cases[i], "gbytes_per_s") > 0);
  }
  // Each operand once, each result once.
  CHECK(number(cases[0], "bytes_per_site") == 4 * 24 * 8 + 24 * 8);
  CHECK(number(cases[10], "bytes_per_site") == (8 * 18 + 12 * 2 * 24) * 8);  // the links once for twelve sides
}

TEST_CASE("bench names the valid values of what it refuses") {
  SKIP_WITHOUT_BENCH();
  const auto refuses = [](const std::string& arguments, const std::string& word) {
    CAPTURE(arguments);
    CHECK(run(arguments) != 0);
    CHECK(!lines_with(kFolder / "out", word).empty());
  };
  refuses("nonsense", "{expr,dslash,chains,solver,hmc,jit,comm,io}");
  refuses("expr --precision half", "{single,double}");
  refuses("expr --lattice 8 8 8", "--lattice: 4 required");
  refuses("expr --lattice 8 8 8 0", "--lattice");
  refuses("expr --threads 0", "--threads");
  refuses("expr --device abacus", "cpu,cuda,cuda:<n>,sim");
  refuses("expr --json /nonexistent/folder/file", "/nonexistent/folder/file");
}
