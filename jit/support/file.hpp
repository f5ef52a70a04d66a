// Whole files: read, and write so that a reader sees the old file or the new one, never a part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

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

/// A file written under a temporary name in the folder of `path`; commit() makes it appear at `path`.
/// Without commit() the destructor removes it and the old file stays.
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);  ///< throws FileError
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(const void* data, std::size_t bytes);                           ///< appends; throws FileError
  void write_at(std::uint64_t offset, const void* data, std::size_t bytes);  ///< leaves the append position alone
  void commit(bool durable = true);  ///< fsync (unless not durable) + rename; throws FileError

 private:
  [[noreturn]] void fail(const char* operation);
  void discard();

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

/// Replaces `path` by `content`, all or nothing. Throws FileError; then the old file is intact. Not durable: saves the
/// wait for the disk; after a crash of the machine the file may be torn (for what carries its own checksum).
void write_atomically(const std::string& path, std::string_view content, bool durable = true);

/// The whole file. Throws FileError.
std::string read_file(const std::string& path);

/// Creates the folder and its parents; an existing folder is fine. Throws FileError.
void make_directories(const std::string& path);

/// Bytes that an ordinary user may still write in the file system of `path` (or of its nearest existing parent).
std::uint64_t free_space(const std::string& path);

/// Throws FileError if fewer than `bytes` are free where `path` will be written.
void require_free_space(const std::string& path, std::uint64_t bytes);

}  // namespace jit
