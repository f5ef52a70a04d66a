#include "jit/codegen/simt_emitter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <set>
#include <tuple>

#include "jit/codegen/operations.hpp"
#include "jit/codegen/ptx_streaming.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/ir/abi.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/support/error.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <llvm/IR/IntrinsicsNVPTX.h>
#pragma GCC diagnostic pop

namespace jit {
namespace {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Place;
using ir::Type;
using llvm::Value;

constexpr unsigned kGlobal = 1, kShared = 3;  // NVPTX address spaces
constexpr std::uint64_t kWarp = 32;
constexpr std::size_t kMostWaiting = 24;    // words to be stored: a spinor
constexpr std::int64_t kWidestAccess = 16;  // bytes
constexpr std::size_t kFewSlots = 2;        // those of a link in a hopping term; a spinor is read in eight

// Digits are taken relative to a top 28 i - 980 (sum.hpp). A thread keeps i as the upper half of the double C_0 =
// 1.5 * 2^(top + 24); C_1 and C_2 follow at distance kStep, and the upper half of 2^(top-1) lies kToLimit below.
constexpr std::uint64_t kStep = 28u << 20;
constexpr std::uint64_t kToLimit = (25u << 20) + 0x80000u;
constexpr std::uint64_t window(std::uint64_t i) { return ((28 * i + 67) << 20) + 0x80000u; }
constexpr std::uint64_t kLastWindow = 70;  // i of top 980; beyond it C_0 overflows
constexpr std::uint64_t kHugeBins = 4;     // bins by which summands beyond are shifted

constexpr std::uint64_t kNan = 1, kPlusInfinity = 2, kMinusInfinity = 4;  // SumBins::special

constexpr std::uint64_t kBinsWords = sizeof(SumBins) / sizeof(std::uint64_t);
constexpr std::uint64_t kTopWord = 0, kSpecialWord = 1, kExtremumWord = 2, kFirstBin = 3;
static_assert(offsetof(SumBins, top) == 8 * kTopWord && offsetof(SumBins, special) == 8 * kSpecialWord &&
              offsetof(SumBins, extremum) == 8 * kExtremumWord && offsetof(SumBins, bin) == 8 * kFirstBin);

/// Where the thread's sites are as one slot sees them: group and first lane, or only positions.
struct Frame {
  Value *group = nullptr, *lane = nullptr;  ///< i32; null in gathered slots
  Value* wraps = nullptr;                   ///< i1; null unless lanes are exchanged among the thread's
  Value* position = nullptr;                ///< i32; group * lanes + lane, evaluated when it is asked for
  std::vector<Value*> positions;            ///< i32, one per site; gathered slots only
};

/// Where neighbouring words lie: an address, and what instructions add to it.
struct Words {
  Value* base;
  std::int64_t bytes;
};

/// What a thread has of one reduction: addresses of variables that optimisers turn into registers.
struct State {
  Value* window = nullptr;         ///< i32
  std::array<Value*, 3> digits{};  ///< i64, sums of d_0, d_1, d_2 relative to the window
  Value* extremum = nullptr;       ///< i64, as in SumBins
};

using Digits = std::array<Value*, 3>;

class SimtEmitter {
 public:
  SimtEmitter(llvm::Module& module, const std::string& symbol, const Kernel& kernel, const CodeOptions& options,
              SimtMachine machine, FunctionEmitter functions)
      : kernel_(kernel),
        gpu_(machine == SimtMachine::nvptx),
        streaming_(options.streaming && gpu_),
        sites_(sites_per_thread(kernel, options.sites)),
        lane_bits_(log2_of(kernel.lanes)),
        module_(module),
        builder_(module.getContext()),
        operations_(builder_, std::move(functions), sites_ == 1 ? 0 : sites_),
        frames_(kernel.slots.size()),
        known_(kernel.slots.size()),
        addresses_(kernel.slots.size() * kernel.leaves.size()),
        values_(kernel.nodes.size(), nullptr) {
    create_function(symbol);
    if (streaming_) find_once_touched();
  }

  /// Positions, and so the threads' numbers, fit 32 bits, as tables hold them; only addresses are wide.
  void run() {
    builder_.SetInsertPoint(block("entry"));
    load_parameters();
    for (const ir::Reduction& r : kernel_.reductions) states_.push_back(make_state(r.kind));
    Value* begin = builder_.CreateShl(narrow(begin_), i32(lane_bits_));
    Value* end = builder_.CreateShl(narrow(end_), i32(lane_bits_), "last");
    const auto sites_of = [&](Value* thread, Value* threads) {
      const auto in_sites = [&](Value* x) { return builder_.CreateShl(x, i32(log2_of(sites_))); };
      Value* index = builder_.CreateAdd(begin, in_sites(thread), "index");
      if (kernel_.reductions.empty())
        when(builder_.CreateICmpULT(index, end), [&] { sites(index); });
      else
        loop(index, end, in_sites(threads), "index", [&](Value* each) { sites(each); });
    };
    if (gpu_) {
      const auto special = [&](llvm::Intrinsic::ID id) { return builder_.CreateIntrinsic(id, {}, {}); };
      Value* block_threads = special(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x);
      Value* first = builder_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x), block_threads);
      Value* thread = builder_.CreateAdd(first, special(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x), "thread");
      sites_of(thread, builder_.CreateMul(special(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x), block_threads));
      if (!kernel_.reductions.empty()) finish_block();
    } else {
      loop(narrow(function_->getArg(1)), narrow(function_->getArg(2)), i32(1), "thread",
           [&](Value* thread) { sites_of(thread, narrow(function_->getArg(3))); });
      if (!kernel_.reductions.empty()) finish_call();
    }
    builder_.CreateRetVoid();
  }

