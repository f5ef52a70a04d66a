#include "qdp/expr/lowering.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "jit/ir/reroll.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/divide.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

/// File-name friendly and short: letters, digits, '_'.
std::string kernel_name(std::span<const Record> records, std::span<const int> items) {
  static const char* const reductions[] = {"sum", "max", "min"};
  std::string text;
  for (const int item : items) {
    const Record& r = records[static_cast<std::size_t>(item)];
    const Purpose purpose = purpose_of(r);
    if (!text.empty()) text += "_and_";
    text += purpose.reduction < 0 ? short_name(purpose.dest) : reductions[purpose.reduction];
    text += "_" + describe(records, r.operand(0));
  }
  std::string out;
  for (char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += c;
    else if (!out.empty() && out.back() != '_')
      out += '_';
    if (out.size() >= 64) break;
  }
  while (!out.empty() && out.back() == '_') out.pop_back();
  return out;
}

std::int16_t narrow(std::uint64_t x, const char* what) {
  if (x > 32767)
    throw jit::UserError({.what = "a statement",
                          .expected = std::string("at most 32767 ") + what,
                          .got = std::to_string(x),
                          .what_now = "assign a part of it to a field first"});
  return static_cast<std::int16_t>(x);
}

bool is_plain_field(const Record& r) { return r.op() == Op::field && storage_of(r) == FieldStorage::plain; }

template <class T>
T& grown(std::vector<T>& list, std::size_t i) {
  if (list.size() <= i) list.resize(i + 1);
  return list[i];
}

}  // namespace

Lowering::Lowering(std::span<const Record> records)
    : records_(records), builder_(kernel_), algebra_(builder_), done_(records.size()), is_done_(records.size(), false) {
  const Grouping grouping = Grouping::of(records.back());
  kernel_.lanes = grouping.lanes;
  kernel_.listed = grouping.listed;
  const auto leaf = [](const Record& r) {
    const Shape s = r.shape();
    return ir::Leaf{stored_word(storage_of(r), s),
                    narrow(static_cast<std::uint64_t>(stored_words(storage_of(r), s)), "components in a site type")};
  };
  std::vector<Shape> values;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    if (r.op() == Op::field || r.op() == kStore) {
      narrow(field_of(r), "different fields");
      grown(kernel_.leaves, field_of(r)) = leaf(r);
    } else if (r.op() == Op::value) {
      grown(values, r.attribute) = r.shape();
    } else if (r.op() == Op::shift) {
      const ShiftTo to = ShiftTo::unpack(r.attribute);
      grown(kernel_.slots,
            static_cast<std::size_t>(narrow(static_cast<std::uint64_t>(to.inner), "different shifts"))) = {
          static_cast<std::int16_t>(r.frame()), to.gathered, to.exchange};
    }
    if (is_stored(r) || r.op() == kReduce) items_.push_back(static_cast<int>(i));
  }
  kernel_.name = kernel_name(records, items_);
  for (const Shape& s : values) {
    Tensor t(s);
    for (Value& v : t.v) v = builder_.argument(s.word);
    arguments_.push_back(std::move(t));
  }
}

std::vector<Part> Lowering::parts() const {
  std::vector<Part> list;
  for (std::size_t i = 0; i < records_.size(); ++i)
    if (is_done_[i] && records_[i].frame() == 0 && is_in_table(records_[i].op()))
      list.push_back({static_cast<int>(i), records_[i].op(), &done_[i]});
  return list;
}

const Tensor& Lowering::lower(int number) {
  std::vector<int> open{number};
  while (!open.empty()) {
    const int top = open.back();
    const auto i = static_cast<std::size_t>(top);
    int missing = -1;
    if (!is_done_[i])
      for (int n = 0; n < 3 && missing < 0; ++n)
        if (const int k = record(top).operand(n); k >= 0 && !is_done_[static_cast<std::size_t>(k)]) missing = k;
    if (missing >= 0) {
      open.push_back(missing);
      continue;
    }
    if (!is_done_[i]) done_[i] = compute(top), is_done_[i] = true;
    open.pop_back();
  }
  return done_[static_cast<std::size_t>(number)];
}

