#include "qdp/expr/statement.hpp"

#include <algorithm>
#include <cstring>

#include "jit/memory/field.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/site_function.hpp"

namespace QDP::detail {

namespace {

constexpr Op kHead = static_cast<Op>(255);

std::uint64_t type_of(Op op, std::uint64_t shape) { return static_cast<std::uint64_t>(op) << 56 | shape; }
std::uint64_t type_of(Op op, Shape shape) { return type_of(op, pack(shape)); }

/// Folds the full 128-bit product: every input bit reaches every output bit.
std::uint64_t fold(std::uint64_t x, std::uint64_t y) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(x) * y;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}
std::uint64_t hash(const Record& r) {
  std::uint64_t w[4];
  std::memcpy(w, &r, sizeof r);
  return fold(w[0] ^ 0x243F6A8885A308D3ull, w[1] ^ 0x13198A2E03707344ull) ^ fold(w[2] ^ 0xA4093822299F31D1ull, w[3] ^ 0x082EFA98EC4E6C89ull);
}

constexpr int kSmallTree = 64;  // nodes; beyond, those with several users are walked once

}  // namespace

Record Purpose::record() const {
  return {.operand = {lanes, first, count}, .frame = reduction, .type = type_of(kHead, dest), .attribute = listed};
}
Purpose Purpose::of(const Record& head) {
  return {.dest = head.shape(), .lanes = head.operand[0], .listed = head.attribute != 0, .reduction = head.frame,
          .first = head.operand[1], .count = head.operand[2]};
}

void Statement::clear(jit::Field* target) {
  fields_.clear(), frames_.clear(), value_nodes_.clear();
  frames_.add({-1, nullptr});
  maps_.assign(1, nullptr), gathered_.assign(1, false);
  scalars_.clear(), value_starts_.clear();
  records_.assign(1, Record{});
  hash_ = 0;
  if (index_.empty() || ++stamp_ == 0) index_.assign(256, Slot{}), stamp_ = 1;
  target_read_ = target_elsewhere_ = false;
  visits_ = 0;
  if (!walked_.empty()) walked_.clear();
  has_target_ = target != nullptr;
  if (target) fields_.add(target);
}

int Statement::intern(const Record& r) {
  const std::uint64_t h = hash(r);
  const std::size_t mask = index_.size() - 1;
  std::size_t i = h & mask;
  for (; index_[i].stamp == stamp_; i = (i + 1) & mask)
    if (records_[static_cast<std::size_t>(index_[i].record)] == r) return index_[i].record;
  const auto number = static_cast<std::int32_t>(records_.size());
  index_[i] = {stamp_, number};
  records_.push_back(r);
  hash_ = fold(hash_ ^ h, 0x9E3779B97F4A7C15ull);
  if (2 * records_.size() > index_.size()) grow_index();
  return number;
}

void Statement::grow_index() {
  index_.assign(4 * index_.size(), Slot{});
  stamp_ = 1;
  const std::size_t mask = index_.size() - 1;
  for (std::size_t n = 1; n < records_.size(); ++n) {
    std::size_t i = hash(records_[n]) & mask;
    while (index_[i].stamp == stamp_) i = (i + 1) & mask;
    index_[i] = {stamp_, static_cast<std::int32_t>(n)};
  }
}

int Statement::frame_of(int parent, const jit::SiteMap* map) {
  if (const int known = frames_.find({parent, map}); known >= 0) return known;
  gathered_.push_back(gathered_[static_cast<std::size_t>(parent)] || !map->structured());
  maps_.push_back(map);
  return frames_.add({parent, map});
}

ShiftTo Statement::shift_to(int inner) const {
  const auto i = static_cast<std::size_t>(inner);
  return {inner, gathered_[i] ? 0 : maps_[i]->lane_xor, gathered_[i]};
}

int Statement::add_field(jit::Field* field, std::uint64_t shape, int frame) {
  int number = fields_.find(field);
  if (number < 0) number = fields_.add(field);
  if (number == 0 && has_target_) (frame == 0 ? target_read_ : target_elsewhere_) = true;
  return intern({.frame = frame, .type = type_of(Op::field, shape), .attribute = static_cast<std::uint64_t>(number)});
}

