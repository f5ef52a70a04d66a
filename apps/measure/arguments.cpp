#include "apps/measure/arguments.hpp"

#include "apps/common/command_line.hpp"

#include "lib/meas/parameters.hpp"

#include "qdp.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace measure {

Arguments read_arguments(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Measurements on a gauge field, steered by an XML input.", "measure");
  app.option_defaults()->always_capture_default();
  std::string check_input;
  auto* input = app.add_option("-i", arguments.input, "Input document")->type_name("FILE");
  app.add_option("-o", arguments.output, "Output document")->type_name("FILE");
  app.add_option("-l", arguments.log, "Log document: the seconds of each measurement; grows while the program runs")
      ->type_name("FILE");
  auto* check = app.add_option("--check", check_input, "Read this input, report everything wrong with it, do not run")
                    ->type_name("FILE")
                    ->excludes(input);
  app.set_version_flag("--version", "measure (Tessera) " TESSERA_VERSION);
  app.footer([] { return "\n" + qcd::measurement_help() + "\n" + QDP::QDP_help(); });
  try {
    app.parse(common::own_arguments(argc, argv));
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

}  // namespace measure
