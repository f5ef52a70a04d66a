#include "qdp/io/scidac_xml.hpp"

#include "jit/support/error.hpp"
#include "qdp/util/trimmed.hpp"

#include <charconv>
#include <cinttypes>
#include <cstdio>

namespace QDP::io {

namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// First position after `end`, or the end of the text.
std::size_t after(std::string_view text, std::string_view end, std::size_t from) {
  const auto found = text.find(end, from);
  return found == std::string_view::npos ? text.size() : found + end.size();
}

/// Takes one integer off the front of `text`.
std::optional<int> take_int(std::string_view& text) {
  text = trimmed(text);
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

std::optional<std::string> FlatXml::find(std::string_view name) const {
  const std::string_view text = text_;
  for (std::size_t at = text.find('<'); at < text.size(); at = text.find('<', at)) {
    if (text.substr(at, 4) == "<!--") {
      at = after(text, "-->", at);
      continue;
    }
    const std::size_t end = text.find('>', at);
    if (end == std::string_view::npos) break;
    std::string_view tag = trimmed(text.substr(at + 1, end - at - 1));
    at = end + 1;
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    std::string_view found = tag.substr(0, tag.find_first_of(kBlanks));
    if (const auto colon = found.find(':'); colon != std::string_view::npos) found.remove_prefix(colon + 1);
    if (found != name) continue;
    if (empty) return std::string();
    return std::string(trimmed(text.substr(at, text.find('<', at) - at)));
  }
  return std::nullopt;
}

std::string FlatXml::get(std::string_view name) const {
  if (auto value = find(name)) return *value;
  throw jit::UserError({.what = where_, .expected = "an element <" + std::string(name) + ">", .got = "none"});
}

int FlatXml::get_int(std::string_view name) const {
  const std::string value = get(name);
  std::string_view rest = value;
  const auto number = take_int(rest);
  if (!number || !trimmed(rest).empty())
    throw jit::UserError(
        {.what = where_ + ": <" + std::string(name) + ">", .expected = "an integer", .got = "\"" + value + "\""});
  return *number;
}

int FlatXml::get_int(std::string_view name, int if_absent) const { return find(name) ? get_int(name) : if_absent; }

std::vector<int> FlatXml::get_ints(std::string_view name) const {
  const std::string value = get(name);
  std::vector<int> numbers;
  for (std::string_view rest = trimmed(value); !rest.empty(); rest = trimmed(rest)) {
    const auto number = take_int(rest);
    if (!number)
      throw jit::UserError({.what = where_ + ": <" + std::string(name) + ">",
                            .expected = "integers with blanks between",
                            .got = "\"" + value + "\""});
    numbers.push_back(*number);
  }
  return numbers;
}

std::optional<std::uint32_t> FlatXml::find_hex32(std::string_view name) const {
  const auto value = find(name);
  if (!value) return std::nullopt;
  std::string_view digits = *value;
  if (digits.starts_with("0x") || digits.starts_with("0X")) digits.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, 16);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::string xml_element(const std::string& name, const std::string& value, const std::string& attributes) {
  return "<" + name + (attributes.empty() ? "" : " " + attributes) + ">" + value + "</" + name + ">";
}

std::string xml_element(const std::string& name, std::int64_t value) {
  return xml_element(name, std::to_string(value));
}

std::string xml_element(const std::string& name, const std::vector<int>& values) {
  std::string list;
  for (const int value : values) list += std::to_string(value) + " ";
  return xml_element(name, list);
}

std::string encode_checksum(const SiteChecksum& checksum) {
  const auto hex = [](std::uint32_t sum) {  // as QIO: without leading zeros
    char text[9];
    std::snprintf(text, sizeof text, "%" PRIx32, sum);
    return std::string(text);
  };
  return kXmlDeclaration +
         xml_element("scidacChecksum", xml_element("version", "1.0") + xml_element("suma", hex(checksum.suma)) +
                                           xml_element("sumb", hex(checksum.sumb)));
}

}  // namespace QDP::io
