// A kernel without machine code: for each block of a few groups of sites, one operation after the other is carried out on all of
// the block's words. It begins at once, takes a few times as long as compiled code does, and has the same bits.
//
// Values are in the lanes' order in every frame: an exchange of lanes is all in `permute`, where compiled code has a part of it in
// addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "jit/codegen/block_operations.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

class BlockProgram {
 public:
  /// nullptr: the kernel has elementary functions, or operands in host order. Throws InternalError if it is not a kernel.
  static std::unique_ptr<const BlockProgram> make(const ir::Kernel& kernel);

  /// As a KernelFunction. Thread safe.
  void run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end) const;

  /// About what a thread takes for so many groups.
  static double seconds(const ir::Kernel& kernel, double groups);
  std::size_t memory() const { return (once_.size() + each_.size()) * sizeof(Instruction); }

 private:
  enum class Kind : std::uint8_t { operation, load, permute, store, reduction };
  struct Instruction {
    Kind kind;
    std::uint8_t word = 0;  ///< bytes of a permutation's words
    BlockOperation operation = nullptr;
    std::uint32_t result = 0, a = 0, b = 0, c = 0;  ///< first bytes of values in a thread's memory
    int number = 0;  ///< of the load's node, the permutation's slot, the store, the reduction
  };
  /// A value that is the same at all sites.
  struct Uniform {
    int node;
    std::uint32_t at;
  };
  class Builder;
  class Execution;

  explicit BlockProgram(const ir::Kernel& kernel) : kernel_(kernel) {}

  const ir::Kernel& kernel_;
  int groups_ = 1, words_ = kBlockWords;  ///< of a block
  std::size_t bytes_ = 0;                 ///< of a thread's memory
  std::vector<Uniform> uniforms_;
  std::vector<Instruction> once_, each_;
};

}  // namespace jit
