#include "qdp/expr/exchange.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "jit/comm/communicator.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/field.hpp"
#include "jit/support/bytes.hpp"
#include "jit/support/clock.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/post.hpp"
#include "qdp/layout/faces.hpp"
#include "qdp/layout/lattice_state.hpp"

namespace QDP::detail {

namespace {

const jit::SiteMap* map_of(const Statement& statement, const Record& shift) {
  return statement.maps()[static_cast<std::size_t>(ShiftTo::unpack(shift.attribute).inner)];
}

/// Whether two records have the same value, each as it is seen in its own frame.
bool same_value(const Statement& statement, int a, int b) {
  if (a == b) return true;
  if (a < 0 || b < 0) return false;
  const Record &x = statement.records()[static_cast<std::size_t>(a)],
               &y = statement.records()[static_cast<std::size_t>(b)];
  if (x.type != y.type) return false;
  // Frames below a shift have other numbers where the shift stands in another frame.
  if (x.op() == Op::shift ? map_of(statement, x) != map_of(statement, y) : x.attribute != y.attribute) return false;
  for (int k = 0; k < 3; ++k)
    if (!same_value(statement, x.operand(k), y.operand(k))) return false;
  return true;
}

/// Shifts with the same value together.
std::vector<std::vector<int>> by_value(const Statement& statement, const std::vector<int>& shifts) {
  std::vector<std::vector<int>> groups;
  for (const int shift : shifts) {
    const auto known = std::ranges::find_if(
        groups, [&](const std::vector<int>& group) { return same_value(statement, group[0], shift); });
    known == groups.end() ? groups.push_back({shift}) : known->push_back(shift);
  }
  return groups;
}

/// A program with shifts that leave the rank, none of them inside of another: one of those of a stage.
class Exchange {
 public:
  Exchange(Statement& program, const std::vector<int>& shifts, const LatticeState& lattice, const jit::Domain& domain)
      : program_(program), lattice_(lattice), domain_(domain), shifts_(by_value(program, shifts)) {
    std::vector<const jit::SiteMap*> maps;
    for (const std::vector<int>& same : shifts_) {
      const jit::SiteMap* map = map_of(program, record(same[0]));
      const auto known = std::ranges::find(maps, map);
      values_.maps.push_back(static_cast<std::size_t>(known - maps.begin()));
      values_.shapes.push_back({record(same[0]).shape(), storage_of_value(program.records(), same[0])});
      if (known == maps.end()) maps.push_back(map);
    }
    values_.faces = lattice.faces(domain, maps);
  }

  const Shifted& values() const { return values_; }
  /// Where its values travel: number `place` of the statements of the post.
  void use(Post& post, std::size_t place) {
    travelling_ = &post.travelling[place];
    buffers_ = &post.buffers[place];
  }

  /// Which values are made from fields that were seen before. Before those of this stage are named.
  void look_at_fields() {
    const auto records = program_.records();
    seen_.assign(records.size(), true);
    for (std::size_t i = 0; i < records.size(); ++i) {
      const Record& r = records[i];
      if (!is_in_table(r.op())) continue;
      if (r.op() == Op::field) seen_[i] = program_.fields()[field_of(r)]->were_asked_for();
      for (int k = 0; k < 3; ++k)
        if (const int operand = r.operand(k); operand >= 0 && !seen_[static_cast<std::size_t>(operand)])
          seen_[i] = false;
    }
  }
  void mark_fields() {
    for (jit::Field* field : program_.fields()) field->contents();
  }
  Contents contents(std::size_t value) const {
    const Record& shift = record(shifts_[value][0]);
    return {seen_[static_cast<std::size_t>(shift.operand(0))], [this, &shift] { return name_of(shift); }};
  }

  /// What others need and do not have goes to the buffers.
  void fill_buffers(const Post& post) {
    for (std::size_t i = 0; i < shifts_.size(); ++i)
      if (const Travelling& t = (*travelling_)[i]; t.outgoing && post.is_sent(t))
        compute(i, *t.outgoing, t.halo->departing, t.halo->departures);
  }

  void compute_inner_sites(Post& post, std::span<jit::ReductionValue> found) {
    const Faces& faces = *values_.faces;
    for (const jit::Domain& domain : post.wants_attention() ? faces.inner_pieces : faces.inner) {
      execute_program(program_, on(domain), found);
      spent().inner_sites += domain.sites;
      post.poll();
    }
    // What faces read of values that are here.
    for (std::size_t f = 0; f < values_.faces->faces.size(); ++f)
      for_each_value(f, [&](const Face::Values& values, std::size_t i, const std::shared_ptr<jit::Field>& buffer) {
        if (buffer && values.from_here.sites > 0) compute(i, *buffer, values.sources, values.from_here);
      });
  }

