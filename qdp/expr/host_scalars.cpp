// Operations of the table on scalars, which live on the host: traced once, then interpreted.
#include <map>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/ir/ir.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/lower.hpp"
#include "qdp/expr/site_function.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

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
  if (op == Op::site_function) {
    Shape shapes[3];
    std::size_t count = 0;
    for (const HostOperand& o : operands)
      if (o.components) shapes[count++] = o.shape;
    attribute = site_program_number(attribute, result, std::span(shapes, count));
  }
  Key key{static_cast<std::uint64_t>(op), attribute, {pack(result), 0, 0, 0}};
  for (int i = 0; i < 3; ++i)
    if (operands[i].components) key.shapes[i + 1] = pack(operands[i].shape) | 1ull << 63;
  const ir::Kernel* program = nullptr;
  {
    std::lock_guard lock(guard);
    auto it = programs.find(key);
    if (it == programs.end()) it = programs.emplace(key, host_program(op, result, attribute, operands)).first;
    program = &it->second;
  }
  void* fields[4] = {out};
  int n = 1;
  for (const HostOperand& o : operands)
    if (o.components) fields[n++] = const_cast<void*>(o.components);
  ir::interpret(*program, fields, nullptr);
}

}  // namespace QDP::detail
