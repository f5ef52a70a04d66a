#pragma once
// How lattice fields pass between memory and files: a chunk of sites at a time, as plain words.
//
// Every file format here orders sites lexicographically over the global lattice, x fastest:
//   rank = x + Lx*(y + Ly*(z + Lz*t)),
// and a site is `words_per_site` words in the memory order of the site struct. A field is never held twice: readers
// and writers move chunks of about 1 MiB, in rising order of rank. All of this runs in one process; a lattice on several
// comes in through a source or sink that gathers or scatters, or goes between file and ranks by itself (field_stream.hpp).

#include "jit/support/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace jit {
class AtomicFile;
}

namespace QDP::io {

class InputFile;
struct DataSums;
struct FileSite;

/// A machine word, named by the letter that SciDAC files use. `bytes` has no size of its own: the other side's counts.
enum class Word : char { float32 = 'F', float64 = 'D', int32 = 'I', bytes = 'U' };

enum class ByteOrder { big, little };

std::size_t bytes_of(Word word);
/// "single precision" and the like, for messages.
const char* name_of(Word word);

template <class T>
constexpr Word word_of() {
  if constexpr (std::is_same_v<T, float>)
    return Word::float32;
  else if constexpr (std::is_same_v<T, double>)
    return Word::float64;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 4)
    return Word::int32;
  else {
    static_assert(sizeof(T) == 1, "files hold float, double, 32-bit integers or bytes");
    return Word::bytes;
  }
}

/// The global lattice, x first.
struct SiteGeometry {
  std::vector<int> extents;

  /// Throws jit::UserError above 2^48 sites, which only a damaged header asks for.
  std::uint64_t volume() const;
  /// "8 x 8 x 8 x 4".
  std::string text() const;
  bool operator==(const SiteGeometry&) const = default;
};

struct SiteFormat {
  Word word = Word::float64;
  std::size_t words_per_site = 0;

  std::size_t bytes_per_site() const { return words_per_site * bytes_of(word); }
};

/// Sites whose ranks follow each other.
struct SiteRun {
  std::uint64_t begin = 0, count = 0;
};
std::uint64_t sites_of(std::span<const SiteRun> runs);

/// Sites per chunk for sites of this size: about 1 MiB, at least one site.
std::uint64_t sites_per_chunk(std::size_t bytes_per_site);

/// Gives a field to a writer.
class SiteSource {
 public:
  virtual ~SiteSource() = default;
  virtual SiteFormat format() const = 0;
  /// Fills `words` (host byte order, count * words_per_site words) with sites of rank [begin, begin + count).
  virtual void get(std::uint64_t begin, std::uint64_t count, void* words) = 0;
  /// The same for several runs, one after the other.
  virtual void get_runs(std::span<const SiteRun> runs, void* words);
  /// Appends all sites of the lattice by itself, without get(), and takes their sums; false: it cannot, and nothing was done.
  virtual bool write_to(jit::AtomicFile&, const FileSite&, DataSums&) { return false; }
};

/// Takes a field from a reader, which converts to the precision of format().
class SiteSink {
 public:
  virtual ~SiteSink() = default;
  virtual SiteFormat format() const = 0;
  /// Takes sites of rank [begin, begin + count) from `words` (host byte order, count * words_per_site words).
  virtual void put(std::uint64_t begin, std::uint64_t count, const void* words) = 0;
  virtual void put_runs(std::span<const SiteRun> runs, const void* words);
  /// Reads all sites of the lattice, which begin at `offset`, by itself, and takes their sums; false: it cannot.
  virtual bool read_from(const InputFile&, [[maybe_unused]] std::uint64_t offset, const FileSite&, DataSums&) {
    return false;
  }
};

