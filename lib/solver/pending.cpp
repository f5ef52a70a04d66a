#include "lib/solver/pending.hpp"

#include <algorithm>
#include <iterator>

namespace qcd {

bool Solve::advance() {
  handle_.resume();
  if (!handle_.done()) return true;
  if (const std::exception_ptr failure = handle_.promise().failure) std::rethrow_exception(failure);
  return false;
}

SolveResult Solve::take() {
  SolveResult result = std::move(handle_.promise().result);
  std::exchange(handle_, {}).destroy();
  return result;
}

SolveResult Solve::run() {
  while (advance()) {
  }
  return take();
}

std::vector<SolveResult> Solve::run_all(std::vector<Solve>& solves, int together, double bytes) {
  QDP::Alongside many(together, bytes);
  std::vector<SolveResult> results(solves.size());
  std::vector<std::size_t> running;
  std::size_t begun = 0;
  do {
    while (std::ssize(running) < many.computations() && begun < solves.size()) running.push_back(begun++);
    const auto end_of_round = running.begin() + many.next_round(static_cast<int>(running.size()));
    running.erase(std::remove_if(running.begin(), end_of_round,
                                 [&](std::size_t i) {
                                   if (solves[i].advance()) return false;
                                   results[i] = solves[i].take();
                                   return true;
                                 }),
                  end_of_round);
  } while (!running.empty() || begun < solves.size());
  return results;
}

}  // namespace qcd
