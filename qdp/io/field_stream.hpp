// Lattice fields as the file formats see them: sites in lexicographic order of the whole lattice, several fields interleaved.
//
// One rank, the primary, has the file; each rank has the sites of its box. The code of a format runs on the primary alone:
//
//   io::FieldSource source({u.field().get()});
//   io::on_primary_with(source, [&] { writer.write_field(info, xml, source); });
//
// Each get() and put() in there moves one chunk of sites between the primary and the ranks that own them. write_to() and
// read_from() are for a whole lattice: each rank converts its own sites, takes their checksums, and writes or reads its parts of the
// file, where the ranks can open it together (jit/comm/shared_file.hpp). Either way no rank ever holds more of a lattice than its
// part and a chunk, and the file has the same bytes for every grid of ranks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "qdp/expr/shape.hpp"
#include "qdp/io/file_site.hpp"
#include "qdp/io/site_stream.hpp"

namespace jit {
class Field;
}

namespace QDP::io {

/// The geometry of the present layout.
SiteGeometry lattice_geometry();

/// Word of the files for a word of the language; throws jit::UserError for words that files do not hold (64-bit integers).
Word file_word(jit::ir::Type word);

/// What source and sink have in common. Fields of equal shape, interleaved per site: site rank r gives fields[0](r),
/// fields[1](r), ... The host side of the fields is given back when the stream is destroyed, so a field is never held
/// twice for long.
class FieldStream {
 public:
  FieldStream(const FieldStream&) = delete;
  FieldStream& operator=(const FieldStream&) = delete;

  friend void on_primary_with(FieldStream& stream, const std::function<void()>& action);

 protected:
  enum class Direction { to_file, from_file };
  /// Throws jit::UserError for fields whose lattice has other extents than the file.
  FieldStream(Direction direction, std::vector<jit::Field*> fields, const SiteGeometry& of_file);
  ~FieldStream();
  SiteFormat own_format() const;
  /// On the primary. Throws jit::InternalError outside of on_primary_with() if there are other ranks.
  void move(std::span<const SiteRun> sites, char* words);
  /// All sites between the ranks and a file, where they begin at `offset`; false: the ranks have no file of that name
  /// in common. On the primary, likewise.
  bool move_all(const std::string& path, std::uint64_t offset, const FileSite& site, DataSums& sums);
  std::uint64_t bytes_in_file(const FileSite& site) const;

 private:
  /// Sites next to each other in x that one rank has.
  struct Run;
  std::vector<Run> runs_of(std::span<const SiteRun> sites) const;
  /// The words of a rank's runs, one after the other, between `words` and its fields.
  void copy_own(const std::vector<Run>& runs, int rank, char* words, bool packed) const;
  void move_on_primary(const std::vector<Run>& runs, char* words);
  void move_elsewhere(const std::vector<Run>& runs) const;
  void require_others() const;
  std::vector<Run> own_runs(std::uint64_t begin, std::uint64_t count) const;
  /// On all ranks.
  bool move_together(const std::string& path, std::uint64_t offset, const FileSite& site, DataSums& sums) const;
  enum class Pass { write, read, check };  ///< check: what was written is read
  /// What this rank wrote, or read to check it.
  struct Echo;
  bool pass_over(const std::string& path, std::uint64_t offset, const FileSite& site, Pass pass, DataSums& sums,
                 Echo& echo) const;
  char* host_side(jit::Field* field) const;

  Direction direction_;
  std::vector<jit::Field*> fields_;
  std::size_t site_bytes_;  ///< of all fields
  bool others_follow_ = false;
};

/// Runs `action`, nothing in it collective, on the primary, where it may use the stream, and the other ranks give or take their
/// sites meanwhile. What it throws, or a rank that cannot give or take its sites, is thrown
/// everywhere as jit::UserError. Collective.
void on_primary_with(FieldStream& stream, const std::function<void()>& action);

class FieldSource : public SiteSource, public FieldStream {
 public:
  explicit FieldSource(std::vector<jit::Field*> fields, const SiteGeometry& of_file = lattice_geometry())
      : FieldStream(Direction::to_file, std::move(fields), of_file) {}
  SiteFormat format() const override { return own_format(); }
  void get(std::uint64_t begin, std::uint64_t count, void* words) override {
    const SiteRun run{begin, count};
    get_runs({&run, 1}, words);
  }
  void get_runs(std::span<const SiteRun> runs, void* words) override { move(runs, static_cast<char*>(words)); }
  bool write_to(jit::AtomicFile& file, const FileSite& site, DataSums& sums) override;
};
class FieldSink : public SiteSink, public FieldStream {
 public:
  explicit FieldSink(std::vector<jit::Field*> fields, const SiteGeometry& of_file = lattice_geometry())
      : FieldStream(Direction::from_file, std::move(fields), of_file) {}
  SiteFormat format() const override { return own_format(); }
  void put(std::uint64_t begin, std::uint64_t count, const void* words) override {
    const SiteRun run{begin, count};
    put_runs({&run, 1}, words);
  }
  void put_runs(std::span<const SiteRun> runs, const void* words) override {
    move(runs, static_cast<char*>(const_cast<void*>(words)));  // only read
  }
  bool read_from(const InputFile& file, std::uint64_t offset, const FileSite& site, DataSums& sums) override;
};

}  // namespace QDP::io
