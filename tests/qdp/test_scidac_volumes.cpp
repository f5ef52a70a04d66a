// Fields that lie in several files: each site is found wherever it is, and sets that are not whole are refused.
// (Files of QIO itself: test_qdpxx_files.)

#include "qdp/io/gauge_file.hpp"
#include "qdp/io/scidac.hpp"

#include "tests/divided_file.hpp"
#include "tests/qdp/gauge_file_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <utility>

using namespace QDP::io;
using tests::big_endian;
using tests::contains;
using tests::divide;
using tests::message_of;
using tests::part_of;
using tests::Parts;
using tests::TemporaryFolder;

namespace {

const SiteGeometry kLattice{{4, 3, 2, 5}};
const std::vector<int> kLower{1, 0, 1, 2}, kUpper{3, 1, 1, 4};

std::vector<double> numbers(std::size_t words_per_site) {
  std::vector<double> field(kLattice.volume() * words_per_site);
  std::iota(field.begin(), field.end(), 0.5);
  return field;
}

/// A gauge field, a global number, a box and a field, in one file.
void write_single(const std::string& path, const std::vector<double>& links, Volumes volumes = {}) {
  ScidacWriter writer(path, kLattice, "<file/>", ScidacMode::replace, std::move(volumes));
  MemorySource<double> gauge(links, kGaugeWordsPerSite);
  const std::string date = "Thu Nov 26 00:00:00 2026 UTC";
  ScidacRecordInfo of_links = gauge_record_info(Word::float64);
  of_links.date = date;
  writer.write_field(of_links, "<links/>", gauge);
  const double number = 7;
  writer.write_global({.date = date, .datatype = "Scalar", .typesize = 8}, "<number/>", Word::float64, &number, 1);
  const auto three = numbers(3);
  MemorySource<double> box(three, 3);
  writer.write_field({.kind = RecordKind::hypercube,
                      .date = date,
                      .datatype = "Lattice",
                      .typesize = 24,
                      .lower = kLower,
                      .upper = kUpper},
                     "<box/>", box);
  const auto one = numbers(1);
  MemorySource<double> field(one, 1);
  writer.write_field({.date = date, .datatype = "Lattice", .word = Word::float32, .typesize = 4}, "<field/>", field);
  writer.close();
}

/// As nodes keep them that divide the lattice in x: even sites first.
Parts by_nodes() {
  Parts parts{.sites = {{}, {}}, .numbers = {0, 1}, .volfmt = "<volfmt>1</volfmt>"};
  for (int parity = 0; parity < 2; ++parity)
    for (std::uint64_t site = 0; site < kLattice.volume(); ++site) {
      const auto x = site % 4, y = site / 4 % 3, z = site / 12 % 2, t = site / 24;
      if ((x + y + z + t) % 2 == static_cast<std::uint64_t>(parity)) parts.sites[x / 2].push_back(site);
    }
  return parts;
}

/// One rank's sites in order, the others' by chance; one has none.
Parts by_chance(unsigned seed) {
  std::mt19937 random(seed);
  Parts parts{.sites = std::vector<std::vector<std::uint64_t>>(5), .numbers = {0, 3, 12, 9999, 10000}};
  std::vector<std::uint64_t> all(kLattice.volume());
  std::iota(all.begin(), all.end(), 0);
  std::shuffle(all.begin(), all.end(), random);
  for (const std::uint64_t site : all) parts.sites[random() % 4].push_back(site);
  std::ranges::sort(parts.sites[0]);
  return parts;
}

struct Contents {
  std::vector<double> links, box, field;
  double number = 0;
  std::vector<std::string> checksums, xml;
  bool operator==(const Contents&) const = default;
};

Contents read_all(const std::string& path) {
  Contents all;
  const ScidacReader reader(path);
  const auto read = [&](std::size_t record, std::size_t words) {
    std::vector<double> field(kLattice.volume() * words, -1);
    MemorySink<double> sink(field, words);
    const ReadReport report = reader.read_field(reader.records().at(record), kLattice, sink);
    CHECK(report.checksum == ChecksumStatus::verified);
    all.checksums.push_back(report.computed);
    return field;
  };
  all.links = read(0, kGaugeWordsPerSite);
  all.checksums.push_back(reader.read_global(reader.records().at(1), Word::float64, &all.number, 1).computed);
  all.box = read(2, 3);
  all.field = read(3, 1);
  for (const ScidacRecord& record : reader.records()) {
    all.xml.push_back(record.xml);
    CHECK(reader.verify(record, kLattice).checksum == ChecksumStatus::verified);
  }
  all.xml.push_back(reader.file_xml());
  return all;
}

struct Fixture {
  tests::OwnFolder folder;
  std::string single = folder.file("single"), name = folder.file("set");
  std::vector<double> links = tests::random_gauge_field<double>(kLattice);
  Fixture() { write_single(single, links); }

  std::string error() const {
    return message_of<jit::UserError>([&] { ScidacReader{name}; });
  }
  std::string error_of(const Parts& parts) const {
    divide(single, name, parts);
    return error();
  }
};

}  // namespace

