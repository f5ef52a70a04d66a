// Fields kept in fewer words than they have components: what is left of a value, every expression on every storage beside the
// same on a plain field with the same values, what does not fit, and what is refused.
#include "places.hpp"
#include "tests/jit/settings.hpp"
#include "tests/message_of.hpp"

#include "jit/memory/memory.hpp"
#include "jit/runtime.hpp"
#include "jit/support/error.hpp"
#include "qdp/expr/inspect.hpp"

#include <chrono>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <thread>

using namespace tests;
using namespace QDP;

namespace {

// Three colours, whatever the build has.
template <class W>
using Matrix = PScalar<PColorMatrix<RComplex<W>, 3>>;
template <class W>
using Vector = PScalar<PColorVector<RComplex<W>, 3>>;
template <class W>
using Links = OLattice<Matrix<W>>;

constexpr FieldStorage kStorages[] = {FieldStorage::two_rows,
                                      FieldStorage::two_rows_scaled,
                                      FieldStorage::two_rows_phased,
                                      FieldStorage::half,
                                      FieldStorage::two_rows_half,
                                      FieldStorage::two_rows_scaled_half,
                                      FieldStorage::two_rows_phased_half};

/// What its kind of numbers can tell, of a site's largest component.
template <class W>
double resolution(FieldStorage storage) {
  return detail::is_half(storage) ? 0x1p-15 : static_cast<double>(std::numeric_limits<W>::epsilon());
}
bool keeps_numbers(FieldStorage storage) { return detail::without_half(storage) != FieldStorage::two_rows; }
/// Of squares, relative.
double least_difference(FieldStorage storage) { return detail::is_half(storage) ? 1e-7 : 1e-28; }
bool refuses_some(FieldStorage storage) { return !detail::fits_all(storage); }

using Complex3 = std::array<std::complex<double>, 3>;
double dot(const Complex3& a, const Complex3& b, std::complex<double>& product) {
  product = 0;
  for (std::size_t c = 0; c < 3; ++c) product += std::conj(a[c]) * b[c];
  return std::abs(product);
}

/// SU(3), by orthogonalisation, times a number that the storage keeps.
template <class W>
Matrix<W> random_link(FieldStorage kept, std::complex<double> by) {
  const FieldStorage storage = detail::without_half(kept);
  Complex3 row[3];
  for (int r = 0; r < 2; ++r)
    for (auto& z : row[r]) z = {reference::random_real(), reference::random_real()};
  std::complex<double> p;
  const auto normalize = [&](Complex3& a) {
    dot(a, a, p);
    for (auto& z : a) z /= std::sqrt(p.real());
  };
  normalize(row[0]);
  for (int twice = 0; twice < 2; ++twice) {
    dot(row[0], row[1], p);
    for (std::size_t c = 0; c < 3; ++c) row[1][c] -= p * row[0][c];
    normalize(row[1]);
  }
  for (std::size_t c = 0; c < 3; ++c)
    row[2][c] = std::conj(row[0][(c + 1) % 3] * row[1][(c + 2) % 3] - row[0][(c + 2) % 3] * row[1][(c + 1) % 3]);
  const std::complex<double> factor = storage == FieldStorage::two_rows ? 1
                                      : storage == FieldStorage::two_rows_scaled
                                          ? (reference::random_integer(2) ? -1.0 : 1.0) * by.real()
                                          : by;
  Matrix<W> m;
  W* to = reinterpret_cast<W*>(&m);
  for (const auto& r : row)
    for (const auto& z : r) *to++ = static_cast<W>((factor * z).real()), *to++ = static_cast<W>((factor * z).imag());
  return m;
}

template <class W>
Links<W> random_links(FieldStorage storage) {
  std::vector<Matrix<W>> sites(Layout::vol());
  for (auto& m : sites)
    m = random_link<W>(storage, std::polar(0.3 + std::abs(reference::random_real()), 3 * reference::random_real()));
  Links<W> u;
  reference::put(u, sites);
  return u;
}

template <class T>
bool same_bits(const OLattice<T>& a, const OLattice<T>& b) {
  const auto x = reference::whole(a), y = reference::whole(b);
  return std::memcmp(x.data(), y.data(), x.size() * sizeof(T)) == 0;
}
template <class T>
bool same_bits(const OScalar<T>& a, const OScalar<T>& b) {
  return std::memcmp(&a.elem(), &b.elem(), sizeof(T)) == 0;
}

/// A field in the storage, and a plain one that holds what is left of its values.
template <class W>
struct Pair {
  explicit Pair(FieldStorage storage) : kept(storage) {
    kept = random_links<W>(storage);
    plain = kept;
  }
  Links<W> kept, plain;
};

/// What a storage leaves of a plain field.
template <class W>
Links<W> kept_of(FieldStorage storage, const Links<W>& u) {
  Links<W> kept(storage);
  kept = u;
  return Links<W>(std::as_const(kept));
}

template <class W, class Body>
void on_every_storage(Body body) {
  for (const FieldStorage storage : kStorages) {
    CAPTURE(std::string(name(storage)));
    body(storage);
  }
}

/// Those that do not hold every matrix.
template <class W, class Body>
void on_every_choosy_storage(Body body) {
  on_every_storage<W>([&](FieldStorage storage) {
    if (refuses_some(storage)) body(storage);
  });
}
/// Those that automatic choices know: in words of the type's own kind.
template <class W, class Body>
void on_every_full_storage(Body body) {
  on_every_storage<W>([&](FieldStorage storage) {
    if (!detail::is_half(storage)) body(storage);
  });
}

/// f of the kept field and of the plain one are the same bits.
#define CHECK_SAME(...)                                                                                                \
  do {                                                                                                                 \
    const auto f = [&](const auto& v) { return __VA_ARGS__; };                                                         \
    CHECK_MESSAGE(same_bits(f(pair.kept), f(pair.plain)), #__VA_ARGS__);                                               \
  } while (false)

}  // namespace

TEST_CASE_TEMPLATE("a matrix comes back as far as its word can tell", W, float, double) {
  create_lattice({4, 2, 4, 2});
  on_every_storage<W>([](FieldStorage storage) {
    const Links<W> u = random_links<W>(storage);
    Links<W> v(storage);
    v = u;
    const Links<W> back = v;
    CHECK(v.storage() == storage);
    CHECK(back.storage() == FieldStorage::plain);
    const auto given = reference::whole(u), left = reference::whole(back);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const W *a = reinterpret_cast<const W*>(&given[i]), *b = reinterpret_cast<const W*>(&left[i]);
      double scale = 0;
      for (int k = 0; k < 18; ++k) scale = std::max(scale, std::abs(static_cast<double>(a[k])));
      const double rounding = resolution<W>(storage) * scale;
      if (!detail::is_half(storage)) CHECK(std::memcmp(a, b, 12 * sizeof(W)) == 0);  // two rows are kept
      for (int k = 0; k < 12; ++k) CHECK(std::abs(double(a[k]) - double(b[k])) <= rounding);
      for (int k = 12; k < 18; ++k) CHECK(std::abs(double(a[k]) - double(b[k])) <= 8 * rounding);
    }
    CHECK(v.field()->components() < u.field()->components());
  });
}

