// Where test programs find the programs under test and the files of the repository: in the trees that they were built
// from, or in a bundle (scripts/bundle), which may lie anywhere.
#pragma once

#include <filesystem>

namespace tests {

/// The folder that holds bin/ and tests/bin/: the build tree, or the bundle. Taken from where the running program lies.
std::filesystem::path binary_folder();

/// The folder that holds README.md and examples/: the repository, or the bundle.
std::filesystem::path source_folder();

}  // namespace tests
