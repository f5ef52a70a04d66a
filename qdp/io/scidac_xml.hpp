#pragma once
// The small flat XML inside SciDAC and ILDG records: "<scidacFile><version>1.1</version>...</scidacFile>".
//
// Files in the wild have blanks around values and inside tags, attributes, name-space prefixes and comments; all of
// that is read. The user's own XML is passed through and never looked at.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "qdp/io/scidac_checksum.hpp"

namespace QDP::io {

/// Reads elements of one text; errors name the file and the record the text came from.
class FlatXml {
 public:
  FlatXml(std::string text, std::string where) : text_(std::move(text)), where_(std::move(where)) {}

  /// Content of the first element of that local name, without blanks around it.
  std::optional<std::string> find(std::string_view name) const;

  /// As find(), but an absent element is an error: jit::UserError.
  std::string get(std::string_view name) const;
  /// Errors: absent, or not an integer.
  int get_int(std::string_view name) const;
  int get_int(std::string_view name, int if_absent) const;
  std::vector<int> get_ints(std::string_view name) const;
  /// 32 bits in hexadecimal, with or without "0x"; empty if absent or malformed.
  std::optional<std::uint32_t> find_hex32(std::string_view name) const;

 private:
  std::string text_;
  std::string where_;
};

/// "<name>value</name>", with attributes if given.
std::string xml_element(const std::string& name, const std::string& value, const std::string& attributes = {});
std::string xml_element(const std::string& name, std::int64_t value);
/// As SciDAC writes lists: a blank after every number.
std::string xml_element(const std::string& name, const std::vector<int>& values);

/// The declaration that SciDAC's own records start with.
inline constexpr char kXmlDeclaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>";

/// The scidac-checksum record.
std::string encode_checksum(const SiteChecksum& checksum);

}  // namespace QDP::io
