// The assembler's registers and memory: which value is where.
//
// Vector registers are given to the values that are needed soonest (Belady's rule). A value without a register is read again from its home:
// the field or the constant that it came from, or a slot of the stack that it was put into.
#pragma once

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/kernel_values.hpp"
#include "jit/codegen/vector_isa.hpp"
#include "jit/support/error.hpp"

namespace jit {

/// Those of this processor.
inline BitInstructions bit_instructions(VectorIsa isa) {
  if (isa != VectorIsa::avx512) return {};
  return {.of_three = true, .splice = __builtin_cpu_supports("avx512vbmi2") != 0};
}

class VectorRegisters : protected Xbyak::CodeGenerator, protected KernelValues {
 protected:
  using Type = ir::Type;  // Xbyak has another
  using Reg64 = Xbyak::Reg64;
  using Xmm = Xbyak::Xmm;
  using Ymm = Xbyak::Ymm;
  using Zmm = Xbyak::Zmm;

  VectorRegisters(const ir::Kernel& kernel, VectorIsa isa, int lanes, int parts, std::size_t room, void* buffer)
      : CodeGenerator(room, buffer),
        KernelValues(kernel, lanes, parts, bit_instructions(isa)),
        isa_(isa),
        avx512_(isa == VectorIsa::avx512),
        width_(register_bytes(isa)) {
    for (int i = 0; i < 32; ++i) x_[std::size_t(i)] = Xmm(i), y_[std::size_t(i)] = Ymm(i), z_[std::size_t(i)] = Zmm(i);
  }

  // ---- memory: cells of eight bytes, behind them vectors; constants behind the code ----------------------------------

  int new_cell() { return cells_++; }
  int new_vector() { return vectors_at_ + width_ * vectors_++; }
  int frame_bytes() const { return (vectors_at_ + width_ * vectors_ + 63) / 64 * 64; }
  int new_slot() {
    if (slots_.empty()) return new_vector();
    const int at = slots_.back();
    slots_.pop_back();
    return at;
  }
  Xbyak::Address cell(int c) { return qword[rsp + 8 * c]; }
  Xbyak::Address stack(int at) { return ptr[rsp + at]; }
  /// A constant of the pool: a vector's worth of words.
  int constant(std::uint64_t bits, int word_bytes) {
    const auto [entry, is_new] = constants_.try_emplace({bits, word_bytes}, int(pool_.size()));
    if (is_new) {
      std::string vector;
      while (int(vector.size()) < width_) vector.append(reinterpret_cast<const char*>(&bits), std::size_t(word_bytes));
      pool_.push_back({{}, std::move(vector)});
    }
    return entry->second;
  }
  Xbyak::Address in_pool(int number) { return ptr[rip + pool_[std::size_t(number)].label]; }
  Xbyak::Address memory(const Home& home) {
    switch (home.kind) {
      case Home::Kind::cell:
        return ptr[cached(home.cell) + home.at];
      case Home::Kind::stack:
        return stack(home.at);
      default:
        return in_pool(home.at);
    }
  }

  void call_by_name(const std::string& name) {
    auto known = std::ranges::find_if(callees_, [&](const auto& c) { return c.first == name; });
    if (known == callees_.end()) known = callees_.insert(known, {name, Xbyak::Label{}});
    call(ptr[rip + known->second]);
  }
  /// What code reads and the addresses that it calls, behind it.
  void write_pool() {
    align(64);
    for (PoolEntry& entry : pool_) {
      L(entry.label);
      for (const char c : entry.bytes) db(std::uint8_t(c));
    }
    for (auto& [name, label] : callees_) {
      L(label);
      dq(0);
    }
  }
  struct PoolEntry {
    Xbyak::Label label;
    std::string bytes;
  };

  // ---- general registers: addresses, and what they are computed from -------------------------------------------------
  //
  // A cell is computed where it is first asked for, and written to memory if it must make room before its last use.

  static constexpr int kCached[] = {Xbyak::Operand::RCX, Xbyak::Operand::RDX, Xbyak::Operand::RSI, Xbyak::Operand::RDI,
                                    Xbyak::Operand::R8,  Xbyak::Operand::R9,  Xbyak::Operand::R10, Xbyak::Operand::R11,
                                    Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};
  static constexpr int kCacheSize = int(std::size(kCached));
  struct CachedCell {
    int cell = -1;
    bool is_new = false;  ///< memory does not have it
    std::int64_t used = 0;
  };

