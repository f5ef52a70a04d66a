#include "lib/action/gauge_actions.hpp"

#include "lib/action/plaquette_functions.hpp"
#include "lib/io/anisotropy.hpp"
#include "lib/io/input.hpp"

#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

using Loops = std::vector<WeightedPath>;
using ActionPtr = std::shared_ptr<const GaugeAction>;

Loops joined(Loops a, const Loops& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// The Nd(Nd-1)/2 plaquettes with the weights weight(mu, nu), mu > nu.
template <class Weight>
Loops plaquettes(const Weight& weight) {
  Loops loops;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu) loops.push_back({plaquette_loop(mu, nu), weight(mu, nu)});
  return loops;
}

/// All plaquettes, temporal and spatial ones weighted by the anisotropy.
Loops plaquettes(double coefficient, const Anisotropy& aniso) {
  return plaquettes([&](int mu, int nu) { return coefficient * aniso.factor(mu, nu); });
}

/// The Nd(Nd-1) rectangles with the weights weight(mu, nu), long side along mu.
template <class Weight>
Loops rectangles(const Weight& weight) {
  Loops loops;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = 0; nu < Nd; ++nu)
      if (nu != mu) loops.push_back({rectangle_loop(mu, nu), weight(mu, nu)});
  return loops;
}

/// The four loops (+mu +nu +rho -mu -nu -rho) around the corners of each 3-cube, each with the same weight.
Loops all_parallelograms(double weight) {
  Loops loops;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = mu + 1; nu < Nd; ++nu)
      for (int rho = nu + 1; rho < Nd; ++rho)
        for (int sign_nu : {+1, -1})
          for (int sign_rho : {+1, -1}) {
            const Step a = forward(mu), b{nu, sign_nu}, c{rho, sign_rho};
            loops.push_back({Path{a, b, c, -a, -b, -c}, weight});
          }
  return loops;
}

/// The plaquette of the mu-nu plane walked twice.
Path double_plaquette(int mu, int nu) {
  const Step a = forward(mu), b = forward(nu);
  return {a, b, -a, -b, a, b, -a, -b};
}

ActionPtr loop_action(Loops loops, double constant = 0) {
  return std::make_shared<LoopAction>(std::move(loops), constant);
}

/// A function of each plaquette, function(mu, nu) for mu > nu.
template <class Function>
ActionPtr plaquette_action(const Function& function) {
  std::vector<TraceTerm> terms;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu) terms.push_back({plaquette_loop(mu, nu), function(mu, nu)});
  return std::make_shared<TraceAction>(std::move(terms));
}

/// The same function of each plaquette.
ActionPtr plaquette_action(const TraceFunction& function) {
  return plaquette_action([&](int, int) { return function; });
}

/// The same with weight 1/2 for spatial plaquettes on the boundaries of the Schroedinger functional.
ActionPtr boundary_plaquette_action(const TraceFunction& function, int decay_dir) {
  return plaquette_action([&](int mu, int nu) {
    return mu == decay_dir || nu == decay_dir ? function : half_on_boundary(function, decay_dir);
  });
}

/// -(coefficient/2) sum over spatial planes of r(x) r(x + t), r = Re tr P/Nc; divided by xi_0.
ActionPtr spatial_two_plaquette_action(double coefficient, const Anisotropy& aniso) {
  std::vector<TraceTerm> terms;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      if (!aniso.temporal(mu, nu))
        terms.push_back({plaquette_loop(mu, nu), neighbour_function(coefficient * aniso.factor(mu, nu), aniso.t_dir)});
  return std::make_shared<TraceAction>(std::move(terms));
}

// ---- readers ------------------------------------------------------------------------------------------------------

/// coeffs: <elem> rows of Nd numbers, symmetric in mu and nu; the diagonal is not used.
ActionPtr read_plaquette_matrix(const Input& action) {
  const std::vector<Input> rows = action.elements("coeffs");
  if (static_cast<int>(rows.size()) != Nd) {
    action.error("coeffs", "one <elem> of " + std::to_string(Nd) + " numbers per direction",
                 std::to_string(rows.size()) + " <elem>");
    return nullptr;
  }
  std::vector<std::vector<double>> c;
  for (const Input& row : rows) c.push_back(row.reals("", Nd));
  return loop_action(plaquettes([&](int mu, int nu) {
    const double upper = c[static_cast<std::size_t>(mu)][static_cast<std::size_t>(nu)];
    const double lower = c[static_cast<std::size_t>(nu)][static_cast<std::size_t>(mu)];
    if (upper != lower)
      action.error("coeffs", "a symmetric matrix",
                   std::to_string(upper) + " and " + std::to_string(lower) + " for directions " + std::to_string(mu) +
                       ", " + std::to_string(nu));
    return upper;
  }));
}

