// Wilson loops of all sizes, Polyakov lines and a clover-leaf charge: shifts in shifts, products of many links.
#include "qdp.h"
using namespace QDP;

namespace {

LatticeColorMatrix line(const multi1d<LatticeColorMatrix>& u, int mu, int length) {
  LatticeColorMatrix product = u[mu];
  for (int n = 1; n < length; ++n) product = LatticeColorMatrix(u[mu] * shift(product, FORWARD, mu));
  return product;
}

template <typename T>
T displaced(const T& x, int mu, int steps) {
  T result = x;
  for (int n = 0; n < steps; ++n) result = T(shift(result, FORWARD, mu));
  return result;
}

LatticeColorMatrix leaves(const multi1d<LatticeColorMatrix>& u, int mu, int nu) {
  LatticeColorMatrix f = u[mu] * shift(u[nu], FORWARD, mu) * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]);
  f += u[nu] * shift(shift(adj(u[mu]), FORWARD, nu), BACKWARD, mu) * shift(adj(u[nu]), BACKWARD, mu) *
       shift(u[mu], BACKWARD, mu);
  f += shift(adj(u[mu]), BACKWARD, mu) * shift(shift(adj(u[nu]), BACKWARD, mu), BACKWARD, nu) *
       shift(shift(u[mu], BACKWARD, mu), BACKWARD, nu) * shift(u[nu], BACKWARD, nu);
  f += shift(adj(u[nu]), BACKWARD, nu) * shift(u[mu], BACKWARD, nu) * shift(shift(u[nu], FORWARD, mu), BACKWARD, nu) *
       adj(u[mu]);
  return LatticeColorMatrix(Real(0.125) * (f - adj(f)));
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[1] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    random(u[mu]);
    u[mu] = Real(0.2) * u[mu] + Real(0.5);
  }

  for (int r = 1; r <= 2; ++r)
    for (int t = 1; t <= 3; ++t) {
      Double w = zero;
      for (int mu = 0; mu < Nd - 1; ++mu) {
        const LatticeColorMatrix bottom = line(u, mu, r), side = line(u, Nd - 1, t);
        w += sum(real(trace(bottom * displaced(side, mu, r) * adj(side * displaced(bottom, Nd - 1, t)))));
      }
      QDPIO::cout << "W(" << r << "," << t << ") = " << w / Double(3 * 3 * Layout::vol()) << std::endl;
    }
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeColorMatrix p = u[mu];
    for (int n = 1; n < nrow[mu]; ++n) {
      const LatticeColorMatrix rest = p;
      p = u[mu] * shift(rest, FORWARD, mu);
    }
    QDPIO::cout << "P(" << mu << ") = " << sum(trace(p)) / Double(3 * Layout::vol()) << std::endl;
  }

  const LatticeColorMatrix f01 = leaves(u, 0, 1), f23 = leaves(u, 2, 3), f02 = leaves(u, 0, 2), f31 = leaves(u, 3, 1),
                           f03 = leaves(u, 0, 3), f12 = leaves(u, 1, 2);
  QDPIO::cout << "charge " << sum(real(trace(f01 * f23 + f02 * f31 + f03 * f12))) << std::endl;
  QDPIO::cout << "energy " << -sum(real(trace(f01 * f01 + f23 * f23 + f02 * f02 + f31 * f31 + f03 * f03 + f12 * f12)))
              << std::endl;
  QDPIO::cout << "antisymmetric " << norm2(f01 + adj(f01)) << " "
              << (toDouble(norm2(f01 + leaves(u, 1, 0))) < 1e-26 * toDouble(norm2(f01))) << std::endl;

  // Four shifts in one expression, and results put where their operands are.
  LatticeColorMatrix far = shift(shift(shift(shift(u[0], FORWARD, 0), FORWARD, 1), BACKWARD, 2), BACKWARD, 3);
  QDPIO::cout << sum(trace(far * adj(u[0]))) << " " << norm2(far) - norm2(u[0]) << std::endl;
  LatticeColorMatrix moving = u[1];
  moving = adj(moving) * moving + shift(u[1], BACKWARD, 0);
  moving[rb[1]] = u[2] * shift(moving, FORWARD, 3);  // reads even sites, writes odd ones
  QDPIO::cout << sum(trace(moving)) << std::endl;

  QDP_finalize();
  return 0;
}