  /// `compute` defines these cells when one of them is asked for. It may use rax, and of the registers of the cells that it asks for those
  /// of the last three: what it defines and asks for takes the place of others.
  void when_asked(const std::vector<int>& cells, const std::vector<int>& reads, std::function<void()> compute) {
    computations_.push_back({cells, reads, std::move(compute)});
    for (const int c : cells) pending_[c] = int(computations_.size()) - 1;
    for (const int c : reads) ++readers_[c];
  }
  /// Registers a use of a cell by the instructions of a step.
  void uses_cell(int c, int step) {
    if (c >= int(last_use_.size())) last_use_.resize(std::size_t(c) + 1, -1);
    last_use_[std::size_t(c)] = std::max(last_use_[std::size_t(c)], step);
  }
  Reg64 cached(int c) {
    if (const std::optional<Reg64> r = in_register(c)) return *r;
    const Reg64 r = register_for({.cell = c, .used = ++clock_});
    mov(r, cell(c));
    return r;
  }
  /// For one instruction: rax if it has no register, so that no other cell makes room.
  Reg64 glimpsed(int c) {
    if (const std::optional<Reg64> r = in_register(c)) return *r;
    mov(rax, cell(c));
    return rax;
  }
  /// A register that becomes this cell.
  Reg64 defined(int c) { return register_for({.cell = c, .is_new = true, .used = ++clock_}); }
  void compute_all() {
    while (!pending_.empty()) compute(pending_.begin()->second);
  }
  /// From here on memory has all cells; registers may be written over.
  void forget_cells() {
    for (int i = 0; i < kCacheSize; ++i) put_away(i);
    cache_.fill({});
  }

  // ---- vector registers ----------------------------------------------------------------------------------------------

  int registers() const { return avx512_ ? 32 : 16; }

  const Xmm& vec(int r, int bytes) const {
    if (bytes == 64) return z_[std::size_t(r)];
    if (bytes == 32) return y_[std::size_t(r)];
    return x_[std::size_t(r)];
  }
  const Ymm& wide(int r, int bytes) const {
    return bytes == 64 ? static_cast<const Ymm&>(z_[std::size_t(r)]) : y_[std::size_t(r)];
  }
  const Xmm& reg(int v) { return vec(word_of(v).reg, word_of(v).bytes); }

  void pin(int r) { pinned_ |= 1u << r; }
  bool has_free() const { return free_ != 0; }

  /// Of what is in registers and not used in this step, what is needed last. What must be stored first costs several times what can be
  /// read again where it came from.
  int victim() const {
    constexpr std::int64_t kStored = 4;
    int best = -1;
    std::int64_t farthest = -1;
    for (int r = 0; r < registers(); ++r) {
      if ((pinned_ >> r & 1) != 0) continue;
      const Word& w = word_of(owner_[std::size_t(r)]);
      const std::int64_t distance = std::int64_t{next_use(w)} - now_,
                         weighed = w.home.kind == Home::Kind::none ? distance : kStored * distance;
      if (weighed > farthest) farthest = weighed, best = r;
    }
    return best;
  }
  /// A register without a value, which is pinned.
  int take() {
    if (free_ == 0) evict(victim());
    const int r = std::countr_zero(free_);
    free_ &= ~(1u << r);
    pin(r);
    return r;
  }
  void evict(int r) {
    const int v = owner_[std::size_t(r)];
    if (word_of(v).home.kind == Home::Kind::none) spill(v);
    word_of(v).reg = -1;
    free_ |= 1u << r;
  }
  void evict_all() {
    for (int r = 0; r < registers(); ++r)
      if ((free_ >> r & 1) == 0) evict(r);
  }
  void spill(int v) {
    Word& w = word_of(v);
    w.home = {Home::Kind::stack, 0, new_slot()};
    w.slot = true;
    vmovaps(stack(w.home.at), reg(v));
  }
  void put(int v, int r) {
    word_of(v).reg = r;
    owner_[std::size_t(r)] = v;
  }
  /// Brings a value into a register.
  int fetch(int v) {
    Word& w = word_of(v);
    if (w.reg < 0) {
      const int r = take();
      read(r, v);
      put(v, r);
    }
    pin(w.reg);
    return w.reg;
  }
  /// Writes a value that is not in a register into this one.
  void read(int r, int v) {
    const Word& w = word_of(v);
    const Xmm& d = vec(r, w.bytes);
    if (w.home.kind != Home::Kind::permuted) {
      vmovaps(d, memory(w.home));
      return;
    }
    const Word& order = word_of(w.home.order);
    const Home words = {Home::Kind::cell, w.home.cell, w.home.at};
    if (w.bytes == 16) {
      vmovaps(d, memory(words));
      order.reg < 0 ? vpermilps(d, d, memory(order.home)) : vpermilps(d, d, reg(w.home.order));
      return;
    }
    if (order.reg < 0) vmovaps(d, memory(order.home));
    vpermps(wide(r, w.bytes), wide(order.reg < 0 ? r : order.reg, w.bytes), memory(words));
  }
  /// Whether an instruction should take it from memory: it is not needed again, or later than what would have to go for it.
  bool stays_in_memory(int v) const {
    const Word& w = word_of(v);
    if (w.reg >= 0 || w.home.kind == Home::Kind::permuted) return false;
    const int later = later_use(w);
    if (later == kNever) return true;
    if (has_free()) return false;
    const int r = victim();
    return r < 0 || next_use(word_of(owner_[std::size_t(r)])) < later;
  }
  /// Gives back the registers of values that are not needed any more, before that of the result is taken. Their slots are given
  /// back when the instruction has read them.
  void used(int v) {
    Word& w = word_of(v);
    pass_uses(w);
    if (next_use(w) != kNever) return;
    if (w.reg >= 0) free_ |= 1u << w.reg, w.reg = -1;
    if (w.slot && !w.held) w.slot = false, freed_.push_back(w.home.at);
  }
  void end_step() {
    slots_.insert(slots_.end(), freed_.begin(), freed_.end());
    freed_.clear();
    pinned_ = 0;
  }
  template <class F>
  void unary(int i, int a, F&& emit) {
    const bool in_memory = stays_in_memory(a);
    const Home home = word_of(a).home;
    const Xmm from = in_memory ? Xmm(0) : Xmm(vec(fetch(a), word_of(a).bytes));
    used(a);
    const int d = take();
    if (in_memory)
      emit(vec(d, word_of(i).bytes), memory(home));
    else
      emit(vec(d, word_of(i).bytes), from);
    put(i, d);
  }

