// Staggered quark actions by name.
#include "lib/dirac/fermion_action.hpp"
#include "lib/dirac/staggered.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/io/lattice.hpp"

namespace qcd {

using namespace QDP;

namespace {

std::shared_ptr<const StaggeredTypeAction> make_staggered(const Input& in, Preconditioning preconditioning) {
  require_checkerboard(in, "FermAct");
  StaggeredParameters parameters;
  parameters.mass = in.real("Mass");
  return std::make_shared<const OperatorAction<LatticeStaggeredFermion, StaggeredOperator, StaggeredParameters>>(
      read_fermion_state(in), parameters, preconditioning);
}

}  // namespace

const Table<std::shared_ptr<const StaggeredTypeAction>>& staggered_type_action_table() {
  static const Table<std::shared_ptr<const StaggeredTypeAction>> table(
      "a staggered quark action",
      {
          {"STAGGERED",
           "Mass, [FermState] or [FermionBC]: M = Mass + 1/2 sum eta (forward - backward), four tastes; "
           "pseudofermions on even sites",
           [](const Input& in) { return make_staggered(in, Preconditioning::even_source); }},
          {"UNPRECONDITIONED_STAGGERED",
           "Mass, [FermState] or [FermionBC]: the same on all sites, where M^+ M stands for eight tastes",
           [](const Input& in) { return make_staggered(in, Preconditioning::none); }},
      });
  return table;
}

}  // namespace qcd
