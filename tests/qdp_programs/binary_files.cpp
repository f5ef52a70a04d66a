// Binary files and buffers: numbers, strings, arrays, scalars and fields, positions, checksums; big-endian.
#include <fstream>

#include "qdp.h"
using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[1] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<int> ints(3);
  for (int i = 0; i < 3; ++i) ints[i] = 1 << (8 * i);
  multi1d<Real> reals(2);
  reals[0] = -0.0;
  reals[1] = 1.5;
  multi2d<int> table(2, 2);
  table = 6;
  table(1, 0) = -1;
  std::vector<int> vector;
  vector.push_back(5);
  std::map<int, double> map;
  map[3] = 0.75;
  map[-1] = -2;
  LatticeInteger field = Layout::latticeCoordinate(1) * 256 + Layout::latticeCoordinate(0);
  LatticeColorMatrix links = Real(0.5);
  Complex z = cmplx(Real(1), Real(-2));

  BinaryFileWriter out("all.bin");
  write(out, 'c');
  write(out, (short)-2);
  write(out, 0x01020304);
  write(out, 7L);
  write(out, 0.1f);
  write(out, 0.1);
  write(out, true);
  write(out, std::string("a string of one line"));
  out.writeDesc("described");
  QDPIO::cout << "checksum of numbers " << out.getChecksum() << std::endl;
  write(out, ints);
  write(out, ints, 2);
  write(out, reals);
  write(out, table);
  write(out, vector);
  write(out, map);
  write(out, z);
  QDPIO::cout << "checksum with arrays " << out.getChecksum() << std::endl;
  out.resetChecksum();
  write(out, field);
  write(out, links);
  QDPIO::cout << "checksum of fields " << out.getChecksum() << std::endl;
  multi1d<int> where(Nd);
  where = 1;
  write(out, field, where);
  out.flush();
  QDPIO::cout << "failed " << out.fail() << " open " << out.is_open() << std::endl;
  out.close();

  BinaryFileReader in("all.bin");
  char c;
  short h;
  int i;
  long l;
  float f;
  double d;
  bool b;
  std::string s, desc;
  read(in, c);
  read(in, h);
  read(in, i);
  read(in, l);
  read(in, f);
  read(in, d);
  read(in, b);
  read(in, s, 100);
  in.readDesc(desc);
  QDPIO::cout << c << h << " " << i << " " << l << " " << f << " " << d << " " << b << " [" << s << "] [" << desc
              << "] " << in.getChecksum() << " at " << in.currentPosition() << std::endl;
  multi1d<int> ints2, two(2);
  multi1d<Real> reals2;
  multi2d<int> table2;
  std::vector<int> vector2;
  std::map<int, double> map2;
  Complex z2;
  LatticeInteger field2;
  LatticeColorMatrix links2;
  read(in, ints2);
  read(in, two, 2);
  read(in, reals2);
  read(in, table2);
  read(in, vector2);
  read(in, map2);
  read(in, z2);
  read(in, field2);
  read(in, links2);
  QDPIO::cout << ints2[2] << " " << two[1] << " " << std::signbit(toDouble(reals2[0])) << reals2[1] << " "
              << table2(1, 0) << " " << vector2[0] << " " << map2.size() << map2[3] << " " << z2 << " "
              << sum(field2 - field) << " " << norm2(links2 - links) << std::endl;
  in.rewind();
  read(in, c);
  in.seekRelative(2);
  read(in, i);
  QDPIO::cout << c << " " << i << std::endl;
  in.close();

  // A buffer is the same bytes.
  BinaryBufferWriter buffer;
  write(buffer, ints);
  write(buffer, std::string("x"));
  const std::string bytes = buffer.str();
  QDPIO::cout << bytes.size() << " bytes, checksum " << buffer.getChecksum() << ":";
  for (size_t k = 0; k < bytes.size(); ++k) QDPIO::cout << " " << int((unsigned char)bytes[k]);
  QDPIO::cout << std::endl;
  BinaryBufferReader from(bytes);
  read(from, ints2);
  read(from, s, 10);
  QDPIO::cout << (ints2 == ints) << s << std::endl;

  QDP_finalize();
  return 0;
}
