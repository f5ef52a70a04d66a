// What scripts/peers measures of the language, written for QDP++ and compiled with it and with Tessera:
//
//   language SECONDS LATTICE...     threads by OMP_NUM_THREADS
//
// One line for each case: name, precision, seconds. The Wilson hopping term goes from one checkerboard to the other, all else runs over
// the lattice.
#include "qdp.h"

#include <cstdio>
#include <cstdlib>

#include "timing.hpp"

using namespace QDP;
using peers::seconds_of;

namespace {

template <class Fermion, class ColorMatrix, class R>
void measure(const char* precision) {
  multi1d<ColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);  // 18 reals, whatever their values
  Fermion psi, chi, phi;
  gaussian(psi);
  gaussian(chi);
  const auto tell = [&](const char* name, double seconds) { peers::tell(name, precision, seconds); };
  tell("hop", seconds_of([&] {
         phi[rb[0]] = spinReconstructDir0Minus(u[0] * shift(spinProjectDir0Minus(psi), FORWARD, 0)) +
                      spinReconstructDir0Plus(shift(adj(u[0]) * spinProjectDir0Plus(psi), BACKWARD, 0)) +
                      spinReconstructDir1Minus(u[1] * shift(spinProjectDir1Minus(psi), FORWARD, 1)) +
                      spinReconstructDir1Plus(shift(adj(u[1]) * spinProjectDir1Plus(psi), BACKWARD, 1)) +
                      spinReconstructDir2Minus(u[2] * shift(spinProjectDir2Minus(psi), FORWARD, 2)) +
                      spinReconstructDir2Plus(shift(adj(u[2]) * spinProjectDir2Plus(psi), BACKWARD, 2)) +
                      spinReconstructDir3Minus(u[3] * shift(spinProjectDir3Minus(psi), FORWARD, 3)) +
                      spinReconstructDir3Plus(shift(adj(u[3]) * spinProjectDir3Plus(psi), BACKWARD, 3));
       }));
  const R a = 0.5;
  tell("axpy", seconds_of([&] { phi = a * psi + chi; }));
  tell("norm2", seconds_of([&] { (void)toDouble(norm2(psi)); }));
  tell("inner_product", seconds_of([&] { (void)toDouble(real(innerProduct(psi, chi))); }));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 + Nd) {
    std::fprintf(stderr, "language: expected SECONDS and %d extents\n", Nd);
    return 2;
  }
  QDP_initialize(&argc, &argv);
  peers::budget = std::atof(argv[1]);
  multi1d<int> extents(Nd);
  for (int mu = 0; mu < Nd; ++mu) extents[mu] = std::atoi(argv[2 + mu]);
  Layout::setLattSize(extents);
  Layout::create();
  measure<LatticeFermionF, LatticeColorMatrixF, RealF>("single");
  measure<LatticeFermionD, LatticeColorMatrixD, RealD>("double");
  QDP_finalize();
  return 0;
}
