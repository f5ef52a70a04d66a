// Measurements by name: what they write, the objects they hand to each other, and wrong inputs. Reference numbers are
// those of Chroma's regression tests of the same inputs, in single precision.

#include "lib/gauge/su3.hpp"
#include "lib/meas/field_strength.hpp"
#include "lib/meas/flow.hpp"
#include "lib/meas/glue.hpp"
#include "lib/meas/source.hpp"
#include "tests/lib/measurements.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using tests::distance;
using tests::measurement;
using tests::measurement_errors;
using tests::Output;
using tests::run_measurements;

namespace {

GaugeField chroma_weak_field() {
  tests::use_lattice({4, 4, 4, 8});  // seed 11, as Chroma's main program without RNG
  GaugeField u(Nd);
  weak_field_start(u);
  return u;
}

GaugeField unit_field() {
  tests::use_lattice({2, 2, 2, 4});
  GaugeField u(Nd);
  unit_start(u);
  return u;
}

const std::string kDefault = "<NamedObject><gauge_id>default_gauge_field</gauge_id></NamedObject>";

std::string link_smear(const std::string& param, const std::string& from, const std::string& to) {
  return measurement("LINK_SMEAR", "<Param>" + param + "</Param><NamedObject><gauge_id>" + from +
                                       "</gauge_id><linksmear_id>" + to + "</linksmear_id></NamedObject>");
}

/// True if one of the errors has all of these words.
bool reported(const std::vector<std::string>& errors, const std::vector<std::string>& words) {
  return std::any_of(errors.begin(), errors.end(), [&](const std::string& error) {
    return std::all_of(words.begin(), words.end(),
                       [&](const std::string& word) { return error.find(word) != std::string::npos; });
  });
}

}  // namespace

TEST_CASE("WILSLP writes Chroma's numbers for planar and off-axis loops") {
  const auto input = [](const std::string& state) {
    return measurement("WILSLP",
                       "<Frequency>1</Frequency><Param><version>3</version><kind>7</kind><j_decay>3</j_decay>"
                       "<t_dir>3</t_dir>" +
                           state + "</Param>" + kDefault);
  };
  const std::string zero_boundary =
      "<GaugeState><Name>SIMPLE_GAUGE_STATE</Name><GaugeBC><Name>SCHROEDINGER_ZERO_GAUGEBC</Name><SchrPhiMult>2.0"
      "</SchrPhiMult><loop_extent>1</loop_extent><decay_dir>3</decay_dir></GaugeBC></GaugeState>";
  Output out(run_measurements(input("") + input(zero_boundary), chroma_weak_field()));
  const auto check = [&](int elem, const std::string& group, int row, const std::vector<double>& expected) {
    const auto values = out.numbers("/out/elem[" + std::to_string(elem) + "]/WilsonLoop//" + group + "/elem[" +
                                    std::to_string(row + 1) + "]/loop");
    REQUIRE(values.size() == expected.size());
    for (std::size_t t = 0; t < expected.size(); ++t) CHECK(values[t] == doctest::Approx(expected[t]).epsilon(1e-5));
  };
  check(1, "wloop1", 1, {0.992354164469159, 0.990119734882481, 0.987506962329563, 0.98965304158628});
  check(1, "wloop1", 2, {0.989879413093958, 0.987581657245755, 0.984954758081585, 0.989404829632905});
  check(1, "wloop2", 0, {0.994728301082634, 0.99213205717711, 0.989625328634348, 0.987210581027385});
  check(1, "wloop2", 3, {0.990064965716253, 0.990022128758331, 0.989461320141951, 0.989660509448084});
  check(1, "wloop3", 0, {0.992207377424671, 0.989577364176512, 0.987095890411486, 0.984541410347447});
  check(1, "wloop3", 4, {0.98976150343919, 0.987119240944998, 0.984420016589057, 0.982004889041289});
  check(1, "wloop3", 7, {0.981976256317769, 0.979224292561412, 0.976710529066622, 0.974060160457157});
  check(2, "wloop2", 1, {0.620306112596558, 0.494852177953968, 0.370185563237303, 0.246160563443684});
  CHECK(out.number("/out/elem[2]/WilsonLoop/Link_observables/w_plaq") ==
        doctest::Approx(0.683919533078248).epsilon(1e-6));
}

