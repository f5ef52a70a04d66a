#include "races.hpp"

#include <algorithm>

namespace ptx_machine {

Cell& Shadow::cell(std::uint64_t number, std::uint32_t launch) {
  auto& page = pages[number / kPage];
  if (page == nullptr) page = std::make_unique<std::array<Cell, kPage>>();
  Cell& c = (*page)[number % kPage];
  if (c.launch != launch) {
    c.launch = launch;
    c.operation = AtomicOp::none;
    c.write = c.constant = {};
    c.reads.clear();
    c.atomics.clear();
  }
  return c;
}

Races::Races(std::uint32_t launch, std::uint32_t threads, std::uint32_t block_threads)
    : launch_(launch), block_threads_(block_threads), threads_(threads) {}

bool Races::ordered(std::uint32_t before, std::uint32_t time, std::uint32_t thread) const {
  if (before == thread) return true;
  const SharedClock& known = threads_[thread].known;
  return known != nullptr && (*known)[before] >= time;
}

void Races::remember(std::vector<Access>& list, const Access& a, const Races& races) {
  for (std::size_t k = 0; k < list.size();) {
    if (list[k].thread == a.thread || races.ordered(list[k].thread, list[k].time, a.thread)) {
      list[k] = list.back();
      list.pop_back();
    } else {
      ++k;
    }
  }
  list.push_back(a);
}

SharedClock Races::join(const SharedClock& a, const SharedClock& b) {
  if (a == nullptr || a == b) return b;
  if (b == nullptr) return a;
  auto both = std::make_shared<Clock>(*a);
  for (std::size_t k = 0; k < both->size(); ++k) (*both)[k] = std::max((*both)[k], (*b)[k]);
  return both;
}

void Races::barrier(const std::vector<std::uint32_t>& threads) {
  SharedClock all;
  for (const std::uint32_t t : threads) all = join(all, threads_[t].known);
  auto known = all == nullptr ? std::make_shared<Clock>(threads_.size()) : std::make_shared<Clock>(*all);
  for (const std::uint32_t t : threads) (*known)[t] = threads_[t].now++;
  for (const std::uint32_t t : threads) threads_[t].known = known;
}

void Races::fence(std::uint32_t thread, Scope scope) {
  Thread& t = threads_[thread];
  t.known = join(t.known, t.pending_block);
  if (scope != Scope::cta) t.known = join(t.known, t.pending);
  auto released = t.known == nullptr ? std::make_shared<Clock>(threads_.size()) : std::make_shared<Clock>(*t.known);
  (*released)[thread] = t.now;
  t.released_at = t.now++;
  t.released_block = released;
  if (scope != Scope::cta) t.released = released;
}

void Races::publish(std::uint64_t address, std::uint32_t thread, Scope scope, bool read_too) {
  const Thread& t = threads_[thread];
  if (t.released_block == nullptr && read_too) return;
  const auto found = published_.find(address);
  if (t.released_block == nullptr && found == published_.end()) return;
  Published& p = found == published_.end() ? published_[address] : found->second;
  const std::uint32_t block = thread / block_threads_;
  if (!read_too) p = {};  // a plain store ends what others told through this place
  if (scope != Scope::cta) p.all = join(p.all, t.released);
  p.blocks[block] = join(p.blocks[block], t.released_block);
}

void Races::observe(std::uint64_t address, std::uint32_t thread, Scope scope) {
  const auto found = published_.find(address);
  if (found == published_.end()) return;
  Thread& t = threads_[thread];
  const auto block = found->second.blocks.find(thread / block_threads_);
  if (block != found->second.blocks.end()) t.pending_block = join(t.pending_block, block->second);
  if (scope != Scope::cta) t.pending = join(t.pending, found->second.all);
}

std::string Races::name(std::uint32_t thread) const {
  return "thread " + std::to_string(thread % block_threads_) + " of block " + std::to_string(thread / block_threads_);
}

void Races::fail(const std::string& what, const Access& before, std::uint32_t thread, int line) const {
  throw KernelError(719, what + ": " + name(thread) + ", line " + std::to_string(line) + ", and " +
                             name(before.thread) + ", line " +
                             std::to_string(before.line < 0 ? -before.line : before.line));
}

}  // namespace ptx_machine
