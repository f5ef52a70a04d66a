// Files written whole or not at all, room on disk, and what the reader of a field says about its checksum.

#include "qdp/io/qdp_file.hpp"
#include "qdp/io/whole_file.hpp"
#include "qdp/rng/rng.hpp"
#include "qdp/types/functions.hpp"
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
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a file is replaced in one step, and left alone if that fails") {
  const TemporaryFolder folder;
  const std::string path = folder.file("text");
  write_whole_file(path, "one");
  write_whole_file(path, "two\n");
  CHECK(content_of(path) == "two\n");
  std::filesystem::create_directory(folder.file("in_the_way"));
  CHECK_THROWS_AS(write_whole_file(folder.file("in_the_way"), "three"), jit::UserError);
  CHECK(contains(message_of<jit::UserError>([&] { write_whole_file(folder.file("missing/text"), "x"); }),
                 "missing/text"));
  CHECK(folder.count() == 2);  // nothing temporary stays
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
    std::ofstream(path, std::ios::binary) << content;
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
