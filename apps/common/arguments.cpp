#include "apps/common/arguments.hpp"

#include "apps/common/command_line.hpp"

#include "qdp.h"

#include <CLI/CLI.hpp>

#include <iostream>

namespace common {

namespace {

std::string about_checkpoints(const ProgramTexts& texts) {
  return "While it runs: SIGTERM, SIGUSR1, SIGHUP, SIGXCPU or the first SIGINT finish the " + texts.update +
         ", save, and exit with status 0.\n"
         "A run that was killed continues with: " +
         texts.name +
         " -i <SavePrefix>_restart_<n>.xml\n"
         "The same command for each job of a chain: " +
         texts.name +
         " -i in.xml --continue\n"
         "Plots of a run, also while it goes on: scripts/report LOG.xml\n\n";
}

}  // namespace

Arguments read_arguments(const ProgramTexts& texts, int argc, char** argv) {
  Arguments arguments;
  arguments.program = texts.name;
  CLI::App app(texts.about, texts.name);
  app.option_defaults()->always_capture_default();
  std::string check_input, precompile_input;
  auto* input = app.add_option("-i", arguments.input, "Input document")->type_name("FILE");
  app.add_option("-o", arguments.data, "Data document: " + texts.data)->type_name("FILE");
  app.add_option("-l", arguments.log, "Log document: " + texts.log + "; grows while the run goes on")
      ->type_name("FILE");
  const bool checkpoints = !texts.update.empty();
  if (checkpoints)
    app.add_flag(
        "--continue", arguments.continue_run,
        "Continue from the newest good checkpoint with the input's SavePrefix, or start if there is none. The names "
        "of the documents get its update number, so that earlier ones stay");
  app.add_flag(
      "--overwrite", arguments.overwrite,
      checkpoints
          ? "Replace the documents of an earlier run, and its checkpoints after the update where this one starts"
          : "Replace documents that are there");
  if (checkpoints)
    app.add_flag("--accept-edited", arguments.accept_edited,
                 "Take restart files that were changed by hand beyond how long to run and where to save");
  auto* check =
      app.add_option(
             "--check", check_input,
             "Read this input, report everything wrong with it, do not run. Status 1: errors; 2: elements that nothing "
             "reads, or too little memory")
          ->type_name("FILE")
          ->excludes(input);
  const CLI::Option* precompile =
      checkpoints ? app.add_option("--precompile", precompile_input,
                                   "Read this input, do one " + texts.update +
                                       " and what is measured and saved behind it, and keep nothing of it but the "
                                       "kernels, in the kernel cache (TESSERA_CACHE_DIR), where runs on machines of "
                                       "this kind with as many ranks find them")
                        ->type_name("FILE")
                        ->excludes(input)
                        ->excludes(check)
                  : nullptr;
  app.set_version_flag("--version", texts.name + " (Tessera) " TESSERA_VERSION);
  app.footer([&] {
    return "\n" + (checkpoints ? about_checkpoints(texts) : "") + texts.input_help() + "\n" + QDP::QDP_help();
  });
  try {
    app.parse(own_arguments(argc, argv));
    if (*check) {
      arguments.input = check_input;
      arguments.check_only = true;
    } else if (precompile && *precompile) {
      arguments.input = precompile_input;
      arguments.precompile_only = true;
    } else if (!*input) {
      throw CLI::RequiredError("-i FILE (or --check FILE)");
    }
  } catch (const CLI::ParseError& error) {
    arguments.exit_now = true;
    arguments.exit_status = app.exit(error, std::cout, std::cerr);
  }
  return arguments;
}

}  // namespace common
