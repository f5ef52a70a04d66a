#include "apps/bench/suite_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iomanip>
#include <memory>
#include <ostream>
#include <string>

#include "apps/bench/hopping_term.hpp"
#include "jit/runtime.hpp"
#include "lib/action/gauge_actions.hpp"
#include "lib/dirac/preconditioned.hpp"
#include "lib/dirac/wilson.hpp"
#include "lib/gauge/checkerboard.hpp"
#include "lib/gauge/start.hpp"
#include "lib/heatbath/heatbath.hpp"
#include "lib/solver/bicgstab.hpp"
#include "lib/solver/cg.hpp"
#include "lib/solver/multi_shift.hpp"

namespace bench {
namespace {

using Double = QDP::LatticeFermionD;
using Single = QDP::LatticeFermionF;
using qcd::SolveResult;

constexpr double kKappa = 0.15;
constexpr int kRepetitions = 3;
constexpr double kPatience = 60;  ///< seconds after which there is no other repetition
constexpr int kRunsToSettle = 6;

/// Heatbath sweeps at beta 6, enough for the plaquette.
qcd::GaugeField thermal_field() {
  qcd::Heatbath heatbath(std::make_shared<qcd::LoopAction>(qcd::wilson_action(6.0)), {},
                         {.over_relaxation = 1, .max_trials = 10});
  qcd::GaugeField u(QDP::Nd);
  qcd::weak_field_start(u);
  for (int n = 0; n < 10; ++n) heatbath.update(u);
  return u;
}

template <class F>
std::unique_ptr<qcd::FermionOperator<F>> quark(const qcd::GaugeField& u, bool in_half = false) {
  const auto d = std::make_shared<qcd::WilsonOperator<F>>(qcd::converted_links<qcd::LinksOf<F>>(u),
                                                          qcd::WilsonParameters{.mass = 1 / (2 * kKappa) - QDP::Nd});
  if (in_half) d->keep_in_half();
  return qcd::make_preconditioned<F>(d, qcd::Preconditioning::even_odd);
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  jit::Runtime::instance().synchronize();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Solve {
  const char* name;
  std::function<SolveResult()> run;
  int sides = 1;  ///< all times are those of one
  SolveResult result = {};
  std::vector<double> seconds = {};
};

std::vector<double> shifts() {
  constexpr int kShifts = 12;
  std::vector<double> values;
  for (int k = 0; k < kShifts; ++k) values.push_back(1e-6 * std::pow(10.0, 7.0 * k / (kShifts - 1)));
  return values;
}

}  // namespace

std::vector<SolverRecord> measure_solvers(const std::vector<int>& lattice, int threads, double min_seconds,
                                          Cases& cases, std::ostream& progress) {
  const std::string where = qcd::lattice_text(lattice) + ", threads " + std::to_string(threads) + ": ";
  progress << where << "ten heatbath sweeps" << std::endl;
  const qcd::GaugeField u = thermal_field();
  const auto m = quark<Double>(u);
  const auto single = quark<Single>(u), half = quark<Single>(u, true);
  const qcd::SystemOperator<Double> system{*m, [&]() -> const qcd::FermionOperator<Single>& { return *single; },
                                           [&]() -> const qcd::FermionOperator<Single>& { return *half; }};
  const QDP::Subset& s = m->domain();
  Double b = QDP::zero, x;
  gaussian(b, s);

  const qcd::StoppingCriterion asked{1e-12, 5000};
  const auto from_nought = [&](const auto& solver) {
    x[s] = QDP::zero;
    return solver.solve(x, system, b);
  };
  std::vector<Double> x_shifted;
  std::vector<Solve> solves;
  solves.push_back({"cg", [&] { return from_nought(qcd::CG<Double>(asked)); }});
  solves.push_back({"cg_mixed", [&] { return from_nought(qcd::MixedCG<Double>(asked)); }});
  solves.push_back({"cg_mixed_half", [&] {
                      return from_nought(
                          qcd::MixedCG<Double>(asked, qcd::MixedCG<Double>::kDelta, qcd::InnerPrecision::half));
                    }});
  solves.push_back(
      {"multi_shift", [&] { return qcd::MultiShiftCG<Double>(asked).solve(x_shifted, system, b, shifts()); }});
  solves.push_back({"bicgstab", [&] { return from_nought(qcd::BiCGStab<Double>(asked)); }});

  std::vector<Double> sources;
  for (int i = 0; i < 12; ++i) gaussian(sources.emplace_back(QDP::zero), s);
  const auto all_sides = [&](const auto& solver, int sides) {
    std::vector<Double> solutions(sides);
    for (Double& solution : solutions) solution[s] = QDP::zero;
    return solver.solve_all(solutions, system, {sources.begin(), sources.begin() + sides}).front();
  };
  solves.push_back({"cg_4_sides", [&] { return all_sides(qcd::CG<Double>(asked), 4); }, 4});
  solves.push_back({"cg_12_sides", [&] { return all_sides(qcd::CG<Double>(asked), 12); }, 12});
  solves.push_back({"cg_mixed_4_sides", [&] { return all_sides(qcd::MixedCG<Double>(asked), 4); }, 4});

  cases.want(solves.front().name);
  solves.erase(std::remove_if(solves.begin() + 1, solves.end(), [&](const Solve& s) { return !cases.want(s.name); }),
               solves.end());

  const auto dslash = [&](long repeats) {
    const auto links = qcd::converted_links<qcd::LinksOf<Double>>(u);
    Double chi;
    hopping_term<DoubleFields>(chi, links, b);
    return seconds([&] {
             for (long n = 0; n < repeats; ++n) hopping_term<DoubleFields>(chi, links, b);
             jit::Runtime::instance().synchronize();
           }) /
           static_cast<double>(repeats);
  };

  const auto tell = [&](const Solve& solve, const char* what, double taken) {
    progress << where << solve.name << ", " << what << ": " << solve.result.iterations << " iterations, "
             << std::setprecision(3) << taken << " s" << std::endl;
  };
  double passed = 0;
  // Code that is made or tried during a solve takes time that is not the solve's: it is run again, a few times.
  const auto seconds_of = [&](Solve& solve, int runs) {
    const jit::Runtime& runtime = jit::Runtime::instance();
    double taken = 0;
    for (bool settled = false; !settled && runs > 0; --runs) {
      const auto before = runtime.compilations() + runtime.trials();
      taken = seconds([&] { solve.result = solve.run(); });
      passed += taken;
      settled = runtime.compilations() + runtime.trials() == before;
    }
    return taken;
  };
  for (Solve& solve : solves) {
    tell(solve, "first", seconds_of(solve, 1));
    if (passed < kPatience) seconds_of(solve, kRunsToSettle);
  }
  const long hops = std::max(20L, static_cast<long>(min_seconds / kRepetitions / dslash(20)));
  std::vector<double> dslash_seconds;
  passed = 0;
  for (int n = 0; n < kRepetitions && passed < kPatience; ++n) {
    dslash_seconds.push_back(dslash(hops));
    for (Solve& solve : solves) {
      const double taken = seconds_of(solve, kRunsToSettle);
      solve.seconds.push_back(taken / solve.sides);
      tell(solve, "timed", taken);
    }
  }

  double sites = kHoppingTerm.share_of_sites;
  for (const int extent : lattice) sites *= extent;
  const double dslash_flops = kHoppingTerm.flops * sites;
  std::vector<SolverRecord> records;
  const Solve& reference = solves.front();
  for (const Solve& solve : solves) {
    const SolveResult& r = solve.result;
    std::vector<double> gflops, of_dslash, to_cg;
    for (std::size_t n = 0; n < solve.seconds.size(); ++n) {
      gflops.push_back(r.flops / solve.seconds[n] * 1e-9);
      of_dslash.push_back(r.flops / solve.seconds[n] / (dslash_flops / dslash_seconds[n]));
      to_cg.push_back(solve.seconds[n] / reference.seconds[n]);
    }
    records.push_back({.name = solve.name,
                       .lattice = lattice,
                       .threads = threads,
                       .converged = r.converged,
                       .residual = r.residual,
                       .iterations = r.iterations,
                       .applications = r.applications,
                       .single_applications = r.single_applications,
                       .seconds = median(solve.seconds),
                       .gflops = median(gflops),
                       .share_of_dslash = median(of_dslash),
                       .time_to_cg = median(to_cg),
                       .applications_to_cg =
                           static_cast<double>(r.applications) / static_cast<double>(reference.result.applications)});
  }
  return records;
}

}  // namespace bench
