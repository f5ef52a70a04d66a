// SciDAC and ILDG files: round trips, foreign dialects, damage.

#include "qdp/io/scidac.hpp"
#include "qdp/io/scidac_xml.hpp"

#include "tests/qdp/gauge_file_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

using namespace QDP::io;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

const SiteGeometry kLattice{{2, 3, 4, 5}};  // unequal extents tell directions apart

template <class Real>
std::string write_gauge(const TemporaryFolder& folder, const std::vector<Real>& field, Word word) {
  const std::string path = folder.file("gauge.lime");
  ScidacWriter writer(path, kLattice, "<file>one</file>");
  writer.set_lfn("lfn://test/gauge");
  MemorySource<Real> source(field, kGaugeWordsPerSite);
  writer.write_field(gauge_record_info(word), "<record>two</record>", source);
  writer.close();
  return path;
}

template <class Real>
std::vector<Real> read_first(const std::string& path, const SiteGeometry& geometry, ReadReport& report) {
  const ScidacReader reader(path);
  std::vector<Real> field(geometry.volume() * kGaugeWordsPerSite);
  MemorySink<Real> sink(field, kGaugeWordsPerSite);
  report = reader.read_field(reader.records().at(0), geometry, sink);
  return field;
}

std::string read_error(const std::string& path, const SiteGeometry& geometry = kLattice) {
  return message_of<jit::UserError>([&] {
    ReadReport report;
    read_first<double>(path, geometry, report);
  });
}

/// A LIME file of (type, content) records, as some other program might have written it.
std::string write_lime(const TemporaryFolder& folder, const std::vector<std::pair<std::string, std::string>>& records) {
  const std::string path = folder.file("foreign.lime");
  LimeWriter writer(path);
  for (const auto& [type, content] : records) {
    writer.begin_record(type, content.size(), LimePosition::only);
    writer.write(content.data(), content.size());
    writer.end_record();
  }
  writer.close();
  return path;
}

/// The data of a gauge field as they lie in a file.
std::string big_endian(const std::vector<double>& field, Word word) {
  std::string bytes(field.size() * bytes_of(word), '\0');
  encode(field.data(), Word::float64, bytes.data(), word, ByteOrder::big, field.size());
  return bytes;
}

std::string format_record(const std::string& precision, const std::string& lt = "5") {
  return "<?xml version=\"1.0\"?>\n<!-- <lx>99</lx> -->\n<ildg:ildgFormat xmlns:ildg=\"x\">\n <version> 1.0 </version>"
         "< precision > " +
         precision + " </ precision ><lx>\n2 </lx ><ildg:ly a=\"b\">3</ildg:ly><lz> 4</lz><lt>" + lt +
         "</lt>\n</ildg:ildgFormat>\n";
}

}  // namespace

TEST_CASE("a gauge field comes back bit for bit in the precision it was written in") {
  const tests::OwnFolder folder;
  ReadReport report;
  const auto doubles = tests::random_gauge_field<double>(kLattice);
  CHECK(read_first<double>(write_gauge(folder, doubles, Word::float64), kLattice, report) == doubles);
  CHECK(report.checksum == ChecksumStatus::verified);
  CHECK(report.warning.empty());
  const auto floats = tests::random_gauge_field<float>(kLattice);
  CHECK(read_first<float>(write_gauge(folder, floats, Word::float32), kLattice, report) == floats);
  CHECK(report.checksum == ChecksumStatus::verified);
}

TEST_CASE("precision is converted on reading and on writing") {
  const tests::OwnFolder folder;
  ReadReport report;
  const auto doubles = tests::random_gauge_field<double>(kLattice);
  const std::vector<float> rounded(doubles.begin(), doubles.end());
  CHECK(read_first<float>(write_gauge(folder, doubles, Word::float64), kLattice, report) == rounded);
  CHECK(read_first<float>(write_gauge(folder, doubles, Word::float32), kLattice, report) == rounded);
  const std::vector<double> widened(rounded.begin(), rounded.end());
  CHECK(read_first<double>(write_gauge(folder, rounded, Word::float32), kLattice, report) == widened);
  CHECK(report.checksum == ChecksumStatus::verified);
}

