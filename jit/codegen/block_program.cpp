#include "jit/codegen/block_program.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

#include "jit/codegen/schedule.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"

namespace jit {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Place;
using ir::Type;

// ---- from the kernel to instructions --------------------------------------------------------------------------------

/// Gives each value memory from its computation to its last use.
class BlockProgram::Builder {
 public:
  explicit Builder(BlockProgram& program)
      : program_(program), kernel_(program.kernel_), values_(kernel_.nodes.size()) {}

  void run() {
    program_.groups_ = std::max(kBlockWords / kernel_.lanes, 1);
    program_.words_ = program_.groups_ * kernel_.lanes;
    const Schedule order = schedule(kernel_);
    find_last_uses(order);
    // Written once, so nothing else has their memory, not even before their step.
    for (const Step& step : order.once) place_uniform(step);
    for (const Step& step : order.each) place_uniform(step);
    std::size_t now = 0;
    for (const Step& step : order.once) add(program_.once_, step, now++);
    for (const Step& step : order.each) add(program_.each_, step, now++);
    program_.bytes_ = places_ * place_bytes();
  }

 private:
  struct Value {
    std::uint32_t at = 0;
    std::size_t last_use = 0;
  };
  static constexpr std::size_t kAlways = ~std::size_t{0};

  std::size_t place_bytes() const { return static_cast<std::size_t>(program_.words_) * sizeof(std::uint64_t); }
  static bool is_uniform(const Node& n) { return n.op == Op::constant || n.op == Op::argument; }

  template <class F>
  void for_operands(const Step& step, F&& f) {
    if (step.kind == Step::Kind::store) return f(kernel_.stores[static_cast<std::size_t>(step.number)].value);
    if (step.kind == Step::Kind::reduction) return f(kernel_.reductions[static_cast<std::size_t>(step.number)].value);
    const Node& n = kernel_.nodes[static_cast<std::size_t>(step.number)];
    for (const ir::Value v : {n.a, n.b, n.c})
      if (v != ir::kNone) f(v);
  }
  Value& value(ir::Value v) { return values_[static_cast<std::size_t>(v)]; }

  /// What is computed ahead of the trips, and used in them, is needed in the last one.
  void find_last_uses(const Schedule& order) {
    std::vector<bool> ahead(kernel_.nodes.size(), false);
    std::size_t now = 0;
    for (const Step& step : order.once) {
      if (step.kind == Step::Kind::node) ahead[static_cast<std::size_t>(step.number)] = true;
      for_operands(step, [&](ir::Value v) { value(v).last_use = now; });
      ++now;
    }
    for (const Step& step : order.each) {
      for_operands(step, [&](ir::Value v) { value(v).last_use = ahead[static_cast<std::size_t>(v)] ? kAlways : now; });
      ++now;
    }
  }

  std::uint32_t new_place() {
    if (free_.empty()) return static_cast<std::uint32_t>(places_++ * place_bytes());
    const std::uint32_t at = free_.back();
    free_.pop_back();
    return at;
  }

  void place_uniform(const Step& step) {
    if (step.kind != Step::Kind::node || !is_uniform(kernel_.nodes[static_cast<std::size_t>(step.number)])) return;
    Value& result = value(step.number);
    result = {new_place(), kAlways};
    program_.uniforms_.push_back({step.number, result.at});
  }

  void add(std::vector<Instruction>& code, const Step& step, std::size_t now) {
    if (step.kind == Step::Kind::node) {
      const Node& n = kernel_.nodes[static_cast<std::size_t>(step.number)];
      if (is_uniform(n)) return;
      Value& result = value(step.number);
      result.at = new_place();  // before those of its operands are given back: none of them is the result
      code.push_back(instruction(n, step.number, result.at));
    } else {
      const bool stores = step.kind == Step::Kind::store;
      Instruction i{.kind = stores ? Kind::store : Kind::reduction, .number = step.number};
      for_operands(step, [&](ir::Value v) { i.a = value(v).at; });
      code.push_back(i);
    }
    std::array<ir::Value, 3> given_back{};
    std::size_t count = 0;
    for_operands(step, [&](ir::Value v) {
      const auto end = given_back.begin() + static_cast<std::ptrdiff_t>(count);
      if (value(v).last_use != now || std::find(given_back.begin(), end, v) != end) return;
      given_back[count++] = v;
      free_.push_back(value(v).at);
    });
  }

