// SU(2) subgroups of SU(3) by arithmetic of fields: Cabibbo and Marinari's over-relaxation, the exponential of algebra fields.
#include "qdp.h"
using namespace QDP;

namespace {

// exp of a small matrix by its series, at every site.
LatticeColorMatrix exponential(const LatticeColorMatrix& a, int order) {
  LatticeColorMatrix result = Real(1), power = Real(1);
  for (int n = 1; n <= order; ++n) {
    power = LatticeColorMatrix(power * a) * (Real(1) / Real(n));
    result += power;
  }
  return result;
}

LatticeColorMatrix traceless_antihermitian(const LatticeColorMatrix& a) {
  LatticeColorMatrix p = Real(0.5) * (a - adj(a));
  const LatticeReal tr = imag(trace(p)) / Real(Nc);
  p -= LatticeColorMatrix(cmplx(LatticeReal(zero), tr));
  return p;
}

// The quaternion of a 2 x 2 block of u, of rows and columns i and j.
multi1d<LatticeReal> quaternion(const LatticeColorMatrix& u, int i, int j) {
  multi1d<LatticeReal> r(4);
  r[0] = real(peekColor(u, i, i)) + real(peekColor(u, j, j));
  r[1] = imag(peekColor(u, i, j)) + imag(peekColor(u, j, i));
  r[2] = real(peekColor(u, i, j)) - real(peekColor(u, j, i));
  r[3] = imag(peekColor(u, i, i)) - imag(peekColor(u, j, j));
  return r;
}

LatticeColorMatrix embedded(const multi1d<LatticeReal>& r, int i, int j) {
  LatticeColorMatrix v = Real(1);
  pokeColor(v, LatticeComplex(cmplx(r[0], r[3])), i, i);
  pokeColor(v, LatticeComplex(cmplx(r[2], r[1])), i, j);
  pokeColor(v, LatticeComplex(cmplx(-r[2], r[1])), j, i);
  pokeColor(v, LatticeComplex(cmplx(r[0], -r[3])), j, j);
  return v;
}

Double action(const multi1d<LatticeColorMatrix>& u) {
  Double s = zero;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      s += sum(real(trace(u[mu] * shift(u[nu], FORWARD, mu) * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]))));
  return s;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[2] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeColorMatrix a;
    random(a);
    u[mu] = exponential(traceless_antihermitian(a), 18);
    QDPIO::cout << sum(trace(u[mu])) << " unitary " << (toDouble(norm2(u[mu] * adj(u[mu]) - Real(1))) < 1e-24)
                << std::endl;
  }
  QDPIO::cout << "action " << action(u) << std::endl;

  for (int sweep = 0; sweep < 2; ++sweep)
    for (int mu = 0; mu < Nd; ++mu)
      for (int cb = 0; cb < 2; ++cb) {
        LatticeColorMatrix staples = zero;
        for (int nu = 0; nu < Nd; ++nu) {
          if (nu == mu) continue;
          const LatticeColorMatrix corner = shift(u[nu], FORWARD, mu);
          staples[rb[cb]] += corner * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]) +
                             shift(LatticeColorMatrix(adj(corner) * adj(u[mu]) * u[nu]), BACKWARD, nu);
        }
        for (int i = 0; i < Nc - 1; ++i)
          for (int j = i + 1; j < Nc; ++j) {
            const LatticeColorMatrix w = u[mu] * staples;
            multi1d<LatticeReal> r = quaternion(w, i, j);
            LatticeReal length = sqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
            length = where(length > Real(1e-12), length, LatticeReal(Real(1)));
            for (int k = 0; k < 4; ++k) r[k] /= length;
            const LatticeColorMatrix v = adj(embedded(r, i, j));
            u[mu][rb[cb]] = v * v * u[mu];
          }
      }
  QDPIO::cout << "microcanonical: " << action(u) << std::endl;
  for (int mu = 0; mu < Nd; ++mu)
    QDPIO::cout << sum(real(trace(u[mu]))) << " " << (toDouble(norm2(u[mu] * adj(u[mu]) - Real(1))) < 1e-23)
                << std::endl;

  QDP_finalize();
  return 0;
}
