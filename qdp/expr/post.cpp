#include "qdp/expr/post.hpp"

#include <algorithm>
#include <cstring>
#include <deque>
#include <string>
#include <utility>

#include "jit/memory/residency.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace QDP::detail {

namespace {

std::shared_ptr<jit::Field> buffer(const std::shared_ptr<const jit::SiteOrder>& order, const StoredShape& stored) {
  return order ? std::make_shared<jit::Field>(order, stored.word(), stored.words(), jit::Residency::instance(),
                                              static_cast<std::uint8_t>(stored.storage))
               : nullptr;
}

/// In a letter.
std::shared_ptr<jit::Field> lent(const std::shared_ptr<const jit::SiteOrder>& order, const StoredShape& stored,
                                 void* memory) {
  return std::make_shared<jit::Field>(order, stored.word(), stored.words(), memory, jit::Residency::instance(),
                                      static_cast<std::uint8_t>(stored.storage));
}

/// What follows a letter that is kept.
struct Postscript {
  std::uint64_t number, oldest;
};

/// In words: the oldest letter that is referred to, the bytes of the letter that it stands for, and the places of the values.
std::size_t note_words(std::size_t values) { return 2 + 2 * values; }
std::size_t note_bytes(std::size_t values) { return note_words(values) * sizeof(std::uint64_t); }
/// Behind the values that are not there: the number of their letter, and the note, in which these have the letter 0.
std::size_t rest_note_bytes(std::size_t values) { return sizeof(std::uint64_t) + note_bytes(values); }
/// Shorter letters are sent: they are copied in no time, and no other message to the same end is as short as an address.
constexpr std::size_t kLeastShared = 4096;
static_assert(sizeof(jit::SharedMessages::Address) < kLeastShared);
/// Whether a note in the place of a letter is worth its while.
bool may_be_kept(std::size_t bytes, std::size_t values) { return note_bytes(values) < bytes; }

LetterPart add_part(Letter& letter, std::vector<std::size_t>& at, const Segment& s, const StoredShape& stored) {
  const std::size_t bytes = static_cast<std::size_t>(s.sites) * stored.bytes();
  at.push_back(letter.add(bytes));
  return {.segment = &s, .number = at.size() - 1, .first_byte = at.back(), .bytes = bytes};
}

/// Adds room for what may follow; the bytes before.
std::size_t end_letter(Letter& letter, std::vector<std::size_t>& at) {
  const std::size_t bytes = letter.size(), values = at.size();
  at.push_back(bytes);
  if (may_be_kept(bytes, values)) letter.add(std::max(sizeof(Postscript), rest_note_bytes(values)));
  return bytes;
}

/// Whether messages lie in the memory of a device that has one of its own.
bool gpu_messages() {
  return jit::env().gpu_mpi ? *jit::env().gpu_mpi : jit::process_communicator().reaches_gpu_memory();
}

/// Of a part in its buffer in host order.
std::size_t first_byte(const StoredShape& stored, const LetterPart& part) {
  return static_cast<std::size_t>(part.segment->first_site) * stored.bytes();
}

}  // namespace

Spent& spent() {
  static Spent all;
  return all;
}

bool Letter::hold() {
  if (bytes_ == 0) return false;
  if (may_be_shared_ && (!is_shared() || memory_->is_read())) {
    auto shared = std::make_shared<jit::MessageMemory>(jit::SharedMessages::instance().pool(), bytes_);
    try {
      shared->hold();
      memory_ = std::move(shared);
      return true;
    } catch (const jit::OutOfMemory&) {
      if (is_shared()) memory_ = nullptr;
    }
  }
  if (memory_ == nullptr) memory_ = std::make_shared<jit::MessageMemory>(*pool_, bytes_);
  return memory_->hold();
}

void Letter::release(bool is_kept) {
  if (memory_ == nullptr) return;
  memory_->release();
  if (is_kept) memory_ = nullptr;
}

