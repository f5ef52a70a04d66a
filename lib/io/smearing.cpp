#include "lib/io/smearing.hpp"

#include "lib/smear/stout.hpp"

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

}  // namespace qcd
