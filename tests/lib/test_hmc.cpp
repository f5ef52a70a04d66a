// Whole runs of hmc: documents, checkpoints, restarts, signals, and being killed.

#include "tests/lib/hmc_run.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace qcd;
using namespace tests;

TEST_CASE("the data document holds what the run did, in Chroma's elements") {
  const tests::ScratchFolder folder("hmc_data");
  const std::string more =
      "<ReproCheckFrequency>2</ReproCheckFrequency><ReverseCheckFrequency>3</ReverseCheckFrequency>"
      "<InlineMeasurements><elem><Name>POLYAKOV_LOOP</Name><Frequency>2</Frequency><Param><version>2</version></Param>"
      "<NamedObject><gauge_id>default_gauge_field</gauge_id></NamedObject></elem></InlineMeasurements>";
  const InputFile file = tests::input(params(folder.file("run"), 4, 2, more));
  const RunSummary summary = run(file, folder.file("out.xml"), folder.file("log.xml"));
  CHECK(summary.updates == 4);
  CHECK_FALSE(summary.stopped);

  XMLReader data(folder.file("out.xml")), log(folder.file("log.xml"));
  const std::string update = "/hmc/doHMC/MCUpdates/elem/Update";
  CHECK(data.count(update) == 4);
  CHECK(data.count(update + "/WarmUpP[. = 'true']") == 2);
  for (const char* path :
       {"update_no", "HMCTrajectory/H_old/KE_old", "HMCTrajectory/H_old/PE_old", "HMCTrajectory/H_new/KE_new",
        "HMCTrajectory/H_new/PE_new", "HMCTrajectory/deltaKE", "HMCTrajectory/deltaPE", "HMCTrajectory/deltaH",
        "HMCTrajectory/AccProb", "HMCTrajectory/AcceptP", "seconds_for_trajectory", "seconds_for_measurements",
        "InlineObservables/elem/Plaquette/w_plaq", "InlineObservables/elem/Plaquette/plane_01_plaq"}) {
    CAPTURE(path);
    CHECK(data.count(update + "/" + path) == 4);
  }
  CHECK(data.count(update + "/ReproCheck") == 2);
  CHECK(data.count(update + "/InlineObservables/elem/PolyakovLoop/poly_loop/elem") == 2 * Nd);
  CHECK(log.count("//ReversibilityMetrics") == 1);
  double reverse = 1;
  read(log, "//ReversibilityMetrics/DeltaDeltaH", reverse);
  CHECK(reverse < base_tol(1e-9));
  CHECK(log.count("//leapP/AbsHamiltonianForce/ForcesByMonomial/elem/GaugeMonomial/Forces/F_sq") > 0);
  CHECK(log.count("//leapQ") > 0);

  double delta_h, delta_ke, delta_pe;
  read(data, update + "[update_no = 3]/HMCTrajectory/deltaH", delta_h);
  read(data, update + "[update_no = 3]/HMCTrajectory/deltaKE", delta_ke);
  read(data, update + "[update_no = 3]/HMCTrajectory/deltaPE", delta_pe);
  CHECK(delta_h == doctest::Approx(delta_ke + delta_pe));
}

TEST_CASE("a run stopped and restarted ends with the same bits as one in a single go") {
  const tests::ScratchFolder folder("hmc_restart");
  const std::string whole = folder.file("whole"), parts = folder.file("parts");
  run(tests::input(params(whole, 7, 3)), folder.file("a.xml"), folder.file("b.xml"));
  const RunSummary first = run(tests::input(params(parts, 7, 7)), folder.file("a.xml"), folder.file("b.xml"), 4);
  CHECK(first.stopped);
  CHECK(first.last_checkpoint.restart == parts + "_restart_4.xml");
  const RunSummary second = run(InputFile(first.last_checkpoint.restart), folder.file("a.xml"), folder.file("b.xml"));
  CHECK(second.last_update == 9);  // 7 updates were asked for again, cut at warm-up + production
  CHECK(tests::distance(saved_field(parts + "_cfg_7.lime"), saved_field(whole + "_cfg_7.lime")) == 0);
  CHECK(read_text(parts + "_restart_7.xml").find("<StartUpdateNum>7</StartUpdateNum>") != std::string::npos);
  CHECK(std::filesystem::exists(whole + "_restart_3.xml"));
  CHECK(std::filesystem::exists(whole + "_restart_6.xml"));
}

