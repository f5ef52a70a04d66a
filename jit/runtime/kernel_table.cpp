#include "jit/runtime/kernel_table.hpp"

#include <algorithm>
#include <utility>

namespace jit {

KernelHandle::KernelHandle(const TableKey& its_key, ir::Kernel kernel)
    : key(its_key.bytes.begin(), its_key.bytes.end()),
      key_hash(its_key.hash),
      ir(std::move(kernel)),
      cost(jit::cost(ir)) {}

const SizeClass* KernelHandle::largest_class() const {
  for (std::size_t i = classes.size(); i-- > 0;)
    if (classes[i].variant != nullptr) return &classes[i];
  return nullptr;
}

// Besides the vectors: the compiler keeps the text of the key, LLVM's linker a library per object, in pages of their own.
std::size_t KernelHandle::memory() const {
  constexpr std::size_t kPlain = 4096, kTextPerNode = 48, kPerObject = 16384;
  std::size_t bytes = kPlain + key.size() + ir.nodes.size() * sizeof(ir::Node);
  for (const auto& variant : variants) {
    if (variant->code != nullptr) bytes += kPerObject + variant->bytes + ir.nodes.size() * kTextPerNode;
  }
  return bytes;
}

KernelTable::KernelTable() : slots_(256), mask_(slots_.size() - 1) {}

void KernelTable::place(KernelHandle* handle) {
  std::size_t i = handle->key_hash & mask_;
  while (slots_[i].handle != nullptr) i = (i + 1) & mask_;
  slots_[i] = {handle->key_hash, handle};
}

void KernelTable::place_all(std::size_t slots) {
  slots_.assign(slots, Slot{});
  mask_ = slots - 1;
  for (const auto& handle : handles_) place(handle.get());
}

KernelHandle* KernelTable::add(const TableKey& key, ir::Kernel kernel) {
  handles_.push_back(std::make_unique<KernelHandle>(key, std::move(kernel)));
  handles_.back()->used = ++clock_;
  if (2 * handles_.size() > slots_.size())
    place_all(2 * slots_.size());
  else
    place(handles_.back().get());
  return handles_.back().get();
}

std::vector<std::unique_ptr<KernelHandle>> KernelTable::shed(std::size_t most) {
  std::vector<std::unique_ptr<KernelHandle>> dropped;
  if (handles_.size() < next_look_) return dropped;
  std::size_t kept = 0;
  for (const auto& handle : handles_) kept += handle->memory();
  if (kept > most) {
    std::sort(handles_.begin(), handles_.end(), [](const auto& a, const auto& b) { return a->used > b->used; });
    while (kept > most - most / 4 && handles_.size() > kLeast) {
      kept -= handles_.back()->memory();
      dropped.push_back(std::move(handles_.back()));
      handles_.pop_back();
    }
    place_all(slots_.size());
  }
  next_look_ = handles_.size() + kLeast;
  return dropped;
}

}  // namespace jit
