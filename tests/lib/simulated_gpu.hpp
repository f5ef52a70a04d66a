// Tests that look beneath the physics: their process computes on the simulated GPU, whatever its environment says.
#pragma once

#include "jit/device/device.hpp"
#include "jit/gpu/gpu_device.hpp"
#include "jit/gpu/process_device.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/residency.hpp"
#include "jit/support/env.hpp"
#include "lib/hmc/trajectory.hpp"
#include "tests/lib/monomials.hpp"

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace tests {

/// Sets one of Tessera's variables for this process; nullptr: its default.
inline void set_variable(const char* name, const char* value) {
  if (value != nullptr)
    setenv(name, value, 1);
  else
    unsetenv(name);
  jit::reload_env();
}

/// To be called before anything opens a device: in the initialiser of a variable of the test program. Of the
/// environment only the log and the place of the kernel cache stay.
inline bool compute_on_simulated_gpu() {
  for (const jit::EnvVariable& variable : jit::env_table()) {
    const std::string name = variable.name;
    if (name != "TESSERA_LOG" && name != "TESSERA_CACHE_DIR") unsetenv(variable.name);
  }
  set_variable("TESSERA_DEVICE", "sim");
  return true;
}

inline jit::GpuDevice& gpu() { return dynamic_cast<jit::GpuDevice&>(jit::process_device()); }

/// Hybrid Monte Carlo with the Wilson gauge action and one more monomial: two steps of leapfrog.
class Dynamics {
 public:
  Dynamics(const std::string& name, const std::string& elements) {
    monomials_["gauge"] = make_monomial("GAUGE_MONOMIAL", monomial_inputs().at("GAUGE_MONOMIAL"));
    monomials_["quarks"] = make_monomial(name, elements);
    hamiltonian_ = std::make_unique<qcd::Hamiltonian>(monomials_, std::vector<std::string>{"gauge", "quarks"});
    integrator_ = std::make_unique<qcd::Integrator>(
        0.1, qcd::make_evolution(qcd::find_scheme("LCM_STS_LEAPFROG").stages({}), 2,
                                 {{"gauge", monomials_["gauge"]}, {"quarks", monomials_["quarks"]}}));
  }
  qcd::TrajectoryResult run(GaugeField& u) { return run_trajectory(u, *hamiltonian_, *integrator_, {}); }

 private:
  qcd::MonomialMap monomials_;
  std::unique_ptr<qcd::Hamiltonian> hamiltonian_;
  std::unique_ptr<qcd::Integrator> integrator_;
};

/// Two flavours of heavy Wilson quarks, so that CG is soon done.
inline Dynamics two_flavor_dynamics() {
  return {"TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL",
          wilson_action("WILSON", "2.0") + inverter(solver_residual("1.0e-7")) +
              tag("ChronologicalPredictor", tag("Name", "ZERO_GUESS_4D_PREDICTOR"))};
}

}  // namespace tests