Tensor Lowering::compute(int number) {
  const Record& r = record(number);
  const Shape shape = r.shape();
  if (columns_of(records_, r) == &Shape::color) {  // propagators may be unrolled: reroll() and divide.hpp see to them
    obstacle_ = number;
    return Tensor(shape);
  }
  if (r.op() ==
      kStore) {  // through its storage: a product with a structural zero is dropped, one with a stored zero is not
    Tensor t = done_[static_cast<std::size_t>(r.operand(0))];
    for (Value& v : t.v) v = algebra_.word(v, shape.word);
    if (const FieldStorage storage = storage_of(r); storage != FieldStorage::plain)
      t = decode(algebra_, storage, shape, words_of(number, storage));
    return t;
  }
  switch (r.op()) {
    case Op::value:
      return arguments_[r.attribute];
    case Op::field:
      return decode(algebra_, storage_of(r), shape, load_words(r));
    case Op::shift: {
      Tensor t = done_[static_cast<std::size_t>(r.operand(0))];
      carry_back(t, ShiftTo::unpack(r.attribute).inner);
      return t;
    }
    default: {
      if (is_component(r.op()) && component_operand(r) >= 0)
        return is_peek(r.op()) && is_plain_field(record(r.operand(0))) ? peek(r) : choose(r);
      std::vector<Tensor> operands;
      for (int n = 0; n < 3; ++n)
        if (const int k = r.operand(n); k >= 0) operands.push_back(done_[static_cast<std::size_t>(k)]);
      return algebra_.apply(r.op(), shape, r.attribute, operands);
    }
  }
}

// ---- components whose number is a value

/// Where word number `word` of the component lies in the field.
ir::Place Lowering::place_of(const Record& component, const Record& field, Shape whole, int word) const {
  const int reals = whole.reals();
  const int at = is_of_color(component.op()) ? word / reals * whole.color.size() * reals + word % reals : word;
  const Tensor& number = arguments_[record(component_operand(component)).attribute];
  return {.leaf = static_cast<std::int16_t>(field_of(field)),
          .slot = static_cast<std::int16_t>(field.op() == Op::field ? field.frame() : 0),
          .component = static_cast<std::int16_t>(at),
          .shifted_by = static_cast<std::int16_t>(kernel_.nodes[static_cast<std::size_t>(number.v[0])].integer)};
}

Tensor Lowering::peek(const Record& r) {
  const Record& field = record(r.operand(0));
  Tensor t(r.shape());
  for (std::size_t c = 0; c < t.v.size(); ++c)
    t.v[c] = builder_.load(place_of(r, field, field.shape(), static_cast<int>(c)));
  return t;
}

/// All components, one of which is taken: of what is no field.
Tensor Lowering::choose(const Record& r) {
  const Shape whole = record(r.operand(0)).shape();
  const Level level = level_of_component(r.op(), whole);
  const Value number = arguments_[record(component_operand(r)).attribute].v[0];
  std::vector<Tensor> operands{done_[static_cast<std::size_t>(r.operand(0))]};
  if (!is_peek(r.op())) operands.push_back(done_[static_cast<std::size_t>(r.operand(1))]);
  std::optional<Tensor> chosen;
  for (int i = 0; i < level.size(); ++i) {
    const int n = level.kind == Kind::matrix ? level.n : 1;
    const auto attribute = static_cast<std::uint64_t>(i / n) | static_cast<std::uint64_t>(i % n) << 16;
    Tensor one = algebra_.apply(r.op(), r.shape(), attribute, operands);
    for (Value& v : one.v) v = algebra_.word(v, r.shape().word);
    const Value here = builder_.binary(
        ir::Op::eq, number, builder_.constant_int(Type::i32, std::int64_t{i} * words_of_component(r.op(), whole)));
    for (std::size_t c = 0; chosen && c < one.v.size(); ++c) one.v[c] = builder_.select(here, one.v[c], chosen->v[c]);
    chosen = std::move(one);
  }
  return std::move(*chosen);
}

/// Whether a statement replaces one component of its destination, whichever, and leaves the others.
bool Lowering::pokes_into(const Record& item) const {
  const Record& value = record(item.operand(0));
  if (!is_component(value.op()) || is_peek(value.op()) || component_operand(value) < 0) return false;
  const Record& whole = record(value.operand(0));
  return is_plain_field(whole) && whole.frame() == 0 && field_of(whole) == field_of(item) &&
         whole.packed_shape() == item.packed_shape();
}

void Lowering::poke(const Record& item) {
  const Record& value = record(item.operand(0));
  const Shape whole = item.shape();
  const Tensor component =
      algebra_.convert(lower(value.operand(1)), is_of_color(value.op()) ? whole.with_levels(whole.spin, {})
                                                                        : whole.with_levels({}, whole.color));
  for (std::size_t c = 0; c < component.v.size(); ++c)
    kernel_.stores.push_back({.place = place_of(value, item, whole, static_cast<int>(c)),
                              .value = algebra_.word(algebra_.convert(component.v[c], whole.word), whole.word)});
  kernel_.leaves[field_of(item)].written = true;
  partly_stored_.push_back(field_of(item));
}

// ---- fields in storages of fewer words

std::vector<Value> Lowering::load_words(const Record& field) {
  std::vector<Value> words(static_cast<std::size_t>(stored_words(storage_of(field), field.shape())));
  for (std::size_t c = 0; c < words.size(); ++c)
    words[c] = builder_.load({static_cast<std::int16_t>(field_of(field)), static_cast<std::int16_t>(field.frame()),
                              static_cast<std::int16_t>(c), 0});
  return words;
}

