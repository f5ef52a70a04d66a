#include "registers.hpp"

#include <algorithm>

namespace ptx_machine {
namespace {

using Set = std::vector<std::uint64_t>;
bool has(const Set& set, int k) { return (set[static_cast<std::size_t>(k) / 64] >> (k % 64) & 1) != 0; }
void put(Set& set, int k) { set[static_cast<std::size_t>(k) / 64] |= std::uint64_t{1} << (k % 64); }
void drop(Set& set, int k) { set[static_cast<std::size_t>(k) / 64] &= ~(std::uint64_t{1} << (k % 64)); }

struct Block {
  int begin, end;
  std::vector<int> next;
  Set in, out;
};

bool falls_through(const Instruction& i) {
  const bool ends = i.kind == Kind::branch || i.kind == Kind::exit || i.kind == Kind::trap;
  return !ends || i.guard != kNothing;
}

std::vector<Block> find_blocks(const std::vector<Draft>& drafts, int registers) {
  std::vector<bool> begins(drafts.size() + 1);
  begins[0] = true;
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    const Instruction& i = drafts[k].instruction;
    if (i.target >= 0) begins[static_cast<std::size_t>(i.target)] = true;
    if (i.kind == Kind::branch || i.kind == Kind::exit || i.kind == Kind::trap) begins[k + 1] = true;
  }
  std::vector<Block> blocks;
  std::vector<int> block_at(drafts.size() + 1, -1);
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    if (begins[k]) {
      block_at[k] = static_cast<int>(blocks.size());
      const auto words = (static_cast<std::size_t>(registers) + 63) / 64;
      blocks.push_back({static_cast<int>(k), 0, {}, Set(words), Set(words)});
    }
    blocks.back().end = static_cast<int>(k) + 1;
  }
  for (Block& b : blocks) {
    const Instruction& last = drafts[static_cast<std::size_t>(b.end) - 1].instruction;
    if (last.target >= 0) b.next.push_back(block_at[static_cast<std::size_t>(last.target)]);
    if (falls_through(last) && static_cast<std::size_t>(b.end) < drafts.size())
      b.next.push_back(block_at[static_cast<std::size_t>(b.end)]);
  }
  return blocks;
}

/// Live registers before and after each block. What is written under a guard stays alive: other lanes keep it.
std::vector<Block> liveness(const std::vector<Draft>& drafts, int registers) {
  auto blocks = find_blocks(drafts, registers);
  for (bool changed = true; changed;) {
    changed = false;
    for (auto b = blocks.rbegin(); b != blocks.rend(); ++b) {
      Set live(b->out.size());
      for (const int n : b->next)
        for (std::size_t w = 0; w < live.size(); ++w) live[w] |= blocks[static_cast<std::size_t>(n)].in[w];
      b->out = live;
      for (int k = b->end - 1; k >= b->begin; --k) {
        const Draft& d = drafts[static_cast<std::size_t>(k)];
        if (d.instruction.guard == kNothing)
          for (const int reg : d.defines) drop(live, reg);
        for (const int reg : d.uses) put(live, reg);
      }
      if (live != b->in) {
        b->in = live;
        changed = true;
      }
    }
  }
  return blocks;
}

Draft check(Kind kind, const Draft& of, int mask_register, int reg) {
  Draft d;
  d.instruction.kind = kind;
  d.instruction.line = of.instruction.line;
  d.instruction.guard = of.instruction.guard;
  d.instruction.negated = of.instruction.negated;
  d.instruction.o[0] = mask_register;
  d.instruction.immediate = reg;
  if (of.instruction.guard != kNothing) d.uses.push_back(of.instruction.guard);
  return d;
}

/// Around the uses and definitions of the registers in question; `masks`: the register that tells which lanes are set.
void insert_checks(std::vector<Draft>& drafts, const std::map<int, int>& masks) {
  std::vector<Draft> with;
  std::vector<int> place(drafts.size());
  for (std::size_t k = 0; k < drafts.size(); ++k) {
    place[k] = static_cast<int>(with.size());
    const bool is_target = drafts[k].instruction.is_target;
    drafts[k].instruction.is_target = false;
    for (const int reg : drafts[k].uses)
      if (masks.contains(reg)) {
        // The guard itself is read by lanes of both kinds.
        Draft c = check(Kind::check_defined, drafts[k], masks.at(reg), reg);
        if (reg == drafts[k].instruction.guard) c.instruction.guard = kNothing, c.uses.clear();
        with.push_back(c);
      }
    with.push_back(drafts[k]);
    with[static_cast<std::size_t>(place[k])].instruction.is_target = is_target;
    for (const int reg : drafts[k].defines)
      if (masks.contains(reg)) with.push_back(check(Kind::set_defined, drafts[k], masks.at(reg), reg));
  }
  for (Draft& d : with)
    if (d.instruction.target >= 0) d.instruction.target = place[static_cast<std::size_t>(d.instruction.target)];
  drafts = std::move(with);
}

}  // namespace