TEST_CASE("a gauge file has the records, in order, that QIO writes") {
  const tests::OwnFolder folder;
  const std::string path = write_gauge(folder, tests::random_gauge_field<double>(kLattice), Word::float64);
  std::vector<std::string> types;
  const LimeReader lime(path);
  for (const LimeRecord& record : lime.records()) types.push_back(record.type);
  CHECK(types == std::vector<std::string>{"scidac-private-file-xml", "scidac-file-xml", "scidac-private-record-xml",
                                          "scidac-record-xml", "ildg-format", "ildg-data-lfn", "ildg-binary-data",
                                          "scidac-checksum"});
  CHECK(lime.text(lime.records()[0]) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><scidacFile><version>1.1</version>"
        "<spacetime>4</spacetime><dims>2 3 4 5 </dims><volfmt>0</volfmt></scidacFile>");
  CHECK(contains(lime.text(lime.records()[2]),
                 " UTC</date><recordtype>0</recordtype><datatype>QDP_D3_ColorMatrix</datatype><precision>D</precision>"
                 "<colors>3</colors><spins>1</spins><typesize>144</typesize><datacount>4</datacount></scidacRecord>"));
  CHECK(lime.records()[1].message_end);
  CHECK(lime.records()[2].message_begin);
  CHECK(lime.records()[7].message_end);

  const ScidacReader reader(path);
  CHECK(reader.geometry() == kLattice);
  CHECK(reader.file_xml() == "<file>one</file>");
  CHECK(reader.records()[0].xml == "<record>two</record>");
  CHECK(reader.records()[0].lfn == "lfn://test/gauge");
  CHECK(reader.records()[0].is_gauge_field());
}

TEST_CASE("records of several types share a file and are read in any order") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("several.lime");
  const std::uint64_t volume = kLattice.volume();
  std::vector<float> fermion(volume * 24);
  for (std::size_t i = 0; i < fermion.size(); ++i) fermion[i] = static_cast<float>(i);
  std::vector<std::int32_t> numbers(volume);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i) - 7;
  const std::vector<double> seeds = {1.5, 2.5, 3.5};
  const std::string blob = "any bytes";

  {
    ScidacWriter writer(path, kLattice, "<f/>");
    MemorySource<float> fermion_source(fermion, 24);
    writer.write_field(
        {.datatype = "USQCD_F3_DiracFermion", .word = Word::float32, .colors = 3, .spins = 4, .typesize = 96},
        "<fermion/>", fermion_source);
    MemorySource<std::int32_t> number_source(numbers, 1);
    writer.write_field({.datatype = "Lattice", .word = Word::int32, .typesize = 4}, "<numbers/>", number_source);
    writer.write_global({.datatype = "Scalar", .word = Word::float64, .typesize = 8, .datacount = 3}, "<seeds/>",
                        Word::float64, seeds.data(), 3);
    writer.close();
  }
  {
    ScidacWriter writer(path, kLattice, "ignored when appending", ScidacMode::append);
    writer.write_global({.datatype = "char", .word = Word::bytes, .typesize = 1, .datacount = 9}, "<blob/>",
                        Word::bytes, blob.data(), blob.size());
    writer.close();
  }

  const ScidacReader reader(path);
  REQUIRE(reader.records().size() == 4);
  CHECK(reader.file_xml() == "<f/>");
  CHECK_FALSE(reader.records()[0].is_gauge_field());
  CHECK_FALSE(reader.records()[0].ildg.has_value());
  CHECK(reader.records()[3].xml == "<blob/>");

  std::string blob_back(9, ' ');
  CHECK(reader.read_global(reader.records()[3], Word::bytes, blob_back.data(), 9).checksum == ChecksumStatus::verified);
  CHECK(blob_back == blob);
  std::vector<float> seeds_back(3);
  CHECK(reader.read_global(reader.records()[2], Word::float32, seeds_back.data(), 3).good());
  CHECK(seeds_back == std::vector<float>{1.5f, 2.5f, 3.5f});
  std::vector<std::int32_t> numbers_back(volume);
  MemorySink<std::int32_t> number_sink(numbers_back, 1);
  CHECK(reader.read_field(reader.records()[1], kLattice, number_sink).checksum == ChecksumStatus::verified);
  CHECK(numbers_back == numbers);
  std::vector<float> fermion_back(volume * 24);
  MemorySink<float> fermion_sink(fermion_back, 24);
  CHECK(reader.read_field(reader.records()[0], kLattice, fermion_sink).checksum == ChecksumStatus::verified);
  CHECK(fermion_back == fermion);

  // What does not fit is refused.
  const auto refuses = [&](const std::function<void()>& f, const std::string& word) {
    return contains(message_of<jit::UserError>(f), word);
  };
  CHECK(refuses([&] { reader.read_field(reader.records()[0], kLattice, number_sink); }, "32-bit integers"));
  MemorySink<float> short_sink(fermion_back, 12);
  CHECK(refuses([&] { reader.read_field(reader.records()[0], kLattice, short_sink); }, "expected 12, got 24"));
  CHECK(refuses([&] { reader.read_field(reader.records()[2], kLattice, number_sink); }, "global data"));
  CHECK(
      refuses([&] { reader.read_global(reader.records()[0], Word::float32, seeds_back.data(), 3); }, "lattice field"));
  CHECK(refuses([&] { reader.read_global(reader.records()[2], Word::float32, seeds_back.data(), 2); },
                "expected 2, got 3"));
  CHECK(refuses([&] { ScidacWriter(path, {{2, 2, 2, 2}}, "", ScidacMode::append); }, "lattice of the file to append"));
}

