#include "tests/reference/compare.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

namespace reference {

namespace {

bool differs(double got, double expected, double allowed) {
  if (std::isnan(expected)) return !std::isnan(got);
  if (std::isinf(expected)) return got != expected;
  return !(std::abs(got - expected) <= allowed);
}

double largest(const SiteValue& x) {
  double m = 1;
  for (Number z : x.components)
    for (double part : {z.re, z.im})
      if (std::isfinite(part)) m = std::max(m, std::abs(part));
  return m;
}

std::mt19937_64& generator() {
  static std::mt19937_64 g(20110317);
  return g;
}

}  // namespace

std::string difference(const SiteValue& got, const SiteValue& expected, double tolerance) {
  if (got.spin != expected.spin || got.color != expected.color || got.complex != expected.complex)
    return "got type " + type_of(got) + ", expected " + type_of(expected);
  const double allowed = tolerance * largest(expected);
  for (std::size_t i = 0; i < got.components.size(); ++i) {
    const Number g = got.components[i], e = expected.components[i];
    if (!differs(g.re, e.re, allowed) && !differs(g.im, e.im, allowed)) continue;
    std::ostringstream text;
    text.precision(17);
    text << "component " << i << " of (" << type_of(got) << "): got (" << g.re << ", " << g.im << "), expected ("
         << e.re << ", " << e.im << "), allowed " << allowed;
    return text.str();
  }
  return "";
}

std::string difference(const std::vector<SiteValue>& got, const std::vector<std::size_t>& places,
                       const SiteFormula& expected, double tolerance) {
  for (std::size_t i = 0; i < got.size(); ++i)
    if (const std::string text = difference(got[i], expected(places.at(i)), tolerance); !text.empty())
      return "site " + std::to_string(places[i]) + ": " + text;
  return "";
}

void seed_random(unsigned seed) { generator().seed(seed); }

double random_real() {
  const double size = 0.25 + 0.75 * static_cast<double>(generator()() >> 11) * 0x1p-53;
  return generator()() & 1 ? size : -size;
}

int random_integer(int below) { return static_cast<int>(generator()() % static_cast<unsigned>(below)); }

}  // namespace reference
