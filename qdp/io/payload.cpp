#include "qdp/io/payload.hpp"

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace QDP::io {

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

namespace {

constexpr char kTogether[] = ", all ranks together";

/// Gathers the sites of a chunk.
class ChunkOfRuns {
 public:
  ChunkOfRuns(std::uint64_t most_sites, const std::function<void(std::span<const SiteRun>)>& take)
      : most_sites_(most_sites), take_(take) {}

  void add(std::uint64_t begin, std::uint64_t count) {
    while (count > 0) {
      const std::uint64_t n = std::min(count, most_sites_ - sites_);
      if (!runs_.empty() && runs_.back().begin + runs_.back().count == begin)
        runs_.back().count += n;
      else
        runs_.push_back({begin, n});
      sites_ += n;
      begin += n;
      count -= n;
      if (sites_ == most_sites_) end();
    }
  }
  void end() {
    if (sites_ > 0) take_(runs_);
    runs_.clear();
    sites_ = 0;
  }

 private:
  std::uint64_t most_sites_, sites_ = 0;
  const std::function<void(std::span<const SiteRun>)>& take_;
  std::vector<SiteRun> runs_;
};

}  // namespace

std::uint64_t Payload::sites() const {
  if (is_whole_lattice()) return geometry.volume();
  if (lower.empty()) return listed->size();
  std::uint64_t sites = listed ? 0 : 1;
  if (listed)
    listed->for_each_piece([&](std::span<const std::uint64_t> ranks) {
      for (const std::uint64_t rank : ranks) sites += in_box(rank);
    });
  else
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

bool Payload::in_box(std::uint64_t rank) const {
  for (std::size_t mu = 0; mu < lower.size(); ++mu) {
    const auto extent = static_cast<std::uint64_t>(geometry.extents[mu]);
    const auto x = static_cast<int>(rank % extent);
    if (x < lower[mu] || x > upper[mu]) return false;
    rank /= extent;
  }
  return true;
}

void Payload::for_each_chunk(const std::function<void(std::span<const SiteRun>)>& f) const {
  ChunkOfRuns chunk(sites_per_chunk(site.bytes), f);
  if (is_whole_lattice())
    chunk.add(0, geometry.volume());
  else if (listed)
    listed->for_each_piece([&](std::span<const std::uint64_t> ranks) {
      for (const std::uint64_t rank : ranks)
        if (in_box(rank)) chunk.add(rank, 1);
    });
  else
    for_each_line([&](std::uint64_t rank, std::uint64_t count) { chunk.add(rank, count); });
  chunk.end();
}

/// Of a box.
void Payload::for_each_line(const std::function<void(std::uint64_t, std::uint64_t)>& f) const {
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
  if (sink != nullptr && payload.is_whole_lattice() && sink->read_from(file, offset, payload.site, sums)) {
    log_rate("read", payload.bytes(), "of", file.path(), watch, kTogether);
    return sums;
  }
  std::vector<char> raw;
  std::vector<char> words;
  std::uint64_t at = offset;
  payload.for_each_chunk([&](std::span<const SiteRun> runs) {
    const std::uint64_t count = sites_of(runs);
    raw.resize(count * payload.site.bytes);
    file.read_at(at, raw.data(), raw.size(), what);
    at += raw.size();
    sums.add(payload.site, runs, raw.data());
    if (sink == nullptr) return;
    const SiteFormat format = sink->format();
    words.resize(count * format.bytes_per_site());
    payload.site.decode(raw.data(), format, words.data(), count);
    sink->put_runs(runs, words.data());
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
  payload.for_each_chunk([&](std::span<const SiteRun> runs) {
    const std::uint64_t count = sites_of(runs);
    words.resize(count * format.bytes_per_site());
    source.get_runs(runs, words.data());
    raw.resize(count * payload.site.bytes);
    payload.site.encode(format, words.data(), raw.data(), count);
    sums.add(payload.site, runs, raw.data());
    take(raw);
  });
  return sums;
}

}  // namespace

DataSums write_payload(jit::AtomicFile& file, const Payload& payload, SiteSource& source) {
  const Stopwatch watch;
  DataSums sums;
  const bool together = payload.is_whole_lattice() && source.write_to(file, payload.site, sums);
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
