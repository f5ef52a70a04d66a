// Expression trees: plain run-time nodes, shared by reference counts.
//
// An expression such as `u * shift(psi, FORWARD, mu)` is a tree of a few nodes that refer to fields; nothing is computed
// until it is assigned, reduced or converted. Trees own references to the fields' storage, so an expression kept in a
// variable stays valid. Building a tree costs a few nanoseconds per node.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "qdp/expr/ops.hpp"

namespace jit {
class Field;
class SiteMap;
}  // namespace jit

namespace QDP::detail {

struct Node;

/// A counted reference to a node.
class Expr {
 public:
  Expr() = default;
  explicit Expr(Node* node) : node_(node) {}
  Expr(const Expr& other);
  Expr(Expr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Expr& operator=(Expr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Expr();
  const Node* operator->() const { return node_; }
  const Node& operator*() const { return *node_; }
  explicit operator bool() const { return node_ != nullptr; }
  const Node* get() const { return node_; }
  /// The node, whose reference is now the caller's.
  Node* forget() { return std::exchange(node_, nullptr); }

 private:
  Node* node_ = nullptr;
};

/// A cache line: a statement touches each of its nodes three times.
struct alignas(64) Node {
  /// What a node holds besides its operands, by its operation.
  union Load {
    Load() : next(nullptr) {}
    ~Load() {}
    std::shared_ptr<jit::Field> field;        ///< Op::field
    std::shared_ptr<const jit::SiteMap> map;  ///< Op::shift
    std::byte small[16];                      ///< Op::value: the components, if they are few
    std::byte* large;                         ///< Op::value: the components, if they are many
    Node* next;                               ///< of a free node
  };

  Op op{};
  std::uint32_t uses = 0;
  Shape shape;
  std::uint64_t attribute =
      0;  ///< of an operation: which of its kind (ops.hpp); Op::value: how many bytes its components take
  Expr kid[3];
  Load load;

  /// Operands are the first of `kid`.
  bool is_leaf() const { return !kid[0]; }
  /// Components of Op::value.
  bool is_large() const { return attribute > sizeof load.small; }
  const std::byte* components() const { return is_large() ? load.large : load.small; }
};
static_assert(sizeof(Node) == 64);

/// Takes the caller's references over, even where memory is too short for the node.
Node* new_node(Op op, Shape shape, std::uint64_t attribute, Node* a, Node* b, Node* c);
inline Expr make_node(Op op, Shape shape, std::uint64_t attribute, Expr a, Expr b = {}, Expr c = {}) {
  return Expr(new_node(op, shape, attribute, a.forget(), b.forget(), c.forget()));
}
Expr make_field(std::shared_ptr<jit::Field> field, Shape shape);
/// A scalar, copied now.
Expr make_value(const void* components, Shape shape);
Expr make_shift_node(Expr source, std::shared_ptr<const jit::SiteMap> map);
Expr make_convert(Expr a, Shape shape);

/// x and y if the expression is adj(x) * y. Throws jit::UserError if not.
std::pair<Expr, Expr> operands_of_inner_product(const Expr& product);

void release(Node* node);
inline Expr::Expr(const Expr& other) : node_(other.node_) {
  if (node_) ++node_->uses;
}
inline Expr::~Expr() {
  if (node_ && --node_->uses == 0) release(node_);
}

}  // namespace QDP::detail
