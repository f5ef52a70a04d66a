#include "jit/codegen/block_operations.hpp"

#include "jit/codegen/block_operations_of.hpp"

namespace jit {

BlockOperation block_operation(ir::Op op, ir::Type type, ir::Type typical) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return avx512::block_operation(op, type, typical);
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2::block_operation(op, type, typical);
#endif
  return portable::block_operation(op, type, typical);
}

}  // namespace jit
