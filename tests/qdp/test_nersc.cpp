// NERSC archive files: round trips, dialects of the header, damage.

#include "qdp/io/ildg.hpp"
#include "qdp/io/nersc.hpp"

#include "jit/support/error.hpp"
#include "tests/qdp/gauge_file_fixture.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace QDP::io;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

const SiteGeometry kLattice{{2, 3, 4, 5}};

NerscHeader example_header(std::size_t mat_size, std::size_t float_size) {
  NerscHeader header;
  header.nrow = kLattice.extents;
  header.boundary = {1, 1, 1, -1};
  header.mat_size = mat_size;
  header.float_size = float_size;
  header.w_plaq = 0.5876543219;
  header.link = -0.00123456789;
  header.sequence_number = 42;
  header.ensemble_id = "ens 7";
  header.ensemble_label = "a = b\nEND_HEADER";
  header.creator = "test";
  header.creator_hardware = "machine";
  header.creation_date = "today";
  header.archive_date = "tomorrow";
  return header;
}

template <class Real>
NerscHeader write_example(const std::string& path, const std::vector<Real>& field, std::size_t mat_size,
                          std::size_t float_size) {
  NerscHeader header = example_header(mat_size, float_size);
  MemorySource<Real> source(field, kGaugeWordsPerSite);
  write_nersc(path, header, source);
  return header;
}

template <class Real>
std::vector<Real> read_field(const std::string& path, ReadReport& report, const SiteGeometry& geometry = kLattice) {
  std::vector<Real> field(geometry.volume() * kGaugeWordsPerSite);
  MemorySink<Real> sink(field, kGaugeWordsPerSite);
  report = read_nersc(path, read_nersc_header(path), geometry, sink);
  return field;
}

template <class Real>
double largest_difference(const std::vector<Real>& a, const std::vector<Real>& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(double(a[i]) - double(b[i])));
  return largest;
}

std::string header_error(const std::string& path) {
  return message_of<jit::UserError>([&] { read_nersc_header(path); });
}

/// A 3x3 file with header lines and byte order of choice.
std::string write_foreign(const TemporaryFolder& folder, const std::string& lines, const std::vector<double>& field,
                          Word word, ByteOrder order) {
  const std::string path = folder.file("foreign.nersc");
  std::string data(field.size() * bytes_of(word), '\0');
  encode(field.data(), Word::float64, data.data(), word, order, field.size());
  tests::write_bytes(path, "BEGIN_HEADER\n" + lines + "END_HEADER\n" + data);
  return path;
}

const std::string kDimensions = "DIMENSION_1 = 2\nDIMENSION_2 = 3\nDIMENSION_3 = 4\nDIMENSION_4 = 5\n";

}  // namespace

TEST_CASE("three rows come back bit for bit, two rows to the precision of the third row") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const auto doubles = tests::random_gauge_field<double>(kLattice);
  const auto floats = tests::random_gauge_field<float>(kLattice);
  ReadReport report;
  write_example(path, doubles, 18, 8);
  CHECK(read_field<double>(path, report) == doubles);
  CHECK(report.checksum == ChecksumStatus::verified);
  write_example(path, floats, 18, 4);
  CHECK(read_field<float>(path, report) == floats);
  CHECK(report.checksum == ChecksumStatus::verified);
  write_example(path, doubles, 12, 8);
  CHECK(largest_difference(read_field<double>(path, report), doubles) < 1e-15);
  CHECK(report.checksum == ChecksumStatus::verified);
  write_example(path, floats, 12, 4);
  CHECK(largest_difference(read_field<float>(path, report), floats) < 3e-7);
  CHECK(report.checksum == ChecksumStatus::verified);
}

TEST_CASE("NERSC files convert precision both ways") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const auto doubles = tests::random_gauge_field<double>(kLattice);
  const std::vector<float> rounded(doubles.begin(), doubles.end());
  ReadReport report;
  write_example(path, doubles, 18, 4);
  CHECK(read_field<float>(path, report) == rounded);
  CHECK(read_field<double>(path, report) == std::vector<double>(rounded.begin(), rounded.end()));
  write_example(path, doubles, 18, 8);
  CHECK(read_field<float>(path, report) == rounded);
}

