// Operands that are read again and again from copies in the order of their use (jit/runtime/gathering.hpp): the bits are those of the
// fields themselves, whatever happens to these between two launches, and to the memory.
#include "operations.hpp"
#include "sketches.hpp"
#include "tests/jit/settings.hpp"

#include <utility>
#include <vector>

#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"

using namespace tests;
using namespace QDP;

namespace {

/// Launches of kernels that read copies, so far.
std::int64_t launches_of_copies(const char* ending = "_gathered") {
  std::int64_t calls = 0;
  for (const jit::KernelInfo& kernel : jit::Runtime::instance().kernels())
    if (kernel.name.ends_with(ending)) calls += kernel.calls;
  return calls;
}

/// TESSERA_GATHER as said while it lives, and statements that wait: alone, none reads enough.
struct Gathers {
  explicit Gathers(const char* value) : gather("TESSERA_GATHER", value), fuse("TESSERA_FUSE", "1") {}
  ~Gathers() { jit::run_deferred(); }
  Setting gather, fuse;
};

/// Copies are for the caches of processors.
bool may_gather() { return jit::Runtime::instance().has_caches(); }

/// Fields that take part: as many links as there are eight operands of, whatever the number of directions.
template <class W>
struct Fields {
  using Matrix = OLattice<PScalar<PColorMatrix<RComplex<W>, Nc>>>;
  using Vector = OLattice<PScalar<PColorVector<RComplex<W>, Nc>>>;
  static constexpr int kSets = Nd >= 4 ? 1 : Nd == 3 ? 2 : 3;

  Fields() {
    for (int i = 0; i < kSets * Nd; ++i) u.push_back(random_lattice<typename Matrix::Subtype_t>());
    x = random_lattice<typename Vector::Subtype_t>();
    y = random_lattice<typename Vector::Subtype_t>();
    z = zero;
  }
  /// To the sites of one checkerboard from the other.
  Vector hop(int cb) const {
    Vector sum = zero;
    for (std::size_t i = 0; i < u.size(); ++i) {
      const int mu = static_cast<int>(i) % Nd;
      sum[rb[cb]] += u[i] * shift(x, FORWARD, mu) - shift(adj(u[i]) * x, BACKWARD, mu);
    }
    return sum;
  }

  std::vector<Matrix> u;
  Vector x, y;
  OLattice<PScalar<PColorVector<RComplex<REAL64>, Nc>>> z;  ///< of double precision, what comes to it of whatever
};

/// One after the other, on the checkerboards in turn.
void hops(Fields<REAL64>& f, int number) {
  for (int n = 0; n < number; ++n) {
    f.y = f.hop(n % 2);
    jit::run_deferred();
  }
}
/// So that the last hop's copy may go.
void something_else(Fields<REAL64>& f, int number = 1) {
  for (int n = 0; n < number; ++n) {
    f.x *= Real64(2);
    jit::run_deferred();
  }
}

/// Without copies, those of other tests among them.
std::size_t bytes_without_copies(Fields<REAL64>& f) {
  something_else(f);
  jit::Memory::instance().give_up_all();
  return jit::Memory::instance().live_bytes();
}

/// What hops give.
template <class W>
struct Results {
  std::vector<typename Fields<W>::Vector> vectors;
  std::vector<Double> sums;
};
/// A program of hops and of what is done to links and vectors between them, the same for the same seed.
template <class W>
Results<W> run(unsigned seed) {
  using Matrix = typename Fields<W>::Matrix;
  reference::seed_random(seed);
  Fields<W> f;
  Results<W> results;
  const auto link = [&]() -> Matrix& { return f.u[static_cast<std::size_t>(any(static_cast<int>(f.u.size())))]; };
  for (int round = 0; round < 8; ++round) {
    const int hops = 1 + any(8), parities = any(3);  // one checkerboard, the other, both in turn
    for (int n = 0; n < hops; ++n) {
      for (const int cb : {0, 1}) {
        if (parities != 2 && cb != parities) continue;
        f.y = f.hop(cb);
        // In one kernel with what has words of eight bytes, with a sum, or neither.
        const int beside = any(3);
        if (beside == 0) f.z[rb[cb]] += f.y;
        if (beside == 1) results.sums.push_back(norm2(f.y, rb[cb]));
        if (any(2) == 0) results.vectors.push_back(f.y);
      }
      if (any(2) == 0) f.x += f.y;
    }
    Matrix& u = link();
    Matrix& v = link();
    switch (any(9)) {
      case 0:
        u = adj(v);
        break;
      case 1:
        u[rb[any(2)]] *= Real(0.5);
        break;
      case 2:
        pokeSite(u, peekSite(v, Layout::siteCoords(0, 0)), Layout::siteCoords(0, 0));
        break;
      case 3:
        if (Layout::sitesOnNode() > 0) u.elem(0) = v.elem(Layout::sitesOnNode() - 1);
        break;
      case 4:
        std::swap(u, v);
        break;
      case 5:
        u = Matrix(v);
        break;
      case 6: {
        Matrix w = random_lattice<typename Matrix::Subtype_t>();
        u = w * v;
        break;
      }
      case 7:
        f.u.erase(f.u.begin());
        f.u.push_back(random_lattice<typename Matrix::Subtype_t>());
        break;
      default:
        break;
    }
  }
  results.sums.push_back(norm2(f.z));
  return results;
}

template <class W>
void compare(const Extents& extents) {
  create_lattice(extents);
  for (unsigned seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const auto with = [&](const char* gather) {
      const Gathers setting(gather);
      return run<W>(seed);
    };
    const auto expected = with("0"), got = with("1");
    REQUIRE(expected.vectors.size() == got.vectors.size());
    REQUIRE(expected.sums.size() == got.sums.size());
    int wrong = 0;
    for (std::size_t i = 0; i < got.vectors.size(); ++i)
      wrong += toDouble(norm2(expected.vectors[i] - got.vectors[i])) != 0;
    for (std::size_t i = 0; i < got.sums.size(); ++i) wrong += toDouble(expected.sums[i]) != toDouble(got.sums[i]);
    CHECK(wrong == 0);
  }
}

}  // namespace

