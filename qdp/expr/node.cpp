#include "qdp/expr/node.hpp"

#include <cstring>
#include <mutex>
#include <vector>

#include "jit/memory/field.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/operand.hpp"

namespace QDP::detail {

const char* name(Op op) {
  switch (op) {
#define QDP_ROW(op, operands, rule)                                                                                    \
  case Op::op:                                                                                                         \
    return #op;
    QDP_OPERATIONS(QDP_ROW)
#undef QDP_ROW
  }
  return "?";
}

namespace {

// Nodes live for one statement: a list of free ones per thread keeps them from the allocator.
// INVARIANT: constant initialisation, no destructor and the initial-exec model: an access is one instruction. Without,
// it calls the loader's look-up up to three times, for every node made and released: a tenth of a statement's cost.
[[gnu::tls_model("initial-exec")]] constinit thread_local Node* free_nodes = nullptr;

/// Where nodes come from, in blocks that lie together. They are never given back: an expression may end in another thread than
/// the one that made it, so nobody knows when a block is free. Threads that end leave their nodes to the next.
class Pool {
 public:
  /// A list of free nodes.
  Node* take() {
    const std::lock_guard lock(guard_);
    if (left_ != nullptr) return std::exchange(left_, nullptr);
    blocks_.push_back(std::make_unique<Node[]>(kBlock));
    Node* block = blocks_.back().get();
    for (std::size_t i = 0; i + 1 < kBlock; ++i) block[i].load.next = block + i + 1;
    return block;
  }
  void leave(Node* list) {
    const std::lock_guard lock(guard_);
    while (list != nullptr) {
      Node* next = list->load.next;
      list->load.next = left_, left_ = list, list = next;
    }
  }

