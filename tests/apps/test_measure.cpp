// The program measure: its documents, what it prints, and how it refuses inputs.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/paths.hpp"

namespace {

const std::filesystem::path kProgram = tests::binary_folder() / "bin/measure";
const std::filesystem::path kFolder = tests::binary_folder() / "tests/measure_output";

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Run {
  int status = -1;
  std::string printed;
};

Run run(const std::string& arguments) {
  std::filesystem::create_directories(kFolder);
  const std::string printed = (kFolder / "printed").string();
  const std::string command = kProgram.string() + " --overwrite " + arguments + " > " + printed + " 2>&1";
  const int status = std::system(command.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(printed)};
}

std::string write_input(const std::string& name, const std::string& text) {
  std::filesystem::create_directories(kFolder);
  std::ofstream(kFolder / name) << text;
  return (kFolder / name).string();
}

std::string document(const std::string& measurements, const std::string& cfg = "<cfg_type>WEAK_FIELD</cfg_type>") {
  return "<chroma><Param><InlineMeasurements>" + measurements +
         "</InlineMeasurements><nrow>2 2 2 4</nrow></Param><Cfg>" + cfg + "</Cfg></chroma>";
}

const std::string kGood =
    "<elem><Name>PLAQUETTE</Name></elem><elem><Name>LINK_SMEAR</Name><Param><LinkSmearingType>HYP_SMEAR</"
    "LinkSmearingType>"
    "<alpha1>0.75</alpha1><alpha2>0.6</alpha2><alpha3>0.3</alpha3></Param><NamedObject><gauge_id>default_gauge_field</"
    "gauge_id>"
    "<linksmear_id>hyp</linksmear_id></NamedObject></elem>";

}  // namespace

TEST_CASE("measure runs an input and writes root chroma with one element per measurement") {
  const std::string input = write_input("good.xml", document(kGood)), out = (kFolder / "out.xml").string(),
                    log = (kFolder / "log.xml").string();
  const Run result = run("-i " + input + " -o " + out + " -l " + log);
  CHECK(result.status == 0);
  CHECK(has(result.printed, "PLAQUETTE"));
  CHECK(has(result.printed, "LINK_SMEAR"));
  const std::string written = content(out), times = content(log);
  for (const char* part : {"<chroma>", "<ProgramInfo>", "<RNG>", "<Observables>", "<InlineObservables>", "<Plaquette>",
                           "<linksmear>", "<Link_observables>", "</chroma>"}) {
    CAPTURE(part);
    CHECK(has(written, part));
  }
  CHECK(has(times, "<Name>LINK_SMEAR</Name>"));
  CHECK(has(times, "</measure>"));
}

TEST_CASE("a run says what runs and where, on the terminal and in its documents") {
  const std::string input = write_input("about.xml", document(kGood)), out = (kFolder / "about_out.xml").string();
  setenv("OMP_NUM_THREADS", "2", 1);
  const Run result = run("-i " + input + " -o " + out + " -l " + (kFolder / "about.log").string());
  REQUIRE(result.status == 0);
  char host[256] = "";
  REQUIRE(gethostname(host, sizeof host - 1) == 0);
  const std::string written = content(out);
  const auto element = [&](const std::string& name) {
    const std::size_t from = written.find("<" + name + ">"), to = written.find("</" + name + ">");
    REQUIRE(from < to);
    return written.substr(from + name.size() + 2, to - from - name.size() - 2);
  };
  CHECK(element("host") == host);
  CHECK(element("threads") == "2");
  const char* const chosen = std::getenv("TESSERA_DEVICE");  // where all tests run on a GPU
  CHECK(element("device").starts_with(chosen == nullptr ? "cpu" : chosen));
  CHECK(result.printed.starts_with("Tessera " + element("tessera") + " (" + element("commit") + "), "));
  CHECK(has(result.printed, element("device") + " (" + element("device_model") + "), 2 threads, on " + host));

  std::system(("git -C " + tests::source_folder().string() + " rev-parse --short=12 HEAD > " +
               (kFolder / "commit").string() + " 2>&1")
                  .c_str());
  const std::string head = content(kFolder / "commit");
  // In a clone. The build may be older than the newest commit. An archive has "unknown", a bundle what it was made of.
  if (head.size() == 13) CHECK(element("commit") != "unknown");
  CHECK((element("commit") == "unknown" || element("commit").size() >= 12));
}

TEST_CASE("the same input gives the same numbers, and another seed others") {
  const auto plaquettes = [](const std::string& input) {
    const std::string out = (kFolder / "seed.xml").string();
    REQUIRE(run("-i " + input + " -o " + out + " -l " + (kFolder / "seed.log").string()).status == 0);
    const std::string text = content(out);
    return text.substr(text.find("<InlineObservables>"));
  };
  const std::string same = write_input("same.xml", document(kGood));
  std::string seeded = document(kGood);
  seeded.insert(seeded.find("<Cfg>"),
                "<RNG><Seed><elem>7</elem><elem>0</elem><elem>0</elem><elem>0</elem></Seed></RNG>");
  const std::string first = plaquettes(same);
  CHECK(first == plaquettes(same));
  CHECK(first != plaquettes(write_input("other.xml", seeded)));
}

TEST_CASE("--check reads an input, names what is not used, and does not run") {
  const std::string input =
      write_input("check.xml", document(kGood + "<elem><Name>POLYAKOV_LOOP</Name><Misspelt/></elem>"));
  const Run result = run("--check " + input);
  CHECK(result.status == 2);
  CHECK(has(result.printed, "valid; 3 measurement(s)"));
  CHECK(has(result.printed, "Misspelt"));
  CHECK(run("--check " + write_input("check.xml", document(kGood))).status == 0);
}

TEST_CASE("everything wrong with an input is said at once, with lines") {
  const std::string input = write_input(
      "bad.xml",
      document("<elem><Name>PLAQUETE</Name></elem>\n<elem><Name>QTOP_NAIVE</Name><NamedObject><gauge_id>smeared"
               "</gauge_id></NamedObject></elem>",
               "<cfg_type>SCIDAC</cfg_type><cfg_file>/no/such/file</cfg_file>"));
  const Run result = run("-i " + input);
  CHECK(result.status == 1);
  CHECK(has(result.printed, "3 errors"));
  CHECK(has(result.printed, "PLAQUETTE"));
  CHECK(has(result.printed, "default_gauge_field, got smeared"));
  CHECK(has(result.printed, "/no/such/file"));
  CHECK(has(result.printed, "line 2"));
}

TEST_CASE("a wrong root, a missing file and a wrong command line end with one message each") {
  CHECK(has(run("-i " + write_input("root.xml", "<Params/>")).printed, "expected the root element chroma, got Params"));
  const Run missing = run("-i /no/such/input.xml");
  CHECK(missing.status == 1);
  CHECK(has(missing.printed, "measure: "));
  CHECK(run("").status != 0);
  CHECK(run("--nonsense").status != 0);
}

TEST_CASE("--help lists every measurement, source, smearing, action and solver") {
  const Run help = run("--help");
  CHECK(help.status == 0);
  for (const char* name : {"WILSLP", "GRADIENT_FLOW", "HADRON_SPECTRUM", "CHIRAL_CONDENSATE_STAG", "EIGBNDSMDAGM",
                           "RAND_Z2_WALL_SOURCE", "GAUGE_INV_GAUSSIAN", "WALL_SINK", "HYP_SMEAR", "CLOVER", "STAGGERED",
                           "BICGSTAB_INVERTER", "WEAK_FIELD", "LatticePropagatorF"}) {
    CAPTURE(name);
    CHECK(has(help.printed, name));
  }
}