 private:
  // ---- small things ------------------------------------------------------------------------------------------------

  /// Of a power of two.
  static std::uint64_t log2_of(int number) { return std::uint64_t(std::countr_zero(unsigned(number))); }
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, function_); }
  Value* i32(std::uint64_t x) { return builder_.getInt32(std::uint32_t(x)); }
  Value* i64(std::uint64_t x) { return builder_.getInt64(x); }
  Value* wide(Value* x) { return builder_.CreateZExt(x, builder_.getInt64Ty()); }
  Value* narrow(Value* x) { return builder_.CreateTrunc(x, builder_.getInt32Ty()); }
  llvm::PointerType* pointer() { return builder_.getPtrTy(gpu_ ? kGlobal : 0); }
  Value* advance(Value* address, Value* bytes) { return builder_.CreateGEP(builder_.getInt8Ty(), address, bytes); }
  Value* advance(Value* address, std::int64_t bytes) {
    return bytes == 0 ? address : advance(address, i64(std::uint64_t(bytes)));
  }

  /// while (x < last) { body(x); x += step; }, unsigned.
  template <class Body>
  void loop(Value* first, Value* last, Value* step, const char* name, const Body& body) {
    auto* before = builder_.GetInsertBlock();
    auto* head = block(name);
    auto* inside = block("body");
    auto* after = block("after");
    builder_.CreateBr(head);
    builder_.SetInsertPoint(head);
    llvm::PHINode* x = builder_.CreatePHI(first->getType(), 2, name);
    x->addIncoming(first, before);
    builder_.CreateCondBr(builder_.CreateICmpULT(x, last), inside, after);
    builder_.SetInsertPoint(inside);
    body(x);
    Value* next = builder_.CreateNUWAdd(x, step);
    x->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateBr(head);
    builder_.SetInsertPoint(after);
  }

  /// if (condition) body();
  template <class Body>
  void when(Value* condition, const Body& body) {
    auto* inside = block("then");
    auto* after = block("next");
    builder_.CreateCondBr(condition, inside, after);
    builder_.SetInsertPoint(inside);
    body();
    builder_.CreateBr(after);
    builder_.SetInsertPoint(after);
  }

  /// A load of what no thread writes while the kernel runs.
  Value* load_constant(llvm::Type* type, Value* address, std::uint64_t bytes) {
    llvm::LoadInst* load = builder_.CreateAlignedLoad(type, address, llvm::Align(bytes));
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(module_.getContext(), {}));
    return load;
  }
  /// Entry index + offset.
  Value* load_entry(Value* array, Value* index, int offset = 0) {
    Value* entry = advance(builder_.CreateGEP(builder_.getInt32Ty(), array, wide(index)), std::int64_t{4} * offset);
    return load_constant(builder_.getInt32Ty(), entry, 4);
  }

  /// What the thread's sites have in common.
  Value* of_all(Value* x) { return sites_ == 1 ? x : builder_.CreateVectorSplat(unsigned(sites_), x); }
  /// Of a value, what belongs to the sites [first, first + count): a vector, or a single word.
  Value* part(Value* value, int first, int count) {
    if (count == sites_) return value;
    if (count == 1) return builder_.CreateExtractElement(value, std::uint64_t(first));
    llvm::SmallVector<int> chosen;
    for (int i = first; i < first + count; ++i) chosen.push_back(i);
    return builder_.CreateShuffleVector(value, chosen);
  }
  /// The inverse: parts of all sites, one after the other.
  Value* joined(const std::vector<Value*>& parts) {
    if (parts.size() == 1) return parts[0];
    auto* word = parts[0]->getType()->getScalarType();
    Value* all = llvm::PoisonValue::get(llvm::FixedVectorType::get(word, unsigned(sites_)));
    const int count = sites_ / int(parts.size());
    for (int i = 0; i < sites_; ++i) {
      Value* x = parts[std::size_t(i / count)];
      if (count > 1) x = builder_.CreateExtractElement(x, std::uint64_t(i % count));
      all = builder_.CreateInsertElement(all, x, std::uint64_t(i));
    }
    return all;
  }

  // ---- function and parameters -------------------------------------------------------------------------------------

  void create_function(const std::string& symbol) {
    llvm::SmallVector<llvm::Type*> types;
    if (gpu_) {
      const auto add = [&](std::size_t count, llvm::Type* type) { types.append(count, type); };
      add(kernel_.leaves.size() + kernel_.slots.size() - 1, pointer());
      add(kernel_.arguments.size(), builder_.getInt64Ty());
      add(std::size_t{kernel_.listed ? 2u : 0u} + (kernel_.reductions.empty() ? 0u : 2u), pointer());
      add(kernel_.reductions.empty() ? 2u : 3u, builder_.getInt64Ty());
    } else {
      types = {builder_.getPtrTy(), builder_.getInt64Ty(), builder_.getInt64Ty(), builder_.getInt64Ty()};
    }
    function_ = llvm::Function::Create(llvm::FunctionType::get(builder_.getVoidTy(), types, false),
                                       llvm::Function::ExternalLinkage, symbol, module_);
    function_->setDoesNotThrow();
    if (gpu_) {
      function_->setCallingConv(llvm::CallingConv::PTX_Kernel);
    } else {  // for the vector entries of elementary functions
      function_->addFnAttr("prefer-vector-width", "512");
      function_->addFnAttr("min-legal-vector-width", "512");
    }
  }

  Value* parameter(llvm::Type* type) {
    const unsigned number = parameters_++;
    if (gpu_) return function_->getArg(number);
    return builder_.CreateLoad(type, advance(function_->getArg(0), std::int64_t(8) * number));
  }

  void load_parameters() {
    for (std::size_t i = 0; i < kernel_.leaves.size(); ++i) fields_.push_back(parameter(pointer()));
    tables_.push_back(nullptr);
    for (std::size_t i = 1; i < kernel_.slots.size(); ++i) tables_.push_back(parameter(pointer()));
    for (Type type : kernel_.arguments) {
      Value* bits = parameter(builder_.getInt64Ty());
      if (type == Type::b1) {
        Value* byte = builder_.CreateTrunc(bits, builder_.getInt8Ty());
        scalars_.push_back(of_all(builder_.CreateICmpNE(byte, builder_.getInt8(0))));
        continue;
      }
      if (ir::bytes(type) == 4) bits = builder_.CreateTrunc(bits, builder_.getInt32Ty());
      scalars_.push_back(of_all(builder_.CreateBitCast(bits, operations_.word(type))));
    }
    if (kernel_.listed) {
      groups_ = parameter(pointer());
      masks_ = parameter(pointer());
    }
    if (!kernel_.reductions.empty()) {
      sums_ = parameter(pointer());
      results_ = parameter(pointer());
      launch_number_ = parameter(builder_.getInt64Ty());
      bins_ = advance(sums_, sizeof(SumHeader));
    }
    begin_ = parameter(builder_.getInt64Ty());
    end_ = parameter(builder_.getInt64Ty());
  }

  // ---- frames ------------------------------------------------------------------------------------------------------

  Value* position(Frame& f) {
    if (!f.position) f.position = builder_.CreateOr(builder_.CreateShl(f.group, i32(lane_bits_)), f.lane, "position");
    return f.position;
  }

  Frame& frame(std::size_t number_of_slot) {
    Frame& f = frames_[number_of_slot];
    if (known_[number_of_slot]) return f;
    const ir::Slot& slot = kernel_.slots[number_of_slot];
    Frame& parent = frame(std::size_t(slot.parent));
    known_[number_of_slot] = true;
    Value* table = tables_[number_of_slot];
    if (slot.gathered) {
      for (int i = 0; i < sites_; ++i)
        f.positions.push_back(parent.group ? load_entry(table, position(parent), i)
                                           : load_entry(table, parent.positions[std::size_t(i)]));
      return f;
    }
    Value* entry = load_entry(table, parent.group);
    f.group = builder_.CreateLShr(entry, i32(1), "group");
    f.lane = parent.lane;
    const int among_mine = slot.lane_xor & (sites_ - 1), beyond = slot.lane_xor - among_mine;
    if (among_mine != 0) f.wraps = builder_.CreateTrunc(entry, builder_.getInt1Ty(), "wraps");
    if (beyond == 0) return f;
    Value* all_or_none = builder_.CreateNeg(builder_.CreateAnd(entry, i32(1)));  // bits
    f.lane = builder_.CreateXor(parent.lane, builder_.CreateAnd(all_or_none, i32(std::uint64_t(beyond))), "lane");
    return f;
  }

  /// Component 0 of the first of the sites that a slot names; in gathered slots of each.
  const std::vector<Value*>& addresses(std::size_t slot, std::size_t leaf_number) {
    std::vector<Value*>& known = addresses_[slot * kernel_.leaves.size() + leaf_number];
    if (!known.empty()) return known;
    Frame& f = frame(slot);
    const ir::Leaf& leaf = kernel_.leaves[leaf_number];
    const int lanes = block_lanes(kernel_, leaf);
    const auto add = [&](Value* block, Value* lane) {
      Value* offset = builder_.CreateAdd(builder_.CreateMul(wide(block), i64(std::uint64_t(block_bytes(leaf)))),
                                         wide(builder_.CreateMul(lane, i32(std::uint64_t(ir::bytes(leaf.word))))));
      known.push_back(advance(fields_[leaf_number], offset));
    };
    const auto add_position = [&](Value* p) {
      Value* block = builder_.CreateLShr(p, i32(log2_of(lanes)));
      add(block, builder_.CreateAnd(p, i32(std::uint64_t(lanes - 1))));
    };
    if (!f.group)
      for (Value* p : f.positions) add_position(p);
    else if (lanes == kernel_.lanes)
      add(f.group, f.lane);
    else
      add_position(position(f));
    return known;
  }

  std::int64_t component_bytes(const ir::Leaf& leaf) const {
    return std::int64_t{block_lanes(kernel_, leaf)} * ir::bytes(leaf.word);
  }
  std::int64_t block_bytes(const ir::Leaf& leaf) const { return leaf.components * component_bytes(leaf); }

  /// Sites whose words one instruction reads or writes: those that lie side by side, if the widest instruction takes
  /// them.
  int width(const Place& p) const {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
    if (kernel_.slots[std::size_t(p.slot)].gathered) return 1;
    return std::min({sites_, block_lanes(kernel_, leaf), int(kWidestAccess) / ir::bytes(leaf.word)});
  }

  /// The words of the thread's sites, width() of them at each address.
  std::vector<Words> words(const Place& p) {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
    const std::vector<Value*>& bases = in_this_trip(p, leaf);
    const int lanes = block_lanes(kernel_, leaf);
    std::vector<Words> all;
    for (int site = 0; site < sites_; site += width(p)) {
      Words w{bases[0], p.component * component_bytes(leaf)};
      if (bases.size() > 1)
        w.base = bases[std::size_t(site)];
      else
        w.bytes += site / lanes * block_bytes(leaf) + site % lanes * ir::bytes(leaf.word);
      all.push_back(w);
    }
    return all;
  }

  const std::vector<Value*>& in_this_trip(const Place& p, const ir::Leaf& leaf) {
    const std::vector<Value*>& bases = addresses(std::size_t(p.slot), std::size_t(p.leaf));
    if (p.stride == 0 || !trip_) return bases;
    std::vector<Value*>& moved = walking_[{p.slot, p.leaf, p.stride}];
    if (moved.empty()) {
      Value* way = builder_.CreateMul(trip_, i64(std::uint64_t(p.stride * component_bytes(leaf))));
      for (Value* base : bases) moved.push_back(advance(base, way));
    }
    return moved;
  }

  // ---- one thread's sites ------------------------------------------------------------------------------------------

  void sites(Value* index) {
    Value* entry = builder_.CreateLShr(index, i32(lane_bits_), "entry");
    Value* lane = builder_.CreateAnd(index, i32(std::uint64_t(kernel_.lanes - 1)), "lane");
    if (!kernel_.listed) return program(entry, lane);
    Value* masks = builder_.CreateGEP(builder_.getInt64Ty(), masks_, wide(entry));
    Value* mask = builder_.CreateLShr(load_constant(builder_.getInt64Ty(), masks, 8), wide(lane));
    when(builder_.CreateTrunc(mask, builder_.getInt1Ty()), [&] { program(load_entry(groups_, entry), lane); });
  }

  void program(Value* group, Value* lane) {
    frames_[0] = {group, lane, nullptr, nullptr, {}};
    known_[0] = true;
    const Schedule order = schedule(kernel_);
    run_steps(order.once);
    if (kernel_.trips == 1) return run_steps(order.each);
    for (const Node& n : kernel_.nodes)  // addresses are the same in all trips
      if (n.op == Op::load) addresses(std::size_t(n.place.slot), std::size_t(n.place.leaf));
    for (const ir::Store& s : kernel_.stores) addresses(std::size_t(s.place.slot), std::size_t(s.place.leaf));
    loop(i64(0), i64(std::uint64_t(kernel_.trips)), i64(1), "trip", [&](Value* trip) {
      trip_ = trip;
      run_steps(order.each);
    });
  }

  /// ptxas moves no load of a field that is written across a store to another one: the thread would wait for memory
  /// after every store. So stores before such a load are put off until a number of them has come together.
  void run_steps(const std::vector<Step>& steps) {
    const auto reads_written = [&](const Step& s) {
      if (s.kind != Step::Kind::node) return false;
      const Node& n = kernel_.nodes[std::size_t(s.number)];
      return n.op == Op::load && kernel_.leaves[std::size_t(n.place.leaf)].written;
    };
    auto loads = std::count_if(steps.begin(), steps.end(), reads_written);
    std::vector<int> waiting;
    const auto send = [&] {
      for (int number : waiting) store(kernel_.stores[std::size_t(number)]);
      waiting.clear();
    };
    for (const Step& s : steps) {
      loads -= reads_written(s);
      switch (s.kind) {
        case Step::Kind::node:
          node(std::size_t(s.number));
          break;
        case Step::Kind::store:
          waiting.push_back(s.number);
          if (loads == 0 || waiting.size() * std::size_t(sites_) >= kMostWaiting) send();
          break;
        case Step::Kind::reduction:
          reduction(std::size_t(s.number));
          break;
      }
    }
    send();
  }

  void node(std::size_t i) {
    const Node& n = kernel_.nodes[i];
    if (n.op == Op::load)
      values_[i] = load(n);
    else if (n.op == Op::permute)
      values_[i] = permute(std::size_t(n.integer), values_[std::size_t(n.a)]);
    else
      values_[i] = operations_.node(kernel_, n, values_, scalars_);
  }

  /// Loads see a slot's lanes in the order in which they lie; what comes from there is put into the parent's order.
  Value* permute(std::size_t slot, Value* value) {
    const int exchange = kernel_.slots[slot].lane_xor & (sites_ - 1);
    if (exchange == 0) return value;
    llvm::SmallVector<int> order;
    for (int i = 0; i < sites_; ++i) order.push_back(i ^ exchange);
    return builder_.CreateSelect(frame(slot).wraps, builder_.CreateShuffleVector(value, order), value);
  }

  Value* load(const Node& n) {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(n.place.leaf)];
    llvm::Type* type = in_memory(leaf.word, width(n.place));
    std::vector<Value*> parts;
    for (const Words& w : words(n.place)) {
      if (streaming_ && once_touched_[std::size_t(n.place.leaf)])
        parts.push_back(load_once(builder_, type, w.base, w.bytes));
      else if (leaf.written)
        parts.push_back(builder_.CreateAlignedLoad(type, advance(w.base, w.bytes), alignment(type)));
      else
        parts.push_back(load_constant(type, advance(w.base, w.bytes), alignment(type).value()));
    }
    Value* loaded = joined(parts);
    return leaf.word == Type::b1 ? builder_.CreateIsNotNull(loaded) : loaded;
  }

  void store(const ir::Store& s) {
    const Type word = kernel_.leaves[std::size_t(s.place.leaf)].word;
    const int count = width(s.place);
    llvm::Type* type = in_memory(word, count);
    int site = 0;
    for (const Words& w : words(s.place)) {
      Value* value = part(values_[std::size_t(s.value)], site, count);
      if (word == Type::b1) value = builder_.CreateZExt(value, type);
      if (streaming_ && word != Type::b1)
        store_once(builder_, value, w.base, w.bytes);
      else
        builder_.CreateAlignedStore(value, advance(w.base, w.bytes), alignment(type));
      site += count;
    }
  }

  llvm::Type* in_memory(Type word, int count) {
    llvm::Type* type = word == Type::b1 ? builder_.getInt8Ty() : operations_.word(word);
    return count == 1 ? type : llvm::FixedVectorType::get(type, unsigned(count));
  }
  static llvm::Align alignment(llvm::Type* type) {
    return llvm::Align(std::uint64_t{type->getPrimitiveSizeInBits().getFixedValue()} / 8);
  }

  /// Leaves that are only read, and in few slots: the caches need not keep them.
  void find_once_touched() {
    std::vector<std::set<int>> slots(kernel_.leaves.size());
    for (const Node& n : kernel_.nodes)
      if (n.op == Op::load) slots[std::size_t(n.place.leaf)].insert(n.place.slot);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const ir::Leaf& leaf = kernel_.leaves[i];
      once_touched_.push_back(!leaf.written && leaf.word != Type::b1 && slots[i].size() <= kFewSlots);
    }
  }

  // ---- reductions: a summand ----------------------------------------------------------------------------------------

  State make_state(ir::Reduction::Kind kind) {
    const auto variable = [&](llvm::Type* type, std::uint64_t value) {
      Value* v = builder_.CreateAlloca(type);
      builder_.CreateStore(llvm::ConstantInt::get(type, value), v);
      return v;
    };
    State s;
    if (kind == ir::Reduction::Kind::sum) {
      s.window = variable(builder_.getInt32Ty(), window(0));
      for (Value*& d : s.digits) d = variable(builder_.getInt64Ty(), 0);
    } else {
      s.extremum = variable(builder_.getInt64Ty(), 0);
    }
    return s;
  }

  Value* get(Value* variable) {
    return builder_.CreateLoad(llvm::cast<llvm::AllocaInst>(variable)->getAllocatedType(), variable);
  }
  void set(Value* variable, Value* value) { builder_.CreateStore(value, variable); }
  Digits get(const State& s) { return {get(s.digits[0]), get(s.digits[1]), get(s.digits[2])}; }

  Value* bits_of(Value* x) { return builder_.CreateBitCast(x, builder_.getInt64Ty()); }
  Value* upper_half(Value* bits) {
    return builder_.CreateTrunc(builder_.CreateLShr(bits, i64(32)), builder_.getInt32Ty());
  }

  void reduction(std::size_t r) {
    Value* summands = values_[std::size_t(kernel_.reductions[r].value)];
    for (int site = 0; site < sites_; ++site) {
      Value* x = part(summands, site, 1);
      kernel_.reductions[r].kind == ir::Reduction::Kind::sum ? sum(r, x) : extremum(r, x);
    }
  }

  void extremum(std::size_t r, Value* x) {
    const State& s = states_[r];
    Value* bits = bits_of(x);  // ordered_bits()
    Value* flip = builder_.CreateOr(builder_.CreateAShr(bits, i64(63)), i64(std::uint64_t{1} << 63));
    Value* key = builder_.CreateXor(bits, flip);
    if (kernel_.reductions[r].kind == ir::Reduction::Kind::min) key = builder_.CreateNot(key);
    key = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), i64(0), key);
    set(s.extremum, larger(get(s.extremum), key));
  }

  Value* larger(Value* a, Value* b) { return builder_.CreateSelect(builder_.CreateICmpUGT(a, b), a, b); }

  /// Digits at a window, moved to one that is higher by `distance`.
  Digits raise(const Digits& d, Value* distance) {
    Value* zero = i64(0);
    Value* by[3];
    for (std::uint64_t k = 0; k < 3; ++k) by[k] = builder_.CreateICmpEQ(distance, i32(k * kStep));
    const auto pick = [&](Value* condition, Value* a, Value* b) { return builder_.CreateSelect(condition, a, b); };
    return {pick(by[0], d[0], zero), pick(by[0], d[1], pick(by[1], d[0], zero)),
            pick(by[0], d[2], pick(by[1], d[1], pick(by[2], d[0], zero)))};
  }

  /// The digits of x < 2^(top-1) relative to top.
  Digits digits(Value* x, Value* window_of_x) {
    Digits d;
    for (std::uint64_t k = 0; k < 3; ++k) {
      Value* bits = builder_.CreateShl(wide(builder_.CreateSub(window_of_x, i32(k * kStep))), i64(32));
      Value* constant = builder_.CreateBitCast(bits, builder_.getDoubleTy());
      Value* rounded = builder_.CreateFAdd(x, constant);
      d[k] = builder_.CreateSub(bits_of(rounded), bits);
      if (k < 2) x = builder_.CreateFSub(x, builder_.CreateFSub(rounded, constant));
    }
    return d;
  }

  void sum(std::size_t r, Value* x) {
    const State& s = states_[r];
    auto* above = block("above");
    auto* finite = block("finite");
    auto* special = block("special");
    auto* raised = block("raised");
    auto* enormous = block("enormous");
    auto* add = block("add");
    auto* done = block("added");
    Value* size = builder_.CreateAnd(upper_half(bits_of(x)), i32(0x7fffffff));  // upper half of |x|
    Value* limit = builder_.CreateSub(get(s.window), i32(kToLimit));
    builder_.CreateCondBr(builder_.CreateICmpULT(size, limit), add, above,
                          llvm::MDBuilder(module_.getContext()).createBranchWeights(1 << 20, 1));

    builder_.SetInsertPoint(above);
    builder_.CreateCondBr(builder_.CreateICmpULT(size, i32(0x7ff00000)), finite, special);

    builder_.SetInsertPoint(special);
    Value* infinity = builder_.CreateSelect(builder_.CreateFCmpOGT(x, llvm::ConstantFP::get(x->getType(), 0)),
                                            i64(kPlusInfinity), i64(kMinusInfinity));
    Value* what = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), i64(kNan), infinity);
    atomic(llvm::AtomicRMWInst::Or, global_word(r, i64(kSpecialWord)), what);
    builder_.CreateBr(done);

    // |x| < 2^(e-1) with e = (size >> 20) - 1021, hence i = ceil((e + 980) / 28)
    builder_.SetInsertPoint(finite);
    Value* i = builder_.CreateUDiv(builder_.CreateSub(builder_.CreateLShr(size, i32(20)), i32(14)), i32(28));
    builder_.CreateCondBr(builder_.CreateICmpULE(i, i32(kLastWindow)), raised, enormous);

    builder_.SetInsertPoint(enormous);
    Value* scaled = builder_.CreateFMul(x, llvm::ConstantFP::get(x->getType(), 0x1p-112));
    add_to_bins(r, i, digits(scaled, window_of(builder_.CreateSub(i, i32(kHugeBins)))));
    builder_.CreateBr(done);

    builder_.SetInsertPoint(raised);
    Value* higher = window_of(i);
    const Digits moved = raise(get(s), builder_.CreateSub(higher, get(s.window)));
    for (std::size_t k = 0; k < 3; ++k) set(s.digits[k], moved[k]);
    set(s.window, higher);
    builder_.CreateBr(add);

    builder_.SetInsertPoint(add);
    const Digits d = digits(x, get(s.window));
    for (std::size_t k = 0; k < 3; ++k) set(s.digits[k], builder_.CreateAdd(get(s.digits[k]), d[k]));
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  Value* window_of(Value* i) { return builder_.CreateAdd(builder_.CreateMul(i, i32(kStep)), i32(window(0))); }
  Value* top_of(Value* window_of_top) {
    return builder_.CreateUDiv(builder_.CreateSub(window_of_top, i32(window(0))), i32(kStep));
  }

  // ---- reductions: results ------------------------------------------------------------------------------------------

  Value* atomic(llvm::AtomicRMWInst::BinOp operation, Value* where, Value* value,
                llvm::AtomicOrdering order = llvm::AtomicOrdering::Monotonic) {
    return builder_.CreateAtomicRMW(operation, where, value, llvm::MaybeAlign(8), order);
  }
  /// A word of SumBins `r` in device memory.
  Value* global_word(std::size_t r, Value* word) {
    return builder_.CreateGEP(builder_.getInt64Ty(), bins_, builder_.CreateAdd(word, i64(r * kBinsWords)));
  }

  template <class Word>
  void add_digits(const Word& word, Value* i, const Digits& d) {
    atomic(llvm::AtomicRMWInst::UMax, word(i64(kTopWord)), wide(i));
    for (std::uint64_t k = 0; k < 3; ++k)
      atomic(llvm::AtomicRMWInst::Add, word(builder_.CreateAdd(wide(i), i64(kFirstBin + 2 - k))), d[k]);
  }
  void add_to_bins(std::size_t r, Value* i, const Digits& d) {
    add_digits([&](Value* word) { return global_word(r, word); }, i, d);
  }

  /// Host: the threads of this call are one, and a block.
  void finish_call() {
    for (std::size_t r = 0; r < states_.size(); ++r) {
      const State& s = states_[r];
      if (s.extremum)
        atomic(llvm::AtomicRMWInst::UMax, global_word(r, i64(kExtremumWord)), get(s.extremum));
      else
        add_to_bins(r, top_of(get(s.window)), get(s));
    }
    Value* mine = builder_.CreateSub(function_->getArg(2), function_->getArg(1));
    Value* before = atomic(llvm::AtomicRMWInst::Add, sums_, mine, llvm::AtomicOrdering::AcquireRelease);
    when(builder_.CreateICmpEQ(builder_.CreateAdd(before, mine), function_->getArg(3)), [&] {
      move_bins(i32(0), i32(1));
      builder_.CreateStore(i64(0), sums_);
      set_mark_of_results(llvm::AtomicOrdering::Release);
    });
  }

  /// The words first, first + step, ... of all bins, to the results. Exchanges read where the additions were done, not
  /// in a cache of this processor.
  void move_bins(Value* first, Value* step) {
    loop(first, i32(states_.size() * kBinsWords), step, "move", [&](Value* w) {
      Value* word = builder_.CreateGEP(builder_.getInt64Ty(), bins_, wide(w));
      Value* result = builder_.CreateGEP(builder_.getInt64Ty(), advance(results_, sizeof(SumHeader)), wide(w));
      builder_.CreateStore(atomic(llvm::AtomicRMWInst::Xchg, word, i64(0)), result);
    });
  }
  void set_mark_of_results(llvm::AtomicOrdering order) {
    builder_.CreateAlignedStore(launch_number_, results_, llvm::Align(8))->setAtomic(order);
  }

  /// Of another thread of the warp: that whose number differs in the bits `exchange`.
  Value* from_thread(Value* x, unsigned exchange) {
    if (x->getType()->isIntegerTy(64)) {
      Value* low = from_thread(builder_.CreateTrunc(x, builder_.getInt32Ty()), exchange);
      return builder_.CreateOr(wide(low), builder_.CreateShl(wide(from_thread(upper_half(x), exchange)), i64(32)));
    }
    return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                    {i32(0xffffffff), x, i32(exchange), i32(kWarp - 1)});
  }
  template <class Combine>
  Value* over_warp(Value* x, const Combine& combine) {
    for (unsigned exchange = kWarp / 2; exchange != 0; exchange /= 2) x = combine(x, from_thread(x, exchange));
    return x;
  }

  void barrier() { builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

  void finish_block() {
    auto* words = llvm::ArrayType::get(builder_.getInt64Ty(), states_.size() * kBinsWords);
    auto* shared = new llvm::GlobalVariable(module_, words, false, llvm::GlobalValue::InternalLinkage,
                                            llvm::UndefValue::get(words), function_->getName() + "_bins", nullptr,
                                            llvm::GlobalValue::NotThreadLocal, kShared);
    shared->setAlignment(llvm::Align(8));
    const auto shared_word = [&](Value* word) { return builder_.CreateGEP(builder_.getInt64Ty(), shared, word); };
    Value* me = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
    Value* threads = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, {}, {});
    Value* count = i32(states_.size() * kBinsWords);

    loop(me, count, threads, "clear", [&](Value* w) { builder_.CreateStore(i64(0), shared_word(wide(w))); });
    barrier();
    Value* leads = builder_.CreateICmpEQ(builder_.CreateAnd(me, i32(kWarp - 1)), i32(0));
    for (std::size_t r = 0; r < states_.size(); ++r) {
      const State& s = states_[r];
      const auto mine = [&](Value* word) { return shared_word(builder_.CreateAdd(word, i64(r * kBinsWords))); };
      const auto max = [&](Value* a, Value* b) { return larger(a, b); };
      if (s.extremum) {
        Value* extremum = over_warp(get(s.extremum), max);
        when(leads, [&] { atomic(llvm::AtomicRMWInst::UMax, mine(i64(kExtremumWord)), extremum); });
        continue;
      }
      Value* highest = over_warp(get(s.window), max);
      Digits d = raise(get(s), builder_.CreateSub(highest, get(s.window)));
      for (Value*& x : d) x = over_warp(x, [&](Value* a, Value* b) { return builder_.CreateAdd(a, b); });
      when(leads, [&] { add_digits(mine, top_of(highest), d); });
    }
    barrier();
    loop(me, count, threads, "publish", [&](Value* w) {
      Value* value = builder_.CreateLoad(builder_.getInt64Ty(), shared_word(wide(w)));
      when(builder_.CreateICmpNE(value, i64(0)), [&] {
        Value* where = builder_.CreateGEP(builder_.getInt64Ty(), bins_, wide(w));
        auto* add = block("bin");
        auto* max = block("maximum");
        auto* next = block("published");
        Value* is_bin = builder_.CreateICmpUGE(builder_.CreateURem(w, i32(kBinsWords)), i32(kFirstBin));
        builder_.CreateCondBr(is_bin, add, max);
        builder_.SetInsertPoint(add);
        atomic(llvm::AtomicRMWInst::Add, where, value);
        builder_.CreateBr(next);
        builder_.SetInsertPoint(max);
        atomic(llvm::AtomicRMWInst::UMax, where, value);
        builder_.CreateBr(next);
        builder_.SetInsertPoint(next);
      });
    });
    hand_over(me, threads);
  }

  /// The last block to come here gives the results to the host. Order of events, by the memory model of PTX (a barrier
  /// of the block orders what its threads did before it before what they do after it, and fences are cumulative):
  ///   - additions of a block to the bins -> barrier -> fence of its thread 0 -> its addition to the mark
  ///   - -> (of another block) the addition that reads the last block's share -> fence -> barrier -> exchanges of bins
  ///   - stores of results by all threads -> barrier -> fence for the whole system -> mark of the results
  /// What no later step needs to see, the zeros that are left, the end of the launch orders.
  void hand_over(Value* me, Value* threads) {
    const auto fence = [&](llvm::Intrinsic::ID scope) { builder_.CreateIntrinsic(scope, {}, {}); };
    Value* first = builder_.CreateICmpEQ(me, i32(0));
    barrier();
    auto* others = builder_.GetInsertBlock();
    llvm::BasicBlock* counting = nullptr;
    Value* completes = nullptr;
    when(first, [&] {
      fence(llvm::Intrinsic::nvvm_membar_gl);
      Value* before = atomic(llvm::AtomicRMWInst::Add, sums_, wide(threads));
      fence(llvm::Intrinsic::nvvm_membar_gl);
      Value* blocks = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_nctaid_x, {}, {});
      Value* all = wide(builder_.CreateMul(blocks, threads));
      completes = builder_.CreateICmpEQ(builder_.CreateAdd(before, wide(threads)), all);
      counting = builder_.GetInsertBlock();
    });
    llvm::PHINode* last = builder_.CreatePHI(builder_.getInt1Ty(), 2);
    last->addIncoming(builder_.getFalse(), others);
    last->addIncoming(completes, counting);
    Value* any = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0_or, {},
                                          {builder_.CreateZExt(last, builder_.getInt32Ty())});
    when(builder_.CreateICmpNE(any, i32(0)), [&] {
      move_bins(me, threads);
      barrier();
      when(first, [&] {
        builder_.CreateStore(i64(0), sums_);
        fence(llvm::Intrinsic::nvvm_membar_sys);
        set_mark_of_results(llvm::AtomicOrdering::Monotonic);
      });
    });
  }

  const Kernel& kernel_;
  const bool gpu_, streaming_;
  const int sites_;  ///< per thread
  const std::uint64_t lane_bits_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  OperationEmitter operations_;
  llvm::Function* function_ = nullptr;

  unsigned parameters_ = 0;
  std::vector<Value*> fields_, tables_, scalars_;
  Value *groups_ = nullptr, *masks_ = nullptr, *begin_ = nullptr, *end_ = nullptr;
  Value *sums_ = nullptr, *bins_ = nullptr, *results_ = nullptr, *launch_number_ = nullptr;

  std::vector<bool> once_touched_;  ///< [leaves]
  std::vector<Frame> frames_;       ///< of the sites at hand
  std::vector<bool> known_;
  std::vector<std::vector<Value*>> addresses_;                        ///< [slot * leaves + leaf]
  Value* trip_ = nullptr;                                             ///< i64 inside the loop over trips
  std::map<std::tuple<int, int, int>, std::vector<Value*>> walking_;  ///< (slot, leaf, stride): addresses in this trip
  std::vector<Value*> values_;
  std::vector<State> states_;
};

}  // namespace

std::size_t simt_parameters(const Kernel& kernel) {
  return kernel.leaves.size() + kernel.slots.size() - 1 + kernel.arguments.size() + (kernel.listed ? 2 : 0) +
         (kernel.reductions.empty() ? 0 : 3) + 2;
}

void emit_simt_kernel(llvm::Module& module, const std::string& symbol, const Kernel& kernel, const CodeOptions& options,
                      SimtMachine machine, FunctionEmitter functions) {
  if (options.sites != 1 && options.sites != 2 && options.sites != 4)
    throw InternalError({.what = "kernel " + kernel.name,
                         .expected = "1, 2 or 4 sites per thread",
                         .got = std::to_string(options.sites)});
  SimtEmitter(module, symbol, kernel, options, machine, std::move(functions)).run();
}

}  // namespace jit
