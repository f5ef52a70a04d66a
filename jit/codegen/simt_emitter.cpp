#include "jit/codegen/simt_emitter.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "jit/codegen/operations.hpp"
#include "jit/codegen/ptx_streaming.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/codegen/simt_code.hpp"
#include "jit/codegen/simt_sums.hpp"
#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

using ir::Kernel;
using ir::Node;
using ir::Op;
using ir::Place;
using ir::Type;
using llvm::Value;

constexpr unsigned kGlobal = 1;             // NVPTX address space
constexpr std::size_t kMostWaiting = 24;    // words to be stored: a spinor
constexpr std::int64_t kWidestAccess = 16;  // bytes

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

class SimtEmitter : private SimtCode {
 public:
  SimtEmitter(llvm::IRBuilder<>& builder, llvm::Module& module, const std::string& symbol, const Kernel& kernel,
              const CodeOptions& options, SimtMachine machine, FunctionEmitter functions, bool quick)
      : SimtCode(builder),
        kernel_(kernel),
        gpu_(machine == SimtMachine::nvptx),
        streaming_(options.streaming && gpu_),
        sites_(sites_per_thread(kernel, options.sites)),
        lane_bits_(log2_of(kernel.lanes)),
        module_(module),
        operations_(builder_, std::move(functions), sites_ == 1 ? 0 : sites_),
        frames_(kernel.slots.size()),
        known_(kernel.slots.size()),
        addresses_(kernel.slots.size() * kernel.leaves.size()),
        values_(kernel.nodes.size(), nullptr),
        sums_(builder, kernel) {
    create_function(symbol);
    if (streaming_) once_touched_ = ir::once_touched(kernel_);
    if (quick) operations_.write_quick_code(VectorIsa::avx2);  // at least; a thread has few sites
  }

