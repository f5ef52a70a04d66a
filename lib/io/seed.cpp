#include "lib/io/seed.hpp"

#include <sstream>

namespace qcd {

std::array<int, 4> read_seed(const Input& group) {
  std::array<int, 4> seed{};
  const std::vector<Input> elems = group.elements("Seed");
  if (!group.has("Seed")) return seed;
  if (elems.size() != seed.size()) {
    group.error("Seed", "four <elem>", std::to_string(elems.size()));
    return seed;
  }
  for (std::size_t i = 0; i < seed.size(); ++i) seed[i] = elems[i].integer("", {0, i < 3 ? 4095.0 : 2047.0});
  return seed;
}

QDP::Seed make_seed(const std::array<int, 4>& digits) {
  std::ostringstream text;
  text << "<RNG><Seed>";
  for (int digit : digits) text << "<elem>" << digit << "</elem>";
  text << "</Seed></RNG>";
  std::istringstream stream(text.str());
  QDP::XMLReader xml(stream);
  QDP::Seed seed;
  QDP::read(xml, "/RNG", seed);
  return seed;
}

}  // namespace qcd
