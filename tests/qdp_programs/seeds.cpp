// The generator's state: saved, stored in XML and binary, restored; the same numbers again, and on subsets.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = 4;
  Layout::setLattSize(nrow);
  Layout::create();
  std::cout << std::setprecision(12);

  Seed start, seed;
  RNG::savern(start);
  QDPIO::cout << "at the start " << start << std::endl;
  LatticeReal a, b;
  random(a);
  RNG::savern(seed);
  QDPIO::cout << "after a field " << seed << std::endl;
  gaussian(b);
  RNG::savern(seed);
  QDPIO::cout << "after gaussians " << seed << std::endl;
  QDPIO::cout << sum(a) << " " << sum(b) << " " << norm2(b) << std::endl;

  XMLBufferWriter xml;
  push(xml, "state");
  write(xml, "RNG", start);
  pop(xml);
  QDPIO::cout << xml.str() << std::endl;
  XMLReader in(xml);
  Seed back;
  read(in, "/state/RNG", back);
  RNG::setrn(back);
  LatticeReal again;
  random(again);
  QDPIO::cout << "the same " << norm2(again - a) << std::endl;

  BinaryFileWriter out("seed.bin");
  write(out, seed);
  out.close();
  BinaryFileReader bin("seed.bin");
  Seed third;
  read(bin, third);
  QDPIO::cout << "equal " << toBool(third == seed) << " " << toBool(third != start) << std::endl;

  // By hand, and arithmetic of seeds.
  seed = 11;
  QDPIO::cout << seed << std::endl;
  seed = seed << 12;
  seed = seed | Seed(5);
  QDPIO::cout << seed << std::endl;
  seed = seed * third;
  QDPIO::cout << seed << std::endl;
  RNG::setrn(seed);
  Real r;
  random(r);
  QDPIO::cout << "a number " << r;
  random(r);
  QDPIO::cout << " " << r;
  Complex z;
  random(z);
  QDPIO::cout << " " << z << std::endl;
  ColorMatrix m;
  random(m);
  QDPIO::cout << trace(m) << std::endl;

  // On a subset each site draws what it would have drawn.
  RNG::setrn(start);
  LatticeReal half = zero;
  random(half, rb[1]);
  QDPIO::cout << norm2(half - a, rb[1]) << " " << norm2(half, rb[0]) << std::endl;
  RNG::savern(seed);
  QDPIO::cout << seed << std::endl;
  RNG::setrn(start);
  gaussian(half, even);
  LatticeReal uniform;
  random(uniform);
  QDPIO::cout << sum(half, even) << " " << sum(uniform) << std::endl;

  QDP_finalize();
  return 0;
}