TEST_CASE("every field of the NERSC header survives the file") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const NerscHeader written = write_example(path, tests::random_gauge_field<double>(kLattice), 12, 8);
  const NerscHeader header = read_nersc_header(path);
  CHECK(header.nrow == kLattice.extents);
  CHECK(header.boundary == std::vector<int>{1, 1, 1, -1});
  CHECK(header.mat_size == 12);
  CHECK(header.float_size == 8);
  CHECK(header.w_plaq == doctest::Approx(0.5876543219).epsilon(1e-11));
  CHECK(header.link == doctest::Approx(-0.00123456789).epsilon(1e-11));
  CHECK(header.has_checksum);
  CHECK(header.checksum == written.checksum);
  CHECK(header.checksum != 0);
  CHECK(header.data_offset == written.data_offset);
  CHECK(header.sequence_number == 42);
  CHECK(header.ensemble_id == "ens 7");
  CHECK(header.ensemble_label == "a = b END_HEADER");  // a label cannot end the header
  CHECK(header.creator == "test");
  CHECK(header.creator_hardware == "machine");
  CHECK(header.creation_date == "today");
  CHECK(header.archive_date == "tomorrow");
  CHECK(header.floating_point == "IEEE64BIG");
}

TEST_CASE("the NERSC checksum is the sum of the 32-bit words of the file") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const auto field = tests::random_gauge_field<double>(kLattice);
  MemorySource<double> source(field, kGaugeWordsPerSite);
  for (const std::size_t mat_size : {std::size_t{12}, std::size_t{18}})
    for (const std::size_t float_size : {std::size_t{4}, std::size_t{8}}) {
      const NerscHeader header = write_example(path, field, mat_size, float_size);
      const std::string bytes = tests::read_bytes(path);
      CHECK(bytes.size() == header.data_offset + kLattice.volume() * 4 * mat_size * float_size);
      std::uint32_t sum = 0;
      for (std::size_t i = header.data_offset; i < bytes.size(); i += 4)
        for (std::size_t b = 0; b < 4; ++b)
          sum += std::uint32_t(static_cast<unsigned char>(bytes[i + b])) << (24 - 8 * b);
      CHECK(header.checksum == sum);
      CHECK(nersc_checksum(source, kLattice, mat_size, float_size) == sum);
    }
}

TEST_CASE("headers of other programs are read: any order, missing lines, every byte order") {
  const tests::OwnFolder folder;
  const auto field = tests::random_gauge_field<double>(kLattice);
  const std::vector<float> rounded(field.begin(), field.end());
  ReadReport report;

  const auto little = write_foreign(folder,
                                    "FLOATING_POINT = IEEE64LITTLE\r\n" + kDimensions + "NOTE = x\n\nfree text\n" +
                                        "DATATYPE = 4D_SU3_GAUGE_3x3\nBOUNDARY_4 = ANTIPERIODIC \n",
                                    field, Word::float64, ByteOrder::little);
  CHECK(read_field<double>(little, report) == field);
  CHECK(report.checksum == ChecksumStatus::absent);
  CHECK(contains(report.warning, "no checksum"));
  CHECK(read_nersc_header(little).boundary == std::vector<int>{1, 1, 1, -1});

  const std::string common = kDimensions + "DATATYPE = 4D_SU3_GAUGE_3x3\n";
  const auto big32 = write_foreign(folder, common + "FLOATING_POINT = IEEE32\n", field, Word::float32, ByteOrder::big);
  CHECK(read_field<float>(big32, report) == rounded);

  // Plain IEEE32 in either order: the checksum tells.
  std::vector<std::uint32_t> words(rounded.size());
  std::memcpy(words.data(), rounded.data(), rounded.size() * 4);
  std::uint32_t sum = 0;
  for (const std::uint32_t word : words) sum += word;
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    const auto file = write_foreign(folder, common + "FLOATING_POINT = IEEE32\nCHECKSUM = " + hex32(sum) + "\n", field,
                                    Word::float32, order);
    CHECK(read_field<float>(file, report) == rounded);
    CHECK(report.checksum == ChecksumStatus::verified);
  }
}

