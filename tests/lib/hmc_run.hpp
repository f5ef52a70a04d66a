// Whole runs of hmc for tests: inputs, runs in this process, and the program itself.
#pragma once

#include "lib/hmc/simulation.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/paths.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

#include <fcntl.h>
#include <sys/wait.h>

namespace tests {

using namespace QDP;
using namespace qcd;

inline std::string read_text(const std::string& name) {
  return together([&] {
    std::ifstream file(name, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  });
}

/// The lattice of these runs: links are most of what a configuration's file holds, whatever the size of one.
inline std::vector<int> run_extents() {
  return Nd == 2 ? std::vector{16, 16} : Nd == 3 ? std::vector{4, 4, 4} : std::vector{2, 2, 2, 4};
}

/// A run of `updates` that saves every `interval`.
inline std::string params(const std::string& prefix, int updates, int interval, const std::string& more = "",
                          int steps = 3) {
  std::ostringstream xml;
  xml << "<Params><MCControl><Cfg><cfg_type>DISORDERED</cfg_type></Cfg>"
      << "<RNG><Seed><elem>5</elem><elem>6</elem><elem>7</elem><elem>8</elem></Seed></RNG>"
      << "<StartUpdateNum>0</StartUpdateNum><NWarmUpUpdates>2</NWarmUpUpdates><NProductionUpdates>" << updates
      << "</NProductionUpdates><NUpdatesThisRun>" << updates << "</NUpdatesThisRun><SaveInterval>" << interval
      << "</SaveInterval>"
      << "<SavePrefix>" << prefix << "</SavePrefix><SaveVolfmt>SINGLEFILE</SaveVolfmt>" << more << "</MCControl>"
      << "<HMCTrj><nrow>" << extents_text(run_extents())
      << "</nrow><Monomials><elem><Name>GAUGE_MONOMIAL</Name><GaugeAction><Name>LW_TREE_GAUGEACT</Name>"
      << "<beta>6.8</beta><u0>0.9</u0></GaugeAction><NamedObject><monomial_id>gauge</monomial_id></NamedObject></"
         "elem></Monomials>"
      << "<Hamiltonian><monomial_ids><elem>gauge</elem></monomial_ids></Hamiltonian>"
      << "<MDIntegrator><tau0>0.3</tau0><Integrator><Name>LCM_STS_LEAPFROG</Name><n_steps>" << steps << "</n_steps>"
      << "<monomial_ids><elem>gauge</elem></monomial_ids></Integrator></MDIntegrator></HMCTrj></Params>";
  return xml.str();
}

/// Runs an input in this process.
inline RunSummary run(const InputFile& file, const std::string& data, const std::string& log, const RunHooks& hooks) {
  HmcParameters parameters = read_hmc_parameters(file.root());
  file.require_valid();
  use_lattice(parameters.dynamics.lattice);
  XMLFileWriter data_xml(data), log_xml(log);
  push(data_xml, "hmc");
  push(log_xml, "hmc");
  const RunSummary summary = run_simulation(parameters, data_xml, log_xml, hooks);
  pop(data_xml);
  pop(log_xml);
  data_xml.close();
  log_xml.close();
  return summary;
}

/// `stop_after` asks it to stop after that many updates.
inline RunSummary run(const InputFile& file, const std::string& data, const std::string& log,
                      unsigned long stop_after = 0) {
  RunHooks hooks;
  unsigned long done = 0;
  hooks.report = [&](const UpdateReport& report) { done = report.done; };
  hooks.stop_requested = [&] { return stop_after > 0 && done >= stop_after; };
  return run(file, data, log, hooks);
}

/// The links of a saved configuration.
inline GaugeField saved_field(const std::string& name) { return read_field("SZINQIO", name); }

/// Starts hmc or another program as a job of its own; its output goes to `output`. `threads` = 0 leaves the number of threads
/// as it is. For one rank: on several, run_program() and restarts only.
inline pid_t start_program(const std::vector<std::string>& arguments, const std::string& output, int threads = 0,
                           const std::string& name = "hmc") {
  const pid_t pid = fork();
  if (pid == 0) {
    const int file = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    setenv("TESSERA_MPI", "0", 1);
    if (threads > 0) setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);
    std::string program = binary_folder() / "bin" / name;
    std::vector<std::string> copies = arguments;
    std::vector<char*> argv = {program.data()};
    for (std::string& argument : copies) argv.push_back(argument.data());
    argv.push_back(nullptr);
    execv(program.c_str(), argv.data());
    _exit(127);
  }
  return pid;
}

inline int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline int run_program(const std::vector<std::string>& arguments, const std::string& output,
                       const std::string& name = "hmc") {
  meet();
  return on_first_rank([&] { return wait_for(start_program(arguments, output, 0, name)); });
}

/// Waits up to 20 s for a file to appear.
inline bool appears(const std::string& name) {
  for (int i = 0; i < 2000; ++i) {
    if (std::filesystem::exists(name)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace tests
