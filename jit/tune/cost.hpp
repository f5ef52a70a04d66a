// What a kernel moves and computes per site, counted from its IR.
#pragma once

#include "jit/ir/ir.hpp"

namespace jit {

struct KernelCost {
  /// Bytes per site of the domain, each operand word once and each stored word once, if the domain is the whole lattice.
  double bytes = 0;
  /// The same for part of the lattice (a checkerboard): a field that is read both at the sites and at neighbours counts
  /// for both, because they are different sites. Wilson hopping term: 8 links, one spinor in, one out.
  double bytes_of_part = 0;
  double stored = 0;      ///< bytes per site that are stored, of these
  double flops = 0;       ///< floating-point operations per site: add, mul, div, sqrt, ... = 1, fma = 2; signs are free
  double operations = 0;  ///< instructions of any kind per group, for estimates of time
  bool structured = false;         ///< some shift is structured: what to prefetch is known
  bool shares_neighbours = false;  ///< some field is read from so many sites that caches should keep it (ir::is_shared)
  bool reads_written = false;      ///< some field is both read and written through the same leaf
};

KernelCost cost(const ir::Kernel& kernel);

}  // namespace jit
