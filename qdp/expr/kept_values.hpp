// Values that another rank has from an earlier message, so that they need not travel again (design D6).
//
// The sender decides: it alone knows whether what it would send is what it has sent. It gives each letter that the other is to
// keep a number, refers to values by letter and place, and says with every letter which is the oldest that it may still refer
// to; the receiver keeps those and asks nothing. So an element that is written on one rank alone is sent from there with the
// next statement, and what another rank believes of its own field does not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "jit/memory/message_memory.hpp"

namespace QDP::detail {

/// What a value is made from, and for which sites: equal names are equal values. Empty: nobody can say.
using ValueName = std::vector<std::uint64_t>;

struct PlaceInLetter {
  std::uint64_t letter, byte;
};

/// What one other rank has of this one.
class SentLetters {
 public:
  /// nullptr: it is not there.
  const PlaceInLetter* find(const ValueName& name) const;
  /// The other keeps a letter of so many bytes, with these values at these bytes: its number. The oldest ones go to make room, for
  /// names, too.
  /// `hope`: see repeated().
  std::uint64_t keep(std::size_t bytes, std::span<const ValueName> names, std::span<const std::size_t> at,
                     std::weak_ptr<int> hope);
  /// A letter was of use: keeping letters like this one is worth it again.
  void repeated(std::uint64_t letter);
  /// The oldest letter that the other has to keep.
  std::uint64_t oldest() const { return first_; }
  /// After a failure nobody knows what has arrived.
  void forget();

 private:
  struct Letter {
    std::size_t bytes;
    std::vector<ValueName> names;
    std::weak_ptr<int> hope;
  };
  void drop_oldest();

  std::deque<Letter> letters_;  ///< number first_ and on
  std::uint64_t first_ = 1;
  std::size_t bytes_ = 0;
  std::map<ValueName, PlaceInLetter> places_;
};

/// What this rank has of another one.
class ReceivedLetters {
 public:
  void keep(std::uint64_t letter, std::shared_ptr<jit::MessageMemory> memory) {
    memory->keep();
    letters_[letter] = std::move(memory);
  }
  void drop_before(std::uint64_t letter) { letters_.erase(letters_.begin(), letters_.lower_bound(letter)); }
  /// Throws jit::InternalError for one that is not here.
  const std::shared_ptr<jit::MessageMemory>& at(std::uint64_t letter) const;

 private:
  std::map<std::uint64_t, std::shared_ptr<jit::MessageMemory>> letters_;
};

class Post;

struct Correspondence {
  SentLetters sent;
  ReceivedLetters received;
  /// Whose letters from there have not been looked at yet, in the order in which they come: each may refer to those before.
  std::deque<Post*> expected;
};
/// With another rank. Under the run time's lock.
Correspondence& correspondence_with(int rank);

/// How often letters of a kind are kept in the hope that they are needed once more.
inline constexpr int kHope = 2;

}  // namespace QDP::detail
