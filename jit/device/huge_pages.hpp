// Large blocks of memory, on huge pages of the system.
//
// Blocks come straight from the system: aligned to huge pages, untouched (so that the thread that writes a page first has it near), and
// given back for certain when freed. Pages that the system hands out are cleared first, which takes longer than a kernel that writes
// them; so a block that takes the place of others takes their pages, too (mremap): a trajectory has temporaries of several sizes, and at
// each change of them everything would be cleared again.
#pragma once

#include <cstddef>
#include <vector>

#include "jit/device/device.hpp"

namespace jit {

/// Whether all these processors are as near to one memory as to another. Where they are not, pages of one thread's share would come to
/// another's.
bool on_one_numa_domain(const std::vector<int>& processors);

/// One thread at a time.
class HugePages {
 public:
  HugePages() = default;
  ~HugePages() { give_back(); }
  HugePages(const HugePages&) = delete;
  HugePages& operator=(const HugePages&) = delete;

  static bool suit(std::size_t bytes);

  /// nullptr when there is no memory. Of pages that are kept, as far as they go.
  void* allocate(std::size_t bytes);
  void free(void* address, std::size_t bytes) noexcept;

  /// Frees a block, but keeps its huge pages.
  void take(const OldBlock& block) noexcept;
  std::size_t kept_bytes() const { return kept_bytes_; }
  void keep_at_most(std::size_t bytes) noexcept;
  void give_back() noexcept { keep_at_most(0); }

 private:
  /// Whole pages, of which the first begins a huge one.
  struct Mapping {
    std::byte* begin;
    std::size_t bytes;
  };
  static Mapping mapping_of(void* address, std::size_t bytes);
  static void unmap(const Mapping& pages) noexcept;

  std::vector<Mapping> kept_;  ///< whole huge pages
  std::size_t kept_bytes_ = 0;
};

}  // namespace jit