TEST_CASE_TEMPLATE("expressions give the bits that a plain field with the same values gives", W, float, double) {
  for (const Extents& extents : shared_out({{4, 4, 4, 8}, {3, 5, 2, 2}})) {
    create_lattice(extents);
    const int mu = QDP_ND - 1;
    on_every_storage<W>([&](FieldStorage storage) {
      const Pair<W> pair(storage);
      const auto psi = random_lattice<Vector<W>>();
      const auto m = random_lattice<Matrix<W>>();
      using M = Links<W>;
      using V = OLattice<Vector<W>>;
      CHECK_SAME(V(v * psi));
      CHECK_SAME(V(adj(v) * psi));
      CHECK_SAME(V(v * shift(psi, FORWARD, 0) - shift(adj(v) * psi, BACKWARD, 0)));
      CHECK_SAME(M(v * shift(v, FORWARD, mu) * adj(shift(v, BACKWARD, 0)) * m));
      CHECK_SAME(M(shift(shift(v, FORWARD, 0), BACKWARD, mu)));
      CHECK_SAME(M(v + m));
      CHECK_SAME(M(transpose(v) * Real(0.3)));
      CHECK_SAME(OLattice<PScalar<PScalar<RComplex<W>>>>(trace(v * m)));
      CHECK_SAME(OLattice<PScalar<PScalar<RComplex<W>>>>(peekColor(v, 2, 1)));
      CHECK_SAME(OLattice<PScalar<PScalar<RComplex<W>>>>(peekColor(v, 0, 2)));
      CHECK_SAME(OLattice<PScalar<PScalar<RComplex<W>>>>(shift(peekColor(v, 2, 2), BACKWARD, 0)));
      CHECK_SAME(norm2(v));
      CHECK_SAME(norm2(v, rb[1]));
      CHECK_SAME(sum(v));
      CHECK_SAME(innerProduct(v, m));
      CHECK_SAME(sum(real(trace(v * shift(adj(v), FORWARD, 0)))));
      CHECK_SAME([&] {
        M x = m;
        x[rb[1]] = v * v;
        x += v;
        return x;
      }());
      CHECK_SAME(Links<float>(v));
      CHECK_SAME(Links<double>(v));
    });
  }
}

