// Operands that a kernel reads again and again as they are, copied into one field in the order in which it reads them.
//
// A hopping term reads the links of eight directions, four of them at neighbours: eight fields, far from each other in memory, a few
// lines of each at a time. A processor asks memory in advance for what follows what was read; eight times as much that follows comes
// sooner than eight beginnings. So once some launches have found the same contents (Field::contents) in the same operands, and these are
// more than the nearest caches hold, their words are gathered by a kernel of their own, and a kernel that reads them there takes the place of
// the first: the same operations on the same words, so the same bits. If other caches may hold the operands, both are timed, and the faster
// one goes on (jit/tune/trial). Whatever is written anew has other contents, and the copy is of no use any more. Copies go when their contents
// do, when some dozens of plans have not used them, and when others need memory: at once where there is none, and before the program's
// peak rises if they have served for long enough since that was so the last time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "jit/ir/ir.hpp"
#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/variants.hpp"

namespace jit {

/// The kernel that writes all words of these operands of `kernel`, one behind the other, into its last field; the other fields and the
/// slots are those of `kernel`.
ir::Kernel gathering(const ir::Kernel& kernel, std::span<const Operand> operands);
/// `kernel` with these operands in one more field.
ir::Kernel gathered(const ir::Kernel& kernel, std::span<const Operand> operands);
/// What may be gathered of a kernel's operands: at the sites, or where a shift leads from there; of whole fields that it does not write.
std::vector<Operand> operands_to_gather(const ir::Kernel& kernel);

class Gathering : public Memory::Holder {
 public:
  /// Does nothing on devices of which `useful` is false.
  Gathering(Device& device, Memory& memory, KernelTable& table, Variants& variants, bool useful);
  ~Gathering();
  Gathering(const Gathering&) = delete;
  Gathering& operator=(const Gathering&) = delete;

  /// What runs in a kernel's place, and the address of its last field; no kernel: the kernel itself.
  struct Found {
    KernelHandle* kernel = nullptr;
    void* copy = nullptr;
    bool is_timed = false;  ///< launched() is to be told
  };
  /// For a launch whose operands are at `addresses` [leaves] and `tables` [slots]; to be launched before the next begin_plan().
  Found find(const Launch& launch, std::size_t size_class, std::span<void* const> addresses,
             std::span<const std::int32_t* const> tables);
  void begin_plan();
  /// How long that launch took. Not told of launches that were trials of code.
  void launched(const Launch& launch, std::size_t size_class, double seconds);

  std::size_t spare_bytes() const override;
  bool give_up_one() override;
  bool make_way() override;
  std::string describe() const override;

 private:
  struct Copy {
    std::vector<std::uint64_t> name;  ///< contents and maps of the operands, groups
    void* address;
    std::size_t bytes;
    std::uint64_t used;  ///< the last plan
  };

  GatherState::Use& use_of(const Launch& launch, GatherState& state, std::size_t size_class);
  void find_out(const Launch& launch, const GatherState& state, GatherState::Use& use);
  void choose(const Launch& launch, GatherState& state);
  const Copy* copy_of(const Launch& launch, std::span<void* const> addresses,
                      std::span<const std::int32_t* const> tables);
  /// For the operands that are chosen.
  KernelHandle& kernel_for(const KernelHandle& kernel, const char* what,
                           ir::Kernel (*make)(const ir::Kernel&, std::span<const Operand>));
  bool free_spare_copies();
  void free_copies_of(std::uint64_t contents) noexcept;
  bool may_be_freed(const Copy& copy) const { return copy.used != plan_; }
  void free(std::size_t copy) noexcept;

  Device& device_;
  Memory& memory_;
  KernelTable& table_;
  Variants& variants_;
  const bool useful_;
  std::uint64_t plan_ = 0;
  int served_ = 0;          ///< launches since copies have made way
  bool have_lost_ = false;  ///< a trial has ended so that its copies are not wanted
  std::vector<Copy> copies_;
  std::vector<Operand> chosen_;      ///< of the launch at hand
  std::vector<std::uint64_t> name_;  ///< of its copy
};

}  // namespace jit
