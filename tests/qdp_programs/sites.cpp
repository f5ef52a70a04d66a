// Where a site is: layout functions, linear and lexicographic numbers, neighbours, single sites taken out and put back.
#include "qdp.h"
using namespace QDP;

namespace {

int lexicographic(const multi1d<int>& x) {
  int n = 0;
  for (int mu = Nd - 1; mu >= 0; --mu) n = n * Layout::lattSize()[mu] + x[mu];
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow[0] = 4;
  nrow[1] = 2;
  nrow[2] = 6;
  nrow[3] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  QDPIO::cout << Layout::vol() << " " << Layout::sitesOnNode() << " " << Layout::numNodes() << " "
              << Layout::nodeNumber() << " " << Layout::primaryNode() << " " << Layout::subgridLattSize()[2] << " "
              << Layout::logicalSize()[0] << std::endl;
  int there_and_back = 0;
  long weighted = 0;
  for (int i = 0; i < Layout::sitesOnNode(); ++i) {
    const multi1d<int> x = Layout::siteCoords(0, i);
    if (Layout::linearSiteIndex(x) == i && Layout::nodeNumber(x) == 0) ++there_and_back;
    weighted += long(i) * lexicographic(x);
  }
  QDPIO::cout << there_and_back << " " << weighted << std::endl;
  for (int lexico = 0; lexico < 96; lexico += 19) {
    const multi1d<int> x = crtesn(lexico, Layout::lattSize());
    QDPIO::cout << lexico << ": " << x[0] << x[1] << x[2] << x[3] << " " << lexicographic(x) << " at "
                << Layout::linearSiteIndex(x) << " " << Layout::linearSiteIndex(lexico) << std::endl;
  }

  LatticeInteger number = 0;
  for (int mu = Nd - 1; mu >= 0; --mu) number = number * Integer(nrow[mu]) + Layout::latticeCoordinate(mu);
  int right = 0;
  for (int i = 0; i < Layout::sitesOnNode(); ++i)
    right += number.elem(i).elem().elem().elem() == lexicographic(Layout::siteCoords(0, i));
  QDPIO::cout << right << " " << globalMax(number) << std::endl;
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeInteger ahead = shift(number, FORWARD, mu) - number, behind = number - shift(number, BACKWARD, mu);
    QDPIO::cout << sum(ahead) << " " << sum(ahead * ahead) << " " << sum(behind * ahead) << std::endl;
  }

  multi1d<int> x(Nd);
  x = 1;
  QDPIO::cout << peekSite(number, x) << " " << number.elem(Layout::linearSiteIndex(x)).elem().elem().elem()
              << std::endl;
  LatticeColorVector v;
  random(v);
  ColorVector here;
  here.elem() = v.elem(5);
  QDPIO::cout << norm2(here) << " " << norm2(peekSite(v, Layout::siteCoords(0, 5))) << std::endl;

  // All sites of a part out of a field and back into another.
  multi1d<ColorVector> values(Layout::sitesOnNode());
  QDP_extract(values, v, rb[1]);
  LatticeColorVector w = zero;
  QDP_insert(w, values, rb[1]);
  QDPIO::cout << norm2(w - v, rb[1]) << " " << norm2(w, rb[0]) << std::endl;

  // The checkerboards and the parities of coordinates.
  LatticeInteger parity = 0;
  for (int mu = 0; mu < Nd; ++mu) parity += Layout::latticeCoordinate(mu);
  parity = parity & Integer(1);
  QDPIO::cout << sum(parity, rb[0]) << " " << sum(parity, rb[1]) << " " << rb[0].numSiteTable() << rb[0].hasOrderedRep()
              << " " << rb[1].start() << " " << rb[1].end() << " " << all.numSiteTable() << std::endl;
  int coords[Nd];
  Layout::QDPXX_getSiteCoords(coords, 0, 7);
  QDPIO::cout << coords[0] << coords[1] << coords[2] << coords[3] << " " << Layout::QDPXX_getLinearSiteIndex(coords)
              << " " << Layout::QDPXX_nodeNumber(coords) << std::endl;

  QDP_finalize();
  return 0;
}
