// Statements that wait (design D10): the same bits as one by one, fewer kernels, and nobody can tell otherwise.
#include "sketches.hpp"
#include "tests/message_of.hpp"
#include "tests/sizes.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "jit/memory/memory.hpp"
#include "jit/support/env.hpp"
#include "qdp/expr/queue.hpp"
#include "tests/captured_log.hpp"
#include "tests/jit/settings.hpp"

using namespace tests;
using namespace QDP;

namespace {

/// TESSERA_FUSE as said while it lives.
class Fuse {
 public:
  explicit Fuse(bool on) { set(on ? "1" : "0"); }
  ~Fuse() { before_ ? set(before_->c_str()) : set(nullptr); }
  Fuse(const Fuse&) = delete;
  Fuse& operator=(const Fuse&) = delete;

 private:
  static void set(const char* value) {
    jit::run_deferred();
    value != nullptr ? setenv("TESSERA_FUSE", value, 1) : unsetenv("TESSERA_FUSE");
    jit::reload_env();
  }
  std::optional<std::string> before_ =
      std::getenv("TESSERA_FUSE") ? std::optional<std::string>(std::getenv("TESSERA_FUSE")) : std::nullopt;
};

detail::QueueCounters counters() { return detail::Queue::instance().counters(); }
std::int64_t launches() { return jit::Runtime::instance().launches(); }

std::vector<double> contents(jit::Field& field) {
  const auto* words = static_cast<const double*>(field.host_read());
  return {words,
          words + static_cast<std::size_t>(Layout::sitesOnNode()) * static_cast<std::size_t>(field.components())};
}

/// A program of statements on fields of three kinds, sums and looks, the same for the same seed: all words at the end, and the sums.
std::vector<double> run_program(const SketchFields& fields, const std::vector<NamedSubset>& subsets, unsigned seed) {
  reference::seed_random(seed);
  const Kind kinds[] = {Kind::real, Kind::complex, Kind::matrix};
  for (const Kind kind : kinds)
    for (int n = 0; n < kFieldsOfAKind; ++n) {
      jit::Field& field = *fields.field(kind, n);
      auto* words = static_cast<double*>(field.host_overwrite());
      const int count = Layout::sitesOnNode() * field.components();
      for (int i = 0; i < count; ++i) words[i] = std::sin(1.0 + n + 3.7 * static_cast<int>(kind) + 0.37 * i);
    }
  std::vector<double> results;
  std::vector<std::shared_ptr<detail::PendingSum>> pending;
  const auto read_pending = [&] {
    const int n = any(static_cast<int>(pending.size()));
    detail::PendingSum& sum = *pending[static_cast<std::size_t>(n)];
    detail::finish(sum);
    results.insert(results.end(), sum.values, sum.values + sum.count);
    pending.erase(pending.begin() + n);
  };
  const int statements = 4 + any(12), often = any(3);
  const Subset* where = &subsets[static_cast<std::size_t>(any(static_cast<int>(subsets.size())))].subset;
  for (int line = 0; line < statements; ++line) {
    const SketchStatement s = random_statement(any(4));
    if (any(4) == 0) where = &subsets[static_cast<std::size_t>(any(static_cast<int>(subsets.size())))].subset;
    const detail::Shape shape = SketchFields::shape(s.rhs->kind);
    const jit::Domain& domain = where->domain();
    // Nought, and a copy, often of what comes next.
    for (const bool copies : {false, true}) {
      if (any(3) != 0) continue;
      const Kind kind = any(2) == 0 ? s.rhs->kind : kinds[any(3)];
      const detail::Shape of_kind = SketchFields::shape(kind);
      const int to = any(2) == 0 ? s.dest : any(kFieldsOfAKind), from = any(kFieldsOfAKind);
      detail::assign(fields.field(kind, to), of_kind, any(3) == 0 ? all.domain() : domain,
                     copies ? detail::make_field(fields.field(kind, from), of_kind)
                            : detail::to_expr(detail::zero_operand(of_kind)));
    }
    if (s.reduction == 0) {
      const auto& dest = fields.field(s.rhs->kind, s.dest);
      const detail::Expr rhs = fields.expression(s.rhs);
      if (any(4) == 0) {  // by way of a field that dies
        const auto aside = detail::new_field(shape);
        detail::assign(aside, shape, all.domain(), rhs);
        detail::assign(dest, shape, domain, detail::make_field(aside, shape));
      } else {
        detail::assign(dest, shape, domain, rhs);
      }
    } else if (any(2) == 0) {
      pending.push_back(
          detail::reduce_later(fields.expression(s.rhs), domain, static_cast<detail::Reduce>(s.reduction - 1)));
    } else {
      std::vector<double> sums(static_cast<std::size_t>(shape.components()));
      const jit::Domain* const on = &domain;
      detail::reduce(fields.expression(s.rhs), {&on, 1}, static_cast<detail::Reduce>(s.reduction - 1), sums.data());
      results.insert(results.end(), sums.begin(), sums.end());
    }
    const Kind kind = kinds[any(3)];
    const auto& seen = fields.field(kind, any(kFieldsOfAKind));
    if (!pending.empty() && any(3) == 0) read_pending();
    const int look = any(12 + 12 * often);
    if (look == 0) results.push_back(static_cast<const double*>(seen->host_read())[0]);
    if (look == 1) static_cast<double*>(seen->host_write())[0] += 1;
    if (look == 2) seen->swap(*fields.field(kind, 0));
  }
  while (pending.size() > 1) read_pending();  // one is never asked for
  for (const Kind kind : kinds)
    for (int n = 0; n < kFieldsOfAKind; ++n) {
      const std::vector<double> words = contents(*fields.field(kind, n));
      results.insert(results.end(), words.begin(), words.end());
    }
  return results;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (std::memcmp(&a[i], &b[i], sizeof(double)) != 0 && !(std::isnan(a[i]) && std::isnan(b[i]))) return false;
  return true;
}

}  // namespace

