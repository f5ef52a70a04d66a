// Algebra of propagators: traces of parts, transposes, contractions of quarks, a baryon in two ways.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

LatticeComplex proton(const LatticePropagator& u, const LatticePropagator& d, const SpinMatrix& T,
                      const SpinMatrix& Cg5) {
  const LatticePropagator diquark = quarkContract13(u * Cg5, Cg5 * d);
  return LatticeComplex(trace(T * traceColor(u * traceSpin(diquark))) + trace(T * traceColor(u * diquark)));
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[3] = 4;
  Layout::setLattSize(nrow);
  Layout::create();
  std::cout << std::setprecision(12);

  LatticePropagator a, b;
  random(a);
  random(b);
  SpinMatrix one = 1.0;
  const SpinMatrix Cg5 = Gamma(5) * one, T = SpinMatrix(0.5 * (one + Gamma(8) * one));

  QDPIO::cout << "traces " << sum(trace(a)) << " " << sum(trace(traceSpin(a))) << " " << sum(trace(traceColor(a)))
              << std::endl;
  QDPIO::cout << "of products " << sum(trace(a * b)) << " " << sum(trace(adj(a) * b)) << " " << sum(trace(a * adj(b)))
              << " " << sum(trace(adj(a) * adj(b))) << std::endl;
  QDPIO::cout << "parts " << norm2(traceColor(a * b)) << " " << norm2(traceSpin(a * b)) << " " << sum(realTrace(a))
              << " " << sum(imagTrace(b)) << std::endl;
  const LatticePropagator t = transpose(a), ts = transposeSpin(a), both = transposeColor(ts);
  QDPIO::cout << "transposes " << norm2(LatticePropagator(t - both)) << " " << sum(trace(t * b)) << " "
              << sum(trace(ts * b)) << " " << norm2(LatticePropagator(conj(t) - adj(a))) << std::endl;

  QDPIO::cout << "13 " << norm2(quarkContract13(a, b)) << " " << sum(trace(quarkContract13(a, b))) << std::endl;
  QDPIO::cout << "14 " << norm2(quarkContract14(a, b)) << " " << sum(trace(quarkContract14(a, b))) << std::endl;
  QDPIO::cout << "23 " << norm2(quarkContract23(a, b)) << " " << sum(trace(quarkContract23(a, b))) << std::endl;
  QDPIO::cout << "24 " << norm2(quarkContract24(a, b)) << " " << sum(trace(quarkContract24(a, b))) << std::endl;
  QDPIO::cout << "12 " << norm2(quarkContract12(a, b)) << " " << sum(trace(quarkContract12(a, b))) << std::endl;
  QDPIO::cout << "34 " << norm2(quarkContract34(a, b)) << " " << sum(trace(quarkContract34(a, b))) << std::endl;
  QDPIO::cout << "traced " << norm2(traceSpin(quarkContract13(a, b))) << std::endl;

  QDPIO::cout << "proton " << sum(proton(a, b, T, Cg5)) << std::endl;
  QDPIO::cout << "minus " << sum(proton(LatticePropagator(-a), b, T, Cg5)) << std::endl;
  const LatticePropagator anti = Gamma(15) * adj(a) * Gamma(15);
  for (int n = 1; n < 16; n += 7)
    QDPIO::cout << "meson " << n << " " << sum(trace(anti * Gamma(n) * b * Gamma(n))) << std::endl;
  const LatticeReal pion = localNorm2(a);
  QDPIO::cout << "pion " << sum(pion) << " " << sum(real(trace(adj(a) * a))) << std::endl;

  // Rows and columns from fermions.
  LatticePropagator q = zero;
  for (int c = 0; c < Nc; ++c)
    for (int s = 0; s < Ns; ++s) {
      LatticeFermion psi = zero;
      for (int sink = 0; sink < Ns; ++sink) {
        const LatticeColorMatrix block = peekSpin(a, sink, s);
        LatticeColorVector v = zero;
        for (int k = 0; k < Nc; ++k) pokeColor(v, peekColor(block, k, c), k);
        pokeSpin(psi, v, sink);
      }
      for (int sink = 0; sink < Ns; ++sink)
        for (int k = 0; k < Nc; ++k) {
          LatticeColorMatrix block = peekSpin(q, sink, s);
          pokeColor(block, peekColor(peekSpin(psi, sink), k), k, c);
          pokeSpin(q, block, sink, s);
        }
    }
  QDPIO::cout << "taken apart and put together " << norm2(LatticePropagator(q - a)) << std::endl;

  QDP_finalize();
  return 0;
}
