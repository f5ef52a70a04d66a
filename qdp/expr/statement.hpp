// A statement, or several, as the compiler sees them: a list of records, which is also the identity of their kernel.
//
// One walk over the tree writes a record for each node, behind those of its operands and naming them by number. Fields,
// frames and scalars are numbered in the order in which the walk meets them. In large trees a node that is met again is
// named by the record that it has: a tree whose parts occur often is as long as it has parts.
//
// Several statements over the same sites are a program (design D16): the records of a value are followed by one that stores
// it in a field, or reduces it. What a later statement reads at the same site of a field that an earlier one stores is the
// record that stores it.
//
// INVARIANT: kernels are lowered from the records and from nothing else (lowering.hpp), so equal records are equal
// kernels. Records are of one length and say what they refer to: no two statements have the same bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/ir/lane_exchange.hpp"
#include "jit/runtime/table_key.hpp"
#include "qdp/expr/node.hpp"
#include "qdp/expr/numbering.hpp"
#include "qdp/expr/storage.hpp"

namespace QDP::detail {

/// Four words: put together in registers, since a word that is written in parts and read whole waits for its parts.
struct Record {
  std::uint64_t operands = ~0ull;  ///< the first two, 32 bits each
  std::uint64_t place = ~0ull;     ///< the third operand, and the frame << 32
  std::uint64_t type = 0;          ///< pack(shape) | operation << 56
  /// Field: see field_attribute; value: its number; shift: see ShiftTo; site function: its program's number; else the node's.
  std::uint64_t attribute = 0;

  static Record of(Op op, std::uint64_t shape, std::uint64_t attribute, int frame, int a = -1, int b = -1, int c = -1) {
    const auto two = [](int low, int high) {
      return static_cast<std::uint64_t>(static_cast<std::uint32_t>(low)) |
             static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32;
    };
    return {two(a, b), two(c, frame), static_cast<std::uint64_t>(op) << 56 | shape, attribute};
  }
  bool operator==(const Record& r) const {
    return ((operands ^ r.operands) | (place ^ r.place) | (type ^ r.type) | (attribute ^ r.attribute)) == 0;
  }

  /// Number of a record; -1: none.
  int operand(int k) const {
    const std::uint64_t word = k < 2 ? operands : place;
    return static_cast<std::int32_t>(k == 1 ? word >> 32 : word);
  }
  /// Where it is evaluated; -1: the same at all sites.
  int frame() const { return static_cast<std::int32_t>(place >> 32); }
  Op op() const { return static_cast<Op>(type >> 56); }
  std::uint64_t packed_shape() const { return type & ~(255ull << 56); }
  Shape shape() const { return unpack(type); }
};
static_assert(std::has_unique_object_representations_v<Record>, "records are compared as bytes");

/// The frame that a shift reads in, as its record's attribute.
struct ShiftTo {
  int inner;
  jit::LaneExchange exchange;
  bool gathered;
  std::uint64_t pack() const {
    return static_cast<std::uint32_t>(inner) | static_cast<std::uint64_t>(exchange.flip) << 32 |
           static_cast<std::uint64_t>(exchange.ring) << 40 | static_cast<std::uint64_t>(exchange.step) << 48 |
           static_cast<std::uint64_t>(gathered) << 63;
  }
  static ShiftTo unpack(std::uint64_t a) {
    return {
        static_cast<int>(a & 0xFFFFFFFF),
        {static_cast<std::uint8_t>(a >> 32), static_cast<std::uint8_t>(a >> 40), static_cast<std::uint8_t>(a >> 48)},
        a >> 63 != 0};
  }
};

/// How the sites lie that a kernel computes.
struct Grouping {
  int lanes = 1;
  bool listed = false;  ///< kind of domain

