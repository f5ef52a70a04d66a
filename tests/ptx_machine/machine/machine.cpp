#include "machine.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

namespace ptx_machine {
namespace {

constexpr int kLaunchFailed = 719, kTimeout = 702, kInstruction = 715;

std::uint64_t read_bytes(const char* from, int bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, from, static_cast<std::size_t>(bytes));
  return value;
}

std::uint64_t widened(std::uint64_t value, int bytes, Number number) {
  if (number != Number::s || bytes == 8) return value;
  const int shift = 64 - 8 * bytes;
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value << shift) >> shift);
}

void set_lane(char* row, int row_bytes, int lane, std::uint64_t value) {
  std::memcpy(row + lane * row_bytes, &value, static_cast<std::size_t>(row_bytes));
}

}  // namespace

std::uint64_t atomic_result(AtomicOp op, Number number, int bytes, std::uint64_t old, std::uint64_t operand,
                            std::uint64_t swap) {
  const auto compute = [&]<class U, class S, class F>(U, S, F) -> std::uint64_t {
    const U a = static_cast<U>(old), b = static_cast<U>(operand);
    const bool is_signed = number == Number::s;
    switch (op) {
      case AtomicOp::exch:
        return b;
      case AtomicOp::cas:
        return a == b ? static_cast<U>(swap) : a;
      case AtomicOp::add:
        if (number == Number::f) return std::bit_cast<U>(static_cast<F>(std::bit_cast<F>(a) + std::bit_cast<F>(b)));
        return static_cast<U>(a + b);
      case AtomicOp::inc:
        return a >= b ? 0 : static_cast<U>(a + 1);
      case AtomicOp::dec:
        return a == 0 || a > b ? b : static_cast<U>(a - 1);
      case AtomicOp::min:
        return is_signed ? static_cast<U>(std::min(static_cast<S>(a), static_cast<S>(b))) : std::min(a, b);
      case AtomicOp::max:
        return is_signed ? static_cast<U>(std::max(static_cast<S>(a), static_cast<S>(b))) : std::max(a, b);
      case AtomicOp::and_:
        return a & b;
      case AtomicOp::or_:
        return a | b;
      case AtomicOp::xor_:
        return a ^ b;
      case AtomicOp::none:
        break;
    }
    return b;
  };
  return bytes == 8 ? compute(std::uint64_t{}, std::int64_t{}, double{})
                    : compute(std::uint32_t{}, std::int32_t{}, float{});
}

// ---- launches ----

