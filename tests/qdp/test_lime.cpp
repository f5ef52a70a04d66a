// The LIME container, and the site stream and checksum under it.

#include "jit/support/log.hpp"
#include "qdp/io/lime.hpp"
#include "qdp/io/payload.hpp"
#include "qdp/io/scidac_checksum.hpp"
#include "qdp/io/site_stream.hpp"
#include "qdp/util/byte_order.hpp"

#include "tests/captured_log.hpp"
#include "tests/qdp/gauge_file_fixture.hpp"

#include <doctest/doctest.h>

#include <sys/resource.h>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <limits>

using namespace QDP::io;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

/// A file with a text record, an empty one, and 13 bytes of data, so that all but one need padding.
std::string write_example(const TemporaryFolder& folder) {
  const std::string path = folder.file("example.lime");
  LimeWriter writer(path);
  writer.text_record("first-text", "some text", LimePosition::first);
  writer.begin_record("empty", 0, LimePosition::middle);
  writer.end_record();
  writer.begin_record("thirteen", 13, LimePosition::last);
  writer.write("0123456", 7);
  writer.write("789abc", 6);
  writer.end_record();
  writer.close();
  return path;
}

std::string open_error(const std::string& path) {
  return message_of<jit::UserError>([&] { LimeReader reader(path); });
}

}  // namespace

TEST_CASE("a LIME file reads back as it was written") {
  const tests::OwnFolder folder;
  const LimeReader reader(write_example(folder));
  REQUIRE(reader.records().size() == 3);
  const auto& [text, empty, data] = std::tie(reader.records()[0], reader.records()[1], reader.records()[2]);
  CHECK(text.type == "first-text");
  CHECK(reader.text(text) == "some text");
  CHECK(text.message_begin);
  CHECK_FALSE(text.message_end);
  CHECK(empty.size == 0);
  CHECK(reader.text(empty).empty());
  CHECK(data.size == 13);
  CHECK(data.message_end);
  char part[5] = {};
  reader.read(data, 6, part, 4);
  CHECK(std::string(part) == "6789");
}

TEST_CASE("the bytes of a LIME record are those of the standard") {
  const tests::OwnFolder folder;
  const std::string bytes = tests::read_bytes(write_example(folder));
  CHECK(bytes.size() == 3 * 144 + 16 + 0 + 16);
  CHECK(bytes.substr(0, 16) == std::string("\x45\x67\x89\xAB\0\1\x80\0\0\0\0\0\0\0\0\x0A", 16));
  CHECK(bytes.substr(16, 11) == std::string("first-text\0", 11));
  CHECK(bytes.substr(bytes.size() - 16) == std::string("0123456789abc\0\0\0", 16));
}

TEST_CASE("a LIME file cut anywhere is refused, but for missing padding at its end") {
  const tests::OwnFolder folder;
  const std::string path = write_example(folder);
  const std::size_t full = tests::read_bytes(path).size();
  // From the end of a record's data to the end of its padding, a cut leaves a shorter, valid file.
  const std::pair<std::size_t, std::size_t> valid_ends[] = {{144 + 10, 160}, {160 + 144, 304}, {304 + 144 + 13, full}};
  for (std::size_t size = full; size-- > 0;) {
    tests::once([&] { std::filesystem::resize_file(path, size); });
    const std::string error = open_error(path);
    CAPTURE(size);
    bool valid = false;
    for (const auto& [first, last] : valid_ends) valid = valid || (first <= size && size <= last);
    CHECK(error.empty() == valid);
    if (!error.empty()) CHECK(contains(error, path));
  }
}

TEST_CASE("errors of a LIME file name file, byte offset, expected and got") {
  const tests::OwnFolder folder;
  const std::string path = write_example(folder);
  const std::string bytes = tests::read_bytes(path);
  const auto damaged = [&](std::size_t at, char value) {
    std::string copy = bytes;
    copy[at] = value;
    tests::write_bytes(path, copy);
    return open_error(path);
  };
  const std::string magic = damaged(160, 'x');
  CHECK(contains(magic, path + ", byte 160"));
  CHECK(contains(magic, "expected magic number 456789ab, got 786789ab"));
  CHECK(contains(damaged(5, 7), "LIME version: expected 1, got 7"));
  CHECK(contains(damaged(8, 0x7f), "up to the end of the file"));
  CHECK(contains(damaged(17, 3), "record type"));
  CHECK(contains(damaged(16, 0), "record type"));

  tests::write_bytes(path, "");
  CHECK(contains(open_error(path), "an empty file"));
  tests::write_bytes(path, std::string(1000, 'g'));
  CHECK(contains(open_error(path), "not a LIME file"));
  CHECK(contains(open_error(folder.file("absent")), "No such file"));
  CHECK(contains(message_of<jit::UserError>([&] { LimeReader reader(folder.file("")); }), "regular file"));
}

TEST_CASE("reading beyond a LIME record is refused") {
  const tests::OwnFolder folder;
  const LimeReader reader(write_example(folder));
  char byte[8];
  CHECK(
      contains(message_of<jit::UserError>([&] { reader.read(reader.records()[2], 10, byte, 4); }), "3 in the record"));
}

TEST_CASE("a LIME writer checks sizes and leaves nothing behind without close") {
  const tests::OwnFolder folder;
  const std::string path = folder.file("half.lime");
  {
    LimeWriter writer(path);
    writer.begin_record("short", 8, LimePosition::only);
    writer.write("1234567", 7);
    CHECK_THROWS_AS(writer.end_record(), jit::InternalError);
    CHECK_THROWS_AS(writer.begin_record("inner", 1, LimePosition::only), jit::InternalError);
    CHECK_THROWS_AS(writer.close(), jit::InternalError);
  }
  CHECK(folder.count() == 0);
  LimeWriter writer(path);
  CHECK_THROWS_AS(writer.begin_record(std::string(128, 'n'), 0, LimePosition::only), jit::UserError);
  CHECK_THROWS_AS(LimeWriter(folder.file("no/such/folder/file")), jit::UserError);
}

