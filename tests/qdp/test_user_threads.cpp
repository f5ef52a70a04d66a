// Threads of the user: element access from many at once, statements from any of them. Results are compared bit by bit
// with those of one thread. The cases whose name says OpenMP are not for ThreadSanitizer, which does not see libgomp.
#include "places.hpp"

#include "qdp/init/init.hpp"
#include "qdp/io/binary_writer.hpp"
#include "qdp/io/site_values.hpp"
#include "qdp/rng/rng.hpp"
#include "tests/skip.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

using namespace tests;
using namespace QDP;

namespace {

constexpr int kThreads = 4;

/// f(thread) on kThreads threads that begin together; the first exception comes back.
template <class F>
void on_threads(F f) {
  std::atomic<int> arrived{0};
  std::mutex mutex;
  std::exception_ptr error;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      ++arrived;
      while (arrived < kThreads) std::this_thread::yield();
      try {
        f(t);
      } catch (...) {
        const std::lock_guard lock(mutex);
        error = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
}

template <class T>
std::vector<char> bits(const OLattice<T>& x) {
  const auto* first = reinterpret_cast<const char*>(x.getF());
  return {first, first + static_cast<std::size_t>(Layout::sitesOnNode()) * sizeof(T)};
}
std::vector<char> bits(const Double& x) {
  const auto* first = reinterpret_cast<const char*>(&x.elem());
  return {first, first + sizeof x.elem()};
}

/// Sites [begin, end) of thread t.
std::pair<int, int> share(int t) {
  const int n = Layout::sitesOnNode();
  return {n * t / kThreads, n * (t + 1) / kThreads};
}

using Matrix = LatticeColorMatrixD;
using Number = LatticeRealD;

/// A field that nobody has seen on the host: the coordinates and a factor, by statements.
Number fresh_number(double factor) {
  Number x = Real(0.5) + Layout::latticeCoordinate(0);
  for (int mu = 1; mu < Nd; ++mu) x += (10 * mu) * Layout::latticeCoordinate(mu);
  return Number(x * factor);
}

}  // namespace

TEST_CASE("many threads copy a field site by site") {
  create_lattice({4, 4, 4, 8});
  const Matrix source = random_lattice<Sites<double>::ColorMatrix>();
  Matrix doubled;
  doubled = 2.0 * source;
  const std::vector<char> expected = bits(doubled);
  int wrong = 0;
  for (int round = 0; round < 300; ++round) {
    Matrix from, to;
    from = 2.0 * source;  // on the device only, as `to`, whose values must not come over the copies
    to = zero;
    const Matrix& constant = from;
    switch (round % 5) {
      case 0:
        on_threads([&](int t) {
          for (auto [i, end] = share(t); i < end; ++i) to.elem(i) = constant.elem(i);
        });
        break;
      case 1:
        on_threads([&](int t) {
          for (auto [i, end] = share(t); i < end; ++i) to.elem(i) = from.elem(i);
        });
        break;
      case 2:
        on_threads([&](int t) {
          for (auto [i, end] = share(t); i < end; ++i) to.getF()[i] = constant.getF()[i];
        });
        break;
      case 3:
        on_threads([&](int t) {
          for (auto [i, end] = share(t); i < end; ++i) to[all].elem(i) = getSite(constant, i).elem();
        });
        break;
      default:
        on_threads([&](int t) {
          for (auto [i, end] = share(t); i < end; ++i)
            pokeSite(to, peekSite(constant, Layout::siteCoords(0, i)), Layout::siteCoords(0, i));
        });
    }
    wrong += bits(to) != expected;
    wrong += norm2(Matrix(to - doubled)).elem().elem().elem().elem() != 0;  // what the device has of it
  }
  CHECK(wrong == 0);
}

TEST_CASE("some threads read sites while others claim the same field and write their own") {
  create_lattice({4, 4, 4, 8});
  const Number plain = fresh_number(1);
  const Number& values = plain;
  int wrong = 0;
  for (int round = 0; round < 300; ++round) {
    Number field;
    field = plain;
    const Number& constant = field;
    std::atomic<int> bad{0};
    on_threads([&](int t) {
      for (auto [i, end] = share(t); i < end; ++i) {
        const double before = values.elem(i).elem().elem().elem();
        bad += constant.elem(i).elem().elem().elem() != before;
        if ((t + round) % 2 == 0) field.elem(i).elem().elem().elem() = 3 * before;
        if (i % 16 == 0)
          bad += getSite(constant, i).elem().elem().elem().elem() != ((t + round) % 2 == 0 ? 3 * before : before);
      }
    });
    for (int t = 0; t < kThreads; ++t)
      for (auto [i, end] = share(t); i < end; ++i)
        bad += constant.elem(i).elem().elem().elem() !=
               values.elem(i).elem().elem().elem() * ((t + round) % 2 == 0 ? 3 : 1);
    wrong += bad != 0;
  }
  CHECK(wrong == 0);
}

namespace {
struct Copy {
  Matrix* to;
  const Matrix* from;
};
void copy_sites(int lo, int hi, int, Copy* copy) {
  for (int i = lo; i < hi; ++i) copy->to->elem(i) = copy->from->elem(i);
}
}  // namespace

TEST_CASE("OpenMP loops over sites and dispatch_to_threads copy a field") {
#ifdef __SANITIZE_THREAD__
  TESSERA_SKIP("ThreadSanitizer does not see the barriers of libgomp");
#endif
  create_lattice({4, 4, 4, 8});
  const Matrix source = random_lattice<Sites<double>::ColorMatrix>();
  Matrix doubled;
  doubled = 2.0 * source;
  const std::vector<char> expected = bits(doubled);
  int wrong = 0;
  for (int round = 0; round < 300; ++round) {
    Matrix from, to;
    from = 2.0 * source;
    to = zero;
    const Matrix& constant = from;
    if (round % 2 == 0) {
#pragma omp parallel for num_threads(kThreads)
      for (int i = 0; i < Layout::sitesOnNode(); ++i) to.elem(i) = constant.elem(i);
    } else {
      dispatch_to_threads(Layout::sitesOnNode(), Copy{&to, &from}, copy_sites);
    }
    wrong += bits(to) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("statements of several threads give the bits of one") {
  create_lattice({4, 4, 4, 8});
  constexpr int kSteps = 12, kRounds = 12;
  std::vector<Matrix> start;
  for (int t = 0; t < kThreads; ++t) start.push_back(random_lattice<Sites<double>::ColorMatrix>());
  // Temporaries, shifts, subsets, sums, an assignment over its own source, host access; logs all results.
  const auto run = [&](int t) {
    Matrix u, v;
    u = start[t];
    v = adj(u) * (1.0 + t);
    std::vector<char> log;
    const auto note = [&log](const std::vector<char>& bytes) { log.insert(log.end(), bytes.begin(), bytes.end()); };
    for (int step = 0; step < kSteps; ++step) {
      const int mu = (step + t) % Nd;
      Matrix w = u * shift(v, FORWARD, mu);
      v[rb[step & 1]] = w + (0.5 + t) * u;
      u = shift(u, BACKWARD, mu);
      note(bits(Double(norm2(v))));
      note(bits(Double(real(innerProduct(u, w, rb[0])))));
      v *= Real(1 / 16.0);
      if (step % 3 == 0) v.elem(step) = u.elem(step + 1);
    }
    note(bits(u));
    note(bits(v));
    return log;
  };
  using Logs = std::vector<std::vector<char>>;
  std::vector<Logs> rounds(kRounds, Logs(kThreads));
  for (auto& logs : rounds) on_threads([&](int t) { logs[t] = run(t); });  // first, so that kernels are made meanwhile
  Logs alone;
  for (int t = 0; t < kThreads; ++t) alone.push_back(run(t));
  int wrong = 0;
  for (const auto& logs : rounds)
    for (int t = 0; t < kThreads; ++t) wrong += logs[t] != alone[t];
  CHECK(wrong == 0);
}

TEST_CASE("a statement runs while other threads read and write sites of other fields") {
  create_lattice({4, 4, 4, 8});
  const Number plain = fresh_number(1);
  const Number& values = plain;
  (void)values.elem(0);
  int wrong = 0;
  for (int round = 0; round < 100; ++round) {
    Number seen, written, computed;
    seen = 2.0 * plain;
    computed = plain;
    const Number& constant = seen;
    std::atomic<int> bad{0};
    on_threads([&](int t) {
      if (t == 0) {
        for (int n = 0; n < 20; ++n) {
          const Number half = 0.5 * computed;
          computed = half + shift(half, n % 2 == 0 ? FORWARD : BACKWARD, 0);
        }
      } else {
        for (auto [i, end] = share(t); i < end; ++i) {
          written.elem(i) = constant.elem(i);
          bad += constant.elem(i).elem().elem().elem() != 2 * values.elem(i).elem().elem().elem();
        }
      }
    });
    const Number& result = written;
    for (int t = 1; t < kThreads; ++t)
      for (auto [i, end] = share(t); i < end; ++i)
        bad += result.elem(i).elem().elem().elem() != 2 * values.elem(i).elem().elem().elem();
    wrong += bad != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("each of many statements from a thread of its own") {
  create_lattice({4, 4, 4, 8});
  Number x = fresh_number(1), y = fresh_number(1);
  for (int n = 0; n < 200; ++n) {
    std::thread([&] { x = 0.5 * (x + shift(x, FORWARD, n % Nd)); }).join();
    y = 0.5 * (y + shift(y, FORWARD, n % Nd));
  }
  CHECK(bits(x) == bits(y));
}

TEST_CASE("random numbers of several threads are those of one, in some order") {
  create_lattice({4, 4, 4, 8});
  constexpr int kFills = 20;
  std::vector<std::vector<char>> drawn(kThreads * kFills), expected;
  on_threads([&](int t) {
    for (int n = 0; n < kFills; ++n) {
      Number x;
      gaussian(x);
      drawn[t * kFills + n] = bits(x);
    }
  });
  RNG::initDefaultRNG();
  for (int n = 0; n < kThreads * kFills; ++n) {
    Number x;
    gaussian(x);
    expected.push_back(bits(x));
  }
  std::sort(drawn.begin(), drawn.end());
  std::sort(expected.begin(), expected.end());
  CHECK(drawn == expected);
}

TEST_CASE("fields and expressions may be handed from thread to thread") {
  create_lattice({4, 4, 4, 8});
  const Number plain = fresh_number(1);
  int wrong = 0;
  for (int round = 0; round < 50; ++round) {
    std::optional<decltype(plain + plain)> expression;
    std::optional<Number> field;
    std::thread([&] {
      Number x;
      x = plain + plain;
      expression = x + plain;  // lives longer than x
      field.emplace(std::move(x));
    }).join();
    Number sum;
    std::thread([&] {
      sum = *expression;
      expression.reset();
      sum += *field;
      field.reset();
    }).join();
    wrong += toDouble(norm2(Number(sum - 5.0 * plain))) != 0;
  }
  CHECK(wrong == 0);
}

TEST_CASE("several threads write the same field") {
  create_lattice({4, 4, 4, 8});
  const Matrix source = random_lattice<Sites<double>::ColorMatrix>();
  int wrong = 0;
  for (int round = 0; round < 30; ++round) {
    Matrix field;
    field = 2.0 * source;
    std::vector<std::string> streams(kThreads);
    on_threads([&](int t) {
      BinaryBufferWriter buffer;
      write(buffer, field);
      streams[t] = buffer.str();
    });
    for (const std::string& stream : streams) wrong += stream != streams[0];
  }
  CHECK(wrong == 0);
}
