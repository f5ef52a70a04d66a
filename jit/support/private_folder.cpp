#include "jit/support/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <memory>

namespace jit {
namespace {

constexpr mode_t kWritableByOthers = S_IWGRP | S_IWOTH;

std::string owner_and_mode(const struct stat& status) {
  char text[64];
  std::snprintf(text, sizeof text, " of user %ld with mode %04o", static_cast<long>(status.st_uid),
                static_cast<unsigned>(status.st_mode & 07777));
  return kind_of_file(status.st_mode) + std::string(text);
}

/// Throws unless it is of `kind`, of this user's own, and nobody else can write it. Access control lists show in the bits
/// of the group.
void require_own(const struct stat& status, mode_t kind, const std::string& path) {
  if ((status.st_mode & S_IFMT) == kind && status.st_uid == ::geteuid() && (status.st_mode & kWritableByOthers) == 0)
    return;
  throw UntrustedFile({.what = "\"" + path + "\"",
                       .expected = kind_of_file(kind) + std::string(" of user ") + std::to_string(::geteuid()) +
                                   " that nobody else can write",
                       .got = owner_and_mode(status)},
                      EPERM);
}

/// For this user alone, whatever the umask; an existing folder is fine.
void make_private(const std::filesystem::path& path) {
  std::error_code unknown;
  if (path.empty() || std::filesystem::exists(path, unknown)) return;
  make_private(path.parent_path());
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) throw_file_error("create folder", path.string(), errno);
}

timespec now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time;
}

}  // namespace

void require_own_file(int descriptor, const std::string& path) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) throw_file_error("look at", path, errno);
  require_own(status, S_IFREG, path);
}

PrivateFolder::PrivateFolder(std::string path, bool make) : path_(std::move(path)) {
  if (make) make_private(path_);
  struct stat status{};
  if (::lstat(path_.c_str(), &status) == 0 && S_ISLNK(status.st_mode) && status.st_uid != ::geteuid() &&
      status.st_uid != 0)
    require_own(status, S_IFDIR, path_);
  descriptor_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor_.open()) throw_file_error("open folder", path_, errno);
  if (::fstat(descriptor_.number(), &status) != 0) throw_file_error("look at folder", path_, errno);
  require_own(status, S_IFDIR, path_);
}

std::string PrivateFolder::read(const std::string& name) const {
  const std::string full = path_ + "/" + name;
  // Not blocking: a FIFO opens at once then, and is refused.
  const Descriptor file(
      ::openat(descriptor_.number(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status{};
  if (!file.open()) {
    const int code = errno;
    // Links, sockets and what others have closed to us do not open: say what is there.
    if (code != ENOENT && ::fstatat(descriptor_.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      require_own(status, S_IFREG, full);
    throw_file_error("open", full, code);
  }
  if (::fstat(file.number(), &status) != 0) throw_file_error("look at", full, errno);
  require_own(status, S_IFREG, full);
  return read_file(file.number(), full);
}

void PrivateFolder::write(const std::string& name, const std::string& content) const {
  AtomicFile file(descriptor_.number(), name);
  file.write(content.data(), content.size());
  file.commit(/*durable=*/false);
}

bool PrivateFolder::remove(const std::string& name) const noexcept {
  return ::unlinkat(descriptor_.number(), name.c_str(), 0) == 0 || errno == ENOENT;
}

void PrivateFolder::touch(const std::string& name) const noexcept {
  ::utimensat(descriptor_.number(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

std::vector<PrivateFolder::Entry> PrivateFolder::entries() const {
  std::vector<Entry> found;
  const int descriptor = ::openat(descriptor_.number(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return found;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::fdopendir(descriptor), &::closedir);
  if (!folder) {
    ::close(descriptor);
    return found;
  }
  const timespec present = now();
  while (const dirent* entry = ::readdir(folder.get())) {
    struct stat status{};  // another process may delete at the same time
    if (::fstatat(descriptor, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) continue;
    const double age = static_cast<double>(present.tv_sec - status.st_mtim.tv_sec) +
                       1e-9 * static_cast<double>(present.tv_nsec - status.st_mtim.tv_nsec);
    found.push_back({entry->d_name, age, static_cast<std::uint64_t>(status.st_size)});
  }
  return found;
}

}  // namespace jit
