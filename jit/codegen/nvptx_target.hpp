// NVIDIA GPUs as LLVM knows them: PTX from kernels. make_nvptx_target() (codegen.hpp) makes the target of it.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "jit/codegen/llvm.hpp"

namespace llvm {
class TargetMachine;
}

namespace jit {

/// Bytes of parameters that every driver launches with. (PTX allowed 4352 from its start, but a launch 4096.) From
/// PTX 8.1 and CUDA 12.1 on it is 32764.
constexpr std::size_t kFewParameters = 4096;

class NvptxTarget {
 public:
  enum class Parameters { few, many };

  /// The newest architecture LLVM knows that GPUs of compute capability `sm` run. Throws DeviceError below 75.
  /// `many`: for kernels of more than kFewParameters bytes of parameters; drivers before that of CUDA 12.1 refuse them.
  explicit NvptxTarget(int sm, Parameters parameters = Parameters::few);
  ~NvptxTarget();

  const std::string& description() const { return description_; }
  /// Gives the module this target's triple and data layout.
  void adopt(llvm::Module& module) const;
  /// Defines the functions of libdevice that the module calls, if any. Throws DeviceError if libdevice is needed and
  /// not to be found.
  void link_libdevice(llvm::Module& module) const;
  void optimise(llvm::Module& module) const;
  /// PTX. Throws InternalError with LLVM's message.
  std::string compile(llvm::Module& module) const;

 private:
  std::unique_ptr<llvm::TargetMachine> machine_;
  std::string description_;
};

}  // namespace jit
