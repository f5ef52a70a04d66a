#pragma once
// The data of records and archives, streamed between file and source or sink: SciDAC, ILDG and NERSC. Internal to this folder.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "jit/support/file.hpp"
#include "qdp/io/file_site.hpp"
#include "qdp/io/input_file.hpp"
#include "qdp/io/site_list.hpp"
#include "qdp/io/site_stream.hpp"

namespace QDP::io {

/// Which sites a record holds, and what a site looks like in the file.
struct Payload {
  SiteGeometry geometry;
  std::vector<int> lower = {};  ///< box of sites, corners included; empty: the whole lattice
  std::vector<int> upper = {};
  std::optional<SiteList> listed = {};  ///< only these of them, in this order
  FileSite site;

  std::uint64_t sites() const;
  /// Throws jit::UserError if that is no number of bytes that a file can have.
  std::uint64_t bytes() const;

  bool is_whole_lattice() const { return lower.empty() && !listed; }

  /// Calls f with chunks of sites that are consecutive in the file, in its order.
  void for_each_chunk(const std::function<void(std::span<const SiteRun>)>& f) const;

 private:
  void for_each_line(const std::function<void(std::uint64_t rank, std::uint64_t count)>& f) const;
  bool in_box(std::uint64_t rank) const;
};

/// Throws jit::UserError unless sites of `format` are these sites in another precision. `what` names the field.
void check_site_format(const Payload& payload, const SiteFormat& format, const std::string& what);

/// The data at `offset`, `what` by name; `sink` may be null to compute the sums alone. A lattice on several ranks they read
/// together, where they can. How fast is a line of the log.
DataSums read_payload(const InputFile& file, std::uint64_t offset, const Payload& payload, const std::string& what,
                      SiteSink* sink);
/// Appends the data. A lattice on several ranks they write together, where they can.
DataSums write_payload(jit::AtomicFile& file, const Payload& payload, SiteSource& source);
/// Of the data that write_payload() would append.
DataSums sums_of_payload(const Payload& payload, SiteSource& source);

/// Since it was made.
class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now();
};
/// In the log: "wrote 144.0 MiB to "a.lime": 0.301 s, 478.4 MiB/s", and `how`.
void log_rate(const char* verb, std::uint64_t bytes, const char* preposition, const std::string& path,
              const Stopwatch& watch, const char* how);

/// AtomicFile::commit(), in the log as well.
void commit(jit::AtomicFile& file);

}  // namespace QDP::io
