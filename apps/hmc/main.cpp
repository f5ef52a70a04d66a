// hmc: hybrid Monte Carlo from an XML input, with checkpoints.
//
//   hmc -i in.xml [-o out.xml] [-l log.xml]      run            hmc --check in.xml      only read the input
//
// Exit status: 0 done (or stopped by SIGTERM or SIGUSR1 after saving), 1 anything else.

#include "apps/hmc/arguments.hpp"
#include "apps/hmc/progress.hpp"

#include "lib/hmc/simulation.hpp"
#include "lib/io/input.hpp"

#include <csignal>
#include <exception>

namespace {

volatile std::sig_atomic_t stop_signal = 0;

void request_stop(int signal) { stop_signal = signal; }

void create_layout(const std::vector<int>& lattice) {
  QDP::multi1d<int> nrow(QDP::Nd);
  for (int mu = 0; mu < QDP::Nd; ++mu) nrow[mu] = lattice.at(static_cast<std::size_t>(mu));
  QDP::Layout::setLattSize(nrow);
  QDP::Layout::create();
}

/// An output document with its root element and the input in it.
struct Document {
  QDP::XMLFileWriter xml;

  Document(const std::string& file, const std::string& root, const qcd::Input& input) : xml(file) {
    QDP::push(xml, root);
    QDP::push(xml, "Input");
    xml.writeXML("\n" + input.xml() + "\n");
    QDP::pop(xml);
    qcd::write_program_info(xml);
  }
  void close() {
    QDP::pop(xml);
    xml.close();
  }
};

int run_hmc(const qcd::InputFile& file, const hmc::Arguments& arguments) {
  qcd::HmcParameters parameters = qcd::read_hmc_parameters(file.root());
  file.require_valid();
  hmc::Progress progress(QDP::QDPIO::cout);
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters);
    progress.unused_elements(file.unused_elements());
    return 0;
  }
  if (parameters.control.updates_to_do() == 0) {
    progress.nothing_to_do(parameters);
    return 0;
  }
  create_layout(parameters.dynamics.lattice);
  Document data(arguments.data, "hmc", file.root()), log(arguments.log, "hmc", file.root());

  std::signal(SIGTERM, request_stop);
  std::signal(SIGUSR1, request_stop);
  progress.begin(parameters);
  qcd::RunHooks hooks;
  hooks.report = [&](const qcd::UpdateReport& report) { progress.update(report); };
  hooks.stop_requested = [] { return stop_signal != 0; };
  const qcd::RunSummary summary = qcd::run_simulation(parameters, data.xml, log.xml, hooks);
  data.close();
  log.close();
  progress.end(summary, arguments);
  return 0;
}

int run_leapfrog(const qcd::InputFile& file, const hmc::Arguments& arguments) {
  qcd::LeapfrogParameters parameters = qcd::read_leapfrog_parameters(file.root());
  file.require_valid();
  hmc::Progress progress(QDP::QDPIO::cout);
  if (arguments.check_only) {
    progress.input_is_valid(arguments.input, parameters);
    progress.unused_elements(file.unused_elements());
    return 0;
  }
  create_layout(parameters.dynamics.lattice);
  Document data(arguments.data, "t_leapfrog", file.root()), log(arguments.log, "t_leapfrog", file.root());
  const double delta_h = qcd::run_leapfrog_test(parameters, data.xml, log.xml);
  data.close();
  log.close();
  progress.leapfrog(delta_h, arguments);
  return 0;
}

int run(const hmc::Arguments& arguments) {
  const qcd::InputFile file(arguments.input);
  if (file.root_name() == "Params") return run_hmc(file, arguments);
  if (file.root_name() == "LeapfrogTest") return run_leapfrog(file, arguments);
  throw qcd::InputError(arguments.input + ": expected the root element Params or LeapfrogTest, got " +
                        file.root_name());
}

}  // namespace

int main(int argc, char** argv) {
  int status = 1;
  try {
    const hmc::Arguments arguments = hmc::read_arguments(argc, argv);
    if (arguments.exit_now) return arguments.exit_status;
    QDP::QDP_initialize(&argc, &argv);
    status = run(arguments);
  } catch (const std::exception& error) {
    QDP::QDPIO::cerr << "hmc: " << error.what() << std::endl;
  } catch (const std::string& error) {  // what QDP++ readers throw
    QDP::QDPIO::cerr << "hmc: " << error << std::endl;
  }
  if (QDP::QDP_isInitialized()) QDP::QDP_finalize();
  return status;
}
