// SciDAC files: several records of several types, precision changed on the way, their XML, what a wrong file says.
#include "qdp.h"
using namespace QDP;

namespace {

void start_record(XMLBufferWriter& xml, const std::string& what) {
  push(xml, "record");
  write(xml, "what", what);
  pop(xml);
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[3] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) random(u[mu]);
  LatticeFermionF psi;
  random(psi);
  const LatticeInteger n = Layout::latticeCoordinate(0) - 2 * Layout::latticeCoordinate(3);
  const Complex z = cmplx(Real(1.5), Real(-0.25));
  multi1d<Real> numbers(5);
  for (int i = 0; i < 5; ++i) numbers[i] = 0.1 * i;

  const QDP_volfmt_t formats[] = {QDPIO_SINGLEFILE, QDPIO_MULTIFILE};
  const char* const names[] = {"single.lime", "multi.lime"};
  for (int k = 0; k < 2; ++k) {
    XMLBufferWriter file_xml;
    push(file_xml, "file");
    write(file_xml, "n", k);
    pop(file_xml);
    QDPFileWriter to(file_xml, names[k], formats[k], QDPIO_SERIAL);
    XMLBufferWriter x1, x2, x3, x4, x5;
    start_record(x1, "links");
    write(to, x1, u);
    start_record(x2, "fermion");
    write(to, x2, psi);
    start_record(x3, "integers");
    write(to, x3, n);
    start_record(x4, "a number");
    write(to, x4, z);
    start_record(x5, "numbers");
    write(to, x5, numbers);
    QDPIO::cout << "bad " << to.bad() << std::endl;
    close(to);
  }

  XMLReader file_xml, xml;
  QDPFileReader from(file_xml, "single.lime", QDPIO_SERIAL);
  int k = -1;
  read(file_xml, "/file/n", k);
  multi1d<LatticeColorMatrix> u2(Nd);
  read(from, xml, u2);
  std::string what;
  read(xml, "/record/what", what);
  Double difference = 0;
  for (int mu = 0; mu < Nd; ++mu) difference += norm2(u2[mu] - u[mu]);
  QDPIO::cout << k << " " << what << " differ by " << difference << std::endl;
  LatticeFermionD psi2;
  XMLReader xml2, xml3, xml4, xml5;
  read(from, xml2, psi2);
  LatticeFermionF back = psi2;
  QDPIO::cout << xml2.count("/record/what") << " " << norm2(back - psi) << std::endl;
  LatticeInteger n2;
  read(from, xml3, n2);
  QDPIO::cout << sum(n2 - n) << " " << sum(n2) << std::endl;
  Complex z2;
  read(from, xml4, z2);
  multi1d<Real> numbers2(5);
  read(from, xml5, numbers2);
  QDPIO::cout << z2 << " " << numbers2[4] << std::endl;
  xml5.print(std::cout);
  std::cout << std::endl;
  close(from);

  // Second use: the first record as the numbers of another precision, the second by the class's own functions.
  XMLReader file_again, first, second;
  QDPFileReader again(file_again, "multi.lime", QDPIO_SERIAL);
  multi1d<LatticeColorMatrixF> u_f(Nd);
  again.read(first, u_f);
  again.read(second, psi2);
  read(second, "/record/what", what);
  QDPIO::cout << what << " " << norm2(psi2 - LatticeFermionD(psi)) << " "
              << (toDouble(norm2(LatticeColorMatrix(u_f[1]) - u[1])) < 1e-9) << " " << again.is_open() << again.eof()
              << std::endl;
  again.close();
  QDPIO::cout << again.is_open() << std::endl;

  QDP_finalize();
  return 0;
}
