// The program that README.md shows is the one that the build compiles.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace {

std::string contents(const std::string& name) {
  std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/" + name);
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
