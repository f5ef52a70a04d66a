#include "lib/hmc/step_tuner.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>

namespace qcd {

using namespace QDP;

// ---- what the stages alone say -------------------------------------------------------------------------------------

namespace {

/// What one step of size h conserves exactly, H' = ((1 + momentum) p^2 + (1 + position) q^2)/2.
struct ConservedForm {
  double momentum, position;
};

ConservedForm conserved_form(const std::vector<Stage>& stages, double h) {
  // (q, p) after one step from (1, 0) and from (0, 1).
  double q[2] = {1, 0}, p[2] = {0, 1};
  for (const Stage& stage : stages)
    for (int i : {0, 1}) switch (stage.kind) {
        case Stage::kick:
          p[i] -= stage.h * h * q[i];
          break;
        case Stage::drift:
          q[i] += stage.h * h * p[i];
          break;
        case Stage::gradient_kick:
          p[i] -= stage.h * h * (1 - stage.g * h * h) * q[i];
          break;
      }
  // A palindrome has the matrix {{cos t, s}, {-r, cos t}}, which conserves s p^2 + r q^2; t is the phase of one step.
  const double s = q[1], r = -p[0];
  if (std::fabs(q[0] - p[1]) > 1e-12 || !(s * r > 0))
    throw ShapeError("scheme_error: expected the stages of a palindromic scheme with steps in the forward direction");
  const double sine = std::sqrt(s * r), scale = std::atan2(sine, q[0]) / (h * sine);
  return {scale * s - 1, scale * r - 1};
}

}  // namespace

SchemeError scheme_error(const std::vector<Stage>& stages) {
  constexpr double h = 0.2;
  const ConservedForm coarse = conserved_form(stages, h), fine = conserved_form(stages, h / 2);
  const double ratio = std::hypot(coarse.momentum, coarse.position) / std::hypot(fine.momentum, fine.position);
  const int order = 2 * static_cast<int>(std::lround(std::log2(ratio) / 2));
  if (order < 2) throw ShapeError("scheme_error: expected stages that add up to one step");
  // The next term is two orders higher; the two step sizes cancel it.
  const double high = std::pow(h, order), low = std::pow(h / 2, order);
  const auto limit = [&](double at_h, double at_half) { return (4 * at_half / low - at_h / high) / 3; };
  return {order, limit(coarse.momentum, fine.momentum), limit(coarse.position, fine.position)};
}

double acceptance_of_sigma(double sigma) { return std::erfc(sigma / std::sqrt(8.0)); }

double sigma_of_acceptance(double acceptance) {
  double low = 0, high = 100;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (acceptance_of_sigma(middle) > acceptance ? low : high) = middle;
  }
  return low;
}

// ---- cost and energy violation -------------------------------------------------------------------------------------

StepModel::Level::Level(const std::vector<Stage>& stages) : error(scheme_error(stages)) {
  for (const Stage& stage : stages) {
    if (stage.kind == Stage::drift)
      runs.push_back(std::fabs(stage.h));
    else
      kicks += stage.kind == Stage::gradient_kick ? 2 : 1;
  }
  if (!can_join(stages)) return;
  if (stages.front().kind == Stage::drift) {
    runs.front() += runs.back();
    runs.pop_back();
    end_runs = 1;
  } else {
    --kicks;
    end_kicks = 1;
  }
}

StepModel::StepModel(double tau, std::vector<Level> levels) : tau_(tau), levels_(std::move(levels)) {
  // Runs of length r contribute r * r^p to an error of order p.
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    double length = 1;
    if (l > 0) {
      const int p = levels_[l].error.order;
      double sum = 0, weighted = 0;
      for (double r : levels_[l - 1].runs) {
        sum += r;
        weighted += std::pow(r, p + 1);
      }
      length = std::pow(weighted / sum, 1.0 / p);
    }
    run_length_.push_back(length);
  }
}

double StepModel::variance(const std::vector<int>& steps, std::size_t level) const {
  const Level& at = levels_[level];
  if (at.variance <= 0) return 0;
  double h = tau_;
  for (std::size_t l = 0; l <= level; ++l) h *= run_length_[l] / steps[l];
  const double w_to_p_minus_2 = std::pow(at.frequency2, (at.error.order - 2) / 2);
  const double factor = std::pow(h, at.error.order) * w_to_p_minus_2;
  return 2 * factor * factor * at.variance;
}

