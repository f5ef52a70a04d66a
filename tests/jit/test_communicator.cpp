// The seam between ranks: what every communicator must do, on one rank and on processes that talk through sockets.
#include "jit/comm/communicator.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/comm/delayed_ranks.hpp"
#include "jit/comm/shared_file.hpp"
#include "jit/support/error.hpp"
#include "jit/support/file.hpp"
#include "tests/jit/reduced.hpp"
#include "tests/ranks.hpp"

using namespace jit;
using tests::on_ranks;
using tests::texts_on_ranks;
using Kind = ReductionValue::Kind;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

std::size_t index(int rank) { return static_cast<std::size_t>(rank); }

/// `bytes` that nobody else has: of one rank, for one purpose.
std::vector<char> bytes_of(int rank, int purpose, std::size_t bytes) {
  std::mt19937_64 engine(static_cast<std::uint64_t>(1000 * purpose + rank));
  std::vector<char> data(bytes);
  for (char& c : data) c = static_cast<char>(engine());
  return data;
}

std::vector<std::uint64_t> bits(const std::vector<double>& x) {
  std::vector<std::uint64_t> words;
  for (double v : x) words.push_back(std::bit_cast<std::uint64_t>(v));
  return words;
}

/// What action throws, or "nothing".
template <class Error, class Action>
std::string thrown_by(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

}  // namespace

TEST_CASE("one rank has what it would be sent, and no partner") {
  Communicator& job = process_communicator();
  CHECK(job.rank() == 0);
  CHECK(job.size() == 1);
  double values[] = {1.5, -2, kNan};
  job.broadcast(values, sizeof values, 0);
  reduce(job, std::span(values), Kind::sum);
  CHECK(values[0] == 1.5);
  CHECK(values[1] == -2);
  CHECK(std::isnan(values[2]));
  int all = 0;
  const int mine = 7;
  job.gather(&mine, sizeof mine, &all);
  CHECK(all == 7);
  job.barrier();
  CHECK(all_of(job, true));
  CHECK_FALSE(any_of(job, false));
  const Host host = place_on_host(job);
  CHECK(!host.name.empty());
  CHECK(host.rank == 0);
  CHECK(host.ranks == 1);
  CHECK_THROWS_WITH_AS(job.broadcast(values, sizeof values, 1), doctest::Contains("root in 0..0"), UserError);
  for (int partner : {-1, 0, 1}) {
    CHECK_THROWS_WITH_AS(job.send(values, 8, partner), doctest::Contains("several ranks"), UserError);
    CHECK_THROWS_WITH_AS(job.receive(values, 8, partner), doctest::Contains("several ranks"), UserError);
  }
}

TEST_CASE("another communicator takes the place of the process's, and gives it back") {
  struct Third : Communicator {
    int rank() const override { return 2; }
    int size() const override { return 5; }
    void broadcast(void*, std::size_t, int) override {}
    void combine(void*, std::size_t, std::size_t, Join) override {}
    void gather(const void*, std::size_t, void*) override {}
    void barrier() override {}
    std::unique_ptr<Message> outgoing(const void*, std::size_t, int) override { return nullptr; }
    std::unique_ptr<Message> incoming(void*, std::size_t, int, Length) override { return nullptr; }
    void abort(int) override {}
  };
  Communicator* const before = &process_communicator();
  auto old = replace_process_communicator(std::make_unique<Third>());
  CHECK(old.get() == before);
  CHECK(process_communicator().rank() == 2);
  CHECK(process_communicator().size() == 5);
  CHECK(dynamic_cast<Third*>(replace_process_communicator(nullptr).get()) != nullptr);
  CHECK(process_communicator().size() == 1);
  replace_process_communicator(std::move(old));
  CHECK(&process_communicator() == before);
}

TEST_CASE("ranks count from 0, each its own, and are the process's") {
  for (int n : {1, 2, 5}) {
    const auto told = on_ranks<int>(n, [](Communicator& ranks) {
      return std::vector{ranks.rank(), ranks.size(), process_communicator().rank(), process_communicator().size()};
    });
    REQUIRE(told.size() == index(n));
    for (int r = 0; r < n; ++r) CHECK(told[index(r)] == std::vector{r, n, r, n});
  }
}

