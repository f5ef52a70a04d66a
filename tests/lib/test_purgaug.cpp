// Whole runs of purgaug: documents, warm-up, restarts, signals, inputs that are wrong.

#include "lib/heatbath/run.hpp"
#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using namespace tests;

#define TESSERA_NEEDS_SUBGROUPS()                                                                                      \
  do {                                                                                                                 \
    if (Nc == 1) TESSERA_SKIP("QDP_NC is 1: there is no heatbath");                                                    \
  } while (false)

namespace {

const char* const kWilson = "<Name>WILSON_GAUGEACT</Name><beta>5.7</beta>";

/// Two warm-up updates and `updates` numbered ones on the lattice of run_extents(), saved every `interval`.
std::string purgaug(const std::string& prefix, int updates, int interval, const std::string& action = kWilson,
                    const std::string& parameters = "<nOver>1</nOver><NmaxHB>2</NmaxHB>") {
  std::ostringstream xml;
  xml << "<purgaug><Cfg><cfg_type>DISORDERED</cfg_type></Cfg><MCControl>"
      << "<RNG><Seed><elem>5</elem><elem>6</elem><elem>7</elem><elem>8</elem></Seed></RNG>"
      << "<StartUpdateNum>0</StartUpdateNum><NWarmUpUpdates>2</NWarmUpUpdates><NProductionUpdates>" << updates
      << "</NProductionUpdates><NUpdatesThisRun>" << updates << "</NUpdatesThisRun><SaveInterval>" << interval
      << "</SaveInterval><SavePrefix>" << prefix << "</SavePrefix><SaveVolfmt>SINGLEFILE</SaveVolfmt></MCControl>"
      << "<InlineMeasurements><elem><Name>POLYAKOV_LOOP</Name><Frequency>2</Frequency><Param><version>2</version></"
         "Param>"
      << "<NamedObject><gauge_id>default_gauge_field</gauge_id></NamedObject></elem></InlineMeasurements>"
      << "<HBItr><nrow>" << extents_text(run_extents()) << "</nrow><GaugeAction>" << action
      << "</GaugeAction><HBParams>" << parameters << "</HBParams></HBItr></purgaug>";
  return xml.str();
}

/// Runs an input in this process; `stop_after` asks it to stop after that many updates, warm-up included.
RunSummary run_purgaug(const InputFile& file, const ScratchFolder& folder, unsigned long stop_after = 0) {
  PurgaugParameters parameters = read_purgaug_parameters(file.root());
  file.require_valid();
  use_lattice(parameters.nrow);
  XMLFileWriter data(folder.file("out.xml")), log(folder.file("log.xml"));
  push(data, "purgaug");
  push(log, "purgaug");
  RunHooks hooks;
  unsigned long done = 0;
  hooks.report = [&](const UpdateReport& report) { done = report.done; };
  hooks.stop_requested = [&] { return stop_after > 0 && done >= stop_after; };
  const RunSummary summary = run_heatbath(parameters, data, log, hooks);
  pop(data);
  pop(log);
  data.close();
  log.close();
  return summary;
}

std::string errors_of(const std::string& text) {
  const InputFile file = input(text);
  (void)read_purgaug_parameters(file.root());
  try {
    file.require_valid();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("warm-up updates come apart from the numbered ones and are not measured") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_data");
  const RunSummary summary = run_purgaug(input(purgaug(folder.file("run"), 4, 2)), folder);
  CHECK(summary.updates == 6);
  CHECK(summary.last_update == 4);
  XMLReader data(folder.file("out.xml"));
  CHECK(data.count("/purgaug/doHB/WarmUpdates/elem/Update[WarmUpP = 'true']") == 2);
  const std::string update = "/purgaug/doHB/MCUpdates/elem/Update";
  CHECK(data.count(update + "[WarmUpP = 'false']") == 4);
  CHECK(data.count(update + "[update_no = 4]") == 1);
  CHECK(data.count("//InlineObservables/elem/Plaquette/w_plaq") == 6);
  CHECK(data.count("/purgaug/doHB/WarmUpdates//PolyakovLoop") == 0);
  CHECK(data.count(update + "//PolyakovLoop") == 2);
  CHECK(std::filesystem::exists(folder.file("run_restart_2.xml")));
  CHECK(read_text(folder.file("run_restart_4.xml")).find("<NWarmUpUpdates>0</NWarmUpUpdates>") != std::string::npos);
}

TEST_CASE("a run stopped and restarted, also while warming up, ends with the same bits as one in a single go") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_restart");
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  run_purgaug(input(purgaug(whole, 5, 5)), folder);
  std::string without_limit = purgaug(parts, 5, 5);
  const std::string limit = "<NUpdatesThisRun>5<";
  without_limit.replace(without_limit.find(limit), limit.size(), "<NUpdatesThisRun>100<");
  const RunSummary first = run_purgaug(input(without_limit), folder, 1);
  CHECK(first.stopped);
  CHECK(first.last_checkpoint.restart == parts + "_restart_0.xml");
  const RunSummary second = run_purgaug(InputFile(first.last_checkpoint.restart), folder, 3);
  CHECK(second.updates == 3);  // the other warm-up update and two numbered ones
  CHECK(second.last_checkpoint.restart == parts + "_restart_2.xml");
  const RunSummary third = run_purgaug(InputFile(second.last_checkpoint.restart), folder);
  CHECK(third.last_update == 5);
  // Restart files ask for the numbered updates that are left, of which the warm-up is none.
  for (const auto& [saved, left] : {std::pair{"0", "5"}, {"2", "3"}, {"5", "0"}})
    CHECK(tests::read_text(parts + "_restart_" + saved + ".xml")
              .find(std::string("<NUpdatesThisRun>") + left + "</NUpdatesThisRun>") != std::string::npos);
  CHECK(distance(saved_field(parts + "_cfg_5.lime"), saved_field(whole + "_cfg_5.lime")) == 0);

  // --continue takes the newest of these, and what is left of a warm-up.
  PurgaugParameters parameters = read_purgaug_parameters(input(purgaug(parts, 9, 1)).root());
  CHECK(continue_from_newest(parameters, nullptr).update_no == 5);
  CHECK(parameters.control.start_update == 5);
  CHECK(parameters.updates_to_do() == 4);
  for (const char* n : {"2", "5"}) tests::once([&] { std::filesystem::remove(parts + "_restart_" + n + ".xml"); });
  PurgaugParameters early = read_purgaug_parameters(input(purgaug(parts, 9, 1)).root());
  CHECK(continue_from_newest(early, nullptr).restart == parts + "_restart_0.xml");
  CHECK(early.updates_to_do() == 1 + 9);
  // The warm-up is no part of the numbered updates: a run that may do more ends with the last of them.
  early.control.updates_this_run = 100;
  CHECK(early.updates_to_do() == 1 + 9);
  parameters.control.updates_this_run = 100;
  CHECK(parameters.updates_to_do() == 4);
}

TEST_CASE("a heatbath of one colour is refused, and what does it instead is named") {
  if (Nc > 1) TESSERA_SKIP("QDP_NC is not 1: there is a heatbath");
  const ScratchFolder folder("purgaug_one_colour");
  CHECK(errors_of(purgaug(folder.file("run"), 1, 1)).find("Use hmc") != std::string::npos);
}

TEST_CASE("a heatbath keeps its links and those before an update that fails, and its measurements work beside them") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_memory");
  const PurgaugParameters p = read_purgaug_parameters(input(purgaug(folder.file("run"), 1, 1)).root());
  CHECK(p.memory.kept == 2 * 2.0 * Nd * Nc * Nc * sizeof(REAL));
  CHECK(p.memory.working == 0);
}

