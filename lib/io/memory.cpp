#include "lib/io/memory.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <limits>
#include <sstream>

namespace qcd {

namespace {

constexpr std::uint64_t kUnlimited = std::numeric_limits<std::uint64_t>::max();

/// The number in a file of one; `otherwise` where there is no file, or "max" in it.
std::uint64_t number_in(const std::string& file, std::uint64_t otherwise) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  return in >> number ? number : otherwise;
}

/// The number after `key` in a file of lines "key number"; 0 where there is none.
std::uint64_t value_of(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t value = 0;
    if (words >> name >> value && name == key) return value;
  }
  return 0;
}

/// What a control group leaves: its limit less what it uses, pages of files that can be dropped not counted.
std::uint64_t left_in(const std::string& folder, const char* limit, const char* used, const char* dropable) {
  const std::uint64_t most = number_in(folder + limit, kUnlimited);
  if (most == kUnlimited) return kUnlimited;
  const std::uint64_t in_use = number_in(folder + used, 0), cache = value_of(folder + "/memory.stat", dropable);
  return most - std::min(most, in_use - std::min(in_use, cache));
}

/// The least over a group and all that it is part of.
template <class Left>
std::uint64_t least_of_ancestors(const std::string& top, std::string group, const Left& left) {
  std::uint64_t least = left(top);
  for (; group.size() > 1; group.resize(group.rfind('/'))) {
    least = std::min(least, left(top + group));
    if (group.rfind('/') == std::string::npos) break;
  }
  return least;
}

std::uint64_t left_to_control_group(const std::string& root) {
  std::uint64_t least = kUnlimited;
  std::ifstream groups(root + "/proc/self/cgroup");
  // Lines "number:controllers:/path"; the second version has no controllers.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = ',' + line.substr(first + 1, second - first - 1) + ',',
                      path = line.substr(second + 1);
    if (controllers == ",,")
      least = std::min(least, least_of_ancestors(root + "/sys/fs/cgroup", path, [](const std::string& folder) {
                         return left_in(folder, "/memory.max", "/memory.current", "inactive_file");
                       }));
    else if (controllers.find(",memory,") != std::string::npos)
      least =
          std::min(least, least_of_ancestors(root + "/sys/fs/cgroup/memory", path, [](const std::string& folder) {
                     return left_in(folder, "/memory.limit_in_bytes", "/memory.usage_in_bytes", "total_inactive_file");
                   }));
  }
  return least;
}

std::string gibibytes(double bytes) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3g GiB", bytes / (1024.0 * 1024.0 * 1024.0));
  return text;
}

}  // namespace

std::optional<std::uint64_t> available_memory(const std::string& root) {
  const std::uint64_t kibibytes = value_of(root + "/proc/meminfo", "MemAvailable:"),
                      machine = kibibytes > 0 ? 1024 * kibibytes : kUnlimited;
  const std::uint64_t least = std::min(machine, left_to_control_group(root));
  return least == kUnlimited ? std::nullopt : std::optional(least);
}

std::string memory_fault(const std::vector<int>& lattice, double bytes_per_site,
                         std::optional<std::uint64_t> available) {
  double need = bytes_per_site;
  for (int extent : lattice) need *= extent;
  if (!available || need <= static_cast<double>(*available)) return {};
  return "the fields need at least " + gibibytes(need) + ", and " + gibibytes(static_cast<double>(*available)) +
         " of memory are available";
}

}  // namespace qcd