TEST_CASE("a hypercube record holds its sites and leaves the others alone") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("box.lime");
  std::vector<double> field(kLattice.volume() * 2);
  for (std::size_t i = 0; i < field.size(); ++i) field[i] = static_cast<double>(i);
  ScidacRecordInfo info{.kind = RecordKind::hypercube,
                        .datatype = "Lattice",
                        .typesize = 16,
                        .lower = {1, 0, 2, 3},
                        .upper = {1, 2, 3, 4}};
  SiteChecksum written;
  {
    ScidacWriter writer(path, kLattice, "");
    MemorySource<double> source(field, 2);
    written = writer.write_field(info, "", source);
    info.upper[3] = 5;
    CHECK(contains(message_of<jit::UserError>([&] { writer.write_field(info, "", source); }),
                   "corners (1, 0, 2, 3) and (1, 2, 3, 5)"));
    writer.close();
  }
  const ScidacReader reader(path);
  CHECK(reader.records()[0].data.size == 1 * 3 * 2 * 2 * 16);
  std::vector<double> back(field.size(), -1);
  MemorySink<double> sink(back, 2);
  CHECK(reader.read_field(reader.records()[0], kLattice, sink).checksum == ChecksumStatus::verified);

  SiteChecksum expected;
  for (int t = 0; t < 5; ++t)
    for (int z = 0; z < 4; ++z)
      for (int y = 0; y < 3; ++y)
        for (int x = 0; x < 2; ++x) {
          const auto rank = static_cast<std::size_t>(x + 2 * (y + 3 * (z + 4 * t)));
          const bool inside = x == 1 && z >= 2 && t >= 3;
          CHECK(back[2 * rank] == (inside ? field[2 * rank] : -1));
          const std::string bytes = big_endian({field[2 * rank], field[2 * rank + 1]}, Word::float64);
          if (inside) expected.add_site(rank, bytes.data(), bytes.size());
        }
  CHECK(written == expected);
}

TEST_CASE("a field larger than one chunk passes in chunks, each site once and in order") {
  const SiteGeometry geometry{{16, 16, 16, 4}};
  std::uint64_t next = 0;
  std::uint64_t calls = 0;
  FunctionSource source({Word::float32, kGaugeWordsPerSite},
                        [&](std::uint64_t begin, std::uint64_t count, void* words) {
                          CHECK(begin == next);
                          CHECK(count * kGaugeWordsPerSite * 4 <= (1u << 20));
                          next = begin + count;
                          ++calls;
                          auto* to = static_cast<float*>(words);
                          for (std::uint64_t i = 0; i < count * kGaugeWordsPerSite; ++i)
                            to[i] = static_cast<float>(begin * kGaugeWordsPerSite + i);
                        });
  const tests::OwnFolder folder;
  const std::string path = folder.file("large.lime");
  ScidacWriter writer(path, geometry, "");
  writer.write_field(gauge_record_info(Word::float32), "", source);
  writer.close();
  CHECK(next == geometry.volume());
  CHECK(calls > 1);
  ReadReport report;
  const auto back = read_first<float>(path, geometry, report);
  CHECK(report.checksum == ChecksumStatus::verified);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < back.size(); ++i) wrong += back[i] != static_cast<float>(i);
  CHECK(wrong == 0);
}