TEST_CASE("hmc killed at any moment continues from its last saved state to the same bits") {
  const tests::ScratchFolder folder("hmc_kill");
  const auto write = [&](const std::string& name, const std::string& text) {
    tests::Written(folder.file(name)) << text;
  };
  const int last = 12;
  write("whole.xml", params(folder.file("whole"), last, 4));
  REQUIRE(run_program({"-i", folder.file("whole.xml"), "-o", folder.file("d"), "-l", folder.file("l")},
                      folder.file("text")) == 0);

  // The same updates, saved after each, killed as soon as the third is on disk.
  write("killed.xml", params(folder.file("killed"), last, 1));
  const pid_t pid = start_program({"-i", folder.file("killed.xml"), "-o", folder.file("d2"), "-l", folder.file("l2")},
                                  folder.file("text2"));
  REQUIRE(appears(folder.file("killed_restart_3.xml")));
  kill(pid, SIGKILL);
  wait_for(pid);
  // Whatever restart file is there works; take the third.
  REQUIRE(run_program({"-i", folder.file("killed_restart_3.xml"), "-o", folder.file("d3"), "-l", folder.file("l3"),
                       "--overwrite"},
                      folder.file("text3")) == 0);
  tests::use_lattice(tests::run_extents());
  CHECK(tests::distance(saved_field(folder.file("killed_cfg_12.lime")),
                        saved_field(folder.file("whole_cfg_12.lime"))) == 0);
}

TEST_CASE("one and two threads give the same bits") {
  const tests::ScratchFolder folder("hmc_threads");
  for (int threads : {1, 2}) {
    const std::string name = "threads" + std::to_string(threads);
    tests::Written(folder.file(name + ".xml")) << params(folder.file(name), 3, 3);
    const std::vector<std::string> arguments = {"-i", folder.file(name + ".xml"), "-o", folder.file("d" + name),
                                                "-l", folder.file("l" + name)};
    REQUIRE(wait_for(start_program(arguments, folder.file("text"), threads)) == 0);
  }
  tests::use_lattice(tests::run_extents());
  CHECK(tests::distance(saved_field(folder.file("threads1_cfg_3.lime")),
                        saved_field(folder.file("threads2_cfg_3.lime"))) == 0);
}

