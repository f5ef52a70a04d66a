// Restart files: damage, edits and mix-ups are found; what the method has learnt is kept; failing updates save first.

#include "lib/hmc/checkpoint.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/lib/monomials.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <set>

using namespace QDP;
using namespace qcd;
using namespace tests;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

RunSummary run_text(const ScratchFolder& folder, const std::string& text, const RunHooks& hooks = {}) {
  return run(input(text), folder.file("data.xml"), folder.file("log.xml"), hooks);
}

/// What the program makes of a restart file's text before it runs.
std::string verdict(const ScratchFolder& folder, const std::string& text) {
  const std::string name = folder.file("edited.xml");
  tests::Written(name) << text;
  return message_of([&] { (void)require_unchanged_restart(text, name, false); });
}

}  // namespace

TEST_CASE("a changed digit of seed, beta, tau, update number or warm-up in a restart file is found") {
  const ScratchFolder folder("restart_digits");
  run_text(folder, params(folder.file("run"), 2, 1));
  const std::string text = read_text(folder.file("run_restart_2.xml"));
  CHECK(check_restart_text(text, "x").state == RestartText::untouched);
  CHECK(verdict(folder, text).empty());
  const std::pair<const char*, const char*> edits[] = {{"<beta>6.8<", "<beta>6.9<"},
                                                       {"<tau0>0.3<", "<tau0>0.4<"},
                                                       {"<StartUpdateNum>2<", "<StartUpdateNum>1<"},
                                                       {"<NWarmUpUpdates>2<", "<NWarmUpUpdates>1<"},
                                                       {"<n_steps>3<", "<n_steps>4<"},
                                                       {"_cfg_2.lime", "_cfg_1.lime"},
                                                       {"<ReproCheckP>true", "<ReproCheckP>false"},
                                                       {"<cfg_checksum>", "<cfg_checksum>1"},
                                                       {"<as_written>", "<as_written> "},
                                                       {"</Params>\n", "</Params>"}};
  for (const auto& [from, to] : edits) {
    CAPTURE(from);
    const std::string message = verdict(folder, replaced(text, from, to));
    CHECK(contains(message, "edited.xml"));
    CHECK(contains(message, "--accept-edited"));
  }
  const auto seed = text.find("<elem>", text.find("<Seed>")) + 6;
  std::string other = text;
  other[seed] = other[seed] == '1' ? '2' : '1';
  CHECK(contains(verdict(folder, other), "edited.xml"));
  std::string note;
  CHECK_NOTHROW(note = require_unchanged_restart(other, "x", true));
  CHECK(contains(note, "accepted"));
}

TEST_CASE("how long to run and where to save may be edited by hand, and the change is named") {
  const ScratchFolder folder("restart_edits");
  run_text(folder, params(folder.file("run"), 2, 1));
  const std::string text = read_text(folder.file("run_restart_2.xml"));
  const auto note = [&](const std::string& edited) {
    return require_unchanged_restart(edited, "run_restart_2.xml", false);
  };
  CHECK(note(text).empty());
  CHECK(contains(note(replaced(text, "<NUpdatesThisRun>2<", "<NUpdatesThisRun>7<")), "NUpdatesThisRun 2 -> 7"));
  CHECK(contains(note(replaced(text, "<SaveInterval>1<", "<SaveInterval>5<")), "SaveInterval 1 -> 5"));
  CHECK(contains(note(replaced(text, "<SavePrefix>" + folder.file("run"), "<SavePrefix>" + folder.file("new"))),
                 "SavePrefix"));
  CHECK(contains(note(replaced(text, "<SaveVolfmt>", "<KeepCheckpoints>3</KeepCheckpoints>\n    <SaveVolfmt>")),
                 "KeepCheckpoints (none) -> 3"));
  const std::string two = note(replaced(replaced(text, "<NProductionUpdates>2<", "<NProductionUpdates>20<"),
                                        "<NUpdatesThisRun>2<", "<NUpdatesThisRun>4<"));
  CHECK(contains(two, "run_restart_2.xml"));
  CHECK(contains(two, "NProductionUpdates 2 -> 20, NUpdatesThisRun 2 -> 4"));
  // What may be edited does not excuse what may not.
  const std::string both =
      replaced(replaced(text, "<NUpdatesThisRun>2<", "<NUpdatesThisRun>7<"), "<beta>6.8<", "<beta>6.9<");
  CHECK(check_restart_text(both, "x").state == RestartText::changed);
  CHECK(contains(verdict(folder, both), "--accept-edited"));
  // Files of other programs and older versions, and inputs, have nothing to compare.
  CHECK(check_restart_text(params("x", 1, 1), "in.xml").state == RestartText::no_identity);
}