  void put(Record& last) const;  ///< into the last record of a program
  static Grouping of(const Record& last);
};

/// What becomes of a value: it is stored in a field, or its first `count` components are reduced.
struct Purpose {
  Shape dest;          ///< of an assignment
  int reduction = -1;  ///< Reduce, or -1: an assignment
  int count = 0;
};

/// Which component is peeked of a field, or poked in the destination, is a number that the kernel is given: one kernel for all.
/// The record has one more operand then, the value of that number: words from the first component.
inline bool is_peek(Op op) { return op == Op::peek_color || op == Op::peek_spin; }
inline bool is_component(Op op) { return is_peek(op) || op == Op::poke_color || op == Op::poke_spin; }
inline bool is_of_color(Op component) { return component == Op::peek_color || component == Op::poke_color; }
inline int component_operand(const Record& r) {
  return r.operand(is_peek(r.op()) ? 1 : 2);
}  ///< -1: it is in the record
/// The level that the component is of, and the words from one to the next in a site of shape `whole`.
inline Level level_of_component(Op op, Shape whole) { return is_of_color(op) ? whole.color : whole.spin; }
inline int words_of_component(Op op, Shape whole) { return (is_of_color(op) ? 1 : whole.color.size()) * whole.reals(); }

// Operations that are not in the table, since no tree has them.
constexpr Op kStore = static_cast<Op>(255), kReduce = static_cast<Op>(254);
/// kStore: the attribute is the field's, as of Op::field; in frame -1 only later statements see the value. kReduce: the
/// attribute is a Reduce, the second operand how many components. The last of a program has the Grouping, too.
inline bool is_in_table(Op op) { return op < kReduce; }
/// Of kStore, or Op::field: the field's number, and how it is kept.
inline std::uint64_t field_attribute(std::uint64_t number, FieldStorage storage) {
  return number | static_cast<std::uint64_t>(storage) << 48;
}
constexpr std::uint64_t kFieldBits = 0xFFFFFFFFull | 0xFFull << 48;
inline std::uint32_t field_of(const Record& r) { return static_cast<std::uint32_t>(r.attribute); }
inline FieldStorage storage_of(const Record& r) { return static_cast<FieldStorage>(r.attribute >> 48 & 0xFF); }
/// The record whose words are those of a value, moved: behind shifts.
inline int unshifted(std::span<const Record> records, int number) {
  while (records[static_cast<std::size_t>(number)].op() == Op::shift)
    number = records[static_cast<std::size_t>(number)].operand(0);
  return number;
}
/// How to keep a value aside so that no bit of its words changes: as the field does that it is, moved or not.
inline FieldStorage storage_of_value(std::span<const Record> records, int number) {
  const Record& r = records[static_cast<std::size_t>(unshifted(records, number))];
  return r.op() == Op::field ? storage_of(r) : FieldStorage::plain;
}
inline bool is_stored(const Record& r) { return r.op() == kStore && r.frame() == 0; }
/// What a record that stores or reduces has, back from it.
Purpose purpose_of(const Record& r);

/// Records one behind the other. As a vector has it, one would be put together in memory and copied from there: the processor
/// waits for that.
class RecordList {
 public:
  [[gnu::always_inline]] void push_back(const Record& r) {
    if (size_ == room_.size()) [[unlikely]]
      grow();
    room_[size_++] = r;
  }
  void shrink(std::size_t size) { size_ = size; }
  std::size_t size() const { return size_; }
  Record& operator[](std::size_t i) { return room_[i]; }
  const Record& operator[](std::size_t i) const { return room_[i]; }
  std::span<const Record> span() const { return {room_.data(), size_}; }

 private:
  void grow();

  std::vector<Record> room_;
  std::size_t size_ = 0;
};

class LatticeState;

class Statement {
 public:
  /// What stands for a record of another statement: a field, which is read through the map if there is one.
  struct Aside {
    std::shared_ptr<jit::Field> field;
    const jit::SiteMap* map = nullptr;
  };
  using Asides = std::unordered_map<int, Aside>;

  /// Forgets everything and begins anew on a lattice; field 0 is the destination if there is one.
  void clear(const LatticeState& lattice, jit::Field* target = nullptr);
  /// Writes the records of a tree.
  void walk(const Node& root);

  // ---- programs of several statements

