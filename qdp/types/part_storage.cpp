#include "qdp/types/part_storage.hpp"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <mutex>

#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp_config.h"

namespace QDP::detail {

class PartStorage {
 public:
  PartStorage(Shape shape, const Subset& subset);
  PartStorage(Shape shape, const Subset& subset, jit::Field& values);
  PartStorage(PartStorage& other);  // copies the values, for which it locks the other
  PartStorage& operator=(const PartStorage&) = delete;

  const std::shared_ptr<jit::Field>& field();
  void* words();

 private:
  const multi1d<int>& sites() const;
  void* allocate();
  void gather(jit::Field& field);

  Shape shape_;
  Subset subset_;
  std::shared_ptr<const LatticeState> lattice_;
  std::mutex mutex_;
  std::shared_ptr<jit::Field> field_;  ///< one of the two, or neither before the first use
  std::unique_ptr<std::byte[]> memory_;
  std::atomic<void*> words_{nullptr};  ///< within memory_, aligned to QDP_ALIGNMENT_SIZE
};

PartStorage::PartStorage(Shape shape, const Subset& subset)
    : shape_(shape), subset_(subset), lattice_(subset.lattice().shared_from_this()) {}

PartStorage::PartStorage(Shape shape, const Subset& subset, jit::Field& values)
    : shape_(shape), subset_(subset), lattice_(lattice_of(values.order()).shared_from_this()) {
  gather(values);
}

PartStorage::PartStorage(PartStorage& other) : shape_(other.shape_), subset_(other.subset_), lattice_(other.lattice_) {
  const std::lock_guard lock(other.mutex_);
  if (const void* const words = other.words_; words != nullptr)
    std::memcpy(allocate(), words, static_cast<std::size_t>(sites().size()) * shape_.bytes());
  else if (other.field_ && other.field_->ever_written())
    gather(*other.field_);
}

const multi1d<int>& PartStorage::sites() const { return subset_.sites_for(*lattice_); }

void* PartStorage::allocate() {
  const std::size_t size = static_cast<std::size_t>(sites().size()) * shape_.bytes();
  memory_ = std::make_unique<std::byte[]>(size + QDP_ALIGNMENT_SIZE);
  void* aligned = memory_.get();
  std::size_t space = size + QDP_ALIGNMENT_SIZE;
  words_ = std::align(QDP_ALIGNMENT_SIZE, size, aligned, space);
  return words_;
}

void PartStorage::gather(jit::Field& field) {
  const multi1d<int>& from = sites();
  const std::size_t bytes = shape_.bytes();
  const auto* const all_sites = static_cast<const std::byte*>(field.host_read());
  auto* const words = static_cast<std::byte*>(allocate());
  for (int j = 0; j < from.size(); ++j)
    std::memcpy(words + static_cast<std::size_t>(j) * bytes, all_sites + static_cast<std::size_t>(from[j]) * bytes,
                bytes);
}

const std::shared_ptr<jit::Field>& PartStorage::field() {
  const std::lock_guard lock(mutex_);
  if (const auto* const words = static_cast<const std::byte*>(words_.load()); words != nullptr) {
    const multi1d<int>& to = sites();
    const std::size_t bytes = shape_.bytes();
    auto field = new_field(shape_, *lattice_);
    auto* const all_sites = static_cast<std::byte*>(field->host_overwrite());
    std::memset(all_sites, 0, field->host_bytes());
    for (int j = 0; j < to.size(); ++j)
      std::memcpy(all_sites + static_cast<std::size_t>(to[j]) * bytes, words + static_cast<std::size_t>(j) * bytes,
                  bytes);
    field_ = std::move(field);
    words_ = nullptr;
    memory_.reset();
  }
  if (!field_) field_ = new_field(shape_, *lattice_);
  return field_;
}

void* PartStorage::words() {
  if (void* const words = words_) return words;
  const std::lock_guard lock(mutex_);
  if (void* const words = words_) return words;  // another thread was faster
  if (field_ && field_->ever_written())
    gather(*field_);
  else
    allocate();
  field_.reset();
  return words_;
}

std::shared_ptr<PartStorage> make_part(Shape shape, const Subset& subset) {
  return std::make_shared<PartStorage>(shape, subset);
}
std::shared_ptr<PartStorage> make_part(Shape shape, const Subset& subset, jit::Field& values) {
  return std::make_shared<PartStorage>(shape, subset, values);
}
std::shared_ptr<PartStorage> copy_part(PartStorage& part) { return std::make_shared<PartStorage>(part); }
const std::shared_ptr<jit::Field>& part_field(PartStorage& part) { return part.field(); }
void* part_words(PartStorage& part) { return part.words(); }

void fail_set_subset(Shape shape) {
  throw jit::UserError({.what = "setSubset of an OSubLattice<" + describe(shape) + ">",
                        .expected = "storage of its own",
                        .got = "a view of a lattice, field[subset]"});
}

void require_same_subset(const Subset& a, const jit::SiteOrder& of_a, const Subset& b, const jit::SiteOrder& of_b) {
  if (&a.domain_for(of_a) != &b.domain_for(of_b))
    throw jit::UserError({.what = "a function of two parts of lattices",
                          .expected = "parts of one subset, as the first: " + a.name(),
                          .got = b.name(),
                          .what_now = "take the fields whole, with a subset as the last argument"});
}

void fail_no_subset(Shape shape) {
  throw jit::UserError({.what = "use of an OSubLattice<" + describe(shape) + ">",
                        .expected = "one with a subset",
                        .got = "one without",
                        .what_now = "Call setSubset(), or make it from a subset."});
}

FieldPart::FieldPart(std::shared_ptr<jit::Field> field, const Subset& subset)
    : field_(std::move(field)), subset_(subset) {}
FieldPart::FieldPart(Shape shape, const Subset& subset) : subset_(subset), own_(make_part(shape, subset)) {}
FieldPart::FieldPart(Shape shape, const Subset& subset, const std::shared_ptr<jit::Field>& values)
    : subset_(subset), own_(make_part(shape, subset, *plain_field(values, shape))) {}
FieldPart::FieldPart(const FieldPart& x) : field_(x.field_), subset_(x.subset_) {
  if (x.own_) own_ = copy_part(*x.own_);
}
FieldPart::~FieldPart() = default;

void FieldPart::become(Shape shape, const FieldPart& x) {
  if (field_ || own_) {
    const auto& dest = field(shape);
    detail::assign(dest, shape, subset_.domain_for(dest->order()), make_field(x.field(shape), shape));
  } else if (x.own_) {
    own_ = copy_part(*x.own_);
    subset_ = x.subset_;
  } else if (x.field_) {
    fail_no_subset(shape);
  }
}
void FieldPart::assign(Shape shape, Operand value) const { detail::assign(field(shape), shape, subset_, value); }
void FieldPart::combine(Shape shape, Op op, Shape result, std::uint64_t attribute, Operand x) const {
  detail::combine(field(shape), shape, subset_, op, result, attribute, x);
}
void FieldPart::set_subset(Shape shape, const Subset& subset) {
  if (field_) fail_set_subset(shape);
  subset_ = subset;
  own_ = make_part(shape, subset);
}

void* FieldPart::words(Shape shape) const { return own_ ? part_words(*own_) : field(shape)->host_write(); }
const std::shared_ptr<jit::Field>& FieldPart::field(Shape shape) const {
  if (own_) return part_field(*own_);
  if (!field_) [[unlikely]]
    fail_no_subset(shape);
  return field_;
}

}  // namespace QDP::detail
