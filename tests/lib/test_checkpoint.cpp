// Saved states: which stay, disks that fail, damaged files, and continuing from the newest good one.

#include "lib/gauge/su3.hpp"
#include "lib/hmc/checkpoint.hpp"
#include "lib/io/program_info.hpp"
#include "qdp/init/about.hpp"
#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <set>
#include <sstream>

using namespace QDP;
using namespace qcd;
using namespace tests;
namespace fs = std::filesystem;

namespace {

/// Numbers of the checkpoints with the prefix, both files there.
std::set<unsigned long> saved(const std::string& prefix) {
  std::set<unsigned long> numbers;
  for (const CheckpointFiles& files : find_checkpoints(prefix)) numbers.insert(files.update_no);
  return numbers;
}

RunSummary run_here(const ScratchFolder& folder, const std::string& text, const RunHooks& hooks = {}) {
  return run(tests::input(text), folder.file("data.xml"), folder.file("log.xml"), hooks);
}

void change_byte(const std::string& name, std::size_t at, char flip) {
  tests::once([&] {
    std::fstream file(name, std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(static_cast<std::streamoff>(at));
    const char old = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(old ^ flip));
  });
}

/// A restart file's text that goes on for `updates`.
std::string continued(const std::string& restart, int updates, const std::string& more = "") {
  std::string text = read_text(restart);
  const auto set = [&](const std::string& name, int value) {
    const auto begin = text.find("<" + name + ">") + name.size() + 2, end = text.find("</" + name);
    text.replace(begin, end - begin, std::to_string(value));
  };
  set("NProductionUpdates", 1000);
  set("NUpdatesThisRun", updates);
  text.insert(text.find("<ReproCheckP>"), more);
  return text;
}

HmcParameters parameters_of(const std::string& text) {
  const InputFile file = tests::input(text);
  HmcParameters parameters = read_hmc_parameters(file.root());
  file.require_valid();
  use_lattice(parameters.dynamics.lattice);
  return parameters;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("all checkpoints stay unless the input says otherwise") {
  const ScratchFolder folder("checkpoint_all");
  run_here(folder, params(folder.file("run"), 5, 1));
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{1, 2, 3, 4, 5});
}

TEST_CASE("the record of a configuration is the input that goes on from it, as XML that others read") {
  const ScratchFolder folder("checkpoint_record");
  run_here(folder, params(folder.file("run"), 2, 2));
  XMLReader file_xml, record_xml;
  GaugeField u(Nd);
  QDPFileReader file(file_xml, folder.file("run_cfg_2.lime"), QDPIO_SERIAL);
  QDP::read(file, record_xml, u);
  QDP::close(file);
  CHECK(file_xml.count("/HMC/ProgramInfo") == 1);
  REQUIRE(record_xml.count("/Params/MCControl/StartUpdateNum") == 1);
  int update = 0;
  QDP::read(record_xml, "/Params/MCControl/StartUpdateNum", update);
  CHECK(update == 2);
}

TEST_CASE("a rolling set keeps the newest checkpoints, those of the archive stay, and other files are left alone") {
  const ScratchFolder folder("checkpoint_rolling");
  run_here(folder, params(folder.file("run"), 2, 1));  // before the rolling set was asked for
  tests::Written(folder.file("run_restart_mine.xml")) << "mine";
  for (const char* name : {"run_restart_33.bak", "run_cfg_33.lime", "run_cfg_34.save"})
    tests::Written(folder.file(name));
  run_here(folder, continued(folder.file("run_restart_2.xml"), 10,
                             "<KeepCheckpoints>2</KeepCheckpoints><ArchiveInterval>4</ArchiveInterval>"));
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{1, 2, 4, 8, 10, 11, 12});
  CHECK(fs::exists(folder.file("run_restart_mine.xml")));
  CHECK(fs::exists(folder.file("run_restart_33.bak")));
  // The next run of the chain knows the set.
  run_here(folder, continued(folder.file("run_restart_12.xml"), 2));
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{1, 2, 4, 8, 12, 13, 14});
  CHECK_FALSE(fs::exists(folder.file("run_cfg_10.lime")));
  // Killed between writing a restart file and removing the oldest checkpoint: the next save makes up for it.
  tests::once([&] { fs::copy(folder.file("run_cfg_13.lime"), folder.file("run_cfg_11.lime")); });
  run_here(folder, continued(folder.file("run_restart_13.xml"), 1));
  CHECK_FALSE(fs::exists(folder.file("run_cfg_11.lime")));
}