TEST_CASE("random programs give the bits of their statements one by one") {
  for (const Extents& extents : {Extents{4, 4, 2, 4}, Extents{3, 2, 2, 3}, Extents{1, 1, 1, 1}}) {
    create_lattice(extents);
    const Places places(extents);
    const SketchFields fields(places, false);
    const std::vector<NamedSubset> where = subsets(extents);
    const auto before = counters();
    for (unsigned seed = 1; seed <= 150; ++seed) {
      std::vector<double> expected, got;
      {
        const Fuse off(false);
        expected = run_program(fields, where, seed);
      }
      {
        const Fuse on(true);
        got = run_program(fields, where, seed);
      }
      CHECK_MESSAGE(same_bits(expected, got), "seed ", seed);
    }
    const std::int64_t programs = counters().programs - before.programs;
    MESSAGE(programs, " programs of ", counters().fused - before.fused, " statements, ",
            counters().apart - before.apart, " apart, ", counters().dropped - before.dropped, " values not stored");
    CHECK(counters().programs - before.programs > 100);
    CHECK(counters().dropped - before.dropped > 20);
  }
}

namespace {

double distance(const LatticeComplexD& a, const LatticeComplexD& b) { return toDouble(norm2(LatticeComplexD(a - b))); }

double distance_of(const DComplex& a, const DComplex& b) { return toDouble(norm2(a - b)); }

LatticeComplexD random_field() {
  LatticeComplexD a;
  gaussian(a);
  return a;
}

struct Parity : SetFunc {
  int operator()(const multi1d<int>& x) const override {
    int sum = 0;
    for (int mu = 0; mu < Nd; ++mu) sum += x[mu];
    return sum % 2;
  }
  int numSubsets() const override { return 2; }
};

}  // namespace

TEST_CASE("the vectors of conjugate gradients are two kernels, and the sum is part of one") {
  create_lattice({4, 4, 4, 4});
  LatticeComplexD x = random_field(), r = random_field(), p = random_field(), q = random_field();
  const Double a = 0.3, b = 0.7;
  const LatticeComplexD x1 = x + a * p, r1 = r - a * q, p1 = r1 + b * p;
  const Double expected = norm2(r1);
  const Fuse on(true);
  const std::int64_t start = launches();
  const auto before = counters();
  x += a * p;
  r -= a * q;
  const Double rr = norm2(r);
  CHECK(counters().programs == before.programs + 1);  // x waits for more
  p = r + b * p;
  CHECK(launches() == start + 2);  // which is a look
  CHECK(counters().fused == before.fused + 4);
  CHECK(toDouble(rr) == toDouble(expected));
  const Fuse off(false);
  CHECK(distance(x, x1) == 0);
  CHECK(distance(r, r1) == 0);
  CHECK(distance(p, p1) == 0);
}

TEST_CASE("a product that is stored by columns, one of its factors among them, is computed aside whatever waits") {
  create_small({2, 2, 2, 2});
  using Propagator = LatticePropagatorD;
  const auto product = [](bool waits, const std::function<void(Propagator&, Propagator&)>& before) {
    const Fuse fuse(waits);
    reference::seed_random(7);
    auto p = random_lattice<Propagator::Subtype_t>(), q = random_lattice<Propagator::Subtype_t>();
    before(p, q);
    p = p * q;
    return contents(*p.field());
  };
  const std::function<void(Propagator&, Propagator&)> some[] = {[](auto&, auto&) {}, [](auto& p, auto& q) { q = p; },
                                                                [](auto& p, auto& q) { p += q; }};
  for (const auto& before : some) CHECK(product(true, before) == product(false, before));
}

TEST_CASE("what nobody can read any more is not stored, and not computed") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const LatticeComplexD expected = (a * b + a) * b;
  const Fuse on(true);
  const std::int64_t start = launches();
  const auto before = counters();
  LatticeComplexD c, d;
  {
    LatticeComplexD t = a * b;
    t += a;
    c = t * b;
    const LatticeComplexD never = a + b;
    d = a;  // overwritten
    d = b;
  }
  CHECK(launches() - start <= 2);
  CHECK(counters().dropped - before.dropped == 4);
  CHECK(distance(c, expected) == 0);
  CHECK(distance(d, b) == 0);
}

TEST_CASE("what is read only for what nobody can read any more is not computed, either, and cannot fail") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field();
  const Fuse on(true);
  jit::run_deferred();
  const auto before = counters();
  LatticeComplexD kept;
  {
    LatticeComplexD once, twice, thrice, in_parts;
    in_parts[even] = a;
    in_parts[odd] = 2.0 * a;
    once = shift(a, FORWARD, 0);
    kept = shift(once, FORWARD, 1);
    twice = shift(kept, FORWARD, 0);
    thrice = shift(twice, FORWARD, 1);
  }
  jit::run_deferred();
  if (tests::job_ranks() == 1) CHECK(counters().statements - before.statements == 6);
  if (tests::job_ranks() == 1) CHECK(counters().dropped - before.dropped == 4);
  CHECK(distance(kept, LatticeComplexD(shift(LatticeComplexD(shift(a, FORWARD, 0)), FORWARD, 1))) == 0);
}