TEST_CASE_TEMPLATE("a kept field that is a destination has what its storage leaves", W, float, double) {
  create_lattice({4, 4, 2, 4});
  on_every_storage<W>([&](FieldStorage storage) {
    const Pair<W> a(storage), b(storage);
    Links<W> v(storage), expected(storage), plain;
    // Of a value computed before, and of the same in the statement.
    plain = a.plain * b.plain;
    expected = plain;
    v = a.kept * b.kept;
    CHECK(same_bits(Links<W>(v), Links<W>(expected)));
    // Read before anybody has looked: what waits is computed from what its storage leaves.
    Links<W> w = a.kept * b.kept, left;
    v = w;
    left = v * a.plain;
    const Links<W> stored = v;
    CHECK(same_bits(left, Links<W>(stored * a.plain)));
    // Itself on the right, shifted, on a part, and the rest untouched.
    plain = v;
    v = shift(v, FORWARD, 0);
    CHECK(same_bits(Links<W>(v), Links<W>(shift(plain, FORWARD, 0))));
    plain = v;
    v[rb[0]] = adj(v);
    Links<W> turned = plain;
    expected = adj(plain);
    turned[rb[0]] = expected;
    CHECK(same_bits(Links<W>(v), turned));
    v = where(Layout::latticeCoordinate(0) < 2, adj(v), v);  // the sites that stay keep their words
    expected = adj(turned);
    CHECK(same_bits(Links<W>(v), Links<W>(where(Layout::latticeCoordinate(0) < 2, expected, turned))));
    v = b.kept;
    CHECK(same_bits(Links<W>(v), b.plain));
    if (keeps_numbers(storage)) {
      v *= Real(-1.25);
      expected = Links<W>(b.plain * Real(-1.25));
      CHECK(same_bits(Links<W>(v), Links<W>(expected)));
    }
    v = 1;
    const double expected_norm =
        3.0 * static_cast<double>(Layout::vol());  // 1 is 32767/32768 in 16 bits without a scale
    const double allowed = storage == FieldStorage::two_rows_half ? 1e-4 : 0;
    CHECK(std::abs(toDouble(norm2(v)) - expected_norm) <= allowed * expected_norm);
  });
}

TEST_CASE("what waits goes through the storage as what does not") {
  create_lattice({4, 4, 2, 4});
  on_every_storage<double>([&](FieldStorage storage) {
    const Pair<double> a(storage);
    const auto psi = random_lattice<Vector<double>>();
    OLattice<Vector<double>> together, apart;
    Links<double> v(storage);
    const auto aside = random_links<double>(storage);
    v = aside;  // waits, unless it is looked at
    together = v * psi;
    const OLattice<Vector<double>> first = together;
    v = aside;
    peekSite(v, to_multi1d(Extents(0, 0, 0, 0)));
    apart = v * psi;
    CHECK(same_bits(first, apart));
  });
}

TEST_CASE("fields of the same type in other storages are other statements") {
  create_lattice({2, 2, 2, 2});
  Links<double> plain, rows(FieldStorage::two_rows), scaled(FieldStorage::two_rows_scaled), half(FieldStorage::half);
  plain = 1, rows = 1, scaled = 1, half = 1;
  const auto psi = random_lattice<Vector<double>>();
  OLattice<Vector<double>> chi;
  const auto key = [&](const Links<double>& u) {
    return detail::inspect_assign(chi.field(), detail::shape_of<Vector<double>>, all.domain(), detail::to_expr(u * psi))
        .key;
  };
  CHECK(key(plain) != key(rows));
  CHECK(key(rows) != key(scaled));
  CHECK(key(plain) != key(scaled));
  CHECK(key(plain) != key(half));
  const auto store_key = [&](const Links<double>& to) {
    return detail::inspect_assign(to.field(), detail::shape_of<Matrix<double>>, all.domain(),
                                  detail::to_expr(plain * plain))
        .key;
  };
  CHECK(store_key(plain) != store_key(rows));
  CHECK(store_key(rows) != store_key(scaled));
  for (const Links<double>* u : {&plain, &rows, &scaled, &half, &rows, &plain}) {  // in either order
    chi = *u * psi;
    CHECK(same_bits(chi, psi));
  }
}

