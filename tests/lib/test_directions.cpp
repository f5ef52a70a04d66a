// Measurements do not know how directions are numbered: with those of the lattice, the links and the input renumbered alike,
// every number stays. The files of other programs, whose time is the last direction, settle one numbering; this the others.

#include "tests/lib/measurements.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/lib/plain.hpp"
#include "tests/lib/sites.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::measurement;
using tests::Output;
using tests::tag;

namespace {

/// Direction mu is called mu + by, modulo four.
struct Numbering {
  int by = 0;

  int of(int mu) const { return (mu + by) % 4; }
  std::string name(int mu) const { return std::to_string(of(mu)); }
  template <class T>
  std::array<T, 4> list(const std::array<T, 4>& x) const {
    std::array<T, 4> y;
    for (int mu = 0; mu < 4; ++mu) y[static_cast<std::size_t>(of(mu))] = x[static_cast<std::size_t>(mu)];
    return y;
  }
  std::string names(const std::array<int, 4>& x) const {
    std::string text;
    for (const int n : list(x)) text += std::to_string(n) + ' ';
    return text;
  }
  /// (-1)^by: what the epsilon tensor is multiplied by.
  double parity() const { return by % 2 == 0 ? 1 : -1; }
};

/// The same links on the renumbered lattice, which becomes the present one.
GaugeField renumbered(const reference::Links& plain, const Numbering& n) {
  const reference::Coordinates extents = n.list(plain.extents());
  tests::use_lattice({extents.begin(), extents.end()});
  GaugeField u(Nd);
  unit_start(u);
  for (int x = 0; x < plain.volume(); ++x) {
    const int at = tests::index_here(tests::number_of(tests::as_site(n.list(plain.coordinates(x)))));
    if (at < 0) continue;
    for (int mu = 0; mu < Nd; ++mu)
      for (int i = 0; i < Nc; ++i)
        for (int j = 0; j < Nc; ++j) {
          const reference::Complex z = plain.at(x, mu)[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)];
          auto& to = u[n.of(mu)].elem(at).elem().elem(i, j);
          to.real() = static_cast<REAL>(z.real());
          to.imag() = static_cast<REAL>(z.imag());
        }
  }
  return u;
}

/// What a measurement found, by name.
using Numbers = std::map<std::string, std::vector<double>>;

/// The numbers that `measure` finds are the same in each numbering.
void check_numberings(const std::vector<int>& extents,
                      const std::function<Numbers(const GaugeField&, const Numbering&)>& measure, double tolerance) {
  tests::use_lattice(extents);
  GaugeField start(Nd);
  weak_field_start(start);
  LatticeColorMatrix g;
  const reference::Links plain = tests::plain_links(tests::gauge_transformed(start, g));
  const Numbers first = measure(renumbered(plain, {0}), {0});
  REQUIRE(!first.empty());
  for (int by = 1; by < 4; ++by) {
    CAPTURE(by);
    const Numbers again = measure(renumbered(plain, {by}), {by});
    REQUIRE(again.size() == first.size());
    for (const auto& [name, values] : first) {
      CAPTURE(name);
      REQUIRE(again.contains(name));
      REQUIRE(again.at(name).size() == values.size());
      double size = 0, largest = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        size = std::max(size, std::fabs(values[i]));
        largest = std::max(largest, std::fabs(values[i] - again.at(name)[i]));
      }
      CHECK(size > 0);
      CHECK(largest <= tests::base_tol(tolerance) * size);
    }
  }
}

std::string ids(const std::string& names) { return tag("NamedObject", names); }
const std::string kGauge = tag("gauge_id", "default_gauge_field");

/// The numbers of one element after the other, such as all lists <loop> of a table.
std::vector<double> all_of(Output& xml, const std::string& path, const std::string& within = "") {
  std::vector<double> list;
  for (int k = 1; k <= xml.count(path); ++k) {
    const std::vector<double> more = xml.numbers("(" + path + ")[" + std::to_string(k) + "]" + within);
    list.insert(list.end(), more.begin(), more.end());
  }
  return list;
}

std::string ape(const Numbering& n) {
  return tag("LinkSmearingType", "APE_SMEAR") + tag("link_smear_fact", "2.5") + tag("link_smear_num", "2") +
         tag("no_smear_dir", n.name(3)) + tag("BlkAccu", "1e-20");
}

}  // namespace

