// bench: how fast expressions run and compile, against what the machine can do, measured in the same run.

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <set>
#include <utility>

#include "apps/bench/suite_jit.hpp"
#include "apps/bench/suite_solver.hpp"
#include "apps/bench/suite_trajectory.hpp"
#include "apps/bench/suites.hpp"
#include "jit/comm/delayed_ranks.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp.h"

namespace bench {
namespace {

using Suite = std::function<void(Session&, Precision)>;

void run_on_lattices(TimedSession& session, const Options& options, const std::string& name, const Suite& suite) {
  for (const std::vector<int>& lattice : options.lattices) {
    session.set_lattice(lattice);
    for (const int threads : options.threads)
      for (const Precision precision : options.precisions) {
        session.set_case(name, precision, threads);
        suite(session, precision);
      }
  }
}

void run_jit(TimedSession& session, const Options& options, Report& report) {
  session.set_lattice(std::vector<int>(QDP::Nd, 2));
  for (const Precision precision : options.precisions) {
    session.set_case("jit", precision, 1);
    measure_host_cost(session, precision);
  }
  report.kernels = measure_compilation(options);
  print_kernels(std::cout, report.kernels);
}

void run_solver(const Options& options, Report& report) {
  Cases cases(options.cases);
  for (const std::vector<int>& lattice : options.lattices) {
    create_lattice(lattice);
    for (const int threads : options.threads) {
      set_threads(threads);
      const std::vector<SolverRecord> records =
          measure_solvers(lattice, threads, options.min_seconds, cases, std::clog);
      report.solvers.insert(report.solvers.end(), records.begin(), records.end());
    }
  }
  print_solvers(std::cout, report.solvers);
  cases.check();
}

/// Writes what there is so far, if that was asked for.
void save(const Options& options, const Report& report) {
  if (options.json_file.empty()) return;
  if (!QDP::io::is_primary()) return;
  std::ofstream json(options.json_file);
  write_json(json, report);
  if (!json.flush())
    throw jit::UserError({.what = "--json",
                          .expected = "a file that can be written, and room for the results",
                          .got = options.json_file});
}

void run_hmc(const Options& options, Report& report) {
  for (const std::vector<int>& lattice : options.lattices) {
    create_lattice(lattice);
    for (const int threads : options.threads) {
      set_threads(threads);
      const Ceiling& ceiling = report.machine.ceiling(Precision::kDouble, threads);
      report.trajectories.push_back(measure_trajectory(lattice, threads, options.min_seconds, ceiling));
      print_trajectory(std::cout, report.trajectories.back());
      save(options, report);  // the next lattice may take hours
    }
  }
}

void run(const std::string& suite, const Options& options) {
  if (QDP::Nd != 4 || QDP::Nc != 3)
    throw jit::UserError({.what = "bench",
                          .expected = "a build with QDP_ND=4, QDP_NC=3, for which the operations are counted",
                          .got = "QDP_ND=" + std::to_string(QDP::Nd) + ", QDP_NC=" + std::to_string(QDP::Nc)});

  Report report;
  save(options, report);  // what cannot be written is told now, not after an hour
  const std::vector<int> threads = suite == "jit" ? std::vector<int>{1} : options.threads;
  const std::vector<Precision> precisions = suite == "hmc" ? std::vector{Precision::kDouble} : options.precisions;
  report.machine = measure_machine(precisions, threads, options.min_seconds);
  print_machine(std::cout, report.machine);
  if (suite != "solver" && suite != "hmc") print_header(std::cout);

  TimedSession session(options, report, std::cout);
  if (suite == "expr") run_on_lattices(session, options, suite, run_expr);
  if (suite == "dslash") run_on_lattices(session, options, suite, run_dslash);
  if (suite == "chains") run_on_lattices(session, options, suite, run_chains);
  if (suite == "comm") run_on_lattices(session, options, suite, run_comm);
  if (suite == "io")
    run_on_lattices(session, options, suite,
                    [&](Session& s, Precision precision) { run_io(s, precision, options.folder); });
  if (suite == "jit") run_jit(session, options, report);
  if (suite == "solver") run_solver(options, report);
  if (suite == "hmc") run_hmc(options, report);

  save(options, report);
  if (suite != "solver") session.check_cases();
}

/// "8 8 8 8 24 24 24 24", Nd numbers for each --lattice.
std::vector<std::vector<int>> lattices_from(const std::vector<int>& extents) {
  std::vector<std::vector<int>> lattices;
  for (auto first = extents.begin(); first != extents.end(); first += QDP::Nd)
    lattices.emplace_back(first, first + QDP::Nd);
  return lattices;
}

/// While it lives, messages take so many microseconds longer.
class SlowMessages {
 public:
  explicit SlowMessages(int delay) {
    if (delay == 0) return;
    auto slow = std::make_unique<jit::DelayedRanks>(jit::replace_process_communicator(nullptr),
                                                    std::chrono::microseconds(delay));
    slow_ = slow.get();
    jit::replace_process_communicator(std::move(slow));
  }
  ~SlowMessages() {
    if (slow_ != nullptr) jit::replace_process_communicator(slow_->give_back());
  }
  SlowMessages(const SlowMessages&) = delete;
  SlowMessages& operator=(const SlowMessages&) = delete;

