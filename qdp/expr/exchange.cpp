#include "qdp/expr/exchange.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/memory/field.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/clock.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp/layout/faces.hpp"
#include "qdp/layout/lattice.hpp"

namespace QDP::detail {

namespace {

/// In ticks.
struct Spent {
  std::uint64_t pack = 0, inner = 0, wait = 0, faces = 0;
  std::int64_t statements = 0, messages = 0, bytes = 0;
};
Spent spent;

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

/// What a message carries, at a multiple of Device::kAlignment.
class Letter {
 public:
  /// Longer by so much; the number of bytes before. Before place().
  std::size_t add(std::size_t bytes) { return std::exchange(bytes_, bytes_ + bytes); }
  void place() {
    if (bytes_ > 0) memory_.reset(static_cast<std::byte*>(jit::Memory::host().allocate(bytes_)), Free{bytes_});
  }
  std::byte* at(std::size_t byte) const { return memory_.get() + byte; }
  std::size_t size() const { return bytes_; }

 private:
  struct Free {
    std::size_t bytes;
    void operator()(std::byte* memory) const { jit::Memory::host().free(memory, bytes); }
  };
  std::size_t bytes_ = 0;
  std::shared_ptr<std::byte> memory_;
};

/// Messages to and from one other rank, with everything that the statement sends there.
struct Mail {
  Letter out, in;
  std::unique_ptr<jit::Message> sent, received;  ///< nullptr: none
};

/// LetterPart of a letter that is a segment of a buffer, and lies in the buffer's own memory if that is possible.
struct LetterPart {
  const Segment* segment;
  std::size_t first_byte, bytes;  ///< in the letter
};

/// A shifted value on its way.
struct Travelling {
  const Halo* halo;
  Shape shape;
  std::vector<LetterPart> to, from;
  std::shared_ptr<jit::Field> outgoing,
      incoming;  ///< buffers of what others need, and of what arrives; nullptr: nothing
  bool out_in_place = false, in_in_place = false;  ///< buffers lie in letters
};

/// Buffers and messages for values of these shapes through these maps. One statement after the other uses them.
class Post {
  std::map<int, Mail> mail_;  // lives longer than the buffers, which may lie in it

 public:
  /// `maps`: [shifts] number of the map.
  Post(const LatticeState& lattice, const Faces& faces, const std::vector<std::size_t>& maps,
       const std::vector<Shape>& shapes)
      : by_groups_(lattice.alike()) {
    for (std::size_t i = 0; i < maps.size(); ++i) {
      Travelling& t = travelling.emplace_back();
      t.halo = &faces.halos[maps[i]];
      t.shape = shapes[i];
      for (const Segment& s : t.halo->to) t.to.push_back(part(mail_[s.rank].out, s, t.shape));
      for (const Segment& s : t.halo->from) t.from.push_back(part(mail_[s.rank].in, s, t.shape));
    }
    jit::Communicator& ranks = jit::process_communicator();
    for (auto& [rank, mail] : mail_) {
      mail.out.place();
      mail.in.place();
      if (mail.out.size() > 0) mail.sent = ranks.outgoing(mail.out.at(0), mail.out.size(), rank);
      if (mail.in.size() > 0) mail.received = ranks.incoming(mail.in.at(0), mail.in.size(), rank);
    }
    for (Travelling& t : travelling) {
      t.out_in_place = in_place(t.halo->outgoing, t.to);
      t.in_in_place = in_place(t.halo->incoming, t.from);
      t.outgoing = t.out_in_place ? lent(t.halo->outgoing, t.shape, place_of(t.to[0], &Mail::out))
                                  : buffer(t.halo->outgoing, t.shape);
      t.incoming = t.in_in_place ? lent(t.halo->incoming, t.shape, place_of(t.from[0], &Mail::in))
                                 : buffer(t.halo->incoming, t.shape);
    }
    for (const Face& face : faces.faces) {
      auto& of_face = buffers.emplace_back(maps.size());
      for (const Face::Values& values : face.values)
        for (std::size_t i = 0; i < maps.size(); ++i)
          if (maps[i] == static_cast<std::size_t>(values.map) && !values.arrived)
            of_face[i] = buffer(face.order, shapes[i]);
    }
  }

  std::vector<Travelling> travelling;                             ///< [shifts]
  std::vector<std::vector<std::shared_ptr<jit::Field>>> buffers;  ///< [faces][shifts], nullptr: none is needed

