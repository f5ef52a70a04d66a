// Reductions of kernels for threads (arithmetic: ir/sum.hpp, memory: ir/abi.hpp).
//
//   summand -> digits in registers, relative to the largest of the thread's summands
//   -> sum of the warp (shuffles) -> of the block (its warps' sums in shared memory, shuffles) -> SumBins (one addition per
//   block and digit)
//   -> results, by the block that is the last to get there
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "jit/codegen/llvm.hpp"
#include "jit/codegen/simt_code.hpp"
#include "jit/ir/ir.hpp"

namespace jit {

class SimtSums : private SimtCode {
 public:
  SimtSums(llvm::IRBuilder<>& builder, const ir::Kernel& kernel) : SimtCode(builder), kernel_(kernel) {}

  /// At the entry of the function, with its parameters: addresses of the sums and of the results, i64.
  void begin(Value* sums, Value* results, Value* launch_number);
  /// Summand `x` of one site, f64.
  void add(std::size_t r, Value* x);
  /// GPU: after the last summand of each thread. Blocks have a multiple of 32 threads.
  void finish_block();
  /// Host: threads [first, last) of `threads`, all i64, were one, and a block.
  void finish_call(Value* first, Value* last, Value* threads);

 private:
  /// What a thread has of one reduction: addresses of variables that optimisers turn into registers.
  struct State {
    Value* window = nullptr;         ///< i32
    std::array<Value*, 3> digits{};  ///< i64, sums of d_0, d_1, d_2 relative to the window
    Value* extremum = nullptr;       ///< i64, as in SumBins
  };
  using Digits = std::array<Value*, 3>;

  State make_state(ir::Reduction::Kind kind);
  Value* get(Value* variable);
  void set(Value* variable, Value* value);
  Digits get(const State& s);
  Value* bits_of(Value* x);
  Value* upper_half(Value* bits);
  void extremum(std::size_t r, Value* x);
  Value* larger(Value* a, Value* b);
  /// Digits at a window, moved to one that is higher by `distance`.
  Digits raise(const Digits& d, Value* distance);
  /// The digits of x < 2^(top-1) relative to top.
  Digits digits(Value* x, Value* window_of_x);
  void sum(std::size_t r, Value* x);
  Value* window_of(Value* i);
  Value* top_of(Value* window_of_top);

  Value* atomic(llvm::AtomicRMWInst::BinOp operation, Value* where, Value* value,
                llvm::AtomicOrdering order = llvm::AtomicOrdering::Monotonic);
  /// A word of SumBins `r` in device memory.
  Value* global_word(std::size_t r, Value* word);
  void add_to_bins(std::size_t r, Value* i, const Digits& d);
  /// The words of a thread's part of reduction `r`: an extremum, or window and digits; and the parts of a warp made one.
  static std::size_t words_of_part(const State& s) { return s.extremum ? 1 : 1 + s.digits.size(); }
  std::vector<Value*> part_of_thread(std::size_t r);
  std::vector<Value*> over_warp(std::size_t r, const std::vector<Value*>& part);
  void add_to_bins(std::size_t r, const std::vector<Value*>& part);
  /// The words first, first + step, ... of all bins, to the results. Exchanges read where the additions were done, not
  /// in a cache of this processor.
  void move_bins(Value* first, Value* step);
  void set_mark_of_results(llvm::AtomicOrdering order);
  /// Of another thread of the warp: that whose number differs in the bits `exchange`.
  Value* from_thread(Value* x, unsigned exchange);
  template <class Combine>
  Value* over_warp(Value* x, const Combine& combine);
  void barrier();
  void hand_over(Value* me, Value* threads);

  const ir::Kernel& kernel_;
  std::vector<State> states_;
  Value *sums_ = nullptr, *bins_ = nullptr, *results_ = nullptr, *launch_number_ = nullptr;
};

}  // namespace jit
