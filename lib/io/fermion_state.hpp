// The links that a quark action acts on, as an input describes them: smearing, then boundary conditions and phases.
#pragma once

#include "lib/gauge/boundary.hpp"
#include "lib/gauge/phases.hpp"
#include "lib/io/table.hpp"

#include <string>

namespace qcd {

/// FermState/Name -> the maps from U to the links before boundary conditions.
const Table<LinkMaps>& fermion_state_table();

/// What a FermionBC asks for.
struct FermionBoundary {
  std::shared_ptr<const SchroedingerBoundary> fixed;  ///< null but in the Schroedinger functional
  PhaseMap phases;
};
/// FermionBC/FermBC -> boundary condition.
const Table<FermionBoundary>& fermion_bc_table();

/// Reads from a FermionAction group: [FermState{Name, ...}] with, inside it or without it, FermionBC{FermBC, ...} or a
/// bare list `boundary`, and the optional groups of fermion_state_help().
LinkMaps read_fermion_state(const Input& action);

/// How it looks in an input, for --help.
std::string fermion_state_help();

}  // namespace qcd