TEST_CASE("the parameters of the heatbath are those of the input") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_parameters");
  const auto read = [&](const std::string& text) {
    return read_purgaug_parameters(input(purgaug(folder.file("run"), 1, 1, kWilson, text)).root())
        .heatbath->parameters();
  };
  const HeatbathParameters given = read("<nOver>3</nOver><NmaxHB>2</NmaxHB><Trial>KENNEDY_PENDLETON</Trial>");
  CHECK(given.over_relaxation == 3);
  CHECK(given.max_trials == 2);
  CHECK(given.trial == HeatbathTrial::kennedy_pendleton);
  const HeatbathParameters least = read("<nOver>0</nOver><NmaxHB>-4</NmaxHB>");
  CHECK(least.over_relaxation == 0);
  CHECK(least.max_trials == 0);
  CHECK(least.trial == HeatbathTrial::creutz);
  CHECK(read("<nOver>0</nOver><NmaxHB>1</NmaxHB><Trial>CREUTZ</Trial>").max_trials == 1);
}

TEST_CASE("inputs that a heatbath cannot do are refused with the reason") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_errors");
  const auto action = [&](const std::string& text) { return errors_of(purgaug(folder.file("run"), 1, 1, text)); };
  CHECK(action("<Name>PLAQ_PLUS_ADJOINT_GAUGEACT</Name><beta_F>1</beta_F><beta_A>1</beta_A>").find("sum of loops") !=
        std::string::npos);
  CHECK(
      action(
          std::string(kWilson) +
          "<GaugeState><Name>STOUT_GAUGE_STATE</Name><rho>0.1</rho><n_smear>1</n_smear><GaugeBC><Name>PERIODIC_GAUGEBC"
          "</Name></GaugeBC></GaugeState>")
          .find("smeared links") != std::string::npos);
  CHECK(errors_of(purgaug(folder.file("run"), 1, 1, kWilson, "<nOver>-1</nOver><NmaxHB>1</NmaxHB><Trial>FAST</Trial>"))
            .find("2 errors") != std::string::npos);
  CHECK(action(kWilson).empty());
}