  void compute_faces(Post& post, std::span<jit::ReductionValue> found) {
    std::vector<bool> received(shifts_.size());
    for (std::size_t f = 0; f < values_.faces->faces.size(); ++f) {
      for_each_value(f, [&](const Face::Values&, std::size_t i, const std::shared_ptr<jit::Field>&) {
        if (!received[i]) post.receive((*travelling_)[i]);
        received[i] = true;
      });
      compute_face(f, found);
    }
  }

 private:
  const Record& record(int i) const { return program_.records()[static_cast<std::size_t>(i)]; }
  Place on(const jit::Domain& domain) {
    const bool whole = domain_.whole && !std::exchange(has_begun_, true) && !program_.reads_what_it_stores();
    return {.lattice = lattice_, .domain = domain, .inner = true, .whole = whole, .sites_of_all = domain_.sites};
  }

  /// Calls use(values, number of the value, buffer) for what a face reads.
  template <class Use>
  void for_each_value(std::size_t face, Use&& use) {
    for (const Face::Values& values : values_.faces->faces[face].values)
      for (std::size_t i = 0; i < shifts_.size(); ++i)
        if (values_.maps[i] == static_cast<std::size_t>(values.map)) use(values, i, (*buffers_)[face][i]);
  }

  void compute_face(std::size_t f, std::span<jit::ReductionValue> found) {
    const Face& face = values_.faces->faces[f];
    Statement::Asides asides;
    for_each_value(f, [&](const Face::Values& values, std::size_t i, const std::shared_ptr<jit::Field>& buffer) {
      const Travelling& t = (*travelling_)[i];
      if (buffer && values.from_elsewhere.sites > 0) {
        Statement step;
        step.clear(lattice_, buffer.get());
        step.read(*t.incoming, t.stored.shape, values.arrivals);
        run_step(step, *buffer, t.stored.shape, values.from_elsewhere);
      }
      for (const int shift : shifts_[i])
        asides.emplace(shift, values.arrived ? Statement::Aside{t.incoming, &*values.arrived}
                                             : Statement::Aside{buffer, &face.to_buffer});
    });
    Statement rest;
    rest.clear(lattice_);
    rest.copy_program(program_, asides);
    execute_program(rest, on(face.domain), found);
    spent().face_sites += face.domain.sites;
  }

  /// The expression and the contents of what it reads, and the sites: those that the map and the domain ask for.
  ValueName name_of(const Record& shift) const {
    Statement value;
    value.clear(lattice_);
    value.copy(program_, shift.operand(0), {});
    const auto records = value.records();
    ValueName name{domain_.identity.value(), map_of(program_, shift)->identity().value(), records.size(),
                   value.fields().size(), value.maps().size()};
    for (const Record& r : records) name.insert(name.end(), {r.operands, r.place, r.type, r.attribute});
    for (jit::Field* field : value.fields()) {
      name.push_back(field->contents());
      if (name.back() == 0) return {};
    }
    for (const jit::SiteMap* map : value.maps()) name.push_back(map != nullptr ? map->identity().value() : 0);
    name.insert(name.end(), value.scalars().begin(), value.scalars().end());
    return name;
  }

  /// What is shifted, at the sources that the map gives for the sites of a buffer.
  void compute(std::size_t shift, jit::Field& buffer, const jit::SiteMap& sources, const jit::Domain& domain) {
    Statement step;
    step.clear(lattice_, &buffer);
    const Record& r = record(shifts_[shift][0]);
    step.copy(program_, r.operand(0), {}, &sources);
    run_step(step, buffer, r.shape(), domain);
  }

  void run_step(Statement& step, jit::Field& buffer, Shape shape, const jit::Domain& domain) {
    execute(step, {.dest = &buffer, .shape = shape, .lattice = lattice_, .domain = domain, .inner = true});
  }

