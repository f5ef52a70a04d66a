// Sets of sites: what is built in, of the program, with empty parts, made again; colouring, tables, assignments part by part.
#include <vector>

#include "qdp.h"
using namespace QDP;

namespace {

class Diagonal : public SetFunc {
 public:
  explicit Diagonal(int colours) : n(colours) {}
  int operator()(const multi1d<int>& x) const {
    int sum = 0;
    for (int mu = 0; mu < x.size(); ++mu) sum += (mu + 1) * x[mu];
    return sum % n;
  }
  int numSubsets() const { return n; }

 private:
  int n;
};

// Spheres about the origin; most radii are empty.
class Spheres : public SetFunc {
 public:
  int operator()(const multi1d<int>& x) const {
    int r2 = 0;
    for (int mu = 0; mu < x.size(); ++mu) {
      const int d = std::min(x[mu], Layout::lattSize()[mu] - x[mu]);
      r2 += d * d;
    }
    return r2;
  }
  int numSubsets() const { return 30; }
};

void describe(const char* name, const Set& set) {
  QDPIO::cout << name << " " << set.numSubsets() << ":";
  for (int k = 0; k < set.numSubsets(); ++k) QDPIO::cout << " " << set[k].numSiteTable();
  QDPIO::cout << std::endl;
}

class Sites {
 public:
  explicit Sites(const Subset& s) : subset(s) {}
  double sum_of(const LatticeReal& x) const {
    double total = 0;
    for (int k = 0; k < subset.numSiteTable(); ++k) total += x.elem(subset.siteTable()[k]).elem().elem().elem();
    return total;
  }

 private:
  const Subset subset;  // a copy
};

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[1] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  describe("rb", rb);
  describe("rb3", rb3);
  describe("mcb", mcb);
  Set diagonal(Diagonal(3)), spheres, copy;
  spheres.make(Spheres());
  describe("diagonal", diagonal);
  describe("spheres", spheres);
  copy = diagonal;
  describe("copy", copy);
  spheres.make(Diagonal(5));
  describe("made again", spheres);
  spheres.make(Spheres());
  describe("and again", spheres);
  long weighted = 0;
  for (int i = 0; i < Layout::sitesOnNode(); ++i) weighted += long(i) * diagonal.latticeColoring()[i];
  QDPIO::cout << weighted << " " << all.numSiteTable() << all.start() << all.end() << all.color() << " "
              << rb[1].color() << " " << diagonal[2].color() << std::endl;

  LatticeReal x = Layout::latticeCoordinate(0);
  x += Real(0.5) * Layout::latticeCoordinate(3);
  for (int k = 0; k < spheres.numSubsets(); k += 3)
    if (spheres[k].numSiteTable() > 0)
      QDPIO::cout << k << ": " << sum(x, spheres[k]) << " " << Sites(spheres[k]).sum_of(x) << std::endl;
  QDPIO::cout << sum(x, spheres[29]) << " " << sum(x, even) << " " << sum(x, odd) << std::endl;

  LatticeReal y = zero;
  for (int k = 0; k < diagonal.numSubsets(); ++k) y[diagonal[k]] = Real(k * k) + x;
  y[spheres[29]] = Real(1000);
  for (int k = 0; k < 3; ++k) QDPIO::cout << norm2(y, diagonal[k]) << " ";
  QDPIO::cout << std::endl;
  const multi1d<Double> sums = sumMulti(y, spheres);
  for (int k = 0; k < 8; ++k) QDPIO::cout << sums[k] << " ";
  QDPIO::cout << sums.size() << std::endl;

  // Updates colour by colour, where each colour reads its neighbours.
  LatticeReal phi = x;
  for (int sweep = 0; sweep < 2; ++sweep)
    for (int cb = 0; cb < rb.numSubsets(); ++cb) {
      LatticeReal neighbours = zero;
      for (int mu = 0; mu < Nd; ++mu) neighbours[rb[cb]] += shift(phi, FORWARD, mu) + shift(phi, BACKWARD, mu);
      phi[rb[cb]] = neighbours / Real(2 * Nd);
    }
  QDPIO::cout << sum(phi) << " " << norm2(phi) << std::endl;

  // Kept in containers.
  std::vector<Subset> parts;
  for (int k = 0; k < 3; ++k) parts.push_back(copy[k]);
  Subset chosen = parts[0];
  chosen = parts[2];
  QDPIO::cout << sum(x, parts[1]) << " " << sum(x, chosen) << " " << chosen.color() << " "
              << chosen.getSet().numSubsets() << std::endl;

  QDP_finalize();
  return 0;
}