TEST_CASE("flows, whichever direction is time, and with some that do not flow") {
  check_numberings(
      {4, 2, 6, 8},
      [](const GaugeField& u, const Numbering& n) {
        const auto flow = [&](const std::string& version) {
          return measurement("WILSON_FLOW",
                             tag("Param", version + tag("nstep", "4") + tag("wtime", "0.4") + tag("t_dir", n.name(3))) +
                                 ids(tag("gauge_in", "default_gauge_field")));
        };
        const std::string improved =
            tag("Name", "LW_TREE_GAUGEACT") + tag("beta", "1.2") + tag("u0", "0.9") +
            tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", n.name(3)) + tag("xi_0", "1.7"));
        Output xml(tests::run_measurements(
            flow(tag("version", "1")) + flow(tag("version", "2") + tag("smear_dirs", n.names({1, 0, 1, 1}))) +
                measurement("GRADIENT_FLOW", tag("Param", tag("nstep", "3") + tag("eps", "0.05") +
                                                              tag("t_dir", n.name(1)) + tag("GaugeAction", improved)) +
                                                 ids(tag("gauge_in", "default_gauge_field"))),
            u));
        Numbers found;
        for (const char* column : {"wflow_gact4i", "wflow_gactij", "t2E_plaquette", "t2E_clover", "qtop"})
          found[column] = all_of(xml, std::string("//wilson_flow_results/") + column);
        for (double& q : found["qtop"]) q *= n.parity();
        return found;
      },
      1e-9);
}

TEST_CASE("Wilson loops in time and off the axes") {
  check_numberings(
      {4, 4, 4, 6},
      [](const GaugeField& u, const Numbering& n) {
        Output xml(tests::run_measurements(
            measurement("WILSLP", tag("Param", tag("version", "3") + tag("kind", "6") + tag("j_decay", n.name(3)) +
                                                   tag("t_dir", n.name(3))) +
                                      ids(kGauge)),
            u));
        return Numbers{{"planar", all_of(xml, "//wloop2/elem/loop")}, {"off axis", all_of(xml, "//wloop3/elem/loop")}};
      },
      1e-11);
}

TEST_CASE("links smeared in some directions, and their loops") {
  check_numberings(
      {4, 2, 6, 4},
      [](const GaugeField& u, const Numbering& n) {
        const std::string smearings[] = {ape(n),
                                         tag("LinkSmearingType", "HYP_SMEAR") + tag("alpha1", "0.7") +
                                             tag("alpha2", "0.6") + tag("alpha3", "0.3") +
                                             tag("no_smear_dir", n.name(1)) + tag("BlkAccu", "1e-20"),
                                         tag("LinkSmearingType", "STOUT_SMEAR") + tag("link_smear_fact", "0.1") +
                                             tag("link_smear_num", "2") + tag("smear_dirs", n.names({1, 1, 0, 1}))};
        std::string list;
        int count = 0;
        for (const std::string& smearing : smearings) {
          const std::string id = "smeared" + std::to_string(count++);
          list += measurement("LINK_SMEAR", tag("Param", smearing) + ids(kGauge + tag("linksmear_id", id))) +
                  measurement("PLAQUETTE", ids(tag("gauge_id", id))) +
                  measurement("POLYAKOV_LOOP", ids(tag("gauge_id", id)));
        }
        Output xml(tests::run_measurements(list, u));
        Numbers found;
        found["plaquette"] = all_of(xml, "//Plaquette/w_plaq");
        for (int mu = 0; mu < 4; ++mu) {
          const std::string loop = "//poly_loop/elem[" + std::to_string(n.of(mu) + 1) + "]/re";
          found["loop " + std::to_string(mu)] = all_of(xml, loop);
          for (int nu = 0; nu < mu; ++nu) {
            const int a = std::min(n.of(mu), n.of(nu)), b = std::max(n.of(mu), n.of(nu));
            found["plane " + std::to_string(nu) + std::to_string(mu)] =
                all_of(xml, "//Plaquette/plane_" + std::to_string(a) + std::to_string(b) + "_plaq");
          }
        }
        return found;
      },
      1e-9);
}

TEST_CASE("Coulomb gauge in slices across any direction") {
  check_numberings(
      {4, 2, 6, 8},
      [](const GaugeField& u, const Numbering& n) {
        Output xml(tests::run_measurements(
            measurement("COULOMB_GAUGEFIX",
                        tag("Param", tag("version", "1") + tag("GFAccu", "1e-30") + tag("GFMax", "40") +
                                         tag("OrDo", "true") + tag("OrPara", "1.6") + tag("j_decay", n.name(3))) +
                            ids(kGauge + tag("gfix_id", "fixed") + tag("gauge_rot_id", "rotation"))),
            u));
        return Numbers{{"functional", {xml.number("//functional")}},
                       {"theta", {xml.number("//theta")}},
                       {"link", {xml.number("//Gfix_observables/link")}}};
      },
      1e-8);
}