/// The part of a field that holds these sites; throws jit::InternalError beyond its end.
template <class T>
std::span<T> sites_of(std::span<T> field, std::size_t words_per_site, std::uint64_t begin, std::uint64_t count) {
  if ((begin + count) * words_per_site > field.size())
    throw jit::InternalError({.what = "field in memory",
                              .expected = std::to_string((begin + count) * words_per_site) + " words or more",
                              .got = std::to_string(field.size())});
  return field.subspan(begin * words_per_site, count * words_per_site);
}

/// A field that lies in memory in file order.
template <class T>
class MemorySource : public SiteSource {
 public:
  MemorySource(std::span<const T> field, std::size_t words_per_site) : field_(field), words_(words_per_site) {}
  SiteFormat format() const override { return {word_of<T>(), words_}; }
  void get(std::uint64_t begin, std::uint64_t count, void* words) override {
    const auto part = sites_of(field_, words_, begin, count);
    std::memcpy(words, part.data(), part.size_bytes());
  }

 private:
  std::span<const T> field_;
  std::size_t words_;
};

template <class T>
class MemorySink : public SiteSink {
 public:
  MemorySink(std::span<T> field, std::size_t words_per_site) : field_(field), words_(words_per_site) {}
  SiteFormat format() const override { return {word_of<T>(), words_}; }
  void put(std::uint64_t begin, std::uint64_t count, const void* words) override {
    const auto part = sites_of(field_, words_, begin, count);
    std::memcpy(part.data(), words, part.size_bytes());
  }

 private:
  std::span<T> field_;
  std::size_t words_;
};

/// The same with a callable, for fields in any other order: get(begin, count, words).
class FunctionSource : public SiteSource {
 public:
  using Get = std::function<void(std::uint64_t begin, std::uint64_t count, void* words)>;
  FunctionSource(SiteFormat format, Get get) : format_(format), get_(std::move(get)) {}
  SiteFormat format() const override { return format_; }
  void get(std::uint64_t begin, std::uint64_t count, void* words) override { get_(begin, count, words); }

 private:
  SiteFormat format_;
  Get get_;
};

/// put(begin, count, words).
class FunctionSink : public SiteSink {
 public:
  using Put = std::function<void(std::uint64_t begin, std::uint64_t count, const void* words)>;
  FunctionSink(SiteFormat format, Put put) : format_(format), put_(std::move(put)) {}
  SiteFormat format() const override { return format_; }
  void put(std::uint64_t begin, std::uint64_t count, const void* words) override { put_(begin, count, words); }

 private:
  SiteFormat format_;
  Put put_;
};

/// True where decode and encode can go between the two: equal words, float and double, bytes and anything.
bool convertible(Word from, Word to);

/// `count` words of a file, as they lie there, to words of the host; float and double convert by value.
/// `from` and `to` do not overlap, except that they may be equal when the two words have the same size.
void decode(const void* from, Word from_word, ByteOrder order, void* to, Word to_word, std::size_t count);
/// The other way round.
void encode(const void* from, Word from_word, void* to, Word to_word, ByteOrder order, std::size_t count);

/// What reading found out about the data.
enum class ChecksumStatus { verified, absent, mismatch, unreadable };

struct ReadReport {
  ChecksumStatus checksum = ChecksumStatus::absent;
  std::string stored;    ///< hexadecimal as in the file, empty if absent
  std::string computed;  ///< hexadecimal, of the data that were read
  std::string warning;   ///< empty, or one line fit for a log

  bool good() const { return checksum == ChecksumStatus::verified || checksum == ChecksumStatus::absent; }
  /// For a record of the run: "verified", "absent", "wrong: stored ..., of the data ...".
  std::string verdict() const;
};

/// That of the primary for all. Collective.
void broadcast(ReadReport& report);

/// Compares and words the warning. `readable` false: there is a checksum, but not one that could be read.
ReadReport make_report(const std::string& path, const std::string& stored, const std::string& computed,
                       bool readable = true);

/// Eight hexadecimal digits.
std::string hex32(std::uint32_t value);

}  // namespace QDP::io
