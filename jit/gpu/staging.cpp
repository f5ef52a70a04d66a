#include "jit/gpu/staging.hpp"

namespace jit {
namespace {

constexpr std::size_t kAlignment = 64;

}  // namespace

Staging::~Staging() {
  for (const Piece& piece : pieces_) {
    driver_.destroy_event(piece.passed);
    driver_.free_pinned(piece.memory);
  }
}

std::size_t Staging::pieces() {
  if (!asked_) {
    asked_ = true;
    pieces_.reserve(kMostPieces);
    while (pieces_.size() < kMostPieces) {
      const GpuDriver::Event passed = driver_.create_event(/*timed=*/false);
      void* memory = driver_.allocate_pinned(kPieceBytes);
      if (memory == nullptr) {
        driver_.destroy_event(passed);
        break;
      }
      pieces_.push_back({static_cast<std::byte*>(memory), passed, false, 0});
    }
  }
  return pieces_.size();
}

Staging::Part Staging::take(std::size_t bytes) {
  if (pieces_[current_].used + bytes > kPieceBytes) {
    current_ = (current_ + 1) % pieces_.size();
    wait({nullptr, current_});
    pieces_[current_].used = 0;
  }
  Piece& piece = pieces_[current_];
  std::byte* memory = piece.memory + piece.used;
  piece.used += (bytes + kAlignment - 1) / kAlignment * kAlignment;
  return {memory, current_};
}

void Staging::sent(const Part& part) {
  driver_.record(pieces_[part.piece].passed, stream_);
  pieces_[part.piece].in_flight = true;
}

void Staging::wait(const Part& part) {
  Piece& piece = pieces_[part.piece];
  if (!piece.in_flight) return;
  driver_.synchronize_event(piece.passed);
  piece.in_flight = false;
}

}  // namespace jit