TEST_CASE("a restart file does not take the configuration of another update") {
  const ScratchFolder folder("restart_mix_up");
  run_text(folder, params(folder.file("run"), 3, 1));
  tests::once([&] {
    std::filesystem::copy(folder.file("run_cfg_2.lime"), folder.file("run_cfg_3.lime"),
                          std::filesystem::copy_options::overwrite_existing);
  });
  const std::string text = read_text(folder.file("run_restart_3.xml"));
  const std::string message = message_of([&] { run_text(folder, text); });
  CHECK(contains(message, "run_cfg_3.lime"));
  CHECK(contains(message, "another update"));
  CHECK(contains(message, "hmc -i " + folder.file("run_restart_2.xml")));

  // --continue passes over it; --accept-edited takes it.
  HmcParameters parameters = read_hmc_parameters(input(params(folder.file("run"), 3, 1)).root());
  CHECK(continue_from_newest(parameters, nullptr).update_no == 2);
  const InputFile file = input(text);
  HmcParameters accepting = read_hmc_parameters(file.root());
  accepting.accept_edited = true;
  CHECK_NOTHROW(load_start(accepting, nullptr));
}

TEST_CASE("an edited restart file is passed over by --continue unless told otherwise") {
  const ScratchFolder folder("restart_continue");
  run_text(folder, params(folder.file("run"), 3, 1));
  const std::string name = folder.file("run_restart_3.xml"), text = read_text(name);
  const auto from = [&](bool accept) {
    HmcParameters parameters = read_hmc_parameters(input(params(folder.file("run"), 3, 1)).root());
    parameters.accept_edited = accept;
    return continue_from_newest(parameters, nullptr).update_no;
  };
  tests::Written(name) << replaced(text, "<beta>6.8<", "<beta>6.7<");
  CHECK(from(false) == 2);
  CHECK(from(true) == 3);
  tests::Written(name) << replaced(text, "<SaveInterval>1<", "<SaveInterval>2<");
  CHECK(from(false) == 3);
}

TEST_CASE("a run that continues does not project links: those that were saved are in the group") {
  const ScratchFolder folder("restart_project");
  run_text(folder, params(folder.file("run"), 1, 1));
  std::string text = read_text(folder.file("run_restart_1.xml"));
  const auto begin = text.find("<Identity>");
  text.erase(begin, text.find("</Identity>") + 11 - begin);  // of another program, say
  GaugeField u = saved_field(folder.file("run_cfg_1.lime"));
  u[Nd - 1] = Real(1.001) * u[Nd - 1];
  XMLBufferWriter file_xml, record_xml;
  push(file_xml, "HMC"), pop(file_xml);
  push(record_xml, "x"), pop(record_xml);
  {
    QDPFileWriter file(file_xml, folder.file("run_cfg_1.lime"), QDPIO_SINGLEFILE, QDPIO_SERIAL);
    QDP::write(file, record_xml, u);
    QDP::close(file);
  }
  text = replaced(text, "<NUpdatesThisRun>", "<NUpdatesThisRun>1");
  const std::string message = message_of([&] { run_text(folder, text); });
  CHECK(contains(message, "run_cfg_1.lime"));
  CHECK(contains(message, std::to_string(Layout::vol()) + " outside"));
  CHECK(message_of([&] {
          run_text(folder, replaced(text, "<parallel_io>", "<reunit>true</reunit><parallel_io>"));
        }).empty());
}

