// Maps in files: the bytes are QDP++'s, values come back, damage is named.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "jit/support/file.hpp"
#include "qdp.h"
#include "qdp_disk_map_slice.h"
#include "qdp_map_obj_disk.h"
#include "qdp_map_obj_disk_multiple.h"
#include "tests/message_of.hpp"
#include "tests/paths.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/qdp/qdpxx_map_samples.hpp"
#include "tests/sizes.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using tests::contains;
using tests::message_of;
using tests::TemporaryFolder;

namespace {

constexpr auto kNew = std::ios_base::in | std::ios_base::out | std::ios_base::trunc;
using Numbers = MapObjectDisk<samples::MapKey, multi1d<double>>;

void write_bytes(const std::string& file, const std::string& bytes) {
  tests::once([&] { std::ofstream(file, std::ios_base::binary) << bytes; });
}
std::string by_qdpxx(const std::string& name) { return tests::data_file("qdpxx/" + name); }

bool same(const multi1d<double>& a, const multi1d<double>& b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin());
}
template <class Map> bool has(const Map& map, int n, int salt = 0) {
  multi1d<double> x;
  return map.exist(samples::map_key(n)) && map.get(samples::map_key(n), x) == 0 && same(x, samples::map_value(n, salt));
}

}  // namespace

TEST_CASE(
    "files of maps have the bytes that QDP++ writes: new ones, changed ones, empty ones, fields and time slices") {
  TESSERA_NEEDS_QCD("QDP++ wrote the samples for four dimensions and three colours");
  tests::create_lattice({2, 2, 2, 2});
  const std::pair<const char*, void (*)(const std::string&)> files[] = {{"map.disk", samples::write_map},
                                                                        {"map_once.disk", samples::write_map_once},
                                                                        {"map_empty.disk", samples::write_empty_map},
                                                                        {"slices.disk", samples::write_slices},
                                                                        {"fields.disk", samples::write_fields}};
  TemporaryFolder folder;
  for (const auto& [name, write_it] : files) {
    CAPTURE(name);
    write_it(folder.file(name));
    CHECK(tests::together([&, file = folder.file(name)] { return jit::read_file(file); }) ==
          jit::read_file(by_qdpxx(name)));
  }
}

TEST_CASE("files of QDP++ are read: user data, keys, values") {
  Numbers map;
  CHECK(map.fileExists(by_qdpxx("map.disk")));
  map.open(by_qdpxx("map.disk"), std::ios_base::in);
  std::string user_data;
  CHECK(map.getUserdata(user_data) == 0);
  CHECK(user_data == "<samples><n>1</n></samples>");
  CHECK(MapObjDiskEnv::getMetaData(by_qdpxx("map.disk")) == user_data);
  CHECK(map.size() == samples::kMapKeys - 2);
  std::vector<samples::MapKey> keys;
  map.keys(keys);
  std::vector<int> times;
  for (const auto& key : keys) {
    times.push_back(key.time);
    CHECK(key.name == samples::map_key(key.time).name);
  }
  std::sort(times.begin(), times.end());
  for (int n = 0; n < samples::kMapKeys - 2; ++n) {
    CHECK(times.at(static_cast<std::size_t>(n)) == n);
    CHECK(has(map, n, n == 3 || n == 5 ? 50 : 0));
  }
  CHECK_FALSE(map.exist(samples::map_key(18)));
  multi1d<double> x(1);
  x = 4.0;
  CHECK(map.get(samples::map_key(18), x) == 1);
  CHECK(x[0] == 4.0);
}

TEST_CASE("fields and time slices of QDP++ arrive at their sites, the other slices stay") {
  TESSERA_NEEDS_QCD("QDP++ wrote the samples for four dimensions and three colours");
  tests::create_lattice({2, 2, 2, 2});
  LatticeColorVectorF x, expected;
  samples::fill<float>(expected);
  x = zero;
  MapObjectDisk<int, TimeSliceIO<LatticeColorVectorF>> slices;
  slices.open(by_qdpxx("slices.disk"), std::ios_base::in);
  TimeSliceIO<LatticeColorVectorF> slice(x, 1);
  CHECK(slice.getTimeSlice() == 1);
  CHECK(&slice.getObject() == &x);
  REQUIRE(slices.get(1, slice) == 0);
  Set times;
  struct Time : SetFunc {
    int operator()(const multi1d<int>& coord) const override { return coord[Nd - 1]; }
    int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
  };
  times.make(Time());
  CHECK(toDouble(norm2(x, times[0])) == 0);
  CHECK(toDouble(norm2(x - expected, times[1])) == 0);
  slice.setTimeSlice(0);
  REQUIRE(slices.get(0, slice) == 0);
  CHECK(toDouble(norm2(x - expected)) == 0);
  CHECK(contains(message_of([&] { slice.setTimeSlice(2); }), "expected 0..1, got 2"));
  CHECK(contains(message_of([&] { TimeSliceIO<LatticeColorVectorF>(x, -1); }), "got -1"));
  CHECK_THROWS_AS(TimeSliceIO<LatticeColorVectorF>(x, 4), const std::string&);
  BinaryBufferWriter bin;
  CHECK(contains(message_of([&] { LatticeTimeSliceIO::writeSlice(bin, x, 4, 17); }), "0..16, got 4..17"));

  MapObjectDisk<int, LatticeComplexD> fields;
  fields.open(by_qdpxx("fields.disk"), std::ios_base::in);
  for (int n = 0; n < 2; ++n) {
    LatticeComplexD y, z;
    samples::fill<double>(z, n);
    REQUIRE(fields.get(n, y) == 0);
    CHECK(toDouble(norm2(y - z)) == 0);
  }
}

