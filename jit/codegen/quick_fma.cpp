#include "jit/codegen/quick_fma.hpp"

#include <map>
#include <string>

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineRegisterInfo.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#pragma GCC diagnostic pop

namespace jit {

// ---- in LLVM's IR ---------------------------------------------------------------------------------------------------

llvm::Value* QuickFma::constant(llvm::Constant* value) {
  llvm::Value*& known = known_[value];
  if (known != nullptr) return known;
  llvm::Function* function = builder_.GetInsertBlock()->getParent();
  auto* const memory = new llvm::GlobalVariable(*function->getParent(), value->getType(), true,
                                                llvm::GlobalValue::PrivateLinkage, value);
  llvm::IRBuilder<> at_begin(&function->getEntryBlock(), function->getEntryBlock().getFirstInsertionPt());
  return known = at_begin.CreateLoad(value->getType(), memory, /*isVolatile=*/true);
}

llvm::Value* QuickFma::unknown(llvm::Value* value) {
  if (auto* const known = llvm::dyn_cast<llvm::Constant>(value)) return constant(known);
  auto* const memory = on_stack(*builder_.GetInsertBlock()->getParent(), value->getType());
  builder_.CreateStore(value, memory, /*isVolatile=*/true);
  return builder_.CreateLoad(value->getType(), memory, /*isVolatile=*/true);
}

/// One for each register that a value takes.
int QuickFma::instructions(const llvm::Type* type) const {
  const int bytes = int(type->getPrimitiveSizeInBits().getFixedValue()) / 8;
  return (bytes + register_bytes_ - 1) / register_bytes_;
}

llvm::Value* QuickFma::fma(llvm::Value* a, llvm::Value* b, llvm::Value* c) {
  counts_.fmas += instructions(a->getType());
  return builder_.CreateFDiv(builder_.CreateFMul(a, b), c);
}

llvm::Value* QuickFma::quotient(llvm::Value* a, llvm::Value* b) {
  counts_.quotients += instructions(a->getType());
  llvm::Constant* const zero = llvm::ConstantFP::getNegativeZero(a->getType());
  return builder_.CreateFDiv(builder_.CreateFAdd(a, constant(zero)), b);
}

llvm::Value* QuickFma::negative(llvm::Value* a) {
  return builder_.CreateFSub(constant(llvm::ConstantFP::getNegativeZero(a->getType())), a);
}

// ---- in instructions ------------------------------------------------------------------------------------------------

namespace {

/// VDIVPDYrr (VMULPDYrr a, b), c -> VFMADD213PDYr a, b, c; the same with one operand in memory.
class Pass : public llvm::MachineFunctionPass {
 public:
  explicit Pass(QuickCounts& found) : MachineFunctionPass(id), found_(found) {}
  llvm::StringRef getPassName() const override { return "fused multiply-adds of quick code"; }

  bool runOnMachineFunction(llvm::MachineFunction& function) override {
    const llvm::TargetInstrInfo& instructions = *function.getSubtarget().getInstrInfo();
    llvm::MachineRegisterInfo& registers = function.getRegInfo();
    const int before = found_.fmas;
    for (llvm::MachineBasicBlock& block : function)
      for (llvm::MachineInstr& i : llvm::make_early_inc_range(block))
        if (instructions.getName(i.getOpcode()).starts_with("VDIV"))
          ++(fuse(block, i, instructions, registers) ? found_.fmas : found_.quotients);
    return found_.fmas != before;
  }

 private:
  static char id;

  bool fuse(llvm::MachineBasicBlock& block, llvm::MachineInstr& quotient, const llvm::TargetInstrInfo& instructions,
            llvm::MachineRegisterInfo& registers) {
    llvm::StringRef words = instructions.getName(quotient.getOpcode());
    if (!words.consume_front("VDIV") || !quotient.getOperand(1).isReg() || !quotient.getOperand(1).getReg().isVirtual())
      return false;
    llvm::MachineInstr* const product = registers.getVRegDef(quotient.getOperand(1).getReg());
    if (product == nullptr) return false;
    llvm::StringRef factors = instructions.getName(product->getOpcode());
    if (!factors.consume_front("VMUL")) return false;
    // Registers or memory: rr, or rm, where operands from the third on are an address.
    const bool adds_memory = words.ends_with("rm"), multiplies_memory = factors.ends_with("rm");
    const llvm::StringRef type = words.drop_back(2);
    if (type != factors.drop_back(2) || (adds_memory && multiplies_memory) || !(adds_memory || words.ends_with("rr")) ||
        !(multiplies_memory || factors.ends_with("rr")))
      return false;
    if (multiplies_memory && stores_between(*product, quotient)) return false;
    const unsigned fma = opcode(instructions, (multiplies_memory ? "VFMADD132" : "VFMADD213") + type.str() +
                                                  (adds_memory || multiplies_memory ? "m" : "r"));
    if (fma == 0) return false;
    const auto result = quotient.getOperand(0).getReg();
    auto made = llvm::BuildMI(block, quotient, quotient.getDebugLoc(), instructions.get(fma), result);
    made.addReg(product->getOperand(1).getReg());
    if (multiplies_memory) {
      made.addReg(quotient.getOperand(2).getReg());
      for (unsigned k = 2; k < 7; ++k) made.add(product->getOperand(k));
      made.cloneMemRefs(*product);
    } else {
      made.addReg(product->getOperand(2).getReg());
      for (unsigned k = 2; k < (adds_memory ? 7U : 3U); ++k) made.add(quotient.getOperand(k));
      if (adds_memory) made.cloneMemRefs(quotient);
    }
    for (const llvm::MachineOperand& operand : made->uses())
      if (operand.isReg() && operand.getReg().isVirtual()) registers.clearKillFlags(operand.getReg());
    const auto dead = product->getOperand(0).getReg();
    quotient.eraseFromParent();
    if (registers.use_nodbg_empty(dead)) product->eraseFromParent();
    return true;
  }

  /// Whether what is read by the first would be read too late by the second.
  static bool stores_between(const llvm::MachineInstr& first, const llvm::MachineInstr& second) {
    if (first.getParent() != second.getParent()) return true;
    for (auto i = first.getIterator(); &*i != &second; ++i)
      if (i->mayStore() || i->isCall()) return true;
    return false;
  }

  /// 0: there is no instruction of this name.
  unsigned opcode(const llvm::TargetInstrInfo& instructions, const std::string& name) {
    if (opcodes_.empty())
      for (unsigned i = 1; i < instructions.getNumOpcodes(); ++i)
        if (const llvm::StringRef known = instructions.getName(i);
            known.starts_with("VFMADD213") || known.starts_with("VFMADD132"))
          opcodes_[known.str()] = i;
    const auto found = opcodes_.find(name);
    return found == opcodes_.end() ? 0 : found->second;
  }

  QuickCounts& found_;
  std::map<std::string, unsigned> opcodes_;
};
char Pass::id = 0;

}  // namespace

llvm::FunctionPass* make_quick_fma_pass(QuickCounts& found) { return new Pass(found); }

}  // namespace jit