TEST_CASE("broadcast: the root's bytes, from any root, of any length") {
  for (int n : {1, 2, 4}) {
    const auto told = on_ranks<char>(n, [](Communicator& ranks) {
      std::vector<char> got;
      for (const std::size_t bytes : {0, 1, 8, 100000})
        for (int root = 0; root < ranks.size(); ++root) {
          auto data = bytes_of(ranks.rank(), root, bytes);
          ranks.broadcast(data.data(), bytes, root);
          got.insert(got.end(), data.begin(), data.end());
        }
      return got;
    });
    std::vector<char> expected;
    for (const std::size_t bytes : {0, 1, 8, 100000})
      for (int root = 0; root < n; ++root) {
        const auto data = bytes_of(root, root, bytes);
        expected.insert(expected.end(), data.begin(), data.end());
      }
    for (const auto& got : told) CHECK(got == expected);
  }
}

TEST_CASE("a file of all ranks: blocks that follow each other, lie far apart, or are none") {
  for (int n : {2, 3}) {
    const auto told = on_ranks<char>(n, [](Communicator& ranks) {
      const int r = ranks.rank(), size = ranks.size();
      std::string path =
          (std::filesystem::temp_directory_path() / "tessera_blocks_").string() + std::to_string(getpid());
      broadcast(ranks, path, 0);
      const std::string head = "head of the file", tail = "tail";
      if (r == 0) write_atomically(path, head);
      ranks.barrier();
      std::string why_not = "nothing";
      const auto file = open_together(ranks, path, true, why_not);
      if (!file) throw std::runtime_error(why_not);
      // Lines of all ranks in turn, longer than a piece of the plug-in under test, and of rank 1 nothing in the last call.
      constexpr std::uint64_t kLine = 7001;
      const auto line = [&](int rank, int number) { return bytes_of(rank, number, kLine); };
      const auto place = [&](int rank, int number) {
        return head.size() + (index(number) * index(size) + index(rank)) * kLine;
      };
      for (const std::vector<int>& numbers : {std::vector{0, 1, 4}, {2}, {3}}) {
        std::vector<FileBlock> blocks;
        std::vector<char> data;
        for (const int number : numbers) {
          if (number == 3 && r == 1) continue;
          blocks.push_back({place(r, number), kLine});
          const auto more = line(r, number);
          data.insert(data.end(), more.begin(), more.end());
        }
        file->write(blocks, data.data());
      }
      file->close();
      ranks.barrier();
      if (r == 1) {
        const Descriptor own(::open(path.c_str(), O_WRONLY));
        const auto mine = line(1, 3);
        if (::pwrite(own.number(), mine.data(), mine.size(), static_cast<off_t>(place(1, 3))) < 0)
          throw DeviceError("pwrite");
      }
      ranks.barrier();
      // Read back what the next rank wrote; one rank reads nothing.
      const auto again = open_together(ranks, path, false, why_not);
      if (!again) throw std::runtime_error(why_not);
      const int next = (r + 1) % size;
      std::vector<FileBlock> blocks;
      if (r != 0)
        for (int number = 0; number < 5; ++number) blocks.push_back({place(next, number), kLine});
      std::vector<char> got(blocks.size() * kLine);
      again->read(blocks, got.data());
      again->close();
      bool good = true;
      for (std::size_t i = 0; i < blocks.size(); ++i) {
        const auto expected = line(next, static_cast<int>(i));
        good =
            good && std::equal(expected.begin(), expected.end(), got.begin() + static_cast<std::ptrdiff_t>(i * kLine));
      }
      const std::string all = read_file(path);
      good = good && all.starts_with(head) && all.size() == head.size() + 5 * index(size) * kLine;
      for (int rank = 0; rank < size; ++rank)
        for (int number = 0; number < 5; ++number) {
          const auto expected = line(rank, number);
          good = good && all.compare(place(rank, number), kLine, expected.data(), kLine) == 0;
        }
      ranks.barrier();
      if (r == 0) std::filesystem::remove(path);
      return std::vector{static_cast<char>(good)};
    });
    for (const auto& good : told) CHECK(good == std::vector{char{1}});
  }
}

