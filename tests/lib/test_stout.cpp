// Stout smearing and the derivative of the exponential.
#include "lib/gauge/loop.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/smear/stout.hpp"
#include "tests/lib/link_maps.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

/// 3 P: the plaquette's trace averaged over the lattice.
double plaquette_trace(const GaugeField& u) {
  return toDouble(sum_real_trace(u, all_plaquettes())) / (6.0 * static_cast<double>(Layout::vol()));
}

/// su3_exp_pull_back by its Taylor series, sum_n sum_k x^k m x^(n-1-k) / n!.
LatticeColorMatrix series_pull_back(const LatticeColorMatrix& x, const LatticeColorMatrix& m) {
  LatticeColorMatrix power, term = m, total = m;  // x^n / n! and the sum over k: x^n alone overflows single precision
  power = Real(1);
  for (int n = 2; n < 60; ++n) {
    power = Real(1.0 / (n - 1)) * power * x;
    term = Real(1.0 / n) * (x * term + m * power);
    total += term;
  }
  return LatticeColorMatrix(taproj(total));
}

/// A random special unitary rotation of i diag(a, b, -a-b), one per site; of more than three colours the others have 0.
LatticeColorMatrix rotated_diagonal(double a, double b) {
  LatticeColorMatrix x = zero, g;
  const double entry[] = {a, b, -a - b};
  for (int c = 0; c < std::min(Nc, 3); ++c) pokeColor(x, LatticeComplex(cmplx(Real(0), Real(entry[c]))), c, c);
  gaussian(g);
  g = su3_exp(taproj(g));
  return LatticeColorMatrix(taproj(g * x * adj(g)));
}

void check_exponential(const LatticeColorMatrix& x) {
  LatticeColorMatrix m;
  gaussian(m);
  const LatticeColorMatrix expected = series_pull_back(x, m);
  CHECK(tests::distance(LatticeColorMatrix(su3_exp_pull_back(x, m)), expected) <
        base_tol(2e-14) * std::sqrt(toDouble(norm2(expected))));
}

std::vector<bool> without_time() {
  std::vector<bool> smear(Nd, true);
  smear.back() = false;
  return smear;
}

}  // namespace

TEST_CASE("the exponential's derivative agrees with its series from tiny to large arguments") {
  tests::use_lattice({4, 4, 4, 4});
  for (double size : {0.0, 1e-9, 1e-5, 1e-3, 5e-3, 1e-2, 0.015, 0.02, 0.03, 0.1, 0.3, 1.0, 2.0}) {
    CAPTURE(size);
    LatticeColorMatrix x;
    gaussian(x);
    x = taproj(Real(size) * x);
    check_exponential(x);
  }
}

TEST_CASE("the exponential's derivative is right where eigenvalues coincide or nearly do") {
  tests::use_lattice({2, 2, 4, 2});
  for (double a : {1e-4, 0.02, 0.3, -0.3, 1.5, -1.5})
    for (double gap : {0.0, 1e-12, 1e-8, 1e-5, 1e-2}) {
      CAPTURE(a);
      CAPTURE(gap);
      check_exponential(rotated_diagonal(a, a + gap));   // c0 of either sign, theta near 0
      check_exponential(rotated_diagonal(a, -a + gap));  // c0 near 0
    }
}

TEST_CASE("stout: plaquettes on conf.00200 from another code") {
  TESSERA_NEEDS_QCD("a file");
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  const LinkState once(u, stout_links(stout_weights(0.1), 1)), twice(u, stout_links(stout_weights(0.1), 2));
  CHECK(plaquette_trace(once.links()) == doctest::Approx(2.474838529).epsilon(base_tol(3e-10)));
  CHECK(plaquette_trace(twice.links()) == doctest::Approx(2.765812851).epsilon(base_tol(3e-10)));
  CHECK_NOTHROW(check_unitarity(twice.links()[3], "stout"));
}

TEST_CASE("stout: gauge covariance, and directions left out") {
  tests::use_lattice({2, 4, 2, 6});
  const GaugeField u = tests::random_field();
  tests::check_covariance(stout_links(stout_weights(0.12), 2), u);

  if (Nd == 2) return;  // one direction alone has no staples
  const GaugeField v = StoutLinks(stout_weights(0.1, without_time())).apply(u);
  CHECK(tests::distance(v[Nd - 1], u[Nd - 1]) == 0);
  // The spatial links do not see those in time.
  GaugeField other = u;
  other[Nd - 1] = tests::random_field()[Nd - 1];
  CHECK(tests::distance(StoutLinks(stout_weights(0.1, without_time())).apply(other)[1], v[1]) == 0);
  CHECK(tests::distance(v[1], u[1]) > 0.1);
}

