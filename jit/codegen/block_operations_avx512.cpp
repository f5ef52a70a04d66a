#if defined(__x86_64__)
#define TESSERA_PROCESSOR avx512
#include "jit/codegen/block_operations_of.hpp"
#endif