TEST_CASE("a file is opened by all ranks or by none") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    std::string path = (std::filesystem::temp_directory_path() / "tessera_file_").string() + std::to_string(getpid());
    broadcast(ranks, path, 0);
    const std::string own = path + std::to_string(ranks.rank());
    write_atomically(own, "of the same size");
    ranks.barrier();
    std::string text;
    const auto open = [&](const std::string& name, bool writing) {
      std::string why_not = "opened";
      if (const auto file = open_together(ranks, name, writing, why_not)) file->close();
      text += why_not + "; ";
    };
    open(path + (ranks.rank() == 2 ? "none" : "0"), false);
    open(own, false);
    open(std::filesystem::temp_directory_path().string(), false);
    open(path + "0", true);
    ranks.barrier();
    std::filesystem::remove(own);
    return text;
  });
  for (const std::string& text : told)
    CHECK(text ==
          "not all ranks can open the file; ranks have different files of that name; "
          "not all ranks can open the file; opened; ");
}

TEST_CASE("broadcast of texts: longer and shorter ones than those that were there") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    std::string first = std::string(index(ranks.rank()) * 100, 'x'), second(1000 - index(ranks.rank()) * 400, 'y'),
                third;
    broadcast(ranks, first, 2);
    broadcast(ranks, second, 1);
    broadcast(ranks, third, 0);
    return first + "," + second + "," + third;
  });
  for (const std::string& t : told) CHECK(t == std::string(200, 'x') + "," + std::string(600, 'y') + ",");
}

TEST_CASE("a root or partner that is no other rank is an error on every rank") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    std::string errors;
    char byte = 0;
    for (int root : {-1, 3}) errors += thrown_by<UserError>([&] { ranks.broadcast(&byte, 1, root); }) + "\n";
    for (int partner : {-1, 3, ranks.rank()}) {
      errors += thrown_by<UserError>([&] { (void)ranks.outgoing(&byte, 1, partner); }) + "\n";
      errors += thrown_by<UserError>([&] { (void)ranks.incoming(&byte, 1, partner); }) + "\n";
    }
    ranks.barrier();  // nobody waits for what did not begin
    return errors;
  });
  for (std::size_t r = 0; r < told.size(); ++r) {
    CAPTURE(told[r]);
    const auto count = [&](const std::string& word) {
      int found = 0;
      for (std::size_t at = told[r].find(word); at != std::string::npos; at = told[r].find(word, at + 1)) ++found;
      return found;
    };
    CHECK(count("a root in 0..2") == 2);
    CHECK(count("another rank in 0..2") == 6);
    CHECK(count("the rank itself") == 2);
    CHECK(count("rank " + std::to_string(r) + ")") == 8);
  }
}

TEST_CASE("gather: the bytes of all ranks in their order") {
  for (int n : {1, 2, 5})
    for (const std::size_t bytes : {0, 1, 24, 70000}) {
      const auto told = on_ranks<char>(n, [&](Communicator& ranks) {
        const auto mine = bytes_of(ranks.rank(), 1, bytes);
        std::vector<char> all(bytes * index(ranks.size()));
        ranks.gather(mine.data(), bytes, all.data());
        return all;
      });
      std::vector<char> expected;
      for (int r = 0; r < n; ++r) {
        const auto data = bytes_of(r, 1, bytes);
        expected.insert(expected.end(), data.begin(), data.end());
      }
      for (const auto& all : told) CHECK(all == expected);
    }
}

TEST_CASE("reductions of integers: element by element, over all ranks, wrapping around") {
  for (int n : {1, 2, 5}) {
    const auto told = on_ranks<std::int64_t>(n, [](Communicator& ranks) {
      const int r = ranks.rank();
      std::vector<std::int64_t> sum{r + 1, -10 * r, std::int64_t{1} << (40 + r)}, most{r, -r, r % 2}, least = most;
      std::vector<std::int8_t> small{100, static_cast<std::int8_t>(r)};
      std::vector<unsigned> wide{~0u - static_cast<unsigned>(r)};
      reduce(ranks, std::span(sum), Kind::sum);
      reduce(ranks, std::span(most), Kind::max);
      reduce(ranks, std::span(least), Kind::min);
      reduce(ranks, std::span(small), Kind::sum);
      reduce(ranks, std::span(wide), Kind::min);
      reduce(ranks, std::span<int>(), Kind::sum);
      std::vector<std::int64_t> got;
      for (const auto& part : {sum, most, least}) got.insert(got.end(), part.begin(), part.end());
      got.insert(got.end(), {small[0], small[1], wide[0]});
      return got;
    });
    const std::int64_t last = n - 1, total = n * last / 2, ones = (std::int64_t{1} << n) - 1;
    const std::vector<std::int64_t> expected{total + n,  -10 * total,
                                             ones << 40, last,
                                             0,          n > 1,
                                             0,          -last,
                                             0,          static_cast<std::int8_t>(100 * n),
                                             total,      std::int64_t{~0u} - last};
    for (const auto& got : told) CHECK(got == expected);
  }
}

