// Kernels that the ranks of one machine make for each other: whoever comes first makes one, the others wait for it.
//
// They lie in memory that the ranks share (jit/support/host_memory), one behind the other, each with its whole key. Nothing is taken
// away: what does not fit is made by each rank for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "jit/support/hash.hpp"
#include "jit/support/host_memory.hpp"

namespace jit {

class SharedKernels {
  struct Head;

 public:
  /// In memory that is zeros, or that others use for this already.
  explicit SharedKernels(HostMemory& memory) : memory_(memory) {}
  /// Those of this process's job; nullptr if it is alone on its machine. To be had as long as the process lives.
  static SharedKernels* of_process();

  /// The right to make a kernel, which one process of the machine has at a time.
  class Turn {
   public:
    Turn(Turn&& other) noexcept;
    ~Turn();

   private:
    friend SharedKernels;
    explicit Turn(void* mutex) : mutex_(mutex) {}
    void* mutex_;  ///< nullptr: everybody has it
  };
  /// Waits until no other process makes a kernel of this key. One that dies gives its turn up; of one that takes longer than
  /// `patience` seconds nothing more is expected.
  Turn take_turn(const std::string& key, double patience = 120);

  /// What was published under this key, last if more than once: the first was of no use to somebody.
  std::optional<std::string> find(const std::string& key);
  /// False if there is no more room.
  bool publish(const std::string& key, const std::string& object);

 private:
  Head* head();
  void look();

  HostMemory& memory_;
  Head* head_ = nullptr;
  std::size_t seen_ = 0;                                    ///< the end of what is in the index
  std::unordered_multimap<std::uint64_t, std::size_t> at_;  ///< place of an entry by half of the hash of its key
};

}  // namespace jit