TEST_CASE_FIXTURE(Fixture, "several files have what one file has, whatever the order of sites") {
  const Contents expected = read_all(single);
  CHECK(expected.links == links);
  CHECK(std::ranges::count(expected.box, -1) == 3 * (120 - 3 * 2 * 1 * 3));
  Parts wide = by_chance(1);
  wide.bytes_each = 8;
  Parts old = by_nodes();
  old.volfmt = "<multifile>2</multifile>";  // version 1.0
  std::vector<std::uint64_t> in_order(kLattice.volume());
  std::iota(in_order.begin(), in_order.end(), 0);
  const Parts alone{.sites = {in_order}, .numbers = {0}};
  int set = 0;
  for (const Parts& parts : {by_nodes(), by_chance(2), by_chance(3), wide, old, alone}) {
    CAPTURE(set);
    const std::string file = folder.file("cfg" + std::to_string(set++));
    divide(single, file, parts);
    CHECK((read_all(file) == expected));
    CHECK((read_all(part_of(file, 0)) == expected));  // by the name of the first
    CHECK(inspect_gauge_file(file).geometry == kLattice);
    CHECK(verify_gauge_file(file).checksum == ChecksumStatus::verified);
  }
}

TEST_CASE("runs of sites longer than a chunk, and lists longer than a piece") {
  const SiteGeometry lattice{{64, 32, 32, 4}};
  const tests::OwnFolder folder;
  const std::string single = folder.file("single"), name = folder.file("set");
  std::vector<float> field(lattice.volume() * 2);
  std::iota(field.begin(), field.end(), 0.0f);
  ScidacWriter writer(single, lattice, "");
  MemorySource<float> source(field, 2);
  writer.write_field({.datatype = "Lattice", .word = Word::float32, .typesize = 8}, "", source);
  writer.close();
  Parts parts{.sites = {{}, {}}, .numbers = {0, 1}};
  const std::uint64_t cut = lattice.volume() / 4 + 5;
  for (std::uint64_t site = 0; site < lattice.volume(); ++site) parts.sites[site < cut].push_back(site);
  divide(single, name, parts);
  std::vector<float> back(field.size());
  MemorySink<float> sink(back, 2);
  const ScidacReader reader(name);
  CHECK(reader.read_field(reader.records()[0], lattice, sink).checksum == ChecksumStatus::verified);
  CHECK((back == field));
}

TEST_CASE_FIXTURE(Fixture, "a file of the name itself comes first, and names that only look alike are others") {
  divide(single, name, by_nodes());
  const Contents expected = read_all(name);
  for (const char* other : {".vol", ".vol12", ".volume0001", ".vol0001.bak", ".vol00x1"})
    tests::write_bytes(name + other, "no volume");
  tests::write_bytes(folder.file("another_set.vol0002"), "no volume");
  tests::write_bytes(folder.file("set.vol0000.vol0003"), "no volume");
  CHECK((read_all(name) == expected));
  write_single(name, tests::random_gauge_field<double>(kLattice, 8));
  CHECK(read_all(name).links != links);
}

TEST_CASE_FIXTURE(Fixture, "sets that are not whole are refused with the reason") {
  const Parts parts = by_chance(4);
  divide(single, name, parts);
  CHECK(error().empty());
  std::filesystem::remove(part_of(name, 3));
  CHECK(contains(error(), "the 120 sites of lattice 4 x 3 x 2 x 5"));
  CHECK(contains(error(), "got " + std::to_string(120 - parts.sites[1].size()) + " sites"));

  // A file of another set, with as many sites.
  Parts twice = parts;
  twice.sites[1] = twice.sites[2];
  twice.sites[1].resize(parts.sites[1].size(), parts.sites[0].at(0));
  CHECK(contains(error_of(twice), "twice"));

  // A site that the lattice does not have: the number alone is damaged.
  divide(single, name, parts);
  std::string bytes = tests::read_bytes(part_of(name, 9999));
  constexpr std::size_t kHeader = 144;
  bytes.replace(kHeader + 4 * (parts.sites[3].size() - 1), 4, big_endian(120, 4));
  tests::write_bytes(part_of(name, 9999), bytes);
  CHECK(contains(error(), "vol9999"));
  CHECK(contains(error(), "site 120."));
}

