// Maps of the program: reflections, rotations, displacements in steps of any length, arrays of maps; their inverses.
#include "qdp.h"
using namespace QDP;

namespace {

class Reflect : public MapFunc {
 public:
  explicit Reflect(int dir) : mu(dir) {}
  multi1d<int> operator()(const multi1d<int>& x, int) const {
    multi1d<int> y = x;
    y[mu] = (Layout::lattSize()[mu] - x[mu]) % Layout::lattSize()[mu];
    return y;
  }

 private:
  int mu;
};

// A quarter turn in the plane of two directions of the same length.
class Rotate : public MapFunc {
 public:
  multi1d<int> operator()(const multi1d<int>& x, int sign) const {
    const int n = Layout::lattSize()[0];
    multi1d<int> y = x;
    y[0] = sign > 0 ? x[1] : (n - x[1]) % n;
    y[1] = sign > 0 ? (n - x[0]) % n : x[0];
    return y;
  }
};

class Displace : public ArrayMapFunc {
 public:
  explicit Displace(int steps) : n(steps) {}
  multi1d<int> operator()(const multi1d<int>& x, int sign, int dir) const {
    multi1d<int> y = x;
    const int length = Layout::lattSize()[dir];
    y[dir] = ((x[dir] + sign * n) % length + length) % length;
    return y;
  }
  int numArray() const { return Nd; }

 private:
  int n;
};

class Knight : public MapFunc {
 public:
  multi1d<int> operator()(const multi1d<int>& x, int sign) const {
    multi1d<int> y = x;
    y[0] = (x[0] + sign + Layout::lattSize()[0]) % Layout::lattSize()[0];
    y[2] = (x[2] + 2 * sign + 2 * Layout::lattSize()[2]) % Layout::lattSize()[2];
    return y;
  }
};

LatticeReal number() {
  LatticeReal n = zero;
  for (int mu = Nd - 1; mu >= 0; --mu) n = 10 * n + Layout::latticeCoordinate(mu);
  return n;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[2] = 6;
  nrow[3] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  const LatticeReal n = number();
  multi1d<int> x(Nd);
  x[0] = 1;
  x[1] = 3;
  x[2] = 5;
  x[3] = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    Map reflect;
    reflect.make(Reflect(mu));
    const LatticeReal once = reflect(n);
    QDPIO::cout << peekSite(once, x) << " " << norm2(reflect(once) - n) << " " << sum(n * once) << std::endl;
  }
  Map rotate(Rotate{});
  LatticeReal turned = n;
  for (int k = 0; k < 4; ++k) {
    const LatticeReal before = turned;
    turned = rotate(before);
    QDPIO::cout << peekSite(turned, x) << " ";
  }
  QDPIO::cout << norm2(turned - n) << std::endl;

  ArrayMap by_two(Displace(2));
  for (int mu = 0; mu < Nd; ++mu)
    QDPIO::cout << peekSite(by_two(n, mu), x) << " " << norm2(by_two(n, mu) - shift(shift(n, FORWARD, mu), FORWARD, mu))
                << std::endl;
  ArrayBiDirectionalMap naik;
  naik.make(Displace(3));
  for (int mu = 0; mu < Nd; ++mu) {
    const LatticeReal there = naik(n, FORWARD, mu);
    QDPIO::cout << peekSite(there, x) << " " << norm2(naik(there, BACKWARD, mu) - n) << " ";
  }
  QDPIO::cout << std::endl;
  BiDirectionalMap knight;
  knight.make(Knight());
  QDPIO::cout << peekSite(knight(n, FORWARD), x) << " " << peekSite(knight(n, BACKWARD), x) << " "
              << norm2(knight(knight(n, FORWARD), BACKWARD) - n) << std::endl;

  // In expressions, on subsets, of other types.
  LatticeFermion psi, chi = zero;
  LatticeColorMatrix u;
  random(psi);
  random(u);
  chi[rb[0]] = u * rotate(psi) - knight(LatticeFermion(adj(u) * psi), FORWARD);
  QDPIO::cout << norm2(chi) << " " << norm2(chi, rb[1]) << std::endl;
  chi[rb[1]] = rotate(psi) + rotate(LatticeFermion(shift(psi, BACKWARD, 2)));
  QDPIO::cout << norm2(chi, rb[1]) << " " << norm2(rotate(u) * rotate(psi) - rotate(u * psi)) << std::endl;
  const LatticeFermion ahead = shift(psi, FORWARD, 1);
  psi = rotate(ahead);
  QDPIO::cout << innerProduct(psi, chi) << std::endl;

  QDP_finalize();
  return 0;
}
