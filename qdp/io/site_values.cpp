#include "qdp/io/site_values.hpp"

#include <cstring>

#include "jit/support/error.hpp"
#include "qdp/io/field_stream.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/types/shift.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

namespace detail {

namespace {

/// Calls f with the word at `at`, as its C++ type.
template <class F> void visit_word(Type word, void* at, F f) {
  switch (word) {
    case Type::b1:
      return f(*static_cast<bool*>(at));
    case Type::i32:
      return f(*static_cast<int*>(at));
    case Type::i64:
      return f(*static_cast<long*>(at));
    case Type::f32:
      return f(*static_cast<float*>(at));
    case Type::f64:
      return f(*static_cast<double*>(at));
  }
}
/// Where the i-th word of text is in a level: matrices go column by column.
int in_text(Level l, int i) { return l.kind == Kind::matrix ? i % l.n * l.n + i / l.n : i; }

/// In the order of QDP++'s texts.
template <class F> void visit_words_of_text(Shape shape, void* site, F f) {
  const int reals = shape.reals(), size = static_cast<int>(jit::ir::bytes(shape.word));
  for (int s = 0; s < shape.spin.size(); ++s)
    for (int c = 0; c < shape.color.size(); ++c) {
      const int place = in_text(shape.spin, s) * shape.color.size() + in_text(shape.color, c);
      for (int r = 0; r < reals; ++r) visit_word(shape.word, static_cast<char*>(site) + (place * reals + r) * size, f);
    }
}

const char* level_tag(Level l, bool spin) {
  if (l.kind == Kind::seed) return "Seed";
  if (l.kind == Kind::vector) return spin ? "SpinVector" : "Vector";
  return "Matrix";
}
/// What Tessera wrote before it wrote what QDP++ writes.
const char* old_level_tag(Level l, bool spin) {
  if (l.kind == Kind::vector) return spin ? "SpinVector" : "ColorVector";
  return spin ? "SpinMatrix" : "ColorMatrix";
}

// The levels from the outside in: `at` advances through the words.
void write_reality(XMLWriter& xml, Shape s, char*& at) {
  auto one = [&] {
    visit_word(s.word, at, [&xml](auto x) { xml.write(x); });
    at += jit::ir::bytes(s.word);
  };
  if (!s.complex) return one();
  for (const char* part : {"re", "im"}) {
    xml.openTag(part);
    one();
    xml.closeTag();
  }
}
template <class Inner> void write_level(XMLWriter& xml, Level l, bool spin, Inner inner) {
  if (l.is_scalar()) return inner();
  xml.openTag(level_tag(l, spin));
  for (int i = 0; i < l.size(); ++i) {
    if (l.kind == Kind::seed) {
      xml.openTag("elem"), inner(), xml.closeTag();
      continue;
    }
    XMLWriterAPI::AttributeList attributes;
    attributes.emplace_back("row", l.kind == Kind::matrix ? i / l.n : i);
    if (l.kind == Kind::matrix) attributes.emplace_back("col", i % l.n);
    xml.openTag("elem", attributes);
    inner();
    xml.closeTag();
  }
  xml.closeTag();
}

void read_reality(XMLReader& xml, const std::string& path, Shape s, char*& at) {
  auto one = [&](const std::string& where) {
    visit_word(s.word, at, [&](auto& x) { read(xml, where, x); });
    at += jit::ir::bytes(s.word);
  };
  if (!s.complex) return one(path);
  one(path + "/re");
  one(path + "/im");
}
template <class Inner> void read_level(XMLReader& xml, const std::string& path, Level l, bool spin, Inner inner) {
  if (l.is_scalar()) return inner(path);
  std::string base = path + "/" + level_tag(l, spin);
  if (l.kind != Kind::seed && xml.count(base) == 0)
    if (const std::string old = path + "/" + old_level_tag(l, spin); xml.count(old) > 0) base = old;
  for (int i = 0; i < l.size(); ++i) inner(base + "/elem[" + std::to_string(i + 1) + "]");
}

/// Numbers of sites in lexicographic order.
struct SiteRange {
  std::uint64_t begin, end;
};
SiteRange all_sites() { return {0, io::lattice_geometry().volume()}; }
SiteRange checked_range(std::int64_t begin, std::int64_t end) {
  const std::uint64_t volume = all_sites().end;
  if (begin < 0 || begin > end || static_cast<std::uint64_t>(end) > volume)
    throw jit::UserError({.what = "LatticeTimeSliceIO: sites",
                          .expected = "a range in 0.." + std::to_string(volume),
                          .got = std::to_string(begin) + ".." + std::to_string(end)});
  return {static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)};
}

/// Reads or writes sites in lexicographic order through a buffer of one chunk.
template <class Stream, class Transfer>
void stream_lattice(const Stream& stream, const SiteRange& sites, Transfer transfer) {
  const std::size_t words = stream.format().words_per_site, bytes = stream.format().bytes_per_site();
  const std::uint64_t chunk = io::sites_per_chunk(bytes);
  std::vector<char> buffer(bytes * std::min(sites.end - sites.begin, chunk));
  for (std::uint64_t begin = sites.begin; begin < sites.end; begin += chunk) {
    const std::uint64_t count = std::min(chunk, sites.end - begin);
    transfer(begin, count, buffer.data(), count * words);
  }
}

}  // namespace

void write_site(XMLWriter& xml, Shape shape, const void* site) {
  auto* at = static_cast<char*>(const_cast<void*>(site));
  write_level(xml, shape.spin, true,
              [&] { write_level(xml, shape.color, false, [&] { write_reality(xml, shape, at); }); });
}

