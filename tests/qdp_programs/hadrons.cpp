// Hadrons from Wilson propagators on a small lattice: sources, solves, two-point functions on time slices, results as XML.
#include "qdp.h"
using namespace QDP;

namespace {

class TimeSlices : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const { return x[Nd - 1]; }
  int numSubsets() const { return Layout::lattSize()[Nd - 1]; }
};

class Wilson {
 public:
  Wilson(const multi1d<LatticeColorMatrix>& u_, const Real& kappa_) : u(u_), kappa(kappa_) {}
  void apply(LatticeFermion& chi, const LatticeFermion& psi, int isign) const {
    LatticeFermion hop = zero;
    for (int mu = 0; mu < Nd; ++mu) {
      const LatticeFermion f = u[mu] * shift(psi, FORWARD, mu),
                           b = shift(LatticeFermion(adj(u[mu]) * psi), BACKWARD, mu);
      hop += f + b + Real(isign) * (Gamma(1 << mu) * (b - f));
    }
    chi = psi - kappa * hop;
  }
  int solve(LatticeFermion& psi, const LatticeFermion& chi) const {
    LatticeFermion r, p, ap, mp;
    apply(r, chi, -1);
    psi = zero;
    p = r;
    Double c = norm2(r);
    const Double stop = Double(1e-24) * c;
    int k = 0;
    for (; k < 300 && toBool(c > stop); ++k) {
      apply(mp, p, +1);
      apply(ap, mp, -1);
      const Real a = c / norm2(mp);
      psi += a * p;
      r -= a * ap;
      const Double c_new = norm2(r);
      const Real b = c_new / c;
      p = r + b * p;
      c = c_new;
    }
    return k;
  }

 private:
  const multi1d<LatticeColorMatrix>& u;
  Real kappa;
};

void into_propagator(LatticePropagator& q, const LatticeFermion& psi, int colour, int spin) {
  for (int s = 0; s < Ns; ++s) {
    LatticeColorMatrix block = peekSpin(q, s, spin);
    const LatticeColorVector v = peekSpin(psi, s);
    for (int c = 0; c < Nc; ++c) pokeColor(block, peekColor(v, c), c, colour);
    pokeSpin(q, block, s, spin);
  }
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[Nd - 1] = 6;
  Layout::setLattSize(nrow);
  Layout::create();

  // Abelian phases with determinant one.
  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeReal a;
    random(a);
    a -= Real(0.5);
    u[mu] = zero;
    pokeColor(u[mu], LatticeComplex(cmplx(cos(a), sin(a))), 0, 0);
    pokeColor(u[mu], LatticeComplex(cmplx(cos(a), -sin(a))), 1, 1);
    pokeColor(u[mu], LatticeComplex(Real(1)), 2, 2);
  }
  u[Nd - 1] *=
      where(Layout::latticeCoordinate(Nd - 1) == nrow[Nd - 1] - 1, LatticeReal(Real(-1)), LatticeReal(Real(1)));

  const Wilson wilson(u, 0.1);
  LatticePropagator q = zero;
  multi1d<int> origin(Nd);
  origin = 0;
  int most = 0;
  for (int c = 0; c < Nc; ++c)
    for (int s = 0; s < Ns; ++s) {
      Fermion point = zero;
      ColorVector v = zero;
      pokeColor(v, Complex(1), c);
      pokeSpin(point, v, s);
      LatticeFermion source = zero, psi;
      pokeSite(source, point, origin);
      most = std::max(most, wilson.solve(psi, source));
      into_propagator(q, psi, c, s);
    }
  QDPIO::cout << "iterations within bounds " << (most > 5 && most < 60) << std::endl;

  Set slices;
  slices.make(TimeSlices());
  const LatticePropagator anti = Gamma(15) * q * Gamma(15);
  XMLFileWriter xml("hadrons.xml");
  push(xml, "hadrons");
  const int mesons[] = {15, 1, 8, 0};
  XMLArrayWriter list(xml, 4);
  push(list, "mesons");
  for (int n = 0; n < 4; ++n) {
    push(list);
    const multi1d<DComplex> corr = sumMulti(trace(adj(anti) * Gamma(mesons[n]) * q * Gamma(mesons[n])), slices);
    multi1d<Double> re(corr.size());
    for (int t = 0; t < corr.size(); ++t) re[t] = real(corr[t]);
    write(list, "gamma", mesons[n]);
    write(list, "corr", re);
    pop(list);
  }
  pop(list);

  SpinMatrix one = Real(1);
  const SpinMatrix Cg5 = SpinMatrix(Gamma(5) * one), T = SpinMatrix(one + Gamma(8) * one);
  const LatticePropagator diquark = quarkContract13(LatticePropagator(q * Cg5), LatticePropagator(Cg5 * q));
  const LatticeComplex nucleon = LatticeComplex(trace(T * traceColor(q * traceSpin(diquark)))) +
                                 LatticeComplex(trace(T * traceColor(q * diquark)));
  const multi1d<DComplex> corr = sumMulti(nucleon, slices);
  push(xml, "nucleon");
  for (int t = 0; t < corr.size(); ++t) write(xml, "real", Real(real(corr[t])));
  pop(xml);
  pop(xml);

  QDP_finalize();
  return 0;
}
