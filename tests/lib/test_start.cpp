// Start fields and momenta: the random numbers are Chroma's, link by link.

#include "lib/hmc/hamiltonian.hpp"
#include "lib/meas/glue.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/mpirun.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

double start_kinetic_energy(void (*start)(GaugeField&), const std::vector<int>& lattice) {
  tests::use_lattice(lattice);
  GaugeField u(Nd), p(Nd);
  start(u);
  refresh_momenta(p);
  return toDouble(kinetic_energy(p));
}

}  // namespace

TEST_CASE("the kinetic energy after each start is Chroma's") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  struct Case {
    void (*start)(GaugeField&);
    std::vector<int> lattice;
    double energy;
  };
  int tried = 0;
  for (const auto& [start, lattice, energy] :
       {Case{unit_start, {4, 4, 4, 4}, -9.97478824149188}, Case{unit_start, {4, 4, 4, 8}, 71.0251442444115},
        Case{unit_start, {2, 2, 2, 2}, 11.9513880870327}, Case{weak_field_start, {4, 4, 4, 8}, 16.9050713506589},
        Case{weak_field_start, {2, 2, 2, 2}, -8.55253158480843}, Case{disordered_start, {2, 2, 2, 2}, 19.0795919216023},
        Case{disordered_start, {4, 4, 4, 8}, -143.540399830926}}) {
    if (!tests::can_share_out(lattice.data())) continue;
    CHECK(start_kinetic_energy(start, lattice) == doctest::Approx(energy).epsilon(base_tol(1e-12)));
    ++tried;
  }
  CHECK(tried > 0);
}

TEST_CASE("starts lie in SU(3): unit is exact, the others to rounding") {
  tests::use_lattice({4, 2, 2, 4});
  GaugeField u(Nd);
  unit_start(u);
  CHECK(toDouble(average_plaquette(u)) == doctest::Approx(1).epsilon(base_tol(1e-15)));
  for (auto* start : {weak_field_start, disordered_start}) {
    start(u);
    for (int mu = 0; mu < Nd; ++mu) CHECK(toDouble(globalMax(LatticeReal(su3_defect(u[mu])))) < base_tol(1e-13));
  }
}

TEST_CASE("a weak field is near the unit field, and a disordered one is not, for every number of colours") {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  const double weak = toDouble(average_plaquette(u));
  CHECK(weak < 0.9995);
  CHECK(weak > 0.98);
  disordered_start(u);
  CHECK(std::fabs(toDouble(average_plaquette(u))) < 0.5);
}

TEST_CASE("the weak field's plaquette and link are Chroma's") {
  TESSERA_NEEDS_QCD("Chroma's numbers");
  tests::use_lattice({4, 4, 4, 8});
  GaugeField u(Nd);
  weak_field_start(u);
  const Plaquettes p = measure_plaquettes(u);
  // The reference run was in single precision.
  CHECK(toDouble(p.average) == doctest::Approx(0.994764811229996).epsilon(3e-7));
  CHECK(toDouble(p.link) == doctest::Approx(0.379317688096).epsilon(3e-7));
}

TEST_CASE("WEAK_FIELD with seed 11 11 11 0 is the field of weak_field.lime") {
  TESSERA_NEEDS_QCD("a file");
  const std::string file = tests::data_file("weak_field.lime");
  tests::use_lattice({4, 4, 4, 8});
  const GaugeField reference = tests::read_field("SCIDAC", file);
  RNG::setrn(make_seed({11, 11, 11, 0}));
  GaugeField u(Nd);
  weak_field_start(u);
  for (int mu = 0; mu < Nd; ++mu)
    CHECK(toDouble(globalMax(LatticeReal(localNorm2(u[mu] - reference[mu])))) < base_tol(1e-12));
}

TEST_CASE("momenta are unit Gaussians in every generator: in SU(3) <|P|^2> = 4 per link") {
  tests::use_lattice({8, 8, 8, 8});
  GaugeField p(Nd);
  refresh_momenta(p);
  const double links = static_cast<double>(Nd * Layout::vol());
  // |P|^2 = chi^2 with 8 degrees of freedom over 2: mean 4, variance 4 per link.
  CHECK(std::fabs(toDouble(kinetic_energy(p))) < 4 * std::sqrt(kGenerators / 2.0 * links));
  for (int mu = 0; mu < Nd; ++mu) CHECK(tests::distance(LatticeColorMatrix(taproj(p[mu])), p[mu]) < base_tol(1e-10));
}