  /// From here on what it refers to is kept alive, until the next clear().
  void keep_operands() { keeps_ = true, owners_of_maps_.assign(1, nullptr); }
  /// The next walk is a statement of its own, with this destination if there is one.
  void begin(const std::shared_ptr<jit::Field>& target);
  void begin_without_target();
  /// What becomes of what was walked last: to be stored in the target, or reduced.
  void end(const Purpose& purpose);
  /// Whether that cannot be computed together with what was there before: it reads at other sites what is stored, or stores
  /// what is read at other sites.
  bool clashes() const { return clashes_ || target_elsewhere(); }
  /// -1: no statement has it.
  int number(const jit::Field& field) const { return fields_.find(const_cast<jit::Field*>(&field)); }
  bool is_stored(int field) const { return use(field).stored >= 0; }
  /// Throws UserError if some field is on another lattice.
  void check_lattice() const;
  /// How much there is of each list.
  struct Extent {
    std::size_t records, fields, frames, scalars, values, spread, items;
    int root;
  };
  Extent extent() const;
  /// As it was before a walk, or before a sum was added. Not beyond the last clear(). Fields count as read that the walk has
  /// read: it will be made once more, behind this.
  void go_back(const Extent& before);
  /// Records that store or reduce, in the order of their statements.
  const std::vector<int>& items() const { return items_; }
  const std::shared_ptr<jit::Field>& owner(std::size_t field) const { return owners_[field]; }
  /// Nobody else will read what this record stores.
  void drop_store(int record);
  /// Makes a program of a value and what becomes of it.
  void become_program(const Purpose& purpose) { go_back_to_value(), end(purpose); }
  /// What the first statement was before end(), if it is the only one.
  void go_back_to_value();
  /// Writes those of a field, shifted by a map.
  void read(jit::Field& field, Shape shape, const jit::SiteMap& map) {
    root_ = add_shifted(&field, pack(shape), 0, &map);
  }
  /// Writes those of a part of another statement (number `root` of its records), as it is seen in the part's own frame, or
  /// shifted by a map.
  void copy(const Statement& from, int root, const Asides& asides, const jit::SiteMap* map = nullptr);
  /// Writes all statements of a program, to the same destinations.
  void copy_program(const Statement& from, const Asides& asides);

  /// The identity of a value with a purpose, and of a program. Valid until it changes.
  jit::TableKey identify(const Grouping& grouping, const Purpose& purpose);
  jit::TableKey identify(const Grouping& grouping);
  /// What was identified last.
  std::span<const Record> identified() const { return records_.span(); }
  /// Of a value, without what becomes of it.
  std::span<const Record> records() const {
    const auto all = records_.span();
    return items_.empty() ? all.first(static_cast<std::size_t>(root_) + 1) : all;
  }
  int root() const { return root_; }

  // What this execution of it refers to.
  const std::vector<jit::Field*>& fields() const { return fields_.list(); }
  const std::vector<const jit::SiteMap*>& maps() const { return maps_; }  ///< [frames], nullptr for the site itself
  const std::vector<std::uint64_t>& scalars() const { return scalars_; }

  /// Lets the fields go that stand for large scalars: they are as large as any field.
  void drop_spread() {
    if (!spread_.empty()) [[unlikely]]
      spread_nodes_.clear(), spread_.clear(), first_spread_ = 0;
  }

  /// The right-hand side reads the destination, at whatever site; at other sites.
  bool target_read() const { return target_ >= 0 && (use(target_).here || use(target_).elsewhere); }
  bool target_elsewhere() const { return target_ >= 0 && use(target_).elsewhere; }
  /// Some statement of the program reads what a field held that it, or a later one, stores in.
  bool reads_what_it_stores() const;