TEST_CASE("reductions of floating point do not depend on who has which number") {
  std::mt19937_64 engine(29);
  std::uniform_real_distribution<double> exponent(-1060, 1000), mantissa(-2, 2);
  constexpr std::size_t kNumbers = 12;  // on 1, 2, 3 and 4 ranks: as many calls as each rank has
  for (int repeat = 0; repeat < 8; ++repeat) {
    std::vector<double> x(kNumbers);
    for (double& v : x) v = std::exp2(exponent(engine) / (repeat % 2 == 0 ? 1 : 100)) * mantissa(engine);
    if (repeat == 2) x[3] = kNan;
    if (repeat == 3) x[4] = kInfinity;
    if (repeat == 4) x[1] = kInfinity, x[7] = -kInfinity;
    if (repeat == 5) x = {1e300, 1, 1e-300, -1e300, 1e16, 1, 1, -1e16, 0.0, -0.0, 5e-324, -5e-324};
    std::vector<std::uint64_t> expected;
    for (const Kind kind : {Kind::sum, Kind::max, Kind::min}) {
      ReductionValue one(kind);
      for (double v : x) one.add(v);
      expected.push_back(std::bit_cast<std::uint64_t>(one.value()));
    }
    for (std::size_t n : {1u, 2u, 3u, 4u, 12u}) {
      const auto told = on_ranks<double>(static_cast<int>(n), [&](Communicator& ranks) {
        std::vector<double> results;
        for (const Kind kind : {Kind::sum, Kind::max, Kind::min}) {
          ReductionValue found(kind);  // of what this rank has: every n-th number
          for (std::size_t i = index(ranks.rank()); i < kNumbers; i += n) found.add(x[i]);
          combine(ranks, std::span(&found, 1));
          results.push_back(found.value());
        }
        if (n == kNumbers)  // one each
          for (const Kind kind : {Kind::sum, Kind::max, Kind::min}) {
            double mine[] = {x[index(ranks.rank())], 1};
            reduce(ranks, std::span(mine), kind);
            results.push_back(mine[0]);
            results.push_back(mine[1]);
          }
        return results;
      });
      for (const auto& results : told) {
        const auto got = bits(results);
        CHECK(std::vector(got.begin(), got.begin() + 3) == expected);
        if (n == kNumbers) {
          CHECK(std::vector{got[3], got[5], got[7]} == expected);
          CHECK(std::vector{results[4], results[6], results[8]} == std::vector<double>{kNumbers, 1, 1});
        }
      }
    }
  }
}

TEST_CASE("the ranks of a test join in different orders: what depends on it, as plain additions do, is seen") {
  const auto told = on_ranks<double>(3, [](Communicator& ranks) {
    const double of_rank[] = {1e16, 1, -1e16};
    double x = of_rank[ranks.rank()];
    combine(ranks, std::span(&x, 1), [](double a, double b) { return a + b; });
    return std::vector{x};
  });
  CHECK((told[0] != told[1] || told[1] != told[2]));
}

TEST_CASE("sums of floats are those of doubles, rounded at the end") {
  const auto told = on_ranks<float>(3, [](Communicator& ranks) {
    const float of_rank[] = {1e8f, 3.0f, -1e8f};  // in floats 1e8 + 3 is 1e8
    float x = of_rank[ranks.rank()];
    reduce(ranks, std::span(&x, 1), Kind::sum);
    return std::vector{x};
  });
  for (const auto& x : told) CHECK(x[0] == 3.0f);
}

