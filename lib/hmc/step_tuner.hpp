// Choosing the step numbers of a nested integrator from what a few trajectories show: the forces' fluctuations, their cost,
// and the energy violation.
//
// A palindromic symplectic scheme with steps of length h conserves not H but a shadow Hamiltonian, to which time scale l
// with the action S_l and the forces F_l contributes at second order
//
//   h^2 R_l,   R_l = A (|F_l|^2 + 1/2 d^2 S_l/dt^2) + B |F_l|^2          (|F|^2 = sum tr F^+ F, dS_l/dt = -2 Re sum tr P^+ F_l)
//
// with numbers A and B that follow from the stages, and can be read off the scheme's effect on an oscillator of unit
// frequency, H' = H + h^2 (A p^2 + B q^2)/2. (|F|^2 and the other bracket are the Poisson brackets {S,{S,T}}, {T,{S,T}}.)
// At order p this is continued as h^p w_l^(p-2) R_l, where w_l is the frequency of R_l and A, B are those of H' - H at
// that order. So the energy violation over a trajectory has the variance
//
//   sigma^2 = C sum_l 2 h_l^(2p) w_l^(2p-4) Var(R_l),        w_l^2 = <(dR_l/dt)^2> / (4 Var(R_l)).
//
// Var(R_l) and w_l are measured on the way at no cost. C, about one, is what the measured <dH^2> asks for. The acceptance
// is erfc(sigma / sqrt(8)), as dH is Gaussian with <dH> = sigma^2/2: S. Gupta et al., Phys. Lett. B 242 (1990) 437.
// Then the cheapest step numbers with the wanted acceptance are looked for. Sources: M. Clark, A. Kennedy, P. Silva,
// arXiv:0810.1315 (Poisson brackets); A. Bussone et al., arXiv:1610.02860 (variances of forces).
#pragma once

#include "lib/hmc/integrator.hpp"

#include <memory>
#include <vector>

namespace qcd {

/// A scheme with steps h conserves H + h^order (momentum p^2 + position q^2)/2 of an oscillator H = (p^2 + q^2)/2.
struct SchemeError {
  int order = 0;
  double momentum = 0;
  double position = 0;
};

/// From the exact transfer matrix of one step. Throws ShapeError if the stages are not a palindrome of even order.
SchemeError scheme_error(const std::vector<Stage>& stages);

/// erfc(sigma / sqrt(8)), and the sigma that it takes.
double acceptance_of_sigma(double sigma);
double sigma_of_acceptance(double acceptance);

/// Cost and energy violation of a trajectory as functions of the step numbers.
class StepModel {
 public:
  struct Level {
    SchemeError error;
    int kicks = 0;             ///< forces per step, those at the joints of steps counted once
    int end_kicks = 0;         ///< one more per run of steps if a step begins and ends with a kick
    std::vector<double> runs;  ///< drifts of a step, in steps: what the next level integrates over in one go
    int end_runs = 0;          ///< one more if a step begins and ends with a drift
    double variance = 0;       ///< Var(R)
    double frequency2 = 0;     ///< w^2
    double seconds = 0;        ///< per force

    /// What follows from the scheme.
    explicit Level(const std::vector<Stage>& stages);
  };

  StepModel(double tau, std::vector<Level> levels);

  const std::vector<Level>& levels() const { return levels_; }
  /// sigma^2 for C = 1 from level l; all of it.
  double variance(const std::vector<int>& steps, std::size_t level) const;
  double variance(const std::vector<int>& steps) const;
  /// Seconds per trajectory in forces.
  double cost(const std::vector<int>& steps) const;

  /// The cheapest steps with variance() <= bound and low <= steps <= high; `high` if there are none.
  std::vector<int> cheapest(double bound, const std::vector<int>& low, const std::vector<int>& high) const;

 private:
  double tau_;
  std::vector<Level> levels_;
  std::vector<double> run_length_;  ///< of level l in steps of level l-1: the mean that its error sees
};

/// Observes the last warm-up trajectories in rounds, and after each round gives the integrator new step numbers, at most
/// twice and at least half as many as before. After the last round they stay as they are.
///
/// A restart file holds the state, so a restarted run goes on with the same step numbers. While tuning, the choice also
/// depends on measured times, unless CostPerForce gives them: only then do interrupted and undisturbed runs agree to the
/// bit during the rounds. After them they always do.
class StepTuner : public DynamicsObserver {
 public:
  struct Options {
    double target_acceptance = 0.8;
    int rounds = 3;
    int trajectories = 10;           ///< per round
    unsigned long first_update = 1;  ///< of the first round
    std::vector<double> costs;       ///< per force of each level in any unit; empty: measured seconds
  };

  /// Throws InputError if a level of the integrator has no n_steps to choose (LCM_..._DTAU, LCM_EXP_S).
  StepTuner(Options options, Integrator& integrator);

  /// MDIntegrator/AutoTune, for the last warm-up updates; nullptr if there is none.
  static std::unique_ptr<StepTuner> read(const Input& md_integrator, const Input& mc_control, Integrator& integrator);

  /// Whether update `n` is one to learn from.
  bool observes(unsigned long update_no) const;

  void force(int level, double squares, double power, double seconds) override;
  void begin_run(int level) override { ++run_[static_cast<std::size_t>(level)]; }
  void drift(double dt) override { time_ += dt; }

  /// Ends an observed trajectory. After the last of a round: chooses the steps and logs the group StepTuning.
  void end_trajectory(double delta_h, const Log& log);

  /// The group StepTuning of a restart file.
  void write_state(QDP::XMLWriter& xml) const;
  void read_state(const Input& step_tuning);

 private:
  /// Sums over all trajectories observed so far.
  struct LevelSums {
    double variance = 0;  ///< of R within a trajectory
    double rate2 = 0;     ///< (dR/dt)^2, mean over a trajectory
    double seconds = 0;   ///< per force, mean over a trajectory
  };
  struct Round {
    std::vector<int> steps;
    double dh2 = 0;  ///< mean of dH^2
  };
  struct Sample {
    int run;
    double time, squares, power, seconds;
  };
  /// R in the middle between forces that follow each other.
  struct Bracket {
    double time, value;
  };
  std::vector<Bracket> brackets(std::size_t level, bool across_runs) const;
  StepModel model() const;

  void choose(const Log& log);
  std::vector<int> steps() const;

  Options options_;
  Integrator* integrator_;
  std::vector<TimeScale*> scales_;
  std::vector<LevelSums> sums_;
  std::vector<Round> rounds_;                 ///< finished ones
  double dh2_sum_ = 0;                        ///< of the round that goes on
  int observed_ = 0;                          ///< trajectories in all
  double time_ = 0;                           ///< within the trajectory
  std::vector<int> run_;                      ///< of each level
  std::vector<std::vector<Sample>> samples_;  ///< forces of this trajectory, by level
};

}  // namespace qcd