TEST_CASE("a run says how the checksum of its start compares, and refuses a wrong one unless told to read it") {
  const ScratchFolder folder("restart_verdict");
  run_text(folder, params(folder.file("run"), 1, 1));
  const std::string cfg = folder.file("run_cfg_1.lime"), whole = read_text(cfg);
  const auto text = [&](const std::string& more) {
    return replaced(params(folder.file("new"), 1, 1), "<cfg_type>DISORDERED</cfg_type>",
                    "<cfg_type>SZINQIO</cfg_type><cfg_file>" + cfg + "</cfg_file>" + more);
  };
  const auto verdict_of = [&](const std::string& more) {
    run_text(folder, text(more));
    XMLReader data(folder.file("data.xml"));
    std::string verdict;
    read(data, "/hmc/Config_info/checksum", verdict);
    return verdict;
  };
  CHECK(verdict_of("") == "verified");

  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;  // the last bit of some number
  tests::Written(cfg, std::ios::binary) << damaged;
  CHECK(contains(message_of([&] { run_text(folder, text("")); }), cfg));
  CHECK(contains(message_of([&] { run_text(folder, text("<verify_checksum>true</verify_checksum>")); }), "checksum"));
  CHECK(contains(verdict_of("<verify_checksum>false</verify_checksum>"), "wrong: stored"));

  damaged = replaced(whole, "<suma>", "<sumx>");
  tests::Written(cfg, std::ios::binary) << damaged;
  CHECK(contains(message_of([&] { run_text(folder, text("")); }), "cannot be read"));
  CHECK(contains(verdict_of("<verify_checksum>false</verify_checksum>"), "cannot be read"));

  damaged = replaced(whole, "scidac-checksum", "scidac-checksun");  // else the file would have none
  tests::Written(cfg, std::ios::binary) << damaged;
  CHECK(contains(message_of([&] { run_text(folder, text("")); }), "scidac-checksun"));
}

TEST_CASE("a run is complete after NWarmUpUpdates and NProductionUpdates, wherever it was cut") {
  McControl c;
  c.warm_up_updates = 5;
  c.production_updates = 35;
  c.updates_this_run = 100;
  const std::pair<unsigned long, unsigned long> left[] = {{0, 40}, {34, 6}, {35, 5}, {39, 1}, {40, 0}, {41, 0}};
  for (const auto& [start, updates] : left) {
    c.start_update = start;
    CAPTURE(start);
    CHECK(c.updates_to_do() == updates);
  }

  // As its own restart file says.
  const ScratchFolder folder("restart_warm_up");
  run(input(params(folder.file("run"), 3, 1)), folder.file("a"), folder.file("b"),
      3ul);  // 5 in all, 3 of them in one run
  const std::string text = read_text(folder.file("run_restart_3.xml"));
  CHECK(contains(text, "<NUpdatesThisRun>2</NUpdatesThisRun>"));
  CHECK(run_text(folder, text).last_update == 5);
}

namespace {

/// An action that is another one each time.
struct Odd : Monomial {
  int refreshes = 0;
  double constant = 0;
  void refresh(const GaugeField&) override { constant = ++refreshes; }
  Double action(const GaugeField& u, const Log&) override { return Double(constant) * sum(real(trace(u[0]))); }
  void force(GaugeField& f, const GaugeField& u, const Log&) override {
    f.resize(Nd);
    for (int mu = 0; mu < Nd; ++mu) f[mu] = Real(0) * u[mu];
  }
  std::string log_tag() const override { return "Odd"; }
};

/// What a run of this text warns of when the first repetition of an update differs.
std::string warnings_of_failing_run(const ScratchFolder& folder, const std::string& text) {
  const InputFile file = input(text);
  HmcParameters parameters = read_hmc_parameters(file.root());
  file.require_valid();
  use_lattice(parameters.dynamics.lattice);
  parameters.dynamics.monomials["odd"] = std::make_shared<Odd>();
  parameters.dynamics.hamiltonian_ids.push_back("odd");
  RunHooks hooks;
  std::string warnings;
  hooks.warning = [&](const std::string& warning) { warnings += warning; };
  XMLFileWriter data(folder.file("data.xml")), log(folder.file("log.xml"));
  push(data, "hmc");
  push(log, "hmc");
  CHECK_THROWS_AS(run_simulation(parameters, data, log, hooks), NumericsError);
  return warnings;
}

std::string repeated(int frequency) {
  return "<ReproCheckP>true</ReproCheckP><ReproCheckFrequency>" + std::to_string(frequency) + "</ReproCheckFrequency>";
}

}  // namespace

