#include "tests/paths.hpp"

namespace fs = std::filesystem;

fs::path tests::binary_folder() {
  return fs::read_symlink("/proc/self/exe").parent_path().parent_path().parent_path();  // <folder>/tests/bin/<program>
}

fs::path tests::source_folder() {
  // A build tree never holds bundle.txt. Asked first: a sources' folder of the same name may be on this machine by chance.
  const fs::path folder = binary_folder();
  return fs::exists(folder / "bundle.txt") ? folder : fs::path(TESSERA_SOURCE_DIR);
}
