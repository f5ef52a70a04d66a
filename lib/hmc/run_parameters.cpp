#include "lib/hmc/run_parameters.hpp"

#include "lib/io/output_name.hpp"
#include "lib/io/seed.hpp"

#include <algorithm>

namespace qcd {

using namespace QDP;

unsigned long McControl::updates_to_do(unsigned long not_numbered) const {
  const unsigned long all = total_updates() - not_numbered;
  return start_update < all ? std::min(updates_this_run, all - start_update) : 0;
}

namespace {

unsigned long count(const Input& input, const std::string& name) {
  return static_cast<unsigned long>(input.integer(name, at_least(0)));
}

/// A check that is on with frequency 10 unless the input says otherwise.
void read_check(const Input& input, const std::string& name, bool& on, unsigned long& frequency) {
  on = input.flag(name + "CheckP", true);
  if (on)
    frequency = static_cast<unsigned long>(input.integer(name + "CheckFrequency", at_least(1), 10));
  else
    input.accept_unused({name + "CheckFrequency"});
}

}  // namespace

McControl read_mc_control(const Input& input) {
  McControl c;
  c.seed = read_seed(input.group("RNG"));
  c.start_update = count(input, "StartUpdateNum");
  c.warm_up_updates = count(input, "NWarmUpUpdates");
  c.production_updates = count(input, "NProductionUpdates");
  c.updates_this_run = count(input, "NUpdatesThisRun");
  c.save_interval = static_cast<unsigned long>(input.integer("SaveInterval", at_least(1)));
  c.save_prefix = input.word("SavePrefix");
  require_output_name(input, "SavePrefix", c.save_prefix,
                      std::string("_restart_.xml").size() + std::to_string(c.start_update + c.total_updates()).size());
  c.save_volfmt = input.word("SaveVolfmt");
  // A checkpoint is one file in each of the formats: it is there whole or not at all.
  if (!c.save_volfmt.empty() && c.save_volfmt != "SINGLEFILE" && c.save_volfmt != "MULTIFILE" &&
      c.save_volfmt != "PARTFILE")
    input.error("SaveVolfmt", "SINGLEFILE, MULTIFILE or PARTFILE", c.save_volfmt);
  c.parallel_io = input.flag("parallel_io", input.flag("ParallelIO", false));
  c.keep_checkpoints = static_cast<unsigned long>(input.integer("KeepCheckpoints", at_least(1), 0));
  c.archive_interval = static_cast<unsigned long>(input.integer("ArchiveInterval", at_least(1), 0));
  if (input.has("RollingCheckpoints"))
    for (int n : input.integers("RollingCheckpoints", 0, at_least(0), Empty::allowed))
      c.rolling_checkpoints.push_back(static_cast<unsigned long>(n));
  read_check(input, "Repro", c.check_repro, c.repro_frequency);
  read_check(input, "Reverse", c.check_reverse, c.reverse_frequency);
  if (c.check_reverse) c.reverse_tolerance = input.real("ReverseCheckTolerance", positive(), c.reverse_tolerance);
  c.monitor_forces = input.flag("MonitorForces", true);
  return c;
}

void read_run_parameters(RunParameters& p, const Input& root) {
  const Input control = root.group("MCControl"), outer = p.kind->all_in_control ? control : root;
  const Input cfg = outer.group("Cfg");
  p.cfg_type = cfg.word("cfg_type", "");
  p.start = read_gauge_init(cfg);
  p.control = read_mc_control(control);
  p.identity = read_identity(control);
  p.measurements = read_measurements(outer, &p.memory.working);
  if (outer.has("InlineMeasurements")) p.measurements_xml = outer.group("InlineMeasurements").xml();
  if (root.has(p.kind->method)) p.method_xml = root.group(p.kind->method).xml();
}

}  // namespace qcd