  Instruction instruction(const Node& n, int number, std::uint32_t at) {
    if (n.op == Op::load) return {.kind = Kind::load, .result = at, .number = number};
    if (n.op == Op::permute)
      return {.kind = Kind::permute,
              .word = static_cast<std::uint8_t>(ir::bytes(n.type)),
              .result = at,
              .a = value(n.a).at,
              .number = static_cast<int>(n.integer)};
    const ir::Value typical = n.op == Op::select ? n.b : n.a;
    const auto operand = [&](ir::Value v) { return value(v != ir::kNone ? v : n.a).at; };
    return {.kind = Kind::operation,
            .operation = block_operation(n.op, n.type, kernel_.nodes[static_cast<std::size_t>(typical)].type),
            .result = at,
            .a = operand(n.a),
            .b = operand(n.b),
            .c = operand(n.c),
            .number = number};
  }

  BlockProgram& program_;
  const Kernel& kernel_;
  std::vector<Value> values_;
  std::vector<std::uint32_t> free_;
  std::size_t places_ = 0;
};

std::unique_ptr<const BlockProgram> BlockProgram::make(const Kernel& kernel) {
  if (std::ranges::any_of(kernel.leaves, [](const ir::Leaf& leaf) { return leaf.host_order; }) ||
      std::ranges::any_of(kernel.nodes, [](const Node& n) { return ir::is_elementary(n.op); }))
    return nullptr;
  ir::verify(kernel);
  std::unique_ptr<BlockProgram> program(new BlockProgram(kernel));
  Builder(*program).run();
  return program;
}

double BlockProgram::seconds(const Kernel& kernel, double groups) {
  constexpr double kPerInstruction = 5e-9, kPerWord = 0.3e-9;
  const int in_block = std::max(kBlockWords / kernel.lanes, 1);
  const double instructions = static_cast<double>(kernel.nodes.size()) * ir::runs(kernel);
  return std::ceil(groups / in_block) * instructions * (kPerInstruction + kPerWord * in_block * kernel.lanes);
}

// ---- running --------------------------------------------------------------------------------------------------------

namespace {

/// Memory of a thread, for whatever program it runs.
std::byte* thread_memory(std::size_t bytes) {
  constexpr std::size_t kAlignment = 64;
  struct alignas(kAlignment) Line {
    std::byte bytes[kAlignment];
  };
  thread_local std::vector<Line> memory;
  if (memory.size() * kAlignment < bytes) memory.resize((bytes + kAlignment - 1) / kAlignment);
  return memory.empty() ? nullptr : memory[0].bytes;
}

/// A block of lanes of one word: 1 to 512 bytes, a power of two.
[[gnu::always_inline]] inline void copy_block(std::byte* to, const std::byte* from, std::size_t bytes) {
  switch (bytes) {
    case 4:
      std::memcpy(to, from, 4);
      break;
    case 8:
      std::memcpy(to, from, 8);
      break;
    case 16:
      std::memcpy(to, from, 16);
      break;
    case 32:
      std::memcpy(to, from, 32);
      break;
    case 64:
      std::memcpy(to, from, 64);
      break;
    default:
      std::memcpy(to, from, bytes);
  }
}

}  // namespace

/// The blocks of one share of a launch, one after the other.
class BlockProgram::Execution {
 public:
  Execution(const BlockProgram& program, const LaunchArguments& arguments)
      : program_(program),
        kernel_(program.kernel_),
        arguments_(arguments),
        memory_(thread_memory(program.bytes_)),
        group_(kernel_.slots.size() * groups()),
        wraps_(group_.size()),
        position_(kernel_.slots.size() * words()) {
    for (const Uniform& uniform : program_.uniforms_) spread(uniform);
  }

  void run(std::int64_t begin, std::int64_t end) {
    for (std::int64_t first = begin; first < end; first += program_.groups_) {
      count_ = static_cast<std::size_t>(std::min<std::int64_t>(program_.groups_, end - first));
      find_frames(first);
      trip_ = round_ = 0;
      run(program_.once_);
      for (int number = 0; number < ir::runs(kernel_); ++number) {
        trip_ = number % kernel_.trips, round_ = number / kernel_.trips;
        run(program_.each_);
      }
    }
  }

 private:
  std::size_t groups() const { return static_cast<std::size_t>(program_.groups_); }
  std::size_t words() const { return static_cast<std::size_t>(program_.words_); }
  std::size_t lanes() const { return static_cast<std::size_t>(kernel_.lanes); }

  void spread(const Uniform& uniform) {
    const Node& n = kernel_.nodes[static_cast<std::size_t>(uniform.node)];
    std::uint64_t word = 0;
    const auto size = static_cast<std::size_t>(ir::bytes(n.type));
    if (n.op == Op::constant)
      word = ir::bits_of_constant(n);
    else
      std::memcpy(&word, &arguments_.scalars[n.integer], size);
    if (n.type == Type::b1) word = word != 0;
    for (std::size_t i = 0; i < words(); ++i) std::memcpy(memory_ + uniform.at + i * size, &word, size);
  }