double StepModel::variance(const std::vector<int>& steps) const {
  double total = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) total += variance(steps, l);
  return total;
}

double StepModel::cost(const std::vector<int>& steps) const {
  double seconds = 0, runs = 1;  // runs of this level per trajectory
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    seconds += runs * (static_cast<double>(steps[l]) * levels_[l].kicks + levels_[l].end_kicks) * levels_[l].seconds;
    runs *= static_cast<double>(steps[l]) * static_cast<double>(levels_[l].runs.size()) + levels_[l].end_runs;
  }
  return seconds;
}

std::vector<int> StepModel::cheapest(double bound, const std::vector<int>& low, const std::vector<int>& high) const {
  std::vector<int> best = high, steps = high;
  double best_cost = std::numeric_limits<double>::infinity();
  const std::size_t last = levels_.size() - 1;
  // Tries all step numbers of the outer levels; the innermost level takes as many steps as they leave necessary.
  const auto search = [&](const auto& self, std::size_t l) -> void {
    if (l < last) {
      for (int n = low[l]; n <= high[l]; ++n) {
        steps[l] = n;
        std::copy(low.begin() + static_cast<long>(l) + 1, low.end(), steps.begin() + static_cast<long>(l) + 1);
        if (cost(steps) >= best_cost) return;
        self(self, l + 1);
      }
      return;
    }
    steps[last] = high[last];
    if (variance(steps) > bound) return;
    int too_few = low[last] - 1, enough = high[last];
    while (enough - too_few > 1) {
      steps[last] = (too_few + enough) / 2;
      (variance(steps) <= bound ? enough : too_few) = steps[last];
    }
    steps[last] = enough;
    if (const double seconds = cost(steps); seconds < best_cost) {
      best_cost = seconds;
      best = steps;
    }
  };
  search(search, 0);
  return best;
}

// ---- the tuner -----------------------------------------------------------------------------------------------------

StepTuner::StepTuner(Options options, Integrator& integrator)
    : options_(std::move(options)), integrator_(&integrator), scales_(integrator.time_scales()) {
  for (const TimeScale* scale : scales_)
    if (scale->steps < 1 || scale->stages.empty())
      throw InputError(
          "AutoTune chooses the n_steps of every level: expected integrators with n_steps and a scheme, got one that "
          "follows from delta_tau_max, or LCM_EXP_S");
  if (scales_.empty()) throw InputError("AutoTune: expected an integrator with forces, got drifts only");
  if (!options_.costs.empty() && options_.costs.size() != scales_.size())
    throw InputError("CostPerForce: expected one number per level of the integrator, that is " +
                     std::to_string(scales_.size()) + ", got " + std::to_string(options_.costs.size()));
  sums_.resize(scales_.size());
  samples_.resize(scales_.size());
  run_.resize(scales_.size());
}

std::unique_ptr<StepTuner> StepTuner::read(const Input& md_integrator, const Input& mc_control,
                                           Integrator& integrator) {
  if (!md_integrator.has("AutoTune")) return nullptr;
  const Input input = md_integrator.group("AutoTune");
  Options options;
  options.target_acceptance = input.real("TargetAcceptance", {0.01, 0.9999}, options.target_acceptance);
  options.rounds = input.integer("Rounds", at_least(1), options.rounds);
  options.trajectories = input.integer("Trajectories", at_least(2), options.trajectories);
  if (input.has("CostPerForce")) options.costs = input.reals("CostPerForce");
  const int updates = options.rounds * options.trajectories,
            warm_up = mc_control.integer("NWarmUpUpdates", at_least(0));
  if (updates > warm_up) {
    input.error("Trajectories", "Rounds x Trajectories of at most NWarmUpUpdates, " + std::to_string(warm_up),
                std::to_string(updates));
    return nullptr;
  }
  options.first_update = static_cast<unsigned long>(warm_up - updates + 1);
  try {
    auto tuner = std::make_unique<StepTuner>(options, integrator);
    if (mc_control.has("StepTuning")) tuner->read_state(mc_control.group("StepTuning"));
    return tuner;
  } catch (const InputError& error) {
    input.error("", error.what(), "this integrator");
    return nullptr;
  }
}

