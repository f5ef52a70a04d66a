// Text and binary readers and writers: formats, round trips, checksums, positions, cut and wrong data.
#include "qdp/io/binary.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/io/text.hpp"
#include "qdp/util/primary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "tests/captured_log.hpp"
#include "tests/message_of.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using tests::contains;
using tests::message_of;

namespace {

std::string read_file(const std::string& path) {
  return tests::together([&] { return jit::read_file(path); });
}

template <class T>
std::string bytes_of(const T& x) {
  BinaryBufferWriter bin;
  write(bin, x);
  return bin.str();
}

/// Read twice: the second time what is there already gives way.
template <class T>
T round_trip(const T& x) {
  BinaryBufferReader bin(bytes_of(x));
  T back{};
  for (int times = 0; times < 2; ++times) {
    bin.rewind();
    read(bin, back);
  }
  CHECK(bin.currentPosition() == BinaryReader::pos_type(static_cast<BinaryReader::off_type>(bytes_of(x).size())));
  return back;
}

enum Colour { red, green };

}  // namespace

// A structure of a program, with overloads in its own namespace.
namespace program {

struct Key {
  int t = 0;
  std::string name;
  bool operator==(const Key&) const = default;
};

void write(BinaryWriter& bin, const Key& k) {
  write(bin, k.t);
  writeDesc(bin, k.name);
}

void read(BinaryReader& bin, Key& k) {
  read(bin, k.t);
  readDesc(bin, k.name);
}

}  // namespace program

TEST_CASE("numbers are big-endian, in their own size") {
  CHECK(bytes_of(0x01020304) == std::string("\1\2\3\4"));
  CHECK(bytes_of<short>(0x0102) == std::string("\1\2"));
  CHECK(bytes_of(0x0102030405060708L) == std::string("\1\2\3\4\5\6\7\10"));
  CHECK(bytes_of(1.0) == std::string("\x3f\xf0\0\0\0\0\0\0", 8));
  CHECK(bytes_of(1.0f) == std::string("\x3f\x80\0\0", 4));
  CHECK(bytes_of(true) == "\1");
  CHECK(bytes_of('c') == "c");
  CHECK(bytes_of(green) == bytes_of(1));
  CHECK(bytes_of(std::string("ab")) == "ab\n");
  CHECK(bytes_of("ab") == "ab\n");
  CHECK(bytes_of(std::complex<float>(1, 0)).size() == 8);
}

TEST_CASE("numbers survive a round trip") {
  CHECK(round_trip(-7) == -7);
  CHECK(round_trip(4000000000u) == 4000000000u);
  CHECK(round_trip<short>(-2) == -2);
  CHECK(round_trip<unsigned short>(65535) == 65535);
  CHECK(round_trip(-1L << 40) == -1L << 40);
  CHECK(round_trip(1ul << 63) == 1ul << 63);
  CHECK(round_trip(-5LL) == -5LL);
  CHECK(round_trip(0.1f) == 0.1f);
  CHECK(round_trip(0.1) == 0.1);
  CHECK(round_trip(true));
  CHECK(round_trip('z') == 'z');
  CHECK(round_trip(std::complex<double>(1, -2)) == std::complex<double>(1, -2));
}

TEST_CASE("strings: lines with a maximum, descriptions with a length") {
  BinaryBufferWriter out;
  write(out, std::string("a line"));
  write(out, std::string());
  writeDesc(out, std::string("two\nlines"));
  out << 5 << "end";
  BinaryBufferReader in(out.str());
  std::string s;
  read(in, s, 100);
  CHECK(s == "a line");
  read(in, s, 100);
  CHECK(s.empty());
  readDesc(in, s);
  CHECK(s == "two\nlines");
  int n = 0;
  in >> n;
  CHECK(n == 5);
  CHECK(contains(message_of([&] { read(in, s, 3); }), "fewer than 3 characters"));
  CHECK(in.fail());
}

