// The kernels of a process, by structural key, with their variants, costs, tuning and counters.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/support/hash.hpp"
#include "jit/tune/cost.hpp"
#include "jit/tune/tuner.hpp"

namespace jit {

/// Finished code under the options that shaped it.
struct Variant {
  CodeOptions options;
  KernelCode code = nullptr;
};

/// What launches on domains of one size class (equal binary logarithm of the number of groups) have taught.
struct SizeClass {
  double seconds = 0;             ///< spent so far
  Configuration options;          ///< in use
  KernelCode code = nullptr;
  std::optional<Tuner> tuner;     ///< while it tries variants
  bool tuned = false;
};

class KernelHandle {
 public:
  KernelHandle(const Hash128& key, ir::Kernel kernel);

  Hash128 key;
  ir::Kernel ir;
  KernelCost cost;
  KernelResources resources;       ///< of the variant made last
  std::vector<Variant> variants;
  std::vector<SizeClass> classes;  ///< [log2(groups) + 1], grown on demand

  // Counters since the last reset of the profile; the compile times are since the start.
  std::int64_t calls = 0;
  double seconds = 0;
  double bytes = 0, flops = 0;
  double compile_seconds = 0, costliest_compile = 0;
  int compiled = 0, from_cache = 0;  ///< variants
  std::string hash;

  // Room for the arguments of a launch, so that a launch allocates nothing.
  std::vector<void*> addresses;
  std::vector<const std::int32_t*> tables;
  const std::int32_t* groups = nullptr;
  const std::uint64_t* masks = nullptr;
};

/// Open addressing on the key's first word; handles never move.
class KernelTable {
 public:
  KernelTable();
  KernelHandle* find(const Hash128& key) const {
    for (std::size_t i = key.a & mask_;; i = (i + 1) & mask_) {
      KernelHandle* handle = slots_[i].handle;
      if (handle == nullptr || slots_[i].key == key) return handle;
    }
  }
  /// The key must be new.
  KernelHandle* add(const Hash128& key, ir::Kernel kernel);
  const std::vector<std::unique_ptr<KernelHandle>>& handles() const { return handles_; }

 private:
  struct Slot {
    Hash128 key;
    KernelHandle* handle = nullptr;
  };
  void place(KernelHandle* handle);

  std::vector<Slot> slots_;
  std::size_t mask_;
  std::vector<std::unique_ptr<KernelHandle>> handles_;
};

}  // namespace jit
