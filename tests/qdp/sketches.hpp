// Statements that tests can change a little: pairs of statements that are nearly the same, and what each must give.
//
// A sketch is a small tree over real numbers, complex numbers and colour matrices, with shifts, scalars, comparisons and
// shared parts. It becomes an expression of the language, and by plain loops its value at any site. Operands are small
// integers, so that every result is exact and may be compared without a tolerance.
#pragma once

#include "places.hpp"

#include "jit/memory/field.hpp"
#include "jit/runtime.hpp"
#include "qdp/expr/inspect.hpp"
#include "qdp/layout/layout.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

namespace tests {

using QDP::detail::Expr;
using QDP::detail::Op;

inline int any(int n) { return reference::random_integer(n); }

enum class Kind { real, complex, matrix };

struct Sketch;
using SketchPtr = std::shared_ptr<Sketch>;
/// A node; shared parts are one node.
struct Sketch {
  Kind kind = Kind::real;
  Op op{};         ///< field, value, shift, or an operation
  int number = 0;  ///< of the field; the scalar's value; 2 mu + (backward) of a shift
  std::vector<SketchPtr> kids;
};

inline SketchPtr node(Kind kind, Op op, std::vector<SketchPtr> kids, int number = 0) {
  return std::make_shared<Sketch>(Sketch{kind, op, number, std::move(kids)});
}

// ---- making and changing them ---------------------------------------------------------------------------------------

constexpr int kFieldsOfAKind = 4;

inline SketchPtr random_leaf(Kind kind) {
  if (kind != Kind::matrix && any(6) == 0) return node(kind, Op::value, {}, 1 + any(3));
  return node(kind, Op::field, {}, any(kFieldsOfAKind));
}

inline SketchPtr random_sketch(Kind kind, int operations) {
  if (operations == 0) return random_leaf(kind);
  const int left = any(operations), right = operations - 1 - left;
  const auto of = [&](Kind k, int n) { return random_sketch(k, n); };
  const auto two = [&](Op op) {
    const SketchPtr a = of(kind, left);
    // now and then the same part twice
    return node(kind, op, {a, left == right && any(4) == 0 ? a : of(kind, right)});
  };
  switch (any(9)) {
    case 0:
    case 1:
      return two(Op::add);
    case 2:
      return two(Op::sub);
    case 3:
    case 4:
      return two(Op::mul);
    case 5:
      return node(kind, Op::shift, {of(kind, operations - 1)}, any(4));
    case 6:
      return node(kind, Op::neg, {of(kind, operations - 1)});
    default:
      break;
  }
  switch (kind) {
    case Kind::real:
      switch (any(3)) {
        case 0:
          return node(kind, Op::real, {of(Kind::complex, operations - 1)});
        case 1:
          return node(kind, Op::imag, {of(Kind::complex, operations - 1)});
        default:
          return node(kind, Op::fabs, {of(kind, operations - 1)});
      }
    case Kind::complex:
      switch (any(4)) {
        case 0:
          return node(kind, Op::cmplx, {of(Kind::real, left), of(Kind::real, right)});
        case 1:
          return node(kind, Op::conj, {of(kind, operations - 1)});
        case 2:
          return node(kind, Op::trace, {of(Kind::matrix, operations - 1)});
        default:
          return node(kind, Op::mul, {of(Kind::real, left), of(kind, right)});
      }
    default:
      switch (any(3)) {
        case 0:
          return node(kind, Op::adj, {of(kind, operations - 1)});
        case 1:
          return node(kind, Op::transpose, {of(kind, operations - 1)});
        default:
          return node(kind, Op::mul, {of(Kind::complex, left), of(kind, right)});
      }
  }
}

/// All nodes, each once, operands first.
inline void collect(const SketchPtr& s, std::vector<SketchPtr>& into) {
  if (std::find(into.begin(), into.end(), s) != into.end()) return;
  for (const SketchPtr& k : s->kids) collect(k, into);
  into.push_back(s);
}
inline std::vector<SketchPtr> nodes_of(const SketchPtr& s) {
  std::vector<SketchPtr> all;
  collect(s, all);
  return all;
}
/// The tree with `from` replaced, as one node wherever it occurs.
inline SketchPtr replaced(const SketchPtr& s, const SketchPtr& from, const SketchPtr& to,
                          std::map<Sketch*, SketchPtr>& done) {
  if (s == from) return to;
  if (const auto known = done.find(s.get()); known != done.end()) return known->second;
  SketchPtr result = s;
  std::vector<SketchPtr> kids;
  for (const SketchPtr& k : s->kids) kids.push_back(replaced(k, from, to, done));
  if (kids != s->kids) result = node(s->kind, s->op, kids, s->number);
  return done[s.get()] = result;
}
inline SketchPtr replaced(const SketchPtr& s, const SketchPtr& from, const SketchPtr& to) {
  std::map<Sketch*, SketchPtr> done;
  return replaced(s, from, to, done);
}
/// With nodes of its own wherever a part occurs.
inline SketchPtr written_out(const SketchPtr& s) {
  std::vector<SketchPtr> kids;
  for (const SketchPtr& k : s->kids) kids.push_back(written_out(k));
  return node(s->kind, s->op, kids, s->number);
}

/// Kinds and operations as they are, but one thing that a careless key could overlook is changed.
inline SketchPtr changed(const SketchPtr& s) {
  const std::vector<SketchPtr> all = nodes_of(s);
  const auto is_binary = [](const SketchPtr& n) {
    return (n->op == Op::add || n->op == Op::sub || n->op == Op::mul) && n->kids.size() == 2;
  };
  for (int tries = 0; tries < 20; ++tries) {
    const SketchPtr n = all[static_cast<std::size_t>(any(static_cast<int>(all.size())))];
    switch (any(10)) {
      case 0:
      case 1:
      case 2: {  // a o (b o' c) to (a o b) o' c and back, whatever o and o' are
        if (!is_binary(n) || n->kids[0]->kind != n->kids[1]->kind) break;
        const bool right = any(2) == 1;
        const SketchPtr inner = n->kids[right ? 1 : 0], other = n->kids[right ? 0 : 1];
        if (!is_binary(inner) || inner->kids[0]->kind != inner->kids[1]->kind) break;
        const bool keep =
            any(2) == 1;  // operations stay in the order in which a walk meets them, or go with their operands
        const Op outer_op = keep ? n->op : inner->op, inner_op = keep ? inner->op : n->op;
        return replaced(
            s, n,
            right ? node(n->kind, outer_op, {node(n->kind, inner_op, {other, inner->kids[0]}), inner->kids[1]})
                  : node(n->kind, outer_op, {inner->kids[0], node(n->kind, inner_op, {inner->kids[1], other})}));
      }
      case 3:
        if (n->kids.size() != 2 || n->kids[0]->kind != n->kids[1]->kind) break;
        return replaced(s, n, node(n->kind, n->op, {n->kids[1], n->kids[0]}));
      case 4:
        if (n->op != Op::field && n->op != Op::value) break;
        return replaced(s, n, random_leaf(n->kind));
      case 5: {
        if (!is_binary(n) || n->kids[0]->kind != n->kids[1]->kind) break;
        const Op ops[] = {Op::add, Op::sub, Op::mul};
        return replaced(s, n, node(n->kind, ops[any(3)], n->kids));
      }
      case 6: {  // two parts become one, or one stands where another was
        const SketchPtr m = all[static_cast<std::size_t>(any(static_cast<int>(all.size())))];
        const std::vector<SketchPtr> inside = nodes_of(m);
        if (m == n || m->kind != n->kind || std::find(inside.begin(), inside.end(), n) != inside.end()) break;
        return replaced(s, n, m);
      }
      case 7:
        if (n->op != Op::shift) break;
        return replaced(s, n, any(2) ? n->kids[0] : node(n->kind, n->op, n->kids, any(4)));
      case 8: {  // a shift moves from a part to what it is part of, or the other way
        if (n->op == Op::shift && is_binary(n->kids[0])) {
          const SketchPtr inner = n->kids[0];
          std::vector<SketchPtr> kids = inner->kids;
          SketchPtr& k = kids[static_cast<std::size_t>(any(2))];
          k = node(k->kind, Op::shift, {k}, n->number);
          return replaced(s, n, node(n->kind, inner->op, kids));
        }
        return replaced(s, n, node(n->kind, Op::shift, {n}, any(4)));
      }
      default:
        return written_out(s);
    }
  }
  return written_out(s);
}

// ---- what they mean -------------------------------------------------------------------------------------------------

/// Fields of each kind with small integers, or with any numbers, and their values.
class SketchFields {
 public:
  using D = Sites<double>;
  using Matrix = QDP::PScalar<QDP::PColorMatrix<QDP::RComplex<double>, 2>>;