TEST_CASE("containers carry their sizes") {
  multi1d<int> a(3);
  a[2] = 9;
  CHECK(bytes_of(a).size() == 16);
  CHECK(round_trip(a) == a);
  CHECK(round_trip(multi1d<int>()).size() == 0);
  multi1d<multi1d<double>> rows(2);
  rows[1].resize(2);
  rows[1][1] = 2.5;
  CHECK(round_trip(rows)[1][1] == 2.5);

  multi2d<int> b(2, 3);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i) b(j, i) = 10 * j + i;
  // QDP++: both sizes, slowest first, then the first index fastest.
  CHECK(bytes_of(b).substr(0, 8) == bytes_of(2) + bytes_of(3));
  CHECK(bytes_of(b).substr(8, 12) == bytes_of(0) + bytes_of(10) + bytes_of(1));
  CHECK(round_trip(b)(1, 2) == 12);
  multi3d<int> c(2, 3, 4);
  c(1, 2, 3) = 5;
  c(1, 0, 0) = 6;
  CHECK(bytes_of(c).substr(12, 8) == bytes_of(0) + bytes_of(6));
  CHECK(round_trip(c)(1, 2, 3) == 5);
  multi4d<short> d(2, 1, 2, 3);
  d(1, 0, 1, 2) = 7;
  CHECK(round_trip(d)(1, 0, 1, 2) == 7);
  multi5d<char> e(1, 2, 1, 2, 3);
  e(0, 1, 0, 1, 2) = 'e';
  CHECK(round_trip(e)(0, 1, 0, 1, 2) == 'e');
  multi1d<int> sizes(2);
  sizes[0] = 2, sizes[1] = 3;
  multiNd<int> f(sizes);
  f.getElem(5) = 8;
  CHECK(round_trip(f).getElem(5) == 8);

  CHECK(round_trip(std::vector<int>{1, 2}) == std::vector<int>{1, 2});
  CHECK(round_trip(std::vector<bool>{true, false}) == std::vector<bool>{true, false});
  CHECK(round_trip(std::list<double>{1, 2}) == std::list<double>{1, 2});
  CHECK(round_trip(std::map<int, double>{{1, 2.0}}) == std::map<int, double>{{1, 2.0}});
  CHECK(round_trip(std::pair<int, float>{1, 2.f}) == std::pair<int, float>{1, 2.f});
  CHECK(round_trip(std::vector<program::Key>{{1, "x"}}) == std::vector<program::Key>{{1, "x"}});
  Array1dO<int> g(2);
  g[2] = 4;
  CHECK(round_trip(g)[2] == 4);
}

namespace {

/// The array of these extents whose elements are numbered in the order of memory.
template <class A, class... Extents>
A numbered(Extents... extents) {
  A a(extents...);
  int next = 0;
  for (auto& x : a) x = next++;
  return a;
}

/// The sizes, slowest first, then the elements with the first index fastest.
std::string expected_bytes(const std::vector<int>& extents) {
  std::string text;
  int total = 1;
  for (const int n : extents) {
    text += bytes_of(n);
    total *= n;
  }
  for (int written = 0; written < total; ++written) {
    int place = 0, rest = written;
    std::vector<int> index;
    for (const int n : extents) {
      index.push_back(rest % n);
      rest /= n;
    }
    for (std::size_t k = 0; k < extents.size(); ++k) place = place * extents[k] + index[k];
    text += bytes_of(place);
  }
  return text;
}

template <class A, class... Extents>
void check_order(Extents... extents) {
  const A a = numbered<A>(extents...), again = round_trip(a);
  CHECK(bytes_of(a) == expected_bytes({extents...}));
  CHECK(std::equal(a.begin(), a.end(), again.begin(), again.end()));
}

}  // namespace

TEST_CASE("arrays of every rank are written with the first index fastest, on unequal extents") {
  check_order<multi1d<int>>(5);
  check_order<multi2d<int>>(2, 5);
  check_order<multi3d<int>>(4, 2, 3);
  check_order<multi4d<int>>(2, 5, 3, 4);
  check_order<multi5d<int>>(3, 2, 5, 2, 4);
  multi1d<int> sizes(3);
  sizes[0] = 2, sizes[1] = 4, sizes[2] = 3;
  multiNd<int> any(sizes);
  std::string expected = bytes_of(sizes);
  for (int i = 0; i < any.numElem(); ++i) {
    any.getElem(i) = i;
    expected += bytes_of(i);
  }
  CHECK(bytes_of(any) == expected);
  CHECK(round_trip(any).size() == sizes);
}

