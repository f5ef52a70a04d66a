// Buffers and messages of values that statements need from other ranks (design D6).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/message_memory.hpp"
#include "jit/memory/shared_messages.hpp"
#include "jit/support/clock.hpp"
#include "qdp/expr/kept_values.hpp"
#include "qdp/expr/storage.hpp"
#include "qdp/layout/faces.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

/// Time that messages have taken so far on this rank, in ticks, and how many there were.
struct Spent {
  std::uint64_t pack = 0, inner = 0, wait = 0, faces = 0;
  std::int64_t statements = 0, messages = 0, notes = 0, bytes = 0, bytes_kept = 0, inner_sites = 0, face_sites = 0;
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
  std::vector<std::size_t> maps;    ///< [values] numbers among those of the faces
  std::vector<StoredShape> shapes;  ///< [values]

  std::size_t size() const { return maps.size(); }
};

/// What a message carries.
class Letter {
 public:
  /// Longer by so much; the number of bytes before.
  std::size_t add(std::size_t bytes) { return std::exchange(bytes_, bytes_ + bytes); }
  std::size_t size() const { return bytes_; }
  /// The other rank may read it where it is written.
  void may_be_shared() { may_be_shared_ = true; }
  bool is_shared() const { return memory_ != nullptr && memory_->may_be_read(); }
  /// In the memory of the device, which may be the host's, unless it has to stay out of it.
  void stay_on_host() { pool_ = &jit::MessagePool::on_host(); }
  bool is_on_device() const { return pool_ == &jit::MessagePool::on_device(); }
  /// Another one as long, in the same memory.
  Letter like() const {
    Letter other;
    other.bytes_ = bytes_;
    other.pool_ = pool_;
    other.may_be_shared_ = may_be_shared_;
    return other;
  }

  /// Whether it lies elsewhere than before. If it has bytes.
  bool hold();
  /// Whoever else holds it may keep it: then another piece of memory takes its place.
  void release(bool is_kept = false);
  const std::shared_ptr<jit::MessageMemory>& memory() const { return memory_; }
  std::byte* at(std::size_t byte) const { return memory_->address() + byte; }

 private:
  std::size_t bytes_ = 0;
  jit::MessagePool* pool_ = &jit::MessagePool::on_device();
  bool may_be_shared_ = false;
  std::shared_ptr<jit::MessageMemory> memory_;  // nullptr: none yet
};

/// Part of a letter that is a segment of a buffer, and lies in the buffer's own memory if that is possible.
struct LetterPart {
  const Segment* segment;
  std::size_t number;             ///< of the letter's parts
  std::size_t first_byte, bytes;  ///< in the letter
};

/// A shifted value on its way.
struct Travelling {
  const Halo* halo;
  StoredShape stored;
  std::vector<LetterPart> to, from;
  /// Buffers of what others need, and of what has arrived; nullptr: nothing.
  std::shared_ptr<jit::Field> outgoing, incoming;
  bool out_in_place = false, in_in_place = false;  ///< buffers lie in letters
  const std::byte* incoming_at = nullptr;          ///< if so, where that lies
};

/// What a value of this execution is made from.
struct Contents {
  bool seen;  ///< values from before this statement, which another one has read: they may be needed again
  std::function<ValueName()> name;
};

