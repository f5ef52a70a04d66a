// The kernels of a process, by key, with their variants, costs, tuning and counters.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jit/codegen/builders.hpp"
#include "jit/codegen/codegen.hpp"
#include "jit/memory/sites.hpp"
#include "jit/runtime/table_key.hpp"
#include "jit/tune/cost.hpp"
#include "jit/tune/trial.hpp"
#include "jit/tune/tuner.hpp"

namespace jit {

/// Finished code under the options that shaped it, and what it takes of the device.
struct Variant {
  CodeOptions options;
  KernelCode code = nullptr;  ///< nullptr: the compiler or the device refused it, or it is not made yet
  KernelResources resources;
  std::string hash;
  std::size_t bytes = 0;  ///< of the object

  // Code that is made beside the program.
  int calls = 0;                              ///< for it, so far
  std::optional<Builders::Order> order = {};  ///< once it is being made
};

/// Binary logarithms of the number of groups, and of the launches that go through them side by side.
inline std::size_t size_class_of(const Domain& domain, std::size_t sides = 1) {
  constexpr std::size_t kSizes = 40;
  const auto groups = static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(domain.end - domain.begin)));
  return std::min(groups, kSizes - 1) + kSizes * static_cast<std::size_t>(std::bit_width(sides - 1));
}

/// What launches of one size class have taught.
struct SizeClass {
  Configuration options;       ///< in use
  Variant* variant = nullptr;  ///< its code; nullptr before the first launch
  std::optional<Tuner> tuner;  ///< until it has decided
  bool trial = false;          ///< whether the tuner wants the time of the next launch
  bool stores_open = false;    ///< whether the other way to store is still to be tried
  double seconds = 0;          ///< used while the tuner rests, and until that trial
  std::string key;             ///< of what the kernel cache knows about it; empty if there is nothing to choose

  /// What an earlier run has found may be wrong if the machine was busy then, which shows when launches are much faster now.
  struct Watch {
    double then;         ///< seconds per byte when it was found
    double fastest = 0;  ///< of the launches so far; 0: there was none
    int launches = 0;
  };
  std::optional<Watch> watch;  ///< until some launches have been looked at
};

/// What a kernel reads of field `leaf` at the sites that slot `slot` leads to.
struct Operand {
  std::int16_t leaf, slot;
  bool operator==(const Operand&) const = default;
};

/// Which of a kernel's operands may be gathered (jit/runtime/gathering.hpp), and for how long they have been what they are.
struct GatherState {
  std::vector<Operand> operands;  ///< those of a leaf side by side
  struct Leaf {
    std::uint64_t contents = 0;  ///< of the field at the last launch
    int unchanged = 0;           ///< launches since these were found
  };
  std::vector<Leaf> leaves;  ///< of the kernel
  /// Whether copies are of use.
  struct Use {
    bool is_known = false, copies = false;
    std::optional<Trial> trial;  ///< until it is found out: ways without and with
  };
  std::vector<Use> uses;  ///< [size class]
};

class KernelHandle {
 public:
  KernelHandle(const TableKey& key, ir::Kernel kernel);

  /// The largest domain so far, where most of the time goes; nullptr before the first launch.
  const SizeClass* largest_class() const;
  /// Of the code that runs there; empty before the first launch.
  std::string hash() const { return largest_class() == nullptr ? "" : largest_class()->variant->hash; }
  /// About what the process keeps for it, with its code.
  std::size_t memory() const;

  std::vector<std::byte> key;  ///< the bytes
  std::uint64_t key_hash;
  ir::Kernel ir;
  KernelCost cost;
  std::vector<std::unique_ptr<Variant>> variants;
  std::vector<SizeClass> classes;  ///< by size_class_of(), grown on demand
  std::uint64_t used = 0;          ///< when it was last found: the table's clock

  // Counters since the last reset of the profile; the compile times are since the start.
  std::int64_t calls = 0;
  double seconds = 0;
  double bytes = 0, flops = 0;
  double compile_seconds = 0, costliest_compile = 0;
  int compiled = 0, from_cache = 0;     ///< variants
  std::string plain_hash;               ///< of the code without options, made or not
  std::unique_ptr<GatherState> gather;  ///< from the first launch on
  std::map<std::uint64_t, std::size_t>
      most_sides;  ///< of launches in one (jit/runtime/merging.hpp), by what they share
};

/// Open addressing by the key's hash; the bytes decide. Handles never move.
class KernelTable {
 public:
  KernelTable();
  KernelHandle* find(const TableKey& key) {
    for (std::size_t i = key.hash & mask_;; i = (i + 1) & mask_) {
      KernelHandle* handle = slots_[i].handle;
      if (handle == nullptr) return nullptr;
      if (slots_[i].hash != key.hash || !same(handle->key, key.bytes)) continue;
      handle->used = ++clock_;
      return handle;
    }
  }
  /// The key must be new.
  KernelHandle* add(const TableKey& key, ir::Kernel kernel);
  /// What is made of another kernel, known by that one's key and `how`; make(its IR), if it is new.
  template <class Make>
  KernelHandle& derived(const KernelHandle& from, std::string_view how, Make&& make) {
    std::string text(reinterpret_cast<const char*>(from.key.data()), from.key.size());
    text.append(" ").append(how);
    const TableKey key = table_key(text);
    KernelHandle* const known = find(key);
    return known != nullptr ? *known : *add(key, make(from.ir));
  }
  /// Takes those out that were found least recently, if the table keeps more than `most` bytes: then so many that it has
  /// room for some time. Looks now and then only. INVARIANT: the kLeast that were found last stay.
  std::vector<std::unique_ptr<KernelHandle>> shed(std::size_t most);
  const std::vector<std::unique_ptr<KernelHandle>>& handles() const { return handles_; }

  static constexpr std::size_t kLeast = 64;

 private:
  struct Slot {
    std::uint64_t hash = 0;
    KernelHandle* handle = nullptr;
  };
  static bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
  }
  void place(KernelHandle* handle);
  void place_all(std::size_t slots);

  std::uint64_t clock_ = 0;
  std::size_t next_look_ = kLeast;  ///< number of handles at which shed() looks again
  std::vector<Slot> slots_;
  std::size_t mask_;
  std::vector<std::unique_ptr<KernelHandle>> handles_;
};

}  // namespace jit
