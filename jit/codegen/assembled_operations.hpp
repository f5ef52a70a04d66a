// The instructions of a kernel's operations, loads and stores.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/codegen/codegen.hpp"
#include "jit/codegen/requests.hpp"
#include "jit/codegen/vector_registers.hpp"
#include "jit/ir/trips.hpp"

namespace jit {

class OperationAssembler : protected VectorRegisters {
 protected:
  OperationAssembler(const ir::Kernel& kernel, const CodeOptions& options, VectorIsa isa, int lanes, int parts,
                     std::size_t room, void* buffer)
      : VectorRegisters(kernel, isa, lanes, parts, room, buffer),
        halves_(kernel.lanes / lanes_),
        prefetch_(options.prefetch),
        streaming_(options.streaming),
        requests_(requests(kernel, options, order_)) {}

  // ---- where things are ----------------------------------------------------------------------------------------------

  struct AddressKey {
    int slot, leaf, stride, leap, shifted_by;
    int half_of;  ///< the slot of which it is the half, where that may be another than of `slot`
    auto operator<=>(const AddressKey&) const = default;
  };
  /// Frames as seen from one step, and the addresses of fields in them: cells.
  struct View {
    std::vector<int> groups, halves, blocks;  ///< [slots]; -1: not used. A block of half a group: 2 group + half
    std::map<AddressKey, int> addresses;
  };
  AddressKey key_of(const Place& p) const {
    const AddressKey key{p.slot, p.leaf, p.stride, p.leap, p.shifted_by, halves_ > 1 ? ir::frame_of(p) : p.slot};
    return ir::runs(kernel_) > 1 ? key : standing(key);
  }
  static AddressKey standing(AddressKey key) {
    key.stride = key.leap = 0;
    return key;
  }
  /// `step`: the last one that uses it.
  void use_address(View& view, const Place& p, int step);
  void use_slot(View& view, std::size_t s);
  void plan_memory();
  bool is_gathered(const Place& p) const { return kernel_.slots[std::size_t(p.slot)].gathered; }
  /// Lanes that one instruction gathers: it has addresses of eight bytes.
  int chunk() const { return std::min(width_ / 8, lanes_); }
  /// For each lane, four bytes at a time, which lane it takes if the neighbourhood stays inside, and behind them if it leaves.
  int lane_table(const LaneExchange& exchange, int word_bytes);
  /// An order of lanes is needed until a step: where it, or what it is made of, is found.
  void use_order(const LaneOrder& order, int number, int last_step);
  /// The words whose lanes a permute puts in order, if they can be read again at any time.
  std::optional<Place> read_by(const Node& permute) const;

  // ---- operations, loads and stores ----------------------------------------------------------------------------------

  void operation(int i);
  int all_lanes() const { return (1 << lanes_) - 1; }
  /// Spread over a vector when the function begins.
  void argument(int i, const Node& n);
  std::int64_t component_bytes(const ir::Leaf& leaf) const;
  Home place(const Place& p) const;
  /// Read when it is used, but for what this kernel may have written by then.
  void load(int i, const Node& n);
  void gather(int i, const Place& p);
  /// A byte per lane, of which any but 0 is true.
  void load_truths(int i, const Node& n);
  void store_truths(const ir::Store& s);
  template <class To, class From>
  void move_bytes(const To& to, const From& from) {
    lanes_ == 16 ? vmovups(to, from) : lanes_ == 8 ? vmovq(to, from) : vmovd(to, from);
  }
  // Truth values as words, all bits of which are set or none (AVX2).

