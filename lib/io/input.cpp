#include "lib/io/input.hpp"

#include "qdp/io/xml.hpp"

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
  std::vector<std::string> errors;
  std::map<std::string, std::set<std::string>> asked;  ///< group -> names of children that were looked for
};

namespace {

/// What a number may be: "an integer from 1 on", "a number from 0 to 1".
std::string describe(const char* kind, const Range& range) {
  std::ostringstream text;
  text << kind;
  const bool has_low = std::isfinite(range.low),
             has_high = std::isfinite(range.high) && range.high < std::numeric_limits<int>::max();
  if (range.low == std::numeric_limits<double>::min())
    text << " above zero";
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
  if (begin != end && *begin == '+') ++begin;
  const auto [stop, error] = std::from_chars(begin, end, value);
  return error == std::errc() && stop == end && begin != end;
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

Input::Input(std::shared_ptr<Document> document, std::string path, bool exists)
    : document_(std::move(document)), path_(std::move(path)), exists_(exists) {}

std::string Input::full(const std::string& name) const {
  if (name.empty()) return path_;
  document_->asked[path_].insert(name);
  return path_ + '/' + name;
}

bool Input::has(const std::string& name) const { return exists_ && document_->xml.count(full(name)) > 0; }

void Input::error(const std::string& name, const std::string& expected, const std::string& got) const {
  if (!exists_) return;
  std::string where = document_->file_name;
  if (document_->xml.count(full(name)) == 1) where += ", line " + std::to_string(document_->xml.line(full(name)));
  document_->errors.push_back(full(name) + ": expected " + expected + ", got " + got + " (" + where + ")");
}

bool Input::expect(const std::string& name, const std::string& expected) const {
  if (!exists_) return false;
  const int n = document_->xml.count(full(name));
  if (n == 1) return true;
  const std::string where = " (" + document_->file_name + ", <" + path_.substr(path_.rfind('/') + 1) +
                            "> begins in line " + std::to_string(document_->xml.line(path_)) + ")";
  document_->errors.push_back(full(name) + ": expected " + expected + ", got " +
                              (n == 0 ? "no such element" : std::to_string(n) + " such elements") + where);
  return false;
}

std::string Input::text(const std::string& name, bool& found) const {
  std::string content;
  found = true;
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

std::vector<Input> Input::elements(const std::string& name) const {
  std::vector<Input> list;
  if (!expect(name, "a list of <elem>")) return list;
  const std::string elem = full(name) + "/elem";
  document_->asked[full(name)].insert("elem");
  const int n = document_->xml.count(elem);
  for (int i = 1; i <= n; ++i) list.push_back(Input(document_, elem + '[' + std::to_string(i) + ']', true));
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
  const std::size_t begin = content.find_first_not_of(" \t\r\n"), end = content.find_last_not_of(" \t\r\n");
  return content.substr(begin, end - begin + 1);
}

std::vector<int> Input::integers(const std::string& name, int count, Range range) const {
  const std::string expected = (count > 0 ? std::to_string(count) + " numbers, each " : std::string("a list, each ")) +
                               describe("an integer", range);
  std::vector<int> values;
  if (expect(name, expected)) {
    bool found;
    const std::string content = text(name, found);
    bool good = true;
    for (const std::string& word : split(content)) {
      int value = 0;
      good = parse(word, value) && inside(value, range) && good;
      values.push_back(value);
    }
    if (found && (!good || (count > 0 && static_cast<int>(values.size()) != count)))
      error(name, expected, quoted(content));
  }
  if (count > 0) values.resize(static_cast<std::size_t>(count));
  return values;
}

std::vector<double> Input::reals(const std::string& name, int count) const {
  const std::string expected = count > 0 ? std::to_string(count) + " numbers" : std::string("a list of numbers");
  std::vector<double> values;
  if (expect(name, expected)) {
    bool found;
    const std::string content = text(name, found);
    bool good = true;
    for (const std::string& word : split(content)) {
      double value = 0;
      good = parse(word, value) && good;
      values.push_back(value);
    }
    if (found && (!good || (count > 0 && static_cast<int>(values.size()) != count)))
      error(name, expected, quoted(content));
  }
  if (count > 0) values.resize(static_cast<std::size_t>(count));
  return values;
}

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
auto opened(std::shared_ptr<Source> document, auto&& from) {
  try {
    document->xml.open(from);
  } catch (const QDP::XMLError& error) {
    throw InputError(error.what());
  }
  return document;
}

}  // namespace

InputFile::InputFile(const std::string& file_name)
    : InputFile(opened(std::make_shared<Input::Document>(), file_name), file_name) {}

InputFile InputFile::from_text(const std::string& text, const std::string& name) {
  std::istringstream stream(text);
  return InputFile(opened(std::make_shared<Input::Document>(), stream), name);
}

InputFile::~InputFile() = default;

const std::string& InputFile::root_name() const { return document_->root_name; }

Input InputFile::root() const { return Input(document_, '/' + document_->root_name, true); }

const std::vector<std::string>& InputFile::errors() const { return document_->errors; }

std::vector<std::string> InputFile::unused_elements() const {
  std::vector<std::string> unused;
  for (const auto& [group, names] : document_->asked) {
    if (document_->xml.count(group) != 1) continue;
    std::string others = group + "/*[not(self::annotation)";
    for (const std::string& name : names) others += " and not(self::" + name + ")";
    others += "]";
    for (int i = 1; i <= document_->xml.count(others); ++i) {
      const std::string path = others + '[' + std::to_string(i) + ']';
      unused.push_back(group + '/' + root_of(XMLReader(document_->xml, path)) + " (line " +
                       std::to_string(document_->xml.line(path)) + ")");
    }
  }
  return unused;
}

void InputFile::require_valid() const {
  if (document_->errors.empty()) return;
  std::string text = document_->file_name + ": " + std::to_string(document_->errors.size()) +
                     (document_->errors.size() == 1 ? " error" : " errors");
  for (const std::string& error : document_->errors) text += "\n  " + error;
  throw InputError(text);
}

}  // namespace qcd
