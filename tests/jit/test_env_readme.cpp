// README.md lists the environment variables exactly as the program's own table does.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "jit/support/env.hpp"
#include "tests/paths.hpp"

namespace {

/// A cell of a Markdown table: code, with the bars that would end the cell escaped; empty stays empty.
std::string code_cell(const std::string& text) {
  if (text.empty()) return "";
  std::string cell = "`";
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell + "`";
}

std::string row_of(const jit::EnvVariable& variable) {
  return "| `" + std::string(variable.name) + "` | " + code_cell(variable.type) + " | " + code_cell(variable.fallback) +
         " | " + variable.help + " |";
}

std::vector<std::string> rows_of_readme() {
  std::ifstream readme(tests::source_folder() / "README.md");
  REQUIRE(readme.good());
  std::vector<std::string> rows;
  bool inside = false;  // of a table of variables: options of the build have tables, too
  for (std::string line; std::getline(readme, line);) {
    inside = line.starts_with('|') && (inside || line.starts_with("| variable |"));
    if (inside && line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

}  // namespace

TEST_CASE("README lists every environment variable with its values, default and effect, and no other") {
  std::vector<std::string> expected;
  for (const jit::EnvVariable& variable : jit::env_table()) expected.push_back(row_of(variable));
  const std::vector<std::string> found = rows_of_readme();
  for (const std::string& row : expected) {
    INFO("README.md lacks the line: ", row);
    CHECK(std::count(found.begin(), found.end(), row) == 1);
  }
  CHECK(found.size() == expected.size());
}