TEST_CASE("a run with a rolling set goes on to the same bits") {
  const ScratchFolder folder("checkpoint_bits");
  run_here(folder, params(folder.file("whole"), 6, 6));
  run_here(folder, params(folder.file("parts"), 6, 1, "<KeepCheckpoints>1</KeepCheckpoints>"));
  CHECK(saved(folder.file("parts")) == std::set<unsigned long>{6});
  CHECK(distance(saved_field(folder.file("parts_cfg_6.lime")), saved_field(folder.file("whole_cfg_6.lime"))) == 0);
}

TEST_CASE("jobs that find the newest checkpoint by themselves keep what jobs given its restart file keep") {
  const ScratchFolder folder("checkpoint_rolling_chain");
  const auto input = [&](const std::string& prefix) {
    std::string text = params(folder.file(prefix), 1000, 1,
                              "<KeepCheckpoints>2</KeepCheckpoints><ArchiveInterval>4</ArchiveInterval>");
    return text.replace(text.find("<NUpdatesThisRun>1000"), 21, "<NUpdatesThisRun>3");
  };
  for (int job = 0; job < 4; ++job) {
    CAPTURE(job);
    const std::string restart = folder.file("given_restart_" + std::to_string(3 * job) + ".xml"),
                      next = job == 0 ? input("given") : continued(restart, 3);
    const McControl given = parameters_of(next).control;  // before the run, which removes the file that it started from
    run_here(folder, next);
    HmcParameters parameters = parameters_of(input("found"));
    CHECK(continue_from_newest(parameters, nullptr).update_no == 3ul * static_cast<unsigned long>(job));
    if (job > 0) {
      CHECK(parameters.control.start_update == given.start_update);
      CHECK(parameters.control.seed == given.seed);
      CHECK(parameters.control.rolling_checkpoints == given.rolling_checkpoints);
    }
    XMLFileWriter data(folder.file("a.xml")), log(folder.file("b.xml"));
    push(data, "hmc");
    push(log, "hmc");
    run_simulation(parameters, data, log, {});
    CHECK(saved(folder.file("found")) == saved(folder.file("given")));
  }
  CHECK(saved(folder.file("found")) == std::set<unsigned long>{4, 8, 10, 11, 12});
  CHECK(distance(saved_field(folder.file("found_cfg_12.lime")), saved_field(folder.file("given_cfg_12.lime"))) == 0);
}

TEST_CASE("a save that fails is reported and made up for after the next trajectory") {
  const ScratchFolder folder("checkpoint_retry");
  fs::create_directory(folder.file("states"));
  RunHooks hooks;
  std::vector<std::string> warnings;
  hooks.warning = [&](const std::string& text) { warnings.push_back(text); };
  hooks.report = [&](const UpdateReport& report) {
    if (report.update_no == 3) tests::once([&] { fs::rename(folder.file("states"), folder.file("away")); });
    if (report.update_no == 5) tests::once([&] { fs::rename(folder.file("away"), folder.file("states")); });
  };
  run_here(folder, params(folder.file("states/run"), 6, 3), hooks);
  CHECK(saved(folder.file("states/run")) == std::set<unsigned long>{5, 6});
  REQUIRE(warnings.size() == 2);  // after 3 and 4
  CHECK(contains(warnings[0], "run_cfg_3.lime"));
  CHECK(contains(warnings[0], "tries again"));

  // What was saved late is as good.
  run_here(folder, params(folder.file("whole"), 5, 5));
  CHECK(distance(saved_field(folder.file("whole_cfg_5.lime")), saved_field(folder.file("states/run_cfg_5.lime"))) == 0);
}

TEST_CASE("a run whose saves keep failing stops and says where it can continue") {
  const ScratchFolder folder("checkpoint_fail");
  fs::create_directory(folder.file("states"));
  RunHooks hooks;
  unsigned long last = 0;
  hooks.report = [&](const UpdateReport& report) {
    last = report.update_no;
    if (report.update_no == 3) tests::once([&] { fs::rename(folder.file("states"), folder.file("away")); });
  };
  const std::string message = message_of([&] { run_here(folder, params(folder.file("states/run"), 50, 2), hooks); });
  CHECK(last == 6);  // saves were due after 4 and 6
  CHECK(contains(message, "run_cfg_6.lime"));
  CHECK(contains(message, "hmc -i " + folder.file("states/run_restart_2.xml")));
  CHECK(saved(folder.file("away/run")) == std::set<unsigned long>{2});
}

