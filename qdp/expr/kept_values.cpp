#include "qdp/expr/kept_values.hpp"

#include <string>
#include <utility>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace QDP::detail {

const PlaceInLetter* SentLetters::find(const ValueName& name) const {
  const auto found = places_.find(name);
  return found == places_.end() ? nullptr : &found->second;
}

std::uint64_t SentLetters::keep(std::size_t bytes, std::span<const ValueName> names, std::span<const std::size_t> at,
                                std::weak_ptr<int> hope) {
  const std::uint64_t number = first_ + letters_.size();
  for (const ValueName& name : names) bytes += 2 * name.size() * sizeof(name[0]);  // here and in places_
  letters_.push_back({bytes, {names.begin(), names.end()}, std::move(hope)});
  for (std::size_t i = 0; i < names.size(); ++i) places_[names[i]] = {number, at[i]};
  bytes_ += bytes;
  while (bytes_ > jit::env().keep_halos && letters_.size() > 1) drop_oldest();
  return number;
}

void SentLetters::drop_oldest() {
  for (const ValueName& name : letters_.front().names)
    if (const auto place = places_.find(name); place != places_.end() && place->second.letter == first_)
      places_.erase(place);
  bytes_ -= letters_.front().bytes;
  letters_.pop_front();
  ++first_;
}

void SentLetters::repeated(std::uint64_t letter) {
  if (const auto hope = letters_[static_cast<std::size_t>(letter - first_)].hope.lock()) *hope = kHope;
}

void SentLetters::forget() {
  while (!letters_.empty()) drop_oldest();
}

const std::shared_ptr<jit::MessageMemory>& ReceivedLetters::at(std::uint64_t letter) const {
  const auto found = letters_.find(letter);
  if (found == letters_.end())
    throw jit::InternalError({.what = "a value that another rank has sent before",
                              .expected = "letter " + std::to_string(letter),
                              .got = std::to_string(letters_.size()) + " other ones"});
  return found->second;
}

Correspondence& correspondence_with(int rank) {
  static auto* all = new std::map<int, Correspondence>;  // memory pools do not outlive main, nor need this
  return (*all)[rank];
}

}  // namespace QDP::detail