 private:
  int append(const Record& r);
  std::uint64_t attribute_of(int field) const;
  /// Whoever owns the map or the field, if it is to be kept.
  int frame_of(int parent, const jit::SiteMap* map, const std::shared_ptr<const jit::SiteMap>* owner = nullptr);
  ShiftTo shift_to(int inner) const;
  int number_of(jit::Field* field, const std::shared_ptr<jit::Field>* owner = nullptr);
  int add_field(jit::Field* field, std::uint64_t shape, int frame, const std::shared_ptr<jit::Field>* owner = nullptr);
  void forget_nodes();
  void add_item(const Purpose& purpose, int field);
  int add_value(std::uint64_t shape, const void* components);
  int value_of(const Node& n, int frame);
  int number_value(const Node& n, std::uint64_t shape, const void* components);
  bool picks_at_run_time(const Node& n, int frame, int whole) const;
  int component_of(const Node& n, Shape whole);
  int spread_of(const Node& n, int frame);
  int add_shift(std::uint64_t shape, int kid, int outer, int inner);
  int add_shifted(jit::Field* field, std::uint64_t shape, int frame, const jit::SiteMap* map);
  std::uint64_t program_of(const Node& n, int a, int b, int c) const;
  /// The record of a node without operands, or of one that has been walked; -1 otherwise.
  int known(const Node& n, int frame);
  int finish(const Node& n, int frame, int inner, int a, int b, int c);
  int walk(const Node& n, int frame, int depth);
  int walk_deep(const Node& n, int frame);
  /// The numbers here of another statement's records, -1 for those that have none. Most parts lie close below their root, so that the room
  /// for a part is as large as the part.
  class Copied {
   public:
    explicit Copied(std::size_t last) : last_(last), numbers_(std::min(last + 1, kRoom), -1) {}
    int& operator[](int record) {
      const std::size_t below = last_ - static_cast<std::size_t>(record);
      if (below >= numbers_.size()) numbers_.resize(2 * below + 1, -1);
      return numbers_[below];
    }

   private:
    static constexpr std::size_t kRoom = 512;
    std::size_t last_;
    std::vector<int> numbers_;
  };
  void copy(const Statement& from, int root, const Asides& asides, const jit::SiteMap* map, Copied& done);

  /// What has been done with a field.
  struct Use {
    bool here = false, elsewhere = false;  ///< read at the site itself, at others
    int stored = -1;                       ///< the record that stores it, the last of them
  };
  const Use& use(int field) const { return uses_[static_cast<std::size_t>(field)]; }

  Numbering<jit::Field*> fields_;
  std::vector<Use> uses_;                                            ///< [fields]
  Numbering<std::pair<int, const jit::SiteMap*>, PairHash> frames_;  ///< parent and map; number 0 is the site
  std::vector<const jit::SiteMap*> maps_;
  std::vector<std::uint8_t> gathered_;  ///< [frames], truth values
  Numbering<const Node*> value_nodes_;
  std::vector<std::uint64_t> scalars_;
  std::vector<std::size_t> value_starts_;  ///< in scalars_
  Numbering<const Node*> spread_nodes_;
  std::vector<std::shared_ptr<jit::Field>> spread_;  ///< large values, the same at all sites
  std::size_t first_value_ = 0, first_spread_ = 0;   ///< of the present statement

  RecordList records_;
  int root_ = -1;  ///< of the last value
  std::vector<int> items_;

  const LatticeState* lattice_ = nullptr;
  int target_ = -1;  ///< number of the destination
  bool clashes_ = false, keeps_ = false;
  std::vector<std::shared_ptr<jit::Field>> owners_;                  ///< [fields], if they are kept
  std::vector<std::shared_ptr<const jit::SiteMap>> owners_of_maps_;  ///< [frames], likewise
  int visits_ = 0;
  Numbering<std::pair<const Node*, int>, PairHash>
      shared_;  ///< nodes of large trees that may be met again, and their frames
  std::vector<int> shared_records_;
};

/// A level of a site type.
using LevelOf = Level Shape::*;
/// Products of which the kernel computes one column after the other, since unrolled they were thousands of instructions:
/// the level whose columns they are, nullptr for all other records.
LevelOf columns_of(std::span<const Record> records, const Record& r);
/// The same for a statement with the destination `dest`.
LevelOf columns_of(std::span<const Record> records, Shape dest);
/// Whether it has a matrix in both spin and colour.
bool is_big_object(const Record& r);

/// The name of an operation's result in short, "ColorMatrix", and of a statement "mul(ColorMatrix, shift(ColorMatrix))".
const char* short_name(Shape shape);
std::string describe(std::span<const Record> records, int root);

}  // namespace QDP::detail
