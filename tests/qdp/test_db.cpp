// FileDB's files: what it wrote is read, what is written here is what it has read, damage is named.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "jit/support/file.hpp"
#include "qdp.h"
#include "qdp_db.h"
#include "qdp_disk_map_slice.h"
#include "qdp_map_obj_disk.h"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/qdp/qdpxx_db_samples.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

constexpr int kKeys = 30, kPage = 512, kBuckets = 4;

void write_bytes(const std::string& file, const std::string& bytes) {
  tests::once([&] { std::ofstream(file, std::ios_base::binary) << bytes; });
}
std::string stored(const std::string& name) { return tests::data_file("qdpxx/" + name); }

/// Keys and data that are their own bytes, and nothing collective in them.
struct Text : FILEDB::DBKey {
  std::string text;
  Text(std::string t = {}) : text(std::move(t)) {}
  unsigned short serialID() const override { return 1; }
  void writeObject(std::string& output) const override { output = text; }
  void readObject(const std::string& input) override { text = input; }
  int hasHashFunc() const override { return 0; }
  int hasCompareFunc() const override { return 0; }
};
struct Hashed : Text {
  int hasHashFunc() const override { return 1; }
};
using Texts = BinaryStoreDB<Text, Text>;
using LocalTexts = LocalBinaryStoreDB<Text, Text>;

std::string get(Texts& db, const std::string& key) {
  Text data("untouched");
  return db.get(Text(key), data) == 0 ? data.text : "none, " + data.text;
}

}  // namespace

TEST_CASE("a file that FileDB wrote is read: keys, data over many pages, user data") {
  CHECK(samples::wrong_in_db(stored("filedb.sdb"), 60) == 0);
  // It is a strict question: with one key more or less something is wrong.
  CHECK(samples::wrong_in_db(stored("filedb.sdb"), 59) > 0);
  CHECK(samples::wrong_in_db(stored("filedb.sdb"), 61) > 0);
}

TEST_CASE("a file of FileDB's version 5 is read and added to") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  write_bytes(file, jit::read_file(stored("filedb5.sdb")));
  const auto data = [](int n) {
    return std::string(static_cast<std::size_t>(n % 7 == 3 ? 1000 + n : n), static_cast<char>('a' + n % 26));
  };
  const auto wrong = [&](int keys) {
    Texts db;
    db.open(file, O_RDONLY, 0);
    int count = 0;
    for (int n = 1; n < keys; ++n) count += get(db, "key " + std::to_string(n)) != data(n);
    std::vector<Text> all;
    db.keys(all);
    return count + static_cast<int>(all.size()) - (keys - 1);
  };
  CHECK(wrong(40) == 0);
  {
    Texts db;
    db.open(file, O_RDWR, 0664);
    std::string text;
    db.getUserdata(text);
    CHECK(text == "version 5");
    for (int n = 40; n < 60; ++n) db.insert(Text("key " + std::to_string(n)), Text(data(n)));
    db.insert(Text("key 3"), Text("short"));
    db.insert(Text("key 3"), Text(data(3)));
  }
  tests::meet();
  CHECK(wrong(60) == 0);
  CHECK(jit::read_file(file)[7] == 5);
}

TEST_CASE("a file that is written here has the bytes of one that FileDB has read and added to") {
  TemporaryFolder folder;
  samples::write_db(folder.file("db"), kKeys, kPage, kBuckets);
  tests::meet();
  CHECK(jit::read_file(folder.file("db")) == jit::read_file(stored("tessera.sdb")));
  CHECK(samples::wrong_in_db(folder.file("db"), kKeys) == 0);
}

TEST_CASE("keys are added to files of all sizes of pages and numbers of buckets, also to FileDB's") {
  struct Size {
    int keys, page, buckets;
  };
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  for (const Size& size : {Size{0, 512, 1}, Size{1, 8192, 32}, Size{300, 1000, 2}, Size{40, 65536, 64}}) {
    CAPTURE(size.page);
    samples::write_db(file, size.keys, size.page, size.buckets);
    CHECK(samples::wrong_in_db(file, size.keys) == 0);
    samples::add_to_db(file, size.keys, size.keys + 50);
    CHECK(samples::wrong_in_db(file, size.keys + 50, size.keys) == 0);
  }
  const std::string theirs = jit::read_file(stored("filedb.sdb"));
  write_bytes(file, theirs);
  samples::add_to_db(file, 60, 100);
  CHECK(samples::wrong_in_db(file, 100, 60) == 0);
}

