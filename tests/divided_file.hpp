// A SciDAC file divided into several as QIO does it (MULTIFILE, PARTFILE), any sites in any file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "qdp/io/scidac.hpp"

namespace tests {

struct Parts {
  std::vector<std::vector<std::uint64_t>> sites;  ///< of each file, in its order
  std::vector<int> numbers;                       ///< in the names of the files; the first is 0
  std::size_t bytes_each = 4;                     ///< of a number of a site
  std::string volfmt = "<volfmt>2</volfmt>";
};

/// NAME.vol0012
inline std::string part_of(const std::string& name, int number) {
  const std::string digits = std::to_string(number);
  return name + ".vol" + std::string(digits.size() < 4 ? 4 - digits.size() : 0, '0') + digits;
}

inline std::string big_endian(std::uint64_t number, std::size_t bytes) {
  std::string text(bytes, '\0');
  for (std::size_t i = bytes; i-- > 0; number >>= 8) text[i] = static_cast<char>(number & 255);
  return text;
}

inline bool in_box(const QDP::io::ScidacRecordInfo& info, const QDP::io::SiteGeometry& lattice, std::uint64_t site) {
  for (std::size_t mu = 0; mu < info.lower.size(); ++mu) {
    const auto extent = static_cast<std::uint64_t>(lattice.extents[mu]);
    const int x = static_cast<int>(site % extent);
    if (x < info.lower[mu] || x > info.upper[mu]) return false;
    site /= extent;
  }
  return true;
}

/// The data of these sites, in this order.
inline std::string data_of(const std::string& all, const QDP::io::ScidacRecordInfo& info,
                           const QDP::io::SiteGeometry& lattice, const std::vector<std::uint64_t>& sites) {
  std::string own;
  for (const std::uint64_t site : sites) {
    if (!in_box(info, lattice, site)) continue;
    std::uint64_t at = 0;
    for (std::uint64_t before = 0; !info.lower.empty() && before < site; ++before) at += in_box(info, lattice, before);
    own += all.substr((info.lower.empty() ? site : at) * info.bytes(), info.bytes());
  }
  return own;
}

/// Writes NAME.vol0000 ... with the records of `single`.
inline void divide(const std::string& single, const std::string& name, const Parts& parts) {
  using namespace QDP::io;
  const ScidacReader reader(single);
  const LimeReader lime(single);
  for (std::size_t part = 0; part < parts.sites.size(); ++part) {
    LimeWriter to(part_of(name, parts.numbers[part]));
    const auto put = [&](const std::string& type, const std::string& bytes, LimePosition position) {
      to.begin_record(type, bytes.size(), position);
      to.write(bytes.data(), bytes.size());
      to.end_record();
    };
    std::string list;
    for (const std::uint64_t site : parts.sites[part]) list += big_endian(site, parts.bytes_each);
    if (part > 0) put("scidac-sitelist", list, LimePosition::only);
    auto next = reader.records().begin();
    for (const LimeRecord& record : lime.records()) {
      const bool data = record.type.ends_with("binary-data");
      const ScidacRecordInfo* info = data ? &next++->info : nullptr;
      const bool global = info != nullptr && info->kind == RecordKind::global;
      if (part > 0 && (!data || global)) continue;  // only the first file has it
      std::string bytes(record.size, '\0');
      lime.read(record, 0, bytes.data(), bytes.size());
      if (data && !global) bytes = data_of(bytes, *info, reader.geometry(), parts.sites[part]);
      if (record.type == "scidac-private-file-xml") {
        const std::string in_one = "<volfmt>0</volfmt>";
        bytes.replace(bytes.find(in_one), in_one.size(), parts.volfmt);
      }
      const LimePosition position = part > 0               ? LimePosition::only
                                    : record.message_begin ? LimePosition::first
                                    : record.message_end   ? LimePosition::last
                                                           : LimePosition::middle;
      put(record.type, bytes, position);
      if (record.type == "scidac-private-file-xml") put("scidac-sitelist", list, LimePosition::middle);
    }
    to.close();
  }
}

}  // namespace tests
