#include "apps/hmc/progress.hpp"

#include <cmath>
#include <cstdio>
#include <string>

namespace hmc {

namespace {

std::string extents(const std::vector<int>& lattice) {
  std::string text;
  for (int extent : lattice) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

template <class... Values>
std::string formatted(const char* format, Values... values) {
  char text[256];
  std::snprintf(text, sizeof text, format, values...);
  return text;
}

}  // namespace

std::string clock_text(double seconds) {
  const long s = std::lround(seconds);
  if (s < 3600) return formatted("%ld:%02ld", s / 60, s % 60);
  return formatted("%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
}

void Progress::begin(const qcd::HmcParameters& parameters) {
  const qcd::McControl& control = parameters.control;
  out_ << "lattice " << extents(parameters.dynamics.lattice) << ", start " << parameters.cfg_type << ", updates "
       << control.start_update + 1 << " to " << control.start_update + control.updates_to_do() << " of "
       << control.total_updates() << ", trajectory length " << parameters.dynamics.integrator->tau() << "\n";
  out_ << "  update     plaquette          dH  accepted   rate   seconds      left\n";
  out_.flush();
}

void Progress::update(const qcd::UpdateReport& report) {
  const char* accepted = report.warm_up ? "warm-up" : report.trajectory.accepted ? "yes" : "no";
  out_ << formatted("%8lu  %12.9f  %10.5f  %8s  %4.0f%%  %8.2f  %8s\n", report.update_no, report.plaquette,
                    report.trajectory.delta_h, accepted, 100 * report.acceptance, report.seconds,
                    clock_text(report.seconds_left).c_str());
  out_.flush();
}

void Progress::warning(const std::string& text) {
  out_ << "warning: " << text << "\n";
  out_.flush();
}

void Progress::end(const qcd::RunSummary& summary, const Arguments& arguments) {
  if (summary.stopped) out_ << "stopped by signal after update " << summary.last_update << "\n";
  out_ << formatted("%lu updates in %s, %.3g s each; acceptance %.0f%%, <plaquette> %.6f, <exp(-dH)> %.4f\n",
                    summary.updates, clock_text(summary.seconds).c_str(),
                    summary.seconds / static_cast<double>(summary.updates), 100 * summary.acceptance,
                    summary.mean_plaquette, summary.mean_exp_minus_dh);
  out_ << "data           " << arguments.data << "\n"
       << "log            " << arguments.log << "\n"
       << "configuration  " << summary.last_checkpoint.configuration << "\n"
       << "continue with  hmc -i " << summary.last_checkpoint.restart << "\n";
  out_.flush();
}

void Progress::nothing_to_do(const qcd::HmcParameters& parameters) {
  const qcd::McControl& control = parameters.control;
  out_ << "run is finished: StartUpdateNum " << control.start_update << ", NProductionUpdates "
       << control.production_updates << ", NUpdatesThisRun " << control.updates_this_run << "\n";
}

void Progress::input_is_valid(const std::string& file, const qcd::HmcParameters& parameters) {
  out_ << file << ": valid; lattice " << extents(parameters.dynamics.lattice) << ", "
       << parameters.dynamics.monomials.size() << " monomial(s), " << parameters.control.updates_to_do()
       << " update(s)\n";
}

void Progress::input_is_valid(const std::string& file, const qcd::LeapfrogParameters& parameters) {
  out_ << file << ": valid; lattice " << extents(parameters.dynamics.lattice) << ", "
       << parameters.dynamics.monomials.size() << " monomial(s)\n";
}

void Progress::unused_elements(const std::vector<std::string>& elements) {
  for (const std::string& element : elements) out_ << "  not used: " << element << "\n";
}

void Progress::leapfrog(double delta_h, const Arguments& arguments) {
  out_ << formatted("dH = %.12g\n", delta_h) << "data  " << arguments.data << "\n"
       << "log   " << arguments.log << "\n";
}

}  // namespace hmc
