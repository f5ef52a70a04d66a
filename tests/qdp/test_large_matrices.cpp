// Colour matrices of other extents than physics has: components beyond 8 bits, sums of more than 16 terms.
#include "lattices.hpp"

#include "jit/comm/collectives.hpp"
#include "jit/runtime.hpp"
#include "qdp.h"
#include "tests/reference/whole.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <span>
#include <vector>

using namespace QDP;

namespace {

using Complex = std::complex<double>;

template <int N>
struct Large {
  using Matrix = OLattice<PScalar<PColorMatrix<RComplex<double>, N>>>;
  using Vector = OLattice<PScalar<PColorVector<RComplex<double>, N>>>;
};

template <class L>
Complex entry(const L& m, int site, int i, int j) {
  const auto& z = m.elem(site).elem().elem(i, j);
  return {z.real(), z.imag()};
}
template <class L>
Complex entry(const L& v, int site, int i) {
  const auto& z = v.elem(site).elem().elem(i);
  return {z.real(), z.imag()};
}

/// Small integers, so that sums are exact in any order.
template <class L>
void fill(L& x, int seed) {
  const std::vector<std::size_t> places = reference::places_here();
  for (int s = 0; s < Layout::sitesOnNode(); ++s) {
    const int place = static_cast<int>(places[static_cast<std::size_t>(s)]);
    auto* words = reinterpret_cast<double*>(&x.elem(s));
    for (std::size_t c = 0; c < sizeof(x.elem(s)) / sizeof(double); ++c)
      words[c] = static_cast<double>((static_cast<int>(c) * 7 + place * 3 + seed * 5) % 11 - 5);
  }
}

/// Of all ranks.
void add_up(std::vector<Complex>& sums) {
  if (tests::job_ranks() == 1) return;
  const std::span<double> parts(reinterpret_cast<double*>(sums.data()), 2 * sums.size());
  jit::reduce(jit::process_communicator(), parts, jit::ReductionValue::Kind::sum);
}

template <int N>
void check() {
  tests::create_small({2, 2, 1, 1});
  typename Large<N>::Matrix a, b, product, adjoint, poked;
  typename Large<N>::Vector v, w;
  fill(a, 1), fill(b, 2), fill(v, 3);
  product = a * b;
  adjoint = adj(a);
  w = a * v;
  LatticeComplexD t, peeked;
  t = trace(a);
  peeked = peekColor(a, N - 1, N - 2);
  poked = a;
  pokeColor(poked, t, N - 2, N - 1);
  const auto total = sum(a);
  double square = 0;
  std::vector<Complex> sums(static_cast<std::size_t>(N * N));
  int wrong = 0;
  for (int s = 0; s < Layout::sitesOnNode(); ++s) {
    Complex its_trace;
    for (int i = 0; i < N; ++i) its_trace += entry(a, s, i, i);
    for (int i = 0; i < N; ++i) {
      Complex row;
      for (int j = 0; j < N; ++j) {
        Complex z;
        for (int k = 0; k < N; ++k) z += entry(a, s, i, k) * entry(b, s, k, j);
        wrong += entry(product, s, i, j) != z;
        wrong += entry(adjoint, s, i, j) != std::conj(entry(a, s, j, i));
        wrong += entry(poked, s, i, j) != (i == N - 2 && j == N - 1 ? its_trace : entry(a, s, i, j));
        row += entry(a, s, i, j) * entry(v, s, j);
        square += std::norm(entry(a, s, i, j));
        sums[static_cast<std::size_t>(i * N + j)] += entry(a, s, i, j);
      }
      wrong += entry(w, s, i) != row;
    }
    const auto& p = peeked.elem(s).elem().elem();
    const auto& q = t.elem(s).elem().elem();
    wrong += Complex(q.real(), q.imag()) != its_trace;
    wrong += Complex(p.real(), p.imag()) != entry(a, s, N - 1, N - 2);
  }
  CHECK(wrong == 0);
  sums.emplace_back(square);
  add_up(sums);
  CHECK(toDouble(norm2(a)) == sums.back().real());
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const auto& z = total.elem().elem().elem(i, j);
      wrong += Complex(z.real(), z.imag()) != sums[static_cast<std::size_t>(i * N + j)];
    }
  CHECK(wrong == 0);
}

