#include "qdp/io/site_stream.hpp"

#include "jit/support/error.hpp"
#include "qdp/util/primary.hpp"

#include <algorithm>
#include <bit>

namespace QDP::io {

namespace {

constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // amortises system calls, stays in second-level cache

constexpr ByteOrder kHostOrder = std::endian::native == std::endian::big ? ByteOrder::big : ByteOrder::little;

/// The word of the file where one side is untyped bytes.
Word resolve(Word word, Word other) { return word == Word::bytes ? other : word; }

std::uint32_t swapped(std::uint32_t x) { return __builtin_bswap32(x); }
std::uint64_t swapped(std::uint64_t x) { return __builtin_bswap64(x); }

template <class U>
U load(const void* from, std::size_t i, bool swap) {
  U x;
  std::memcpy(&x, static_cast<const char*>(from) + i * sizeof(U), sizeof(U));
  return swap ? swapped(x) : x;
}

template <class U>
void store(void* to, std::size_t i, U x, bool swap) {
  if (swap) x = swapped(x);
  std::memcpy(static_cast<char*>(to) + i * sizeof(U), &x, sizeof(U));
}

template <class U>
void copy_words(const void* from, void* to, std::size_t count, bool swap) {
  if (!swap) {
    if (from != to) std::memcpy(to, from, count * sizeof(U));
    return;
  }
  for (std::size_t i = 0; i < count; ++i) store<U>(to, i, load<U>(from, i, true), false);
}

/// Either side may be in foreign byte order.
void convert(const void* from, Word from_word, bool swap_from, void* to, Word to_word, bool swap_to,
             std::size_t count) {
  from_word = resolve(from_word, to_word);
  to_word = resolve(to_word, from_word);
  if (from_word == to_word) {
    switch (bytes_of(to_word)) {
      case 1:
        std::memmove(to, from, count);
        return;
      case 4:
        return copy_words<std::uint32_t>(from, to, count, swap_from != swap_to);
      default:
        return copy_words<std::uint64_t>(from, to, count, swap_from != swap_to);
    }
  }
  if (from_word == Word::float32 && to_word == Word::float64) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<double>(std::bit_cast<float>(load<std::uint32_t>(from, i, swap_from)));
      store(to, i, std::bit_cast<std::uint64_t>(x), swap_to);
    }
  } else if (from_word == Word::float64 && to_word == Word::float32) {
    for (std::size_t i = 0; i < count; ++i) {
      const auto x = static_cast<float>(std::bit_cast<double>(load<std::uint64_t>(from, i, swap_from)));
      store(to, i, std::bit_cast<std::uint32_t>(x), swap_to);
    }
  } else {
    throw jit::InternalError(std::string("conversion of ") + name_of(from_word) + " to " + name_of(to_word));
  }
}

}  // namespace

std::size_t bytes_of(Word word) {
  switch (word) {
    case Word::float64:
      return 8;
    case Word::bytes:
      return 1;
    default:
      return 4;
  }
}

const char* name_of(Word word) {
  switch (word) {
    case Word::float32:
      return "single precision";
    case Word::float64:
      return "double precision";
    case Word::int32:
      return "32-bit integers";
    default:
      return "bytes";
  }
}

std::uint64_t SiteGeometry::volume() const {
  constexpr std::uint64_t kMaxVolume = std::uint64_t{1} << 48;
  std::uint64_t volume = 1;
  for (const int extent : extents) {
    if (extent < 1 || static_cast<std::uint64_t>(extent) > kMaxVolume / volume)
      throw jit::UserError({.what = "lattice " + text(), .expected = "positive extents, at most 2^48 sites"});
    volume *= static_cast<std::uint64_t>(extent);
  }
  return volume;
}

std::string SiteGeometry::text() const {
  std::string text;
  for (const int extent : extents) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "unknown" : text;
}

std::uint64_t sites_of(std::span<const SiteRun> runs) {
  std::uint64_t sites = 0;
  for (const SiteRun& run : runs) sites += run.count;
  return sites;
}

void SiteSource::get_runs(std::span<const SiteRun> runs, void* words) {
  const std::size_t bytes = format().bytes_per_site();
  auto* to = static_cast<char*>(words);
  for (const auto& [begin, count] : runs) {
    get(begin, count, to);
    to += count * bytes;
  }
}

void SiteSink::put_runs(std::span<const SiteRun> runs, const void* words) {
  const std::size_t bytes = format().bytes_per_site();
  const auto* from = static_cast<const char*>(words);
  for (const auto& [begin, count] : runs) {
    put(begin, count, from);
    from += count * bytes;
  }
}

std::uint64_t sites_per_chunk(std::size_t bytes_per_site) {
  return std::max<std::uint64_t>(1, kChunkBytes / std::max<std::size_t>(1, bytes_per_site));
}

bool convertible(Word from, Word to) {
  const auto real = [](Word word) { return word == Word::float32 || word == Word::float64; };
  return from == to || from == Word::bytes || to == Word::bytes || (real(from) && real(to));
}

void decode(const void* from, Word from_word, ByteOrder order, void* to, Word to_word, std::size_t count) {
  convert(from, from_word, order != kHostOrder, to, to_word, false, count);
}

void encode(const void* from, Word from_word, void* to, Word to_word, ByteOrder order, std::size_t count) {
  convert(from, from_word, false, to, to_word, order != kHostOrder, count);
}

std::string ReadReport::verdict() const {
  if (checksum == ChecksumStatus::verified) return "verified";
  if (checksum == ChecksumStatus::absent) return "absent";
  return "wrong: stored " + (stored.empty() ? "one that cannot be read" : stored) + ", of the data " + computed;
}

void broadcast(ReadReport& report) { broadcast_all(report.checksum, report.stored, report.computed, report.warning); }

ReadReport make_report(const std::string& path, const std::string& stored, const std::string& computed, bool readable) {
  ReadReport report;
  report.stored = stored;
  report.computed = computed;
  if (!readable) {
    report.checksum = ChecksumStatus::unreadable;
    report.warning = path + ": the stored checksum cannot be read; of the data it is " + computed;
  } else if (stored.empty()) {
    report.warning = path + ": no checksum stored; the data were read unchecked";
  } else if (stored == computed) {
    report.checksum = ChecksumStatus::verified;
  } else {
    report.checksum = ChecksumStatus::mismatch;
    report.warning = path + ": checksum stored " + stored + ", of the data " + computed +
                     ": the data were damaged, or written by a program with another rule";
  }
  return report;
}

std::string hex32(std::uint32_t value) {
  std::string digits(8, '0');
  for (std::size_t i = 8; i-- > 0; value >>= 4) digits[i] = "0123456789abcdef"[value & 15];
  return digits;
}

}  // namespace QDP::io