  /// What lies in the outgoing buffers leaves, and what others send may come.
  void start() {
    for (const Travelling& t : travelling) {
      if (t.out_in_place) continue;
      for (const LetterPart& part : t.to) {
        std::byte* to = place_of(part, &Mail::out);
        if (by_groups_)
          t.outgoing->read_groups(part.segment->first_group, part.segment->groups, to);
        else
          std::memcpy(to, static_cast<const std::byte*>(t.outgoing->host_read()) + first_byte(t, part), part.bytes);
      }
    }
    for (auto& [rank, mail] : mail_)
      if (mail.received) mail.received->start();
    for (auto& [rank, mail] : mail_)
      if (mail.sent) {
        mail.sent->start();
        ++spent.messages;
        spent.bytes += static_cast<std::int64_t>(mail.out.size());
      }
  }

  /// Lets messages make progress.
  void poll() {
    for (auto& [rank, mail] : mail_) {
      if (mail.received) mail.received->done();
      if (mail.sent) mail.sent->done();
    }
  }

  /// What arrives for a shift lies in its buffer.
  void receive(std::size_t shift) {
    const Travelling& t = travelling[shift];
    for (const LetterPart& part : t.from) {
      wait(*mail_[part.segment->rank].received);
      const std::byte* from = place_of(part, &Mail::in);
      if (t.in_in_place)
        t.incoming->device_write(true);
      else if (by_groups_)
        t.incoming->overwrite_groups(part.segment->first_group, part.segment->groups, from);
      else
        std::memcpy(static_cast<std::byte*>(t.incoming->host_overwrite()) + first_byte(t, part), from, part.bytes);
    }
  }

  void finish() {
    for (auto& [rank, mail] : mail_) {
      if (mail.received) wait(*mail.received);
      if (mail.sent) wait(*mail.sent);
    }
  }

 private:
  static void wait(jit::Message& message) {
    const Timed timed(spent.wait);
    message.wait();
  }
  static std::shared_ptr<jit::Field> buffer(const std::shared_ptr<const jit::SiteOrder>& order, Shape shape) {
    return order ? std::make_shared<jit::Field>(order, shape.word, shape.components()) : nullptr;
  }
  static std::shared_ptr<jit::Field> lent(const std::shared_ptr<const jit::SiteOrder>& order, Shape shape,
                                          void* memory) {
    return std::make_shared<jit::Field>(order, shape.word, shape.components(), memory);
  }
  static LetterPart part(Letter& letter, const Segment& s, Shape shape) {
    const std::size_t bytes = static_cast<std::size_t>(s.sites) * shape.bytes();
    return {.segment = &s, .first_byte = letter.add(bytes), .bytes = bytes};
  }
  /// Whether a buffer may lie in the letter: it is one part, of whole groups, and the device reads the host's memory.
  bool in_place(const std::shared_ptr<const jit::SiteOrder>& order, const std::vector<LetterPart>& parts) const {
    return by_groups_ && parts.size() == 1 && order->sites == order->groups * order->lanes &&
           parts[0].first_byte % jit::Device::kAlignment == 0 && !jit::Residency::instance().separate();
  }
  std::byte* place_of(const LetterPart& part, Letter Mail::* letter) {
    return (mail_.at(part.segment->rank).*letter).at(part.first_byte);
  }
  /// Of a part in its buffer in host order.
  static std::size_t first_byte(const Travelling& t, const LetterPart& part) {
    return static_cast<std::size_t>(part.segment->first_site) * t.shape.bytes();
  }

