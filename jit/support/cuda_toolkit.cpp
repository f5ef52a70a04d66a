#include "jit/support/cuda_toolkit.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace jit {

std::vector<std::string> cuda_toolkits() {
  std::vector<std::string> folders;
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"})
    if (const char* toolkit = std::getenv(name); toolkit && *toolkit) folders.emplace_back(toolkit);
  folders.emplace_back("/usr/local/cuda");
  std::vector<std::string> versions;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/usr/local", error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("cuda-")) versions.push_back(it->path().string());
  std::sort(versions.rbegin(), versions.rend());
  folders.insert(folders.end(), versions.begin(), versions.end());
  return folders;
}

}  // namespace jit
