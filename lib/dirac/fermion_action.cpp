#include "lib/dirac/fermion_action.hpp"

#include "lib/dirac/wilson.hpp"
#include "lib/io/fermion_state.hpp"

namespace qcd {

using namespace QDP;

namespace {

using WilsonRow = Table<std::shared_ptr<const WilsonTypeAction>>::Row;

/// [AnisoParam {anisoP, t_dir, xi_0, [nu = 1]}].
FermionAnisotropy read_fermion_anisotropy(const Input& action) {
  FermionAnisotropy aniso;
  if (!action.has("AnisoParam")) return aniso;
  const Input group = action.group("AnisoParam");
  aniso.on = group.flag("anisoP");
  if (aniso.on) {
    aniso.t_dir = group.integer("t_dir", {0, Nd - 1});
    aniso.xi_0 = group.real("xi_0", positive());
    aniso.nu = group.real("nu", {}, 1);
  }
  return aniso;
}

/// Mass xor Kappa, [AnisoParam]. Kappa is that of the isotropic action: m = 1/(2 kappa) - Nd.
WilsonParameters read_wilson(const Input& action) {
  WilsonParameters p;
  if (action.has("Mass") == action.has("Kappa"))
    action.error("Mass", "either Mass or Kappa", action.has("Mass") ? "both" : "neither");
  else
    p.mass = action.has("Mass") ? action.real("Mass") : 1 / (2 * action.real("Kappa", positive())) - Nd;
  p.aniso = read_fermion_anisotropy(action);
  return p;
}

constexpr const char* kWilson = "Mass or Kappa, [AnisoParam{anisoP, t_dir, xi_0, [nu = 1]}], [FermState] or [FermionBC]: ";

WilsonRow wilson_row(const char* name, Preconditioning preconditioning, const char* about) {
  return {name, std::string(kWilson) + about, [preconditioning](const Input& in) {
            return std::make_shared<const OperatorAction<LatticeFermion, WilsonOperator, WilsonParameters>>(
                read_fermion_state(in), read_wilson(in), preconditioning);
          }};
}

}  // namespace

const Table<std::shared_ptr<const WilsonTypeAction>>& wilson_type_action_table() {
  static const Table<std::shared_ptr<const WilsonTypeAction>> table(
      "a quark action", {
                            wilson_row("WILSON", Preconditioning::even_odd, "Wilson, even-odd preconditioned"),
                            wilson_row("UNPRECONDITIONED_WILSON", Preconditioning::none, "Wilson on all sites"),
                        });
  return table;
}

}  // namespace qcd