TEST_CASE("a flipped bit anywhere in the data is a checksum mismatch, and the data are still read") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::string path = write_gauge(folder, field, Word::float64);
  const LimeRecord data = ScidacReader(path).records()[0].data;
  const std::string bytes = tests::read_bytes(path);
  for (const std::uint64_t at : {std::uint64_t{0}, data.size / 2, data.size - 1}) {
    std::string copy = bytes;
    copy[data.data_offset + at] = static_cast<char>(copy[data.data_offset + at] ^ 1);
    tests::write_bytes(path, copy);
    ReadReport report;
    const auto back = read_first<double>(path, kLattice, report);
    CHECK(report.checksum == ChecksumStatus::mismatch);
    CHECK_FALSE(report.good());
    CHECK(report.stored != report.computed);
    CHECK(contains(report.warning, report.stored));
    CHECK(std::count_if(back.begin(), back.end(), [&, i = 0u](double x) mutable { return x != field[i++]; }) == 1);
  }
}

TEST_CASE("a wrong stored checksum, an unreadable one and none at all are told apart") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::string data = big_endian(field, Word::float64);
  const auto status = [&](const std::string& checksum) {
    std::vector<std::pair<std::string, std::string>> records = {{"ildg-format", format_record("64")},
                                                                {"ildg-binary-data", data}};
    if (!checksum.empty()) records.emplace_back("scidac-checksum", checksum);
    ReadReport report;
    CHECK(read_first<double>(write_lime(folder, records), kLattice, report) == field);
    CHECK_FALSE(report.warning.empty());
    CHECK(report.good() == (report.checksum == ChecksumStatus::absent));
    return report.checksum;
  };
  CHECK(status("<scidacChecksum><suma>1</suma><sumb>2</sumb></scidacChecksum>") == ChecksumStatus::mismatch);
  CHECK(status("<scidacChecksum><suma>xyz</suma></scidacChecksum>") == ChecksumStatus::unreadable);
  CHECK(status("") == ChecksumStatus::absent);
}

TEST_CASE("checksums without leading zeros or with 0x are the same numbers") {
  const FlatXml xml("<a>a3b09c8</a><b> 0x0A3B09C8 </b><c>1ffffffff</c>", "here");
  CHECK(xml.find_hex32("a") == 0x0a3b09c8u);
  CHECK(xml.find_hex32("b") == 0x0a3b09c8u);
  CHECK_FALSE(xml.find_hex32("c").has_value());
}

TEST_CASE("bare ILDG files are read with the format record before, behind or missing") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  ReadReport report;
  for (const Word word : {Word::float32, Word::float64}) {
    const std::string data = big_endian(field, word);
    const std::string format = format_record(word == Word::float32 ? "32" : "64");
    std::vector<double> expected = field;
    if (word == Word::float32)
      std::transform(field.begin(), field.end(), expected.begin(), [](double x) { return static_cast<float>(x); });
    const auto before = write_lime(folder, {{"ildg-format", format}, {"ildg-binary-data", data}});
    CHECK(read_first<double>(before, kLattice, report) == expected);
    const auto behind = write_lime(folder, {{"ildg-binary-data", data}, {"ildg-format", format}});
    CHECK(ScidacReader(behind).geometry() == kLattice);
    CHECK(read_first<double>(behind, kLattice, report) == expected);
    const auto bare = write_lime(folder, {{"xlf-info", "beta = 6"}, {"ildg-binary-data", data}});
    CHECK(ScidacReader(bare).geometry().extents.empty());
    CHECK(read_first<double>(bare, kLattice, report) == expected);
    CHECK(contains(read_error(bare, {{2, 2, 2, 2}}), "bytes for lattice 2 x 2 x 2 x 2"));
  }
}

TEST_CASE("the ILDG writer's files carry format, lfn and a true checksum") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("plain.ildg");
  const auto field = tests::random_gauge_field<double>(kLattice);
  MemorySource<double> source(field, kGaugeWordsPerSite);
  write_ildg(path, kLattice, Word::float64, "mc://here", source);
  const ScidacReader reader(path);
  CHECK_FALSE(reader.records()[0].native);
  CHECK(reader.records()[0].lfn == "mc://here");
  CHECK(reader.geometry() == kLattice);
  ReadReport report;
  CHECK(read_first<double>(path, kLattice, report) == field);
  CHECK(report.checksum == ChecksumStatus::verified);
  CHECK_THROWS_AS(write_ildg(path, {{4, 4}}, Word::float64, "", source), jit::UserError);
  MemorySource<double> narrow(field, 18);
  CHECK_THROWS_AS(write_ildg(path, kLattice, Word::float64, "", narrow), jit::UserError);
}

