// Numbers as the words of XML text: 7 digits for float, 15 for double, true/false for bool.
//
// A type that is one word (Real, Integer, ...) joins in with three functions of its own namespace,
//   void append_token(std::string& text, const T& x);   bool parse_token(std::string_view word, T& x);
//   std::string describe_token(const T&);
// and a specialisation of IsToken; arrays of it are then lists of words.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>

namespace QDP::xml {

template <class T>
concept Number = std::is_arithmetic_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, long double>;

/// True for a type whose arrays are lists of words in one element.
template <class T>
struct IsToken : std::bool_constant<Number<T>> {};

template <Number T>
void append_token(std::string& text, const T& x);

/// True if the whole word is a value of T. bool: true false yes no 1 0. An unsigned type takes no minus sign.
template <Number T>
bool parse_token(std::string_view word, T& x);

/// "an integer (int)", for messages.
template <Number T>
std::string describe_token(const T&);

/// Arrays of bool are written as 1 and 0, which is what QDP++ reads.
template <class T>
void append_list_token(std::string& text, const T& x) {
  if constexpr (std::is_same_v<T, bool>)
    text += x ? '1' : '0';
  else
    append_token(text, x);
}

/// Takes the next word off `text`; false if only white space is left.
bool next_word(std::string_view& text, std::string_view& word);

}  // namespace QDP::xml
