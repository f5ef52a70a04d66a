// Wilson's hopping term in three ways, the hopping parameter expansion, and Jacobi's iteration on even and odd sites.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

void hop_by_projectors(LatticeFermion& chi, const multi1d<LatticeColorMatrix>& u, const LatticeFermion& psi, int isign,
                       const Subset& s) {
  chi[s] = zero;
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeHalfFermion ahead = u[mu] * shift(spinProject(psi, mu, -isign), FORWARD, mu);
    const LatticeHalfFermion behind = shift(adj(u[mu]) * spinProject(psi, mu, +isign), BACKWARD, mu);
    chi[s] += spinReconstruct(ahead, mu, -isign) + spinReconstruct(behind, mu, +isign);
  }
}

LatticeFermion hop_by_gammas(const multi1d<LatticeColorMatrix>& u, const LatticeFermion& psi, int isign) {
  LatticeFermion chi = zero;
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeFermion forward = u[mu] * shift(psi, FORWARD, mu);
    LatticeFermion backward = shift(adj(u[mu]) * psi, BACKWARD, mu);
    chi += forward + backward - Real(isign) * (Gamma(1 << mu) * (forward - backward));
  }
  return chi;
}

LatticeFermion hop_by_names(const multi1d<LatticeColorMatrix>& u, const LatticeFermion& psi) {
  return LatticeFermion(spinReconstructDir0Minus(u[0] * shift(spinProjectDir0Minus(psi), FORWARD, 0)) +
                        spinReconstructDir0Plus(shift(adj(u[0]) * spinProjectDir0Plus(psi), BACKWARD, 0)) +
                        spinReconstructDir1Minus(u[1] * shift(spinProjectDir1Minus(psi), FORWARD, 1)) +
                        spinReconstructDir1Plus(shift(adj(u[1]) * spinProjectDir1Plus(psi), BACKWARD, 1)) +
                        spinReconstructDir2Minus(u[2] * shift(spinProjectDir2Minus(psi), FORWARD, 2)) +
                        spinReconstructDir2Plus(shift(adj(u[2]) * spinProjectDir2Plus(psi), BACKWARD, 2)) +
                        spinReconstructDir3Minus(u[3] * shift(spinProjectDir3Minus(psi), FORWARD, 3)) +
                        spinReconstructDir3Plus(shift(adj(u[3]) * spinProjectDir3Plus(psi), BACKWARD, 3)));
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

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    random(u[mu]);
    u[mu] = Real(0.4) * u[mu] + Real(0.3);
  }
  LatticeFermion psi;
  random(psi);

  for (int isign = 1; isign >= -1; isign -= 2) {
    LatticeFermion chi;
    hop_by_projectors(chi, u, psi, isign, all);
    LatticeFermion other = hop_by_gammas(u, psi, isign);
    QDPIO::cout << isign << " " << norm2(chi) << " " << innerProduct(psi, chi) << " same "
                << (toDouble(norm2(chi - other)) < 1e-20 * toDouble(norm2(chi))) << std::endl;
    LatticeFermion halves;
    for (int cb = 0; cb < 2; ++cb) {
      hop_by_projectors(halves, u, psi, isign, rb[cb]);
      QDPIO::cout << "  on " << (cb == 0 ? "even" : "odd") << " sites " << norm2(halves, rb[cb]) << std::endl;
    }
    halves -= chi;
    QDPIO::cout << "  halves make the whole: " << (norm2(halves) == Double(0)) << std::endl;
  }
  LatticeFermion named = hop_by_names(u, psi), generic;
  hop_by_projectors(generic, u, psi, 1, all);
  QDPIO::cout << "names " << (toDouble(norm2(named - generic)) < 1e-20 * toDouble(norm2(named))) << std::endl;

  // gamma_5 hermiticity
  LatticeFermion eta, h_psi, h_eta;
  random(eta);
  hop_by_projectors(h_psi, u, psi, 1, all);
  hop_by_projectors(h_eta, u, eta, -1, all);
  const DComplex left = innerProduct(eta, h_psi), right = conj(innerProduct(psi, h_eta));
  QDPIO::cout << left << " " << (toDouble(localNorm2(left - right)) < 1e-18) << std::endl;

  // psi = sum_n kappa^n H^n eta
  const Real kappa = 0.02;
  LatticeFermion power = eta, expansion = eta;
  for (int n = 1; n <= 12; ++n) {
    LatticeFermion next;
    hop_by_projectors(next, u, power, 1, all);
    power = kappa * next;
    expansion += power;
    if (n % 4 == 0) QDPIO::cout << n << " " << norm2(power) << " " << norm2(expansion) << std::endl;
  }
  LatticeFermion jacobi = zero, h;
  for (int n = 0; n <= 12; ++n) {
    hop_by_projectors(h, u, jacobi, 1, all);
    jacobi = eta + kappa * h;
  }
  QDPIO::cout << "Jacobi does the same: " << (toDouble(norm2(jacobi - expansion)) < 1e-24 * toDouble(norm2(jacobi)))
              << std::endl;

  QDP_finalize();
  return 0;
}
