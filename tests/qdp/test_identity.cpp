// Which statements share a kernel: those that compute the same, and no others, whatever ran before.
#include "places.hpp"

#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/inspect.hpp"

#include <cstring>

using namespace tests;
using namespace QDP;

namespace {

std::size_t kernels() { return jit::Runtime::instance().kernels().size(); }

LatticeRealD numbers() {
  LatticeRealD x;
  random(x);
  return x;
}

/// Site for site, f of the operands' values before the statement.
template <class F>
void check_sites(const char* what, const LatticeRealD& got, F f) {
  for (int i = 0; i < Layout::sitesOnNode(); ++i) {
    const double x = got.elem(i).elem().elem().elem(), expected = f(i);
    CHECK_MESSAGE(std::memcmp(&x, &expected, sizeof x) == 0, what, ", site ", i, ": ", x, " for ", expected);
  }
}
double at(const LatticeRealD& x, int i) { return x.elem(i).elem().elem().elem(); }

template <class T, class X>
std::vector<std::byte> key_of(const OLattice<T>& dest, const X& rhs) {
  return detail::inspect_assign(dest.field(), detail::shape_of<T>, all.domain(), detail::to_expr(rhs)).key;
}

/// A function that is used before its initialiser has run: static objects are nought until then.
union NotYet {
  constexpr NotYet() : bytes{} {}
  ~NotYet() {}
  unsigned char bytes[sizeof(SiteFunction<1>)];
  SiteFunction<1> function;
} not_yet;

}  // namespace

TEST_CASE("a product of a sum, then a sum times a factor") {
  create_lattice({2, 2, 2, 2});
  LatticeRealD a = Real(2.0), x = Real(3.0), y = Real(5.0);
  a = a * (x + y);
  check_sites("a * (x + y)", a, [](int) { return 16.0; });
  a = Real(2.0);
  a = (a + x) * y;
  check_sites("(a + x) * y", a, [](int) { return 25.0; });
}

TEST_CASE("an inner product with a sum on the right, then on the left") {
  create_lattice({2, 2, 2, 4});
  const auto f = random_lattice<Sites<double>::ColorVector>(), g = random_lattice<Sites<double>::ColorVector>(),
             h = random_lattice<Sites<double>::ColorVector>();
  LatticeColorVectorD sum;
  sum = g + h;
  const double right = toDouble(real(innerProduct(f, sum)));
  CHECK(toDouble(real(innerProduct(f, g + h))) == doctest::Approx(right));
  sum = f + g;
  const double left = toDouble(real(innerProduct(sum, h)));
  CHECK(toDouble(real(innerProduct(f + g, h))) == doctest::Approx(left));
  CHECK(left != doctest::Approx(right));
}

TEST_CASE("a sum of three from the left, then from the right") {
  create_lattice({2, 2, 2, 4});
  const LatticeRealD start = numbers(), y = numbers(), z = numbers();
  LatticeRealD x = start;
  x = x + y + z;
  check_sites("x + y + z", x, [&](int i) { return at(start, i) + at(y, i) + at(z, i); });
  x = start;
  x += y + z;
  check_sites("x += y + z", x, [&](int i) { return at(start, i) + (at(y, i) + at(z, i)); });
}

TEST_CASE("the key of a statement does not depend on what is held in variables") {
  create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers(), y = numbers();
  LatticeRealD r;
  const auto written_out = key_of(r, x * (x + y) + shift(x + y, FORWARD, 0));
  const auto sum = x + y;
  const auto product = x * sum;
  CHECK(key_of(r, product + shift(sum, FORWARD, 0)) == written_out);
  const auto scaled = 2.0 * x;
  CHECK(key_of(r, scaled + y) == key_of(r, 2.0 * x + y));
  CHECK(key_of(r, 2.0 * x + y) == key_of(r, 3.0 * y + x));
  CHECK(key_of(r, 2.0 * x + y) != key_of(r, y + 2.0 * x));
  // A scalar that occurs twice is one argument, two equal ones are two: they may differ next time.
  CHECK(key_of(r, scaled * scaled) != key_of(r, (2.0 * x) * (2.0 * x)));
  CHECK(key_of(r, shift(shift(x, FORWARD, 0), FORWARD, 0)) != key_of(r, shift(x, FORWARD, 0)));
  CHECK(key_of(x, x + y) != key_of(r, x + y));
}