/// Products as statements use them: each against the plain product of the elements, which are small integers.
template <int N>
void check_products() {
  using Matrix = typename Large<N>::Matrix;
  using Scalar = OScalar<PScalar<PColorMatrix<RComplex<double>, N>>>;
  tests::create_small({2, 2, 1, 1});
  Matrix a, b, c, result;
  fill(a, 1), fill(b, 2), fill(c, 3);
  const int sites = Layout::sitesOnNode();
  const auto element = [](const Matrix& m) { return [&m](int s, int i, int j) { return entry(m, s, i, j); }; };
  const auto adjoint = [](const auto& m) { return [m](int s, int i, int j) { return std::conj(m(s, j, i)); }; };
  const auto times = [sites](const auto& l, const auto& r) {
    std::vector<Complex> all(static_cast<std::size_t>(sites * N * N));
    const auto at = [](int s, int i, int j) { return static_cast<std::size_t>((s * N + i) * N + j); };
    for (int s = 0; s < sites; ++s)
      for (int i = 0; i < N; ++i)
        for (int k = 0; k < N; ++k)
          for (int j = 0; j < N; ++j) all[at(s, i, j)] += l(s, i, k) * r(s, k, j);
    return [all, at](int s, int i, int j) { return all[at(s, i, j)]; };
  };
  const auto wrong = [&](const Matrix& m, const auto& expected) {
    int count = 0;
    for (int s = 0; s < sites; ++s)
      for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) count += entry(m, s, i, j) != expected(s, i, j);
    return count;
  };
  const auto x = element(a), y = element(b), z = element(c);
  const auto xy = times(x, y);

  result = a * adj(b);
  CHECK(wrong(result, times(x, adjoint(y))) == 0);
  result = transpose(a) * conj(b);
  CHECK(wrong(result, times([&](int s, int i, int j) { return x(s, j, i); },
                            [&](int s, int i, int j) { return std::conj(y(s, i, j)); })) == 0);
  result = adj(a * b);
  CHECK(wrong(result, adjoint(xy)) == 0);
  result = a * b * c;
  CHECK(wrong(result, times(xy, z)) == 0);
  result = a * (b * c - c);
  CHECK(wrong(result, times(x, [&, yz = times(y, z)](int s, int i, int j) { return yz(s, i, j) - z(s, i, j); })) == 0);
  result = (a * b + c) * b;
  CHECK(wrong(result, times([&](int s, int i, int j) { return xy(s, i, j) + z(s, i, j); }, y)) == 0);
  result = a * b + Real(2) * (c * a);
  CHECK(wrong(result, [&, zx = times(z, x)](int s, int i, int j) { return xy(s, i, j) + 2. * zx(s, i, j); }) == 0);
  Matrix there;
  there = shift(b, FORWARD, 0);
  result = shift(a * b, FORWARD, 0);
  Matrix ab;
  ab = a * b;
  Matrix shifted;
  shifted = shift(ab, FORWARD, 0);
  CHECK(wrong(result, element(shifted)) == 0);
  result = a * shift(b, FORWARD, 0);
  CHECK(wrong(result, times(x, element(there))) == 0);

  // The destination is an operand; a part of the lattice; a field and a matrix that is the same at all sites.
  result = a;
  result = result * b;
  CHECK(wrong(result, xy) == 0);
  result = c;
  result[rb[0]] = a * b;
  const multi1d<int> color = [] {
    multi1d<int> parity(Layout::sitesOnNode());
    for (int s = 0; s < parity.size(); ++s) {
      const multi1d<int> at = Layout::siteCoords(Layout::nodeNumber(), s);
      int total = 0;
      for (int mu = 0; mu < Nd; ++mu) total += at[mu];
      parity[s] = total % 2;
    }
    return parity;
  }();
  CHECK(wrong(result, [&](int s, int i, int j) { return color[s] == 0 ? xy(s, i, j) : z(s, i, j); }) == 0);
  const Scalar same = sum(c);
  const auto w = [&](int, int i, int j) {
    const auto& e = same.elem().elem().elem(i, j);
    return Complex(e.real(), e.imag());
  };
  result = same * a;
  CHECK(wrong(result, times(w, x)) == 0);
  result = adj(a) * same;
  CHECK(wrong(result, times(adjoint(x), w)) == 0);
  result = c;
  result[rb[1]] = same;
  CHECK(wrong(result, [&](int s, int i, int j) { return color[s] == 1 ? w(s, i, j) : z(s, i, j); }) == 0);

  LatticeComplexD traces;
  traces = trace(a * b);
  const Scalar total = sum(a * b);
  int count = 0;
  std::vector<Complex> sums(static_cast<std::size_t>(N * N));
  for (int s = 0; s < sites; ++s) {
    Complex t;
    for (int i = 0; i < N; ++i) t += xy(s, i, i);
    const auto& got = traces.elem(s).elem().elem();
    count += Complex(got.real(), got.imag()) != t;
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < N; ++j) sums[static_cast<std::size_t>(i * N + j)] += xy(s, i, j);
  }
  add_up(sums);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const auto& e = total.elem().elem().elem(i, j);
      count += Complex(e.real(), e.imag()) != sums[static_cast<std::size_t>(i * N + j)];
    }
  CHECK(count == 0);
}

}  // namespace

TEST_CASE("colour matrices of 17 x 17") { check<17>(); }
TEST_CASE("colour matrices of 20 x 20") { check<20>(); }
TEST_CASE("colour matrices of 33 x 33") { check<33>(); }
TEST_CASE("products of 17 x 17") { check_products<17>(); }
TEST_CASE("products of 24 x 24") { check_products<24>(); }
TEST_CASE("products of 64 x 64, compiled within seconds") {
  const auto before = jit::Runtime::instance().compilations();
  check_products<64>();
  // A kernel for each of some thirty statements and steps: not one for each part of a component's range.
  CHECK(jit::Runtime::instance().compilations() - before < 40);
}