TEST_CASE("LINK_SMEAR leaves a field that later measurements find") {
  const std::string stout =
      "<version>3</version><LinkSmearingType>STOUT_SMEAR</LinkSmearingType><link_smear_fact>0.15625</link_smear_fact>"
      "<link_smear_num>16</link_smear_num><smear_dirs>1 1 1 0</smear_dirs>";
  Output out(run_measurements(
      link_smear(stout, "default_gauge_field", "stout") +
          measurement("PLAQUETTE", "<NamedObject><gauge_id>stout</gauge_id></NamedObject>") +
          measurement("QTOP_NAIVE",
                      "<Param><version>1</version></Param><NamedObject><gauge_id>stout</gauge_id></NamedObject>") +
          measurement("LIST_NAMED_OBJECT", "") +
          measurement("ERASE_NAMED_OBJECT", "<NamedObject><object_id>stout</object_id></NamedObject>") +
          measurement("LIST_NAMED_OBJECT", ""),
      chroma_weak_field()));
  CHECK(out.number("//linksmear/Observables/w_plaq") == doctest::Approx(0.994764811229996).epsilon(1e-6));
  CHECK(out.number("//linksmear/Link_observables/s_plaq") == doctest::Approx(0.999997427066167).epsilon(1e-6));
  CHECK(out.number("//linksmear/Link_observables/t_plaq") == doctest::Approx(0.996384381471823).epsilon(1e-6));
  CHECK(out.number("//linksmear/Link_observables/pollp/elem[1]/re") ==
        doctest::Approx(0.971853042642275).epsilon(1e-6));
  CHECK(out.number("//Plaquette/s_plaq") == out.number("//linksmear/Link_observables/s_plaq"));
  CHECK(std::fabs(out.number("//QTop/qtop")) < 1e-4);
  CHECK(out.number("//QTop/qtop") == out.number("//QTop/qtop_clover"));
  CHECK(out.count("/out/elem[4]/list_named_obj/elem") == 2);
  CHECK(out.text("/out/elem[4]/list_named_obj/elem[2]/object_type") == "Multi1dLatticeColorMatrix");
  CHECK(out.count("/out/elem[6]/list_named_obj/elem") == 1);
}

TEST_CASE("COULOMB_GAUGEFIX writes Chroma's numbers and leaves field and rotation") {
  tests::ScratchFolder folder("gaugefix");
  const GaugeField u = chroma_weak_field();
  const auto write = [&](const std::string& id, const std::string& type) {
    return measurement("QIO_WRITE_NAMED_OBJECT", "<NamedObject><object_id>" + id + "</object_id><object_type>" + type +
                                                     "</object_type></NamedObject><File><file_name>" + folder.file(id) +
                                                     "</file_name><file_volfmt>SINGLEFILE</file_volfmt></File>");
  };
  Output out(run_measurements(
      measurement("COULOMB_GAUGEFIX",
                  "<Param><version>1</version><GFAccu>1.0e-5</GFAccu><GFMax>200</GFMax><OrDo>false</OrDo><OrPara>1.0"
                  "</OrPara><j_decay>3</j_decay></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><gfix_id>"
                  "coul_cfg</gfix_id><gauge_rot_id>gauge_rot</gauge_rot_id></NamedObject>") +
          write("coul_cfg", "Multi1dLatticeColorMatrix") + write("gauge_rot", "LatticeColorMatrix"),
      u));
  CHECK(out.number("//Gauge_fixing_parameters/iterations") == 11);
  CHECK(out.number("//Gfix_observables/link") == doctest::Approx(0.79502857428209).epsilon(2e-6));
  CHECK(out.number("//Gfix_observables/w_plaq") == doctest::Approx(0.994764811229996).epsilon(1e-6));

  const GaugeField fixed = tests::read_field("SCIDAC", folder.file("coul_cfg"));
  LatticeColorMatrix g;
  XMLReader file_xml, record_xml;
  QDPFileReader file(file_xml, folder.file("gauge_rot"), QDPIO_SERIAL);
  read(file, record_xml, g);
  GaugeField turned(Nd);
  for (int mu = 0; mu < Nd; ++mu) turned[mu] = g * u[mu] * adj(shift(g, FORWARD, mu));
  CHECK(distance(turned, fixed) < base_tol(1e-10));
}