void give_rows(std::vector<Draft>& drafts, std::vector<int>& registers, const std::map<std::string, int>& specials,
               Code& code) {
  std::vector<int> special_list;
  for (const auto& [name, reg] : specials) special_list.push_back(reg);

  auto blocks = liveness(drafts, static_cast<int>(registers.size()));
  std::map<int, int> masks;  // of registers that may be read before they are written
  const std::size_t plain = registers.size();
  for (std::size_t reg = 0; reg < plain; ++reg)
    if (has(blocks[0].in, static_cast<int>(reg)) &&
        std::find(special_list.begin(), special_list.end(), static_cast<int>(reg)) == special_list.end()) {
      masks[static_cast<int>(reg)] = static_cast<int>(registers.size());
      registers.push_back(1);
    }
  if (!masks.empty()) {
    insert_checks(drafts, masks);
    blocks = liveness(drafts, static_cast<int>(registers.size()));
  }

  const std::size_t count = registers.size();
  std::vector<int> begin(count, -1), end(count, -1);
  const auto alive = [&](int reg, int at) {
    int& b = begin[static_cast<std::size_t>(reg)];
    int& e = end[static_cast<std::size_t>(reg)];
    b = b < 0 ? at : std::min(b, at);
    e = std::max(e, at);
  };
  for (const Block& b : blocks) {
    for (std::size_t w = 0; w < b.in.size(); ++w)
      for (int bit = 0; bit < 64; ++bit) {
        const int reg = static_cast<int>(w) * 64 + bit;
        if ((b.in[w] >> bit & 1) != 0) alive(reg, b.begin);
        if ((b.out[w] >> bit & 1) != 0) alive(reg, b.end - 1);
      }
    for (int k = b.begin; k < b.end; ++k) {
      for (const int reg : drafts[static_cast<std::size_t>(k)].uses) alive(reg, k);
      for (const int reg : drafts[static_cast<std::size_t>(k)].defines) alive(reg, k);
    }
  }
  const int last = static_cast<int>(drafts.size());
  for (const int reg : special_list) alive(reg, 0), alive(reg, last);
  for (const auto& [reg, mask] : masks) alive(reg, 0), alive(reg, last), alive(mask, 0), alive(mask, last);

  // Slots by width: predicates, 4 and 8 bytes a lane.
  std::vector<int> order, slot(count, -1);
  for (std::size_t reg = 0; reg < count; ++reg)
    if (begin[reg] >= 0) order.push_back(static_cast<int>(reg));
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return begin[static_cast<std::size_t>(a)] < begin[static_cast<std::size_t>(b)]; });
  std::map<int, std::vector<int>> free;
  std::map<int, int> slots{{1, 0}, {4, 0}, {8, 0}};
  std::multimap<int, int> ends;  // end, register
  int live_words = 0;
  for (const int reg : order) {
    const auto r = static_cast<std::size_t>(reg);
    while (!ends.empty() && ends.begin()->first < begin[r]) {
      const auto gone = static_cast<std::size_t>(ends.begin()->second);
      free[registers[gone]].push_back(slot[gone]);
      live_words -= registers[gone] / 4;
      ends.erase(ends.begin());
    }
    auto& available = free[registers[r]];
    if (available.empty()) {
      slot[r] = slots[registers[r]]++;
    } else {
      slot[r] = available.back();
      available.pop_back();
    }
    ends.emplace(end[r], reg);
    live_words += registers[r] / 4;
    code.registers = std::max(code.registers, live_words);
  }

  const int first_mask = 4;  // after the carry flags
  code.mask_bytes = (first_mask + 4 * slots[1] + 63) / 64 * 64;
  const int first_word = code.mask_bytes, first_double = first_word + slots[4] * 4 * kWarp;
  code.row_bytes = first_double + slots[8] * 8 * kWarp;
  const auto place = [&](int reg) {
    const auto r = static_cast<std::size_t>(reg);
    const int width = registers[r];
    return width == 1   ? first_mask + 4 * slot[r]
           : width == 4 ? first_word + slot[r] * 4 * kWarp
                        : first_double + slot[r] * 8 * kWarp;
  };
  for (Draft& d : drafts) {
    Instruction& i = d.instruction;
    if (i.guard >= 0) i.guard = place(i.guard);
    for (int& o : i.o)
      if (o >= 0) o = place(o);
    code.instructions.push_back(i);
  }
  for (const auto& [name, reg] : specials) code.specials.emplace_back(name, place(reg));
  code.registers = std::min(255, code.registers + 16);
}

}  // namespace ptx_machine
