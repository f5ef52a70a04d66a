// Two lattices in one program: a scalar field, averaged over blocks of 2^Nd sites onto a lattice of half the extents.
//
//   example_two_lattices

#include "qdp.h"

using namespace QDP;

/// sum_x sum_mu (phi(x+mu) - phi(x))^2, on whatever lattice phi lives.
Double kinetic_energy(const LatticeReal& phi) {
  Double energy = zero;
  for (int mu = 0; mu < Nd; ++mu) energy += norm2(shift(phi, FORWARD, mu) - phi);
  return energy;
}

/// Averages over blocks. Operands of a statement share a lattice, so this goes site by site on the host.
LatticeReal block_average(const LatticeReal& fine, const Layout::Lattice& coarse) {
  LatticeReal average(coarse);
  average = zero;
  const Real weight = 1.0 / (1 << Nd);
  for (int site = 0; site < fine.lattice().sitesOnNode(); ++site) {
    multi1d<int> x = Layout::siteCoords(0, site);  // of the present lattice: the fine one
    for (int mu = 0; mu < Nd; ++mu) x[mu] /= 2;
    pokeSite(average, Real(peekSite(average, x) + weight * getSite(fine, site)), x);
  }
  return average;
}

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 8;
  Layout::setLattSize(extents);
  Layout::create();
  extents = 4;
  const Layout::Lattice coarse(extents);

  LatticeReal phi;
  gaussian(phi);
  for (int sweep = 0; sweep < 10; ++sweep) {  // smooth it: each checkerboard becomes the mean of its neighbours
    LatticeReal neighbours = zero;
    for (int color = 0; color < 2; ++color) {
      neighbours[rb[color]] = zero;
      for (int mu = 0; mu < Nd; ++mu) neighbours[rb[color]] += shift(phi, FORWARD, mu) + shift(phi, BACKWARD, mu);
      phi[rb[color]] = neighbours / Real(2 * Nd);
    }
  }
  const LatticeReal blocked = block_average(phi, coarse);

  QDPIO::cout << "mean, fine and blocked: " << sum(phi) / Double(Layout::vol()) << " "
              << sum(blocked) / Double(coarse.vol()) << std::endl;
  QDPIO::cout << "kinetic energy per site: " << kinetic_energy(phi) / Double(Layout::vol()) << " "
              << kinetic_energy(blocked) / Double(coarse.vol()) << std::endl;
  {
    const Layout::Scope here(coarse);  // new fields and Layout:: mean the coarse lattice now
    LatticeReal noise;
    gaussian(noise);
    QDPIO::cout << "on " << Layout::vol() << " sites, phi dot noise: " << innerProduct(blocked, noise) << std::endl;
  }
  QDP_finalize();
}