bool StepTuner::observes(unsigned long update_no) const {
  const int all = options_.rounds * options_.trajectories;
  return observed_ < all && update_no >= options_.first_update && update_no < options_.first_update + all;
}

void StepTuner::force(int level, double squares, double power, double seconds) {
  const auto l = static_cast<std::size_t>(level);
  samples_[l].push_back({run_[l], time_, squares, power, seconds});
}

std::vector<StepTuner::Bracket> StepTuner::brackets(std::size_t level, bool across_runs) const {
  const std::vector<Sample>& samples = samples_[level];
  const SchemeError error = scheme_error(scales_[level]->stages);
  const double shortest = 0.25 * integrator_->tau() / static_cast<double>(std::max<std::size_t>(samples.size(), 1));
  std::vector<Bracket> found;
  for (std::size_t i = 0, last = 0; i < samples.size(); ++i) {
    const Sample &a = samples[last], &b = samples[i];
    const double dt = b.time - a.time;
    if (a.run != b.run && !across_runs) {
      last = i;
    } else if (std::fabs(dt) > shortest) {  // fourth-order schemes take small steps back
      const double squares = (a.squares + b.squares) / 2;
      found.push_back(
          {(a.time + b.time) / 2, error.momentum * (squares - (b.power - a.power) / dt) + error.position * squares});
      last = i;
    }
  }
  return found;
}

void StepTuner::end_trajectory(double delta_h, const Log& log) {
  for (std::size_t l = 0; l < samples_.size(); ++l) {
    double seconds = 0;
    for (const Sample& sample : samples_[l]) seconds += sample.seconds / static_cast<double>(samples_[l].size());
    if (options_.costs.empty()) sums_[l].seconds += QDP::io::once([&] { return seconds; });
    // The outer levels' kicks between two runs would blur R; runs with a single force leave no choice.
    std::vector<Bracket> r = brackets(l, false);
    if (r.size() < 2) r = brackets(l, true);
    samples_[l].clear();
    if (r.size() < 2) continue;
    double mean = 0, variance = 0, rate2 = 0;
    for (const Bracket& bracket : r) mean += bracket.value / static_cast<double>(r.size());
    for (std::size_t i = 0; i < r.size(); ++i) {
      variance += std::pow(r[i].value - mean, 2);
      if (i > 0) rate2 += std::pow((r[i].value - r[i - 1].value) / (r[i].time - r[i - 1].time), 2);
    }
    sums_[l].variance += variance / static_cast<double>(r.size() - 1);
    sums_[l].rate2 += rate2 / static_cast<double>(r.size() - 1);
  }
  time_ = 0;
  // A dH that is no number says that the steps are far too long, not by how much.
  dh2_sum_ += std::isfinite(delta_h) ? std::min(delta_h * delta_h, 1e12) : 1e12;
  if (++observed_ % options_.trajectories == 0) choose(log);
}

StepModel StepTuner::model() const {
  std::vector<StepModel::Level> levels;
  for (std::size_t l = 0; l < scales_.size(); ++l) {
    StepModel::Level level(scales_[l]->stages);
    level.variance = sums_[l].variance / observed_;
    level.frequency2 = level.variance > 0 ? sums_[l].rate2 / (4 * sums_[l].variance) : 0;
    level.seconds = options_.costs.empty() ? sums_[l].seconds / observed_ : options_.costs[l];
    levels.push_back(std::move(level));
  }
  return StepModel(integrator_->tau(), std::move(levels));
}

namespace {

/// sigma^2 of a Gaussian dH with <dH> = sigma^2/2, from <dH^2> = sigma^2 + sigma^4/4.
double sigma2_of(double dh2) { return 2 * (std::sqrt(1 + dh2) - 1); }

std::string text_of(const std::vector<int>& numbers) {
  std::string text;
  for (int n : numbers) text += (text.empty() ? "" : " ") + std::to_string(n);
  return text;
}

/// All digits, so that a restart continues with the same bits.
std::string exactly(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}

}  // namespace

std::vector<int> StepTuner::steps() const {
  std::vector<int> steps;
  for (const TimeScale* scale : scales_) steps.push_back(scale->steps);
  return steps;
}

