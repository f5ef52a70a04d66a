#include "lib/io/output_name.hpp"

#include "qdp/util/primary.hpp"

#include <climits>
#include <filesystem>

#include <unistd.h>

namespace qcd {

namespace {

/// The longest name that a folder takes.
std::size_t longest_name(const std::string& folder) {
  const long longest = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  return longest > 0 ? static_cast<std::size_t>(longest) : NAME_MAX;
}

/// The file is written under a name of its own with .tmp-XXXXXX first.
constexpr std::size_t kTemporary = 11;

}  // namespace

void require_output_name(const Input& in, const std::string& name, const std::string& file, std::size_t more) {
  if (file.empty()) return;
  const std::filesystem::path path(file), folder = path.has_parent_path() ? path.parent_path() : ".";
  std::error_code none;
  if (!QDP::io::once([&] { return std::filesystem::is_directory(folder, none); })) {
    in.error(name, "a name in a folder that exists", file);
    return;
  }
  const std::size_t longest = QDP::io::once([&] { return longest_name(folder.string()); }), end = more + kTemporary;
  if (const std::size_t length = path.filename().string().size(); length + end > longest)
    in.error(name,
             "a name of at most " + std::to_string(longest - end) + " characters (files have up to " +
                 std::to_string(end) + " more, and " + std::to_string(longest) + " is the longest)",
             std::to_string(length));
  else if (file.size() + end >= PATH_MAX)
    in.error(name, "a path of less than " + std::to_string(PATH_MAX - end) + " characters",
             std::to_string(file.size()));
}

}  // namespace qcd
