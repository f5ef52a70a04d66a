// What the language does over ranks besides sums over the lattice: input and output by one of them, QDPInternal, the end.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jit/support/bytes.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp.h"
#include "qdp/expr/exchange.hpp"
#include "tests/grid_of_ranks.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/ranks.hpp"
#include "tests/sizes.hpp"
#include "tests/temporary_folder.hpp"

using namespace QDP;
using jit::Communicator;
using tests::on_ranks;
using tests::texts_on_ranks;

namespace {

/// The family and the text of what action throws.
template <class Action>
std::string thrown_by(Action action) {
  try {
    action();
  } catch (const jit::UserError& error) {
    return std::string("UserError: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("other: ") + error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("Layout tells how many ranks there are, and which one this is") {
  const auto told = on_ranks<int>(3, [](Communicator&) {
    return std::vector<int>{Layout::numNodes(), Layout::nodeNumber(), Layout::primaryNode(), io::is_primary()};
  });
  for (int r = 0; r < 3; ++r) CHECK(told[static_cast<std::size_t>(r)] == std::vector<int>{3, r, r == 0, r == 0});
}

TEST_CASE("a lattice that ranks cannot share out is refused on every one, with the grid and the lattice") {
  const auto told = texts_on_ranks(3, [](Communicator&) {
    multi1d<int> nrow(Nd), grid(Nd);
    nrow = 4;
    Layout::setLattSize(nrow);
    std::string text = thrown_by([] { Layout::create(); }) + "\n";
    grid = 1;
    text += thrown_by([&] { Layout::setLogicalSize(grid); }) + "\n";
    grid[0] = 3;
    Layout::setLogicalSize(grid);
    text += thrown_by([] { Layout::create(); }) + "\n";
    text += thrown_by([] { Layout::setNumProc(2); }) + "\n";
    Layout::setNumProc(3);
    return text;
  });
  for (const std::string& text : told) {
    std::istringstream lines(text);
    std::string line;
    const auto next_has = [&](const std::vector<std::string>& parts) {
      std::getline(lines, line);
      CAPTURE(line);
      for (const std::string& part : parts) CHECK(line.find(part) != std::string::npos);
    };
    next_has({"UserError: Layout::create", "share out the lattice (4", "got 3"});
    next_has({"UserError: Layout::setLogicalSize", "that of the job, 3", "got (1"});
    next_has({"UserError: Layout::create", "divides the lattice (4", "got (3"});
    next_has({"UserError: Layout::setNumProc", "3", "got 2"});
  }
}

TEST_CASE("what statements send is counted: messages, their bytes, and the sites of both kinds") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("the numbers of sites");
  const auto told = on_ranks<std::int64_t>(2, [](Communicator&) {
    tests::share_out(tests::Extents{1, 1, 1, 2});
    tests::create_lattice({4, 4, 4, 8});
    LatticeRealD x, y;
    random(x);
    setenv("TESSERA_KEEP_HALOS", "0", 1);  // what it needs, not what has changed
    jit::reload_env();
    const detail::ExchangeTimes before = detail::exchange_times();
    for (int i = 0; i < 3; ++i) y = x + shift(x, FORWARD, 3);
    const detail::ExchangeTimes after = detail::exchange_times();
    return std::vector<std::int64_t>{after.statements - before.statements, after.messages - before.messages,
                                     after.bytes - before.bytes, after.inner_sites - before.inner_sites,
                                     after.face_sites - before.face_sites};
  });
  for (const auto& counts : told) {
    CHECK(counts[0] == 3);
    CHECK(counts[1] == 3);
    CHECK(counts[2] == 3 * 64 * 8);
    CHECK(counts[3] + counts[4] == 3 * 256);
    CHECK(counts[4] >= 3 * 64);
  }
}

TEST_CASE(
    "notes for what the other rank has are counted with the bytes that they spare; the end tells all counts and times") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("the numbers of sites");
  const auto told = texts_on_ranks(2, [](Communicator&) {
    tests::share_out(tests::Extents{1, 1, 1, 2});
    tests::create_lattice({4, 4, 4, 8});
    LatticeRealD x, y;
    random(x);
    StopWatch watch;
    watch.start();
    for (int i = 0; i < 4; ++i) y = x + shift(x, FORWARD, 3);  // in the last of them nothing is new any more
    const double anything = toDouble(sum(y));
    const detail::ExchangeTimes before = detail::exchange_times();
    for (int i = 0; i < 3; ++i) y = x + shift(x, FORWARD, 3);
    if (toDouble(sum(y)) != anything) return std::string("another value");
    const detail::ExchangeTimes after = detail::exchange_times();
    watch.stop();

    static std::string line;
    setenv("TESSERA_LOG", "info,comm", 1);
    jit::reload_env();
    jit::set_log_sink([](std::string_view text) { line = text; });
    detail::log_exchange_times();
    jit::set_log_sink(nullptr);
    std::ostringstream expected;
    expected.precision(6);
    expected << after.statements << " statements with " << after.messages << " messages, "
             << jit::format_bytes(static_cast<std::size_t>(after.bytes)) << " sent; " << after.notes
             << " of them notes for " << jit::format_bytes(static_cast<std::size_t>(after.bytes_kept))
             << " that the others had; pack ";
    std::istringstream times(line.substr(std::min(line.find("pack ") + 5, line.size())));
    std::string word;
    double pack = 0, inner = 0, wait = 0, faces = 0;
    times >> pack >> word >> word >> word >> inner >> word >> word >> wait >> word >> word >> faces;
    // The rate of the clock is measured anew now and then.
    const auto close = [](double a, double b) { return std::abs(a - b) < 0.01 * b; };
    std::ostringstream text;
    text << after.notes - before.notes << ' ' << after.bytes - before.bytes << ' '
         << after.bytes_kept - before.bytes_kept << ' ' << (before.notes < before.messages) << ' '
         << (line.find(expected.str()) != std::string::npos) << ' '
         << (close(pack, after.pack) && close(inner, after.inner) && close(wait, after.wait) &&
             close(faces, after.faces))
         << ' ' << (after.pack > before.pack && after.inner > before.inner && after.faces > before.faces) << ' '
         << (after.pack + after.inner + after.wait + after.faces < 1.01 * watch.getTimeInSeconds());
    return text.str();
  });
  for (const std::string& text : told) CHECK(text == "3 96 1536 1 1 1 1 1");
}

TEST_CASE("the grid of ranks that a lattice chooses has the smallest surface, and cuts later directions") {
  TESSERA_NEEDS_FOUR_DIMENSIONS("the grids");
  const auto chosen = [](int ranks, const multi1d<int>& nrow) {
    const auto all = on_ranks<int>(ranks, [&](Communicator&) {
      Layout::setLattSize(nrow);
      Layout::create();
      const multi1d<int>& grid = Layout::logicalSize();
      return std::vector<int>(grid.slice(), grid.slice() + grid.size());
    });
    for (const auto& one : all) CHECK(one == all[0]);
    return all[0];
  };
  multi1d<int> nrow(Nd);
  nrow = 4;
  CHECK(chosen(2, nrow) == std::vector<int>{1, 1, 1, 2});
  CHECK(chosen(4, nrow) == std::vector<int>{1, 1, 1, 4});  // as much surface as 1 1 2 2
  nrow[1] = 12;
  CHECK(chosen(12, nrow) == std::vector<int>{1, 6, 1, 2});
  nrow[1] = 4;
  nrow[Nd - 1] = 16;
  CHECK(chosen(4, nrow) == std::vector<int>{1, 1, 1, 4});
  nrow[0] = 3;
  CHECK(chosen(3, nrow) == std::vector<int>{3, 1, 1, 1});
  CHECK(chosen(6, nrow) == std::vector<int>{3, 1, 1, 2});
}

TEST_CASE("on_primary: one rank acts, and what it throws is thrown on every rank") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    int acted = 0;
    std::string said = thrown_by([&] { io::on_primary([&] { ++acted; }); });
    said += "; " + thrown_by([&] { io::on_primary([] { throw std::runtime_error("no such file"); }); });
    said += "; " + thrown_by([&] { io::on_primary([] { throw std::runtime_error(""); }); });
    said += "; " + thrown_by([&] { io::throw_everywhere(ranks.rank() == 0 ? "wrong" : "not asked"); });
    said += "; " + thrown_by([&] { io::throw_everywhere(ranks.rank() == 0 ? "" : "not asked"); });
    return said + "; acted " + std::to_string(acted);
  });
  for (std::size_t r = 0; r < 3; ++r)
    CHECK(told[r] ==
          "nothing; UserError: no such file; UserError: an error without a text on the primary rank; "
          "UserError: wrong; nothing; acted " +
              std::to_string(r == 0));
  // Alone the exception is what it was.
  CHECK(thrown_by([] { io::on_primary([] { throw std::runtime_error("no such file"); }); }) == "other: no such file");
}