TEST_CASE("what lines of other programs' headers mean, each by itself") {
  const tests::OwnFolder folder;
  const auto header = [&](const std::string& lines) {
    return read_nersc_header(write_foreign(folder, kDimensions + lines, {}, Word::float64, ByteOrder::big));
  };
  // Half a unit of the last digit that is given.
  for (const auto& [text, value, step] : {std::tuple{"0.5876", 0.5876, 5e-5},
                                          {"1.25e-03", 1.25e-3, 5e-6},
                                          {"1.25E+02", 125.0, 0.5},
                                          {"-.5", -0.5, 0.05},
                                          {"1", 1.0, 0.0},
                                          {"3e-1", 0.3, 0.0}}) {
    CAPTURE(text);
    const NerscHeader plaquette = header(std::string("PLAQUETTE = ") + text + "\n"),
                      link = header(std::string("LINK_TRACE = ") + text + "\n");
    CHECK(plaquette.w_plaq == value);
    CHECK(plaquette.w_plaq_step == doctest::Approx(step).epsilon(1e-12).scale(1e-9));
    CHECK(plaquette.has_plaquette);
    CHECK_FALSE(plaquette.has_link_trace);
    CHECK(link.link == value);
    CHECK(link.link_step == doctest::Approx(step).epsilon(1e-12).scale(1e-9));
    CHECK(link.has_link_trace);
    CHECK_FALSE(link.has_plaquette);
  }
  const NerscHeader bare = header("");
  CHECK(bare.nrow == std::vector<int>{2, 3, 4, 5});
  CHECK(bare.mat_size == 18);
  CHECK(bare.boundary == std::vector<int>{1, 1, 1, 1});
  CHECK_FALSE(bare.has_checksum);
  CHECK(bare.sequence_number == 0);
  CHECK(header("DATATYPE = 4D_SU3_GAUGE\n").mat_size == 12);
  CHECK(header("DATATYPE = 4D_SU3_GAUGE_3X3\n").mat_size == 18);
  CHECK(header("BOUNDARY_1 = -1\nBOUNDARY_3 = ANTIPERIODIC\n").boundary == std::vector<int>{-1, 1, -1, 1});
  CHECK(header("SEQUENCE_NUMBER =\n").sequence_number == 0);
  CHECK(header("SEQUENCE_NUMBER = -7\n").sequence_number == -7);
  CHECK(header("CREATOR = a\nCREATOR_MACHINE = b\n").creator_hardware == "b");
  CHECK(header("CREATOR = a\nCREATOR_MACHINE = b\n").creator == "a");
  CHECK(header("CHECKSUM = 0Xaf01\n").checksum == 0xaf01);
  const NerscHeader sums = header("SITE_CHECKSUM = 12ab  0x34cd\n");
  REQUIRE(sums.site_checksum.has_value());
  CHECK(sums.site_checksum->suma == 0x12ab);
  CHECK(sums.site_checksum->sumb == 0x34cd);
  CHECK(contains(
      header_error(write_foreign(folder, kDimensions + "SITE_CHECKSUM = 1 2 3\n", {}, Word::float64, ByteOrder::big)),
      "two numbers of 32 bits"));
  for (const auto& [text, size, order] : {std::tuple{"IEEE32", 4u, ByteOrder::big},
                                          {"IEEE32BIG", 4u, ByteOrder::big},
                                          {"IEEE32LITTLE", 4u, ByteOrder::little},
                                          {"IEEE64", 8u, ByteOrder::big},
                                          {"IEEE64BIG", 8u, ByteOrder::big},
                                          {"IEEE64LITTLE", 8u, ByteOrder::little}}) {
    CAPTURE(text);
    const NerscHeader found = header(std::string("FLOATING_POINT = ") + text + "\n");
    CHECK(found.float_size == size);
    CHECK(found.byte_order == order);
    CHECK(found.floating_point == text);
  }
}

TEST_CASE("a flipped bit in NERSC data is a checksum mismatch, and the links are still read") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const auto field = tests::random_gauge_field<double>(kLattice);
  const NerscHeader header = write_example(path, field, 18, 8);
  std::string bytes = tests::read_bytes(path);
  for (const std::size_t at : {std::size_t(header.data_offset), bytes.size() - 1}) {
    std::string copy = bytes;
    copy[at] = static_cast<char>(copy[at] ^ 1);
    tests::write_bytes(path, copy);
    ReadReport report;
    const auto back = read_field<double>(path, report);
    CHECK(report.checksum == ChecksumStatus::mismatch);
    CHECK(verify_nersc(path, header).checksum == ChecksumStatus::mismatch);
    std::size_t different = 0;
    for (std::size_t i = 0; i < field.size(); ++i) different += back[i] != field[i];
    CHECK(different == 1);
  }
}

