// APE-like smearing of links projected to SU(3) by host loops, Jacobi smearing of a source.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

// Gram and Schmidt on rows, the last row from the others.
void reunit(LatticeColorMatrix& u) {
  for (int site = 0; site < Layout::sitesOnNode(); ++site) {
    for (int row = 0; row < Nc - 1; ++row) {
      for (int before = 0; before < row; ++before) {
        double re = 0, im = 0;
        for (int c = 0; c < Nc; ++c) {
          const double ar = u.elem(site).elem().elem(before, c).real(), ai = u.elem(site).elem().elem(before, c).imag();
          const double br = u.elem(site).elem().elem(row, c).real(), bi = u.elem(site).elem().elem(row, c).imag();
          re += ar * br + ai * bi;
          im += ar * bi - ai * br;
        }
        for (int c = 0; c < Nc; ++c) {
          const double ar = u.elem(site).elem().elem(before, c).real(), ai = u.elem(site).elem().elem(before, c).imag();
          u.elem(site).elem().elem(row, c).real() -= re * ar - im * ai;
          u.elem(site).elem().elem(row, c).imag() -= re * ai + im * ar;
        }
      }
      double norm = 0;
      for (int c = 0; c < Nc; ++c) {
        const double r = u.elem(site).elem().elem(row, c).real(), i = u.elem(site).elem().elem(row, c).imag();
        norm += r * r + i * i;
      }
      norm = 1 / std::sqrt(norm);
      for (int c = 0; c < Nc; ++c) {
        u.elem(site).elem().elem(row, c).real() *= norm;
        u.elem(site).elem().elem(row, c).imag() *= norm;
      }
    }
    for (int c = 0; c < Nc; ++c) {
      const int d = (c + 1) % 3, e = (c + 2) % 3;
      const RComplex<REAL> cross = u.elem(site).elem().elem(0, d) * u.elem(site).elem().elem(1, e) -
                                   u.elem(site).elem().elem(0, e) * u.elem(site).elem().elem(1, d);
      u.elem(site).elem().elem(2, c) = conj(cross);
    }
  }
}

LatticeComplex determinant(const LatticeColorMatrix& u) {
  LatticeComplex det = zero;
  for (int c = 0; c < 3; ++c) {
    const int d = (c + 1) % 3, e = (c + 2) % 3;
    det += peekColor(u, 0, c) * (peekColor(u, 1, d) * peekColor(u, 2, e) - peekColor(u, 1, e) * peekColor(u, 2, d));
  }
  return det;
}

void jacobi_smear(const multi1d<LatticeColorMatrix>& u, LatticeColorVector& chi, const Real& kappa, int steps,
                  int skip) {
  const LatticeColorVector start = chi;
  for (int n = 0; n < steps; ++n) {
    LatticeColorVector psi = start;
    for (int mu = 0; mu < Nd; ++mu)
      if (mu != skip) psi += kappa * (u[mu] * shift(chi, FORWARD, mu) + shift(adj(u[mu]) * chi, BACKWARD, mu));
    chi = psi;
  }
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[0] = nrow[3] = 2;
  Layout::setLattSize(nrow);
  Layout::create();
  std::cout << std::setprecision(11);

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    random(u[mu]);
    u[mu] += Real(1);
    reunit(u[mu]);
    QDPIO::cout << "unitary: " << (toDouble(norm2(u[mu] * adj(u[mu]) - Real(1))) < 1e-26)
                << ", det - 1: " << (toDouble(norm2(determinant(u[mu]) - Real(1))) < 1e-26) << ", trace "
                << sum(trace(u[mu])) << std::endl;
  }

  for (int step = 0; step < 2; ++step) {
    multi1d<LatticeColorMatrix> smeared(Nd);
    for (int mu = 0; mu < Nd; ++mu) {
      LatticeColorMatrix staples = zero;
      for (int nu = 0; nu < Nd; ++nu) {
        if (nu == mu || nu == 3 || mu == 3) continue;
        const LatticeColorMatrix corner = shift(u[nu], FORWARD, mu);
        staples += u[nu] * shift(u[mu], FORWARD, nu) * adj(corner);
        staples += shift(adj(u[nu]) * u[mu] * corner, BACKWARD, nu);
      }
      smeared[mu] = u[mu] + 0.3 * staples;
      if (mu != 3) reunit(smeared[mu]);
    }
    u = smeared;
    Double plaquettes = zero;
    for (int mu = 0; mu < 2; ++mu)
      for (int nu = mu + 1; nu < 3; ++nu)
        plaquettes += sum(real(trace(u[mu] * shift(u[nu], FORWARD, mu) * adj(u[nu] * shift(u[mu], FORWARD, nu)))));
    QDPIO::cout << "step " << step << ": " << plaquettes / Double(3 * 3 * Layout::vol()) << std::endl;
  }

  LatticeColorVector source = zero;
  multi1d<int> origin(Nd);
  origin = 0;
  ColorVector one = zero;
  pokeColor(one, Complex(1), 1);
  pokeSite(source, one, origin);
  jacobi_smear(u, source, 0.11, 4, 3);
  QDPIO::cout << "source: " << norm2(source) << " at the origin " << peekSite(source, origin) << std::endl;
  origin[1] = 1;
  QDPIO::cout << "beside it " << localNorm2(peekSite(source, origin)) << std::endl;

  QDP_finalize();
  return 0;
}
