#include "jit/codegen/kernel_emitter.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <utility>

#include "jit/codegen/operations.hpp"
#include "jit/codegen/requests.hpp"
#include "jit/codegen/schedule.hpp"
#include "jit/ir/abi.hpp"
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

constexpr int kCacheLine = 64;
constexpr int kSmallestRegister = 16;
/// As LLVM's prefetch has it.
unsigned locality(CacheLevel level) {
  switch (level) {
    case CacheLevel::second:
      return 2;
    case CacheLevel::nearest:
      return 3;
    case CacheLevel::passed:
      break;
  }
  return 0;
}

/// Where one slot's block is. Structured: group, half and whether lanes are exchanged. Gathered: a position per lane.
struct Frame {
  Value* group = nullptr;      ///< i64
  Value* half = nullptr;       ///< i64, 0 or 1; null if a group is one block
  Value* wraps = nullptr;      ///< i1
  Value* positions = nullptr;  ///< <V x i64>, gathered slots only
};

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const std::string& symbol, const Kernel& kernel, const CodeOptions& options,
                VectorIsa isa)
      : kernel_(kernel),
        options_(options),
        lanes_(lanes_per_step(kernel)),
        halves_(kernel.lanes / lanes_),
        module_(module),
        builder_(module.getContext()),
        operations_(builder_, isa, lanes_),
        values_(kernel.nodes.size(), nullptr) {
    auto* type = llvm::FunctionType::get(builder_.getVoidTy(),
                                         {builder_.getPtrTy(), builder_.getInt64Ty(), builder_.getInt64Ty()}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, symbol, module);
    function_->setDoesNotThrow();
    function_->addFnAttr("prefer-vector-width", "512");
    function_->addFnAttr("min-legal-vector-width", "512");
    function_->addParamAttr(0, llvm::Attribute::NoAlias);
  }

  void run() {
    auto* entry = block("entry");
    auto* loop = block("loop");
    auto* done = done_ = block("done");
    builder_.SetInsertPoint(entry);
    load_arguments();
    Value* first = in_steps(function_->getArg(1));
    Value* last = in_steps(function_->getArg(2));
    builder_.CreateCondBr(builder_.CreateICmpSLT(first, last), loop, done);

    builder_.SetInsertPoint(loop);
    llvm::PHINode* step = builder_.CreatePHI(builder_.getInt64Ty(), 2, "step");
    step->addIncoming(first, entry);
    site_block(step);
    Value* next = builder_.CreateNSWAdd(step, builder_.getInt64(1), "next");
    step->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, last), loop, done);

    builder_.SetInsertPoint(done);
    if (streaming()) store_fence();
    builder_.CreateRetVoid();
  }

 private:
  llvm::BasicBlock* block(const char* name) { return llvm::BasicBlock::Create(module_.getContext(), name, function_); }
  Value* number(std::int64_t x) { return builder_.getInt64(std::uint64_t(x)); }
  Value* in_steps(Value* groups) { return halves_ == 1 ? groups : builder_.CreateNSWMul(groups, number(halves_)); }
  Value* advance(Value* pointer, Value* bytes, const llvm::Twine& name = "") {
    return builder_.CreateGEP(builder_.getInt8Ty(), pointer, bytes, name);
  }
  Value* advance(Value* pointer, std::int64_t bytes) { return bytes == 0 ? pointer : advance(pointer, number(bytes)); }
  /// Memory for as long as the function runs.
  llvm::AllocaInst* on_stack(llvm::Type* type) { return jit::on_stack(*function_, type); }
  /// Of a function of C.
  Value* call(const char* name, llvm::Type* result, llvm::ArrayRef<Value*> arguments) {
    llvm::SmallVector<llvm::Type*> types;
    for (Value* argument : arguments) types.push_back(argument->getType());
    auto callee = module_.getOrInsertFunction(name, llvm::FunctionType::get(result, types, false));
    llvm::cast<llvm::Function>(callee.getCallee())->setDoesNotThrow();
    return builder_.CreateCall(callee, arguments);
  }
  llvm::Align alignment(Type word) const {
    return llvm::Align(std::uint64_t(std::min(kCacheLine, lanes_ * ir::bytes(word))));
  }

  // ---- arguments ---------------------------------------------------------------------------------------------------

  Value* launch_member(std::size_t offset) {
    return builder_.CreateLoad(builder_.getPtrTy(), advance(function_->getArg(0), std::int64_t(offset)));
  }
  Value* pointer_at(Value* array, std::size_t index) {
    return builder_.CreateLoad(builder_.getPtrTy(), advance(array, std::int64_t(index * sizeof(void*))));
  }

  void load_arguments() {
    Value* fields = launch_member(offsetof(LaunchArguments, fields));
    for (std::size_t i = 0; i < kernel_.leaves.size(); ++i) fields_.push_back(pointer_at(fields, i));
    Value* tables = launch_member(offsetof(LaunchArguments, tables));
    for (std::size_t i = 0; i < kernel_.slots.size(); ++i) tables_.push_back(i == 0 ? nullptr : pointer_at(tables, i));
    Value* scalars = launch_member(offsetof(LaunchArguments, scalars));
    for (std::size_t i = 0; i < kernel_.arguments.size(); ++i) {
      const Type type = kernel_.arguments[i];
      Value* address = advance(scalars, std::int64_t(i * sizeof(std::uint64_t)));
      Value* scalar = type == Type::b1 ? builder_.CreateICmpNE(builder_.CreateLoad(builder_.getInt8Ty(), address),
                                                               builder_.getInt8(0))
                                       : builder_.CreateLoad(operations_.word(type), address);
      scalars_.push_back(builder_.CreateVectorSplat(unsigned(lanes_), scalar));
    }
    sums_ = launch_member(offsetof(LaunchArguments, sums));
    if (kernel_.listed) {
      groups_ = launch_member(offsetof(LaunchArguments, groups));
      masks_ = launch_member(offsetof(LaunchArguments, masks));
    }
  }

  void store_fence() { builder_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {}); }

  // ---- frames ------------------------------------------------------------------------------------------------------

  /// Frames of all slots as seen from one block of sites, evaluated at first use, with the addresses of fields in them.
  struct View {
    std::vector<Frame> frames;
    std::vector<bool> known;
    /// By slot, frame and leaf: component 0 of the block, or <V x i64> byte offsets.
    std::map<std::array<int, 3>, Value*> addresses;
  };

  View view(Value* group, Value* half) const {
    View v{std::vector<Frame>(kernel_.slots.size()), std::vector<bool>(kernel_.slots.size(), false), {}};
    v.frames[0] = {group, half, nullptr, nullptr};
    v.known[0] = true;
    return v;
  }

  const Frame& frame(View& v, std::size_t number_of_slot) {
    if (v.known[number_of_slot]) return v.frames[number_of_slot];
    const ir::Slot& slot = kernel_.slots[number_of_slot];
    const Frame& parent = frame(v, std::size_t(slot.parent));
    Frame& f = v.frames[number_of_slot];
    v.known[number_of_slot] = true;
    if (slot.gathered) {
      f.positions = gather_positions(tables_[number_of_slot], parent);
      return f;
    }
    Value* entry = builder_.CreateLoad(
        builder_.getInt32Ty(), builder_.CreateGEP(builder_.getInt32Ty(), tables_[number_of_slot], parent.group));
    f.group = builder_.CreateSExt(builder_.CreateAShr(entry, builder_.getInt32(1)), builder_.getInt64Ty(), "group");
    f.half = parent.half;
    if (slot.exchange.is_none()) return f;
    f.wraps = builder_.CreateTrunc(entry, builder_.getInt1Ty(), "wraps");
    if (!slot.exchange.beyond(lanes_).is_none())
      f.half = builder_.CreateXor(
          parent.half, builder_.CreateAnd(builder_.CreateZExt(entry, builder_.getInt64Ty()), number(1)), "half");
    return f;
  }

  Value* gather_positions(Value* table, const Frame& parent) {
    Value* entries;
    if (parent.positions) {
      auto* type = operations_.vector(Type::i32);
      Value* all = llvm::ConstantInt::getTrue(operations_.vector(Type::b1));
      entries = builder_.CreateMaskedGather(type, builder_.CreateGEP(builder_.getInt32Ty(), table, parent.positions),
                                            llvm::Align(4), all);
    } else {
      Value* first = builder_.CreateMul(parent.group, number(kernel_.lanes));
      if (parent.half) first = builder_.CreateAdd(first, builder_.CreateMul(parent.half, number(lanes_)));
      Value* block = builder_.CreateGEP(builder_.getInt32Ty(), table, first);
      entries = builder_.CreateAlignedLoad(operations_.vector(Type::i32), block, llvm::Align(4));
    }
    return builder_.CreateSExt(entries, operations_.vector(Type::i64), "positions");
  }

  /// Bytes from component to component of a block.
  std::int64_t component_bytes(const ir::Leaf& leaf) const {
    return std::int64_t{block_lanes(kernel_.lanes, leaf.word)} * ir::bytes(leaf.word);
  }

  /// Address of component 0 in a block of V lanes: scalar for structured frames.
  /// Gathered: byte offsets of component 0, per lane.
  Value* address(View& v, const Place& p) {
    const auto slot = std::size_t(p.slot), seen_from = std::size_t(ir::frame_of(p)), leaf_number = std::size_t(p.leaf);
    Frame f = frame(v, slot);
    if (seen_from != slot) f.half = frame(v, seen_from).half;
    Value*& known = v.addresses[{p.slot, ir::frame_of(p), p.leaf}];
    if (known) return known;
    const ir::Leaf& leaf = kernel_.leaves[leaf_number];
    const std::int64_t size = ir::bytes(leaf.word), lanes = block_lanes(kernel_.lanes, leaf.word);
    const std::int64_t block_bytes = leaf.components * lanes * size;
    if (f.positions) {
      const auto all = [&](std::int64_t x) { return llvm::ConstantInt::get(f.positions->getType(), std::uint64_t(x)); };
      Value* blocks = builder_.CreateUDiv(f.positions, all(lanes));
      Value* lane = builder_.CreateURem(f.positions, all(lanes));
      return known = builder_.CreateAdd(builder_.CreateMul(blocks, all(block_bytes)),
                                        builder_.CreateMul(lane, all(size)), "offsets");
    }
    Value* offset;
    if (halves_ == 1) {
      offset = builder_.CreateMul(f.group, number(block_bytes));
    } else if (lanes == lanes_) {  // a block is half a group
      offset = builder_.CreateMul(builder_.CreateAdd(builder_.CreateMul(f.group, number(halves_)), f.half),
                                  number(block_bytes));
    } else {  // a block is a group; this step sees half of its lanes
      offset = builder_.CreateAdd(builder_.CreateMul(f.group, number(block_bytes)),
                                  builder_.CreateMul(f.half, number(lanes_ * size)));
    }
    return known = advance(fields_[leaf_number], offset, "block");
  }

  /// Offset of a place's component in its block, as a constant or depending on the trip.
  Value* component_offset(const Place& p, const ir::Leaf& leaf) {
    Value* offset = number(p.component * component_bytes(leaf));
    const auto walk = [&](Value* count, std::int64_t components) {
      if (components != 0 && count)
        offset = builder_.CreateAdd(offset, builder_.CreateMul(count, number(components * component_bytes(leaf))));
    };
    walk(trip_, p.stride);
    walk(round_, p.leap);
    if (p.shifted_by >= 0)
      walk(builder_.CreateSExt(builder_.CreateExtractElement(scalars_[std::size_t(p.shifted_by)], std::uint64_t{0}),
                               builder_.getInt64Ty()),
           1);
    return offset;
  }

  // ---- one block ---------------------------------------------------------------------------------------------------

  void site_block(Value* step) {
    Value* index = step;
    Value* half = nullptr;
    if (halves_ > 1) {
      index = builder_.CreateAShr(step, number(1), "index");
      half = builder_.CreateAnd(step, number(1), "half");
    }
    Value* group = index;
    mask_ = mask_bits_ = nullptr;
    if (kernel_.listed) {
      group = builder_.CreateSExt(
          builder_.CreateLoad(builder_.getInt32Ty(), builder_.CreateGEP(builder_.getInt32Ty(), groups_, index)),
          builder_.getInt64Ty(), "group");
      Value* bits =
          builder_.CreateLoad(builder_.getInt64Ty(), builder_.CreateGEP(builder_.getInt64Ty(), masks_, index));
      if (half) bits = builder_.CreateLShr(bits, builder_.CreateMul(half, number(lanes_)));
      mask_bits_ = bits;
      mask_ = builder_.CreateBitCast(builder_.CreateTrunc(bits, builder_.getIntNTy(unsigned(lanes_))),
                                     operations_.vector(Type::b1), "mask");
    }
    here_ = view(group, half);
    if (prefetching()) {
      Value* later = builder_.CreateAdd(step, number(options_.prefetch));
      Value* later_half = half ? builder_.CreateAnd(later, number(1)) : nullptr;
      ahead_ = view(half ? builder_.CreateAShr(later, number(1)) : later, later_half);
    }

    const Schedule order = schedule(kernel_);
    const Requests requests = jit::requests(kernel_, options_, order);
    run_steps(order.once, requests.once);
    const int runs = ir::runs(kernel_);
    if (runs == 1) return run_steps(order.each, requests.each);
    know_addresses();
    for (const Request& request : requests.repeated) prefetch(request);
    send_prefetches();
    auto* before = builder_.GetInsertBlock();
    auto* body = block("trip");
    auto* after = block("after");
    builder_.CreateBr(body);
    builder_.SetInsertPoint(body);
    llvm::PHINode* run = builder_.CreatePHI(builder_.getInt64Ty(), 2, "run");
    run->addIncoming(number(0), before);
    trip_ = kernel_.rounds == 1 ? run : builder_.CreateURem(run, number(kernel_.trips), "trip");
    round_ = kernel_.rounds == 1 ? nullptr : builder_.CreateUDiv(run, number(kernel_.trips), "round");
    run_steps(order.each, requests.each);
    Value* next = builder_.CreateNSWAdd(run, number(1));
    run->addIncoming(next, builder_.GetInsertBlock());
    builder_.CreateCondBr(builder_.CreateICmpSLT(next, number(runs)), body, after);
    builder_.SetInsertPoint(after);
    trip_ = round_ = nullptr;
  }

  bool prefetching() const { return options_.prefetch > 0 && !kernel_.listed; }
  bool streaming() const { return options_.streaming; }

  /// Evaluates every address of the trips' loads and stores ahead of their loop.
  void know_addresses() {
    const auto know = [&](const Place& p) {
      address(here_, p);
      if (prefetching() && !here_.frames[std::size_t(p.slot)].positions) address(ahead_, p);
    };
    for (const Node& n : kernel_.nodes)
      if (n.op == Op::load) know(n.place);
    for (const ir::Store& s : kernel_.stores) know(s.place);
  }

  void run_steps(const std::vector<Step>& steps, const std::vector<Request>& requests) {
    const std::size_t longest = steps_per_block(steps.size());
    std::size_t done = 0;
    auto next = requests.begin();
    for (const Step& s : steps) {
      if (++done % longest == 0) new_block();
      switch (s.kind) {
        case Step::Kind::node:
          node(std::size_t(s.number));
          break;
        case Step::Kind::store:
          store(kernel_.stores[std::size_t(s.number)]);
          break;
        case Step::Kind::reduction:
          reduction(std::size_t(s.number));
          break;
      }
      for (; next != requests.end() && next->step < done; ++next) prefetch(*next);
    }
    send_prefetches();
  }

  /// LLVM joins blocks if it sees that no other way leads on: the branch asks what is always so.
  void new_block() {
    auto* next = block("next");
    builder_.CreateCondBr(builder_.CreateIsNotNull(function_->getArg(0)), next, done_);
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

  Value* load(const Node& n) {
    const Place& p = n.place;
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(p.leaf)];
    Value* base = address(here_, p);
    Value* offset = component_offset(p, leaf);
    auto* type = leaf.word == Type::b1 ? llvm::FixedVectorType::get(builder_.getInt8Ty(), unsigned(lanes_))
                                       : operations_.vector(leaf.word);
    Value* loaded;
    if (frame(here_, std::size_t(p.slot)).positions) {
      Value* pointers = builder_.CreateGEP(builder_.getInt8Ty(), advance(fields_[std::size_t(p.leaf)], offset), base);
      loaded = builder_.CreateMaskedGather(type, pointers, llvm::Align(std::uint64_t(ir::bytes(leaf.word))),
                                           llvm::ConstantInt::getTrue(operations_.vector(Type::b1)));
    } else {
      loaded = builder_.CreateAlignedLoad(type, advance(base, offset), alignment(leaf.word));
    }
    return leaf.word == Type::b1 ? builder_.CreateICmpNE(loaded, llvm::Constant::getNullValue(type)) : loaded;
  }

  /// A few are collected and sent together, since LLVM's time grows with the number of places where memory is touched in order.
  void prefetch(const Request& request) {
    const Place& p = request.place;
    Value* offset = component_offset(p, kernel_.leaves[std::size_t(p.leaf)]);
    unsent_.emplace_back(advance(address(ahead_, p), offset), request.into);
    if (unsent_.size() == 4) send_prefetches();
  }

  void send_prefetches() {
    for (const auto& [where, into] : unsent_)
      builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {builder_.getPtrTy()},
                               {where, builder_.getInt32(0), builder_.getInt32(locality(into)), builder_.getInt32(1)});
    unsent_.clear();
  }

  Value* permute(const Node& n) {
    Value* value = values_[std::size_t(n.a)];
    ir::for_slots_left(kernel_, n, [&](std::size_t slot) { value = exchanged(slot, value); });
    return value;
  }

  Value* exchanged(std::size_t slot, Value* value) {
    const LaneExchange exchange = kernel_.slots[slot].exchange.within(lanes_);
    if (exchange.is_none()) return value;
    llvm::SmallVector<int> lanes;
    for (int l = 0; l < lanes_; ++l) lanes.push_back(exchange.source(l));
    Value* wraps = builder_.CreateVectorSplat(unsigned(lanes_), frame(here_, slot).wraps);
    return builder_.CreateSelect(wraps, builder_.CreateShuffleVector(value, lanes), value);
  }

  void store(const ir::Store& s) {
    const ir::Leaf& leaf = kernel_.leaves[std::size_t(s.place.leaf)];
    Value* value = values_[std::size_t(s.value)];
    if (leaf.word == Type::b1)
      value = builder_.CreateZExt(value, llvm::FixedVectorType::get(builder_.getInt8Ty(), unsigned(lanes_)));
    Value* where = advance(address(here_, s.place), component_offset(s.place, leaf));
    if (mask_ && lanes_ * ir::bytes(leaf.word) >= kSmallestRegister) {
      builder_.CreateMaskedStore(value, where, alignment(leaf.word), mask_);
      return;
    }
    // LLVM 19 widens what is less than a register, and takes the mask's bits beyond it as they are (AVX-512): it would write over the
    // other half of the group. The other lanes are this thread's.
    if (mask_)
      value = builder_.CreateSelect(mask_, value,
                                    builder_.CreateAlignedLoad(value->getType(), where, alignment(leaf.word)));
    llvm::StoreInst* instruction = builder_.CreateAlignedStore(value, where, alignment(leaf.word));
    if (streaming()) {
      auto* one = llvm::ConstantAsMetadata::get(builder_.getInt32(1));
      instruction->setMetadata(llvm::LLVMContext::MD_nontemporal, llvm::MDNode::get(module_.getContext(), one));
    }
  }

  // ---- reductions --------------------------------------------------------------------------------------------------

  Value* accumulator_member(std::size_t reduction, std::size_t offset) {
    return advance(sums_, std::int64_t(reduction * sizeof(SumAccumulator) + offset));
  }

  /// Doubles of this step's lanes in an array [kMaxLanes] of an accumulator.
  Value* lane_address(std::size_t reduction, std::size_t offset) {
    Value* array = accumulator_member(reduction, offset);
    return here_.frames[0].half
               ? advance(array, builder_.CreateMul(here_.frames[0].half, number(lanes_ * std::int64_t(sizeof(double)))))
               : array;
  }

  void reduction(std::size_t r) {
    const ir::Reduction& reduction = kernel_.reductions[r];
    Value* x = values_[std::size_t(reduction.value)];
    if (reduction.kind == ir::Reduction::Kind::sum) {
      if (mask_) x = builder_.CreateSelect(mask_, x, llvm::Constant::getNullValue(x->getType()));
      sum(r, x);
      return;
    }
    Value* where = lane_address(r, offsetof(SumAccumulator, extremum));
    Value* present = builder_.CreateAlignedLoad(x->getType(), where, llvm::Align(8));
    Value* better = reduction.kind == ir::Reduction::Kind::max ? builder_.CreateFCmpOGT(x, present)
                                                               : builder_.CreateFCmpOLT(x, present);
    if (mask_) better = builder_.CreateAnd(better, mask_);
    builder_.CreateAlignedStore(builder_.CreateSelect(better, x, present), where, llvm::Align(8));
  }

  /// The arithmetic of sum.hpp: three levels if all summands are below the limit, else the slow path.
  void sum(std::size_t r, Value* x) {
    const auto splat = [&](std::size_t offset) {
      Value* scalar = builder_.CreateLoad(builder_.getDoubleTy(), accumulator_member(r, offset));
      return builder_.CreateVectorSplat(unsigned(lanes_), scalar);
    };
    auto* fast = block("sum");
    auto* slow = block("sum.slow");
    auto* done = block("sum.done");
    Value* size = builder_.CreateUnaryIntrinsic(llvm::Intrinsic::fabs, x);
    Value* fits = builder_.CreateAndReduce(builder_.CreateFCmpOLT(size, splat(offsetof(SumAccumulator, limit))));
    builder_.CreateCondBr(fits, fast, slow, llvm::MDBuilder(module_.getContext()).createBranchWeights(1 << 20, 1));

    builder_.SetInsertPoint(fast);
    Value* rest = x;
    for (std::size_t k = 0; k < 3; ++k) {
      Value* extract = splat(offsetof(SumAccumulator, extract) + k * sizeof(double));
      Value* part = builder_.CreateFSub(builder_.CreateFAdd(rest, extract), extract);
      Value* where = lane_address(r, offsetof(SumAccumulator, level) + k * sizeof(double) * kMaxLanes);
      Value* level = builder_.CreateAlignedLoad(x->getType(), where, llvm::Align(8));
      builder_.CreateAlignedStore(builder_.CreateFAdd(level, part), where, llvm::Align(8));
      if (k < 2) rest = builder_.CreateFSub(rest, part);
    }
    builder_.CreateBr(done);

    builder_.SetInsertPoint(slow);
    Value* spilled = on_stack(x->getType());
    builder_.CreateStore(x, spilled);
    call("tessera_sum_slow", builder_.getVoidTy(),
         {accumulator_member(r, 0), spilled, builder_.getInt32(unsigned(lanes_))});
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
  }

  const Kernel& kernel_;
  const CodeOptions& options_;
  const int lanes_, halves_;
  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  OperationEmitter operations_;
  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* done_ = nullptr;

  std::vector<Value*> fields_, tables_, scalars_;  ///< base addresses; splatted arguments
  Value *sums_ = nullptr, *groups_ = nullptr, *masks_ = nullptr;
  View here_, ahead_;                         ///< this block; the block whose lines are prefetched
  Value* mask_ = nullptr;                     ///< <V x i1> in listed domains
  Value* mask_bits_ = nullptr;                ///< the same as i64
  Value *trip_ = nullptr, *round_ = nullptr;  ///< i64 inside the loop over trips
  std::vector<Value*> values_;
  std::vector<std::pair<Value*, CacheLevel>> unsent_;  ///< lines to ask for
};

}  // namespace

int lanes_per_step(const Kernel& kernel) {
  int lanes = kernel.lanes;
  for (const ir::Leaf& leaf : kernel.leaves) lanes = std::min(lanes, block_lanes(kernel.lanes, leaf.word));
  return lanes;
}

void emit_kernel(llvm::Module& module, const std::string& symbol, const Kernel& kernel, const CodeOptions& options,
                 VectorIsa isa) {
  for (const ir::Leaf& leaf : kernel.leaves)
    if (leaf.host_order)
      throw InternalError(
          {.what = "kernel " + kernel.name, .expected = "operands in device order", .got = "one in host order"});
  KernelEmitter(module, symbol, kernel, options, isa).run();
}

}  // namespace jit