TEST_CASE_TEMPLATE("a matrix that does not fit is an error that names it, and nothing has changed", W, float, double) {
  create_lattice({4, 2, 2, 4});
  on_every_choosy_storage<W>([](FieldStorage storage) {
    const Links<W> u = random_links<W>(storage);
    Links<W> v(storage);
    v = u;
    const Links<W> before = v;
    const Extents x(3, 1, 0, 2);
    const auto site = to_multi1d(x);
    Links<W> bent = u;
    // Within the tolerance, and beyond it.
    const double tolerance = detail::storage_tolerance(storage, detail::shape_of<Matrix<W>>.word);
    OScalar<Matrix<W>> m = peekSite(u, site);
    const auto bend = [&](double by) {
      OScalar<Matrix<W>> n = m;
      n.elem().elem().elem(2, 0).real() += static_cast<W>(by * std::sqrt(toDouble(norm2(m))));
      pokeSite(bent, n, site);
    };
    bend(0.4 * tolerance);
    v = bent;
    v = u;
    bend(4 * tolerance);
    const std::string text = message_of([&] { v = bent; });
    CHECK_MESSAGE(contains(text, "storage " + std::string(name(storage))), text);
    CHECK_MESSAGE(contains(text, "1 sites do not fit"), text);
    if (jit::process_communicator().size() == 1) {
      std::string coordinates = "at site (3";
      for (int mu = 1; mu < QDP_ND; ++mu) coordinates += ", " + std::to_string(x[static_cast<std::size_t>(mu)]);
      CHECK_MESSAGE(contains(text, coordinates + ")"), text);
      // Of several the worst is named, with its own deviation.
      const auto deviation = [](const std::string& message) {
        const std::size_t end = message.find(" at site ("), begin = message.rfind(' ', end - 1) + 1;
        REQUIRE(end != std::string::npos);
        return std::stod(message.substr(begin, end - begin));
      };
      CHECK_MESSAGE(deviation(text) > tolerance, text);
      CHECK_MESSAGE(deviation(text) < 8 * tolerance, text);
      for (const Extents& y : {Extents(1, 1, 1, 3), Extents(0, 0, 0, 0)}) {
        Links<W> worse = bent;
        OScalar<Matrix<W>> n = peekSite(u, to_multi1d(y));
        n.elem().elem().elem(2, 0).real() += static_cast<W>(12 * tolerance * std::sqrt(toDouble(norm2(n))));
        pokeSite(worse, n, to_multi1d(y));
        const std::string of_two = message_of([&] { v = worse; });
        CHECK_MESSAGE(contains(of_two, "2 sites do not fit"), of_two);
        CHECK_MESSAGE(contains(of_two, "at site (" + std::to_string(y[0]) + ", "), of_two);
        CHECK_MESSAGE(deviation(of_two) == doctest::Approx(3 * deviation(text)).epsilon(0.2), of_two);
      }
    }
    CHECK(same_bits(Links<W>(v), before));
    v[rb[parity_of(x) == 0 ? 1 : 0]] = bent;  // there it fits
    CHECK(same_bits(Links<W>(v), before));
    CHECK(message_of([&] { v[rb[parity_of(x)]] = bent; }) != "no error");
    // NaN, and matrices of another kind.
    m.elem().elem().elem(0, 1).imag() = std::numeric_limits<W>::quiet_NaN();
    pokeSite(bent, m, site);
    CHECK(message_of([&] { v = bent; }) != "no error");
    CHECK(message_of([&] { v = u + u * Real(0.5) + shift(u, FORWARD, 0); }) != "no error");
    const bool doubled = message_of([&] { v += u; }) == "no error";
    CHECK(doubled == keeps_numbers(storage));
  });
}

TEST_CASE("squares that are no numbers tell nothing: such values do not fit") {
  create_lattice({2, 2, 2, 2});
  on_every_choosy_storage<double>([](FieldStorage storage) {
    const auto scattered = random_lattice<Matrix<double>>();
    for (const double size : {1e160, 1e-170, 1e-300}) {
      Links<double> v(storage), u;
      u = scattered * Real(size);
      CHECK(message_of([&] { v = u; }) != "no error");
    }
    // Multiples of SU(3) within the range that squares have do, and nought does.
    if (!keeps_numbers(storage)) return;
    Links<double> v(storage), u = random_links<double>(storage);
    u *= Real(detail::is_half(storage) ? 1e-20 : 1e-60);
    v = u;
    CHECK(toDouble(norm2(Links<double>(v) - u)) < least_difference(storage) * toDouble(norm2(u)));
  });
}

TEST_CASE("nought fits every storage, alone and among others") {
  create_lattice({4, 2, 2, 2});
  on_every_storage<double>([](FieldStorage storage) {
    Links<double> v(storage), u = random_links<double>(storage);
    v = zero;
    CHECK(toDouble(norm2(v)) == 0);
    u[rb[0]] = zero;
    v = u;
    CHECK(toDouble(norm2(v, rb[0])) == 0);
    CHECK(toDouble(norm2(v - u)) < least_difference(storage) * toDouble(norm2(u)));
    if (!detail::is_half(storage)) CHECK(fittingStorage(u, 1e-14) == storage);
    v[rb[1]] = zero;
    CHECK(toDouble(norm2(v)) == 0);
  });
}