TEST_CASE("what the program decides to stop for is stopped for with the state saved") {
  const ScratchFolder folder("restart_failing");
  // Saves are due every 100 updates; the repetition of update 3 is made to differ.
  const std::string warnings = warnings_of_failing_run(folder, params(folder.file("run"), 50, 100, repeated(3)));
  CHECK(contains(warnings, "the state before it is saved: hmc -i " + folder.file("run_restart_2.xml")));

  // That state is the one of an undisturbed run after two updates.
  run_text(folder, params(folder.file("short"), 2, 2));
  HmcParameters again = read_hmc_parameters(input(params(folder.file("run"), 3, 1)).root());
  CHECK(continue_from_newest(again, nullptr).update_no == 2);
}

TEST_CASE(
    "a widened interval and the count of checks are part of the state: short jobs and repetitions agree with one long run") {
  TESSERA_NEEDS_QCD("bounds of a spectrum on 2^3 x 4");
  const ScratchFolder folder("restart_widen");
  const auto text = [&](const std::string& prefix, int updates) {
    const auto approximation = [](const std::string& den) { return tests::approximation("-1", den, "0.5", "4"); };
    const std::string quark =
        "<elem><Name>ONE_FLAVOR_EOPREC_CONSTDET_FERM_RAT_MONOMIAL</Name><num_pf>1</num_pf>"
        "<BoundsCheckFrequency>2</BoundsCheckFrequency><WidenBounds>true</WidenBounds><Action>" +
        tests::wilson_action("WILSON", "0.3") + "<ActionApprox>" + approximation("4") + "</ActionApprox><ForceApprox>" +
        approximation("2") +
        "</ForceApprox></Action><NamedObject><monomial_id>quark</monomial_id></NamedObject></elem>";
    std::string all = params(folder.file(prefix), updates, 100,
                             "<ReproCheckP>true</ReproCheckP><ReproCheckFrequency>1</ReproCheckFrequency>"
                             "<ReverseCheckP>false</ReverseCheckP>");
    all = replaced(all, "</Monomials>", quark + "</Monomials>");
    for (std::size_t at = 0; (at = all.find("<elem>gauge</elem>", at)) != std::string::npos; at += 36)
      all.insert(at, "<elem>quark</elem>");
    return replaced(all, "<NProductionUpdates>" + std::to_string(updates), "<NProductionUpdates>4");
  };
  run_text(folder, text("long", 4));
  run_text(folder, text("short", 1));
  for (int n = 1; n < 4; ++n) {
    const std::string restart = read_text(folder.file("short_restart_" + std::to_string(n) + ".xml"));
    CHECK(contains(restart, "<MonomialStates>"));
    const auto begin = restart.find("<NUpdatesThisRun>"), end = restart.find("</NUpdatesThisRun>");
    run_text(folder, restart.substr(0, begin) + "<NUpdatesThisRun>1" + restart.substr(end));
  }
  CHECK(distance(saved_field(folder.file("short_cfg_4.lime")), saved_field(folder.file("long_cfg_4.lime"))) == 0);
  const auto state = [&](const std::string& prefix) {
    const std::string restart = read_text(folder.file(prefix + "_restart_4.xml"));
    const auto begin = restart.find("<MonomialStates>");
    return restart.substr(begin, restart.find("</MonomialStates>") - begin);
  };
  CHECK(state("short") == state("long"));
  CHECK(contains(state("long"), "<state>4,"));      // repetitions do not count
  CHECK_FALSE(contains(state("long"), ",0.5,4,"));  // it did widen
}

TEST_CASE(
    "a run that fails behind a checkpoint saves the updates since, and names the checkpoint where there are none") {
  const ScratchFolder folder("restart_failing_later");
  // Saves after updates 2 and 4.
  const std::string since = warnings_of_failing_run(folder, params(folder.file("since"), 50, 2, repeated(4)));
  CHECK(contains(since, "the state before it is saved: hmc -i " + folder.file("since_restart_3.xml")));
  CHECK(std::filesystem::exists(folder.file("since_cfg_3.lime")));
  const std::string none = warnings_of_failing_run(folder, params(folder.file("none"), 50, 2, repeated(3)));
  CHECK(contains(none, "the state before it is " + folder.file("none_restart_2.xml")));
  const std::string start = warnings_of_failing_run(folder, params(folder.file("start"), 50, 2, repeated(1)));
  CHECK(contains(start, "the start of this run"));
}
