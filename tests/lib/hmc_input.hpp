// Inputs of the program hmc for tests of what is wrong with them.
#pragma once

#include "lib/hmc/parameters.hpp"
#include "tests/lib/monomials.hpp"

#include <string>
#include <vector>

namespace tests {

/// An element of Monomials.
inline std::string list_element(const std::string& name, const std::string& elements, const std::string& id = "m") {
  return tag("elem", tag("Name", name) + elements + tag("NamedObject", tag("monomial_id", id)));
}

inline std::string id_list(const std::vector<std::string>& ids) {
  std::string list;
  for (const std::string& id : ids) list += tag("elem", id);
  return tag("monomial_ids", list);
}

/// Root Params with these parts of HMCTrj.
inline std::string hmc_input(const std::string& nrow, const std::string& monomials, const std::string& hamiltonian,
                             const std::string& md, const std::string& control = "") {
  return tag("Params", tag("MCControl",
                           tag("Cfg", tag("cfg_type", "UNIT")) +
                               tag("RNG", tag("Seed", "<elem>1</elem><elem>0</elem><elem>0</elem><elem>0</elem>")) +
                               tag("StartUpdateNum", "0") + tag("NWarmUpUpdates", "0") +
                               tag("NProductionUpdates", "1") + tag("NUpdatesThisRun", "1") + tag("SaveInterval", "1") +
                               tag("SaveVolfmt", "SINGLEFILE") + tag("SavePrefix", "never_run") + control) +
                           tag("HMCTrj", tag("nrow", nrow) + tag("Monomials", monomials) +
                                             tag("Hamiltonian", hamiltonian) + tag("MDIntegrator", md)));
}

inline std::string leapfrog(const std::string& ids, const std::string& inner = "") {
  return tag("Name", "LCM_STS_LEAPFROG") + tag("n_steps", "2") + ids +
         (inner.empty() ? "" : tag("SubIntegrator", inner));
}

/// The same with the one monomial "m".
inline std::string hmc_input(const std::string& nrow, const std::string& monomial) {
  return hmc_input(nrow, monomial, id_list({"m"}), tag("tau0", "1") + tag("Integrator", leapfrog(id_list({"m"}))));
}

/// The errors that reading root Params finds, one a line.
inline std::string hmc_errors(const std::string& text) {
  const qcd::InputFile file = input(text);
  qcd::read_hmc_parameters(file.root());
  std::string all;
  for (const std::string& error : file.errors()) all += error + '\n';
  return all;
}

}  // namespace tests
