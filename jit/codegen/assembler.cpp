#include "jit/codegen/assembler.hpp"

#include "jit/support/error.hpp"

#if defined(__x86_64__)

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <optional>
#include <vector>

#include "jit/codegen/assembled_code.hpp"
#include "jit/codegen/assembled_operations.hpp"
#include "jit/codegen/double_parts.hpp"
#include "jit/codegen/kernel_emitter.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"

namespace jit {
namespace {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Type;
using Xbyak::Reg64;

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

/// So many that every value is one register, or every part of a double.
struct Lanes {
  int of_step, parts = 1;

  Lanes(const Kernel& kernel, VectorIsa isa) : of_step(lanes_per_step(kernel)) {
    int size = 4;
    for (const Node& n : kernel.nodes) size = std::max(size, ir::bytes(n.type));
    const int fit = register_bytes(isa) / size;
    // With AVX2 the mask of a list's lanes is there for whole steps only.
    if (of_step >= 2 * fit && reduces_doubles_only(kernel) && (isa == VectorIsa::avx512 || !kernel.listed)) parts = 2;
    of_step = std::min(of_step, parts * fit);
  }
  int of(Type t) const { return t == Type::f64 ? of_step / parts : of_step; }
};

}  // namespace

bool can_assemble(const Kernel& kernel, VectorIsa isa) {
  if (isa == VectorIsa::sse4) return false;
  if (isa == VectorIsa::avx512 &&
      !(__builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw")))
    return false;
  const Lanes lanes(kernel, isa);
  const int most = register_bytes(isa);
  if (kernel.lanes / lanes.of_step > 2) return false;
  const auto fits = [&](Type t) {
    const int n = lanes.of(t);
    return t == Type::b1 ? n >= 4 && n <= 16 : n * ir::bytes(t) >= 16 && n * ir::bytes(t) <= most;
  };
  for (const ir::Leaf& leaf : kernel.leaves)
    if (leaf.host_order || !fits(leaf.word)) return false;
  for (const ir::Slot& slot : kernel.slots)
    if (slot.exchange.straddles(lanes.of_step)) return false;
  const std::vector<bool> live = ir::live_nodes(kernel);
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i)
    if (live[i] && (!fits(kernel.nodes[i].type) || !covers_operation(kernel, kernel.nodes[i], isa))) return false;
  return true;
}

namespace {

// ---- the function ---------------------------------------------------------------------------------------------------

class KernelAssembler : private OperationAssembler {
 public:
  KernelAssembler(const Kernel& kernel, const CodeOptions& options, VectorIsa isa, Lanes lanes, std::size_t room,
                  void* buffer)
      : OperationAssembler(kernel, options, isa, lanes.of_step, lanes.parts, room, buffer) {}

  std::string run(const std::string& symbol) {
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
  /// A sum whose summands do not fit its window.
  struct Slow {
    std::unique_ptr<Xbyak::Label> begin, back;
    std::size_t reduction;
    int x;                       ///< its register
    std::vector<int> registers;  ///< with values
    std::vector<int> cells;      ///< general registers, likewise
  };
  int part_of(std::size_t reduction) const { return int(reduction) % parts_; }
  /// Of the accumulator of a reduction, the parts of which have one together.
  std::int32_t member(std::size_t reduction, std::size_t offset) const {
    return std::int32_t(reduction / std::size_t(parts_) * sizeof(SumAccumulator) + offset);
  }
  /// The same, of what it has for each lane.
  std::int32_t lane_member(std::size_t reduction, std::size_t offset) const {
    return member(reduction, offset) + part_of(reduction) * doubles() * int(sizeof(double));
  }

  void reduction(std::size_t r) {
    const ir::Reduction& reduction = kernel_.reductions[r];
    const int v = root(reduction.value), bytes = word_of(v).bytes;
    const Xmm value = vec(fetch(v), bytes);
    const Reg64 lane_sums = cached(lane_sums_cell_), sums = cached(sums_cell_);
    const bool upper = part_of(r) > 0;
    const Xbyak::Opmask& listed = upper ? k2 : k7;  // of the list's lanes, those of this value
    if (kernel_.listed && upper) kshiftrw(k2, k7, std::uint8_t(doubles()));
    if (reduction.kind != ir::Reduction::Kind::sum) {
      const bool max = reduction.kind == ir::Reduction::Kind::max;
      const Xbyak::Address present = ptr[lane_sums + lane_member(r, offsetof(SumAccumulator, extremum))];
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
      kernel_.listed ? vcmppd(k1 | listed, value, present, better) : vcmppd(k1, value, present, better);
      vmovupd(present | k1, value);
      return used(v);
    }
    // All registers before the branch: both ways have the same.
    const int x = take(), part = take(), extract = take();
    const Xmm &rest = vec(x, bytes), &p = vec(part, bytes), &e = vec(extract, bytes);
    if (!kernel_.listed)
      vmovaps(rest, value);
    else if (avx512_)
      vmovapd(rest | listed | T_z, value);
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
    cmp(eax, (1 << doubles()) - 1);
    jne(*slow.begin, T_NEAR);
    for (std::size_t k = 0; k < 3; ++k) {
      vbroadcastsd(wide_or_narrow(extract, bytes),
                   qword[sums + member(r, offsetof(SumAccumulator, extract) + k * sizeof(double))]);
      vaddpd(p, rest, e);
      vsubpd(p, p, e);
      if (k < 2) vsubpd(rest, rest, p);
      const Xbyak::Address level =
          ptr[lane_sums + lane_member(r, offsetof(SumAccumulator, level) + k * sizeof(double) * kMaxLanes)];
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
    vmovaps(stack(scratch_at_), vec(s.x, doubles() * 8));
    for (int r : s.registers) vmovaps(stack(saved_at_[std::size_t(r)]), vec(r, width_));
    for (int i : s.cells) mov(qword[rsp + gprs_at_ + 8 * i], Reg64(kCached[i]));
    mov(rdi, cell(sums_cell_));
    add(rdi, member(s.reduction, 0));
    lea(rsi, stack(scratch_at_));
    mov(edx, doubles());
    vzeroupper();
    call_by_name("tessera_sum_slow");
    for (int r : s.registers) vmovaps(vec(r, width_), stack(saved_at_[std::size_t(r)]));
    for (int i : s.cells) mov(Reg64(kCached[i]), qword[rsp + gprs_at_ + 8 * i]);
    if (kernel_.listed && avx512_) kmovw(k7, word_mask(mask_cell_));
    jmp(*s.back, T_NEAR);
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

  /// What the frames of one step are, and the addresses of fields in them; and those of a step ahead. Little of it is computed here.
  void head() {
    if (kernel_.listed) listed_group();
    head_of(here_, 0);
    if (!kernel_.reductions.empty())
      when_asked({lane_sums_cell_}, halves_ > 1 ? std::vector{here_.halves[0]} : std::vector<int>{}, [this] {
        if (halves_ > 1) {
          const Reg64 half = cached(here_.halves[0]);
          const Reg64 sums = defined(lane_sums_cell_);
          imul(sums, half, lanes_ * int(sizeof(double)));
          add(sums, cell(sums_cell_));
        } else {
          mov(defined(lane_sums_cell_), cell(sums_cell_));
        }
      });
    if (ahead_.groups[0] >= 0) head_of(ahead_, prefetch_);  // no list
    // From here on it is known who reads what, and code may ask.
    if (kernel_.listed) cached(here_.groups[0]);  // while rax has it
    for (std::size_t s = 1; s < kernel_.slots.size(); ++s)
      if (here_.groups[s] >= 0 && kernel_.slots[s].gathered) positions(s);
    for (const auto& [where, chunks] : gathers_) offsets(std::size_t(where.first), std::size_t(where.second), chunks);
    for (const auto& [order, number] : lane_orders())
      if (order.slots.size() > 1) lane_order(order, word_of(number));
  }
  /// Of the step that is so many ahead; a list's group is in rax.
  void head_of(const View& view, int ahead) {
    std::vector<int> cells = {view.groups[0]};
    if (halves_ > 1) cells.push_back(view.halves[0]);
    when_asked(cells, {}, [this, &view, ahead] {
      const Reg64 group = defined(view.groups[0]);
      kernel_.listed ? mov(group, rax) : lea(group, ptr[kStep + ahead]);
      if (halves_ == 1) return;
      const Reg64 half = defined(view.halves[0]);
      mov(half, kernel_.listed ? kStep : group);
      and_(half, 1);
      if (!kernel_.listed) sar(group, 1);
    });
    frames(view);
  }

  void frames(const View& view) {
    for (std::size_t s = 0; s < kernel_.slots.size(); ++s) {
      if (view.groups[s] < 0 || kernel_.slots[s].gathered) continue;
      if (s > 0) frame(view, s);
      if (halves_ > 1)
        when_asked({view.blocks[s]}, {view.groups[s], view.halves[s]}, [this, &view, s] {
          const Reg64 group = cached(view.groups[s]), half = cached(view.halves[s]);
          lea(defined(view.blocks[s]), ptr[half + group * 2]);
        });
    }
    for (const auto& [key, to] : view.addresses)
      if (key == standing(key)) address(view, key, to);
  }

  void walk(const View& view) {
    for (const auto& [key, to] : view.addresses)
      if (key != standing(key)) walk(view, key, to);
  }

  /// The group of an entry of the list, in rax, and the mask.
  void listed_group() {
    mov(rax, kStep);
    if (halves_ > 1) {
      mov(rcx, kStep);
      and_(ecx, 1);
      sar(rax, 1);
    }
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
    std::vector<int> cells = {view.groups[s]}, reads = {view.groups[parent]};
    if (halves_ > 1) cells.push_back(view.halves[s]), reads.push_back(view.halves[parent]);
    std::vector<std::pair<int, int>> lanes;  // size of a word, cell
    if (&view == &here_)
      for (const int size : {4, 8})
        if (const auto entry = lane_entries_.find({s, size}); entry != lane_entries_.end())
          lanes.emplace_back(size, entry->second), cells.push_back(entry->second);
    when_asked(cells, reads, [this, &view, &slot, s, parent, lanes] {
      const Reg64 from = cached(view.groups[parent]), table = cached(table_cells_[s]);
      movsxd(rax, dword[table + from * 4]);
      const Reg64 group = defined(view.groups[s]);
      mov(group, rax);
      sar(group, 1);
      if (halves_ > 1 || !lanes.empty()) and_(eax, 1);
      if (halves_ > 1) {
        const Reg64 of_parent = cached(view.halves[parent]), half = defined(view.halves[s]);
        mov(half, of_parent);
        if (!slot.exchange.beyond(lanes_).is_none()) xor_(half, rax);
      }
      if (!lanes.empty()) shl(rax, std::countr_zero(unsigned(width_)));
      for (const auto& [size, to] : lanes) {
        const Reg64 entry = defined(to);
        lea(entry, in_pool(lane_table(exchange_in(s), size)));
        add(entry, rax);
      }
    });
  }

  /// Of several exchanges: each takes lanes of what those nearer to the site have left.
  void lane_order(const LaneOrder& order, const Word& w) {
    const Xmm &lanes = vec(0, w.bytes), &next = vec(1, w.bytes);
    const auto entry = [&](std::size_t s) { return ptr[cached(lane_entries_.at({s, order.word_bytes}))]; };
    vmovaps(lanes, entry(order.slots.back()));
    for (std::size_t k = order.slots.size() - 1; k-- > 0;) {
      if (w.bytes == 16) {
        vmovaps(next, entry(order.slots[k]));
        vpermilps(lanes, next, lanes);
      } else {
        vpermps(wide(0, w.bytes), wide(0, w.bytes), entry(order.slots[k]));
      }
    }
    vmovaps(stack(w.home.at), lanes);
  }

  /// Where the sites of a gathered slot are, four bytes for each lane.
  void positions(std::size_t s) {
    const auto parent = std::size_t(kernel_.slots[s].parent);
    const int bytes = 4 * lanes_;
    const Xmm &d = vec(0, bytes), &index = vec(1, bytes), &mask = vec(2, bytes);
    if (kernel_.slots[parent].gathered) {
      const Reg64 table = cached(table_cells_[s]);
      vmovaps(index, stack(positions_at_[parent]));
      const Xbyak::Address entries = ptr[table + index * 4];
      if (avx512_) {
        kxnorw(k1, k1, k1);
        vpgatherdd(d | k1, entries);
      } else {
        vpcmpeqd(mask, mask, mask);
        vpgatherdd(d, entries, mask);
      }
    } else {  // a step has lanes_ sites
      imul(rax, cached(halves_ > 1 ? here_.blocks[parent] : here_.groups[parent]), lanes_);
      vmovups(d, ptr[cached(table_cells_[s]) + rax * 4]);
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
    const auto slot = std::size_t(key.slot), half_of = std::size_t(key.half_of);
    const bool halved = halves_ > 1 && lanes == lanes_;     // a block is half a group
    const bool sees_half = halves_ > 1 && lanes != lanes_;  // a block is a group; this step sees half of its lanes
    const bool gathered = kernel_.slots[slot].gathered;     // the rest is in the offsets of each lane
    std::vector<int> reads;
    const bool own_half = slot == half_of;
    if (!gathered) reads.push_back(halved && own_half ? view.blocks[slot] : view.groups[slot]);
    if (!gathered && (sees_half || !own_half)) reads.push_back(view.halves[half_of]);
    when_asked({to}, reads, [=, this, &view, &leaf] {
      const Reg64 from = gathered ? rax : cached(reads[0]);
      const Reg64 half = reads.size() > 1 ? cached(reads[1]) : rax, result = defined(to);
      if (gathered) {
        mov(result, cell(field_cells_[std::size_t(key.leaf)]));
      } else {
        if (halved && !own_half) {
          lea(result, ptr[half + from * 2]);
          imul(result, result, block_bytes);
        } else {
          imul(result, from, block_bytes);
        }
        if (sees_half) {
          imul(rax, half, lanes_ * size);
          add(result, rax);
        }
        add(result, cell(field_cells_[std::size_t(key.leaf)]));
      }
      if (key.shifted_by >= 0) {
        imul(rax, cell(shift_cells_.at(key.shifted_by)), int(component_bytes(leaf)));
        add(result, rax);
      }
    });
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
    run(order_.once, requests_.once);
    const int runs = ir::runs(kernel_);
    if (runs == 1) return run(order_.each, requests_.each);
    evict_all();
    for (const Request& request : requests_.repeated) prefetch(request);
    compute_all();
    forget_cells();
    xor_(eax, eax);
    for (int c : {run_cell_, trip_cell_, round_cell_}) mov(cell(c), rax);
    Xbyak::Label trip;
    L(trip);
    walk(here_);
    walk(ahead_);
    run(order_.each, requests_.each);
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

  void run(const std::vector<Step>& steps, const std::vector<Request>& requests) {
    std::size_t done = 0;
    auto next = requests.begin();
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
      for (; next != requests.end() && next->step == done; ++next) prefetch(*next);
      ++done;
      end_step();
      ++now_;
    }
  }

  std::size_t frame_at_ = 0;
  std::vector<Slow> slow_;
};

struct Freed {
  void operator()(void* p) const { std::free(p); }
};

}  // namespace

std::string assemble(const Kernel& asked, const std::string& symbol, const CodeOptions& options, VectorIsa isa) {
  const Lanes lanes(asked, isa);
  std::optional<Kernel> in_parts;
  if (lanes.parts > 1) in_parts = with_doubles_in_two_parts(asked);
  const Kernel& kernel = in_parts ? *in_parts : asked;
  // An instruction takes at most eleven bytes, and a node a few of them.
  constexpr std::size_t kPage = 4096, kPerNode = 200, kPerSum = 8192;
  const std::size_t nodes = kernel.nodes.size() + kernel.stores.size() + kernel.arguments.size() + kernel.leaves.size(),
                    room = (kPerNode * nodes + kPerSum * kernel.reductions.size() + kPage * (kernel.slots.size() + 4)) /
                           kPage * kPage;
  const std::unique_ptr<void, Freed> buffer(std::aligned_alloc(kPage, room));
  try {
    if (!buffer) throw std::bad_alloc();
    return KernelAssembler(kernel, options, isa, lanes, room, buffer.get()).run(symbol);
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