TEST_CASE("links are reduced to the same bits in two rows and whole, once and again") {
  create_lattice({2, 4, 2, 2});
  on_every_full_storage<double>([](FieldStorage storage) {
    const Links<double> u = random_links<double>(storage);
    const auto reduced = [&](const char* two_rows, int times) {
      const Setting setting("TESSERA_TWO_ROWS", two_rows);
      multi1d<Links<double>> links(1);
      links[0] = u;
      for (int i = 0; i < times; ++i) compact(links);
      CHECK((links[0].storage() == FieldStorage::plain) == (*two_rows == '0'));
      return Links<double>(std::as_const(links[0]));
    };
    for (const int times : {1, 2, 3}) CHECK(same_bits(reduced("0", times), reduced("1", times)));
    CHECK(toDouble(norm2(reduced("1", 3) - u)) < 1e-28 * toDouble(norm2(u)));
  });
}

TEST_CASE("in which storage links are read in less time is tried, once for each reader") {
  create_lattice({16, 16, 4, 4});
  const Setting undecided("TESSERA_TWO_ROWS", "auto"), timed("TESSERA_TUNE", "1");
  jit::Runtime& runtime = jit::Runtime::instance();
  const auto per_link = Layout::sitesOnNode() * static_cast<int>(sizeof(Matrix<double>));
  const int threads = runtime.threads();
  const int many = (4 << 20) * (threads + 1) / per_link + 1;  // of which caches need not hold all
  const Links<double> u = random_links<double>(FieldStorage::two_rows);
  const auto links = [&](int n) {
    multi1d<Links<double>> copies(n);
    copies = u;
    return copies;
  };
  // Readers that take long with links in one storage.
  int calls[2] = {};
  multi1d<Links<double>> present = links(many);
  const auto wait_if = [&](bool it) {
    ++calls[present[0].storage() == FieldStorage::plain ? 0 : 1];
    if (it) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  };
  using F = OLattice<Vector<double>>;
  const auto slow_when_plain = [&](const F& x) {
    wait_if(present[0].storage() == FieldStorage::plain);
    return present[0] * x;
  };
  const auto slow_in_two_rows = [&](const F& x) {
    wait_if(present[0].storage() != FieldStorage::plain);
    return present[0] * shift(x, FORWARD, 0);
  };
  const auto is_right = [&](FieldStorage storage, int n) {
    bool right = present.size() == n;
    for (int i = 0; i < present.size(); ++i)
      right =
          right && present[i].storage() == storage && same_bits(Links<double>(present[i]), Links<double>(present[0]));
    return right && toDouble(norm2(Links<double>(present[0]) - u)) < 1e-28 * toDouble(norm2(u));
  };
  const bool has_caches = runtime.has_caches();  // else less to move is less time
  const FieldStorage plain = has_caches ? FieldStorage::plain : FieldStorage::two_rows;
  for (const int n : {threads, threads + 1}) {  // another machine, as it were
    runtime.set_threads(n);
    calls[0] = calls[1] = 0;
    present = links(many);
    compact<F>(present, slow_when_plain);
    CHECK(is_right(FieldStorage::two_rows, many));
    CHECK(calls[0] == calls[1]);
    CHECK((calls[0] == 0) == !has_caches);
    const int once = calls[0];
    present = links(many);
    compact<F>(present, slow_when_plain);
    CHECK(is_right(FieldStorage::two_rows, many));
    CHECK(calls[0] == once);
    present = links(many);
    compact<F>(present, slow_in_two_rows);
    CHECK(is_right(plain, many));
  }
  runtime.set_threads(threads);
  calls[0] = 0;
  const auto never = [&](const F& x) {
    ++calls[0];
    return present[1] * x;
  };
  // Few links are not tried, nor where the answer is given or no time may be taken.
  present = links(2);
  compact<F>(present, never);
  CHECK(is_right(plain, 2));
  for (const char* two_rows : {"0", "1"}) {
    const Setting given("TESSERA_TWO_ROWS", two_rows);
    present = links(many);
    compact<F>(present, never);
    CHECK(is_right(*two_rows == '1' ? FieldStorage::two_rows : FieldStorage::plain, many));
  }
  {
    const Setting untimed("TESSERA_TUNE", "0");
    present = links(many);
    compact<F>(present, never);
  }
  if (has_caches) {  // nor if there is no memory for both storages and what reading them takes
    jit::Memory& memory = jit::Memory::instance();
    present = links(many);
    memory.set_limit(memory.live_bytes() + 3 * static_cast<std::size_t>(many) * static_cast<std::size_t>(per_link));
    compact<F>(present, never);
    memory.set_limit(0);
  }
  CHECK(calls[0] == 0);
  CHECK(is_right(present[0].storage(), many));
  // What a reader throws ends the trial; the values are there.
  present = links(many);
  const auto fails = [&](const F& x) -> decltype(present[1] * x) { throw std::runtime_error("a reader"); };
  if (has_caches) CHECK_THROWS_AS(compact<F>(present, fails), std::runtime_error);
  CHECK(is_right(present[0].storage(), many));
}

