// Integer arithmetic on the lattice: division and remainder of negative numbers, bits, shifts, overflow, mixed with reals.
#include "qdp.h"
using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 4;
  nrow[2] = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  const LatticeInteger x = Layout::latticeCoordinate(0), t = Layout::latticeCoordinate(3);
  const LatticeInteger n = 7 * x - 10 + t;
  QDPIO::cout << sum(n) << " " << sum(n / Integer(3)) << " " << sum(n % Integer(3)) << " " << sum(-n / Integer(2))
              << std::endl;
  QDPIO::cout << sum(n & Integer(6)) << " " << sum(n | Integer(9)) << " " << sum(n ^ x) << std::endl;
  QDPIO::cout << sum(n << Integer(3)) << " " << sum(n >> Integer(1)) << " " << sum(x << t) << std::endl;
  LatticeInteger m = n;
  m += 5;
  m *= x;
  m -= t;
  QDPIO::cout << sum(m) << " " << globalMax(m) << std::endl;
  m %= 4;
  QDPIO::cout << sum(m) << std::endl;
  m <<= 2;
  m |= 1;
  QDPIO::cout << sum(m) << std::endl;
  m ^= n;
  m &= 31;
  m >>= 1;
  QDPIO::cout << sum(m) << std::endl;
  m = x + 1;
  m /= 2;
  QDPIO::cout << sum(m) << " " << sum(m * m) << " " << sum(m, rb[0]) << std::endl;

  // A random-looking hash, as one makes to scatter sources: wraps around.
  LatticeInteger hash = x + 4 * (Layout::latticeCoordinate(1) + 4 * (Layout::latticeCoordinate(2) + 2 * t));
  for (int i = 0; i < 3; ++i) {
    hash = (hash * Integer(7919) + Integer(104729)) % Integer(65536);
    hash = hash ^ (hash >> Integer(5));
  }
  QDPIO::cout << sum(hash) << std::endl;

  // To and from reals: conversion drops the fraction.
  const LatticeReal r = 0.75 * LatticeReal(n);
  const LatticeInteger back = LatticeInteger(r);
  QDPIO::cout << sum(r) << " " << sum(back) << " " << sum(LatticeReal(back) - floor(r)) << std::endl;
  QDPIO::cout << sum(n * Real(0.5)) << " " << sum(LatticeReal(n) / Real(3)) << " " << sum(n + 0.25) << std::endl;
  const LatticeBoolean flag = n > 0;
  QDPIO::cout << sum(where(flag, n, LatticeInteger(-n))) << " " << norm2(n) << " " << sum(localNorm2(n)) << std::endl;

  // Staggered signs by bits.
  multi1d<LatticeInteger> alpha(Nd);
  LatticeInteger before = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    alpha[mu] = 1 - 2 * (before & Integer(1));
    before += Layout::latticeCoordinate(mu);
  }
  for (int mu = 0; mu < Nd; ++mu)
    QDPIO::cout << sum(alpha[mu]) << " " << sum(alpha[mu] * shift(alpha[3], FORWARD, mu)) << " ";
  QDPIO::cout << std::endl;

  // Single numbers.
  const Integer a = -7, b = 2;
  QDPIO::cout << a / b << " " << a % b << " " << (a << b) << " " << (a >> Integer(1)) << " " << (a & b) << " "
              << (a | b) << " " << (a ^ b) << " " << -a << std::endl;
  QDPIO::cout << toInt(a) << " " << toDouble(Real(a)) << " " << toInt(Integer(Real(-2.75))) << " " << toBool(a < b)
              << std::endl;
  Integer c = a;
  c *= b;
  c -= 3;
  c %= 5;
  QDPIO::cout << c << " " << Real(c) / 4 << " " << toFloat(Real(c) * 0.1) << std::endl;

  QDP_finalize();
  return 0;
}
