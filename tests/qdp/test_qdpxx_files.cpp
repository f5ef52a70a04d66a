// What QDP++ itself wrote (tests/data/qdpxx) is read here, and the same source writes the same bytes here.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>

#include "jit/support/file.hpp"
#include "qdp.h"
#include "qdp_disk_map_slice.h"
#include "qdp_map_obj_disk.h"
#include "qdp_map_obj_disk_multiple.h"
#include "qdp_map_obj_memory.h"
#include "qdp_map_obj_null.h"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/qdp/qdpxx_map_samples.hpp"
#include "tests/sizes.hpp"
#include "tests/skip.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

std::string by_qdpxx(const std::string& name) { return tests::data_file("qdpxx/" + name); }

/// Says where two files begin to differ.
std::string difference(const std::string& a, const std::string& b) {
  if (a == b) return "";
  const auto at = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
  const std::size_t from = at > 60 ? at - 60 : 0;
  return "byte " + std::to_string(at) + " of " + std::to_string(a.size()) + " and " + std::to_string(b.size()) + ":\n" +
         a.substr(from, 160) + "\n----\n" + b.substr(from, 160);
}
std::string without_dates(const std::string& bytes) {
  return std::regex_replace(bytes, std::regex("<date>... ... .. ..:..:.. .... UTC</date>"), "<date/>");
}
std::string without_blanks(std::string text) {
  std::erase(text, ' ');
  return text;
}

void sample_lattice() {
  if (QDP_ND != 4 || QDP_NC != 3)
    tests::leave_case("QDP_ND is not 4 or QDP_NC not 3: QDP++ wrote the samples for four dimensions and three colours");
  tests::create_lattice({2, 2, 2, 2});
}

/// How many words of a value are not those of the samples.
template <class Word, class X> int wrong(const X& x, int salt = 0) {
  X expected = x;
  samples::fill<Word>(expected, salt);
  int count = 0;
  if constexpr (requires { x.elem(0); }) {
    for (int i = 0; i < Layout::sitesOnNode(); ++i)
      count += std::memcmp(&x.elem(i), &expected.elem(i), sizeof x.elem(i)) != 0;
  } else {
    count += std::memcmp(&x.elem(), &expected.elem(), sizeof x.elem()) != 0;
  }
  return count;
}
template <class Word, class X> int wrong(const multi1d<X>& x, int salt = 0) {
  int count = 0;
  for (int i = 0; i < x.size(); ++i) count += wrong<Word>(x[i], salt + i);
  return count;
}

template <class Word, class X> void check_record(QDPFileReader& from, const std::string& name, X x) {
  CAPTURE(name);
  XMLReader xml;
  read(from, xml, x);
  CHECK(wrong<Word>(x) == 0);
  CHECK(from.verdict() == "verified");
}
/// Of the last site alone.
template <class Word, class T> void check_corner(QDPFileReader& from, const std::string& name, OLattice<T> x) {
  CAPTURE(name);
  XMLReader xml;
  x = zero;
  read(from, xml, x);
  OLattice<T> expected = x;
  samples::fill<Word>(expected);
  multi1d<int> site(Nd);
  site = 1;
  const OScalar<T> got = peekSite(x, site), of_sample = peekSite(expected, site);
  CHECK(std::memcmp(&got.elem(), &of_sample.elem(), sizeof got.elem()) == 0);
  CHECK(toDouble(norm2(x)) == doctest::Approx(toDouble(norm2(of_sample))));  // zero elsewhere
  CHECK(from.verdict() == "verified");
}