Post::Post(const LatticeState& lattice, std::span<const Shifted> statements) : by_groups_(lattice.alike()) {
  for (const Shifted& statement : statements) {
    auto& values = travelling.emplace_back();
    for (std::size_t i = 0; i < statement.size(); ++i) {
      Travelling& t = values.emplace_back();
      t.halo = &statement.faces->halos[statement.maps[i]];
      t.stored = statement.shapes[i];
      for (const Segment& s : t.halo->to) {
        Mail& mail = mail_[s.rank];
        t.to.push_back(add_part(mail.out, mail.out_at, s, t.stored));
        mail.values.emplace_back(travelling.size() - 1, i);
      }
      for (const Segment& s : t.halo->from)
        t.from.push_back(add_part(mail_[s.rank].in, mail_[s.rank].in_at, s, t.stored));
    }
    if (statement.faces != statements[0].faces) others_.push_back(statement.faces);
  }
  jit::Communicator& ranks = jit::process_communicator();
  for (auto& [rank, mail] : mail_) {
    mail.arrived.resize(mail.in_at.size());
    mail.out_bytes = end_letter(mail.out, mail.out_at);
    mail.in_bytes = end_letter(mail.in, mail.in_at);
    if (jit::SharedMessages::instance().reach(rank) && mail.out_bytes >= kLeastShared) {
      mail.out.may_be_shared();
      mail.addressed = ranks.outgoing(&mail.address, sizeof mail.address, rank);
    }
    if (mail.out.size() == mail.out_bytes) continue;
    mail.note.resize(note_words(mail.values.size()));
    mail.noted = ranks.outgoing(mail.note.data(), mail.note.size() * sizeof(std::uint64_t), rank);
  }
  choose_places();
  for (const Shifted& statement : statements) {
    auto& of_statement = buffers.emplace_back();
    for (const Face& face : statement.faces->faces) {
      auto& of_face = of_statement.emplace_back(statement.size());
      for (const Face::Values& values : face.values)
        for (std::size_t i = 0; i < statement.size(); ++i)
          if (statement.maps[i] == static_cast<std::size_t>(values.map) && !values.arrived)
            of_face[i] = buffer(face.order, statement.shapes[i]);
    }
  }
}

/// Buffers lie in letters where they fit. In the memory of a device that the host does not reach lie letters of which all parts are
/// such buffers, and if the library of messages reaches it.
void Post::choose_places() {
  const bool separate = jit::Residency::instance().separate(), on_host = separate && !gpu_messages();
  for (auto& values : travelling)
    for (Travelling& t : values) {
      t.out_in_place = fits_letter(t.halo->outgoing, t.to);
      t.in_in_place = fits_letter(t.halo->incoming, t.from);
      if (on_host || (separate && !t.out_in_place))
        for (const LetterPart& part : t.to) mail_.at(part.segment->rank).out.stay_on_host();
      if (on_host || (separate && !t.in_in_place))
        for (const LetterPart& part : t.from) mail_.at(part.segment->rank).in.stay_on_host();
    }
  for (auto& values : travelling)
    for (Travelling& t : values) {
      t.out_in_place = t.out_in_place && mail_.at(t.to[0].segment->rank).out.is_on_device();
      t.in_in_place = t.in_in_place && mail_.at(t.from[0].segment->rank).in.is_on_device();
    }
}

/// Whether a buffer may lie in the letter: it is one part, of whole groups.
bool Post::fits_letter(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<LetterPart>& parts) const {
  return by_groups_ && parts.size() == 1 && order->sites == order->groups * order->lanes &&
         parts[0].first_byte % jit::Device::kAlignment == 0;
}

void Post::place_buffers(Travelling& t) {
  if (t.out_in_place)
    t.outgoing = lent(t.halo->outgoing, t.stored, mail_.at(t.to[0].segment->rank).out.at(t.to[0].first_byte));
  else if (!t.outgoing)
    t.outgoing = buffer(t.halo->outgoing, t.stored);
  if (!t.in_in_place && !t.incoming) t.incoming = buffer(t.halo->incoming, t.stored);
}

/// Messages of letters that lie elsewhere than before are made anew.
void Post::hold_letters() {
  bool moved = false;
  for (auto& [rank, mail] : mail_) {
    if (mail.out.hold()) connect_out(rank, mail), moved = true;
    if (mail.in.hold()) connect_in(rank, mail), moved = true;
  }
  if (!moved) return;
  for (auto& values : travelling)
    for (Travelling& t : values) place_buffers(t);
}

