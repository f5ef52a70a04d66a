// A folder that a test writes into and that vanishes with it; files that the test itself writes. On several ranks
// (mpirun.hpp) the folder is one for all, and rank 0 writes.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/mpirun.hpp"

namespace tests {

/// Removes it now; on several ranks when all have ended the running case: some may be reading still.
void remove_after_use(const std::filesystem::path& folder);

/// While one lives each rank is alone with its files: for classes that one rank uses for itself.
class FilesOfOneRank {
 public:
  FilesOfOneRank();
  ~FilesOfOneRank();
  FilesOfOneRank(const FilesOfOneRank&) = delete;
  FilesOfOneRank& operator=(const FilesOfOneRank&) = delete;
};

/// Whether this rank writes files: rank 0, or each for itself.
bool writes();

/// Returns when all ranks have come. Alone: at once.
void meet();

/// Rank 0 calls the function while the others wait, before and behind it. Collective.
template <class Function>
void once(Function function) {
  meet();
  if (writes()) function();
  meet();
}

/// What each rank finds in a file while none writes. Collective.
template <class Function>
auto together(Function function) {
  meet();
  auto found = function();
  meet();
  return found;
}

/// std::ofstream for a file that all ranks see. Collective.
class Written : public std::ofstream {
 public:
  explicit Written(const std::string& name, std::ios::openmode mode = std::ios::out) {
    meet();
    open(writes() ? name : "/dev/null", mode);
  }
  ~Written() {
    close();
    meet();
  }
};

/// The text of rank 0, or of each.
std::string of_writer(std::string text);

/// A folder for one test case.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tessera_test_XXXXXX").string();
    path_ = of_writer(writes() ? ::mkdtemp(name.data()) : "");
  }
  ~TemporaryFolder() { remove_after_use(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  std::size_t count() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(path_), std::filesystem::directory_iterator()));
  }

 private:
  std::filesystem::path path_;
};

/// One for each rank.
class OwnFolder : FilesOfOneRank, public TemporaryFolder {};

}  // namespace tests