TEST_CASE("files are read and written by the primary, and all ranks get what is in them or the error") {
  const tests::TemporaryFolder folder;
  std::ofstream(folder.file("in.xml")) << "<a><b>17</b></a>";
  std::ofstream(folder.file("broken.xml")) << "<a><b>17</a>";
  const auto told = texts_on_ranks(3, [&](Communicator& ranks) {
    // None of the names below is a file where the others are.
    const std::filesystem::path here = folder.file("");
    std::filesystem::current_path(ranks.rank() == 0 ? here : here.root_path());
    std::string said;
    {
      BinaryFileWriter writer("written");
      const int mine = 5 + ranks.rank();
      write(writer, mine);  // the primary's
      writer.close();
    }
    {
      BinaryFileReader reader("written");
      int x = -1;
      read(reader, x);
      said += std::to_string(x);
    }
    XMLReader reader("in.xml");
    int b = 0;
    read(reader, "/a/b", b);
    said += " " + std::to_string(b) + " " + read_whole_file("in.xml");
    for (const char* const path : {"missing", "broken.xml"}) said += "\n" + thrown_by([&] { XMLReader bad(path); });
    said += "\n" + thrown_by([&] { TextFileReader bad("missing"); });
    return said;
  });
  for (const std::string& said : told) CHECK(said == told[0]);
  CHECK(told[0].starts_with("5 17 <a><b>17</b></a>\nUserError: "));
  CHECK(told[0].find("missing") != std::string::npos);
  CHECK(told[0].find("broken.xml") != std::string::npos);
}

