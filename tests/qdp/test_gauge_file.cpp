// Telling gauge files apart, and configurations of other programs: their plaquettes, link traces and checksums.

#include "qdp/io/gauge_file.hpp"
#include "qdp/io/scidac.hpp"

#include "tests/paths.hpp"
#include "tests/qdp/gauge_file_fixture.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>

using namespace QDP::io;
using tests::contains;
using tests::message_of;
using tests::PlainGaugeField;
using tests::TemporaryFolder;

namespace {

std::vector<double> read_links(const std::string& path, const SiteGeometry& geometry, ReadReport& report) {
  std::vector<double> links(geometry.volume() * kGaugeWordsPerSite);
  MemorySink<double> sink(links, kGaugeWordsPerSite);
  report = read_gauge_file(path, geometry, sink);
  return links;
}

}  // namespace

TEST_CASE("the three formats are told apart by content and read through one function") {
  const SiteGeometry lattice{{2, 3, 4, 5}};
  const auto field = tests::random_gauge_field<double>(lattice);
  MemorySource<double> source(field, kGaugeWordsPerSite);
  const PlainGaugeField plain(lattice, field);
  const tests::OwnFolder folder;

  NerscHeader header;
  header.nrow = lattice.extents;
  header.mat_size = 18;
  header.float_size = 8;
  header.w_plaq = plain.plaquette();
  header.link = plain.link_trace();
  write_nersc(folder.file("nersc"), header, source);
  write_ildg(folder.file("ildg"), lattice, Word::float64, "lfn://x", source);
  {
    ScidacWriter writer(folder.file("scidac"), lattice, "<file/>");
    writer.write_global({.datatype = "char", .word = Word::bytes, .typesize = 1, .datacount = 2}, "", Word::bytes, "hi",
                        2);
    writer.write_field(gauge_record_info(Word::float64), "<record/>", source);
    writer.close();
  }

  for (const GaugeFormat format : {GaugeFormat::nersc, GaugeFormat::ildg, GaugeFormat::scidac}) {
    const std::string name = format == GaugeFormat::nersc ? "nersc" : format == GaugeFormat::ildg ? "ildg" : "scidac";
    CAPTURE(name);
    const std::string path = folder.file(name);
    const GaugeFileSummary summary = inspect_gauge_file(path);
    CHECK(summary.format == format);
    CHECK(summary.geometry == lattice);
    CHECK(summary.word == Word::float64);
    CHECK(contains(summary.text(), std::string(name_of(format)) + ", lattice 2 x 3 x 4 x 5, double precision"));
    ReadReport report;
    CHECK(read_links(path, lattice, report) == field);
    CHECK(report.checksum == ChecksumStatus::verified);
    CHECK(report.stored == summary.stored_checksum);
    CHECK(verify_gauge_file(path).checksum == ChecksumStatus::verified);
  }
  CHECK(inspect_gauge_file(folder.file("nersc")).plaquette.value() ==
        doctest::Approx(plain.plaquette()).epsilon(1e-10));
  CHECK(inspect_gauge_file(folder.file("scidac")).record_xml == "<record/>");
  CHECK(inspect_gauge_file(folder.file("ildg")).lfn == "lfn://x");
  CHECK_FALSE(inspect_gauge_file(folder.file("ildg")).plaquette.has_value());
}

TEST_CASE("the plaquette in a tmLQCD file's text record is found, and no other text is taken for it") {
  const SiteGeometry lattice{{2, 2, 2, 2}};
  const tests::OwnFolder folder;
  const std::string path = folder.file("tm.lime");
  const auto stored = [&](const std::string& type, const std::string& text) {
    LimeWriter writer(path);
    writer.text_record(type, text, LimePosition::only);
    writer.text_record("ildg-format", encode_ildg_format({.word = Word::float32, .geometry = lattice}),
                       LimePosition::first);
    const std::string zeros(lattice.volume() * kGaugeWordsPerSite * 4, '\0');
    writer.begin_record("ildg-binary-data", zeros.size(), LimePosition::last);
    writer.write(zeros.data(), zeros.size());
    writer.end_record();
    writer.close();
    return inspect_gauge_file(path).plaquette;
  };
  CHECK(stored("xlf-info", "plaquette = 0.571077\n trajectory nr = 200\n") == 0.571077);
  CHECK_FALSE(stored("xlf-info", "plaquette = \n").has_value());
  CHECK_FALSE(stored("xlf-info", "beta = 5.69").has_value());
  CHECK_FALSE(stored("remark", "plaquette = 0.571077").has_value());
}

TEST_CASE("files without a gauge field are refused with what they are") {
  const tests::OwnFolder folder;
  const auto error = [&](const std::string& path) {
    return message_of<jit::UserError>([&] { inspect_gauge_file(path); });
  };
  tests::write_bytes(folder.file("text"), "some text that is no gauge field");
  CHECK(contains(error(folder.file("text")), "expected a NERSC header (BEGIN_HEADER) or LIME's magic number"));
  tests::write_bytes(folder.file("empty"), "");
  CHECK(contains(error(folder.file("empty")), "an empty file"));
  CHECK(contains(error(folder.file("absent")), "No such file"));
  const std::vector<double> scalars(16);
  MemorySource<double> source(scalars, 1);
  ScidacWriter writer(folder.file("scalar"), {{2, 2, 2, 2}}, "");
  writer.write_field({.datatype = "Lattice", .typesize = 8}, "", source);
  writer.close();
  CHECK(contains(error(folder.file("scalar")), "four SU(3) matrices per site, got record of type Lattice"));
}

