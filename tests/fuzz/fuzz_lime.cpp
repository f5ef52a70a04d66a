// LIME containers with what stands in them: SciDAC and ILDG records, gauge fields.

#include "qdp/io/gauge_file.hpp"
#include "qdp/io/lime.hpp"
#include "qdp/io/scidac.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <filesystem>
#include <string_view>
#include <vector>

using namespace QDP::io;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::file_of(data, size);
  fuzz::accepted([&] {
    const LimeReader reader(path);
    for (const LimeRecord& record : reader.records()) {
      std::vector<char> bytes(static_cast<std::size_t>(record.size));  // no more than the file has
      reader.read(record, 0, bytes.data(), bytes.size());
      reader.text(record);
    }
  });
  fuzz::accepted([&] {
    const ScidacReader reader(path);
    for (const ScidacRecord& record : reader.records())
      fuzz::accepted([&] {
        reader.verify(record, reader.geometry().extents.empty() ? SiteGeometry{{1, 1, 1, 1}} : reader.geometry());
      });
  });
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.find(kSiteListRecord) != bytes.npos) {  // the first and only file of a set
    const std::string first = path + ".vol0000";
    std::filesystem::rename(path, first);
    fuzz::accepted([&] {
      const ScidacReader reader(path);
      for (const ScidacRecord& record : reader.records())
        fuzz::accepted([&] { reader.verify(record, reader.geometry()); });
    });
    std::filesystem::rename(first, path);
  }
  fuzz::accepted([&] {
    const GaugeFileSummary summary = inspect_gauge_file(path);
    summary.text();
    verify_gauge_file(path);
    const std::uint64_t volume = summary.geometry.extents.empty() ? 0 : summary.geometry.volume();
    if (volume == 0 || volume > 16) return;
    std::vector<double> links(volume * kGaugeWordsPerSite);
    MemorySink<double> sink(links, kGaugeWordsPerSite);
    read_gauge_file(path, summary.geometry, sink);
  });
  return 0;
}