  bool by_groups_;  ///< messages carry words in device order, otherwise in host order
};

const jit::SiteMap* map_of(const Statement& statement, const Record& shift) {
  return statement.maps()[static_cast<std::size_t>(ShiftTo::unpack(shift.attribute).inner)];
}

/// Whether two records have the same value.
bool same_value(std::span<const Record> records, int a, int b) {
  if (a == b) return true;
  if (a < 0 || b < 0) return false;
  const Record &x = records[static_cast<std::size_t>(a)], &y = records[static_cast<std::size_t>(b)];
  if (x.type != y.type || x.attribute != y.attribute || x.frame() != y.frame()) return false;
  for (int k = 0; k < 3; ++k)
    if (!same_value(records, x.operand(k), y.operand(k))) return false;
  return true;
}

/// Shifts with the same value together.
std::vector<std::vector<int>> by_value(const Statement& statement, const std::vector<int>& shifts) {
  std::vector<std::vector<int>> groups;
  for (const int shift : shifts) {
    const auto known = std::ranges::find_if(
        groups, [&](const std::vector<int>& group) { return same_value(statement.records(), group[0], shift); });
    known == groups.end() ? groups.push_back({shift}) : known->push_back(shift);
  }
  return groups;
}

/// A statement with shifts that leave the rank, none of them inside of another.
class Exchange {
 public:
  Exchange(Statement& whole, const std::vector<int>& shifts, const Assignment& how)
      : whole_(whole), how_(how), shifts_(by_value(whole, shifts)) {
    std::vector<const jit::SiteMap*> maps;
    std::vector<Shape> shapes;
    for (const std::vector<int>& same : shifts_) {
      const int i = same[0];
      const jit::SiteMap* map = map_of(whole, record(i));
      const auto known = std::ranges::find(maps, map);
      maps_.push_back(static_cast<std::size_t>(known - maps.begin()));
      if (known == maps.end()) maps.push_back(map);
      shapes.push_back(record(i).shape());
      key_.push_back(maps_.back());
      key_.push_back(pack(shapes.back()));
    }
    faces_ = how.lattice.faces(how.domain, maps);
    if (faces_->kept.size() >= kMostKept && !faces_->kept.contains(key_)) faces_->kept.clear();
    std::shared_ptr<void>& kept = faces_->kept[key_];
    if (!kept) kept = std::make_shared<Post>(how.lattice, *faces_, maps_, shapes);
    post_ = std::static_pointer_cast<Post>(kept);
  }

  void run() try {
    ++spent.statements;
    send_off();
    if (!jit::env().overlap) post_->finish();
    compute_inner_sites();
    const std::uint64_t waited = spent.wait;
    {
      const Timed timed(spent.faces);
      compute_faces();
      post_->finish();
    }
    spent.faces -= spent.wait - waited;
  } catch (...) {
    // Messages that are under way keep their memory, and meet those of the other ranks, which have failed alike.
    static std::vector<std::shared_ptr<Post>> abandoned;
    abandoned.push_back(post_);
    faces_->kept.erase(key_);
    throw;
  }

 private:
  static constexpr std::size_t kMostKept = 32;

  const Record& record(int i) const { return whole_.records()[static_cast<std::size_t>(i)]; }
  Assignment on(const jit::Domain& domain) const {
    return {.dest = how_.dest,
            .shape = how_.shape,
            .lattice = how_.lattice,
            .domain = domain,
            .inner = true,
            .sites_of_all = how_.domain.sites};
  }

  /// Calls use(values, number of the shift, buffer) for what a face reads.
  template <class Use>
  void for_each_value(std::size_t face, Use&& use) {
    for (const Face::Values& values : faces_->faces[face].values)
      for (std::size_t i = 0; i < shifts_.size(); ++i)
        if (maps_[i] == static_cast<std::size_t>(values.map)) use(values, i, post_->buffers[face][i]);
  }

  void send_off() {
    const Timed timed(spent.pack);
    for (std::size_t i = 0; i < shifts_.size(); ++i)
      if (const Travelling& t = post_->travelling[i]; t.outgoing)
        compute(i, *t.outgoing, t.halo->departing, t.halo->departures);
    post_->start();
  }

  void compute_inner_sites() {
    const Timed timed(spent.inner);
    for (const jit::Domain& domain : faces_->inner) {
      execute(whole_, on(domain));
      post_->poll();
    }
    // What faces read of values that are here.
    for (std::size_t f = 0; f < faces_->faces.size(); ++f)
      for_each_value(f, [&](const Face::Values& values, std::size_t i, const std::shared_ptr<jit::Field>& buffer) {
        if (buffer && values.from_here.sites > 0) compute(i, *buffer, values.sources, values.from_here);
      });
  }

  void compute_faces() {
    std::vector<bool> received(shifts_.size());
    for (std::size_t f = 0; f < faces_->faces.size(); ++f) {
      for_each_value(f, [&](const Face::Values&, std::size_t i, const std::shared_ptr<jit::Field>&) {
        if (!received[i]) post_->receive(i);
        received[i] = true;
      });
      compute_face(f);
    }
  }

  void compute_face(std::size_t f) {
    Statement::Asides asides;
    for_each_value(f, [&](const Face::Values& values, std::size_t i, const std::shared_ptr<jit::Field>& buffer) {
      const Travelling& t = post_->travelling[i];
      if (buffer && values.from_elsewhere.sites > 0) {
        Statement step;
        step.clear(how_.lattice, buffer.get());
        step.read(*t.incoming, t.shape, values.arrivals);
        run_step(step, *buffer, t.shape, values.from_elsewhere);
      }
      for (const int shift : shifts_[i])
        asides.emplace(shift, values.arrived ? Statement::Aside{t.incoming, &*values.arrived}
                                             : Statement::Aside{buffer, &faces_->faces[f].to_buffer});
    });
    execute_rest(whole_, asides, on(faces_->faces[f].domain));
  }

