#include "qdp/io/input_file.hpp"

#include "jit/support/error.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace QDP::io {

void throw_format_error(const std::string& path, std::uint64_t offset, const std::string& what,
                        const std::string& expected, const std::string& got, const std::string& what_now) {
  throw jit::UserError({.what = path + ", byte " + std::to_string(offset) + ": " + what,
                        .expected = expected,
                        .got = got,
                        .what_now = what_now});
}

namespace {

const char* kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  return "a device or socket";
}

}  // namespace

std::string InputFile::open(const std::string& path) {
  path_ = path;
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe without a writer would wait for one
  if (descriptor_ < 0) return std::strerror(errno);
  struct stat status{};
  if (::fstat(descriptor_, &status) != 0) return std::strerror(errno);
  size_ = static_cast<std::uint64_t>(status.st_size);
  return S_ISREG(status.st_mode) ? "" : kind_of(status.st_mode);
}

InputFile::InputFile(const std::string& path) : InputFile() {
  if (const std::string why = open(path); !why.empty())
    throw jit::UserError({.what = path,
                          .expected = "a regular file that can be read",
                          .got = why,
                          .what_now = "Check the name and the folder"});
}

std::string InputFile::why_unreadable(const std::string& path) { return InputFile().open(path); }

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)), size_(other.size_) {}

void InputFile::read_at(std::uint64_t offset, void* to, std::size_t bytes, const std::string& what) const {
  if (offset > size_ || bytes > size_ - offset)
    throw_format_error(path_, offset, what + " is cut short", std::to_string(bytes) + " bytes",
                       std::to_string(offset < size_ ? size_ - offset : 0) + " up to the end of the file",
                       "The file is truncated; copy it again");
  auto* next = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(descriptor_, next, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      throw_format_error(path_, offset, what, std::to_string(bytes) + " bytes",
                         got < 0 ? std::strerror(errno) : "the end of the file, which shrank while it was read");
    next += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
}

void InputFile::require(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const {
  struct stat status{};
  if (::fstat(descriptor_, &status) == 0 && static_cast<std::uint64_t>(status.st_size) >= offset + bytes) return;
  throw_format_error(path_, offset, what, std::to_string(bytes) + " bytes", "a file that shrank while it was read");
}

std::string read_text_file(const std::string& path) {
  constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 30;
  const InputFile file(path);
  if (file.size() > kMaxBytes)
    throw jit::UserError({.what = path,
                          .expected = "a text of at most " + std::to_string(kMaxBytes) + " bytes",
                          .got = std::to_string(file.size())});
  std::string text(static_cast<std::size_t>(file.size()), '\0');
  file.read_at(0, text.data(), text.size(), "text");
  return text;
}

}  // namespace QDP::io