TEST_CASE("true on all, true on any, with one rank that thinks otherwise, whichever it is") {
  for (int n : {1, 2, 4})
    for (int odd = -1; odd < n; ++odd) {
      const auto told = on_ranks<int>(n, [&](Communicator& ranks) {
        const bool is_odd = ranks.rank() == odd;
        return std::vector<int>{all_of(ranks, !is_odd), any_of(ranks, is_odd)};
      });
      for (const auto& t : told) CHECK(t == std::vector<int>{odd == -1, odd != -1});
    }
}

TEST_CASE("a text that one rank has otherwise is told to all, with two ranks and what they have") {
  for (int n : {1, 2, 4})
    for (int odd = -1; odd < n; ++odd)
      for (const char* text : {"alike", "alikf", "alik"}) {
        const auto told = texts_on_ranks(n, [&](Communicator& ranks) {
          return thrown_by<UserError>(
              [&] { jit::require_same_on_all_ranks(ranks, "what", ranks.rank() == odd ? text : "alike", "do this"); });
        });
        const bool same = n == 1 || odd == -1 || std::string(text) == "alike";
        for (const std::string& t : told) {
          CAPTURE(t);
          CHECK((t == told[0]));
          if (!same)
            for (const std::string& part :
                 {std::string("what"), "alike on rank " + std::to_string(odd == 0 ? 1 : 0),
                  std::string(text) + " on rank " + std::to_string(odd), std::string("do this")})
              CHECK(t.find(part) != std::string::npos);
          else
            CHECK(t.find("what") == std::string::npos);
        }
      }
  // Also where they differ far from the beginning.
  const auto told = texts_on_ranks(3, [&](Communicator& ranks) {
    const std::string text = std::string(5000, 'x') + (ranks.rank() == 1 ? "a" : "b");
    return thrown_by<UserError>([&] { jit::require_same_on_all_ranks(ranks, "what", text, "do this"); });
  });
  for (const std::string& t : told) CHECK(t.find("on rank 1") != std::string::npos);
}

TEST_CASE("ranks that reduce different things are told so, all of them") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) {
    ReductionValue found(ranks.rank() == 1 ? Kind::max : Kind::sum);
    combine(ranks, std::span(&found, 1));
    return thrown_by<InternalError>([&] { (void)found.value(); });
  });
  for (const std::string& t : told) CHECK(t.find("same statements") != std::string::npos);
}

TEST_CASE("nobody leaves a barrier before all have come") {
  constexpr int kRanks = 4, kRounds = 20;
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch().count(); };  // one clock for all
  const auto told = on_ranks<std::int64_t>(kRanks, [&](Communicator& ranks) {
    std::vector<std::int64_t> times;
    for (int round = 0; round < kRounds; ++round) {
      if (round % kRanks == ranks.rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      times.push_back(now());
      ranks.barrier();
      times.push_back(now());
    }
    return times;
  });
  for (std::size_t round = 0; round < kRounds; ++round) {
    std::int64_t last_came = 0, first_left = std::numeric_limits<std::int64_t>::max();
    for (const auto& times : told) {
      last_came = std::max(last_came, times[2 * round]);
      first_left = std::min(first_left, times[2 * round + 1]);
    }
    CHECK(last_came <= first_left);
  }
}

TEST_CASE("what one rank sends another receives, of any length, around a ring") {
  for (int n : {2, 3, 5})
    for (const std::size_t bytes : {0, 1, 4096, 1 << 21}) {  // the largest does not fit into what sockets keep
      const auto told = on_ranks<int>(n, [&](Communicator& ranks) {
        const int next = (ranks.rank() + 1) % ranks.size(), last = (ranks.rank() + ranks.size() - 1) % ranks.size();
        const auto mine = bytes_of(ranks.rank(), 2, bytes);
        std::vector<char> got(bytes + 1, 'x');
        if (ranks.rank() == 0) {
          ranks.send(mine.data(), bytes, next);
          ranks.receive(got.data(), bytes, last);
        } else {
          ranks.receive(got.data(), bytes, last);
          ranks.send(mine.data(), bytes, next);
        }
        const bool untouched = got.back() == 'x';
        got.pop_back();
        return std::vector<int>{got == bytes_of(last, 2, bytes), untouched};
      });
      for (const auto& t : told) CHECK(t == std::vector{1, 1});
    }
}