/// Rectangles with one coefficient, or anisotropic ones: coeff_t1 where the long side is temporal, coeff_t2 where the
/// short side is, coeff_s in space.
ActionPtr read_rectangles(const Input& action) {
  const Anisotropy aniso = read_anisotropy<Anisotropy>(action);
  double spatial, long_temporal, short_temporal;
  if (aniso.on) {
    spatial = action.real("coeff_s");
    long_temporal = action.real("coeff_t1");
    short_temporal = action.real("coeff_t2");
  } else {
    spatial = long_temporal = short_temporal = action.real("coeff");
  }
  if (action.flag("no_temporal_2link", false)) long_temporal = 0;
  return loop_action(rectangles([&](int mu, int nu) {
    const double c = mu == aniso.t_dir ? long_temporal : nu == aniso.t_dir ? short_temporal : spatial;
    return c * aniso.factor(mu, nu);
  }));
}

/// The plaquettes with time in them, or those without.
ActionPtr read_half_wilson(const Input& action, bool temporal) {
  const double beta = action.real("beta", not_negative());
  const Anisotropy aniso = read_anisotropy<Anisotropy>(action);
  return loop_action(
      plaquettes([&](int mu, int nu) { return aniso.temporal(mu, nu) == temporal ? beta * aniso.factor(mu, nu) : 0; }));
}

/// coarse_dirs: Nd numbers 0 or 1, two of them 1; then one coefficient per kind of plane.
template <class Coefficient>
ActionPtr read_coarse_fine(const Input& action, const Coefficient& coefficient) {
  const std::vector<int> coarse = action.integers("coarse_dirs", Nd, {0, 1});
  int count = 0;
  for (int c : coarse) count += c;
  if (count != 2) action.error("coarse_dirs", "two coarse directions", std::to_string(count));
  return loop_action(plaquettes([&](int mu, int nu) {
    return coefficient(coarse[static_cast<std::size_t>(mu)] + coarse[static_cast<std::size_t>(nu)]);
  }));
}

double squared(double x) { return x * x; }

/// Morningstar and Peardon, Phys. Rev. D60 (1999) 034509 (hep-lat/9901004) and hep-lat/9911003, eq. (4).
ActionPtr read_aniso_spectrum(const Input& in) {
  const double beta = in.real("beta", not_negative()), us = in.real("u_s", positive()), ut = in.real("u_t", positive());
  const double omega = in.real("omega");
  const Anisotropy aniso = read_anisotropy<Anisotropy>(in);
  const double us2 = squared(us), us4 = squared(us2), ut2 = squared(ut);
  const auto plaquette = [&](int mu, int nu) {
    const double c = aniso.temporal(mu, nu) ? 4 / (3 * us2 * ut2) : 5 * (1 + omega) / (3 * us4);
    return beta * c * aniso.factor(mu, nu);
  };
  // No rectangle reaches over two temporal links.
  const auto rectangle = [&](int mu, int nu) {
    const double c = mu == aniso.t_dir ? 0 : nu == aniso.t_dir ? 1 / (12 * us4 * ut2) : 1 / (12 * us4 * us2);
    return -beta * c * aniso.factor(mu, nu);
  };
  const std::vector<ActionPtr> terms = {loop_action(joined(plaquettes(plaquette), rectangles(rectangle))),
                                        spatial_two_plaquette_action(-5 * beta * omega / (3 * squared(us4)), aniso)};
  return std::make_shared<GaugeActionSum>(terms);
}