TEST_CASE("the program runs an input, stops on a signal, and explains itself") {
  TESSERA_NEEDS_SUBGROUPS();
  const ScratchFolder folder("purgaug_program");
  const auto program = [&](const std::vector<std::string>& arguments) {
    return run_program(arguments, folder.file("text"), "purgaug");
  };
  const auto output = [&] { return read_text(folder.file("text")); };
  tests::Written(folder.file("in.xml")) << purgaug(folder.file("run"), 3, 3);
  CHECK(program({"--check", folder.file("in.xml")}) == 0);
  CHECK(output().find("5 update(s)") != std::string::npos);
  CHECK(program({"-i", folder.file("in.xml"), "-o", folder.file("d"), "-l", folder.file("l")}) == 0);
  CHECK(output().find("continue with  purgaug -i " + folder.file("run_restart_3.xml")) != std::string::npos);
  CHECK(XMLReader(folder.file("d")).count("/purgaug/doHB/MCUpdates/elem") == 3);

  tests::Written(folder.file("long.xml")) << purgaug(folder.file("long"), 1000000, 1000000);
  const std::string text = folder.file("long_text");
  const pid_t pid = start_program({"-i", folder.file("long.xml"), "-o", folder.file("d2"), "-l", folder.file("l2")},
                                  text, 0, "purgaug");
  for (int i = 0; i < 3000 && read_text(text).find("\n       3") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  kill(pid, SIGTERM);
  CHECK(wait_for(pid) == 0);
  CHECK(read_text(text).find("stopped by signal") != std::string::npos);

  CHECK(program({"--help"}) == 0);
  for (const char* word :
       {"HBItr", "NmaxHB", "WILSON_COARSE_FINE_GAUGEACT", "SCHROEDINGER_COUPLING_GAUGEBC", "SIGTERM"})
    CHECK(output().find(word) != std::string::npos);
  tests::Written(folder.file("root.xml")) << "<Params/>";
  CHECK(program({"-i", folder.file("root.xml")}) == 1);
  CHECK(output().find("purgaug") != std::string::npos);
}
