// The command line of the programs that read an input document.
#pragma once

#include <functional>
#include <string>

namespace common {

struct Arguments {
  std::string program;
  std::string input;
  std::string data = "XMLDAT";
  std::string log = "XMLLOG";
  bool check_only = false;
  bool precompile_only = false;  ///< one update that leaves nothing but compiled kernels
  bool continue_run = false;     ///< from the newest checkpoint, if there is one
  bool overwrite = false;        ///< documents and checkpoints of an earlier run may be replaced
  bool accept_edited = false;    ///< restart files that were changed by hand are taken as they are

  bool exit_now = false;  ///< --help, --version, or a wrong command line: the text is printed already
  int exit_status = 0;
};

/// What a program says of itself.
struct ProgramTexts {
  std::string name;
  std::string about;
  std::string update;  ///< what a signal lets it finish: "trajectory"; empty for a program without checkpoints
  std::string data;    ///< what its data document holds
  std::string log;     ///< and its log
  std::function<std::string()> input_help;
};

/// Parses the arguments. Flags that belong to QDP_initialize (-geom 1 1 1 2, -iogeom, -bind, ...) are let through.
Arguments read_arguments(const ProgramTexts& texts, int argc, char** argv);

}  // namespace common
