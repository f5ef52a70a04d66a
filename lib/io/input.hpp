// Reading an input document so that everything wrong with it is reported at once: path, line, what was expected.
//
//   InputFile file("in.xml");
//   Input top = file.root("Params");
//   double beta = top.group("GaugeAction").real("beta");     // 0 and a recorded error if missing or malformed
//   file.require_valid();                                    // throws InputError with all errors
#pragma once

#include "lib/error.hpp"

#include <cmath>
#include <initializer_list>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace QDP {
class XMLReader;
}

namespace qcd {

/// The values that an element accepts, both ends included.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};
/// Greater than zero.
inline Range positive() { return {std::numeric_limits<double>::min(), std::numeric_limits<double>::infinity()}; }
/// Integers from `low` on.
inline Range at_least(int low) { return {static_cast<double>(low), std::numeric_limits<int>::max()}; }
/// Zero or more.
inline Range not_negative() { return {0, std::numeric_limits<double>::infinity()}; }
/// Greater than zero and less than `high`.
inline Range positive_below(double high) { return {std::numeric_limits<double>::min(), std::nextafter(high, 0.0)}; }

/// Whether a list may have no entries. A list that is empty by mistake makes a run that leaves something out.
enum class Empty { refused, allowed };

/// One group (element with children) of the document. Copies are cheap and refer to the same document.
/// A getter that finds nothing right records an error and returns a neutral value, so that checking goes on.
/// The name "" means the group's own text.
class Input {
 public:
  bool has(const std::string& name) const;

  /// The child group `name`. Missing: an error, and a group whose getters stay silent.
  Input group(const std::string& name) const;
  /// The <elem> children of the group `name`; none if it is missing, or has text instead (errors).
  std::vector<Input> elements(const std::string& name, Empty empty = Empty::refused) const;

  int integer(const std::string& name, Range range = {}) const;
  int integer(const std::string& name, Range range, int fallback) const;
  double real(const std::string& name, Range range = {}) const;
  double real(const std::string& name, Range range, double fallback) const;
  bool flag(const std::string& name) const;
  bool flag(const std::string& name, bool fallback) const;
  std::string word(const std::string& name) const;
  std::string word(const std::string& name, const std::string& fallback) const;
  /// Whitespace-separated lists; `count` = 0 accepts any length.
  std::vector<int> integers(const std::string& name, int count = 0, Range range = {},
                            Empty empty = Empty::refused) const;
  std::vector<double> reals(const std::string& name, int count = 0, Range range = {}) const;
  /// A list of words, one per <elem>.
  std::vector<std::string> words(const std::string& name) const;

  /// Names that the document may have here although they change nothing: not among unused_elements().
  void accept_unused(std::initializer_list<std::string> names) const;

  /// Records that the child `name` is not what was expected.
  void error(const std::string& name, const std::string& expected, const std::string& got) const;
  /// Records something that can be run as it stands and is hardly meant: "<what>" at the child `name`.
  void warning(const std::string& name, const std::string& what) const;

  /// Whether errors were recorded in this group or below.
  bool has_errors() const;

  /// Reads the extents of the lattice, `count` numbers in the child `name`; the whole document knows them from then on.
  std::vector<int> read_lattice(const std::string& name, int count) const;
  /// Those extents, so that what does not fit the lattice is found before there is one; empty as long as not known.
  const std::vector<int>& lattice() const;

  /// The group as XML text, opening and closing tag included.
  std::string xml() const;
  /// Absolute path, such as /Params/HMCTrj/Monomials/elem[2].
  const std::string& path() const { return path_; }
  /// A reader positioned at this group.
  QDP::XMLReader reader() const;

 private:
  friend class InputFile;
  struct Document;
  Input(std::shared_ptr<Document> document, std::string path, bool exists);

  std::string full(const std::string& name) const;
  /// "(file, line n)" of a child.
  std::string where(const std::string& name) const;
  template <class T>
  std::vector<T> numbers(const std::string& name, const std::string& kind, int count, Range range, Empty empty) const;
  /// The text of a child, or nullptr-like empty optional state through `found`.
  std::string text(const std::string& name, bool& found) const;
  bool expect(const std::string& name, const std::string& expected) const;

  std::shared_ptr<Document> document_;
  std::string path_;
  bool exists_ = true;
};

/// A parsed document and the errors found in it so far.
class InputFile {
 public:
  /// Throws InputError if the file cannot be read or is not XML (with the line).
  explicit InputFile(const std::string& file_name);
  /// The same for a document in memory; `name` stands for the file name in messages.
  static InputFile from_text(const std::string& text, const std::string& name);
  ~InputFile();

  /// Name of the root element.
  const std::string& root_name() const;
  Input root() const;

  const std::vector<std::string>& errors() const;
  /// Elements that nobody has asked for so far, with their lines and what they may have been meant to be; and text beside
  /// elements. Of a group that was not asked for, the group only. <annotation> is for humans and not listed.
  std::vector<std::string> unused_elements() const;
  /// What is hardly meant (Input::warning), and the unused elements: "not used: ...".
  std::vector<std::string> warnings() const;
  /// Throws InputError listing all errors, if there are any.
  void require_valid() const;

 private:
  InputFile(std::shared_ptr<Input::Document> document, const std::string& name);

  std::shared_ptr<Input::Document> document_;
};

}  // namespace qcd
