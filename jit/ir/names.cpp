// Names and arities of the words and operations, from the one table.
#include "jit/ir/ir.hpp"

namespace jit::ir {

const char* name(Type t) {
  switch (t) {
    case Type::b1:
      return "b1";
    case Type::i32:
      return "i32";
    case Type::i64:
      return "i64";
    case Type::f32:
      return "f32";
    case Type::f64:
      return "f64";
  }
  return "?";
}

namespace {

struct OpRow {
  const char* name;
  int arity;
};

constexpr OpRow kOps[] = {
#define TESSERA_ROW(op, arity) {#op, arity},
    TESSERA_IR_OPS(TESSERA_ROW)
#undef TESSERA_ROW
};

}  // namespace

const char* name(Op op) { return kOps[static_cast<int>(op)].name; }
int arity(Op op) { return kOps[static_cast<int>(op)].arity; }

}  // namespace jit::ir
