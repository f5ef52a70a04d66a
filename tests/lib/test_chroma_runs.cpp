// Whole runs beside Chroma's own hmc: tests/data/chroma holds the inputs, which Chroma (3.44.1 on QDP++ 1.46.1, scalar, double
// precision, GCC 12) read as they are. Everything enters: start, momenta and pseudofermions, forces, integrators, predictors and the
// order in which random numbers are taken, since a run goes its own way from the first wrong decision on.

#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

using namespace QDP;

namespace {

struct Update {
  double violation;  ///< dH
  bool accepted;
};

/// Solvers stop at 1e-13 of their sources, energies are of order 1e4.
constexpr double kTolerance = 1e-9;

void check(const std::string& name, const std::vector<Update>& expected) {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  if (!tests::kDoubles) TESSERA_SKIP("residuals of 1e-13 need double precision");
  const tests::ScratchFolder folder("chroma_" + name);
  std::string text = tests::read_text(tests::data_file("chroma/" + name + ".xml"));
  const std::string prefix = "<SavePrefix>run<";
  const auto found = text.find(prefix);
  REQUIRE(found != std::string::npos);
  text.replace(found, prefix.size(), "<SavePrefix>" + folder.file("run") + "<");
  tests::run(tests::input(text), folder.file("data.xml"), folder.file("log.xml"));

  XMLReader data(folder.file("data.xml"));
  REQUIRE(data.count("/hmc/doHMC/MCUpdates/elem") == static_cast<int>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    const std::string trajectory = "/hmc/doHMC/MCUpdates/elem[" + std::to_string(i + 1) + "]/Update/HMCTrajectory/";
    double violation;
    bool accepted;
    read(data, trajectory + "deltaH", violation);
    read(data, trajectory + "AcceptP", accepted);
    CHECK(std::abs(violation - expected[i].violation) < kTolerance);
    CHECK(accepted == expected[i].accepted);
  }
}

}  // namespace

// A warm-up update, which is accepted whatever it costs, and two more.

TEST_CASE("Iwasaki gauge action: the second update is rejected as in Chroma") {
  check("iwasaki", {{1.88067647411663, true}, {0.661716405639481, false}, {1.00136083114398, true}});
}

TEST_CASE("two flavours of Wilson quarks, even-odd, with extrapolated guesses") {
  check("nf2_wilson", {{0.175324341515989, true}, {0.0412703402939769, true}, {0.049113789748958, true}});
}

TEST_CASE("two flavours of clover quarks: logarithm of a determinant, Hasenbusch's ratio, three time scales") {
  check("nf2_clover_hasenbusch", {{0.0614534394167094, true}, {-0.0196580584722597, true}, {0.0529469001126017, true}});
}

TEST_CASE("2+1 flavours of anisotropic clover quarks on smeared links with a rational approximation") {
  check("aniso_clover_2+1", {{0.40584134016899, true}, {0.0741261355778988, true}, {0.0107610625392454, true}});
}
