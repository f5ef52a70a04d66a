#include "tests/paths.hpp"

#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace fs = std::filesystem;

fs::path tests::binary_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();  // <folder>/tests/bin/<program>
}

fs::path tests::source_folder() {
  // A build tree never holds bundle.txt. Asked first: a sources' folder of the same name may be on this machine by chance.
  const fs::path folder = binary_folder();
  return fs::exists(folder / "bundle.txt") ? folder : fs::path(TESSERA_SOURCE_DIR);
}

std::string tests::data_file(const std::string& name) {
  const fs::path file = source_folder() / "tests/data" / name;
  if (!fs::exists(file))
    throw std::runtime_error("tests/data: expected the file " + file.string() + ", which is part of the repository");
  return file.string();
}

std::optional<std::string> tests::large_data_file(const std::string& name) {
  std::vector<fs::path> folders = {source_folder() / "shared/data", source_folder() / "../shared/data"};
  if (const char* folder = std::getenv("QCD_TEST_DATA")) folders.insert(folders.begin(), folder);
  for (const fs::path& folder : folders)
    if (fs::exists(folder / name)) return (folder / name).string();
  return std::nullopt;
}