/// The spatial or the temporal part of the same action without the two-plaquette term. ZeroEnergy is subtracted from
/// sum_l c_l Re tr W_l at each site.
ActionPtr read_aniso_symanzik(const Input& in, bool temporal) {
  const double beta = in.real("beta", not_negative()), us2 = squared(in.real("u_s", positive()));
  const double ut2 = temporal ? squared(in.real("u_t", positive())) : 1;
  const Anisotropy aniso = read_anisotropy<Anisotropy>(in);
  const double c_plaquette = beta * (temporal ? 4 / (3 * us2 * ut2) : 5 / (3 * us2 * us2));
  const double c_rectangle = -beta / (12 * us2 * us2 * (temporal ? ut2 : us2));
  const auto part = [&](int mu, int nu) { return aniso.temporal(mu, nu) == temporal ? aniso.factor(mu, nu) : 0; };
  return loop_action(
      joined(plaquettes([&](int mu, int nu) { return c_plaquette * part(mu, nu); }),
             rectangles([&](int mu, int nu) { return mu == aniso.t_dir ? 0 : c_rectangle * part(mu, nu); })),
      in.real("ZeroEnergy", {}, 0) / Nc);
}

/// The 1-loop coefficients of Alford, Dimm, Lepage, Hockney, Mackenzie, Phys. Lett. B361 (1995) 87 (hep-lat/9507010).
ActionPtr read_one_loop_luescher_weisz(const Input& in) {
  const double beta = in.real("beta", not_negative()), u0 = in.real("u0", positive());
  const double alpha = -4 * std::log(u0) / 3.06839;
  return loop_action(joined(joined(all_plaquettes(beta), all_rectangles(-beta * (1 + 0.4805 * alpha) / (20 * u0 * u0))),
                            all_parallelograms(-beta * 0.03325 * alpha / (u0 * u0))));
}

ActionPtr read_character(const Input& in) {
  const double beta_s = in.real("beta_S");
  const std::vector<ActionPtr> terms = {
      plaquette_action(character_function(in.real("beta_F"), in.real("beta_A"), beta_s)), [&] {
        Loops loops;
        for (int mu = 1; mu < Nd; ++mu)
          for (int nu = 0; nu < mu; ++nu) loops.push_back({double_plaquette(mu, nu), beta_s / (2 * (Nc + 1))});
        return loop_action(loops);
      }()};
  return std::make_shared<GaugeActionSum>(terms);
}

/// decay_dir of the actions for the Schroedinger functional.
int read_decay_dir(const Input& in) { return in.integer("decay_dir", {0, Nd - 1}); }

}  // namespace

LoopAction wilson_action(double beta, const Anisotropy& aniso) { return LoopAction(plaquettes(beta, aniso)); }

LoopAction improved_action(double beta, double c1) {
  return LoopAction(joined(all_plaquettes(beta * (1 - 8 * c1)), all_rectangles(beta * c1)));
}

