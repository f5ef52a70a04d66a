// Files that the ranks of a job write to or read from together, each rank its own parts: what MPI-IO is for.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "jit/comm/communicator.hpp"

namespace jit {

/// Bytes that follow each other in a file.
struct FileBlock {
  std::uint64_t offset, bytes;
};

/// A file that all ranks have opened. Operations are collective; they throw FileError. What one rank throws the others need not
/// notice: a rank that has failed goes on with no blocks until all have agreed to stop.
class SharedFile {
 public:
  SharedFile() = default;
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;
  /// Without close() the system's file stays open, as closing takes all ranks.
  virtual ~SharedFile() = default;

  /// The blocks of this rank (maybe none), rising, none of them another's. Their bytes follow each other in `data`.
  virtual void write(std::span<const FileBlock> blocks, const void* data) = 0;
  /// The same. Past the end of the file there is nothing to read, and nobody says so: ask for its size before and after.
  virtual void read(std::span<const FileBlock> blocks, void* data) = 0;
  /// What was written is on disk. No operation may follow, whatever it throws.
  virtual void close() = 0;
};

/// What a communicator is besides, if its ranks can open a file together. Not all can: it is no part of Communicator.
class SharedFiles {
 public:
  virtual ~SharedFiles() = default;
  /// A file that is there, on all ranks or on none: nullptr, and `why_not` says why. Its size stays. Collective.
  virtual std::unique_ptr<SharedFile> open_file(const std::string& path, bool writing, std::string& why_not) = 0;
};

/// The file of that name, unless the communicator cannot open files, or ranks have no file of that name, may not use it, or have
/// each its own: nullptr on all ranks, and `why_not` says why. Collective.
std::unique_ptr<SharedFile> open_together(Communicator& ranks, const std::string& path, bool writing,
                                          std::string& why_not);

}  // namespace jit