TEST_CASE("the forms with a count carry no size") {
  multi1d<int> a(2);
  a[1] = 5;
  BinaryBufferWriter out;
  write(out, a, 2);
  CHECK(out.str().size() == 8);
  BinaryBufferReader in(out.str());
  multi1d<int> b(2);
  read(in, b, 2);
  CHECK(b == a);

  // Fewer elements than there are, and those of an array of rank two with the first index fastest.
  const multi1d<int> many = numbered<multi1d<int>>(4);
  BinaryBufferWriter some;
  write(some, many, 3);
  CHECK(some.str() == bytes_of(0) + bytes_of(1) + bytes_of(2));
  std::string numbers;
  for (int i = 0; i < 6; ++i) numbers += bytes_of(i);
  BinaryBufferReader two(numbers);
  multi2d<int> c(2, 3);
  read(two, c, 2, 3);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i) CHECK(c(j, i) == j + 2 * i);
}

TEST_CASE("reader and writer agree on the checksum, which a changed byte breaks") {
  BinaryBufferWriter out;
  write(out, 123456789);
  write(out, 2.5);
  write(out, std::string("line"));
  const std::string bytes = out.str();
  CHECK(out.getChecksum() == QDPUtil::crc32(0, bytes.data(), bytes.size()));
  const auto checksum_of = [](const std::string& data) {
    BinaryBufferReader in(data);
    int n = 0;
    double x = 0;
    std::string s;
    read(in, n);
    read(in, x);
    read(in, s, 10);
    return in.getChecksum();
  };
  CHECK(checksum_of(bytes) == out.getChecksum());
  std::string wrong = bytes;
  wrong[5] ^= 1;
  CHECK(checksum_of(wrong) != out.getChecksum());
  out.resetChecksum();
  CHECK(out.getChecksum() == 0);
}

TEST_CASE("positions: seek from the start, from here, from the end; the checksum starts again") {
  BinaryBufferWriter out;
  for (int i = 0; i < 4; ++i) write(out, i);
  CHECK(out.currentPosition() == BinaryWriter::pos_type(16));
  BinaryBufferReader in(out.str());
  int n = -1;
  in.seekBegin(8);
  CHECK(in.currentPosition() == BinaryReader::pos_type(8));
  read(in, n);
  CHECK(n == 2);
  in.seekRelative(-8);
  read(in, n);
  CHECK(n == 1);
  in.seekEnd(4);
  read(in, n);
  CHECK(n == 3);
  CHECK(in.getChecksum() != 0);
  in.rewind();
  CHECK(in.getChecksum() == 0);
  read(in, n);
  CHECK(n == 0);
  in.seek(in.currentPosition());
  read(in, n);
  CHECK(n == 1);
  out.seekBegin(4);
  write(out, 10);
  BinaryBufferReader changed(out.str());
  multi1d<int> a(4);
  read(changed, a, 4);
  CHECK(a[1] == 10);
  CHECK(a[3] == 3);
}

TEST_CASE(
    "every seek of a writer goes where that of a reader goes, in memory and in a file, and starts the checksum again") {
  using Position = BinaryWriter::pos_type;
  const auto exercise = [](BinaryWriter& out) {
    const auto put = [&](int position, int n) {
      CHECK(out.currentPosition() == Position(position));
      CHECK(out.getChecksum() == 0);
      write(out, n);
      CHECK(out.currentPosition() == Position(position + 4));
      CHECK(out.getChecksum() != 0);
    };
    put(0, 7);
    for (int n : {7, 7, 7, 7}) write(out, n);
    out.seekEnd(8);
    put(12, 3);
    out.seekRelative(-8);
    put(8, 2);
    out.seekBegin(4);
    put(4, 1);
    out.seekEnd(0);
    put(20, 5);
    out.seek(Position(16));
    put(16, 4);
    out.rewind();
    put(0, 6);
  };
  std::string expected;
  for (int n : {6, 1, 2, 3, 4, 5}) expected += bytes_of(n);
  BinaryBufferWriter buffer;
  exercise(buffer);
  CHECK(buffer.str() == expected);
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("seek.bin");
  BinaryFileWriter file(path);
  exercise(file);
  file.close();
  CHECK(read_file(path) == expected);

  const auto read_back = [](BinaryReader& in) {
    const auto get = [&](int position, int expected) {
      CHECK(in.currentPosition() == Position(position));
      CHECK(in.getChecksum() == 0);
      int n = -1;
      read(in, n);
      CHECK(n == expected);
      CHECK(in.getChecksum() != 0);
    };
    get(0, 6);
    in.seekEnd(8);
    get(16, 4);
    in.seekRelative(-12);
    get(8, 2);
    in.seekBegin(4);
    get(4, 1);
    in.seek(Position(12));
    get(12, 3);
    in.rewind();
    get(0, 6);
  };
  BinaryBufferReader from_buffer(expected);
  read_back(from_buffer);
  BinaryFileReader from_file(path);
  read_back(from_file);
  from_file.close();
}