TEST_CASE("data are replaced by longer and shorter ones, before and after the file was closed") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  const auto text = [](int n, std::size_t size) { return std::string(size, static_cast<char>('a' + n)); };
  std::vector<std::size_t> sizes{0, 1, 460, 461, 480, 481, 500, 5000, 3};
  Texts db;
  db.setPageSize(512);
  db.open(file, O_RDWR | O_CREAT | O_TRUNC, 0664);
  CHECK(db.storageName() == file);
  for (int round = 0; round < 4; ++round) {
    for (int n = 0; n < 9; ++n)
      db.insert(Text("key " + std::to_string(n)), Text(text(n, sizes[static_cast<std::size_t>(n)])));
    if (round == 2) {
      db.close();
      db.open(file, O_RDWR, 0664);
    }
    for (int n = 0; n < 9; ++n)
      CHECK(get(db, "key " + std::to_string(n)) == text(n, sizes[static_cast<std::size_t>(n)]));
    std::rotate(sizes.begin(), sizes.begin() + 1, sizes.end());
  }
  std::rotate(sizes.rbegin(), sizes.rbegin() + 1, sizes.rend());
  CHECK(get(db, "no key") == "none, untouched");
  CHECK_FALSE(db.exist(Text("no key")));
  db.flush();
  LocalTexts other(true);  // another reader, between flush and close
  other.open(file, O_RDONLY, 0);
  std::vector<Text> keys, values;
  other.keysAndData(keys, values);
  REQUIRE(keys.size() == 9);
  for (std::size_t i = 0; i < 9; ++i) {
    const int n = keys[i].text.back() - '0';
    CHECK(values[i].text == text(n, sizes[static_cast<std::size_t>(n)]));
  }
  tests::meet();
}

TEST_CASE("few pages in memory at a time give the same file") {
  TemporaryFolder folder;
  const auto fill = [&](const std::string& name, unsigned int cache) {
    BinaryStoreDB<samples::DbKey, samples::DbData> db;
    db.setCacheSize(cache);
    db.setPageSize(kPage);
    db.setNumberBuckets(kBuckets);
    db.setMaxUserInfoLen(1000);
    db.open(folder.file(name), O_RDWR | O_CREAT, 0664);
    db.insertUserdata("<samples>" + std::string(700, '.') + "</samples>");
    for (int n = 0; n < kKeys; ++n)
      db.insert(samples::DbKey(samples::db_key(n)), samples::DbData(samples::db_value(n)));
    for (int n = 0; n < kKeys; n += 4)
      db.insert(samples::DbKey(samples::db_key(n)), samples::DbData(samples::db_value(n, 50)));
    db.close();
  };
  fill("small", 2 * kPage);
  fill("large", 1 << 20);
  tests::meet();
  CHECK(jit::read_file(folder.file("small")) == jit::read_file(folder.file("large")));
  CHECK(samples::wrong_in_db(folder.file("small"), kKeys) == 0);
}

TEST_CASE("user data: room is chosen for a new file; too long ones are refused") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  Texts db;
  CHECK_FALSE(db.fileExists(file));
  CHECK(contains(message_of([&] { db.insertUserdata("x"); }), "an open file"));
  db.setMaxUserInfoLen(20000);
  db.setMaxNumberConfigs(7);
  db.open(file, O_RDWR | O_CREAT, 0664);
  CHECK(db.fileExists(file));
  std::string text(20000, 'u');
  db.insertUserdata(text);
  db.close();
  Texts again;
  again.open(file, O_RDWR, 0664);
  CHECK(again.getMaxUserInfoLen() == 20001);
  CHECK(again.getMaxNumberConfigs() == 7);
  std::string back;
  again.getUserdata(back);
  CHECK(back == text);
  again.insertUserdata("short");
  again.getUserdata(back);
  CHECK(back == "short");
  CHECK(contains(message_of([&] { again.insertUserdata(std::string(20002, 'u')); }), "at most 20001 bytes"));
}