TEST_CASE("WILSON_FLOW and GRADIENT_FLOW write one table each, and the same one for the same action") {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  disordered_start(u);
  const auto ids = [](const std::string& out) {
    return "<NamedObject><gauge_in>default_gauge_field</gauge_in><gauge_out>" + out + "</gauge_out></NamedObject>";
  };
  const auto gradient = [&](const std::string& c1, const std::string& id) {
    return measurement("GRADIENT_FLOW",
                       "<Param><nstep>10</nstep><eps>0.01</eps><GaugeAction><Name>RBC_GAUGEACT</Name><beta>1"
                       "</beta><c1>" +
                           c1 + "</c1></GaugeAction></Param>" + ids(id));
  };
  Output out(
      run_measurements(measurement("WILSON_FLOW",
                                   "<Param><version>2</version><nstep>10</nstep><wtime>0.1</wtime><t_dir>3</t_dir>"
                                   "<smear_dirs>1 1 1 1</smear_dirs></Param>" +
                                       ids("a")) +
                           gradient("0", "b") + gradient("-0.08333333333333333", "c"),
                       u));
  const auto chroma = out.numbers("//WilsonFlow/wilson_flow_results/wflow_gact4i");
  REQUIRE(chroma.size() == 11);
  CHECK(chroma[10] == doctest::Approx(1.30845556806451).epsilon(base_tol(1e-6)));
  CHECK(out.numbers("//WilsonFlow/wilson_flow_results/wflow_gactij")[10] ==
        doctest::Approx(1.30093647082356).epsilon(base_tol(1e-6)));
  // Before the flow, and after it.
  CHECK(out.number("//WilsonFlow/GaugeObservables/w_plaq") ==
        doctest::Approx(toDouble(average_plaquette(u))).epsilon(base_tol(1e-12)));
  GaugeField v = u;
  gradient_flow(v, wilson_flow_action(std::vector<bool>(Nd, true)), 10, 0.01, 3);
  CHECK(out.number("//WilsonFlow/WilsonFlowGaugeObservables/w_plaq") ==
        doctest::Approx(toDouble(average_plaquette(v))).epsilon(base_tol(1e-10)));
  CHECK(out.number("/out/elem[2]/GradientFlow/GradientFlowGaugeObservables/link") ==
        doctest::Approx(toDouble(average_link(v))).epsilon(base_tol(1e-10)));
  const auto wilson = out.numbers("//WilsonFlow/wilson_flow_results/t2E_clover");
  const auto same = out.numbers("/out/elem[2]/GradientFlow/wilson_flow_results/t2E_clover");
  const auto symanzik = out.numbers("/out/elem[3]/GradientFlow/wilson_flow_results/t2E_clover");
  CHECK(same[10] == doctest::Approx(wilson[10]).epsilon(base_tol(1e-10)));
  CHECK(std::fabs(symanzik[10] - wilson[10]) > 1e-5);
  CHECK(out.numbers("//WilsonFlow/wilson_flow_results/qtop").size() == 11);
}

