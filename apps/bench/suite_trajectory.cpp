#include "apps/bench/suite_trajectory.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

#include "jit/memory/residency.hpp"
#include "jit/runtime.hpp"
#include "lib/action/gauge_actions.hpp"
#include "lib/action/gauge_monomial.hpp"
#include "lib/action/pseudofermion.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/gauge/phases.hpp"
#include "lib/gauge/start.hpp"
#include "lib/hmc/trajectory.hpp"
#include "lib/solver/cg.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using Fermion = QDP::LatticeFermion;

constexpr int kWarmUp = 3;
constexpr std::size_t kKernels = 10;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

/// A monomial and the time spent in it.
class TimedMonomial : public qcd::Monomial {
 public:
  explicit TimedMonomial(std::shared_ptr<qcd::Monomial> monomial) : monomial_(std::move(monomial)) {}

  QDP::Double action(const qcd::GaugeField& u, const qcd::Log& log) override {
    const auto begin = Clock::now();
    const QDP::Double s = monomial_->action(u, log);
    energy += seconds_since(begin);
    return s;
  }
  void force(qcd::GaugeField& f, const qcd::GaugeField& u, const qcd::Log& log) override {
    const auto begin = Clock::now();
    monomial_->force(f, u, log);
    forces += seconds_since(begin);
  }
  void refresh(const qcd::GaugeField& u) override {
    const auto begin = Clock::now();
    monomial_->refresh(u);
    refreshes += seconds_since(begin);
  }
  std::string log_tag() const override { return monomial_->log_tag(); }

  double energy = 0, forces = 0, refreshes = 0;

 private:
  std::shared_ptr<qcd::Monomial> monomial_;
};

std::shared_ptr<qcd::Monomial> quark_monomial() {
  const auto links = std::make_shared<qcd::PhaseMap>();
  links->boundary(QDP::Nd - 1, -1);
  using Action = qcd::OperatorAction<Fermion, qcd::WilsonOperator, qcd::WilsonParameters>;
  const auto action = std::make_shared<Action>(
      qcd::LinkMaps{links}, qcd::WilsonParameters{.mass = 1 / (2 * 0.15) - QDP::Nd}, qcd::Preconditioning::even_odd);
  const qcd::StoppingCriterion criterion{.residual = 1e-9, .max_iterations = 2000};
  return std::make_shared<qcd::TwoFlavorMonomial<Fermion>>(
      qcd::Quark<Fermion>{action, qcd::Preconditioning::even_odd},
      qcd::PseudofermionSolver<Fermion>{std::make_shared<qcd::CG<Fermion>>(criterion),
                                        std::make_shared<qcd::LastSolution<Fermion>>()});
}

std::shared_ptr<qcd::Monomial> gauge_monomial() {
  return std::make_shared<qcd::GaugeMonomial>(std::make_shared<qcd::LoopAction>(qcd::wilson_action(5.5)));
}

}  // namespace

TrajectoryRecord measure_trajectory(const std::vector<int>& lattice, int threads, double min_seconds,
                                    const Ceiling& ceiling) {
  const auto quarks = std::make_shared<TimedMonomial>(quark_monomial());
  const auto gauge = std::make_shared<TimedMonomial>(gauge_monomial());
  qcd::Hamiltonian hamiltonian({{"quarks", quarks}, {"gauge", gauge}}, {"quarks", "gauge"});
  const auto stages = qcd::find_scheme("LCM_STS_MIN_NORM_2").stages({0.1931833275037836});
  const qcd::Integrator integrator(
      0.5, qcd::make_evolution(stages, 4, {{"quarks", quarks}}, qcd::make_evolution(stages, 4, {{"gauge", gauge}})));
  qcd::GaugeField u(QDP::Nd);
  qcd::weak_field_start(u);
  const auto trajectory = [&] {
    qcd::run_trajectory(u, hamiltonian, integrator, {.warm_up = true, .monitor_forces = false});
  };
  for (int n = 0; n < kWarmUp; ++n) trajectory();

  for (TimedMonomial* monomial : {quarks.get(), gauge.get()})
    monomial->energy = monomial->forces = monomial->refreshes = 0;
  jit::Runtime& runtime = jit::Runtime::instance();
  runtime.set_profiling(true);
  runtime.reset_profile();
  jit::Residency& residency = jit::Residency::instance();
  residency.reset_transfers();
  const auto begin = Clock::now();
  int trajectories = 0;
  do {
    trajectory();
    ++trajectories;
  } while (seconds_since(begin) < min_seconds);
  runtime.synchronize();
  const double wall = seconds_since(begin), n = trajectories;

  TrajectoryRecord record;
  record.lattice = lattice;
  record.threads = threads;
  record.seconds = wall / n;
  const auto part = [&](const char* name, double seconds) {
    record.parts.push_back({name, seconds / n, seconds / wall});
  };
  part("quark force", quarks->forces);
  part("gauge force", gauge->forces);
  part("energies", quarks->energy + gauge->energy);
  part("pseudofermions", quarks->refreshes);
  double named = 0;
  for (const auto& p : record.parts) named += p.seconds * n;
  part("links, momenta", wall - named);

  double in_kernels = 0, flops = 0;
  for (const jit::KernelInfo& kernel : runtime.kernels()) {
    in_kernels += kernel.seconds;
    flops += kernel.flops;
    if (kernel.calls > 0)
      record.kernels.push_back({kernel.name, static_cast<double>(kernel.calls) / n, kernel.seconds / wall,
                                kernel.bytes / kernel.seconds * 1e-9 / ceiling.triad_gbytes_per_s,
                                kernel.flops / kernel.seconds * 1e-9});
  }
  std::sort(record.kernels.begin(), record.kernels.end(),
            [](const auto& a, const auto& b) { return a.share > b.share; });
  if (record.kernels.size() > kKernels) record.kernels.resize(kKernels);
  record.share_in_kernels = in_kernels / wall;
  const jit::TransferCounts& moved = residency.transfers();
  record.fields_moved = static_cast<double>(moved.in + moved.out + moved.spilled) / n;
  record.gflops = flops / wall * 1e-9;
  return record;
}

}  // namespace bench
