#include "qdp/io/file_site.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace QDP::io {

namespace {

constexpr std::size_t kFullLink = 18;  // reals of three rows
constexpr std::size_t kTwoRows = 12;

/// Third row of an SU(3) matrix, stored as re, im: conj(row 0 x row 1).
template <class Real>
void reconstruct_third_row(Real* u) {
  const auto element = [u](std::size_t i) { return std::complex<Real>(u[2 * i], u[2 * i + 1]); };
  for (std::size_t c = 0; c < 3; ++c) {
    const std::size_t c1 = (c + 1) % 3;
    const std::size_t c2 = (c + 2) % 3;
    const std::complex<Real> z = std::conj(element(c1) * element(3 + c2) - element(c2) * element(3 + c1));
    u[12 + 2 * c] = z.real();
    u[13 + 2 * c] = z.imag();
  }
}

/// Spreads links of 12 reals to links of 18, third row made; in place, from the back.
template <class Real>
void expand_two_rows(Real* words, std::size_t links) {
  for (std::size_t i = links; i-- > 0;) {
    if (i > 0) std::copy_backward(words + kTwoRows * i, words + kTwoRows * (i + 1), words + kFullLink * i + kTwoRows);
    reconstruct_third_row(words + kFullLink * i);
  }
}

/// Drops the third rows, in place.
template <class Real>
void drop_third_rows(Real* words, std::size_t links) {
  for (std::size_t i = 1; i < links; ++i) std::copy_n(words + kFullLink * i, kTwoRows, words + kTwoRows * i);
}

/// Calls f(words, links) with the words in their type.
template <class F>
void with_links(const SiteFormat& format, char* words, std::uint64_t count, F&& f) {
  const std::size_t links = count * format.words_per_site / kFullLink;
  if (format.word == Word::float32)
    f(reinterpret_cast<float*>(words), links);
  else
    f(reinterpret_cast<double*>(words), links);
}

std::size_t words_in_file(const FileSite& site, const SiteFormat& format, std::uint64_t count) {
  const std::size_t words = count * format.words_per_site;
  return site.two_rows ? words / kFullLink * kTwoRows : words;
}

/// Sum of the 32-bit words of `bytes` bytes in the byte order of the file.
std::uint32_t sum_words(const char* data, std::size_t bytes, ByteOrder order) {
  std::vector<std::uint32_t> words(bytes / 4);
  decode(data, Word::int32, order, words.data(), Word::int32, words.size());
  std::uint32_t sum = 0;
  for (const std::uint32_t word : words) sum += word;
  return sum;
}

}  // namespace

void FileSite::encode(const SiteFormat& format, char* words, char* raw, std::uint64_t count) const {
  if (two_rows) with_links(format, words, count, [](auto* u, std::size_t links) { drop_third_rows(u, links); });
  io::encode(words, format.word, raw, word, order, words_in_file(*this, format, count));
}

void FileSite::decode(const char* raw, const SiteFormat& format, char* words, std::uint64_t count) const {
  io::decode(raw, word, order, words, format.word, words_in_file(*this, format, count));
  if (two_rows) with_links(format, words, count, [](auto* u, std::size_t links) { expand_two_rows(u, links); });
}

void DataSums::add(const FileSite& site, std::uint64_t rank, std::uint64_t count, const char* raw) {
  for (std::uint64_t i = 0; i < count; ++i) sites.add_site(rank + i, raw + i * site.bytes, site.bytes);
  if (site.word_sum) words += sum_words(raw, count * site.bytes, site.order);
}

void DataSums::add(const FileSite& site, std::span<const SiteRun> runs, const char* raw) {
  for (const auto& [begin, count] : runs) {
    add(site, begin, count, raw);
    raw += count * site.bytes;
  }
}

void DataSums::combine(const DataSums& other) {
  sites.combine(other.sites);
  words += other.words;
}

}  // namespace QDP::io
