// What QDPIO::cout makes of numbers, flags, characters, text, arrays and every kind of scalar.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

enum Action { WILSON = 1, CLOVER = 4 };

struct Limits {
  static const int most = 12;
  static const bool strict = false;
  enum { least = -3 };
  unsigned int bits : 3;
};

template <typename T>
struct Size {
  static const int value = sizeof(T);
};

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  QDPIO::cout << 1 << ' ' << -2L << ' ' << 3u << ' ' << (short)-4 << ' ' << (unsigned short)5 << ' ' << 6ul << ' '
              << 7ll << ' ' << true << false << 'c' << "text" << std::string(" string") << std::endl;
  QDPIO::cout << 0.1f << " " << 0.1 << " " << 1.0 / 3 << " " << 1e-20 << " " << 1e6 << " " << 123456789.123456789 << " "
              << 1e15 << " " << 1e16 << " " << -0.0 << " " << 0.5L << std::endl;
  QDPIO::cout << 1.0f / 3 << " " << 16777217.0f << " " << 1e-40 << " " << 3.0e38f << "\n";
  const double nought = 0;
  QDPIO::cout << 1 / nought << " " << -1 / nought << std::endl;
  QDPIO::cout << Real(0.1) << " " << Double(1) / Double(3) << " " << RealF(0.25f) << " " << Integer(-5) << " "
              << Boolean(true) << " " << Boolean(false) << std::endl;
  QDPIO::cout << cmplx(Real(1), Real(-0.5)) << " " << ComplexF(2.5) << " " << cmplx(Real(-0.0), Real(1e-12))
              << std::endl;

  ColorVector v = zero;
  pokeColor(v, cmplx(Real(1), Real(2)), 2);
  QDPIO::cout << v << std::endl;
  SpinVector s = zero;
  pokeSpin(s, Complex(3), 1);
  QDPIO::cout << s << std::endl;
  QDPIO::cout << 2 * Real(0.5) << " " << cmplx(Real(1), Real(2)) * Real(3) << " " << norm2(s) << std::endl;
  HalfFermion h = zero;
  QDPIO::cout << h << std::endl;
  Fermion f = zero;
  pokeSpin(f, v, 3);
  QDPIO::cout << f << std::endl;

  // Enumerations, bits, constants that are declared and nowhere defined, small integers.
  Limits limits;
  limits.bits = 5;
  const Action action = CLOVER;
  QDPIO::cout << action << " " << WILSON << " " << Limits::most << " " << Limits::strict << " " << Limits::least << " "
              << limits.bits << " " << Size<double>::value << " " << (unsigned char)65 << " " << (signed char)66 << " "
              << (char)67 << std::endl;
  Real x = action;
  x *= int(WILSON) + Limits::least;
  LatticeInteger n = action;
  n = n * WILSON - Limits::least;
  LatticeReal r = Real(action);
  r += action;
  QDPIO::cout << x << " " << sum(n) << " " << sum(r * CLOVER) << " "
              << sum(where(n > CLOVER, r, LatticeReal(Real(WILSON)))) << " " << toBool(Integer(4) == action) << " "
              << CLOVER * Real(0.5) << std::endl;
  XMLBufferWriter xml;
  push(xml, "x");
  write(xml, "action", action);
  write(xml, "least", Limits::least);
  write(xml, "small", (unsigned char)65);
  pop(xml);
  QDPIO::cout << xml.str() << std::endl;

  // The standard stream has its own formats.
  std::cout << std::setprecision(4) << std::scientific;
  QDPIO::cout << 0.000123456 << " " << Real(3) << std::endl;
  std::cout << 0.000123456 << std::endl;
  std::cout << std::fixed;
  QDPIO::cout << 2.5 << std::endl;
  std::cout << 2.5 << std::endl;
  std::ostringstream text;
  text << Real(0.1) << " " << cmplx(Real(1), Real(2)) << " " << Integer(4) << " " << Boolean(true) << " " << v;
  QDPIO::cout << text.str() << std::endl;
  QDPIO::cout << "tab\tand\nnew line" << std::flush << "\n";
  QDPIO::cerr << "on the other stream" << std::endl;

  QDP_finalize();
  return 0;
}