TEST_CASE("kinds of reduction, of domain, and of result have kernels of their own") {
  const Extents extents =
      QDP_ND == 2 ? Extents{16, 32, 1, 1} : Extents{8, 8, 8, 8};  // whole groups of sites on every device
  create_lattice(extents);
  const LatticeRealD x = numbers(), y = numbers();
  const auto e = detail::to_expr(x * y);
  using detail::Reduce;
  Subset scattered = subsets(extents)[6].subset;
  std::vector<std::vector<std::byte>> keys;
  for (const Reduce kind : {Reduce::sum, Reduce::max, Reduce::min})
    for (const Subset* s : {&all, &scattered}) keys.push_back(detail::inspect_reduce(e, s->domain(), kind, 1).key);
  LatticeRealD r;
  LatticeRealF f;
  LatticeComplexD c;
  keys.push_back(key_of(r, x * y)), keys.push_back(key_of(f, x * y)), keys.push_back(key_of(c, x * y));
  for (std::size_t i = 0; i < keys.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) CHECK(keys[i] != keys[k]);
}

TEST_CASE("a tree whose parts occur often is as long as it has different parts") {
  create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  auto sum = x + x;
  for (int i = 0; i < 60; ++i) sum = sum + sum;  // 2^61 terms
  LatticeRealD r;
  r = sum;
  check_sites("2^61 x", r, [&](int i) { return std::ldexp(at(x, i), 61); });
}

TEST_CASE("site functions with the same body share kernels, others do not") {
  create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  LatticeRealD r;
  const auto scaled_by = [](double c) { return siteFunction<1>("scaled", [c](const Sym& s) { return c * s; }); };
  const auto once = scaled_by(3.0), again = scaled_by(3.0), other = scaled_by(5.0);
  r = once(x);
  const auto known = kernels();
  r = again(x);
  CHECK(kernels() == known);
  check_sites("3 x", r, [&](int i) { return 3 * at(x, i); });
  r = other(x);
  CHECK(kernels() == known + 1);
  check_sites("5 x", r, [&](int i) { return 5 * at(x, i); });
}

TEST_CASE("a site function before its initialiser has run is an error that says so") {
  create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  LatticeRealD r;
  CHECK_THROWS_WITH_AS(r = not_yet.function(x), doctest::Contains("initialiser"), jit::UserError);
  CHECK_THROWS_WITH_AS(not_yet.function(RealD(1.0)), doctest::Contains("initialiser"), jit::UserError);
}

TEST_CASE("a site function whose body runs a statement is an error that says so") {
  create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  LatticeRealD r = x, inside;
  const auto assigns = siteFunction<1>("assigns", [&](const Sym& s) {
    inside = x + x;
    return s;
  });
  const auto sums = siteFunction<1>("sums", [&](const Sym& s) { return toDouble(sum(x)) * s; });
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_WITH_AS(r = assigns(x), doctest::Contains("site function assigns: its body assigns to a field"),
                         jit::UserError);
    CHECK_THROWS_WITH_AS(r = sums(x), doctest::Contains("site function sums: its body sums over the lattice"),
                         jit::UserError);
  }
  const auto on_scalars =
      siteFunction<1>("on scalars", [](const Sym& s) { return toDouble(RealD(2.0) * RealD(0.25)) * s; });
  r = on_scalars(x);
  check_sites("x / 2", r, [&](int i) { return 0.5 * at(x, i); });
}