TEST_CASE("what nobody can read any more leaves the queue, with its memory, at a look at something else") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field(), c = random_field();
  const LatticeComplexD expected = c + c;
  const Double sum = norm2(LatticeComplexD(a * b));
  const Fuse on(true);
  LatticeComplexD waits;
  const std::int64_t launched = launches();
  waits[odd] = c + c;
  jit::Memory& memory = jit::Memory::instance();
  std::size_t live = 0;
  const auto before = counters();
  constexpr int kRounds = 8;
  for (int n = 0; n < kRounds; ++n) {
    {
      LatticeComplexD value = a * b, kept, read;
      CHECK(toDouble(norm2(value)) == toDouble(sum));
      kept[even] = value;
      read[even] = waits;
    }
    const LatticeComplexD other = a + b;
    norm2(other);
    if (n == 0) live = memory.live_bytes();
    CHECK(memory.live_bytes() == live);
  }
  CHECK(counters().dropped - before.dropped == 2 * kRounds);
  const std::int64_t start = launches();  // which is a look: what has waited runs now
  CHECK(start - launched == 2 * kRounds + 1);
  waits[even] = expected;
  CHECK(distance(waits, expected) == 0);
}

TEST_CASE("sixteen statements, 32 fields and as many results as a sum may have go into one kernel, and no more") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field();
  const Fuse on(true);
  const auto launches_of = [&](const auto& statements) {
    jit::run_deferred();
    const std::int64_t start = launches();
    statements();
    jit::run_deferred();
    return launches() - start;
  };
  for (const int n : {1, 15, 16, 17, 32, 33}) {
    CAPTURE(n);
    std::vector<LatticeComplexD> x, y, expected;
    for (int i = 0; i < n; ++i) {
      x.push_back(random_field());
      y.push_back(random_field());
      const Fuse off(false);
      expected.push_back(x.back() + a);
    }
    CHECK(launches_of([&] {
            for (auto& field : x) field += a;
          }) == (n + 15) / 16);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(distance(x[i], expected[i]) == 0);
    // Two fields each, and the one that all have: fifteen statements of 31 fields.
    CHECK(launches_of([&] {
            for (std::size_t i = 0; i < x.size(); ++i) x[i] = a * y[i];
          }) == (n + 14) / 15);
  }
  if (tests::job_ranks() > 1) return;  // where sums do not wait
  // A sum of complex numbers has two results, of which one kernel has 24.
  for (const int n : {12, 13, 24, 25}) {
    CAPTURE(n);
    std::vector<LatticeComplexD> x;
    std::vector<DComplex> expected;
    for (int i = 0; i < n; ++i) {
      x.push_back(random_field());
      const Fuse off(false);
      expected.push_back(sum(a * x.back()));
    }
    std::vector<PendingSum<DComplex>> sums;
    CHECK(launches_of([&] {
            for (const auto& field : x) sums.push_back(pending_sum(a * field, all));
            for (auto& one : sums) (void)one.get();
          }) == (n + 11) / 12);
    for (std::size_t i = 0; i < sums.size(); ++i) CHECK(distance_of(sums[i].get(), expected[i]) == 0);
  }
}

TEST_CASE("a program whose fields are too many for the device's memory runs statement by statement") {
  jit::Memory& memory = jit::Memory::instance();
  if (&memory == &jit::Memory::host()) return;  // where fields cannot leave
  create_lattice({4, 4, 4, 4});
  std::vector<LatticeComplexD> a;
  for (int i = 0; i < 6; ++i) a.push_back(random_field());
  const auto chain = [&] {
    LatticeComplexD v = a[0] * a[1];
    for (std::size_t i = 2; i < a.size(); ++i) {
      LatticeComplexD next = i % 2 == 0 ? v * a[i] : v + a[i];
      v = next;
    }
    return v;
  };
  const auto expected = [&] {
    const Fuse off(false);
    return chain();
  }();
  const Double expected_norm = norm2(expected);
  const Fuse on(true);
  for (const bool sum : {false, true}) {
    const auto before = counters();
    for (LatticeComplexD& field : a) field.elem(0);  // to the host
    memory.release_kept();
    memory.set_limit(4 * (Layout::sitesOnNode() * 2 * sizeof(double)));
    const LatticeComplexD v = chain();
    const Double norm = sum ? norm2(v) : expected_norm;
    jit::run_deferred();
    memory.set_limit(0);
    CHECK(toDouble(norm) == toDouble(expected_norm));
    CHECK(distance(v, expected) == 0);
    CHECK(counters().apart > before.apart);
  }
}

