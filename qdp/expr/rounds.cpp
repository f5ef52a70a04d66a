#include "qdp/expr/rounds.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "jit/comm/collectives.hpp"
#include "jit/comm/communicator.hpp"
#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/lock.hpp"
#include "qdp/expr/evaluate.hpp"

namespace QDP::detail {
namespace {
constexpr int kRounds = 6;  // of a sample: whole iterations that ask for one, two or three sums
}

bool Rounds::choose() {
  return jit::env().fuse && jit::env().tune != jit::Env::Tune::off && jit::process_communicator().size() == 1;
}

Rounds::Rounds(int computations) {
  if (computations > 1 && choose()) turns_.emplace(static_cast<std::size_t>(computations));
}

int Rounds::next(int under_way) {
  if (!turns_) return under_way;
  const auto at_once = [&] { return static_cast<int>(turns_->at_once()); };
  if (!turns_->trying() || under_way < at_once()) {
    rounds_ = 0;
    return std::min(at_once(), under_way);
  }
  const Clock::time_point now = Clock::now();
  const jit::Runtime& runtime = jit::Runtime::instance();
  const std::int64_t unsettled = runtime.postponed() + runtime.trials();
  if (unsettled != unsettled_) rounds_ = 0;
  if (rounds_ == kRounds) {
    turns_->record(std::chrono::duration<double>(now - begin_).count() / at_once());
    rounds_ = 0;
    return next(under_way);
  }
  if (rounds_++ == 0) begin_ = now, unsettled_ = unsettled;
  return at_once();
}

int with_room_for(int computations, double bytes) {
  const jit::RuntimeLock lock;
  const double most = bytes > 0 ? static_cast<double>(jit::Memory::instance().room()) / bytes : computations;
  int number = static_cast<int>(std::clamp<double>(most, 1, std::max(computations, 1)));
  jit::reduce(jit::process_communicator(), std::span(&number, 1), jit::ReductionValue::Kind::min);
  return number;
}

std::shared_ptr<Rounds> rounds(int computations) {
  const jit::RuntimeLock lock;
  return std::make_shared<Rounds>(computations);
}

int next_round(Rounds& rounds, int under_way) { return rounds.next(under_way); }

}  // namespace QDP::detail