TEST_CASE("the last save is tried again as long as the caller wants") {
  const ScratchFolder folder("checkpoint_last");
  fs::create_directory(folder.file("states"));
  RunHooks hooks;
  hooks.report = [&](const UpdateReport&) {
    tests::once([&] { fs::rename(folder.file("states"), folder.file("away")); });
  };
  int asked = 0;
  hooks.retry_last_save = [&](const std::string& why, int failures) {
    CHECK(contains(why, "run_cfg_1.lime"));
    CHECK(failures == ++asked);
    if (failures == 3) tests::once([&] { fs::rename(folder.file("away"), folder.file("states")); });
    return true;
  };
  run_here(folder, params(folder.file("states/run"), 1, 1), hooks);
  CHECK(asked == 3);
  CHECK(saved(folder.file("states/run")) == std::set<unsigned long>{1});
}

TEST_CASE("a folder that is missing or too small is reported before the start field is read") {
  const ScratchFolder folder("checkpoint_room");
  CHECK_THROWS_WITH_AS(run_here(folder, params(folder.file("missing/run"), 2, 1)), doctest::Contains("missing/run"),
                       InputError);
  HmcParameters parameters = parameters_of(params(folder.file("run"), 2, 1));
  parameters.start = [](GaugeField&) { FAIL("the start field was made"); };
  parameters.dynamics.lattice = std::vector<int>(Nd, 1 << 40 / Nd);
  CHECK(checkpoint_bytes(parameters.dynamics.lattice) > std::pow(1 << 40 / Nd, Nd) * Nd * 2 * Nc * Nc * sizeof(REAL));
  CHECK_THROWS_WITH_AS(load_start(parameters, nullptr), doctest::Contains("MB free"), FileError);

  // Room for some, but not for as many as the run will leave.
  parameters = parameters_of(params(folder.file("run"), 2, 1));
  parameters.control.production_updates = parameters.control.updates_this_run = 1ul << 40;
  std::string warning;
  load_start(parameters, [&](const std::string& text) { warning = text; });
  CHECK(contains(warning, "KeepCheckpoints"));
  warning.clear();
  parameters.control.keep_checkpoints = 3;
  load_start(parameters, [&](const std::string& text) { warning = text; });
  CHECK(warning.empty());
}

TEST_CASE("a disk without room for the next checkpoint is told of after each save that another one follows") {
  const ScratchFolder folder("checkpoint_next");
  HmcParameters parameters = parameters_of(params(folder.file("run"), 4, 1));
  const std::vector<int> huge(Nd, 1 << 40 / Nd);
  std::vector<std::string> warnings;
  RunHooks hooks;
  hooks.warning = [&](const std::string& text) { warnings.push_back(text); };
  hooks.report = [&](const UpdateReport& report) {
    if (report.update_no == 2) parameters.dynamics.lattice = huge;
  };
  XMLFileWriter data(folder.file("data.xml")), log(folder.file("log.xml"));
  push(data, "hmc");
  push(log, "hmc");
  run_simulation(parameters, data, log, hooks);
  pop(data);
  pop(log);
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{1, 2, 3, 4});
  REQUIRE(warnings.size() == 2);  // after 2 and 3
  for (const std::string& warning : warnings)
    CHECK(contains(warning, "needs " + std::to_string(checkpoint_bytes(huge)) + " bytes"));
}

TEST_CASE("the bytes that a checkpoint is taken to need are those of its two files, and a little more") {
  const ScratchFolder folder("checkpoint_bytes");
  run_here(folder, params(folder.file("run"), 1, 1));
  const std::uintmax_t bytes = tests::together(
      [&] { return fs::file_size(folder.file("run_cfg_1.lime")) + fs::file_size(folder.file("run_restart_1.xml")); });
  const std::vector<int> lattice = parameters_of(params(folder.file("run"), 1, 1)).lattice();
  CHECK(checkpoint_bytes(lattice) >= bytes);
  CHECK(checkpoint_bytes(lattice) < bytes + (64 << 10));
}

