#include "qdp/io/payload.hpp"

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace QDP::io {

namespace {

using Clock = std::chrono::steady_clock;

/// Since it was made.
struct Stopwatch {
  Clock::time_point begin = Clock::now();
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin).count(); }
};

constexpr char kTogether[] = ", all ranks together";

/// "wrote 144.0 MiB to "a.lime": 0.301 s, 478.4 MiB/s"
void log_rate(const char* verb, std::uint64_t bytes, const char* preposition, const std::string& path,
              const Stopwatch& watch, const char* how) {
  if (!jit::log_enabled(jit::LogLevel::info, "io")) return;
  const double seconds = watch.seconds(), mebibytes = static_cast<double>(bytes) / (1 << 20);
  char rate[120];
  std::snprintf(rate, sizeof rate, "%.3f s, %.1f MiB/s", seconds, mebibytes / std::max(seconds, 1e-9));
  char size[60];
  std::snprintf(size, sizeof size, " %.1f MiB ", mebibytes);
  jit::log_info("io", verb, size, preposition, " \"", path, "\": ", rate, how);
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
  if (__builtin_mul_overflow(sites(), static_cast<std::uint64_t>(site.bytes), &bytes))
    throw jit::UserError(
        {.what = "lattice " + geometry.text() + " with " + std::to_string(site.bytes) + " bytes per site",
         .expected = "less than 2^64 bytes"});
  return bytes;
}

void Payload::for_each_run(const std::function<void(std::uint64_t, std::uint64_t)>& f) const {
  if (lower.empty()) {
    const std::uint64_t volume = geometry.volume();
    const std::uint64_t chunk = sites_per_chunk(site.bytes);
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
  if (!convertible(payload.site.word, format.word))
    throw jit::UserError({.what = what + ": type of number",
                          .expected = name_of(format.word),
                          .got = name_of(payload.site.word),
                          .where = "the field in memory expects, the file has"});
  const Word word = payload.site.word == Word::bytes ? format.word : payload.site.word;
  const std::size_t words = payload.site.bytes / bytes_of(word);
  if (words != format.words_per_site || payload.site.bytes % bytes_of(word) != 0)
    throw jit::UserError({.what = what + ": numbers per site",
                          .expected = std::to_string(format.words_per_site),
                          .got = std::to_string(words),
                          .where = "the field in memory expects, the file has",
                          .what_now = "Use a field of the type that the record names"});
}

DataSums read_payload(const InputFile& file, std::uint64_t offset, const Payload& payload, const std::string& what,
                      SiteSink* sink) {
  const Stopwatch watch;
  DataSums sums;
  if (sink != nullptr && payload.lower.empty() && sink->read_from(file, offset, payload.site, sums)) {
    log_rate("read", payload.bytes(), "of", file.path(), watch, kTogether);
    return sums;
  }
  std::vector<char> raw;
  std::vector<char> words;
  std::uint64_t at = offset;
  payload.for_each_run([&](std::uint64_t rank, std::uint64_t count) {
    raw.resize(count * payload.site.bytes);
    file.read_at(at, raw.data(), raw.size(), what);
    at += raw.size();
    sums.add(payload.site, rank, count, raw.data());
    if (sink == nullptr) return;
    const SiteFormat format = sink->format();
    words.resize(count * format.bytes_per_site());
    payload.site.decode(raw.data(), format, words.data(), count);
    sink->put(rank, count, words.data());
  });
  log_rate("read", payload.bytes(), "of", file.path(), watch, "");
  return sums;
}

namespace {

/// Calls take(bytes) with the data, chunk by chunk.
DataSums for_each_encoded_run(const Payload& payload, SiteSource& source,
                              const std::function<void(const std::vector<char>&)>& take) {
  DataSums sums;
  std::vector<char> raw;
  std::vector<char> words;
  const SiteFormat format = source.format();
  payload.for_each_run([&](std::uint64_t rank, std::uint64_t count) {
    words.resize(count * format.bytes_per_site());
    source.get(rank, count, words.data());
    raw.resize(count * payload.site.bytes);
    payload.site.encode(format, words.data(), raw.data(), count);
    sums.add(payload.site, rank, count, raw.data());
    take(raw);
  });
  return sums;
}

}  // namespace

DataSums write_payload(jit::AtomicFile& file, const Payload& payload, SiteSource& source) {
  const Stopwatch watch;
  DataSums sums;
  const bool together = payload.lower.empty() && source.write_to(file, payload.site, sums);
  if (!together)
    sums = for_each_encoded_run(payload, source, [&](const auto& raw) { file.write(raw.data(), raw.size()); });
  log_rate("wrote", payload.bytes(), "to", file.path(), watch,
           together ? ", all ranks together, flushed and read back" : "");
  return sums;
}

DataSums sums_of_payload(const Payload& payload, SiteSource& source) {
  return for_each_encoded_run(payload, source, [](const auto&) {});
}

void commit(jit::AtomicFile& file) {
  const Stopwatch watch;
  const std::uint64_t bytes = file.size();
  file.commit();
  log_rate("flushed", bytes, "of", file.path(), watch, "");
}

}  // namespace QDP::io
