#include "jit/codegen/simt_sums.hpp"

#include <cstdint>

#include "jit/ir/abi.hpp"

namespace jit {
namespace {

constexpr unsigned kShared = 3;  // NVPTX address space
constexpr std::uint64_t kWarp = 32;

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

}  // namespace

void SimtSums::begin(Value* sums, Value* results, Value* launch_number) {
  sums_ = sums;
  results_ = results;
  launch_number_ = launch_number;
  bins_ = advance(sums_, sizeof(SumHeader));
  for (const ir::Reduction& r : kernel_.reductions) states_.push_back(make_state(r.kind));
}

// ---- a summand ------------------------------------------------------------------------------------------------------

void SimtSums::add(std::size_t r, Value* x) {
  kernel_.reductions[r].kind == ir::Reduction::Kind::sum ? sum(r, x) : extremum(r, x);
}

SimtSums::State SimtSums::make_state(ir::Reduction::Kind kind) {
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

llvm::Value* SimtSums::get(Value* variable) {
  return builder_.CreateLoad(llvm::cast<llvm::AllocaInst>(variable)->getAllocatedType(), variable);
}

void SimtSums::set(Value* variable, Value* value) { builder_.CreateStore(value, variable); }

SimtSums::Digits SimtSums::get(const State& s) { return {get(s.digits[0]), get(s.digits[1]), get(s.digits[2])}; }

llvm::Value* SimtSums::bits_of(Value* x) { return builder_.CreateBitCast(x, builder_.getInt64Ty()); }

llvm::Value* SimtSums::upper_half(Value* bits) {
  return builder_.CreateTrunc(builder_.CreateLShr(bits, i64(32)), builder_.getInt32Ty());
}

void SimtSums::extremum(std::size_t r, Value* x) {
  const State& s = states_[r];
  Value* bits = bits_of(x);  // ordered_bits()
  Value* flip = builder_.CreateOr(builder_.CreateAShr(bits, i64(63)), i64(std::uint64_t{1} << 63));
  Value* key = builder_.CreateXor(bits, flip);
  if (kernel_.reductions[r].kind == ir::Reduction::Kind::min) key = builder_.CreateNot(key);
  key = builder_.CreateSelect(builder_.CreateFCmpUNO(x, x), i64(0), key);
  set(s.extremum, larger(get(s.extremum), key));
}

llvm::Value* SimtSums::larger(Value* a, Value* b) { return builder_.CreateSelect(builder_.CreateICmpUGT(a, b), a, b); }

SimtSums::Digits SimtSums::raise(const Digits& d, Value* distance) {
  Value* zero = i64(0);
  Value* by[3];
  for (std::uint64_t k = 0; k < 3; ++k) by[k] = builder_.CreateICmpEQ(distance, i32(k * kStep));
  const auto pick = [&](Value* condition, Value* a, Value* b) { return builder_.CreateSelect(condition, a, b); };
  return {pick(by[0], d[0], zero), pick(by[0], d[1], pick(by[1], d[0], zero)),
          pick(by[0], d[2], pick(by[1], d[1], pick(by[2], d[0], zero)))};
}

SimtSums::Digits SimtSums::digits(Value* x, Value* window_of_x) {
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

void SimtSums::sum(std::size_t r, Value* x) {
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
                        llvm::MDBuilder(builder_.getContext()).createBranchWeights(1 << 20, 1));

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

llvm::Value* SimtSums::window_of(Value* i) {
  return builder_.CreateAdd(builder_.CreateMul(i, i32(kStep)), i32(window(0)));
}

llvm::Value* SimtSums::top_of(Value* window_of_top) {
  return builder_.CreateUDiv(builder_.CreateSub(window_of_top, i32(window(0))), i32(kStep));
}

// ---- results
// ---------------------------------------------------------------------------------------------------------

llvm::Value* SimtSums::atomic(llvm::AtomicRMWInst::BinOp operation, Value* where, Value* value,
                              llvm::AtomicOrdering order) {
  return builder_.CreateAtomicRMW(operation, where, value, llvm::MaybeAlign(8), order);
}

llvm::Value* SimtSums::global_word(std::size_t r, Value* word) {
  return builder_.CreateGEP(builder_.getInt64Ty(), bins_, builder_.CreateAdd(word, i64(r * kBinsWords)));
}

void SimtSums::add_to_bins(std::size_t r, Value* i, const Digits& d) {
  atomic(llvm::AtomicRMWInst::UMax, global_word(r, i64(kTopWord)), wide(i));
  for (std::uint64_t k = 0; k < 3; ++k)
    atomic(llvm::AtomicRMWInst::Add, global_word(r, builder_.CreateAdd(wide(i), i64(kFirstBin + 2 - k))), d[k]);
}

std::vector<llvm::Value*> SimtSums::part_of_thread(std::size_t r) {
  const State& s = states_[r];
  if (s.extremum) return {get(s.extremum)};
  return {get(s.window), get(s.digits[0]), get(s.digits[1]), get(s.digits[2])};
}

void SimtSums::add_to_bins(std::size_t r, const std::vector<Value*>& part) {
  if (states_[r].extremum)
    atomic(llvm::AtomicRMWInst::UMax, global_word(r, i64(kExtremumWord)), part[0]);
  else
    add_to_bins(r, top_of(part[0]), {part[1], part[2], part[3]});
}

void SimtSums::finish_call(Value* first, Value* last, Value* threads) {
  for (std::size_t r = 0; r < states_.size(); ++r) add_to_bins(r, part_of_thread(r));
  Value* mine = builder_.CreateSub(last, first);
  Value* before = atomic(llvm::AtomicRMWInst::Add, sums_, mine, llvm::AtomicOrdering::AcquireRelease);
  when(builder_.CreateICmpEQ(builder_.CreateAdd(before, mine), threads), [&] {
    move_bins(i32(0), i32(1));
    builder_.CreateStore(i64(0), sums_);
    set_mark_of_results(llvm::AtomicOrdering::Release);
  });
}

void SimtSums::move_bins(Value* first, Value* step) {
  loop(first, i32(states_.size() * kBinsWords), step, "move", [&](Value* w) {
    Value* word = builder_.CreateGEP(builder_.getInt64Ty(), bins_, wide(w));
    Value* result = builder_.CreateGEP(builder_.getInt64Ty(), advance(results_, sizeof(SumHeader)), wide(w));
    builder_.CreateStore(atomic(llvm::AtomicRMWInst::Xchg, word, i64(0)), result);
  });
}

void SimtSums::set_mark_of_results(llvm::AtomicOrdering order) {
  builder_.CreateAlignedStore(launch_number_, results_, llvm::Align(8))->setAtomic(order);
}

llvm::Value* SimtSums::from_thread(Value* x, unsigned exchange) {
  if (x->getType()->isIntegerTy(64)) {
    Value* low = from_thread(builder_.CreateTrunc(x, builder_.getInt32Ty()), exchange);
    return builder_.CreateOr(wide(low), builder_.CreateShl(wide(from_thread(upper_half(x), exchange)), i64(32)));
  }
  return builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_shfl_sync_bfly_i32, {},
                                  {i32(0xffffffff), x, i32(exchange), i32(kWarp - 1)});
}

template <class Combine>
llvm::Value* SimtSums::over_warp(Value* x, const Combine& combine) {
  for (unsigned exchange = kWarp / 2; exchange != 0; exchange /= 2) x = combine(x, from_thread(x, exchange));
  return x;
}

void SimtSums::barrier() { builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_barrier0, {}, {}); }

std::vector<llvm::Value*> SimtSums::over_warp(std::size_t r, const std::vector<Value*>& part) {
  Value* highest = over_warp(part[0], [&](Value* a, Value* b) { return larger(a, b); });
  if (states_[r].extremum) return {highest};
  Digits d = raise({part[1], part[2], part[3]}, builder_.CreateSub(highest, part[0]));
  for (Value*& x : d) x = over_warp(x, [&](Value* a, Value* b) { return builder_.CreateAdd(a, b); });
  return {highest, d[0], d[1], d[2]};
}

void SimtSums::finish_block() {
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  Value* me = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x, {}, {});
  Value* threads = builder_.CreateIntrinsic(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x, {}, {});
  Value* lane = builder_.CreateAnd(me, i32(kWarp - 1));
  Value* warp = builder_.CreateUDiv(me, i32(kWarp));
  Value* warps = builder_.CreateUDiv(threads, i32(kWarp));

