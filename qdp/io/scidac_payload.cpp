#include "qdp/io/scidac_payload.hpp"

#include "jit/support/error.hpp"
#include "qdp/io/scidac_xml.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace QDP::io {

namespace {

/// Checksums are of the file's bytes, so they are taken before decoding and after encoding.
void add_run(SiteChecksum& checksum, std::uint64_t rank, std::uint64_t count, const char* bytes, std::size_t per_site) {
  for (std::uint64_t i = 0; i < count; ++i) checksum.add_site(rank + i, bytes + i * per_site, per_site);
}

}  // namespace

std::uint64_t Payload::sites() const {
  if (lower.empty()) return geometry.volume();
  std::uint64_t sites = 1;
  for (std::size_t mu = 0; mu < lower.size(); ++mu) sites *= static_cast<std::uint64_t>(upper[mu] - lower[mu] + 1);
  return sites;
}

std::uint64_t Payload::bytes() const {
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(sites(), static_cast<std::uint64_t>(bytes_per_site), &bytes))
    throw jit::UserError(
        {.what = "lattice " + geometry.text() + " with " + std::to_string(bytes_per_site) + " bytes per site",
         .expected = "less than 2^64 bytes"});
  return bytes;
}

void Payload::for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& f) const {
  if (lower.empty()) {
    const std::uint64_t volume = geometry.volume();
    const std::uint64_t chunk = sites_per_chunk(bytes_per_site);
    for (std::uint64_t rank = 0; rank < volume; rank += chunk) f(rank, std::min(chunk, volume - rank));
    return;
  }
  const auto run = static_cast<std::uint64_t>(upper[0] - lower[0] + 1);
  std::vector<int> x = lower;
  for (std::size_t mu = 0; mu < x.size();) {
    std::uint64_t rank = 0;
    for (std::size_t nu = x.size(); nu-- > 0;)
      rank = rank * static_cast<std::uint64_t>(geometry.extents[nu]) + static_cast<std::uint64_t>(x[nu]);
    f(rank, run);
    // Next line of the box: count up in directions 1, 2, ...; past the last corner mu runs out.
    for (mu = 1; mu < x.size() && x[mu] == upper[mu]; ++mu) x[mu] = lower[mu];
    if (mu < x.size()) ++x[mu];
  }
}

void check_site_format(const Payload& payload, const SiteFormat& format, const std::string& what) {
  if (!convertible(payload.word, format.word))
    throw jit::UserError({.what = what + ": type of number",
                          .expected = name_of(format.word),
                          .got = name_of(payload.word),
                          .where = "the field in memory expects, the file has"});
  const Word word = payload.word == Word::bytes ? format.word : payload.word;
  const std::size_t words = payload.bytes_per_site / bytes_of(word);
  if (words != format.words_per_site || payload.bytes_per_site % bytes_of(word) != 0)
    throw jit::UserError({.what = what + ": numbers per site",
                          .expected = std::to_string(format.words_per_site),
                          .got = std::to_string(words),
                          .where = "the field in memory expects, the file has",
                          .what_now = "Use a field of the type that the record names"});
}

SiteChecksum read_payload(const LimeReader& lime, const LimeRecord& record, const Payload& payload, SiteSink* sink) {
  SiteChecksum checksum;
  std::vector<char> raw;
  std::vector<char> words;
  std::uint64_t offset = 0;
  payload.for_each_run([&](std::uint64_t rank, std::uint64_t count) {
    raw.resize(count * payload.bytes_per_site);
    lime.read(record, offset, raw.data(), raw.size());
    offset += raw.size();
    add_run(checksum, rank, count, raw.data(), payload.bytes_per_site);
    if (sink == nullptr) return;
    const SiteFormat format = sink->format();
    words.resize(count * format.bytes_per_site());
    decode(raw.data(), payload.word, ByteOrder::big, words.data(), format.word, count * format.words_per_site);
    sink->put(rank, count, words.data());
  });
  return checksum;
}

SiteChecksum write_payload(LimeWriter& lime, const Payload& payload, SiteSource& source) {
  SiteChecksum checksum;
  std::vector<char> raw;
  std::vector<char> words;
  const SiteFormat format = source.format();
  payload.for_each_run([&](std::uint64_t rank, std::uint64_t count) {
    words.resize(count * format.bytes_per_site());
    source.get(rank, count, words.data());
    raw.resize(count * payload.bytes_per_site);
    encode(words.data(), format.word, raw.data(), payload.word, ByteOrder::big, count * format.words_per_site);
    add_run(checksum, rank, count, raw.data(), payload.bytes_per_site);
    lime.write(raw.data(), raw.size());
  });
  return checksum;
}

std::string encode_checksum(const SiteChecksum& checksum) {
  const auto hex = [](std::uint32_t sum) {  // as QIO: without leading zeros
    char text[9];
    std::snprintf(text, sizeof text, "%" PRIx32, sum);
    return std::string(text);
  };
  return kXmlDeclaration +
         xml_element("scidacChecksum", xml_element("version", "1.0") + xml_element("suma", hex(checksum.suma)) +
                                           xml_element("sumb", hex(checksum.sumb)));
}

}  // namespace QDP::io
