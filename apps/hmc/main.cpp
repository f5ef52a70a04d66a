// hmc: hybrid Monte Carlo from an XML input, with checkpoints.
//
//   hmc -i in.xml [-o out.xml] [-l log.xml]      run            hmc --check in.xml      only read the input
//   hmc -i in.xml --continue                     run on from the newest checkpoint, if there is one
//   hmc --precompile in.xml                      only fill the kernel cache
//
// Exit status: 0 done (or stopped by SIGTERM, SIGUSR1, SIGHUP, SIGXCPU or SIGINT after saving), 1 anything else;
// of --check 0, 1 for errors, 2 if something in the input has no effect, or will not fit in memory.

#include "apps/common/monte_carlo.hpp"
#include "apps/common/program.hpp"
#include "apps/common/progress.hpp"

#include "lib/hmc/simulation.hpp"

#include <cstdio>

namespace {

std::string monomials(const qcd::Dynamics& dynamics) {
  return std::to_string(dynamics.monomials.size()) + " monomial(s)";
}

std::string number(const char* format, double x) {
  char text[64];
  std::snprintf(text, sizeof text, format, x);
  return text;
}

int run_hmc(const qcd::InputFile& file, const common::Arguments& arguments) {
  qcd::HmcParameters parameters = qcd::read_hmc_parameters(file.root());
  file.require_valid();
  const common::MonteCarlo program{
      monomials(parameters.dynamics), "trajectory length " + number("%g", parameters.dynamics.integrator->tau()),
      [&](auto& data, auto& log, const auto& hooks) { return qcd::run_simulation(parameters, data, log, hooks); }};
  return common::run_monte_carlo(file, arguments, parameters, program);
}

int run_leapfrog(const qcd::InputFile& file, const common::Arguments& arguments) {
  qcd::LeapfrogParameters parameters = qcd::read_leapfrog_parameters(file.root());
  file.require_valid();
  const std::vector<std::string> remarks = common::remarks_on(file, parameters.dynamics.lattice, parameters.memory);
  if (arguments.precompile_only)
    throw qcd::InputError(arguments.input + ": expected a run (root element Params) to precompile, got LeapfrogTest");
  if (arguments.check_only) {
    common::Progress progress(QDP::QDPIO::cout);
    progress.input_is_valid(arguments.input, parameters.dynamics.lattice, monomials(parameters.dynamics));
    return common::report_remarks(remarks);
  }
  common::print_header();
  common::warn_of_remarks(arguments.input, remarks);
  common::create_layout(parameters.dynamics.lattice);
  common::require_free_documents(arguments, arguments.overwrite);
  common::Document data(arguments.data, "t_leapfrog", file.root()), log(arguments.log, "t_leapfrog", file.root());
  const double delta_h = qcd::run_leapfrog_test(parameters, data.xml, log.xml);
  data.close();
  log.close();
  QDP::QDPIO::cout << number("dH = %.12g\n", delta_h) << "data  " << arguments.data << "\n"
                   << "log   " << arguments.log << "\n";
  return 0;
}

int run(const common::Arguments& arguments) {
  const qcd::InputFile file(arguments.input);
  if (file.root_name() == "Params") return run_hmc(file, arguments);
  if (file.root_name() == "LeapfrogTest") return run_leapfrog(file, arguments);
  throw qcd::InputError(arguments.input + ": expected the root element Params or LeapfrogTest, got " +
                        file.root_name());
}

}  // namespace

int main(int argc, char** argv) {
  const common::ProgramTexts texts{.name = "hmc",
                                   .about = "Hybrid Monte Carlo for lattice gauge theory, steered by an XML input.",
                                   .update = "trajectory",
                                   .data = "energies, acceptance, measurements",
                                   .log = "also every force and link update",
                                   .input_help = qcd::input_help};
  const common::Arguments arguments = common::read_arguments(texts, argc, argv);
  if (arguments.exit_now) return arguments.exit_status;
  return common::run_program(texts.name, argc, argv, [&] { return run(arguments); });
}