  // ---- frames ------------------------------------------------------------------------------------------------------

  void find_frames(std::int64_t first) {
    for (std::size_t k = 0; k < count_; ++k) {
      const std::int64_t index = first + static_cast<std::int64_t>(k);
      group_[k] = kernel_.listed ? arguments_.groups[index] : index;
      mask_[k] = kernel_.listed ? arguments_.masks[index] : ~std::uint64_t{0};
    }
    for (std::size_t s = 1; s < kernel_.slots.size(); ++s) {
      const ir::Slot& slot = kernel_.slots[s];
      const auto parent = static_cast<std::size_t>(slot.parent);
      const std::int32_t* const table = arguments_.tables[s];
      if (slot.gathered) {
        gather(s, parent, table);
        continue;
      }
      for (std::size_t k = 0; k < count_; ++k) {
        const std::int32_t entry = table[group_[parent * groups() + k]];
        group_[s * groups() + k] = entry >> 1;
        wraps_[s * groups() + k] = entry & 1;
      }
    }
  }

  void gather(std::size_t s, std::size_t parent, const std::int32_t* table) {
    std::int64_t* const to = &position_[s * words()];
    if (kernel_.slots[parent].gathered) {
      const std::int64_t* const from = &position_[parent * words()];
      for (std::size_t i = 0; i < count_ * lanes(); ++i) to[i] = table[from[i]];
    } else {
      for (std::size_t k = 0; k < count_; ++k) {
        const std::int32_t* const from = table + group_[parent * groups() + k] * kernel_.lanes;
        for (std::size_t l = 0; l < lanes(); ++l) to[k * lanes() + l] = from[l];
      }
    }
  }

  // ---- instructions ------------------------------------------------------------------------------------------------

  void run(const std::vector<Instruction>& code) {
    for (const Instruction& i : code) switch (i.kind) {
        case Kind::operation:
          i.operation(memory_ + i.result, memory_ + i.a, memory_ + i.b, memory_ + i.c, program_.words_);
          break;
        case Kind::load:
          load(kernel_.nodes[static_cast<std::size_t>(i.number)].place, memory_ + i.result);
          break;
        case Kind::permute:
          permute(static_cast<std::size_t>(i.number), i);
          break;
        case Kind::store:
          store(kernel_.stores[static_cast<std::size_t>(i.number)], memory_ + i.a);
          break;
        case Kind::reduction:
          reduce(static_cast<std::size_t>(i.number), reinterpret_cast<const double*>(memory_ + i.a));
          break;
      }
  }

  /// Where words of one component are: blocks of lanes, of which a group has one or two.
  struct Words {
    std::byte* first;                  ///< of the component, in the field's first block
    std::size_t size, lanes, between;  ///< bytes of a word; lanes of a block; bytes from block to block
    unsigned log_lanes;

    std::byte* block(std::size_t position) const { return first + (position >> log_lanes) * between; }
    std::byte* word(std::size_t position) const { return block(position) + (position & (lanes - 1)) * size; }
  };

  Words words_at(const Place& p) const {
    const ir::Leaf& leaf = kernel_.leaves[static_cast<std::size_t>(p.leaf)];
    std::int32_t moved = 0;
    if (p.shifted_by >= 0) std::memcpy(&moved, &arguments_.scalars[p.shifted_by], sizeof moved);
    const auto component = static_cast<std::size_t>(ir::component_in(p, trip_, round_) + moved);
    const auto size = static_cast<std::size_t>(ir::bytes(leaf.word));
    const auto block = static_cast<std::size_t>(block_lanes(kernel_.lanes, leaf.word));
    return {static_cast<std::byte*>(arguments_.fields[p.leaf]) + component * block * size, size, block,
            static_cast<std::size_t>(leaf.components) * block * size, static_cast<unsigned>(std::countr_zero(block))};
  }

  void load(const Place& p, std::byte* to) {
    const Words from = words_at(p);
    const auto slot = static_cast<std::size_t>(p.slot);
    if (kernel_.slots[slot].gathered) {
      const std::int64_t* const positions = &position_[slot * words()];
      for (std::size_t i = 0; i < count_ * lanes(); ++i)
        copy_block(to + i * from.size, from.word(static_cast<std::size_t>(positions[i])), from.size);
    } else {
      for (std::size_t k = 0; k < count_; ++k)
        for_blocks(group_[slot * groups() + k], k, from, [&](std::byte* block, std::size_t i) {
          copy_block(to + i * from.size, block, from.lanes * from.size);
        });
    }
    if (kernel_.leaves[static_cast<std::size_t>(p.leaf)].word == Type::b1)
      for (std::size_t i = 0; i < count_ * lanes(); ++i) to[i] = std::byte{to[i] != std::byte{0}};
  }

