// Every variant of GPU code that the tuner may try gives the same bits: statements of all kinds, each run until it is
// settled, with the tuner trying at once what it otherwise tries when it pays.
#include "places.hpp"

#include "jit/runtime.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

using namespace tests;
using namespace QDP;

namespace {

// Before the first look at them. On the simulated GPU if no device is asked for. Without a cache on disk: what an
// earlier run of the test has found is tried again.
[[maybe_unused]] const int settings = setenv("TESSERA_DEVICE", "sim", 0) + setenv("TESSERA_TUNE", "eager", 1) +
                                      setenv("TESSERA_CACHE", "0", 1) + setenv("TESSERA_SIM_DELAY", "0", 1);

/// More launches than the tuner needs for all rounds.
constexpr int kUntilSettled = 150;

template <class T>
std::string bits(const OLattice<T>& field) {
  std::string words(sizeof(T) * static_cast<std::size_t>(Layout::sitesOnNode()), '\0');
  std::memcpy(words.data(), field.getF(), words.size());
  return words;
}
template <class T>
std::string bits(const OScalar<T>& value) {
  std::string words(sizeof(T), '\0');
  std::memcpy(words.data(), &value.elem(), words.size());
  return words;
}

/// Runs a statement again and again; what it gives must stay the same.
template <class Statement>
void check_settling(const std::string& what, Statement&& statement) {
  CAPTURE(what);
  const std::string first = bits(statement());
  int different = 0;
  for (int i = 0; i < kUntilSettled; ++i) different += bits(statement()) != first;
  CHECK(different == 0);
}

int most_variants() {
  int most = 0;
  for (const jit::KernelInfo& kernel : jit::Runtime::instance().kernels()) most = std::max(most, kernel.variants);
  return most;
}

}  // namespace

TEST_CASE("statements give the same bits in every variant") {
  // The first large enough for every variant.
  for (const Extents& extents :
       shared_out({QDP_ND == 4 ? Extents{4, 4, 4, 8} : Extents{16, 32, 4, 8}, Extents{3, 5, 7, 2}})) {
    create_lattice(extents);
    CAPTURE(name_of(extents));
    reference::seed_random(5);
    LatticeFermionF x, y, z;
    LatticeFermionD xd, zd;
    LatticeColorMatrixD u, v, w;
    LatticePropagatorF p, q;
    LatticeReal r;
    LatticeBoolean positive;
    gaussian(x), gaussian(y), gaussian(xd), gaussian(u), gaussian(v), gaussian(p), gaussian(r);
    const Real a = 0.37;

    check_settling("axpy", [&] { return z = a * x + y, z; });
    check_settling("in place", [&] { return z = y, z += a * x, z; });
    check_settling("double and single", [&] { return zd = xd + a * x, zd; });
    check_settling("matrices", [&] { return w = u * adj(v) - v, w; });
    check_settling("propagator", [&] { return q = p * p + a * adj(p), q; });
    check_settling("hop", [&] {
      z = y;
      z[rb[0]] = u * shift(x, FORWARD, 1) + shift(adj(u) * x, BACKWARD, Nd - 1) + Gamma(4) * shift(x, BACKWARD, 0);
      return z;
    });
    check_settling("shift of a shift",
                   [&] { return w = u * shift(v * shift(adj(u), FORWARD, 0), BACKWARD, Nd - 1), w; });
    check_settling("truth values", [&] { return positive = r > Real(0), positive; });
    check_settling("chosen", [&] { return z = where(r > Real(0), x, y), z; });
    check_settling("site function", [&] { return r = sqrt(localNorm2(x)) + sin(localNorm2(y)), r; });
    check_settling("norm2", [&] { return norm2(x); });
    check_settling("inner product", [&] { return innerProduct(x, y, rb[1]); });
    check_settling("largest", [&] { return globalMax(r); });
    for (const NamedSubset& s : subsets(extents)) {
      if (s.name != "rb[1]" && s.name != "rb3[0]" && s.name != "scattered") continue;  // a range or lists
      CAPTURE(s.name);
      check_settling("part", [&] { return z = y, z[s.subset] = x - shift(y, FORWARD, Nd / 2), z; });
      check_settling("sum over a part", [&] { return sum(u * shift(v, BACKWARD, 1), s.subset); });
    }
  }
  CHECK(most_variants() >= 4);  // one, two and four sites per thread; streaming
}
