#include "lib/hmc/hamiltonian.hpp"

#include "lib/gauge/su3.hpp"

namespace qcd {

using namespace QDP;

void refresh_momenta(GaugeField& p) {
  const Real root_half = 0.70710678118654752440;
  p.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    gaussian(p[mu]);
    p[mu] = taproj(root_half * p[mu]);
  }
}

Double kinetic_energy(const GaugeField& p) {
  require_gauge_field(p, "kinetic_energy");
  // Subtracted site by site: the sum stays small, and so does its rounding.
  const Double mean = kGenerators / 2.0;
  Double energy = zero;
  for (int mu = 0; mu < Nd; ++mu) energy += sum(localNorm2(p[mu]) - mean);
  return energy;
}

Hamiltonian::Hamiltonian(const MonomialMap& monomials, const std::vector<std::string>& ids) {
  for (const std::string& id : ids) {
    const auto found = monomials.find(id);
    if (found == monomials.end() || !found->second)
      throw InputError("Hamiltonian: there is no monomial with the id " + id);
    if (!found->second->exact())
      throw InputError("Hamiltonian: the monomial " + id +
                       " has no exact action; it can be used in the integrator only");
    monomials_.push_back({id, found->second});
  }
}

void Hamiltonian::refresh(const GaugeField& u) {
  for (const auto& [id, monomial] : monomials_) monomial->refresh(u);
}

Energies Hamiltonian::measure(const PhaseSpace& state, const Log& log) const {
  const auto outer = log.group("mesE");
  Energies e;
  {
    const auto group = log.group("mesKE");
    e.kinetic = kinetic_energy(state.p);
    log.write("KE", e.kinetic);
  }
  const auto group = log.group("mesPE");
  log.write("num_terms", static_cast<int>(monomials_.size()));
  const auto list = log.group("PEByMonomials");
  e.potential = zero;
  for (const auto& [id, monomial] : monomials_) {
    const auto elem = log.group("elem");
    log.write("monomial_id", id);
    const auto tag = log.group(monomial->log_tag());
    const Double s = monomial->action(state.u, log);
    log.write("S", s);
    e.potential += s;
  }
  return e;
}

}  // namespace qcd
