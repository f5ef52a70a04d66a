#include "qdp/expr/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "jit/ir/reroll.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "qdp/expr/divide.hpp"
#include "qdp/expr/lower.hpp"
#include "qdp/layout/layout.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

// ---- binding: the leaves of a tree in order of appearance, and the statement's structural key -----------------------

struct Frame {
  std::int16_t parent;
  bool gathered;
  const jit::SiteMap* map;
};

/// What one statement refers to. Two statements with equal keys have equal kernels.
struct Binding {
  std::vector<jit::Field*> fields;
  std::vector<Frame> frames;
  std::vector<const Node*> values;
  std::vector<const jit::SiteMap*> maps;
  std::vector<std::uint64_t> scalars;
  std::uint64_t a = 0, b = 0;
  // Of an assignment, whose destination is leaf 0:
  bool target_read = false;       ///< the right-hand side reads it, at whatever site
  bool target_elsewhere = false;  ///< at other sites
  bool big_product = false;       ///< has a product of matrices in both spin and colour: unrolled, thousands of instructions
  bool big_object = false;        ///< has such matrices: may be rolled
  // Sub-expressions held in variables may occur often: beyond kSmallTree nodes each is walked once.
  static constexpr int kSmallTree = 200;
  int visits = 0;
  std::map<std::pair<const Node*, int>, std::uint64_t> walked;

  void clear() {
    fields.clear(), values.clear(), scalars.clear();
    target_read = target_elsewhere = big_product = big_object = false;
    visits = 0;
    if (!walked.empty()) walked.clear();
    frames.assign(1, Frame{-1, false, nullptr});
    a = 0x243F6A8885A308D3ull, b = 0x13198A2E03707344ull;
  }
  void mix(std::uint64_t x) {
    a = (a ^ x) * 0x9E3779B97F4A7C15ull;
    a ^= a >> 32;
    b = (b + x) * 0xD6E8FEB86659FD93ull;
    b ^= b >> 29;
  }
  jit::Hash128 key() const { return {a, b}; }

  int leaf(jit::Field* f) {
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (fields[i] == f) return static_cast<int>(i);
    fields.push_back(f);
    return static_cast<int>(fields.size()) - 1;
  }
  int frame(int parent, const jit::SiteMap* map) {
    for (std::size_t i = 1; i < frames.size(); ++i)
      if (frames[i].parent == parent && frames[i].map == map) return static_cast<int>(i);
    const bool gathered = frames[static_cast<std::size_t>(parent)].gathered || !map->structured();
    frames.push_back({static_cast<std::int16_t>(parent), gathered, map});
    return static_cast<int>(frames.size()) - 1;
  }
  int value(const Node* n) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i] == n) return static_cast<int>(i);
    return -1;
  }
};

std::uint64_t pack(Shape s) { return std::bit_cast<std::uint64_t>(std::array<std::uint8_t, 8>{
    static_cast<std::uint8_t>(s.spin.kind), s.spin.n, static_cast<std::uint8_t>(s.color.kind), s.color.n, s.complex,
    static_cast<std::uint8_t>(s.word), s.depth, 0}); }

void append_words(std::vector<std::uint64_t>& out, const void* components, Shape shape) {
  const auto* from = static_cast<const std::byte*>(components);
  const auto size = static_cast<std::size_t>(ir::bytes(shape.word));
  for (int i = 0; i < shape.components(); ++i, from += size) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, from, size);
    out.push_back(bits);
  }
}

bool matrix_in_both(Shape s) { return s.spin.kind == Kind::matrix && s.color.kind == Kind::matrix; }

