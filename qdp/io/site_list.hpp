#pragma once
// Which sites a file of several holds, in the order of its data: the record scidac-sitelist, numbers of the lattice's sites as
// big-endian integers of 32 or 64 bits. Internal to this folder.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "qdp/io/input_file.hpp"

namespace QDP::io {

/// Refers to the file. It is read again for each look at it: no list of a large lattice is ever held as a whole.
class SiteList {
 public:
  /// `bytes` of numbers, each of `bytes_each` (4 or 8), at `offset` of the file.
  SiteList(const InputFile& file, std::uint64_t offset, std::uint64_t bytes, std::size_t bytes_each)
      : file_(&file), offset_(offset), size_(bytes / bytes_each), bytes_each_(bytes_each) {}

  std::uint64_t size() const { return size_; }
  /// Calls take() with all numbers, some at a time.
  void for_each_piece(const std::function<void(std::span<const std::uint64_t>)>& take) const;

 private:
  const InputFile* file_;
  std::uint64_t offset_, size_;
  std::size_t bytes_each_;
};

}  // namespace QDP::io
