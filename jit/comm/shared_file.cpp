#include "jit/comm/shared_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>

#include "jit/comm/collectives.hpp"
#include "jit/support/file.hpp"

namespace jit {
namespace {

/// What ranks see of a file; equal on all, in practice, only if it is one.
struct Sight {
  bool usable;
  std::uint64_t least_number, largest_number;
  std::int64_t least_size, largest_size;
};

Sight sight_of(const std::string& path, bool writing) {
  const Descriptor file(::open(path.c_str(), (writing ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
  struct stat status{};
  if (!file.open() || ::fstat(file.number(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  // Each machine numbers devices in its own way, but has the number of the file from the file system.
  return {true, status.st_ino, status.st_ino, status.st_size, status.st_size};
}

}  // namespace

std::unique_ptr<SharedFile> open_together(Communicator& ranks, const std::string& path, bool writing,
                                          std::string& why_not) {
  auto* files = dynamic_cast<SharedFiles*>(&ranks);
  if (files == nullptr) {
    why_not = "these ranks cannot open files together";
    return nullptr;
  }
  // Before the library is asked: some wait for ever if not all ranks have the file.
  Sight sight = sight_of(path, writing);
  combine(ranks, std::span(&sight, 1), [](const Sight& a, const Sight& b) {
    return Sight{a.usable && b.usable, std::min(a.least_number, b.least_number),
                 std::max(a.largest_number, b.largest_number), std::min(a.least_size, b.least_size),
                 std::max(a.largest_size, b.largest_size)};
  });
  if (!sight.usable) {
    why_not = "not all ranks can open the file";
    return nullptr;
  }
  if (sight.least_number != sight.largest_number || sight.least_size != sight.largest_size) {
    why_not = "ranks have different files of that name";
    return nullptr;
  }
  return files->open_file(path, writing, why_not);
}

}  // namespace jit