void Post::connect_out(int rank, Mail& mail) {
  if (mail.out.is_shared()) return;
  std::byte* const at = mail.out.memory()->library_address();
  jit::Communicator& ranks = jit::process_communicator();
  if (mail.out_bytes > 0) mail.plain = ranks.outgoing(at, mail.out_bytes, rank);
  if (mail.noted) mail.kept = ranks.outgoing(at, mail.out_bytes + sizeof(Postscript), rank);
}

void Post::connect_in(int rank, Mail& mail) {
  mail.received = jit::process_communicator().incoming(mail.in.memory()->library_address(), mail.in.size(), rank,
                                                       jit::Length::at_most);
}

void Post::prepare(const std::function<Contents(std::size_t statement, std::size_t value)>& contents) {
  hold_letters();
  for (auto& [rank, mail] : mail_) {
    mail.sent = nullptr;
    if (mail.out_bytes > 0) choose_message(mail, mail.out, mail.out_bytes, mail.plain.get());
    mail.is_there.assign(mail.values.size(), false);
    if (mail.noted && jit::env().keep_halos >= mail.out.size()) prepare(rank, mail, contents);
  }
}

void Post::prepare(int rank, Mail& mail,
                   const std::function<Contents(std::size_t statement, std::size_t value)>& contents) {
  std::vector<Contents> values;
  bool all_seen = true;
  for (const auto& [statement, value] : mail.values) {
    values.push_back(contents(statement, value));
    all_seen = all_seen && values.back().seen;
  }
  if (!all_seen && *mail.hope == 0) return;
  std::vector<ValueName> names;
  for (const Contents& value : values) {
    names.push_back(value.name());
    if (names.back().empty()) return;
  }
  SentLetters& other = correspondence_with(rank).sent;
  std::vector<const PlaceInLetter*> places;
  for (const ValueName& name : names) places.push_back(other.find(name));
  const auto known = std::ranges::count_if(places, [](const PlaceInLetter* place) { return place != nullptr; });
  // Before letters go to make room for this one, which may refer to them.
  mail.note[0] = other.oldest();
  mail.note[1] = mail.out_bytes;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const PlaceInLetter place = places[i] != nullptr ? *places[i] : PlaceInLetter{0, 0};
    mail.note[2 + 2 * i] = place.letter;
    mail.note[3 + 2 * i] = place.byte;
    mail.is_there[i] = places[i] != nullptr;
    if (places[i] != nullptr) other.repeated(place.letter);
  }
  if (known == std::ssize(places)) {
    mail.sent = mail.noted.get();
    mail.letter = nullptr;
    mail.sent_bytes = mail.noted->length();
    return;
  }
  if (!all_seen) --*mail.hope;
  if (known > 0 && prepare_rest(rank, mail, names, places)) return;
  mail.is_there.assign(names.size(), false);
  const Postscript postscript{other.keep(mail.out_bytes, names, mail.out_at, mail.hope), other.oldest()};
  mail.out.memory()->write(mail.out_bytes, &postscript, sizeof postscript);
  choose_message(mail, mail.out, mail.out_bytes + sizeof postscript, mail.kept.get());
}

void Post::choose_message(Mail& mail, Letter& letter, std::size_t bytes, jit::Message* message) {
  mail.letter = &letter;
  mail.sent_bytes = bytes;
  mail.sent = letter.is_shared() ? mail.addressed.get() : message;
}

/// A message of what the other rank does not have; false if its length would not tell it from others.
bool Post::prepare_rest(int rank, Mail& mail, const std::vector<ValueName>& names,
                        const std::vector<const PlaceInLetter*>& places) {
  const std::size_t n = names.size();
  std::vector<ValueName> added;
  std::vector<std::size_t> at;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (places[i] != nullptr) continue;
    added.push_back(names[i]);
    at.push_back(bytes);
    bytes += mail.out_at[i + 1] - mail.out_at[i];
  }
  const std::size_t length = bytes + rest_note_bytes(n);
  if (length == mail.out_bytes || length == mail.out_bytes + sizeof(Postscript) || length > mail.out.size())
    return false;
  if (mail.rest.size() == 0) mail.rest = mail.out.like();
  mail.rest.hold();
  jit::MessageMemory& rest = *mail.rest.memory();
  const std::uint64_t number = correspondence_with(rank).sent.keep(mail.out_bytes, added, at, mail.hope);
  rest.write(bytes, &number, sizeof number);
  rest.write(bytes + sizeof number, mail.note.data(), note_bytes(n));
  if (!mail.rest.is_shared()) mail.partial = jit::process_communicator().outgoing(rest.library_address(), length, rank);
  choose_message(mail, mail.rest, length, mail.partial.get());
  return true;
}

