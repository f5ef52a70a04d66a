// --check of hmc, purgaug and measure: 0 for inputs as they should be, 1 for errors, 2 for what can be run and is hardly
// meant; and runs of the latter, which say so and go on.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "tests/lib/hmc_input.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/lib/xml_damage.hpp"
#include "tests/paths.hpp"

using tests::hmc_input;
using tests::id_list;
using tests::leapfrog;
using tests::list_element;
using tests::tag;

namespace {

struct Run {
  int status;
  std::string printed;
};

Run run(const std::string& program, const std::vector<std::string>& arguments) {
  const tests::ScratchFolder folder("check_run");
  const std::string printed = folder.file("printed");
  const int status = tests::run_program(arguments, printed, program);
  return {status, tests::read_text(printed)};
}

/// --check of a text.
Run check(const std::string& program, const std::string& text) {
  const tests::ScratchFolder folder("check_input");
  std::ofstream(folder.file("given.xml")) << text;
  return run(program, {"--check", folder.file("given.xml")});
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string gauge(const std::string& beta = "5.5") {
  return list_element("GAUGE_MONOMIAL", tag("GaugeAction", tag("Name", "WILSON_GAUGEACT") + tag("beta", beta)));
}

std::string wilson() {
  return list_element("TWO_FLAVOR_EOPREC_CONSTDET_FERM_MONOMIAL",
                      tests::wilson_action("WILSON", "0.3") + tests::inverter());
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("--check finds nothing in the examples") {
  for (const char* program : {"hmc", "purgaug", "measure"})
    for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() / "examples" / program)) {
      if (entry.path().extension() != ".xml") continue;
      CAPTURE(entry.path().string());
      const Run result = run(program, {"--check", entry.path().string()});
      CHECK_MESSAGE(result.status == 0, result.printed);
      CHECK(has(result.printed, entry.path().string() + ": valid; "));
    }
}

TEST_CASE("what cannot be meant has status 1 and names the file") {
  const auto refused = [](const std::string& text, const std::string& why) {
    const Run result = check("hmc", text);
    CHECK(result.status == 1);
    CHECK(has(result.printed, "given.xml"));
    CHECK_MESSAGE(has(result.printed, why), result.printed);
  };
  refused(hmc_input("3 3 3 3", wilson()), "even extents");
  refused(hmc_input("4 4 4 4", gauge("-5.5")), "beta");
  refused(hmc_input("4 4 4 4", gauge(), tag("monomial_ids", "m"),
                    tag("tau0", "1") + tag("Integrator", leapfrog(id_list({"m"})))),
          "a list of <elem>");
  refused(hmc_input("4 4 4 4", gauge(), id_list({"m"}),
                    tag("tau0", "1") + tag("Integrator", tag("Name", "LCM_EXP_T") + tag("n_steps", "1"))),
          "m in Hamiltonian only");
  refused(replaced(hmc_input("4 4 4 4", gauge()), "never_run", std::string(300, 'x')), "SavePrefix");
}

TEST_CASE("what is hardly meant has status 2, and a run says it and goes on") {
  const tests::ScratchFolder folder("check_unread");
  const std::string text = replaced(
      hmc_input("2 2 2 2", gauge(), id_list({"m"}), tag("tau0", "0.1") + tag("Integrator", leapfrog(id_list({"m"}))),
                tag("ReproCheckFreqency", "1")),
      "never_run", folder.file("run"));
  const Run checked = check("hmc", text);
  CHECK(checked.status == 2);
  CHECK(has(checked.printed,
            "not used: /Params/MCControl/ReproCheckFreqency (line 1); did you mean ReproCheckFrequency?"));

  std::ofstream(folder.file("in.xml")) << text;
  const Run done =
      run("hmc", {"-i", folder.file("in.xml"), "-o", folder.file("out.xml"), "-l", folder.file("log.xml")});
  CHECK_MESSAGE(done.status == 0, done.printed);
  CHECK(has(done.printed, "warning: " + folder.file("in.xml") + ": not used: /Params/MCControl/ReproCheckFreqency"));

  const Run large = check("hmc", hmc_input("4096 4096 4096 4096", gauge()));
  CHECK(large.status == 2);
  CHECK(has(large.printed, "of memory are available"));
}

TEST_CASE("one place of each of the ten kinds of damage, in an input of each program") {
  const auto examples = tests::source_folder() / "examples";
  for (const auto& [program, name] :
       {std::pair{"hmc", "hmc/quickstart.xml"}, std::pair{"purgaug", "purgaug/wilson_6.0.xml"},
        std::pair{"measure", "measure/spectrum.xml"}}) {
    const tests::XmlText good((examples / name).string());
    std::uint64_t random = 4321;
    for (const auto& kind : tests::xml_damages()) {
      CAPTURE(program);
      CAPTURE(kind.name);
      std::optional<std::string> bad;
      while (!bad) bad = kind.damage(good, random);
      const Run result = check(program, *bad);
      CHECK_MESSAGE((result.status == 1 || result.status == 2), tests::difference(good.text(), *bad));
      CHECK(has(result.printed, "given.xml"));
    }
  }
}
