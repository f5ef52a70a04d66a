#include "qdp/expr/site_function.hpp"

#include <algorithm>
#include <bit>
#include <deque>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "jit/support/error.hpp"
#include "qdp/expr/evaluate.hpp"

namespace QDP::detail {

namespace ir = jit::ir;

namespace {

/// A body, and the programs made of it so far.
struct Body {
  explicit Body(SiteFunctionEntry e) : entry(std::move(e)) {}
  struct Made {
    std::uint64_t types[4];  ///< of the result and the operands
    std::uint64_t program;
  };
  SiteFunctionEntry entry;
  std::vector<Made> made;
};

struct Registry {
  std::mutex guard;  // functions may be made, and used on scalars, in several threads
  std::deque<Body> bodies;
  std::deque<SiteProgram> programs;
  std::unordered_map<std::string, std::uint64_t> by_text;
};
Registry& registry() {
  static Registry all;
  return all;
}

thread_local const char* traced_now = nullptr;  ///< name of the function whose body runs

struct Tracing {
  explicit Tracing(const char* name) : before(std::exchange(traced_now, name)) {}
  ~Tracing() { traced_now = before; }
  const char* before;
};

ir::Kernel trace(const SiteFunctionEntry& entry, Shape result, std::span<const Shape> operands,
                 std::vector<Value>& values) {
  ir::Kernel k;
  k.name = entry.name;
  k.lanes = 1;
  ir::Builder builder(k);
  Algebra algebra(builder);
  std::vector<Tensor> x;
  for (const Shape& s : operands) {
    const auto leaf = static_cast<std::int16_t>(k.leaves.size());
    k.leaves.push_back({s.word, static_cast<std::int16_t>(s.components())});
    Tensor t(s);
    for (std::size_t c = 0; c < t.v.size(); ++c) t.v[c] = builder.load({leaf, 0, static_cast<std::int16_t>(c), 0});
    x.push_back(std::move(t));
  }
  Tensor value;
  {
    const Tracing now(entry.name.c_str());
    value = entry.trace(algebra, x);
  }
  value = algebra.convert(value, result);
  const auto out = static_cast<std::int16_t>(k.leaves.size());
  k.leaves.push_back({result.word, static_cast<std::int16_t>(result.components())});
  for (std::size_t c = 0; c < value.v.size(); ++c)
    if (value.v[c] != kZero) k.stores.push_back({{out, 0, static_cast<std::int16_t>(c), 0}, value.v[c]});
  builder.finish();
  values.assign(value.v.size(), kZero);
  for (const ir::Store& s : k.stores) values[static_cast<std::size_t>(s.place.component)] = s.value;
  return k;
}

}  // namespace

std::uint64_t register_site_function(SiteFunctionEntry entry) {
  Registry& all = registry();
  std::lock_guard lock(all.guard);
  all.bodies.emplace_back(std::move(entry));
  return all.bodies.size();
}

std::uint64_t site_program_number(std::uint64_t function, Shape result, std::span<const Shape> operands) {
  Registry& all = registry();
  std::unique_lock lock(all.guard);
  if (function == 0 || function > all.bodies.size())
    throw jit::UserError(
        {.what = "a site function",
         .expected = "one whose definition has been executed",
         .got = "one that is used before: by the initialiser of a static object in another file",
         .where = "a statement with " + std::to_string(operands.size()) + " operands, the first a " +
                  (operands.empty() ? "?" : describe(operands[0])),
         .what_now = "use it from main() on, or return it from a function that holds it as a static variable"});
  Body& body = all.bodies[function - 1];
  std::uint64_t types[4] = {pack(result), 0, 0, 0};
  for (std::size_t i = 0; i < operands.size(); ++i) types[i + 1] = pack(operands[i]) | 1ull << 63;
  constexpr std::uint64_t kNotYet = ~std::uint64_t{0};
  const auto find = [&] {
    for (const Body::Made& m : body.made)
      if (std::equal(types, types + 4, m.types)) return m.program;
    return kNotYet;
  };
  if (const std::uint64_t known = find(); known != kNotYet) return known;
  lock.unlock();  // the body is the user's: it may compute with scalars, by other site functions even
  std::vector<Value> values;
  ir::Kernel kernel = trace(body.entry, result, operands, values);
  const std::string text = ir::print(kernel);
  lock.lock();
  if (const std::uint64_t known = find(); known != kNotYet) return known;  // another thread was faster
  const auto [at, fresh] = all.by_text.try_emplace(text, all.programs.size());
  if (fresh) all.programs.push_back({body.entry.name, std::move(kernel.nodes), std::move(values)});
  body.made.push_back({{types[0], types[1], types[2], types[3]}, at->second});
  return at->second;
}

const SiteProgram& site_program(std::uint64_t program) {
  Registry& all = registry();
  std::lock_guard lock(all.guard);
  return all.programs.at(program);
}

Tensor replay(Algebra& algebra, const SiteProgram& program, Shape result, std::span<const Tensor> operands) {
  ir::Builder& b = algebra.b;
  std::vector<Value> now(program.nodes.size());
  const auto at = [&](Value v) { return v == ir::kNone ? ir::kNone : now[static_cast<std::size_t>(v)]; };
  const auto word = [&](Value v) {
    return algebra.word(at(v), program.nodes[static_cast<std::size_t>(v)].type);
  };  // a zero where one is needed
  for (std::size_t i = 0; i < program.nodes.size(); ++i) {
    const ir::Node& n = program.nodes[i];
    Value& v = now[i];
    switch (n.op) {
      case ir::Op::constant:
        if (is_float(n.type))
          v = b.constant(n.type, n.integer != 0 ? std::bit_cast<double>(n.integer) : n.real);  // a NaN's bits
        else
          v = b.constant_int(n.type, n.integer);
        break;
      case ir::Op::load:
        v = operands[static_cast<std::size_t>(n.place.leaf)].v[static_cast<std::size_t>(n.place.component)];
        break;
      case ir::Op::add:
        v = algebra.add(at(n.a), at(n.b));
        break;
      case ir::Op::sub:
        v = algebra.sub(at(n.a), at(n.b));
        break;
      case ir::Op::mul:
        v = algebra.mul(at(n.a), at(n.b));
        break;
      case ir::Op::fma:
        v = algebra.fma(at(n.a), at(n.b), at(n.c));
        break;
      case ir::Op::neg:
        v = algebra.neg(at(n.a));
        break;
      case ir::Op::div:
        v = at(n.a) == kZero ? kZero : b.div(at(n.a), word(n.b));
        break;
      case ir::Op::convert:
        v = algebra.convert(at(n.a), n.type);
        break;
      case ir::Op::select:
        v = at(n.b) == kZero && at(n.c) == kZero ? kZero : b.select(word(n.a), word(n.b), word(n.c));
        break;
      default:
        v = n.b == ir::kNone ? b.unary(n.op, word(n.a)) : b.binary(n.op, word(n.a), word(n.b));
    }
  }
  Tensor r(result);
  for (std::size_t c = 0; c < r.v.size(); ++c)
    if (program.result[c] != kZero) r.v[c] = at(program.result[c]);
  return r;
}

void refuse_in_site_function(const char* what) {
  if (traced_now == nullptr) return;
  throw jit::UserError({.what = std::string("site function ") + traced_now + ": its body " + what,
                        .expected = "a formula over its operands, which becomes part of kernels",
                        .got = "a statement over the lattice",
                        .what_now = "compute the field before, and pass it as an operand"});
}

}  // namespace QDP::detail
