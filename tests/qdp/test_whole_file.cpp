// Files written whole or not at all, room on disk, and what the reader of a field says about its checksum.

#include "qdp/io/qdp_file.hpp"
#include "qdp/io/whole_file.hpp"
#include "qdp/rng/rng.hpp"
#include "qdp/types/functions.hpp"
#include "qdp/types/reductions.hpp"
#include "qdp/types/shift.hpp"
#include "tests/qdp/gauge_file_fixture.hpp"
#include "tests/qdp/lattices.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

using namespace QDP;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

std::string content_of(const std::string& path) {
  return tests::together([&] {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  });
}

}  // namespace

TEST_CASE("a file is replaced in one step, and left alone if that fails") {
  const TemporaryFolder folder;
  const std::string path = folder.file("text");
  write_whole_file(path, "one");
  write_whole_file(path, "two\n");
  CHECK(content_of(path) == "two\n");
  tests::once([&] { std::filesystem::create_directory(folder.file("in_the_way")); });
  CHECK_THROWS_AS(write_whole_file(folder.file("in_the_way"), "three"), jit::UserError);
  CHECK(contains(message_of<jit::UserError>([&] { write_whole_file(folder.file("missing/text"), "x"); }),
                 "missing/text"));
  CHECK(tests::together([&] { return folder.count(); }) == 2);  // nothing temporary stays
}

TEST_CASE("free space is that of the file system, also for files that are not there yet") {
  const TemporaryFolder folder;
  const std::uint64_t here = free_disk_space(folder.file("."));
  CHECK(here > 0);
  CHECK(here < std::uint64_t(1) << 60);
  CHECK(std::filesystem::space(folder.file(".")).available ==
        doctest::Approx(static_cast<double>(free_disk_space(folder.file("new/file")))).epsilon(0.2));
}

TEST_CASE("a reader knows whether the data had their checksum, another one, or none") {
  const TemporaryFolder folder;
  tests::create_lattice({32, 32, 4, 8});  // most of the file is the field, for any size
  const std::string path = folder.file("field.lime");
  LatticeColorMatrix field, back;
  gaussian(field);
  {
    XMLBufferWriter file_xml, record_xml;
    push(file_xml, "file");
    pop(file_xml);
    push(record_xml, "record");
    pop(record_xml);
    QDPFileWriter file(file_xml, path, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    write(file, record_xml, field);
    close(file);
  }
  const std::string whole = content_of(path);
  const auto read_back = [&](const std::string& content, bool& bad, bool& fail) {
    tests::Written(path, std::ios::binary) << content;
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, path, QDPIO_SERIAL);
    read(file, record_xml, back);
    bad = file.bad();
    fail = file.fail();
  };
  bool bad, fail;
  read_back(whole, bad, fail);
  CHECK_FALSE(bad);
  CHECK_FALSE(fail);

  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(damaged[whole.size() / 2] ^ 1);
  read_back(damaged, bad, fail);
  CHECK(bad);
  CHECK_FALSE(fail);

  std::string without = whole;
  without.replace(without.rfind("<suma>"), 6, "<oops>");
  read_back(without, bad, fail);
  CHECK(bad);  // there is one, but nobody can read it
  CHECK_FALSE(fail);

  without = whole;
  without.replace(without.rfind("scidac-checksum"), 15, "notes-of-my-own");
  read_back(without, bad, fail);
  CHECK_FALSE(bad);
  CHECK(fail);
}

