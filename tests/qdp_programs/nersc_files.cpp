// NERSC archives: headers in and out of XML, every way to read and write them, plaquettes and links of what was read.
#include <iomanip>

#include "qdp.h"
#include "qdp_iogauge.h"
using namespace QDP;

namespace {

// Diagonal SU(3) links with phases from coordinates: unitary to the last digits.
LatticeColorMatrix phases(int mu) {
  LatticeColorMatrix u = zero;
  const LatticeReal x = Layout::latticeCoordinate((mu + 1) % Nd), y = Layout::latticeCoordinate((mu + 2) % Nd);
  const LatticeReal a = 0.3 * x + Real(0.1 * mu), b = -0.7 * y;
  pokeColor(u, LatticeComplex(cmplx(cos(a), sin(a))), 0, 0);
  pokeColor(u, LatticeComplex(cmplx(cos(b), sin(b))), 1, 1);
  pokeColor(u, LatticeComplex(cmplx(cos(a + b), -sin(a + b))), 2, 2);
  return u;
}

void show(const ArchivGauge_t& h) {
  QDPIO::cout << h.mat_size << " " << h.float_size << " sequence " << h.sequence_number << " [" << h.ensemble_id
              << "] [" << h.ensemble_label << "] [" << h.creator << "] [" << h.creator_hardware << "] ["
              << h.creation_date << "] [" << h.archive_date << "]";
  for (int mu = 0; mu < h.nrow.size(); ++mu) QDPIO::cout << " " << h.nrow[mu] << "/" << h.boundary[mu];
  QDPIO::cout << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[1] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = phases(mu);

  ArchivGauge_t header;
  QDPIO::cout << "defaults " << header.mat_size << " " << header.float_size << " " << header.sequence_number << " "
              << header.ensemble_label << " " << header.creator << " " << (header.creation_date == header.archive_date)
              << std::endl;
  header.ensemble_id = "run 7";
  header.ensemble_label = "diagonal";
  header.creator = "me";
  header.creator_hardware = "desk";
  header.creation_date = "Sat Jan 1 00:00:00 2000";
  header.archive_date = "Sun Jan 2 00:00:00 2000";

  for (int number = 1; number <= 2; ++number) {
    header.sequence_number = 12 * number;
    const std::string file = number == 1 ? "first.nersc" : "second.nersc";
    writeArchiv(header, u, file);
    ArchivGauge_t back;
    multi1d<LatticeColorMatrix> v(Nd);
    readArchiv(back, v, file);
    show(back);
    Double difference = 0, links = 0;
    for (int mu = 0; mu < Nd; ++mu) {
      difference += norm2(v[mu] - u[mu]);
      links += sum(real(trace(v[mu])));
    }
    std::cout << std::setprecision(7);
    QDPIO::cout << "in single precision: " << (toDouble(difference) < 1e-10) << " " << (toDouble(difference) > 0)
                << ", " << links / Double(Nd * Nc * Layout::vol()) << std::endl;
    multi1d<LatticeColorMatrix> w(Nd);
    XMLReader xml;
    readArchiv(xml, w, file);
    std::string label;
    read(xml, "/NERSC/ensemble_label", label);
    QDPIO::cout << label << " " << xml.count("//nrow") << " " << norm2(w[2] - v[2]) << std::endl;
    readArchiv(w, file);
    QDPIO::cout << norm2(w[3] - v[3]) << std::endl;
  }

  XMLBufferWriter xml_out;
  write(xml_out, "NERSC", header);
  QDPIO::cout << xml_out.str() << std::endl;
  XMLReader xml_in(xml_out);
  ArchivGauge_t copy;
  read(xml_in, "/NERSC", copy);
  show(copy);
  writeArchiv(xml_out, u, "by_xml.nersc");
  ArchivGauge_t third;
  multi1d<LatticeColorMatrix> x(Nd);
  readArchiv(third, x, "by_xml.nersc");
  show(third);

  QDP_finalize();
  return 0;
}
