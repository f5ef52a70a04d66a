// Iterations that are carried on in turn: each stops where it needs a sum over the lattice, so that the statements of all of
// them are known before the first is computed. What they have in common, links above all, is then read once for all.
//
// A solver is written once, as a coroutine: `const double rr = co_await square(r, s);` is a sum when it runs alone.
#pragma once

#include <coroutine>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "lib/solver/solver.hpp"

namespace qcd {

/// A solve under way. What its function was given must outlive it.
class Solve {
 public:
  struct promise_type {
    SolveResult result;
    std::exception_ptr failure;

    Solve get_return_object() { return Solve(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(SolveResult r) { result = std::move(r); }
    void unhandled_exception() { failure = std::current_exception(); }

    /// Goes on when the others have asked for what they need.
    template <class Pending>
    auto await_transform(Pending pending) {
      struct Wait : std::suspend_always {
        Pending pending;
        auto await_resume() const { return pending.get(); }
      };
      return Wait{{}, std::move(pending)};
    }
  };

  Solve(Solve&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Solve& operator=(Solve&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Solve() {
    if (handle_) handle_.destroy();
  }

  /// To its end, alone.
  SolveResult run();
  /// All of them in turn, at most `together` at a time, fewer where memory has no room for as many times `bytes`; the results in their
  /// order. Throws what one of them throws.
  static std::vector<SolveResult> run_all(std::vector<Solve>& solves, int together, double bytes);

 private:
  explicit Solve(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  /// To the next sum; false: it has come to its end.
  bool advance();
  SolveResult take();

  std::coroutine_handle<promise_type> handle_;
};

/// Right-hand sides that are solved at a time: they share what is read for all, and each needs memory of its own.
inline constexpr int kSidesTogether = 4;
/// Vectors that a solve takes beside its solution and its source, with those that are on the way: eleven of the solvers here.
inline constexpr int kVectorsOfSolve = 12;

/// solve_all() by the coroutine solve(x_i, b_i).
template <class F, class Function>
std::vector<SolveResult> solve_together(std::vector<F>& x, const std::vector<F>& b, const Function& solve) {
  require_as_many(x.size(), b.size());
  std::vector<Solve> solves;
  for (std::size_t i = 0; i < b.size(); ++i) solves.push_back(solve(x[i], b[i]));
  const double bytes = kVectorsOfSolve * sizeof(typename F::Subtype_t) * double(QDP::Layout::sitesOnNode());
  return Solve::run_all(solves, kSidesTogether, bytes);
}

}  // namespace qcd
