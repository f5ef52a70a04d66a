// Tables of named things that an input file can ask for. One row: name, the elements it reads, how to make it.
#pragma once

#include "lib/io/input.hpp"
#include "lib/io/spelling.hpp"

#include <functional>
#include <string>
#include <vector>

namespace qcd {

/// `T` is what a row makes; `Context` is what making it needs besides the input.
template <class T, class... Context>
class Table {
 public:
  struct Row {
    std::string name;
    std::string schema;  ///< elements read, [optional] ones in brackets, and what it means
    std::function<T(const Input&, Context...)> make;
  };

  /// `kind` with its article: "a gauge action".
  Table(std::string kind, std::vector<Row> rows) : kind_(std::move(kind)), rows_(std::move(rows)) {}

  const std::string& kind() const { return kind_; }
  const std::vector<Row>& rows() const { return rows_; }

  /// The row that the element `tag` of `input` names; nullptr after reporting an unknown name with the valid ones.
  const Row* find(const Input& input, const std::string& tag = "Name") const {
    const std::string name = input.word(tag);
    for (const Row& row : rows_)
      if (row.name == name) return &row;
    if (!name.empty()) {
      std::string valid = kind_ + ", one of";
      std::vector<std::string> names;
      for (const Row& row : rows_) {
        valid += ' ' + row.name;
        names.push_back(row.name);
      }
      input.error(tag, valid, name + did_you_mean(name, names));
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
  std::vector<Row> rows_;
};

}  // namespace qcd
