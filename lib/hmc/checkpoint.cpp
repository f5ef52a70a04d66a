#include "lib/hmc/checkpoint.hpp"

#include "lib/io/program_info.hpp"
#include "lib/meas/glue.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include <unistd.h>

namespace qcd {

using namespace QDP;

namespace fs = std::filesystem;

namespace {

fs::path folder_of(const std::string& prefix) {
  const fs::path folder = fs::path(prefix).parent_path();
  return folder.empty() ? "." : folder;
}

/// The n of <begin><n><end>.
std::optional<unsigned long> number_between(const std::string& name, const std::string& begin, const std::string& end) {
  if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end)) return {};
  unsigned long n = 0;
  const char* last = name.data() + name.size() - end.size();
  const auto [stop, error] = std::from_chars(name.data() + begin.size(), last, n);
  return error == std::errc() && stop == last ? std::optional(n) : std::nullopt;
}

std::vector<std::string> names_in(const fs::path& folder) {
  return io::once([&] {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) names.push_back(entry.path().filename().string());
    return names;
  });
}

/// What is not there is fine.
void remove_if_there(const fs::path& file) {
  io::once([&] {
    std::error_code ignored;
    fs::remove(file, ignored);
  });
}

}  // namespace

CheckpointFiles checkpoint_files(const std::string& prefix, unsigned long update_no) {
  const std::string n = std::to_string(update_no);
  return {update_no, prefix + "_cfg_" + n + ".lime", prefix + "_restart_" + n + ".xml"};
}

std::vector<CheckpointFiles> find_checkpoints(const std::string& prefix) {
  const std::string begin = fs::path(prefix).filename().string() + "_restart_";
  std::vector<CheckpointFiles> found;
  for (const std::string& name : names_in(folder_of(prefix)))
    if (const auto n = number_between(name, begin, ".xml")) {
      found.push_back(checkpoint_files(prefix, *n));
      if (!io::once([&] { return fs::exists(found.back().configuration); })) found.pop_back();
    }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.update_no > b.update_no; });
  return found;
}

// ---- writing -------------------------------------------------------------------------------------------------------

namespace {

void write_cfg(XMLWriter& xml, const McControl& c, const CheckpointFiles& files) {
  push(xml, "Cfg");
  write(xml, "cfg_type", std::string("SZINQIO"));
  write(xml, "cfg_file", files.configuration);
  write(xml, "parallel_io", c.parallel_io);
  write(xml, "verify_checksum", true);
  pop(xml);
}

void write_control(XMLWriter& xml, const McControl& c, unsigned long not_numbered, const CheckpointFiles& files,
                   const Seed& seed, const std::vector<unsigned long>& rolling) {
  write(xml, "RNG", seed);
  write(xml, "StartUpdateNum", files.update_no);
  write(xml, "NWarmUpUpdates", c.warm_up_updates);
  write(xml, "NProductionUpdates", c.production_updates);
  write(xml, "NUpdatesThisRun", std::min(c.updates_this_run, c.total_updates() - not_numbered - files.update_no));
  write(xml, "SaveInterval", c.save_interval);
  write(xml, "SavePrefix", c.save_prefix);
  write(xml, "SaveVolfmt", c.save_volfmt);
  write(xml, "ParallelIO", c.parallel_io);
  if (c.keep_checkpoints > 0) write(xml, "KeepCheckpoints", c.keep_checkpoints);
  if (c.archive_interval > 0) write(xml, "ArchiveInterval", c.archive_interval);
  if (!rolling.empty()) {
    std::string list;
    for (unsigned long n : rolling) list += (list.empty() ? "" : " ") + std::to_string(n);
    write(xml, "RollingCheckpoints", list);
  }
}

void write_checks(XMLWriter& xml, const McControl& c) {
  write(xml, "ReproCheckP", c.check_repro);
  if (c.check_repro) write(xml, "ReproCheckFrequency", c.repro_frequency);
  write(xml, "ReverseCheckP", c.check_reverse);
  if (c.check_reverse) {
    write(xml, "ReverseCheckFrequency", c.reverse_frequency);
    write(xml, "ReverseCheckTolerance", c.reverse_tolerance);
  }
  write(xml, "MonitorForces", c.monitor_forces);
}

/// The input of the run that continues from here, with the group Identity if one is given.
void write_restart(XMLBufferWriter& xml, const RunParameters& parameters, const CheckpointFiles& files,
                   const RunState& state, const std::vector<unsigned long>& rolling,
                   const std::optional<CheckpointIdentity>& identity) {
  const bool inside = parameters.kind->all_in_control;
  const auto measurements = [&] {
    if (!parameters.measurements_xml.empty()) xml.writeXML('\n' + parameters.measurements_xml);
  };
  push(xml, parameters.kind->root);
  if (!inside) write_cfg(xml, parameters.control, files);
  push(xml, "MCControl");
  if (inside) write_cfg(xml, parameters.control, files);
  write_control(xml, parameters.control, parameters.separate_warm_up(), files, state.seed, rolling);
  if (parameters.kind->metropolis) write_checks(xml, parameters.control);
  if (!state.method.empty()) xml.writeXML(state.method);
  if (identity) write_identity(xml, *identity, xml.str());
  if (inside) measurements();
  pop(xml);
  if (!inside) measurements();
  xml.writeXML('\n' + parameters.method_xml);
  pop(xml);
}

/// Removes both files, the restart file first.
void remove_checkpoint(const CheckpointFiles& files) {
  remove_if_there(files.restart);
  remove_if_there(files.configuration);
}

}  // namespace

