// Operations of the table on scalars, which live on the host: traced once, then interpreted, and compiled when they have cost as much as
// that does. Both have the same bits.
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/ir/ir.hpp"
#include "jit/runtime/host_code.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/lower.hpp"
#include "qdp/expr/site_function.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

/// Lives as long as the process.
struct HostProgram {
  std::uint64_t attribute;
  ir::Kernel kernel;
  std::atomic<jit::KernelFunction> code{nullptr};
  std::atomic<std::int64_t> work{0};  ///< done by the interpreter
  std::atomic<bool> stays{false};     ///< interpreted
};

namespace {

/// In nodes of some nanoseconds; a call takes as long as so many, a compilation some milliseconds.
constexpr std::int64_t kWorkBeforeCompiling = 500'000, kWorkOfCall = 12;

/// One operation on host values: leaf 0 is the result, leaves 1.. the operands.
ir::Kernel host_program(Op op, Shape result, std::uint64_t attribute, std::span<const Shape> operands) {
  ir::Kernel k;
  k.name = "host";
  k.lanes = 1;
  k.leaves.push_back({result.word, static_cast<std::int16_t>(result.components())});
  ir::Builder builder(k);
  Algebra algebra(builder);
  std::vector<Tensor> x;
  for (const Shape& shape : operands) {
    const auto leaf = static_cast<std::int16_t>(k.leaves.size());
    k.leaves.push_back({shape.word, static_cast<std::int16_t>(shape.components())});
    Tensor t(shape);
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

struct Key {
  std::uint64_t op, attribute, shapes[4];
  auto operator<=>(const Key&) const = default;
};

struct Programs {
  std::map<Key, std::unique_ptr<HostProgram>> all;
  std::mutex guard;  ///< host loops over sites may run in the user's threads
};
Programs& programs() {
  static auto* known = new Programs;  // objects of static storage may still compute at the end
  return *known;
}

HostProgram& program_of(const HostPlace& place, std::uint64_t attribute) {
  const std::span operands(place.operands, static_cast<std::size_t>(place.count));
  Key key{static_cast<std::uint64_t>(place.op), attribute, {pack(place.result), 0, 0, 0}};
  if (place.op == Op::site_function) key.attribute = site_program_number(attribute, place.result, operands);
  for (std::size_t i = 0; i < operands.size(); ++i) key.shapes[i + 1] = pack(operands[i]) | 1ull << 63;
  const std::lock_guard lock(programs().guard);
  std::unique_ptr<HostProgram>& program = programs().all[key];
  if (!program)
    program = std::make_unique<HostProgram>(attribute, host_program(place.op, place.result, key.attribute, operands));
  return *program;
}

/// True if it is compiled now.
bool compile(HostProgram& program) {
  if (program.stays.exchange(true)) return false;  // of several threads one compiles, the others go on
  try {
    const jit::KernelFunction code = jit::compile_for_host(program.kernel);
    program.code.store(code, std::memory_order_release);
    return code != nullptr;
  } catch (const jit::InternalError& error) {
    jit::log_warn("codegen", "an operation on the host goes on being interpreted: ", error.what());
    return false;
  }
}

}  // namespace

void host_apply(HostPlace& place, std::uint64_t attribute, void* const* fields) {
  HostProgram* program = place.known.load(std::memory_order_acquire);
  if (program == nullptr || program->attribute != attribute) [[unlikely]] {
    program = &program_of(place, attribute);
    place.known.store(program, std::memory_order_release);
  }
  const jit::KernelFunction code = program->code.load(std::memory_order_acquire);
  if (code != nullptr) [[likely]] {
    const jit::LaunchArguments arguments{
        .fields = fields, .tables = nullptr, .scalars = nullptr, .groups = nullptr, .masks = nullptr, .sums = nullptr};
    code(&arguments, 0, 1);
    return;
  }
  ir::interpret(program->kernel, fields, nullptr);
  const std::int64_t work = static_cast<std::int64_t>(program->kernel.nodes.size()) + kWorkOfCall;
  if (!program->stays.load(std::memory_order_relaxed) &&
      program->work.fetch_add(work, std::memory_order_relaxed) + work > kWorkBeforeCompiling)
    compile(*program);
}

int compile_host_programs() {
  std::vector<HostProgram*> waiting;
  {
    const std::lock_guard lock(programs().guard);
    for (const auto& [key, program] : programs().all) waiting.push_back(program.get());
  }
  int compiled = 0;
  for (HostProgram* program : waiting) compiled += compile(*program);
  return compiled;
}

}  // namespace QDP::detail