  /// Smallest useful matrices: the fewer instructions, the more kernels.
  SketchFields(const Places& places, bool integers) : places_(places) {
    for (int i = 0; i < kFieldsOfAKind; ++i)
      add<D::Real>(0, integers), add<D::Complex>(1, integers), add<Matrix>(2, integers);
  }

  const std::shared_ptr<jit::Field>& field(Kind kind, int number) const {
    return fields_[static_cast<int>(kind)][static_cast<std::size_t>(number)];
  }
  static QDP::detail::Shape shape(Kind kind) {
    using QDP::detail::shape_of;
    return kind == Kind::real ? shape_of<D::Real> : kind == Kind::complex ? shape_of<D::Complex> : shape_of<Matrix>;
  }

  Expr expression(const SketchPtr& s) const {
    std::map<Sketch*, Expr> done;
    return expression(s, done);
  }
  /// By plain loops, from the values at the beginning.
  SiteValue value(const Sketch& s, std::size_t site) const {
    const auto kid = [&](std::size_t i) { return value(*s.kids[i], site); };
    switch (s.op) {
      case Op::field:
        return values_[static_cast<int>(s.kind)][static_cast<std::size_t>(s.number)][site];
      case Op::value: {
        SiteValue x = reference::real_number(s.number);
        x.complex = s.kind == Kind::complex;
        return x;
      }
      case Op::shift:
        return value(*s.kids[0], places_.neighbour(site, s.number / 2, s.number % 2 ? -1 : 1));
      case Op::add:
        return reference::add(kid(0), kid(1));
      case Op::sub:
        return reference::subtract(kid(0), kid(1));
      case Op::mul:
        return reference::multiply(kid(0), kid(1));
      case Op::neg:
        return reference::negate(kid(0));
      case Op::real:
        return reference::real_part(kid(0));
      case Op::imag:
        return reference::imaginary_part(kid(0));
      case Op::fabs:
        return reference::map(kid(0), [](double x) { return std::fabs(x); });
      case Op::cmplx:
        return reference::complex_from(kid(0), kid(1));
      case Op::conj:
        return reference::conjugate(kid(0));
      case Op::trace:
        return reference::trace(kid(0), true, true);
      case Op::adj:
        return reference::adjoint(kid(0));
      default:
        return reference::transpose(kid(0), true, true);
    }
  }

