#include "jit/support/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

namespace jit {
namespace {

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Makes the rename itself durable; file systems that cannot sync a folder are left alone.
void sync_folder(const std::string& path) {
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.open()) ::fsync(folder.number());
}

/// Six characters that a second writer of the same name does not have.
std::string random_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static thread_local std::random_device random;
  std::string text;
  for (int i = 0; i < 6; ++i) text += kLetters[random() % kLetters.size()];
  return text;
}

}  // namespace

void throw_file_error(const std::string& operation, const std::string& path, int code, std::string what_now) {
  throw FileError(
      {.what = operation + " \"" + path + "\"", .got = std::strerror(code), .what_now = std::move(what_now)}, code);
}

const char* kind_of_file(unsigned mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "a file";
    case S_IFDIR:
      return "a folder";
    case S_IFLNK:
      return "a symbolic link";
    case S_IFIFO:
      return "a FIFO";
    case S_IFSOCK:
      return "a socket";
    default:
      return "a device";
  }
}

AtomicFile::AtomicFile(std::string path) : folder_(AT_FDCWD), path_(std::move(path)) {
  struct stat old{};
  const bool replaces = ::stat(path_.c_str(), &old) == 0;
  if (replaces && !S_ISREG(old.st_mode))  // the rename would put a file in the place of a device
    throw FileError({.what = "write \"" + path_ + "\"",
                     .expected = "a file, or a name that is free",
                     .got = kind_of_file(old.st_mode),
                     .what_now = "Name another file"},
                    S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
  create(0666);
  if (replaces) ::fchmod(descriptor_, old.st_mode & 07777);
}

AtomicFile::AtomicFile(int folder, std::string name) : folder_(folder), path_(std::move(name)) { create(0600); }

/// Opens the temporary file, with the permissions that the umask leaves of `mode`.
void AtomicFile::create(unsigned mode) {
  do {
    temporary_ = path_ + std::string(kTemporaryMark) + random_suffix();
    descriptor_ = ::openat(folder_, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
  } while (descriptor_ < 0 && errno == EEXIST);
  if (descriptor_ >= 0) return;
  const int code = errno;
  temporary_.clear();
  throw_file_error("create", path_, code, "check that the folder exists and may be written");
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}
Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

AtomicFile::~AtomicFile() { discard(); }

void AtomicFile::discard() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
  if (!temporary_.empty()) ::unlinkat(folder_, temporary_.c_str(), 0);
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

std::uint64_t AtomicFile::size() const { return static_cast<std::uint64_t>(::lseek(descriptor_, 0, SEEK_CUR)); }

const std::string& AtomicFile::lend() {
  if (descriptor_ < 0) throw InternalError("use of \"" + path_ + "\" after commit or an earlier error");
  // Other machines see what is there, and do not write old content over it where their blocks end within its last page.
  if (::fsync(descriptor_) != 0 && errno != EINVAL) fail("fsync");
  return temporary_;
}

void AtomicFile::take_back(std::uint64_t bytes) {
  const std::uint64_t end = size() + bytes;
  // Opened anew: then a network file system forgets what it knew of the file.
  Descriptor anew(::openat(folder_, temporary_.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!anew.open() || ::fstat(anew.number(), &status) != 0) fail("open");
  if (static_cast<std::uint64_t>(status.st_size) != end) {
    discard();
    throw FileError(
        {.what = "write \"" + path_ + "\"",
         .expected = std::to_string(end) + " bytes after all ranks have written theirs",
         .got = std::to_string(status.st_size),
         .what_now = "The old file, if any, is unchanged. The file system loses what ranks write, or is full"},
        EIO);
  }
  if (::dup3(anew.number(), descriptor_, O_CLOEXEC) < 0 || ::lseek(descriptor_, static_cast<off_t>(end), SEEK_SET) < 0)
    fail("open");
}

void AtomicFile::commit(bool durable) {
  if (descriptor_ < 0) throw InternalError("commit of \"" + path_ + "\" after commit or an earlier error");
  if (durable && ::fsync(descriptor_) != 0 && errno != EINVAL) fail("fsync");  // EINVAL: a file system without sync
  const int descriptor = descriptor_;
  descriptor_ = -1;
  if (::close(descriptor) != 0) fail("close");
  if (::renameat(folder_, temporary_.c_str(), folder_, path_.c_str()) != 0) fail("rename to");
  temporary_.clear();
  if (durable) sync_folder(path_);
}

void write_atomically(const std::string& path, std::string_view content, bool durable) {
  AtomicFile file(path);
  file.write(content.data(), content.size());
  file.commit(durable);
}

std::string read_file(int descriptor, const std::string& path) {
  std::string content;
  struct stat status{};
  if (::fstat(descriptor, &status) == 0 && status.st_size > 0)
    content.reserve(static_cast<std::size_t>(status.st_size));
  char block[1 << 16];
  for (;;) {
    const ssize_t got = ::read(descriptor, block, sizeof block);
    if (got == 0) return content;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_file_error("read", path, errno);
    content.append(block, static_cast<std::size_t>(got));
  }
}

std::string read_file(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) throw_file_error("open", path, errno, "check the name and the permissions");
  return read_file(file.number(), path);
}

void make_directories(const std::string& path) {
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  if (failure) throw_file_error("create folder", path, failure.value());
  if (!std::filesystem::is_directory(path, failure)) throw_file_error("create folder", path, ENOTDIR);
}

std::uint64_t free_space(const std::string& path) {
  std::string place = path.empty() ? "." : path;
  struct statvfs status{};
  while (::statvfs(place.c_str(), &status) != 0) {
    if (errno != ENOENT || place == "/" || place == ".") throw_file_error("ask free space of", path, errno);
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
