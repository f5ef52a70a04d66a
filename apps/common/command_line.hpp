// What the programs that read an XML input share on their command lines.
#pragma once

#include <string>
#include <vector>

namespace common {

/// The arguments without those of the language's own initialisation (-geom 1 1 1 2, -iogeom, -bind, -qmp-..., ...),
/// last first, as CLI11 takes them.
std::vector<std::string> own_arguments(int argc, char** argv);

}  // namespace common
