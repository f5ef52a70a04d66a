// Pinned host memory through which copies between ordinary host memory and a GPU travel.
//
// A ring of pieces. A copy takes a part of the current piece and hands it to the stream; a piece is used again when the
// event after its last transfer has passed. Small copies share a piece, so they do not wait for each other.
#pragma once

#include <cstddef>
#include <vector>

#include "jit/gpu/driver.hpp"

namespace jit {

class Staging {
 public:
  Staging(GpuDriver& driver, GpuDriver::Stream stream) : driver_(driver), stream_(stream) {}
  ~Staging();
  Staging(const Staging&) = delete;
  Staging& operator=(const Staging&) = delete;

  /// Long enough that the 10 us of a transfer's start do not count, short enough that filling one piece overlaps the
  /// transfer of another in copies of a few MiB.
  static constexpr std::size_t kPieceBytes = std::size_t{2} << 20;
  static constexpr std::size_t kMostPieces = 4;

  /// Makes the ring at the first call. 0: the system has no pinned memory to give.
  std::size_t pieces();

  struct Part {
    std::byte* memory;
    std::size_t piece;
  };
  /// 0 < bytes <= kPieceBytes of memory that no transfer uses; waits for one if it must. Of parts taken one after the
  /// other and each larger than half a piece, pieces() are valid at a time. pieces() > 0.
  Part take(std::size_t bytes);
  /// To be called when the transfers of the part are in the stream.
  void sent(const Part& part);
  /// Waits for the last transfer of the part's piece.
  void wait(const Part& part);

 private:
  struct Piece {
    std::byte* memory = nullptr;
    GpuDriver::Event passed = nullptr;
    bool in_flight = false;
    std::size_t used = 0;
  };

  GpuDriver& driver_;
  GpuDriver::Stream stream_;
  std::vector<Piece> pieces_;
  std::size_t current_ = 0;
  bool asked_ = false;
};

}  // namespace jit
