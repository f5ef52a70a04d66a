// Text: files and buffers written and read, mixed types, numbers in their shortest forms, failure.
#include "qdp.h"
using namespace QDP;

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  Layout::setLattSize(nrow);
  Layout::create();

  TextFileWriter out("numbers.txt");
  out << 1 << " " << -2L << " " << 3u << " " << 0.1 << " " << 0.1f << " " << 1.0 / 3 << " " << true << " c\n";
  out << std::string("word") << "\t" << Real(0.125) << " " << Integer(7) << "\n";
  const Complex z = cmplx(Real(1), Real(-2));
  const Real re = real(z), im = imag(z);
  out << re << " " << im << "\n";
  out.write(5);
  out.write(" five\n");
  out.flush();
  QDPIO::cout << out.is_open() << out.fail() << std::endl;
  out.close();
  QDPIO::cout << out.is_open() << std::endl;

  TextFileReader in("numbers.txt");
  int i;
  long l;
  unsigned u;
  double d, third;
  float f;
  bool b;
  char c;
  std::string word;
  Real r;
  Integer n;
  in >> i >> l >> u >> d >> f >> third >> b >> c >> word >> r >> n;
  QDPIO::cout << i << " " << l << " " << u << " " << d << " " << f << " " << third << " " << b << c << word << " " << r
              << " " << n << " " << in.fail() << std::endl;
  in.close();
  in.open("numbers.txt");
  in.read(i);
  QDPIO::cout << i << in.is_open() << std::endl;
  in.close();

  TextBufferWriter buffer;
  for (int k = 0; k < 5; ++k) buffer << k * 0.25 << (k < 4 ? " " : "\n");
  buffer << "end";
  const std::string text = buffer.str();
  QDPIO::cout << "[" << text << "]" << std::endl;
  TextBufferReader from(text);
  double total = 0;
  for (int k = 0; k < 5; ++k) {
    from >> d;
    total += d;
  }
  from >> word;
  QDPIO::cout << total << word << from.fail() << std::endl;
  TextBufferReader other("42 -1e-3 x");
  other >> i >> d;
  QDPIO::cout << i << " " << d << " " << other.fail();
  other >> i;
  QDPIO::cout << " " << other.fail() << std::endl;

  // To the end, which is not known before.
  TextBufferReader rows("1 0.5\n2 0.25\n3 0.125\n");
  int read_rows = 0;
  double weighted = 0;
  while (true) {
    int row;
    double value;
    rows >> row >> value;
    if (rows.fail()) break;
    ++read_rows;
    weighted += row * value;
  }
  QDPIO::cout << read_rows << " rows, " << weighted << std::endl;

  // A table of a field, one line a site.
  LatticeReal field = Layout::latticeCoordinate(0) + 2 * Layout::latticeCoordinate(3);
  TextFileWriter table("table.txt");
  multi1d<int> x(Nd);
  x = 0;
  for (x[3] = 0; x[3] < 2; ++x[3])
    for (x[0] = 0; x[0] < 2; ++x[0]) table << x[0] << " " << x[3] << " " << peekSite(field, x) << "\n";
  table.close();

  QDP_finalize();
  return 0;
}
