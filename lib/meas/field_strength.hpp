// The field strength on the lattice, from loops around the four corners of a site, and what is made of it.
//
// Q_mu,nu(x) is the average of the four m x n loops that begin and end at x in the mu-nu plane, one in each quadrant,
// all walked in the sense +mu -> +nu. G_mu,nu = taproj(Q_mu,nu) = m n (i F_mu,nu) + O(a^2) with Hermitian F: traceless
// and anti-Hermitian.
#pragma once

#include "lib/gauge/loop.hpp"

#include <vector>

namespace qcd {

/// The four m x n loops with weights `weight`/4: `m` steps along mu, `n` along nu.
std::vector<WeightedPath> clover_leaves(int mu, int nu, int m = 1, int n = 1, double weight = 1);

/// Loop sizes of a field strength with coefficients: G = sum_k c_k (G_mxn + G_nxm)/2, with sum_k m n c_k = 1.
struct FieldStrengthTerm {
  int m = 1, n = 1;
  double coefficient = 1;
};
using FieldStrengthDefinition = std::vector<FieldStrengthTerm>;

/// Plaquettes alone: the clover definition.
FieldStrengthDefinition clover_definition();
/// Plaquettes and 1x2 rectangles, errors of order a^2 removed at tree level: 5/3 and -1/3.
FieldStrengthDefinition rectangle_improved_definition();
/// Loops 1x1, 2x2, 1x2, 1x3, 3x3 with coefficients 19/9 - 55 k5, 1/36 - 16 k5, 64 k5 - 32/45, 1/15 - 6 k5, k5.
/// k5 = 0 needs four sizes, 1/90 three, 1/20 all five (most improved at finite a).
/// Source: Bilson-Thompson, Leinweber and Williams, Annals Phys. 304 (2003) 1 (hep-lat/0203008), eqs. (29) to (33).
FieldStrengthDefinition five_loop_definition(double k5);

/// G_mu,nu. Throws ShapeError unless mu and nu are different directions.
QDP::LatticeColorMatrix field_strength(const GaugeField& u, int mu, int nu,
                                       const FieldStrengthDefinition& definition = clover_definition());

/// Q_top = 1/(32 pi^2) sum_x eps_mu,nu,rho,sigma tr F_mu,nu F_rho,sigma
///       = -1/(4 pi^2) sum_x tr (G_01 G_23 - G_02 G_13 + G_03 G_12).   Four dimensions.
QDP::Double topological_charge(const GaugeField& u, const FieldStrengthDefinition& definition = clover_definition());

/// E = (1/4) F^a_mu,nu F^a_mu,nu, averaged over the lattice.
struct EnergyDensity {
  QDP::Double plaquette;  ///< 2 sum_{mu<nu} Re tr (1 - U_mu,nu)
  QDP::Double clover;     ///< - sum_{mu<nu} tr G_mu,nu G_mu,nu
  QDP::Double space;      ///< - sum tr A A over planes without t_dir, A the anti-Hermitian part of Q with its trace
  QDP::Double time;       ///< the same over planes with t_dir; Chroma's gactij and gact4i
};
EnergyDensity energy_density(const GaugeField& u, int t_dir = QDP::Nd - 1);

}  // namespace qcd
