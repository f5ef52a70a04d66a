// Scalars and lattices in XML, text and binary form.
//
// XML, as QDP++ writes it: reals as text, complex numbers <re/><im/>, vectors <Vector><elem row="i"> (of spins: <SpinVector>),
// matrices <Matrix><elem row="i" col="j">, seeds <Seed><elem> x 4, lattices <OLattice><elem site="n" coord="x y z t"> in
// lexicographic order. <ColorVector>, <ColorMatrix> and <SpinMatrix> are read as well.
// Binary: big-endian words, lattices in lexicographic order.
// Text: words separated by blanks (QDP++ puts nothing between them, so that nothing reads them), matrices column by column,
// seeds a word per line. QDPIO::cout: ( re , im ) one after the other, 7 or 15 digits.
#pragma once

#include <cstdint>
#include <list>
#include <ostream>
#include <vector>

#include "qdp/io/binary.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/io/text.hpp"
#include "qdp/io/xml.hpp"
#include "qdp/types/typedefs.hpp"

namespace QDP {

namespace detail {
void write_site(XMLWriter& xml, Shape shape, const void* site);
void read_site(XMLReader& xml, const std::string& path, Shape shape, void* site);
void print_site(std::ostream& os, Shape shape, const void* site);
void scan_site(TextReader& text, Shape shape, void* site);
void write_lattice(XMLWriter& xml, Shape shape, jit::Field& field);
void write_lattice(BinaryWriter& bin, Shape shape, jit::Field& field);
void read_lattice(BinaryReader& bin, Shape shape, jit::Field& field);
/// The sites begin .. end - 1 in lexicographic order; the others stay as they are. Throws jit::UserError unless these are sites.
void write_lattice_sites(BinaryWriter& bin, Shape shape, jit::Field& field, std::int64_t begin, std::int64_t end);
void read_lattice_sites(BinaryReader& bin, Shape shape, jit::Field& field, std::int64_t begin, std::int64_t end);
void write_lattice_site(BinaryWriter& bin, Shape shape, jit::Field& field, const multi1d<int>& coord);
void read_lattice_site(BinaryReader& bin, Shape shape, jit::Field& field, const multi1d<int>& coord);
/// One real word: written as a bare number.
constexpr bool bare(Shape s) { return s.scalar_levels() && !s.complex; }
}  // namespace detail

// ---- XML

template <class T> void write(XMLWriter& xml, const std::string& tag, const OScalar<T>& x) {
  xml.openTag(tag);
  detail::write_site(xml, detail::shape_of<T>, &x.elem());
  xml.closeTag();
}
template <class T> XMLWriter& operator<<(XMLWriter& xml, const OScalar<T>& x) {
  detail::write_site(xml, detail::shape_of<T>, &x.elem());
  return xml;
}
template <class T> void write(XMLWriter& xml, const std::string& tag, const OLattice<T>& x) {
  xml.openTag(tag);
  detail::write_lattice(xml, detail::shape_of<T>, *detail::plain_field(x.field(), detail::shape_of<T>));
  xml.closeTag();
}
template <class T> XMLWriter& operator<<(XMLWriter& xml, const OLattice<T>& x) {
  detail::write_lattice(xml, detail::shape_of<T>, *detail::plain_field(x.field(), detail::shape_of<T>));
  return xml;
}
template <class T, class C> void write(XMLWriter& xml, const std::string& tag, const QDPExpr<T, C>& x) {
  write(xml, tag, C(x));
}
template <class T> void read(XMLReader& xml, const std::string& path, OScalar<T>& x) {
  detail::read_site(xml, path, detail::shape_of<T>, &x.elem());
}

namespace detail {
/// Arrays of real scalars are lists of words, other arrays <elem> children.
template <class T>
concept RealScalar = bare(shape_of<T>);
template <class T> auto read_real_scalars(XMLReader& xml, const std::string& path) {
  multi1d<typename host_word<shape_of<T>.word>::type> words;
  read(xml, path, words);
  return words;
}
template <class T, class Array> void write_real_scalars(XMLWriter& xml, const std::string& tag, const Array& a) {
  multi1d<typename host_word<shape_of<T>.word>::type> words(static_cast<int>(a.size()));
  int i = 0;
  for (const OScalar<T>& x : a) words[i++] = toWordType(x);
  write(xml, tag, words);
}
}  // namespace detail

template <detail::RealScalar T> void read(XMLReader& xml, const std::string& path, multi1d<OScalar<T>>& a) {
  const auto words = detail::read_real_scalars<T>(xml, path);
  a.resize(words.size());
  for (int i = 0; i < a.size(); ++i) a[i] = words[i];
}
template <detail::RealScalar T> void read(XMLReader& xml, const std::string& path, std::vector<OScalar<T>>& a) {
  const auto words = detail::read_real_scalars<T>(xml, path);
  a.clear();
  for (int i = 0; i < words.size(); ++i) a.emplace_back(words[i]);
}
template <detail::RealScalar T> void read(XMLReader& xml, const std::string& path, std::list<OScalar<T>>& a) {
  const auto words = detail::read_real_scalars<T>(xml, path);
  a.clear();
  for (int i = 0; i < words.size(); ++i) a.emplace_back(words[i]);
}
template <detail::RealScalar T> void write(XMLWriter& xml, const std::string& tag, const multi1d<OScalar<T>>& a) {
  detail::write_real_scalars<T>(xml, tag, a);
}
template <detail::RealScalar T> void write(XMLWriter& xml, const std::string& tag, const std::vector<OScalar<T>>& a) {
  detail::write_real_scalars<T>(xml, tag, a);
}
template <detail::RealScalar T> void write(XMLWriter& xml, const std::string& tag, const std::list<OScalar<T>>& a) {
  detail::write_real_scalars<T>(xml, tag, a);
}

// ---- text

namespace io {
template <class T> inline constexpr int kDigits<OScalar<T>> =
    kDigits<typename QDP::detail::host_word<QDP::detail::shape_of<T>.word>::type>;
}  // namespace io
template <class T> std::ostream& operator<<(std::ostream& os, const OScalar<T>& x) {
  detail::print_site(os, detail::shape_of<T>, &x.elem());
  return os;
}
template <class T> TextReader& operator>>(TextReader& text, OScalar<T>& x) {
  detail::scan_site(text, detail::shape_of<T>, &x.elem());
  return text;
}
template <class T> void read(TextReader& text, OScalar<T>& x) { text >> x; }
/// Its words, one after the other.
template <class T> StandardInputStream& operator>>(StandardInputStream& s, OScalar<T>& x) {
  using W = typename detail::host_word<detail::shape_of<T>.word>::type;
  W* const words = reinterpret_cast<W*>(&x.elem());
  for (int i = 0; i < detail::shape_of<T>.components(); ++i) s >> words[i];
  return s;
}
void write_text(TextWriter& text, detail::Shape shape, const void* site);
template <class T> TextWriter& operator<<(TextWriter& text, const OScalar<T>& x) {
  write_text(text, detail::shape_of<T>, &x.elem());
  return text;
}
template <class T> void write(TextWriter& text, const OScalar<T>& x) { text << x; }

// ---- binary

template <class T> void write(BinaryWriter& bin, const OScalar<T>& x) {
  bin.writeArray(reinterpret_cast<const char*>(&x.elem()), jit::ir::bytes(detail::shape_of<T>.word),
                 detail::shape_of<T>.components());
}
template <class T> void read(BinaryReader& bin, OScalar<T>& x) {
  bin.readArray(reinterpret_cast<char*>(&x.elem()), jit::ir::bytes(detail::shape_of<T>.word),
                detail::shape_of<T>.components());
}
template <class T> void write(BinaryWriter& bin, const OLattice<T>& x) {
  detail::write_lattice(bin, detail::shape_of<T>, *detail::plain_field(x.field(), detail::shape_of<T>));
}
template <class T> void read(BinaryReader& bin, OLattice<T>& x) {
  detail::read_lattice(bin, detail::shape_of<T>, *x.field());
}
template <class T> void write(BinaryWriter& bin, const OLattice<T>& x, const multi1d<int>& coord) {
  detail::write_lattice_site(bin, detail::shape_of<T>, *detail::plain_field(x.field(), detail::shape_of<T>), coord);
}
template <class T> void read(BinaryReader& bin, OLattice<T>& x, const multi1d<int>& coord) {
  detail::read_lattice_site(bin, detail::shape_of<T>, *x.field(), coord);
}

}  // namespace QDP