TEST_CASE("time slices of unequal extents, through a buffer and back") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("the extents");
  tests::create_small({2, 4, 6, 3});
  LatticeColorMatrixD x, y;
  samples::fill<double>(x);
  y = zero;
  const int times = Layout::lattSize()[Nd - 1];
  std::string all;
  for (int t = 0; t < times; ++t) {
    BinaryBufferWriter out;
    write(out, TimeSliceIO<LatticeColorMatrixD>(x, t));
    all += out.str();
    BinaryBufferReader in(out.str());
    TimeSliceIO<LatticeColorMatrixD> slice(y, t);
    read(in, slice);
  }
  CHECK(toDouble(norm2(x - y)) == 0);
  BinaryBufferWriter whole;
  write(whole, x);
  CHECK(whole.str() == all);
}

TEST_CASE("a value is read and written between others in any order, a longer one moves to the end") {
  TemporaryFolder folder;
  const std::string file = folder.file("map");
  Numbers map;
  CHECK(map.insert(samples::map_key(0), samples::map_value(0)) == 1);  // no file
  CHECK(map.insertUserdata("user") == 0);
  map.open(file, kNew);
  CHECK(map.insertUserdata("late") == 1);
  for (int n = 0; n < 4; ++n) map.insert(samples::map_key(n), samples::map_value(n));
  CHECK(has(map, 1));
  map.insert(samples::map_key(4), samples::map_value(4));  // behind a look-up: not over the value that follows it
  CHECK(has(map, 2));
  multi1d<double> longer(5), shorter(1);
  longer = 2.5;
  shorter = -1.0;
  map.insert(samples::map_key(1), longer);
  map.insert(samples::map_key(3), shorter);
  map.flush();
  map.insert(samples::map_key(4), longer);  // the last value, which the index follows now
  map.close();
  CHECK(map.insert(samples::map_key(5), samples::map_value(5)) == 1);

  Numbers again;
  again.open(file);
  CHECK(again.size() == 5);
  CHECK(has(again, 0));
  CHECK(has(again, 2));
  multi1d<double> x;
  for (int n : {1, 4}) {
    REQUIRE(again.get(samples::map_key(n), x) == 0);
    CHECK(same(x, longer));
  }
  REQUIRE(again.get(samples::map_key(3), x) == 0);
  CHECK(same(x, shorter));
  again.insert(samples::map_key(5), samples::map_value(5));
  std::string thrown;
  try {
    again.open(file);
  } catch (const std::string& e) {
    thrown = e;
  }
  CHECK(contains(thrown, "another file is open"));
  again.close();
  Numbers once_more;
  once_more.open(file, std::ios_base::in);
  CHECK(has(once_more, 5));
  CHECK(contains(message_of([&] { once_more.insert(samples::map_key(6), samples::map_value(6)); }),
                 "opened for writing"));
  std::string user_data;
  CHECK(once_more.getUserdata(user_data) == 0);
  CHECK(user_data == "user");
}

TEST_CASE("one object opens one file after the other, each with its own keys and user data") {
  TemporaryFolder folder;
  const std::string a = folder.file("a"), b = folder.file("b");
  Numbers map;
  map.insertUserdata("of a");
  map.open(a, kNew);
  for (int n : {0, 1}) map.insert(samples::map_key(n), samples::map_value(n));
  map.close();
  map.insertUserdata("of b");
  map.open(b, kNew);
  CHECK(map.size() == 0);
  CHECK_FALSE(map.exist(samples::map_key(0)));
  map.insert(samples::map_key(2), samples::map_value(2));
  map.close();

  std::string user_data;
  multi1d<double> x;
  map.open(a);
  CHECK(map.size() == 2);
  CHECK(map.get(samples::map_key(2), x) == 1);
  map.insert(samples::map_key(3), samples::map_value(3));
  for (int n : {0, 1, 3}) CHECK(has(map, n));
  CHECK(map.getUserdata(user_data) == 0);
  CHECK(user_data == "of a");
  map.close();
  map.open(b, std::ios_base::in);
  CHECK(map.size() == 1);
  CHECK(has(map, 2));
  for (int n : {0, 1, 3}) CHECK(map.get(samples::map_key(n), x) == 1);
  std::vector<samples::MapKey> keys;
  map.keys(keys);
  CHECK(keys.size() == 1);
  CHECK(map.getUserdata(user_data) == 0);
  CHECK(user_data == "of b");
}

