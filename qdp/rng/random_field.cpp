#include "qdp/rng/random_field.hpp"

#include "jit/ir/builder.hpp"
#include "jit/runtime.hpp"
#include "jit/support/lock.hpp"
#include "qdp/layout/lattice_state.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/layout/subset.hpp"
#include "qdp/rng/random_state.hpp"

#include <memory>
#include <string>
#include <vector>

namespace QDP::detail {

namespace ir = jit::ir;
using ir::Type;
using ir::Value;

namespace {

/// How a kernel goes through the components of a site: `trips` times the same code for `chunk` components, so that the
/// code of a propagator is no longer than that of a link.
struct Trips {
  int trips, chunk;
  bool operator==(const Trips&) const = default;
};

constexpr int kLongestChunk = 24;

Trips trips_for(int components, int stride) {
  int trips = 1;
  while (components / trips > kLongestChunk || components % (trips * stride) != 0) ++trips;
  return {trips, components / trips};
}

/// a^k(x) A^(chunk t), t < trips, as a field of the lattice.
std::shared_ptr<jit::Field> multiplier_field(const LatticeState& lattice, Trips trips) {
  static const char owner = 0;
  const int number = trips.trips << 16 | trips.chunk;
  return lattice.constant_field(&owner, number, Type::i64, trips.trips, [&](void* host) {
    const std::uint64_t trip_step = lcg_power(step_multiplier(lattice.whole()), trips.chunk);
    auto* out = static_cast<std::uint64_t*>(host);
    for (std::uint64_t multiplier : site_multipliers(lattice.whole(), lattice.here()))
      for (int t = 0; t < trips.trips; ++t, multiplier = lcg_multiply(multiplier, trip_step)) *out++ = multiplier;
  });
}

constexpr std::int16_t kTarget = 0, kMultipliers = 1;

/// Kernels that draw: component c of a trip takes the state (s_c * site multiplier) mod 2^47, where the s_c, the global
/// seed moved on, are scalar arguments. So the draws of a site do not wait for each other.
class DrawKernel {
 public:
  DrawKernel(const char* name, const jit::Field& field, Trips trips, bool listed)
      : builder_(kernel_), word_(field.word()), trips_(trips) {
    kernel_.name = name;
    kernel_.lanes = field.order().lanes;
    kernel_.listed = listed;
    kernel_.trips = trips.trips;
    kernel_.leaves = {{.word = word_, .components = static_cast<std::int16_t>(field.components()), .written = true},
                      {.word = Type::i64, .components = static_cast<std::int16_t>(trips.trips), .read = true}};
    multiplier_ = builder_.load({.leaf = kMultipliers, .stride = 1});
  }

  ir::Builder& builder() { return builder_; }

  /// lcg_uniform of the next argument's state, in the word of the field.
  Value uniform() {
    const Value state = builder_.binary(ir::Op::and_, builder_.mul(builder_.argument(Type::i64), multiplier_),
                                        builder_.constant_int(Type::i64, kLcgMask));
    const Value low = builder_.convert(Type::i32, integer_op(ir::Op::and_, state, (1 << 24) - 1));
    const Value high = builder_.convert(Type::i32, integer_op(ir::Op::shr, state, 24));
    // The products are by powers of two, hence exact, and the sums round as those of lcg_uniform.
    const Value unit = builder_.constant(Type::f32, 0x1p-12);
    Value d = limb(integer_op(ir::Op::and_, low, 4095));
    d = builder_.fma(d, unit, limb(integer_op(ir::Op::shr, low, 12)));
    d = builder_.fma(d, unit, limb(integer_op(ir::Op::and_, high, 4095)));
    d = builder_.fma(d, unit, limb(integer_op(ir::Op::shr, high, 12)));
    return builder_.convert(word_, builder_.mul(d, builder_.constant(Type::f32, 0x1p-11)));
  }

  void store(int component, Value value) {
    kernel_.stores.push_back({.place = {.leaf = kTarget,
                                        .component = static_cast<std::int16_t>(component),
                                        .stride = static_cast<std::int16_t>(trips_.chunk)},
                              .value = value});
  }

  ir::Kernel finish() {
    builder_.finish();
    return std::move(kernel_);
  }

 private:
  Value integer_op(ir::Op op, Value x, std::int64_t constant) {
    return builder_.binary(op, x, builder_.constant_int(builder_.type(x), constant));
  }
  Value limb(Value integer) { return builder_.convert(Type::f32, integer); }