 private:
  template <class T>
  void add(int kind, bool integers) {
    auto x = random_lattice<T>();
    if (integers) {
      std::vector<T> sites(QDP::Layout::vol());
      for (T& site : sites) {
        auto* words = reinterpret_cast<double*>(&site);
        for (std::size_t c = 0; c < sizeof(T) / sizeof(double); ++c) words[c] = any(9) - 4;
      }
      reference::put(x, sites);
    }
    fields_[kind].push_back(x.field());
    values_[kind].push_back(values(x));
  }

  Expr expression(const SketchPtr& s, std::map<Sketch*, Expr>& done) const {
    using namespace QDP::detail;
    if (const auto known = done.find(s.get()); known != done.end()) return known->second;
    Expr e;
    if (s->op == Op::field) {
      e = make_field(field(s->kind, s->number), shape(s->kind));
    } else if (s->op == Op::value) {
      const double components[2] = {static_cast<double>(s->number), 0};
      e = make_value(components, shape(s->kind));
    } else if (s->op == Op::shift) {
      QDP::LatticeReal any_field;  // the map, from a shift of the language
      const auto shifted = QDP::shift(any_field, s->number % 2 ? BACKWARD : FORWARD, s->number / 2).expression();
      e = make_shift_node(expression(s->kids[0], done), shifted->load.map);
    } else {
      Expr kid[2];
      for (std::size_t i = 0; i < s->kids.size(); ++i) kid[i] = expression(s->kids[i], done);
      const Shape r = result_shape(s->op, kid[0]->shape, kid[1] ? kid[1]->shape : Shape{});
      REQUIRE(r.valid);
      e = make_node(s->op, r, 0, kid[0], kid[1]);
    }
    return done[s.get()] = e;
  }

