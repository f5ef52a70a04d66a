// Baryon correlators from quark propagators: octet and decuplet of two flavours, three colours.
//
// Operators (q1^T A q2) q3 with A = C Gamma, contracted at source and sink with the same A and projected with T:
//   <B Bbar>_T = sum_x exp(ipx) eps eps tr[ T ... ].   The pairs of quarks are quarkContract13(q A, A q').
// With "up" quarks u (propagator U) and one other quark s (propagator S):
//   sigma    (s A u) u        lambda   2 (u A d) s + (s A d) u + (u A s) d        naive lambda  (d A u) s
//   xi       (s A u) s        sigma*   2 (s A u) u + (u A u) s
// The proton is the sigma, the Delta the sigma*, for S = U.
// What is contracted is, term by term, what Chroma's HADRON_SPECTRUM contracts, so that correlators can be compared. For
// unequal masses that is not all that Wick's theorem gives for xi (its exchange term is that of (s A s) u) and lambda.
#pragma once

#include "lib/meas/momenta.hpp"

#include <string>
#include <vector>

namespace qcd {

QDP::LatticeComplex sigma_2pt(const QDP::LatticePropagator& s, const QDP::LatticePropagator& u,
                              const QDP::SpinMatrix& t, const QDP::SpinMatrix& a);
QDP::LatticeComplex xi_2pt(const QDP::LatticePropagator& s, const QDP::LatticePropagator& u, const QDP::SpinMatrix& t,
                           const QDP::SpinMatrix& a);
QDP::LatticeComplex lambda_2pt(const QDP::LatticePropagator& s, const QDP::LatticePropagator& u,
                               const QDP::SpinMatrix& t, const QDP::SpinMatrix& a);
QDP::LatticeComplex naive_lambda_2pt(const QDP::LatticePropagator& s, const QDP::LatticePropagator& u,
                                     const QDP::SpinMatrix& t, const QDP::SpinMatrix& a);
QDP::LatticeComplex sigma_star_2pt(const QDP::LatticePropagator& s, const QDP::LatticePropagator& u,
                                   const QDP::SpinMatrix& t, const QDP::SpinMatrix& a);

/// One correlator of the list: which contraction, projector T and diquark matrix A.
struct BaryonOperator {
  std::string name;  ///< "sigma, C g5, polarised"
  QDP::LatticeComplex (*contract)(const QDP::LatticePropagator&, const QDP::LatticePropagator&, const QDP::SpinMatrix&,
                                  const QDP::SpinMatrix&);
  QDP::SpinMatrix projector, diquark;
  double factor = 1;
};

/// The 17 correlators of Chroma's HADRON_SPECTRUM, by its numbers; 0 is the polarised proton with A = C g5, 9 the
/// unpolarised one, 2 the Delta.
const std::vector<BaryonOperator>& baryon_operators();

/// All of them, [baryon](momentum, t), t the slice. s: the single quark, u: the pair.
std::vector<QDP::multi2d<QDP::DComplex>> baryon_correlators(const QDP::LatticePropagator& s,
                                                            const QDP::LatticePropagator& u, const Momenta& momenta);

/// The propagator of the time-reversed, charge-conjugated quark: -g5 g4 S g5 g4 up to its argument.
QDP::LatticePropagator time_reversed(const QDP::LatticePropagator& s);

/// Correlators counted from the source: t -> (t - t0) mod L, with the sign of antiperiodic boundary conditions where a
/// baryon has passed them (`boundary` -1), and with `backward` the average with the time-reversed correlator.
QDP::multi1d<QDP::DComplex> baryon_from_source(const QDP::multi1d<QDP::DComplex>& forward,
                                               const QDP::multi1d<QDP::DComplex>* backward, int t0, int boundary);

}  // namespace qcd
