#include "apps/common/command_line.hpp"

#include "qdp.h"

#include <map>

namespace common {

namespace {

/// Flags of the language's own initialisation and how many values follow each.
const std::map<std::string, int>& language_flags() {
  static const std::map<std::string, int> flags = {
      {"-geom", QDP::Nd}, {"-iogeom", QDP::Nd}, {"-bind", 1},    {"-p", 1}, {"-poolsize", 1},
      {"-cd", 1},         {"-rti", 1},          {"-rtinode", 1}, {"-V", 0},
  };
  return flags;
}

}  // namespace

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

}  // namespace common
