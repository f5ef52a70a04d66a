// Gamma matrices: the sixteen products in both bases, from both sides, their algebra, charge conjugation.
#include "qdp.h"
using namespace QDP;

namespace {

SpinMatrix unit() {
  SpinMatrix g = 1.0;
  return g;
}

void print(const SpinMatrix& g) {
  for (int i = 0; i < Ns; ++i)
    for (int j = 0; j < Ns; ++j) {
      const Complex z = peekSpin(g, i, j);
      const double re = toDouble(real(z)), im = toDouble(imag(z));
      if (re != 0 || im != 0) QDPIO::cout << " " << i << j << ":" << re << "," << im;
    }
  QDPIO::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  const SpinMatrix one = unit();
  for (int n = 0; n < Ns * Ns; ++n) {
    QDPIO::cout << "Gamma(" << n << ")";
    print(Gamma(n) * one);
  }
  for (int n = 0; n < Ns * Ns; ++n) {
    QDPIO::cout << "GammaDP(" << n << ")";
    print(one * GammaDP(n));
  }

  int anticommute = 0, squares = 0, ordered = 0;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu) {
      const SpinMatrix a = Gamma(1 << mu) * SpinMatrix(Gamma(1 << nu) * one);
      const SpinMatrix b = Gamma(1 << nu) * SpinMatrix(Gamma(1 << mu) * one);
      const SpinMatrix ab = a + b;
      if (mu != nu && toDouble(norm2(ab)) == 0) ++anticommute;
      if (mu == nu && toDouble(norm2(SpinMatrix(a - one))) == 0) ++squares;
      if (mu < nu && toDouble(norm2(SpinMatrix(a - Gamma((1 << mu) + (1 << nu)) * one))) == 0) ++ordered;
    }
  QDPIO::cout << anticommute << " " << squares << " " << ordered << std::endl;

  LatticeFermion psi;
  LatticePropagator q;
  gaussian(psi);
  gaussian(q);
  bool same = true;
  for (int n = 0; n < Ns * Ns; ++n) {
    const SpinMatrix g = Gamma(n) * one, h = GammaDP(n) * one;
    same = same && toDouble(norm2(LatticeFermion(Gamma(n) * psi - g * psi))) < 1e-25;
    same = same && toDouble(norm2(LatticeFermion(GammaDP(n) * psi - h * psi))) < 1e-25;
    same = same &&
           toDouble(norm2(LatticePropagator(Gamma(n) * q * Gamma(15 - n) - g * q * (Gamma(15 - n) * one)))) < 1e-24;
    same = same && toDouble(norm2(LatticePropagator(q * GammaDP(n) - q * h))) < 1e-25;
  }
  QDPIO::cout << "fields agree with matrices: " << same << std::endl;
  QDPIO::cout << real(sum(trace(Gamma(5) * q * Gamma(5) * adj(q)))) << " " << sum(trace(GammaDP(7) * q)) << std::endl;
  const LatticeFermion fixed = GammaConst<Ns, 15>() * psi - Gamma(Ns * Ns - 1) * psi;
  QDPIO::cout << norm2(fixed) << std::endl;

  // Charge conjugation in both bases.
  for (int n = 1; n < Ns * Ns; n *= 2)
    QDPIO::cout << norm2(SpinMatrix(Gamma(10) * SpinMatrix(Gamma(n) * one) +
                                    transpose(SpinMatrix(Gamma(n) * one)) * Gamma(10)))
                << norm2(SpinMatrix(GammaDP(10) * SpinMatrix(GammaDP(n) * one) +
                                    transpose(SpinMatrix(GammaDP(n) * one)) * GammaDP(10)));
  QDPIO::cout << std::endl;

  QDP_finalize();
  return 0;
}