TEST_CASE("hops with links that change in every way, from copies and from the fields: the same bits") {
  const std::int64_t before = launches_of_copies();
  for (const Extents& extents : shared_out({{4, 4, 4, 8}, {4, 6, 8, 4}, {3, 5, 7, 2}, {2, 2, 2, 2}})) {
    compare<REAL64>(extents);
    compare<REAL32>(extents);
  }
  if (may_gather() && tests::job_ranks() == 1) CHECK(launches_of_copies() > before + 100);
}

TEST_CASE("links that stay are copied once for each checkerboard; what is as large as caches, and no larger, is not") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (tests::job_ranks() > 1)
    TESSERA_SKIP("a rank's sites may all be lists, and messages come and go in the same memory");
  create_lattice({4, 4, 4, 4});
  const auto copies_of = [](const char* gather, int number) {
    const Gathers setting(gather);
    reference::seed_random(3);
    Fields<REAL64> f;
    const std::int64_t before = launches_of_copies(), copied = launches_of_copies("gather");
    hops(f, number);
    return std::pair(launches_of_copies() - before, launches_of_copies("gather") - copied);
  };
  const auto [launches, copies] = copies_of("1", 40);
  CHECK(copies == 2);
  CHECK(launches >= 30);
  CHECK(copies_of("1", 2).second == 0);
  CHECK(copies_of("auto", 40) == std::pair<std::int64_t, std::int64_t>{0, 0});
  CHECK(copies_of("0", 40) == std::pair<std::int64_t, std::int64_t>{0, 0});
}

TEST_CASE("copies make way for fields, and are made again") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (tests::job_ranks() > 1)
    TESSERA_SKIP("a rank's sites may all be lists, and messages come and go in the same memory");
  create_lattice({4, 4, 4, 4});
  const Gathers setting("1");
  reference::seed_random(5);
  Fields<REAL64> f;
  const auto norm_of_hops = [&] {
    hops(f, 12);
    return norm2(f.y);
  };
  jit::Memory& memory = jit::Memory::instance();
  const Double expected = norm_of_hops();
  const std::int64_t copied = launches_of_copies("gather");
  CHECK(copied > 0);
  memory.release_kept();
  const std::size_t bytes = f.u.size() * f.u[0].field()->device_bytes();  // of each of two copies
  memory.set_limit(memory.live_bytes());
  void* const block = memory.allocate(bytes);
  memory.free(block, bytes);
  memory.set_limit(0);
  memory.give_up_all();
  CHECK(toBool(norm_of_hops() == expected));
  CHECK(launches_of_copies("gather") > copied);
}