TEST_CASE("a halo exchange: messages in both directions are started, overlap, and are started again") {
  for (int n : {2, 3, 4})  // of two ranks both neighbours are one: order tells the messages apart
    for (const std::size_t bytes : {16, 1 << 20}) {
      const auto told = on_ranks<int>(n, [&](Communicator& ranks) {
        const int up = (ranks.rank() + 1) % ranks.size(), down = (ranks.rank() + ranks.size() - 1) % ranks.size();
        std::vector<char> to_up(bytes), to_down(bytes), from_up(bytes), from_down(bytes);
        const auto receive_down = ranks.incoming(from_down.data(), bytes, down);
        const auto receive_up = ranks.incoming(from_up.data(), bytes, up);
        const auto send_up = ranks.outgoing(to_up.data(), bytes, up);
        const auto send_down = ranks.outgoing(to_down.data(), bytes, down);
        int wrong = 0;
        for (int round = 0; round < 5; ++round) {
          wrong += !receive_up->done() + !send_up->done();  // not under way
          receive_down->start();
          receive_up->start();
          std::ranges::copy(bytes_of(ranks.rank(), 10 + round, bytes), to_up.begin());
          std::ranges::copy(bytes_of(ranks.rank(), 20 + round, bytes), to_down.begin());
          send_up->start();
          send_down->start();
          if (round % 2 == 0) {
            for (const auto& message : {&receive_up, &receive_down, &send_up, &send_down}) (*message)->wait();
          } else {
            while (!receive_down->done() || !receive_up->done() || !send_up->done() || !send_down->done()) {
            }
          }
          wrong += from_down != bytes_of(down, 10 + round, bytes);
          wrong += from_up != bytes_of(up, 20 + round, bytes);
        }
        return std::vector{wrong};
      });
      for (const auto& t : told) CHECK(t[0] == 0);
    }
}

TEST_CASE("a message may be shorter than the most that is expected, not longer, and tells its length") {
  constexpr std::size_t kMost = 300000;
  const auto told = on_ranks<int>(2, [](Communicator& ranks) {
    std::vector<int> found;
    std::vector<char> text(kMost, 'x');
    const auto in = ranks.rank() == 1 ? ranks.incoming(text.data(), kMost, 0, Length::at_most) : nullptr;
    for (const std::size_t bytes : {kMost, std::size_t{8}, kMost - 1, std::size_t{1}}) {
      const auto sent = bytes_of(0, 7, bytes);
      if (ranks.rank() == 0) {
        const auto out = ranks.outgoing(sent.data(), bytes, 1);
        out->start();
        out->wait();
        found.push_back(out->length() == bytes);
        continue;
      }
      std::ranges::fill(text, 'x');
      in->start();
      in->wait();
      found.push_back(in->length() == bytes && std::equal(sent.begin(), sent.end(), text.begin()) &&
                      (bytes == kMost || text[bytes] == 'x'));
    }
    return found;
  });
  for (const auto& t : told) CHECK(t == std::vector<int>(4, 1));
}

TEST_CASE("messages do not get in the way of collective operations between their start and their end") {
  const auto told = on_ranks<int>(3, [](Communicator& ranks) {
    const int next = (ranks.rank() + 1) % 3, last = (ranks.rank() + 2) % 3;
    int mine = 100 + ranks.rank(), got = -1, sum = ranks.rank();
    const auto incoming = ranks.incoming(&got, sizeof got, last), outgoing = ranks.outgoing(&mine, sizeof mine, next);
    if (ranks.rank() != 1) incoming->start();
    outgoing->start();
    reduce(ranks, std::span(&sum, 1), Kind::sum);
    if (ranks.rank() == 1) incoming->start();  // long after it was sent
    ranks.barrier();
    incoming->wait();
    outgoing->wait();
    return std::vector<int>{got == 100 + last, sum};
  });
  for (const auto& t : told) CHECK(t == std::vector{1, 3});
}