/// One message to each other rank that needs something of these statements, and one from each that has something. Statements
/// of the same kind use it one after the other.
///
/// A message is told by its length: a letter; one that the receiver keeps, with its number behind; if it has all values from
/// before, a note that says where; if it has some, the others without gaps and such a note. To a rank that reads the memory of this one
/// goes where all that lies, unless that is a note or there is no such memory left.
class Post {
  /// Messages to and from one other rank, with everything that the stage sends there.
  struct Mail {
    Letter out, in;
    std::size_t out_bytes = 0, in_bytes = 0;                     ///< of the letters without postscript
    std::vector<std::pair<std::size_t, std::size_t>> values;     ///< [parts of `out`] statement and value
    std::vector<std::size_t> out_at, in_at;                      ///< [parts] first byte, and the end
    std::vector<std::uint64_t> note;                             ///< for the other rank; its memory stays
    Letter rest;                                                 ///< values that it does not have, and a note
    std::unique_ptr<jit::Message> plain, kept, noted, received;  ///< nullptr: none
    std::unique_ptr<jit::Message> partial;                       ///< made anew each time, since its length differs
    jit::SharedMessages::Address address{};                      ///< of what the other rank reads; its memory stays
    std::unique_ptr<jit::Message> addressed;                     ///< nullptr: it reads nothing here
    std::vector<bool> is_there;                                  ///< [parts of `out`] the other rank has it
    jit::Message* sent = nullptr;                                ///< the one of this execution
    Letter* letter = nullptr;                                    ///< what it carries; nullptr: a note
    std::size_t sent_bytes = 0;                                  ///< of that, or the note
    bool opened = true, in_is_kept = false;                      ///< what came: was looked at; stays where it is
    std::vector<std::byte*> arrived;                             ///< [parts of `in`]
    std::vector<jit::HeldMessage> reading;                       ///< letters from before that some have arrived with
    std::shared_ptr<int> hope = std::make_shared<int>(kHope);
  };
  std::map<int, Mail> mail_;  // by rank; lives longer than the buffers, which may lie in it

 public:
  /// For these statements of one stage, of which none needs what another one computes. Keeps the faces of all but the first, which
  /// keep it.
  Post(const LatticeState& lattice, std::span<const Shifted> statements);

  /// For the messages of one execution, until release() or give_up().
  void take() { is_taken_ = true; }
  bool is_taken() const { return is_taken_; }

  std::vector<std::vector<Travelling>> travelling;  ///< [statements][values]
  /// [statements][faces][values] what faces read; nullptr: none is needed
  std::vector<std::vector<std::vector<std::shared_ptr<jit::Field>>>> buffers;

  /// Decides what has to be sent. `contents`: of a statement's value.
  void prepare(const std::function<Contents(std::size_t statement, std::size_t value)>& contents);
  /// Whether a value goes to anybody who does not have it; before start().
  bool is_sent(const Travelling& value) const;
  /// What lies in the outgoing buffers leaves, and what others send may come.
  void start();
  /// Whether messages may be under way that make progress only while somebody looks after them.
  bool wants_attention() const;
  /// Does so.
  void poll();
  /// What arrives for a value lies in its buffer.
  void receive(Travelling& value);
  void finish();
  /// After finish(), when what arrived is not needed any more.
  void release();
  /// After a failure: what others have of this rank is not known any more. Whether messages may be under way, which need their memory.
  bool give_up();

 private:
  static void wait(jit::Message& message);
  void choose_places();
  void hold_letters();
  static void connect_out(int rank, Mail& mail);
  static void connect_in(int rank, Mail& mail);
  void prepare(int rank, Mail& mail, const std::function<Contents(std::size_t statement, std::size_t value)>& contents);
  bool prepare_rest(int rank, Mail& mail, const std::vector<ValueName>& names,
                    const std::vector<const PlaceInLetter*>& places);
  static void choose_message(Mail& mail, Letter& letter, std::size_t bytes, jit::Message* message);
  static void gather_rest(Mail& mail);
  static void open(int rank, const Mail& mail);
  void open_next(int rank, Mail& mail);
  void place_buffers(Travelling& value);
  bool fits_letter(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<LetterPart>& parts) const;
  void place_arrived(Travelling& value, std::byte* from);

  bool by_groups_;  ///< messages carry words in device order, otherwise in host order
  bool is_taken_ = false, under_way_ = false;
  std::vector<std::shared_ptr<const Faces>> others_;
};

}  // namespace QDP::detail