TEST_CASE("shifts of what waits, and what is shifted before it changes") {
  create_lattice({4, 2, 3, 4});
  const LatticeComplexD a = random_field(), b = random_field(), c = random_field();
  const LatticeComplexD ab = a * b, s = shift(ab, FORWARD, 0), t = shift(a, BACKWARD, 1) + c;
  const Fuse on(true);
  LatticeComplexD x, y, u = a, v;
  x = a * b;
  y = shift(x, FORWARD, 0);       // needs x everywhere
  x = c;                          // after y
  v = shift(u, BACKWARD, 1) + c;  // needs u as it was
  u = b;
  CHECK(distance(y, s) == 0);
  CHECK(distance(x, c) == 0);
  CHECK(distance(v, t) == 0);
  CHECK(distance(u, b) == 0);
  // Through itself.
  LatticeComplexD w = a;
  w = shift(w, FORWARD, 0) * w;
  w[rb[0]] = shift(w, FORWARD, Nd - 1);
  const Fuse off(false);
  LatticeComplexD z = shift(a, FORWARD, 0) * a;
  z[rb[0]] = shift(z, FORWARD, Nd - 1);
  CHECK(distance(w, z) == 0);
}

TEST_CASE("parts of the lattice that overlap keep their order") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const auto run = [&] {
    LatticeComplexD x = a;
    x[rb[0]] = b * x;
    x = x + a;
    x[rb[1]] = x * x;
    x[even] += b;
    {
      const Set own{Parity()};
      x[own[1]] = x + b;
    }  // the set ends before the statement has run
    CHECK_FALSE(jit::deferred_waiting());
    return x;
  };
  const LatticeComplexD expected = run();
  const Fuse on(true);
  const LatticeComplexD got = run();
  CHECK(distance(got, expected) == 0);
}

TEST_CASE("a field that begins with its parts") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  LatticeComplexD expected = a;
  expected[rb[1]] = b;
  const Double even_part = norm2(a, rb[0]);
  const Fuse on(true);
  LatticeComplexD x, y;
  x[rb[0]] = a;
  x[rb[1]] = b;  // waits while the first half is summed
  CHECK(toDouble(norm2(x, rb[0])) == toDouble(even_part));
  y[rb[1]] = x;
  y[rb[0]] = x;
  CHECK(distance(x, expected) == 0);
  CHECK(distance(y, expected) == 0);
}

TEST_CASE("an element may be read and written at any time") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const auto run = [&](LatticeComplexD& x, LatticeComplexD& y) {
    x = a + b;
    y = x * b;
    const double seen = toDouble(real(peekSite(y, multi1d<int>(Layout::siteCoords(0, 0)))));
    x.elem(0).elem().elem() = RComplex<double>(1, 2);
    y += x;
    x.elem(0).elem().elem() = RComplex<double>(3, 4);  // y has the value from before
    y *= a;
    x = zero;
    return seen + y.elem(0).elem().elem().real();
  };
  LatticeComplexD x, y, u, v;
  const double expected = run(x, y);
  const Fuse on(true);
  const double got = run(u, v);
  CHECK(got == expected);
  CHECK(distance(y, v) == 0);
  CHECK(distance(x, u) == 0);
}

TEST_CASE("random numbers are drawn in the order of the statements") {
  create_lattice({4, 2, 2, 4});
  const auto run = [&] {
    Seed seed;
    seed = 11;
    RNG::setrn(seed);
    LatticeComplexD x, y, z;
    gaussian(x);
    y = x * x;
    gaussian(x);
    z = x + y;
    gaussian(y);
    return LatticeComplexD(z * y + x);
  };
  const LatticeComplexD expected = run();
  const Fuse on(true);
  const LatticeComplexD got = run();
  CHECK(distance(got, expected) == 0);
}

TEST_CASE("a program that would be too large runs statement by statement") {
  TESSERA_NEEDS_QCD("the hopping term of quarks");
  create_lattice({4, 4, 2, 4});
  multi1d<LatticeColorMatrixD> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  LatticeFermionD psi;
  gaussian(psi);
  const auto product = [&](const LatticeFermionD& in) {
    LatticeFermionD out = u[0] * in;
    for (int i = 0; i < 12; ++i) out = u[i % Nd] * (adj(u[(i + 1) % Nd]) * (u[(i + 2) % Nd] * (u[i % Nd] * out)));
    return out;
  };
  const LatticeFermionD expected = product(psi);
  const Fuse on(true);
  const auto before = counters();
  const LatticeFermionD got = product(psi);
  CHECK(toDouble(norm2(LatticeFermionD(got - expected))) == 0);
  CHECK(counters().apart > before.apart);
}

TEST_CASE("a statement that fails later names itself at the look, and its result has no contents") {
  create_lattice({8, 8, 8, 8});
  const LatticeComplexD a = random_field(), b = random_field();
  LatticeComplexD kept = a * b;
  jit::run_deferred();
  const Fuse on(true);
  LatticeComplexD x, y, z, shifted;
  jit::Memory& memory = jit::Memory::instance();
  x = a + b;
  y = x * b;
  z = x + y;
  shifted = shift(z, FORWARD, 0);
  memory.release_kept();
  memory.set_limit(1);
  CHECK_THROWS_AS(norm2(shifted), jit::DeviceError);
  memory.set_limit(0);
  for (const LatticeComplexD* lost : {&x, &y, &z, &shifted})
    CHECK(contains(message_of([&] { norm2(*lost); }), "it failed"));
  CHECK(contains(message_of([&] { x.elem(0); }), "it failed"));
  CHECK(contains(message_of([&] {
                   y = x;
                   norm2(y);
                 }),
                 "it failed"));
  CHECK(toDouble(norm2(kept)) > 0);
  x = a, y = b;
  CHECK(distance(x, a) == 0);
  CHECK(distance(y, b) == 0);
}

