#include "qdp/expr/statement.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "jit/memory/field.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/site_function.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"

namespace QDP::detail {

namespace {

/// Operations of a tree of which every occurrence is walked. Whoever builds an expression still holds its parts when it is
/// assigned: most nodes have several users, and to look for each would cost more than to walk the few that are shared.
constexpr int kSmallTree = 200;

constexpr int kDeepest = 256;  // recursion of a walk

/// Words of a scalar operand that is passed as arguments, of which a GPU's kernel takes 4096 bytes: propagators are.
constexpr int kInArguments = 300;

/// It only has to find the entry: the bytes decide. Products of sums with numbers of their own, one for each place (as in
/// Black et al., "UMAC", CRYPTO '99): the processor takes several records at a time.
std::uint64_t hash(std::span<const Record> records) {
  std::uint64_t sum = 0, key = 0x243F6A8885A308D3ull;
  for (const Record& r : records) {
    __extension__ using Wide = unsigned __int128;
    const Wide product =
        static_cast<Wide>(r.operands + std::rotl(r.type, 29) + key) * (r.place + std::rotl(r.attribute, 17) + ~key);
    sum += static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
    key += 0x9E3779B97F4A7C15ull;
  }
  sum *= 0xD6E8FEB86659FD93ull;
  return sum ^ sum >> 32;
}

}  // namespace

void Grouping::put(Record& last) const {
  last.attribute = (last.attribute & kFieldBits) | static_cast<std::uint64_t>(lanes) << 32 |
                   static_cast<std::uint64_t>(listed) << 63;
}
Grouping Grouping::of(const Record& last) {
  return {.lanes = static_cast<int>(last.attribute >> 32 & 0xFFFF), .listed = last.attribute >> 63 != 0};
}

Purpose purpose_of(const Record& r) {
  if (r.op() == kStore) return {.dest = r.shape()};
  return {.dest = {}, .reduction = static_cast<int>(static_cast<std::uint32_t>(r.attribute)), .count = r.operand(1)};
}

void RecordList::grow() { room_.resize(2 * room_.size() + 16); }

void Statement::clear(const LatticeState& lattice, jit::Field* target) {
  lattice_ = &lattice;
  fields_.clear(), uses_.clear(), frames_.clear();
  spread_.clear();
  frames_.add({-1, nullptr});
  maps_.assign(1, nullptr), gathered_.assign(1, 0);
  scalars_.clear(), value_starts_.clear();
  records_.shrink(0), root_ = -1;
  if (!items_.empty()) items_.clear();
  if (keeps_) owners_.clear(), owners_of_maps_.clear(), keeps_ = false;
  clashes_ = false;
  forget_nodes();
  target_ = target != nullptr ? number_of(target) : -1;
}

/// Nodes may be others the next time, in the same places.
void Statement::forget_nodes() {
  value_nodes_.clear(), spread_nodes_.clear();
  first_value_ = value_starts_.size(), first_spread_ = spread_.size();
  visits_ = 0;
  if (!shared_records_.empty()) shared_.clear(), shared_records_.clear();
}

void Statement::check_lattice() const {
  for (const jit::Field* f : fields())
    if (&f->order() != lattice_)
      throw jit::UserError({.what = "statement",
                            .expected = "operands on one lattice, as the first: " + describe(*lattice_),
                            .got = "a field on another lattice, " + describe(lattice_of(*f)),
                            .what_now = "fields made before a second Layout::create() stay on their lattice; make them "
                                        "anew, or in a Layout::Scope"});
}

void Statement::begin(const std::shared_ptr<jit::Field>& target) {
  forget_nodes();
  target_ = number_of(target.get(), &target);
}

void Statement::begin_without_target() {
  forget_nodes();
  target_ = -1;
}

[[gnu::always_inline]] inline std::uint64_t Statement::attribute_of(int field) const {
  const auto number = static_cast<std::size_t>(field);
  return field_attribute(number, static_cast<FieldStorage>(fields_.list()[number]->encoding()));
}

/// Behind the records of the last value.
void Statement::add_item(const Purpose& purpose, int field) {
  const bool stores = purpose.reduction < 0;
  records_.push_back(
      stores ? Record::of(kStore, pack(purpose.dest), attribute_of(field), 0, root_)
             : Record::of(kReduce, 0, static_cast<std::uint64_t>(purpose.reduction), 0, root_, purpose.count));
}

void Statement::end(const Purpose& purpose) {
  add_item(purpose, target_);
  const int item = static_cast<int>(records_.size()) - 1;
  items_.push_back(item);
  if (purpose.reduction >= 0) return;
  int& stored = uses_[static_cast<std::size_t>(target_)].stored;
  if (stored >= 0) drop_store(stored);
  stored = item;
}

bool Statement::reads_what_it_stores() const {
  return std::ranges::any_of(uses_, [](const Use& u) { return u.stored >= 0 && (u.here || u.elsewhere); });
}

void Statement::drop_store(int record) {
  Record& r = records_[static_cast<std::size_t>(record)];
  r = Record::of(kStore, r.packed_shape(), r.attribute & kFieldBits, -1, r.operand(0));
}

Statement::Extent Statement::extent() const {
  return {records_.size(),      fields_.list().size(), frames_.list().size(), scalars_.size(),
          value_starts_.size(), spread_.size(),        items_.size(),         root_};
}

void Statement::go_back(const Extent& before) {
  records_.shrink(before.records);
  fields_.shrink(before.fields), uses_.resize(before.fields);
  frames_.shrink(before.frames), maps_.resize(before.frames), gathered_.resize(before.frames);
  if (keeps_) owners_.resize(before.fields), owners_of_maps_.resize(before.frames);
  scalars_.resize(before.scalars), value_starts_.resize(before.values);
  spread_.resize(before.spread);
  items_.resize(before.items);
  root_ = before.root;
  target_ = -1, clashes_ = false;
  forget_nodes();
}

void Statement::go_back_to_value() {
  records_.shrink(static_cast<std::size_t>(root_) + 1);
  items_.clear();
  for (Use& u : uses_) u.stored = -1;
}

[[gnu::always_inline]] inline int Statement::append(const Record& r) {
  records_.push_back(r);
  return static_cast<int>(records_.size()) - 1;
}

inline int Statement::frame_of(int parent, const jit::SiteMap* map, const std::shared_ptr<const jit::SiteMap>* owner) {
  if (const int known = frames_.find({parent, map}); known >= 0) return known;
  if (keeps_) owners_of_maps_.push_back(owner != nullptr ? *owner : nullptr);
  gathered_.push_back(gathered_[static_cast<std::size_t>(parent)] != 0 || !map->is_structured());
  maps_.push_back(map);
  return frames_.add({parent, map});
}

inline ShiftTo Statement::shift_to(int inner) const {
  const auto i = static_cast<std::size_t>(inner);
  return {inner, gathered_[i] != 0 ? jit::LaneExchange{} : maps_[i]->exchange(), gathered_[i] != 0};
}

[[gnu::always_inline]] inline int Statement::number_of(jit::Field* field, const std::shared_ptr<jit::Field>* owner) {
  if (const int known = fields_.find(field); known >= 0) return known;
  uses_.emplace_back();
  if (keeps_) owners_.push_back(owner != nullptr ? *owner : nullptr);
  return fields_.add(field);
}

[[gnu::always_inline]] inline int Statement::add_field(jit::Field* field, std::uint64_t shape, int frame,
                                                       const std::shared_ptr<jit::Field>* owner) {
  const int number = number_of(field, owner);
  Use& u = uses_[static_cast<std::size_t>(number)];
  if (u.stored >= 0) [[unlikely]] {
    if (frame == 0 && records_[static_cast<std::size_t>(u.stored)].packed_shape() == shape) return u.stored;
    clashes_ = true;
  }
  (frame == 0 ? u.here : u.elsewhere) = true;
  return append(Record::of(Op::field, shape, attribute_of(number), frame));
}

int Statement::add_value(std::uint64_t shape, const void* components) {
  const Shape s = unpack(shape);
  const auto number = value_starts_.size();
  value_starts_.push_back(scalars_.size());
  const int count = s.components();
  const auto add = [&]<class Word>(Word word) {  // of a size that the compiler knows: without a call
    for (int i = 0; i < count; ++i) {
      std::memcpy(&word, static_cast<const std::byte*>(components) + static_cast<std::size_t>(i) * sizeof word,
                  sizeof word);
      scalars_.push_back(word);
    }
  };
  const int size = jit::ir::bytes(s.word);
  size == 4 ? add(std::uint32_t{}) : size == 8 ? add(std::uint64_t{}) : add(std::uint8_t{});
  return append(Record::of(Op::value, shape, number, -1));
}

/// A value that is a field: one of more words than kernels take as arguments.
int Statement::spread_of(const Node& n, int frame) {
  int known = spread_nodes_.find(&n);
  if (known < 0) {
    known = spread_nodes_.add(&n);
    const auto& field = spread_.emplace_back(new_field(n.shape, *lattice_));
    auto* to = static_cast<std::byte*>(field->host_overwrite());
    const std::size_t bytes = n.shape.bytes();
    for (std::int64_t site = 0; site < field->order().sites; ++site, to += bytes)
      std::memcpy(to, n.components(), bytes);
  }
  const auto& field = spread_[first_spread_ + static_cast<std::size_t>(known)];
  return add_field(field.get(), pack(n.shape), frame, &field);
}

inline int Statement::value_of(const Node& n, int frame) {
  if (n.is_large() && n.shape.components() > kInArguments) [[unlikely]]
    return spread_of(n, frame);
  return number_value(n, pack(n.shape), n.components());
}

/// A value that stands for a node.
inline int Statement::number_value(const Node& n, std::uint64_t shape, const void* components) {
  if (const int known = value_nodes_.find(&n); known >= 0)
    return append(Record::of(Op::value, shape, first_value_ + static_cast<std::uint64_t>(known), -1));
  value_nodes_.add(&n);
  return add_value(shape, components);
}

/// Whether the component that a node names is a value of its own. A program may need what is poked as a whole.
inline bool Statement::picks_at_run_time(const Node& n, int frame, int whole) const {
  const Record& r = records_[static_cast<std::size_t>(whole)];
  if (r.op() != Op::field) return false;
  return is_peek(n.op) || (frame == 0 && !keeps_ && field_of(r) == static_cast<std::uint32_t>(target_));
}

int Statement::component_of(const Node& n, Shape whole) {
  const Level level = level_of_component(n.op, whole);
  const auto row = static_cast<int>(n.attribute & 0xFFFF), column = static_cast<int>(n.attribute >> 16);
  const std::int32_t words =
      (level.kind == Kind::matrix ? row * level.n + column : row) * words_of_component(n.op, whole);
  return number_value(n, pack(kScalarShape.with_word(Type::i32)), &words);
}

inline int Statement::add_shift(std::uint64_t shape, int kid, int outer, int inner) {
  return append(Record::of(Op::shift, shape, shift_to(inner).pack(), outer, kid));
}

int Statement::add_shifted(jit::Field* field, std::uint64_t shape, int frame, const jit::SiteMap* map) {
  const int inner = frame_of(frame, map);
  return add_shift(shape, add_field(field, shape, inner), frame, inner);
}

/// The number of a site function's program instead of its own.
std::uint64_t Statement::program_of(const Node& n, int a, int b, int c) const {
  Shape shapes[3];
  std::size_t count = 0;
  for (int k : {a, b, c})
    if (k >= 0) shapes[count++] = records_[static_cast<std::size_t>(k)].shape();
  return site_program_number(n.attribute, n.shape, std::span(shapes, count));
}

[[gnu::always_inline]] inline int Statement::known(const Node& n, int frame) {
  switch (n.op) {
    case Op::field:
      return add_field(n.load.field.get(), pack(n.shape), frame, &n.load.field);
    case Op::value:
      return value_of(n, frame);
    case Op::zero:
      return append(Record::of(Op::zero, pack(n.shape), 0, -1));
    default:
      break;
  }
  if (++visits_ > kSmallTree && n.uses > 1)
    if (const int found = shared_.find({&n, frame}); found >= 0)
      return shared_records_[static_cast<std::size_t>(found)];
  return -1;
}

/// The record of an operation whose operands have theirs; `inner` is their frame.
[[gnu::always_inline]] inline int Statement::finish(const Node& n, int frame, int inner, int a, int b, int c) {
  int record;
  if (n.op == Op::shift)
    record = add_shift(pack(n.shape), a, frame, inner);
  else if (is_component(n.op) && picks_at_run_time(n, frame, a)) [[unlikely]] {
    const int at = component_of(n, records_[static_cast<std::size_t>(a)].shape());
    record = append(is_peek(n.op) ? Record::of(n.op, pack(n.shape), 0, frame, a, at)
                                  : Record::of(n.op, pack(n.shape), 0, frame, a, b, at));
  } else
    record = append(Record::of(n.op, pack(n.shape), n.op == Op::site_function ? program_of(n, a, b, c) : n.attribute,
                               frame, a, b, c));
  if (visits_ > kSmallTree && n.uses > 1) shared_.add({&n, frame}), shared_records_.push_back(record);
  return record;
}

void Statement::walk(const Node& root) { root_ = walk(root, 0, 0); }

int Statement::walk(const Node& n, int frame, int depth) {
  if (const int record = known(n, frame); record >= 0) return record;
  if (depth == kDeepest) return walk_deep(n, frame);
  const int inner = n.op == Op::shift ? frame_of(frame, n.load.map.get(), &n.load.map) : frame;
  const auto operand = [&](int k) { return n.kid[k] ? walk(*n.kid[k], inner, depth + 1) : -1; };
  const int a = operand(0), b = operand(1), c = operand(2);
  return finish(n, frame, inner, a, b, c);
}

/// With a stack of its own: sums may be hundreds of thousands of terms deep.
int Statement::walk_deep(const Node& root, int its_frame) {
  struct Step {
    const Node* node;
    int frame, inner, next;
    std::int32_t operands[3];
  };
  std::vector<Step> stack;
  const auto open = [&](const Node& n, int frame) {
    stack.push_back(
        {&n, frame, n.op == Op::shift ? frame_of(frame, n.load.map.get(), &n.load.map) : frame, 0, {-1, -1, -1}});
  };
  open(root, its_frame);
  for (;;) {
    Step& s = stack.back();
    const Node* deeper = nullptr;
    for (; s.next < 3; ++s.next) {
      const Node* kid = s.node->kid[s.next].get();
      if (kid == nullptr) continue;
      const int record = known(*kid, s.inner);
      if (record < 0) {
        deeper = kid;
        break;
      }
      s.operands[s.next] = record;
    }
    if (deeper) {
      open(*deeper, s.inner);
      continue;
    }
    const int record = finish(*s.node, s.frame, s.inner, s.operands[0], s.operands[1], s.operands[2]);
    stack.pop_back();
    if (stack.empty()) return record;
    stack.back().operands[stack.back().next++] = record;
  }
}

void Statement::copy(const Statement& from, int root, const Asides& asides, const jit::SiteMap* map) {
  Copied done(static_cast<std::size_t>(root));
  copy(from, root, asides, map, done);
}

void Statement::copy_program(const Statement& from, const Asides& asides) {
  const auto record = [&](int item) -> const Record& { return from.records_[static_cast<std::size_t>(item)]; };
  const auto target = [&](const Record& r) { return r.op() == kStore ? number_of(from.fields()[field_of(r)]) : -1; };
  for (const int item : from.items_) (void)target(record(item));  // first, as in a statement
  Copied done(from.records_.size() - 1);
  for (const int item : from.items_) {
    const Record& r = record(item);
    copy(from, r.operand(0), asides, nullptr, done);
    target_ = target(r);
    end(purpose_of(r));
    done[item] = items_.back();
    if (r.op() == kStore && !detail::is_stored(r)) drop_store(items_.back());
  }
}

/// `done`: the numbers here of what has been copied. A record of `from` has one frame there, so it has one number here.
void Statement::copy(const Statement& from, int root, const Asides& asides, const jit::SiteMap* map, Copied& done) {
  struct Open {
    int record, frame;  ///< in `from`; here
    int next = 0;
  };
  const auto record = [&](int i) -> const Record& { return from.records_[static_cast<std::size_t>(i)]; };
  const auto owner = [&](std::size_t field) { return from.keeps_ ? &from.owners_[field] : nullptr; };
  std::vector<Open> open;
  const auto finished = [&](int i, int frame) {
    if (done[i] >= 0) return true;
    const Record& r = record(i);
    int number = -1;
    if (const auto aside = asides.find(i); aside != asides.end())
      number = aside->second.map == nullptr
                   ? add_field(aside->second.field.get(), r.packed_shape(), frame, &aside->second.field)
                   : add_shifted(aside->second.field.get(), r.packed_shape(), frame, aside->second.map);
    else if (r.op() == Op::field)
      number = add_field(from.fields()[field_of(r)], r.packed_shape(), frame, owner(field_of(r)));
    else if (r.op() == Op::zero)
      number = append(r);
    else if (r.op() == Op::value) {
      const std::size_t start = from.value_starts_[r.attribute];
      value_starts_.push_back(scalars_.size());
      for (int c = 0; c < r.shape().components(); ++c)
        scalars_.push_back(from.scalars_[start + static_cast<std::size_t>(c)]);
      Record copy = r;
      copy.attribute = value_starts_.size() - 1;
      number = append(copy);
    }
    done[i] = number;
    return number >= 0;
  };
  const auto inside = [&](int i, int frame) {  // the frame that the operands of a record are read in
    if (record(i).op() != Op::shift) return frame;
    const auto inner = static_cast<std::size_t>(ShiftTo::unpack(record(i).attribute).inner);
    return frame_of(frame, from.maps_[inner], from.keeps_ ? &from.owners_of_maps_[inner] : nullptr);
  };
  const int whole = map != nullptr ? frame_of(0, map) : 0;
  if (!finished(root, whole)) open.push_back({root, inside(root, whole)});
  while (!open.empty()) {
    const int number = open.back().record, frame = open.back().frame;
    const Record& r = record(number);
    int& next = open.back().next;
    while (next < 3 && (r.operand(next) < 0 || finished(r.operand(next), frame))) ++next;
    if (next < 3) {
      open.push_back({r.operand(next), inside(r.operand(next), frame)});
      continue;
    }
    int operands[3];
    for (int k = 0; k < 3; ++k) operands[k] = r.operand(k) < 0 ? -1 : done[r.operand(k)];
    const int made =
        r.op() == Op::shift
            ? add_shift(r.packed_shape(), operands[0], frames_.list()[static_cast<std::size_t>(frame)].first, frame)
            : append(Record::of(r.op(), r.packed_shape(), r.attribute, frame, operands[0], operands[1], operands[2]));
    done[number] = made;
    open.pop_back();
  }
  root_ = map != nullptr ? add_shift(record(root).packed_shape(), done[root], 0, whole) : done[root];
}

jit::TableKey Statement::identify(const Grouping& grouping, const Purpose& purpose) {
  records_.shrink(static_cast<std::size_t>(root_) + 1);
  add_item(purpose, 0);
  return identify(grouping);
}

jit::TableKey Statement::identify(const Grouping& grouping) {
  grouping.put(records_[records_.size() - 1]);
  return {std::as_bytes(records_.span()), hash(records_.span())};
}

bool is_big_object(const Record& r) {
  const Shape s = r.shape();
  return s.spin.kind == Kind::matrix && s.color.kind == Kind::matrix;
}

LevelOf columns_of(std::span<const Record> records, const Record& r) {
  constexpr int kLargestUnrolled = 16;  // colours: a product has 4 n^3 instructions
  if (r.op() != Op::mul) return nullptr;
  const auto both_have_a_matrix = [&](LevelOf level) {
    return std::ranges::all_of(std::array{0, 1}, [&](int k) {
      return (records[static_cast<std::size_t>(r.operand(k))].shape().*level).kind == Kind::matrix;
    });
  };
  if (is_big_object(r) && both_have_a_matrix(&Shape::spin)) return &Shape::spin;
  const Shape s = r.shape();
  if (s.spin.is_scalar() && s.color.n > kLargestUnrolled && both_have_a_matrix(&Shape::color)) return &Shape::color;
  return nullptr;
}

LevelOf columns_of(std::span<const Record> records, Shape dest) {
  const LevelOf level = dest.spin.kind == Kind::matrix ? &Shape::spin : &Shape::color;
  const auto goes_by = [&](const Record& r) { return columns_of(records, r) == level; };
  const bool any = (dest.*level).kind == Kind::matrix && std::any_of(records.begin(), records.end(), goes_by);
  return any ? level : nullptr;
}

// ---- names ----------------------------------------------------------------------------------------------------------

const char* short_name(Shape s) {
  if (s.color.kind == Kind::seed) return "Seed";
  using K = Kind;
  const K sp = s.spin.kind, co = s.color.kind;
  if (sp == K::scalar && co == K::scalar)
    return s.complex ? "Complex" : s.word == Type::b1 ? "Boolean" : is_float(s.word) ? "Real" : "Integer";
  if (sp == K::scalar) return co == K::matrix ? "ColorMatrix" : "ColorVector";
  if (co == K::scalar) return sp == K::matrix ? "SpinMatrix" : "SpinVector";
  if (sp == K::vector) return co == K::vector ? s.spin.n == 2 ? "HalfFermion" : "Fermion" : "ColorMatrixSpinVector";
  return co == K::matrix ? "Propagator" : "ColorVectorSpinMatrix";
}

std::string describe(Shape s) {
  std::string out = short_name(s);
  out += s.word == Type::f32 ? "F" : s.word == Type::f64 ? "D" : "";
  return out;
}

namespace {
void print(std::span<const Record> records, int number, std::string& out) {
  if (out.size() > 400) return;  // which bounds the depth, too
  const Record& r = records[static_cast<std::size_t>(number)];
  if (r.op() == Op::field) {
    out += short_name(r.shape());
    return;
  }
  if (r.op() == Op::value) {
    out += "scalar ", out += short_name(r.shape());
    return;
  }
  if (r.op() == kStore) return print(records, r.operand(0), out);
  out += r.op() == Op::site_function ? site_program(r.attribute).name : name(r.op());
  out += '(';
  for (int i = 0; i < 3; ++i)
    if (r.operand(i) >= 0) {
      if (i) out += ", ";
      print(records, r.operand(i), out);
    }
  out += ')';
}
}  // namespace

std::string describe(std::span<const Record> records, int root) {
  std::string out;
  print(records, root, out);
  return out;
}

}  // namespace QDP::detail
