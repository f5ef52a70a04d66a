// The memory of an OSubLattice with storage of its own: site values of a subset, in one of two forms.
//
// For the program they lie without gaps, in the order of the subset's siteTable (getF()); for statements they are a field of
// the subset's lattice, of which the other sites mean nothing. The form that was asked for last is the one that is kept.
#pragma once

#include <memory>

#include "qdp/expr/operand.hpp"
#include "qdp/expr/shape.hpp"
#include "qdp/layout/subset.hpp"

namespace jit {
class Field;
}

namespace QDP::detail {

class PartStorage;

/// On the lattice of the subset (the present one for the default sets); values are undefined until they are written.
std::shared_ptr<PartStorage> make_part(Shape shape, const Subset& subset);
/// With the values of a field of this shape, and on its lattice. Throws jit::UserError if that is not the subset's.
std::shared_ptr<PartStorage> make_part(Shape shape, const Subset& subset, jit::Field& values);
/// With the same values.
std::shared_ptr<PartStorage> copy_part(PartStorage& part);

/// For statements. Ends the pointers that part_words() gave.
const std::shared_ptr<jit::Field>& part_field(PartStorage& part);
/// numSiteTable() site values; any number of threads may ask. Valid until the next statement with this storage.
void* part_words(PartStorage& part);

/// Throw jit::UserError for an OSubLattice: setSubset of a view; use of one that is neither a view nor has storage.
[[noreturn]] void fail_set_subset(Shape shape);
[[noreturn]] void fail_no_subset(Shape shape);
/// What an OSubLattice is, whatever its site type: a view of a field, or a field on a subset with storage of its own, or neither yet.
class FieldPart {
 public:
  FieldPart() = default;
  FieldPart(std::shared_ptr<jit::Field> field, const Subset& subset);
  /// With storage of its own, and with the values of a field in it.
  FieldPart(Shape shape, const Subset& subset);
  FieldPart(Shape shape, const Subset& subset, const std::shared_ptr<jit::Field>& values);
  FieldPart(const FieldPart& x);
  FieldPart& operator=(const FieldPart&) = delete;
  ~FieldPart();

  /// The values of a part of this shape at the sites of this one's subset, or what it is if this one is neither.
  void become(Shape shape, const FieldPart& x);
  void assign(Shape shape, Operand value) const;
  void combine(Shape shape, Op op, Shape result, std::uint64_t attribute, Operand x) const;
  void set_subset(Shape shape, const Subset& subset);

  const Subset& subset() const { return subset_; }
  bool owns_memory() const { return own_ != nullptr; }
  void* words(Shape shape) const;
  const std::shared_ptr<jit::Field>& field(Shape shape) const;

 private:
  std::shared_ptr<jit::Field> field_;  ///< of a view
  Subset subset_;
  std::shared_ptr<PartStorage> own_;
};

/// Throws jit::UserError unless the subsets, of fields with these orders, are one.
void require_same_subset(const Subset& a, const jit::SiteOrder& of_a, const Subset& b, const jit::SiteOrder& of_b);

}  // namespace QDP::detail
