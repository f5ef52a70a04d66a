// Whole files: read, and write so that a reader sees the old file or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "jit/support/error.hpp"

namespace jit {

/// A file could not be read or written; code() is errno (0 if the system gave none).
class FileError : public UserError {
 public:
  FileError(const ErrorText& text, int code) : UserError(text), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

/// Closes what open() has returned; a negative number is nothing.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  bool open() const { return number_ >= 0; }
  int number() const { return number_; }

 private:
  int number_;
};

/// A file written under a temporary name in the folder of `path`; commit() makes it appear at `path`.
/// Without commit() the destructor removes it and the old file stays.
class AtomicFile {
 public:
  explicit AtomicFile(
      std::string path);  ///< throws FileError, also if `path` is there and is no file (a folder, a device)
  /// In the folder of an open descriptor, readable and writable by this user alone.
  AtomicFile(int folder, std::string name);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);                           ///< appends; throws FileError
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);  ///< leaves the append position alone
  const std::string& path() const { return path_; }
  std::uint64_t size() const;  ///< where what is appended next comes
  /// The temporary name, under which others may write behind what is there, which is on disk now, until take_back(). Throws FileError.
  const std::string& lend();
  /// They have written so many bytes; what is appended next comes behind. Throws FileError unless so many are there.
  void take_back(std::uint64_t bytes);
  void discard();                    ///< removes it; no operation may follow
  void commit(bool durable = true);  ///< fsync (unless not durable) + rename; throws FileError

 private:
  void create(unsigned mode);
  [[noreturn]] void fail(const char* operation);

  int folder_;  // that the names are relative to
  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// What the temporary file of an AtomicFile adds to its name, before six random characters.
inline constexpr std::string_view kTemporaryMark = ".tmp-";

/// Replaces `path` by `content`, all or nothing. Throws FileError; then the old file is intact. Not durable: saves the
/// wait for the disk; after a crash of the machine the file may be torn (for what carries its own checksum).
void write_atomically(const std::string& path, std::string_view content, bool durable = true);

/// The whole file. Throws FileError.
std::string read_file(const std::string& path);
/// The rest of an open file; `path` is for messages. Throws FileError.
std::string read_file(int descriptor, const std::string& path);

/// Throws a FileError for a call of the system that failed with `code`: "open "name": got No such file or directory."
[[noreturn]] void throw_file_error(const std::string& operation, const std::string& path, int code,
                                   std::string what_now = {});
/// "a file", "a folder", "a FIFO", ... from st_mode.
const char* kind_of_file(unsigned mode);

/// Creates the folder and its parents; an existing folder is fine. Throws FileError.
void make_directories(const std::string& path);

/// Bytes that an ordinary user may still write in the file system of `path` (or of its nearest existing parent).
std::uint64_t free_space(const std::string& path);

/// Throws FileError if fewer than `bytes` are free where `path` will be written.
void require_free_space(const std::string& path, std::uint64_t bytes);

}  // namespace jit