void bind(Binding& to, const Node& n, int frame) {
  to.big_object |= matrix_in_both(n.shape);
  if (++to.visits > Binding::kSmallTree && n.uses > 1) {
    const auto [known, fresh] = to.walked.try_emplace({&n, frame}, to.walked.size());
    if (!fresh) return to.mix(0x7777ull << 32 | known->second);
  }
  switch (n.op) {
    case Op::field: {
      const int i = to.leaf(n.field.get());
      if (i == 0) (frame == 0 ? to.target_read : to.target_elsewhere) = true;
      to.mix(pack(n.shape));
      to.mix(static_cast<std::uint64_t>(i) << 32 | static_cast<std::uint64_t>(frame));
      break;
    }
    case Op::value: {
      int i = n.uses > 1 ? to.value(&n) : -1;
      if (i < 0) i = static_cast<int>(to.values.size()), to.values.push_back(&n), append_words(to.scalars, n.host, n.shape);
      to.mix(pack(n.shape) ^ 0x5555ull << 32);
      to.mix(static_cast<std::uint64_t>(i));
      break;
    }
    case Op::shift: {
      const int inner = to.frame(frame, n.map.get());
      const Frame& f = to.frames[static_cast<std::size_t>(inner)];
      to.mix(0xABCDull << 32 | static_cast<std::uint64_t>(inner) << 16 | static_cast<std::uint64_t>(f.gathered) << 15 |
             static_cast<std::uint64_t>(f.gathered ? 0 : n.map->lane_xor));
      bind(to, *n.kid[0], inner);
      break;
    }
    default:
      if (n.op == Op::mul && matrix_in_both(n.shape) && n.kid[0]->shape.spin.kind == Kind::matrix && n.kid[1]->shape.spin.kind == Kind::matrix)
        to.big_product = true;
      to.mix(pack(n.shape) ^ static_cast<std::uint64_t>(n.op) << 56 ^ n.attribute << 8);
      to.mix(n.attribute);
      for (const Expr& k : n.kid)
        if (k) bind(to, *k, frame);
  }
}

// ---- lowering of a whole statement -----------------------------------------------------------------------------------

class Lowering {
 public:
  Lowering(ir::Kernel& kernel, const Binding& binding) : bound_(binding), builder_(kernel), algebra_(builder_) {
    for (const jit::Field* f : binding.fields)
      kernel.leaves.push_back({f->word(), static_cast<std::int16_t>(f->components())});
    for (std::size_t i = 1; i < binding.frames.size(); ++i) {
      const Frame& f = binding.frames[i];
      kernel.slots.push_back({f.parent, f.gathered, static_cast<std::int16_t>(f.gathered ? 0 : f.map->lane_xor)});
    }
    for (const Node* n : binding.values) {
      Tensor t(n->shape);
      for (Value& v : t.v) v = builder_.argument(n->shape.word);
      arguments_.push_back(std::move(t));
    }
  }
  ir::Builder& builder() { return builder_; }
  Algebra& algebra() { return algebra_; }
  /// What was lowered at the site itself.
  std::vector<Part> parts() const {
    std::vector<Part> list;
    for (const auto& [where, value] : done_)
      if (where.second == 0) list.push_back({where.first, &value});
    return list;
  }

  const Tensor& lower(const Node& n, int frame) {
    if (n.op == Op::value) return arguments_[static_cast<std::size_t>(bound_.value(&n))];
    auto [it, fresh] = done_.try_emplace({&n, frame});
    if (fresh) {
      Tensor t = compute(n, frame);
      it = done_.find({&n, frame});
      it->second = std::move(t);
    }
    return it->second;
  }