  const Places& places_;
  std::vector<std::shared_ptr<jit::Field>> fields_[3];
  std::vector<std::vector<SiteValue>> values_[3];
};

/// A statement: where the value of a tree goes.
struct SketchStatement {
  SketchPtr rhs;
  int dest = 0;       ///< field of the same kind, which the right-hand side may contain; ignored by sums
  int reduction = 0;  ///< 0 assignment, 1 sum, 2 maximum (of real numbers)
  bool scattered = false;
};

inline SketchStatement random_statement(int operations) {
  SketchStatement s;
  s.rhs = random_sketch(static_cast<Kind>(any(3)), operations);
  s.dest = any(kFieldsOfAKind);
  s.scattered = any(4) == 0;
  if (any(5) == 0) s.reduction = s.rhs->kind == Kind::real ? 1 + any(2) : 1;
  return s;
}
inline SketchStatement changed(SketchStatement s) {
  switch (any(12)) {
    case 0:
      s.dest = any(kFieldsOfAKind);
      return s;
    case 1:
      s.scattered = !s.scattered;
      return s;
    case 2:
      s.reduction = s.reduction ? 0 : 1;
      return s;
    default:
      s.rhs = changed(s.rhs);
      return s;
  }
}

// ---- kernels without a compiler -------------------------------------------------------------------------------------

/// Kernels interpreted on fields where they lie on the host, with shifts: what a compiled kernel must give bit for bit.
class PlainKernel {
 public:
  explicit PlainKernel(const jit::ir::Kernel& kernel) : kernel_(kernel), leaves_(kernel.leaves.size()) {
    // The operands of every frame become operands of their own.
    for (std::size_t s = 1; s < kernel.slots.size(); ++s)
      kernel_.leaves.insert(kernel_.leaves.end(), kernel.leaves.begin(), kernel.leaves.end());
    for (jit::ir::Node& n : kernel_.nodes)
      if (n.op == jit::ir::Op::load) {
        n.place.leaf = static_cast<std::int16_t>(n.place.leaf + static_cast<int>(leaves_) * n.place.slot);
        n.place.slot = 0;
      }
  }
  /// Runs it for one site: the destination's components are written to `out`, sums to `results`.
  void run(const QDP::detail::Inspected& bound, std::int64_t site, void* out, double* results) const {
    const jit::SiteOrder& order = *QDP::detail::present_lattice("sketch");
    std::vector<std::int32_t> position{order.position[static_cast<std::size_t>(site)]};
    std::vector<void*> address;
    for (std::size_t s = 0; s < kernel_.slots.size(); ++s) {
      if (s > 0)
        position.push_back(
            bound.maps[s]
                ->sources()[static_cast<std::size_t>(position[static_cast<std::size_t>(kernel_.slots[s].parent)])]);
      for (std::size_t l = 0; l < leaves_; ++l) {
        const std::size_t bytes = static_cast<std::size_t>(kernel_.leaves[l].components) *
                                  static_cast<std::size_t>(jit::ir::bytes(kernel_.leaves[l].word));
        const auto host = static_cast<std::size_t>(order.host_index[static_cast<std::size_t>(position[s])]);
        const auto* data =
            static_cast<const char*>(bound.fields[l]->ever_written() ? bound.fields[l]->host_read() : nullptr);
        address.push_back(const_cast<char*>(data ? data + host * bytes : nullptr));
      }
    }
    if (out) {  // loads of the destination at the site itself read a copy, which is then stored to
      const std::size_t bytes = static_cast<std::size_t>(kernel_.leaves[0].components) *
                                static_cast<std::size_t>(jit::ir::bytes(kernel_.leaves[0].word));
      if (address[0]) std::memcpy(out, address[0], bytes);
      address[0] = out;
    }
    jit::ir::interpret(kernel_, address.data(), bound.scalars.data(), results);
  }

 private:
  jit::ir::Kernel kernel_;
  std::size_t leaves_;
};

}  // namespace tests
