// NERSC files: headers, sizes, byte orders, two and three rows.

#include "qdp/io/gauge_file.hpp"
#include "qdp/io/nersc.hpp"
#include "qdp/io/scidac.hpp"
#include "tests/fuzz/fuzz.hpp"

#include <vector>

using namespace QDP::io;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string path = fuzz::file_of(data, size);
  fuzz::accepted([&] { is_nersc_file(path); });
  fuzz::accepted([&] {
    const NerscHeader header = read_nersc_header(path);
    verify_nersc(path, header);
    const SiteGeometry lattice{header.nrow};
    if (lattice.volume() > 16) return;
    std::vector<double> links(lattice.volume() * kGaugeWordsPerSite);
    MemorySink<double> sink(links, kGaugeWordsPerSite);
    read_nersc(path, header, lattice, sink);
  });
  return 0;
}