  /// Spin column `trip` of a value with a spin matrix, as a spin vector whose loads stride over the columns; nothing if
  /// some operation of the tree mixes columns. Products associate to the right: a*b*c costs matrix times vector twice.
  std::optional<Tensor> column(const Node& n, int frame) {
    if (n.shape.spin.kind != Kind::matrix) return std::nullopt;
    const Shape col = n.shape.with_levels({Kind::vector, n.shape.spin.n}, n.shape.color);
    switch (n.op) {
      case Op::field: {
        Tensor t(col);
        const int inner = n.shape.color.size() * n.shape.reals();  // words of one spin component
        for (int s = 0; s < n.shape.spin.n; ++s)
          for (int c = 0; c < inner; ++c)
            t.v[static_cast<std::size_t>(s * inner + c)] = builder_.load(
                {static_cast<std::int16_t>(leaf_of(n.field.get())), static_cast<std::int16_t>(frame),
                 static_cast<std::int16_t>(s * n.shape.spin.n * inner + c), static_cast<std::int16_t>(inner)});
        return t;
      }
      case Op::shift: {
        const int inner = inner_frame(frame, n.map.get());
        auto t = column(*n.kid[0], inner);
        if (t) carry_back(*t, inner);
        return t;
      }
      case Op::mul: {
        if (n.kid[1]->shape.spin.kind == Kind::matrix) {
          auto t = column(*n.kid[1], frame);
          if (t) t = times(*n.kid[0], frame, std::move(*t));
          return t;
        }
        if (!n.kid[1]->shape.spin.is_scalar()) return std::nullopt;
        auto t = column(*n.kid[0], frame);
        if (!t) return t;
        const Tensor both[] = {std::move(*t), lower(*n.kid[1], frame)};
        return algebra_.apply(n.op, col, n.attribute, both);
      }
      case Op::add: case Op::sub: case Op::neg: case Op::plus: case Op::conj: case Op::times_i: case Op::times_minus_i: case Op::convert:
      case Op::div: case Op::gamma_left: case Op::chiral_project: case Op::transpose_color: case Op::where: {
        std::vector<Tensor> operands;
        for (int i = 0; i < 3; ++i) {
          if (!n.kid[i]) continue;
          const bool whole = (n.op == Op::where && i == 0) || (n.op == Op::div && i == 1);  // scalars, the same for all columns
          if (whole) { operands.push_back(lower(*n.kid[i], frame)); continue; }
          auto t = column(*n.kid[i], frame);
          if (!t) return t;
          operands.push_back(std::move(*t));
        }
        return algebra_.apply(n.op, col, n.attribute, operands);
      }
      default: return std::nullopt;
    }
  }

 private:
  /// From a shift's frame to the frame it is seen in.
  void carry_back(Tensor& t, int inner) {
    for (Value& v : t.v)
      if (v != kZero) v = builder_.permute(inner, v);
  }
  Tensor times(const Node& a, int frame, Tensor vector) {
    if (a.op == Op::mul && a.kid[0]->shape.spin.kind == Kind::matrix && a.kid[1]->shape.spin.kind == Kind::matrix)
      return times(*a.kid[0], frame, times(*a.kid[1], frame, std::move(vector)));
    const Tensor both[] = {lower(a, frame), std::move(vector)};
    return algebra_.apply(Op::mul, result_shape(Op::mul, both[0].shape, both[1].shape), 0, both);
  }
  Tensor compute(const Node& n, int frame) {
    switch (n.op) {
      case Op::field: {
        Tensor t(n.shape);
        const int leaf = leaf_of(n.field.get());
        for (std::size_t c = 0; c < t.v.size(); ++c)
          t.v[c] = builder_.load({static_cast<std::int16_t>(leaf), static_cast<std::int16_t>(frame), static_cast<std::int16_t>(c), 0});
        return t;
      }
      case Op::shift: {
        const int inner = inner_frame(frame, n.map.get());
        Tensor t = lower(*n.kid[0], inner);
        carry_back(t, inner);
        return t;
      }
      default: {
        std::vector<Tensor> operands;
        for (const Expr& k : n.kid)
          if (k) operands.push_back(lower(*k, frame));
        return algebra_.apply(n.op, n.shape, n.attribute, operands);
      }
    }
  }
  int leaf_of(const jit::Field* f) const {
    for (std::size_t i = 0; i < bound_.fields.size(); ++i)
      if (bound_.fields[i] == f) return static_cast<int>(i);
    throw jit::InternalError("lowering: a field of the statement was not bound");
  }
  int inner_frame(int parent, const jit::SiteMap* map) const {
    for (std::size_t i = 1; i < bound_.frames.size(); ++i)
      if (bound_.frames[i].parent == parent && bound_.frames[i].map == map) return static_cast<int>(i);
    throw jit::InternalError("lowering: a shift of the statement was not bound");
  }

