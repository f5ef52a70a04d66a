#if defined(__x86_64__)

#include "jit/codegen/assembled_operations.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>

#include "jit/codegen/vector_math.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"
#include "jit/support/error.hpp"

namespace jit {

void OperationAssembler::use_address(View& view, const Place& p, int step) {
  use_slot(view, std::size_t(p.slot));
  use_slot(view, std::size_t(key_of(p).half_of));
  for (const AddressKey& key : {standing(key_of(p)), key_of(p)}) {
    if (!view.addresses.contains(key)) view.addresses[key] = new_cell();
    uses_cell(view.addresses[key], ir::runs(kernel_) > 1 ? kNever : step);  // in each trip
  }
  if (p.shifted_by >= 0 && !shift_cells_.contains(p.shifted_by)) shift_cells_[p.shifted_by] = new_cell();
}

void OperationAssembler::use_slot(View& view, std::size_t s) {
  if (view.groups[s] >= 0) return;
  if (s > 0) {
    use_slot(view, std::size_t(kernel_.slots[s].parent));
    if (table_cells_[s] < 0) table_cells_[s] = new_cell();
  }
  view.groups[s] = new_cell();
  if (halves_ > 1) view.halves[s] = new_cell(), view.blocks[s] = new_cell();
}

void OperationAssembler::use_order(const LaneOrder& order, int number, int last_step) {
  const bool is_table = order.slots.size() == 1;
  for (const std::size_t s : order.slots) {
    const auto [entry, is_new] = lane_entries_.try_emplace({s, order.word_bytes}, -1);
    if (is_new) entry->second = new_cell();
    uses_cell(entry->second, is_table ? last_step : 0);
    if (is_table) word_of(number).home = {Home::Kind::cell, entry->second, 0};
  }
}

std::optional<ir::Place> OperationAssembler::read_by(const Node& permute) const {
  const Node& n = node(root(permute.a));
  const bool is_again = n.op == Op::load && n.type != Type::b1 && !is_gathered(n.place) &&
                        !kernel_.leaves[std::size_t(n.place.leaf)].written;
  return is_again ? std::optional(n.place) : std::nullopt;
}

void OperationAssembler::plan_memory() {
  for (std::size_t i = 0; i < kernel_.leaves.size(); ++i) field_cells_.push_back(new_cell());
  const auto slots = kernel_.slots.size();
  table_cells_.assign(slots, -1);
  for (View* view : {&here_, &ahead_})
    for (auto* cells : {&view->groups, &view->halves, &view->blocks}) cells->assign(slots, -1);
  use_slot(here_, 0);
  truth_cells_.assign(kernel_.nodes.size(), -1);
  if (!kernel_.reductions.empty()) sums_cell_ = new_cell(), lane_sums_cell_ = new_cell();
  std::map<int, int> reads_of_orders;  // the last steps that may read words again and need their order
  for_steps([&](const Step& s, int now) {
    if (s.kind == Step::Kind::store) return use_address(here_, kernel_.stores[std::size_t(s.number)].place, now);
    if (s.kind == Step::Kind::reduction) return uses_cell(lane_sums_cell_, now);
    if (is_alias(s.number)) return;
    const Node& n = node(s.number);
    if (n.op == Op::load) {
      use_address(here_, n.place, std::max(now, last_use(word_of(s.number))));
      if (is_gathered(n.place)) gathers_.try_emplace({n.place.slot, n.place.leaf});
    }
    if (n.op == Op::permute) {
      use_slot(here_, std::size_t(n.integer));
      if (const std::optional<Place> place = read_by(n)) {
        const int last = last_use(word_of(s.number));
        use_address(here_, *place, last);
        int& read = reads_of_orders.try_emplace(order_of(s.number), -1).first->second;
        read = std::max(read, last);
      }
    }
    if (n.type == Type::b1) truth_cells_[std::size_t(s.number)] = new_cell();
  });
  for (const auto& [order, number] : lane_orders())
    use_order(order, number, std::max(last_use(word_of(number)), reads_of_orders[number]));
  const int once = int(order_.once.size());
  for (const Request& r : requests_.once) use_address(ahead_, r.place, int(r.step));
  for (const auto* list : {&requests_.repeated, &requests_.each})
    for (const Request& r : *list) use_address(ahead_, r.place, once + int(r.step));
  if (kernel_.listed) groups_cell_ = new_cell(), masks_cell_ = new_cell(), mask_cell_ = new_cell();
  if (ir::runs(kernel_) > 1) run_cell_ = new_cell(), trip_cell_ = new_cell(), round_cell_ = new_cell();
  vectors_at_ = (8 * cells_ + 63) / 64 * 64;
  positions_at_.assign(slots, -1);
  for (std::size_t s = 1; s < slots; ++s)
    if (kernel_.slots[s].gathered && here_.groups[s] >= 0) positions_at_[s] = new_vector();
  for (auto& [place, chunks] : gathers_)
    for (int c = 0; c < lanes_ / chunk(); ++c) chunks.push_back(new_vector());
  for (const auto& [order, number] : lane_orders())
    if (order.slots.size() > 1) word_of(number).home = {Home::Kind::stack, 0, new_vector()};
  if (kernel_.listed && !avx512_) mask4_at_ = new_vector(), mask8_at_ = new_vector();
  if (!kernel_.reductions.empty()) {
    scratch_at_ = new_vector();
    for (int i = 0; i < registers(); ++i) saved_at_.push_back(new_vector());
    gprs_at_ = new_vector();
    for (int room = width_; room < 8 * kCacheSize; room += width_) new_vector();  // beside it
  }
  arguments_at_.assign(kernel_.arguments.size(), -1);
  if (std::ranges::any_of(kernel_.nodes, [](const Node& n) { return ir::is_elementary(n.op); }))
    for (int& at : arguments_of_calls_at_) at = new_vector();
  is_computed_.assign(kernel_.nodes.size(), false);
}

int OperationAssembler::lane_table(const LaneExchange& exchange, int word_bytes) {
  const auto [known, is_new] =
      lane_tables_.try_emplace({exchange.flip, exchange.ring, exchange.step, word_bytes}, int(pool_.size()));
  if (!is_new) return known->second;
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
  return known->second;
}

// ---- fused multiply-adds ---------------------------------------------------------------------------------------------

void OperationAssembler::fused(Form form, Type type, bool negative_product, bool negative_sum, const Xmm& d,
                               const Xmm& s, const Xbyak::Operand& t) {
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

bool OperationAssembler::may_be_written(int v) const {
  const Word& w = word_of(v);
  return w.reg >= 0 && later_use(w) == kNever;
}

void OperationAssembler::fma(int i, const Node& n) {
  const bool negative_product = alias(n.a).negative != alias(n.b).negative, negative_sum = alias(n.c).negative;
  int a = root(n.a), b = root(n.b);
  const int c = root(n.c), bytes = word_of(i).bytes;
  const auto emit = [&](Form form, const Xmm& d, int s, int t) {
    const Xmm second = vec(fetch(s), bytes);
    const bool in_memory = stays_in_memory(t);
    if (in_memory)
      fused(form, n.type, negative_product, negative_sum, d, second, memory(word_of(t).home));
    else
      fused(form, n.type, negative_product, negative_sum, d, second, vec(fetch(t), bytes));
  };
  int d = -1;
  // Those in registers are kept there.
  for (int v : {a, b, c})
    if (word_of(v).reg >= 0) pin(word_of(v).reg);
  if (word_of(a).reg < 0 && word_of(b).reg >= 0) std::swap(a, b);  // a is in a register if one of them is
  if (may_be_written(c) && c != a && c != b) {
    d = word_of(c).reg;
    if (word_of(a).reg < 0 && later_use(word_of(a)) == kNever) std::swap(a, b);
    emit(k231, vec(d, bytes), a, b);
  } else {
    if (may_be_written(b) && !may_be_written(a)) std::swap(a, b);
    if (may_be_written(a) && a != b && a != c) {
      d = word_of(a).reg;
    } else if (word_of(c).reg < 0 || c == a || c == b || !stays_in_memory(b)) {
      d = -1;
    } else {  // b is read for the last time: it becomes the result
      std::swap(a, b);
      d = take();
      vmovaps(vec(d, bytes), memory(word_of(a).home));
    }
    if (d >= 0) {
      if (word_of(b).reg < 0 && stays_in_memory(b) && !stays_in_memory(c))
        emit(k132, vec(d, bytes), c, b);
      else
        emit(k213, vec(d, bytes), b, c);
    } else {
      d = take();
      if (word_of(c).reg >= 0)
        vmovaps(vec(d, bytes), reg(c));
      else
        read(d, c);
      if (word_of(a).reg < 0 && later_use(word_of(a)) == kNever) std::swap(a, b);
      emit(k231, vec(d, bytes), a, b);
    }
  }
  for (int v : {a, b, c}) {
    if (word_of(v).reg == d) word_of(v).reg = -1;
    used(v);
  }
  put(i, d);
}

// ---- operations, loads and stores ------------------------------------------------------------------------------------

void OperationAssembler::operation(int i) {
  const Node& n = node(i);
  if (is_alias(i)) return;
  if (combination(i).kind != Combination::Kind::none) return combined(i, combination(i));
  switch (n.op) {
    case Op::constant:
      if (n.type == Type::b1)
        mov(dword[rsp + 8 * truth_cells_[std::size_t(i)]], n.integer != 0 ? all_lanes() : 0);
      else
        word_of(i).home = {Home::Kind::pool, 0, constant(ir::bits_of_constant(n), ir::bytes(n.type))};
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

void OperationAssembler::argument(int i, const Node& n) {
  if (n.type == Type::b1) {
    mov(eax, dword[rsp + 8 * truth_arguments_.at(int(n.integer))]);
    mov(dword[rsp + 8 * truth_cells_[std::size_t(i)]], eax);
  } else {
    word_of(i).home = {Home::Kind::stack, 0, arguments_at_[std::size_t(n.integer)]};
  }
}

std::int64_t OperationAssembler::component_bytes(const ir::Leaf& leaf) const {
  return std::int64_t{block_lanes(kernel_.lanes, leaf.word)} * ir::bytes(leaf.word);
}

OperationAssembler::Home OperationAssembler::place(const Place& p) const {
  const ir::Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
  return {Home::Kind::cell, here_.addresses.at(key_of(p)), std::int32_t(p.component * component_bytes(leaf))};
}

void OperationAssembler::load(int i, const Node& n) {
  Word& w = word_of(i);
  if (is_gathered(n.place)) return gather(i, n.place);
  if (n.type == Type::b1) return load_truths(i, n);
  if (!kernel_.leaves[std::size_t(n.place.leaf)].written) {
    w.home = place(n.place);
    return;
  }
  const int r = take();
  vmovaps(vec(r, w.bytes), memory(place(n.place)));
  put(i, r);
}

void OperationAssembler::gather(int i, const Place& p) {
  const int bytes = word_of(i).bytes, size = bytes / lanes_, part_bytes = chunk() * size;
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

void OperationAssembler::load_truths(int i, const Node& n) {
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

void OperationAssembler::store_truths(const ir::Store& s) {
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

Xbyak::Address OperationAssembler::bits_of_lanes(int word_bytes) {
  int& known = bits_of_lanes_[word_bytes];
  if (known == 0) {
    std::string bits(std::size_t(width_), '\0');
    for (int l = 0; l < lanes_ && l * word_bytes < width_; ++l) bits[std::size_t(l * word_bytes)] = char(1 << l);
    pool_.push_back({{}, std::move(bits)});
    known = int(pool_.size());
  }
  return in_pool(known - 1);
}

void OperationAssembler::spread_to_bytes(const Xmm& d, int cell_of_bits) {
  vpbroadcastb(d, byte[rsp + 8 * cell_of_bits]);
  vpand(d, d, bits_of_lanes(1));
  vpcmpeqb(d, d, bits_of_lanes(1));
}

void OperationAssembler::spread_to_words(const Xmm& d, int cell_of_bits, int word_bytes) {
  word_bytes == 8 ? vpbroadcastq(d, qword[rsp + 8 * cell_of_bits]) : vpbroadcastd(d, dword[rsp + 8 * cell_of_bits]);
  vpand(d, d, bits_of_lanes(word_bytes));
  word_bytes == 8 ? vpcmpeqq(d, d, bits_of_lanes(8)) : vpcmpeqd(d, d, bits_of_lanes(4));
}

void OperationAssembler::bits_of_words(const Xmm& words, int word_bytes) {  // into eax
  word_bytes == 8 ? vmovmskpd(eax, words) : vmovmskps(eax, words);
}

void OperationAssembler::prefetch(const Request& request) {
  const Place& p = request.place;
  const auto line = ptr[glimpsed(ahead_.addresses.at(key_of(p))) +
                        std::int32_t(p.component * component_bytes(kernel_.leaves[std::size_t(p.leaf)]))];
  switch (request.into) {
    case CacheLevel::second:
      return prefetcht1(line);
    case CacheLevel::nearest:
      return prefetcht0(line);
    case CacheLevel::passed:
      return prefetchnta(line);
  }
}

void OperationAssembler::permute(int i, const Node& n) {
  if (n.type == Type::b1) return permute_truths(i, n);
  const int value = root(n.a), lanes = order_of(i), bytes = word_of(i).bytes;
  if (bytes == 16)
    binary(i, value, lanes, false, [&](const Xmm& d, const Xmm& a, const Xbyak::Operand& b) { vpermilps(d, a, b); });
  else
    binary(i, lanes, value, false, [&](const Xmm& d, const Xmm& a, const Xbyak::Operand& b) {
      vpermps(wide(d.getIdx(), bytes), wide(a.getIdx(), bytes), b);
    });
  if (const std::optional<Place> words = read_by(n)) {
    const Home home = place(*words);
    word_of(i).home = {Home::Kind::permuted, home.cell, home.at, lanes};
  }
}

void OperationAssembler::permute_truths(int i, const Node& n) {
  const int lanes = order_of(i), bytes = 4 * lanes_;
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

void OperationAssembler::floating(int i, const Node& n) {
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

int OperationAssembler::computed_with(int i, const Node& n) const {
  const std::optional<Op> other = computed_beside(n.op);
  for (std::size_t j = 0; other && j < kernel_.nodes.size(); ++j) {
    const Node& candidate = kernel_.nodes[j];
    if (candidate.op == *other && int(j) != i && candidate.type == n.type && root(candidate.a) == root(n.a) &&
        !is_computed_[j] && next_use(word_of(int(j))) != kNever)
      return int(j);
  }
  return -1;
}

void OperationAssembler::elementary(int i, const Node& n) {
  const int count = ir::arity(n.op), bytes = word_of(i).bytes;
  const std::array<int, 2> given = {root(n.a), count == 2 ? root(n.b) : -1};
  if (is_computed_[std::size_t(i)]) return used(given[0]);
  for (int k = 0; k < count; ++k) {
    const int r = fetch(given[std::size_t(k)]);
    for (int at = 0; at < width_; at += bytes)
      vmovaps(stack(arguments_of_calls_at_[std::size_t(k)] + at), vec(r, bytes));
  }
  for (int k = 0; k < count; ++k) used(given[std::size_t(k)]);
  evict_all();
  for (int k = 0; k < count; ++k) vmovaps(vec(k, width_), stack(arguments_of_calls_at_[std::size_t(k)]));
  forget_cells();
  const int result = result_of_vector_function(n.op);
  if (result >= 0) lea(rdi, stack(arguments_of_calls_at_[0]));
  call_by_name(vector_function_name(isa_, n.op, n.type));
  if (kernel_.listed && avx512_) kmovw(k7, word_mask(mask_cell_));
  free_ &= ~1u;
  put(i, 0);
  if (result < 0) return;
  vmovaps(vec(0, width_), stack(arguments_of_calls_at_[std::size_t(result)]));
  const int other = computed_with(i, n);
  if (other < 0) return;
  vmovaps(vec(1, width_), stack(arguments_of_calls_at_[std::size_t(1 - result)]));
  free_ &= ~2u;
  put(other, 1);
  is_computed_[std::size_t(other)] = true;
}

void OperationAssembler::with_mask(const Xmm& d, const Xbyak::Operand& x, std::uint64_t bits, int size, bool change) {
  const Xbyak::Address mask = in_pool(constant(size == 8 ? bits : bits & 0xFFFFFFFF, size));
  if (x.isMEM()) {
    vmovaps(d, x);
    change ? vxorps(d, d, mask) : vandps(d, d, mask);
  } else {
    const Xmm& from = static_cast<const Xmm&>(x);
    change ? vxorps(d, from, mask) : vandps(d, from, mask);
  }
}

void OperationAssembler::round(const Xmm& d, const Xbyak::Operand& x, bool f64, std::uint8_t mode) {
  if (avx512_)
    f64 ? vrndscalepd(d, x, mode) : vrndscaleps(d, x, mode);
  else
    f64 ? vroundpd(d, x, mode) : vroundps(d, x, mode);
}

void OperationAssembler::negative_sum(int i, const Node& n) {
  const int a = root(n.a), b = root(n.b), bytes = word_of(i).bytes, size = ir::bytes(n.type);
  const Xmm first = vec(fetch(a), bytes), second = vec(fetch(b), bytes);
  const int d = take();
  with_mask(vec(d, bytes), first, sign_bits(size), size, true);
  size == 8 ? vsubpd(vec(d, bytes), vec(d, bytes), second) : vsubps(vec(d, bytes), vec(d, bytes), second);
  used(a), used(b);
  put(i, d);
}

void OperationAssembler::bitwise(int i, const Node& n) {
  if (n.op == Op::not_)
    return unary(i, root(n.a), [&](const Xmm& d, const Xbyak::Operand& x) {
      with_mask(d, x, ~std::uint64_t{0}, ir::bytes(n.type), true);
    });
  binary(i, root(n.a), root(n.b), true, [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) {
    n.op == Op::and_ ? vandps(d, x, y) : n.op == Op::or_ ? vorps(d, x, y) : vxorps(d, x, y);
  });
}

void OperationAssembler::combined(int i, const Combination& c) {
  switch (c.kind) {
    case Combination::Kind::none:
    case Combination::Kind::inside:
      return;
    case Combination::Kind::bits:
      return bits_of_three(i, c);
    case Combination::Kind::splice:
      if (c.of[1] != ir::kNone)
        return binary(i, root(c.of[0]), root(c.of[1]), false,
                      [&](const Xmm& d, const Xmm& x, const Xbyak::Operand& y) { vpshrdd(d, x, y, c.how); });
      return unary_in_register(
          i, root(c.of[0]), [&](const Xmm& d, const Xmm& x) { vpshrdd(d, x, in_pool(constant(c.upper, 4)), c.how); });
    case Combination::Kind::shift:
      return unary_in_register(i, root(c.of[0]), [&](const Xmm& d, const Xmm& x) {
        node(i).type == Type::i64 ? vpsrlq(d, x, c.how) : vpsrld(d, x, c.how);
      });
  }
}

/// In the register of an operand that is not needed any more; else in a copy of one.
void OperationAssembler::bits_of_three(int i, const Combination& c) {
  const int bytes = word_of(i).bytes;
  std::array<int, 3> value, place = {0, 1, 2};  // of the operands; which of them the instruction's are
  for (std::size_t k = 0; k < 3; ++k) {
    value[k] = root(c.of[k]);
    if (word_of(value[k]).reg >= 0) pin(word_of(value[k]).reg);
  }
  const auto at = [&](int k) { return value[std::size_t(place[std::size_t(k)])]; };
  const auto first_if = [&](auto&& suits) {
    const auto found = std::ranges::find_if(place, [&](int k) { return suits(value[std::size_t(k)]); });
    if (found != place.end()) std::iter_swap(place.begin(), found);
    return found != place.end();
  };
  int d = -1;
  if (first_if([&](int v) { return may_be_written(v) && std::ranges::count(value, v) == 1; })) {
    d = word_of(at(0)).reg;
  } else {
    first_if([&](int v) { return word_of(v).reg < 0 && later_use(word_of(v)) == kNever; });
    d = take();
    if (word_of(at(0)).reg >= 0)
      vmovaps(vec(d, bytes), reg(at(0)));
    else
      read(d, at(0));
  }
  if (word_of(at(1)).reg < 0 && stays_in_memory(at(1))) std::swap(place[1], place[2]);
  std::uint8_t table = 0;
  for (unsigned bit = 0; bit < 8; ++bit) {
    unsigned given = 0;  // of the operands as c has them
    for (unsigned k = 0; k < 3; ++k) given |= (bit >> (2 - k) & 1) << (2 - place[k]);
    table |= std::uint8_t((c.how >> given & 1) << bit);
  }
  const Xmm second = vec(fetch(at(1)), bytes);
  if (stays_in_memory(at(2)))
    vpternlogd(vec(d, bytes), second, memory(word_of(at(2)).home), table);
  else
    vpternlogd(vec(d, bytes), second, vec(fetch(at(2)), bytes), table);
  for (const int v : value) {
    if (word_of(v).reg == d) word_of(v).reg = -1;
    used(v);
  }
  put(i, d);
}

void OperationAssembler::integer(int i, const Node& n) {
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
      const Xmm from = vec(fetch(a), word_of(a).bytes);
      const int r = take();
      const Xmm& d = vec(r, word_of(i).bytes);
      vxorps(d, d, d);
      i64 ? vpsubq(d, d, from) : vpsubd(d, d, from);
      used(a);
      return put(i, r);
    }
    case Op::shl:
    case Op::shr: {  // counts are taken modulo the width
      const int b = root(n.b), most = i64 ? 63 : 31;
      const bool left = n.op == Op::shl;
      if (node(b).op == Op::constant) {
        used(b);
        return unary_in_register(i, a, [&](const Xmm& d, const Xmm& x) {
          const auto by = std::uint8_t(node(b).integer & most);
          if (left)
            i64 ? vpsllq(d, x, by) : vpslld(d, x, by);
          else
            i64 ? vpsraq(d, x, by) : vpsrad(d, x, by);
        });
      }
      const Xmm x = vec(fetch(a), word_of(a).bytes), count = vec(fetch(b), word_of(b).bytes);
      const int r = take();
      const Xmm& d = vec(r, word_of(i).bytes);
      vandps(d, count, in_pool(constant(std::uint64_t(most), ir::bytes(n.type))));
      if (left)
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

void OperationAssembler::long_integer(int i, const Node& n) {
  const int a = root(n.a), b = n.b == ir::kNone ? a : root(n.b), bytes = word_of(i).bytes;
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

void OperationAssembler::unknown(const Node& n) {
  throw InternalError({.what = std::string("assembler: ") + ir::name(n.op),
                       .expected = "an operation that it covers",
                       .got = ir::name(n.type)});
}

void OperationAssembler::store(const ir::Store& s) {
  const int v = root(s.value), size = ir::bytes(kernel_.leaves[std::size_t(s.place.leaf)].word);
  if (size == 1) return store_truths(s);
  const Xmm x = vec(fetch(v), word_of(v).bytes);
  if (!kernel_.listed) {
    streaming_ ? vmovntps(memory(place(s.place)), x) : vmovaps(memory(place(s.place)), x);
  } else if (avx512_) {
    size == 8 ? vmovupd(memory(place(s.place)) | k7, x) : vmovaps(memory(place(s.place)) | k7, x);
  } else {
    const Xmm mask = vec(take(), word_of(v).bytes);
    vmovaps(mask, stack(size == 8 ? mask8_at_ : mask4_at_));
    size == 8 ? vmaskmovpd(memory(place(s.place)), mask, x) : vmaskmovps(memory(place(s.place)), mask, x);
    free_ |= 1u << mask.getIdx();
  }
  used(v);
}

// ---- truth values: a bit per lane, in cells ---------------------------------------------------------------------------

void OperationAssembler::put_truth(int i) {
  kmovw(eax, k1);
  mov(truth(i), eax);
}

void OperationAssembler::logical(int i, const Node& n) {
  mov(eax, truth(n.a));
  if (n.op == Op::not_)
    xor_(eax, all_lanes());
  else
    n.op == Op::and_ ? and_(eax, truth(n.b)) : n.op == Op::or_ ? or_(eax, truth(n.b)) : xor_(eax, truth(n.b));
  mov(truth(i), eax);
}

void OperationAssembler::compare(int i, const Node& n) {
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
  const Xmm first = vec(fetch(a), word_of(a).bytes), second = vec(fetch(b), word_of(b).bytes);
  if (avx512_)
    compare_words(n.op, type, first, second);
  else
    compare_by_words(n.op, type, first, second);
  used(a), used(b);
  avx512_ ? put_truth(i) : mov(truth(i), eax);
}

namespace {
/// Of comparing instructions; false for NaN but for ne.
std::uint8_t predicate(ir::Op op) { return op == ir::Op::lt ? 1 : op == ir::Op::le ? 2 : op == ir::Op::eq ? 0 : 4; }
}  // namespace

void OperationAssembler::compare_by_words(Op op, Type type, const Xmm& a, const Xmm& b) {
  const int r = take(), size = ir::bytes(type);
  const Xmm& d = vec(r, a.getBit() / 8);
  const bool is_float = ir::is_float(type), is_not = !is_float && (op == Op::le || op == Op::ne);
  if (is_float) {
    size == 8 ? vcmppd(d, a, b, predicate(op)) : vcmpps(d, a, b, predicate(op));
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

void OperationAssembler::compare_words(Op op, Type type, const Xmm& a, const Xbyak::Operand& b) {
  switch (type) {
    case Type::f32:
      return vcmpps(k1, a, b, predicate(op));
    case Type::f64:
      return vcmppd(k1, a, b, predicate(op));
    case Type::i32:
      return vpcmpd(k1, a, b, predicate(op));
    default:
      return vpcmpq(k1, a, b, predicate(op));
  }
}

void OperationAssembler::select(int i, const Node& n) {
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
    const Xmm& mask = vec(s, word_of(i).bytes);
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

void OperationAssembler::convert(int i, const Node& n) {
  const Type from = node(n.a).type, to = n.type;
  const int bytes = word_of(i).bytes;
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
    const Xmm x = vec(fetch(a), word_of(a).bytes);
    if (avx512_) {
      compare_words(Op::ne, from, x, in_pool(constant(0, ir::bytes(from))));
      used(a);
      return put_truth(i);
    }
    const int s = take();
    const Xmm& zero = vec(s, word_of(a).bytes);
    vxorps(zero, zero, zero);
    compare_by_words(Op::ne, from, x, zero);
    free_ |= 1u << s;
    used(a);
    mov(truth(i), eax);
    return;
  }
  if (to == Type::f64 && parts_ > 1) return convert_part(i, n);
  if (ir::is_float(to) && ir::bytes(from) == 4)  // read from memory, it costs half
    return unary(i, a, [&](const Xmm& d, const Xbyak::Operand& x) {
      from == Type::f32 ? vcvtps2pd(d, x) : to == Type::f32 ? vcvtdq2ps(d, x) : vcvtdq2pd(d, x);
    });
  const Xmm x = vec(fetch(a), word_of(a).bytes);  // often of another size than the result
  if (ir::is_float(from) && ir::is_int(to)) return to_integer(i, from, to, x, a);
  if (from == Type::i64 && !avx512_) return of_long_integer(i, to, x, a);
  used(a);
  const int r = take();
  const Xmm& d = vec(r, bytes);
  if (from == Type::f64)
    vcvtpd2ps(d, x);
  else if (from == Type::i32)
    vpmovsxdq(d, x);
  else
    to == Type::f32 ? vcvtqq2ps(d, x) : to == Type::f64 ? vcvtqq2pd(d, x) : vpmovqd(d, x);
  put(i, r);
}

void OperationAssembler::convert_part(int i, const Node& n) {
  const Type from = node(n.a).type;
  unary_in_register(i, root(n.a), [&](const Xmm& d, const Xmm& x) {
    const Xmm& part = vec(n.integer == 0 ? x.getIdx() : d.getIdx(), width_ / 2);
    if (n.integer != 0) {
      if (avx512_)
        vextractf64x4(wide(d.getIdx(), 32), z_[std::size_t(x.getIdx())], 1);
      else
        vextractf128(part, wide(x.getIdx(), 32), 1);
    }
    from == Type::f32 ? vcvtps2pd(d, part) : vcvtdq2pd(d, part);
  });
}

void OperationAssembler::of_long_integer(int i, Type to, const Xmm& x, int a) {
  const int r = take(), bytes = word_of(i).bytes, s = take();
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

void OperationAssembler::to_integer(int i, Type from, Type to, const Xmm& x, int a) {
  const bool wide_from = from == Type::f64, wide_to = to == Type::i64;
  const int r = take(), size = ir::bytes(to);
  const Xmm& d = vec(r, word_of(i).bytes);
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
    const Xmm& mask = vec(take(), word_of(i).bytes);
    vcmpps(mask, x, limits, kNotLess);
    vblendvps(d, d, largest(), mask);
    vcmpps(mask, x, x, kOrdered);
    vandps(d, d, mask);
    free_ |= 1u << mask.getIdx();
  }
  used(a);
  put(i, r);
}

}  // namespace jit

#endif
