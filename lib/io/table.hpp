// Tables of named things that an input file can ask for. One row: name, the elements it reads, how to make it.
#pragma once

#include "lib/io/input.hpp"
#include "qdp/types/primitives.hpp"
#include "qdp/util/spelling.hpp"

#include <functional>
#include <string>
#include <vector>

namespace qcd {

/// "Nd = 2, Nc = 1", for messages.
inline std::string size_of_build() { return "Nd = " + std::to_string(QDP::Nd) + ", Nc = " + std::to_string(QDP::Nc); }
/// Row::lacks: nothing where this build meets the demand.
inline const char* lacks_unless(bool met, const char* demand) { return met ? nullptr : demand; }

/// `T` is what a row makes; `Context` is what making it needs besides the input.
template <class T, class... Context>
class Table {
 public:
  struct Row {
    std::string name;
    std::string schema;  ///< elements read, [optional] ones in brackets, and what it means
    std::function<T(const Input&, Context...)> make;
    const char* lacks = nullptr;  ///< what the row needs and this build does not have: the row is not in the table
  };

  /// `kind` with its article: "a gauge action".
  Table(std::string kind, std::vector<Row> rows) : kind_(std::move(kind)) {
    for (Row& row : rows) (row.lacks ? absent_ : rows_).push_back(std::move(row));
  }

  const std::string& kind() const { return kind_; }
  const std::vector<Row>& rows() const { return rows_; }

  /// The row that the element `tag` of `input` names; nullptr after reporting an unknown name with the valid ones.
  const Row* find(const Input& input, const std::string& tag = "Name") const {
    const std::string name = input.word(tag);
    for (const Row& row : rows_)
      if (row.name == name) return &row;
    for (const Row& row : absent_)
      if (row.name == name) {
        input.error(tag, kind_ + " that this build has",
                    name + ", not available for " + size_of_build() + ": it needs " + row.lacks);
        return nullptr;
      }
    if (!name.empty()) {
      std::string valid = kind_ + ", one of";
      std::vector<std::string> names;
      for (const Row& row : rows_) {
        valid += ' ' + row.name;
        names.push_back(row.name);
      }
      input.error(tag, valid, name + QDP::did_you_mean(name, names));
    }
    return nullptr;
  }

  /// One paragraph per row, for --help.
  std::string help() const {
    std::string text;
    for (const Row& row : rows_) text += "  " + row.name + "\n      " + row.schema + "\n";
    return text;
  }

 private:
  std::string kind_;
  std::vector<Row> rows_, absent_;
};

}  // namespace qcd
