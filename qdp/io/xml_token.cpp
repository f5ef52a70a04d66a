#include "qdp/io/xml_token.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace QDP::xml {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f\v";

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, signed char>) return "signed char";
  if constexpr (std::is_same_v<T, unsigned char>) return "unsigned char";
  if constexpr (std::is_same_v<T, short>) return "short";
  if constexpr (std::is_same_v<T, unsigned short>) return "unsigned short";
  if constexpr (std::is_same_v<T, int>) return "int";
  if constexpr (std::is_same_v<T, unsigned>) return "unsigned int";
  if constexpr (std::is_same_v<T, long>) return "long";
  if constexpr (std::is_same_v<T, unsigned long>) return "unsigned long";
  if constexpr (std::is_same_v<T, long long>) return "long long";
  if constexpr (std::is_same_v<T, unsigned long long>) return "unsigned long long";
  if constexpr (std::is_same_v<T, float>) return "float";
  if constexpr (std::is_same_v<T, double>) return "double";
}

}  // namespace

template <Number T>
void append_token(std::string& text, const T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    text += x ? "true" : "false";
  } else {
    char word[40];
    std::to_chars_result result;
    if constexpr (std::is_floating_point_v<T>)
      result = std::to_chars(word, word + sizeof word, x, std::chars_format::general, sizeof(T) == 4 ? 7 : 15);
    else
      result = std::to_chars(word, word + sizeof word, x);
    text.append(word, result.ptr);
  }
}

template <Number T>
bool parse_token(std::string_view word, T& x) {
  if constexpr (std::is_same_v<T, bool>) {
    if (word == "true" || word == "yes" || word == "1") return x = true, true;
    if (word == "false" || word == "no" || word == "0") return x = false, true;
    return false;
  } else {
    if (word.size() > 1 && word[0] == '+' && word[1] != '-') word.remove_prefix(1);
    T value{};
    const char* end = word.data() + word.size();
    const auto [stop, failure] = std::from_chars(word.data(), end, value);
    if (stop != end || word.empty()) return false;
    if (failure == std::errc::result_out_of_range) {
      // A number too small for T is 0 or denormal, as with strtod; one too large is an error.
      if constexpr (!std::is_floating_point_v<T>) return false;
      const double wide = std::strtod(std::string(word).c_str(), nullptr);
      if (std::abs(wide) >= 1) return false;
      value = static_cast<T>(wide);
    } else if (failure != std::errc{}) {
      return false;
    }
    x = value;
    return true;
  }
}

template <Number T>
std::string describe_token(const T&) {
  if constexpr (std::is_same_v<T, bool>) return "true or false (bool)";
  return std::string(std::is_floating_point_v<T> ? "a number (" : "an integer (") + type_name<T>() + ")";
}

#define TESSERA_XML_TOKEN(T)                                                                                           \
  template void append_token(std::string&, const T&);                                                                  \
  template bool parse_token(std::string_view, T&);                                                                     \
  template std::string describe_token(const T&);

TESSERA_XML_TOKEN(bool)
TESSERA_XML_TOKEN(signed char)
TESSERA_XML_TOKEN(unsigned char)
TESSERA_XML_TOKEN(short)
TESSERA_XML_TOKEN(unsigned short)
TESSERA_XML_TOKEN(int)
TESSERA_XML_TOKEN(unsigned int)
TESSERA_XML_TOKEN(long)
TESSERA_XML_TOKEN(unsigned long)
TESSERA_XML_TOKEN(long long)
TESSERA_XML_TOKEN(unsigned long long)
TESSERA_XML_TOKEN(float)
TESSERA_XML_TOKEN(double)

#undef TESSERA_XML_TOKEN

bool next_word(std::string_view& text, std::string_view& word) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    text = {};
    return false;
  }
  std::size_t end = text.find_first_of(kSpace, begin);
  if (end == std::string_view::npos) end = text.size();
  word = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return true;
}

}  // namespace QDP::xml
