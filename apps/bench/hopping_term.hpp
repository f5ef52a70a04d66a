// Statements that several suites measure, as a user writes them: the Wilson hopping term from one checkerboard to the other,
// links of 18 reals, and the covariant derivative.
#pragma once

#include "apps/bench/fields.hpp"
#include "apps/bench/session.hpp"

namespace bench {

// Real operations of SU(3) matrix times spinor, 3*(3*6 + 2*2) for each spin component; reals of a spinor and of a link.
inline constexpr double kMatrixFermion = 4 * 3 * 22, kFermion = 24, kLink = 18;

inline constexpr Work kCovariantDerivative{2 * kMatrixFermion + kFermion, kLink + 2 * kFermion};

/// In direction mu, with the link there.
template <class P>
void covariant_derivative(typename P::Fermion& chi, const typename P::ColorMatrix& u, const typename P::Fermion& psi,
                          int mu) {
  using namespace QDP;
  chi = u * shift(psi, FORWARD, mu) + shift(adj(u) * psi, BACKWARD, mu);
}

// 8 directions: project 12, SU(3) times half spinor 2*66; 7 sums of 24: 8*(12 + 132) + 7*24.
inline constexpr Work kHoppingTerm{.flops = 1320, .words = 8 * kLink + 2 * kFermion, .share_of_sites = 0.5};
/// With links of which two rows are kept; making the third is not counted.
inline constexpr Work kHoppingTermTwoRows{.flops = 1320, .words = 8 * 12 + 2 * kFermion, .share_of_sites = 0.5};
/// Links of which two rows are kept and spinors, both in 16 bits: words of four bytes.
inline constexpr Work kHoppingTermHalf{.flops = 1320, .words = 8 * 6 + 2 * 13, .share_of_sites = 0.5};

template <class P>
void hopping_term(typename P::Fermion& chi, const QDP::multi1d<typename P::ColorMatrix>& u,
                  const typename P::Fermion& psi) {
  using namespace QDP;
  chi[rb[0]] = spinReconstructDir0Minus(u[0] * shift(spinProjectDir0Minus(psi), FORWARD, 0)) +
               spinReconstructDir0Plus(shift(adj(u[0]) * spinProjectDir0Plus(psi), BACKWARD, 0)) +
               spinReconstructDir1Minus(u[1] * shift(spinProjectDir1Minus(psi), FORWARD, 1)) +
               spinReconstructDir1Plus(shift(adj(u[1]) * spinProjectDir1Plus(psi), BACKWARD, 1)) +
               spinReconstructDir2Minus(u[2] * shift(spinProjectDir2Minus(psi), FORWARD, 2)) +
               spinReconstructDir2Plus(shift(adj(u[2]) * spinProjectDir2Plus(psi), BACKWARD, 2)) +
               spinReconstructDir3Minus(u[3] * shift(spinProjectDir3Minus(psi), FORWARD, 3)) +
               spinReconstructDir3Plus(shift(adj(u[3]) * spinProjectDir3Plus(psi), BACKWARD, 3));
}

}  // namespace bench
