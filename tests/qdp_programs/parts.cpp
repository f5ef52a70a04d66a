// Fields of a part of the lattice with memory of their own, and references to parts: statements, sums, copies, second use.
#include "qdp.h"
using namespace QDP;

namespace {

void double_it(OSubLattice<LatticeFermion::Subtype_t> part, const LatticeFermion& psi) { part = 2.0 * psi; }

class UpperHalf : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const { return x[3] >= Layout::lattSize()[3] / 2 ? 1 : 0; }
  int numSubsets() const { return 2; }
};

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[3] = 4;
  Layout::setLattSize(nrow);
  Layout::create();
  Set halves;
  halves.make(UpperHalf());

  LatticeFermion psi, chi = zero;
  random(psi);
  double_it(chi[halves[1]], psi);
  QDPIO::cout << norm2(chi, halves[0]) << " " << norm2(chi, halves[1]) << " " << 4 * norm2(psi, halves[1]) << std::endl;
  double_it(chi[rb[0]], psi);
  QDPIO::cout << norm2(chi) << std::endl;

  LatticeReal r = Layout::latticeCoordinate(3);
  r[halves[0]] = 10.0;
  r[halves[1]] += 0.5;
  r[rb[0]] *= Real(2);
  QDPIO::cout << sum(r) << " " << sum(r, halves[1]) << std::endl;
  r[halves[1]] = zero;
  r[halves[0]] -= r;
  QDPIO::cout << sum(r) << std::endl;

  // With memory of their own: made from a field, or later.
  SubLatticeFermion part(halves[1], psi);
  QDPIO::cout << part.getOwnsMemory() << " " << part.subset().numSiteTable() << " " << innerProduct(part, psi) << " "
              << norm2(psi, halves[1]) << std::endl;
  multi1d<SubLatticeColorVector> slices(2);
  LatticeColorVector v, w = zero;
  random(v);
  for (int i = 0; i < 2; ++i) {
    slices[i].setSubset(halves[i]);
    slices[i] = v;
  }
  QDPIO::cout << innerProduct(v, slices[0]) << " " << innerProduct(slices[1], v) << std::endl;
  w = slices[1];
  QDPIO::cout << norm2(w, halves[0]) << " " << norm2(w, halves[1]) << std::endl;
  slices[1] = zero;
  w = slices[1];
  QDPIO::cout << norm2(w) << std::endl;
  slices[0].setSubset(rb[1]);
  slices[0] = v;
  QDPIO::cout << norm2(v, rb[1]) << " " << innerProduct(slices[0], v) << " " << slices[0].subset().color() << std::endl;

  SubLatticeFermion copy(part);
  const PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns>* site = copy.getF();
  double first = 0;
  for (int c = 0; c < Nc; ++c) first += site[0].elem(0).elem(c).real();
  const int where_it_is = halves[1].siteTable()[0];
  for (int c = 0; c < Nc; ++c) first -= psi.elem(where_it_is).elem(0).elem(c).real();
  QDPIO::cout << first << " " << innerProduct(copy, psi) << std::endl;
  const SubLatticeComplex z = localInnerProduct(part, psi);
  LatticeComplex whole = zero;
  whole = z;
  QDPIO::cout << sum(whole) << " " << sum(whole, halves[0]) << std::endl;

  QDP_finalize();
  return 0;
}
