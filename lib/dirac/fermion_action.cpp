#include "lib/dirac/fermion_action.hpp"

#include "lib/dirac/clover.hpp"
#include "lib/dirac/twisted_mass.hpp"
#include "lib/io/anisotropy.hpp"
#include "lib/io/fermion_state.hpp"
#include "lib/io/lattice.hpp"

namespace qcd {

using namespace QDP;

namespace {

using WilsonRow = Table<std::shared_ptr<const WilsonTypeAction>>::Row;

/// Mass xor Kappa. Kappa is that of the isotropic action: m = 1/(2 kappa) - Nd.
double read_mass(const Input& action) {
  if (action.has("Mass") == action.has("Kappa")) {
    action.error("Mass", "either Mass or Kappa", action.has("Mass") ? "both" : "neither");
    return 0;
  }
  return action.has("Mass") ? action.real("Mass") : 1 / (2 * action.real("Kappa", positive_below(1000))) - Nd;
}

constexpr const char* kWilson =
    "Mass or Kappa, [AnisoParam{anisoP, t_dir, xi_0, [nu = 1]}], [FermState] or [FermionBC]: ";

WilsonParameters read_wilson(const Input& action) {
  return {.mass = read_mass(action), .aniso = read_anisotropy<FermionAnisotropy>(action)};
}

constexpr const char* kClover =
    "Mass or Kappa, clovCoeff, or clovCoeffR and clovCoeffT with [AnisoParam{anisoP, t_dir, xi_0, [nu = 1]}], [u0, "
    "MaxNorm "
    "(read, of no effect: clovCoeff is taken as it stands)], [TwistedM = 0 (adds i TwistedM gamma_5 to the "
    "preconditioned "
    "operator)], [FermState] or [FermionBC]: ";

CloverParameters read_clover(const Input& action) {
  CloverParameters p{.wilson = read_wilson(action)};
  if (p.wilson.aniso.on) {
    p.coeff_r = action.real("clovCoeffR");
    p.coeff_t = action.real("clovCoeffT");
  } else {
    p.coeff_r = p.coeff_t = action.real("clovCoeff");
  }
  action.real("u0", {}, 1);
  action.real("MaxNorm", {}, 0);
  return p;
}

/// TwistedMass xor TwoKappaMu = 2 kappa mu.
double read_twisted_mass(const Input& action, double mass) {
  if (action.has("TwistedMass") == action.has("TwoKappaMu")) {
    action.error("TwistedMass", "either TwistedMass or TwoKappaMu", action.has("TwistedMass") ? "both" : "neither");
    return 0;
  }
  return action.has("TwistedMass") ? action.real("TwistedMass") : action.real("TwoKappaMu") * (Nd + mass);
}

constexpr const char* kTwistedMass =
    "Mass or Kappa, TwistedMass (mu) or TwoKappaMu (2 kappa mu), [FermState] or [FermionBC]: D + i mu gamma_5, "
    "two-flavour "
    "monomials being the doublet +-mu, ";

TwistedMassParameters read_twisted_wilson(const Input& action) {
  const double mass = read_mass(action);
  return {.wilson = {.mass = mass}, .mu = read_twisted_mass(action, mass)};
}

CloverParameters read_twisted_clover(const Input& action) {
  const double mass = read_mass(action), c = action.real("clovCoeff");
  return {.wilson = {.mass = mass}, .coeff_r = c, .coeff_t = c, .mu = read_twisted_mass(action, mass)};
}

constexpr const char* kParWilson = "Mass or Kappa, H, [FermState] or [FermionBC]: Wilson + i H gamma_5, ";

TwistedMassParameters read_parity_breaking(const Input& action) {
  return {.wilson = {.mass = read_mass(action)}, .mu = action.real("H")};
}

/// A row of the table; `twist` names the element with the action's twist(), if it has one.
template <template <class> class Operator, class Parameters>
WilsonRow row(const char* name, Preconditioning preconditioning, const char* schema, const char* about,
              Parameters (*read)(const Input&), const char* twist = nullptr) {
  return {name, std::string(schema) + about,
          [=](const Input& in) {
            if (preconditioning != Preconditioning::none)
              require_checkerboard(in, "FermAct", "an action on all sites (UNPRECONDITIONED_...)");
            return std::make_shared<const OperatorAction<LatticeFermion, Operator, Parameters>>(
                read_fermion_state(in), read(in), preconditioning, twist ? in.real(twist, {}, 0) : 0);
          },
          lacks_unless(Nd == 4 || !std::is_same_v<Parameters, CloverParameters>, "four dimensions")};
}

}  // namespace

const Table<std::shared_ptr<const WilsonTypeAction>>& wilson_type_action_table() {
  constexpr auto none = Preconditioning::none, even_odd = Preconditioning::even_odd,
                 symmetric = Preconditioning::symmetric_even_odd;
  static const Table<std::shared_ptr<const WilsonTypeAction>> table(
      "a quark action",
      {
          row<WilsonOperator>("WILSON", even_odd, kWilson, "Wilson, even-odd preconditioned", read_wilson),
          row<WilsonOperator>("UNPRECONDITIONED_WILSON", none, kWilson, "Wilson on all sites", read_wilson),
          row<CloverOperator>("CLOVER", even_odd, kClover, "Wilson-clover, even-odd preconditioned", read_clover,
                              "TwistedM"),
          row<CloverOperator>("SEOPREC_CLOVER", symmetric, kClover,
                              "Wilson-clover, symmetrically even-odd preconditioned", read_clover, "TwistedM"),
          row<CloverOperator>("UNPRECONDITIONED_CLOVER", none, kClover, "Wilson-clover on all sites", read_clover,
                              "TwistedM"),
          row<TwistedMassOperator>("PARWILSON", even_odd, kParWilson, "even-odd preconditioned", read_parity_breaking),
          row<TwistedMassOperator>("UNPRECONDITIONED_PARWILSON", none, kParWilson, "on all sites",
                                   read_parity_breaking),
          row<TwistedMassOperator>("TWISTED_MASS", even_odd, kTwistedMass, "even-odd preconditioned",
                                   read_twisted_wilson),
          row<TwistedMassOperator>("UNPRECONDITIONED_TWISTED_MASS", none, kTwistedMass, "on all sites",
                                   read_twisted_wilson),
          row<CloverOperator>("TWISTED_MASS_CLOVER", even_odd, kTwistedMass,
                              "with the clover term of clovCoeff, even-odd preconditioned", read_twisted_clover),
          row<CloverOperator>("SEOPREC_TWISTED_MASS_CLOVER", symmetric, kTwistedMass,
                              "with the clover term of clovCoeff, symmetrically even-odd preconditioned",
                              read_twisted_clover),
      });
  return table;
}

}  // namespace qcd
