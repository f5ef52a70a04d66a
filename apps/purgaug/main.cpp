// purgaug: heatbath and over-relaxation of pure gauge theory from an XML input, with checkpoints.
//
//   purgaug -i in.xml [-o out.xml] [-l log.xml]      run            purgaug --check in.xml      only read the input
//   purgaug -i in.xml --continue                     run on from the newest checkpoint, if there is one
//   purgaug --precompile in.xml                      only fill the kernel cache
//
// Exit status: 0 done (or stopped by SIGTERM, SIGUSR1, SIGHUP, SIGXCPU or SIGINT after saving), 1 anything else;
// of --check 0, 1 for errors, 2 if something in the input has no effect, or will not fit in memory.

#include "apps/common/monte_carlo.hpp"
#include "apps/common/program.hpp"

#include "lib/heatbath/run.hpp"

namespace {

int run(const common::Arguments& arguments) {
  const qcd::InputFile file(arguments.input);
  if (file.root_name() != "purgaug")
    throw qcd::InputError(arguments.input + ": expected the root element purgaug, got " + file.root_name());
  qcd::PurgaugParameters parameters = qcd::read_purgaug_parameters(file.root());
  file.require_valid();
  const std::string sweeps =
      std::to_string(parameters.heatbath->parameters().over_relaxation) + " over-relaxation and 1 heatbath sweep each";
  const common::MonteCarlo program{sweeps, sweeps, [&](auto& data, auto& log, const auto& hooks) {
                                     return qcd::run_heatbath(parameters, data, log, hooks);
                                   }};
  return common::run_monte_carlo(file, arguments, parameters, program);
}

}  // namespace

int main(int argc, char** argv) {
  const common::ProgramTexts texts{
      .name = "purgaug",
      .about = "Heatbath and over-relaxation of pure gauge theory, steered by an XML input.",
      .update = "update",
      .data = "plaquettes, measurements",
      .log = "the same without measurements",
      .input_help = qcd::purgaug_help};
  const common::Arguments arguments = common::read_arguments(texts, argc, argv);
  if (arguments.exit_now) return arguments.exit_status;
  return common::run_program(texts.name, argc, argv, [&] { return run(arguments); });
}
