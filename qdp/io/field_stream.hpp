// Lattice fields as the file formats see them: sites in lexicographic order of the whole lattice, several fields interleaved.
#pragma once

#include <cstdint>
#include <vector>

#include "qdp/expr/shape.hpp"
#include "qdp/io/site_stream.hpp"

namespace jit {
class Field;
}

namespace QDP::io {

/// The geometry of the present layout.
SiteGeometry lattice_geometry();

/// Word of the files for a word of the language; throws jit::UserError for words that files do not hold (64-bit integers).
Word file_word(jit::ir::Type word);

/// Fields of equal shape, interleaved per site: site rank r gives fields[0](r), fields[1](r), ...
/// Throw jit::UserError for fields whose lattice has other extents than the file.
/// The host side of the fields is given back when the stream is destroyed, so a field is never held twice for long.
class FieldSource : public SiteSource {
 public:
  explicit FieldSource(std::vector<jit::Field*> fields, const SiteGeometry& of_file = lattice_geometry());
  ~FieldSource() override;
  SiteFormat format() const override;
  void get(std::uint64_t begin, std::uint64_t count, void* words) override;

 private:
  std::vector<jit::Field*> fields_;
};
class FieldSink : public SiteSink {
 public:
  explicit FieldSink(std::vector<jit::Field*> fields, const SiteGeometry& of_file = lattice_geometry());
  ~FieldSink() override;
  SiteFormat format() const override;
  void put(std::uint64_t begin, std::uint64_t count, const void* words) override;

 private:
  std::vector<jit::Field*> fields_;
};

}  // namespace QDP::io
