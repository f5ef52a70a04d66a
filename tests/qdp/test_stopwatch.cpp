// StopWatch, FlopCounter, byte order, CRC-32, QDPIO streams.
#include "qdp/util/stopwatch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <iomanip>
#include <sstream>
#include <string>
#include <thread>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/init/flop_counter.hpp"
#include "qdp/io/stdio.hpp"
#include "qdp/layout/layout.hpp"
#include "qdp/util/byte_order.hpp"
#include "tests/captured_log.hpp"
#include "tests/mpirun.hpp"

using namespace QDP;

namespace {

struct CaptureCout {
  CaptureCout() { QDPIO::cout.init(&text); }
  ~CaptureCout() { QDPIO::cout.init(nullptr); }
  std::ostringstream text;
};

void wait_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

struct HalfOfTheSites {
  int numSiteTable() const { return 8; }
};

}  // namespace

TEST_CASE("StopWatch adds up its intervals until reset") {
  StopWatch watch;
  CHECK(watch.getTimeInSeconds() == 0);
  watch.start();
  wait_ms(5);
  watch.stop();
  const double first = watch.getTimeInSeconds();
  CHECK(first >= 0.005);
  CHECK(watch.getTimeInMicroseconds() == doctest::Approx(1e6 * first));
  wait_ms(5);
  CHECK(watch.getTimeInSeconds() == first);
  watch.start();
  wait_ms(5);
  watch.stop();
  CHECK(watch.getTimeInSeconds() >= first + 0.005);
  watch.reset();
  CHECK(watch.getTimeInSeconds() == 0);
}

TEST_CASE("a watch that is started again, reset while it runs, or copied is like a new one") {
  StopWatch watch;
  watch.start();
  wait_ms(300);
  watch.start();  // the interval begins anew
  watch.stop();
  CHECK(watch.getTimeInSeconds() < 0.3);
  watch.start();
  wait_ms(20);
  const StopWatch before = watch;
  watch.reset();
  CHECK(watch.getTimeInSeconds() == 0);
  {
    const tests::CapturedLog log;
    watch.stop();  // it does not run any more
    CHECK(watch.getTimeInSeconds() == 0);
    CHECK(log.says("StopWatch"));
  }
  StopWatch copy = before;
  copy.stop();
  CHECK(copy.getTimeInSeconds() >= 0.02);
  {
    const tests::CapturedLog log;
    const double time = copy.getTimeInSeconds();
    copy.stop();
    CHECK(copy.getTimeInSeconds() == time);
    CHECK(log.says("StopWatch"));
  }
}

TEST_CASE("stopping a watch that does not run warns and changes nothing") {
  const tests::CapturedLog log;
  StopWatch watch;
  watch.stop();
  CHECK(watch.getTimeInSeconds() == 0);
  CHECK(log.says("StopWatch"));
}

TEST_CASE("FlopCounter counts per site of the process and of a subset") {
  FlopCounter counter;
  CHECK_THROWS_AS(counter.addSiteFlops(10), jit::UserError);  // there is no lattice yet
  multi1d<int> extents(QDP_ND);
  extents = 2;
  extents[0] = 4;
  tests::must_share_out(extents.slice());
  Layout::setLattSize(extents);
  Layout::create();
  const unsigned long long sites = Layout::vol() / static_cast<unsigned>(tests::job_ranks()),
                           expected = 1 + 10 * sites + 100 * 8;
  counter.addFlops(1);
  counter.addSiteFlops(10);
  counter.addSiteFlops(100, HalfOfTheSites());
  CHECK(counter.getFlops() == expected);
  CaptureCout capture;
  counter.report("dslash", 1.0);
  const bool prints = tests::job_rank() == 0;
  CHECK((capture.text.str().find("QDP:FlopCount:dslash") != std::string::npos) == prints);
  CHECK((capture.text.str().find("Flops=" + std::to_string(expected)) != std::string::npos) == prints);
  counter.reset();
  CHECK(counter.getFlops() == 0);
}