TEST_CASE("what is wrong with a statement is said at once, and what waits goes on") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD old = random_field();
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field();
  const LatticeComplexD expected = a * a;
  const Fuse on(true);
  LatticeComplexD x = a * a, y = a;
  CHECK(contains(message_of([&] { x = x + old; }), "one lattice"));
  CHECK(contains(message_of([&] { y += old; }), "one lattice"));
  CHECK(distance(x, expected) == 0);
  CHECK(distance(y, a) == 0);
}

TEST_CASE("a lattice may end before the statements on it have run") {
  const Fuse on(true);
  for (int i = 0; i < 3; ++i) {
    create_lattice({2 + 2 * i, 2, 2, 2});
    LatticeComplexD x = random_field(), y = x + x;
    y *= x;
  }
  create_lattice({2, 2, 2, 2});
  const LatticeComplexD x = random_field();
  CHECK(toDouble(norm2(x)) > 0);
}

TEST_CASE("a sum takes with it only what it depends on") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const Double expected = norm2(a);
  const Fuse on(true);
  LatticeComplexD x = a, y = b;
  jit::run_deferred();
  const auto before = counters();
  x += b;  // reads b, writes x
  CHECK(toDouble(norm2(a)) == toDouble(expected));
  y = y * b;
  x -= b;
  CHECK(toDouble(norm2(x)) != 0);
  CHECK(counters().programs - before.programs == 1);
  CHECK(counters().fused - before.fused == 4);  // x twice, y beside it as they share b, and the sum
}

TEST_CASE("a sum of what several kernels store") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field(), c = random_field(), d = random_field();
  const LatticeComplexD ab = a + b, cd = c + d, before = shift(cd, FORWARD, 0);
  const DComplex expected = innerProduct(ab, cd), shifted = innerProduct(ab, before);
  const Fuse on(true);
  LatticeComplexD x = a + b, y = c + d;
  DComplex got = innerProduct(x, y);
  CHECK(toDouble(real(got)) == toDouble(real(expected)));
  x = a + b, y = c + d;
  got = innerProduct(x, shift(y, FORWARD, 0));
  CHECK(toDouble(real(got)) == toDouble(real(shifted)));
}

TEST_CASE("a sum that waits is that of the values at its place, whenever it is asked for") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const LatticeComplexD ab = a + b;
  const Double square = norm2(ab);
  const DComplex product = innerProduct(ab, a), odd = sum(ab, rb[1]);
  for (const bool fuse : {false, true}) {
    const Fuse on(fuse);
    jit::run_deferred();
    const std::int64_t start = launches();
    LatticeComplexD x = a + b;
    const auto pending_square = pending_sum(localNorm2(x), all);
    const auto pending_product = pending_sum(localInnerProduct(x, a), all);
    const auto pending_odd = pending_sum(x, rb[1]);
    x = b;
    CHECK(distance_of(pending_product.get(), product) == 0);
    CHECK(toDouble(pending_square.get()) == toDouble(square));
    for (int twice = 0; twice < 2; ++twice) CHECK(distance_of(pending_odd.get(), odd) == 0);
    // x with two sums, the sum over other sites, and x once more.
    CHECK((launches() - start == 3 || !fuse || tests::job_ranks() > 1));  // where sums do not wait
    CHECK(distance(x, b) == 0);
  }
  CHECK(contains(message_of([] { pending_sum(LatticePropagatorD(zero), all); }), "at most 24"));
}

TEST_CASE("a sum that waits and is too large for one kernel, and one of nothing but numbers") {
  TESSERA_NEEDS_QCD("products of propagators");
  create_lattice({4, 2, 2, 4});
  LatticePropagatorD a, b, c;
  for (LatticePropagatorD* f : {&a, &b, &c}) gaussian(*f);
  const DComplex expected = sum(trace(adj(a) * b * c * a), rb[0]);
  const Fuse on(true);
  LatticePropagatorD d = b;
  const auto waiting = pending_sum(trace(adj(a) * d * c * a), rb[0]);
  d = c;
  CHECK(distance_of(waiting.get(), expected) <= 1e-20 * toDouble(norm2(expected)));
  CHECK(toDouble(pending_sum(LatticeReal(1.0) + LatticeReal(1.0), all).get()) == 2.0 * Layout::vol());
}

TEST_CASE("a sum that waits for a statement that fails says so, and others are what they are") {
  if (tests::job_ranks() > 1) TESSERA_SKIP("neither sums nor shifts wait on several ranks");
  create_lattice({8, 8, 8, 8});
  const LatticeComplexD a = random_field(), b = random_field();
  const Double expected = norm2(a);
  jit::run_deferred();
  const Fuse on(true);
  jit::Memory& memory = jit::Memory::instance();
  LatticeComplexD x, y;
  x = shift(a, FORWARD, 0);
  y = shift(x, FORWARD, 0);
  const auto lost = pending_sum(localNorm2(y), all);
  memory.release_kept();
  memory.set_limit(1);
  CHECK_THROWS_AS(lost.get(), jit::DeviceError);
  memory.set_limit(0);
  CHECK_THROWS_AS(lost.get(), jit::DeviceError);
  CHECK(contains(message_of([&] { y.elem(0); }), "it failed"));
  CHECK(toDouble(pending_sum(localNorm2(a), all).get()) == toDouble(expected));

  // Sums that were asked for before and after, of what did not fail.
  const auto before = pending_sum(localNorm2(a), rb[0]);
  y = shift(b, FORWARD, 0);
  const auto bad = pending_sum(localNorm2(y), all);
  const auto good = pending_sum(localNorm2(a), all);
  memory.release_kept();
  memory.set_limit(1);
  CHECK(toDouble(good.get()) == toDouble(expected));
  CHECK(toDouble(before.get()) < toDouble(expected));
  memory.set_limit(0);
  CHECK_THROWS_AS(bad.get(), jit::DeviceError);
  CHECK(contains(message_of([&] { y.elem(0); }), "it failed"));
}