namespace {

/// What all classes have, through the one that is given.
template <class Db>
void check_bytes(Db& db, const std::string& file) {
  std::string data = "untouched";
  db.open(file, O_RDWR | O_CREAT, 0664);
  CHECK(db.storageName() == file);
  CHECK(db.getMaxNumberConfigs() == 1);
  CHECK(db.getMaxUserInfoLen() == 4000);
  db.insertBinary("a", "1");
  db.insertBinary(std::string("b\0", 2), std::string("2\0", 2));
  db.insertBinary("a", "33");
  db.insert(Text("c"), Text("444"));
  CHECK(db.getBinary("a", data) == 0);
  CHECK(data == "33");
  CHECK(db.getBinary("b", data) == 1);
  CHECK(data == "33");
  CHECK(db.exist(Text("a")));
  CHECK(db.exist(Text(std::string("b\0", 2))));
  CHECK_FALSE(db.exist(Text("b")));
  Text found("untouched");
  CHECK(db.get(Text("d"), found) == 1);
  CHECK(found.text == "untouched");
  CHECK(db.get(Text("c"), found) == 0);
  CHECK(found.text == "444");

  // Lists are added to; a key and its data have the same place in both.
  std::vector<std::string> keys = {"before"}, values = {"this"};
  db.binaryKeysAndData(keys, values);
  std::vector<Text> texts(1), of_both(1), data_of_both(1);
  db.keys(texts);
  db.keysAndData(of_both, data_of_both);
  REQUIRE(keys.size() == 4);
  REQUIRE(values.size() == 4);
  REQUIRE(texts.size() == 4);
  REQUIRE(of_both.size() == 4);
  REQUIRE(data_of_both.size() == 4);
  CHECK(keys[0] == "before");
  CHECK(values[0] == "this");
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK(texts[i].text == keys[i]);
    CHECK(of_both[i].text == keys[i]);
    CHECK(data_of_both[i].text == values[i]);
    CHECK(values[i] == (keys[i] == "a" ? "33" : keys[i] == "c" ? "444" : std::string("2\0", 2)));
  }
  db.flush();
  db.close();
  CHECK(db.storageName() == "");
  CHECK_FALSE(db.exist(Text("a")));
  CHECK(db.get(Text("a"), found) == -1);
  db.close();  // once more is nothing
}

}  // namespace

TEST_CASE("bytes and objects, keys that are there or not, files that are open or not, of the job's class") {
  TemporaryFolder folder;
  Texts db;
  check_bytes(db, folder.file("job"));
  Texts again;
  again.open(folder.file("job"), O_RDONLY, 0);
  CHECK(get(again, "c") == "444");
  // A copy has the same file.
  Texts copy = again;
  again.close();
  CHECK(get(copy, "c") == "none, untouched");
}

TEST_CASE("bytes and objects, keys that are there or not, files that are open or not, of a process's class") {
  TemporaryFolder folder;
  const std::string file = folder.file("process_" + std::to_string(Layout::nodeNumber()));
  for (const bool init : {false, true}) {
    LocalTexts db(init);
    if (init) {
      CHECK(db.getMaxNumberConfigs() == 1);
      db.setMaxUserInfoLen(300);
      CHECK(db.getMaxUserInfoLen() == 301);
      db.setMaxUserInfoLen(3999);
    }
    CHECK_FALSE(db.fileExists(file + (init ? "i" : "")));
    check_bytes(db, file + (init ? "i" : ""));
    CHECK(db.fileExists(file + (init ? "i" : "")));
    CHECK(contains(message_of([&] { db.insert(Text("a"), Text("b")); }), "LocalBinaryStoreDB"));
    std::string text;
    CHECK(contains(message_of([&] { db.getUserdata(text); }), "an open file"));
    CHECK(contains(message_of([&] { db.insertUserdata(text); }), "an open file"));
  }
}

