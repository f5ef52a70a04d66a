// For which types QDP++ defines a function: restated from the overloads of its headers, level by level.
//
// A function is called on the outermost level (spin), whose overload calls it for colour, and that for the words. So it is
// defined for two types if each level has an overload for the two levels. Overloads are words of one letter per operand:
//   s number   v column   m matrix        for spin and colour, equal extents understood
//   r real     c complex                  for reality
#pragma once

#include "tests/reference/site_value.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>

namespace reference {

enum class Word { truth, integer, real };
/// Which words take part: all; no real one; at least one real one; no real one and an integer last.
enum class Words { any, whole, some_real, integer_last };

struct SiteType {
  Index spin, color;
  bool complex = false;
  Word word = Word::real;
};

struct Overloads {
  const char *spin, *color, *reality;
  Words words = Words::any;
  int spin_extent = 0;  ///< what all columns and matrices must have; 0: any
  int color_extent = 0;
};

namespace detail {
inline bool has(const char* overloads, const std::string& wanted) {
  return (' ' + std::string(overloads) + ' ').find(' ' + wanted + ' ') != std::string::npos;
}
inline char letter(Index i) { return i.is_number() ? 's' : i.is_column() ? 'v' : 'm'; }
inline bool words_fit(std::initializer_list<Word> x, Words wanted) {
  const bool real = std::find(x.begin(), x.end(), Word::real) != x.end();
  switch (wanted) {
    case Words::any:
      return true;
    case Words::some_real:
      return real;
    case Words::whole:
      return !real;
    case Words::integer_last:
      return !real && *(x.end() - 1) == Word::integer;
  }
  return false;
}
inline bool extents_fit(std::initializer_list<Index> levels, int wanted) {
  for (Index i : levels) {
    if (i.is_number()) continue;
    if (wanted != 0 && i.rows != wanted) return false;
    wanted = i.rows;
  }
  return true;
}
}  // namespace detail

template <class... T>
bool defined(const Overloads& f, const T&... x) {
  return detail::has(f.spin, std::string{detail::letter(x.spin)...}) &&
         detail::has(f.color, std::string{detail::letter(x.color)...}) &&
         detail::has(f.reality, std::string{(x.complex ? 'c' : 'r')...}) && detail::words_fit({x.word...}, f.words) &&
         detail::extents_fit({x.spin...}, f.spin_extent) && detail::extents_fit({x.color...}, f.color_extent);
}

}  // namespace reference
