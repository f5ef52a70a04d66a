#include "jit/support/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

namespace jit {
namespace {

[[noreturn]] void throw_file_error(const std::string& operation, const std::string& path, int code, std::string what_now) {
  throw FileError({.what = operation + " \"" + path + "\"", .got = std::strerror(code), .what_now = std::move(what_now)}, code);
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Makes the rename itself durable; file systems that cannot sync a folder are left alone.
void sync_folder(const std::string& path) {
  const int folder = ::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

/// The permissions a plain fopen would give; mkstemp gives 0600. Reading the umask means setting it.
mode_t default_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

}  // namespace

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  const std::string pattern = path_ + ".tmp-XXXXXX";
  std::vector<char> name(pattern.c_str(), pattern.c_str() + pattern.size() + 1);
  descriptor_ = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) throw_file_error("create", path_, errno, "check that the folder exists and may be written");
  temporary_ = name.data();
  struct stat old {};
  const mode_t mode = ::stat(path_.c_str(), &old) == 0 ? old.st_mode & 07777 : default_mode();
  ::fchmod(descriptor_, mode);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
  temporary_.clear();
}

void AtomicFile::fail(const char* operation) {
  const int code = errno;
  discard();
  throw_file_error(operation, path_, code, "the old file, if any, is unchanged");
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  if (descriptor_ < 0) throw InternalError("write to \"" + path_ + "\" after commit or an earlier error");
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::write(descriptor_, next, bytes);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    next += done;
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::write_at(std::uint64_t offset, const void* data, std::size_t bytes) {
  if (descriptor_ < 0) throw InternalError("write to \"" + path_ + "\" after commit or an earlier error");
  const char* next = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t done = ::pwrite(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) fail("write");
    next += done;
    offset += static_cast<std::uint64_t>(done);
    bytes -= static_cast<std::size_t>(done);
  }
}

void AtomicFile::commit(bool durable) {
  if (descriptor_ < 0) throw InternalError("commit of \"" + path_ + "\" after commit or an earlier error");
  if (durable && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("fsync");  // EINVAL: a file system without sync
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail("close");
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("rename to");
  temporary_.clear();
  if (durable) sync_folder(path_);
}

void write_atomically(const std::string& path, std::string_view content, bool durable) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit(durable);
}

std::string read_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw_file_error("open", path, errno, "check the name and the permissions");
  std::string content;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0) content.reserve(static_cast<std::size_t>(status.st_size));
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got == 0) break;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int code = errno;
      ::close(descriptor);
      throw_file_error("read", path, code, "");
    }
    content.append(block, static_cast<std::size_t>(got));
  }
  ::close(descriptor);
  return content;
}

void make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) throw_file_error("create folder", path, failure.value(), "");
  if (!std::filesystem::is_directory(path, failure)) throw_file_error("create folder", path, ENOTDIR, "");
}

std::uint64_t free_space(const std::string& path) {
  std::string place = path.empty() ? "." : path;
  struct statvfs status {};
  while (::statvfs(place.c_str(), &status) != 0) {
    if (errno != ENOENT || place == "/" || place == ".") throw_file_error("ask free space of", path, errno, "");
    place = folder_of(place);
  }
  return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
}

void require_free_space(const std::string& path, std::uint64_t bytes) {
  const std::uint64_t free = free_space(path);
  if (free >= bytes) return;
  throw FileError({.what = "write \"" + path + "\"",
                   .expected = std::to_string(bytes) + " bytes free",
                   .got = std::to_string(free),
                   .what_now = "free space or write elsewhere; nothing was written"},
                  ENOSPC);
}

}  // namespace jit
