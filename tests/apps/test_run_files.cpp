// The files of a run as the programs treat them: what is there already, locks, signals, names that cannot be meant.
#include <doctest/doctest.h>

#include <sys/file.h>
#include <sys/stat.h>

#include <map>
#include <set>

#include "lib/hmc/checkpoint.hpp"
#include "lib/hmc/run_lock.hpp"
#include "tests/jit/settings.hpp"
#include "tests/lib/hmc_run.hpp"

using namespace tests;
namespace fs = std::filesystem;

namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A folder with an input, and the programs run in it.
struct Place {
  ScratchFolder folder;
  explicit Place(const std::string& name) : folder(name) {}
  std::string file(const std::string& name) const { return folder.file(name); }
  std::string input(const std::string& name, int updates, int interval = 1, int steps = 3) const {
    std::ofstream(file(name)) << params(file("run"), updates, interval, "", steps);
    return file(name);
  }
  std::string printed() const { return read_text(file("printed")); }
  int run(std::vector<std::string> arguments, const std::string& program = "hmc") const {
    return run_program(arguments, file("printed"), program);
  }
  /// With documents o.xml and l.xml.
  int hmc(const std::string& in, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> arguments = {"-i", in, "-o", file("o.xml"), "-l", file("l.xml")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

std::string purgaug_input(const std::string& prefix, const std::string& beta, int updates) {
  return "<purgaug><Cfg><cfg_type>WEAK_FIELD</cfg_type></Cfg><MCControl><RNG><Seed><elem>5</elem><elem>6</elem><elem>7"
         "</elem><elem>8</elem></Seed></RNG><StartUpdateNum>0</StartUpdateNum><NWarmUpUpdates>0</NWarmUpUpdates>"
         "<NProductionUpdates>" +
         std::to_string(updates) + "</NProductionUpdates><NUpdatesThisRun>" + std::to_string(updates) +
         "</NUpdatesThisRun><SaveInterval>1</SaveInterval><SavePrefix>" + prefix +
         "</SavePrefix><SaveVolfmt>SINGLEFILE</SaveVolfmt></MCControl><HBItr><GaugeAction><Name>WILSON_GAUGEACT</Name><beta>" +
         beta +
         "</beta><GaugeState><Name>SIMPLE_GAUGE_STATE</Name><GaugeBC><Name>PERIODIC_GAUGEBC</Name></GaugeBC>"
         "</GaugeState></GaugeAction><HBParams><nOver>1</nOver><NmaxHB>1</NmaxHB></HBParams><nrow>2 2 2 4</nrow></HBItr>"
         "</purgaug>";
}

const std::string kMeasurements =
    "<chroma><Param><InlineMeasurements>"
    "<elem><Name>LINK_SMEAR</Name><Param><LinkSmearingType>STOUT_SMEAR</LinkSmearingType><link_smear_fact>0.1"
    "</link_smear_fact><link_smear_num>4000</link_smear_num></Param><NamedObject><gauge_id>default_gauge_field</gauge_id>"
    "<linksmear_id>smeared</linksmear_id></NamedObject></elem><elem><Name>PLAQUETTE</Name></elem>"
    "<elem><Name>POLYAKOV_LOOP</Name><NamedObject><gauge_id>default_gauge_field</gauge_id></NamedObject></elem>"
    "</InlineMeasurements><nrow>4 4 4 4</nrow></Param><Cfg><cfg_type>WEAK_FIELD</cfg_type></Cfg></chroma>";

}  // namespace

TEST_CASE("--precompile keeps nothing but the kernels, which are all that the run needs") {
  const Place place("files_precompile");
  const Setting cache("TESSERA_CACHE_DIR", place.file("cache")), plain("TESSERA_TUNE", "0");
  const auto names = [&](const fs::path& folder) {
    std::set<std::string> list;
    for (const auto& entry : fs::directory_iterator(folder)) list.insert(entry.path().filename());
    return list;
  };
  const auto list = [](const std::string& elements) {
    return "<InlineMeasurements>" + elements + "</InlineMeasurements>";
  };
  const std::string measures = "<elem><Name>PLAQUETTE</Name><Frequency>2</Frequency><xml_file>" +
                               place.file("plaquette") + "</xml_file></elem>",
                    writes =
                        "<elem><Name>NERSC_WRITE_NAMED_OBJECT</Name><NamedObject><object_id>default_gauge_field"
                        "</object_id></NamedObject><File><file_name>" +
                        place.file("written") + "</file_name></File></elem>";
  std::ofstream(place.file("writes.xml")) << params(place.file("run"), 3, 1, list(measures + writes), 20);
  std::ofstream(place.file("in.xml")) << params(place.file("run"), 3, 1, list(measures), 20);
  std::ofstream(place.file("heatbath.xml")) << purgaug_input(place.file("run"), "5.7", 3);
  const std::set<std::string> before = {"cache", "heatbath.xml", "in.xml", "printed", "writes.xml"};
  const auto precompile = [&](const std::string& in, const std::string& program) {
    CHECK(place.run({"--precompile", place.file(in)}, program) == 0);
    CHECK_MESSAGE(has(place.printed(), "kernels, "), place.printed());
    CHECK(has(place.printed(), place.file("cache")));
    CHECK(names(place.file("")) == before);
    return names(place.file("cache"));
  };

  for (const auto& [program, in] : std::map<std::string, std::string>{{"hmc", "in.xml"}, {"purgaug", "heatbath.xml"}}) {
    CAPTURE(program);
    const std::set<std::string> kernels = precompile(in, program);
    CHECK(kernels.size() > 5);
    CHECK(place.run({"-i", place.file(in), "-o", place.file("o.xml"), "-l", place.file("l.xml")}, program) == 0);
    CHECK(names(place.file("cache")) == kernels);
    CHECK(fs::exists(place.file("run_cfg_3.lime")));
    for (const std::string& name : names(place.file("")))
      if (!before.contains(name)) fs::remove(place.file(name));
  }
  precompile("writes.xml", "hmc");

  fs::create_directory(place.file("run_precompile"));
  CHECK(place.run({"--precompile", place.file("in.xml")}) == 1);
  CHECK(has(place.printed(), place.file("run_precompile")));
  CHECK(fs::exists(place.file("run_precompile")));
  const Setting none("TESSERA_CACHE", "0");
  CHECK(place.run({"--precompile", place.file("in.xml")}) == 1);
  CHECK(has(place.printed(), "TESSERA_CACHE=0"));
}

TEST_CASE("a new run over the documents or checkpoints of another one is refused unless told otherwise") {
  const Place place("files_overwrite");
  const std::string in = place.input("in.xml", 2);
  REQUIRE(place.hmc(in) == 0);
  const std::string data = read_text(place.file("o.xml")), state = read_text(place.file("run_restart_1.xml"));

  CHECK(place.hmc(in) == 1);
  CHECK(has(place.printed(), place.file("o.xml")));
  CHECK(has(place.printed(), "--overwrite"));
  CHECK(place.run({"-i", in, "-o", place.file("other.xml"), "-l", place.file("l.xml")}) == 1);
  CHECK(has(place.printed(), place.file("l.xml")));
  CHECK_FALSE(fs::exists(place.file("other.xml")));
  CHECK(place.run({"-i", in, "-o", place.file("o2.xml"), "-l", place.file("l2.xml")}) == 1);
  CHECK(has(place.printed(), "run_restart_2.xml"));
  CHECK(has(place.printed(), "--continue"));
  CHECK(place.run({"-i", place.file("run_restart_1.xml"), "-o", place.file("o2.xml"), "-l", place.file("l2.xml")}) ==
        1);
  CHECK(read_text(place.file("o.xml")) == data);
  CHECK(read_text(place.file("run_restart_1.xml")) == state);

  CHECK(place.hmc(in, {"--overwrite"}) == 0);
  // From the newest checkpoint nothing is written over.
  CHECK(place.run({"-i", place.file("run_restart_2.xml"), "-o", place.file("o3.xml"), "-l", place.file("l3.xml")}) ==
        0);
  CHECK(place.hmc(in, {"--continue"}) == 0);
  CHECK(has(place.printed(), "run is finished"));
  CHECK(qcd::find_checkpoints(place.file("run")).front().update_no == 4);

  // What --overwrite begins is what --continue goes on with: nothing of the longer run before stays.
  std::ofstream(place.file("one.xml")) << params(place.file("run"), 1, 1);
  CHECK(place.hmc(place.file("one.xml"), {"--overwrite"}) == 0);
  CHECK(qcd::find_checkpoints(place.file("run")).size() == 1);
  CHECK_FALSE(fs::exists(place.file("run_cfg_4.lime")));
}

TEST_CASE("two runs over one SavePrefix: the second is refused while the first lives, and not when it is dead") {
  const Place place("files_lock");
  const std::string in = place.input("long.xml", 1000000, 1000000);
  const pid_t first =
      start_program({"-i", in, "-o", place.file("a.xml"), "-l", place.file("b.xml")}, place.file("first"));
  REQUIRE(appears(place.file("b.xml")));
  CHECK(place.hmc(in, {"--continue"}) == 1);
  CHECK(has(place.printed(), "process " + std::to_string(first)));
  CHECK(has(place.printed(), place.file("run.lock")));
  kill(first, SIGKILL);
  wait_for(first);
  CHECK(fs::exists(place.file("run.lock")));  // the file stays, the lock does not
  CHECK(place.hmc(place.input("short.xml", 1), {"--continue"}) == 0);
  CHECK_FALSE(fs::exists(place.file("run.lock")));
}

TEST_CASE("a lock is held by one, and let go at the end") {
  const ScratchFolder folder("files_lock_class");
  {
    const qcd::RunLock lock(folder.file("run"));
    CHECK(lock.warning().empty());
    CHECK_THROWS_WITH_AS(qcd::RunLock(folder.file("run")), doctest::Contains(std::to_string(::getpid()).c_str()),
                         qcd::FileError);
    CHECK_NOTHROW(qcd::RunLock(folder.file("run2")));
  }
  CHECK_FALSE(fs::exists(folder.file("run.lock")));
  CHECK_NOTHROW(qcd::RunLock(folder.file("run")));
  {  // what a run that was killed has left is nobody's name any more
    std::ofstream(folder.file("run.lock")) << "process 1 on " << std::string(150, '*');
    const qcd::RunLock lock(folder.file("run"));
    const std::string who = read_text(folder.file("run.lock"));
    CHECK(who.starts_with("process " + std::to_string(::getpid()) + " on "));
    CHECK_FALSE(has(who, "*"));
    CHECK_THROWS_WITH_AS(qcd::RunLock(folder.file("run")), doctest::Contains(("got " + who + ", which holds").c_str()),
                         qcd::FileError);
  }
  CHECK_THROWS_AS(qcd::RunLock(folder.file("missing/run")), qcd::FileError);
}

TEST_CASE("names that cannot be meant are one clean message each") {
  const Place place("files_names");
  const std::string in = place.input("in.xml", 1), text = read_text(in);
  fs::create_hard_link(in, place.file("same.xml"));
  REQUIRE(::mkfifo(place.file("pipe").c_str(), 0600) == 0);
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& word,
                           const std::string& program = "hmc") {
    CAPTURE(arguments.back());
    CHECK(place.run(arguments, program) == 1);
    const std::string printed = place.printed();
    CAPTURE(printed);
    CHECK(has(printed, program + ": "));
    CHECK(has(printed, word));
    std::istringstream lines(printed);
    for (std::string line; std::getline(lines, line);)
      CHECK((line.starts_with(program + ": ") || line.starts_with("Tessera ")));
  };
  refused({"-i", in, "-o", in}, "expected another file than the input");
  refused({"-i", in, "-o", place.file("x"), "-l", in}, "expected another file than the input");
  refused({"-i", in, "-o", place.file("same.xml")}, "expected another file than the input");
  refused({"-i", in, "-o", place.file("x"), "-l", place.file("./x")}, "expected two files");
  refused({"-i", in, "-o", place.file("."), "-l", place.file("x")}, "a folder");
  for (const std::string program : {"hmc", "purgaug", "measure"})
    for (const std::string& path : {place.file("pipe"), place.file("."), std::string("/dev/zero")})
      refused({"-i", path}, "regular file", program);
  CHECK(read_text(in) == text);
  CHECK_FALSE(fs::exists(place.file("x")));

  // The same for a configuration.
  for (const std::string& path : {place.file("pipe"), place.file("."), std::string("/dev/zero")})
    for (const char* type : {"SZINQIO", "NERSC"}) {
      std::string with_cfg = text;
      const std::string start = "<cfg_type>DISORDERED</cfg_type>";
      with_cfg.replace(with_cfg.find(start), start.size(),
                       std::string("<cfg_type>") + type + "</cfg_type><cfg_file>" + path + "</cfg_file>");
      std::ofstream(place.file("cfg.xml")) << with_cfg;
      CHECK(place.run({"-i", place.file("cfg.xml")}) == 1);
      CHECK(has(place.printed(), path));
      CHECK(has(place.printed(), "a file that can be read"));
    }
}

TEST_CASE("a restart file edited elsewhere than how long and where is refused by the program") {
  const Place place("files_edited");
  REQUIRE(place.hmc(place.input("in.xml", 2)) == 0);
  CHECK(place.run({"--check", place.file("run_restart_2.xml")}) == 0);
  std::string text = read_text(place.file("run_restart_2.xml"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string edited = text;
    edited.replace(edited.find(from), from.size(), to);
    std::ofstream(place.file("edited.xml")) << edited;
    return place.run(
        {"-i", place.file("edited.xml"), "-o", place.file("o2.xml"), "-l", place.file("l2.xml"), "--overwrite"});
  };
  CHECK(with("<beta>6.8<", "<beta>6.9<") == 1);
  CHECK(has(place.printed(), "--accept-edited"));
  CHECK(with("<NUpdatesThisRun>2<", "<NUpdatesThisRun>1<") == 0);
  CHECK(has(place.printed(), "NUpdatesThisRun 2 -> 1"));
  std::string edited = text;
  edited.replace(edited.find("<beta>6.8<"), 10, "<beta>6.9<");
  std::ofstream(place.file("edited.xml")) << edited;
  CHECK(place.run({"-i", place.file("edited.xml"), "-o", place.file("o3.xml"), "-l", place.file("l3.xml"),
                   "--overwrite", "--accept-edited"}) == 0);
  CHECK(has(place.printed(), "accepted"));
}

TEST_CASE("a reader that went away and a limit on file sizes are errors with the state saved, not a sudden death") {
  const Place place("files_pipe");
  // The data document is a pipe whose reader leaves after a while.
  const std::string in = place.input("in.xml", 1000000, 1000000);
  const std::string pipe = place.file("pipe");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const pid_t reader = fork();
  if (reader == 0) {
    execl("/bin/sh", "sh", "-c", ("head -c 5000 < " + pipe + " > /dev/null").c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  CHECK(place.run({"-i", in, "-o", pipe, "-l", place.file("l.xml")}) == 1);
  wait_for(reader);
  CHECK(has(place.printed(), "could not be written"));
  CHECK(has(place.printed(), "Continue with: hmc -i "));
  CHECK(!qcd::find_checkpoints(place.file("run")).empty());

  // Checkpoints of 2^3 x 4 take 19 kB; files may have 8.
  std::ofstream(place.file("limited.xml")) << params(place.file("limited"), 3, 1);
  const std::string command = "ulimit -f 16; exec " + (binary_folder() / "bin/hmc").string() + " -i " +
                              place.file("limited.xml") + " -o /dev/null -l /dev/null > " + place.file("printed") +
                              " 2>&1 & sleep 5; kill -TERM $!; sleep 0.3; kill -TERM $!; wait $!";
  const int status = std::system(("bash -c '" + command + "'").c_str());
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  CHECK(has(place.printed(), "File too large"));
}

TEST_CASE("purgaug and hmc stop before they save a field that is not finite") {
  const Place place("files_finite");
  std::ofstream(place.file("in.xml")) << purgaug_input(place.file("run"), "1e300", 3);
  CHECK(place.run({"-i", place.file("in.xml"), "-o", place.file("o"), "-l", place.file("l")}, "purgaug") == 1);
  CHECK(qcd::find_checkpoints(place.file("run")).empty());
}

TEST_CASE("measure that is asked to stop ends after the present measurement, with complete documents") {
  const Place place("files_measure");
  std::ofstream(place.file("in.xml")) << kMeasurements;
  const pid_t pid = start_program({"-i", place.file("in.xml"), "-o", place.file("o.xml"), "-l", place.file("l.xml")},
                                  place.file("printed"), 0, "measure");
  for (int i = 0; i < 2000 && !has(read_text(place.file("o.xml")), "<Observables>"); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(pid, SIGTERM);
  CHECK(wait_for(pid) == 1);
  CHECK(has(place.printed(), "2 of 3 measurements not done"));
  const std::string text = read_text(place.file("o.xml"));
  CHECK(has(text, "</chroma>"));
  CHECK(has(text, "<MeasurementsNotDone>2</MeasurementsNotDone>"));
  CHECK_FALSE(has(text, "<Plaquette>"));
  CHECK(has(read_text(place.file("l.xml")), "</measure>"));
}