TEST_CASE("the number of checkpoints that a run will leave counts saves by the interval, those kept and the archive") {
  const ScratchFolder folder("checkpoint_count");
  tests::use_lattice(parameters_of(params(folder.file("run"), 2, 1)).lattice());  // not within a check
  const auto to_come = [&](unsigned long start, unsigned long updates, unsigned long interval, unsigned long keep,
                           unsigned long archive) {
    HmcParameters parameters = parameters_of(params(folder.file("run"), 2, 1));
    McControl& c = parameters.control;
    c.start_update = start;
    c.warm_up_updates = 0;
    c.production_updates = start + updates;
    c.updates_this_run = updates;
    c.save_interval = interval;
    c.keep_checkpoints = keep;
    c.archive_interval = archive;
    std::string warning;
    load_start(parameters, [&](const std::string& text) { warning = text; });
    const auto of = warning.find("of the "), that = warning.find(" that this run");
    REQUIRE(that != std::string::npos);
    return std::stoull(warning.substr(of + 7, that - of - 7));
  };
  const unsigned long many = 1ul << 40;
  // Updates start + 1 ... start + many: those that the interval divides, and the last one.
  for (const unsigned long start : {0ul, 5ul, 6ul})
    for (const unsigned long interval : {1ul, 3ul, 7ul}) {
      CAPTURE(start);
      CAPTURE(interval);
      const unsigned long last = start + many, due = last / interval - start / interval;
      CHECK(to_come(start, many, interval, 0, 0) == due + (last % interval == 0 ? 0 : 1));
      // Of a rolling set one more for a moment, and those of the archive, which stay.
      CHECK(to_come(start, many, 1, 4, interval + 1) == last / (interval + 1) - start / (interval + 1) + 4 + 1);
    }
}

TEST_CASE("documents say on what they were made: program, machine and lattice") {
  tests::use_lattice({4, 2, 2, 6});
  XMLBufferWriter xml;
  write_program_info(xml);
  std::istringstream stream(xml.str());
  XMLReader read_back(stream);
  const auto number = [&](const std::string& path) {
    int value = -1;
    QDP::read(read_back, "/ProgramInfo/" + path, value);
    return value;
  };
  const auto text = [&](const std::string& path) {
    std::string value;
    QDP::read(read_back, "/ProgramInfo/" + path, value);
    return value;
  };
  const ProgramAbout about = about_program();
  CHECK(text("code_version/tessera") == about.version);
  CHECK(text("code_version/commit") == about.commit);
  CHECK(number("code_version/basePrecision") == static_cast<int>(8 * sizeof(REAL)));
  CHECK(number("code_version/Nd") == Nd);
  CHECK(number("code_version/Nc") == Nc);
  CHECK(text("machine/host") == about.host);
  CHECK(text("machine/device") == about.device);
  CHECK(text("machine/device_model") == about.device_model);
  CHECK(number("machine/threads") == qdpNumThreads());
  CHECK(number("Setgeom/total_volume") == static_cast<int>(Layout::vol()));
  multi1d<int> extents, box;
  QDP::read(read_back, "/ProgramInfo/Setgeom/latt_size", extents);
  QDP::read(read_back, "/ProgramInfo/Setgeom/subgrid_latt_size", box);
  CHECK(extents == Layout::lattSize());
  CHECK(box == Layout::subgridLattSize());
}

TEST_CASE("what a killed run left half written is removed, and nothing else") {
  const ScratchFolder folder("checkpoint_leftovers");
  const std::set<std::string> gone = {"run_cfg_7.lime.tmp-aB3xYz", "run_restart_7.xml.tmp-000000"},
                              kept = {"run_cfg_7.lime.tmp-aB3", "other_cfg_7.lime.tmp-aB3xYz",
                                      "run_cfg_x.lime.tmp-aB3xYz", "run_cfg_7.lime"};
  for (const auto& names : {gone, kept})
    for (const std::string& name : names) tests::Written(folder.file(name)) << "x";
  run_here(folder, params(folder.file("run"), 1, 1));
  for (const std::string& name : gone) CHECK_FALSE(fs::exists(folder.file(name)));
  for (const std::string& name : kept) CHECK(fs::exists(folder.file(name)));
}