namespace {

struct Reference {
  const char* file;
  GaugeFormat format;
  Word word;
  SiteGeometry lattice;
  double plaquette;
  double link_trace;
  const char* checksum;
};

/// What the file at `path` gives is what is published.
void check_published(const std::string& path, const Reference& reference) {
  CAPTURE(reference.file);
  const GaugeFileSummary summary = inspect_gauge_file(path);
  CHECK(summary.format == reference.format);
  CHECK(summary.word == reference.word);
  CHECK(summary.geometry == reference.lattice);
  CHECK(summary.stored_checksum == reference.checksum);

  ReadReport report;
  const auto links = read_links(path, reference.lattice, report);
  CHECK(report.checksum == ChecksumStatus::verified);
  CHECK(report.computed == reference.checksum);
  const PlainGaugeField field(reference.lattice, links);
  const double tolerance = reference.word == Word::float64 ? 1e-10 : 1e-7;
  CHECK(std::abs(field.plaquette() - reference.plaquette) < tolerance);
  CHECK(std::abs(field.link_trace() - reference.link_trace) < tolerance);
  // Headers have ten digits, xlf-info six.
  if (summary.plaquette) CHECK(std::abs(*summary.plaquette - reference.plaquette) < (summary.nersc ? 1e-9 : 1e-6));
  CHECK(contains(message_of<jit::UserError>([&] { read_links(path, {{4, 4, 4, 6}}, report); }),
                 "expected 4 x 4 x 4 x 6"));
}

}  // namespace

TEST_CASE("configurations of other programs give the published plaquette, link trace and checksum") {
  const Reference references[] = {
      {"conf.00200",
       GaugeFormat::ildg,
       Word::float64,
       {{4, 4, 4, 4}},
       0.57107711169452713,
       -0.0047031551,
       "0a3b09c8 d7a6d9a1"},
      {"weak_field.lime",
       GaugeFormat::scidac,
       Word::float64,
       {{4, 4, 4, 8}},
       0.994804132267,
       0.3794493487,
       "a2c41090 11193c39"},
      {"t_nersc.cfg", GaugeFormat::nersc, Word::float32, {{4, 4, 4, 4}}, 0.0382422893, 0.4630322098, "717938df"},
      {"lat.sample.l4444.ildg",
       GaugeFormat::scidac,
       Word::float32,
       {{4, 4, 4, 4}},
       0.5948501589,
       0.6467587374,
       "37affb9c 2fc07bbf"},
      {"lat.sample.l4444.scidac",
       GaugeFormat::scidac,
       Word::float32,
       {{4, 4, 4, 4}},
       0.5948501589,
       0.6467587374,
       "37affb9c 2fc07bbf"},
  };
  for (const Reference& reference : references) check_published(tests::data_file(reference.file), reference);
}

TEST_CASE("larger configurations of other programs, one of them in two formats") {
  const auto nersc = tests::large_data_file("nersc.l8t4b3360"), ildg = tests::large_data_file("ildg.l8t4b3360");
  if (!nersc || !ildg) TESSERA_SKIP("no large reference configurations (QCD_TEST_DATA)");
  const SiteGeometry lattice{{8, 8, 8, 4}};
  const double plaquette = 0.5038664469, link_trace = 0.005406083858;
  check_published(*nersc,
                  {"nersc.l8t4b3360", GaugeFormat::nersc, Word::float64, lattice, plaquette, link_trace, "b379560a"});
  check_published(
      *ildg, {"ildg.l8t4b3360", GaugeFormat::ildg, Word::float64, lattice, plaquette, link_trace, "10d0ea1a a6a1b3b8"});

  ReadReport report;
  const auto a = read_links(*nersc, lattice, report), b = read_links(*ildg, lattice, report);
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  CHECK(largest < 1e-15);  // converted with rounding by whoever made the two
}

TEST_CASE("one field in two formats is the same field") {
  const SiteGeometry lattice{{4, 4, 4, 4}};
  ReadReport report;
  CHECK(read_links(tests::data_file("lat.sample.l4444.ildg"), lattice, report) ==
        read_links(tests::data_file("lat.sample.l4444.scidac"), lattice, report));
}

TEST_CASE("rewriting a configuration of another program reproduces its data and checksum") {
  const tests::OwnFolder own;
  ReadReport report;

  const SiteGeometry weak{{4, 4, 4, 8}};
  const std::string original = tests::data_file("weak_field.lime");
  const auto links = read_links(original, weak, report);
  MemorySource<double> source(links, kGaugeWordsPerSite);
  const ScidacReader reader(original);
  ScidacRecordInfo info = reader.records()[0].info;
  ScidacWriter writer(own.file("weak"), weak, reader.file_xml());
  writer.write_field(info, reader.records()[0].xml, source);
  writer.close();
  CHECK(tests::read_bytes(own.file("weak")) == tests::read_bytes(original));  // to the last byte, dates included

  const std::string nersc = tests::data_file("t_nersc.cfg");
  NerscHeader header = read_nersc_header(nersc);
  std::vector<float> floats(256 * kGaugeWordsPerSite);
  MemorySink<float> sink(floats, kGaugeWordsPerSite);
  read_nersc(nersc, header, {{4, 4, 4, 4}}, sink);
  MemorySource<float> float_source(floats, kGaugeWordsPerSite);
  write_nersc(own.file("nersc"), header, float_source);
  CHECK(hex32(header.checksum) == "717938df");
}
