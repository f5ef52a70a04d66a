#include "apps/bench/record.hpp"
#include "lib/gauge/checkerboard.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <ostream>
#include <sstream>

namespace bench {
namespace {

template <class... Values>
std::string format(const char* pattern, Values... values) {
  char text[400];
  std::snprintf(text, sizeof text, pattern, values...);
  return text;
}

std::string json(double value) { return format("%.9g", value); }
std::string json(int value) { return std::to_string(value); }
std::string json(long value) { return std::to_string(value); }
std::string json(bool value) { return value ? "true" : "false"; }
std::string json(Precision precision) { return '"' + std::string(name_of(precision)) + '"'; }

std::string json(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      quoted += format("\\u%04x", c);
    else
      quoted += c;
  }
  return quoted + '"';
}

std::string json(const std::vector<int>& values) {
  std::string text = "[";
  for (const int value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
  return text + "]";
}

/// One JSON object on one line.
class Object {
 public:
  template <class T>
  Object& add(const char* name, const T& value) {
    return add_raw(name, json(value));
  }
  /// What is not measured on every device.
  Object& add_unless_zero(const char* name, double value) { return value == 0 ? *this : add(name, value); }
  Object& add_raw(const char* name, const std::string& value) {
    text_ += (text_.empty() ? "{\"" : ", \"") + std::string(name) + "\": " + value;
    return *this;
  }
  std::string str() const { return text_ + "}"; }

 private:
  std::string text_;
};

std::string object(const Ceiling& c) {
  return Object()
      .add("precision", c.precision)
      .add("threads", c.threads)
      .add("triad_gbytes_per_s", c.triad_gbytes_per_s)
      .add("fma_gflops", c.fma_gflops)
      .add_unless_zero("copy_gbytes_per_s", c.copy_gbytes_per_s)
      .str();
}

std::string object(const Record& r) {
  return Object()
      .add("suite", r.suite)
      .add("case", r.name)
      .add("lattice", r.lattice)
      .add("precision", r.precision)
      .add("device", r.device)
      .add("ranks", r.ranks)
      .add("threads", r.threads)
      .add("seconds", r.seconds)
      .add("spread", r.spread)
      .add("sites", r.sites)
      .add("flops_per_site", r.flops_per_site)
      .add("bytes_per_site", r.bytes_per_site)
      .add("gflops", r.gflops)
      .add("gbytes_per_s", r.gbytes_per_s)
      .add("share_of_triad", r.share_of_triad)
      .add("share_of_fma", r.share_of_fma)
      .add_unless_zero("share_of_copy", r.share_of_copy)
      .str();
}

std::string object(const KernelRecord& k) {
  return Object()
      .add("case", k.name)
      .add("kernel", k.kernel)
      .add("hash", k.hash)
      .add("precision", k.precision)
      .add("cold_seconds", k.cold_seconds)
      .add("warm_seconds", k.warm_seconds)
      .add("warm_from_cache", k.warm_from_cache)
      .str();
}

std::string object(const ExchangeRecord& e) {
  return Object()
      .add("case", e.name)
      .add("lattice", e.lattice)
      .add("grid", e.grid)
      .add("precision", e.precision)
      .add("threads", e.threads)
      .add("lanes", e.lanes)
      .add("seconds", e.seconds)
      .add("sites", e.sites)
      .add("share_of_faces", e.share_of_faces)
      .add("messages", e.messages)
      .add("bytes", e.bytes)
      .add("pack_seconds", e.pack_seconds)
      .add("inner_seconds", e.inner_seconds)
      .add("wait_seconds", e.wait_seconds)
      .add("faces_seconds", e.faces_seconds)
      .str();
}

std::string object(const SolverRecord& s) {
  return Object()
      .add("case", s.name)
      .add("lattice", s.lattice)
      .add("threads", s.threads)
      .add("converged", s.converged)
      .add("residual", s.residual)
      .add("iterations", s.iterations)
      .add("applications", s.applications)
      .add("single_applications", s.single_applications)
      .add("seconds", s.seconds)
      .add("gflops", s.gflops)
      .add("share_of_dslash", s.share_of_dslash)
      .add("time_to_cg", s.time_to_cg)
      .add("applications_to_cg", s.applications_to_cg)
      .str();
}

template <class T>
std::string array(const std::vector<T>& items);

std::string object(const TrajectoryRecord::Part& p) {
  return Object().add("case", p.name).add("seconds", p.seconds).add("share", p.share).str();
}

std::string object(const TrajectoryRecord::Kernel& k) {
  return Object()
      .add("case", k.name)
      .add("calls", k.calls)
      .add("share", k.share)
      .add("share_of_triad", k.share_of_triad)
      .add("gflops", k.gflops)
      .str();
}

std::string object(const TrajectoryRecord& t) {
  return Object()
      .add("lattice", t.lattice)
      .add("threads", t.threads)
      .add("seconds", t.seconds)
      .add("share_in_kernels", t.share_in_kernels)
      .add("fields_moved", t.fields_moved)
      .add("gflops", t.gflops)
      .add_raw("parts", array(t.parts))
      .add_raw("kernels", array(t.kernels))
      .str();
}

template <class T>
void write_array(std::ostream& out, const std::vector<T>& items, const char* indent) {
  out << "[";
  for (std::size_t i = 0; i < items.size(); ++i) out << (i ? "," : "") << "\n" << indent << object(items[i]);
  out << "]";
}

template <class T>
std::string array(const std::vector<T>& items) {
  std::ostringstream text;
  write_array(text, items, "      ");
  return text.str();
}

}  // namespace

void print_machine(std::ostream& out, const Machine& machine) {
  if (!machine.gpu.empty()) out << machine.gpu << " beside ";
  out << machine.cpu << ", " << machine.cores << " cores, " << machine.instruction_set << "\n";
  for (const Ceiling& c : machine.ceilings)
    out << format("  %s, %d thread%s: triad %.1f GB/s, FMA %.1f GFLOP/s%s\n", name_of(c.precision), c.threads,
                  c.threads == 1 ? "" : "s", c.triad_gbytes_per_s, c.fma_gflops,
                  c.copy_gbytes_per_s > 0 ? format(", copy %.1f GB/s", c.copy_gbytes_per_s).c_str() : "");
}

void print_header(std::ostream& out) {
  out << format("%-8s %-14s %-12s %-6s %3s %12s %7s %9s %9s %7s %7s\n", "suite", "case", "lattice", "prec", "thr",
                "microsec", "spread", "GFLOP/s", "GB/s", "/triad", "/FMA");
}

void print(std::ostream& out, const Record& r) {
  out << format("%-8s %-14s %-12s %-6s %3d %12.3f %6.1f%% %9.2f %9.2f %7.3f %7.3f\n", r.suite.c_str(), r.name.c_str(),
                qcd::lattice_text(r.lattice).c_str(), name_of(r.precision), r.threads, r.seconds * 1e6, r.spread * 100,
                r.gflops, r.gbytes_per_s, r.share_of_triad, r.share_of_fma)
      << std::flush;
}

void print_kernels(std::ostream& out, const std::vector<KernelRecord>& kernels) {
  out << format("%-14s %-6s %10s %10s %-6s %s\n", "case", "prec", "cold ms", "warm ms", "cached", "kernel");
  std::map<std::string, std::vector<double>> cold;  // by case
  for (const KernelRecord& k : kernels) {
    cold[k.name].push_back(k.cold_seconds);
    out << format("%-14s %-6s %10.2f %10.3f %-6s %s\n", k.name.c_str(), name_of(k.precision), k.cold_seconds * 1e3,
                  k.warm_seconds * 1e3, k.warm_from_cache ? "yes" : "no", k.kernel.c_str());
  }
  out << "Median cold compile time, largest:\n";
  for (auto& [name, seconds] : cold) {
    std::sort(seconds.begin(), seconds.end());
    out << format("  %-14s %7.2f ms, %7.2f ms of %zu kernels\n", name.c_str(), seconds[seconds.size() / 2] * 1e3,
                  seconds.back() * 1e3, seconds.size());
  }
}

void print(std::ostream& out, const ExchangeRecord& e) {
  out << format(
      "  %s: %.3g ns a site, %d lanes, faces %.0f%%; %.3g messages of %.3g KiB; microseconds: pack %.3g, inner %.3g, "
      "wait %.3g, faces %.3g\n",
      e.name.c_str(), e.seconds / e.sites * 1e9, e.lanes, 100 * e.share_of_faces, e.messages,
      e.messages == 0 ? 0 : e.bytes / e.messages / 1024, 1e6 * e.pack_seconds, 1e6 * e.inner_seconds,
      1e6 * e.wait_seconds, 1e6 * e.faces_seconds);
}

void print_solvers(std::ostream& out, const std::vector<SolverRecord>& solvers) {
  out << format("%-12s %-12s %3s %9s %6s %8s %8s %10s %9s %8s %9s %9s\n", "case", "lattice", "thr", "residual", "iter",
                "applied", "single", "seconds", "GFLOP/s", "/dslash", "time/cg", "appl/cg");
  for (const SolverRecord& s : solvers)
    out << format("%-12s %-12s %3d %9.1e %6d %8ld %8ld %10.4f %9.2f %8.3f %9.3f %9.3f%s\n", s.name.c_str(),
                  qcd::lattice_text(s.lattice).c_str(), s.threads, s.residual, s.iterations, s.applications,
                  s.single_applications, s.seconds, s.gflops, s.share_of_dslash, s.time_to_cg, s.applications_to_cg,
                  s.converged ? "" : "  not converged");
}

void print_trajectory(std::ostream& out, const TrajectoryRecord& t) {
  out << format("%s, %d thread%s: %.4f s per trajectory, %.2f GFLOP/s, %.0f%% in kernels, %g fields moved\n",
                qcd::lattice_text(t.lattice).c_str(), t.threads, t.threads == 1 ? "" : "s", t.seconds, t.gflops,
                100 * t.share_in_kernels, t.fields_moved);
  for (const auto& p : t.parts) out << format("  %-20s %10.4f s %6.1f%%\n", p.name.c_str(), p.seconds, 100 * p.share);
  out << format("  %8s %7s %9s %7s  %s\n", "calls", "share", "GFLOP/s", "/triad", "kernel");
  for (const auto& k : t.kernels)
    out << format("  %8.0f %6.1f%% %9.2f %7.3f  %s\n", k.calls, 100 * k.share, k.gflops, k.share_of_triad,
                  k.name.c_str());
}

void write_json(std::ostream& out, const Report& report) {
  const Machine& m = report.machine;
  out << "{\n  \"machine\": {\"cpu\": " << json(m.cpu) << ", \"gpu\": " << json(m.gpu)
      << ", \"instruction_set\": " << json(m.instruction_set) << ", \"cores\": " << m.cores << ",\n    \"ceilings\": ";
  write_array(out, m.ceilings, "      ");
  out << "},\n  \"records\": ";
  write_array(out, report.records, "    ");
  out << ",\n  \"exchanges\": ";
  write_array(out, report.exchanges, "    ");
  out << ",\n  \"kernels\": ";
  write_array(out, report.kernels, "    ");
  out << ",\n  \"solvers\": ";
  write_array(out, report.solvers, "    ");
  out << ",\n  \"trajectories\": ";
  write_array(out, report.trajectories, "    ");
  out << "\n}\n";
}

}  // namespace bench