  /// Of instructions that do not read memory.
  template <class F>
  void unary_in_register(int i, int a, F&& emit) {
    const Xmm from = vec(fetch(a), word_of(a).bytes);
    used(a);
    const int d = take();
    emit(vec(d, word_of(i).bytes), from);
    put(i, d);
  }

  /// emit(result, first in a register, second)
  template <class F>
  void binary(int i, int a, int b, bool commutes, F&& emit) {
    if (commutes && word_of(a).reg < 0 && (word_of(b).reg >= 0 || later_use(word_of(a)) == kNever)) std::swap(a, b);
    const Xmm first = vec(fetch(a), word_of(a).bytes);
    const bool in_memory = stays_in_memory(b);
    const Home home = word_of(b).home;
    const Xmm second = in_memory ? Xmm(0) : Xmm(vec(fetch(b), word_of(b).bytes));
    used(a), used(b);
    const int d = take();
    if (in_memory)
      emit(vec(d, word_of(i).bytes), first, memory(home));
    else
      emit(vec(d, word_of(i).bytes), first, second);
    put(i, d);
  }

  const VectorIsa isa_;
  const bool avx512_;
  const int width_;  ///< bytes of a register
  std::array<Xmm, 32> x_;
  std::array<Ymm, 32> y_;
  std::array<Zmm, 32> z_;
  std::deque<PoolEntry> pool_;  // labels stay where they are
  std::vector<std::pair<std::string, Xbyak::Label>> callees_;
  int cells_ = 0, vectors_at_ = 0;  ///< how many cells, and where the vectors begin
  std::array<CachedCell, kCacheSize> cache_ = {};
  std::uint32_t free_ = 0;  ///< registers without a value
  std::array<int, 32> owner_ = {};

 private:
  struct Computation {
    std::vector<int> cells, reads;
    std::function<void()> emit;
  };
  /// The register that has a cell, which is computed if nobody has asked for it. None: memory has it.
  std::optional<Reg64> in_register(int c) {
    if (const auto wanted = pending_.find(c); wanted != pending_.end()) compute(wanted->second);
    for (int i = 0; i < kCacheSize; ++i)
      if (cache_[std::size_t(i)].cell == c) {
        cache_[std::size_t(i)].used = ++clock_;
        return Reg64(kCached[i]);
      }
    if (given_up_.contains(c))
      throw InternalError(
          {.what = "assembler: an address", .expected = "one that has a place", .got = "one that was given up"});
    return std::nullopt;
  }
  void compute(int number) {
    const Computation& wanted = computations_[std::size_t(number)];
    for (const int c : wanted.cells) pending_.erase(c);
    wanted.emit();
    for (const int c : wanted.reads) --readers_[c];
  }
  Reg64 register_for(const CachedCell& entry) {
    const auto oldest = std::ranges::min_element(cache_, {}, &CachedCell::used);
    const int i = int(oldest - cache_.begin());
    put_away(i);
    *oldest = entry;
    return Reg64(kCached[i]);
  }
  bool is_needed(int c) const {
    const auto readers = readers_.find(c);
    return (readers != readers_.end() && readers->second > 0) ||
           (c < int(last_use_.size()) && last_use_[std::size_t(c)] >= now_);
  }
  void put_away(int i) {
    CachedCell& entry = cache_[std::size_t(i)];
    if (!std::exchange(entry.is_new, false)) return;
    if (is_needed(entry.cell))
      mov(cell(entry.cell), Reg64(kCached[i]));
    else
      given_up_.insert(entry.cell);
  }

  std::deque<Computation> computations_;
  std::map<int, int> pending_, readers_;  ///< by cell: which computation defines it; how many that are to come read it
  std::vector<int> last_use_;             ///< by cell: number of the step
  std::set<int> given_up_;                ///< cells that made room after their last use
  int vectors_ = 0;
  std::vector<int> slots_, freed_;  ///< of the stack, free; and free after the present step
  std::int64_t clock_ = 0;
  std::uint32_t pinned_ = 0;
  std::map<std::pair<std::uint64_t, int>, int> constants_;
};

}  // namespace jit