TEST_CASE("the storage of fewest words that fits") {
  create_lattice({2, 4, 2, 2});
  const double bound = 16 * std::numeric_limits<double>::epsilon();
  CHECK(fittingStorage(random_links<double>(FieldStorage::two_rows), bound) == FieldStorage::two_rows);
  CHECK(fittingStorage(random_links<double>(FieldStorage::two_rows_scaled), bound) == FieldStorage::two_rows_scaled);
  CHECK(fittingStorage(random_links<double>(FieldStorage::two_rows_phased), bound) == FieldStorage::two_rows_phased);
  CHECK(fittingStorage(random_lattice<Matrix<double>>(), bound) == FieldStorage::plain);
  CHECK(fittingStorage(random_links<float>(FieldStorage::two_rows), bound) == FieldStorage::plain);
  CHECK(fittingStorage(random_lattice<Vector<double>>(), bound) == FieldStorage::plain);
  Links<double> minus = random_links<double>(FieldStorage::two_rows);
  minus[rb[1]] = -minus;
  CHECK(fittingStorage(minus, bound) == FieldStorage::two_rows_scaled);
  minus = zero;
  CHECK(fittingStorage(minus, bound) == FieldStorage::two_rows);
}

TEST_CASE("sites, and what there is not") {
  create_lattice({4, 2, 2, 2});
  on_every_storage<double>([](FieldStorage storage) {
    Pair<double> pair(storage);
    const auto site = to_multi1d(Extents(2, 1, 1, 0));
    CHECK(same_bits(peekSite(pair.kept, site), peekSite(pair.plain, site)));
    CHECK(same_bits(getSite(pair.kept, 3), getSite(pair.plain, 3)));
    const OScalar<Matrix<double>> m = peekSite(pair.plain, to_multi1d(Extents(1, 0, 1, 1)));
    pokeSite(pair.kept, m, site);
    pokeSite(pair.plain, peekSite(kept_of(storage, Links<double>(m)), site), site);
    CHECK(same_bits(Links<double>(pair.kept), pair.plain));
    OScalar<Matrix<double>> bent = m;
    bent.elem().elem().elem(2, 2).real() += 0.1;
    if (refuses_some(storage)) {
      CHECK(message_of([&] { pokeSite(pair.kept, bent, site); }) != "no error");
      CHECK(same_bits(Links<double>(pair.kept), pair.plain));
    }

    // Sites beside the one that is poked need no contents.
    Links<double> fresh(storage);
    pokeSite(fresh, m, site);
    CHECK(same_bits(peekSite(fresh, site), peekSite(kept_of(storage, Links<double>(m)), site)));
    pair.kept = where(Layout::latticeCoordinate(0) > 0, pair.plain, fresh);
    pair.kept[all] = pair.plain;
    pair.plain = pair.kept;

    // Single sites of files go through plain fields.
    BinaryBufferWriter out;
    write(out, pair.plain, site);
    BinaryBufferReader in(out.str());
    CHECK(contains(message_of([&] { QDP::read(in, pair.kept, site); }), "compressed storage"));
    CHECK(same_bits(Links<double>(pair.kept), pair.plain));

    // What a failed statement should have written is not there.
    Links<double> lost(storage);
    lost.field()->lose(std::make_shared<const std::string>("a test"));
    CHECK(contains(message_of([&] { getSite(lost, 0); }), "a test"));
    CHECK(contains(message_of([&] { peekSite(lost, site); }), "a test"));
    CHECK(contains(message_of([&] { lost.setStorage(FieldStorage::plain); }), "a test"));

    const Links<double>& read = pair.kept;
    CHECK(contains(message_of([&] { static_cast<void>(read.elem(0)); }), "compressed storage"));
    CHECK(contains(message_of([&] { pair.kept.elem(0) = m.elem(); }), "compressed storage"));
    CHECK(contains(message_of([&] { static_cast<void>(read.getF()); }), "compressed storage"));
    CHECK(contains(message_of([&] { static_cast<void>(pair.kept.getF()); }), "compressed storage"));
    if (refuses_some(storage)) {
      CHECK(contains(message_of([&] { random(pair.kept); }), "do not fit"));
      CHECK(same_bits(Links<double>(pair.kept), pair.plain));
    }
  });
  CHECK(contains(message_of([] { OLattice<Vector<double>> psi(FieldStorage::two_rows); }), "two_rows"));
  CHECK(contains(message_of([] { OLattice<PScalar<PColorMatrix<RComplex<double>, 2>>> u(FieldStorage::two_rows); }),
                 "two_rows"));
}