  // [word of a part, one reduction behind the other][warp]
  std::size_t words = 0;
  for (const State& s : states_) words += words_of_part(s);
  auto* array = llvm::ArrayType::get(builder_.getInt64Ty(), words * kWarp);
  auto* shared = new llvm::GlobalVariable(*function->getParent(), array, false, llvm::GlobalValue::InternalLinkage,
                                          llvm::UndefValue::get(array), function->getName() + "_parts", nullptr,
                                          llvm::GlobalValue::NotThreadLocal, kShared);
  shared->setAlignment(llvm::Align(8));
  const auto shared_word = [&](std::size_t word, Value* of_warp) {
    return builder_.CreateGEP(builder_.getInt64Ty(), shared, builder_.CreateAdd(of_warp, i32(word * kWarp)));
  };
  std::size_t word = 0;
  for (std::size_t r = 0; r < states_.size(); ++r) {  // each stored before the next, which takes its registers
    const std::vector<Value*> part = over_warp(r, part_of_thread(r));
    when(builder_.CreateICmpEQ(lane, i32(0)), [&] {
      for (Value* x : part)
        builder_.CreateStore(builder_.CreateZExt(x, builder_.getInt64Ty()), shared_word(word++, warp));
    });
  }
  barrier();
  // Each reduction has a warp that makes the parts of all warps one; lanes that no warp has written for give nothing.
  Value* has_part = builder_.CreateICmpULT(lane, warps);
  Value* source = builder_.CreateSelect(has_part, lane, i32(0));
  word = 0;
  for (std::size_t r = 0; r < states_.size(); ++r) {
    when(builder_.CreateICmpEQ(warp, builder_.CreateURem(i32(r), warps)), [&] {
      std::vector<Value*> part;
      for (std::size_t k = 0; k < words_of_part(states_[r]); ++k) {
        Value* x = builder_.CreateLoad(builder_.getInt64Ty(), shared_word(word++, source));
        part.push_back(k == 0 ? x : builder_.CreateSelect(has_part, x, i64(0)));
      }
      if (!states_[r].extremum) part[0] = builder_.CreateTrunc(part[0], builder_.getInt32Ty());
      const std::vector<Value*> all = over_warp(r, part);
      when(builder_.CreateICmpEQ(lane, i32(0)), [&] { add_to_bins(r, all); });
    });
  }
  hand_over(me, threads);
}

// The last block to come here gives the results to the host. Order of events, by the memory model of PTX (a barrier
// of the block orders what its threads did before it before what they do after it, and fences are cumulative):
//   - additions of a block to the bins -> barrier -> fence of its thread 0 -> its addition to the mark
//   - -> (of another block) the addition that reads the last block's share -> fence -> barrier -> exchanges of bins
//   - stores of results by all threads -> barrier -> fence for the whole system -> mark of the results
// What no later step needs to see, the zeros that are left, the end of the launch orders.
void SimtSums::hand_over(Value* me, Value* threads) {
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

}  // namespace jit
