#include "qdp/io/ildg.hpp"

#include "jit/support/error.hpp"
#include "qdp/io/lime.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/io/scidac_xml.hpp"

namespace QDP::io {

namespace {

constexpr const char* kExtentNames[] = {"lx", "ly", "lz", "lt"};
constexpr char kNamespace[] =
    "xmlns=\"http://www.lqcd.org/ildg\" "
    "xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
    "xsi:schemaLocation=\"http://www.lqcd.org/ildg/filefmt.xsd\"";

}  // namespace

IldgFormat parse_ildg_format(const std::string& xml, const std::string& where) {
  const FlatXml elements(xml, where);
  IldgFormat format;
  format.field = elements.find("field").value_or(format.field);
  const int precision = elements.get_int("precision");
  if (precision != 32 && precision != 64)
    throw jit::UserError({.what = where + ": <precision>", .expected = "32 or 64", .got = std::to_string(precision)});
  format.word = precision == 32 ? Word::float32 : Word::float64;
  for (const char* name : kExtentNames) {
    const int extent = elements.get_int(name);
    if (extent < 1)
      throw jit::UserError({.what = where + ": <" + name + ">",
                            .expected = "a lattice extent of 1 or more",
                            .got = std::to_string(extent)});
    format.geometry.extents.push_back(extent);
  }
  return format;
}

std::string encode_ildg_format(const IldgFormat& format) {
  std::string inner = xml_element("version", "1.0") + xml_element("field", format.field) +
                      xml_element("precision", format.word == Word::float32 ? 32 : 64);
  for (std::size_t mu = 0; mu < 4; ++mu) inner += xml_element(kExtentNames[mu], format.geometry.extents.at(mu));
  return kXmlDeclaration + xml_element("ildgFormat", inner, kNamespace);
}

SiteChecksum write_ildg(const std::string& path, const SiteGeometry& geometry, Word word, const std::string& lfn,
                        SiteSource& source) {
  if (geometry.extents.size() != 4)
    throw jit::UserError({.what = path + ": ILDG file", .expected = "four dimensions", .got = geometry.text()});
  const Payload payload{.geometry = geometry, .site = {.word = word, .bytes = kGaugeWordsPerSite * bytes_of(word)}};
  check_site_format(payload, source.format(), path + ": ILDG gauge field");

  jit::require_free_space(path, payload.bytes());
  LimeWriter lime(path);
  lime.text_record("ildg-format", encode_ildg_format({.word = word, .geometry = geometry}), LimePosition::first);
  lime.begin_record("ildg-binary-data", payload.bytes(), LimePosition::middle);
  const SiteChecksum checksum = write_payload(lime.file(), payload, source).sites;
  lime.end_record();
  if (!lfn.empty()) lime.text_record("ildg-data-lfn", lfn, LimePosition::middle);
  lime.text_record("scidac-checksum", encode_checksum(checksum), LimePosition::last);
  lime.close();
  return checksum;
}

}  // namespace QDP::io