  /// Positions, and so the threads' numbers, fit 32 bits, as tables hold them; only addresses are wide.
  QuickCounts run() {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module_.getContext(), "entry", function_));
    load_parameters();
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
      if (!kernel_.reductions.empty()) sums_.finish_block();
    } else {
      loop(narrow(function_->getArg(1)), narrow(function_->getArg(2)), i32(1), "thread",
           [&](Value* thread) { sites_of(thread, narrow(function_->getArg(3))); });
      if (!kernel_.reductions.empty())
        sums_.finish_call(function_->getArg(1), function_->getArg(2), function_->getArg(3));
    }
    builder_.CreateRetVoid();
    return operations_.quick_counts();
  }

 private:
  // ---- small things ------------------------------------------------------------------------------------------------

  /// Of a power of two.
  static std::uint64_t log2_of(int number) { return std::uint64_t(std::countr_zero(unsigned(number))); }
  llvm::PointerType* pointer() { return builder_.getPtrTy(gpu_ ? kGlobal : 0); }

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
      Value* sums = parameter(pointer());
      Value* results = parameter(pointer());
      sums_.begin(sums, results, parameter(builder_.getInt64Ty()));
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
    if (!slot.exchange.within(sites_).is_none()) f.wraps = builder_.CreateTrunc(entry, builder_.getInt1Ty(), "wraps");
    const LaneExchange beyond = slot.exchange.beyond(sites_);
    if (beyond.is_none()) return f;
    Value* all_or_none = builder_.CreateNeg(builder_.CreateAnd(entry, i32(1)));  // bits
    const auto if_it_wraps = [&](std::uint8_t bits) { return builder_.CreateAnd(all_or_none, i32(bits)); };
    if (beyond.ring != 0) {
      Value* moved = builder_.CreateAdd(parent.lane, if_it_wraps(beyond.step));
      f.lane = builder_.CreateOr(builder_.CreateAnd(parent.lane, i32(std::uint32_t(~beyond.ring))),
                                 builder_.CreateAnd(moved, i32(beyond.ring)), "lane");
    }
    if (beyond.flip != 0) f.lane = builder_.CreateXor(f.lane, if_it_wraps(beyond.flip), "lane");
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
    const bool walks = ir::walks(p) && trip_, shifted = p.shifted_by >= 0;
    if (!walks && !shifted) return bases;
    std::vector<Value*>& moved = moved_[{p.slot, p.leaf, walks ? p.stride : 0, walks ? p.leap : 0, p.shifted_by}];
    if (moved.empty()) {
      const auto times = [&](Value* count, int components) {
        return builder_.CreateMul(count, i64(std::uint64_t(components * component_bytes(leaf))));
      };
      Value* way = i64(0);
      if (walks) way = times(trip_, p.stride);
      if (walks && round_) way = builder_.CreateAdd(way, times(round_, p.leap));
      if (shifted)
        way = builder_.CreateAdd(
            way, times(builder_.CreateSExt(part(scalars_[std::size_t(p.shifted_by)], 0, 1), builder_.getInt64Ty()), 1));
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
    const std::uint64_t runs = std::uint64_t(ir::runs(kernel_)), trips = std::uint64_t(kernel_.trips);
    if (runs == 1) return run_steps(order.each);
    for (const Node& n : kernel_.nodes)  // addresses are the same in all trips
      if (n.op == Op::load) addresses(std::size_t(n.place.slot), std::size_t(n.place.leaf));
    for (const ir::Store& s : kernel_.stores) addresses(std::size_t(s.place.slot), std::size_t(s.place.leaf));
    loop(i64(0), i64(runs), i64(1), "run", [&](Value* run) {
      trip_ = runs == trips ? run : builder_.CreateURem(run, i64(trips), "trip");
      if (runs > trips) round_ = builder_.CreateUDiv(run, i64(trips), "round");
      run_steps(order.each);
    });
  }

  /// ptxas moves no load of a field that is written, or is not loaded as a constant, across a store to another one: the
  /// thread would wait for memory after every store. So stores before such a load are put off until a number of them
  /// has come together.
  void run_steps(const std::vector<Step>& steps) {
    const auto stays_behind_stores = [&](const Step& s) {
      if (s.kind != Step::Kind::node) return false;
      const Node& n = kernel_.nodes[std::size_t(s.number)];
      return n.op == Op::load && (kernel_.leaves[std::size_t(n.place.leaf)].written || read_in_each_trip(n.place));
    };
    auto loads = std::count_if(steps.begin(), steps.end(), stays_behind_stores);
    std::vector<int> waiting;
    const auto send = [&] {
      for (int number : waiting) store(kernel_.stores[std::size_t(number)]);
      waiting.clear();
    };
    const std::size_t longest = steps_per_block(steps.size());
    std::size_t done = 0;
    for (const Step& s : steps) {
      if (++done % longest == 0 && !fields_.empty()) new_block();
      loads -= stays_behind_stores(s);
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

  /// LLVM joins blocks if it sees that no other way leads on: the branch asks what is always so.
  void new_block() {
    auto* next = block("next");
    auto* never = block("never");
    builder_.CreateCondBr(builder_.CreateIsNotNull(fields_.front()), next, never);
    builder_.SetInsertPoint(never);
    builder_.CreateRetVoid();
    builder_.SetInsertPoint(next);
  }

  void node(std::size_t i) {
    const Node& n = kernel_.nodes[i];
    if (n.op == Op::load)
      values_[i] = load(n);
    else if (n.op == Op::permute)
      values_[i] = permute(n);
    else
      values_[i] = operations_.node(kernel_, n, values_, scalars_);
  }

  /// Loads see a slot's lanes in the order in which they lie; what comes from there is put into that of a frame farther up.
  Value* permute(const Node& n) {
    Value* value = values_[std::size_t(n.a)];
    ir::for_slots_left(kernel_, n, [&](std::size_t slot) { value = exchanged(slot, value); });
    return value;
  }

  Value* exchanged(std::size_t slot, Value* value) {
    const LaneExchange exchange = kernel_.slots[slot].exchange.within(sites_);
    if (exchange.is_none()) return value;
    llvm::SmallVector<int> order;
    for (int i = 0; i < sites_; ++i) order.push_back(exchange.source(i));
    return builder_.CreateSelect(frame(slot).wraps, builder_.CreateShuffleVector(value, order), value);
  }

  /// The same words in each trip. INVARIANT: not loaded as constants: ptxas would move them ahead of the trips, where
  /// they take registers that are not there (a trace over colour of two propagators: 1840 bytes of stack).
  bool read_in_each_trip(const Place& p) const { return trip_ && !ir::walks(p); }

  Value* load(const Node& n) {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(n.place.leaf)];
    llvm::Type* type = in_memory(leaf.word, width(n.place));
    std::vector<Value*> parts;
    for (const Words& w : words(n.place)) {
      if (streaming_ && once_touched_[std::size_t(n.place.leaf)])
        parts.push_back(load_once(builder_, type, w.base, w.bytes));
      else if (leaf.written || read_in_each_trip(n.place))
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

  void reduction(std::size_t r) {
    Value* summands = values_[std::size_t(kernel_.reductions[r].value)];
    for (int site = 0; site < sites_; ++site) sums_.add(r, part(summands, site, 1));
  }

  const Kernel& kernel_;
  const bool gpu_, streaming_;
  const int sites_;  ///< per thread
  const std::uint64_t lane_bits_;
  llvm::Module& module_;
  OperationEmitter operations_;
  llvm::Function* function_ = nullptr;

  unsigned parameters_ = 0;
  std::vector<Value*> fields_, tables_, scalars_;
  Value *groups_ = nullptr, *masks_ = nullptr, *begin_ = nullptr, *end_ = nullptr;

  std::vector<bool> once_touched_;  ///< [leaves]
  std::vector<Frame> frames_;       ///< of the sites at hand
  std::vector<bool> known_;
  std::vector<std::vector<Value*>> addresses_;  ///< [slot * leaves + leaf]
  Value *trip_ = nullptr, *round_ = nullptr;    ///< i64 inside the loop over trips
  std::map<std::tuple<int, int, int, int, int>, std::vector<Value*>>
      moved_;  ///< addresses by slot, leaf, stride, leap in this trip, argument
  std::vector<Value*> values_;
  SimtSums sums_;
};

}  // namespace

std::size_t simt_parameters(const Kernel& kernel) {
  return kernel.leaves.size() + kernel.slots.size() - 1 + kernel.arguments.size() + (kernel.listed ? 2 : 0) +
         (kernel.reductions.empty() ? 0 : 3) + 2;
}

QuickCounts emit_simt_kernel(llvm::Module& module, const std::string& symbol, const Kernel& kernel,
                             const CodeOptions& options, SimtMachine machine, FunctionEmitter functions, bool quick) {
  if (options.sites != 1 && options.sites != 2 && options.sites != 4)
    throw InternalError({.what = "kernel " + kernel.name,
                         .expected = "1, 2 or 4 sites per thread",
                         .got = std::to_string(options.sites)});
  llvm::IRBuilder<> builder(module.getContext());
  return SimtEmitter(builder, module, symbol, kernel, options, machine, std::move(functions), quick).run();
}

}  // namespace jit
