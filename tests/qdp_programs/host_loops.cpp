// Loops over sites on the host: elements by reference, by pointer, in OpenMP loops and in dispatched parts; statements between.
#include <vector>

#include "qdp.h"
using namespace QDP;

namespace {

struct Arg {
  LatticeColorMatrix& u;
  const LatticeReal& angle;
  const int* table;
};

// The part [lo, hi) of a table of sites.
void rotate(int lo, int hi, int, Arg* a) {
  for (int k = lo; k < hi; ++k) {
    const int site = a->table[k];
    const double alpha = toDouble(a->angle.elem(site).elem().elem().elem());
    PColorMatrix<RComplex<REAL>, Nc>& m = a->u.elem(site).elem();
    for (int j = 0; j < Nc; ++j) {
      const RComplex<REAL> p = m.elem(0, j), q = m.elem(1, j);
      m.elem(0, j) = RComplex<REAL>(std::cos(alpha) * p.real() - std::sin(alpha) * q.real(),
                                    std::cos(alpha) * p.imag() - std::sin(alpha) * q.imag());
      m.elem(1, j) = RComplex<REAL>(std::sin(alpha) * p.real() + std::cos(alpha) * q.real(),
                                    std::sin(alpha) * p.imag() + std::cos(alpha) * q.imag());
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[2] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  LatticeColorMatrix u = Real(1);
  LatticeReal angle = Real(0.1) * Layout::latticeCoordinate(0);
  angle += Real(0.01) * Layout::latticeCoordinate(3);
  for (int cb = 0; cb < 2; ++cb) {
    const Subset& s = rb[cb];
    Arg arg = {u, angle, s.siteTable().slice()};
    dispatch_to_threads(s.numSiteTable(), arg, rotate);
    QDPIO::cout << sum(real(trace(u))) << " " << sum(peekColor(u, 1, 0)) << std::endl;
  }
  QDPIO::cout << (toDouble(norm2(u * adj(u) - Real(1))) < 1e-26) << std::endl;

  // Sums by hand and by statement.
  LatticeFermion psi;
  random(psi);
  const int sites = Layout::sitesOnNode();
  double by_hand = 0;
#pragma omp parallel for reduction(+ : by_hand)
  for (int site = 0; site < sites; ++site)
    for (int s = 0; s < Ns; ++s)
      for (int c = 0; c < Nc; ++c) {
        const double re = psi.elem(site).elem(s).elem(c).real(), im = psi.elem(site).elem(s).elem(c).imag();
        by_hand += re * re + im * im;
      }
  QDPIO::cout << (std::fabs(by_hand - toDouble(norm2(psi))) < 1e-10 * by_hand) << " " << norm2(psi) << std::endl;

  // Every site by itself, then a statement, then sites again.
  std::vector<double> slice(nrow[3]);
  LatticeReal r;
#pragma omp parallel for
  for (int site = 0; site < sites; ++site) {
    const multi1d<int> x = Layout::siteCoords(Layout::nodeNumber(), site);
    r.elem(site).elem().elem().elem() = x[0] + 10 * x[1] + 100 * x[2] + 1000 * x[3];
  }
  const LatticeReal shifted = shift(r, FORWARD, 3);
  for (int site = 0; site < sites; ++site) {
    const multi1d<int> x = Layout::siteCoords(Layout::nodeNumber(), site);
    slice[x[3]] += shifted.elem(site).elem().elem().elem();
  }
  for (size_t t = 0; t < slice.size(); ++t) QDPIO::cout << slice[t] << " ";
  QDPIO::cout << std::endl;

  // Raw pointers, words of a site in order.
  LatticeComplex z = zero;
  typedef OLattice<PScalar<PScalar<RComplex<REAL>>>>::Subtype_t Site;
  Site* raw = z.getF();
  for (int site = 0; site < sites; ++site) raw[site].elem().elem() = RComplex<REAL>(site % 3, -site % 2);
  QDPIO::cout << sum(z) << std::endl;
  REAL* words = reinterpret_cast<REAL*>(psi.getF());
  for (int k = 0; k < sites * Ns * Nc * 2; k += 2) words[k + 1] = 0;
  QDPIO::cout << norm2(imag(psi)) << " " << (norm2(psi) == norm2(real(psi))) << std::endl;

  // Operators of elements.
  LatticeColorMatrix a, b, c = zero;
  random(a);
  random(b);
  for (int site = 0; site < sites; ++site) {
    c.elem(site) = a.elem(site) * b.elem(site);
    c.elem(site) += adj(a.elem(site)) * b.elem(site) - a.elem(site) * adj(b.elem(site));
  }
  QDPIO::cout << (toDouble(norm2(c - (a * b + adj(a) * b - a * adj(b)))) < 1e-24) << " " << sum(trace(c)) << std::endl;

  QDP_finalize();
  return 0;
}
