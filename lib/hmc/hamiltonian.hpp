// H(P, U) = sum |P|^2 + sum of the monomials' actions.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/hmc/state.hpp"

#include <string>
#include <vector>

namespace qcd {

struct Energies {
  QDP::Double kinetic;  ///< sum over links of |P|^2 - 4, where |P|^2 = tr P^+ P and 4 is its mean for Nc = 3
  QDP::Double potential;
};

/// sum over links of (|P|^2 - (Nc^2-1)/2).
QDP::Double kinetic_energy(const GaugeField& p);

class Hamiltonian {
 public:
  /// The monomials of `ids`. Throws InputError if one is unknown or not exact.
  Hamiltonian(const MonomialMap& monomials, const std::vector<std::string>& ids);

  void refresh(const GaugeField& u);
  Energies measure(const PhaseSpace& state, const Log& log) const;

 private:
  std::vector<NamedMonomial> monomials_;
};

}  // namespace qcd
