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

  /// All statements whole, before Builder::finish.
  void run();
  jit::ir::Kernel& kernel() { return kernel_; }
  jit::ir::Builder& builder() { return builder_; }
  /// What was lowered at the site itself.
  std::vector<Part> parts() const;
  /// A product that would have to be unrolled but is too large for it, or an operand that keeps one from going by columns: to
  /// be computed aside before this statement can be lowered. -1: none.
  int obstacle() const { return obstacle_; }
  /// Of more than one statement.
  bool is_program() const { return items_.size() > 1; }
  /// The other components of destinations of which some are left as they are must survive: after Builder::finish.
  void read_what_stays();

 private:
  const Record& record(int i) const { return records_[static_cast<std::size_t>(i)]; }
  Level level(int i) const { return record(i).shape().*columns_; }
  bool is_matrix(int i) const { return level(i).kind == Kind::matrix; }
  const Tensor& lower(int number);
  Tensor compute(int number);
  std::optional<Tensor> column(int number, bool transposed = false);
  Tensor times(int a, Tensor vector);
  void carry_back(Tensor& t, int inner);
  std::vector<Value> load_words(const Record& field);
  bool is_kept(int number, FieldStorage storage) const;
  std::vector<Value> words_of(int number, FieldStorage storage);
  void store(const Record& item, std::span<const Value> words, bool by_columns = false);
  jit::ir::Place place_of(const Record& component, const Record& field, Shape whole, int word) const;
  Tensor peek(const Record& r);
  Tensor choose(const Record& r);
  bool pokes_into(const Record& item) const;
  void poke(const Record& item);

  std::span<const Record> records_;
  std::vector<int> items_;  ///< records that store or reduce
  jit::ir::Kernel kernel_;
  jit::ir::Builder builder_;
  Algebra algebra_;
  std::vector<Tensor> arguments_;  ///< [values]
  std::vector<Tensor> done_;       ///< [records]
  std::vector<bool> is_done_;
  LevelOf columns_ = nullptr;  ///< level of the columns that the kernel goes through
  int obstacle_ = -1;
  int products_ = 0;                        ///< by columns, so far
  std::vector<std::size_t> partly_stored_;  ///< leaves
};

/// The kernel, ready to be compiled; or, if it is too large, the record of the part to compute aside first. 0: the statements of
/// a program are not to be one kernel.
struct Lowered {
  jit::ir::Kernel kernel;
  int aside = -1;
};
Lowered lower_statement(std::span<const Record> records);

}  // namespace QDP::detail
