// Measurements on a lattice that is shared out over ranks write what they write on one, to the bit, on every rank.
#include "lib/meas/parameters.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/lib/hmc_run.hpp"
#include "tests/lib/measurements.hpp"
#include "tests/lib/monomials.hpp"
#include "tests/ranks.hpp"

#include <doctest/doctest.h>

#include <regex>

using namespace QDP;
using namespace qcd;
using namespace tests;

namespace {

/// What each of so many ranks has measured.
std::vector<std::string> measured_on(const std::vector<int>& grid, const std::string& measurements) {
  return texts_on_ranks(ranks_of(grid), [&](jit::Communicator&) {
    share_out(grid);
    use_lattice({4, 4, 4, 8});
    GaugeField u(Nd);
    weak_field_start(u);
    return tests::run_measurements(measurements, u);
  });
}

void check_same(const std::string& measurements) {
  const auto plain = [](const std::string& text) {
    return std::regex_replace(text, std::regex("<([a-z_]*seconds[a-z_]*)>[^<]*<"), "<$1><");
  };
  const std::string alone = plain(measured_on({1, 1, 1, 1}, measurements)[0]);
  CHECK(alone.size() > 1000);
  for (const std::vector<int>& grid : {std::vector{1, 1, 1, 2}, {2, 1, 2, 1}})
    for (const std::string& shared : measured_on(grid, measurements)) {
      const std::string text = plain(shared);
      std::size_t at = 0;
      while (at < text.size() && at < alone.size() && text[at] == alone[at]) ++at;
      CAPTURE(alone.substr(at < 100 ? 0 : at - 100, 200));
      CAPTURE(text.substr(at < 100 ? 0 : at - 100, 200));
      CHECK(text.size() == alone.size());
      CHECK(at == alone.size());
    }
}

std::string ids(const std::string& names) { return tag("NamedObject", names); }
const std::string kGauge = tag("gauge_id", "default_gauge_field");

std::string source(const std::string& id, const std::string& parameters) {
  return measurement("MAKE_SOURCE", tag("Param", tag("version", "6") + tag("Source", parameters)) +
                                        ids(kGauge + tag("source_id", id)));
}

}  // namespace

TEST_CASE("gauge fields: loops, flows, smearing, gauge fixing, files") {
  TESSERA_NEEDS_QCD("NERSC files");
  const ScratchFolder folder("ranks_meas");
  const auto file = [&](const std::string& name) { return tag("File", tag("file_name", folder.file(name))); };
  std::string list = measurement("PLAQUETTE", "") + measurement("POLYAKOV_LOOP", "");
  list += measurement(
      "WILSLP",
      tag("Param", tag("version", "3") + tag("kind", "6") + tag("j_decay", "3") + tag("t_dir", "3")) + ids(kGauge));
  list += measurement("WILSON_FLOW",
                      tag("Param", tag("version", "1") + tag("nstep", "3") + tag("wtime", "0.3") + tag("t_dir", "3")) +
                          ids(tag("gauge_in", "default_gauge_field")));
  list += measurement("LINK_SMEAR",
                      tag("Param", tag("LinkSmearingType", "APE_SMEAR") + tag("link_smear_fact", "2.5") +
                                       tag("link_smear_num", "2") + tag("no_smear_dir", "3") + tag("BlkAccu", "1e-8")) +
                          ids(kGauge + tag("linksmear_id", "smeared")));
  list += measurement("QTOP_NAIVE", ids(tag("gauge_id", "smeared")));
  list += measurement("COULOMB_GAUGEFIX",
                      tag("Param", tag("version", "1") + tag("GFAccu", "1e-6") + tag("GFMax", "30") +
                                       tag("OrDo", "true") + tag("OrPara", "1.7") + tag("j_decay", "3")) +
                          ids(kGauge + tag("gfix_id", "fixed") + tag("gauge_rot_id", "rotation")));
  const auto object = [](const std::string& id, const std::string& type) {
    return ids(tag("object_id", id) + tag("object_type", type));
  };
  list += measurement("NERSC_WRITE_NAMED_OBJECT", ids(tag("object_id", "fixed")) + file("nersc"));
  list += measurement("NERSC_READ_NAMED_OBJECT", ids(tag("object_id", "again")) + file("nersc"));
  const std::string type = "Multi1dLatticeColorMatrix";
  list += measurement(
      "QIO_WRITE_NAMED_OBJECT",
      object("fixed", type) + tag("File", tag("file_name", folder.file("lime")) + tag("file_volfmt", "SINGLEFILE")));
  list += measurement("QIO_READ_NAMED_OBJECT", object("copy", type) + file("lime"));
  list +=
      measurement("PLAQUETTE", ids(tag("gauge_id", "again"))) + measurement("PLAQUETTE", ids(tag("gauge_id", "copy")));
  list += measurement("LIST_NAMED_OBJECT", "");
  check_same(list);
}

TEST_CASE("quarks: sources, propagators, hadrons, condensates") {
  TESSERA_NEEDS_QCD("quarks");
  const std::string text = read_text((source_folder() / "examples/measure/spectrum.xml").string());
  const std::string begin = "<InlineMeasurements>";
  const auto from = text.find(begin) + begin.size();
  std::string list = text.substr(from, text.find("</InlineMeasurements>") - from);
  list += source("wall", tag("SourceType", "RAND_ZN_WALL_SOURCE") + tag("N", "5") + tag("j_decay", "3") +
                             tag("t_source", "2") +
                             tag("ran_seed", tag("Seed", "<elem>1</elem><elem>2</elem><elem>3</elem><elem>4</elem>")));
  list += measurement("LIST_NAMED_OBJECT", "");
  check_same(list);
}
