// U(1) factors of the links that a fermion sees: boundary conditions, twists, constant Abelian fields.
//
//   V_mu(x) = phi_mu(x) U_mu(x),  and the derivative with respect to U is phi times that with respect to V (conv. 9).
#pragma once

#include "lib/gauge/link_map.hpp"

#include <complex>
#include <map>
#include <vector>

namespace qcd {

/// A product of factors, each added by one of the functions below; no factor means V = U. The factors are fields of the
/// lattice on which the map is first used; what is said here does not need a lattice yet.
/// Throws ShapeError for directions outside 0..Nd-1.
class PhaseMap : public LinkMap {
 public:
  /// `factor` on the links that leave the last slice of direction mu: -1 antiperiodic, 0 no way around.
  PhaseMap& boundary(int mu, std::complex<double> factor);

  /// exp(i angle / L_mu) on every link of direction mu, so that a fermion gets exp(i angle) on the way around. A twist
  /// theta shifts the momenta by theta / L_mu; in time, angle = mu_I / T is an imaginary chemical potential i mu_I.
  PhaseMap& twist(int mu, double angle);

  /// A constant Abelian field through the planes (mu, nu): every plaquette U_mu U_nu U_mu^+ U_nu^+ gets exp(i F) with
  /// F = 2 pi quanta / (L_mu L_nu), where quanta is the number of flux quanta times the particle's charge. Spatial
  /// planes are a magnetic field, planes with time an (imaginary, Euclidean) electric one:
  ///   phi_nu(x) = exp(i F x_mu),   phi_mu(x) = exp(-i F L_mu x_nu) where x_mu = L_mu - 1, else 1.
  /// Source: Al-Hashimi and Wiese, Ann. Phys. 324 (2009) 343, section 3; 't Hooft, Nucl. Phys. B153 (1979) 141.
  PhaseMap& flux(int mu, int nu, int quanta);

  bool trivial() const { return factors_.empty(); }

  GaugeField apply(const GaugeField& u) const override;
  void pull_back(GaugeField& g, const GaugeField& u) const override;
  bool same_as(const LinkMap& other) const override;

 private:
  /// A factor on the links of direction mu, as the functions above say; `nu` is the other direction of a flux.
  struct Factor {
    enum class Kind { boundary, twist, flux, flux_on_last_slice } kind;
    int mu;
    std::complex<double> value;
    int nu = 0;
    bool operator==(const Factor&) const = default;
    QDP::LatticeComplex field() const;
  };
  void add(const Factor& factor);
  void multiply(GaugeField& v) const;

  std::vector<Factor> factors_;
  mutable std::map<int, QDP::LatticeComplex> fields_;  ///< the products of the factors, made when first needed
};

}  // namespace qcd