  ir::Kernel kernel_;
  ir::Builder builder_;
  Type word_;
  Trips trips_;
  Value multiplier_;
};

ir::Kernel random_kernel(const jit::Field& field, Trips trips, bool listed) {
  DrawKernel draw("random", field, trips, listed);
  for (int c = 0; c < trips.chunk; ++c) draw.store(c, draw.uniform());
  return draw.finish();
}

/// Takes r1 and r2 in turn from its arguments, only the components that are used.
ir::Kernel gaussian_kernel(const jit::Field& field, Trips trips, bool complex, bool listed) {
  DrawKernel draw("gaussian", field, trips, listed);
  ir::Builder& b = draw.builder();
  for (int c = 0; c < trips.chunk; c += complex ? 2 : 1) {
    const Value log_r1 = b.unary(ir::Op::log, draw.uniform());
    const Value radius = b.unary(ir::Op::sqrt, b.mul(b.constant(field.word(), -2), log_r1));
    const Value angle = b.mul(draw.uniform(), b.constant(field.word(), kTwoPi));
    draw.store(c, b.mul(radius, b.unary(ir::Op::cos, angle)));
    if (complex) draw.store(c + 1, b.mul(radius, b.unary(ir::Op::sin, angle)));
  }
  return draw.finish();
}

enum class Draw { uniform, normal_real, normal_complex };

void launch(Draw kind, jit::Field& field, Trips trips, const jit::Domain& domain,
            const std::vector<std::uint64_t>& seeds) {
  std::string what = "random numbers";
  for (const int x : {static_cast<int>(kind), static_cast<int>(field.word()), field.components(), field.order().lanes,
                      static_cast<int>(domain.listed)})
    what += ' ' + std::to_string(x);
  const jit::TableKey key = jit::table_key(what);
  jit::Runtime& runtime = jit::Runtime::instance();
  jit::KernelHandle* kernel = runtime.find(key);
  if (!kernel)
    kernel = runtime.add(key, kind == Draw::uniform
                                  ? random_kernel(field, trips, domain.listed)
                                  : gaussian_kernel(field, trips, kind == Draw::normal_complex, domain.listed));
  const auto multipliers = multiplier_field(lattice_of(field), trips);
  jit::Field* const fields[] = {&field, multipliers.get()};
  const jit::SiteMap* const maps[] = {nullptr};
  const jit::Launch launch{.kernel = kernel, .fields = fields, .maps = maps, .scalars = seeds, .domain = &domain};
  runtime.run({.parts = {&launch, 1}, .whole = domain.whole, .results = {}});
}

}  // namespace

void random_field(jit::Field& field, const Subset& subset) {
  const jit::RuntimeLock lock;
  check_random_word("random", field.word());
  const jit::Domain& domain = subset.domain_for(field.order());
  const std::uint64_t step = step_multiplier(lattice_of(field).whole());
  const Trips trips = trips_for(field.components(), 1);
  std::vector<std::uint64_t> seeds;
  std::uint64_t seed = random_seed();
  const std::uint64_t end = lcg_multiply(seed, lcg_power(step, field.components()));
  for (int c = 0; c < trips.chunk; ++c, seed = lcg_multiply(seed, step)) seeds.push_back(seed);
  if (domain.sites > 0) launch(Draw::uniform, field, trips, domain, seeds);
  set_random_seed(end);
}

void gaussian_field(jit::Field& field, bool complex, const Subset& subset) {
  const jit::RuntimeLock lock;
  check_random_word("gaussian", field.word());
  const jit::Domain& domain = subset.domain_for(field.order());
  const int stride = complex ? 2 : 1;  // the imaginary parts of both draws are not used
  const std::uint64_t step = step_multiplier(lattice_of(field).whole());
  const std::uint64_t used_step = lcg_power(step, stride), draw_step = lcg_power(step, field.components());
  const Trips trips = trips_for(field.components(), stride);
  std::vector<std::uint64_t> seeds;
  std::uint64_t first = random_seed();
  std::uint64_t second = lcg_multiply(first, draw_step);
  const std::uint64_t end = lcg_multiply(second, draw_step);
  for (int c = 0; c < trips.chunk; c += stride) {
    seeds.push_back(first);
    seeds.push_back(second);
    first = lcg_multiply(first, used_step);
    second = lcg_multiply(second, used_step);
  }
  if (domain.sites > 0) launch(complex ? Draw::normal_complex : Draw::normal_real, field, trips, domain, seeds);
  set_random_seed(end);
}

}  // namespace QDP::detail
