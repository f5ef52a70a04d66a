#pragma once
// Which sites a file of several holds, in the order of its data: numbers of the lattice's sites. Internal to this folder.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "qdp/io/input_file.hpp"

namespace QDP::io {

/// No list of a large lattice is ever held as a whole: it is made, or read from its file, again for each look at it.
class SiteList {
 public:
  /// Numbers in a piece, at the most.
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 16;
  using Take = std::function<void(std::span<const std::uint64_t>)>;

  /// Of a file, which it refers to: `bytes` of big-endian numbers, each of `bytes_each` (4 or 8), at `offset`. As the record
  /// scidac-sitelist has them.
  SiteList(const InputFile& file, std::uint64_t offset, std::uint64_t bytes, std::size_t bytes_each);
  /// `size` numbers, which `visit` hands out in pieces.
  SiteList(std::uint64_t size, std::function<void(const Take&)> visit) : size_(size), visit_(std::move(visit)) {}

  std::uint64_t size() const { return size_; }
  /// Calls take() with all numbers, some at a time.
  void for_each_piece(const Take& take) const { visit_(take); }

 private:
  std::uint64_t size_;
  std::function<void(const Take&)> visit_;
};

}  // namespace QDP::io
