#include "jit/runtime/kernel_table.hpp"

#include <utility>

namespace jit {

KernelHandle::KernelHandle(const TableKey& its_key, ir::Kernel kernel)
    : key(its_key.bytes.begin(), its_key.bytes.end()), key_hash(its_key.hash), ir(std::move(kernel)), cost(jit::cost(ir)), addresses(ir.leaves.size()), tables(ir.slots.size()) {}

const SizeClass* KernelHandle::largest_class() const {
  for (std::size_t i = classes.size(); i-- > 0;)
    if (classes[i].variant != nullptr) return &classes[i];
  return nullptr;
}

KernelTable::KernelTable() : slots_(256), mask_(slots_.size() - 1) {}

void KernelTable::place(KernelHandle* handle) {
  std::size_t i = handle->key_hash & mask_;
  while (slots_[i].handle != nullptr) i = (i + 1) & mask_;
  slots_[i] = {handle->key_hash, handle};
}

KernelHandle* KernelTable::add(const TableKey& key, ir::Kernel kernel) {
  handles_.push_back(std::make_unique<KernelHandle>(key, std::move(kernel)));
  if (2 * handles_.size() > slots_.size()) {
    slots_.assign(2 * slots_.size(), Slot{});
    mask_ = slots_.size() - 1;
    for (const auto& handle : handles_) place(handle.get());
  } else {
    place(handles_.back().get());
  }
  return handles_.back().get();
}

}  // namespace jit