TEST_CASE("a sum that nobody can ask for is not computed, and ranks may look at what they want meanwhile") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const LatticeComplexD ab = a + b;
  const Double expected = norm2(ab), other = norm2(b);
  const Fuse on(true);
  const std::int64_t start = launches();
  pending_sum(localNorm2(a * b), all);
  if (tests::job_ranks() == 1) CHECK(launches() == start);
  LatticeComplexD x = a + b;
  const auto waiting = pending_sum(localNorm2(x), all);
  if (tests::job_rank() == 0) x.elem(0);
  CHECK(toDouble(norm2(b)) == toDouble(other));
  CHECK(toDouble(waiting.get()) == toDouble(expected));
}

TEST_CASE("statements that share links and read at other sites stay kernels of their own, side by side") {
  create_lattice({8, 4, 4, 8});
  const LatticeComplexD u = random_field();
  constexpr std::size_t kSides = 5;
  std::vector<LatticeComplexD> in, expected, got(kSides);
  std::vector<double> norms;
  for (std::size_t i = 0; i < kSides; ++i) in.push_back(random_field());
  const auto hop = [&](const LatticeComplexD& psi) {
    return u * shift(psi, FORWARD, Nd - 1) + shift(u * psi, BACKWARD, 0);
  };
  {
    const Fuse off(false);
    for (const LatticeComplexD& psi : in) {
      LatticeComplexD once = hop(psi);
      expected.push_back(hop(once));
      norms.push_back(toDouble(norm2(expected.back())));
    }
  }
  for (const int computations : {1, static_cast<int>(kSides)}) {
    const Fuse on(true);
    jit::run_deferred();
    const Alongside many(computations);
    const auto before = counters();
    const auto kernels = jit::Runtime::instance().kernels().size();
    std::vector<PendingSum<Double>> sums;
    for (std::size_t i = 0; i < kSides; ++i) {
      LatticeComplexD once = hop(in[i]);
      got[i] = hop(once);
      sums.push_back(pending_sum(localNorm2(got[i]), all));
    }
    for (std::size_t i = 0; i < kSides; ++i) {
      CHECK(toDouble(sums[i].get()) == norms[i]);
      CHECK(distance(got[i], expected[i]) == 0);
    }
    // Those of one side do for all; and the one of distance(). On several ranks three kinds of faces are summed, too.
    CHECK(jit::Runtime::instance().kernels().size() <= kernels + (tests::job_ranks() == 1 ? 3 : 6));
    if (computations > 1 && tests::job_ranks() == 1) CHECK(counters().beside - before.beside == 2 * kSides);
  }
}

TEST_CASE("what continues a statement joins it, however many others wait") {
  create_lattice({4, 4, 4, 4});
  const Fuse on(true);
  constexpr std::size_t kMost = detail::Queue::kMostGroups, kMore = kMost + 4;
  std::vector<LatticeComplexD> in, out(kMore), next(kMore);
  for (std::size_t i = 0; i < out.size(); ++i) in.push_back(random_field());
  jit::run_deferred();
  const auto before = counters();
  std::vector<PendingSum<Double>> sums;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = 2.0 * in[i];  // the first of these have run when the last comes
  for (std::size_t i = out.size(); i-- > kMost;) next[i] = out[i] * in[i];
  for (std::size_t i = out.size(); i-- > kMost;) sums.push_back(pending_sum(localNorm2(next[i]), all));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const LatticeComplexD& first = in[kMore - 1 - i];
    CHECK(toDouble(sums[i].get()) == toDouble(norm2(LatticeComplexD(2.0 * first * first))));
  }
  if (tests::job_ranks() == 1) CHECK(counters().fused - before.fused >= 12);
  // As many as may wait, each of which goes on.
  jit::run_deferred();
  const auto then = counters();
  for (std::size_t i = 0; i < kMost; ++i) out[i] = 3.0 * in[i];
  for (std::size_t i = 0; i < kMost; ++i) next[i] = out[i] * in[i];
  jit::run_deferred();
  CHECK(counters().programs - then.programs == kMost);
  CHECK(counters().fused - then.fused == 2 * kMost);
  for (std::size_t i = 0; i < kMost; ++i) CHECK(distance(next[i], LatticeComplexD(3.0 * in[i] * in[i])) == 0);
}