int Statement::add_value(std::uint64_t shape, const void* components) {
  const Shape s = unpack(shape);
  const auto number = value_starts_.size();
  value_starts_.push_back(scalars_.size());
  const auto* from = static_cast<const std::byte*>(components);
  const auto size = static_cast<std::size_t>(jit::ir::bytes(s.word));
  for (int i = 0; i < s.components(); ++i, from += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, size);
    scalars_.push_back(bits);
  }
  return intern({.type = type_of(Op::value, shape), .attribute = number});
}

int Statement::value_of(const Node& n) {
  if (const int known = value_nodes_.find(&n); known >= 0)
    return intern({.type = type_of(Op::value, n.shape), .attribute = static_cast<std::uint64_t>(known)});
  value_nodes_.add(&n);
  return add_value(pack(n.shape), n.host);
}

int Statement::add_shift(std::uint64_t shape, int kid, int outer, int inner) {
  return intern({.operand = {kid, -1, -1}, .frame = outer, .type = type_of(Op::shift, shape), .attribute = shift_to(inner).pack()});
}

int Statement::add_operation(Op op, Shape shape, std::uint64_t attribute, const std::int32_t* operands) {
  Record r{.operand = {operands[0], operands[1], operands[2]}, .type = type_of(op, shape), .attribute = attribute};
  for (int k : r.operand)
    if (k >= 0) r.frame = std::max(r.frame, records_[static_cast<std::size_t>(k)].frame);
  if (op == Op::site_function) {
    Shape shapes[3];
    int n = 0;
    for (int k : r.operand)
      if (k >= 0) shapes[n++] = records_[static_cast<std::size_t>(k)].shape();
    r.attribute = site_program_number(attribute, shape, std::span(shapes, static_cast<std::size_t>(n)));
  }
  return intern(r);
}

int Statement::known(const Node& n, int frame) {
  switch (n.op) {
    case Op::field: return add_field(n.field.get(), pack(n.shape), frame);
    case Op::value: return value_of(n);
    case Op::zero: return intern({.type = type_of(Op::zero, n.shape)});
    default: break;
  }
  if (n.uses > 1 && visits_ > kSmallTree)
    if (const auto found = walked_.find({&n, frame}); found != walked_.end()) return found->second;
  return -1;
}

void Statement::walk(const Node& root) {
  if (known(root, 0) >= 0) return;
  // An explicit stack: sums may be hundreds of thousands of terms deep.
  stack_.assign(1, Step{&root, 0});
  if (root.op == Op::shift) stack_.back().frame = frame_of(0, root.map.get());
  while (!stack_.empty()) {
    Step& s = stack_.back();
    const Node& n = *s.node;
    const Node* deeper = nullptr;
    for (; s.next < 3; ++s.next) {
      const Node* kid = n.kid[s.next].get();
      if (kid == nullptr) continue;
      const int record = known(*kid, s.frame);
      if (record < 0) { deeper = kid; break; }
      s.done[s.next] = record;
    }
    if (deeper) {
      ++visits_;
      stack_.push_back({deeper, deeper->op == Op::shift ? frame_of(s.frame, deeper->map.get()) : s.frame});
      continue;
    }
    int record, outer = s.frame;  // a shift's step is in the frame of its operand
    if (n.op == Op::shift) {
      outer = frames_.list()[static_cast<std::size_t>(s.frame)].first;
      record = add_shift(pack(n.shape), s.done[0], outer, s.frame);
    } else {
      record = add_operation(n.op, n.shape, n.attribute, s.done);
    }
    if (n.uses > 1 && visits_ > kSmallTree) walked_.emplace(std::pair(&n, outer), record);
    stack_.pop_back();
    if (!stack_.empty()) stack_.back().done[stack_.back().next++] = record;
  }
}

