// Colour matrices of other extents than physics has: components beyond 8 bits, sums of more than 16 terms.
#include "lattices.hpp"

#include "jit/runtime.hpp"
#include "qdp.h"

#include <doctest/doctest.h>

#include <complex>
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
  for (int s = 0; s < Layout::sitesOnNode(); ++s) {
    auto* words = reinterpret_cast<double*>(&x.elem(s));
    for (std::size_t c = 0; c < sizeof(x.elem(s)) / sizeof(double); ++c)
      words[c] = static_cast<double>((static_cast<int>(c) * 7 + s * 3 + seed * 5) % 11 - 5);
  }
}

template <int N>
void check() {
  tests::create_lattice({2, 2, 1, 1});
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
  CHECK(toDouble(norm2(a)) == square);
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) {
      const auto& z = total.elem().elem().elem(i, j);
      wrong += Complex(z.real(), z.imag()) != sums[static_cast<std::size_t>(i * N + j)];
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("colour matrices of 17 x 17") { check<17>(); }
TEST_CASE("colour matrices of 20 x 20") { check<20>(); }
