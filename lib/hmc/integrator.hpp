// Integrators of molecular dynamics: symmetric products of momentum kicks and link drifts, nested at will.
//
//   kick  S(h):  P <- taproj( P + h F(U) )          drift  T(h):  U <- exp(h P) U
//
// A scheme is a palindrome of stages (integrator_table); the drift of a scheme is either T itself or, with a
// SubIntegrator, a whole scheme with other monomials and smaller steps. All are reversible and preserve the area of
// phase space.
#pragma once

#include "lib/action/monomial.hpp"
#include "lib/hmc/state.hpp"
#include "lib/io/table.hpp"

#include <memory>
#include <string>
#include <vector>

namespace qcd {

/// Watches a trajectory.
class DynamicsObserver {
 public:
  virtual ~DynamicsObserver() = default;
  /// The forces F of a level (0: the outermost) were computed, in `seconds`. squares = sum tr F^+ F over links, power =
  /// Re sum tr P^+ F = -1/2 dS/dt with the momenta of this moment, both with the factors of anisotropic steps.
  virtual void force(int level, double squares, double power, double seconds) = 0;
  /// A level starts a run of steps; the outer levels may have changed the momenta since its last one.
  virtual void begin_run(int level) = 0;
  /// The links moved on by dt.
  virtual void drift(double dt) = 0;
};

/// What the elementary steps need besides the state.
struct StepContext {
  QDP::multi1d<QDP::Real> factor;  ///< of the step size, per direction: 1/xi_mom for t_dir if anisotropic
  Log log;                         ///< leapP and leapQ entries
  bool monitor_forces = false;     ///< also the forces' sizes (costs a few sums per force)
  bool single_forces = false;      ///< Monomial::force_in_single
  DynamicsObserver* observer = nullptr;

  StepContext();
};

/// One stage of a scheme; h in units of the step size.
struct Stage {
  enum Kind {
    kick,          ///< S(h dt)
    drift,         ///< T(h dt) or the sub-integrator
    gradient_kick  ///< S(h dt) with the force taken at exp(g dt^2 F(U)) U: the force-gradient term
  };
  Kind kind = kick;
  double h = 0;
  double g = 0;
};

/// Whether the last stage of one step and the first of the next are done as one.
bool can_join(const std::vector<Stage>& stages);

/// A scheme by name: its free parameters with their defaults, and its stages as a function of them.
struct Scheme {
  struct Parameter {
    const char* name;
    double value;
  };
  std::string name;
  std::string about;  ///< order and source
  std::vector<Parameter> parameters;
  std::vector<Stage> (*stages)(const std::vector<double>& parameters);
  bool step_from_delta_tau = false;  ///< n_steps = ceil(tau / delta_tau_max)
};

const std::vector<Scheme>& schemes();

/// Throws InputError for an unknown name.
const Scheme& find_scheme(const std::string& name);

/// The monomials whose force a kick applies.
using KickMonomials = std::vector<NamedMonomial>;

/// One level of a nested integrator: a scheme, how often, and the forces that its kicks apply.
struct TimeScale {
  std::vector<Stage> stages;
  int steps = 1;  ///< 0: as many as keep the step size at or below `limit`
  double limit = 0;
  KickMonomials monomials;
  int level = 0;  ///< 0: the outermost
};

/// Evolves the state by time tau.
class Evolution {
 public:
  virtual ~Evolution() = default;
  virtual void run(PhaseSpace& state, double tau, const StepContext& context) const = 0;
  /// Appends the levels from this one inwards. Drifts alone are no level.
  virtual void collect(std::vector<TimeScale*>& /*scales*/) {}
};

/// `steps` repetitions of a scheme; `drift` is null for the plain drift. The last kick or drift of one step and the
/// first of the next are done as one.
std::unique_ptr<Evolution> make_evolution(std::vector<Stage> stages, int steps, KickMonomials monomials,
                                          std::unique_ptr<Evolution> drift = nullptr);

/// Integrator/Name -> evolution: all schemes, and the primitives LCM_EXP_S and LCM_EXP_T.
const Table<std::unique_ptr<Evolution>, const MonomialMap&>& integrator_table();

/// MDIntegrator: trajectory length, step anisotropy, copy list, and the outermost integrator.
class Integrator {
 public:
  Integrator(double tau, std::unique_ptr<Evolution> evolution);

  /// Reads the group MDIntegrator {tau0, Integrator, [MDPrecision], [copyList], [anisoP, t_dir, xi_mom]}.
  static Integrator read(const Input& md_integrator, const MonomialMap& monomials);

  double tau() const { return tau_; }
  /// The levels from the outermost inwards; their `steps` may be changed between trajectories.
  std::vector<TimeScale*> time_scales();
  /// From and to.
  using Copies = std::vector<std::pair<std::shared_ptr<Monomial>, std::shared_ptr<Monomial>>>;
  const Copies& copies() const { return copies_; }
  /// Copies monomial fields as the copy list says.
  void copy_fields() const;
  /// One trajectory of length tau().
  void run(PhaseSpace& state, const Log& log = {}, bool monitor_forces = false,
           DynamicsObserver* observer = nullptr) const;

 private:
  double tau_ = 1;
  std::unique_ptr<Evolution> evolution_;
  Copies copies_;
  bool single_forces_ = false;
  int t_dir_ = QDP::Nd - 1;
  double xi_mom_ = 1;
};

}  // namespace qcd