bool Post::is_sent(const Travelling& value) const {
  return std::ranges::any_of(
      value.to, [&](const LetterPart& part) { return !mail_.at(part.segment->rank).is_there[part.number]; });
}

void Post::gather_rest(Mail& mail) {
  std::size_t to = 0;
  for (std::size_t i = 0; i < mail.values.size(); ++i) {
    if (mail.is_there[i]) continue;
    const std::size_t bytes = mail.out_at[i + 1] - mail.out_at[i];
    mail.rest.memory()->copy(to, *mail.out.memory(), mail.out_at[i], bytes);
    to += bytes;
  }
}

void Post::start() {
  under_way_ = true;
  for (const auto& values : travelling)
    for (const Travelling& t : values) {
      if (t.out_in_place) continue;
      for (const LetterPart& part : t.to) {
        const Mail& mail = mail_.at(part.segment->rank);
        if (mail.is_there[part.number]) continue;
        std::byte* to = mail.out.at(part.first_byte);
        if (by_groups_)
          t.outgoing->read_groups(part.segment->first_group, part.segment->groups, to);
        else
          std::memcpy(to, static_cast<const std::byte*>(t.outgoing->host_words()) + first_byte(t.stored, part),
                      part.bytes);
      }
    }
  for (auto& [rank, mail] : mail_) {
    if (!mail.received) continue;
    mail.opened = false;
    correspondence_with(rank).expected.push_back(this);
    mail.in.memory()->lend();
    mail.received->start();
  }
  for (auto& [rank, mail] : mail_)
    if (mail.sent != nullptr) {
      if (mail.letter == &mail.rest) gather_rest(mail);
      if (mail.letter != nullptr) {
        jit::MessageMemory& memory = *mail.letter->memory();
        if (mail.letter->is_shared())
          mail.address = jit::SharedMessages::instance().give(memory, mail.sent_bytes);
        else
          memory.lend();
      }
      mail.sent->start();
      ++spent().messages;
      spent().bytes += static_cast<std::int64_t>(mail.sent_bytes);
      if (mail.letter == &mail.out) continue;
      ++spent().notes;
      for (std::size_t i = 0; i < mail.values.size(); ++i)
        if (mail.is_there[i]) spent().bytes_kept += static_cast<std::int64_t>(mail.out_at[i + 1] - mail.out_at[i]);
    }
}

bool Post::wants_attention() const {
  return std::ranges::any_of(mail_, [](const auto& entry) {
    const auto& [rank, mail] = entry;
    const bool sends_long = mail.letter != nullptr && !mail.letter->is_shared() && mail.sent_bytes >= kLeastShared;
    return sends_long ||
           (!mail.opened && mail.in_bytes >= kLeastShared && !jit::SharedMessages::instance().reach(rank));
  });
}

void Post::poll() {
  // Each look lets MPI move some hundred KiB at the most.
  constexpr int kLooks = 8;
  bool done = false;
  for (int look = 0; look < kLooks && !done; ++look) {
    done = true;
    for (auto& [rank, mail] : mail_) {
      if (mail.received && !mail.received->done()) done = false;
      if (mail.sent != nullptr && !mail.sent->done()) done = false;
    }
  }
}

void Post::receive(Travelling& t) {
  for (const LetterPart& part : t.from) {
    Mail& mail = mail_.at(part.segment->rank);
    open(part.segment->rank, mail);
    std::byte* const from = mail.arrived[part.number];
    if (t.in_in_place)
      place_arrived(t, from);
    else if (by_groups_)
      t.incoming->overwrite_groups(part.segment->first_group, part.segment->groups, from);
    else
      std::memcpy(static_cast<std::byte*>(t.incoming->overwrite_host_words()) + first_byte(t.stored, part), from,
                  part.bytes);
  }
}

