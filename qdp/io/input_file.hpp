#pragma once
// A file as a store of bytes with positioned reads, and the one layout of errors about its content.

#include <cstddef>
#include <cstdint>
#include <string>

namespace QDP::io {

/// Throws jit::UserError "<path>, byte <offset>: <what>: expected <expected>, got <got>. <what_now>."
[[noreturn]] void throw_format_error(const std::string& path, std::uint64_t offset, const std::string& what,
                                     const std::string& expected, const std::string& got,
                                     const std::string& what_now = {});

/// A file opened for reading. Errors: jit::UserError if it cannot be opened, is not a regular file (folders, pipes and
/// devices are refused without waiting), or ends early.
class InputFile {
 public:
  explicit InputFile(const std::string& path);
  ~InputFile();
  InputFile(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  InputFile& operator=(InputFile&&) = delete;

  /// Why a file could not be opened, such as "a folder"; empty if it could.
  static std::string why_unreadable(const std::string& path);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Throws as read_at() unless these bytes are there still: after others have read them.
  void require(std::uint64_t offset, std::uint64_t bytes, const std::string& what) const;

  /// Reads [offset, offset + bytes). `what` names the data in the error for a file that ends before.
  void read_at(std::uint64_t offset, void* to, std::size_t bytes, const std::string& what) const;

 private:
  InputFile() = default;
  /// Opens; the reason why not, or an empty text.
  std::string open(const std::string& path);

  std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// All of a regular file of at most 1 GiB. Errors as InputFile.
std::string read_text_file(const std::string& path);

}  // namespace QDP::io