TEST_CASE("a damaged or missing configuration is an error that names the newest good checkpoint before it") {
  const ScratchFolder folder("checkpoint_damage");
  run_here(folder, params(folder.file("run"), 4, 1));
  const std::string restart = folder.file("run_restart_4.xml"), cfg = folder.file("run_cfg_4.lime");
  const std::string whole = read_text(cfg);
  const auto message = [&] { return message_of([&] { run_here(folder, continued(restart, 1)); }); };

  change_byte(cfg, whole.size() / 2, 1);  // in the links
  CHECK(contains(message(), "checksum"));
  CHECK(contains(message(), "hmc -i " + folder.file("run_restart_3.xml")));
  change_byte(folder.file("run_cfg_3.lime"), whole.size() / 2, 64);  // and the one before it
  CHECK(contains(message(), "hmc -i " + folder.file("run_restart_2.xml")));
  for (std::size_t size : {std::size_t(0), std::size_t(200), whole.size() / 2, whole.size() - 300}) {
    CAPTURE(size);
    tests::Written(cfg, std::ios::binary) << whole.substr(0, size);
    CHECK(contains(message(), "run_restart_2.xml"));
  }
  tests::once([&] { fs::remove(cfg); });
  CHECK(contains(message(), "cfg_file"));

  // The undamaged one after all this.
  tests::Written(cfg, std::ios::binary) << whole;
  CHECK(message() == "");
}

TEST_CASE("no flipped bit of a configuration goes unnoticed") {
  const ScratchFolder folder("checkpoint_flips");
  run_here(folder, params(folder.file("run"), 1, 1));
  const std::string cfg = folder.file("run_cfg_1.lime"), whole = read_text(cfg);
  HmcParameters parameters = parameters_of(params(folder.file("run"), 1, 1));
  REQUIRE(continue_from_newest(parameters, nullptr).update_no == 1);
  const GaugeField good = *parameters.start_field;
  std::mt19937 random(5);
  int noticed = 0;
  for (int trial = 0; trial < 120; ++trial) {
    const std::size_t at = random() % whole.size();
    const char flip = static_cast<char>(1 << random() % 8);
    CAPTURE(at);
    change_byte(cfg, at, flip);
    std::string warning;
    if (continue_from_newest(parameters, [&](const std::string& text) { warning = text; }).update_no == 0) {
      CHECK(contains(warning, "passed over"));
      ++noticed;
    } else {  // in the padding, or in a text that nobody needs
      CHECK(distance(*parameters.start_field, good) == 0);
    }
    change_byte(cfg, at, flip);
  }
  CHECK(noticed > 60);
}

TEST_CASE("a run continues from its newest good checkpoint, with the input's other numbers") {
  const ScratchFolder folder("checkpoint_continue");
  const std::string text = params(folder.file("run"), 9, 2, "<KeepCheckpoints>9</KeepCheckpoints>");
  HmcParameters parameters = parameters_of(text);
  CHECK(continue_from_newest(parameters, nullptr).update_no == 0);  // nothing there yet
  CHECK(parameters.control.start_update == 0);

  run_here(folder, params(folder.file("run"), 6, 2));
  run_here(folder, params(folder.file("whole"), 9, 9));
  change_byte(folder.file("run_cfg_6.lime"), 5000, 1);
  tests::Written(folder.file("run_restart_8.xml")) << "<Params><MCCon";
  tests::Written(folder.file("run_cfg_8.lime")) << "no more than this";
  std::vector<std::string> warnings;
  const CheckpointFiles files = continue_from_newest(parameters, [&](const std::string& w) { warnings.push_back(w); });
  CHECK(files.update_no == 4);
  REQUIRE(warnings.size() == 2);
  CHECK(contains(warnings[0], "update 8"));
  CHECK(contains(warnings[1], "checksum"));
  CHECK(parameters.control.start_update == 4);
  CHECK(parameters.control.keep_checkpoints == 9);

  XMLFileWriter data(folder.file("a.xml")), log(folder.file("b.xml"));
  push(data, "hmc");
  push(log, "hmc");
  const RunSummary summary = run_simulation(parameters, data, log, {});
  CHECK(summary.last_update == 11);  // 9 updates were asked for, cut at warm-up + production
  CHECK(summary.updates == 7);
  run_here(folder, continued(folder.file("whole_restart_9.xml"), 2));
  CHECK(distance(saved_field(folder.file("run_cfg_11.lime")), saved_field(folder.file("whole_cfg_11.lime"))) == 0);
}