  Xbyak::Address bits_of_lanes(int word_bytes);
  void spread_to_bytes(const Xmm& d, int cell_of_bits);
  void spread_to_words(const Xmm& d, int cell_of_bits, int word_bytes);
  void bits_of_words(const Xmm& words, int word_bytes);
  void prefetch(const Request& request);
  void permute(int i, const Node& n);
  void permute_truths(int i, const Node& n);
  void floating(int i, const Node& n);
  /// A call on whole registers, which keep nothing of what they have; those that are not full have repetitions, so that no stray
  /// number costs a slow path. What a function gives beside its value is kept for the node that wants it.
  void elementary(int i, const Node& n);
  /// The node that takes the other result of a function with two; -1: nobody wants it.
  int computed_with(int i, const Node& n) const;
  static std::uint64_t sign_bits(int size) { return size == 8 ? std::uint64_t{1} << 63 : std::uint64_t{1} << 31; }
  /// d = x with bits changed, or cleared but for those of the mask.
  void with_mask(const Xmm& d, const Xbyak::Operand& x, std::uint64_t bits, int size, bool change);
  void change_sign(int i, int size) { with_mask(reg(i), reg(i), sign_bits(size), size, true); }
  void round(const Xmm& d, const Xbyak::Operand& x, bool f64, std::uint8_t mode);
  /// (-a) + (-b), which is not -(a + b): zero has the other sign.
  void negative_sum(int i, const Node& n);
  void bitwise(int i, const Node& n);
  void combined(int i, const Combination& c);
  void bits_of_three(int i, const Combination& c);
  void integer(int i, const Node& n);
  /// What AVX2 has no instruction for.
  void long_integer(int i, const Node& n);
  [[noreturn]] static void unknown(const Node& n);
  void store(const ir::Store& s);

  // ---- fused multiply-adds -------------------------------------------------------------------------------------------

  using Fused = void (Xbyak::CodeGenerator::*)(const Xmm&, const Xmm&, const Xbyak::Operand&);
  enum Form { k132, k213, k231 };
  void fused(Form form, Type type, bool negative_product, bool negative_sum, const Xmm& d, const Xmm& s,
             const Xbyak::Operand& t);
  /// Whether a value is in a register that may be written over, since nobody needs it any more.
  bool may_be_written(int v) const;
  /// a * b + c in the register of an operand that is not needed any more; else in a copy of one.
  void fma(int i, const Node& n);

  // ---- truth values: a bit per lane, in cells ------------------------------------------------------------------------

  Xbyak::Address truth(ir::Value v) { return dword[rsp + 8 * truth_cells_[std::size_t(root(v))]]; }
  void put_truth(int i);
  void logical(int i, const Node& n);
  void compare(int i, const Node& n);
  /// Into eax.
  void compare_by_words(Op op, Type type, const Xmm& a, const Xmm& b);
  /// Into k1.
  void compare_words(Op op, Type type, const Xmm& a, const Xbyak::Operand& b);
  void select(int i, const Node& n);
  Xbyak::Address word_mask(int c) { return Xbyak::CodeGenerator::word[rsp + 8 * c]; }
  void convert(int i, const Node& n);
  /// Of half the lanes.
  void convert_part(int i, const Node& n);
  /// Without AVX-512: the low words, or the double as the sum of two of its parts, of which each is exact beside a large constant.
  void of_long_integer(int i, Type to, const Xmm& x, int a);
  /// Truncates and saturates; NaN gives 0. The instruction gives the smallest integer for all that do not fit.
  void to_integer(int i, Type from, Type to, const Xmm& x, int a);

  const int halves_;  ///< of a group
  const int prefetch_;
  const bool streaming_;
  const Requests requests_;
  std::vector<int> field_cells_, table_cells_, truth_cells_;
  View here_, ahead_;
  std::map<std::pair<int, int>, std::vector<int>> gathers_;  ///< by slot and leaf: vectors of offsets
  std::vector<int> positions_at_;                            ///< [slots] gathered ones
  std::map<int, int> shift_cells_, truth_arguments_;
  std::vector<int> arguments_at_, saved_at_;
  std::array<int, 2> arguments_of_calls_at_ = {};  ///< or results: one behind the other
  std::vector<bool> is_computed_;                  ///< by node: beside another one
  int groups_cell_ = -1, masks_cell_ = -1, mask_cell_ = -1, sums_cell_ = -1, lane_sums_cell_ = -1;
  int run_cell_ = -1, trip_cell_ = -1, round_cell_ = -1;
  int mask4_at_ = 0, mask8_at_ = 0, scratch_at_ = 0, gprs_at_ = 0;
  /// By slot and bytes of a word: the cell with the address of the row of lanes. By exchange and bytes: the number of the rows in the pool.
  std::map<std::pair<std::size_t, int>, int> lane_entries_;
  std::map<std::array<int, 4>, int> lane_tables_;
  std::map<int, int> bits_of_lanes_;  ///< by the bytes of a word: number of the constant, from 1
};

}  // namespace jit
