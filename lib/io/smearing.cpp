#include "lib/io/smearing.hpp"

#include "lib/smear/fat_links.hpp"
#include "lib/smear/stout.hpp"
#include "lib/smear/unitary.hpp"

#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace qcd {

using namespace QDP;

namespace {

std::vector<bool> read_directions(const Input& state) {
  std::vector<bool> smear(Nd, true);
  if (state.has("smear_in_this_dirP")) {
    const std::string text = state.word("smear_in_this_dirP");
    std::istringstream words(text);
    std::string word;
    std::size_t n = 0;
    bool good = true;
    for (; words >> word; ++n) {
      good = good && (word == "true" || word == "false") && n < smear.size();
      if (good) smear[n] = word == "true";
    }
    if (!good || n != smear.size())
      state.error("smear_in_this_dirP", std::to_string(Nd) + " words, each true or false", text);
  } else if (state.has("orthog_dir")) {
    // Chroma: a direction that does not exist smears all.
    const int direction = state.integer("orthog_dir");
    if (direction >= 0 && direction < Nd) smear[static_cast<std::size_t>(direction)] = false;
  }
  return smear;
}

}  // namespace

LinkMaps read_stout(const Input& state) {
  const double rho = state.real("rho");
  const int steps = state.integer("n_smear", at_least(0));
  const std::vector<bool> smear = read_directions(state);
  return steps > 0 ? stout_links(stout_weights(rho, smear), steps) : LinkMaps();
}

LinkMaps read_fat_links(const Input& state) {
  const Fat7Weights weights{.one = state.real("one"),
                            .three = state.real("three", {}, 0),
                            .five = state.real("five", {}, 0),
                            .seven = state.real("seven", {}, 0),
                            .lepage = state.real("lepage", {}, 0)};
  const int steps = state.integer("n_smear", at_least(0), 1);
  const bool unitarize = state.flag("unitarize", false);
  LinkMaps maps;
  const auto fat = std::make_shared<FatLinks>(fat7_paths(weights));
  for (int step = 0; step < steps; ++step) {
    maps.push_back(fat);
    if (unitarize) maps.push_back(std::make_shared<UnitaryLinks>());
  }
  return maps;
}

}  // namespace qcd