RunState present_state(const RunParameters& parameters, const GaugeField& u) {
  RunState state;
  state.u = u;
  RNG::savern(state.seed);
  XMLBufferWriter xml;
  push(xml, "State");
  parameters.write_method_state(xml);
  pop(xml);
  const std::string text = xml.str(), open = "<State>";
  const auto begin = text.find(open) + open.size(), end = text.rfind("</State>");
  if (text.find('<', begin) < end) state.method = text.substr(begin, end - begin);
  return state;
}

CheckpointFiles save_checkpoint(RunParameters& parameters, unsigned long update_no, const RunState& state) {
  McControl& control = parameters.control;
  const CheckpointFiles files = checkpoint_files(control.save_prefix, update_no);
  std::vector<unsigned long> rolling = control.rolling_checkpoints;
  std::erase_if(rolling, [=](unsigned long n) { return n >= update_no; });
  const bool archived = control.archive_interval > 0 && update_no % control.archive_interval == 0;
  if (control.keep_checkpoints > 0 && !archived) rolling.push_back(update_no);

  try {
    XMLBufferWriter file_xml, record_xml;
    push(file_xml, "HMC");
    write_program_info(file_xml);
    pop(file_xml);
    write_restart(record_xml, parameters, files, state, rolling, {});
    QDPFileWriter file(file_xml, files.configuration, QDPIO_SINGLEFILE,
                       control.parallel_io ? QDPIO_PARALLEL : QDPIO_SERIAL);
    write(file, record_xml, state.u);
    const CheckpointIdentity identity{file.checksum(), toDouble(average_plaquette(state.u))};
    close(file);
    XMLBufferWriter restart_xml;
    write_restart(restart_xml, parameters, files, state, rolling, identity);
    write_whole_file(files.restart, sealed(restart_xml.str() + '\n'));
  } catch (const std::exception& error) {
    throw FileError("the checkpoint of update " + std::to_string(files.update_no) +
                    " could not be written: " + error.what());
  }

  // The restart file still lists what goes now: a run killed here knows of it, and its next save removes it.
  if (control.keep_checkpoints > 0)
    while (rolling.size() > control.keep_checkpoints) {
      remove_checkpoint(checkpoint_files(control.save_prefix, rolling.front()));
      rolling.erase(rolling.begin());
    }
  control.rolling_checkpoints = rolling;
  return files;
}

void remove_later_checkpoints(const RunParameters& parameters) {
  for (const CheckpointFiles& files : find_checkpoints(parameters.control.save_prefix))
    if (files.update_no > parameters.control.start_update) remove_checkpoint(files);
}