void check_records(const std::string& file) {
  XMLReader xml;
  QDPFileReader from(xml, file, QDPIO_SERIAL);
  check_record<double>(from, "LatticeComplexD", LatticeComplexD());
  check_record<float>(from, "LatticeRealF", LatticeRealF());
  check_record<int>(from, "LatticeInteger", LatticeInteger());
  check_record<bool>(from, "LatticeBoolean", LatticeBoolean());
  check_record<int>(from, "LatticeSeed", LatticeSeed());
  check_record<double>(from, "LatticeColorMatrixD", LatticeColorMatrixD());
  check_record<float>(from, "LatticeColorVectorF", LatticeColorVectorF());
  check_record<double>(from, "LatticeColorVectorD", LatticeColorVectorD());
  check_record<float>(from, "LatticeFermionF", LatticeFermionF());
  check_record<float>(from, "array of LatticeComplexF", multi1d<LatticeComplexF>());
  check_record<float>(from, "array of LatticeColorMatrixF", multi1d<LatticeColorMatrixF>());
  check_record<float>(from, "two of LatticeColorMatrixF", multi1d<LatticeColorMatrixF>());
  check_record<float>(from, "array of LatticeFermionF", multi1d<LatticeFermionF>());
  check_record<float>(from, "array of LatticeColorVectorF", multi1d<LatticeColorVectorF>());
  check_corner<float>(from, "LatticePropagatorF", LatticePropagatorF());
  check_corner<float>(from, "LatticeStaggeredPropagatorF", LatticeStaggeredPropagatorF());
  check_corner<float>(from, "LatticeSpinMatrixF", LatticeSpinMatrixF());
  check_corner<float>(from, "LatticeSpinVectorF", LatticeSpinVectorF());
  check_corner<float>(from, "LatticeHalfFermionF", LatticeHalfFermionF());
  for (int i = 0; i < 2; ++i) from.read(xml);
  check_record<double>(from, "ComplexD", ComplexD());
  check_record<float>(from, "RealF", RealF());
  check_record<int>(from, "Seed", Seed());
  check_record<float>(from, "ColorMatrixF", ColorMatrixF());
  check_record<float>(from, "PropagatorF", PropagatorF());
  check_record<double>(from, "array of RealD", multi1d<RealD>());
  check_record<float>(from, "array of ColorVectorF", multi1d<ColorVectorF>());
  BinaryBufferReader bytes;
  from.read(xml, bytes);
  int n = 0;
  double number = 0;
  read(bytes, n);
  read(bytes, number);
  CHECK(n == 7);
  CHECK(number == 2.5);
  CHECK(from.eof());
}

}  // namespace

TEST_CASE("SciDAC records have the bytes that QDP++ writes: datatype, colours, spins and checksum of each type") {
  sample_lattice();
  TemporaryFolder folder;
  samples::write_scidac(folder.file("records.lime"));
  samples::write_links(folder.file("links.lime"));
  for (const std::string name : {"records.lime", "links.lime"}) {
    const std::string here = without_dates(jit::read_file(folder.file(name)));
    const std::string there = without_dates(jit::read_file(by_qdpxx(name)));
    CHECK(difference(here, there) == "");
    CHECK(contains(here, "<date/>"));
  }
}

TEST_CASE("SciDAC records of QDP++ are read into their types") {
  sample_lattice();
  check_records(by_qdpxx("records.lime"));
}

TEST_CASE("the same records in the four files that QIO's own tool makes of them") {
  sample_lattice();
  const std::string first = by_qdpxx("records.parts.vol0000");
  check_records(first.substr(0, first.rfind(".vol")));
}

TEST_CASE("XML of every kind of type has the bytes that QDP++ writes") {
  sample_lattice();
  TemporaryFolder folder;
  samples::write_xml(folder.file("values.xml"));
  tests::meet();
  // QDP++ ends files of XML, but not buffers, in the middle of a line.
  CHECK(difference(jit::read_file(folder.file("values.xml")), jit::read_file(by_qdpxx("values.xml"))) == "");
}

TEST_CASE("numbers as text have QDP++'s digits and order") {
  sample_lattice();
  TemporaryFolder folder;
  tests::once([&] { std::ofstream(folder.file("printed.txt")); });
  samples::write_text(folder.file("values.txt"), folder.file("printed.txt"));
  QDPIO::cout.init(nullptr);
  tests::meet();
  CHECK(difference(jit::read_file(folder.file("printed.txt")), jit::read_file(by_qdpxx("printed.txt"))) == "");
  // QDP++ writes the words of a value without anything between them.
  const std::string text = jit::read_file(folder.file("values.txt"));
  CHECK(difference(without_blanks(text), without_blanks(jit::read_file(by_qdpxx("values.txt")))) == "");
  CHECK(contains(text, "Seed 1\n2\n3\n4\n\n"));
  CHECK(contains(text, "ColorMatrixF 0.333333 -0.285714 2.33333 -1.14286 4.33333 -2 1 "));
}