TEST_CASE("the end of a map's life completes its file, also under an exception") {
  TemporaryFolder folder;
  const std::string file = folder.file("map");
  CHECK(contains(message_of([&] {
                   Numbers map;
                   map.open(file, kNew);
                   map.insert(samples::map_key(0), samples::map_value(0));
                   throw jit::UserError("from the program");
                 }),
                 "from the program"));
  tests::meet();
  Numbers map;
  map.open(file);
  CHECK(has(map, 0));
}

TEST_CASE("several files are one map to read") {
  TemporaryFolder folder;
  const std::vector<std::string> files{folder.file("a"), folder.file("b")};
  for (int part = 0; part < 2; ++part) {
    Numbers map;
    map.insertUserdata("part " + std::to_string(part));
    map.open(files[static_cast<std::size_t>(part)], kNew);
    for (int n = 2 * part; n < 2 * part + 3; ++n) map.insert(samples::map_key(n), samples::map_value(n, part));
    map.close();
  }
  MapObjectDiskMultiple<samples::MapKey, multi1d<double>> map;
  std::string user_data;
  CHECK(map.getUserdata(user_data) == -1);
  CHECK(map.fileExists(files));
  CHECK_FALSE(map.fileExists({files[0], folder.file("c")}));
  map.open(files);
  CHECK(map.getUserdata(user_data) == 0);
  CHECK(user_data == "part 0");
  for (int n = 0; n < 5; ++n) CHECK(has(map, n, n > 2 ? 1 : 0));  // 2 is in both: the first file counts
  std::vector<samples::MapKey> keys;
  for (int times = 0; times < 2; ++times) {  // what the vector has gives way
    map.keys(keys);
    CHECK(keys.size() == 5);
  }
  multi1d<double> x;
  CHECK(map.get(samples::map_key(7), x) == 1);
  CHECK_FALSE(map.exist(samples::map_key(7)));
  map.close();
}

TEST_CASE("files that are missing, foreign, not completed, cut short or damaged are refused with their name") {
  TemporaryFolder folder;
  const std::string good = jit::read_file(by_qdpxx("map_once.disk")), file = folder.file("map");
  const auto refusal = [&](const std::string& bytes) {
    write_bytes(file, bytes);
    return message_of([&] {
      Numbers map;
      map.open(file, std::ios_base::in);
      for (int n = 0; n < samples::kMapKeys; ++n)
        if (!has(map, n)) throw jit::UserError("wrong value without a word");
    });
  };
  CHECK(refusal(good) == "no error");
  CHECK(contains(message_of([&] { Numbers().open(folder.file("none")); }), "trunc"));
  CHECK(contains(message_of([&] { Numbers().open(folder.file("no/folder"), kNew); }), "No such file"));
  CHECK(contains(refusal("XXXXQDP"), "/map, byte"));
  CHECK(contains(refusal(std::string(100, 'x')), "another kind"));
  CHECK(contains(refusal(""), "/map"));

  // Every byte counts: none can be lost or changed and the file be read as if nothing were.
  for (std::size_t size = 0; size < good.size(); size += 7) {
    CAPTURE(size);
    const std::string said = refusal(good.substr(0, size));
    CHECK(said != "no error");
    CHECK(!contains(said, "without a word"));
  }
  const std::size_t user_data = 29 + 12;
  for (std::size_t at = 0; at < good.size(); at += 5) {
    if (at >= user_data && at < user_data + 4) continue;  // has no checksum
    CAPTURE(at);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x11);
    const std::string said = refusal(bad);
    CHECK(said != "no error");
    CHECK(!contains(said, "without a word"));
  }
  // A program that ended before it closed its file: the link is to itself.
  std::string open_file = good;
  std::string link(16, '\0');
  link[15] = static_cast<char>(user_data + 4);
  open_file.replace(user_data + 4, 16, link);
  CHECK(contains(refusal(open_file), "ended before it closed it"));
}

TEST_CASE("setDebug says what is read and written") {
  TemporaryFolder folder;
  std::ostringstream out;
  QDPIO::cout.init(&out);
  MapObjectDisk<int, double> map;
  map.setDebug(1);
  map.open(folder.file("map"), kNew);
  map.insert(1, 2.5);
  double x = 0;
  map.get(1, x);
  QDPIO::cout.init(nullptr);
  CHECK(x == 2.5);
  CHECK(map.getDebug() == 1);
  if (tests::job_rank() == 0) {
    CHECK(contains(out.str(), "wrote 12 bytes at 57"));
    CHECK(contains(out.str(), "read 12 bytes at 57"));
  }
}
