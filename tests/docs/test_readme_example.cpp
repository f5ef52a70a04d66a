// The program that README.md shows is the one that the build compiles.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/paths.hpp"

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(tests::source_folder() / name);
  REQUIRE_MESSAGE(file.good(), name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("README shows examples/pion.cpp, whole and unchanged") {
  const std::string readme = contents("README.md");
  CHECK(readme.find("```cpp\n" + contents("examples/pion.cpp") + "```\n") != std::string::npos);
}