TEST_CASE("text of a matrix is read column by column, as QDP++ does") {
  TESSERA_NEEDS_QCD("QDP++ wrote the samples for four dimensions and three colours");
  std::string words;
  for (int i = 0; i < 18; ++i) words += std::to_string(i) + " ";
  TextBufferReader text(words);
  ColorMatrixD u;
  read(text, u);
  for (int row = 0; row < 3; ++row)
    for (int col = 0; col < 3; ++col) {
      const ComplexD c = peekColor(u, row, col);
      CHECK(toDouble(real(c)) == 2 * (row + 3 * col));
      CHECK(toDouble(imag(c)) == 2 * (row + 3 * col) + 1);
    }
}

TEST_CASE("QDPIO::cout keeps to QDP++'s digits until the program sets others") {
  std::ostringstream out;
  QDPIO::cout.init(&out);
  QDPIO::cout << 1.0 / 3 << " " << 1.0f / 3 << " " << Real(0.1) << " " << std::setprecision(3) << 1.0 / 3 << " "
              << 2.0f / 3;
  QDPIO::cout.init(nullptr);
  if (tests::job_rank() == 0) {
    CHECK(contains(out.str(), "0.333333333333333 0.3333333 0.1 0.333 0.667"));
    CHECK(out.precision() == 3);
  }
}

TEST_CASE("the header of an archive comes back from XML, and from QDP++'s, with its checksum") {
  sample_lattice();
  XMLReader xml(by_qdpxx("values.xml"));
  ArchivGauge_t header;
  read(xml, "/samples/header", header);
  CHECK(header.checksum == 0xfedcba98u);
  CHECK(toDouble(header.w_plaq) == 0.5);
  CHECK(toDouble(header.link) == -0.25);
  CHECK(header.sequence_number == 0);
  XMLBufferWriter out;
  header.sequence_number = 17;
  write(out, "h", header);
  const auto back = [](const std::string& text) {
    std::istringstream in(text);
    XMLReader reader(in);
    ArchivGauge_t h;
    h.checksum = 1;
    read(reader, "/h", h);
    return h;
  };
  CHECK(back(out.str()).checksum == header.checksum);
  CHECK(back(out.str()).sequence_number == 17);
  const std::regex checksum("<checksum>[^<]*</checksum>");
  CHECK(back(std::regex_replace(out.str(), checksum, "")).checksum == 1);
  CHECK(contains(message_of([&] { back(std::regex_replace(out.str(), checksum, "<checksum>12g</checksum>")); }),
                 "got \"12g\""));
}

TEST_CASE("XML that Tessera wrote with names of its own for vectors and matrices is still read") {
  TESSERA_NEEDS_QCD("the numbers of a fermion and a colour matrix");
  const auto old = [](const std::string& text, const std::string& spin, const std::string& color,
                      const std::string& kind) {
    const std::string inner = std::regex_replace(text, std::regex(kind), color + kind);
    return std::regex_replace(inner, std::regex("Spin" + color), spin);
  };
  ColorMatrixD u;
  samples::fill<double>(u);
  XMLBufferWriter xml;
  write(xml, "x", u);
  std::istringstream in(old(xml.str(), "", "Color", "Matrix"));
  XMLReader reader(in);
  CHECK(reader.count("/x/ColorMatrix") == 1);
  ColorMatrixD back = zero;
  read(reader, "/x", back);
  CHECK(toDouble(norm2(back - u)) < 1e-20);
  FermionD psi;
  samples::fill<double>(psi);
  XMLBufferWriter of_psi;
  write(of_psi, "x", psi);
  std::istringstream in_psi(old(of_psi.str(), "Spin", "Color", "Vector"));
  XMLReader reader_psi(in_psi);
  CHECK(reader_psi.count("/x/SpinVector/elem/ColorVector") == 4);
  FermionD psi_back = zero;
  read(reader_psi, "/x", psi_back);
  CHECK(toDouble(norm2(psi_back - psi)) < 1e-20);
}
