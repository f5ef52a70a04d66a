#include "qdp/util/spelling.hpp"

#include <algorithm>
#include <cctype>

#include "jit/support/spelling.hpp"

namespace QDP {

namespace {

std::string lower(std::string word) {
  std::transform(word.begin(), word.end(), word.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return word;
}

}  // namespace

std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : candidates)
    if (const std::size_t d = jit::edit_distance(lower(word), lower(candidate)); d < least) {
      least = d;
      best = candidate;
    }
  return best;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates) {
  const std::string near = nearest_word(word, candidates);
  return near.empty() ? near : "; did you mean " + near + "?";
}

}  // namespace QDP