TEST_CASE("SIGTERM, SIGUSR1, SIGHUP, SIGXCPU and SIGINT finish the trajectory, save, and exit with status 0") {
  for (int signal : {SIGTERM, SIGUSR1, SIGHUP, SIGXCPU, SIGINT}) {
    CAPTURE(signal);
    const tests::ScratchFolder folder("hmc_signal");
    std::string text = params(folder.file("run"), 100000, 100000, "", 30);
    // With quarks too, whose solvers the signal may meet.
    text.insert(text.find("</Monomials>"),
                "<elem><Name>TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL</Name><InvertParam><invType>CG_INVERTER</invType>"
                "<RsdCG>" +
                    tests::solver_residual("1e-9") +
                    "</RsdCG><MaxCG>1000</MaxCG></InvertParam><FermionAction>"
                    "<FermAct>WILSON</FermAct><Mass>0.5</Mass><boundary>" +
                    extents_text({1, 1, 1, 1}) +
                    "</boundary></FermionAction>"
                    "<NamedObject><monomial_id>quark</monomial_id></NamedObject></elem>");
    for (std::size_t at = 0; (at = text.find("<elem>gauge</elem>", at)) != std::string::npos; at += 20)
      text.insert(at, "<elem>quark</elem>"), at += 18;
    tests::Written(folder.file("in.xml")) << text;
    const pid_t pid = start_program({"-i", folder.file("in.xml"), "-o", folder.file("d"), "-l", folder.file("l")},
                                    folder.file("text"));
    for (int i = 0; i < 3000 && read_text(folder.file("text")).find("\n       1") == std::string::npos; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    kill(pid, signal);
    CHECK(wait_for(pid) == 0);
    const std::string output = read_text(folder.file("text"));
    CHECK(output.find("signal received, stopping after this update") != std::string::npos);
    CHECK(output.find("stopped by signal") != std::string::npos);
    CHECK(output.find("continue with  hmc -i " + folder.file("run_restart_")) != std::string::npos);
    XMLReader log(folder.file("l"));  // closed properly
    CHECK(log.count("//ForcesByMonomial/elem/monomial_id[. = 'quark']") > 0);
  }
}

TEST_CASE("documents can be read while the run goes on, up to the closing tags of their outer groups") {
  const tests::ScratchFolder folder("hmc_live");
  const InputFile file = tests::input(params(folder.file("run"), 3, 3));
  RunHooks hooks;
  hooks.report = [&](const UpdateReport& report) {
    for (const char* name : {"out.xml", "log.xml"}) {
      std::istringstream text(read_text(folder.file(name)) + "</MCUpdates></doHMC></hmc>");
      XMLReader xml(text);
      CHECK(xml.count("/hmc/doHMC/MCUpdates/elem/Update") == static_cast<int>(report.done));
      CHECK(xml.count("//InlineObservables/elem/Plaquette/w_plaq") == static_cast<int>(report.done));
    }
  };
  run(file, folder.file("out.xml"), folder.file("log.xml"), hooks);
}

TEST_CASE("a run that tunes its steps shows how, restarts with them, and goes on to the same bits") {
  const tests::ScratchFolder folder("hmc_tuning");
  const auto input = [&](const std::string& prefix, int updates) {
    std::string text = params(prefix, updates, 1, "<ReproCheckFrequency>2</ReproCheckFrequency>", 20);
    const std::string tuning =
        "<AutoTune><Rounds>2</Rounds><Trajectories>3</Trajectories><CostPerForce>1</CostPerForce></AutoTune>";
    text.insert(text.find("<Integrator>"), tuning);
    text.replace(text.find("<NWarmUpUpdates>2"), 17, "<NWarmUpUpdates>6");
    return tests::input(text);
  };
  run(input(folder.file("whole"), 9), folder.file("out.xml"), folder.file("log.xml"));
  XMLReader data(folder.file("out.xml"));
  const std::string tuning = "//Update[update_no = 6]/StepTuning";
  CHECK(data.count("//StepTuning") == 2);
  int first, last;
  read(data, "//Update[update_no = 3]/StepTuning/n_steps", first);
  read(data, tuning + "/n_steps_new", last);
  CHECK(first == 20);
  CHECK(last < 10);
  CHECK(data.count(tuning + "/Levels/elem/variance") == 1);
  CHECK(data.count(tuning + "/frozen[. = 'true']") == 1);

  run(input(folder.file("parts"), 9), folder.file("out.xml"), folder.file("log.xml"), 4);  // in the second round
  const std::string restart = read_text(folder.file("parts_restart_4.xml"));
  CHECK(restart.find("<StepTuning>") != std::string::npos);
  run(InputFile(folder.file("parts_restart_4.xml")), folder.file("out.xml"), folder.file("log.xml"));
  CHECK(tests::distance(saved_field(folder.file("parts_cfg_9.lime")), saved_field(folder.file("whole_cfg_9.lime"))) ==
        0);
}

TEST_CASE("hmc --check reports every error and runs nothing; a valid input passes") {
  const tests::ScratchFolder folder("hmc_check");
  std::string text = params(folder.file("run"), 3, 1);
  tests::Written(folder.file("good.xml")) << text;
  CHECK(run_program({"--check", folder.file("good.xml")}, folder.file("text")) == 0);
  CHECK(read_text(folder.file("text")).find("valid") != std::string::npos);

  text.replace(text.find("LW_TREE_GAUGEACT"), 16, "LW_TRIE_GAUGEACT");
  text.replace(text.find("<n_steps>3"), 10, "<n_steps>x");
  tests::Written(folder.file("bad.xml")) << text;
  CHECK(run_program({"--check", folder.file("bad.xml")}, folder.file("text")) == 1);
  const std::string report = read_text(folder.file("text"));
  CHECK(report.find("2 errors") != std::string::npos);
  CHECK(report.find("LW_TREE_GAUGEACT") != std::string::npos);
  CHECK(report.find("Integrator/n_steps") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder.file("run_cfg_3.lime")));
}

