// Finished kernels on disk: one file per entry, named by the hash of its key. A cache never fails a run: any doubt is a
// miss.
//
// Entries are executed. So folder and entries belong to this user, and nobody else can write them, or they are not read
// (jit/support/private_folder.hpp); then the run goes on without a cache.
//
// File: magic, sizes, the whole key as text (compared, not only its hash), the object, a checksum of everything before.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jit/support/private_folder.hpp"

namespace jit {

class KernelCache {
 public:
  /// `folder` is made when the first entry is written; empty: there is no cache. `max_bytes` bounds the sum of its entries;
  /// the least recently used go first.
  KernelCache(std::string folder, std::uint64_t max_bytes);
  /// The cache that TESSERA_CACHE, TESSERA_CACHE_DIR and TESSERA_CACHE_MAX describe; none if switched off.
  static std::optional<KernelCache> from_environment();

  /// The object stored under this key, marked as used. An entry that is damaged, of another key, not this user's own, or
  /// that others can write is deleted; one that cannot be read stays. All are misses.
  std::optional<std::string> load(const std::string& key_text);
  /// Stores an object; failure costs one warning per process.
  void store(const std::string& key_text, const std::string& object);
  /// Deletes the entry of a key: what it holds turned out to be of no use.
  void remove(const std::string& key_text);

  /// Path of the entry of a key.
  std::string path(const std::string& key_text) const;
  const std::string& folder() const { return path_; }

 private:
  const PrivateFolder* opened(bool make);
  void shrink();

  std::string path_;
  std::uint64_t max_bytes_;
  std::optional<PrivateFolder> folder_;
  bool refused_ = false;     ///< the folder is not to be trusted
  std::uint64_t bytes_ = 0;  ///< of all entries, as far as this process knows
  bool counted_ = false;
};

}  // namespace jit