 private:
  jit::DelayedRanks* slow_ = nullptr;
};

int main(int argc, char** argv) {
  // A statement that is measured meets the same fields each time; a program's does not.
  setenv("TESSERA_KEEP_HALOS", "0", 0);
  CLI::App app(
      "Measures expressions, the Wilson hopping term, solvers, HMC trajectories, files and the compiler, against this machine's triad and FMA rate.");
  app.footer("Environment:\n" + jit::env_help());

  std::string suite;
  Options options;
  std::vector<int> extents(QDP::Nd, 8);
  std::vector<std::string> precisions = {"single", "double"};

  app.add_option("suite", suite, "What to measure")
      ->required()
      ->check(CLI::IsMember({"expr", "dslash", "chains", "solver", "hmc", "jit", "comm", "io"}));
  app.add_option("--lattice", extents, "Extents; may be given several times")
      ->type_size(QDP::Nd)
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 65536))
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str();
  std::vector<int> geom;
  app.add_option("--geom", geom, "Ranks in each direction; chosen if it is not given")
      ->expected(QDP::Nd)
      ->check(CLI::Range(1, 65536));
  app.add_option("--precision", precisions, "single, double or both with a comma between")
      ->delimiter(',')
      ->check(CLI::IsMember({"single", "double"}))
      ->capture_default_str();
  int delay = 0;
  app.add_option(
         "--delay", delay,
         "Microseconds that messages take longer, during which processors are free: what overlap hides (TESSERA_OVERLAP)")
      ->check(CLI::Range(0, 10'000'000))
      ->capture_default_str();
  CLI::Option* const threads =
      app.add_option("--threads", options.threads,
                     "Thread counts, with commas between; default: one, and all that a rank has")
          ->delimiter(',')
          ->check(CLI::Range(1, 4096));
  app.add_option("--device", options.device,
                 "Device that runs the kernels, as TESSERA_DEVICE has it; default: what that says");
  app.add_option("--case", options.cases,
                 "Only these cases of the suite, by their names in its table; not for hmc and jit");
  app.add_option("--min-time", options.min_seconds, "Seconds per case, all samples together")
      ->check(CLI::Range(0.001, 3600.0))
      ->capture_default_str();
  app.add_option("--json", options.json_file, "Write all records to this file");
  app.add_option("--folder", options.folder, "Where the suite io has its file")
      ->check(CLI::ExistingDirectory)
      ->capture_default_str();
  bool jit_pass = false;
  app.add_flag("--jit-pass", jit_pass, "How the suite jit starts this program, see suite_jit.hpp")
      ->group("");  // not in --help
  CLI11_PARSE(app, argc, argv);

  options.lattices = lattices_from(extents);
  for (const std::string& name : precisions) options.precisions.push_back(precision_from(name));

  if (!options.device.empty()) setenv("TESSERA_DEVICE", options.device.c_str(), 1);
  // A repetition must not overwrite what the one before has not computed yet.
  if (suite != "solver" && suite != "hmc") setenv("TESSERA_FUSE", "0", 1);
  setenv("TESSERA_TUNE", "eager", 0);  // what a long run comes to is what counts
  jit::reload_env();
  int only_name = 1;
  QDP::QDP_initialize(&only_name, &argv);
  if (!QDP::io::is_primary()) std::cout.setstate(std::ios::failbit);  // one rank tells
  if (!geom.empty()) {
    QDP::multi1d<int> ranks(QDP::Nd);
    ranks = geom.data();
    QDP::Layout::setLogicalSize(ranks);
  }
  options.device = jit::Runtime::instance().device();
  if (threads->count() == 0) {
    const std::set<int> one_and_all{1, jit::Runtime::instance().threads()};
    options.threads.assign(one_and_all.begin(), one_and_all.end());
  }
  if (!options.cases.empty() && (suite == "jit" || suite == "hmc"))
    throw jit::UserError({.what = "--case", .expected = "a suite that has cases", .got = suite});
  if (suite == "jit" && QDP::Layout::numNodes() > 1)
    throw jit::UserError({.what = "suite jit",
                          .expected = "one rank: it starts processes of its own",
                          .got = std::to_string(QDP::Layout::numNodes()) + " ranks"});
  {
    const SlowMessages slow(delay);
    jit_pass ? run_jit_pass(options, std::cout) : run(suite, options);
  }
  QDP::QDP_finalize();
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  try {
    return bench::main(argc, argv);
  } catch (const std::exception& error) {
    QDP::QDP_failed(std::string("bench: ") + error.what());
    return 1;
  }
}