TEST_CASE_FIXTURE(Fixture, "damaged files of a set are refused with the reason") {
  const Parts parts = by_chance(5);
  const auto damaged = [&](int number, const std::function<void(std::string&)>& change) {
    divide(single, name, parts);
    std::string bytes = tests::read_bytes(part_of(name, number));
    change(bytes);
    tests::write_bytes(part_of(name, number), bytes);
    return error();
  };
  const auto lose_record = [](std::string& bytes) {  // the last one, a field of single precision
    bytes.resize(bytes.rfind("\x45\x67\x89\xab"));
  };
  CHECK(contains(damaged(12, lose_record), "3 fields, as in"));
  CHECK(contains(damaged(12, [](std::string& bytes) { bytes.resize(bytes.size() - 9); }), "truncated"));
  CHECK(contains(damaged(12, [](std::string& bytes) { bytes.clear(); }), "an empty file"));
  CHECK(contains(
      damaged(3, [](std::string& bytes) { bytes.replace(bytes.find("scidac-sitelist"), 15, "of-somebody-els"); }),
      "a record scidac-sitelist"));
  CHECK(contains(damaged(0, [](std::string& bytes) { bytes.replace(bytes.find("<volfmt>2"), 9, "<volfmt>0"); }),
                 "contradicts itself"));
  CHECK(contains(
      damaged(0, [](std::string& bytes) { bytes.replace(bytes.find("scidac-sitelist"), 15, "of-somebody-els"); }),
      "a record scidac-sitelist"));
  // A byte of the data is the checksum's business.
  CHECK(damaged(12, [](std::string& bytes) { bytes[bytes.size() - 1] ^= 1; }).empty());
  const ScidacReader reader(name);
  CHECK(reader.verify(reader.records()[3], kLattice).checksum == ChecksumStatus::mismatch);
  CHECK(reader.verify(reader.records()[0], kLattice).checksum == ChecksumStatus::verified);
}

namespace {

/// The files of a set, sites as given.
Volumes volumes(const Parts& parts) {
  Volumes all{parts.volfmt == "<volfmt>1</volfmt>" ? VolumeFormat::nodes : VolumeFormat::parts, {}};
  for (std::size_t i = 0; i < parts.sites.size(); ++i) {
    const auto& sites = parts.sites[i];
    all.files.push_back({parts.numbers[i], SiteList(sites.size(), [sites](const SiteList::Take& take) {
                           for (std::size_t begin = 0; begin < sites.size(); begin += 7)
                             take(std::span(sites).subspan(begin, std::min<std::size_t>(7, sites.size() - begin)));
                         })});
  }
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(Fixture, "several files are written with the bytes that the parts of one have") {
  for (const Parts& parts : {by_nodes(), by_chance(1), by_chance(2), by_chance(3)}) {
    divide(single, name, parts);
    std::vector<std::string> expected;
    for (const int number : parts.numbers) {
      expected.push_back(tests::read_bytes(part_of(name, number)));
      std::filesystem::remove(part_of(name, number));
    }
    write_single(name, links, volumes(parts));
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(tests::read_bytes(part_of(name, parts.numbers[i])) == expected[i]);
    CHECK(read_all(name) == read_all(single));
    for (const int number : parts.numbers) std::filesystem::remove(part_of(name, number));
  }
}

TEST_CASE("lists of sites have 64 bits where a number needs them") {
  tests::OwnFolder folder;
  const std::string file = folder.file("list");
  for (const std::uint64_t last : {std::uint64_t{0xFFFF'FFFF}, std::uint64_t{0x1'0000'0000}}) {
    LimeWriter lime(file);
    write_site_list(lime,
                    SiteList(3, [&](const SiteList::Take& take) { take(std::vector<std::uint64_t>{last, 5, 6}); }),
                    LimePosition::only);
    lime.close();
    const LimeReader reader(file);
    const LimeRecord& record = reader.records().at(0);
    const std::size_t each = last > 0xFFFF'FFFF ? 8 : 4;
    REQUIRE(record.size == 3 * each);
    std::string bytes(record.size, '\0');
    reader.read(record, 0, bytes.data(), bytes.size());
    CHECK(bytes == big_endian(last, each) + big_endian(5, each) + big_endian(6, each));
  }
}

TEST_CASE_FIXTURE(Fixture, "a set that is written anew replaces the old one, and others of its name are not touched") {
  const Parts parts = by_nodes();
  write_single(name, links, volumes(parts));
  links[0] += 1;
  {  // given up: the old set stays
    ScidacWriter writer(name, kLattice, "<file/>", ScidacMode::replace, volumes(parts));
    MemorySource<double> gauge(links, kGaugeWordsPerSite);
    writer.write_field(gauge_record_info(Word::float64), "<links/>", gauge);
  }
  CHECK(read_all(name) == read_all(single));
  write_single(name, links, volumes(parts));
  CHECK(read_all(name).links == links);

  const auto refused = [&](const Parts& other) {
    return message_of<jit::UserError>([&] { write_single(name, links, volumes(other)); });
  };
  CHECK(contains(refused({.sites = {by_chance(1).sites[0]}, .numbers = {0}}), part_of(name, 1).c_str()));
  tests::write_bytes(name, "one file");
  CHECK(contains(refused(parts), "Remove it, or write under another name"));
  CHECK(tests::read_bytes(name) == "one file");
  std::filesystem::remove(name);
  CHECK(read_all(name).links == links);
}

TEST_CASE_FIXTURE(Fixture, "what cannot be done with several files says so") {
  divide(single, name, by_nodes());
  CHECK(contains(message_of<jit::UserError>([&] { ScidacWriter(name, kLattice, "", ScidacMode::append); }),
                 "file to append to: expected one file"));
  std::filesystem::rename(part_of(name, 0), folder.file("renamed"));
  CHECK(contains(message_of<jit::UserError>([&] { ScidacReader{folder.file("renamed")}; }), ".vol and four digits"));
  CHECK(contains(error(), "a regular file that can be read"));
}