  const Binding& bound_;
  ir::Builder builder_;
  Algebra algebra_;
  std::vector<Tensor> arguments_;
  std::map<std::pair<const Node*, int>, Tensor> done_;
};

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

void print_node(const Node& n, std::string& out) {
  if (out.size() > 400) return;
  if (n.op == Op::field) { out += short_name(n.shape); return; }
  if (n.op == Op::value) { out += "scalar "; out += short_name(n.shape); return; }
  out += n.op == Op::site_function ? site_function_entry(n.attribute).name : name(n.op);
  out += '(';
  for (int i = 0; i < 3; ++i)
    if (n.kid[i]) {
      if (i) out += ", ";
      print_node(*n.kid[i], out);
    }
  out += ')';
}

/// File-name friendly and short: letters, digits, '_'.
std::string kernel_name(const std::string& head, const Node& rhs) {
  std::string text = head + "_" + describe(rhs), out;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) out += c;
    else if (!out.empty() && out.back() != '_') out += '_';
    if (out.size() >= 64) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

void check_orders(const Binding& bound) {
  const jit::SiteOrder* order = site_order().get();
  for (const jit::Field* f : bound.fields)
    if (&f->order() != order)
      throw jit::UserError("statement: an operand was made on another layout (expected the present lattice, got a field of " +
                           std::to_string(f->order().sites) + " sites). Fields do not survive a second Layout::create: make them anew.");
}

Binding& scratch() {
  static Binding binding;
  return binding;
}

/// Statements that are evaluated in two steps: the part that is computed aside, by the statement's key.
std::unordered_map<jit::Hash128, TreePath>& divisions() {
  static std::unordered_map<jit::Hash128, TreePath> known;
  return known;
}

/// The statement with a part computed aside.
Expr with_part_aside(const Expr& rhs, const TreePath& path, const jit::Domain& domain) {
  const Expr part = at(rhs, path);
  const Shape shape = part->shape;
  const auto aside = new_field(shape);
  assign(aside, shape, domain, part);
  return replace(rhs, *part, make_field(aside, shape));
}

/// Finishes a kernel whose stores and sums are known, and rolls it if it is large. If it is too large even so: the part
/// of the statement to compute aside, if one helps.
const Node* finish(ir::Kernel& kernel, Lowering& low, const Binding& bound) {
  const std::size_t large = bound.big_object ? kWantedNodes : kLargeWithoutBigObjects;
  ir::Kernel whole;
  if (kernel.nodes.size() > large) whole = kernel;
  low.builder().finish();
  if (kernel.nodes.size() <= large) return nullptr;
  ir::reroll(kernel, kWantedNodes);
  if (kernel.nodes.size() <= kLargestKernel) return nullptr;
  return part_to_compute_aside(whole, low.parts(), kernel.nodes.size());
}

void launch(Binding& bound, jit::KernelHandle* kernel, const jit::Domain& domain, double* results) {
  bound.maps.clear();
  for (const Frame& f : bound.frames) bound.maps.push_back(f.map);
  jit::Launch l;
  l.kernel = kernel;
  l.fields = bound.fields;
  l.maps = bound.maps;
  l.scalars = bound.scalars;
  l.domain = &domain;
  l.results = results;
  jit::Runtime::instance().launch(l);
}

}  // namespace

std::shared_ptr<jit::Field> new_field(Shape shape) {
  return std::make_shared<jit::Field>(site_order(), shape.word, shape.components());
}

