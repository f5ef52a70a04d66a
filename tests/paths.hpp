// Where test programs find the programs under test and the files of the repository: in the trees that they were built
// from, or in a bundle (scripts/bundle), which may lie anywhere.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace tests {

/// The folder that holds bin/ and tests/bin/: the build tree, or the bundle. Taken from where the running program lies.
std::filesystem::path binary_folder();

/// The folder that holds README.md and examples/: the repository, or the bundle.
std::filesystem::path source_folder();

/// A file of tests/data. Throws std::runtime_error if it is not there.
std::string data_file(const std::string& name);

/// A file too large for the repository, where the machine has it: in $QCD_TEST_DATA, or in shared/data in or beside the
/// sources.
std::optional<std::string> large_data_file(const std::string& name);

}  // namespace tests
