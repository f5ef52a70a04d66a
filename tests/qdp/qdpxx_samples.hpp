// Files in the formats of QDP++ from one source: compiled with QDP++ (devel, 7a4bd2c2, scalar, double precision) it wrote
// tests/data/qdpxx (README there), compiled here it must write the same bytes. Only names that both have, so the including
// file brings qdp.h and what else belongs to it.
#pragma once

#include <fstream>
#include <ostream>
#include <string>
#include <vector>

namespace samples {

using namespace QDP;

/// The lattice of all samples.
inline multi1d<int> extents() {
  multi1d<int> nrow(Nd);
  nrow = 2;
  return nrow;
}

/// Word `word` of site `site`: no two are equal, most have no end in binary, and signs change.
template <class Word> Word value(int site, int word) {
  const int n = 1 + 1000 * site + word;
  return Word(n % 2 ? n / 3.0 : -n / 7.0);
}
template <> inline int value<int>(int site, int word) { return 1 + 17 * site + word; }
template <> inline bool value<bool>(int site, int word) { return (site + word) % 3 == 0; }

template <class Word, class T> void fill(OLattice<T>& x, int salt = 0) {
  x.elem(0) = x.elem(0);  // Tessera: the host side is written from here on
  for (int i = 0; i < Layout::sitesOnNode(); ++i) {
    const int site = local_site(Layout::siteCoords(Layout::nodeNumber(), i), Layout::lattSize());
    Word* words = reinterpret_cast<Word*>(&x.elem(i));
    for (int w = 0; w < int(sizeof(T) / sizeof(Word)); ++w) words[w] = value<Word>(site, w + 100 * salt);
  }
}
template <class Word, class T> void fill(OScalar<T>& x, int salt = 0) {
  Word* words = reinterpret_cast<Word*>(&x.elem());
  for (int w = 0; w < int(sizeof(T) / sizeof(Word)); ++w) words[w] = value<Word>(salt, w);
}
template <class Word, class X> void fill(multi1d<X>& a, int salt = 0) {
  for (int i = 0; i < a.size(); ++i) fill<Word>(a[i], salt + i);
}

// ---- SciDAC: a record of each type

inline void describe(XMLBufferWriter& xml, const std::string& name) {
  push(xml, "record");
  write(xml, "name", name);
  pop(xml);
}

template <class Word, class X> void record(QDPFileWriter& to, const std::string& name, X x) {
  fill<Word>(x);
  XMLBufferWriter xml;
  describe(xml, name);
  write(to, xml, x);
}
/// The last site alone, for types that are large.
template <class Word, class X> void corner(QDPFileWriter& to, const std::string& name, X x) {
  fill<Word>(x);
  XMLBufferWriter xml;
  describe(xml, name);
  multi1d<int> site(Nd);
  site = 1;
  to.write(xml, x, site, site);
}

inline void write_scidac(const std::string& file) {
  XMLBufferWriter xml;
  push(xml, "file");
  write(xml, "origin", std::string("samples"));
  pop(xml);
  QDPFileWriter to(xml, file, QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN);
  record<double>(to, "LatticeComplexD", LatticeComplexD());
  record<float>(to, "LatticeRealF", LatticeRealF());
  record<int>(to, "LatticeInteger", LatticeInteger());
  record<bool>(to, "LatticeBoolean", LatticeBoolean());
  record<int>(to, "LatticeSeed", LatticeSeed());
  record<double>(to, "LatticeColorMatrixD", LatticeColorMatrixD());
  record<float>(to, "LatticeColorVectorF", LatticeColorVectorF());
  record<double>(to, "LatticeColorVectorD", LatticeColorVectorD());
  record<float>(to, "LatticeFermionF", LatticeFermionF());
  record<float>(to, "array of LatticeComplexF", multi1d<LatticeComplexF>(2));
  record<float>(to, "array of LatticeColorMatrixF", multi1d<LatticeColorMatrixF>(4));
  record<float>(to, "two of LatticeColorMatrixF", multi1d<LatticeColorMatrixF>(2));
  record<float>(to, "array of LatticeFermionF", multi1d<LatticeFermionF>(1));
  record<float>(to, "array of LatticeColorVectorF", multi1d<LatticeColorVectorF>(2));
  corner<float>(to, "LatticePropagatorF", LatticePropagatorF());
  corner<float>(to, "LatticeStaggeredPropagatorF", LatticeStaggeredPropagatorF());
  corner<float>(to, "LatticeSpinMatrixF", LatticeSpinMatrixF());
  corner<float>(to, "LatticeSpinVectorF", LatticeSpinVectorF());
  corner<float>(to, "LatticeHalfFermionF", LatticeHalfFermionF());
  corner<double>(to, "array of LatticeColorMatrixD", multi1d<LatticeColorMatrixD>(4));
  corner<double>(to, "array of LatticeFermionD", multi1d<LatticeFermionD>(2));
  record<double>(to, "ComplexD", ComplexD());
  record<float>(to, "RealF", RealF());
  record<int>(to, "Seed", Seed());
  record<float>(to, "ColorMatrixF", ColorMatrixF());
  record<float>(to, "PropagatorF", PropagatorF());
  record<double>(to, "array of RealD", multi1d<RealD>(3));
  record<float>(to, "array of ColorVectorF", multi1d<ColorVectorF>(2));
  BinaryBufferWriter bytes;
  write(bytes, 7);
  write(bytes, 2.5);
  XMLBufferWriter of_bytes;
  describe(of_bytes, "BinaryBufferWriter");
  write(to, of_bytes, bytes);
  close(to);
}

/// Links first: they are ILDG records as well, until a record of another type comes.
inline void write_links(const std::string& file) {
  XMLBufferWriter xml;
  push(xml, "file");
  pop(xml);
  QDPFileWriter to(xml, file, QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN, "lfn://samples/1");
  record<float>(to, "links", multi1d<LatticeColorMatrixF>(4));
  record<float>(to, "the same links", multi1d<LatticeColorMatrixF>(4));
  record<float>(to, "another type", LatticeRealF());
  record<double>(to, "links that are not ILDG", multi1d<LatticeColorMatrixD>(4));
  close(to);
}

// ---- XML

template <class Word, class X> void element(XMLWriter& xml, const std::string& name, X x) {
  fill<Word>(x);
  write(xml, name, x);
}

inline void write_xml(const std::string& file) {
  XMLFileWriter xml(file);
  push(xml, "samples");
  element<double>(xml, "RealD", RealD());
  element<float>(xml, "RealF", RealF());
  element<int>(xml, "Integer", Integer());
  element<bool>(xml, "Boolean", Boolean());
  element<double>(xml, "ComplexD", ComplexD());
  element<float>(xml, "ComplexF", ComplexF());
  element<int>(xml, "Seed", Seed());
  element<double>(xml, "ColorVectorD", ColorVectorD());
  element<float>(xml, "ColorMatrixF", ColorMatrixF());
  element<float>(xml, "SpinVectorF", SpinVectorF());
  element<float>(xml, "SpinMatrixF", SpinMatrixF());
  element<float>(xml, "FermionF", FermionF());
  element<float>(xml, "LatticeRealF", LatticeRealF());
  element<int>(xml, "LatticeInteger", LatticeInteger());
  element<float>(xml, "LatticeColorVectorF", LatticeColorVectorF());
  multi1d<RealD> reals(3);
  fill<double>(reals);
  write(xml, "reals", reals);
  multi1d<Integer> integers(3);
  fill<int>(integers);
  write(xml, "integers", integers);
  multi1d<Boolean> flags(3);
  fill<bool>(flags);
  write(xml, "flags", flags);
  multi1d<ComplexD> numbers(2);
  fill<double>(numbers);
  write(xml, "numbers", numbers);
  ArchivGauge_t header;
  header.w_plaq = 0.5;
  header.link = -0.25;
  header.checksum = 0xfedcba98;
  header.creation_date = "a day";
  header.archive_date = "another day";
  header.ensemble_id = "id";
  header.ensemble_label = "label";
  header.creator = "creator";
  header.creator_hardware = "hardware";
  write(xml, "header", header);
  pop(xml);
  xml.close();
}

// ---- text

/// To QDPIO::cout or a TextWriter: names and values, what QDP++ puts between the words of a value being nothing.
template <class Word, class X, class Out> void line(Out& out, const std::string& name, X x) {
  fill<Word>(x);
  out << name << " " << x << "\n";
}

template <class Out> void write_lines(Out& out) {
  line<double>(out, "RealD", RealD());
  line<float>(out, "RealF", RealF());
  line<int>(out, "Integer", Integer());
  line<bool>(out, "Boolean", Boolean());
  line<double>(out, "ComplexD", ComplexD());
  line<float>(out, "ComplexF", ComplexF());
  line<int>(out, "Seed", Seed());
  line<float>(out, "ColorVectorF", ColorVectorF());
  line<double>(out, "SpinVectorD", SpinVectorD());
  line<float>(out, "FermionF", FermionF());
  out << std::string("float ") << 1.0f / 3 << "\n";
  out << std::string("double ") << 1.0 / 3 << " " << 1e-30 / 3 << " " << 1e30 / 3 << " " << 100.0 << "\n";
  out << std::string("int ") << 123456789 << " " << true << "\n";
}

inline void write_text(const std::string& file, const std::string& printed) {
  TextFileWriter text(file);
  write_lines(text);
  line<float>(text, "ColorMatrixF", ColorMatrixF());
  line<double>(text, "SpinMatrixD", SpinMatrixD());
  line<float>(text, "PropagatorF", PropagatorF());
  text.close();
  std::ofstream out(printed);
  QDPIO::cout.init(&out);
  write_lines(QDPIO::cout);
  QDPIO::cout.flush();
}

}  // namespace samples