TEST_CASE("cut data throw with the position, and a later seek works again") {
  BinaryBufferReader in(bytes_of(5) + std::string("\1\2"));
  int n = 0;
  read(in, n);
  const std::string e = message_of([&] { read(in, n); });
  CHECK(contains(e, "expected 4 bytes, got 2 up to the end at byte 6"));
  CHECK(in.fail());
  CHECK(n == 5);
  in.rewind();
  CHECK_FALSE(in.fail());
  read(in, n);
  CHECK(n == 5);
}

TEST_CASE("a size that cannot be is found before memory is asked for it") {
  multi1d<double> a;
  std::string s;
  {
    BinaryBufferReader in(bytes_of(-1));
    CHECK(contains(message_of([&] { read(in, a); }), "got -1"));
  }
  {
    BinaryBufferReader in(bytes_of(2000000000));
    CHECK(contains(message_of([&] { read(in, a); }), "2000000000 more bytes"));
  }
  {
    BinaryBufferReader in(bytes_of(-5));
    CHECK(contains(message_of([&] { readDesc(in, s); }), "got -5"));
  }
  {
    BinaryBufferReader in(bytes_of(2000000000));
    CHECK(contains(message_of([&] { readDesc(in, s); }), "more bytes"));
  }
  {
    BinaryBufferReader in(bytes_of(100000) + bytes_of(100000));
    multi2d<int> b;
    CHECK(contains(message_of([&] { read(in, b); }), "number of elements"));
  }
}

TEST_CASE("binary files: written, read, closed, missing") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("file.bin");
  multi1d<double> a(1000);
  for (int i = 0; i < 1000; ++i) a[i] = 0.5 * i;
  BinaryFileWriter out(path);
  CHECK(out.is_open());
  write(out, a);
  const auto checksum = out.getChecksum();
  out.close();
  CHECK_FALSE(out.is_open());
  CHECK(contains(message_of([&] { write(out, 1); }), "open first"));
  CHECK(std::filesystem::file_size(path) == 8004);

  BinaryFileReader in(path);
  multi1d<double> b;
  read(in, b);
  CHECK(b == a);
  CHECK(in.getChecksum() == checksum);
  double x = 0;
  CHECK(contains(message_of([&] { read(in, x); }), path));
  in.close();
  CHECK(contains(message_of([&] { read(in, x); }), "open first"));
  tests::once([&] { std::filesystem::resize_file(path, 4000); });
  in.open(path);
  CHECK(contains(message_of([&] { read(in, b); }), "cut short"));
  in.close();
  tests::once([&] { std::filesystem::remove(path); });
  CHECK(contains(message_of([&] { BinaryFileReader none(path); }), path));
  CHECK(contains(message_of([] { BinaryFileWriter none("/no/such/folder/x"); }), "/no/such/folder/x"));
}

TEST_CASE("a full disk is an error at the latest when the file is closed") {
  if (!std::filesystem::exists("/dev/full")) return;
  BinaryFileWriter out("/dev/full");
  write(out, 1);
  CHECK(contains(message_of([&] { out.close(); }), "not complete"));
  TextFileWriter text("/dev/full");
  text << "words";
  CHECK(contains(message_of([&] { text.close(); }), "not complete"));
}