void Statement::copy(const Statement& from, int root, const Asides& asides) {
  struct Open {
    int record, frame;  ///< in `from`; here
    int next = 0;
  };
  // A record of `from` has one frame there, so it has one number here.
  std::unordered_map<int, int> done;
  const auto record = [&](int i) -> const Record& { return from.records_[static_cast<std::size_t>(i)]; };
  std::vector<Open> open;
  const auto finished = [&](int i, int frame) {
    if (done.contains(i)) return true;
    const Record& r = record(i);
    int number = -1;
    if (const auto aside = asides.find(i); aside != asides.end()) number = add_field(aside->second.get(), r.type & ~(255ull << 56), frame);
    else if (r.op() == Op::field) number = add_field(from.fields()[r.attribute], r.type & ~(255ull << 56), frame);
    else if (r.op() == Op::zero) number = intern(r);
    else if (r.op() == Op::value) {
      const std::size_t start = from.value_starts_[r.attribute];
      value_starts_.push_back(scalars_.size());
      for (int c = 0; c < r.shape().components(); ++c) scalars_.push_back(from.scalars_[start + static_cast<std::size_t>(c)]);
      Record copy = r;
      copy.attribute = value_starts_.size() - 1;
      number = intern(copy);
    }
    if (number >= 0) done.emplace(i, number);
    return number >= 0;
  };
  const auto inside = [&](int i, int frame) {  // the frame that the operands of a record are read in
    return record(i).op() == Op::shift ? frame_of(frame, from.maps_[static_cast<std::size_t>(ShiftTo::unpack(record(i).attribute).inner)]) : frame;
  };
  if (!finished(root, 0)) open.push_back({root, inside(root, 0)});
  while (!open.empty()) {
    const int number = open.back().record, frame = open.back().frame;
    const Record& r = record(number);
    int& next = open.back().next;
    while (next < 3 && (r.operand[next] < 0 || finished(r.operand[next], frame))) ++next;
    if (next < 3) {
      open.push_back({r.operand[next], inside(r.operand[next], frame)});
      continue;
    }
    std::int32_t operands[3];
    for (int k = 0; k < 3; ++k) operands[k] = r.operand[k] < 0 ? -1 : done.at(r.operand[k]);
    int made;
    if (r.op() == Op::shift) {
      made = add_shift(r.type & ~(255ull << 56), operands[0], frames_.list()[static_cast<std::size_t>(frame)].first, frame);
    } else {
      Record copy = r;
      copy.frame = -1;
      for (int k = 0; k < 3; ++k) {
        copy.operand[k] = operands[k];
        if (operands[k] >= 0) copy.frame = std::max(copy.frame, records_[static_cast<std::size_t>(operands[k])].frame);
      }
      made = intern(copy);
    }
    done.emplace(number, made);
    open.pop_back();
  }
}

jit::TableKey Statement::identify(const Purpose& purpose) {
  records_[0] = purpose.record();
  return {std::as_bytes(std::span(records_)), fold(hash_ ^ hash(records_[0]), 0xD6E8FEB86659FD93ull)};
}

bool is_big_object(const Record& r) {
  const Shape s = r.shape();
  return s.spin.kind == Kind::matrix && s.color.kind == Kind::matrix;
}

bool is_big_product(std::span<const Record> records, const Record& r) {
  const auto has_spin_matrix = [&](int i) { return records[static_cast<std::size_t>(i)].shape().spin.kind == Kind::matrix; };
  return r.op() == Op::mul && is_big_object(r) && has_spin_matrix(r.operand[0]) && has_spin_matrix(r.operand[1]);
}

bool any_big_product(std::span<const Record> records) {
  return std::any_of(records.begin() + 1, records.end(), [&](const Record& r) { return is_big_product(records, r); });
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
  if (r.op() == Op::field) { out += short_name(r.shape()); return; }
  if (r.op() == Op::value) { out += "scalar ", out += short_name(r.shape()); return; }
  out += r.op() == Op::site_function ? site_program(r.attribute).name : name(r.op());
  out += '(';
  for (int i = 0; i < 3; ++i)
    if (r.operand[i] >= 0) {
      if (i) out += ", ";
      print(records, r.operand[i], out);
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