TEST_CASE("a NERSC file cut at any byte of the header, or in the data, is refused") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const NerscHeader header = write_example(path, tests::random_gauge_field<float>(kLattice), 12, 4);
  const std::size_t full = tests::read_bytes(path).size();
  tests::once([&] { std::filesystem::resize_file(path, full - 1); });
  ReadReport report;
  const std::string error = message_of<jit::UserError>([&] { read_field<float>(path, report); });
  CHECK(contains(error, path + ", byte " + std::to_string(header.data_offset)));
  CHECK(contains(error, "expected 23040 bytes, got 23039"));
  tests::once([&] { std::filesystem::resize_file(path, header.data_offset); });
  CHECK(contains(message_of<jit::UserError>([&] { read_field<float>(path, report); }), "got 0 up to the end"));
  for (std::size_t size = header.data_offset; size-- > 0;) {
    tests::once([&] { std::filesystem::resize_file(path, size); });
    CAPTURE(size);
    CHECK(contains(header_error(path), "NERSC header"));
  }
}

TEST_CASE("NERSC headers that make no sense are refused with name, expected and got") {
  const tests::OwnFolder folder;
  const auto error = [&](const std::string& lines) {
    return header_error(write_foreign(folder, lines, {}, Word::float64, ByteOrder::big));
  };
  CHECK(contains(error("DIMENSION_1 = 2\nDIMENSION_2 = 2\nDIMENSION_4 = 2\n"), "expected DIMENSION_3, got none"));
  CHECK(contains(error("DIMENSION_5 = 2\n"), "a direction 1 to 4"));
  CHECK(contains(error("DIMENSION_1 = 0\n"), "DIMENSION_1: expected an extent of 1 or more, got \"0\""));
  CHECK(contains(error("DIMENSION_1 = four\n"), "expected a number, got \"four\""));
  CHECK(contains(error("PLAQUETTE = high\n"), "PLAQUETTE: expected a number, got \"high\""));
  CHECK(contains(error("CHECKSUM = xyz\n"), "expected a number"));
  CHECK(contains(error("BOUNDARY_1 = OPEN\n"), "expected a number, got \"OPEN\""));
  CHECK(contains(error("DATATYPE = 4D_SU4_GAUGE\n"), "4D_SU3_GAUGE or 4D_SU3_GAUGE_3x3, got \"4D_SU4_GAUGE\""));
  CHECK(contains(error("FLOATING_POINT = VAX\n"), "IEEE32BIG"));
  CHECK(contains(error("FLOATING_POINT = IEEE32MIDDLE\n"), "BIG or LITTLE"));

  const std::string path = folder.file("other");
  tests::write_bytes(path, "hello");
  CHECK_FALSE(is_nersc_file(path));
  CHECK(contains(header_error(path), "not a NERSC file"));
  CHECK(contains(header_error(folder.file("absent")), "No such file"));
}

TEST_CASE("another lattice, a wrong sink and wrong sizes are refused") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("gauge.nersc");
  const auto field = tests::random_gauge_field<double>(kLattice);
  write_example(path, field, 18, 8);
  ReadReport report;
  CHECK(contains(message_of<jit::UserError>([&] { read_field<double>(path, report, {{5, 4, 3, 2}}); }),
                 "expected 5 x 4 x 3 x 2, got 2 x 3 x 4 x 5"));
  std::vector<double> vector(kLattice.volume() * 6);
  MemorySink<double> narrow(vector, 6);
  CHECK_THROWS_AS(read_nersc(path, read_nersc_header(path), kLattice, narrow), jit::UserError);

  MemorySource<double> source(field, kGaugeWordsPerSite);
  const auto refuses = [&](auto change) {
    NerscHeader header = example_header(18, 8);
    change(header);
    return !message_of<jit::UserError>([&] { write_nersc(path, header, source); }).empty();
  };
  CHECK(refuses([](NerscHeader& header) { header.mat_size = 8; }));
  CHECK(refuses([](NerscHeader& header) { header.float_size = 2; }));
  CHECK(refuses([](NerscHeader& header) { header.boundary[3] = 0; }));
  CHECK(refuses([](NerscHeader& header) { header.nrow.pop_back(); }));
  CHECK(read_field<double>(path, report) == field);  // the refused writes left it alone
  CHECK(folder.count() == 1);
}
