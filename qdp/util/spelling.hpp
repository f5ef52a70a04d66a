// The right word for a misspelt one, for messages.
#pragma once

#include <string>
#include <vector>

namespace QDP {

/// The candidate that differs least from `word`: by few letters that are missing, too many, wrong or exchanged, capitals
/// aside. Empty if none is near.
std::string nearest_word(const std::string& word, const std::vector<std::string>& candidates);

/// "; did you mean <candidate>?", or nothing.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace QDP