TEST_CASE("when the disk refuses to take more, the old file stays") {
  const tests::OwnFolder folder;
  const std::string path = write_example(folder);
  const std::string before = tests::read_bytes(path);

  rlimit old_limit{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &old_limit) == 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = old_limit;
  small.rlim_cur = 4096;
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  const std::string error = message_of<jit::FileError>([&] {
    LimeWriter writer(path);
    writer.begin_record("big", 8192, LimePosition::only);
    writer.write(std::string(8192, 'x').data(), 8192);
    writer.end_record();
    writer.close();
  });
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);

  CHECK(contains(error, path));
  CHECK(tests::read_bytes(path) == before);
  CHECK(folder.count() == 1);
}

TEST_CASE("the site checksum does not depend on the order of sites but on their ranks") {
  const std::string a = "one site";
  const std::string b = "and other";
  SiteChecksum forward, backward, left, right, exchanged;
  forward.add_site(30, a.data(), 8);
  forward.add_site(70, b.data(), 8);
  backward.add_site(70, b.data(), 8);
  backward.add_site(30, a.data(), 8);
  left.add_site(30, a.data(), 8);
  right.add_site(70, b.data(), 8);
  left.combine(right);
  exchanged.add_site(30, b.data(), 8);
  exchanged.add_site(70, a.data(), 8);
  CHECK(forward == backward);
  CHECK(forward == left);
  CHECK(forward != exchanged);
  // Ranks 29 and 31 do not rotate suma and sumb.
  SiteChecksum at29, at31;
  at29.add_site(29, a.data(), 8);
  at31.add_site(31, a.data(), 8);
  CHECK(at29.suma == QDPUtil::crc32(0, a.data(), 8));
  CHECK(at31.sumb == QDPUtil::crc32(0, a.data(), 8));
}

TEST_CASE("words go through the file's byte order and precision and back") {
  const std::vector<double> values = {0.0, -0.0, 1.0, -2.5, 1e-300, 1e300, std::numeric_limits<double>::denorm_min()};
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    std::vector<char> file(values.size() * 8);
    encode(values.data(), Word::float64, file.data(), Word::float64, order, values.size());
    CHECK(static_cast<unsigned char>(file[order == ByteOrder::big ? 16 : 23]) == 0x3f);  // the exponent of 1.0
    std::vector<double> back(values.size());
    decode(file.data(), Word::float64, order, back.data(), Word::float64, values.size());
    CHECK(std::memcmp(back.data(), values.data(), file.size()) == 0);

    const double third = 1.0 / 3.0;
    char four[4];
    encode(&third, Word::float64, four, Word::float32, order, 1);
    double widened = 0;
    decode(four, Word::float32, order, &widened, Word::float64, 1);
    CHECK(widened == static_cast<double>(static_cast<float>(third)));
  }
  const std::uint32_t number = 0x01020304;
  char bytes[5] = {};
  encode(&number, Word::int32, bytes, Word::bytes, ByteOrder::big, 1);
  CHECK(std::string(bytes) == "\1\2\3\4");
  CHECK_FALSE(convertible(Word::int32, Word::float64));
  CHECK_THROWS_AS(encode(&number, Word::int32, bytes, Word::float32, ByteOrder::big, 1), jit::InternalError);
}

TEST_CASE("a lattice that no machine can hold is refused, not wrapped around") {
  CHECK(SiteGeometry{{24, 24, 24, 24}}.volume() == 331776);
  CHECK_THROWS_AS((SiteGeometry{{65536, 65536, 65536, 65536}}.volume()), jit::UserError);
  CHECK_THROWS_AS((SiteGeometry{{4, 0, 4, 4}}.volume()), jit::UserError);
  std::vector<double> field(10);
  MemorySource<double> source(field, 2);
  double words[4];
  CHECK_THROWS_AS(source.get(4, 2, words), jit::InternalError);
}

TEST_CASE("the log tells what data were moved, in MiB of 2^20 bytes, and their number per second") {
  const tests::CapturedLog log;
  jit::configure_log("info,io");
  const TemporaryFolder folder;
  const Payload payload{.geometry = {{8, 8, 8, 8}}, .site = {.word = Word::float64, .bytes = 384}};  // 1.5 MiB
  const std::vector<double> field(payload.bytes() / 8);
  MemorySource<double> source(field, 48);
  jit::AtomicFile file(folder.file("data"));
  write_payload(file, payload, source);
  commit(file);
  read_payload(InputFile(folder.file("data")), 0, payload, "data", nullptr);
  jit::configure_log("warn");
  const std::vector<std::string>& lines = log.lines();
  REQUIRE(lines.size() == 3);
  const char* const kinds[] = {"wrote 1.5 MiB to ", "flushed 1.5 MiB of ", "read 1.5 MiB of "};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(contains(lines[i], kinds[i] + ('"' + folder.file("data") + "\": ")));
    double seconds = 0, rate = 0;
    REQUIRE(std::sscanf(lines[i].c_str() + lines[i].rfind(": "), ": %lf s, %lf MiB/s", &seconds, &rate) == 2);
    CHECK(std::fabs(rate * seconds - 1.5) <= 0.00051 * rate + 0.051 * seconds);  // as the digits are rounded
  }
}