TEST_CASE(
    "what a reader says of a record is of that record: fields, scalars, bytes, those skipped, and the next file's") {
  const TemporaryFolder folder;
  tests::create_lattice({4, 4, 2, 2});
  const std::string path = folder.file("records.lime"), intact = folder.file("intact.lime");
  const auto element = [](const char* name) {
    XMLBufferWriter xml;
    push(xml, name);
    pop(xml);
    return xml;
  };
  LatticeReal field = 1.5;
  multi1d<LatticeReal> fields(3);
  for (int i = 0; i < 3; ++i) fields[i] = Real(i) * field;
  multi1d<Real> numbers(5);
  for (int i = 0; i < 5; ++i) numbers[i] = 0.25 * i;
  const std::string text = "bytes that a program keeps";
  {
    XMLBufferWriter file_xml = element("file"), record_xml = element("record");
    QDPFileWriter file(file_xml, intact, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    const auto write_bytes = [&] {
      BinaryBufferWriter bytes(text);
      write(file, record_xml, bytes);
    };
    write(file, record_xml, field);
    write_bytes();
    write_bytes();
    write(file, record_xml, numbers);
    write_bytes();
    write(file, record_xml, numbers[3]);
    write(file, record_xml, fields);
    write(file, record_xml, field);
    CHECK(!file.checksum().empty());
    close(file);
    file.open(file_xml, folder.file("empty.lime"), QDPIO_SINGLEFILE, QDPIO_SERIAL);
    CHECK(file.checksum().empty());
  }
  std::string content = content_of(intact);
  content[content.find(text) + 3] = 'X';  // the second record
  tests::Written(path, std::ios::binary) << content;

  XMLReader file_xml, record_xml;
  QDPFileReader file(file_xml, path, QDPIO_SERIAL);
  const auto verified = [&] {
    return !file.bad() && !file.fail() && file.verdict() == "verified" && !file.checksum().empty();
  };
  const auto silent = [&] { return !file.bad() && !file.fail() && file.verdict().empty() && file.checksum().empty(); };
  const auto wrong = [&] { return file.bad() && !file.fail() && file.verdict().starts_with("wrong"); };
  BinaryBufferReader bytes;
  CHECK(silent());
  read(file, record_xml, field);
  CHECK(verified());
  const std::string of_field = file.checksum();
  file.read(record_xml, bytes);
  CHECK(wrong());
  CHECK(file.checksum() != of_field);
  CHECK(bytes.str() != text);
  file.read(record_xml, bytes);
  CHECK(verified());
  CHECK(bytes.str() == text);
  multi1d<Real> back;
  read(file, record_xml, back);
  CHECK(verified());
  REQUIRE(back.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(toDouble(back[i]) == 0.25 * i);
  file.read(record_xml);
  CHECK(silent());
  Real number;
  read(file, record_xml, number);
  CHECK(verified());
  CHECK(toDouble(number) == 0.75);
  multi1d<LatticeReal> fields_back;
  read(file, record_xml, fields_back);
  CHECK(verified());
  REQUIRE(fields_back.size() == 3);
  for (int i = 0; i < 3; ++i) CHECK(toDouble(norm2(fields_back[i] - fields[i])) == 0);
  read(file, record_xml, field);
  CHECK(verified());
  CHECK(file.checksum() == of_field);
  CHECK(file.eof());

  // Whatever one file ended with, the next begins anew.
  file.open(file_xml, path, QDPIO_SERIAL);
  CHECK(silent());
  file.read(record_xml);
  file.read(record_xml, bytes);
  CHECK(wrong());
  file.open(file_xml, intact, QDPIO_SERIAL);
  CHECK(silent());
  CHECK_FALSE(file.eof());
}

TEST_CASE(
    "the box of a field is written and read alone: sites beside it keep what they hold, wherever it was computed") {
  const TemporaryFolder folder;
  tests::create_lattice({4, 6, 2, 4});
  const std::string path = folder.file("box.lime");
  multi1d<int> lower(Nd), upper(Nd);
  for (int mu = 0; mu < Nd; ++mu) lower[mu] = mu == 0 ? 1 : mu == 1 ? 2 : 0, upper[mu] = mu == 1 ? 4 : 1;
  const auto inside = [&](const multi1d<int>& x) {
    for (int mu = 0; mu < Nd; ++mu)
      if (x[mu] < lower[mu] || x[mu] > upper[mu]) return false;
    return true;
  };
  XMLBufferWriter file_out, record_out;
  push(file_out, "file");
  pop(file_out);
  push(record_out, "record");
  pop(record_out);
  LatticeComplex field;
  gaussian(field);
  {
    QDPFileWriter file(file_out, path, QDPIO_SINGLEFILE, QDPIO_SERIAL);
    file.write(record_out, field, lower, upper);
    close(file);
  }
  for (const bool on_host : {false, true}) {
    CAPTURE(on_host);
    LatticeComplex beside, back;
    gaussian(beside);
    back = Real(3) * beside;
    const LatticeComplex before = back;
    if (on_host) back.getF();
    XMLReader file_xml, record_xml;
    QDPFileReader file(file_xml, path, QDPIO_SERIAL);
    read(file, record_xml, back);
    CHECK(file.verdict() == "verified");
    bool right = true;
    for (int i = 0; i < Layout::sitesOnNode(); ++i) {
      const multi1d<int> x = Layout::siteCoords(0, i);
      const LatticeComplex& expected = inside(x) ? field : before;
      right = right && toBool(norm2(peekSite(back, x) - peekSite(expected, x)) == 0);
    }
    CHECK(right);
  }
}
