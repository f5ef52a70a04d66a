// Input documents: everything wrong is reported at once, with path, line and what was expected.

#include "lib/hmc/parameters.hpp"
#include "tests/lib/lattice.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

using namespace qcd;

namespace {

std::string quickstart() {
  std::ifstream file(tests::source_folder() / "examples/hmc/quickstart.xml");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The quickstart input with `from` replaced by `to`.
std::string edited(const std::string& from, const std::string& to) {
  std::string text = quickstart();
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// Line of the first occurrence, counted from 1.
std::string line_of(const std::string& text, const std::string& word) {
  return "line " + std::to_string(
                       1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.find(word)), '\n'));
}

/// All errors of a Params document, one per line.
std::string errors(const std::string& text) {
  const InputFile file = tests::input(text);
  read_hmc_parameters(file.root());
  std::string all;
  for (const std::string& error : file.errors()) all += error + "\n";
  return all;
}

bool contains(const std::string& text, const std::string& word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("the example inputs are valid") {
  for (const auto& entry : std::filesystem::directory_iterator(tests::source_folder() / "examples/hmc")) {
    if (entry.path().extension() != ".xml") continue;
    CAPTURE(entry.path().string());
    const InputFile file(entry.path().string());
    const HmcParameters parameters = read_hmc_parameters(file.root());
    CHECK_NOTHROW(file.require_valid());
    CHECK(parameters.control.updates_to_do() > 0);
    CHECK(parameters.dynamics.lattice.size() == QDP::Nd);
  }
}

TEST_CASE("what the quickstart input says is what is read") {
  const InputFile file = tests::input(quickstart());
  const HmcParameters p = read_hmc_parameters(file.root());
  CHECK(file.errors().empty());
  CHECK(file.root_name() == "Params");
  CHECK(p.dynamics.lattice == std::vector<int>{8, 8, 8, 8});
  CHECK(p.dynamics.integrator->tau() == 1.0);
  CHECK(p.control.seed == std::array<int, 4>{11, 0, 0, 0});
  CHECK(p.control.save_prefix == "quickstart");
  CHECK(p.measurements.size() == 1);
  CHECK(p.measurements[0].frequency == 5);
  CHECK(p.measurements[0].due(10));
  CHECK_FALSE(p.measurements[0].due(11));
}

TEST_CASE("a missing element is reported with path, line and what was expected") {
  const std::string text = edited("<tau0>1.0</tau0>", "");
  const std::string report = errors(text);
  CHECK(contains(report, "/Params/HMCTrj/MDIntegrator/tau0"));
  CHECK(contains(report, "a number above zero"));
  CHECK(contains(report, "no such element"));
  CHECK(contains(report, line_of(text, "<MDIntegrator>")));
}

TEST_CASE("a malformed element is reported with path, line, what was expected and what was there") {
  const std::string text = edited("<n_steps>12</n_steps>", "<n_steps>eight</n_steps>");
  const std::string report = errors(text);
  CHECK(contains(report, "/Params/HMCTrj/MDIntegrator/Integrator/n_steps"));
  CHECK(contains(report, "an integer from 1 on"));
  CHECK(contains(report, "\"eight\""));
  CHECK(contains(report, line_of(text, "eight")));
}

TEST_CASE("numbers out of range, lists of wrong length, wrong flags") {
  CHECK(contains(errors(edited("<n_steps>12", "<n_steps>0")), "n_steps"));
  CHECK(contains(errors(edited("<n_steps>12", "<n_steps>12.5")), "n_steps"));
  CHECK(contains(errors(edited("<nrow>8 8 8 8", "<nrow>8 8 8")), "4 numbers, each an integer from 1 on"));
  CHECK(contains(errors(edited("<nrow>8 8 8 8", "<nrow>8 8 0 8")), "/Params/HMCTrj/nrow"));
  CHECK(contains(errors(edited("<beta>5.7</beta>", "<beta>nan</beta>")), "beta"));
  CHECK(contains(errors(edited("<ReproCheckP>true", "<ReproCheckP>perhaps")), "true or false"));
  CHECK(contains(errors(edited("<SaveVolfmt>SINGLEFILE", "<SaveVolfmt>TWOFILES")), "SINGLEFILE"));
  CHECK(contains(errors(edited("<elem>11</elem>", "<elem>4096</elem>")), "from 0 to 4095"));
  CHECK(contains(errors(edited("<elem>11</elem>", "")), "four <elem>"));
  for (const bool fits : {true, false}) {  // 47 bits: the last number has eleven
    std::string seed = edited("<elem>11</elem>", "");
    seed.insert(seed.find("</Seed>"), fits ? "<elem>2047</elem>" : "<elem>2048</elem>");
    CHECK(contains(errors(seed), "from 0 to 2047") != fits);
  }
  CHECK(contains(errors(edited("<SaveInterval>20", "<SaveInterval>0")), "SaveInterval"));
}

TEST_CASE("an unknown name lists the valid ones") {
  struct Case {
    const char* right;
    const char* wrong;
    const char* listed;
  };
  const Case cases[] = {{"WILSON_GAUGEACT", "WILSN_GAUGEACT", "LW_TREE_GAUGEACT"},
                        {"GAUGE_MONOMIAL", "GAGE_MONOMIAL", "GAUGE_MONOMIAL"},
                        {"LCM_STS_MIN_NORM_2", "OMELYAN", "LCM_4MN5FV"},
                        {"WEAK_FIELD", "STRONG_FIELD", "DISORDERED"},
                        {"POLYAKOV_LOOP", "WILSON_LOOP", "PLAQUETTE"},
                        {"PERIODIC_GAUGEBC", "OPEN_GAUGEBC", "PERIODIC_GAUGEBC"}};
  for (const Case& c : cases) {
    CAPTURE(c.wrong);
    const std::string text = edited(c.right, c.wrong);
    const std::string report = errors(text);
    CHECK(contains(report, c.wrong));
    CHECK(contains(report, c.listed));
    CHECK(contains(report, line_of(text, c.wrong)));
  }
}

TEST_CASE("ids that name no monomial, and ids given twice") {
  const std::string text = edited("<elem>gauge</elem>", "<elem>guage</elem>");
  CHECK(contains(errors(text), "guage"));
  CHECK(contains(errors(text), "list Monomials: gauge"));
  const std::string elem =
      "<elem><Name>GAUGE_MONOMIAL</Name><GaugeAction><Name>WILSON_GAUGEACT</Name><beta>1</beta></GaugeAction>"
      "<NamedObject><monomial_id>gauge</monomial_id></NamedObject></elem>";
  CHECK(contains(errors(edited("<Monomials>", "<Monomials>" + elem)), "a second time"));
}

TEST_CASE("several errors are reported together, errors below a missing group are not") {
  std::string text = edited("<n_steps>12</n_steps>", "");
  text.replace(text.find("<beta>5.7"), 9, "<beta>hot");
  const InputFile file = tests::input(text);
  read_hmc_parameters(file.root());
  CHECK(file.errors().size() == 2);
  CHECK_THROWS_WITH_AS(file.require_valid(), doctest::Contains("2 errors"), InputError);

  const InputFile empty = tests::input("<Params><MCControl/></Params>");
  read_hmc_parameters(empty.root());
  for (const std::string& error : empty.errors()) CHECK_FALSE(contains(error, "/Params/HMCTrj/"));
}

TEST_CASE("elements in double and groups where text belongs") {
  CHECK(contains(errors(edited("<tau0>1.0</tau0>", "<tau0>1.0</tau0><tau0>1</tau0>")), "2 such elements"));
  CHECK(contains(errors(edited("<tau0>1.0</tau0>", "<tau0><x>1</x></tau0>")), "an element with children"));
}

TEST_CASE("elements that nobody reads are listed, so that misspelt optional ones show") {
  std::string text = edited("<ReproCheckFrequency>", "<ReproCheckFreqency>");
  text.replace(text.find("</ReproCheckFrequency>"), 22, "</ReproCheckFreqency>");
  text.replace(text.find("<nrow>"), 6, "<annotation>free text</annotation><nrow>");
  const InputFile file = tests::input(text);
  read_hmc_parameters(file.root());
  CHECK_NOTHROW(file.require_valid());
  const std::vector<std::string> unused = file.unused_elements();
  REQUIRE(unused.size() == 1);
  CHECK(contains(unused[0], "/Params/MCControl/ReproCheckFreqency"));
  CHECK(contains(unused[0], line_of(text, "<ReproCheckFreqency>")));
}

TEST_CASE("files that cannot be read or are not XML name the file and the line") {
  CHECK_THROWS_WITH_AS(InputFile("/nonexistent/in.xml"), doctest::Contains("/nonexistent/in.xml"), InputError);
  const std::string broken = edited("</tau0>", "</tau>");
  CHECK_THROWS_WITH_AS(tests::input(broken), doctest::Contains((":" + line_of(broken, "</tau>").substr(5)).c_str()),
                       InputError);
  CHECK(contains(errors(edited("<cfg_type>WEAK_FIELD</cfg_type>",
                               "<cfg_type>NERSC</cfg_type><cfg_file>/nonexistent/u</cfg_file>")),
                 "/nonexistent/u"));
}

TEST_CASE("a run stops at the total number of updates, and a finished one does nothing") {
  McControl control;
  control.production_updates = 30;
  control.warm_up_updates = 10;
  control.updates_this_run = 25;
  CHECK(control.updates_to_do() == 25);
  control.start_update = 20;
  CHECK(control.updates_to_do() == 20);
  control.start_update = 30;  // the total is 40: ten are missing
  CHECK(control.updates_to_do() == 10);
  control.start_update = 40;
  CHECK(control.updates_to_do() == 0);
}

TEST_CASE("the help text names every row of every table") {
  const std::string help = input_help();
  for (const char* word :
       {"WEAK_FIELD", "GAUGE_MONOMIAL", "RG_GAUGEACT", "LCM_STS_LEAPFROG", "LCM_EXP_T", "POLYAKOV_LOOP"})
    CHECK(contains(help, word));
}
