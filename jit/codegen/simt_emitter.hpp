// A kernel of one thread per site, or per s neighbouring sites of a group: for NVIDIA GPUs, and the same code for the
// host, where the simulated GPU runs it. Parameters and the threads' share of the domain: ir/abi.hpp. Values are scalars
// if s = 1 and vectors otherwise.
//
//   for index = begin * lanes + t s; index < end * lanes; index += threads s:   (only once without reductions)
//     group, lane <- index, in listed domains through the list; threads whose mask bit is clear do nothing
//     per slot, at first use: the neighbours' group and first lane, or their positions
//     per field and slot: one 64-bit address, to which components add constants
//     nodes and stores in scheduled order; summands are kept in registers
//   sums of all threads: simt_sums.hpp
//
// A thread reads its neighbours' words where they lie, lanes exchanged or not; `permute` only exchanges lanes within a
// thread.
//
// Leaves that the kernel only reads, tables and lists are read through the read-only cache: no two leaves of a kernel
// may share memory if one of them is written.
#pragma once

#include <cstddef>
#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/llvm.hpp"
#include "jit/codegen/quick_fma.hpp"
#include "jit/codegen/vector_math.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

enum class SimtMachine { host, nvptx };

/// Number of parameters of a kernel, of 8 bytes each (ir/abi.hpp).
std::size_t simt_parameters(const ir::Kernel& kernel);

/// Adds the function `symbol` to the module: on NVPTX a kernel, on the host a SimtFunction. `quick`: for LLVM's quick selection of
/// instructions of the host; returns what make_quick_fma_pass() must find.
QuickCounts emit_simt_kernel(llvm::Module& module, const std::string& symbol, const ir::Kernel& kernel,
                             const CodeOptions& options, SimtMachine machine, FunctionEmitter functions,
                             bool quick = false);

}  // namespace jit
