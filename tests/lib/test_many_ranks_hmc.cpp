// Whole runs on lattices that are shared out over ranks: the configurations, data and restart files of one rank, to the bit.
#include "lib/heatbath/run.hpp"
#include "lib/hmc/checkpoint.hpp"
#include "lib/hmc/run_lock.hpp"
#include "lib/io/output_name.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/message_of.hpp"
#include "tests/ranks.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <regex>

using namespace QDP;
using namespace qcd;
using namespace tests;

namespace {

using Grid = std::vector<int>;

/// What each rank of a grid says.
std::vector<std::string> on_grid(const Grid& grid, const std::function<std::string()>& body) {
  return texts_on_ranks(ranks_of(grid), [&](jit::Communicator&) {
    share_out(grid);
    return body();
  });
}

/// What a rank says of a run.
std::string told(const RunSummary& s) {
  std::ostringstream text;
  text << s.updates << " updates, last " << s.last_update << (s.stopped ? ", stopped, " : ", ") << s.acceptance << ' '
       << std::hexfloat << s.mean_plaquette << ' ' << s.mean_exp_minus_dh << ' ' << s.last_checkpoint.restart;
  return text.str();
}

/// Runs an input, given or in a file, on a grid; all ranks say the same.
std::string run_on(const Grid& grid, const std::string& input, const std::string& documents,
                   const RunHooks& hooks = {}) {
  const auto texts = on_grid(grid, [&] {
    const InputFile file = input.starts_with('<') ? tests::input(input) : InputFile(input);
    return told(run(file, documents + ".data", documents + ".log", hooks));
  });
  for (const std::string& text : texts) CHECK(text == texts[0]);
  return texts[0];
}

/// A document without what depends on clocks, the machine, and the name of the run (names of equal length: records tell
/// theirs).
std::string comparable(const std::string& file, const std::string& run) {
  std::string text = read_text(file);
  CHECK(text.size() > 100);
  for (const char* pattern : {"<([a-zA-Z_]*seconds[a-zA-Z_]*)>[^<]*<", "<(date)>[^<]*<", "<(run_date)>[^<]*<",
                              "<(subgrid_latt_size)>[^<]*<", "<([a-z]*_hash)>[^<]*<"})
    text = std::regex_replace(text, std::regex(pattern), "<$1><");
  for (auto at = text.find(run); at != std::string::npos; at = text.find(run)) text.replace(at, run.size(), "RUN");
  return text;
}

/// Checks that two runs have left the same.
void check_same(const std::string& a, const std::string& b, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    CAPTURE(file);
    CHECK((comparable(a + file, a) == comparable(b + file, b)));
  }
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), by);
}

/// Measured seconds go into configurations too (their record is the restart file): known costs make them equal.
std::string tuning(const std::string& costs) {
  return "<AutoTune><Rounds>1</Rounds><Trajectories>2</Trajectories>" + costs + "</AutoTune>";
}

/// Two flavours of heavy Wilson quarks on 4^3 x 8, two updates, with all checks.
std::string quarks(const std::string& prefix, int updates, int interval) {
  const std::string more =
      "<ReproCheckFrequency>2</ReproCheckFrequency><ReverseCheckFrequency>2</ReverseCheckFrequency>"
      "<InlineMeasurements><elem><Name>POLYAKOV_LOOP</Name><Frequency>1</Frequency></elem></InlineMeasurements>";
  std::string text = params(prefix, updates, interval, more, 1);
  text = replaced(text, extents_text(run_extents()), extents_text({4, 4, 4, 8}));
  text = replaced(text, "DISORDERED", "WEAK_FIELD");
  text = replaced(text, "</Monomials>",
                  "<elem><Name>TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL</Name><FermionAction><FermAct>WILSON</FermAct>"
                  "<Kappa>0.1</Kappa><FermionBC><FermBC>SIMPLE_FERMBC</FermBC><boundary>1 1 1 -1</boundary></FermionBC>"
                  "</FermionAction><InvertParam><invType>CG_INVERTER</invType><RsdCG>1e-8</RsdCG><MaxCG>500</MaxCG>"
                  "</InvertParam><ChronologicalPredictor><Name>MINIMAL_RESIDUAL_EXTRAPOLATION_4D_PREDICTOR</Name>"
                  "<MaxChrono>3</MaxChrono></ChronologicalPredictor><NamedObject><monomial_id>quarks</monomial_id>"
                  "</NamedObject></elem></Monomials>");
  text = replaced(text, "<elem>gauge</elem></monomial_ids></Hamiltonian>",
                  "<elem>gauge</elem><elem>quarks</elem></monomial_ids></Hamiltonian>");
  return replaced(text, "<elem>gauge</elem></monomial_ids></Integrator>",
                  "<elem>gauge</elem><elem>quarks</elem></monomial_ids></Integrator>");
}

