// From a statement's records to the kernel: which values are needed, in what order, with their loads and stores.
//
// INVARIANT: what is lowered depends on the records alone. They are the kernel's identity (statement.hpp).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "qdp/expr/lower.hpp"
#include "qdp/expr/statement.hpp"

namespace QDP::detail {

/// A sub-expression and the values that its components have in the statement's kernel.
struct Part {
  int record;
  Op op;
  const Tensor* value;
};

class Lowering {
 public:
  /// The records must outlive it.
  explicit Lowering(std::span<const Record> records);

  /// The statement whole, before Builder::finish.
  void run();
  jit::ir::Kernel& kernel() { return kernel_; }
  jit::ir::Builder& builder() { return builder_; }
  /// What was lowered at the site itself.
  std::vector<Part> parts() const;
  /// Whether the kernel stores all components, or leaves some of the destination as they are.
  bool stores_all() const { return stores_all_; }

 private:
  const Record& record(int i) const { return records_[static_cast<std::size_t>(i)]; }
  bool spin_matrix(int i) const { return record(i).shape().spin.kind == Kind::matrix; }
  const Tensor& lower(int number);
  Tensor compute(const Record& r);
  std::optional<Tensor> column(int number);
  Tensor times(int a, Tensor vector);
  void carry_back(Tensor& t, int inner);
  void store(const Tensor& value, bool by_columns);

  std::span<const Record> records_;
  Purpose purpose_;
  jit::ir::Kernel kernel_;
  jit::ir::Builder builder_;
  Algebra algebra_;
  std::vector<Tensor> arguments_;  ///< [values]
  std::vector<Tensor> done_;       ///< [records]
  std::vector<bool> is_done_;
  bool stores_all_ = true;
};

/// The kernel, ready to be compiled; or, if it is too large, the record of the part to compute aside first.
struct Lowered {
  jit::ir::Kernel kernel;
  int aside = -1;
};
Lowered lower_statement(std::span<const Record> records);

}  // namespace QDP::detail