TEST_CASE("a file that is given up while it is open is told of if its data are not all there, and only then") {
  if (!std::filesystem::exists("/dev/full")) return;
  const tests::TemporaryFolder folder;
  const auto told = [](const auto& leave_open) {
    const tests::CapturedLog log;
    leave_open();
    return io::anywhere(log.says("is not complete"));
  };
  CHECK(told([] {
    BinaryFileWriter out("/dev/full");
    write(out, 1);
  }));
  CHECK(told([] {
    TextFileWriter out("/dev/full");
    out << "words";
  }));
  const std::string path = folder.file("both.bin");
  const auto ask_too_much = [](auto& file) {
    int n = 0;
    CHECK(contains(message_of([&] { read(file, n); }), "cut short"));
  };
  CHECK_FALSE(told([&] {
    BinaryFileReaderWriter both(path, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
    write(both, 1);
    ask_too_much(both);
  }));
  CHECK_FALSE(told([&] {
    BinaryFileReader in(path);
    in.seekEnd(0);
    ask_too_much(in);
  }));
}

TEST_CASE("arrays: readArray swaps, the little-endian form does not") {
  const std::uint32_t words[2] = {0x01020304u, 0x05060708u};
  BinaryBufferWriter out;
  out.writeArray(reinterpret_cast<const char*>(words), 4, 2);
  CHECK(words[0] == 0x01020304u);
  CHECK(out.str() == std::string("\1\2\3\4\5\6\7\10"));
  BinaryBufferReader in(out.str());
  std::uint32_t back[2];
  in.readArray(reinterpret_cast<char*>(back), 4, 2);
  CHECK(back[1] == words[1]);
  in.rewind();
  in.readArrayLittleEndian(reinterpret_cast<char*>(back), 4, 2);
  CHECK(back[0] == 0x04030201u);
  CHECK(in.getChecksum() == 0);
  std::vector<double> large(20001, 1.0);  // more than one block
  large[20000] = 2.0;
  CHECK(round_trip(large) == large);
}

TEST_CASE("buffers open with content, clear, and the local one is local") {
  BinaryBufferWriter out(bytes_of(1));
  write(out, 2);
  CHECK(out.str() == bytes_of(1) + bytes_of(2));
  const std::string everywhere = out.str();
  CHECK(out.strPrimaryNode() == (tests::job_rank() == 0 ? everywhere : ""));
  CHECK_FALSE(out.isLocal());
  out.clear();
  CHECK(out.str().empty());
  LocalBinaryBufferWriter local(bytes_of(1));
  write(local, 2);
  CHECK(local.isLocal());
  CHECK(local.str() == bytes_of(1) + bytes_of(2));
}

TEST_CASE("a reader-writer has one position for both, in memory and in a file") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("both.bin");
  const auto exercise = [](BinaryReaderWriter& both) {
    write(both, 1);
    write(both, 2);
    write(both, 3);
    both.rewind();
    int n = 0;
    read(both, n);
    CHECK(n == 1);
    CHECK(both.currentPosition() == BinaryReaderWriter::pos_type(4));
    write(both, 20);  // over the 2
    read(both, n);
    CHECK(n == 3);
    both.seekEnd(8);
    read(both, n);
    CHECK(n == 20);
    CHECK(both.getChecksum() != 0);
    CHECK_FALSE(both.fail());
  };
  BinaryBufferReaderWriter buffer;
  exercise(buffer);
  CHECK(buffer.str() == bytes_of(1) + bytes_of(20) + bytes_of(3));
  BinaryFileReaderWriter file(path, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
  exercise(file);
  file.close();
  CHECK(read_file(path) == bytes_of(1) + bytes_of(20) + bytes_of(3));
  tests::once([&] { std::filesystem::remove(path); });
  CHECK(contains(message_of([&] { file.open(path); }), "trunc"));
}

TEST_CASE("text: words and numbers, separated by what the program writes") {
  TextBufferWriter out;
  out << "n " << 5 << ' ' << 2.5 << ' ' << true << "\n" << std::string("word") << ' ' << 0.1f << ' ' << -3L;
  CHECK(out.str() == "n 5 2.5 1\nword 0.1 -3");
  TextBufferReader in(out.str());
  std::string s;
  int n = 0;
  double x = 0;
  bool b = false;
  float f = 0;
  long l = 0;
  in >> s >> n >> x >> b;
  CHECK(s == "n");
  CHECK(n == 5);
  CHECK(x == 2.5);
  CHECK(b);
  in >> s >> f >> l;
  CHECK(s == "word");
  CHECK(f == 0.1f);
  CHECK(l == -3);
  CHECK_FALSE(in.fail());
  in >> n;
  CHECK(in.fail());
  CHECK(n == 5);
}

TEST_CASE("text: programs read to the end by asking fail()") {
  for (const char* const table : {"1 2\n3 4\n5 6\n", "1 2\n3 4\n5 6", "1 2\n3 4 5 6 x y"}) {
    CAPTURE(table);
    TextBufferReader in(table);
    int rows = 0, total = 0;
    while (true) {
      int a = 0, b = 0;
      in >> a >> b;
      if (in.fail()) break;
      ++rows;
      total += a * b;
    }
    CHECK(rows == 3);
    CHECK(total == 44);
    int more = -1;
    in >> more;
    CHECK(more == -1);
  }
}

namespace {
struct Constants {
  static const int n = 3;  // declared, nowhere defined
  static const bool flag = true;
  unsigned int bits : 3;
};
enum Action { wilson = 1, clover = 4 };
}  // namespace

TEST_CASE("streams take built-in numbers by value, enumerations and small integers as int") {
  std::ostringstream printed;
  QDPIO::cout.init(&printed);
  Constants c{};
  c.bits = 5;
  QDPIO::cout << Constants::n << Constants::flag << c.bits << clover << (unsigned char)65 << (signed char)66 << 'C';
  QDPIO::cout.init(nullptr);
  if (tests::job_rank() == 0) CHECK(printed.str() == "31546566C");
  TextBufferWriter text;
  text << Constants::n << Constants::flag << clover << (unsigned char)65 << 'C';
  CHECK(text.str() == "31465C");
  BinaryBufferWriter bin;
  write(bin, Constants::n);
  write(bin, clover);
  CHECK(bin.str() == bytes_of(3) + bytes_of(4));
}

TEST_CASE("text: who does not ask fail() is told by close() where the first wrong word is") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("numbers.txt");
  tests::Written(path) << "1 2 three four";
  TextFileReader in(path);
  multi1d<int> a(3);
  double x = 0;
  in >> a >> x;
  CHECK(a[1] == 2);
  const std::string message = message_of([&] { in.close(); });
  CHECK(contains(message, "expected a number, got \"three\""));
  CHECK(contains(message, path));
  CHECK_FALSE(in.is_open());
  CHECK(message_of([&] { in.close(); }) == "no error");
  in.open(path);
  CHECK_FALSE(in.fail());
  in >> x;
  CHECK(x == 1);
  in >> a;
  CHECK(in.fail());
  CHECK(message_of([&] { in.close(); }) == "no error");
}