 private:
  static constexpr std::size_t kBlock = 64;
  std::mutex guard_;
  std::vector<std::unique_ptr<Node[]>> blocks_;
  Node* left_ = nullptr;
};
Pool& pool() {
  static Pool* const made = new Pool;  // outlives the threads and the statics of the program
  return *made;
}

struct Heir {
  ~Heir() { pool().leave(std::exchange(free_nodes, nullptr)); }
};

[[gnu::noinline]] void more_nodes() {
  static thread_local Heir heir;
  free_nodes = pool().take();
}

inline Node* fresh(Op op, Shape shape, std::uint64_t attribute) {
  if (free_nodes == nullptr) [[unlikely]]
    more_nodes();
  Node* n = free_nodes;
  free_nodes = n->load.next;
  n->op = op, n->shape = shape, n->attribute = attribute, n->uses = 1;
  return n;
}

/// What a node holds besides its operands.
inline void drop_load(Node* n) {
  switch (n->op) {
    case Op::field:
      std::destroy_at(&n->load.field);
      break;
    case Op::shift:
      std::destroy_at(&n->load.map);
      break;
    case Op::value:
      if (n->is_large()) delete[] n->load.large;
      break;
    default:
      break;
  }
}

/// A node without operands, or whose operands have been let go of.
inline void set_free(Node* n) {
  drop_load(n);
  n->load.next = free_nodes;
  free_nodes = n;
}

/// Operands first, so that trees are made again in the order in which they lie. Sums may be hundreds of thousands of terms
/// deep: below the depth that the stack is used for, nodes wait in a list.
void release(Node* n, int depth, std::vector<Node*>& waiting) {
  constexpr int kDeepest = 256;
  for (Expr& k : n->kid) {
    Node* kid = k.forget();
    if (kid == nullptr) break;
    if (--kid->uses != 0) continue;
    if (kid->is_leaf())
      set_free(kid);
    else if (depth < kDeepest)
      release(kid, depth + 1, waiting);
    else
      waiting.push_back(kid);
  }
  set_free(n);
}

}  // namespace

void release(Node* n) {
  if (n->is_leaf()) return set_free(n);
  std::vector<Node*> waiting;
  release(n, 0, waiting);
  while (!waiting.empty()) {
    Node* next = waiting.back();
    waiting.pop_back();
    release(next, 0, waiting);
  }
}

namespace {
/// Where memory is short the operands are let go of.
inline Node* with_operands(Op op, Shape shape, std::uint64_t attribute, Expr a, Expr b, Expr c) {
  Node* n = fresh(op, shape, attribute);
  std::construct_at(&n->kid[0], std::move(a)), std::construct_at(&n->kid[1], std::move(b)),
      std::construct_at(&n->kid[2], std::move(c));
  return n;
}
}  // namespace

Node* new_node(Op op, Shape shape, std::uint64_t attribute, Node* a, Node* b, Node* c) {
  return with_operands(op, shape, attribute, Expr(a), Expr(b), Expr(c));
}

Expr make_field(std::shared_ptr<jit::Field> field, Shape shape) {
  Node* n = fresh(Op::field, shape, 0);
  std::construct_at(&n->load.field, std::move(field));
  return Expr(n);
}

Expr make_value(const void* components, Shape shape) {
  const std::size_t bytes = shape.bytes();
  auto large = bytes > sizeof(Node::Load::small) ? std::make_unique_for_overwrite<std::byte[]>(bytes) : nullptr;
  Node* n = fresh(Op::value, shape, bytes);
  // Most are a number: copied without a call.
  if (bytes == 4)
    std::memcpy(n->load.small, components, 4);
  else if (bytes == 8)
    std::memcpy(n->load.small, components, 8);
  else {
    if (large) n->load.large = large.release();
    std::memcpy(n->is_large() ? n->load.large : n->load.small, components, bytes);
  }
  return Expr(n);
}

// Here, where nodes are made without a call (operand.hpp).

namespace {
inline Node* made(Operand x) {
  switch (x.kind()) {
    case Operand::Kind::field: {
      const std::shared_ptr<jit::Field>& field = static_cast<const FieldOwner*>(x.what)->get(x.shape());
      Node* n = fresh(Op::field, x.shape(), 0);
      std::construct_at(&n->load.field, field);
      return n;
    }
    case Operand::Kind::node: {
      Node* const node = static_cast<Node*>(const_cast<void*>(x.what));
      ++node->uses;
      return node;
    }
    case Operand::Kind::value:
      return make_value(x.what, x.shape()).forget();
    case Operand::Kind::zero:
      break;
  }
  return new_node(Op::zero, x.shape(), 0, nullptr, nullptr, nullptr);
}
}  // namespace

Expr to_expr(Operand x) { return Expr(made(x)); }
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a) {
  return with_operands(op, shape, attribute, Expr(made(a)), {}, {});
}
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a, Operand b) {
  return with_operands(op, shape, attribute, Expr(made(a)), Expr(made(b)), {});
}
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a, Operand b, Operand c) {
  return with_operands(op, shape, attribute, Expr(made(a)), Expr(made(b)), Expr(made(c)));
}

Expr make_shift_node(Expr source, std::shared_ptr<const jit::SiteMap> map) {
  const Shape shape = source->shape;
  Node* n = new_node(Op::shift, shape, 0, source.forget(), nullptr, nullptr);
  std::construct_at(&n->load.map, std::move(map));
  return Expr(n);
}

Expr make_convert(Expr a, Shape shape) {
  if (a->shape == shape) return a;
  return make_node(Op::convert, shape, 0, std::move(a));
}

std::pair<Expr, Expr> operands_of_inner_product(const Expr& product) {
  if (product->op != Op::mul || product->kid[0]->op != Op::adj)
    throw jit::UserError({.what = "trace of an expression of vectors",
                          .expected = "trace(adj(x) * y), the inner product of x and y",
                          .got = "another expression",
                          .what_now = "localInnerProduct(x, y) says it without a trace."});
  return {product->kid[0]->kid[0], product->kid[1]};
}

}  // namespace QDP::detail
