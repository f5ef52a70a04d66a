#include "lib/io/fermion_state.hpp"

#include "lib/io/boundary.hpp"
#include "lib/io/smearing.hpp"
#include "lib/smear/unitary.hpp"

#include <memory>
#include <numbers>

namespace qcd {

using namespace QDP;

namespace {

/// boundary: one factor per direction, for the links that leave the last slice.
FermionBoundary read_boundary(const Input& bc) {
  FermionBoundary boundary;
  const std::vector<double> factors = bc.reals("boundary", Nd);
  for (std::size_t mu = 0; mu < factors.size() && mu < Nd; ++mu)
    boundary.phases.boundary(static_cast<int>(mu), factors[mu]);
  return boundary;
}

FermionBoundary read_twisted(const Input& bc) {
  FermionBoundary boundary = read_boundary(bc);
  const std::vector<double> angles = bc.reals("phases_by_pi", Nd - 1);
  const std::vector<int> directions = bc.integers("phases_dir", Nd - 1, {0, Nd - 1});
  for (std::size_t i = 0; i < angles.size() && i < directions.size(); ++i)
    if (directions[i] >= 0 && directions[i] < Nd) boundary.phases.twist(directions[i], std::numbers::pi * angles[i]);
  return boundary;
}

auto schroedinger(SchroedingerField field) {
  return [field](const Input& bc) {
    const SchroedingerParameters p = read_schroedinger_parameters(bc, field);
    FermionBoundary boundary{std::make_shared<SchroedingerBoundary>(p), {}};
    if (!bc.has("theta")) return boundary;
    const std::vector<double> theta = bc.reals("theta", Nd - 1);
    int mu = 0;
    for (const double turns : theta) {
      if (mu == p.decay_dir) ++mu;
      if (mu < Nd) boundary.phases.twist(mu++, 2 * std::numbers::pi * turns);
    }
    return boundary;
  };
}

/// FermionBC or `boundary`; Chroma wants one of them.
FermionBoundary read_fermion_bc(const Input& group) {
  if (!group.has("FermionBC")) {
    if (group.has("boundary")) return read_boundary(group);
    group.error("FermionBC", "a group FermionBC{FermBC, ...} or a list boundary", "neither");
    return {};
  }
  const Input bc = group.group("FermionBC");
  const auto* row = fermion_bc_table().find(bc, "FermBC");
  return row ? row->make(bc) : FermionBoundary();
}

void read_imaginary_chemical_potential(const Input& group, PhaseMap& phases) {
  if (!group.has("ImaginaryChemicalPotential")) return;
  const Input mu = group.group("ImaginaryChemicalPotential");
  const int t_dir = mu.integer("t_dir", {0, Nd - 1}, Nd - 1);
  phases.twist(t_dir, mu.real("MuByT"));
}

void read_external_field(const Input& group, PhaseMap& phases) {
  if (!group.has("ExternalField")) return;
  for (const Input& field : group.elements("ExternalField")) {
    const std::vector<int> plane = field.integers("plane", 2, {0, Nd - 1});
    const int quanta = field.integer("quanta");
    if (plane.size() != 2) continue;
    if (plane[0] == plane[1])
      field.error("plane", "two different directions", std::to_string(plane[0]) + " twice");
    else
      phases.flux(plane[0], plane[1], quanta);
  }
}

}  // namespace

const Table<LinkMaps>& fermion_state_table() {
  static const Table<LinkMaps> table(
      "a fermion state", {
                             {"SIMPLE_FERM_STATE", "the links themselves", [](const Input&) { return LinkMaps(); }},
                             {"PERIODIC_FERM_STATE", "the links themselves, periodic; FermionBC is not read",
                              [](const Input&) { return LinkMaps(); }},
                             {"STOUT_FERM_STATE", std::string(kStoutSchema) + ": stout links", read_stout},
                             {"FAT_FERM_STATE", std::string(kFatLinksSchema) + ": sums of paths", read_fat_links},
                             {"HISQ_FERM_STATE", "the fat links of HISQ, without its Naik term",
                              [](const Input&) { return hisq_links(); }},
                         });
  return table;
}

const Table<FermionBoundary>& fermion_bc_table() {
  static const std::string schroedinger_schema =
      "SchrPhiMult, [loop_extent = 1], [decay_dir = Nd-1], [theta = 0 0 0]: quark fields vanish on the boundaries of "
      "the Schroedinger functional, whose links hold ";
  static const Table<FermionBoundary> table(
      "a fermion boundary condition",
      {
          {"SIMPLE_FERMBC", "boundary: Nd factors, 1 periodic, -1 antiperiodic", read_boundary},
          {"PERIODIC_FERMBC", "periodic in all directions", [](const Input&) { return FermionBoundary(); }},
          {"TWISTED_FERMBC",
           "boundary, phases_by_pi (Nd-1 numbers), phases_dir (Nd-1 directions): besides `boundary`, "
           "exp(i pi phases_by_pi[i] / L) on every link of direction phases_dir[i]",
           read_twisted},
          {"SCHROEDINGER_TRIVIAL_FERMBC",
           schroedinger_schema + "1; exp(2 pi i theta_k / L_k) on every link of the other directions, in their order",
           schroedinger(SchroedingerField::trivial)},
          {"SCHROEDINGER_NONPERT_FERMBC", schroedinger_schema + "the phases used for non-perturbative improvement",
           schroedinger(SchroedingerField::nonperturbative)},
          {"SCHROEDINGER_COUPLING_FERMBC", schroedinger_schema + "the phases used for the running coupling",
           schroedinger(SchroedingerField::coupling)},
          {"SCHROEDINGER_CHROMOMAG_FERMBC", schroedinger_schema + "a constant chromomagnetic field",
           schroedinger(SchroedingerField::chromomagnetic)},
          {"SCHROEDINGER_DIRICHLET_FERMBC", schroedinger_schema + "1, as the trivial ones",
           schroedinger(SchroedingerField::trivial)},
      });
  return table;
}

LinkMaps read_fermion_state(const Input& action) {
  const bool has_state = action.has("FermState");
  const Input group = has_state ? action.group("FermState") : action;
  LinkMaps maps;
  bool periodic = false;
  if (has_state)
    if (const auto* row = fermion_state_table().find(group)) {
      maps = row->make(group);
      periodic = row->name == "PERIODIC_FERM_STATE";
    }

  FermionBoundary boundary = periodic ? FermionBoundary() : read_fermion_bc(group);
  PhaseMap& phases = boundary.phases;
  read_imaginary_chemical_potential(group, phases);
  read_external_field(group, phases);
  if (boundary.fixed) maps = with_fixed_links(boundary.fixed, maps);
  if (!phases.trivial()) maps.push_back(std::make_shared<PhaseMap>(std::move(phases)));
  return maps;
}

std::string fermion_state_help() {
  return R"(Links of a fermion action, in its group FermionAction:
  [FermState{Name, ..., FermionBC{FermBC, ...}}], or FermionBC alone, or a bare list boundary; beside FermionBC
  [ImaginaryChemicalPotential{MuByT, [t_dir]}]     exp(i MuByT / L_t) on every link of direction t_dir
  [ExternalField{elem{plane, quanta}...}]          plane: two directions mu nu; a constant Abelian field with
                                                   2 pi quanta / (L_mu L_nu) through each plaquette; quanta counts
                                                   flux quanta times the quark's charge
)";
}

}  // namespace qcd