void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const jit::Domain& domain, Expr rhs) {
  const jit::RuntimeLock lock;
  rhs = make_convert(std::move(rhs), shape);
  Binding& bound = scratch();
  bound.clear();
  const int target = bound.leaf(dest.get());
  bind(bound, *rhs, 0);
  check_orders(bound);

  // A destination that is read at other sites, or while its columns are being stored, is computed aside first.
  const bool by_columns = shape.spin.kind == Kind::matrix && bound.big_product;
  const bool aside_first = bound.target_elsewhere || (by_columns && bound.target_read);
  if (aside_first) {
    auto aside = std::make_shared<jit::Field>(dest->order_ptr(), dest->word(), dest->components());
    assign(aside, shape, domain, std::move(rhs));
    if (domain.whole) dest->swap(*aside);
    else assign(dest, shape, domain, make_field(aside, shape));
    return;
  }

  jit::Runtime& rt = jit::Runtime::instance();
  bound.mix(pack(shape) ^ static_cast<std::uint64_t>(domain.listed) << 57);
  bound.mix(static_cast<std::uint64_t>(dest->order().lanes));
  const jit::Hash128 key = bound.key();
  jit::KernelHandle* kernel = rt.find(key);
  if (!kernel) {
    if (const auto known = divisions().find(key); known != divisions().end())
      return assign(dest, shape, domain, with_part_aside(rhs, known->second, domain));
    ir::Kernel k;
    k.name = kernel_name(short_name(shape), *rhs);
    k.lanes = dest->order().lanes;
    k.listed = domain.listed;
    Lowering low(k, bound);
    std::optional<Tensor> columns;
    if (by_columns) columns = low.column(*rhs, 0);
    const Tensor value = columns ? std::move(*columns) : low.lower(*rhs, 0);
    const int inner = shape.color.size() * shape.reals();
    if (columns) k.trips = shape.spin.n;
    std::size_t stored = 0;
    for (std::size_t c = 0; c < value.v.size(); ++c) {
      ir::Store s;
      const int i = static_cast<int>(c);
      s.place = {static_cast<std::int16_t>(target), 0, static_cast<std::int16_t>(columns ? i / inner * shape.spin.n * inner + i % inner : i),
                 static_cast<std::int16_t>(columns ? inner : 0)};
      s.value = low.algebra().word(value.v[c], shape.word);
      const ir::Node& n = k.nodes[static_cast<std::size_t>(s.value)];
      if (n.op == ir::Op::load && n.place == s.place) continue;  // unchanged
      k.stores.push_back(s), ++stored;
    }
    k.leaves[static_cast<std::size_t>(target)].written = true;
    if (const Node* part = finish(k, low, bound)) {
      divisions().emplace(key, path_to(*rhs, *part));
      return assign(dest, shape, domain, std::move(rhs));
    }
    if (stored < value.v.size()) k.leaves[static_cast<std::size_t>(target)].read = true;  // the other components must survive
    kernel = rt.add(key, std::move(k));
  }
  launch(bound, kernel, domain, nullptr);
}

namespace {

/// Sums in one kernel: those of a spinor. Each keeps seven registers of a GPU's thread, which has 255, and more make a
/// kernel slow to compile.
constexpr int kReductionsPerKernel = 24;

/// `count` components of rhs, from `first` on.
void reduce_components(const Expr& rhs, const jit::Domain& domain, Reduce kind, int first, int count, double* results) {
  Binding& bound = scratch();
  bound.clear();
  bind(bound, *rhs, 0);
  check_orders(bound);
  jit::Runtime& rt = jit::Runtime::instance();
  const int lanes = site_order()->lanes;
  bound.mix(0xF00Dull << 32 | static_cast<std::uint64_t>(kind) << 8 | static_cast<std::uint64_t>(domain.listed));
  bound.mix(static_cast<std::uint64_t>(lanes) << 32 | static_cast<std::uint64_t>(first));
  const jit::Hash128 key = bound.key();
  jit::KernelHandle* kernel = rt.find(key);
  if (!kernel) {
    if (const auto known = divisions().find(key); known != divisions().end())
      return reduce_components(with_part_aside(rhs, known->second, domain), domain, kind, first, count, results);
    static const char* const heads[] = {"sum", "max", "min"};
    ir::Kernel k;
    k.name = kernel_name(heads[static_cast<int>(kind)], *rhs);
    k.lanes = lanes;
    k.listed = domain.listed;
    Lowering low(k, bound);
    const Tensor value = low.lower(*rhs, 0);
    for (int c = first; c < first + count; ++c)
      k.reductions.push_back({static_cast<ir::Reduction::Kind>(kind), low.algebra().word(value.v[static_cast<std::size_t>(c)], Type::f64)});
    if (const Node* part = finish(k, low, bound)) {
      divisions().emplace(key, path_to(*rhs, *part));
      return reduce_components(rhs, domain, kind, first, count, results);
    }
    kernel = rt.add(key, std::move(k));
  }
  launch(bound, kernel, domain, results);
}

}  // namespace