TEST_CASE("readers and writers of all kinds: all ranks see the primary's values, positions, checksums and texts") {
  const tests::TemporaryFolder folder;
  const auto told = texts_on_ranks(3, [&](Communicator& ranks) {
    const std::filesystem::path here = folder.file("");
    std::filesystem::current_path(ranks.rank() == 0 ? here : here.root_path());
    const int mine = 5 + ranks.rank();
    std::ostringstream said;
    {
      TextFileWriter writer("text");
      writer << "word " << mine << "\n";
      said << writer.fail() << writer.is_open() << ' ';
    }
    {
      TextFileReader reader("text");
      std::string word;
      int n = 0;
      reader >> word >> n;
      said << word << n << reader.fail() << ' ';
      reader >> n;
      said << thrown_by([&] { reader.close(); }) << ' ';
    }
    TextBufferWriter buffer;
    buffer << mine << " x";
    TextBufferReader again(buffer.str());
    int n = 0;
    again >> n;
    said << n << ' ';
    {
      XMLFileWriter writer("out.xml");
      push(writer, "a");
      write(writer, "b", mine);
      pop(writer);
    }
    XMLReader xml("out.xml");
    read(xml, "/a/b", n);
    said << n << ' ';
    {
      BinaryFileWriter writer("binary");
      for (int i = 0; i < 4; ++i) write(writer, mine + i);
      said << writer.currentPosition() << ' ' << writer.getChecksum() << ' ';
    }
    {
      BinaryFileReader reader("binary");
      reader.seek(8);
      read(reader, n);
      said << n << ' ' << reader.currentPosition() << ' ' << reader.getChecksum() << ' ' << reader.fail() << ' ';
      said << thrown_by([&] {
        for (int i = 0; i < 2; ++i) read(reader, n);
      });
    }
    BinaryBufferWriter bytes;
    write(bytes, mine);
    BinaryBufferReader from_bytes(bytes.str());
    read(from_bytes, n);
    said << ' ' << n << ' ' << why_unreadable("text") << why_unreadable("nothing").empty() << ' '
         << (free_disk_space("more") > 0);
    return said.str();
  });
  for (const std::string& said : told) CHECK(said == told[0]);
  CAPTURE(told[0]);
  CHECK(told[0].starts_with("01 word50 UserError: "));
  CHECK(told[0].find(" 5 5 16 ") < told[0].find(" 7 12 "));
  CHECK(told[0].ends_with(" 5 0 1"));
}

