#include "lib/hmc/checkpoint.hpp"

#include "lib/hmc/simulation.hpp"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace qcd {

using namespace QDP;

CheckpointFiles checkpoint_files(const McControl& control, unsigned long update_no) {
  const std::string n = std::to_string(update_no);
  return {control.save_prefix + "_cfg_" + n + ".lime", control.save_prefix + "_restart_" + n + ".xml"};
}

namespace {

/// The input of the run that continues from here.
void write_restart(XMLWriter& xml, const HmcParameters& parameters, unsigned long update_no,
                   const std::string& cfg_file) {
  const McControl& c = parameters.control;
  Seed seed;
  RNG::savern(seed);

  push(xml, "Params");
  push(xml, "MCControl");
  push(xml, "Cfg");
  write(xml, "cfg_type", std::string("SZINQIO"));
  write(xml, "cfg_file", cfg_file);
  write(xml, "parallel_io", c.parallel_io);
  pop(xml);
  write(xml, "RNG", seed);
  write(xml, "StartUpdateNum", update_no);
  write(xml, "NWarmUpUpdates", c.warm_up_updates);
  write(xml, "NProductionUpdates", c.production_updates);
  write(xml, "NUpdatesThisRun", std::min(c.updates_this_run, c.total_updates() - update_no));
  write(xml, "SaveInterval", c.save_interval);
  write(xml, "SavePrefix", c.save_prefix);
  write(xml, "SaveVolfmt", c.save_volfmt);
  write(xml, "ParallelIO", c.parallel_io);
  write(xml, "ReproCheckP", c.check_repro);
  if (c.check_repro) write(xml, "ReproCheckFrequency", c.repro_frequency);
  write(xml, "ReverseCheckP", c.check_reverse);
  if (c.check_reverse) write(xml, "ReverseCheckFrequency", c.reverse_frequency);
  write(xml, "MonitorForces", c.monitor_forces);
  if (!parameters.measurements_xml.empty()) xml.writeXML('\n' + parameters.measurements_xml);
  pop(xml);
  xml.writeXML('\n' + parameters.trajectory_xml);
  pop(xml);
}

void write_configuration(const std::string& name, const McControl& control, const XMLBufferWriter& restart,
                         const GaugeField& u) {
  XMLBufferWriter file_xml;
  push(file_xml, "HMC");
  write_program_info(file_xml);
  pop(file_xml);
  XMLBufferWriter record_xml = restart;
  QDPFileWriter file(file_xml, name, QDPIO_SINGLEFILE, control.parallel_io ? QDPIO_PARALLEL : QDPIO_SERIAL);
  write(file, record_xml, u);
  close(file);
  if (file.bad()) throw InputError(name + ": the configuration could not be written");
}

/// Replaces the file in one step, so that nobody ever reads half of it.
void replace_file(const std::string& name, const std::string& content) {
  const std::string temporary = name + ".new";
  std::ofstream file(temporary, std::ios::binary);
  file << content;
  file.close();
  std::error_code error;
  if (file) std::filesystem::rename(temporary, name, error);
  if (!file || error) {
    std::remove(temporary.c_str());
    throw InputError(name + ": the restart file could not be written" +
                     (error ? ": " + error.message() : std::string()) + ". Is the disk full or the folder missing?");
  }
}

}  // namespace

CheckpointFiles save_checkpoint(const HmcParameters& parameters, unsigned long update_no, const GaugeField& u) {
  const CheckpointFiles files = checkpoint_files(parameters.control, update_no);
  XMLBufferWriter restart;
  write_restart(restart, parameters, update_no, files.configuration);
  write_configuration(files.configuration, parameters.control, restart, u);
  replace_file(files.restart, restart.str());
  return files;
}

}  // namespace qcd
