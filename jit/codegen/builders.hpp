// Threads that build kernels beside the program.
//
// LLVM's contexts and target machines belong to one thread at a time, so each thread has a target of its own. What it makes is
// loaded by the thread that asks for it (Compiler::adopt).
//
// At the end of the main thread or the process, and before it is forked, builds that have begun are waited for, some 0.2 seconds. A
// process that is forked off has no such threads: what was ordered before is never done there, and new orders start new ones.
#pragma once

#include <exception>
#include <functional>
#include <memory>

#include "jit/codegen/codegen.hpp"

namespace jit {

class Builders {
 public:
  /// `make_target` is called by the threads, one at a time. The object lives as long as the process.
  explicit Builders(std::function<std::unique_ptr<Target>()> make_target);

  /// One kernel to build. Dropped before a thread has begun with it, it is not built.
  class Order {
   public:
    /// Whether take() has something to say. Never waits.
    bool done() const;
    /// After done(), once. Throws what build_kernel() has thrown.
    BuiltKernel take();

   private:
    friend class Builders;
    struct State;
    std::shared_ptr<State> state_;
  };
  /// `soon`: the program will wait for it, so it comes before what it can do without.
  Order order(const ir::Kernel& kernel, const CodeOptions& options, bool soon = false);
  /// Waits for an order that a thread is at work on: true, and it is done. Takes back one that none is: false, and it is not built.
  bool finish(const Order& order);

  /// Waits until nothing is ordered that is not done.
  void wait();
  /// Drops what no thread has begun with, and waits for the rest.
  void finish();

 private:
  struct State;
  State* state_;
};

}  // namespace jit