/// Whether its words in the storage are there: encoding it anew could change last bits of them. What is chosen by a mask and
/// shifted is encoded anew, as it is where it comes from another rank.
bool Lowering::is_kept(int number, FieldStorage storage) const {
  const int source = unshifted(records_, number);
  const Record& r = record(source);
  if (r.op() == Op::where)
    return source == number && (is_kept(r.operand(1), storage) || is_kept(r.operand(2), storage));
  return (r.op() == Op::field || r.op() == kStore) && storage_of(r) == storage;
}

/// What is stored of a value; of a kStore, what it stores.
std::vector<Value> Lowering::words_of(int number, FieldStorage storage) {
  const Record& r = record(number);
  if (!is_kept(number, storage)) return encode(algebra_, storage, lower(number));
  if (r.op() == Op::field) return load_words(r);
  if (r.op() == kStore) return words_of(r.operand(0), storage);
  if (r.op() == Op::where) {
    const Value mask = algebra_.word(lower(r.operand(0)).v[0], Type::b1);
    std::vector<Value> chosen = words_of(r.operand(1), storage), others = words_of(r.operand(2), storage);
    for (std::size_t c = 0; c < chosen.size(); ++c) chosen[c] = builder_.select(mask, chosen[c], others[c]);
    return chosen;
  }
  std::vector<Value> words = words_of(r.operand(0), storage);
  for (Value& v : words) v = builder_.permute(ShiftTo::unpack(r.attribute).inner, v);
  return words;
}

/// From a shift's frame to the frame it is seen in.
void Lowering::carry_back(Tensor& t, int inner) {
  for (Value& v : t.v)
    if (v != kZero) v = builder_.permute(inner, v);
}

/// Column `trip` (of a transposed matrix: row) of a value with a matrix, as a vector whose loads stride over the columns;
/// nothing if some operation of the tree mixes columns. Products of propagators associate to the right: a*b*c costs matrix times
/// vector twice.
std::optional<Tensor> Lowering::column(int number, bool transposed) {
  const Record& r = record(number);
  const Shape shape = r.shape();
  const bool by_color = columns_ == &Shape::color;
  if (!is_matrix(number) || (by_color && !shape.spin.is_scalar())) return std::nullopt;
  const int n = level(number).n;
  Shape col = shape;
  col.*columns_ = {Kind::vector, level(number).n};
  switch (r.op()) {
    case Op::field: {
      Tensor t(col);
      const int inner = (by_color ? 1 : shape.color.size()) * shape.reals();  // words of one element
      const int down = transposed ? inner : n * inner, across = transposed ? n * inner : inner;
      for (int s = 0; s < n; ++s)
        for (int c = 0; c < inner; ++c)
          t.v[static_cast<std::size_t>(s * inner + c)] =
              builder_.load({static_cast<std::int16_t>(field_of(r)), static_cast<std::int16_t>(r.frame()),
                             static_cast<std::int16_t>(s * down + c), static_cast<std::int16_t>(across)});
      return t;
    }
    case Op::shift: {
      auto t = column(r.operand(0), transposed);
      if (t) carry_back(*t, ShiftTo::unpack(r.attribute).inner);
      return t;
    }
    case Op::adj:
    case Op::transpose:
    case Op::transpose_color: {
      if (!by_color && r.op() != Op::transpose_color) return std::nullopt;
      auto t = column(r.operand(0), transposed != by_color);
      if (!t || (by_color && r.op() != Op::adj)) return t;
      const Tensor one[] = {std::move(*t)};
      return algebra_.apply(by_color ? Op::conj : Op::transpose_color, col, 0, one);
    }
    case Op::mul: {
      if (is_matrix(r.operand(1)) && !level(r.operand(0)).is_scalar()) {
        if (transposed) return std::nullopt;
        const int products = products_++;
        auto t = column(r.operand(1));
        if (by_color && (!t || products_ > products + 1)) obstacle_ = r.operand(1);  // one product's rows can be a loop
        if (t) t = times(r.operand(0), std::move(*t));
        return t;
      }
      const int matrix = is_matrix(r.operand(1)) ? 1 : 0;
      if (!level(r.operand(1 - matrix)).is_scalar()) return std::nullopt;
      auto t = column(r.operand(matrix), transposed);
      if (!t) return t;
      Tensor both[] = {lower(r.operand(1 - matrix)), std::move(*t)};
      if (matrix == 0) std::swap(both[0], both[1]);
      return algebra_.apply(r.op(), col, r.attribute, both);
    }
    case Op::add:
    case Op::sub:
    case Op::neg:
    case Op::plus:
    case Op::conj:
    case Op::times_i:
    case Op::times_minus_i:
    case Op::convert:
    case Op::div:
    case Op::gamma_left:
    case Op::chiral_project:
    case Op::where: {
      std::vector<Tensor> operands;
      for (int i = 0; i < 3; ++i) {
        if (r.operand(i) < 0) continue;
        const bool whole =
            (r.op() == Op::where && i == 0) || (r.op() == Op::div && i == 1);  // scalars, the same for all columns
        if (whole) {
          operands.push_back(lower(r.operand(i)));
          continue;
        }
        auto t = column(r.operand(i), transposed);
        if (!t) return t;
        operands.push_back(std::move(*t));
      }
      return algebra_.apply(r.op(), col, r.attribute, operands);
    }
    default:
      return std::nullopt;
  }
}