TEST_CASE("a message is not done before it has come, and cannot be started twice") {
  const auto told = texts_on_ranks(2, [](Communicator& ranks) {
    int x = 0;
    if (ranks.rank() == 1) {
      ranks.barrier();
      x = 5;
      ranks.send(&x, sizeof x, 0);
      return std::string("sent");
    }
    const auto message = ranks.incoming(&x, sizeof x, 1);
    message->start();
    std::string said = message->done() ? "early " : "";
    said += thrown_by<InternalError>([&] { message->start(); });
    ranks.barrier();
    message->wait();
    return said + " " + std::to_string(x);
  });
  CHECK(told[0] == "start of a message that is under way 5");
}

TEST_CASE("delayed messages come as they are, but not before their time") {
  using Clock = std::chrono::steady_clock;
  constexpr auto kDelay = std::chrono::milliseconds(50);
  const auto found = on_ranks<double>(2, [&](Communicator&) {
    auto given = std::make_unique<DelayedRanks>(replace_process_communicator(nullptr), kDelay);
    DelayedRanks* const delayed = given.get();
    replace_process_communicator(std::move(given));
    Communicator& ranks = process_communicator();
    const int other = 1 - ranks.rank();
    const double mine = 10 + ranks.rank();
    double got = 0;
    const auto out = ranks.outgoing(&mine, sizeof mine, other), in = ranks.incoming(&got, sizeof got, other);
    std::vector<double> said;
    for (int round = 0; round < 2; ++round) {
      got = 0;
      ranks.barrier();
      const auto begun = Clock::now();
      in->start();
      out->start();
      out->wait();  // what leaves is not held up
      if (round == 0)
        in->wait();
      else
        while (!in->done()) std::this_thread::yield();
      said.push_back(Clock::now() - begun >= kDelay);
      said.push_back(got);
    }
    replace_process_communicator(delayed->give_back());
    return said;
  });
  for (std::size_t rank = 0; rank < 2; ++rank) {
    const double other = 11 - static_cast<double>(rank);
    CHECK(found[rank] == std::vector<double>{1, other, 1, other});
  }
}

TEST_CASE("a message of another length than expected is an error of the receiver") {
  const auto told = texts_on_ranks(2, [](Communicator& ranks) {
    std::int64_t x = 0;
    std::string error;
    if (ranks.rank() == 0)
      ranks.send(&x, 4, 1);
    else
      error = thrown_by<InternalError>([&] { ranks.receive(&x, 8, 0); });
    ranks.barrier();  // the receiver may be gone before all has left otherwise
    return error;
  });
  CHECK(told[1].find("8 bytes") != std::string::npos);
  const auto more = texts_on_ranks(2, [](Communicator& ranks) {
    std::int64_t x[2] = {7, 8}, guard[2] = {0, 9};
    std::string error;
    if (ranks.rank() == 0)
      ranks.send(x, 16, 1);
    else
      error = thrown_by<InternalError>([&] { ranks.receive(guard, 8, 0); }) + (guard[1] == 9 ? "" : ", and wrote on");
    ranks.barrier();
    return error;
  });
  CHECK(more[1].find("8 bytes") != std::string::npos);
  CHECK(more[1].find("wrote on") == std::string::npos);
}

TEST_CASE("messages meet in the order of their starts, not in that in which they were made or waited for") {
  for (const std::size_t bytes : {8, 100000}) {
    const auto told = on_ranks<int>(2, [&](Communicator& ranks) {
      constexpr int kMessages = 6;
      std::vector<std::vector<char>> data(kMessages, std::vector<char>(bytes));
      std::vector<std::unique_ptr<Message>> messages;
      for (auto& d : data)
        messages.push_back(ranks.rank() == 0 ? ranks.outgoing(d.data(), bytes, 1) : ranks.incoming(d.data(), bytes, 0));
      int wrong = 0;
      for (int round = 0; round < 3; ++round) {
        // Backwards here and forwards there: the m-th that starts is the m-th to come.
        for (int m = 0; m < kMessages; ++m) {
          const std::size_t at = index(ranks.rank() == 0 ? kMessages - 1 - m : m);
          if (ranks.rank() == 0) std::ranges::copy(bytes_of(m, round, bytes), data[at].begin());
          messages[at]->start();
        }
        for (int m = kMessages - 1; m >= 0; m -= 2) messages[index(m)]->wait();
        for (int m = 0; m < kMessages; m += 2) messages[index(m)]->wait();
        if (ranks.rank() == 1)
          for (int m = 0; m < kMessages; ++m) wrong += data[index(m)] != bytes_of(m, round, bytes);
      }
      return std::vector{wrong};
    });
    CHECK(told[1][0] == 0);
  }
}

