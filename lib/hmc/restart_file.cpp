#include "lib/hmc/restart_file.hpp"

#include "lib/error.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

namespace {

constexpr const char* kGroup = "Identity";
constexpr const char* kTextHash = "text_hash";
constexpr const char* kProtectedHash = "protected_hash";
const std::string kNoHash(32, '0');

std::string opening(const std::string& tag) { return '<' + tag + '>'; }
std::string closing(const std::string& tag) { return "</" + tag + '>'; }

/// The last element of that name: tags included, and its content.
struct Element {
  std::size_t begin = std::string::npos, end = 0, content = 0, content_size = 0;
  explicit operator bool() const { return begin != std::string::npos; }
};

Element last_element(const std::string& text, const std::string& tag) {
  Element e;
  const auto close = text.rfind(closing(tag));
  if (close == std::string::npos) return e;
  const auto open = text.rfind(opening(tag), close);
  if (open == std::string::npos) return e;
  e.begin = open;
  e.content = open + tag.size() + 2;
  e.content_size = close - e.content;
  e.end = close + tag.size() + 3;
  return e;
}

std::string content(const std::string& text, const std::string& tag) {
  const Element e = last_element(text, tag);
  return e ? text.substr(e.content, e.content_size) : "";
}

void put(std::string& text, const std::string& tag, const std::string& value) {
  if (const Element e = last_element(text, tag)) text.replace(e.content, e.content_size, value);
}

void erase_all(std::string& text, const std::string& tag) {
  while (const Element e = last_element(text, tag)) text.erase(e.begin, e.end - e.begin);
}

/// Without the white space beside tags, which moves when elements come or go.
std::string without_layout(const std::string& text) {
  const std::string blanks = " \t\r\n";
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto stop = std::min(text.find_first_not_of(blanks, i), text.size());
    const bool beside_tag = result.empty() || result.back() == '>' || stop == text.size() || text[stop] == '<';
    if (!beside_tag) result.append(text, i, stop - i);
    if (stop < text.size()) result += text[stop];
    i = stop + 1;
  }
  return result;
}

std::string hash_of_all(std::string text) {
  put(text, kTextHash, kNoHash);
  return hash_of_text(text);
}

/// Of what must not be edited: all but the free elements and the hashes.
std::string hash_of_protected(std::string text) {
  const std::string identity = content(text, kGroup);
  erase_all(text, kGroup);
  for (const std::string& tag : free_elements()) erase_all(text, tag);
  for (const char* tag : {"cfg_checksum", "w_plaq", "as_written"}) text += '\n' + content(identity, tag);
  return hash_of_text(without_layout(text));
}

/// The line "<tag> = <value>" of as_written. No elements there: who edits one of them in a restart file, with sed say, edits
/// every element of that name.
std::string line_of(const std::string& tag, const std::string& value) { return "\n        " + tag + " = " + value; }
std::string value_in(const std::string& written, const std::string& tag) {
  const std::string start = line_of(tag, "");
  const auto at = written.find(start);
  if (at == std::string::npos) return "";
  const auto from = at + start.size();
  return written.substr(from, written.find('\n', from) - from);
}

std::string changes(const std::string& text) {
  const std::string written = content(content(text, kGroup), "as_written");
  std::string outside = text, list;
  erase_all(outside, kGroup);
  for (const std::string& tag : free_elements()) {
    const std::string before = value_in(written, tag), now = content(outside, tag);
    if (before == now) continue;
    list += (list.empty() ? "" : ", ") + tag + ' ' + (before.empty() ? "(none)" : before) + " -> " +
            (now.empty() ? "(none)" : now);
  }
  return list;
}

}  // namespace

const std::vector<std::string>& free_elements() {
  static const std::vector<std::string> names = {"NProductionUpdates", "NUpdatesThisRun", "SaveInterval",
                                                 "SavePrefix",         "KeepCheckpoints", "ArchiveInterval"};
  return names;
}

void write_identity(XMLWriter& xml, const CheckpointIdentity& identity, const std::string& control) {
  char plaquette[32];
  std::snprintf(plaquette, sizeof plaquette, "%.17g", identity.w_plaq);
  push(xml, kGroup);
  write(xml, "cfg_checksum", identity.cfg_checksum);
  write(xml, "w_plaq", std::string(plaquette));
  std::string written = "\n      " + opening("as_written");
  for (const std::string& tag : free_elements())
    if (last_element(control, tag)) written += line_of(tag, content(control, tag));
  xml.writeXML(written + "\n      " + closing("as_written"));
  write(xml, kProtectedHash, kNoHash);
  write(xml, kTextHash, kNoHash);
  pop(xml);
}

std::string sealed(std::string text) {
  put(text, kProtectedHash, hash_of_protected(text));
  put(text, kTextHash, hash_of_all(text));
  return text;
}

std::optional<CheckpointIdentity> read_identity(const Input& mc_control) {
  if (!mc_control.has(kGroup)) return {};
  const Input group = mc_control.group(kGroup);
  group.accept_unused({"as_written", kProtectedHash, kTextHash});
  return CheckpointIdentity{group.word("cfg_checksum"), group.real("w_plaq")};
}

RestartText check_restart_text(const std::string& text, const std::string& file) {
  if (!last_element(text, kGroup)) return {};
  if (content(text, kTextHash) == hash_of_all(text)) return {RestartText::untouched, ""};
  const std::string list = changes(text);
  if (content(text, kProtectedHash) == hash_of_protected(text) && !list.empty())
    return {RestartText::edited, file + " was edited since it was written: " + list};
  std::string free;
  for (const std::string& tag : free_elements()) free += (free.empty() ? "" : ", ") + tag;
  return {RestartText::changed, file + ": expected the restart file as it was written, but for " + free +
                                    ", got other changes" + (list.empty() ? "" : " (and " + list + ")")};
}

std::string require_unchanged_restart(const std::string& text, const std::string& file, bool accept_edited) {
  const RestartText found = check_restart_text(text, file);
  if (found.state != RestartText::changed) return found.message;
  if (!accept_edited)
    throw FileError(found.message +
                    ". It is damaged, or was edited: take another checkpoint, or continue from it as it "
                    "is with --accept-edited");
  return found.message + "; accepted";
}

}  // namespace qcd
