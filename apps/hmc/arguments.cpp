#include "apps/hmc/arguments.hpp"

#include "lib/hmc/parameters.hpp"

#include <CLI/CLI.hpp>

#include <iostream>
#include <map>
#include <vector>

namespace hmc {

namespace {

/// Flags of the language's own initialisation and how many values follow each.
const std::map<std::string, int>& language_flags() {
  static const std::map<std::string, int> flags = {
      {"-geom", QDP::Nd}, {"-iogeom", QDP::Nd}, {"-bind", 1},    {"-p", 1}, {"-poolsize", 1},
      {"-cd", 1},         {"-rti", 1},          {"-rtinode", 1}, {"-V", 0},
  };
  return flags;
}

/// The arguments without those flags, last first, as CLI11 takes them.
std::vector<std::string> own_arguments(int argc, char** argv) {
  std::vector<std::string> own;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (const auto flag = language_flags().find(argument); flag != language_flags().end())
      i += flag->second;
    else if (argument.starts_with("-qmp-"))
      while (i + 1 < argc && argv[i + 1][0] != '-') ++i;
    else
      own.push_back(argument);
  }
  return {own.rbegin(), own.rend()};
}

std::string footer() {
  return "\nWhile it runs: SIGTERM or SIGUSR1 finish the trajectory, save, and exit with status 0.\n"
         "A run that was killed continues with: hmc -i <SavePrefix>_restart_<n>.xml\n\n" +
         qcd::input_help() + "\n" + QDP::QDP_help();
}

}  // namespace

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Hybrid Monte Carlo for lattice gauge theory, steered by an XML input.", "hmc");
  app.option_defaults()->always_capture_default();
  std::string check_input;
  auto* input = app.add_option("-i", arguments.input, "Input document")->type_name("FILE");
  app.add_option("-o", arguments.data, "Data document: energies, acceptance, measurements")->type_name("FILE");
  app.add_option("-l", arguments.log, "Log document: also every force and link update; grows while the run goes on")
      ->type_name("FILE");
  auto* check = app.add_option("--check", check_input, "Read this input, report everything wrong with it, do not run")
                    ->type_name("FILE")
                    ->excludes(input);
  app.set_version_flag("--version", "hmc (Tessera) " TESSERA_VERSION);
  app.footer(footer);
  try {
    app.parse(own_arguments(argc, argv));
    if (*check) {
      arguments.input = check_input;
      arguments.check_only = true;
    } else if (!*input) {
      throw CLI::RequiredError("-i FILE (or --check FILE)");
    }
  } catch (const CLI::ParseError& error) {
    arguments.exit_now = true;
    arguments.exit_status = app.exit(error, std::cout, std::cerr);
  }
  return arguments;
}

}  // namespace hmc