TEST_CASE("many values are joined at once, at any address") {
  const auto told = on_ranks<int>(3, [](Communicator& ranks) {
    std::vector<char> room(1 + 8 * 5000);
    for (std::size_t i = 0; i < 5000; ++i) {
      const std::int64_t x = static_cast<std::int64_t>(i) << ranks.rank();
      std::memcpy(room.data() + 1 + 8 * i, &x, 8);
    }
    ranks.combine(room.data() + 1, 8, 5000, [](void* into, const void* from, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) {
        std::int64_t a, b;
        std::memcpy(&a, static_cast<char*>(into) + 8 * i, 8);
        std::memcpy(&b, static_cast<const char*>(from) + 8 * i, 8);
        a += b;
        std::memcpy(static_cast<char*>(into) + 8 * i, &a, 8);
      }
    });
    int wrong = 0;
    for (std::size_t i = 0; i < 5000; ++i) {
      std::int64_t x;
      std::memcpy(&x, room.data() + 1 + 8 * i, 8);
      wrong += x != 7 * static_cast<std::int64_t>(i);
    }
    return std::vector{wrong};
  });
  for (const auto& t : told) CHECK(t[0] == 0);
}

TEST_CASE("ranks of one machine share its cores") {
  const auto told = on_ranks<double>(4, [](Communicator& ranks) { return std::vector{cores_of_rank(ranks)}; });
  double all = 0;
  for (const auto& cores : told) all += cores[0];
  CHECK(all <= std::thread::hardware_concurrency() + 1e-9);
  CHECK(std::abs(all - std::round(all)) < 1e-9);  // each core once
}

TEST_CASE("ranks of other machines take no cores away") {
  const auto told = texts_on_ranks(3, [](Communicator& ranks) { return std::to_string(cores_of_rank(ranks)); },
                                   {"node1", "node2", "node1"});
  CHECK(told[0] == told[2]);
  CHECK(std::stod(told[1]) == doctest::Approx(2 * std::stod(told[0])));
}

TEST_CASE("the place of a rank among those of its machine, also when machines take turns") {
  const auto told =
      texts_on_ranks(5,
                     [](Communicator& ranks) {
                       const Host host = place_on_host(ranks);
                       return host.name + " " + std::to_string(host.rank) + "/" + std::to_string(host.ranks);
                     },
                     {"node1", "node10", "node1", "node", "node10"});
  CHECK(told == std::vector<std::string>{"node1 0/2", "node10 0/2", "node1 1/2", "node 0/1", "node10 1/2"});
  for (const auto& t : on_ranks<int>(3, [](Communicator& ranks) {
         const Host host = place_on_host(ranks);
         return std::vector<int>{host.rank - ranks.rank(), host.ranks};
       }))
    CHECK(t == std::vector{0, 3});
}

TEST_CASE("the ranks of a test: who fails is named, and nobody waits for it") {
  const auto fail = [](int rank, auto action) {
    return thrown_by<std::runtime_error>([&] {
      texts_on_ranks(3, [&](Communicator& ranks) -> std::string {
        if (ranks.rank() == rank) action();
        ranks.barrier();
        for (;;) std::this_thread::sleep_for(std::chrono::seconds(1));
      });
    });
  };
  const std::string threw = fail(1, [] { throw UserError("too small"); });
  CHECK(threw.find("rank 1 ended with status 1: too small") != std::string::npos);
  const std::string left = fail(2, [] { process_communicator().abort(7); });
  CHECK(left.find("rank 2 ended with status 7") != std::string::npos);
  CHECK(thrown_by<std::runtime_error>([] {  // ranks at different operations
          texts_on_ranks(2, [](Communicator& ranks) {
            char x[2] = {};
            if (ranks.rank() == 0) ranks.broadcast(x, 1, 0);
            ranks.barrier();
            return std::string();
          });
        })
            .find("collective operation") != std::string::npos);
}
