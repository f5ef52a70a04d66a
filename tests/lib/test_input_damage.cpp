// Damaged inputs are never read in silence. The ten kinds of damage, written down before any of them was tried:
//
//    1 cut         the file ends at a random byte
//    2 open        an opening tag is gone
//    3 close       a closing tag is gone
//    4 misspelt    a letter of an element's name is wrong, in both of its tags
//    5 twice       an element is there twice
//    6 empty       a value is gone, its element is there
//    7 junk        letters follow a number or a flag
//    8 second      a second value follows a number or a flag
//    9 type        a word stands where a number does, a group of elements where a word does
//   10 not text    a byte that is no UTF-8
//
// Found means an error, which names the file, or that the element is among those that nothing reads, which a run names and
// --check returns a status other than 0 for. Damage that leaves another good input does not count: a cut behind the last
// tag, an entry of a list that may have any number of entries, a name that somebody may choose. Whole programs with their
// exit status: tests/apps/test_check.cpp.

#include "lib/heatbath/run.hpp"
#include "lib/hmc/parameters.hpp"
#include "lib/meas/parameters.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/lib/xml_damage.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <map>

using namespace qcd;

namespace {

const std::string kFile = "the_input.xml";

/// Why an input is not taken as it stands; empty if it is.
std::string verdict(const std::string& text) {
  try {
    const InputFile file = InputFile::from_text(text, kFile);
    if (file.root_name() == "Params")
      read_hmc_parameters(file.root());
    else if (file.root_name() == "purgaug")
      read_purgaug_parameters(file.root());
    else if (file.root_name() == "chroma")
      read_measure_parameters(file.root());
    else
      return kFile + ": root " + file.root_name();  // the programs know three
    file.require_valid();
    const auto warnings = file.warnings();
    return warnings.empty() ? "" : kFile + ": " + warnings[0];  // as a run says it
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("ten kinds of damage at random places of the example inputs: none is silent") {
  const auto examples = tests::source_folder() / "examples";
  std::map<std::string, int> tried, silent;
  int total = 0;
  for (const std::string name : {"hmc/quickstart.xml", "hmc/nf2_clover_hasenbusch.xml", "hmc/stout_staggered_2+1.xml",
                                 "purgaug/wilson_6.0.xml", "measure/spectrum.xml"}) {
    CAPTURE(name);
    const tests::XmlText good((examples / name).string());
    REQUIRE(verdict(good.text()) == "");
    for (const auto& kind : tests::xml_damages()) {
      std::uint64_t random = 12345;
      for (int i = 0; i < 25; ++i) {
        const std::optional<std::string> bad = kind.damage(good, random);
        if (!bad) continue;
        ++tried[kind.name];
        ++total;
        const std::string found = verdict(*bad);
        if (!found.empty() && found.find(kFile) != std::string::npos) continue;
        ++silent[kind.name];
        MESSAGE(kind.name << " in " << name << ": " << tests::difference(good.text(), *bad));
      }
    }
  }
  for (const auto& kind : tests::xml_damages()) {
    CAPTURE(kind.name);
    CHECK(tried[kind.name] >= 50);
    CHECK(silent[kind.name] == 0);
  }
  CHECK(tests::xml_damages().size() == 10);
  CHECK(total > 1000);
}