Tensor Lowering::times(int a, Tensor vector) {
  const Record& r = record(a);
  if (columns_ == &Shape::spin && r.op() == Op::mul && is_matrix(r.operand(0)) && is_matrix(r.operand(1)))
    return times(r.operand(0), times(r.operand(1), std::move(vector)));
  const Tensor both[] = {lower(a), std::move(vector)};
  return algebra_.apply(Op::mul, result_shape(Op::mul, both[0].shape, both[1].shape), 0, both);
}

void Lowering::store(const Record& item, std::span<const Value> words, bool by_columns) {
  const Shape shape = item.shape();
  const auto leaf = static_cast<std::int16_t>(field_of(item));
  const int n = by_columns ? (shape.*columns_).n : 1;
  const int inner = (columns_ == &Shape::color ? 1 : shape.color.size()) * shape.reals();
  kernel_.trips = n;
  bool stores_all = true;
  for (std::size_t c = 0; c < words.size(); ++c) {
    ir::Store s;
    const int i = static_cast<int>(c);
    s.place = {leaf, 0, static_cast<std::int16_t>(by_columns ? i / inner * n * inner + i % inner : i),
               static_cast<std::int16_t>(by_columns ? inner : 0)};
    s.value = algebra_.word(words[c], stored_word(storage_of(item), shape));
    const ir::Node& n = kernel_.nodes[static_cast<std::size_t>(s.value)];
    if (n.op == ir::Op::load && n.place == s.place) {
      stores_all = false;
      continue;
    }  // unchanged
    kernel_.stores.push_back(s);
  }
  kernel_.leaves[field_of(item)].written = true;
  if (!stores_all) partly_stored_.push_back(field_of(item));
}

void Lowering::read_what_stays() {
  for (const std::size_t leaf : partly_stored_) kernel_.leaves[leaf].read = true;
}

void Lowering::run() {
  for (const int item : items_) {
    const Record& r = record(item);
    const Purpose purpose = purpose_of(r);
    if (purpose.reduction >= 0) {
      const Tensor& value = lower(r.operand(0));
      for (int c = 0; c < purpose.count; ++c)
        kernel_.reductions.push_back({static_cast<ir::Reduction::Kind>(purpose.reduction),
                                      algebra_.word(value.v[static_cast<std::size_t>(c)], Type::f64)});
      continue;
    }
    if (pokes_into(r)) {
      poke(r);
      continue;
    }
    std::optional<Tensor> columns;
    columns_ = columns_of(records_, purpose.dest);
    if (columns_ != nullptr && is_program())
      obstacle_ = item;
    else if (columns_ != nullptr)
      columns = column(r.operand(0));
    if (obstacle_ >= 0) return;
    if (columns)
      store(r, columns->v, true);
    else if (const FieldStorage storage = storage_of(r); storage != FieldStorage::plain)
      store(r, words_of(r.operand(0), storage));
    else
      store(r, lower(is_program() ? item : r.operand(0)).v);
  }
}

Lowered lower_statement(std::span<const Record> records) {
  Lowering low(records);
  low.run();
  if (low.obstacle() >= 0) return {{}, low.is_program() ? 0 : low.obstacle()};
  ir::Kernel& kernel = low.kernel();
  if (low.is_program()) {
    low.builder().finish();
    low.read_what_stays();
    const int aside = kernel.nodes.size() > kLargestProgram ? 0 : -1;
    return {std::move(kernel), aside};
  }
  const bool big = std::any_of(records.begin(), records.end(), is_big_object);
  const std::size_t large = big ? kWantedNodes : kLargeWithoutBigObjects;
  ir::Kernel whole;
  if (kernel.nodes.size() > large) whole = kernel;
  low.builder().finish();
  int aside = -1;
  if (kernel.nodes.size() > large) {
    ir::reroll(kernel, kWantedNodes);
    if (kernel.nodes.size() > kLargestKernel) aside = part_to_compute_aside(whole, low.parts(), kernel.nodes.size());
  }
  low.read_what_stays();
  return {std::move(kernel), aside};
}

}  // namespace QDP::detail