const Table<ActionPtr>& gauge_action_table() {
  static const Table<ActionPtr> table(
      "a gauge action",
      {
          // ---- sums of loops
          {"WILSON_GAUGEACT", "beta, [AnisoParam{anisoP, t_dir, xi_0}]: S = -beta/Nc sum Re tr P",
           [](const Input& in) {
             return loop_action(plaquettes(in.real("beta", not_negative()), read_anisotropy<Anisotropy>(in)));
           }},

          {"SPATIAL_WILSON_GAUGEACT", "beta, [AnisoParam]: the plaquettes of WILSON_GAUGEACT without direction t_dir",
           [](const Input& in) { return read_half_wilson(in, false); }},

          {"TEMPORAL_WILSON_GAUGEACT", "beta, [AnisoParam]: those with direction t_dir",
           [](const Input& in) { return read_half_wilson(in, true); }},

          {"WILSON_COARSE_FINE_GAUGEACT",
           "coarse_dirs{0 or 1 per direction, two of each}, coeff_ff, coeff_cf, coeff_cc: S = -1/Nc sum coeff Re tr "
           "P, coefficients of planes with no, one and two coarse directions",
           [](const Input& in) {
             const double c[] = {in.real("coeff_ff"), in.real("coeff_cf"), in.real("coeff_cc")};
             return read_coarse_fine(in, [&](int coarse) { return c[coarse]; });
           }},

          {"WILSON_COARSE_FINE_1LOOP_GAUGEACT",
           "beta, coarse_dirs, xi, coeff_ff, coeff_cc: the same with the coefficients beta (1 + coeff_ff g^2) xi^2, "
           "beta, beta (1 + coeff_cc g^2)/xi^2, g^2 = 2 Nc/beta",
           [](const Input& in) {
             const double beta = in.real("beta", positive()), xi2 = squared(in.real("xi", positive())),
                          g2 = 2.0 * Nc / beta;
             const double c[] = {beta * (1 + in.real("coeff_ff") * g2) * xi2, beta,
                                 beta * (1 + in.real("coeff_cc") * g2) / xi2};
             return read_coarse_fine(in, [&](int coarse) { return c[coarse]; });
           }},

          {"PLAQ_GAUGEACT", "coeffs{elem: Nd numbers, Nd times}: S = -1/Nc sum_{mu<nu} coeffs[mu][nu] Re tr P_mu,nu",
           read_plaquette_matrix},

          {"RECT_GAUGEACT",
           "coeff, or with AnisoParam coeff_s, coeff_t1 (long side in time), coeff_t2 (short side in time); "
           "[no_temporal_2link = false]: S = -1/Nc sum coeff Re tr R",
           read_rectangles},

          {"PG_GAUGEACT", "coeff: S = -coeff/Nc sum Re tr U_pg, the parallelograms (+mu +nu +rho -mu -nu -rho)",
           [](const Input& in) { return loop_action(all_parallelograms(in.real("coeff"))); },
           lacks_unless(Nd > 2, "three dimensions")},

          // The 5/3 of the tree-level coefficient is part of beta. AnisoParam acts on the plaquettes only (Chroma).
          {"LW_TREE_GAUGEACT", "beta, u0, [AnisoParam]: S = -beta/Nc [ sum Re tr P - 1/(20 u0^2) sum Re tr R ]",
           [](const Input& in) {
             const double beta = in.real("beta", not_negative()), u0 = in.real("u0", positive());
             return loop_action(
                 joined(plaquettes(beta, read_anisotropy<Anisotropy>(in)), all_rectangles(-beta / (20 * u0 * u0))));
           }},

          {"LW_1LOOP_GAUGEACT",
           "beta, u0: S = -beta/Nc [ sum Re tr P - (1 + 0.4805 alpha)/(20 u0^2) sum Re tr R - 0.03325 alpha/u0^2 sum "
           "Re tr U_pg ], alpha = -4 ln u0/3.06839",
           read_one_loop_luescher_weisz},

          {"RG_GAUGEACT", "beta, c1: S = -beta/Nc [ sum Re tr P + c1 sum Re tr R ]",
           [](const Input& in) {
             const double beta = in.real("beta", not_negative());
             return loop_action(joined(all_plaquettes(beta), all_rectangles(beta * in.real("c1"))));
           }},

          {"RBC_GAUGEACT",
           "beta, c1: S = -beta/Nc [ (1 - 8 c1) sum Re tr P + c1 sum Re tr R ]; c1 = -1/12 tree-level Symanzik, "
           "-0.331 Iwasaki, -1.4069 DBW2",
           [](const Input& in) -> ActionPtr {
             const double beta = in.real("beta", not_negative()), c1 = in.real("c1");
             return std::make_shared<LoopAction>(improved_action(beta, c1));
           }},

          {"ANISO_SYM_SPATIAL_GAUGEACT",
           "beta, u_s, AnisoParam, [ZeroEnergy]: spatial part of the Symanzik action, S = -beta/(Nc xi_0) sum [ 5/(3 "
           "u_s^4) Re tr P - 1/(12 u_s^6) Re tr R ] + V ZeroEnergy/Nc",
           [](const Input& in) { return read_aniso_symanzik(in, false); }},

          {"ANISO_SYM_TEMPORAL_GAUGEACT",
           "beta, u_s, u_t, AnisoParam, [ZeroEnergy]: its temporal part, one link in time only, S = -beta xi_0/Nc "
           "sum [ 4/(3 u_s^2 u_t^2) Re tr P - 1/(12 u_s^4 u_t^2) Re tr R ] + V ZeroEnergy/Nc",
           [](const Input& in) { return read_aniso_symanzik(in, true); }},

          // ---- with products of neighbouring plaquettes
          {"SPATIAL_TWO_PLAQ_GAUGEACT",
           "coeff, [AnisoParam]: S = -coeff/(2 Nc^2 xi_0) sum over spatial planes of Re tr P(x) Re tr P(x + t)",
           [](const Input& in) {
             return spatial_two_plaquette_action(in.real("coeff"), read_anisotropy<Anisotropy>(in));
           }},

          {"PLAQ_PLUS_SPATIAL_TWO_PLAQ_GAUGEACT",
           "coeff_plaq_s, coeff_plaq_t, coeff_two_plaq, [AnisoParam]: plaquettes with coefficients for spatial and "
           "temporal ones, and SPATIAL_TWO_PLAQ_GAUGEACT with coeff_two_plaq",
           [](const Input& in) -> ActionPtr {
             const double s = in.real("coeff_plaq_s"), t = in.real("coeff_plaq_t");
             const Anisotropy aniso = read_anisotropy<Anisotropy>(in);
             const std::vector<ActionPtr> terms = {loop_action(plaquettes([&](int mu, int nu) {
                                                     return (aniso.temporal(mu, nu) ? t : s) * aniso.factor(mu, nu);
                                                   })),
                                                   spatial_two_plaquette_action(in.real("coeff_two_plaq"), aniso)};
             return std::make_shared<GaugeActionSum>(terms);
           }},

          {"ANISO_SPECTRUM_GAUGEACT",
           "beta, u_s, u_t, omega, AnisoParam: S = -beta/Nc sum { 1/xi_0 [ 5(1+omega)/(3 u_s^4) Re tr P_s - Re tr "
           "R_s/(12 u_s^6) ] + xi_0 [ 4/(3 u_s^2 u_t^2) Re tr P_t - Re tr R_t/(12 u_s^4 u_t^2) ] } + 5 beta omega/(6 "
           "Nc^2 u_s^8 xi_0) sum Re tr P_s(x) Re tr P_s(x + t), R_t with one link in time only",
           read_aniso_spectrum},

          // ---- functions of the plaquette, T = tr P/Nc
          {"PLAQ_PLUS_ADJOINT_GAUGEACT", "beta_F, beta_A: S = sum beta_F (1 - Re T) + beta_A (1 - |T|^2)",
           [](const Input& in) { return plaquette_action(adjoint_function(in.real("beta_F"), in.real("beta_A"))); }},

          {"SF_PLAQ_PLUS_ADJOINT_GAUGEACT",
           "beta_F, beta_A, decay_dir: the same, spatial plaquettes on the first and last plane of decay_dir with "
           "weight 1/2",
           [](const Input& in) {
             return boundary_plaquette_action(adjoint_function(in.real("beta_F"), in.real("beta_A")),
                                              read_decay_dir(in));
           }},

          {"PLAQ_PLUS_TWO_PLAQ_GAUGEACT", "beta_F, beta_A: S = -sum beta_F Re T + beta_A (Re T)^2/2",
           [](const Input& in) {
             return plaquette_action(two_plaquette_function(in.real("beta_F"), in.real("beta_A")));
           }},

          {"SF_PLAQ_PLUS_TWO_PLAQ_GAUGEACT", "beta_F, beta_A, decay_dir: the same with weights 1/2 on the boundary",
           [](const Input& in) {
             return boundary_plaquette_action(two_plaquette_function(in.real("beta_F"), in.real("beta_A")),
                                              read_decay_dir(in));
           }},

          {"CHARACTER_GAUGEACT",
           "beta_F, beta_A, beta_S: PLAQ_PLUS_ADJOINT_GAUGEACT + beta_S/2 sum (1 - chi_S(P)/chi_S(1)), the symmetric "
           "representation chi_S = [(tr P)^2 + tr P^2]/2",
           read_character},

          {"CONSTRAINED_PLAQ_GAUGEACT", "beta, gamma, q >= 1: S = sum beta r + gamma r^q, r = 1 - Re T",
           [](const Input& in) {
             return plaquette_action(
                 constrained_function(in.real("beta"), in.real("gamma"), in.real("q", {1, INFINITY})));
           }},

          {"PLAQ_PLUS_PLAQ_POWER_GAUGEACT", "beta, gamma, q >= 1: S = sum Re[ beta s + gamma s^q ], s = 1 - T",
           [](const Input& in) {
             return plaquette_action(power_function(in.real("beta"), in.real("gamma"), in.integer("q", at_least(1))));
           }},

          {"PLAQ_PLUS_ADJ_POWER_GAUGEACT", "beta, gamma, q even: S = sum beta (1 - Re T) + gamma (1 - |T|^2)^(q/2)",
           [](const Input& in) {
             const int q = in.integer("q", at_least(2));
             if (q % 2 != 0) in.error("q", "an even number", std::to_string(q));
             return plaquette_action(adjoint_power_function(in.real("beta"), in.real("gamma"), q));
           }},
      });
  return table;
}

}  // namespace qcd
