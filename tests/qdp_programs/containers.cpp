// multi1d to multi5d, multiNd and Array1dO: of numbers, of fields; slices, arithmetic, comparison, resizing, copies.
#include "qdp.h"
using namespace QDP;

namespace {

template <typename T>
void show(const char* name, const multi1d<T>& a) {
  QDPIO::cout << name << " [" << a.size() << "]";
  for (int i = 0; i < a.size(); ++i) QDPIO::cout << " " << a[i];
  QDPIO::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<int> empty, a(4), b;
  for (int i = 0; i < a.size(); ++i) a[i] = 3 * i - 4;
  b = a;
  b[0] = 100;
  show("empty", empty);
  show("a", a);
  show("b", b);
  show("a + b", multi1d<int>(a + b));
  show("b - a", multi1d<int>(b - a));
  show("a * b", multi1d<int>(a * b));
  show("2 * a", multi1d<int>(2 * a));
  show("a + 1", multi1d<int>(a + 1));
  show("concat", concat(a, b));
  QDPIO::cout << (a == b) << (a != b) << (a < b) << (a > b) << (a == multi1d<int>(a)) << std::endl;
  a += b;
  a *= 2;
  a -= 7;
  show("changed", a);
  a.resize(2);
  QDPIO::cout << "resized " << a.size() << std::endl;
  int raw[3] = {7, 8, 9};
  multi1d<int> borrowed(raw, 3);
  borrowed[1] = -8;
  QDPIO::cout << "borrowed " << raw[0] << raw[1] << raw[2] << " " << borrowed.slice()[2] << std::endl;

  multi1d<Real> reals(3);
  reals = 0.5;
  reals[1] = -2;
  const multi1d<Real> more = reals * Real(3) + reals;
  for (int i = 0; i < more.size(); ++i) QDPIO::cout << more[i] << " ";
  QDPIO::cout << more.size() << std::endl;

  multi2d<int> m(2, 3);
  for (int j = 0; j < m.size2(); ++j)
    for (int i = 0; i < m.size1(); ++i) m(j, i) = 10 * j + i;
  m[1][2] = 99;
  show("row", m[1]);
  multi2d<int> copy = m;
  copy(0, 0) = -1;
  QDPIO::cout << m.nrows() << " x " << m.ncols() << " " << m(0, 0) << copy(0, 0) << " " << copy[0].size() << std::endl;
  copy = 5;
  copy[1] += m[1];
  QDPIO::cout << copy(1, 1) << " " << copy(1, 2) << std::endl;

  multi3d<int> three(2, 3, 4);
  int n = 0;
  for (int k = 0; k < three.size3(); ++k)
    for (int j = 0; j < three.size2(); ++j)
      for (int i = 0; i < three.size1(); ++i) three[k][j][i] = n++;
  QDPIO::cout << three.size3() << three.size2() << three.size1() << " " << three(1, 2, 3) << " " << three(1, 0, 0)
              << std::endl;
  multi4d<double> four(2, 1, 2, 3);
  four = 0.25;
  four(1, 0, 1, 2) = 4;
  QDPIO::cout << four(1, 0, 1, 2) + four(0, 0, 0, 0) << std::endl;

  multi1d<int> extents(3), index(3);
  extents[0] = 2;
  extents[1] = 3;
  extents[2] = 2;
  multiNd<int> any(extents);
  for (int i = 0; i < any.numElem(); ++i) any.getElem(i) = i * i;
  index = 1;
  QDPIO::cout << any.numElem() << " " << any.size(1) << " " << any[index] << " " << any(1, 2, 1) << std::endl;

  Array1dO<int> from_one(3);
  for (int i = 1; i <= from_one.size(); ++i) from_one[i] = i * 11;
  QDPIO::cout << from_one[1] << from_one[2] << from_one[3] << " " << from_one.ref()[0] << std::endl;

  // Of fields.
  multi2d<LatticeColorMatrix> fields(2, Nd);
  for (int i = 0; i < fields.size2(); ++i)
    for (int mu = 0; mu < Nd; ++mu) fields[i][mu] = Real(i + 1) * (mu + 1);
  multi1d<LatticeColorMatrix> u = fields[1];
  QDPIO::cout << norm2(u) << " " << norm2(fields[0]) << " " << norm2(u, rb[1]) << " "
              << innerProduct(u, multi1d<LatticeColorMatrix>(fields[0])) << std::endl;
  u = zero;
  QDPIO::cout << norm2(u) << " " << norm2(fields[1]) << std::endl;
  multi3d<LatticeReal> deep(2, 2, 2);
  deep[1][0][1] = 3;
  deep(0, 1, 0) = deep[1][0][1] * 2;
  QDPIO::cout << sum(deep(0, 1, 0)) << std::endl;
  multi1d<multi1d<LatticeReal>> ragged(2);
  ragged[0].resize(1);
  ragged[1].resize(3);
  ragged[1][2] = 1.5;
  QDPIO::cout << ragged[1].size() << " " << sum(ragged[1][2]) << std::endl;

  QDP_finalize();
  return 0;
}