TEST_CASE("text: a wrong word is named whole, also where its begin is that of a number, and at the end") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("words.txt");
  const auto message = [&](const std::string& text, auto x) {
    tests::Written(path) << text;
    TextFileReader in(path);
    int first = 0;
    in >> first >> x;
    CHECK(first == 1);
    return message_of([&] { in.close(); });
  };
  const std::string wanted = "expected a number, got ";
  for (const std::string end : {"", " ", " 2"}) {
    CAPTURE(end);
    CHECK(contains(message("1 99999999999" + end, 0), wanted + "\"99999999999\""));
    CHECK(contains(message("1 1e" + end, 0.0), wanted + "\"1e\""));
    CHECK(contains(message("1 -" + end, 0.0), wanted + "\"-\""));
    CHECK(contains(message("1\n+x" + end, 0), wanted + "\"+x\""));
  }
  for (const char* end : {"1", "1 ", "1\n\n"}) CHECK(contains(message(end, 0.0), wanted + "the end"));
  CHECK(contains(message("1 ", std::string()), "expected more text, got the end"));
}

TEST_CASE("text files: written, read, closed, missing") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.file("file.txt");
  TextFileWriter out(path);
  out << 1 << " " << 2 << "\n";
  out.flush();
  CHECK(read_file(path) == "1 2\n");
  out.close();
  CHECK(contains(message_of([&] { out << 1; }), "open first"));
  TextFileReader in(path);
  int a = 0, b = 0;
  in >> a >> b;
  CHECK(b == 2);
  in >> a;
  const std::string message = message_of([&] { in.close(); });
  CHECK(contains(message, "got the end"));
  CHECK(contains(message, path));
  CHECK_FALSE(in.is_open());
  tests::once([&] { std::filesystem::remove(path); });
  CHECK(contains(message_of([&] { in.open(path); }), path));
}