TEST_CASE("copies, moves, and another storage") {
  create_lattice({2, 2, 4, 2});
  on_every_storage<double>([](FieldStorage storage) {
    Pair<double> pair(storage);
    Links<double> copy = pair.kept;
    CHECK(copy.storage() == FieldStorage::plain);
    copy = zero;
    copy = pair.kept;
    CHECK(copy.storage() == FieldStorage::plain);
    CHECK(same_bits(copy, pair.plain));
    Links<double> to(storage);
    to = Links<double>(pair.plain);  // moved from a plain one: stays what it is
    CHECK(to.storage() == storage);
    const Links<double> left = kept_of(storage, pair.plain);
    CHECK(same_bits(Links<double>(to), left));
    Links<double> moved = std::move(to);
    CHECK(moved.storage() == storage);
    CHECK(same_bits(Links<double>(moved), left));
    moved.setStorage(FieldStorage::plain);
    CHECK(same_bits(moved, left));
    const FieldStorage other =
        detail::is_half(storage) ? FieldStorage::two_rows_phased_half : FieldStorage::two_rows_phased;
    moved.setStorage(other);
    CHECK(moved.storage() == other);
    Links<double> sum = pair.plain;
    sum += shift(sum, FORWARD, 0);
    const Links<double> before = sum;
    if (refuses_some(storage)) {
      CHECK(message_of([&] { sum.setStorage(storage); }) != "no error");
      CHECK(sum.storage() == FieldStorage::plain);
    }
    CHECK(same_bits(sum, before));
    multi1d<Links<double>> array(2);  // an array keeps what its elements were set to
    array[1].setStorage(storage) = pair.plain;
    CHECK(array[1].storage() == storage);
    CHECK(same_bits(Links<double>(array[1]), left));
  });
}

// ---- sixteen bits

namespace {

/// What sixteen bits leave of a site, by the formula of qdp/expr/storage.hpp.
template <class T>
T rounded_to_half(const T& site) {
  using W = typename WordType<T>::Type_t;
  constexpr std::size_t kWords = sizeof(T) / sizeof(W);
  T result = site;
  W* x = reinterpret_cast<W*>(&result);
  float most = 0;
  bool is_number = true;
  for (std::size_t i = 0; i < kWords; ++i) {
    most = std::max(most, std::fabs(static_cast<float>(x[i])));
    is_number = is_number && std::fabs(x[i]) < static_cast<W>(0x1p118);
  }
  int e;
  std::frexp(most, &e);
  for (std::size_t i = 0; i < kWords; ++i) {
    const double q = std::clamp(std::nearbyint(std::ldexp(static_cast<double>(static_cast<float>(x[i])), 15 - e)),
                                -32767.0, 32767.0);
    x[i] =
        !is_number ? std::numeric_limits<W>::quiet_NaN() : static_cast<W>(most < 0x1p-112f ? 0 : std::ldexp(q, e - 15));
  }
  return result;
}

/// The same numbers, noughts of either sign and any NaN among them.
template <class T>
bool same_values(const std::vector<T>& a, const std::vector<T>& b) {
  using W = typename WordType<T>::Type_t;
  const W *x = reinterpret_cast<const W*>(a.data()), *y = reinterpret_cast<const W*>(b.data());
  for (std::size_t i = 0; i < a.size() * sizeof(T) / sizeof(W); ++i)
    if (x[i] != y[i] && !(std::isnan(x[i]) && std::isnan(y[i]))) return false;
  return true;
}

template <class W>
using Spinor = OLattice<PSpinVector<PColorVector<RComplex<W>, 3>, 4>>;

}  // namespace