TEST_CASE("propagators and gauge fields survive being written, erased and read, in both precisions") {
  tests::ScratchFolder folder("objects");
  tests::use_lattice({2, 2, 4, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  const auto file = [&](const std::string& name) { return "<File><file_name>" + folder.file(name) + "</file_name>"; };
  const auto object = [](const std::string& id, const std::string& type) {
    return "<NamedObject><object_id>" + id + "</object_id>" +
           (type.empty() ? "" : "<object_type>" + type + "</object_type>") + "</NamedObject>";
  };
  const auto sink = [](const std::string& from, const std::string& to) {
    return measurement("SINK_SMEAR",
                       "<Param><version>5</version><Sink><SinkType>POINT_SINK</SinkType><j_decay>3</j_decay>"
                       "</Sink></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><prop_id>" +
                           from + "</prop_id><smeared_prop_id>" + to + "</smeared_prop_id></NamedObject>");
  };
  std::string list = measurement(
      "MAKE_SOURCE",
      "<Param><version>6</version><Source><SourceType>WALL_SOURCE</SourceType><j_decay>3</j_decay><t_source>1"
      "</t_source></Source></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><source_id>s"
      "</source_id></NamedObject>");
  for (const std::string suffix : {"F", "D"}) {
    const std::string type = "LatticePropagator" + suffix, name = "s" + suffix;
    list += measurement("QIO_WRITE_NAMED_OBJECT",
                        object("s", type) + file(name) + "<file_volfmt>MULTIFILE</file_volfmt></File>");
    list += measurement("QIO_READ_NAMED_OBJECT", object(name, type) + file(name) + "</File>");
    list += sink(name, "sink" + suffix);
  }
  list += measurement("NERSC_WRITE_NAMED_OBJECT", object("default_gauge_field", "") + file("u") + "</File>");
  list += measurement("NERSC_READ_NAMED_OBJECT", object("again", "") + file("u") + "</File>");
  list +=
      measurement("PLAQUETTE", "<NamedObject><gauge_id>again</gauge_id></NamedObject>") + measurement("PLAQUETTE", "");
  list += measurement("QIO_WRITE_ERASE_NAMED_OBJECT", object("s", "LatticePropagator") + file("erased") +
                                                          "<file_volfmt>SINGLEFILE</file_volfmt></File>");
  list += measurement("LIST_NAMED_OBJECT", "");
  Output out(run_measurements(list, u));
  for (const char* elem : {"4", "7"}) {
    const auto norms = out.numbers(std::string("/out/elem[") + elem +
                                   "]/sink_smear/SinkSmearedProp_correlator/sink_smeared_prop_corr");
    REQUIRE(norms.size() == 4);
    CHECK(norms[1] == doctest::Approx(12 * 16));
    CHECK(norms[0] == 0);
  }
  CHECK(out.number("/out/elem[10]/Plaquette/w_plaq") == doctest::Approx(out.number("/out/elem[11]/Plaquette/w_plaq"))
                                                            .epsilon(1e-6));  // NERSC files are in single precision
  CHECK(out.count("//list_named_obj/elem[object_id='s']") == 0);
  CHECK(out.count("//list_named_obj/elem") == 6);
  for (const auto& [id, type] :
       {std::pair{"default_gauge_field", "Multi1dLatticeColorMatrix"}, std::pair{"again", "Multi1dLatticeColorMatrix"},
        std::pair{"sF", "LatticePropagator"}, std::pair{"sD", "LatticePropagator"},
        std::pair{"sinkF", "LatticePropagator"}, std::pair{"sinkD", "LatticePropagator"}}) {
    CAPTURE(id);
    CHECK(out.text("//list_named_obj/elem[object_id='" + std::string(id) + "']/object_type") == type);
  }
  CHECK(std::filesystem::exists(folder.file("erased")));
}

TEST_CASE("what is known of a propagator goes through files with it, and of gauge fields made from others") {
  tests::ScratchFolder folder("records");
  tests::use_lattice({2, 2, 2, 4});
  GaugeField u(Nd);
  weak_field_start(u);
  const auto io = [&](const std::string& what, const std::string& id, const std::string& type,
                      const std::string& name) {
    return measurement("QIO_" + what + "_NAMED_OBJECT",
                       "<NamedObject><object_id>" + id + "</object_id><object_type>" + type +
                           "</object_type></NamedObject><File><file_name>" + folder.file(name) + "</file_name>" +
                           (what == "READ" ? "" : "<file_volfmt>SINGLEFILE</file_volfmt>") + "</File>");
  };
  const std::string gauge = "<gauge_id>default_gauge_field</gauge_id>";
  const std::string list =
      measurement("MAKE_SOURCE",
                  "<Param><version>6</version><Source><SourceType>POINT_SOURCE</SourceType><j_decay>3</j_decay>"
                  "<t_srce>1 0 1 2</t_srce></Source></Param><NamedObject>" +
                      gauge + "<source_id>s</source_id></NamedObject>") +
      measurement(
          "PROPAGATOR",
          "<Param><version>10</version><FermionAction><FermAct>WILSON</FermAct><Mass>0.75</Mass><boundary>1 1 1 1"
          "</boundary></FermionAction><InvertParam><invType>CG_INVERTER</invType><RsdCG>1e-5</RsdCG><MaxCG>200"
          "</MaxCG></InvertParam></Param><NamedObject>" +
              gauge + "<source_id>s</source_id><prop_id>p</prop_id></NamedObject>") +
      io("WRITE", "p", "LatticePropagator", "prop") + io("READ", "q", "LatticePropagator", "prop") +
      measurement("HADRON_SPECTRUM",
                  "<Param><version>1</version><MesonP>true</MesonP><BaryonP>false</BaryonP><mom2_max>0</mom2_max>"
                  "<avg_equiv_mom>true</avg_equiv_mom></Param><NamedObject>" +
                      gauge +
                      "<sink_pairs><elem><first_id>q</first_id><second_id>p</second_id></elem></sink_pairs>"
                      "</NamedObject>") +
      link_smear("<LinkSmearingType>NONE</LinkSmearingType>", "default_gauge_field", "g") +
      io("WRITE", "g", "Multi1dLatticeColorMatrix", "links");
  const InputFile file = tests::input("<in><InlineMeasurements>" + list + "</InlineMeasurements></in>");
  const auto made = read_measurements(file.root());
  file.require_valid();
  XMLBufferWriter written;
  push(written, "out");
  qcd::run_measurements(made, 0, u, Log{&written}, "<Cfg><cfg_type>THIS_ONE</cfg_type></Cfg>");
  pop(written);
  Output out(written.str());
  CHECK(out.number("//hadspec//Mass_1") == 0.75);
  CHECK(out.number("//hadspec//Mass_2") == 0.75);
  CHECK(out.number("//hadspec//t0") == 2);
  for (const char* header : {"First_forward_prop", "Second_forward_prop"}) {
    const std::string here = std::string("//") + header;
    CHECK(out.text(here + "//cfg_type") == "THIS_ONE");
    CHECK(out.number(here + "/ForwardProp/FermionAction/Mass") == 0.75);
    CHECK(out.text(here + "/PropSource/Source/SourceType") == "POINT_SOURCE");
  }
  for (const char* name : {"source_type_1", "source_type_2"})
    CHECK(out.text(std::string("//SourceSinkType/") + name) == "POINT_SOURCE");
  for (const char* name : {"sink_type_1", "sink_type_2"})
    CHECK(out.text(std::string("//SourceSinkType/") + name) == "POINT_SINK");
  for (const char* name : {"make_source", "propagator", "hadspec", "linksmear"})
    CHECK(out.text(std::string("//") + name + "/Config_info//cfg_type") == "THIS_ONE");

  GaugeField links(Nd);
  XMLReader file_xml, record_xml;
  QDPFileReader reader(file_xml, folder.file("links"), QDPIO_SERIAL);
  read(reader, record_xml, links);
  std::string type;
  read(record_xml, "/Cfg/cfg_type", type);
  CHECK(type == "THIS_ONE");
  CHECK(file_xml.count("/gauge/id") == 1);
  CHECK(tests::distance(links, u) == 0);
}

namespace {

/// A field of a SciDAC file, in doubles.
template <class Field>
void read_object(const std::string& file, Field& field) {
  XMLReader file_xml, record_xml;
  QDPFileReader reader(file_xml, file, QDPIO_SERIAL);
  read(reader, record_xml, field);
  CHECK(reader.verdict() == "verified");
}

}  // namespace

TEST_CASE("objects go through files with their values, in the precision of the type that is asked for") {
  tests::ScratchFolder folder("precisions");
  tests::use_lattice({2, 4, 2, 6});
  const double volume = 2 * 4 * 2 * 6;
  const GaugeField u = tests::random_field();
  const auto io = [&](const std::string& what, const std::string& id, const std::string& type,
                      const std::string& name) {
    return measurement(what, "<NamedObject><object_id>" + id + "</object_id>" +
                                 (type.empty() ? "" : "<object_type>" + type + "</object_type>") +
                                 "</NamedObject><File><file_name>" + folder.file(name) + "</file_name>" +
                                 (what.find("QIO_WRITE") == 0 ? "<file_volfmt>SINGLEFILE</file_volfmt>" : "") +
                                 "</File>");
  };
  const auto source = [](const std::string& name, const std::string& id) {
    return measurement(name,
                       "<Param><version>6</version><Source><SourceType>RAND_U1_WALL_SOURCE</SourceType><ran_seed><Seed>"
                       "<elem>1</elem><elem>2</elem><elem>3</elem><elem>4</elem></Seed></ran_seed><j_decay>3</j_decay>"
                       "<t_source>-1</t_source></Source></Param><NamedObject><gauge_id>default_gauge_field</gauge_id>"
                       "<source_id>" +
                           id + "</source_id></NamedObject>");
  };
  std::string list = source("MAKE_SOURCE", "wall") + source("MAKE_SOURCE_STAG", "stag");
  struct Kind {
    std::string type, id;
    double words;  ///< per site
  };
  const std::vector<Kind> kinds = {{"Multi1dLatticeColorMatrix", "default_gauge_field", Nd * 2.0 * Nc * Nc},
                                   {"LatticePropagator", "wall", 2.0 * Ns * Ns * Nc * Nc},
                                   {"LatticeStaggeredPropagator", "stag", 2.0 * Nc * Nc}};
  for (const Kind& kind : kinds)
    for (const std::string suffix : {"", "F", "D"}) {
      const std::string type = kind.type + suffix, again = "again_" + type;
      list += io("QIO_WRITE_NAMED_OBJECT", kind.id, type, type) + io("QIO_READ_NAMED_OBJECT", again, type, type) +
              io("QIO_WRITE_ERASE_NAMED_OBJECT", again, kind.type + "D", again);
    }
  list += io("NERSC_WRITE_NAMED_OBJECT", "default_gauge_field", "", "nersc") +
          io("NERSC_READ_NAMED_OBJECT", "from_nersc", "", "nersc") +
          io("QIO_WRITE_NAMED_OBJECT", "from_nersc", "Multi1dLatticeColorMatrixD", "from_nersc");
  Output out(run_measurements(list, u, 7));
  CHECK(out.count("//qio_read_named_obj[checksum = 'verified'][update_no = 7]") == 9);
  CHECK(out.count("//qio_write_erase_named_obj[object_id = 'again_LatticePropagatorF']") == 1);
  CHECK(out.text("//nersc_read_named_obj/checksum") == "verified");
  CHECK(out.number("//nersc_read_named_obj/reunitarized_links") == (tests::kDoubles ? Nd * volume : 0));
  CHECK(out.text("//nersc_read_named_obj/object_id") == "from_nersc");

  constexpr double kSingle = 1e-7, kProgram = tests::kDoubles ? 1e-15 : kSingle;
  for (const Kind& kind : kinds)
    for (const auto& [suffix, bytes, error] :
         {std::tuple{"", sizeof(REAL), kProgram}, {"F", std::size_t{4}, kSingle}, {"D", std::size_t{8}, kProgram}}) {
      const std::string type = kind.type + suffix;
      CAPTURE(type);
      const double data = volume * kind.words * static_cast<double>(bytes);
      const auto size = static_cast<double>(std::filesystem::file_size(folder.file(type)));
      CHECK(size > data);
      CHECK(size < data + 4096);
      const auto check = [&]<class Field>(Field& found, const Field& expected) {
        for (const std::string& name : {type, "again_" + type}) {
          read_object(folder.file(name), found);
          const double squares = toDouble(norm2(expected));
          CHECK(toDouble(norm2(found - expected)) <= error * error * squares);
        }
      };
      if (kind.id == "default_gauge_field") {
        for (const std::string& name : {type, "again_" + type}) {
          GaugeField found(Nd);
          read_object(folder.file(name), found);
          CHECK(distance(found, u) <= error * std::sqrt(Nd * Nc * volume));
        }
      } else if (kind.id == "wall") {
        RNG::setrn(make_seed({1, 2, 3, 4}));
        LatticePropagator found, expected;
        expected = noise(Noise::u1);
        check(found, expected);
      } else {
        RNG::setrn(make_seed({1, 2, 3, 4}));
        LatticeStaggeredPropagator found, expected;
        expected = noise(Noise::u1);
        check(found, expected);
      }
    }
  GaugeField projected(Nd);
  read_object(folder.file("from_nersc"), projected);
  CHECK(distance(projected, u) < 3e-7 * std::sqrt(Nd * Nc * volume));
  for (int mu = 0; mu < Nd; ++mu) CHECK_NOTHROW(check_unitarity(projected[mu], "read from a NERSC file"));
}

TEST_CASE("SET_RNG starts the random numbers of what follows anew") {
  const GaugeField u = unit_field();
  const std::string seed = "<RNG><Seed><elem>5</elem><elem>6</elem><elem>7</elem><elem>8</elem></Seed></RNG>";
  Output out(run_measurements(measurement("SET_RNG", seed), u));
  for (int i = 0; i < 4; ++i) CHECK(out.number("//SetRNG/RNG/Seed/elem[" + std::to_string(i + 1) + "]") == 5 + i);
  LatticeReal a, b;
  random(a);
  RNG::setrn(make_seed({5, 6, 7, 8}));
  random(b);
  CHECK(toDouble(norm2(a - b)) == 0);
}

TEST_CASE("a measurement with a file of its own writes there, numbered by the update, and only when due") {
  tests::ScratchFolder folder("own_file");
  const GaugeField u = unit_field();
  const std::string list =
      measurement("PLAQUETTE", "<Frequency>2</Frequency><xml_file>" + folder.file("p.xml") + "</xml_file>");
  CHECK(Output(run_measurements(list, u, 0)).text("/out/elem/xml_file") == folder.file("p.xml"));
  CHECK(Output(run_measurements(list, u, 4)).text("/out/elem/xml_file") == folder.file("p.xml.4"));
  CHECK(Output(run_measurements(list, u, 5)).count("/out/elem") == 0);
  XMLReader xml(folder.file("p.xml.4"));
  double plaquette = 0;
  read(xml, "/Plaquette/w_plaq", plaquette);
  CHECK(plaquette == doctest::Approx(1));
}

TEST_CASE("wrong ids and types of objects are reported before anything runs, all at once") {
  unit_field();
  const std::string ape =
      "<LinkSmearingType>APE_SMEAR</LinkSmearingType><link_smear_fact>2</link_smear_fact><link_smear_num>1"
      "</link_smear_num>";
  const auto errors = measurement_errors(
      link_smear(ape, "nowhere", "smeared") + link_smear(ape, "default_gauge_field", "smeared") +
      measurement("SINK_SMEAR",
                  "<Param><version>5</version><Sink><SinkType>POINT_SINK</SinkType></Sink></Param><NamedObject>"
                  "<gauge_id>smeared</gauge_id><prop_id>smeared</prop_id><smeared_prop_id>p</smeared_prop_id>"
                  "</NamedObject>") +
      measurement("ERASE_NAMED_OBJECT", "<NamedObject><object_id>gone</object_id></NamedObject>"));
  CHECK(errors.size() == 4);
  CHECK(reported(errors, {"gauge_id", "default_gauge_field", "nowhere"}));
  CHECK(reported(errors, {"linksmear_id", "not in use", "smeared"}));
  CHECK(reported(errors, {"prop_id", "LatticePropagator", "smeared, a Multi1dLatticeColorMatrix"}));
  CHECK(reported(errors, {"object_id", "gone"}));
}

TEST_CASE("wrong parameters of measurements are reported with what is valid") {
  unit_field();
  const auto error_of = [](const std::string& list) {
    const auto errors = measurement_errors(list);
    REQUIRE(errors.size() >= 1);
    return errors[0];
  };
  CHECK(error_of(measurement("PLAQUETE", "")).find("PLAQUETTE POLYAKOV_LOOP") != std::string::npos);
  CHECK(error_of(measurement("PLAQUETTE", "<Param><version>1</version></Param>")).find("version 2") !=
        std::string::npos);
  CHECK(error_of(measurement("WILSLP",
                             "<Param><version>3</version><kind>9</kind><j_decay>3</j_decay><t_dir>3</t_dir></Param>"))
            .find("from 1 to 7") != std::string::npos);
  CHECK(
      error_of(link_smear("<LinkSmearingType>APES</LinkSmearingType>", "default_gauge_field", "x")).find("HYP_SMEAR") !=
      std::string::npos);
  CHECK(error_of(measurement("QIO_READ_NAMED_OBJECT",
                             "<NamedObject><object_id>a</object_id><object_type>LatticeThing"
                             "</object_type></NamedObject><File><file_name>/dev/null</file_name></File>"))
            .find("LatticePropagatorF") != std::string::npos);
  CHECK(error_of(measurement("NERSC_READ_NAMED_OBJECT",
                             "<NamedObject><object_id>a</object_id></NamedObject><File><file_name>"
                             "/no/such/file</file_name></File>"))
            .find("a file that can be read") != std::string::npos);
  CHECK(error_of(measurement("MAKE_SOURCE",
                             "<Param><version>6</version><Source><SourceType>SPOT</SourceType><j_decay>3</j_decay>"
                             "</Source></Param><NamedObject><gauge_id>default_gauge_field</gauge_id><source_id>s"
                             "</source_id></NamedObject>"))
            .find("POINT_SOURCE") != std::string::npos);
}

TEST_CASE("named objects know their types and refuse what they are not") {
  const GaugeField u = unit_field();
  NamedObjects objects;
  objects.set_default_gauge_field(u, "<cfg/>");
  CHECK(&objects.get<GaugeField>(kDefaultGaugeField) == &u);
  CHECK(objects.record(kDefaultGaugeField).record_xml == "<cfg/>");
  objects.create("g", u[0], {});
  CHECK(objects.type("g") == "LatticeColorMatrix");
  CHECK_THROWS_WITH_AS(objects.get<GaugeField>("g"), doctest::Contains("got a LatticeColorMatrix"), InputError);
  CHECK_THROWS_WITH_AS(objects.get<GaugeField>("h"), doctest::Contains("default_gauge_field g"), InputError);
  CHECK_THROWS_WITH_AS(objects.create("g", u[1], {}), doctest::Contains("in use"), InputError);
  objects.erase("g");
  CHECK_THROWS_AS(objects.erase("g"), InputError);
}

TEST_CASE("off-axis loops need two equal space directions") {
  tests::use_lattice({2, 4, 6, 8});
  GaugeField u(Nd);
  unit_start(u);
  CHECK_THROWS_WITH_AS(
      run_measurements(
          measurement("WILSLP",
                      "<Param><version>3</version><kind>4</kind><j_decay>3</j_decay><t_dir>3</t_dir></Param>"),
          u),
      doctest::Contains("two space directions"), InputError);
}