TEST_CASE("hmc tolerates the language's flags, explains itself, and refuses what it does not know") {
  const tests::ScratchFolder folder("hmc_arguments");
  tests::Written(folder.file("in.xml")) << params(folder.file("run"), 1, 1);
  std::vector<std::string> arguments = {"-i", folder.file("in.xml"), "-o",   folder.file("d"),
                                        "-l", folder.file("l"),      "-geom"};
  arguments.insert(arguments.end(), Nd, "1");
  CHECK(run_program(arguments, folder.file("text")) == 0);
  CHECK(run_program({"--help"}, folder.file("text")) == 0);
  const std::string help = read_text(folder.file("text"));
  for (const char* word : {"--check", "MDIntegrator", "LCM_4MN5FV", "SIGTERM", "TESSERA_CACHE_DIR"})
    CHECK(help.find(word) != std::string::npos);
  CHECK(run_program({}, folder.file("text")) != 0);
  CHECK(run_program({"--frobnicate"}, folder.file("text")) != 0);
  CHECK(run_program({"-i", folder.file("nothing.xml")}, folder.file("text")) == 1);
  CHECK(read_text(folder.file("text")).find("nothing.xml") != std::string::npos);
  tests::Written(folder.file("root.xml")) << "<Other/>";
  CHECK(run_program({"-i", folder.file("root.xml")}, folder.file("text")) == 1);
  CHECK(read_text(folder.file("text")).find("LeapfrogTest") != std::string::npos);
}

TEST_CASE("root LeapfrogTest integrates one trajectory and logs DeltaE") {
  TESSERA_NEEDS_QCD("Chroma's number");
  const tests::ScratchFolder folder("hmc_leapfrog");
  tests::Written(folder.file("in.xml"))
      << "<LeapfrogTest><nrow>4 4 4 "
         "8</nrow><GaugeStartup><cfg_type>WEAK_FIELD</cfg_type><cfg_file>DUMMY</cfg_file></GaugeStartup>"
         "<Monomials><elem><Name>GAUGE_MONOMIAL</Name><GaugeAction><Name>WILSON_GAUGEACT</Name><beta>5.6</beta></"
         "GaugeAction>"
         "<NamedObject><monomial_id>gauge</monomial_id></NamedObject></elem></Monomials>"
         "<Hamiltonian><monomial_ids><elem>gauge</elem></monomial_ids></Hamiltonian>"
         "<MDIntegrator><tau0>0.1</tau0><Integrator><Name>LCM_STS_LEAPFROG</Name><n_steps>4</n_steps>"
         "<monomial_ids><elem>gauge</elem></monomial_ids></Integrator></MDIntegrator></LeapfrogTest>";
  REQUIRE(run_program({"-i", folder.file("in.xml"), "-o", folder.file("d"), "-l", folder.file("l")},
                      folder.file("text")) == 0);
  XMLReader log(folder.file("l"));
  double kinetic, dke, dpe, dh;
  read(log, "/t_leapfrog/mesE[1]/mesKE/KE", kinetic);
  CHECK(kinetic == doctest::Approx(16.9050713506589).epsilon(base_tol(1e-12)));  // Chroma's, whatever the gauge action
  read(log, "/t_leapfrog/DeltaE/DeltaKE", dke);
  read(log, "/t_leapfrog/DeltaE/DeltaPE", dpe);
  read(log, "/t_leapfrog/DeltaE/DeltaH", dh);
  CHECK(dh == doctest::Approx(dke + dpe));
  CHECK(std::fabs(dh) < 0.05 * std::fabs(dke));
}