TEST_CASE("wrong use is refused: files, flags, keys") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  Texts db;
  CHECK(contains(message_of([&] { db.open(file, O_RDWR, 0664); }), "No such file"));
  CHECK(contains(message_of([&] { db.open(file, O_WRONLY | O_CREAT, 0664); }), "O_WRONLY"));
  CHECK(contains(message_of([&] { db.open(folder.file("."), O_RDONLY, 0); }), "folder"));
  CHECK(contains(message_of([&] { db.insert(Text("a"), Text("b")); }), "an open file"));
  BinaryStoreDB<Hashed, Text> hashed;
  CHECK(contains(message_of([&] { hashed.open(file, O_RDWR | O_CREAT, 0664); }), "functions of their own"));
  db.setPageSize(512);
  db.open(file, O_RDWR | O_CREAT, 0664);
  const std::string longest(512 - 28 - 31, 'k');
  db.insert(Text(longest), Text("b"));
  CHECK(get(db, longest) == "b");
  CHECK(contains(message_of([&] { db.insert(Text(longest + "k"), Text("b")); }), "at most 453 bytes, got 454"));
  db.close();
  db.open(file, O_RDONLY, 0);
  CHECK(get(db, longest) == "b");
  CHECK(contains(message_of([&] { db.insert(Text("a"), Text("b")); }), "O_RDONLY"));
  db.close();
  db.setPageSize(256);
  CHECK(contains(message_of([&] { db.open(folder.file("new"), O_RDWR | O_CREAT, 0664); }), "512 to 1048576"));
}

TEST_CASE("damaged files are refused, and never give other data") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  for (const char* name : {"filedb.sdb", "tessera.sdb"}) {
    const std::string good = jit::read_file(stored(name));
    const int keys = std::strcmp(name, "filedb.sdb") == 0 ? 60 : kKeys;
    const auto refusal = [&](const std::string& bytes) {
      write_bytes(file, bytes);
      return message_of([&] {
        if (samples::wrong_in_db(file, keys) != 0) throw jit::UserError("wrong data without a word");
      });
    };
    CHECK(refusal(good) == "no error");
    const std::size_t sparse = tests::job_ranks() > 1 ? 10 : 1;  // ranks wait for each other at each file
    for (std::size_t size = 0; size < good.size(); size += 211 * sparse) {
      CAPTURE(size);
      const std::string said = refusal(good.substr(0, size));
      CHECK(said != "no error");
      CHECK_FALSE(contains(said, "without a word"));
    }
    for (std::size_t at = 0; at < good.size(); at += (at < 332 ? 1 : 37) * sparse) {
      if (at >= 332 && at < kPage) continue;  // behind the header: nothing
      CAPTURE(at);
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x24);
      const std::string said = refusal(bad);
      CHECK_FALSE(contains(said, "without a word"));
      // What nobody reads may change: the page of configurations, and those that FileDB has freed.
      if (std::strcmp(name, "tessera.sdb") == 0 && at / kPage != 4) CHECK(said != "no error");
    }
  }
}

TEST_CASE("files whose checksums are right and whose words are not are refused") {
  TemporaryFolder folder;
  const std::string file = folder.file("db");
  const std::string good = jit::read_file(stored("tessera.sdb"));
  const auto put = [](std::string& bytes, std::size_t at, std::uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i) & 0xff);
  };
  // Every word of every page in turn becomes something else, with the page's checksum made right again.
  for (std::size_t page = 1; page < good.size() / kPage; page += tests::job_ranks() > 1 ? 8 : 1)
    for (std::size_t word = 0; word < kPage; word += page % 8 == 0 ? 4 : 36)
      for (const std::uint32_t value : {1u, 0x1ffu, 0xfffffffcu}) {
        if (word == 20) continue;
        std::string bad = good;
        put(bad, page * kPage + word, value);
        std::uint32_t crc = QDPUtil::crc32(0, &bad[page * kPage], 20);
        crc = QDPUtil::crc32(crc, &bad[page * kPage + 24], kPage - 24);
        put(bad, page * kPage + 20, crc);
        write_bytes(file, bad);
        // Whatever it says, it ends, and with no more than an error.
        message_of([&] { samples::wrong_in_db(file, kKeys); });
        message_of([&] {
          BinaryStoreDB<samples::DbKey, samples::DbData> db;
          db.open(file, O_RDWR, 0664);
          for (int n = 0; n < 3; ++n)
            db.insert(samples::DbKey(samples::db_key(n)), samples::DbData(samples::db_value(n + 20)));
          db.insert(samples::DbKey(samples::db_key(77)), samples::DbData(samples::db_value(3)));
        });
      }
  CHECK(samples::wrong_in_db(stored("tessera.sdb"), kKeys) == 0);
}
