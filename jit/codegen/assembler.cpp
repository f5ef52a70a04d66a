#include "jit/codegen/assembler.hpp"

#include "jit/support/error.hpp"

#if defined(__x86_64__)

#define XBYAK_NO_OP_NAMES
#include <xbyak/xbyak.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/codegen/assembled_code.hpp"
#include "jit/codegen/kernel_emitter.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/codegen/vector_math.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"

namespace jit {
namespace {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Place;
using ir::Type;
using Xbyak::Opmask;
using Xbyak::Reg64;
using Xbyak::Xmm;
using Xbyak::Ymm;
using Xbyak::Zmm;

constexpr int kNever = std::numeric_limits<int>::max();

// ---- what can be assembled ------------------------------------------------------------------------------------------

bool covers_operation(const Kernel& kernel, const Node& n, VectorIsa isa) {
  switch (n.op) {
    case Op::load:
      return n.type != Type::b1 || !kernel.slots[std::size_t(n.place.slot)].gathered;
    case Op::rem:
      return false;
    case Op::div:
      return ir::is_float(n.type);
    case Op::convert: {  // AVX2 has none of these
      const Type from = kernel.nodes[std::size_t(n.a)].type;
      if (isa == VectorIsa::avx512) return true;
      if (from == Type::i64) return n.type != Type::f32;
      return !ir::is_float(from) || !ir::is_int(n.type) || (from == Type::f32 && n.type == Type::i32);
    }
    default:
      return true;
  }
}

/// So many that every value is one register.
int lanes_of_step(const Kernel& kernel, VectorIsa isa) {
  int size = 4;
  for (const Node& n : kernel.nodes) size = std::max(size, ir::bytes(n.type));
  return std::min(lanes_per_step(kernel), register_bytes(isa) / size);
}

}  // namespace

bool can_assemble(const Kernel& kernel, VectorIsa isa) {
  if (isa == VectorIsa::sse4) return false;
  if (isa == VectorIsa::avx512 &&
      !(__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")))
    return false;
  const int lanes = lanes_of_step(kernel, isa), most = register_bytes(isa);
  if (kernel.lanes / lanes > 2) return false;
  const auto fits = [&](Type t) {
    return t == Type::b1 ? lanes >= 4 && lanes <= 16 : lanes * ir::bytes(t) >= 16 && lanes * ir::bytes(t) <= most;
  };
  for (const ir::Leaf& leaf : kernel.leaves)
    if (leaf.host_order || !fits(leaf.word)) return false;
  for (const ir::Slot& slot : kernel.slots)
    if (slot.exchange.straddles(lanes)) return false;
  const std::vector<bool> live = ir::live_nodes(kernel);
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i)
    if (live[i] && (!fits(kernel.nodes[i].type) || !covers_operation(kernel, kernel.nodes[i], isa))) return false;
  return true;
}

namespace {

// ---- the assembler --------------------------------------------------------------------------------------------------

class KernelAssembler : private Xbyak::CodeGenerator {
  using Type = ir::Type;  // Xbyak has another

 public:
  KernelAssembler(const Kernel& kernel, const CodeOptions& options, VectorIsa isa, std::size_t room, void* buffer)
      : CodeGenerator(room, buffer),
        kernel_(kernel),
        isa_(isa),
        prefetch_(kernel.listed ? 0 : options.prefetch),
        streaming_(options.streaming),
        avx512_(isa == VectorIsa::avx512),
        width_(register_bytes(isa)),
        lanes_(lanes_of_step(kernel, isa)),
        halves_(kernel.lanes / lanes_),
        order_(schedule(kernel)) {
    for (int i = 0; i < 32; ++i) x_[std::size_t(i)] = Xmm(i), y_[std::size_t(i)] = Ymm(i), z_[std::size_t(i)] = Zmm(i);
  }

  std::string run(const std::string& symbol) {
    resolve();
    find_uses();
    plan_memory();
    enter();
    Xbyak::Label loop, done;
    cmp(kStep, kLast);
    jge(done, T_NEAR);
    L(loop);
    head();
    steps();
    inc(kStep);
    cmp(kStep, kLast);
    jl(loop, T_NEAR);
    L(done);
    leave_function();
    for (const Slow& s : slow_) slow_path(s);
    rewrite(frame_at_, std::uint64_t(frame_bytes()), 4);
    const std::size_t instructions = getSize();
    write_pool();
    std::vector<std::string> names;
    for (const auto& [name, label] : callees_) names.push_back(name);
    return assembled_object(symbol, {reinterpret_cast<const std::byte*>(getCode()), getSize()}, instructions, names);
  }

 private:
  // ---- values ------------------------------------------------------------------------------------------------------

  /// A value is another one, or that with the other sign: such nodes have no instruction.
  struct Alias {
    int root = -1;
    bool negative = false;
  };

  /// Where the words of a value can be read again.
  struct Home {
    enum class Kind : std::uint8_t { none, cell, stack, pool } kind = Kind::none;
    int cell = 0;         ///< that holds the address, to which `at` is added
    std::int32_t at = 0;  ///< cell, stack: bytes; pool: number of the constant
  };

  struct Word {
    Home home;
    int reg = -1;
    int next = 0, end = 0;  ///< in uses_: those that are to come
    int bytes = 0;          ///< all lanes
    bool held = false;      ///< computed ahead of the trips and used in them
    bool slot = false;      ///< home is a slot of the stack, to be given back
  };

  static std::array<ir::Value, 3> operands(const Node& n) { return {n.a, n.b, n.c}; }
  const Node& node(int i) const { return kernel_.nodes[std::size_t(i)]; }
  Word& word(int i) { return words_[std::size_t(i)]; }
  Alias alias(ir::Value v) const { return alias_[std::size_t(v)]; }
  int root(ir::Value v) const { return alias_[std::size_t(v)].root; }
  /// A pseudo-value: which lane each lane of words of this size takes in a slot.
  int lanes_of(std::size_t slot, int word_bytes) const {  // truth values are spread over words of four bytes
    return int(kernel_.nodes.size() + 2 * slot + (word_bytes == 8 ? 1 : 0));
  }

  template <class F>
  void for_steps(F&& f) const {
    int now = 0;
    for (const Step& s : order_.once) f(s, now++);
    for (const Step& s : order_.each) f(s, now++);
  }

  static bool takes_signs(const Node& n) {
    return ir::is_float(n.type) && (n.op == Op::fma || n.op == Op::add || n.op == Op::sub || n.op == Op::mul);
  }

  /// Changes of sign go into the instructions that use them, if all users are such.
  void resolve() {
    const std::size_t count = kernel_.nodes.size();
    std::vector<bool> signs_are_taken(count, true);
    for_steps([&](const Step& s, int) {
      if (s.kind == Step::Kind::node) {
        const Node& n = node(s.number);
        if (!takes_signs(n))
          for (ir::Value v : operands(n))
            if (v != ir::kNone) signs_are_taken[std::size_t(v)] = false;
      } else {
        signs_are_taken[std::size_t(s.kind == Step::Kind::store ? kernel_.stores[std::size_t(s.number)].value
                                                                : kernel_.reductions[std::size_t(s.number)].value)] =
            false;
      }
    });
    alias_.assign(count, Alias{});
    for_steps([&](const Step& s, int) {
      if (s.kind != Step::Kind::node) return;
      const Node& n = node(s.number);
      Alias& result = alias_[std::size_t(s.number)];
      result = {s.number, false};
      const bool may_be_negative = signs_are_taken[std::size_t(s.number)];
      if (n.op == Op::bitcast || (n.op == Op::convert && node(n.a).type == n.type) ||
          (n.op == Op::permute && exchange_of(n).is_none()))
        result = alias(n.a);
      else if (n.op == Op::neg && ir::is_float(n.type) && may_be_negative)
        result = {root(n.a), !alias(n.a).negative};
      else if (n.op == Op::mul && ir::is_float(n.type) && may_be_negative)
        result.negative = alias(n.a).negative != alias(n.b).negative;
    });
  }

  LaneExchange exchange_of(const Node& n) const {
    return kernel_.slots[std::size_t(n.integer)].exchange.within(lanes_);
  }
  bool is_alias(int i) const { return root(i) != i; }

  /// f(value) for what a step reads.
  template <class F>
  void for_sources(const Step& s, F&& f) const {
    if (s.kind == Step::Kind::store) return f(root(kernel_.stores[std::size_t(s.number)].value));
    if (s.kind == Step::Kind::reduction) return f(root(kernel_.reductions[std::size_t(s.number)].value));
    if (is_alias(s.number)) return;
    const Node& n = node(s.number);
    for (ir::Value v : operands(n))
      if (v != ir::kNone) f(root(v));
    if (n.op == Op::permute) f(lanes_of(std::size_t(n.integer), ir::bytes(n.type)));
  }

  void find_uses() {
    const std::size_t count = kernel_.nodes.size() + 2 * kernel_.slots.size();
    words_.assign(count, Word{});
    for_steps([&](const Step& s, int) { for_sources(s, [&](int v) { ++word(v).end; }); });
    int total = 0;
    for (Word& w : words_) w.next = total, total += std::exchange(w.end, total);
    uses_.resize(std::size_t(total));
    const int first_in_trips = int(order_.once.size());
    std::vector<bool> ahead(count, false);
    for (std::size_t v = kernel_.nodes.size(); v < count; ++v) ahead[v] = true;
    for (const Step& s : order_.once)
      if (s.kind == Step::Kind::node) ahead[std::size_t(s.number)] = true;
    for_steps([&](const Step& s, int now) {
      for_sources(s, [&](int v) {
        uses_[std::size_t(word(v).end++)] = now;
        if (now >= first_in_trips && ahead[std::size_t(v)]) word(v).held = true;
      });
    });
    for (std::size_t i = 0; i < kernel_.nodes.size(); ++i) words_[i].bytes = lanes_ * ir::bytes(kernel_.nodes[i].type);
    for (std::size_t i = kernel_.nodes.size(); i < count; ++i)
      words_[i].bytes = lanes_ * ((i - kernel_.nodes.size()) % 2 == 1 ? 8 : 4);
  }

  int next_use(const Word& w) const { return w.next < w.end ? uses_[std::size_t(w.next)] : kNever; }
  /// The next use after the present step.
  int later_use(const Word& w) const {
    int i = w.next;
    while (i < w.end && uses_[std::size_t(i)] <= now_) ++i;
    return i < w.end ? uses_[std::size_t(i)] : kNever;
  }

  // ---- memory: cells of eight bytes, vectors, slots ----------------------------------------------------------------

  struct AddressKey {
    int slot, leaf, stride, leap, shifted_by;
    auto operator<=>(const AddressKey&) const = default;
  };

  /// Frames as seen from one step, and the addresses of fields in them: cells.
  struct View {
    std::vector<int> groups, halves;  ///< [slots]; -1: not used
    std::map<AddressKey, int> addresses;
  };

  int new_cell() { return cells_++; }
  AddressKey key_of(const Place& p) const {
    const AddressKey key{p.slot, p.leaf, p.stride, p.leap, p.shifted_by};
    return ir::runs(kernel_) > 1 ? key : standing(key);
  }
  static AddressKey standing(AddressKey key) {
    key.stride = key.leap = 0;
    return key;
  }
  void use_address(View& view, const Place& p) {
    use_slot(view, std::size_t(p.slot));
    for (const AddressKey& key : {standing(key_of(p)), key_of(p)})
      if (!view.addresses.contains(key)) view.addresses[key] = new_cell();
    if (p.shifted_by >= 0 && !shift_cells_.contains(p.shifted_by)) shift_cells_[p.shifted_by] = new_cell();
  }
  void use_slot(View& view, std::size_t s) {
    if (view.groups[s] >= 0) return;
    if (s > 0) {
      use_slot(view, std::size_t(kernel_.slots[s].parent));
      if (table_cells_[s] < 0) table_cells_[s] = new_cell();
    }
    view.groups[s] = new_cell();
    if (halves_ > 1) view.halves[s] = new_cell();
  }

  void plan_memory() {
    for (std::size_t i = 0; i < kernel_.leaves.size(); ++i) field_cells_.push_back(new_cell());
    const auto slots = kernel_.slots.size();
    table_cells_.assign(slots, -1);
    for (View* view : {&here_, &ahead_}) view->groups.assign(slots, -1), view->halves.assign(slots, -1);
    use_slot(here_, 0);
    truth_cells_.assign(kernel_.nodes.size(), -1);
    for_steps([&](const Step& s, int) {
      if (s.kind == Step::Kind::store) return use_address(here_, kernel_.stores[std::size_t(s.number)].place);
      if (s.kind != Step::Kind::node || is_alias(s.number)) return;
      const Node& n = node(s.number);
      if (n.op == Op::load) {
        use_address(here_, n.place);
        if (is_gathered(n.place))
          gathers_.try_emplace({n.place.slot, n.place.leaf});
        else if (prefetch_ > 0)
          use_address(ahead_, n.place);
      }
      if (n.op == Op::permute) {
        use_slot(here_, std::size_t(n.integer));
        const int v = lanes_of(std::size_t(n.integer), ir::bytes(n.type));
        if (word(v).home.kind == Home::Kind::none) word(v).home = {Home::Kind::cell, new_cell(), 0};
      }
      if (n.type == Type::b1) truth_cells_[std::size_t(s.number)] = new_cell();
    });
    if (kernel_.listed) groups_cell_ = new_cell(), masks_cell_ = new_cell(), mask_cell_ = new_cell();
    if (!kernel_.reductions.empty()) sums_cell_ = new_cell(), lane_sums_cell_ = new_cell();
    if (ir::runs(kernel_) > 1) run_cell_ = new_cell(), trip_cell_ = new_cell(), round_cell_ = new_cell();
    vectors_at_ = (8 * cells_ + 63) / 64 * 64;
    positions_at_.assign(slots, -1);
    for (std::size_t s = 1; s < slots; ++s)
      if (kernel_.slots[s].gathered && here_.groups[s] >= 0) positions_at_[s] = new_vector();
    for (auto& [place, chunks] : gathers_)
      for (int c = 0; c < lanes_ / chunk(); ++c) chunks.push_back(new_vector());
    if (kernel_.listed && !avx512_) mask4_at_ = new_vector(), mask8_at_ = new_vector();
    if (!kernel_.reductions.empty()) {
      scratch_at_ = new_vector();
      for (int i = 0; i < registers(); ++i) saved_at_.push_back(new_vector());
      gprs_at_ = new_vector();
      new_vector();
      if (width_ == 32) new_vector(), new_vector();
    }
    arguments_at_.assign(kernel_.arguments.size(), -1);
    if (std::ranges::any_of(kernel_.nodes, [](const Node& n) { return ir::is_elementary(n.op); }))
      for (int& at : arguments_of_calls_at_) at = new_vector();
  }
  bool is_gathered(const Place& p) const { return kernel_.slots[std::size_t(p.slot)].gathered; }
  /// Lanes that one instruction gathers: it has addresses of eight bytes.
  int chunk() const { return std::min(width_ / 8, lanes_); }
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
  /// For each lane, four bytes at a time, which lane it takes if the neighbourhood stays inside, and behind them if it leaves.
  int lane_table(const LaneExchange& exchange, int word_bytes) {
    std::string table(2 * std::size_t(width_), '\0');
    const int parts = word_bytes / 4;
    for (int l = 0; l < lanes_; ++l)
      for (int part = 0; part < parts; ++part) {
        const auto put = [&](int half, int lane) {
          const std::int32_t index = lane * parts + part;
          std::memcpy(table.data() + half * width_ + 4 * (l * parts + part), &index, 4);
        };
        put(0, l), put(1, exchange.source(l));
      }
    pool_.push_back({{}, std::move(table)});
    return int(pool_.size()) - 1;
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

  // ---- general registers: addresses that were read lately ------------------------------------------------------------

  static constexpr int kCached[] = {Xbyak::Operand::RCX, Xbyak::Operand::RDX, Xbyak::Operand::RSI, Xbyak::Operand::RDI,
                                    Xbyak::Operand::R8,  Xbyak::Operand::R9,  Xbyak::Operand::R10, Xbyak::Operand::R11,
                                    Xbyak::Operand::R13, Xbyak::Operand::R14, Xbyak::Operand::R15};
  static constexpr int kCacheSize = int(std::size(kCached));
  struct CachedCell {
    int cell = -1;
    std::int64_t used = 0;
  };

  Reg64 cached(int c) {
    int oldest = 0;
    for (int i = 0; i < kCacheSize; ++i) {
      CachedCell& entry = cache_[std::size_t(i)];
      if (entry.cell == c) {
        entry.used = ++clock_;
        return Reg64(kCached[i]);
      }
      if (entry.used < cache_[std::size_t(oldest)].used) oldest = i;
    }
    cache_[std::size_t(oldest)] = {c, ++clock_};
    const Reg64 r(kCached[oldest]);
    mov(r, cell(c));
    return r;
  }
  void forget_cells() { cache_.fill({}); }

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
  const Xmm& reg(int v) { return vec(word(v).reg, word(v).bytes); }

  void pin(int r) { pinned_ |= 1u << r; }
  bool has_free() const { return free_ != 0; }

  /// Of what is in registers and not used in this step, what is needed last. What can be read again where it came from costs
  /// half of what must be stored first.
  int victim() const {
    int best = -1;
    std::int64_t farthest = -1;
    for (int r = 0; r < registers(); ++r) {
      if ((pinned_ >> r & 1) != 0) continue;
      const Word& w = words_[std::size_t(owner_[std::size_t(r)])];
      const std::int64_t distance = std::int64_t{next_use(w)} - now_,
                         weighed = w.home.kind == Home::Kind::none ? distance : 2 * distance;
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
    if (word(v).home.kind == Home::Kind::none) spill(v);
    word(v).reg = -1;
    free_ |= 1u << r;
  }
  void spill(int v) {
    Word& w = word(v);
    w.home = {Home::Kind::stack, 0, new_slot()};
    w.slot = true;
    vmovaps(stack(w.home.at), reg(v));
  }
  void put(int v, int r) {
    word(v).reg = r;
    owner_[std::size_t(r)] = v;
  }
  /// Brings a value into a register.
  int fetch(int v) {
    Word& w = word(v);
    if (w.reg < 0) {
      const int r = take();
      vmovaps(vec(r, w.bytes), memory(w.home));
      put(v, r);
    }
    pin(w.reg);
    return w.reg;
  }
  /// Whether an instruction should take it from memory: it is not needed again, or later than what would have to go for it.
  bool stays_in_memory(int v) const {
    const Word& w = words_[std::size_t(v)];
    if (w.reg >= 0) return false;
    const int later = later_use(w);
    if (later == kNever) return true;
    if (has_free()) return false;
    const int r = victim();
    return r < 0 || next_use(words_[std::size_t(owner_[std::size_t(r)])]) < later;
  }
  /// Gives back the registers of values that are not needed any more, before that of the result is taken. Their slots are given
  /// back when the instruction has read them.
  void used(int v) {
    Word& w = word(v);
    while (w.next < w.end && uses_[std::size_t(w.next)] <= now_) ++w.next;
    if (w.next < w.end) return;
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
    const Home home = word(a).home;
    const Xmm from = in_memory ? Xmm(0) : Xmm(vec(fetch(a), word(a).bytes));
    used(a);
    const int d = take();
    if (in_memory)
      emit(vec(d, word(i).bytes), memory(home));
    else
      emit(vec(d, word(i).bytes), from);
    put(i, d);
  }

  /// emit(result, first in a register, second)
  template <class F>
  void binary(int i, int a, int b, bool commutes, F&& emit) {
    if (commutes && word(a).reg < 0 && (word(b).reg >= 0 || later_use(word(a)) == kNever)) std::swap(a, b);
    const Xmm first = vec(fetch(a), word(a).bytes);
    const bool in_memory = stays_in_memory(b);
    const Home home = word(b).home;
    const Xmm second = in_memory ? Xmm(0) : Xmm(vec(fetch(b), word(b).bytes));
    used(a), used(b);
    const int d = take();
    if (in_memory)
      emit(vec(d, word(i).bytes), first, memory(home));
    else
      emit(vec(d, word(i).bytes), first, second);
    put(i, d);
  }

  // ---- fused multiply-adds -------------------------------------------------------------------------------------------

  using Fused = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xmm&, const Xbyak::Operand&);
  enum Form { k132, k213, k231 };

  void fused(Form form, Type type, bool negative_product, bool negative_sum, const Xmm& d, const Xmm& s,
             const Xbyak::Operand& t) {
    using G = Xbyak::CodeGenerator;
    static constexpr Fused kTable[2][3][2][2] = {
        {{{&G::vfmadd132ps, &G::vfmsub132ps}, {&G::vfnmadd132ps, &G::vfnmsub132ps}},
         {{&G::vfmadd213ps, &G::vfmsub213ps}, {&G::vfnmadd213ps, &G::vfnmsub213ps}},
         {{&G::vfmadd231ps, &G::vfmsub231ps}, {&G::vfnmadd231ps, &G::vfnmsub231ps}}},
        {{{&G::vfmadd132pd, &G::vfmsub132pd}, {&G::vfnmadd132pd, &G::vfnmsub132pd}},
         {{&G::vfmadd213pd, &G::vfmsub213pd}, {&G::vfnmadd213pd, &G::vfnmsub213pd}},
         {{&G::vfmadd231pd, &G::vfmsub231pd}, {&G::vfnmadd231pd, &G::vfnmsub231pd}}}};
    (this->*kTable[type == Type::f64][form][negative_product][negative_sum])(d, s, t);
  }

  /// Whether a register may be written over: nobody needs its value any more, or it is elsewhere, too, and needed late.
  bool may_be_written(int v) const {
    const Word& w = words_[std::size_t(v)];
    return w.reg >= 0 && later_use(w) == kNever;
  }

  /// a * b + c in the register of an operand that is not needed any more; else in a copy of one.
  void fma(int i, const Node& n) {
    const bool negative_product = alias(n.a).negative != alias(n.b).negative, negative_sum = alias(n.c).negative;
    int a = root(n.a), b = root(n.b);
    const int c = root(n.c), bytes = word(i).bytes;
    const auto emit = [&](Form form, const Xmm& d, int s, int t) {
      const Xmm second = vec(fetch(s), bytes);
      const bool in_memory = stays_in_memory(t);
      if (in_memory)
        fused(form, n.type, negative_product, negative_sum, d, second, memory(word(t).home));
      else
        fused(form, n.type, negative_product, negative_sum, d, second, vec(fetch(t), bytes));
    };
    int d = -1;
    // Those in registers are kept there.
    for (int v : {a, b, c})
      if (word(v).reg >= 0) pin(word(v).reg);
    if (word(a).reg < 0 && word(b).reg >= 0) std::swap(a, b);  // a is in a register if one of them is
    if (may_be_written(c) && c != a && c != b) {
      d = word(c).reg;
      if (word(a).reg < 0 && later_use(word(a)) == kNever) std::swap(a, b);
      emit(k231, vec(d, bytes), a, b);
    } else {
      if (may_be_written(b) && !may_be_written(a)) std::swap(a, b);
      if (may_be_written(a) && a != b && a != c) {
        d = word(a).reg;
      } else if (word(c).reg < 0 || c == a || c == b || !stays_in_memory(b)) {
        d = -1;
      } else {  // b is read for the last time: it becomes the result
        std::swap(a, b);
        d = take();
        vmovaps(vec(d, bytes), memory(word(a).home));
      }
      if (d >= 0) {
        if (word(b).reg < 0 && stays_in_memory(b) && !stays_in_memory(c))
          emit(k132, vec(d, bytes), c, b);
        else
          emit(k213, vec(d, bytes), b, c);
      } else {
        d = take();
        if (word(c).reg >= 0)
          vmovaps(vec(d, bytes), reg(c));
        else
          vmovaps(vec(d, bytes), memory(word(c).home));
        if (word(a).reg < 0 && later_use(word(a)) == kNever) std::swap(a, b);
        emit(k231, vec(d, bytes), a, b);
      }
    }
    for (int v : {a, b, c}) {
      if (word(v).reg == d) word(v).reg = -1;
      used(v);
    }
    put(i, d);
  }

  // ---- operations ----------------------------------------------------------------------------------------------------

  void operation(int i) {
    const Node& n = node(i);
    if (is_alias(i)) return;
    switch (n.op) {
      case Op::constant:
        if (n.type == Type::b1)
          mov(dword[rsp + 8 * truth_cells_[std::size_t(i)]], n.integer != 0 ? all_lanes() : 0);
        else
          word(i).home = {Home::Kind::pool, 0, constant(ir::bits_of_constant(n), ir::bytes(n.type))};
        return;
      case Op::argument:
        return argument(i, n);
      case Op::load:
        return load(i, n);
      case Op::permute:
        return permute(i, n);
      case Op::select:
        return select(i, n);
      case Op::convert:
        return convert(i, n);
      case Op::lt:
      case Op::le:
      case Op::eq:
      case Op::ne:
        return compare(i, n);
      default:
        break;
    }
    if (ir::is_elementary(n.op)) return elementary(i, n);
    if (n.type == Type::b1) return logical(i, n);
    if (n.op == Op::and_ || n.op == Op::or_ || n.op == Op::xor_ || n.op == Op::not_) return bitwise(i, n);
    ir::is_int(n.type) ? integer(i, n) : floating(i, n);
  }

  int all_lanes() const { return (1 << lanes_) - 1; }

  /// Spread over a vector when the function begins.
  void argument(int i, const Node& n) {
    if (n.type == Type::b1) {
      mov(eax, dword[rsp + 8 * truth_arguments_.at(int(n.integer))]);
      mov(dword[rsp + 8 * truth_cells_[std::size_t(i)]], eax);
    } else {
      word(i).home = {Home::Kind::stack, 0, arguments_at_[std::size_t(n.integer)]};
    }
  }

  std::int64_t component_bytes(const ir::Leaf& leaf) const {
    return std::int64_t{block_lanes(kernel_.lanes, leaf.word)} * ir::bytes(leaf.word);
  }
  Home place(const Place& p) const {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
    return {Home::Kind::cell, here_.addresses.at(key_of(p)), std::int32_t(p.component * component_bytes(leaf))};
  }

  /// Read when it is used, but for what this kernel may have written by then.
  void load(int i, const Node& n) {
    Word& w = word(i);
    if (is_gathered(n.place)) return gather(i, n.place);
    if (prefetch_ > 0 && (!in_trips_ || ir::walks(n.place))) prefetch(n.place);
    if (n.type == Type::b1) return load_truths(i, n);
    if (!kernel_.leaves[std::size_t(n.place.leaf)].written) {
      w.home = place(n.place);
      return;
    }
    const int r = take();
    vmovaps(vec(r, w.bytes), memory(place(n.place)));
    put(i, r);
  }

  void gather(int i, const Place& p) {
    const int bytes = word(i).bytes, size = bytes / lanes_, part_bytes = chunk() * size;
    const Home base = place(p);
    const auto& chunks = gathers_.at({p.slot, p.leaf});
    const int d = take(), offsets = take(), part = take(), mask = take();
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      const int to = c == 0 ? d : part;
      const Xmm &index = vec(offsets, chunk() * 8), &result = vec(to, part_bytes);
      vmovaps(index, stack(chunks[c]));
      const Reg64 from = cached(base.cell);
      const Xbyak::Address words = ptr[from + index + base.at];
      if (avx512_) {
        kxnorw(k1, k1, k1);
        size == 8 ? vgatherqpd(result | k1, words) : vgatherqps(result | k1, words);
      } else {
        vpcmpeqd(vec(mask, part_bytes), vec(mask, part_bytes), vec(mask, part_bytes));
        size == 8 ? vgatherqpd(result, words, vec(mask, part_bytes)) : vgatherqps(result, words, vec(mask, part_bytes));
      }
      if (c == 0) continue;
      if (part_bytes == 32)
        vinsertf64x4(z_[std::size_t(d)], z_[std::size_t(d)], y_[std::size_t(part)], 1);
      else
        vinsertf128(y_[std::size_t(d)], y_[std::size_t(d)], x_[std::size_t(part)], 1);
    }
    free_ |= 1u << offsets | 1u << part | 1u << mask;
    put(i, d);
  }

  /// A byte per lane, of which any but 0 is true.
  void load_truths(int i, const Node& n) {
    const int r = take();
    const Xmm& bytes = vec(r, 16);
    move_bytes(bytes, memory(place(n.place)));
    if (avx512_) {
      vptestmb(k1, bytes, bytes);
      put_truth(i);
    } else {
      vpcmpeqb(bytes, bytes, in_pool(constant(0, 4)));
      vpmovmskb(eax, bytes);
      xor_(eax, all_lanes());
      and_(eax, all_lanes());
      mov(truth(i), eax);
    }
    free_ |= 1u << r;
  }
  void store_truths(const ir::Store& s) {
    const int r = take(), r2 = take(), r3 = take();
    const Xmm &bytes = vec(r, 16), &mask = vec(r2, 16), &old = vec(r3, 16);
    const int cell_of_value = truth_cells_[std::size_t(root(s.value))];
    const Xbyak::Address to = memory(place(s.place));
    if (avx512_) {
      kmovw(k1, word_mask(cell_of_value));
      vmovdqu8(bytes | k1 | T_z, in_pool(constant(0x01010101, 4)));
    } else {
      spread_to_bytes(bytes, cell_of_value);
      vpand(bytes, bytes, in_pool(constant(0x01010101, 4)));
    }
    if (kernel_.listed && avx512_) {
      vmovdqu8(to | k7, bytes);
    } else if (kernel_.listed) {
      spread_to_bytes(mask, mask_cell_);
      move_bytes(old, to);
      vpblendvb(bytes, old, bytes, mask);
      move_bytes(to, bytes);
    } else {
      move_bytes(to, bytes);
    }
    free_ |= 1u << r | 1u << r2 | 1u << r3;
  }
  template <class To, class From>
  void move_bytes(const To& to, const From& from) {
    lanes_ == 16 ? vmovups(to, from) : lanes_ == 8 ? vmovq(to, from) : vmovd(to, from);
  }

  // Truth values as words, all bits of which are set or none (AVX2).

  Xbyak::Address bits_of_lanes(int word_bytes) {
    int& known = bits_of_lanes_[word_bytes];
    if (known == 0) {
      std::string bits(std::size_t(width_), '\0');
      for (int l = 0; l < lanes_ && l * word_bytes < width_; ++l) bits[std::size_t(l * word_bytes)] = char(1 << l);
      pool_.push_back({{}, std::move(bits)});
      known = int(pool_.size());
    }
    return in_pool(known - 1);
  }
  void spread_to_bytes(const Xmm& d, int cell_of_bits) {
    vpbroadcastb(d, byte[rsp + 8 * cell_of_bits]);
    vpand(d, d, bits_of_lanes(1));
    vpcmpeqb(d, d, bits_of_lanes(1));
  }
  void spread_to_words(const Xmm& d, int cell_of_bits, int word_bytes) {
    word_bytes == 8 ? vpbroadcastq(d, qword[rsp + 8 * cell_of_bits]) : vpbroadcastd(d, dword[rsp + 8 * cell_of_bits]);
    vpand(d, d, bits_of_lanes(word_bytes));
    word_bytes == 8 ? vpcmpeqq(d, d, bits_of_lanes(8)) : vpcmpeqd(d, d, bits_of_lanes(4));
  }
  void bits_of_words(const Xmm& words, int word_bytes) {  // into eax
    word_bytes == 8 ? vmovmskpd(eax, words) : vmovmskps(eax, words);
  }

  /// Asks for the line that the step `prefetch_` steps later will want here.
  void prefetch(const Place& p) {
    if (is_gathered(p)) return;
    constexpr int kCacheLine = 64;
    const std::int64_t at = p.component * component_bytes(kernel_.leaves[std::size_t(p.leaf)]);
    if (at % kCacheLine == 0) prefetcht1(ptr[cached(ahead_.addresses.at(key_of(p))) + std::int32_t(at)]);
  }

  void permute(int i, const Node& n) {
    if (n.type == Type::b1) return permute_truths(i, n);
    const int value = root(n.a), lanes = lanes_of(std::size_t(n.integer), ir::bytes(n.type)), bytes = word(i).bytes;
    if (bytes == 16)
      binary(i, value, lanes, false, [&](const Xmm& d, const Xmm& a, const Xbyak::Operand& b) { vpermilps(d, a, b); });
    else
      binary(i, lanes, value, false, [&](const Xmm& d, const Xmm& a, const Xbyak::Operand& b) {
        vpermps(wide(d.getIdx(), bytes), wide(a.getIdx(), bytes), b);
      });
  }

  void permute_truths(int i, const Node& n) {
    const int lanes = lanes_of(std::size_t(n.integer), 4), bytes = 4 * lanes_;
    const Xmm from = vec(fetch(lanes), bytes);
    const int r = take(), of_value = truth_cells_[std::size_t(root(n.a))];
    const Xmm& d = vec(r, bytes);
    if (avx512_) {
      kmovw(k1, word_mask(of_value));
      vmovaps(d | k1 | T_z, in_pool(constant(1, 4)));
    } else {
      spread_to_words(d, of_value, 4);
    }
    bytes == 16 ? vpermilps(d, d, from) : vpermps(wide(r, bytes), wide(from.getIdx(), bytes), d);
    if (avx512_) {
      vptestmd(k1, d, d);
      put_truth(i);
    } else {
      bits_of_words(d, 4);
      mov(truth(i), eax);
    }
    free_ |= 1u << r;
    used(lanes);
  }

  void floating(int i, const Node& n) {
    const bool f64 = n.type == Type::f64;
    const int size = ir::bytes(n.type);
    using Two = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xbyak::Operand&, const Xbyak::Operand&);
    using G = Xbyak::CodeGenerator;
    const auto two = [&](int a, int b, bool commutes, Two single, Two twice) {
      binary(i, a, b, commutes,
             [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) { (this->*(f64 ? twice : single))(d, x, y); });
    };
    const auto a = [&] { return root(n.a); };
    const auto b = [&] { return root(n.b); };
    switch (n.op) {
      case Op::fma:
        return fma(i, n);
      case Op::mul:
        two(a(), b(), true, &G::vmulps, &G::vmulpd);
        if (alias(n.a).negative != alias(n.b).negative && !alias(i).negative) change_sign(i, size);
        return;
      case Op::add:
      case Op::sub: {
        const bool minus_a = alias(n.a).negative, minus_b = alias(n.b).negative != (n.op == Op::sub);
        if (!minus_a && !minus_b) return two(a(), b(), true, &G::vaddps, &G::vaddpd);
        if (!minus_a) return two(a(), b(), false, &G::vsubps, &G::vsubpd);
        if (!minus_b) return two(b(), a(), false, &G::vsubps, &G::vsubpd);
        return negative_sum(i, n);
      }
      case Op::div:
        return two(a(), b(), false, &G::vdivps, &G::vdivpd);
      case Op::min:
        return two(a(), b(), false, &G::vminps, &G::vminpd);
      case Op::max:
        return two(a(), b(), false, &G::vmaxps, &G::vmaxpd);
      case Op::neg:
        return unary(i, a(),
                     [&](const Xmm& d, const Xbyak::Operand& x) { with_mask(d, x, sign_bits(size), size, true); });
      case Op::abs:
        return unary(i, a(),
                     [&](const Xmm& d, const Xbyak::Operand& x) { with_mask(d, x, ~sign_bits(size), size, false); });
      case Op::sqrt:
        return unary(i, a(), [&](const Xmm& d, const Xbyak::Operand& x) { f64 ? vsqrtpd(d, x) : vsqrtps(d, x); });
      case Op::floor:
        return unary(i, a(), [&](const Xmm& d, const Xbyak::Operand& x) { round(d, x, f64, 9); });
      case Op::ceil:
        return unary(i, a(), [&](const Xmm& d, const Xbyak::Operand& x) { round(d, x, f64, 10); });
      default:
        break;
    }
    unknown(n);
  }

  /// A call on whole registers, which keep nothing of what they have; those that are not full have repetitions, so that no stray
  /// number costs a slow path.
  void elementary(int i, const Node& n) {
    const int count = ir::arity(n.op), bytes = word(i).bytes;
    const std::array<int, 2> given = {root(n.a), count == 2 ? root(n.b) : -1};
    for (int k = 0; k < count; ++k) {
      const int r = fetch(given[std::size_t(k)]);
      for (int at = 0; at < width_; at += bytes)
        vmovaps(stack(arguments_of_calls_at_[std::size_t(k)] + at), vec(r, bytes));
    }
    for (int k = 0; k < count; ++k) used(given[std::size_t(k)]);
    for (int r = 0; r < registers(); ++r)
      if ((free_ >> r & 1) == 0) evict(r);
    for (int k = 0; k < count; ++k) vmovaps(vec(k, width_), stack(arguments_of_calls_at_[std::size_t(k)]));
    call_by_name(vector_function_name(isa_, n.op, n.type));
    forget_cells();
    if (kernel_.listed && avx512_) kmovw(k7, word_mask(mask_cell_));
    free_ &= ~1u;
    put(i, 0);
  }

  static std::uint64_t sign_bits(int size) { return size == 8 ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31; }
  /// d = x with bits changed, or cleared but for those of the mask.
  void with_mask(const Xmm& d, const Xbyak::Operand& x, std::uint64_t bits, int size, bool change) {
    const Xbyak::Address mask = in_pool(constant(size == 8 ? bits : bits & 0xFFFFFFFF, size));
    if (x.isMEM()) {
      vmovaps(d, x);
      change ? vxorps(d, d, mask) : vandps(d, d, mask);
    } else {
      const Xmm& from = static_cast<const Xmm&>(x);
      change ? vxorps(d, from, mask) : vandps(d, from, mask);
    }
  }
  void change_sign(int i, int size) { with_mask(reg(i), reg(i), sign_bits(size), size, true); }
  void round(const Xmm& d, const Xbyak::Operand& x, bool f64, std::uint8_t mode) {
    if (avx512_)
      f64 ? vrndscalepd(d, x, mode) : vrndscaleps(d, x, mode);
    else
      f64 ? vroundpd(d, x, mode) : vroundps(d, x, mode);
  }
  /// (-a) + (-b), which is not -(a + b): zero has the other sign.
  void negative_sum(int i, const Node& n) {
    const int a = root(n.a), b = root(n.b), bytes = word(i).bytes, size = ir::bytes(n.type);
    const Xmm first = vec(fetch(a), bytes), second = vec(fetch(b), bytes);
    const int d = take();
    with_mask(vec(d, bytes), first, sign_bits(size), size, true);
    size == 8 ? vsubpd(vec(d, bytes), vec(d, bytes), second) : vsubps(vec(d, bytes), vec(d, bytes), second);
    used(a), used(b);
    put(i, d);
  }

  void bitwise(int i, const Node& n) {
    if (n.op == Op::not_)
      return unary(i, root(n.a), [&](const Xmm& d, const Xbyak::Operand& x) {
        with_mask(d, x, ~std::uint64_t{0}, ir::bytes(n.type), true);
      });
    binary(i, root(n.a), root(n.b), true, [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) {
      n.op == Op::and_ ? vandps(d, x, y) : n.op == Op::or_ ? vorps(d, x, y) : vxorps(d, x, y);
    });
  }

  void integer(int i, const Node& n) {
    const bool i64 = n.type == Type::i64;
    const int a = root(n.a);
    using O = Xbyak::Operand;
    const auto two = [&](bool commutes, auto&& emit) { binary(i, a, root(n.b), commutes, emit); };
    if (i64 && !avx512_ && n.op != Op::add && n.op != Op::sub && n.op != Op::neg && n.op != Op::shl)
      return long_integer(i, n);
    switch (n.op) {
      case Op::add:
        return two(true, [&](const Xmm& d, const Xmm& x, const O& y) { i64 ? vpaddq(d, x, y) : vpaddd(d, x, y); });
      case Op::sub:
        return two(false, [&](const Xmm& d, const Xmm& x, const O& y) { i64 ? vpsubq(d, x, y) : vpsubd(d, x, y); });
      case Op::mul:
        return two(true, [&](const Xmm& d, const Xmm& x, const O& y) { i64 ? vpmullq(d, x, y) : vpmulld(d, x, y); });
      case Op::min:
        return two(false, [&](const Xmm& d, const Xmm& x, const O& y) { i64 ? vpminsq(d, x, y) : vpminsd(d, x, y); });
      case Op::max:
        return two(false, [&](const Xmm& d, const Xmm& x, const O& y) { i64 ? vpmaxsq(d, x, y) : vpmaxsd(d, x, y); });
      case Op::abs:
        return unary(i, a, [&](const Xmm& d, const O& x) { i64 ? vpabsq(d, x) : vpabsd(d, x); });
      case Op::neg: {
        const Xmm from = vec(fetch(a), word(a).bytes);
        const int r = take();
        const Xmm& d = vec(r, word(i).bytes);
        vxorps(d, d, d);
        i64 ? vpsubq(d, d, from) : vpsubd(d, d, from);
        used(a);
        return put(i, r);
      }
      case Op::shl:
      case Op::shr: {  // counts are taken modulo the width
        const int b = root(n.b);
        const Xmm x = vec(fetch(a), word(a).bytes), count = vec(fetch(b), word(b).bytes);
        const int r = take();
        const Xmm& d = vec(r, word(i).bytes);
        vandps(d, count, in_pool(constant(i64 ? 63 : 31, ir::bytes(n.type))));
        if (n.op == Op::shl)
          i64 ? vpsllvq(d, x, d) : vpsllvd(d, x, d);
        else
          i64 ? vpsravq(d, x, d) : vpsravd(d, x, d);
        used(a), used(b);
        return put(i, r);
      }
      default:
        break;
    }
    unknown(n);
  }

  /// What AVX2 has no instruction for.
  void long_integer(int i, const Node& n) {
    const int a = root(n.a), b = n.b == ir::kNone ? a : root(n.b), bytes = word(i).bytes;
    const Xmm x = vec(fetch(a), bytes), y = vec(fetch(b), bytes);
    const int r = take(), s = take();
    const Xmm &d = vec(r, bytes), &t = vec(s, bytes);
    switch (n.op) {
      case Op::mul:  // the low halves, and what the high ones add above them
        vpsrlq(d, x, 32);
        vpmuludq(d, d, y);
        vpsrlq(t, y, 32);
        vpmuludq(t, t, x);
        vpaddq(d, d, t);
        vpsllq(d, d, 32);
        vpmuludq(t, x, y);
        vpaddq(d, d, t);
        break;
      case Op::min:
      case Op::max:
        n.op == Op::min ? vpcmpgtq(t, y, x) : vpcmpgtq(t, x, y);
        vblendvpd(d, y, x, t);
        break;
      case Op::abs:  // (x ^ sign) - sign
        vpxor(t, t, t);
        vpcmpgtq(t, t, x);
        vpxor(d, x, t);
        vpsubq(d, d, t);
        break;
      case Op::shr: {  // a shifted sign bit m: ((x >> n) ^ m) - m with noughts from above
        vandps(t, y, in_pool(constant(63, 8)));
        vpsrlvq(d, x, t);
        const int m = take();
        const Xmm& sign = vec(m, bytes);
        vmovaps(sign, in_pool(constant(sign_bits(8), 8)));
        vpsrlvq(sign, sign, t);
        vpxor(d, d, sign);
        vpsubq(d, d, sign);
        free_ |= 1u << m;
        break;
      }
      default:
        unknown(n);
    }
    free_ |= 1u << s;
    used(a), used(b);
    put(i, r);
  }

  [[noreturn]] static void unknown(const Node& n) {
    throw InternalError({.what = std::string("assembler: ") + ir::name(n.op),
                         .expected = "an operation that it covers",
                         .got = ir::name(n.type)});
  }

  // ---- truth values: a bit per lane, in cells ------------------------------------------------------------------------

  Xbyak::Address truth(ir::Value v) { return dword[rsp + 8 * truth_cells_[std::size_t(root(v))]]; }

  void put_truth(int i) {
    kmovw(eax, k1);
    mov(truth(i), eax);
  }

  void logical(int i, const Node& n) {
    mov(eax, truth(n.a));
    if (n.op == Op::not_)
      xor_(eax, all_lanes());
    else
      n.op == Op::and_ ? and_(eax, truth(n.b)) : n.op == Op::or_ ? or_(eax, truth(n.b)) : xor_(eax, truth(n.b));
    mov(truth(i), eax);
  }

  void compare(int i, const Node& n) {
    const Type type = node(n.a).type;
    if (type == Type::b1) {
      mov(eax, truth(n.a));
      if (n.op == Op::lt || n.op == Op::le) xor_(eax, all_lanes());  // not a, and or or b
      n.op == Op::lt ? and_(eax, truth(n.b)) : n.op == Op::le ? or_(eax, truth(n.b)) : xor_(eax, truth(n.b));
      if (n.op == Op::eq) xor_(eax, all_lanes());
      mov(truth(i), eax);
      return;
    }
    const int a = root(n.a), b = root(n.b);
    const Xmm first = vec(fetch(a), word(a).bytes), second = vec(fetch(b), word(b).bytes);
    if (avx512_)
      compare_words(n.op, type, first, second);
    else
      compare_by_words(n.op, type, first, second);
    used(a), used(b);
    avx512_ ? put_truth(i) : mov(truth(i), eax);
  }

  /// Into eax.
  void compare_by_words(Op op, Type type, const Xmm& a, const Xmm& b) {
    const int r = take(), size = ir::bytes(type);
    const Xmm& d = vec(r, a.getBit() / 8);
    const bool is_float = ir::is_float(type), is_not = !is_float && (op == Op::le || op == Op::ne);
    if (is_float) {
      const std::uint8_t predicate = op == Op::lt ? 1 : op == Op::le ? 2 : op == Op::eq ? 0 : 4;
      size == 8 ? vcmppd(d, a, b, predicate) : vcmpps(d, a, b, predicate);
    } else if (op == Op::eq || op == Op::ne) {
      size == 8 ? vpcmpeqq(d, a, b) : vpcmpeqd(d, a, b);
    } else {  // a < b is b > a; a <= b is not a > b
      const Xmm &more = op == Op::lt ? b : a, &less = op == Op::lt ? a : b;
      size == 8 ? vpcmpgtq(d, more, less) : vpcmpgtd(d, more, less);
    }
    bits_of_words(d, size);
    if (is_not) xor_(eax, all_lanes());
    free_ |= 1u << r;
  }

  /// Into k1.
  void compare_words(Op op, Type type, const Xmm& a, const Xbyak::Operand& b) {
    const std::uint8_t predicate = op == Op::lt ? 1 : op == Op::le ? 2 : op == Op::eq ? 0 : 4;
    switch (type) {
      case Type::f32:
        return vcmpps(k1, a, b, predicate);
      case Type::f64:
        return vcmppd(k1, a, b, predicate);
      case Type::i32:
        return vpcmpd(k1, a, b, predicate);
      default:
        return vpcmpq(k1, a, b, predicate);
    }
  }

  void select(int i, const Node& n) {
    if (n.type == Type::b1) {  // (b ^ c) & a ^ c
      mov(eax, truth(n.b));
      xor_(eax, truth(n.c));
      and_(eax, truth(n.a));
      xor_(eax, truth(n.c));
      mov(truth(i), eax);
      return;
    }
    const int yes = root(n.b), no = root(n.c);
    if (!avx512_) {
      const int s = take();
      const Xmm& mask = vec(s, word(i).bytes);
      spread_to_words(mask, truth_cells_[std::size_t(root(n.a))], ir::bytes(n.type));
      binary(i, no, yes, false, [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) { vblendvps(d, x, y, mask); });
      free_ |= 1u << s;
      return;
    }
    binary(i, no, yes, false, [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) {
      kmovw(k1, word_mask(truth_cells_[std::size_t(root(n.a))]));
      ir::bytes(n.type) == 8 ? vblendmpd(d | k1, x, y) : vblendmps(d | k1, x, y);
    });
  }
  Xbyak::Address word_mask(int c) { return Xbyak::CodeGenerator::word[rsp + 8 * c]; }

  void convert(int i, const Node& n) {
    const Type from = node(n.a).type, to = n.type;
    const int bytes = word(i).bytes;
    if (from == Type::b1) {
      const std::uint64_t one = to == Type::f64   ? std::bit_cast<std::uint64_t>(1.0)
                                : to == Type::f32 ? std::bit_cast<std::uint32_t>(1.0F)
                                                  : 1;
      const int r = take();
      if (!avx512_) {
        spread_to_words(vec(r, bytes), truth_cells_[std::size_t(root(n.a))], ir::bytes(to));
        vandps(vec(r, bytes), vec(r, bytes), in_pool(constant(one, ir::bytes(to))));
        return put(i, r);
      }
      kmovw(k1, word_mask(truth_cells_[std::size_t(root(n.a))]));
      const Xbyak::Address ones = in_pool(constant(one, ir::bytes(to)));
      ir::bytes(to) == 8 ? vmovupd(vec(r, bytes) | k1 | T_z, ones) : vmovaps(vec(r, bytes) | k1 | T_z, ones);
      return put(i, r);
    }
    const int a = root(n.a);
    if (to == Type::b1) {
      const Xmm x = vec(fetch(a), word(a).bytes);
      if (avx512_) {
        compare_words(Op::ne, from, x, in_pool(constant(0, ir::bytes(from))));
        used(a);
        return put_truth(i);
      }
      const int s = take();
      const Xmm& zero = vec(s, word(a).bytes);
      vxorps(zero, zero, zero);
      compare_by_words(Op::ne, from, x, zero);
      free_ |= 1u << s;
      used(a);
      mov(truth(i), eax);
      return;
    }
    const Xmm x = vec(fetch(a), word(a).bytes);  // often of another size than the result
    if (ir::is_float(from) && ir::is_int(to)) return to_integer(i, from, to, x, a);
    if (from == Type::i64 && !avx512_) return of_long_integer(i, to, x, a);
    used(a);
    const int r = take();
    const Xmm& d = vec(r, bytes);
    if (from == Type::f32)
      vcvtps2pd(d, x);
    else if (from == Type::f64)
      vcvtpd2ps(d, x);
    else if (from == Type::i32)
      to == Type::f32 ? vcvtdq2ps(d, x) : to == Type::f64 ? vcvtdq2pd(d, x) : vpmovsxdq(d, x);
    else
      to == Type::f32 ? vcvtqq2ps(d, x) : to == Type::f64 ? vcvtqq2pd(d, x) : vpmovqd(d, x);
    put(i, r);
  }

  /// Without AVX-512: the low words, or the double as the sum of two of its parts, of which each is exact beside a large constant.
  void of_long_integer(int i, Type to, const Xmm& x, int a) {
    const int r = take(), bytes = word(i).bytes, s = take();
    const Xmm &d = vec(r, bytes), &t = vec(s, x.getBit() / 8);
    if (to == Type::i32) {
      vpermilps(t, x, std::uint8_t{0x08});  // words 0 and 2 of each half in front
      if (bytes == 16) {
        vpermpd(wide(s, 32), wide(s, 32), 0x08);
        vmovaps(d, vec(s, 16));
      } else {
        vmovaps(d, t);
      }
    } else {
      constexpr std::uint64_t kTwo52 = 0x4330000000000000, kTwo84And63 = 0x4530000080000000,
                              kAll = 0x4530000080100000;  // 2^52; 2^84 + 2^63; 2^84 + 2^63 + 2^52
      vpsrlq(d, x, 32);
      vxorps(d, d, in_pool(constant(kTwo84And63, 8)));
      vsubpd(d, d, in_pool(constant(kAll, 8)));
      vandps(t, x, in_pool(constant(0xFFFFFFFF, 8)));
      vorps(t, t, in_pool(constant(kTwo52, 8)));
      vaddpd(d, d, t);
    }
    free_ |= 1u << s;
    used(a);
    put(i, r);
  }

  /// Truncates and saturates; NaN gives 0. The instruction gives the smallest integer for all that do not fit.
  void to_integer(int i, Type from, Type to, const Xmm& x, int a) {
    const bool wide_from = from == Type::f64, wide_to = to == Type::i64;
    const int r = take(), size = ir::bytes(to);
    const Xmm& d = vec(r, word(i).bytes);
    if (wide_to)
      wide_from ? vcvttpd2qq(d, x) : vcvttps2qq(d, x);
    else
      wide_from ? vcvttpd2dq(d, x) : vcvttps2dq(d, x);
    const double limit = wide_to ? 0x1p63 : 0x1p31;
    const Xbyak::Address limits = in_pool(wide_from ? constant(std::bit_cast<std::uint64_t>(limit), 8)
                                                    : constant(std::bit_cast<std::uint32_t>(float(limit)), 4));
    constexpr std::uint8_t kNotLess = 13, kUnordered = 3, kOrdered = 7;  // 13: greater or equal
    const auto largest = [&] { return in_pool(constant(wide_to ? ~std::uint64_t{0} >> 1 : 0x7FFFFFFF, size)); };
    if (avx512_) {
      const auto set = [&](const Xbyak::Address& value) { wide_to ? vmovapd(d | k1, value) : vmovaps(d | k1, value); };
      wide_from ? vcmppd(k1, x, limits, kNotLess) : vcmpps(k1, x, limits, kNotLess);
      set(largest());
      wide_from ? vcmppd(k1, x, x, kUnordered) : vcmpps(k1, x, x, kUnordered);
      set(in_pool(constant(0, size)));
    } else {
      const Xmm& mask = vec(take(), word(i).bytes);
      vcmpps(mask, x, limits, kNotLess);
      vblendvps(d, d, largest(), mask);
      vcmpps(mask, x, x, kOrdered);
      vandps(d, d, mask);
      free_ |= 1u << mask.getIdx();
    }
    used(a);
    put(i, r);
  }

  // ---- stores and sums -------------------------------------------------------------------------------------------------

  void store(const ir::Store& s) {
    const int v = root(s.value), size = ir::bytes(kernel_.leaves[std::size_t(s.place.leaf)].word);
    if (size == 1) return store_truths(s);
    const Xmm x = vec(fetch(v), word(v).bytes);
    if (!kernel_.listed) {
      streaming_ ? vmovntps(memory(place(s.place)), x) : vmovaps(memory(place(s.place)), x);
    } else if (avx512_) {
      size == 8 ? vmovupd(memory(place(s.place)) | k7, x) : vmovaps(memory(place(s.place)) | k7, x);
    } else {
      const Xmm mask = vec(take(), word(v).bytes);
      vmovaps(mask, stack(size == 8 ? mask8_at_ : mask4_at_));
      size == 8 ? vmaskmovpd(memory(place(s.place)), mask, x) : vmaskmovps(memory(place(s.place)), mask, x);
      free_ |= 1u << mask.getIdx();
    }
    used(v);
  }

  /// A sum whose summands do not fit its window.
  struct Slow {
    std::unique_ptr<Xbyak::Label> begin, back;
    std::size_t reduction;
    int x;                       ///< its register
    std::vector<int> registers;  ///< with values
    std::vector<int> cells;      ///< general registers, likewise
  };

  static std::int32_t member(std::size_t reduction, std::size_t offset) {
    return std::int32_t(reduction * sizeof(SumAccumulator) + offset);
  }

  void reduction(std::size_t r) {
    const ir::Reduction& reduction = kernel_.reductions[r];
    const int v = root(reduction.value), bytes = word(v).bytes;
    const Xmm value = vec(fetch(v), bytes);
    const Reg64 sums = cached(sums_cell_), lane_sums = cached(lane_sums_cell_);
    if (reduction.kind != ir::Reduction::Kind::sum) {
      const bool max = reduction.kind == ir::Reduction::Kind::max;
      const Xbyak::Address present = ptr[lane_sums + member(r, offsetof(SumAccumulator, extremum))];
      const std::uint8_t better = max ? 14 : 1;  // greater, less
      if (!avx512_) {
        const int m = take();
        const Xmm& mask = vec(m, bytes);
        vcmppd(mask, value, present, better);
        if (kernel_.listed) vandps(mask, mask, stack(mask8_at_));
        vmaskmovpd(present, mask, value);
        free_ |= 1u << m;
        return used(v);
      }
      kernel_.listed ? vcmppd(k1 | k7, value, present, better) : vcmppd(k1, value, present, better);
      vmovupd(present | k1, value);
      return used(v);
    }
    // All registers before the branch: both ways have the same.
    const int x = take(), part = take(), extract = take();
    const Xmm &rest = vec(x, bytes), &p = vec(part, bytes), &e = vec(extract, bytes);
    if (!kernel_.listed)
      vmovaps(rest, value);
    else if (avx512_)
      vmovapd(rest | k7 | T_z, value);
    else
      vandps(rest, value, stack(mask8_at_));
    used(v);
    const Xbyak::Address absolute = in_pool(constant(~sign_bits(8), 8));
    vandps(p, rest, absolute);
    Slow slow{std::make_unique<Xbyak::Label>(), std::make_unique<Xbyak::Label>(), r, x, {}, {}};
    if (avx512_) {
      vcmppd(k1, p, ptr_b[sums + member(r, offsetof(SumAccumulator, limit))], 1);
      kmovw(eax, k1);
    } else {
      vbroadcastsd(wide_or_narrow(extract, bytes), qword[sums + member(r, offsetof(SumAccumulator, limit))]);
      vcmppd(p, p, e, 1);
      vmovmskpd(eax, p);
    }
    cmp(eax, all_lanes());
    jne(*slow.begin, T_NEAR);
    for (std::size_t k = 0; k < 3; ++k) {
      vbroadcastsd(wide_or_narrow(extract, bytes),
                   qword[sums + member(r, offsetof(SumAccumulator, extract) + k * sizeof(double))]);
      vaddpd(p, rest, e);
      vsubpd(p, p, e);
      if (k < 2) vsubpd(rest, rest, p);
      const Xbyak::Address level =
          ptr[lane_sums + member(r, offsetof(SumAccumulator, level) + k * sizeof(double) * kMaxLanes)];
      vaddpd(p, p, level);
      vmovupd(level, p);
    }
    L(*slow.back);
    free_ |= 1u << x | 1u << part | 1u << extract;
    for (int i = 0; i < registers(); ++i)
      if ((free_ >> i & 1) == 0) slow.registers.push_back(i);
    for (int i = 0; i < kCacheSize; ++i)
      if (cache_[std::size_t(i)].cell >= 0) slow.cells.push_back(i);
    slow_.push_back(std::move(slow));
  }
  /// vbroadcastsd is not for 16 bytes, of which steps of doubles have more; those of two lanes take the low half.
  const Ymm& wide_or_narrow(int r, int bytes) const { return wide(r, std::max(bytes, 32)); }

  void slow_path(const Slow& s) {
    L(*s.begin);
    vmovaps(stack(scratch_at_), vec(s.x, lanes_ * 8));
    for (int r : s.registers) vmovaps(stack(saved_at_[std::size_t(r)]), vec(r, width_));
    for (int i : s.cells) mov(qword[rsp + gprs_at_ + 8 * i], Reg64(kCached[i]));
    mov(rdi, cell(sums_cell_));
    add(rdi, member(s.reduction, 0));
    lea(rsi, stack(scratch_at_));
    mov(edx, lanes_);
    vzeroupper();
    call_by_name("tessera_sum_slow");
    for (int r : s.registers) vmovaps(vec(r, width_), stack(saved_at_[std::size_t(r)]));
    for (int i : s.cells) mov(Reg64(kCached[i]), qword[rsp + gprs_at_ + 8 * i]);
    if (kernel_.listed && avx512_) kmovw(k7, word_mask(mask_cell_));
    jmp(*s.back, T_NEAR);
  }

  void call_by_name(const std::string& name) {
    auto known = std::ranges::find_if(callees_, [&](const auto& c) { return c.first == name; });
    if (known == callees_.end()) known = callees_.insert(known, {name, Xbyak::Label{}});
    call(ptr[rip + known->second]);
  }

  // ---- the function ----------------------------------------------------------------------------------------------------

  static inline const Reg64 kStep{Xbyak::Operand::RBX}, kLast{Xbyak::Operand::R12};

  void enter() {
    for (int r : {Xbyak::Operand::RBP, Xbyak::Operand::RBX, Xbyak::Operand::R12, Xbyak::Operand::R13,
                  Xbyak::Operand::R14, Xbyak::Operand::R15})
      push(Reg64(r));
    mov(rbp, rsp);
    and_(rsp, -64);
    sub(rsp, 0x7FFFFFFF);
    frame_at_ = getSize() - 4;
    mov(kStep, rsi);
    mov(kLast, rdx);
    if (halves_ > 1) shl(kStep, 1), shl(kLast, 1);
    const auto copy = [&](std::size_t list, std::size_t entry, int to) {
      mov(rax, qword[rdi + int(list)]);
      mov(rax, qword[rax + int(entry * sizeof(void*))]);
      mov(cell(to), rax);
    };
    for (std::size_t i = 0; i < field_cells_.size(); ++i) copy(offsetof(LaunchArguments, fields), i, field_cells_[i]);
    for (std::size_t s = 1; s < table_cells_.size(); ++s)
      if (table_cells_[s] >= 0) copy(offsetof(LaunchArguments, tables), s, table_cells_[s]);
    const auto take_pointer = [&](std::size_t offset, int to) {
      mov(rax, qword[rdi + int(offset)]);
      mov(cell(to), rax);
    };
    if (kernel_.listed) {
      take_pointer(offsetof(LaunchArguments, groups), groups_cell_);
      take_pointer(offsetof(LaunchArguments, masks), masks_cell_);
    }
    if (!kernel_.reductions.empty()) take_pointer(offsetof(LaunchArguments, sums), sums_cell_);
    scalars();
  }

  void scalars() {
    mov(rax, qword[rdi + int(offsetof(LaunchArguments, scalars))]);
    for (const auto& [number, to] : shift_cells_) {
      movsxd(rcx, dword[rax + int(8 * number)]);
      mov(cell(to), rcx);
    }
    for_steps([&](const Step& s, int) {
      if (s.kind != Step::Kind::node || node(s.number).op != Op::argument) return;
      const Node& n = node(s.number);
      const int number = int(n.integer);
      if (n.type == Type::b1) {
        if (truth_arguments_.contains(number)) return;
        const int to = truth_cells_[std::size_t(s.number)];
        truth_arguments_[number] = to;
        xor_(ecx, ecx);
        mov(edx, all_lanes());
        cmp(byte[rax + 8 * number], 0);
        cmovne(ecx, edx);
        mov(dword[rsp + 8 * to], ecx);
        return;
      }
      int& at = arguments_at_[std::size_t(number)];
      if (at >= 0) return;
      at = new_vector();
      const int bytes = ir::bytes(n.type);
      if (bytes == 8)
        vbroadcastsd(wide(0, width_), qword[rax + 8 * number]);
      else
        vbroadcastss(wide(0, width_), dword[rax + 8 * number]);
      vmovaps(stack(at), wide(0, width_));
    });
  }

  void leave_function() {
    if (streaming_) sfence();
    vzeroupper();
    mov(rsp, rbp);
    for (int r : {Xbyak::Operand::R15, Xbyak::Operand::R14, Xbyak::Operand::R13, Xbyak::Operand::R12,
                  Xbyak::Operand::RBX, Xbyak::Operand::RBP})
      pop(Reg64(r));
    ret();
  }

  /// The frames of one step, and the addresses of fields in them; and those of a step ahead.
  void head() {
    mov(rax, kStep);
    if (halves_ > 1) {
      mov(rcx, kStep);
      and_(ecx, 1);
      mov(cell(here_.halves[0]), rcx);
      sar(rax, 1);
    }
    if (kernel_.listed) listed_group();
    mov(cell(here_.groups[0]), rax);
    frames(here_);
    if (!kernel_.reductions.empty()) {
      mov(rax, cell(sums_cell_));
      if (halves_ > 1) {
        imul(rcx, cell(here_.halves[0]), lanes_ * int(sizeof(double)));
        add(rax, rcx);
      }
      mov(cell(lane_sums_cell_), rax);
    }
    if (ahead_.groups[0] >= 0) {
      lea(rax, ptr[kStep + prefetch_]);
      if (halves_ > 1) {
        mov(rcx, rax);
        and_(ecx, 1);
        mov(cell(ahead_.halves[0]), rcx);
        sar(rax, 1);
      }
      mov(cell(ahead_.groups[0]), rax);
      frames(ahead_);
    }
    forget_cells();
  }
  void frames(const View& view) {
    for (std::size_t s = 1; s < kernel_.slots.size(); ++s)
      if (view.groups[s] >= 0) kernel_.slots[s].gathered ? positions(s) : frame(view, s);
    if (&view == &here_)
      for (const auto& [where, chunks] : gathers_) offsets(std::size_t(where.first), std::size_t(where.second), chunks);
    for (const auto& [key, to] : view.addresses)
      if (key == standing(key)) address(view, key, to);
  }
  void walk(const View& view) {
    for (const auto& [key, to] : view.addresses)
      if (key != standing(key)) walk(view, key, to);
  }

  /// From the entry of a list in rax to the group there, and the mask; half in rcx.
  void listed_group() {
    mov(rdx, cell(masks_cell_));
    mov(rdx, qword[rdx + rax * 8]);
    mov(rsi, cell(groups_cell_));
    movsxd(rax, dword[rsi + rax * 4]);
    if (halves_ > 1) {
      imul(ecx, ecx, lanes_);
      shr(rdx, cl);
    }
    if (avx512_) and_(edx, all_lanes());
    mov(cell(mask_cell_), rdx);
    if (avx512_) {
      kmovw(k7, edx);
      return;
    }
    const auto spread = [&](int word_bytes, int to) {
      const Xmm& mask = vec(0, std::min(word_bytes * lanes_, width_));
      spread_to_words(mask, mask_cell_, word_bytes);
      vmovaps(stack(to), mask);
    };
    spread(4, mask4_at_);
    if (lanes_ * 8 <= width_) spread(8, mask8_at_);
  }

  void frame(const View& view, std::size_t s) {
    const ir::Slot& slot = kernel_.slots[s];
    const auto parent = std::size_t(slot.parent);
    mov(rcx, cell(table_cells_[s]));
    mov(rdx, cell(view.groups[parent]));
    movsxd(rax, dword[rcx + rdx * 4]);
    mov(rcx, rax);
    sar(rcx, 1);
    mov(cell(view.groups[s]), rcx);
    and_(eax, 1);
    if (halves_ > 1) {
      mov(rcx, cell(view.halves[parent]));
      if (!slot.exchange.beyond(lanes_).is_none()) xor_(rcx, rax);
      mov(cell(view.halves[s]), rcx);
    }
    if (&view != &here_) return;
    for (const int size : {4, 8}) {
      const Word& lanes = word(lanes_of(s, size));
      if (lanes.home.kind == Home::Kind::none) continue;
      imul(rdx, rax, width_);
      lea(rcx, in_pool(lane_table(slot.exchange.within(lanes_), size)));
      add(rcx, rdx);
      mov(cell(lanes.home.cell), rcx);
    }
  }

  /// Where the sites of a gathered slot are, four bytes for each lane.
  void positions(std::size_t s) {
    const auto parent = std::size_t(kernel_.slots[s].parent);
    const int bytes = 4 * lanes_;
    const Xmm &d = vec(0, bytes), &index = vec(1, bytes), &mask = vec(2, bytes);
    mov(rcx, cell(table_cells_[s]));
    if (kernel_.slots[parent].gathered) {
      vmovaps(index, stack(positions_at_[parent]));
      const Xbyak::Address entries = ptr[rcx + index * 4];
      if (avx512_) {
        kxnorw(k1, k1, k1);
        vpgatherdd(d | k1, entries);
      } else {
        vpcmpeqd(mask, mask, mask);
        vpgatherdd(d, entries, mask);
      }
    } else {
      imul(rax, cell(here_.groups[parent]), kernel_.lanes);
      if (halves_ > 1) {
        imul(rdx, cell(here_.halves[parent]), lanes_);
        add(rax, rdx);
      }
      vmovups(d, ptr[rcx + rax * 4]);
    }
    vmovaps(stack(positions_at_[s]), d);
  }

  /// Bytes from the first component of a leaf's first block to that of each lane's site.
  void offsets(std::size_t s, std::size_t number, const std::vector<int>& chunks) {
    const ir::Leaf& leaf = kernel_.leaves[number];
    const int size = ir::bytes(leaf.word), lanes = block_lanes(kernel_.lanes, leaf.word), bytes = 8 * chunk();
    const Xmm &block = vec(0, bytes), &lane = vec(1, bytes);
    for (std::size_t c = 0; c < chunks.size(); ++c) {
      vpmovzxdq(block, ptr[rsp + positions_at_[s] + int(c) * 4 * chunk()]);
      vandps(lane, block, in_pool(constant(std::uint64_t(lanes - 1), 8)));
      vpsrlq(block, block, std::uint8_t(std::countr_zero(unsigned(lanes))));
      vpmuludq(block, block, in_pool(constant(std::uint64_t(leaf.components * lanes * size), 8)));
      vpsllq(lane, lane, std::uint8_t(std::countr_zero(unsigned(size))));
      vpaddq(block, block, lane);
      vmovaps(stack(chunks[c]), block);
    }
  }

  void address(const View& view, const AddressKey& key, int to) {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(key.leaf)];
    const int size = ir::bytes(leaf.word), lanes = block_lanes(kernel_.lanes, leaf.word),
              block_bytes = leaf.components * lanes * size;
    const auto slot = std::size_t(key.slot);
    if (kernel_.slots[slot].gathered) {  // the rest is in the offsets of each lane
      xor_(eax, eax);
    } else {
      mov(rax, cell(view.groups[slot]));
      if (halves_ > 1 && lanes == lanes_) {  // a block is half a group
        add(rax, rax);
        add(rax, cell(view.halves[slot]));
      }
      imul(rax, rax, block_bytes);
      if (halves_ > 1 && lanes != lanes_) {  // a block is a group; this step sees half of its lanes
        imul(rcx, cell(view.halves[slot]), lanes_ * size);
        add(rax, rcx);
      }
    }
    add(rax, cell(field_cells_[std::size_t(key.leaf)]));
    if (key.shifted_by >= 0) {
      imul(rcx, cell(shift_cells_.at(key.shifted_by)), int(component_bytes(leaf)));
      add(rax, rcx);
    }
    mov(cell(to), rax);
  }

  void walk(const View& view, const AddressKey& key, int to) {
    const int bytes = int(component_bytes(kernel_.leaves[std::size_t(key.leaf)]));
    mov(rax, cell(view.addresses.at(standing(key))));
    if (key.stride != 0) {
      imul(rcx, cell(trip_cell_), key.stride * bytes);
      add(rax, rcx);
    }
    if (key.leap != 0) {
      imul(rcx, cell(round_cell_), key.leap * bytes);
      add(rax, rcx);
    }
    mov(cell(to), rax);
  }

  void steps() {
    free_ = avx512_ ? ~0u : 0xFFFFu;
    now_ = 0;
    run(order_.once);
    const int runs = ir::runs(kernel_);
    if (runs == 1) return run(order_.each);
    for (int r = 0; r < registers(); ++r) {
      if ((free_ >> r & 1) != 0) continue;
      const int v = owner_[std::size_t(r)];
      if (word(v).home.kind == Home::Kind::none) spill(v);
      word(v).reg = -1;
    }
    free_ = avx512_ ? ~0u : 0xFFFFu;
    // What every trip reads again is asked for once.
    if (prefetch_ > 0)
      for (const Step& step : order_.each)
        if (step.kind == Step::Kind::node && node(step.number).op == Op::load && !ir::walks(node(step.number).place))
          prefetch(node(step.number).place);
    xor_(eax, eax);
    for (int c : {run_cell_, trip_cell_, round_cell_}) mov(cell(c), rax);
    Xbyak::Label trip;
    L(trip);
    walk(here_);
    walk(ahead_);
    forget_cells();
    in_trips_ = true;
    run(order_.each);
    mov(rax, cell(trip_cell_));
    mov(rcx, cell(round_cell_));
    inc(rax);
    Xbyak::Label same_round;
    cmp(rax, kernel_.trips);
    jl(same_round);
    xor_(eax, eax);
    inc(rcx);
    L(same_round);
    mov(cell(trip_cell_), rax);
    mov(cell(round_cell_), rcx);
    inc(cell(run_cell_));
    cmp(cell(run_cell_), runs);
    jl(trip, T_NEAR);
  }

  void run(const std::vector<Step>& steps) {
    for (const Step& s : steps) {
      switch (s.kind) {
        case Step::Kind::node:
          operation(s.number);
          break;
        case Step::Kind::store:
          store(kernel_.stores[std::size_t(s.number)]);
          break;
        case Step::Kind::reduction:
          reduction(std::size_t(s.number));
          break;
      }
      end_step();
      ++now_;
    }
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

  const Kernel& kernel_;
  const VectorIsa isa_;
  const int prefetch_;
  const bool streaming_;
  const bool avx512_;
  const int width_, lanes_, halves_;
  const Schedule order_;
  std::array<Xmm, 32> x_;
  std::array<Ymm, 32> y_;
  std::array<Zmm, 32> z_;

  std::vector<Alias> alias_;
  std::vector<Word> words_;  ///< of the nodes; then two for each slot: lanes_of()
  std::vector<int> uses_;
  int now_ = 0;  ///< number of the present step

  int cells_ = 0, vectors_at_ = 0, vectors_ = 0;
  std::vector<int> slots_, freed_;  ///< of the stack, free; and free after the present step
  std::vector<int> field_cells_, table_cells_, truth_cells_;
  View here_, ahead_;
  std::map<std::pair<int, int>, std::vector<int>> gathers_;  ///< by slot and leaf: vectors of offsets
  std::vector<int> positions_at_;                            ///< [slots] gathered ones
  bool in_trips_ = false;
  std::map<int, int> shift_cells_, truth_arguments_;
  std::vector<int> arguments_at_, saved_at_;
  std::array<int, 2> arguments_of_calls_at_ = {};
  int groups_cell_ = -1, masks_cell_ = -1, mask_cell_ = -1, sums_cell_ = -1, lane_sums_cell_ = -1;
  int run_cell_ = -1, trip_cell_ = -1, round_cell_ = -1;
  int mask4_at_ = 0, mask8_at_ = 0, scratch_at_ = 0, gprs_at_ = 0;
  std::size_t frame_at_ = 0;

  std::array<CachedCell, kCacheSize> cache_ = {};
  std::int64_t clock_ = 0;
  std::uint32_t free_ = 0, pinned_ = 0;
  std::array<int, 32> owner_ = {};

  std::deque<PoolEntry> pool_;  // labels stay where they are
  std::map<std::pair<std::uint64_t, int>, int> constants_;
  std::map<int, int> bits_of_lanes_;  ///< by the bytes of a word: number of the constant, from 1
  std::vector<std::pair<std::string, Xbyak::Label>> callees_;
  std::vector<Slow> slow_;
};

struct Freed {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

std::string assemble(const Kernel& kernel, const std::string& symbol, const CodeOptions& options, VectorIsa isa) {
  // An instruction takes at most eleven bytes, and a node a few of them.
  constexpr std::size_t kPage = 4096, kPerNode = 200, kPerSum = 8192;
  const std::size_t nodes = kernel.nodes.size() + kernel.stores.size() + kernel.arguments.size() + kernel.leaves.size(),
                    room = (kPerNode * nodes + kPerSum * kernel.reductions.size() + kPage * (kernel.slots.size() + 4)) /
                           kPage * kPage;
  const std::unique_ptr<void, Freed> buffer(std::aligned_alloc(kPage, room));
  try {
    if (!buffer) throw std::bad_alloc();
    return KernelAssembler(kernel, options, isa, room, buffer.get()).run(symbol);
  } catch (const Xbyak::Error& error) {
    throw InternalError({.what = "assembler", .expected = "instructions", .got = error.what(), .where = kernel.name});
  }
}

}  // namespace jit

#else  // other processors have LLVM's code only

namespace jit {

bool can_assemble(const ir::Kernel&, VectorIsa) { return false; }
std::string assemble(const ir::Kernel& kernel, const std::string&, const CodeOptions&, VectorIsa) {
  throw InternalError(
      {.what = "assembler", .expected = "a processor that it knows", .got = "another", .where = kernel.name});
}

}  // namespace jit

#endif
