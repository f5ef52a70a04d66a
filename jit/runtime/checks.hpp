// TESSERA_CHECK=1: what a launch may assume of its operands, and what it made.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "jit/codegen/codegen.hpp"
#include "jit/device/device.hpp"
#include "jit/runtime.hpp"

namespace jit {

/// "operand 1 (f64[18]) of kernel axpy"
std::string describe_operand(const ir::Kernel& kernel, std::size_t leaf);

/// Throws UserError if a field to be read was never written; InternalError if a table points outside of the lattice.
void check_operands(const Plan& plan);

/// Looks for results that are not a number. The device goes through what was written, by kernels made once per shape;
/// only when it finds one does the host read the field, to name the site.
class ResultCheck {
 public:
  /// Both outlive it; the compiler is asked for when there is something to compile.
  ResultCheck(Device& device, std::function<Compiler&()> compiler) : device_(device), compiler_(std::move(compiler)) {}

  /// Throws UserError naming the first site (host index) and word of a written field that is NaN. Fields into which
  /// words were only moved are not looked at.
  void operator()(const ir::Kernel& kernel, const Launch& launch);

 private:
  struct Code {
    ir::Kernel kernel;
    KernelCode code = nullptr;
  };

  bool may_hold_nan(Field& field, const Domain& domain);

  Device& device_;
  std::function<Compiler&()> compiler_;
  std::map<std::tuple<int, ir::Type, int, bool>, Code> known_;
};

/// The kernel: its result is 1 if any component of leaf 0 is NaN at a site of the domain, else 0.
ir::Kernel nan_kernel(int lanes, ir::Type word, int components, bool listed);

}  // namespace jit