// ---- room on disk --------------------------------------------------------------------------------------------------

std::uint64_t checkpoint_bytes(const std::vector<int>& lattice) {
  constexpr std::uint64_t kDocuments = 64 << 10;  // restart file, headers, checksums
  std::uint64_t sites = 1;
  for (int extent : lattice) sites *= static_cast<std::uint64_t>(extent);
  return sites * Nd * Nc * Nc * 2 * sizeof(REAL) + kDocuments;
}

namespace {

std::string in_megabytes(std::uint64_t bytes) { return std::to_string((bytes + 999999) / 1000000) + " MB"; }

/// Checkpoints on disk at the same time, at most, that this run adds.
std::uint64_t checkpoints_to_come(const RunParameters& p) {
  const McControl& c = p.control;
  const unsigned long first = c.start_update, last = first + c.updates_to_do(p.separate_warm_up());
  const auto due_by = [&](unsigned long interval) { return last / interval - first / interval; };
  const std::uint64_t saves = due_by(c.save_interval) + (last % c.save_interval != 0);
  if (c.keep_checkpoints == 0) return saves;
  const std::uint64_t archived = c.archive_interval > 0 ? due_by(c.archive_interval) : 0;
  return std::min<std::uint64_t>(saves,
                                 archived + c.keep_checkpoints + 1);  // the oldest goes after the newest has come
}

/// A process killed while it wrote leaves <file>.tmp-<6 characters>.
void remove_half_written(const std::string& prefix) {
  const std::string stem = fs::path(prefix).filename().string(), mark = ".tmp-";
  for (const std::string& name : names_in(folder_of(prefix))) {
    const auto at = name.rfind(mark);
    if (at == std::string::npos || name.size() != at + mark.size() + 6) continue;
    const std::string target = name.substr(0, at);
    if (number_between(target, stem + "_cfg_", ".lime") || number_between(target, stem + "_restart_", ".xml"))
      remove_if_there(folder_of(prefix) / name);
  }
}

void prepare_checkpoints(const RunParameters& parameters, const Warn& warn) {
  const McControl& control = parameters.control;
  const std::string folder = folder_of(control.save_prefix).string();
  if (!io::once([&] { return ::access(folder.c_str(), W_OK | X_OK) == 0; }))
    throw FileError("SavePrefix " + control.save_prefix + ": expected a folder that can be written, got " + folder);
  remove_half_written(control.save_prefix);
  const std::uint64_t one = checkpoint_bytes(parameters.lattice()), room = free_disk_space(folder);
  const std::string needs = " needs " + in_megabytes(one) + " and " + folder + " has " + in_megabytes(room) + " free";
  if (room < one) throw FileError("a checkpoint" + needs + ". Free space, or let SavePrefix point to another disk.");
  const std::uint64_t all = checkpoints_to_come(parameters);
  if (room / one < all && warn)
    warn("each checkpoint" + needs + ", enough for " + std::to_string(room / one) + " of the " + std::to_string(all) +
         " that this run will leave there. KeepCheckpoints keeps the newest only.");
}

}  // namespace

// ---- reading -------------------------------------------------------------------------------------------------------

namespace {

/// The parts of a restart file that say where the run stands.
struct RestartPoint {
  GaugeInit start;
  McControl control;
  std::optional<CheckpointIdentity> identity;
  std::vector<int> lattice;
  Input mc_control;

