// Names of files that a run will write: found wrong before the run, not after its first hours.
#pragma once

#include "lib/io/input.hpp"

#include <string>

namespace qcd {

/// Records an error unless `file`, which the child `name` gives, is in a folder that exists and short enough for the file
/// system with up to `more` characters after it.
void require_output_name(const Input& in, const std::string& name, const std::string& file, std::size_t more = 0);

}  // namespace qcd
