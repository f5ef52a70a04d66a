// Finished kernels on disk: one file per entry, named by the hash of its key. A cache never fails a run: any doubt is a
// miss.
//
// File: magic, sizes, the whole key as text (compared, not only its hash), the object, a checksum of everything before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jit/codegen/codegen.hpp"
#include "jit/support/hash.hpp"

namespace jit {

/// Everything that shapes the machine code of a kernel. A new member must appear in text().
struct KernelKey {
  std::string ir;      ///< ir::print(kernel)
  std::string target;  ///< processor, features, compiler version
  CodeOptions options;
  int generator = 0;  ///< version of the code generator: raised with every change of the code it makes

  std::string text() const;
  Hash128 hash() const { return hash_text(text()); }
};

class KernelCache {
 public:
  /// `folder` is made when the first entry is written. `max_bytes` bounds the sum of its entries; the least recently
  /// used go first.
  KernelCache(std::string folder, std::uint64_t max_bytes);
  /// The cache that TESSERA_CACHE, TESSERA_CACHE_DIR and TESSERA_CACHE_MAX describe; none if switched off.
  static std::optional<KernelCache> from_environment();

  /// The object stored under this key, marked as used. An entry that is damaged or made by something else is deleted;
  /// one that cannot be read stays. Both are misses.
  std::optional<std::string> load(const std::string& key_text);
  /// Stores an object; failure costs one warning per process.
  void store(const std::string& key_text, const std::string& object);

  /// Path of the entry of a key.
  std::string path(const std::string& key_text) const;
  const std::string& folder() const { return folder_; }

 private:
  void shrink();

  std::string folder_;
  std::uint64_t max_bytes_;
  std::uint64_t bytes_ = 0;  ///< of all entries, as far as this process knows
  bool counted_ = false;
};

}  // namespace jit
