#include "lib/action/gauge_actions.hpp"

#include "lib/io/input.hpp"

namespace qcd {

using namespace QDP;

namespace {

std::vector<WeightedPath> joined(std::vector<WeightedPath> a, const std::vector<WeightedPath>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// All plaquettes, temporal and spatial ones weighted by the anisotropy.
std::vector<WeightedPath> plaquettes(double coefficient, const Anisotropy& aniso) {
  std::vector<WeightedPath> loops = all_plaquettes(coefficient);
  for (auto& [path, weight] : loops) weight *= aniso.factor(path[0].mu, path[1].mu);
  return loops;
}

/// [AnisoParam {anisoP, t_dir, xi_0}], isotropic where absent or anisoP is false.
Anisotropy read_anisotropy(const Input& action) {
  Anisotropy aniso;
  if (!action.has("AnisoParam")) return aniso;
  const Input group = action.group("AnisoParam");
  aniso.on = group.flag("anisoP");
  if (aniso.on) {
    aniso.t_dir = group.integer("t_dir", {0, Nd - 1});
    aniso.xi_0 = group.real("xi_0", positive());
  }
  return aniso;
}

/// coeffs: <elem> rows of Nd numbers, symmetric in mu and nu; the diagonal is not used.
LoopAction read_plaquette_matrix(const Input& action) {
  std::vector<WeightedPath> loops;
  const std::vector<Input> rows = action.elements("coeffs");
  if (static_cast<int>(rows.size()) != Nd) {
    action.error("coeffs", "one <elem> of " + std::to_string(Nd) + " numbers per direction",
                 std::to_string(rows.size()) + " <elem>");
    return LoopAction();
  }
  std::vector<std::vector<double>> c;
  for (const Input& row : rows) c.push_back(row.reals("", Nd));
  for (std::size_t mu = 0; mu < Nd; ++mu)
    for (std::size_t nu = 0; nu < mu; ++nu) {
      if (c[mu][nu] != c[nu][mu])
        action.error("coeffs", "a symmetric matrix",
                     std::to_string(c[mu][nu]) + " and " + std::to_string(c[nu][mu]) + " for directions " +
                         std::to_string(mu) + ", " + std::to_string(nu));
      loops.push_back({plaquette_loop(static_cast<int>(mu), static_cast<int>(nu)), c[mu][nu]});
    }
  return LoopAction(std::move(loops));
}

/// Rectangles with one coefficient, or anisotropic ones: coeff_t1 where the long side is temporal, coeff_t2 where the
/// short side is, coeff_s in space.
LoopAction read_rectangles(const Input& action) {
  const Anisotropy aniso = read_anisotropy(action);
  double spatial, long_temporal, short_temporal;
  if (aniso.on) {
    spatial = action.real("coeff_s");
    long_temporal = action.real("coeff_t1");
    short_temporal = action.real("coeff_t2");
  } else {
    spatial = long_temporal = short_temporal = action.real("coeff");
  }
  if (action.flag("no_temporal_2link", false)) long_temporal = 0;

  std::vector<WeightedPath> loops;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu) {
      if (nu == mu) continue;
      const double c = mu == aniso.t_dir ? long_temporal : nu == aniso.t_dir ? short_temporal : spatial;
      loops.push_back({rectangle_loop(mu, nu), c * aniso.factor(mu, nu)});
    }
  return LoopAction(std::move(loops));
}

}  // namespace

LoopAction wilson_action(double beta, const Anisotropy& aniso) { return LoopAction(plaquettes(beta, aniso)); }

LoopAction improved_action(double beta, double c1) {
  return LoopAction(joined(all_plaquettes(beta * (1 - 8 * c1)), all_rectangles(beta * c1)));
}

const Table<LoopAction>& gauge_action_table() {
  static const Table<LoopAction> table(
      "a gauge action",
      {
          {"WILSON_GAUGEACT", "beta, [AnisoParam{anisoP, t_dir, xi_0}]: S = -beta/Nc sum Re tr P",
           [](const Input& in) { return wilson_action(in.real("beta"), read_anisotropy(in)); }},

          {"PLAQ_GAUGEACT", "coeffs{elem: Nd numbers, Nd times}: S = -1/Nc sum_{mu<nu} coeffs[mu][nu] Re tr P_mu,nu",
           read_plaquette_matrix},

          {"RECT_GAUGEACT",
           "coeff, or with AnisoParam coeff_s, coeff_t1 (long side in time), coeff_t2 (short side in time); "
           "[no_temporal_2link = false]: S = -1/Nc sum coeff Re tr R",
           read_rectangles},

          // The 5/3 of the tree-level coefficient is part of beta. AnisoParam acts on the plaquettes only (Chroma).
          {"LW_TREE_GAUGEACT", "beta, u0, [AnisoParam]: S = -beta/Nc [ sum Re tr P - 1/(20 u0^2) sum Re tr R ]",
           [](const Input& in) {
             const double beta = in.real("beta"), u0 = in.real("u0", positive());
             return LoopAction(joined(plaquettes(beta, read_anisotropy(in)), all_rectangles(-beta / (20 * u0 * u0))));
           }},

          {"RG_GAUGEACT", "beta, c1: S = -beta/Nc [ sum Re tr P + c1 sum Re tr R ]",
           [](const Input& in) {
             const double beta = in.real("beta");
             return LoopAction(joined(all_plaquettes(beta), all_rectangles(beta * in.real("c1"))));
           }},

          {"RBC_GAUGEACT",
           "beta, c1: S = -beta/Nc [ (1 - 8 c1) sum Re tr P + c1 sum Re tr R ]; "
           "c1 = -1/12 tree-level Symanzik, -0.331 Iwasaki, -1.4069 DBW2",
           [](const Input& in) { return improved_action(in.real("beta"), in.real("c1")); }},
      });
  return table;
}

}  // namespace qcd
