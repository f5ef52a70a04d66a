// The command line of measure.
#pragma once

#include <string>

namespace measure {

struct Arguments {
  std::string input;
  std::string output = "XMLDAT";
  std::string log = "XMLLOG";
  bool check_only = false;

  bool exit_now = false;  ///< --help, --version, or a wrong command line: the text is printed already
  int exit_status = 0;
};

/// Parses the arguments. Flags that belong to QDP_initialize (-geom 1 1 1 2, -iogeom, -bind, ...) are let through.
Arguments read_arguments(int argc, char** argv);

}  // namespace measure