TEST_CASE("records of version 1.0 and unknown records are understood") {
  const tests::OwnFolder folder;
  const std::vector<double> field(kLattice.volume(), 2.0);
  const auto path =
      write_lime(folder, {{"scidac-private-file-xml",
                           "<scidacFile><version>1.0</version><spacetime>4</spacetime><dims>2 3 4 5"
                           "</dims><multifile>1</multifile><volfmt>0</volfmt></scidacFile>"},
                          {"scidac-file-xml", "free text"},
                          {"comment", "by hand"},
                          {"scidac-private-record-xml",
                           "<scidacRecord><version>1.0</version><globaldata>0</globaldata><datatype>Lattice</datatype>"
                           "<precision>D</precision><typesize>8</typesize><datacount>1</datacount></scidacRecord>"},
                          {"scidac-record-xml", "more text"},
                          {"scidac-binary-data", big_endian(field, Word::float64)}});
  const ScidacReader reader(path);
  CHECK(reader.other_texts().at(0).second == "by hand");
  std::vector<double> back(field.size());
  MemorySink<double> sink(back, 1);
  CHECK(reader.read_field(reader.records().at(0), kLattice, sink).checksum == ChecksumStatus::absent);
  CHECK(back == field);
}

TEST_CASE("files that contradict themselves or the program are refused with the reason") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::string data = big_endian(field, Word::float64);
  const auto error = [&](const std::vector<std::pair<std::string, std::string>>& records) {
    return read_error(write_lime(folder, records));
  };
  CHECK(contains(read_error(write_gauge(folder, field, Word::float64), {{4, 4, 4, 4}}),
                 "expected 4 x 4 x 4 x 4, got 2 x 3 x 4 x 5"));
  CHECK(contains(error({{"ildg-format", format_record("64", "6")}, {"ildg-binary-data", data}}), "2 x 3 x 4 x 6"));
  CHECK(contains(error({{"ildg-format", format_record("32")}, {"ildg-binary-data", data}}), "got 69120"));
  CHECK(contains(error({{"ildg-format", format_record("16")}, {"ildg-binary-data", data}}), "32 or 64"));
  CHECK(contains(error({{"ildg-format", format_record("64", "five")}}), "<lt>: expected an integer, got \"five\""));
  CHECK(contains(error({{"ildg-format", format_record("64", "5x")}}), "<lt>: expected an integer, got \"5x\""));
  CHECK(contains(error({{"ildg-format", "<ildgFormat/>"}}), "<precision>, got none"));
  CHECK(contains(error({{"ildg-format", format_record("64", "0")}}), "expected a lattice extent of 1 or more, got 0"));
  CHECK(contains(error({{"letter", "dear reader"}}), "holds no field"));
  const std::string file_info =
      "<scidacFile><spacetime>4</spacetime><dims>2 3 4 5</dims><volfmt>0</volfmt></scidacFile>";
  const std::string record =
      "<scidacRecord><recordtype>0</recordtype><datatype>Lattice</datatype><precision>D"
      "</precision><typesize>8</typesize><datacount>1</datacount></scidacRecord>";
  const auto with = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const auto file_error = [&](const std::string& from, const std::string& to) {
    return error({{"scidac-private-file-xml", with(file_info, from, to)}});
  };
  CHECK(contains(file_error("<volfmt>0", "<volfmt>1"), "expected a record scidac-sitelist"));
  CHECK(contains(file_error("3 4 5", "3 4"), "expected 4 positive extents, got 2 x 3 x 4"));
  CHECK(contains(file_error("3 4 5", "3 -4 5"), "positive extents"));
  CHECK(contains(file_error("3 4 5", "3 x 5"), "expected integers with blanks between, got \"2 3 x 5\""));
  const auto record_error = [&](const std::string& from, const std::string& to) {
    return error({{"scidac-private-file-xml", file_info},
                  {"scidac-private-record-xml", with(record, from, to)},
                  {"scidac-binary-data", data}});
  };
  CHECK(contains(record_error("type>0", "type>3"), "0 (field), 1 (global) or 2 (hypercube)"));
  CHECK(contains(record_error(">D<", ">Q<"), "<precision>: expected F, D, I or U"));
  CHECK(contains(record_error("<typesize>8", "<typesize>-8"), "-8 and 1"));
  CHECK(contains(record_error("<typesize>8", "<typesize>16"), "1920 bytes for lattice 2 x 3 x 4 x 5"));
  CHECK(contains(error({{"scidac-private-file-xml", file_info}, {"scidac-private-record-xml", record}}), "truncated"));
  CHECK(contains(error({{"scidac-private-file-xml", file_info}, {"scidac-sitelist", "...."}}), "contradicts itself"));
}