TEST_CASE("QDPIO::cout is the primary's; QDPIO::cin tells all ranks what the primary reads") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    std::ostringstream out;
    QDPIO::cout.init(&out);
    QDPIO::cout << "a " << 1 << std::endl;
    std::istringstream in(ranks.rank() == 0 ? "word 5 x" : "not 6 asked");
    QDPIO::cin.init(&in);
    std::string word;
    int n = 0, wrong = 3;
    QDPIO::cin >> word >> n;
    const bool good = !QDPIO::cin.fail();
    QDPIO::cin >> wrong;
    return out.str() + word + " " + std::to_string(n) + " " + std::to_string(wrong) + (good ? " good" : " failed") +
           (QDPIO::cin.fail() ? " failed" : " good");
  });
  CHECK(told[0] == "a 1\nword 5 3 good failed");
  CHECK(told[1] == "word 5 3 good failed");
  CHECK(told[2] == told[1]);
}

TEST_CASE("FlopCounter's total is that of all ranks") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    std::ostringstream out;
    QDPIO::cout.init(&out);
    FlopCounter counter;
    counter.addFlops(1000000u * static_cast<unsigned>(1 + ranks.rank()));
    counter.report("dslash", 1.0);
    return out.str();
  });
  CHECK(told[0].find("Total performance:  6 Mflops") != std::string::npos);
}

namespace {

/// Sum, largest and smallest of the last two numbers of a type and of the first, which comes behind them.
template <class T>
void add_ends(std::vector<double>& got, int rank) {
  const auto top = static_cast<unsigned long>(std::numeric_limits<T>::max());
  const T mine = static_cast<T>(top - 1 + static_cast<unsigned long>(rank));
  T sum = mine, most = mine, least = mine;
  QDPInternal::globalSum(sum), QDPInternal::globalMax(most), QDPInternal::globalMin(least);
  got.insert(got.end(), {double(sum), double(most), double(least)});
}
template <class T>
void expect_ends(std::vector<double>& expected) {
  const auto top = static_cast<unsigned long>(std::numeric_limits<T>::max());
  expected.insert(expected.end(), {double(static_cast<T>(3 * top)), double(std::numeric_limits<T>::max()),
                                   double(std::numeric_limits<T>::min())});
}

}  // namespace

TEST_CASE("QDPInternal: integers of every size, with a sign or without") {
  const auto told = on_ranks<double>(3, [](Communicator& ranks) {
    std::vector<double> got;
    const int r = ranks.rank();
    add_ends<signed char>(got, r), add_ends<unsigned char>(got, r), add_ends<char>(got, r), add_ends<short>(got, r);
    add_ends<unsigned short>(got, r), add_ends<int>(got, r), add_ends<unsigned>(got, r), add_ends<long>(got, r);
    add_ends<unsigned long>(got, r), add_ends<long long>(got, r), add_ends<unsigned long long>(got, r);
    return got;
  });
  std::vector<double> expected;
  expect_ends<signed char>(expected), expect_ends<unsigned char>(expected), expect_ends<char>(expected);
  expect_ends<short>(expected), expect_ends<unsigned short>(expected), expect_ends<int>(expected);
  expect_ends<unsigned>(expected), expect_ends<long>(expected), expect_ends<unsigned long>(expected);
  expect_ends<long long>(expected), expect_ends<unsigned long long>(expected);
  for (const auto& of_rank : told) CHECK(of_rank == expected);
}

TEST_CASE("QDPInternal: sums, largest, smallest and truth values of every type, word by word") {
  const auto told = on_ranks<double>(3, [](Communicator& ranks) {
    const int r = ranks.rank();
    using namespace QDPInternal;
    std::vector<double> got;
    int i = r;
    unsigned u = 1u << r;
    long l = 1L << (40 + r);
    float f = 0.5f * static_cast<float>(r);
    double d = 0.25 * r;
    globalSum(i), globalSum(u), globalSum(l), globalSum(f), globalSum(d);
    got.insert(got.end(), {double(i), double(u), double(l), double(f), d});
    ComplexD c = cmplx(RealD(r), RealD(10 * r));
    ColorMatrixF m = 1.0;
    multi1d<Complex> a(2);
    a[0] = cmplx(Real(1), Real(r)), a[1] = cmplx(Real(r), Real(1));
    multi2d<int> b(2, 2);
    b(0, 0) = 1, b(0, 1) = r, b(1, 0) = 10 * r, b(1, 1) = 100;
    globalSum(c), globalSum(m), globalSumArray(a), globalSumArray(b);
    got.insert(got.end(), {toDouble(real(c)), toDouble(imag(c)), toDouble(real(trace(m))), toDouble(imag(trace(m)))});
    got.insert(got.end(), {toDouble(real(a[0])), toDouble(imag(a[0])), toDouble(real(a[1])), toDouble(imag(a[1]))});
    got.insert(got.end(), {double(b(0, 0)), double(b(0, 1)), double(b(1, 0)), double(b(1, 1))});
    multi1d<int> none;
    globalSumArray(none);
    Double most = r * (2 - r), least = -most;  // 0 1 0
    double highest = -r, lowest = -r;
    globalMax(most), globalMin(least), globalMaxValue(&highest), globalMinValue(&lowest);
    got.insert(got.end(), {toDouble(most), toDouble(least), highest, lowest});
    bool all = r != 1, any = r == 1, yes = true, no = false;
    globalAnd(all), globalOr(any), globalAnd(yes), globalOr(no);
    got.insert(got.end(), {double(all), double(any), double(yes), double(no)});
    return got;
  });
  const std::vector<double> expected = {3,   7,    7.0 * (1L << 40),
                                        1.5, 0.75,  //
                                        3,   30,   3.0 * Nc,
                                        0,  //
                                        3,   3,    3,
                                        3,   3,    3,
                                        30,  300,  //
                                        1,   -1,   0,
                                        -2,  0,    1,
                                        1,   0};
  for (const auto& got : told) CHECK(got == expected);
  unsigned x = 3, y = 4;
  QDPInternal::sumAnUnsigned(&x, &y);
  CHECK(x == 7);
  bool p = true, q = false;
  QDPInternal::globalCheckOr(&q, &p);
  CHECK(q);
  q = false;
  QDPInternal::globalCheckAnd(&p, &q);
  CHECK_FALSE(p);
}