  /// What is shifted, at the sources that the map gives for the sites of a buffer.
  void compute(std::size_t shift, jit::Field& buffer, const jit::SiteMap& sources, const jit::Domain& domain) {
    Statement step;
    step.clear(how_.lattice, &buffer);
    const Record& r = record(shifts_[shift][0]);
    step.copy(whole_, r.operand(0), {}, &sources);
    run_step(step, buffer, r.shape(), domain);
  }

  void run_step(Statement& step, jit::Field& buffer, Shape shape, const jit::Domain& domain) {
    execute(step, {.dest = &buffer, .shape = shape, .lattice = how_.lattice, .domain = domain, .inner = true});
  }

  Statement& whole_;
  const Assignment& how_;
  const std::vector<std::vector<int>> shifts_;  ///< records of each value that is moved
  std::vector<std::size_t> maps_;               ///< [shifts] number of the map
  std::vector<std::uint64_t> key_;              ///< of what is kept
  std::shared_ptr<const Faces> faces_;
  std::shared_ptr<Post> post_;
};

bool leaves(const jit::SiteMap* map) { return map != nullptr && map->off_rank() != nullptr; }

/// Fields with the values of shifts inside of other shifts: each is a stage of messages of its own.
Statement::Asides inner_shifts_aside(const Statement& whole, const std::vector<int>& shifts, const Assignment& how) {
  Statement::Asides asides;
  for (const std::vector<int>& same : by_value(whole, shifts)) {
    if (whole.records()[static_cast<std::size_t>(same[0])].frame() == 0) continue;
    const Statement::Aside aside{computed_aside(whole, same[0], asides, how)};
    for (const int shift : same) asides.emplace(shift, aside);
  }
  return asides;
}

}  // namespace

ExchangeTimes exchange_times() {
  const double tick = jit::seconds_per_tick();
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * tick; };
  return {.pack = seconds(spent.pack),
          .inner = seconds(spent.inner),
          .wait = seconds(spent.wait),
          .faces = seconds(spent.faces),
          .statements = spent.statements,
          .messages = spent.messages,
          .bytes = spent.bytes};
}

bool leaves_the_rank(const Statement& statement) { return std::ranges::any_of(statement.maps(), leaves); }

void check_same_on_all_ranks(const Statement& statement) {
  struct At {
    std::int64_t number = 0;  ///< of the collective statements so far
    std::uint64_t hash = 0;
    char text[240] = {};
  };
  static std::int64_t number = 0;
  jit::Communicator& ranks = jit::process_communicator();
  if (!jit::env().check || ranks.size() == 1) return;
  At own{.number = ++number};
  const auto records = statement.records();
  for (const Record& r : records.subspan(1))
    for (const std::uint64_t word : {r.type, r.operands, r.place & 0xFFFFFFFF})
      own.hash = (own.hash ^ word) * 0x100000001B3ull;
  describe(records, statement.root()).copy(own.text, sizeof own.text - 1);
  std::vector<At> all(static_cast<std::size_t>(ranks.size()));
  ranks.gather(&own, sizeof own, all.data());
  const auto text = [](const At& at) { return "statement " + std::to_string(at.number) + ", " + at.text; };
  for (std::size_t rank = 0; rank < all.size(); ++rank)
    if (all[rank].number != own.number || all[rank].hash != own.hash)
      throw jit::UserError({.what = "statement over all ranks",
                            .expected = "the same on all of them",
                            .got = "rank " + std::to_string(ranks.rank()) + " is at " + text(own) + "; rank " +
                                   std::to_string(rank) + " at " + text(all[rank]),
                            .what_now = "let all ranks go the same way through the program: decide on what all of them "
                                        "know (found by TESSERA_CHECK=1)"});
}

void execute_with_messages(const Statement& statement, const Assignment& how) {
  check_same_on_all_ranks(statement);
  Statement whole = statement;  // which others may use while this is at work
  const auto records = whole.records();
  std::vector<int> shifts;
  for (std::size_t i = 1; i < records.size(); ++i)
    if (records[i].op() == Op::shift && leaves(map_of(whole, records[i]))) shifts.push_back(static_cast<int>(i));
  if (const auto asides = inner_shifts_aside(whole, shifts, how); !asides.empty())
    return execute_rest(whole, asides, how);
  Exchange(whole, shifts, how).run();
}

}  // namespace QDP::detail