/// Kernels read it there if they can.
void Post::place_arrived(Travelling& t, std::byte* from) {
  const bool readable = reinterpret_cast<std::uintptr_t>(from) % jit::Device::kAlignment == 0;
  if (t.incoming_at != from || !readable)
    t.incoming = readable ? lent(t.halo->incoming, t.stored, from) : buffer(t.halo->incoming, t.stored);
  t.incoming_at = from;
  if (readable)
    t.incoming->device_write(true);
  else
    t.incoming->overwrite_groups(0, t.halo->incoming->groups, from);
}

/// Looks at what has been sent, and at what was sent before that.
void Post::open(int rank, const Mail& mail) {
  std::deque<Post*>& expected = correspondence_with(rank).expected;
  while (!mail.opened) {
    Post& next = *expected.front();
    next.open_next(rank, next.mail_.at(rank));
    expected.pop_front();
  }
}

/// Waits for it, and finds the values.
void Post::open_next(int rank, Mail& mail) {
  wait(*mail.received);
  mail.opened = true;
  std::shared_ptr<jit::MessageMemory> came = mail.in.memory();
  came->take_back();
  ReceivedLetters& letters = correspondence_with(rank).received;
  std::size_t length = mail.received->length();
  const std::size_t n = mail.arrived.size();
  const bool is_read_there = length == sizeof mail.address && mail.in_bytes >= kLeastShared;
  if (is_read_there) {
    jit::SharedMessages::Address address;
    came->read(0, &address, sizeof address);
    came = jit::SharedMessages::instance().take(rank, address);
    mail.reading.emplace_back(came);
    length = address.bytes;
  }
  const jit::MessageMemory& in = *came;
  const auto keep = [&](std::uint64_t number) {
    letters.keep(number, came);
    mail.in_is_kept = !is_read_there;
  };
  if (length == mail.in_bytes || length == mail.in_bytes + sizeof(Postscript)) {
    for (std::size_t i = 0; i < n; ++i) mail.arrived[i] = in.address() + mail.in_at[i];
    if (length == mail.in_bytes) return;
    Postscript postscript;
    in.read(mail.in_bytes, &postscript, sizeof postscript);
    letters.drop_before(postscript.oldest);
    keep(postscript.number);
    return;
  }
  // A note, and before it what it does not find.
  std::vector<std::uint64_t> note(note_words(n));
  std::size_t bytes = 0;
  if (length >= note_bytes(n)) in.read(length - note_bytes(n), note.data(), note_bytes(n));
  if (note[1] == mail.in_bytes) {
    letters.drop_before(note[0]);
    for (std::size_t i = 0; i < n; ++i) {
      const PlaceInLetter place{note[2 + 2 * i], note[3 + 2 * i]};
      if (place.letter > 0) {
        mail.arrived[i] = mail.reading.emplace_back(letters.at(place.letter))->address() + place.byte;
        continue;
      }
      mail.arrived[i] = in.address() + bytes;
      bytes += mail.in_at[i + 1] - mail.in_at[i];
    }
  }
  if (note[1] != mail.in_bytes || length != (bytes > 0 ? bytes + rest_note_bytes(n) : note_bytes(n)))
    throw jit::InternalError({.what = "message from rank " + std::to_string(rank),
                              .expected = std::to_string(mail.in_bytes) + " bytes, or a note for some of them",
                              .got = std::to_string(length)});
  if (bytes == 0) return;
  std::uint64_t number = 0;
  in.read(bytes, &number, sizeof number);
  keep(number);
}

void Post::finish() {
  for (auto& [rank, mail] : mail_) {
    open(rank, mail);
    if (mail.sent == nullptr) continue;
    wait(*mail.sent);
    if (mail.letter == nullptr) continue;
    mail.letter->memory()->take_back();
    if (mail.letter == &mail.rest) mail.rest.release();
  }
  under_way_ = false;
}

void Post::release() {
  for (auto& [rank, mail] : mail_) {
    mail.out.release();
    mail.in.release(std::exchange(mail.in_is_kept, false));
    mail.reading.clear();
  }
  is_taken_ = false;
}

bool Post::give_up() {
  for (auto& [rank, mail] : mail_) {
    Correspondence& other = correspondence_with(rank);
    other.sent.forget();
    std::erase(other.expected, this);
    mail.reading.clear();
  }
  is_taken_ = false;
  return under_way_;
}

void Post::wait(jit::Message& message) {
  const Timed timed(spent().wait);
  message.wait();
}

}  // namespace QDP::detail