void read_site(XMLReader& xml, const std::string& path, Shape shape, void* site) {
  auto* at = static_cast<char*>(site);
  read_level(xml, path, shape.spin, true, [&](const std::string& outer) {
    read_level(xml, outer, shape.color, false, [&](const std::string& inner) { read_reality(xml, inner, shape, at); });
  });
}

void print_site(std::ostream& os, Shape shape, const void* site) {
  auto* at = static_cast<char*>(const_cast<void*>(site));
  const auto size = static_cast<std::size_t>(jit::ir::bytes(shape.word));
  auto one = [&] {
    visit_word(shape.word, at, [&os](auto x) { os << x; });
    at += size;
  };
  const int n = shape.components() / shape.reals();
  for (int i = 0; i < n; ++i) {
    if (shape.complex) {
      os << "( ", one(), os << " , ", one(), os << " )";
    } else {
      if (i) os << ' ';
      one();
    }
  }
  if (shape.color.kind == Kind::seed) os << '\n';
}

void scan_site(TextReader& text, Shape shape, void* site) {
  visit_words_of_text(shape, site, [&text](auto& x) { text >> x; });
}

namespace {

/// A chunk on every rank, where each keeps a document or a buffer of its own.
void get_everywhere(io::FieldSource& source, std::uint64_t begin, std::uint64_t count, char* buffer) {
  io::on_primary_with(source, [&] { source.get(begin, count, buffer); });
  io::broadcast(buffer, count * source.format().bytes_per_site());
}

/// Those of a site by its lexicographic number, with blanks between.
std::string coordinates_text(std::uint64_t site) {
  std::string text;
  for (const int extent : io::lattice_geometry().extents) {
    text += (text.empty() ? "" : " ") + std::to_string(site % static_cast<std::uint64_t>(extent));
    site /= static_cast<std::uint64_t>(extent);
  }
  return text;
}

}  // namespace

void write_lattice(XMLWriter& xml, Shape shape, jit::Field& field) {
  xml.openTag("OLattice");
  io::FieldSource source({&field});
  stream_lattice(source, all_sites(), [&](std::uint64_t begin, std::uint64_t count, char* buffer, std::size_t) {
    get_everywhere(source, begin, count, buffer);
    for (std::uint64_t i = 0; i < count; ++i) {
      XMLWriterAPI::AttributeList attributes;
      attributes.emplace_back("site", static_cast<unsigned long>(begin + i));
      attributes.emplace_back("coord", coordinates_text(begin + i));
      xml.openTag("elem", attributes);
      write_site(xml, shape, buffer + i * shape.bytes());
      xml.closeTag();
    }
  });
  xml.closeTag();
}

namespace {

void write_range(BinaryWriter& bin, Shape shape, jit::Field& field, const SiteRange& sites) {
  io::FieldSource source({&field});
  const auto word = static_cast<std::size_t>(jit::ir::bytes(shape.word));
  if (bin.isLocal())
    return stream_lattice(source, sites,
                          [&](std::uint64_t begin, std::uint64_t count, char* buffer, std::size_t words) {
                            get_everywhere(source, begin, count, buffer);
                            bin.writeArray(buffer, word, words);
                          });
  io::on_primary_with(source, [&] {
    stream_lattice(source, sites, [&](std::uint64_t begin, std::uint64_t count, char* buffer, std::size_t words) {
      source.get(begin, count, buffer);
      bin.writeArrayPrimaryNode(buffer, word, words);
    });
  });
}

void read_range(BinaryReader& bin, Shape shape, jit::Field& field, const SiteRange& sites) {
  io::FieldSink sink({&field});
  io::on_primary_with(sink, [&] {
    stream_lattice(sink, sites, [&](std::uint64_t begin, std::uint64_t count, char* buffer, std::size_t words) {
      bin.readArrayPrimaryNode(buffer, static_cast<std::size_t>(jit::ir::bytes(shape.word)), words);
      sink.put(begin, count, buffer);
    });
  });
}

}  // namespace

void write_lattice(BinaryWriter& bin, Shape shape, jit::Field& field) { write_range(bin, shape, field, all_sites()); }
void read_lattice(BinaryReader& bin, Shape shape, jit::Field& field) { read_range(bin, shape, field, all_sites()); }
void write_lattice_sites(BinaryWriter& bin, Shape shape, jit::Field& field, std::int64_t begin, std::int64_t end) {
  write_range(bin, shape, field, checked_range(begin, end));
}
void read_lattice_sites(BinaryReader& bin, Shape shape, jit::Field& field, std::int64_t begin, std::int64_t end) {
  read_range(bin, shape, field, checked_range(begin, end));
}

void write_lattice_site(BinaryWriter& bin, Shape shape, jit::Field& field, const multi1d<int>& coord) {
  std::vector<char> site(shape.bytes());
  peek_site(field, coord, site.data(), "write");
  bin.writeArray(site.data(), static_cast<std::size_t>(jit::ir::bytes(shape.word)),
                 static_cast<std::size_t>(shape.components()));
}
void read_lattice_site(BinaryReader& bin, Shape shape, jit::Field& field, const multi1d<int>& coord) {
  std::vector<char> site(shape.bytes());
  bin.readArray(site.data(), static_cast<std::size_t>(jit::ir::bytes(shape.word)),
                static_cast<std::size_t>(shape.components()));
  poke_site(field, coord, site.data(), "read");
}

}  // namespace detail

void write_text(TextWriter& text, detail::Shape shape, const void* site) {
  const bool lines = shape.color.kind == detail::Kind::seed;
  bool first = true;
  detail::visit_words_of_text(shape, const_cast<void*>(site), [&](auto x) {
    if (!first && !lines) text << " ";
    first = false;
    text << x;
    if (lines) text << "\n";
  });
}

}  // namespace QDP