void StepTuner::choose(const Log& log) {
  const std::vector<int> now = steps();
  rounds_.push_back({now, dh2_sum_ / options_.trajectories});
  dh2_sum_ = 0;

  // C from all rounds; those with a dH so large that leading order says little count less.
  const StepModel model = this->model();
  double weights = 0, calibration = 0;
  for (const Round& round : rounds_) {
    const double sigma2 = sigma2_of(round.dh2), expected = model.variance(round.steps);
    if (expected <= 0) continue;
    const double weight = 1 / (1 + sigma2 * sigma2);
    weights += weight;
    calibration += weight * sigma2 / expected;
  }
  calibration = weights > 0 ? calibration / weights : 1;

  std::vector<int> low, high;
  for (int n : now) {
    low.push_back((n + 1) / 2);
    high.push_back(2 * n);
  }
  // Three forces of the outermost level are the least that shows a variance of R.
  const StepModel::Level& outermost = model.levels().front();
  while (low.front() * outermost.kicks + outermost.end_kicks < 3) ++low.front();
  high.front() = std::max(low.front(), high.front());
  const double target = sigma_of_acceptance(options_.target_acceptance);
  const std::vector<int> chosen = model.cheapest(calibration > 0 ? target * target / calibration : 1e300, low, high);
  for (std::size_t l = 0; l < scales_.size(); ++l) scales_[l]->steps = chosen[l];

  const double sigma = std::sqrt(calibration * model.variance(chosen));
  const auto group = log.group("StepTuning");
  log.write("round", static_cast<int>(rounds_.size()));
  log.write("n_steps", text_of(now));
  log.write("sigma_dH", std::sqrt(sigma2_of(rounds_.back().dh2)));
  log.write("calibration", calibration);
  {
    const auto list = log.group("Levels");
    for (std::size_t l = 0; l < scales_.size(); ++l) {
      const auto elem = log.group("elem");
      const StepModel::Level& level = model.levels()[l];
      log.write("order", level.error.order);
      log.write("variance", level.variance);
      log.write("frequency", std::sqrt(level.frequency2));
      log.write("seconds_per_force", level.seconds);
      log.write("variance_dH", calibration * model.variance(now, l));
    }
  }
  log.write("n_steps_new", text_of(chosen));
  log.write("predicted_sigma_dH", sigma);
  log.write("predicted_acceptance", acceptance_of_sigma(sigma));
  log.write("frozen", static_cast<int>(rounds_.size()) == options_.rounds);
}

void StepTuner::write_state(XMLWriter& xml) const {
  push(xml, "StepTuning");
  QDP::write(xml, "n_steps", text_of(steps()));
  QDP::write(xml, "observed", observed_);
  QDP::write(xml, "dH_squared", exactly(dh2_sum_));
  push(xml, "Rounds");
  for (const Round& round : rounds_) {
    push(xml, "elem");
    QDP::write(xml, "n_steps", text_of(round.steps));
    QDP::write(xml, "dH_squared", exactly(round.dh2));
    pop(xml);
  }
  pop(xml);
  push(xml, "Levels");
  for (const LevelSums& sums : sums_) {
    push(xml, "elem");
    QDP::write(xml, "variance", exactly(sums.variance));
    QDP::write(xml, "rate_squared", exactly(sums.rate2));
    QDP::write(xml, "seconds", exactly(sums.seconds));
    pop(xml);
  }
  pop(xml);
  pop(xml);
}

void StepTuner::read_state(const Input& input) {
  const int levels = static_cast<int>(scales_.size());
  const std::vector<int> steps = input.integers("n_steps", levels, at_least(1));
  observed_ = input.integer("observed", {0, static_cast<double>(options_.rounds * options_.trajectories)});
  dh2_sum_ = input.real("dH_squared");
  rounds_.clear();
  for (const Input& elem : input.elements("Rounds", Empty::allowed))
    rounds_.push_back({elem.integers("n_steps", levels, at_least(1)), elem.real("dH_squared")});
  const std::vector<Input> sums = input.elements("Levels");
  if (steps.size() != scales_.size() || sums.size() != scales_.size()) {
    input.error("Levels", std::to_string(levels) + " <elem>, one per level of the integrator",
                std::to_string(sums.size()));
    return;
  }
  for (std::size_t l = 0; l < scales_.size(); ++l) {
    scales_[l]->steps = steps[l];
    sums_[l] = {sums[l].real("variance"), sums[l].real("rate_squared"), sums[l].real("seconds")};
  }
}

}  // namespace qcd