TEST_CASE("stout: a direction has no staples with itself, whatever weight they are given") {
  tests::use_lattice({2, 4, 2, 2});
  const GaugeField u = tests::random_field();
  StoutWeights weights = stout_weights(0.1);
  for (std::size_t mu = 0; mu < Nd; ++mu) weights[mu][mu] = 0.2;
  const GaugeField v = StoutLinks(stout_weights(0.1)).apply(u), same = StoutLinks(weights).apply(u);
  for (int mu = 0; mu < Nd; ++mu) CHECK(tests::distance(same[mu], v[mu]) == 0);
  for (std::size_t mu = 0; mu < Nd; ++mu) std::fill(weights[mu].begin(), weights[mu].end(), mu == 0 ? 0.1 : 0.0);
  const GaugeField one = StoutLinks(weights).apply(u);
  CHECK(tests::distance(one[0], v[0]) == 0);
  CHECK(tests::distance(one[1], u[1]) == 0);
}

TEST_CASE("stout: the derivative is that of finite differences") {
  tests::use_lattice({4, 2, 2, 4});
  const GaugeField u = tests::random_field();
  tests::check_pull_back(stout_links(stout_weights(0.1), 1), u);
  tests::check_pull_back(stout_links(stout_weights(0.15), 3), u);
  tests::check_pull_back(stout_links(stout_weights(0.1, without_time()), 2), u);
  StoutWeights anisotropic = {{0, 0.1, 0.05, 0.02}, {0.03, 0, 0.2, 0}, {0.1, 0.1, 0, 0.07}, {0.01, 0.02, 0.3, 0}};
  anisotropic.resize(Nd);
  for (auto& row : anisotropic) row.resize(Nd);
  tests::check_pull_back(stout_links(anisotropic, 1), u);

  GaugeField smooth(Nd);
  weak_field_start(smooth);
  tests::check_pull_back(stout_links(stout_weights(0.1), 2), smooth);
  unit_start(smooth);
  tests::check_pull_back(stout_links(stout_weights(0.1), 2), smooth);
}

TEST_CASE("stout: inputs as Chroma's") {
  TESSERA_NEEDS_QCD("boundary conditions of four directions");
  tests::use_lattice({2, 2, 4, 2});
  const auto maps = [](const std::string& xml) {
    const InputFile document = tests::input("<FermionAction><FermState><Name>STOUT_FERM_STATE</Name>" + xml +
                                            "<FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary>"
                                            "</FermionBC></FermState></FermionAction>");
    const LinkMaps result = read_fermion_state(document.root());
    document.require_valid();
    return result;
  };
  const GaugeField u = tests::random_field();
  const auto expected = [&](const std::vector<bool>& smear, int steps) {
    LinkMaps result = stout_links(stout_weights(0.11, smear), steps);
    auto bc = std::make_shared<PhaseMap>();
    bc->boundary(3, -1);
    result.push_back(bc);
    return LinkState(u, result).links();
  };
  const auto read = [&](const std::string& xml) { return LinkState(u, maps(xml)).links(); };
  CHECK(tests::distance(read("<rho>0.11</rho><n_smear>2</n_smear>"), expected({true, true, true, true}, 2)) == 0);
  CHECK(tests::distance(read("<rho>0.11</rho><n_smear>1</n_smear><orthog_dir>3</orthog_dir>"),
                        expected({true, true, true, false}, 1)) == 0);
  CHECK(tests::distance(read("<version>2</version><rho>0.11</rho><n_smear>1</n_smear>"
                             "<smear_in_this_dirP>true false true true</smear_in_this_dirP>"),
                        expected({true, false, true, true}, 1)) == 0);

  CHECK_THROWS_WITH_AS(maps("<n_smear>1</n_smear>"), doctest::Contains("rho"), InputError);
  CHECK_THROWS_WITH_AS(maps("<rho>0.1</rho><n_smear>-1</n_smear>"), doctest::Contains("n_smear"), InputError);
  CHECK_THROWS_WITH_AS(maps("<rho>0.1</rho><n_smear>1</n_smear><smear_in_this_dirP>true</smear_in_this_dirP>"),
                       doctest::Contains("smear_in_this_dirP"), InputError);
}

TEST_CASE("stout: wrong use") {
  CHECK_THROWS_WITH_AS(StoutLinks(StoutWeights(Nd, {0.1})), doctest::Contains("rho"), ShapeError);
  CHECK_THROWS_WITH_AS(stout_links(stout_weights(0.1), -1), doctest::Contains("steps"), ShapeError);
  tests::use_lattice({2, 2, 2, 2});
  const GaugeField u = tests::random_field();
  for (const auto& pull_back :
       {std::function([&](GaugeField& g, const GaugeField& v) { StoutLinks(stout_weights(0.1)).pull_back(g, v); }),
        std::function(
            [&](GaugeField& g, const GaugeField& v) { FatLinks(staple_paths(stout_weights(0.1))).pull_back(g, v); })}) {
    GaugeField whole = u, few(Nd - 1);
    CHECK_THROWS_AS(pull_back(few, u), ShapeError);
    CHECK_THROWS_AS(pull_back(whole, few), ShapeError);
  }
}
