// What the language's operators and assignments are given, on its way into a tree: the part of them that is the same for all site
// types, compiled once and not in every program.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "jit/memory/host_side.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/expr/node.hpp"

namespace jit {
class SiteMap;
}

namespace QDP {

class Set;
class Subset;

namespace detail {

class FieldOwner;
class MapFamily;

/// An operand, neither copied nor counted: what it points to lives until the end of the full expression. Two registers.
struct Operand {
  enum class Kind : std::uint8_t { field, node, value, zero };
  const void* what;    ///< FieldOwner, Node or the components of a value
  std::uint64_t type;  ///< pack(shape) | kind << 56

  static constexpr Operand of(const void* what, Kind kind, Shape shape) {
    return {what, pack(shape) | static_cast<std::uint64_t>(kind) << 56};
  }
  constexpr Kind kind() const { return static_cast<Kind>(type >> 56); }
  constexpr Shape shape() const { return unpack(type); }
};
Expr to_expr(Operand x);

/// A new node, whose reference is the caller's.
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a);
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a, Operand b);
Node* operation(Op op, Shape shape, std::uint64_t attribute, Operand a, Operand b, Operand c);
/// x read through a map of the family. Throws UserError as MapFamily::on does.
Node* shifted(Operand x, const MapFamily& maps, int sign, int dir);

/// The field of an OLattice.
class FieldOwner {
 public:
  /// Without contents: on the present lattice, on this one, and in a storage of fewer words.
  explicit FieldOwner(Shape shape);
  FieldOwner(Shape shape, const LatticeState& lattice);
  FieldOwner(Shape shape, const LatticeState& lattice, FieldStorage storage);
  /// With this value, on its lattice; that of a number is the present one.
  FieldOwner(Shape shape, Operand value);
  FieldOwner(FieldOwner&& x) noexcept : field_(std::move(x.field_)), side_(std::exchange(x.side_, &kNoHostSide)) {}
  FieldOwner& operator=(std::shared_ptr<jit::Field> field) noexcept;
  ~FieldOwner();

  /// One that was moved from gets a field without contents.
  const std::shared_ptr<jit::Field>& get(Shape shape) const {
    if (!field_) [[unlikely]]
      make_again(shape);
    return field_;
  }

  /// What elements see; of an owner that was moved from, nothing.
  const jit::HostSide& host_side() const { return *side_; }

  /// The value at all sites. A field without contents moves to the lattice of the value.
  void assign(Shape shape, Operand value);
  /// field = operation(field, x), a value of type `result`.
  void combine(Shape shape, Op op, Shape result, std::uint64_t attribute, Operand x);
  /// The other's contents, without a copy where that can be.
  void take(FieldOwner& x, Shape shape);

 private:
  void make_again(Shape shape) const;
  void own(std::shared_ptr<jit::Field> field) const noexcept;

  static constexpr jit::HostSide kNoHostSide{};
  mutable std::shared_ptr<jit::Field> field_;
  mutable const jit::HostSide* side_ = &kNoHostSide;  ///< of field_: elements are found with one look less
};

// ---- on subsets

void assign(const std::shared_ptr<jit::Field>& dest, Shape shape, const Subset& subset, Operand value);
void combine(const std::shared_ptr<jit::Field>& dest, Shape shape, const Subset& subset, Op op, Shape result,
             std::uint64_t attribute, Operand x);
/// The components of the sum (max, min) over the subset, as words of type `result`: rounded, integers wrap.
void reduce(Operand x, const Subset& subset, Reduce kind, Shape result, void* words);
/// Over each subset of a set, one result behind the other.
void reduce(Operand x, const Set& set, Shape result, void* words);
std::shared_ptr<PendingSum> reduce_later(Operand x, const Subset& subset, Reduce kind);
/// The sum that has been asked for. Throws what the statements threw that it depends on.
void finish(PendingSum& sum, Shape result, void* words);

}  // namespace detail
}  // namespace QDP