TEST_CASE_TEMPLATE("sixteen bits leave the nearest of 65535 numbers, to the scale of the site", T,
                   PSpinVector<PColorVector<RComplex<float>, 3>, 4>, PSpinVector<PColorVector<RComplex<double>, 3>, 4>,
                   PScalar<PColorVector<RComplex<float>, 3>>, PScalar<PScalar<RScalar<float>>>,
                   PSpinVector<PScalar<RScalar<double>>, 3>, PScalar<PColorMatrix<RComplex<double>, 5>>) {
  using W = typename WordType<T>::Type_t;
  create_lattice({4, 2, 4, 2});
  constexpr std::size_t kWords = sizeof(T) / sizeof(W);
  std::vector<T> sites(Layout::vol());
  for (std::size_t i = 0; i < sites.size(); ++i) {
    W* x = reinterpret_cast<W*>(&sites[i]);
    const double scale = std::ldexp(1.0, reference::random_integer(200) - 100);
    for (std::size_t c = 0; c < kWords; ++c) x[c] = static_cast<W>(scale * reference::random_real());
    if (i == 0) x[0] = std::numeric_limits<W>::quiet_NaN();
    if (i == 1) x[kWords - 1] = -std::numeric_limits<W>::infinity();
    if (i == 2) std::fill_n(x, kWords, W(0));
    if (i == 3) std::fill_n(x, kWords, W(-1));
    if (i == 4) std::fill_n(x, kWords, static_cast<W>(-0.99999999));
    if (i == 5) x[0] = static_cast<W>(-scale), x[kWords - 1] = static_cast<W>(scale * 0.49999);
    if (i == 6) x[0] = std::numeric_limits<W>::max();
    if (i == 10) std::fill_n(x, kWords, static_cast<W>(0x1p118));
    if (i == 7) std::fill_n(x, kWords, static_cast<W>(0x1p-112));
    if (i == 8) std::fill_n(x, kWords, std::nextafter(static_cast<W>(0x1p-112), W(0)));
    if (i == 9) std::fill_n(x, kWords, static_cast<W>(-0x1.fffffep117));
  }
  OLattice<T> v(FieldStorage::half), given;
  reference::put(given, sites);
  v = given;
  const OLattice<T> left = v;
  std::vector<T> expected;
  for (const T& site : reference::whole(given)) expected.push_back(rounded_to_half(site));
  CHECK(same_values(reference::whole(left), expected));
  v = left;  // encoded anew: the same
  CHECK(same_values(reference::whole(OLattice<T>(v)), expected));
  CHECK(v.field()->components() * 4 == (kWords + 1) / 2 * 4 + 4);
  CHECK(jit::ir::bytes(v.field()->word()) == 4);
}

TEST_CASE_TEMPLATE("expressions of spinors in sixteen bits", W, float, double) {
  for (const Extents& extents : shared_out({{4, 4, 4, 8}, {3, 5, 2, 2}})) {
    create_lattice(extents);
    struct {
      Spinor<W> kept{FieldStorage::half}, plain;
    } pair;
    pair.kept = random_lattice<PSpinVector<PColorVector<RComplex<W>, 3>, 4>>();
    pair.plain = pair.kept;
    Links<W> u(FieldStorage::two_rows_half), whole = random_links<W>(FieldStorage::two_rows);
    u = whole;
    whole = u;
    const int mu = QDP_ND - 1;
    using S = Spinor<W>;
    CHECK_SAME(S(u * v));
    CHECK(same_bits(S(u * pair.kept), S(whole * pair.plain)));
    CHECK_SAME(S(shift(v, FORWARD, 0) - shift(shift(v, BACKWARD, mu), FORWARD, 0)));
    CHECK_SAME(S(u * shift(v, FORWARD, mu) + shift(adj(u) * v, BACKWARD, mu)));
    CHECK_SAME(S(Gamma(5) * v + Real(0.25) * v));
    CHECK_SAME(OLattice<PSpinVector<PColorVector<RComplex<W>, 3>, 2>>(spinProject(v, 0, 1)));
    CHECK_SAME(OLattice<PScalar<PColorVector<RComplex<W>, 3>>>(peekSpin(v, 2)));
    CHECK_SAME(norm2(v));
    CHECK_SAME(innerProduct(v, shift(v, FORWARD, mu), rb[1]));
    CHECK_SAME(sum(v));
    CHECK_SAME(Spinor<double>(v));
    // As a destination: what is stored is what is read, in the same statement's kernel or another.
    Spinor<W> x(FieldStorage::half), y;
    y = u * pair.plain;
    x = y;
    const Spinor<W> left = x;
    x = u * pair.kept;
    CHECK(same_bits(Spinor<W>(x), left));
    y = x;
    x[rb[0]] += Real(0.5) * pair.kept;
    y[rb[0]] += Real(0.5) * pair.plain;
    Spinor<W> stored(FieldStorage::half);
    stored = y;
    CHECK(same_bits(Spinor<W>(x), Spinor<W>(stored)));
    x = shift(x, BACKWARD, 0);
    CHECK(same_bits(Spinor<W>(x), Spinor<W>(shift(Spinor<W>(stored), BACKWARD, 0))));
  }
}

TEST_CASE("what has no form in sixteen bits") {
  create_lattice({2, 2, 2, 2});
  CHECK(contains(message_of([] { LatticePropagator p(FieldStorage::half); }), "no spin matrix"));
  CHECK(contains(message_of([] { LatticeInteger n(FieldStorage::half); }), "single or double precision"));
  CHECK(contains(message_of([] { LatticeFermion psi(FieldStorage::two_rows_half); }), "three colours"));
}
