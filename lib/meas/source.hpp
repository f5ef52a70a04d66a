// Sources of quark propagators, and the smearing of quark fields at source and sink.
//
// A source is a complex profile eta(x) times the unit matrix in spin and colour (all Ns Nc sources of a propagator at
// once), then displaced and smeared with gauge covariant operators.
#pragma once

#include "lib/gauge/gauge_field.hpp"
#include "lib/io/table.hpp"
#include "lib/meas/link_smearing.hpp"

#include <array>
#include <functional>

namespace qcd {

// ---- profiles ------------------------------------------------------------------------------------------------------

/// 1 at one site, 0 elsewhere.
QDP::LatticeComplex point_profile(const QDP::multi1d<int>& site);
/// `inside` in the slice x[direction] = t, 0 elsewhere; for t outside the lattice, `inside` everywhere.
QDP::LatticeComplex slice_profile(const QDP::LatticeComplex& inside, int direction, int t);

/// Random numbers of modulus 1 at every site, from the random number generator.
enum class Noise {
  z2,       ///< (+-1 +- i)/sqrt 2, two draws, as Chroma's RAND_Z2_WALL_SOURCE
  u1,       ///< exp(i theta), theta uniform
  gaussian  ///< complex normal, <|eta|^2> = 1
};
QDP::LatticeComplex noise(Noise kind);
/// exp(2 pi i k/n), k random in 0..n-1, one draw, as Chroma's RAND_ZN_WALL_SOURCE.
QDP::LatticeComplex zn_noise(int n);

// ---- smearing of quark fields --------------------------------------------------------------------------------------

/// psi <- (1 + (w^2/4n) Laplacian)^n psi, with the covariant Laplacian in all directions but `no_smear_dir`. Q: any
/// field that a colour matrix multiplies. Tends to a Gaussian of width w for many steps.
template <class Q>
void gaussian_smear(Q& psi, const GaugeField& u, double width, int steps, int no_smear_dir);

/// psi <- sum_{k=0..n} (kappa H)^k psi, H the sum over both neighbours in all directions but `no_smear_dir`.
template <class Q>
void jacobi_smear(Q& psi, const GaugeField& u, double kappa, int steps, int no_smear_dir);

/// psi(x) <- U_mu(x) U_mu(x+mu) ... psi(x + length mu); a negative length goes the other way.
template <class Q>
void displace(Q& psi, const GaugeField& u, int length, int mu);

// ---- from inputs ---------------------------------------------------------------------------------------------------

/// What turns a quark field into a smeared one on given links; Q is LatticePropagator or LatticeStaggeredPropagator.
template <class Q>
using QuarkSmearing = std::function<void(Q&, const GaugeField&)>;

/// wvf_kind -> smearing; the same names for all kinds of fields.
template <class Q>
const Table<QuarkSmearing<Q>>& quark_smearing_table();

/// A source, or a sink: what is done at one end of a propagator.
template <class Q>
struct QuarkSource {
  std::function<QDP::LatticeComplex()> profile;
  std::function<void(Q&, const GaugeField&)> smear;
  int j_decay = QDP::Nd - 1;
  int t_source = 0;
  std::string type;

  Q operator()(const GaugeField& u) const;
};

/// SourceType -> profile. The rows read j_decay and t_srce or t_source themselves.
const Table<std::function<QDP::LatticeComplex()>>& source_table();
/// SinkType, with what it does to the propagator.
template <class Q>
const Table<QuarkSmearing<Q>>& sink_table();

/// Source{SourceType, j_decay, t_srce or t_source, ..., [SmearingParam], [Displacement], [LinkSmearing]}.
template <class Q>
QuarkSource<Q> read_quark_source(const Input& source);
/// Sink{SinkType, j_decay, [SmearingParam], [Displacement], [LinkSmearing]}.
template <class Q>
QuarkSmearing<Q> read_quark_sink(const Input& sink);

}  // namespace qcd
