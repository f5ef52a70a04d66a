#include "qdp/expr/node.hpp"

#include <cstring>

#include "jit/memory/field.hpp"

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

// Nodes live for one statement; a list of free ones per thread, linked by `host`, keeps them from the allocator.
// INVARIANT: constant initialisation, no destructor and the initial-exec model: an access is one instruction. Without,
// it calls the loader's look-up up to three times, for every node made and released: a tenth of a statement's cost.
[[gnu::tls_model("initial-exec")]] constinit thread_local Node* free_nodes = nullptr;

struct Reaper {
  ~Reaper() {
    while (Node* n = free_nodes) {
      free_nodes = static_cast<Node*>(const_cast<void*>(n->host));
      delete n;
    }
  }
};

Node* another() {
  static thread_local Reaper reaper;
  return new Node;
}

Node* fresh(Op op, Shape shape, std::uint64_t attribute) {
  Node* n = free_nodes;
  if (n == nullptr)
    n = another();
  else
    free_nodes = static_cast<Node*>(const_cast<void*>(n->host));
  n->op = op, n->shape = shape, n->attribute = attribute, n->uses = 1;
  return n;
}

}  // namespace

namespace {
/// Operands first, so that trees are made again in the order in which they lie. Sums may be hundreds of thousands of terms
/// deep: below the depth that the stack is used for, nodes wait in a list, linked by `host`.
void release(Node* n, int depth, Node*& waiting) {
  constexpr int kDeepest = 256;
  for (Expr& k : n->kid) {
    Node* kid = k.forget();
    if (kid == nullptr || --kid->uses != 0) continue;
    if (depth < kDeepest)
      release(kid, depth + 1, waiting);
    else
      kid->host = waiting, waiting = kid;
  }
  if (n->field) n->field.reset();
  if (n->map) n->map.reset();
  if (n->large) n->large.reset();
  n->host = free_nodes;
  free_nodes = n;
}
}  // namespace

void release(Node* n) {
  Node* waiting = nullptr;
  release(n, 0, waiting);
  while (waiting != nullptr) {
    Node* next = waiting;
    waiting = static_cast<Node*>(const_cast<void*>(next->host));
    release(next, 0, waiting);
  }
}

Expr make_node(Op op, Shape shape, std::uint64_t attribute, Expr a, Expr b, Expr c) {
  Node* n = fresh(op, shape, attribute);
  n->kid[0] = std::move(a), n->kid[1] = std::move(b), n->kid[2] = std::move(c);
  return Expr(n);
}

Expr make_field(std::shared_ptr<jit::Field> field, Shape shape) {
  Node* n = fresh(Op::field, shape, 0);
  n->field = std::move(field);
  return Expr(n);
}

Expr make_value(const void* components, Shape shape) {
  Node* n = fresh(Op::value, shape, 0);
  std::byte* to = n->small;
  if (shape.bytes() > kInlineValue)
    n->large = std::make_unique_for_overwrite<std::byte[]>(shape.bytes()), to = n->large.get();
  std::memcpy(to, components, shape.bytes());
  n->host = to;
  return Expr(n);
}

Expr make_shift_node(Expr source, std::shared_ptr<const jit::SiteMap> map) {
  Shape shape = source->shape;
  Expr e = make_node(Op::shift, shape, 0, std::move(source));
  const_cast<Node*>(e.get())->map = std::move(map);
  return e;
}

Expr make_convert(Expr a, Shape shape) {
  if (a->shape == shape) return a;
  return make_node(Op::convert, shape, 0, std::move(a));
}

}  // namespace QDP::detail