void reduce(Expr rhs, const jit::Domain& domain, Reduce kind, double* results) {
  const jit::RuntimeLock lock;
  const Shape shape = rhs->shape;
  const int components = shape.components();
  if (components > kReductionsPerKernel && rhs->op != Op::field) {  // computed once, then summed in parts
    const auto aside = new_field(shape);
    assign(aside, shape, domain, std::move(rhs));
    rhs = make_field(aside, shape);
  }
  for (int first = 0; first < components; first += kReductionsPerKernel)
    reduce_components(rhs, domain, kind, first, std::min(kReductionsPerKernel, components - first), results + first);
}

namespace {
/// One operation on host values: leaf 0 is the result, leaves 1.. the operands.
ir::Kernel host_program(Op op, Shape result, std::uint64_t attribute, std::span<const HostOperand> operands) {
  ir::Kernel k;
  k.lanes = 1;
  k.leaves.push_back({result.word, static_cast<std::int16_t>(result.components())});
  ir::Builder builder(k);
  Algebra algebra(builder);
  std::vector<Tensor> x;
  for (const HostOperand& o : operands) {
    if (!o.components) continue;
    const auto leaf = static_cast<std::int16_t>(k.leaves.size());
    k.leaves.push_back({o.shape.word, static_cast<std::int16_t>(o.shape.components())});
    Tensor t(o.shape);
    for (std::size_t i = 0; i < t.v.size(); ++i) t.v[i] = builder.load({leaf, 0, static_cast<std::int16_t>(i), 0});
    x.push_back(std::move(t));
  }
  const Tensor value = algebra.apply(op, result, attribute, x);
  for (std::size_t i = 0; i < value.v.size(); ++i)
    k.stores.push_back({{0, 0, static_cast<std::int16_t>(i), 0}, algebra.word(value.v[i], result.word)});
  builder.finish();
  k.leaves[0].written = true;
  return k;
}
}  // namespace

void host_apply(Op op, Shape result, std::uint64_t attribute, void* out, HostOperand a, HostOperand b, HostOperand c) {
  struct Key {
    std::uint64_t op, attribute, shapes[4];
    auto operator<=>(const Key&) const = default;
  };
  static std::map<Key, ir::Kernel> programs;
  static std::mutex guard;  // host loops over sites may run in the user's threads
  const HostOperand operands[3] = {a, b, c};
  Key key{static_cast<std::uint64_t>(op), attribute, {pack(result), 0, 0, 0}};
  for (int i = 0; i < 3; ++i)
    if (operands[i].components) key.shapes[i + 1] = pack(operands[i].shape) | 1ull << 63;
  const ir::Kernel* program = nullptr;
  {
    std::lock_guard lock(guard);
    auto it = programs.find(key);
    if (it == programs.end()) it = programs.emplace(key, host_program(op, result, attribute, operands)).first;  // a site function may throw
    program = &it->second;
  }
  void* fields[4] = {out};
  int n = 1;
  for (const HostOperand& o : operands)
    if (o.components) fields[n++] = const_cast<void*>(o.components);
  ir::interpret(*program, fields, nullptr);
}

std::string describe(const Node& node) {
  std::string out;
  print_node(node, out);
  return out;
}

std::string describe(Shape s) {
  std::string out = short_name(s);
  out += s.word == Type::f32 ? "F" : s.word == Type::f64 ? "D" : "";
  return out;
}

void throw_range(const char* what, int got, int limit, const char* where) {
  throw jit::UserError(std::string(where) + ": " + what + " out of range: expected 0.." + std::to_string(limit - 1) + ", got " + std::to_string(got));
}

}  // namespace QDP::detail