TEST_CASE("a first part waits for what is added to it, whatever is computed for that in between") {
  create_lattice({4, 4, 4, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const auto begins_with = [&](bool nought, bool seen_between) {
    LatticeComplexD sum, once, twice, seen;
    nought ? sum = zero : sum = 2.0 * b;
    once = shift(a, FORWARD, 0);
    if (seen_between) seen = shift(sum, FORWARD, 1);
    twice = shift(once * a, BACKWARD, 0);
    sum += shift(twice, FORWARD, 1) * once;
    if (seen_between) sum += seen;
    return sum;
  };
  for (const bool nought : {true, false})
    for (const bool seen_between : {false, true}) {
      CAPTURE(nought);
      CAPTURE(seen_between);
      LatticeComplexD expected;
      {
        const Fuse off(false);
        expected = begins_with(nought, seen_between);
      }
      const Fuse on(true);
      jit::run_deferred();
      const auto before = counters();
      const LatticeComplexD got = begins_with(nought, seen_between);
      jit::run_deferred();
      // What is read in between is computed before.
      if (tests::job_ranks() == 1) CHECK(counters().programs - before.programs == 1);
      if (tests::job_ranks() == 1) CHECK(counters().fused - before.fused == 2);
      CHECK(distance(got, expected) == 0);
    }
}

TEST_CASE("computations carried on all at once, some at once and one after the other have the same bits") {
  create_lattice({16, 8, 4, 4});
  const LatticeComplexD u = random_field();
  constexpr std::size_t kSides = 6;
  std::vector<LatticeComplexD> in, expected, got(kSides);
  LatticeComplexD expected_of_two;
  std::vector<double> norms;
  for (std::size_t i = 0; i < kSides; ++i) in.push_back(random_field());
  const auto hop = [&](const LatticeComplexD& psi) { return u * shift(psi, FORWARD, Nd - 1) - in[0] * psi; };
  {
    const Fuse off(false);
    for (const LatticeComplexD& psi : in) {
      LatticeComplexD once = hop(psi), twice = hop(once);
      expected.push_back(hop(twice));
      norms.push_back(toDouble(norm2(expected.back())));
    }
    expected_of_two = hop(expected[kSides - 1]) + expected[0];
  }
  const Fuse on(true);
  jit::run_deferred();
  const Alongside many(kSides);
  std::set<std::int64_t> beside;
  const bool chooses = tests::job_ranks() == 1 && jit::env().tune != jit::Env::Tune::off;
  const auto begin = std::chrono::steady_clock::now();
  const auto tries_on = [&] {
    const auto passed = std::chrono::steady_clock::now() - begin;
    return chooses && !beside.contains(0) &&
           passed < std::chrono::seconds(60);  // code of several may take long to make
  };
  for (int times = 0; times < 20 || tries_on(); ++times) {
    const auto before = counters();
    std::vector<PendingSum<Double>> sums;
    for (std::size_t i = 0; i < kSides; ++i) {
      LatticeComplexD once = hop(in[i]), twice = hop(once);
      got[i] = hop(twice);
      sums.push_back(pending_sum(localNorm2(got[i]), all));
    }
    LatticeComplexD of_two = hop(got[kSides - 1]) + got[0];  // carries on two of them
    for (std::size_t i = 0; i < kSides; ++i) {
      CHECK(toDouble(sums[i].get()) == norms[i]);
      CHECK(distance(got[i], expected[i]) == 0);
    }
    CHECK(distance(of_two, expected_of_two) == 0);
    beside.insert(counters().beside - before.beside);
  }
  if (chooses) CHECK(beside.contains(0));
  // Without caches, kernels of two or four of them have run.
  const auto kernels = jit::Runtime::instance().kernels();
  const bool merged = std::ranges::any_of(kernels, [](const jit::KernelInfo& kernel) {
    return kernel.calls > 0 && (kernel.name.ends_with(" x 2") || kernel.name.ends_with(" x 4"));
  });
  if (tests::job_ranks() == 1) CHECK(merged == !jit::Runtime::instance().has_caches());
}

TEST_CASE("as many computations as memory has room for, and at least one") {
  create_lattice({4, 4, 4, 4});
  jit::Memory& memory = jit::Memory::instance();
  const LatticeComplexD a = random_field();
  jit::run_deferred();
  const auto computations = [&](std::size_t room, double bytes) {
    const std::size_t before = memory.limit();
    memory.set_limit(before - memory.room() + room);
    const int number = Alongside(4, bytes).computations();
    memory.set_limit(before);
    return number;
  };
  CHECK(computations(4000000, 1e6) == 4);
  CHECK(computations(3999999, 1e6) == 3);
  CHECK(computations(1000000, 1e6) == 1);
  CHECK(computations(1000, 1e6) == 1);
  CHECK(computations(1000, 0) == 4);
  CHECK(Alongside(4, 1).computations() == 4);
}

TEST_CASE("rounds: as many take a step together as is fastest, and at least one") {
  create_lattice({4, 4, 4, 4});
  const bool chooses = tests::job_ranks() == 1 && jit::env().fuse && jit::env().tune != jit::Env::Tune::off;
  const auto spend = [](std::chrono::microseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  for (const int fastest : {1, 2, 4}) {
    Alongside many(4);
    int now = 4;
    for (int round = 0; round < 200; ++round) {
      now = many.next_round(4);
      for (int i = 0; i < now; ++i) spend(std::chrono::microseconds(now == fastest ? 10 : 40));
    }
    CHECK(now == (chooses ? fastest : 4));
    CHECK(many.next_round(1) == 1);
    CHECK(many.next_round(3) == (chooses ? std::min(fastest, 3) : 3));
  }
}

TEST_CASE("what is read at other sites is computed before, piece by piece or not") {
  create_lattice({8, 8, 8, 8});
  const LatticeComplexD a = random_field(), b = random_field();
  for (const int computations : {1, 3}) {
    const Fuse on(true);
    jit::run_deferred();
    const Alongside many(computations);
    for (int mu = 0; mu < Nd; ++mu)
      for (int times = 0; times < 3; ++times) {
        // Other numbers each time: fields get the memory of those before.
        const Double factor = 1 + times + 3 * mu + 100 * computations;
        const LatticeComplexD ab = factor * a * b;
        LatticeComplexD x = factor * a * b, y = shift(x, FORWARD, mu) + a, z = shift(y - a, BACKWARD, mu);
        const auto waiting = pending_sum(localNorm2(z - ab), all);
        x = shift(z, BACKWARD, mu), y = shift(x, FORWARD, mu);
        CHECK(toDouble(waiting.get()) < 1e-20 * toDouble(norm2(ab)));
        CHECK(distance(y, z) == 0);
      }
  }
}

TEST_CASE("values go through their field's storage, whether they are stored or not") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  LatticeRealD infinite;
  infinite = 1.0 / 0.0;
  const auto rounded = [&] {
    const LatticeComplexF f = a * b;
    return LatticeComplexD(f * b);
  };
  const auto times_nought = [&] {
    LatticeComplexD nought = zero;
    LatticeComplexD x = nought * infinite;  // not a number, whereas a nought that is no number at all would vanish
    return toBool(sum(where(real(x) == real(x), LatticeReal(Real(1)), LatticeReal(Real(0)))) == Double(0));
  };
  const LatticeComplexD expected = rounded();
  CHECK(times_nought());
  const Fuse on(true);
  const LatticeComplexD got = rounded();
  CHECK(distance(got, expected) == 0);
  CHECK(times_nought());
}

TEST_CASE("of new kernels that run one after the other the later ones are expected, where code takes long to make") {
  const tests::Setting verbose("TESSERA_LOG", "debug,tune");
  const Fuse on(true);
  create_lattice({8, 4, 4, 4});
  LatticeFermion a, b, c, d;
  gaussian(a);
  gaussian(b);
  const auto program = [&] {
    c[even] = a + Real(0.5) * b - Real(0.25) * (b + a);
    d[odd] = a - Real(0.5) * b + Real(0.25) * (b - a);
    d[even] = shift(d, FORWARD, 0) - Real(2) * c;
    return toDouble(norm2(d));
  };
  const auto expected = [&](const tests::CapturedLog& log) {
    return std::ranges::count_if(log.lines(),
                                 [](const std::string& line) { return line.find(" is expected") != line.npos; });
  };
  const bool is_gpu = jit::Runtime::instance().device() != "cpu";
  double first = 0;
  {
    const tests::CapturedLog log;
    first = program();
    CHECK(expected(log) >= (is_gpu && tests::job_ranks() == 1 ? 2 : 0));
    CHECK(expected(log) <= (is_gpu ? 4 : 0));
  }
  const tests::CapturedLog log;
  CHECK(program() == first);
  CHECK(expected(log) == 0);
}

TEST_CASE("a stop watch measures what was asked for while it ran") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const Fuse on(true);
  LatticeComplexD x, y;
  const auto before = counters();
  StopWatch watch;
  watch.start();
  x = a * b;
  y = a + x;
  watch.stop();
  CHECK(counters().programs == before.programs + 1);
  x = a + b;
  y = b * x;
  watch.start();
  CHECK(counters().programs == before.programs + 2);
  watch.stop();
}

TEST_CASE("what waits when a process forks runs once") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  const Fuse on(true);
  LatticeComplexD x, y;
  const auto before = counters();
  x = a * b;
  y = a + x;
  const pid_t child = fork();
  if (child == 0) _exit(counters().programs == before.programs + 1 ? 0 : 1);
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(counters().programs == before.programs + 1);
}

