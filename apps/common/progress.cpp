#include "apps/common/progress.hpp"

#include <cmath>
#include <cstdio>
#include <string>

#include "lib/gauge/checkerboard.hpp"

namespace common {

namespace {

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

void Progress::begin(const qcd::RunParameters& parameters, const std::string& method) {
  metropolis_ = parameters.kind->metropolis;
  const qcd::McControl& control = parameters.control;
  const unsigned long apart = parameters.separate_warm_up();
  out_ << "lattice " << qcd::lattice_text(parameters.lattice()) << ", start " << parameters.cfg_type << ", ";
  if (apart > 0) out_ << apart << " warm-up updates, ";
  out_ << "updates " << control.start_update + 1 << " to " << control.start_update + parameters.updates_to_do() - apart
       << " of " << control.total_updates() - apart << ", " << method << "\n";
  out_ << (metropolis_ ? "  update     plaquette          dH  accepted   rate   seconds      left\n"
                       : "  update     plaquette           seconds      left\n");
  out_.flush();
}

void Progress::update(const qcd::UpdateReport& report) {
  const std::string left = clock_text(report.seconds_left);
  if (metropolis_) {
    const char* accepted = report.warm_up ? "warm-up" : report.trajectory.accepted ? "yes" : "no";
    out_ << formatted("%8lu  %12.9f  %10.5f  %8s  %4.0f%%  %8.2f  %8s\n", report.update_no, report.plaquette,
                      report.trajectory.delta_h, accepted, 100 * report.acceptance, report.seconds, left.c_str());
  } else {
    out_ << formatted("%8lu  %12.9f  %7s  %8.3f  %8s\n", report.update_no, report.plaquette,
                      report.warm_up ? "warm-up" : "", report.seconds, left.c_str());
  }
  out_.flush();
}

void Progress::warning(const std::string& text) {
  out_ << "warning: " << text << "\n";
  out_.flush();
}

void Progress::end(const qcd::RunSummary& summary, const Arguments& arguments) {
  if (summary.stopped) out_ << "stopped by signal after update " << summary.last_update << "\n";
  out_ << formatted("%lu updates in %s, %.3g s each; ", summary.updates, clock_text(summary.seconds).c_str(),
                    summary.seconds / static_cast<double>(summary.updates));
  if (metropolis_) out_ << formatted("acceptance %.0f%%, ", 100 * summary.acceptance);
  out_ << formatted("<plaquette> %.6f", summary.mean_plaquette);
  if (metropolis_) out_ << formatted(", <exp(-dH)> %.4f", summary.mean_exp_minus_dh);
  out_ << "\ndata           " << arguments.data << "\n"
       << "log            " << arguments.log << "\n"
       << "configuration  " << summary.last_checkpoint.configuration << "\n"
       << "continue with  " << arguments.program << " -i " << summary.last_checkpoint.restart << "\n";
  out_.flush();
}

void Progress::nothing_to_do(const qcd::RunParameters& parameters) {
  const qcd::McControl& control = parameters.control;
  out_ << "run is finished: StartUpdateNum " << control.start_update << ", NProductionUpdates "
       << control.production_updates << ", NUpdatesThisRun " << control.updates_this_run << "\n";
}

void Progress::input_is_valid(const std::string& file, const std::vector<int>& lattice, const std::string& contents) {
  out_ << file << ": valid; lattice " << qcd::lattice_text(lattice) << ", " << contents << "\n";
}

}  // namespace common
