#include "qdp/io/field_stream.hpp"

#include <cstring>

#include "jit/memory/field.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"
#include "qdp/layout/layout.hpp"

namespace QDP::io {

SiteGeometry lattice_geometry() {
  const multi1d<int>& n = Layout::lattSize();
  return {std::vector<int>(n.slice(), n.slice() + n.size())};
}

Word file_word(jit::ir::Type word) {
  switch (word) {
    case jit::ir::Type::f32:
      return Word::float32;
    case jit::ir::Type::f64:
      return Word::float64;
    case jit::ir::Type::i32:
      return Word::int32;
    case jit::ir::Type::b1:
      return Word::bytes;
    case jit::ir::Type::i64:
      break;
  }
  throw jit::UserError({.what = "writing a field to a file",
                        .expected = "float, double, 32-bit integer or boolean words",
                        .got = "64-bit integers"});
}

namespace {

SiteFormat format_of(const std::vector<jit::Field*>& fields) {
  return {file_word(fields.at(0)->word()), fields.size() * static_cast<std::size_t>(fields[0]->components())};
}

std::size_t site_bytes(const jit::Field& f) {
  return static_cast<std::size_t>(f.components() * jit::ir::bytes(f.word()));
}

/// Calls move(address of the site in the field, address in the stream) for every site and field of a run. Under the run
/// time's lock, because the end of another stream of a field gives its host side back.
template <class Base, class Move> void walk(const std::vector<jit::Field*>& fields, std::uint64_t begin,
                                            std::uint64_t count, char* words, Base base, Move move) {
  const jit::RuntimeLock lock;
  const std::size_t bytes = site_bytes(*fields[0]);
  const detail::LatticeState& lattice = detail::lattice_of(*fields[0]);
  std::vector<char*> start;
  for (jit::Field* f : fields) start.push_back(base(f));
  for (std::uint64_t r = 0; r < count; ++r) {
    const detail::Coord x = lattice.whole().from_lexicographic(static_cast<std::int64_t>(begin + r));
    const auto site = static_cast<std::size_t>(lattice.here().index(x));
    for (std::size_t i = 0; i < fields.size(); ++i, words += bytes) move(start[i] + site * bytes, words, bytes);
  }
}

/// The fields, if their lattice is that of the file.
std::vector<jit::Field*> checked(const char* what, std::vector<jit::Field*> fields, const SiteGeometry& of_file) {
  for (const jit::Field* f : fields) {
    const detail::Coord& extents = detail::lattice_of(*f).whole().extents();
    if (const SiteGeometry own{{extents.begin(), extents.end()}}; own != of_file)
      throw jit::UserError({.what = what,
                            .expected = "a field on a lattice of " + of_file.text() + " sites, as the file",
                            .got = "one on " + own.text(),
                            .what_now =
                                "files are of the lattice that is present when they are opened: make that of the "
                                "field present with Layout::Scope"});
  }
  return fields;
}

}  // namespace

FieldSource::FieldSource(std::vector<jit::Field*> fields, const SiteGeometry& of_file)
    : fields_(checked("writing a field", std::move(fields), of_file)) {}
FieldSink::FieldSink(std::vector<jit::Field*> fields, const SiteGeometry& of_file)
    : fields_(checked("reading a field", std::move(fields), of_file)) {}

SiteFormat FieldSource::format() const { return format_of(fields_); }
SiteFormat FieldSink::format() const { return format_of(fields_); }

void FieldSource::get(std::uint64_t begin, std::uint64_t count, void* words) {
  walk(
      fields_, begin, count, static_cast<char*>(words),
      [](jit::Field* f) { return static_cast<char*>(const_cast<void*>(f->host_read())); },
      [](char* site, char* stream, std::size_t n) { std::memcpy(stream, site, n); });
}
void FieldSink::put(std::uint64_t begin, std::uint64_t count, const void* words) {
  walk(
      fields_, begin, count, static_cast<char*>(const_cast<void*>(words)),
      [](jit::Field* f) { return static_cast<char*>(f->host_write()); },  // a box leaves the other sites alone
      [](char* site, char* stream, std::size_t n) { std::memcpy(site, stream, n); });
}

FieldSource::~FieldSource() {
  for (jit::Field* f : fields_) f->host_done();
}
FieldSink::~FieldSink() {
  for (jit::Field* f : fields_) f->host_done();
}

}  // namespace QDP::io
