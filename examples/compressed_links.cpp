// Fields in fewer words: SU(3) matrices kept as two rows, what becomes of matrices that are not quite SU(3), and 16 bits.
//
//   example_compressed_links

#include <exception>

#include "lib/gauge/gauge_field.hpp"
#include "lib/gauge/su3.hpp"
#include "qdp.h"

using namespace QDP;

/// sum_mu U_mu(x) psi(x+mu) + U_mu(x-mu)^+ psi(x-mu): the same words of code for any storage of the links.
LatticeFermion neighbours(const multi1d<LatticeColorMatrix>& u, const LatticeFermion& psi) {
  LatticeFermion sum = zero;
  for (int mu = 0; mu < Nd; ++mu) sum += u[mu] * shift(psi, FORWARD, mu) + shift(adj(u[mu]) * psi, BACKWARD, mu);
  return sum;
}

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 8;
  Layout::setLattSize(extents);
  Layout::create();

  qcd::GaugeField u(Nd);
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  qcd::reunitarize(u);
  u[Nd - 1] = where(Layout::latticeCoordinate(Nd - 1) == extents[Nd - 1] - 1, -u[Nd - 1], u[Nd - 1]);  // antiperiodic

  multi1d<LatticeColorMatrix> kept(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    const FieldStorage storage =
        fittingStorage(u[mu], 1e-14);  // two rows, and with a sign at each site for the last direction
    kept[mu].setStorage(storage) = u[mu];
    QDPIO::cout << "direction " << mu << ": " << name(storage) << std::endl;
  }

  LatticeFermion psi;
  gaussian(psi);
  const LatticeFermion exact = neighbours(u, psi), from_kept = neighbours(kept, psi);
  QDPIO::cout << "relative difference: " << sqrt(norm2(exact - from_kept) / norm2(exact)) << std::endl;

  keepInHalf(kept);
  LatticeFermion in_half(FieldStorage::half);
  in_half = psi;
  const LatticeFermion from_half = neighbours(kept, in_half);
  QDPIO::cout << "in 16 bits, " << name(kept[0].storage()) << " and " << name(in_half.storage()) << ": "
              << sqrt(norm2(exact - from_half) / norm2(exact)) << std::endl;

  try {
    kept[0] = u[0] + Real(0.1) * u[1];  // no SU(3) matrix
  } catch (const std::exception& error) {
    QDPIO::cout << error.what() << std::endl;
  }
  QDP_finalize();
}
