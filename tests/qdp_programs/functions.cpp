// Elementary functions of fields and numbers, at ordinary arguments and at the edges.
#include "qdp.h"
using namespace QDP;

namespace {

void show(const char* name, const LatticeReal& f) {
  multi1d<int> x(Nd);
  x = 0;
  QDPIO::cout << name;
  for (x[0] = 0; x[0] < Layout::lattSize()[0]; ++x[0]) QDPIO::cout << " " << peekSite(f, x);
  QDPIO::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 8;
  Layout::setLattSize(nrow);
  Layout::create();

  const double edges[8] = {0.0, -0.0, 1.0, -1.0, 0.5, -2.75, 1e-9, 100.0};
  LatticeReal x;
  multi1d<int> site(Nd);
  for (int i = 0; i < int(Layout::vol()); ++i) {
    site = crtesn(i, Layout::lattSize());
    pokeSite(x, Real(edges[site[0]]), site);
  }
  const LatticeReal inside = where(fabs(x) > 1.0, LatticeReal(1.0 / x), x), positive = fabs(x) + Real(1e-3);
  show("x", x);
  show("sin", sin(x));
  show("cos", cos(x));
  show("tan", tan(x));
  show("asin", asin(inside));
  show("acos", acos(inside));
  show("atan", atan(x));
  show("sinh", sinh(inside));
  show("cosh", cosh(inside));
  show("tanh", tanh(x));
  show("exp", exp(x));
  show("log", log(positive));
  show("log10", log10(positive));
  show("sqrt", sqrt(fabs(x)));
  show("ceil", ceil(x));
  show("floor", floor(x));
  show("fabs", fabs(x));
  show("pow", pow(positive, x));
  show("pow 2", pow(x, LatticeReal(Real(2))));
  show("atan2", atan2(x, LatticeReal(Real(-1))));
  show("atan2", atan2(LatticeReal(Real(0)), x));
  show("-x", -x);
  show("1/x", 1.0 / positive);

  const Real a = 0.7, b = -1.25;
  QDPIO::cout << sin(a) << " " << exp(b) << " " << pow(a, b) << " " << atan2(b, a) << " " << sqrt(a) << " " << log(a)
              << " " << fabs(b) << " " << floor(b) << " " << ceil(b) << " " << tanh(b) << std::endl;
  QDPIO::cout << sum(exp(x * Real(0.01)) * sin(x)) << " " << norm2(cos(x) + Real(1)) << std::endl;

  const LatticeComplex z = cmplx(x, cos(x));
  QDPIO::cout << sum(z * conj(z)) << " " << sum(real(z)) << " " << sum(imag(timesI(z))) << " " << sum(timesMinusI(z))
              << std::endl;
  QDPIO::cout << sum(z / cmplx(Real(0.6), Real(0.8))) << " " << sum(localNorm2(z)) << " " << sum(adj(z)) << std::endl;
  const Complex w = cmplx(a, b);
  QDPIO::cout << w * w << " " << w / conj(w) << " " << real(w) << imag(w) << " " << localNorm2(w) << " " << -w << " "
              << w * 2.0 << " " << 1.0 / Real(3) * w << std::endl;
  // What the header brings of C++'s own: abs of any number, and containers that need no header of their own.
  std::stack<double> numbers;
  numbers.push(abs(-0.75));
  numbers.push(::abs(-2.5f));
  QDPIO::cout << numbers.top() << " " << numbers.size() << " " << abs(0.125 - numbers.top()) << " " << abs(-7L)
              << std::endl;

  QDP_finalize();
  return 0;
}