  Statement& program_;
  const LatticeState& lattice_;
  const jit::Domain& domain_;
  const std::vector<std::vector<int>> shifts_;  ///< records of each value that is moved
  Shifted values_;
  bool has_begun_ = false;  ///< something has been stored
  std::vector<bool> seen_;  ///< [records]
  std::vector<Travelling>* travelling_ = nullptr;
  std::vector<std::vector<std::shared_ptr<jit::Field>>>* buffers_ = nullptr;
};

/// Where the buffers and messages of statements of these kinds are kept.
std::vector<std::uint64_t> key_of(const std::vector<Shifted>& statements) {
  std::vector<std::uint64_t> key;
  for (const Shifted& s : statements) {
    key.push_back(reinterpret_cast<std::uintptr_t>(s.faces.get()));  // which the post keeps, or which keep it
    key.push_back(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) {
      key.push_back(s.maps[i]);
      key.push_back(field_attribute(pack(s.shapes[i].shape), s.shapes[i].storage));
    }
  }
  return key;
}

/// Those from the last time if there was one.
std::shared_ptr<Post> post_for(const LatticeState& lattice, const std::vector<Shifted>& statements) {
  constexpr std::size_t kMostKept = 32;
  auto& all = statements[0].faces->kept;
  const std::vector<std::uint64_t> key = key_of(statements);
  if (all.size() >= kMostKept && !all.contains(key)) all.clear();
  std::shared_ptr<void>& kept = all[key];
  if (!kept) kept = std::make_shared<Post>(lattice, statements);
  auto post = std::static_pointer_cast<Post>(kept);
  if (post->is_taken()) jit::run_deferred();  // one of those that wait has it
  if (post->is_taken())
    throw jit::InternalError({.what = "messages of a statement",
                              .expected = "those of the last one of its kind to have come to their end",
                              .got = "a statement that calls for another one"});
  return post;
}

/// Statements that do not need each other's values, with one message to each neighbour, which leaves at once.
class Stage : public Sent {
 public:
  Stage(const LatticeState& lattice, std::vector<Exchange> statements) : statements_(std::move(statements)) {
    for (const Exchange& statement : statements_) values_.push_back(statement.values());
    post_ = post_for(lattice, values_);
    post_->take();
    for (std::size_t i = 0; i < statements_.size(); ++i) statements_[i].use(*post_, i);
    or_give_up([&] { send(); });
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() override {
    try {
      discard();
    } catch (const std::exception& error) {
      jit::log_error("comm", error.what());
    }
  }

  void compute(std::span<jit::ReductionValue> found) override {
    or_give_up([&] {
      {
        const Timed timed(spent().inner);
        for (Exchange& statement : statements_) statement.compute_inner_sites(*post_, found);
      }
      const std::uint64_t waited = spent().wait;
      {
        const Timed timed(spent().faces);
        for (Exchange& statement : statements_) statement.compute_faces(*post_, found);
        post_->finish();
      }
      end();
      spent().faces -= spent().wait - waited;
    });
  }

  void discard() override {
    if (post_ == nullptr) return;
    or_give_up([&] {
      post_->finish();
      end();
    });
  }

 private:
  void send() {
    spent().statements += static_cast<std::int64_t>(statements_.size());
    {
      const Timed timed(spent().pack);
      for (Exchange& statement : statements_) statement.look_at_fields();
      for (Exchange& statement : statements_) statement.mark_fields();
      post_->prepare([&](std::size_t statement, std::size_t value) { return statements_[statement].contents(value); });
      for (Exchange& statement : statements_) statement.fill_buffers(*post_);
      post_->start();
    }
    if (!jit::env().overlap) post_->finish();
  }

  void end() {
    post_->release();
    post_ = nullptr;
  }

  /// Messages that are under way keep their memory, and meet those of the other ranks, which have failed alike.
  template <class Function>
  void or_give_up(Function&& function) {
    static std::vector<std::shared_ptr<Post>> abandoned;
    try {
      function();
    } catch (...) {
      if (post_->give_up()) abandoned.push_back(post_);
      values_[0].faces->kept.erase(key_of(values_));
      post_ = nullptr;
      throw;
    }
  }

  std::vector<Exchange> statements_;
  std::vector<Shifted> values_;
  std::shared_ptr<Post> post_;  ///< nullptr: it has come to its end
};

bool leaves(const jit::SiteMap* map) { return map != nullptr && map->off_rank() != nullptr; }

/// [records] how many shifts that leave the rank stand in it, one inside of the other.
std::vector<int> depths(const Statement& statement) {
  const auto records = statement.records();
  std::vector<int> depth(records.size());
  for (std::size_t i = 0; i < records.size(); ++i) {
    if (!is_in_table(records[i].op())) continue;
    for (int k = 0; k < 3; ++k)
      if (const int operand = records[i].operand(k); operand >= 0)
        depth[i] = std::max(depth[i], depth[static_cast<std::size_t>(operand)]);
    if (records[i].op() == Op::shift && leaves(map_of(statement, records[i]))) ++depth[i];
  }
  return depth;
}

/// Adds fields with the values of the shifts in other shifts that have this depth, which travel together.
void compute_inner_shifts(const Statement& whole, const std::vector<int>& shifts, const LatticeState& lattice,
                          Statement::Asides& asides) {
  struct Moved {
    std::shared_ptr<jit::Field> value;
    Statement statement;
  };
  const auto values = by_value(whole, shifts);
  std::vector<Moved> moved(values.size());
  std::vector<Exchange> stage;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Shape shape = whole.records()[static_cast<std::size_t>(values[i][0])].shape();
    auto& [value, statement] = moved[i];
    value = new_field(shape, lattice, storage_of_value(whole.records(), values[i][0]));
    statement.clear(lattice, value.get());
    statement.copy(whole, values[i][0], asides);
    const std::vector shift{statement.root()};
    statement.become_program({.dest = shape});
    stage.emplace_back(statement, shift, lattice, lattice.everything());
  }
  Stage(lattice, std::move(stage)).compute({});
  for (std::size_t i = 0; i < values.size(); ++i)
    for (const int shift : values[i]) asides.emplace(shift, Statement::Aside{moved[i].value});
}

/// Those shifts that leave the rank, by how many stand in them.
struct Leaving {
  std::map<int, std::vector<int>> inner;  ///< in other shifts, by their depth
  std::vector<int> outer;
};
Leaving leaving_shifts(const Statement& statement) {
  const auto records = statement.records();
  const std::vector<int> depth = depths(statement);
  Leaving found;
  for (std::size_t i = 0; i < records.size(); ++i)
    if (records[i].op() == Op::shift && leaves(map_of(statement, records[i])))
      (records[i].frame() == 0 ? found.outer : found.inner[depth[i]]).push_back(static_cast<int>(i));
  return found;
}

}  // namespace

ExchangeTimes exchange_times() {
  jit::run_deferred();
  const double tick = jit::seconds_per_tick();
  const auto seconds = [&](std::uint64_t ticks) { return static_cast<double>(ticks) * tick; };
  return {.pack = seconds(spent().pack),
          .inner = seconds(spent().inner),
          .wait = seconds(spent().wait),
          .faces = seconds(spent().faces),
          .statements = spent().statements,
          .messages = spent().messages,
          .bytes = spent().bytes,
          .notes = spent().notes,
          .bytes_kept = spent().bytes_kept,
          .inner_sites = spent().inner_sites,
          .face_sites = spent().face_sites};
}

void log_exchange_times() {
  const ExchangeTimes all = exchange_times();
  if (all.statements == 0) return;
  const auto bytes = [](std::int64_t n) { return jit::format_bytes(static_cast<std::size_t>(n)); };
  jit::log_info("comm", all.statements, " statements with ", all.messages, " messages, ", bytes(all.bytes), " sent; ",
                all.notes, " of them notes for ", bytes(all.bytes_kept), " that the others had; pack ", all.pack,
                " s, inner sites ", all.inner, " s, wait ", all.wait, " s, faces ", all.faces, " s");
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
  for (const Record& r : records)
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

bool moves_between_ranks(const Statement& statement, std::size_t first) {
  const auto records = statement.records();
  return std::any_of(records.begin() + static_cast<std::ptrdiff_t>(first), records.end(),
                     [&](const Record& r) { return r.op() == Op::shift && leaves(map_of(statement, r)); });
}

std::unique_ptr<Sent> send_values(Statement& program, const LatticeState& lattice, const jit::Domain& domain) {
  const Leaving leaving = leaving_shifts(program);
  if (!leaving.inner.empty()) return nullptr;
  std::vector<Exchange> alone;
  alone.emplace_back(program, leaving.outer, lattice, domain);
  return std::make_unique<Stage>(lattice, std::move(alone));
}

void execute_with_messages(const Statement& statement, const Assignment& how) {
  check_same_on_all_ranks(statement);
  Statement whole = statement;  // which others may use while this is at work
  const Leaving leaving = leaving_shifts(whole);
  if (leaving.inner.empty()) {
    whole.become_program({.dest = how.shape});
    return send_values(whole, how.lattice, how.domain)->compute({});
  }
  Statement::Asides asides;
  for (const auto& [stage, shifts] : leaving.inner) compute_inner_shifts(whole, shifts, how.lattice, asides);
  execute_rest(whole, asides, how);
}

}  // namespace QDP::detail