TEST_CASE("a record type that looks like a damaged one of the format is refused, any other is somebody's own") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::string data = big_endian(field, Word::float64),
                    checksum = "<scidacChecksum><suma>1</suma><sumb>2</sumb></scidacChecksum>";
  const auto read_with = [&](const std::string& type) {
    const std::string path =
        write_lime(folder, {{"ildg-format", format_record("64")}, {"ildg-binary-data", data}, {type, checksum}});
    return message_of<jit::UserError>([&] { ScidacReader reader(path); });
  };
  for (const std::string type :
       {"scidac-checksul", "scidac-chebksum", "scidac-chec", "dciscac-hecksum", "XXXdac-checksum"}) {
    CAPTURE(type);
    CHECK(contains(read_with(type), "scidac-checksum"));
  }
  CHECK(contains(read_with("ildg-formaf"), "ildg-format"));
  CHECK_FALSE(read_with("s").empty());
  for (const std::string type :
       {"xlf-info", "inverter-info", "propagator-type", "etmc-propagator-format", "my-own-checksum"}) {
    CAPTURE(type);
    CHECK(read_with(type).empty());
  }
}

TEST_CASE("a SciDAC file cut at any byte is refused, also behind the data, where only the checksum is missing") {
  const SiteGeometry tiny{{1, 1, 1, 2}};
  const tests::OwnFolder folder;
  const std::string path = folder.file("cut.lime");
  const auto field = tests::random_gauge_field<double>(tiny);
  MemorySource<double> source(field, kGaugeWordsPerSite);
  {
    ScidacWriter writer(path, tiny, "<f/>");
    writer.write_field(gauge_record_info(Word::float64), "<r/>", source);
    writer.close();
  }
  for (std::size_t size = tests::read_bytes(path).size() - 8; size-- > 0;) {
    tests::once([&] { std::filesystem::resize_file(path, size); });
    CAPTURE(size);
    ReadReport report;
    bool read = false;
    try {
      const ScidacReader reader(path);
      if (reader.records().empty()) continue;  // a file of no records yet, which appending would accept
      read = read_first<double>(path, tiny, report) == field;
    } catch (const jit::UserError& error) {
      CHECK(contains(error.what(), path));
    }
    CHECK_FALSE(read);
  }
}

TEST_CASE("no single damaged byte of the headers gets past the reader as anything but an error or a file") {
  const SiteGeometry tiny{{1, 1, 1, 2}};
  const tests::OwnFolder folder;
  const std::string path = folder.file("damaged.lime");
  const auto field = tests::random_gauge_field<double>(tiny);
  MemorySource<double> source(field, kGaugeWordsPerSite);
  {
    ScidacWriter writer(path, tiny, "<f/>");
    writer.write_field(gauge_record_info(Word::float64), "<r/>", source);
    writer.close();
  }
  const std::string bytes = tests::read_bytes(path);
  const std::uint64_t data_offset = ScidacReader(path).records()[0].data.data_offset;
  std::size_t refused = 0;
  for (std::uint64_t at = 0; at < data_offset; ++at) {
    std::string copy = bytes;
    copy[at] = static_cast<char>(copy[at] ^ 0x15);
    tests::write_bytes(path, copy);
    ReadReport report;
    try {
      const ScidacReader reader(path);
      if (!reader.records().empty() && reader.records()[0].is_gauge_field())
        CHECK(read_first<double>(path, tiny, report) == field);
    } catch (const jit::UserError&) {
      ++refused;
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("a writer that is not closed leaves the old file as it was") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::string path = write_gauge(folder, field, Word::float64);
  const std::string before = tests::read_bytes(path);
  const std::string error = message_of<std::runtime_error>([&] {
    ScidacWriter writer(path, kLattice, "new");
    FunctionSource source({Word::float64, kGaugeWordsPerSite},
                          [](std::uint64_t, std::uint64_t, void*) { throw std::runtime_error("source failed"); });
    writer.write_field(gauge_record_info(Word::float64), "", source);
  });
  CHECK(error == "source failed");
  CHECK(tests::read_bytes(path) == before);
  CHECK(folder.count() == 1);
}
