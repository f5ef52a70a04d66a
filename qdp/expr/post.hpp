// Buffers and messages of values that statements need from other ranks (design D6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/memory.hpp"
#include "jit/support/clock.hpp"
#include "qdp/expr/shape.hpp"
#include "qdp/layout/faces.hpp"
#include "qdp/layout/lattice.hpp"

namespace QDP::detail {

/// Time that messages have taken so far on this rank, in ticks, and how many there were.
struct Spent {
  std::uint64_t pack = 0, inner = 0, wait = 0, faces = 0;
  std::int64_t statements = 0, messages = 0, bytes = 0, inner_sites = 0, face_sites = 0;
};
Spent& spent();

/// Adds the time until its end.
class Timed {
 public:
  explicit Timed(std::uint64_t& total) : total_(total), start_(jit::ticks()) {}
  ~Timed() { total_ += jit::ticks() - start_; }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  std::uint64_t &total_, start_;
};

/// Values that one statement needs from other ranks.
struct Shifted {
  std::shared_ptr<const Faces> faces;
  std::vector<std::size_t> maps;  ///< [values] numbers among those of the faces
  std::vector<Shape> shapes;      ///< [values]

  std::size_t size() const { return maps.size(); }
};

/// What a message carries, at a multiple of Device::kAlignment.
class Letter {
 public:
  /// Longer by so much; the number of bytes before. Before place().
  std::size_t add(std::size_t bytes);
  void place();
  std::byte* at(std::size_t byte) const { return memory_.get() + byte; }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte> memory_;
};

/// Part of a letter that is a segment of a buffer, and lies in the buffer's own memory if that is possible.
struct LetterPart {
  const Segment* segment;
  std::size_t first_byte, bytes;  ///< in the letter
};

/// A shifted value on its way.
struct Travelling {
  const Halo* halo;
  Shape shape;
  std::vector<LetterPart> to, from;
  /// Buffers of what others need, and of what arrives; nullptr: nothing.
  std::shared_ptr<jit::Field> outgoing, incoming;
  bool out_in_place = false, in_in_place = false;  ///< buffers lie in letters
};

/// One message to each other rank that needs something of these statements, and one from each that has something. Statements
/// of the same kind use it one after the other.
class Post {
  /// Messages to and from one other rank, with everything that the stage sends there.
  struct Mail {
    Letter out, in;
    std::unique_ptr<jit::Message> sent, received;  ///< nullptr: none
  };
  std::map<int, Mail> mail_;  // by rank; lives longer than the buffers, which may lie in it

 public:
  /// For these statements of one stage, of which none needs what another one computes. Keeps the faces of all but the first, which
  /// keep it.
  Post(const LatticeState& lattice, std::span<const Shifted> statements);

  std::vector<std::vector<Travelling>> travelling;  ///< [statements][values]
  /// [statements][faces][values] what faces read; nullptr: none is needed
  std::vector<std::vector<std::vector<std::shared_ptr<jit::Field>>>> buffers;

  /// What lies in the outgoing buffers leaves, and what others send may come.
  void start();
  /// Lets messages make progress.
  void poll();
  /// What arrives for a value lies in its buffer.
  void receive(const Travelling& value);
  void finish();

 private:
  static void wait(jit::Message& message);
  void place_buffers(Travelling& value);
  bool in_place(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<LetterPart>& parts) const;
  std::byte* place_of(const LetterPart& part, Letter Mail::* letter);

  bool by_groups_;  ///< messages carry words in device order, otherwise in host order
  std::vector<std::shared_ptr<const Faces>> others_;
};

}  // namespace QDP::detail