const std::vector<Grid> kGrids{{1, 1, 1, 2}, {2, 1, 1, 2}, {2, 2, 1, 1}};

}  // namespace

TEST_CASE("a run of gauge fields on several ranks is that of one") {
  const ScratchFolder folder("ranks_gauge");
  const std::string more =
      "<ReproCheckFrequency>2</ReproCheckFrequency><ReverseCheckFrequency>3</ReverseCheckFrequency>"
      "<KeepCheckpoints>2</KeepCheckpoints>"
      "<InlineMeasurements><elem><Name>POLYAKOV_LOOP</Name><Frequency>2</Frequency>"
      "<xml_file>" +
      folder.file("loops") + "</xml_file></elem></InlineMeasurements>";
  const auto input = [&](const std::string& name) {
    std::string text = params(folder.file(name), 4, 1, more);
    text = replaced(text, "<Integrator>", tuning("<CostPerForce>1</CostPerForce>") + "<Integrator>");
    return replaced(text, extents_text(run_extents()), extents_text({4, 4, 2, 4}));
  };
  const std::string alone = folder.file("g1111");
  const std::string what = run_on({1, 1, 1, 1}, input("g1111"), alone);
  CHECK(contains(what, "4 updates, last 4"));
  const std::string loops = read_text(folder.file("loops.2"));
  for (const Grid& grid : kGrids) {
    std::string name = "g";
    for (int n : grid) name += std::to_string(n);
    const std::string shared = folder.file(name);
    std::filesystem::remove(folder.file("loops.2"));
    CHECK(replaced(run_on(grid, input(name), shared), shared, "") == replaced(what, alone, ""));
    check_same(alone, shared, {"_cfg_4.lime", "_cfg_3.lime", "_restart_4.xml", "_restart_3.xml", ".data", ".log"});
    CHECK(read_text(folder.file("loops.2")) == loops);
    CHECK_FALSE(std::filesystem::exists(shared + "_cfg_2.lime"));
  }
}

TEST_CASE("two flavours: saved on two ranks, continued on four, as on one") {
  TESSERA_NEEDS_QCD("quarks");
  const ScratchFolder folder("ranks_quarks");
  const std::string alone = folder.file("alone"), parts = folder.file("parts"), four = folder.file("fours");
  run_on({1, 1, 1, 1}, quarks(alone, 2, 1), alone);
  run_on({2, 1, 1, 2}, quarks(four, 2, 1), four);
  check_same(alone, four, {"_cfg_1.lime", "_cfg_2.lime", "_restart_2.xml", ".data", ".log"});
  // Any rank's wish to stop counts.
  unsigned long done = 0;
  RunHooks hooks;
  hooks.report = [&](const UpdateReport& report) { done = report.done; };
  hooks.stop_requested = [&] { return done == 1 && Layout::nodeNumber() == 1; };
  CHECK(contains(run_on({1, 1, 1, 2}, quarks(parts, 2, 1), parts + "_first", hooks), "1 updates, last 1, stopped"));
  run_on({2, 2, 1, 1}, parts + "_restart_1.xml", parts);
  check_same(alone, parts, {"_cfg_1.lime", "_cfg_2.lime"});
}

