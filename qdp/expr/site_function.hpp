// Site functions inside: bodies by number, and what becomes of them, programs.
//
// A body is traced once for each combination of operand types, on operands whose components are all there. The program it
// leaves is what statements refer to: two bodies that leave the same text are one program, whatever registered them and
// in which order. Kernels take programs in node by node, so equal programs make equal kernels.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "qdp/expr/lower.hpp"

namespace QDP::detail {

/// What the user wrote: operands -> result (design D12).
struct SiteFunctionEntry {
  std::string name;
  std::function<Tensor(Algebra&, std::span<const Tensor>)> trace;
};
/// Registers a body; the number is the node attribute, never 0. Bodies live until the process ends.
std::uint64_t register_site_function(SiteFunctionEntry entry);

/// A traced body. Leaf i of the kernel is operand i, whose components are loaded; nothing is stored.
struct SiteProgram {
  std::string name;
  std::vector<jit::ir::Node> nodes;
  std::vector<Value> result;  ///< of the components: nodes, or kZero
};

/// The number of the program that a body is for these types. Throws UserError for what the body must not do, and if the
/// number is that of a site function whose initialiser has not run.
std::uint64_t site_program_number(std::uint64_t function, Shape result, std::span<const Shape> operands);
const SiteProgram& site_program(std::uint64_t program);
/// The program on these operands.
Tensor replay(Algebra& algebra, const SiteProgram& program, Shape result, std::span<const Tensor> operands);

/// Throws UserError while a body is being traced: it is a formula, in which nothing can be assigned or summed.
void refuse_in_site_function(const char* what);

}  // namespace QDP::detail