  /// f(block, number of its first word in a value) for those of a group, which is number k of its block of groups.
  template <class F>
  [[gnu::always_inline]] void for_blocks(std::int64_t group, std::size_t k, const Words& words, F&& f) const {
    const std::size_t position = static_cast<std::size_t>(group) * lanes();
    std::byte* block = words.block(position);
    for (std::size_t l = 0; l < lanes(); l += words.lanes, block += words.between) f(block, k * lanes() + l);
  }

  template <class Word>
  void permute(const LaneExchange& exchange, const std::uint8_t* wraps, std::byte* result, const std::byte* operand) {
    auto* const to = reinterpret_cast<Word*>(result);
    const auto* const from = reinterpret_cast<const Word*>(operand);
    for (std::size_t k = 0; k < count_; ++k) {
      const std::size_t first = k * lanes();
      if (wraps[k] == 0)
        std::memcpy(to + first, from + first, lanes() * sizeof(Word));
      else
        for (std::size_t l = 0; l < lanes(); ++l)
          to[first + l] = from[first + static_cast<std::size_t>(exchange.source(static_cast<int>(l)))];
    }
  }

  void permute(std::size_t slot, const Instruction& i) {
    const LaneExchange& exchange = kernel_.slots[slot].exchange;
    std::byte *const to = memory_ + i.result, *const from = memory_ + i.a;
    if (kernel_.slots[slot].gathered || exchange.is_none()) {
      std::memcpy(to, from, words() * sizeof(std::uint64_t));
      return;
    }
    const std::uint8_t* const wraps = &wraps_[slot * groups()];
    switch (i.word) {
      case 1:
        return permute<std::uint8_t>(exchange, wraps, to, from);
      case 4:
        return permute<std::uint32_t>(exchange, wraps, to, from);
      default:
        return permute<std::uint64_t>(exchange, wraps, to, from);
    }
  }

  void store(const ir::Store& s, const std::byte* from) {
    const Words to = words_at(s.place);
    const std::uint64_t all = ~std::uint64_t{0} >> (64 - lanes());
    for (std::size_t k = 0; k < count_; ++k) {
      const std::uint64_t mask = mask_[k] & all;
      if (mask == all) {
        for_blocks(group_[k], k, to,
                   [&](std::byte* block, std::size_t i) { copy_block(block, from + i * to.size, to.lanes * to.size); });
        continue;
      }
      for (std::size_t l = 0; l < lanes(); ++l)
        if ((mask >> l & 1) != 0)
          copy_block(to.word(static_cast<std::size_t>(group_[k]) * lanes() + l), from + (k * lanes() + l) * to.size,
                     to.size);
    }
  }

  // ---- reductions --------------------------------------------------------------------------------------------------

  void reduce(std::size_t r, const double* values) {
    SumAccumulator& sum = arguments_.sums[r];
    const ir::Reduction::Kind kind = kernel_.reductions[r].kind;
    for (std::size_t k = 0; k < count_; ++k) {
      const double* const x = values + k * lanes();
      if (kind == ir::Reduction::Kind::sum) {
        tessera_sum_add(&sum, x, kernel_.lanes, 0, mask_[k]);
        continue;
      }
      for (std::size_t l = 0; l < lanes(); ++l) {
        if ((mask_[k] >> l & 1) == 0) continue;
        double& best = sum.extremum[l];
        if (kind == ir::Reduction::Kind::max ? x[l] > best : x[l] < best) best = x[l];
      }
    }
  }

  const BlockProgram& program_;
  const Kernel& kernel_;
  const LaunchArguments& arguments_;
  std::byte* memory_;
  std::size_t count_ = 0;                             ///< groups of the present block
  std::vector<std::int64_t> group_;                   ///< [slots][groups of a block]
  std::vector<std::uint8_t> wraps_;                   ///< [slots][groups of a block]
  std::vector<std::int64_t> position_;                ///< [slots][words of a block] of gathered slots
  std::array<std::uint64_t, kBlockWords> mask_ = {};  ///< [groups of a block] lanes that take part
  int trip_ = 0, round_ = 0;
};

void BlockProgram::run(const LaunchArguments& arguments, std::int64_t begin, std::int64_t end) const {
  Execution(*this, arguments).run(begin, end);
}

}  // namespace jit