TEST_CASE("heatbath and over-relaxation on several ranks are those of one") {
  if (Nc == 1) TESSERA_SKIP("QDP_NC is 1: there is no heatbath");
  const ScratchFolder folder("ranks_heatbath");
  const auto run_heatbath_on = [&](const Grid& grid, const std::string& name) {
    const std::string prefix = folder.file(name);
    std::string text = params(prefix, 2, 1);
    const auto control = text.find("<RNG>"), end = text.find("</MCControl>");
    text = "<purgaug><Cfg><cfg_type>DISORDERED</cfg_type></Cfg><MCControl>" + text.substr(control, end - control) +
           "</MCControl><HBItr><nrow>" + extents_text({4, 4, 2, 4}) +
           "</nrow><GaugeAction><Name>WILSON_GAUGEACT</Name><beta>5.7</beta></GaugeAction><HBParams><nOver>1</nOver>"
           "<NmaxHB>2</NmaxHB></HBParams></HBItr></purgaug>";
    const auto texts = on_grid(grid, [&] {
      const InputFile file = tests::input(text);
      PurgaugParameters parameters = read_purgaug_parameters(file.root());
      file.require_valid();
      use_lattice(parameters.nrow);
      XMLFileWriter data(prefix + ".data"), log(prefix + ".log");
      push(data, "purgaug"), push(log, "purgaug");
      const RunSummary summary = run_heatbath(parameters, data, log, {});
      pop(data), pop(log);
      data.close(), log.close();
      return told(summary);
    });
    for (const std::string& said : texts) CHECK(said == texts[0]);
    return prefix;
  };
  const std::string alone = run_heatbath_on({1, 1, 1, 1}, "g1111");
  for (const auto& [grid, name] : {std::pair{Grid{1, 1, 1, 2}, "g1112"}, {Grid{2, 2, 1, 1}, "g2211"}})
    check_same(alone, run_heatbath_on(grid, name), {"_cfg_1.lime", "_cfg_2.lime", "_restart_2.xml", ".data", ".log"});
}

TEST_CASE("whatever the file system says, it says the same to every rank") {
  const ScratchFolder folder("ranks_files");
  const std::string prefix = folder.file("run");
  const Grid grid{2, 1, 1, 2};
  std::string text = replaced(params(prefix, 3, 1), extents_text(run_extents()), extents_text({4, 4, 2, 4}));
  text = replaced(text, "<Integrator>", tuning("") + "<Integrator>");  // by the seconds that the primary measures
  run_on(grid, text, folder.file("documents"));
  const auto all_say = [&](const std::string& part, const std::function<void()>& action) {
    const auto texts = on_grid(grid, [&]() -> std::string {
      use_lattice({4, 4, 2, 4});
      try {
        action();
      } catch (const std::exception& error) {
        return error.what();
      }
      return "no error";
    });
    for (const std::string& said : texts) {
      CHECK(said == texts[0]);
      CHECK(contains(said, part));
    }
  };
  const auto parameters_of = [&] {
    const InputFile file = tests::input(text);
    HmcParameters parameters = read_hmc_parameters(file.root());
    file.require_valid();
    return parameters;
  };
  all_say("3 2 1 ", [&] {
    std::string found;
    for (const CheckpointFiles& files : find_checkpoints(prefix)) found += std::to_string(files.update_no) + ' ';
    throw FileError(found);
  });
  all_say("which holds the lock", [&] {
    const RunLock lock(prefix);
    const RunLock again(prefix);
  });
  CHECK_FALSE(std::filesystem::exists(prefix + ".lock"));

  // Damaged: passed over with the same words, and the one before it is taken.
  std::filesystem::resize_file(prefix + "_cfg_3.lime", 2000);
  all_say("took 2 after checkpoint of update 3 passed over", [&] {
    HmcParameters parameters = parameters_of();
    std::string warnings;
    const CheckpointFiles from = continue_from_newest(parameters, [&](const std::string& w) { warnings += w; });
    throw FileError("took " + std::to_string(from.update_no) + " after " + warnings);
  });
  all_say("The newest good checkpoint before it", [&] {
    const InputFile file(prefix + "_restart_3.xml");
    HmcParameters parameters = read_hmc_parameters(file.root());
    load_start(parameters, {});
  });
  all_say("a name in a folder that exists", [&] {
    const InputFile file = tests::input("<a><b>x</b></a>");
    require_output_name(file.root(), "b", folder.file("no/such"));
    file.require_valid();
  });
  all_say("could not be written", [&] {
    HmcParameters parameters = parameters_of();
    GaugeField u(Nd);
    unit_start(u);
    parameters.control.save_prefix = folder.file("no/such");
    save_checkpoint(parameters, 1, present_state(parameters, u));
  });
  all_say("SavePrefix", [&] {
    HmcParameters parameters = parameters_of();
    parameters.control.save_prefix = folder.file("no/such");
    load_start(parameters, {});
  });
}
