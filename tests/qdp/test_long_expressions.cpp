// Expressions of hundreds of thousands of terms: no limit of a stack, linear time, the values of plain loops.
#include "lattices.hpp"

#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "qdp.h"

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

using namespace QDP;

namespace {

double at(const LatticeRealD& x, int i) { return x.elem(i).elem().elem().elem(); }

LatticeRealD numbers() {
  LatticeRealD x;
  random(x);
  return x;
}

template <class F>
void check_sites(const LatticeRealD& got, F expected) {
  for (int i = 0; i < Layout::sitesOnNode(); ++i) {
    const double x = at(got, i), y = expected(i);
    CHECK_MESSAGE(std::memcmp(&x, &y, sizeof x) == 0, "site ", i, ": ", x, " for ", y);
  }
}

using Expression = QDPExpr<LatticeRealD::Site, LatticeRealD>;

}  // namespace

TEST_CASE("a sum of 300000 terms of three fields") {
  tests::create_lattice({2, 2, 2, 2});
  const LatticeRealD x[] = {numbers(), numbers(), numbers()};
  constexpr int kTerms = 300000;
  Expression sum = x[0] + x[1];
  for (int n = 2; n < kTerms; ++n) sum = sum + x[n % 3];
  LatticeRealD r;
  const auto plain = [&](int i) {
    double s = at(x[0], i) + at(x[1], i);
    for (int n = 2; n < kTerms; ++n) s += at(x[n % 3], i);
    return s;
  };
  const auto launches = jit::Runtime::instance().launches();
  const auto kernels = jit::Runtime::instance().kernels().size();
  const std::size_t before = jit::Runtime::instance().field_bytes();
  r = sum;
  CHECK(jit::Runtime::instance().launches() - launches < kTerms / 100);
  CHECK(jit::Runtime::instance().kernels().size() - kernels < 10);
  // Three fields, and some 75 pieces, each of which goes when the next one has read it.
  CHECK(jit::Runtime::instance().peak_field_bytes() <= before / 3 * 10);
  check_sites(r, plain);

  // From the right, on a part of the lattice, and into one of the operands.
  Expression nested = x[0] + x[1];
  for (int n = 2; n < kTerms; ++n) nested = x[n % 3] + nested;
  LatticeRealD y = x[0];
  y[rb[1]] = nested;
  check_sites(y, [&](int i) {
    if (rb.latticeColoring()[i] == 0) return at(x[0], i);
    double s = at(x[0], i) + at(x[1], i);
    for (int n = 2; n < kTerms; ++n) s = at(x[n % 3], i) + s;
    return s;
  });
  CHECK(toDouble(QDP::sum(r)) == doctest::Approx(toDouble(QDP::sum(sum))));
}

TEST_CASE("a sum of 2000 different fields") {
  tests::create_lattice({2, 2, 2, 2});
  std::vector<LatticeRealD> x(2000);
  for (LatticeRealD& f : x) random(f);
  Expression sum = x[0] + x[1];
  for (std::size_t n = 2; n < x.size(); ++n) sum = sum + x[n];
  LatticeRealD r;
  r = sum;
  check_sites(r, [&](int i) {
    double s = at(x[0], i);
    for (std::size_t n = 1; n < x.size(); ++n) s += at(x[n], i);
    return s;
  });
}

TEST_CASE("a chain of 300000 products by a scalar") {
  tests::create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  const double factors[] = {1.0009765625, 0.9990234375, 1.001};
  Expression chain = factors[0] * x;
  for (int n = 1; n < 300000; ++n) chain = factors[n % 3] * chain;
  LatticeRealD r;
  r = chain;
  check_sites(r, [&](int i) {
    double s = factors[0] * at(x, i);
    for (int n = 1; n < 300000; ++n) s = factors[n % 3] * s;
    return s;
  });
}

TEST_CASE("a long sum below a shift, and a deep tree on both sides") {
  tests::create_lattice({2, 2, 2, 4});
  const LatticeRealD x = numbers(), y = numbers();
  Expression sum = x + y;
  for (int n = 0; n < 3000; ++n) sum = n % 2 ? sum + x : y - sum;
  LatticeRealD whole, shifted, r, expected;
  whole = sum;
  shifted = shift(whole, FORWARD, Nd - 1);
  r = shift(sum, FORWARD, Nd - 1);
  check_sites(r, [&](int i) { return at(shifted, i); });
  r[rb[0]] = zero;
  expected = r;
  expected[rb[0]] = shifted * whole;
  r[rb[0]] = shift(sum, FORWARD, Nd - 1) * sum;
  check_sites(r, [&](int i) { return at(expected, i); });
}

TEST_CASE("pieces of a long statement wait: the last is one kernel with what follows, and none runs for nobody") {
  tests::create_lattice({2, 2, 2, 4});
  using Matrix = LatticeColorMatrixD;
  Matrix x, y, z;
  gaussian(x), gaussian(y), gaussian(z);
  constexpr int kTerms = 150;
  const auto term = [&](int n) {
    return n % 3 == 0 ? x * y : n % 3 == 1 ? z * shift(x, FORWARD, Nd - 1) : adj(y) * shift(z, BACKWARD, Nd - 1);
  };
  const auto long_sum = [&](const Matrix& first) {
    QDPExpr<Matrix::Site, Matrix> sum = first + term(0);
    for (int n = 1; n < kTerms; ++n) sum = sum + term(n);
    return sum;
  };
  const auto plain = [&](const Matrix& first) {
    Matrix sum = first;
    for (int n = 0; n < kTerms; ++n) sum = sum + term(n);
    return sum;
  };
  jit::Runtime& runtime = jit::Runtime::instance();
  const auto launches_of = [&](auto&& statements) {
    const auto before = runtime.launches();
    statements();
    return runtime.launches() - before;
  };
  Matrix r, twice;
  const auto alone = launches_of([&] { r = long_sum(x); });
  CHECK(toDouble(norm2(r - plain(x))) == 0);
  const auto both = launches_of([&] { r = long_sum(x), twice = r + r; });
  CHECK(toDouble(norm2(twice - 2 * r)) == 0);
  CHECK(toDouble(norm2(r - plain(x))) == 0);
  // It reads what it writes, on a part of the lattice, and so does what follows.
  Matrix w = x, expected = x;
  w[rb[1]] = long_sum(w), w[rb[1]] = w - x;
  expected[rb[1]] = plain(x) - x;
  CHECK(toDouble(norm2(w - expected)) == 0);
  const auto for_nobody = launches_of([&] {
    Matrix lost;
    lost = long_sum(x);
  });
  if (Nc < 3) return;  // one kernel takes all of it
  CHECK(alone > 3);
  if (tests::job_ranks() > 1 || !jit::env().fuse) return;  // messages are for all of it
  CHECK(both == alone);
  CHECK(for_nobody == 0);
}

TEST_CASE("trees that are never evaluated are released") {
  tests::create_lattice({2, 2, 2, 2});
  const LatticeRealD x = numbers();
  Expression sum = x + x;
  for (int n = 0; n < 300000; ++n) sum = n % 2 ? sum + x : x + sum;
}