TEST_CASE("QDPInternal: the primary's value for all, and buffers from rank to rank") {
  const auto told = texts_on_ranks(4, [](Communicator& ranks) {
    const int r = ranks.rank();
    using namespace QDPInternal;
    std::string text = "text of " + std::to_string(r), other = text;
    Double x = 1.5 + r;
    int array[3] = {r, r + 1, r + 2}, buffer = 10 * r, routed = r, sent = 100 + r;
    broadcast(text), broadcast_str(other), broadcast(x), broadcast(static_cast<void*>(array), sizeof array);
    if (r == 1) sendToWait(&buffer, 3, sizeof buffer);
    if (r == 3) recvFromWait(&buffer, 1, sizeof buffer);
    route(&routed, 2, 1, sizeof routed);
    route(&routed, 3, 3, sizeof routed);
    sendToPrimaryNode(sent, 3);
    clearToSend(&sent, sizeof sent, 2);
    std::ostringstream said;
    said << text << ", " << other << ", " << toDouble(x) << ", " << array[0] << array[1] << array[2] << ", " << buffer
         << ", " << routed << ", " << sent << ", " << gridArch();
    return said.str();
  });
  const std::string same = "text of 0, text of 0, 1.5, 012, ";
  CHECK(told[0] == same + "0, 0, 103, 0");
  CHECK(told[1] == same + "10, 2, 101, 0");
  CHECK(told[2] == same + "20, 2, 103, 0");
  CHECK(told[3] == same + "10, 3, 103, 0");
}

TEST_CASE("QDPInternal on one rank leaves values as they are, and refuses partners that are not there") {
  double x = 1.5;
  QDPInternal::globalSum(x);
  QDPInternal::broadcast(x);
  QDPInternal::route(&x, 0, 0, sizeof x);
  QDPInternal::sendToPrimaryNode(x, 0);
  CHECK(x == 1.5);
  CHECK_THROWS_WITH_AS(QDPInternal::sendToWait(&x, 1, sizeof x), doctest::Contains("several ranks"), jit::UserError);
  CHECK_THROWS_WITH_AS(QDPInternal::recvFromWait(&x, 0, -1), doctest::Contains("recvFromWait"), jit::UserError);
}

TEST_CASE("QDP_abort ends all ranks with its status") {
  std::string failure;
  const auto start = std::chrono::steady_clock::now();
  try {
    texts_on_ranks(3, [](Communicator& ranks) -> std::string {
      std::freopen("/dev/null", "w", stderr);
      if (ranks.rank() == 1) QDP_abort(3);
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    });
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  CHECK(failure == "rank 1 ended with status 3\n");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("QDP_error_exit ends all ranks with status 1") {
  std::string failure;
  try {
    texts_on_ranks(2, [](Communicator& ranks) -> std::string {
      std::freopen("/dev/null", "w", stderr);
      if (ranks.rank() == 0) QDP_error_exit("no more than %d", 3);
      for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
    });
  } catch (const std::runtime_error& error) {
    failure = error.what();
  }
  CHECK(failure == "rank 0 ended with status 1\n");
}
