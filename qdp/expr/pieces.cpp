#include "qdp/expr/pieces.hpp"

#include <algorithm>

namespace QDP::detail {

namespace {

// What a kernel may have: of records, of instructions in a statement of many records, and of arguments (a GPU's kernel
// takes 4096 bytes of them). Objects of spin and colour matrices become loops, so there may be more instructions of them.
constexpr std::size_t kManyRecords = 200, kLongest = 1000, kMostArguments = 450;
constexpr double kMostWork = 6000, kMostWorkInLoops = 30000;
// What a piece may have: below what division (divide.hpp) tries its ways on.
constexpr double kPieceWork = 4000, kPieceArguments = 350;

/// About how many instructions an operation is.
double work(std::span<const Record> records, const Record& r) {
  const auto shape = [&](int k) {
    return r.operand(k) < 0 ? Shape{} : records[static_cast<std::size_t>(r.operand(k))].shape();
  };
  const double components = r.shape().components();
  const auto terms = [](Level a, Level b) { return a.kind == Kind::matrix && !b.is_scalar() ? a.n : 1; };
  switch (r.op()) {
    case Op::mul:
      return components * 2 * terms(shape(0).spin, shape(1).spin) * terms(shape(0).color, shape(1).color);
    case Op::local_norm2:
    case Op::local_inner_product:
    case Op::local_inner_product_real:
    case Op::local_color_inner_product:
    case Op::color_vector_contract:
    case Op::trace:
    case Op::trace_color:
    case Op::trace_spin:
      return 2.0 * shape(0).components();
    case Op::quark_contract:
    case Op::color_contract:
      return 36 * components;
    default:
      return components;
  }
}

double arguments_of(const Record& r) {
  if (r.op() == Op::value) return r.shape().components();
  return r.op() == Op::field || r.op() == Op::shift ? 1 : 0;
}

struct Load {
  double work = 0, arguments = 0;
  double share() const { return std::max(work / kPieceWork, arguments / kPieceArguments); }
};

}  // namespace

std::vector<int> pieces(std::span<const Record> records, std::size_t arguments) {
  if (records.size() <= kManyRecords && arguments <= kMostArguments) return {};
  double all = 0;
  bool big = false;
  std::vector<Load> loads(records.size());  // of a record; later with what has not been cut off below it
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& r = records[i];
    loads[i] = {work(records, r), arguments_of(r)};
    all += loads[i].work;
    big = big || is_big_object(r);
  }
  if (records.size() <= kLongest && arguments <= kMostArguments && all <= (big ? kMostWorkInLoops : kMostWork))
    return {};

  std::vector<int> cuts;
  const auto at = [&](int i) -> Load& { return loads[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < static_cast<int>(records.size()); ++i) {
    const Record& r = records[static_cast<std::size_t>(i)];
    if (!is_in_table(r.op())) continue;  // what becomes of a value that has been looked at
    const Load own = at(i);
    const auto total = [&] {
      Load sum = own;
      for (int k = 0; k < 3; ++k)
        if (r.operand(k) >= 0) sum.work += at(r.operand(k)).work, sum.arguments += at(r.operand(k)).arguments;
      return sum;
    };
    Load sum = total();
    while (sum.share() > 1) {
      int most = -1;
      for (int k = 0; k < 3; ++k) {
        const int operand = r.operand(k);
        if (operand < 0 || records[static_cast<std::size_t>(operand)].frame() < 0) continue;
        const Op op = records[static_cast<std::size_t>(operand)].op();
        if (op == Op::field || op == Op::value || op == Op::zero || at(operand).share() < 0.2) continue;
        if (most < 0 || at(operand).share() > at(most).share()) most = operand;
      }
      if (most < 0) break;
      cuts.push_back(most);
      at(most) = {static_cast<double>(records[static_cast<std::size_t>(most)].shape().components()), 1};
      const Load less = total();
      if (less.share() >= sum.share()) break;
      sum = less;
    }
    at(i) = sum;
  }
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

std::vector<int> last_readers(std::span<const Record> records, std::span<const int> pieces) {
  std::vector<int> readers(records.size(), 0);
  readers.back() = static_cast<int>(records.size());
  auto piece = pieces.rbegin();
  for (int i = static_cast<int>(records.size()) - 1; i >= 0; --i) {
    const Record& r = records[static_cast<std::size_t>(i)];
    const bool cut = piece != pieces.rend() && *piece == i;
    if (cut) ++piece;
    const int reader = cut ? i : readers[static_cast<std::size_t>(i)];
    for (int k = 0; k < (r.op() == kReduce ? 1 : 3); ++k)  // its second is a count
      if (r.operand(k) >= 0) {
        int& known = readers[static_cast<std::size_t>(r.operand(k))];
        known = std::max(known, reader);
      }
  }
  return readers;
}

}  // namespace QDP::detail