TEST_CASE("pions of anisotropic clover quarks, smeared and displaced, and of staggered ones, along any direction") {
  TESSERA_NEEDS_DOUBLES("propagators to eight digits");
  check_numberings(
      {4, 2, 6, 8},
      [](const GaugeField& u, const Numbering& n) {
        const std::string decay = tag("j_decay", n.name(3)), site = tag("t_srce", n.names({1, 1, 4, 5}));
        const std::string gaussian =
            tag("SmearingParam", tag("wvf_kind", "GAUGE_INV_GAUSSIAN") + tag("wvf_param", "1.5") +
                                     tag("wvfIntPar", "3") + tag("no_smear_dir", n.name(3)));
        const std::string displaced = tag("Displacement", tag("DisplacementType", "SIMPLE_DISPLACEMENT") +
                                                              tag("disp_length", "1") + tag("disp_dir", n.name(2)));
        const std::string boundary =
            tag("FermionBC", tag("FermBC", "SIMPLE_FERMBC") + tag("boundary", n.names({1, -1, 1, -1})));
        const std::string invert = tests::inverter("1.0e-13");
        const auto quark = [&](const std::string& suffix, const std::string& source, const std::string& action,
                               const std::string& name) {
          return measurement("MAKE_SOURCE" + suffix, tag("Param", tag("version", "6") + tag("Source", source + decay)) +
                                                         ids(kGauge + tag("source_id", name + "_source"))) +
                 measurement("PROPAGATOR" + suffix,
                             tag("Param", tag("version", "10") + tag("FermionAction", action) + invert) +
                                 ids(kGauge + tag("source_id", name + "_source") + tag("prop_id", name)));
        };
        const auto sink = [&](const std::string& type, const std::string& more, const std::string& name) {
          return measurement("SINK_SMEAR",
                             tag("Param", tag("version", "5") + tag("Sink", tag("SinkType", type) + decay + more)) +
                                 ids(kGauge + tag("prop_id", "clover") + tag("smeared_prop_id", name)));
        };
        const std::string clover =
            tag("FermAct", "CLOVER") + tag("Mass", "0.2") + tag("clovCoeffR", "1.1") + tag("clovCoeffT", "0.8") +
            tag("AnisoParam", tag("anisoP", "true") + tag("t_dir", n.name(3)) + tag("xi_0", "2.1") + tag("nu", "0.9")) +
            tag("FermState", tag("Name", "STOUT_FERM_STATE") + tag("rho", "0.1") + tag("n_smear", "1") +
                                 tag("orthog_dir", n.name(3)) + boundary);
        std::string pairs;
        for (const char* name : {"clover", "wall", "shell"})
          pairs += tag("elem", tag("first_id", name) + tag("second_id", name));
        Output xml(tests::run_measurements(
            quark("", tag("SourceType", "SHELL_SOURCE") + site + gaussian + displaced + tag("LinkSmearing", ape(n)),
                  clover, "clover") +
                sink("WALL_SINK", "", "wall") + sink("SHELL_SINK", gaussian + tag("LinkSmearing", ape(n)), "shell") +
                measurement("HADRON_SPECTRUM",
                            tag("Param", tag("version", "1") + tag("MesonP", "true") + tag("BaryonP", "false") +
                                             tag("mom2_max", "0") + tag("avg_equiv_mom", "true")) +
                                ids(kGauge + tag("sink_pairs", pairs))) +
                quark("_STAG", tag("SourceType", "POINT_SOURCE") + site,
                      tag("FermAct", "STAGGERED") + tag("Mass", "0.3") + boundary, "staggered") +
                measurement("SPECTRUM_STAG", ids(tag("prop_id", "staggered"))),
            u));
        Numbers found;
        found["staggered"] = all_of(xml, "//goldstone_pion");
        for (const char* kind : {"Point", "Wall", "Shell"})
          found[kind] =
              all_of(xml, std::string("//Shell_") + kind + "_Wilson_Mesons/elem[16]/momenta/elem/mesprop/elem/re");
        return found;
      },
      1e-8);
}
