#include "lib/io/input.hpp"

#include "qdp/util/spelling.hpp"

#include "qdp/io/xml.hpp"
#include "qdp/util/trimmed.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

namespace qcd {

using QDP::XMLReader;

struct Input::Document {
  std::string file_name;
  XMLReader xml;
  std::string root_name;
  std::vector<std::string> errors, warnings;
  std::map<std::string, std::set<std::string>> asked;  ///< group -> names of children that were looked for
  std::set<std::string> texts;                         ///< elements whose text was read
  std::vector<int> lattice;

  /// The names of the elements in a group, and where they stand.
  struct Child {
    std::string name, path;
  };
  std::vector<Child> children(const std::string& group) const;
  /// "line 3".
  std::string line(const std::string& path) const { return "line " + std::to_string(xml.line(path)); }
};

namespace {

/// What a number may be: "an integer from 1 on", "a number from 0 to 1".
std::string describe(const char* kind, const Range& range) {
  std::ostringstream text;
  text << kind;
  const bool has_low = std::isfinite(range.low),
             has_high = std::isfinite(range.high) && range.high < std::numeric_limits<int>::max();
  if (range.low == std::numeric_limits<double>::min())
    has_high ? text << " above zero and below " << range.high : text << " above zero";
  else if (range.low == 0 && !has_high && !std::isfinite(range.high))
    text << ", zero or more";
  else if (has_low && has_high)
    text << " from " << range.low << " to " << range.high;
  else if (has_low)
    text << " from " << range.low << " on";
  else if (has_high)
    text << " up to " << range.high;
  return text.str();
}

bool inside(double value, const Range& range) { return value >= range.low && value <= range.high; }

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <class T>
bool parse(const std::string& word, T& value) {
  const char* begin = word.data();
  const char* const end = begin + word.size();
  if (begin != end && *begin == '+' && ++begin != end && (*begin == '-' || *begin == '+')) return false;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end && begin != end && std::isfinite(static_cast<double>(value));
}

/// Name of the reader's element.
std::string root_of(const XMLReader& xml) {
  std::ostringstream text;
  xml.print(text);
  const std::string content = text.str();
  return content.substr(1, content.find_first_of(" \t\r\n/>", 1) - 1);
}

std::string quoted(const std::string& text) {
  constexpr std::size_t most = 60;
  return '"' + (text.size() > most ? text.substr(0, most) + "..." : text) + '"';
}

}  // namespace

std::vector<Input::Document::Child> Input::Document::children(const std::string& group) const {
  std::vector<Child> list;
  for (int i = 1, n = xml.count(group + "/*"); i <= n; ++i) {
    const std::string path = group + "/*[" + std::to_string(i) + ']';
    list.push_back({root_of(XMLReader(xml, path)), path});
  }
  return list;
}

Input::Input(std::shared_ptr<Document> document, std::string path, bool exists)
    : document_(std::move(document)), path_(std::move(path)), exists_(exists) {}

std::string Input::full(const std::string& name) const {
  if (name.empty()) return path_;
  document_->asked[path_].insert(name);
  return path_ + '/' + name;
}

bool Input::has(const std::string& name) const { return exists_ && document_->xml.count(full(name)) > 0; }

void Input::accept_unused(std::initializer_list<std::string> names) const {
  for (const std::string& name : names) full(name);
}

bool Input::has_errors() const {
  return !exists_ || std::any_of(document_->errors.begin(), document_->errors.end(), [&](const std::string& error) {
    return error.starts_with(path_ + '/') || error.starts_with(path_ + ':');
  });
}

std::string Input::where(const std::string& name) const {
  const std::string path = full(name);
  return " (" + document_->file_name + (document_->xml.count(path) == 1 ? ", " + document_->line(path) : "") + ")";
}

void Input::error(const std::string& name, const std::string& expected, const std::string& got) const {
  if (exists_) document_->errors.push_back(full(name) + ": expected " + expected + ", got " + got + where(name));
}

void Input::warning(const std::string& name, const std::string& what) const {
  if (exists_) document_->warnings.push_back(full(name) + ": " + what + where(name));
}

bool Input::expect(const std::string& name, const std::string& expected) const {
  if (!exists_) return false;
  const std::string path = full(name);
  const int n = document_->xml.count(path);
  if (n == 1) return true;
  std::string got = std::to_string(n) + " such elements";
  if (n == 0) {
    got = "no such element";
    std::vector<std::string> names;
    const auto children = document_->children(path_);
    for (const auto& child : children) names.push_back(child.name);
    const std::string near = QDP::nearest_word(name, names);
    for (const auto& child : children)
      if (child.name == near) {
        got += "; is <" + near + "> in " + document_->line(child.path) + " meant to be it?";
        break;
      }
  }
  document_->errors.push_back(path + ": expected " + expected + ", got " + got + " (" + document_->file_name + ", <" +
                              path_.substr(path_.rfind('/') + 1) + "> begins in " + document_->line(path_) + ")");
  return false;
}

std::string Input::text(const std::string& name, bool& found) const {
  std::string content;
  found = true;
  document_->texts.insert(full(name));
  try {
    document_->xml.get(full(name), content);
  } catch (const QDP::XMLError&) {  // it exists (see expect), so it has children
    found = false;
    error(name, "text", "an element with children");
  }
  return content;
}

Input Input::group(const std::string& name) const {
  return Input(document_, full(name), expect(name, "a group of elements"));
}

std::vector<Input> Input::elements(const std::string& name, Empty empty) const {
  std::vector<Input> list;
  if (!expect(name, "a list of <elem>")) return list;
  const std::string group = full(name), elem = group + "/elem";
  document_->asked[group].insert("elem");
  const int n = document_->xml.count(elem);
  for (int i = 1; i <= n; ++i) list.push_back(Input(document_, elem + '[' + std::to_string(i) + ']', true));
  if (n > 0) return list;
  const auto children = document_->children(group);
  if (!children.empty())
    error(name, "a list of <elem>",
          "<" + children[0].name + "> in " + document_->line(children[0].path) + " and no <elem>");
  else if (bool found; !split(text(name, found)).empty())
    error(name, "a list of <elem>", "the text " + quoted(text(name, found)) + " without <elem> around its entries");
  else if (empty == Empty::refused)
    error(name, "a list of <elem>", "nothing");
  return list;
}

namespace {

/// One number of type T out of the text of an element.
template <class T>
bool parse_one(const std::string& text, T& value, const Range& range) {
  const std::vector<std::string> words = split(text);
  return words.size() == 1 && parse(words[0], value) && inside(static_cast<double>(value), range);
}

}  // namespace

int Input::integer(const std::string& name, Range range) const {
  const std::string expected = describe("an integer", range);
  int value = 0;
  if (!expect(name, expected)) return value;
  bool found;
  const std::string content = text(name, found);
  if (found && !parse_one(content, value, range)) {
    error(name, expected, quoted(content));
    value = static_cast<int>(std::isfinite(range.low) ? range.low : 0);
  }
  return value;
}

double Input::real(const std::string& name, Range range) const {
  const std::string expected = describe("a number", range);
  double value = 0;
  if (!expect(name, expected)) return value;
  bool found;
  const std::string content = text(name, found);
  if (found && (!parse_one(content, value, range) || !std::isfinite(value))) {
    error(name, expected, quoted(content));
    value = 0;
  }
  return value;
}

bool Input::flag(const std::string& name) const {
  if (!expect(name, "true or false")) return false;
  bool found;
  const std::string content = text(name, found);
  const std::vector<std::string> words = split(content);
  if (words.size() == 1 && (words[0] == "true" || words[0] == "yes" || words[0] == "1")) return true;
  if (found && !(words.size() == 1 && (words[0] == "false" || words[0] == "no" || words[0] == "0")))
    error(name, "true or false", quoted(content));
  return false;
}

std::string Input::word(const std::string& name) const {
  if (!expect(name, "a word")) return {};
  bool found;
  const std::string content = text(name, found);
  const std::vector<std::string> words = split(content);
  if (found && words.empty()) error(name, "a word", "nothing");
  if (words.empty()) return {};
  // File names may hold blanks; those around the text do not count.
  return std::string(QDP::trimmed(content));
}

template <class T>
std::vector<T> Input::numbers(const std::string& name, const std::string& kind, int count, Range range,
                              Empty empty) const {
  const std::string expected =
      (count > 0 ? std::to_string(count) + " numbers, each " : std::string("a list, each ")) + kind;
  std::vector<T> values;
  if (expect(name, expected)) {
    bool found;
    const std::string content = text(name, found);
    bool good = true;
    for (const std::string& word : split(content)) {
      T value = 0;
      good = parse(word, value) && inside(static_cast<double>(value), range) && good;
      values.push_back(value);
    }
    if (found && (!good || (count > 0 && static_cast<int>(values.size()) != count)))
      error(name, expected, quoted(content));
    else if (found && values.empty() && empty == Empty::refused)
      error(name, expected, "nothing");
  }
  if (count > 0) values.resize(static_cast<std::size_t>(count));
  return values;
}

std::vector<int> Input::integers(const std::string& name, int count, Range range, Empty empty) const {
  return numbers<int>(name, describe("an integer", range), count, range, empty);
}

std::vector<double> Input::reals(const std::string& name, int count, Range range) const {
  return numbers<double>(name, describe("a number", range), count, range, Empty::refused);
}

std::vector<int> Input::read_lattice(const std::string& name, int count) const {
  std::vector<int> extents = integers(name, count, at_least(1));
  if (std::all_of(extents.begin(), extents.end(), [](int extent) { return extent > 0; })) document_->lattice = extents;
  return extents;
}

const std::vector<int>& Input::lattice() const { return document_->lattice; }

std::vector<std::string> Input::words(const std::string& name) const {
  std::vector<std::string> list;
  for (const Input& elem : elements(name)) list.push_back(elem.word(""));
  return list;
}

int Input::integer(const std::string& name, Range range, int fallback) const {
  return has(name) ? integer(name, range) : fallback;
}
double Input::real(const std::string& name, Range range, double fallback) const {
  return has(name) ? real(name, range) : fallback;
}
bool Input::flag(const std::string& name, bool fallback) const { return has(name) ? flag(name) : fallback; }
std::string Input::word(const std::string& name, const std::string& fallback) const {
  return has(name) ? word(name) : fallback;
}

QDP::XMLReader Input::reader() const { return XMLReader(document_->xml, path_); }

std::string Input::xml() const {
  if (!exists_) return {};
  std::ostringstream text;
  reader().print(text);
  std::string xml = text.str();
  xml.erase(xml.find_last_not_of(" \t\r\n") + 1);
  return xml;
}

InputFile::InputFile(std::shared_ptr<Input::Document> document, const std::string& name)
    : document_(std::move(document)) {
  document_->file_name = name;
  document_->root_name = root_of(document_->xml);
}

namespace {

template <class Source>
auto opened(std::shared_ptr<Source> document, const std::string& name, auto&& from) {
  try {
    document->xml.open(from);
  } catch (const QDP::XMLError& error) {
    const std::string what = error.what();
    throw InputError(what.find(name) != std::string::npos ? what : name + ": " + what);
  }
  return document;
}

}  // namespace

InputFile::InputFile(const std::string& file_name)
    : InputFile(opened(std::make_shared<Input::Document>(), file_name, file_name), file_name) {}

InputFile InputFile::from_text(const std::string& text, const std::string& name) {
  std::istringstream stream(text);
  return InputFile(opened(std::make_shared<Input::Document>(), name, stream), name);
}

InputFile::~InputFile() = default;

const std::string& InputFile::root_name() const { return document_->root_name; }

Input InputFile::root() const { return Input(document_, '/' + document_->root_name, true); }

const std::vector<std::string>& InputFile::errors() const { return document_->errors; }

std::vector<std::string> InputFile::unused_elements() const {
  const Input::Document& document = *document_;
  std::vector<std::string> unused;
  for (const auto& [group, names] : document.asked) {
    if (document.xml.count(group) != 1) continue;
    for (const auto& [name, path] : document.children(group)) {
      if (name == "annotation" || names.contains(name)) continue;
      std::string text = group + '/' + name + " (" + document.line(path) + ")";
      const std::string near = QDP::did_you_mean(name, {names.begin(), names.end()});
      const auto elsewhere = std::find_if(document.asked.begin(), document.asked.end(),
                                          [&](const auto& other) { return other.second.contains(name); });
      if (near.empty() && elsewhere != document.asked.end()) text += "; it would be read in " + elsewhere->first;
      unused.push_back(text + near);
    }
    // Text beside or instead of elements.
    if (!document.texts.contains(group) && document.xml.count(group + "/text()[normalize-space()]") > 0)
      unused.push_back(group + ": text between its elements (" + document.line(group) + ")");
  }
  return unused;
}

std::vector<std::string> InputFile::warnings() const {
  std::vector<std::string> list = document_->warnings;
  for (const std::string& element : unused_elements()) list.push_back("not used: " + element);
  return list;
}

void InputFile::require_valid() const {
  if (document_->errors.empty()) return;
  std::string text = document_->file_name + ": " + std::to_string(document_->errors.size()) +
                     (document_->errors.size() == 1 ? " error" : " errors");
  for (const std::string& error : document_->errors) text += "\n  " + error;
  throw InputError(text);
}

}  // namespace qcd