TEST_CASE("sites that are read, written and swapped one by one see what was asked for before") {
  create_lattice({4, 2, 2, 4});
  const LatticeComplexD a = random_field(), b = random_field();
  multi1d<int> origin(Nd);
  origin = 0;
  const auto at = [&](const LatticeComplexD& x) { return toDouble(real(peekSite(x, origin))); };
  const Fuse on(true);
  LatticeComplexD x, y, z = a;
  jit::run_deferred();
  x = a + b;
  CHECK(at(x) == at(a) + at(b));
  y = z * b;
  pokeSite(z, cmplx(Real64(5), Real64(0)), origin);
  CHECK(distance(y, LatticeComplexD(a * b)) == 0);
  CHECK(at(z) == 5);
  x = a;
  pokeSite(x, cmplx(Real64(7), Real64(0)), origin);
  x = x + z;
  CHECK(at(x) == 12);
  // What the host alone has, and is done with.
  x.elem(0) = a.elem(0);
  const LatticeComplexD kept = x;
  jit::run_deferred();
  x.elem(0) = a.elem(0);
  y = x * b;
  x.field()->host_done();
  CHECK(distance(y, LatticeComplexD(kept * b)) == 0);
  CHECK(distance(x, kept) == 0);
  y = a, z = b;
  y.field()->swap(*z.field());
  CHECK(distance(y, b) == 0);
  CHECK(distance(z, a) == 0);
}