void Machine::run(const Launch& launch) {
  launch_ = &launch;
  code_ = launch.code;
  constants_ = code_->constants.data();
  block_threads_ = launch.block[0] * launch.block[1] * launch.block[2];
  checked_ = launch.checked;
  engine_.seed(static_cast<std::uint32_t>(launch.seed * 2654435761u + ++launch_number_) | 1u);
  executed_ = 0;
  blocks_.clear();
  left_.clear();
  device_stores_.clear();
  found_.assign(code_->instructions.size(), nullptr);
  generation_ = memory_.generation();
  // How long a group of lanes goes on before another's turn, and how many blocks are there at a time.
  constexpr int kPatience[] = {1, 7, 50, 400};
  patience_ = checked_ ? kPatience[random() % 4] : kPatience[2 + random() % 2];
  const std::uint32_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  if (checked_) races_ = std::make_unique<Races>(launch_number_, blocks * block_threads_, block_threads_);

  std::vector<std::uint32_t> order(blocks);
  for (std::uint32_t k = 0; k < blocks; ++k) order[k] = k;
  std::shuffle(order.begin(), order.end(), engine_);
  const std::size_t most = 1 + random() % (checked_ ? 32 : 4);
  std::size_t begun = 0;
  while (begun < order.size() || !blocks_.empty()) {
    while (begun < order.size() && blocks_.size() < most) blocks_.push_back(begin_block(order[begun++]));
    // A random warp of a random block; after some vain tries, the first that can go on.
    std::size_t which = random() % blocks_.size();
    Warp* warp = nullptr;
    for (int tries = 0; tries < 8 && warp == nullptr; ++tries) {
      auto& warps = blocks_[which]->warps;
      Warp* w = warps[random() % warps.size()].get();
      if (w->runnable)
        warp = w;
      else
        which = random() % blocks_.size();
    }
    for (std::size_t b = 0; b < blocks_.size() && warp == nullptr; ++b)
      for (auto& w : blocks_[b]->warps)
        if (w->runnable) {
          warp = w.get();
          which = b;
          break;
        }
    if (warp == nullptr) deadlock();
    schedule(*blocks_[which], *warp);
    if (checked_ && one_in(4)) drain_some();
    if (blocks_[which]->threads_alive == 0) {
      end_block(std::move(blocks_[which]));
      blocks_.erase(blocks_.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
  drain_all();
  races_.reset();
}

std::unique_ptr<Machine::Block> Machine::begin_block(std::uint32_t number) {
  std::unique_ptr<Block> b;
  if (idle_blocks_.empty()) {
    b = std::make_unique<Block>();
  } else {
    b = std::move(idle_blocks_.back());
    idle_blocks_.pop_back();
  }
  b->number = number;
  b->index = {number % launch_->grid[0], number / launch_->grid[0] % launch_->grid[1],
              number / launch_->grid[0] / launch_->grid[1]};
  b->threads_alive = static_cast<int>(block_threads_);
  b->shared.resize(static_cast<std::size_t>(code_->shared_bytes) + launch_->dynamic_shared);
  fill_poison(b->shared.data(), b->shared.size());
  b->shared_set.assign(checked_ ? b->shared.size() : 0, false);
  b->shared_shadow = std::make_unique<Shadow>();
  for (Barrier& barrier : b->barriers) barrier = {};
  b->stores.clear();
  const int warps = static_cast<int>((block_threads_ + kWarp - 1) / kWarp);
  b->warps.resize(static_cast<std::size_t>(warps));
  for (int w = 0; w < warps; ++w) {
    auto& warp = b->warps[static_cast<std::size_t>(w)];
    if (warp == nullptr) warp = std::make_unique<Warp>();
    begin_warp(*b, *warp, w);
  }
  return b;
}

void Machine::begin_warp(Block& b, Warp& w, int number) {
  w.block = &b;
  w.number = number;
  const std::uint32_t threads =
      std::min<std::uint32_t>(kWarp, block_threads_ - static_cast<std::uint32_t>(number) * kWarp);
  w.alive = threads == kWarp ? kAllLanes : (1u << threads) - 1;
  w.groups.assign(1, {0, w.alive, Wait::none});
  w.runnable = true;
  if (w.memory.size() < static_cast<std::size_t>(code_->row_bytes) + 64)
    w.memory.resize(static_cast<std::size_t>(code_->row_bytes) + 64);
  w.rows = w.memory.data() + (64 - reinterpret_cast<std::uintptr_t>(w.memory.data()) % 64) % 64;
  std::memset(w.rows, 0, static_cast<std::size_t>(code_->mask_bytes));
  w.local.resize(static_cast<std::size_t>(code_->local_bytes) * kWarp);
  fill_poison(w.local.data(), w.local.size());
  w.local_set.assign(checked_ ? w.local.size() : 0, false);
  for (const auto& [name, offset] : code_->specials) {
    auto* row = reinterpret_cast<std::uint32_t*>(w.rows + offset);
    for (std::uint32_t l = 0; l < kWarp; ++l) {
      const std::uint32_t t = static_cast<std::uint32_t>(number) * kWarp + l;
      const auto axis = [&](const std::array<unsigned, 3>& values) {
        return values[static_cast<std::size_t>(name.back() - 'x')];
      };
      if (name.starts_with("%tid"))
        row[l] = name.back() == 'x'   ? t % launch_->block[0]
                 : name.back() == 'y' ? t / launch_->block[0] % launch_->block[1]
                                      : t / launch_->block[0] / launch_->block[1];
      else if (name.starts_with("%ntid"))
        row[l] = axis(launch_->block);
      else if (name.starts_with("%ctaid"))
        row[l] = axis(b.index);
      else if (name.starts_with("%nctaid"))
        row[l] = axis(launch_->grid);
      else if (name == "%laneid")
        row[l] = l;
      else if (name == "%warpid")
        row[l] = static_cast<std::uint32_t>(number);
      else if (name == "%nwarpid")
        row[l] = static_cast<std::uint32_t>(b.warps.size());
      else if (name == "%lanemask_eq")
        row[l] = 1u << l;
      else if (name == "%lanemask_lt")
        row[l] = (1u << l) - 1;
      else if (name == "%lanemask_le")
        row[l] = (2u << l) - 1;
      else if (name == "%lanemask_ge")
        row[l] = ~((1u << l) - 1);
      else if (name == "%lanemask_gt")
        row[l] = ~((2u << l) - 1);
      else
        row[l] = random();  // %smid, %clock
    }
  }
}

void Machine::end_block(std::unique_ptr<Block> b) {
  for (std::size_t k = 0; k < b->barriers.size(); ++k)
    if (b->barriers[k].arrived != 0)
      throw KernelError(kLaunchFailed, code_->name + ": block " + std::to_string(b->number) + " ends while barrier " +
                                           std::to_string(k) + " has " + std::to_string(b->barriers[k].arrived) +
                                           " threads that arrived");
  if (!b->stores.empty()) left_.push_back(std::move(b->stores));  // performed some time
  b->stores.clear();
  idle_blocks_.push_back(std::move(b));
}

void Machine::deadlock() {
  std::string text = code_->name + ": deadlock:";
  int lines = 0;
  for (const auto& b : blocks_)
    for (const auto& w : b->warps)
      for (const Group& g : w->groups)
        if (++lines <= 6) {
          char mask[16];
          std::snprintf(mask, sizeof mask, "%08x", g.mask);
          text += " block " + std::to_string(b->number) + " warp " + std::to_string(w->number) + " lanes " + mask +
                  " wait at " + code_->source_line(code_->instructions[static_cast<std::size_t>(g.at)].line) + ";";
        }
  throw KernelError(kTimeout, text);
}

std::string Machine::position(const Warp& w, int lane) const {
  return code_->name + ", thread " + std::to_string(w.number * kWarp + lane) + " of block " +
         std::to_string(w.block->number);
}

void Machine::fail(const Warp& w, int lane, const Instruction& i, int code, const std::string& what) const {
  throw KernelError(code, what + ": " + position(w, lane) + ", " + code_->source_line(i.line));
}

// ---- groups of lanes ----

void Machine::merge(Warp& w) {
  for (std::size_t a = 0; a < w.groups.size(); ++a)
    for (std::size_t b = a + 1; b < w.groups.size();)
      if (w.groups[a].at == w.groups[b].at && w.groups[a].wait == Wait::none && w.groups[b].wait == Wait::none) {
        w.groups[a].mask |= w.groups[b].mask;
        w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(b));
      } else {
        ++b;
      }
}

void Machine::schedule(Block& b, Warp& w) {
  if (w.groups.size() > 1) merge(w);
  // Lanes part for no reason, as the manual allows anywhere but at barriers.
  if (checked_ && one_in(16)) {
    const std::size_t g = random() % w.groups.size();
    const std::uint32_t part = w.groups[g].mask & random() * 65537u;
    if (w.groups[g].wait == Wait::none && part != 0 && part != w.groups[g].mask) split(w, g, part);
  }
  std::size_t best = w.groups.size();
  const bool any = checked_ ? one_in(2) : one_in(16);
  for (std::size_t g = 0; g < w.groups.size(); ++g) {
    if (w.groups[g].wait != Wait::none) continue;
    if (best == w.groups.size() || (any ? one_in(2) : w.groups[g].at < w.groups[best].at)) best = g;
  }
  if (best == w.groups.size()) {
    w.runnable = false;
    return;
  }
  run_group(w, best, 1 + static_cast<int>(random() % static_cast<std::uint32_t>(2 * patience_)));
  if (!w.runnable || b.threads_alive == 0) return;
  w.runnable = std::any_of(w.groups.begin(), w.groups.end(), [](const Group& g) { return g.wait == Wait::none; });
}

void Machine::split(Warp& w, std::size_t group, std::uint32_t mask) {
  Group part = w.groups[group];
  part.mask = mask;
  w.groups[group].mask &= ~mask;
  w.groups.push_back(part);
}

void Machine::run_group(Warp& w, std::size_t group, int budget) {
  const Instruction* code = code_->instructions.data();
  int at = w.groups[group].at;
  const std::uint32_t mask = w.groups[group].mask;
  const auto leave = [&] { w.groups[group].at = at; };
  executed_ += static_cast<std::uint64_t>(budget);
  if (executed_ > limit_)
    throw KernelError(kTimeout, code_->name + ": does not end after " + std::to_string(limit_) +
                                    " instructions; last at " + code_->source_line(code[at].line));
  const bool alone = w.groups.size() == 1;
  for (int done = 0; done < budget; ++done) {
    const Instruction& i = code[at];
    if (i.is_target && !alone && done > 0) break;  // others may be here or come
    std::uint32_t active = mask;
    if (i.guard != kNothing) {
      std::uint32_t guard;
      std::memcpy(&guard, operand(w.rows, constants_, i.guard), 4);
      active &= i.negated ? ~guard : guard;
      if (i.kind == Kind::branch) {
        if (i.uniform && active != 0 && active != mask)
          fail(w, std::countr_zero(active), i, kLaunchFailed, "bra.uni with a predicate that differs between lanes");
        if (active == 0) {
          ++at;
          continue;
        }
        if (active != mask) {
          leave();
          split(w, group, active);
          w.groups.back().at = i.target;
          w.groups[group].at = at + 1;
          return;
        }
        at = i.target;
        continue;
      }
      if (active == 0) {
        ++at;
        continue;
      }
    }
    switch (i.kind) {
      case Kind::alu:
        i.run(w.rows, constants_, i, active);
        break;
      case Kind::divide:
        divide(w, i, active);
        break;
      case Kind::branch:
        at = i.target;
        continue;
      case Kind::load_param:
        load_parameter(w, i, active);
        break;
      case Kind::load:
        if (checked_ || !load_fast(w, i, active)) load(w, i, active);
        break;
      case Kind::store:
        if (checked_ || !store_fast(w, i, active)) store(w, i, active);
        break;
      case Kind::atomic:
        atomic(w, i, active);
        break;
      case Kind::fence:
        if (checked_) fence(w, i, active);
        break;
      case Kind::check_defined: {
        std::uint32_t defined;
        std::memcpy(&defined, w.rows + i.o[0], 4);
        if ((active & ~defined) != 0)
          fail(w, std::countr_zero(active & ~defined), i, kLaunchFailed, "a register is read that was not written");
        break;
      }
      case Kind::set_defined: {
        std::uint32_t defined;
        std::memcpy(&defined, w.rows + i.o[0], 4);
        defined |= active;
        std::memcpy(w.rows + i.o[0], &defined, 4);
        break;
      }
      case Kind::dropped_reduction: {
        std::uint32_t p;
        std::memcpy(&p, operand(w.rows, constants_, i.o[3]), 4);
        if (i.not_c) p = ~p;
        auto* d = reinterpret_cast<std::uint32_t*>(w.rows + i.o[0]);
        *d = (*d & ~active) | (p & active);
        break;
      }
      case Kind::trap:
        fail(w, std::countr_zero(active), i, kInstruction, "trap");
      case Kind::exit: {
        leave();
        if (active != mask) {
          split(w, group, active);
          w.groups[group].at = at + 1;
          w.groups.pop_back();
        } else {
          w.groups.erase(w.groups.begin() + static_cast<std::ptrdiff_t>(group));
        }
        exit_lanes(w, active);
        return;
      }
      case Kind::active_mask: {
        auto* d = reinterpret_cast<std::uint32_t*>(w.rows + i.o[0]);
        for (int l = 0; l < kWarp; ++l)
          if ((active >> l & 1) != 0) d[l] = active;
        break;
      }
      case Kind::barrier:
      case Kind::warp_barrier:
      case Kind::shuffle:
      case Kind::vote:
      case Kind::match: {
        leave();
        std::size_t here = group;
        if (active != mask) {  // the others go on
          split(w, group, active);
          w.groups[group].at = at + 1;
          here = w.groups.size() - 1;
        }
        if (i.kind == Kind::barrier) {
          arrive(w, here, i);
          return;
        }
        const bool whole = alone && active == mask && active == w.alive;
        meet(w, here, i);
        if (whole && w.groups.size() == 1 && w.groups[0].wait == Wait::none) {
          ++at;
          continue;
        }
        return;
      }
    }
    ++at;
  }
  leave();
}

void Machine::exit_lanes(Warp& w, std::uint32_t mask) {
  w.alive &= ~mask;
  w.block->threads_alive -= std::popcount(mask);
  if (w.groups.empty()) w.runnable = false;
  // Those who wait for the lanes that have gone go on.
  for (std::size_t g = 0; g < w.groups.size(); ++g)
    if (w.groups[g].wait == Wait::lanes) {
      w.groups[g].wait = Wait::none;
      w.runnable = true;
    }
  complete_barriers(*w.block);
}

// ---- barriers ----

void Machine::arrive(Warp& w, std::size_t group, const Instruction& i) {
  Block& b = *w.block;
  Group& g = w.groups[group];
  const int first = std::countr_zero(g.mask);
  const std::uint32_t number = lane_value32(w, i.o[1], first);
  for (int l = 0; l < kWarp; ++l)
    if ((g.mask >> l & 1) != 0 && lane_value32(w, i.o[1], l) != number)
      fail(w, l, i, kLaunchFailed, "lanes of a warp at barriers of different numbers");
  if (number >= b.barriers.size())
    fail(w, first, i, kLaunchFailed, "barriers are 0 to 15, got " + std::to_string(number));
  if (i.aligned)
    for (const Group& other : w.groups)
      if (&other != &g && other.wait == Wait::barrier && other.at != g.at)
        fail(w, first, i, kLaunchFailed,
             "lanes of a warp at different barriers: others at " +
                 code_->source_line(code_->instructions[static_cast<std::size_t>(other.at)].line));
  Barrier& barrier = b.barriers[number];
  barrier.arrived += std::popcount(g.mask);
  if (i.o[3] != kNothing) {
    std::uint32_t p;
    std::memcpy(&p, operand(w.rows, constants_, i.o[3]), 4);
    if (i.not_c) p = ~p;
    barrier.votes += static_cast<std::uint32_t>(std::popcount(p & g.mask));
    barrier.voters += static_cast<std::uint32_t>(std::popcount(g.mask));
  }
  if (races_ != nullptr)
    for (int l = 0; l < kWarp; ++l)
      if ((g.mask >> l & 1) != 0) barrier.threads.push_back(thread(w, l));
  if (i.arrive) {
    if (i.o[2] == kNothing) fail(w, first, i, kLaunchFailed, "bar.arrive without a number of threads");
    ++g.at;
  } else {
    g.wait = Wait::barrier;
  }
  complete_barriers(b);
}

void Machine::complete_barriers(Block& b) {
  for (std::size_t k = 0; k < b.barriers.size(); ++k) {
    Barrier& barrier = b.barriers[k];
    if (barrier.arrived == 0) continue;
    int due = b.threads_alive;
    for (const auto& w : b.warps)
      for (const Group& g : w->groups) {
        const Instruction& i = code_->instructions[static_cast<std::size_t>(g.at)];
        const int lane = std::countr_zero(g.mask);
        if (g.wait == Wait::barrier && lane_value32(*w, i.o[1], lane) == k && i.o[2] != kNothing)
          due = static_cast<int>(lane_value32(*w, i.o[2], lane));
      }
    if (barrier.arrived > due)
      throw KernelError(kLaunchFailed, code_->name + ": block " + std::to_string(b.number) + ": " +
                                           std::to_string(barrier.arrived) + " threads at barrier " +
                                           std::to_string(k) + " for " + std::to_string(due));
    if (barrier.arrived == due) release(b, static_cast<int>(k));
  }
}

void Machine::release(Block& b, int number) {
  Barrier& barrier = b.barriers[static_cast<std::size_t>(number)];
  int aligned_line = -1;
  for (const auto& w : b.warps) {
    std::uint32_t waiting = 0;
    for (Group& g : w->groups) {
      const Instruction& i = code_->instructions[static_cast<std::size_t>(g.at)];
      const int lane = std::countr_zero(g.mask);
      if (g.wait != Wait::barrier || lane_value32(*w, i.o[1], lane) != static_cast<std::uint32_t>(number)) continue;
      waiting |= g.mask;
      if (i.aligned) aligned_line = i.line;
      if (i.o[3] != kNothing) {
        const auto mode = static_cast<Reduction>(i.mode);
        const std::uint32_t result = mode == Reduction::popc ? barrier.votes
                                     : (mode == Reduction::or_ ? barrier.votes != 0 : barrier.votes == barrier.voters)
                                         ? kAllLanes
                                         : 0;
        auto* d = reinterpret_cast<std::uint32_t*>(w->rows + i.o[0]);
        if (mode == Reduction::popc) {
          for (int l = 0; l < kWarp; ++l)
            if ((g.mask >> l & 1) != 0) d[l] = result;
        } else {
          *d = (*d & ~g.mask) | (result & g.mask);
        }
      }
      g.wait = Wait::none;
      ++g.at;
      w->runnable = true;
    }
    // With a number of threads a warp takes part as a whole: the manual wants a multiple of its size.
    if (aligned_line >= 0 && waiting != 0 && waiting != w->alive)
      throw KernelError(kLaunchFailed, code_->name + ": block " + std::to_string(b.number) + " warp " +
                                           std::to_string(w->number) +
                                           ": only some of the warp's lanes arrive at an aligned barrier, " +
                                           code_->source_line(aligned_line));
    merge(*w);
  }
  if (races_ != nullptr) races_->barrier(barrier.threads);
  barrier = {};
}

// ---- lanes that must meet ----

void Machine::meet(Warp& w, std::size_t group, const Instruction& i) {
  // Lanes of one group may name different sets.
  Group g = w.groups[group];
  const int first = std::countr_zero(g.mask);
  const std::uint32_t named = lane_value32(w, i.o[5], first);
  std::uint32_t same = 0;
  for (int l = 0; l < kWarp; ++l) {
    if ((g.mask >> l & 1) == 0) continue;
    const std::uint32_t theirs = lane_value32(w, i.o[5], l);
    if ((theirs >> l & 1) == 0) fail(w, l, i, kLaunchFailed, "a lane that its own mask does not name");
    if (theirs == named) same |= 1u << l;
  }
  if (same != g.mask) {
    split(w, group, g.mask & ~same);
    g = w.groups[group];
  }
  // Who waits here with the same mask?
  std::uint32_t here = g.mask;
  for (const Group& other : w.groups)
    if (other.wait == Wait::lanes && other.at == g.at && lane_value32(w, i.o[5], std::countr_zero(other.mask)) == named)
      here |= other.mask;
  if ((named & w.alive & ~here) != 0) {
    w.groups[group].wait = Wait::lanes;
    return;
  }
  const std::uint32_t mask = here & named;
  const int at = g.at;
  std::erase_if(w.groups, [&](const Group& other) { return (other.mask & mask) != 0; });
  exchange(w, i, mask);
  w.groups.push_back({at + 1, mask, Wait::none});
}

void Machine::exchange(Warp& w, const Instruction& i, std::uint32_t mask) {
  switch (i.kind) {
    case Kind::warp_barrier:
      if (races_ != nullptr) {
        std::vector<std::uint32_t> threads;
        for (int l = 0; l < kWarp; ++l)
          if ((mask >> l & 1) != 0) threads.push_back(thread(w, l));
        races_->barrier(threads);
      }
      break;
    case Kind::shuffle: {
      std::uint32_t from[kWarp], to[kWarp], valid = 0;
      for (int l = 0; l < kWarp; ++l) from[l] = lane_value32(w, i.o[1], l);
      for (int l = 0; l < kWarp; ++l) {
        const int b = static_cast<int>(lane_value32(w, i.o[2], l) & 31),
                  c = static_cast<int>(lane_value32(w, i.o[3], l));
        const int clamp = c & 31, segment = c >> 8 & 31;
        const int last = (l & segment) | (clamp & ~segment), begin = l & segment;
        int j = 0;
        bool inside = false;
        switch (static_cast<Shuffle>(i.mode)) {
          case Shuffle::up:
            j = l - b;
            inside = j >= last;
            break;
          case Shuffle::down:
            j = l + b;
            inside = j <= last;
            break;
          case Shuffle::bfly:
            j = l ^ b;
            inside = j <= last;
            break;
          case Shuffle::idx:
            j = begin | (b & ~segment);
            inside = j <= last;
            break;
        }
        if (!inside) j = l;
        valid |= static_cast<std::uint32_t>(inside) << l;
        to[l] = (mask >> j & 1) != 0 ? from[j] : static_cast<std::uint32_t>(kPoison);  // of a lane that is not there
      }
      auto* d = reinterpret_cast<std::uint32_t*>(w.rows + i.o[0]);
      if (i.o[0] != kNothing)
        for (int l = 0; l < kWarp; ++l)
          if ((mask >> l & 1) != 0) d[l] = to[l];
      if (i.o[4] != kNothing) {
        auto* p = reinterpret_cast<std::uint32_t*>(w.rows + i.o[4]);
        *p = (*p & ~mask) | (valid & mask);
      }
      break;
    }
    case Kind::vote: {
      std::uint32_t p;
      std::memcpy(&p, operand(w.rows, constants_, i.o[1]), 4);
      if (i.not_c) p = ~p;
      p &= mask;
      auto* d = reinterpret_cast<std::uint32_t*>(w.rows + i.o[0]);
      const auto mode = static_cast<Vote>(i.mode);
      if (mode == Vote::ballot) {
        for (int l = 0; l < kWarp; ++l)
          if ((mask >> l & 1) != 0) d[l] = p;
      } else {
        const bool yes = mode == Vote::all ? p == mask : mode == Vote::any ? p != 0 : p == mask || p == 0;
        *d = yes ? *d | mask : *d & ~mask;
      }
      break;
    }
    case Kind::match: {
      auto* d = reinterpret_cast<std::uint32_t*>(w.rows + i.o[0]);
      std::uint32_t result[kWarp]{};
      for (int l = 0; l < kWarp; ++l)
        for (int k = 0; k < kWarp; ++k)
          if ((mask >> k & 1) != 0 && lane_value(w, i.o[1], i.row_bytes, l) == lane_value(w, i.o[1], i.row_bytes, k))
            result[l] |= 1u << k;
      for (int l = 0; l < kWarp; ++l)
        if ((mask >> l & 1) != 0) d[l] = result[l];
      break;
    }
    default:
      break;
  }
}

// ---- values of lanes ----

std::uint32_t Machine::lane_value32(const Warp& w, int o, int lane) const {
  std::uint32_t value;
  std::memcpy(&value, operand(w.rows, constants_, o) + 4 * lane, 4);
  return value;
}
std::uint64_t Machine::lane_value(const Warp& w, int o, int row_bytes, int lane) const {
  return read_bytes(operand(w.rows, constants_, o) + row_bytes * lane, row_bytes);
}
std::uint64_t Machine::lane_address(const Warp& w, const Instruction& i, int lane) const {
  return lane_value(w, i.o[4], i.address_bytes, lane) + static_cast<std::uint64_t>(i.immediate);
}
std::uint32_t Machine::thread(const Warp& w, int lane) const {
  return w.block->number * block_threads_ + static_cast<std::uint32_t>(w.number * kWarp + lane);
}

void Machine::divide(Warp& w, const Instruction& i, std::uint32_t mask) {
  for (int l = 0; l < kWarp; ++l) {
    if ((mask >> l & 1) == 0) continue;
    std::uint64_t a = lane_value(w, i.o[1], i.row_bytes, l), b = lane_value(w, i.o[2], i.row_bytes, l), d;
    if (i.bytes < i.row_bytes) a &= 0xFFFF, b &= 0xFFFF;
    if (b == 0) fail(w, l, i, kLaunchFailed, "an integer divided by zero");
    if (i.number == Number::u) {
      d = i.mode != 0 ? a % b : a / b;
    } else {
      const auto x = static_cast<std::int64_t>(widened(a, i.bytes, Number::s));
      const auto y = static_cast<std::int64_t>(widened(b, i.bytes, Number::s));
      if (y == -1)
        d = i.mode != 0 ? 0 : static_cast<std::uint64_t>(0) - static_cast<std::uint64_t>(x);
      else
        d = static_cast<std::uint64_t>(i.mode != 0 ? x % y : x / y);
    }
    if (i.bytes == 2) d &= 0xFFFF;
    set_lane(w.rows + i.o[0], i.row_bytes, l, d);
  }
}

void Machine::load_parameter(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (i.o[0] == kNothing) return;
  const std::uint64_t value = widened(read_bytes(launch_->parameters.data() + i.immediate, i.bytes), i.bytes, i.number);
  for (int l = 0; l < kWarp; ++l)
    if ((mask >> l & 1) != 0) set_lane(w.rows + i.o[0], i.row_bytes, l, value);
}

}  // namespace ptx_machine
