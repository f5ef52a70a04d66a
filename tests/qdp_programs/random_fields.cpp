// Random fields of every kind, in both precisions, noise sources: Z2, Z4, U(1); their first moments.
#include "qdp.h"
using namespace QDP;

namespace {

// Sums of single precision are only good to some digits.
double rounded(const Double& x, double digit) {
  return digit > 0 ? digit * std::floor(toDouble(x) / digit + 0.5) : toDouble(x);
}

template <typename T>
void moments(const char* name, double digit = 0) {
  T x, y;
  random(x);
  gaussian(y);
  QDPIO::cout << name << " " << rounded(norm2(x), digit) << " " << rounded(norm2(y), digit) << std::endl;
}

template <typename T>
void scalar(const char* name, double digit = 0) {
  T x;
  random(x);
  QDPIO::cout << name << " " << rounded(norm2(x), digit);
  random(x);
  QDPIO::cout << " " << rounded(norm2(x), digit) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[2] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  Seed seed;
  seed = 20101;
  RNG::setrn(seed);
  moments<LatticeReal>("Real");
  moments<LatticeComplex>("Complex");
  moments<LatticeColorVector>("ColorVector");
  moments<LatticeColorMatrix>("ColorMatrix");
  moments<LatticeSpinVector>("SpinVector");
  moments<LatticeSpinMatrix>("SpinMatrix");
  moments<LatticeFermion>("Fermion");
  moments<LatticeHalfFermion>("HalfFermion");
  moments<LatticeStaggeredFermion>("StaggeredFermion");
  moments<LatticePropagator>("Propagator");
  moments<LatticeStaggeredPropagator>("StaggeredPropagator");
  scalar<Real>("a Real");
  scalar<ColorMatrix>("a ColorMatrix");
  scalar<Fermion>("a Fermion");
  moments<LatticeColorMatrixF>("ColorMatrixF", 1e-4);
  moments<LatticeFermionF>("FermionF", 1e-4);
  scalar<SpinVectorF>("a SpinVectorF", 1e-4);

  LatticeReal r;
  random(r);
  const LatticeReal z2 = where(r > 0.5, LatticeReal(1), LatticeReal(-1));
  QDPIO::cout << "Z2 " << sum(z2) << " " << norm2(z2) << std::endl;
  const LatticeReal angle = floor(4 * r) * Real(1.5707963267948966);
  const LatticeComplex z4 = cmplx(cos(angle), sin(angle));
  QDPIO::cout << "Z4 " << real(sum(pow(real(z4), 4.0))) << " " << norm2(z4) << std::endl;
  const Real twopi = 6.283185307179586;
  const LatticeReal theta = twopi * r;
  const LatticeComplex phase = cmplx(cos(theta), sin(theta));
  QDPIO::cout << "U(1) " << sum(phase) << " " << norm2(phase) << std::endl;
  LatticeFermion source = zero, dilute = zero;
  for (int s = 0; s < Ns; s += 2) {
    LatticeColorVector v = zero;
    pokeColor(v, phase, s % Nc);
    pokeSpin(source, v, s);
  }
  dilute[rb[0]] = source;
  QDPIO::cout << norm2(source) << " " << norm2(dilute) << " " << innerProduct(source, dilute) << std::endl;

  // In a part with memory of its own: numbers of a part are those of the lattice there.
  RNG::savern(seed);
  LatticeReal whole;
  random(whole);
  RNG::setrn(seed);
  LatticeReal part = -1.0;
  random(part, rb[1]);
  QDPIO::cout << (norm2(part - whole, rb[1]) == Double(0)) << " " << sum(part, rb[0]) << std::endl;

  QDP_finalize();
  return 0;
}
