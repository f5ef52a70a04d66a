// Runs one launch: blocks, their warps, and in a warp the groups of lanes that are at different instructions, in a
// random order that no program may depend on.
//
// Checked launches do everything one access and one lane at a time: stores wait in a buffer of the block and come out
// in any order, those behind a fence excepted; every access is compared with those of other threads (races.hpp); shared
// and local memory must be written before it is read. Unchecked ones keep the random order, bounds, alignment, the
// rules of barriers and of undefined registers, and run a warp's 32 lanes at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

#include "code.hpp"
#include "memory.hpp"
#include "races.hpp"

namespace ptx_machine {

struct Launch {
  const Code* code = nullptr;
  std::array<unsigned, 3> grid{1, 1, 1}, block{1, 1, 1};
  unsigned dynamic_shared = 0;
  std::vector<char> parameters;
  bool checked = true;
  std::uint64_t seed = 1;
};

/// A store, or an atomic operation whose result nobody reads, that has not been performed yet.
struct Pending {
  std::uint64_t address, value;
  std::uint32_t thread, time;
  std::uint8_t bytes;
  AtomicOp operation;  ///< none: a store
  Number number;
};
/// By words of eight bytes, each in its order.
using StoreBuffer = std::unordered_map<std::uint64_t, std::vector<Pending>>;

/// The value that an atomic operation leaves; `bits` and `operand` in the low bytes.
std::uint64_t atomic_result(AtomicOp op, Number number, int bytes, std::uint64_t bits, std::uint64_t operand,
                            std::uint64_t swap);

class Machine {
 public:
  explicit Machine(Memory& memory, std::uint64_t most_instructions) : memory_(memory), limit_(most_instructions) {}

  /// Throws KernelError.
  void run(const Launch& launch);

 private:
  enum class Wait : std::uint8_t { none, lanes, barrier };
  /// Lanes of a warp that are at the same instruction.
  struct Group {
    int at;
    std::uint32_t mask;
    Wait wait = Wait::none;
  };
  struct Block;
  struct Warp {
    Block* block = nullptr;
    int number = 0;
    std::uint32_t alive = 0;
    std::vector<Group> groups;
    std::vector<char> memory;  ///< of the rows
    char* rows = nullptr;
    std::vector<char> local;  ///< [lane][local_bytes]
    std::vector<bool> local_set;
    bool runnable = true;
  };
  struct Barrier {
    int arrived = 0;
    bool reduces = false;
    std::uint32_t votes = 0, voters = 0;
    std::vector<std::uint32_t> threads;
  };
  struct Block {
    std::uint32_t number = 0;
    std::array<unsigned, 3> index{};
    std::vector<std::unique_ptr<Warp>> warps;
    int threads_alive = 0;
    std::vector<char> shared;
    std::vector<bool> shared_set;
    std::unique_ptr<Shadow> shared_shadow;
    std::array<Barrier, 16> barriers;
    StoreBuffer stores;
  };
  /// What a memory access of one lane found.
  struct Place {
    char* host;
    Allocation* allocation;  ///< global memory only
    std::uint64_t offset, address;
    Space space;
  };

  std::uint32_t random() { return static_cast<std::uint32_t>(engine_() >> 16); }
  bool one_in(std::uint32_t n) { return random() % n == 0; }

  std::unique_ptr<Block> begin_block(std::uint32_t number);
  void begin_warp(Block& b, Warp& w, int number);
  void end_block(std::unique_ptr<Block> b);
  void schedule(Block& b, Warp& w);
  void merge(Warp& w);
  void run_group(Warp& w, std::size_t group, int budget);
  void split(Warp& w, std::size_t group, std::uint32_t mask);

  void divide(Warp& w, const Instruction& i, std::uint32_t mask);
  void load_parameter(Warp& w, const Instruction& i, std::uint32_t mask);
  void load(Warp& w, const Instruction& i, std::uint32_t mask);
  void store(Warp& w, const Instruction& i, std::uint32_t mask);
  Allocation* common_allocation(Warp& w, const Instruction& i, std::uint32_t mask, std::uint64_t& side_by_side);
  bool load_fast(Warp& w, const Instruction& i, std::uint32_t mask);
  bool store_fast(Warp& w, const Instruction& i, std::uint32_t mask);
  void atomic(Warp& w, const Instruction& i, std::uint32_t mask);
  void fence(Warp& w, const Instruction& i, std::uint32_t mask);
  void exit_lanes(Warp& w, std::uint32_t mask);
  void arrive(Warp& w, std::size_t group, const Instruction& i);
  void complete_barriers(Block& b);
  void release(Block& b, int number);
  /// Whether the lanes named are all here; then they are one group, and the operation is done.
  void meet(Warp& w, std::size_t group, const Instruction& i);
  void exchange(Warp& w, const Instruction& i, std::uint32_t mask);

  Place resolve(Warp& w, const Instruction& i, int lane, std::uint64_t address, std::uint32_t bytes);
  Allocation* global(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t lane_address(const Warp& w, const Instruction& i, int lane) const;
  std::uint32_t lane_value32(const Warp& w, int operand, int lane) const;
  std::uint64_t lane_value(const Warp& w, int operand, int row_bytes, int lane) const;
  std::uint32_t thread(const Warp& w, int lane) const;
  std::string where(const Place& p, std::uint32_t bytes, const Instruction& i) const;
  static Shadow& shadow(Warp& w, const Place& p);
  static std::uint64_t meeting_place(const Warp& w, const Place& p);
  void check_initial(Warp& w, const Place& p, const Instruction& i, int lane);
  [[noreturn]] void fail(const Warp& w, int lane, const Instruction& i, int code, const std::string& what) const;
  std::string position(const Warp& w, int lane) const;
  [[noreturn]] void deadlock();

  // ---- stores that wait ----
  std::uint64_t load_word(Block& b, const Place& p, int bytes, std::uint32_t thread);
  void perform(const Pending& p);
  void perform_word(StoreBuffer& from, std::uint64_t word, bool to_device_level);
  void drain_some();
  void drain_ordered(StoreBuffer& from, std::uint32_t thread, bool system);
  void drain_all();
  bool host_sees_less() const;

  Memory& memory_;
  const std::uint64_t limit_;
  std::minstd_rand engine_;
  const Launch* launch_ = nullptr;
  const Code* code_ = nullptr;
  const char* constants_ = nullptr;
  std::uint32_t block_threads_ = 1, launch_number_ = 0;
  std::uint64_t executed_ = 0;
  std::unique_ptr<Races> races_;
  std::vector<std::unique_ptr<Block>> blocks_, idle_blocks_;
  std::vector<StoreBuffer> left_;   ///< of blocks that have ended
  StoreBuffer device_stores_;       ///< seen by the device, not by the host
  std::vector<Allocation*> found_;  ///< the last allocation that an instruction used
  std::uint64_t generation_ = 0;
  bool checked_ = false;
  int patience_ = 64;
};

}  // namespace ptx_machine