TEST_CASE("copies that nothing has used for long give their memory back, and are made again") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (tests::job_ranks() > 1) TESSERA_SKIP("messages come and go in the same memory");
  create_lattice({4, 4, 4, 4});
  const Gathers setting("1");
  reference::seed_random(6);
  Fields<REAL64> f;
  jit::Memory& memory = jit::Memory::instance();
  hops(f, 1);
  const std::size_t without = bytes_without_copies(f);
  const std::int64_t before = launches_of_copies("gather");
  hops(f, 12);
  CHECK(launches_of_copies("gather") == before + 2);
  const std::size_t with = memory.live_bytes();
  CHECK(with > without);
  for (int n = 0; n < 3; ++n) {  // what is used now and then stays
    something_else(f, 30);
    hops(f, 2);
  }
  CHECK(launches_of_copies("gather") == before + 2);
  CHECK(memory.live_bytes() == with);
  something_else(f, 100);
  CHECK(memory.live_bytes() == without);
  hops(f, 2);
  CHECK(launches_of_copies("gather") == before + 4);
  CHECK(memory.live_bytes() == with);
}

TEST_CASE("copies of contents that have gone go, too") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (tests::job_ranks() > 1) TESSERA_SKIP("messages come and go in the same memory");
  create_lattice({4, 4, 4, 4});
  const Gathers setting("1");
  reference::seed_random(8);
  Fields<REAL64> f;
  const auto change = [&] {
    for (auto& u : f.u) u *= Real64(2);
  };
  jit::Memory& memory = jit::Memory::instance();
  change();
  hops(f, 1);
  const std::size_t without = bytes_without_copies(f);
  hops(f, 12);
  const std::size_t with = memory.live_bytes();
  CHECK(with > without);
  change();
  hops(f, 2);
  CHECK(memory.live_bytes() == without);
  hops(f, 12);
  CHECK(memory.live_bytes() == with);
}

TEST_CASE("copies make way before more lives at once than ever, if they have served for long since they last did") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (tests::job_ranks() > 1) TESSERA_SKIP("messages come and go in the same memory");
  create_lattice({4, 4, 4, 4});
  const Gathers setting("1");
  reference::seed_random(9);
  Fields<REAL64> f;
  jit::Memory& memory = jit::Memory::instance();
  for (const bool long_enough : {true, false}) {
    CAPTURE(long_enough);
    bytes_without_copies(f);
    const std::int64_t before = launches_of_copies("gather");
    hops(f, long_enough ? 160 : 40);
    something_else(f);
    CHECK(launches_of_copies("gather") == before + 2);
    const std::size_t live = memory.live_bytes(), peak = memory.peak_bytes();
    const std::size_t bytes = jit::Memory::block_bytes(peak - live + 1);
    void* const block = memory.allocate(bytes);
    CHECK((memory.peak_bytes() == peak) == long_enough);
    CHECK((memory.live_bytes() < live + bytes) == long_enough);
    memory.free(block, bytes);
    hops(f, 2);
    CHECK(launches_of_copies("gather") == before + (long_enough ? 4 : 2));
  }
}

TEST_CASE("between the nearest caches and memory, hops are timed with copies and without, and one of the two goes on") {
  if (!may_gather()) TESSERA_SKIP("copies are for the caches of processors");
  if (Nd != 4 || Layout::numNodes() > 1) TESSERA_SKIP("one rank's share in four dimensions is as large as that");
  create_lattice({8, 8, 8, 8});
  const Setting gather("TESSERA_GATHER", "auto"), tune("TESSERA_TUNE", "1");
  jit::Runtime& runtime = jit::Runtime::instance();
  const int threads = runtime.threads();
  runtime.set_threads(1);
  const auto copies_of = [](Fields<REAL64>& f, int hops) {
    const std::int64_t before = launches_of_copies();
    for (int n = 0; n < hops; ++n) {
      f.y = f.hop(0);
      jit::run_deferred();
    }
    return launches_of_copies() - before;
  };
  reference::seed_random(7);
  Fields<REAL64> f;
  constexpr int kHops = 400, kOfEachWay = 12;  // at least, and what code is tried in comes on top
  const std::int64_t tried = copies_of(f, kHops);
  CHECK(tried >= kOfEachWay);
  CHECK(kHops - tried >= kOfEachWay);
  const std::int64_t later = copies_of(f, 50);
  CHECK((later == 0 || later == 50));
  const Setting none("TESSERA_TUNE", "0");
  runtime.set_threads(1);  // forgets
  CHECK(copies_of(f, 50) == 0);
  runtime.set_threads(threads);
}
