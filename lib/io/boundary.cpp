#include "lib/io/boundary.hpp"

#include "lib/gauge/phases.hpp"
#include "lib/io/smearing.hpp"

#include <algorithm>
#include <complex>

namespace qcd {

using namespace QDP;

namespace {

using MapPtr = std::shared_ptr<const LinkMap>;

/// boundary: Nd numbers, or Nd times elem{re, im}.
MapPtr read_phases(const Input& bc) {
  std::vector<std::complex<double>> factors;
  if (bc.has("boundary") && bc.group("boundary").has("elem")) {
    for (const Input& elem : bc.elements("boundary")) factors.emplace_back(elem.real("re"), elem.real("im"));
    if (factors.size() != static_cast<std::size_t>(Nd))
      bc.error("boundary", std::to_string(Nd) + " <elem>", std::to_string(factors.size()));
  } else {
    for (double factor : bc.reals("boundary", Nd)) factors.emplace_back(factor);
  }
  auto map = std::make_shared<PhaseMap>();
  for (int mu = 0; mu < std::min(Nd, static_cast<int>(factors.size())); ++mu)
    map->boundary(mu, factors[static_cast<std::size_t>(mu)]);
  return map->trivial() ? nullptr : map;
}

auto schroedinger_map(SchroedingerField field) {
  return [field](const Input& bc) -> MapPtr {
    return std::make_shared<SchroedingerBoundary>(read_schroedinger_parameters(bc, field));
  };
}

LinkMaps read_gauge_bc(const Input& group) {
  if (!group.has("GaugeBC")) return {};
  const Input bc = group.group("GaugeBC");
  const auto* row = gauge_boundary_table().find(bc);
  const MapPtr map = row ? row->make(bc) : nullptr;
  return map ? LinkMaps{map} : LinkMaps{};
}

LinkMaps read_stout_state(const Input& state) {
  LinkMaps maps = read_gauge_bc(state), smearing = read_stout(state);
  if (const auto fixed = find_schroedinger_boundary(maps)) return with_fixed_links(fixed, smearing);
  maps.insert(maps.end(), smearing.begin(), smearing.end());
  return maps;
}

}  // namespace

SchroedingerParameters read_schroedinger_parameters(const Input& bc, SchroedingerField field) {
  SchroedingerParameters p;
  p.field = field;
  p.phase_factor = bc.real("SchrPhiMult");
  p.loop_extent = bc.integer("loop_extent", {1, 2}, p.loop_extent);
  p.decay_dir = bc.integer("decay_dir", {0, Nd - 1}, p.decay_dir);
  return p;
}

const Table<MapPtr>& gauge_boundary_table() {
  static const std::string schroedinger_schema = "SchrPhiMult, [loop_extent = 1], [decay_dir = Nd-1]: ";
  static const Table<MapPtr> table(
      "a gauge boundary condition",
      {
          {"PERIODIC_GAUGEBC", "periodic links", [](const Input&) -> MapPtr { return nullptr; }},
          {"SIMPLE_GAUGEBC", "boundary{Nd numbers, or elem{re, im}...}: factors on the last plane of each direction",
           read_phases},
          {"SCHROEDINGER_TRIVIAL_GAUGEBC",
           schroedinger_schema + "Schroedinger functional with links 1 on its boundaries",
           schroedinger_map(SchroedingerField::trivial)},
          {"SCHROEDINGER_NONPERT_GAUGEBC", schroedinger_schema + "with those used for non-perturbative improvement",
           schroedinger_map(SchroedingerField::nonperturbative)},
          {"SCHROEDINGER_COUPLING_GAUGEBC", schroedinger_schema + "with those used for the running coupling",
           schroedinger_map(SchroedingerField::coupling)},
          {"SCHROEDINGER_CHROMOMAG_GAUGEBC", schroedinger_schema + "with a constant chromomagnetic field",
           schroedinger_map(SchroedingerField::chromomagnetic)},
          {"SCHROEDINGER_DIRICHLET_GAUGEBC", schroedinger_schema + "with links 1, as the trivial ones",
           schroedinger_map(SchroedingerField::trivial)},
          {"SCHROEDINGER_ZERO_GAUGEBC", schroedinger_schema + "with links 0",
           schroedinger_map(SchroedingerField::zero)},
      });
  return table;
}

const Table<LinkMaps>& gauge_state_table() {
  static const Table<LinkMaps> table(
      "a gauge state",
      {
          {"SIMPLE_GAUGE_STATE", "[GaugeBC{Name, ...}]: the links with their boundary condition", read_gauge_bc},
          {"PERIODIC_GAUGE_STATE", "the links as they are", [](const Input&) { return LinkMaps{}; }},
          {"STOUT_GAUGE_STATE", std::string(kStoutSchema) + ", [GaugeBC]: stout links of those", read_stout_state},
      });
  return table;
}

LinkMaps read_gauge_state(const Input& group) {
  if (!group.has("GaugeState")) return read_gauge_bc(group);
  const Input state = group.group("GaugeState");
  const auto* row = gauge_state_table().find(state);
  return row ? row->make(state) : LinkMaps{};
}

void require_periodic_gauge_state(const Input& group) {
  if (!read_gauge_state(group).empty())
    group.error(group.has("GaugeState") ? "GaugeState" : "GaugeBC", "periodic links",
                "another boundary condition or smearing");
}

}  // namespace qcd
