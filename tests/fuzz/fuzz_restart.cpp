// Restart files of hmc: the input as a whole, read into what a run is made of.

#include "lib/hmc/parameters.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  fuzz::accepted([&] {
    const qcd::InputFile file = qcd::InputFile::from_text(text, "fuzz");
    const qcd::HmcParameters parameters = qcd::read_hmc_parameters(file.root());
    file.unused_elements();
    file.require_valid();
  });
  return 0;
}