TEST_CASE("a reader or writer that is opened again is like a new one, whatever it did before and however it ended") {
  const tests::TemporaryFolder folder;
  const std::string first = folder.file("again_first"), second = folder.file("again_second");
  const std::string a = bytes_of(1) + bytes_of(2) + bytes_of(3), b = bytes_of(40) + bytes_of(50);
  const auto put = [](const std::string& path, const std::string& bytes) {
    tests::Written(path, std::ios_base::binary) << bytes;
  };
  /// What a reader of b finds: position, numbers, checksum, state.
  const auto read_b = [&](BinaryReader& in) {
    CHECK_FALSE(in.fail());
    CHECK(in.getChecksum() == 0);
    CHECK(in.currentPosition() == BinaryReader::pos_type(0));
    int n = 0, m = 0;
    read(in, n);
    read(in, m);
    CHECK(n == 40);
    CHECK(m == 50);
    CHECK(in.getChecksum() == QDPUtil::crc32(0, b.data(), b.size()));
  };
  const auto write_b = [&](BinaryWriter& out) {
    CHECK_FALSE(out.fail());
    CHECK(out.getChecksum() == 0);
    CHECK(out.currentPosition() == BinaryWriter::pos_type(0));
    write(out, 40);
    write(out, 50);
    CHECK(out.getChecksum() == QDPUtil::crc32(0, b.data(), b.size()));
  };
  for (const bool past_the_end : {false, true}) {
    CAPTURE(past_the_end);
    const auto use = [&](BinaryReader& in) {
      int n = 0;
      for (int i = 0; i < 3; ++i) read(in, n);
      if (past_the_end) CHECK(contains(message_of([&] { read(in, n); }), "expected 4 bytes"));
    };
    put(first, a);
    put(second, b);
    BinaryBufferReader buffer(a);
    use(buffer);
    buffer.open(b);
    read_b(buffer);
    BinaryFileReader file(first);
    use(file);
    file.open(second);
    read_b(file);
    file.close();
    file.open(second);
    read_b(file);

    BinaryBufferReaderWriter both(a);
    use(both);
    both.open(b);
    read_b(both);
    BinaryFileReaderWriter both_file(first);
    use(both_file);
    both_file.open(second);
    read_b(both_file);
    write(both_file, 6);
    both_file.open(first, std::ios_base::in | std::ios_base::out | std::ios_base::trunc);
    write_b(both_file);
    both_file.rewind();
    read_b(both_file);
  }

  BinaryBufferWriter out;
  write(out, 7);
  out.open({});
  write_b(out);
  CHECK(out.str() == b);
  BinaryFileWriter out_file(first);
  write(out_file, 7);
  out_file.open(second);
  write_b(out_file);
  out_file.close();
  CHECK(read_file(first) == bytes_of(7));
  CHECK(read_file(second) == b);

  TextBufferReader words("1 word");
  int n = 0;
  words.read(n);
  words.read(n);
  CHECK(words.fail());
  words.open("5");
  CHECK_FALSE(words.fail());
  words.read(n);
  CHECK(n == 5);
  put(first, "1 word");
  put(second, "6");
  TextFileReader word_file(first);
  word_file.read(n);
  word_file.read(n);
  CHECK(word_file.fail());
  word_file.open(second);
  CHECK_FALSE(word_file.fail());
  word_file.read(n);
  CHECK(n == 6);
  word_file.open(first);
  word_file.read(n);
  word_file.read(n);
  word_file.open(second);  // the wrong word of the file before is told in the log
  word_file.read(n);
  CHECK(message_of([&] { word_file.close(); }) == "no error");
  TextBufferWriter text("before");
  text << 1;
  text.open("after");
  text << 2;
  CHECK(text.str() == "after2");
}
