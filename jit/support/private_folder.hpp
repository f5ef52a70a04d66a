// A folder of this user's own, which nobody else can write: files that are executed, or believed without a look, lie here.
//
// It is judged by its open descriptor and used through that. So what lies above it needs no judgement: whoever may rename
// there can hide the folder from us, but cannot make one that belongs to us.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jit/support/file.hpp"

namespace jit {

/// A file or folder that is not this user's own, or that others can write.
class UntrustedFile : public FileError {
  using FileError::FileError;
};

/// Throws UntrustedFile unless an open file is this user's own.
void require_own_file(int descriptor, const std::string& path);

class PrivateFolder {
 public:
  /// `make`: with the parents that are missing, all for this user alone. A symbolic link is followed if it is this user's
  /// (or root's). Throws FileError (code ENOENT: it is not there), UntrustedFile.
  explicit PrivateFolder(std::string path, bool make);

  const std::string& path() const { return path_; }

  /// Throws FileError (ENOENT: no such file), UntrustedFile for whatever is no file of this user's own, without waiting for
  /// the other end of a FIFO.
  std::string read(const std::string& name) const;
  /// All or nothing, for this user alone; not synced to disk. Throws FileError.
  void write(const std::string& name, const std::string& content) const;
  /// False if it is still there: a folder, or no permission.
  bool remove(const std::string& name) const noexcept;
  /// Sets the time of the last change to now.
  void touch(const std::string& name) const noexcept;

  struct Entry {
    std::string name;
    double age;  ///< seconds since the last change
    std::uint64_t bytes;
  };
  /// The files (no folders, links, devices). Empty if it cannot be listed.
  std::vector<Entry> entries() const;

 private:
  std::string path_;
  Descriptor descriptor_;
};

}  // namespace jit