TEST_CASE("another configuration in the place of a checkpoint's is passed over, or taken where that is asked for") {
  const ScratchFolder folder("checkpoint_exchanged");
  const std::string text = params(folder.file("run"), 4, 2, "<KeepCheckpoints>9</KeepCheckpoints>");
  run_here(folder, text);
  tests::once([&] {
    fs::copy_file(folder.file("run_cfg_2.lime"), folder.file("run_cfg_4.lime"), fs::copy_options::overwrite_existing);
  });
  HmcParameters parameters = parameters_of(text);
  CHECK(continue_from_newest(parameters, nullptr).update_no == 2);
  parameters = parameters_of(text);
  parameters.accept_edited = true;
  CHECK(continue_from_newest(parameters, nullptr).update_no == 4);
  CHECK(parameters.control.start_update == 4);
  CHECK(distance(*parameters.start_field, saved_field(folder.file("run_cfg_2.lime"))) == 0);
}

TEST_CASE("checkpoints of another lattice are not continued from") {
  const ScratchFolder folder("checkpoint_lattice");
  run_here(folder, params(folder.file("run"), 1, 1));
  std::string text = params(folder.file("run"), 1, 1);
  const std::string here = extents_text(run_extents());
  text.replace(text.find(here), here.size(), extents_text({2, 2, 2, 2}));
  HmcParameters parameters = parameters_of(text);
  CHECK_THROWS_WITH_AS(continue_from_newest(parameters, nullptr), doctest::Contains("another lattice"), InputError);
}

TEST_CASE("one command starts a chain of jobs, continues it, and ends when the run is done") {
  const ScratchFolder folder("checkpoint_chain");
  std::string text = params(folder.file("run"), 7, 100);
  text.replace(text.find("<NUpdatesThisRun>7"), 18, "<NUpdatesThisRun>4");
  tests::Written(folder.file("in.xml")) << text;
  const std::vector<std::string> command = {"-i", folder.file("in.xml"), "--continue", "-o", folder.file("out.xml"),
                                            "-l", folder.file("log.xml")};
  for (int job = 0; job < 4; ++job) REQUIRE(run_program(command, folder.file("text")) == 0);
  CHECK(contains(read_text(folder.file("text")), "run is finished"));
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{4, 8, 9});  // 2 to warm up and 7
  // Each job has documents of its own; together they are the whole run.
  XMLReader first(folder.file("out.xml")), second(folder.file("out_4.xml"));
  CHECK(first.count("//Update") == 4);
  CHECK(second.count("//Update") == 4);
  CHECK(fs::exists(folder.file("log_4.xml")));

  run_here(folder, params(folder.file("whole"), 8, 8));
  CHECK(distance(saved_field(folder.file("run_cfg_8.lime")), saved_field(folder.file("whole_cfg_8.lime"))) == 0);
}

TEST_CASE("a document that the disk does not take ends the run with its state saved") {
  const ScratchFolder folder("checkpoint_documents");
  tests::Written(folder.file("in.xml")) << params(folder.file("run"), 5, 5);
  CHECK(run_program({"-i", folder.file("in.xml"), "-o", "/dev/full", "-l", folder.file("log.xml")},
                    folder.file("text")) == 1);
  CHECK(contains(read_text(folder.file("text")), "Continue with: hmc -i " + folder.file("run_restart_1.xml")));
  CHECK(saved(folder.file("run")) == std::set<unsigned long>{1});
}

TEST_CASE("a damaged start leaves the documents of earlier runs alone") {
  const ScratchFolder folder("checkpoint_keep_documents");
  run_here(folder, params(folder.file("run"), 1, 1));
  change_byte(folder.file("run_cfg_1.lime"), 5000, 1);
  tests::Written(folder.file("in.xml")) << continued(folder.file("run_restart_1.xml"), 1);
  tests::Written(folder.file("out.xml")) << "precious";
  CHECK(run_program(
            {"-i", folder.file("in.xml"), "-o", folder.file("out.xml"), "-l", folder.file("log2.xml"), "--overwrite"},
            folder.file("text")) == 1);
  CHECK(contains(read_text(folder.file("text")), "no good checkpoint before it"));
  CHECK(read_text(folder.file("out.xml")) == "precious");
}