TEST_CASE("FlopCounter reports flops and rates in their units") {
  FlopCounter counter;
  counter.addFlops(3'000'000'000ULL);
  counter.addFlops(2'000'000'000ULL);
  CaptureCout capture;
  counter.report("kernel", 2.0);
  // A second time, as a program does in a loop: the same again.
  const std::string once =
      "QDP:FlopCount:kernel Performance/CPU: t=2(s) Flops=5000000000 => 2500 Mflops/cpu.\n"
      "QDP:FlopCount:kernel Total performance:  2500 Mflops = 2.5 Gflops = 0.0025 Tflops\n";
  CHECK(capture.text.str() == once);
  counter.report("kernel", 2.0);
  CHECK(capture.text.str() == once + once);
  counter.reset();
  counter.addFlops(4'000'000);
  CHECK(counter.getFlops() == 4'000'000);
}

TEST_CASE("CRC-32 gives the check value of IEEE 802.3 and may be split anywhere") {
  // Check value of CRC-32/ISO-HDLC for "123456789" (reveng catalogue).
  CHECK(QDPUtil::crc32(0, "123456789", 9) == 0xCBF43926u);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += static_cast<char>(37 * i);
  const auto whole = QDPUtil::crc32(0, text.data(), text.size());
  for (std::size_t split : {0, 1, 7, 8, 500, 999})
    CHECK(QDPUtil::crc32(QDPUtil::crc32(0, text.data(), split), text.data() + split, text.size() - split) == whole);
}

TEST_CASE("byte_swap reverses each element") {
  std::uint32_t words[2] = {0x01020304u, 0x0a0b0c0du};
  QDPUtil::byte_swap(words, 4, 2);
  CHECK(words[0] == 0x04030201u);
  CHECK(words[1] == 0x0d0c0b0au);
  std::uint16_t half = 0x0102;
  QDPUtil::byte_swap(&half, 2, 1);
  CHECK(half == 0x0201);
  std::uint64_t longs[2] = {0x0102030405060708u, 0x1112131415161718u};
  QDPUtil::byte_swap(longs, 8, 2);
  CHECK(longs[0] == 0x0807060504030201u);
  CHECK(longs[1] == 0x1817161514131211u);
  std::uint16_t halves[3] = {0x0102, 0x0304, 0x0506};
  QDPUtil::byte_swap(halves, 2, 2);  // and no further
  CHECK(halves[1] == 0x0403);
  CHECK(halves[2] == 0x0506);
  char single[3] = "ab";
  QDPUtil::byte_swap(single, 1, 2);
  CHECK(std::string(single) == "ab");
  char odd[7] = "abcdef";
  QDPUtil::byte_swap(odd, 3, 2);
  CHECK(std::string(odd) == "cbafed");
}

TEST_CASE("bfwrite stores big-endian and bfread restores") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  const std::uint32_t word = 0x01020304u;
  CHECK(QDPUtil::bfwrite(&word, 4, 1, file) == 1);
  CHECK(word == 0x01020304u);
  std::rewind(file);
  unsigned char bytes[4] = {};
  CHECK(std::fread(bytes, 1, 4, file) == 4);
  for (unsigned char i = 0; i < 4; ++i) CHECK(bytes[i] == i + 1);
  std::rewind(file);
  std::uint32_t back[2] = {};
  CHECK(QDPUtil::bfread(back, 4, 2, file) == 1);
  CHECK(back[0] == word);
  CHECK(back[1] == 0);
  std::fclose(file);
}

TEST_CASE("QDPIO::cout takes values, strings and manipulators") {
  CaptureCout capture;
  QDPIO::cout << "a " << 1 << ' ' << 2.5 << ' ' << std::string("s") << std::setprecision(3) << 1.23456
              << std::scientific << 1.0 << std::endl;
  CHECK(capture.text.str() == (tests::job_rank() == 0 ? "a 1 2.5 s1.231.000e+00\n" : ""));
  CHECK_FALSE(QDPIO::cout.fail());
}

TEST_CASE("QDPIO::cout takes text of every kind, and only a precision changes the digits") {
  CaptureCout capture;
  char array[] = "array ";
  char* const pointer = array;
  const char* const constant = "constant ";
  const std::string text = "string ";
  const double third = 1.0 / 3;
  QDPIO::cout << array << pointer << constant << text << std::setw(20) << third << std::setfill('.') << std::hex << 255
              << std::dec << ' ' << static_cast<float>(third) << ' ' << third << ' ' << true << std::setprecision(3)
              << ' ' << third;
  CHECK(capture.text.str() ==
        (tests::job_rank() == 0
             ? "array array constant string    0.333333333333333ff 0.3333333 0.333333333333333 1 0.333"
             : ""));
}

TEST_CASE("QDPIO::cin reads words, numbers and arrays, a wrong word sets fail") {
  std::istringstream text("word 5 1.5 1 2 3 x");
  QDPIO::cin.init(&text);
  std::string word;
  int n = 0;
  double x = 0;
  multi1d<int> a(3);
  QDPIO::cin >> word >> n >> x >> a;
  CHECK(word == "word");
  CHECK(n == 5);
  CHECK(x == 1.5);
  CHECK(a[2] == 3);
  CHECK_FALSE(QDPIO::cin.fail());
  QDPIO::cin >> n;
  CHECK(QDPIO::cin.fail());
  CHECK(n == 5);
  QDPIO::cin.init(nullptr);
}
