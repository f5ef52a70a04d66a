#include "jit/runtime/host_code.hpp"

#include <algorithm>

#include "jit/codegen/codegen.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/support/lock.hpp"

namespace jit {

KernelFunction compile_for_host(const ir::Kernel& kernel) {
  if (std::ranges::any_of(kernel.nodes, [](const ir::Node& node) { return ir::is_elementary(node.op); }))
    return nullptr;
  const RuntimeLock lock;
  static auto* compiler = new Compiler(make_cpu_target());  // objects of static storage may still compute at the end
  return reinterpret_cast<KernelFunction>(const_cast<void*>(compiler->compile(kernel, {}).code));
}

}  // namespace jit