  RestartPoint(const InputFile& file, const RunKind& kind) : mc_control(file.root().group("MCControl")) {
    const Input root = file.root();
    start = read_gauge_init((kind.all_in_control ? mc_control : root).group("Cfg"));
    control = read_mc_control(mc_control);
    identity = read_identity(mc_control);
    lattice = root.group(kind.method).integers("nrow", Nd, at_least(1));
    file.require_valid();
  }
};

/// The restart file, if it is as it was written; `note` tells of edits.
RestartPoint read_restart_point(const CheckpointFiles& files, const RunKind& kind, bool accept_edited,
                                std::string& note) {
  const InputFile file(files.restart);
  note = require_unchanged_restart(read_whole_file(files.restart), files.restart, accept_edited);
  return RestartPoint(file, kind);
}

std::string as_text(const CheckpointIdentity& identity) {
  std::ostringstream text;
  text.precision(12);
  text << "checksum " << identity.cfg_checksum << ", plaquette " << identity.w_plaq;
  return text.str();
}

struct StartField {
  GaugeField u;
  StartReport report;
};

/// Throws FileError if `identity` is that of another configuration.
StartField read_field(const GaugeInit& start, const std::optional<CheckpointIdentity>& identity) {
  StartField field;
  field.u.resize(Nd);
  field.report = start(field.u);
  if (!identity) return field;
  const CheckpointIdentity found{field.report.data_checksum, toDouble(average_plaquette(field.u))};
  const double tolerance = sizeof(REAL) == 4 ? 1e-5 : 1e-10;
  if (found.cfg_checksum != identity->cfg_checksum || !(std::abs(found.w_plaq - identity->w_plaq) <= tolerance))
    throw FileError((field.report.file.empty() ? "the start field" : field.report.file) +
                    ": expected the configuration that the restart file was written with, " + as_text(*identity) +
                    ", got " + as_text(found) + ". It is that of another update or run (--accept-edited takes it)");
  return field;
}

bool is_good(const CheckpointFiles& files, const RunKind& kind) {
  try {
    std::string note;
    const RestartPoint point = read_restart_point(files, kind, false, note);
    read_field(point.start, point.identity);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

StartField read_start_field(const RunParameters& parameters) {
  try {
    return read_field(parameters.start, parameters.accept_edited ? std::nullopt : parameters.identity);
  } catch (const std::exception& error) {
    if (parameters.control.start_update == 0) throw;
    std::string text =
        "the field of update " + std::to_string(parameters.control.start_update) + " cannot be used: " + error.what();
    for (const CheckpointFiles& files : find_checkpoints(parameters.control.save_prefix))
      if (files.update_no < parameters.control.start_update && is_good(files, *parameters.kind))
        throw FileError(text + "\nThe newest good checkpoint before it: " + parameters.kind->program + " -i " +
                        files.restart + " --overwrite");
    throw FileError(text + "\nThere is no good checkpoint before it.");
  }
}

}  // namespace

void load_start(RunParameters& parameters, const Warn& warn) {
  prepare_checkpoints(parameters, warn);
  if (parameters.start_field) return;
  StartField field = read_start_field(parameters);
  parameters.start_field = std::make_shared<GaugeField>(std::move(field.u));
  parameters.start_report = field.report;
}

CheckpointFiles continue_from_newest(RunParameters& parameters, const Warn& warn) {
  for (const CheckpointFiles& files : find_checkpoints(parameters.control.save_prefix)) {
    std::optional<RestartPoint> point;
    StartField field;
    std::string note;
    try {
      point.emplace(read_restart_point(files, *parameters.kind, parameters.accept_edited, note));
      if (point->lattice == parameters.lattice())
        field = read_field(point->start, parameters.accept_edited ? std::nullopt : point->identity);
    } catch (const std::exception& error) {
      if (warn) warn("checkpoint of update " + std::to_string(files.update_no) + " passed over: " + error.what());
      continue;
    }
    if (point->lattice != parameters.lattice())
      throw InputError(files.restart + " has another lattice than this input: choose another SavePrefix, or remove it");
    if (warn && !note.empty()) warn(note);
    parameters.start_field = std::make_shared<GaugeField>(std::move(field.u));
    parameters.start_report = field.report;
    parameters.cfg_type = "SZINQIO " + files.configuration;
    parameters.control.seed = point->control.seed;
    parameters.control.start_update = point->control.start_update;
    parameters.control.rolling_checkpoints = point->control.rolling_checkpoints;
    if (parameters.kind->warm_up_apart) parameters.control.warm_up_updates = point->control.warm_up_updates;
    parameters.read_method_state(point->mc_control);
    return files;
  }
  return {};
}

}  // namespace qcd
