// Names that existing programs use beside the algebra: header names, hints, the allocator, functions of built-in numbers, templates
// over QDPType, parts with storage of their own, names of QIO. Each with what it does in QDP++.
//
// QDP++'s header names, in an order in which one would miss what another brings.
// clang-format off
#include "qdp_precision.h"
#include "qdp_params.h"
static_assert(sizeof(REAL32) == 4 && sizeof(REAL) * 8 == BASE_PRECISION && QDP::Nd == QDP_ND);
#include "qdp_allocator.h"
static_assert(QDP::Allocator::DEFAULT != QDP::Allocator::FAST);
#include "qdp_default_allocator.h"
#include "qdp_stdio.h"
#include "qdp_singleton.h"
#include "qdp_multi.h"
#include "qdp_arrays.h"
#include "qdp_byteorder.h"
#include "qdp_crc32.h"
#include "qdp_stopwatch.h"
#include "qdp_layout.h"
#include "qdp_subset.h"
#include "qdp_init.h"
#include "qdp_profile.h"
#include "qdp_dispatch.h"
#include "qdp_threadbind.h"
#include "qdp_flopcount.h"
#include "qdp_map.h"
#include "qdp_random.h"
#include "qdp_xmlio.h"
#include "qdp_qdpio.h"
#include "qdp_iogauge.h"
#include "qio.h"
#include "qdp_util.h"
#include "qdp_io.h"
#include "qdp_rannyu.h"
#include "qdp_map_obj.h"
#include "qdp_forward.h"
#include "qdp_traits.h"
#include "qdp_qdpexpr.h"
#include "qdp_qdptype.h"
#include "qdp_qdpsubtype.h"
#include "qdp_newops.h"
#include "qdp_optops.h"
#include "qdp_simpleword.h"
#include "qdp_reality.h"
#include "qdp_inner.h"
#include "qdp_primitive.h"
#include "qdp_primscalar.h"
#include "qdp_primvector.h"
#include "qdp_primmatrix.h"
#include "qdp_primcolorvec.h"
#include "qdp_primcolormat.h"
#include "qdp_primspinvec.h"
#include "qdp_primspinmat.h"
#include "qdp_primseed.h"
#include "qdp_primgamma.h"
#include "qdp_outer.h"
#include "qdp_outersubtype.h"
#include "qdp_defs.h"
#include "qdp_globalfuncs.h"
#include "qdp_globalfuncs_subtype.h"
#include "qdp_specializations.h"
#include "qdp_diagnostics.h"
#include "qdp_strnlen.h"
#include "QDPOperators.h"
#include "qdp.h"
// clang-format on

#include "operations.hpp"
#include "tests/message_of.hpp"
#include "tests/printed.hpp"
#include "tests/temporary_folder.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <sstream>
#include <thread>
#include <vector>

QDPXX_MESSAGE("says nothing")

using namespace QDP;
using namespace QDP::Hints;  // as Chroma does: the names of both must not be in each other's way
using tests::contains;
using tests::create_lattice;
using tests::message_of;
using tests::random_lattice;
using D = QDP::detail::Sites<double>;
using F = QDP::detail::Sites<float>;

namespace {

bool aligned(const void* p, std::size_t bytes) { return reinterpret_cast<std::uintptr_t>(p) % bytes == 0; }

struct CaptureNamedCout {
  CaptureNamedCout() { QDPIO::cout.init(&text); }
  ~CaptureNamedCout() { QDPIO::cout.init(nullptr); }
  std::ostringstream text;
};

}  // namespace

TEST_CASE("hints change no value, in all the ways in which they are given") {
  create_lattice({4, 4, 4, 8});
  auto psi = random_lattice<D::Fermion>();
  const double before = toDouble(norm2(psi));
  multi1d<LatticeColorMatrix> u(Nd);
  u = zero;
  moveToFastMemoryHint(psi);
  moveToFastMemoryHint(psi, true);
  Hints::moveToFastMemoryHint(u);
  QDP::moveToFastMemoryHint(u, true);
  psi.moveToFastMemoryHint();
  u.moveToFastMemoryHint(true);
  CHECK(toDouble(norm2(psi)) == before);
  revertFromFastMemoryHint(psi, true);
  revertFromFastMemoryHint(u);
  psi.revertFromFastMemoryHint(true);
  CHECK(toDouble(norm2(psi)) == before);
  CHECK(toDouble(norm2(u)) == 0);
}

TEST_CASE("the allocator hands out aligned memory that is its caller's alone, and takes it back") {
  auto& allocator = Allocator::theQDPAllocator::Instance();
  CHECK(&allocator == &QDP::Allocator::theQDPAllocator::Instance());
  const std::size_t before = allocator.bytes();
  std::vector<unsigned char*> blocks;
  for (int i = 0; i < 20; ++i) {
    const std::size_t bytes = static_cast<std::size_t>(1 + 37 * i);
    blocks.push_back(
        static_cast<unsigned char*>(allocator.allocate(bytes, i % 2 == 0 ? Allocator::DEFAULT : QDP::Allocator::FAST)));
    CHECK(aligned(blocks.back(), QDP_ALIGNMENT_SIZE));
    CHECK(allocator.bytes(blocks.back()) == bytes);
    for (std::size_t b = 0; b < bytes; ++b) blocks.back()[b] = static_cast<unsigned char>(i);
  }
  for (int i = 0; i < 20; ++i)
    for (int b = 0; b < 1 + 37 * i; ++b) REQUIRE(blocks[static_cast<std::size_t>(i)][b] == i);
  CHECK(allocator.bytes() == before + 20 + 37 * 190);
  for (auto* block : blocks) allocator.free(block);
  CHECK(allocator.bytes() == before);
  CHECK(allocator.allocate(0, Allocator::DEFAULT) == nullptr);
  allocator.free(nullptr);
  CHECK(contains(message_of([&] { allocator.free(blocks[3]); }), "still allocated"));  // a second time
  int own = 0;
  CHECK(contains(message_of([&] { allocator.free(&own); }), "QDP::Allocator"));
  CHECK_THROWS_AS(allocator.allocate(std::numeric_limits<std::size_t>::max() - 5, Allocator::DEFAULT), std::bad_alloc);
  allocator.pushFunc("packing", 7);
  allocator.popFunc();
  allocator.popFunc();  // one too many is no error, as in QDP++ without QDP_DEBUG_MEMORY
}

TEST_CASE("the map of memory names each block, its size, the innermost place it is from, and all bytes") {
  auto& allocator = Allocator::theQDPAllocator::Instance();
  REQUIRE(allocator.bytes() == 0);
  void* const nowhere = allocator.allocate(3, Allocator::DEFAULT);
  allocator.pushFunc("outer", 7);
  allocator.pushFunc("inner", 8);
  void* const inner = allocator.allocate(50, Allocator::DEFAULT);
  allocator.popFunc();
  void* const outer = allocator.allocate(100, Allocator::FAST);
  allocator.popFunc();
  const std::string text = tests::printed([&] { allocator.dump(); });
  const auto row = [](const void* block, const std::string& rest) {
    std::ostringstream line;
    line << "mem= " << block << "  bytes= " << rest << "\n";
    return line.str();
  };
  std::map<const void*, std::string> rows = {{nowhere, row(nowhere, "3  line= 0  func= nowhere")},
                                             {inner, row(inner, "50  line= 8  func= inner")},
                                             {outer, row(outer, "100  line= 7  func= outer")}};
  std::string expected = "Dumping memory map\n";
  for (const auto& [block, line] : rows) expected += line;
  if (io::is_primary()) CHECK(text == expected + "total bytes= 153\n");
  for (void* block : {nowhere, inner, outer}) allocator.free(block);
  if (io::is_primary()) CHECK(tests::printed([&] { allocator.dump(); }) == "Dumping memory map\ntotal bytes= 0\n");
}

TEST_CASE("new_aligned makes objects and delete_aligned ends them") {
  static int alive;
  struct alignas(128) Counted {
    Counted() { ++alive; }
    ~Counted() { --alive; }
    int i = 3;
  };
  alive = 0;
  auto* objects = Allocator::new_aligned<Counted>(5);
  CHECK(alive == 5);
  CHECK(objects[4].i == 3);
  CHECK(aligned(objects, 128));
  Allocator::delete_aligned(objects);
  CHECK(alive == 0);
  CHECK(Allocator::new_aligned<Counted>(0) == nullptr);
  Allocator::delete_aligned<Counted>(nullptr);
}

TEST_CASE("threads allocate at once") {
  auto& allocator = Allocator::theQDPAllocator::Instance();
  const std::size_t before = allocator.bytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) allocator.free(allocator.allocate(64, Allocator::FAST));
    });
  for (auto& thread : threads) thread.join();
  CHECK(allocator.bytes() == before);
}

TEST_CASE("the functions of scalars that make built-in numbers take built-in numbers, too") {
  CHECK(toBool(1 < 2));
  CHECK_FALSE(toBool(false));
  CHECK(toDouble(2) == 2.0);
  CHECK(toDouble(0.1f) == static_cast<double>(0.1f));
  CHECK(toFloat(0.1) == 0.1f);
  CHECK(toInt(-2.75) == -2);
  CHECK(toInt(3L) == 3);
  CHECK(toWordType(2.5f) == 2.5f);
  static_assert(std::is_same_v<decltype(toWordType(true)), bool> && std::is_same_v<decltype(toDouble(1)), double>);
  CHECK(toDouble(Real(2.5).elem()) == 2.5);
  CHECK(toInt(Integer(4).elem().elem().elem()) == 4);

  CHECK(conj(2.5) == 2.5);
  CHECK(transpose(3) == 3);
  CHECK(trace(1.5f) == 1.5f);
  CHECK(getSite(2.5, 7) == 2.5);
  CHECK(where(true, 1.0, 2.0) == 1.0);
  CHECK(where(false, 1, 2) == 2);
  double x = 3;
  copymask(x, false, 4);
  CHECK(x == 3);
  copymask(x, true, 4);
  CHECK(x == 4);
  zero_rep(x);
  CHECK(x == 0);
  float f = 1;
  cast_rep(f, 2.5);
  recast_rep(x, f);
  CHECK(x == 2.5);
  // Sums of single precision are double, of integers integers; the product is made in the numbers' type.
  static_assert(std::is_same_v<decltype(sum(1.0f)), double> && std::is_same_v<decltype(sum(1)), int>);
  CHECK(localNorm2(3) == 9);
  CHECK(localNorm2(0.1f) == static_cast<double>(0.1f * 0.1f));
  CHECK(localInnerProduct(0.1f, 3.0) == static_cast<double>(0.1f) * 3.0);
  CHECK(localColorInnerProduct(2, 5) == 10);
}

namespace {
enum Order { first = 1, second };
struct LongNumber {
  double value;
  operator double() const { return value; }
};
}  // namespace

TEST_CASE("a program's own numbers become scalars") {
  CHECK(toDouble((Real)LongNumber{2.5}) == 2.5);
  CHECK(toDouble(RealD(LongNumber{0.1})) == 0.1);
  CHECK(toFloat(static_cast<RealF>(LongNumber{0.1})) == 0.1f);
  const Integer n = second;
  CHECK(toInt(n) == 2);
  static_assert(!std::is_convertible_v<LongNumber, Real>, "not unasked");
  static_assert(!std::is_constructible_v<Real, std::string> && !std::is_constructible_v<Real, Complex>);
}

TEST_CASE("enumerations stand beside values of the language as int does") {
  tests::create_lattice({2, 2, 2, 2});
  enum class Scoped { one = 1 };
  CHECK(toDouble(Real(1.5) * second) == 3);
  CHECK(toInt(Integer(7) - second) == 5);
  CHECK(toBool(second == Integer(2)));
  Real x = 1;
  x += second;
  x /= first;
  CHECK(toDouble(x) == 3);
  LatticeInteger n = second;
  n = n * second + first;
  n -= second;
  n[rb[0]] = first;
  const int half = static_cast<int>(Layout::vol()) / 2;
  CHECK(toInt(sum(n)) == half * (3 + 1));
  CHECK(toInt(sum(where(n > second, n, LatticeInteger(second)))) == half * (3 + 2));
  LatticeComplex z = second;
  z *= second;
  CHECK(toDouble(real(sum(z))) == 2 * half * 4);
  static_assert(!detail::Number<Scoped> && !detail::Number<LongNumber>);
}

// ---- templates over QDPType ------------------------------------------------------------------------------------------

namespace {

template <class T, class C> C doubled(const QDPType<T, C>& x) {
  C y = x;
  y += x;
  return y;
}
template <class T, class C> C squared(const QDPType<T, C>& x) { return x * x; }
template <class T, class C> Double length2(const QDPType<T, C>& x) { return norm2(x); }
template <class T, class C> Double length2(const QDPExpr<T, C>& x) { return norm2(C(x)); }
template <class T, class C> typename C::Subtype_t first_site(const QDPType<T, C>& x) { return x.elem(0); }
template <class T1, class C1, class T2, class C2>
typename BinaryReturn<C1, C2, FnInnerProduct>::Type_t overlap(const QDPType<T1, C1>& a, const QDPType<T2, C2>& b) {
  return innerProduct(a, b);
}
template <class T, class C> void set_to(QDPType<T, C>& x, double value) { static_cast<C&>(x) = value; }

}  // namespace

TEST_CASE("user's templates over QDPType and QDPExpr take scalars, lattices and expressions") {
  create_lattice({4, 4, 4, 8});
  const auto u = random_lattice<D::ColorMatrix>();
  const double n = toDouble(norm2(u));
  CHECK(toDouble(length2(u)) == n);
  CHECK(toDouble(length2(u + u)) == 4 * n);
  CHECK(toDouble(length2(doubled(u))) == 4 * n);
  CHECK(toDouble(norm2(squared(u) - u * u)) == 0);
  CHECK(toDouble(doubled(Real(1.5))) == 3);
  CHECK(toDouble(squared(Real(3))) == 9);
  CHECK(toDouble(length2(Complex(cmplx(Real(3), Real(4))))) == 25);
  CHECK(toDouble(real(overlap(u, u))) == doctest::Approx(n).epsilon(1e-14));
  CHECK(first_site(u).elem().elem(0, Nc - 1).real() == u.elem(0).elem().elem(0, Nc - 1).real());
  LatticeReal x;
  set_to(x, 2.0);
  CHECK(toDouble(sum(x)) == 2.0 * static_cast<double>(Layout::vol()));
  Real y;
  set_to(y, 2.5);
  CHECK(toDouble(y) == 2.5);
}

TEST_CASE("a scalar with a subset is the scalar") {
  create_lattice({4, 4, 4, 8});
  Real x = 1;
  x[rb[0]] = 2;
  CHECK(toDouble(x) == 2);
  x[even] = x * x;
  CHECK(toDouble(x) == 4);
  const OSubScalar<Real::Site> part = x[rb[1]];
  CHECK(part.subset().color() == 1);
  CHECK_FALSE(part.getOwnsMemory());
  part.getF()->elem().elem().elem() = 7;
  CHECK(toDouble(x) == 7);
  part = zero;
  CHECK(toDouble(x) == 0);
}

// ---- parts with storage of their own ---------------------------------------------------------------------------------

TEST_CASE("a part made of a field has its values, in the order of the site table") {
  create_lattice({4, 4, 4, 8});
  auto v = random_lattice<F::ColorVector>();
  const SubLatticeColorVectorF part(rb[1], v);
  CHECK(part.getOwnsMemory());
  const multi1d<int>& sites = rb[1].siteTable();
  REQUIRE(sites.size() == part.subset().numSiteTable());
  CHECK(aligned(part.getF(), QDP_ALIGNMENT_SIZE));
  for (int j = 0; j < sites.size(); ++j)
    for (int c = 0; c < Nc; ++c)
      REQUIRE(part.getF()[j].elem().elem(c).real() == std::as_const(v).elem(sites[j]).elem().elem(c).real());
  const double n = toDouble(norm2(v, rb[1]));
  v = zero;  // the part keeps what it was made with
  CHECK(toDouble(norm2(part)) == n);
  LatticeColorVectorF back;
  back = zero;
  back = part;
  CHECK(toDouble(norm2(back, rb[1])) == n);
  CHECK(toDouble(norm2(back, rb[0])) == 0);
}

TEST_CASE("what is written through the pointer of a part is there for statements, and the reverse") {
  create_lattice({4, 4, 4, 8});
  SubLatticeReal part;
  CHECK_FALSE(part.getOwnsMemory());
  part.setSubset(rb[0]);
  CHECK(part.getOwnsMemory());
  const int n = part.subset().numSiteTable();
  for (int j = 0; j < n; ++j) part.getF()[j].elem().elem().elem() = REAL(1 + j % 3);
  double expected = 0;
  for (int j = 0; j < n; ++j) expected += 1 + j % 3;
  expected *= tests::job_ranks();
  CHECK(toDouble(sum(part)) == expected);
  part *= 2.0;
  CHECK(toDouble(sum(part)) == 2 * expected);
  part.getF()[0].elem().elem().elem() += 10;
  CHECK(part.getF()[1].elem().elem().elem() == REAL(4));
  CHECK(toDouble(sum(part)) == 2 * expected + 10 * tests::job_ranks());
  const LatticeReal ones(1.0);
  CHECK(toDouble(innerProductReal(part, ones)) == 2 * expected + 10 * tests::job_ranks());
  part = zero;
  CHECK(part.getF()[n - 1].elem().elem().elem() == 0);
}

TEST_CASE("inner products of parts") {
  create_lattice({4, 4, 4, 8});
  const auto a = random_lattice<D::ColorVector>(), b = random_lattice<D::ColorVector>();
  SubLatticeColorVectorD of_a(rb[1], a), of_b(rb[1], b);
  const OLattice<D::ColorVector> copy = b;
  const auto view = copy[rb[1]];
  const DComplex expected = innerProduct(a, b, rb[1]);
  const auto same = [&](const DComplex& z) {
    return toDouble(real(z)) == toDouble(real(expected)) && toDouble(imag(z)) == toDouble(imag(expected));
  };
  CHECK(same(innerProduct(of_a, of_b)));
  CHECK(same(innerProduct(of_a, view)));
  CHECK(same(innerProduct(of_a, b)));
  CHECK(same(innerProduct(a, of_b)));
  CHECK(toDouble(innerProductReal(of_a, of_b)) == toDouble(real(expected)));
  CHECK(same(sum(localInnerProduct(of_a, of_b))));
  CHECK(same(sum(localInnerProduct(a, of_b))));
  CHECK(same(sum(localInnerProduct(of_a, b))));
  CHECK(toDouble(sum(localInnerProductReal(of_a, b))) == toDouble(real(expected)));
  CHECK(localInnerProduct(of_a, of_b).getOwnsMemory());
  CHECK(localInnerProduct(of_a, of_b).subset().name() == rb[1].name());
  const auto psi = random_lattice<D::Fermion>();
  const LatticeSpinVectorD m = localColorInnerProduct(psi, psi);
  LatticeSpinVectorD parts = zero;
  parts = localColorInnerProduct(psi[rb[0]], psi);
  CHECK(toDouble(norm2(parts)) > 0);
  CHECK(toDouble(norm2(parts - m, rb[0])) == 0);
  SubLatticeColorVectorD even(rb[0], b);
  CHECK(contains(message_of([&] { innerProduct(of_a, even); }), "parts of one subset, as the first: rb[1], got rb[0]"));
  CHECK(contains(message_of([&] { localInnerProduct(of_a, even); }), "parts of one subset"));
}

TEST_CASE("containers of real scalars are lists of words in XML") {
  const std::list<Real> list{Real(0.5), Real(-2), Real(3)};
  const std::vector<Integer> vector{Integer(7), Integer(-1)};
  const std::vector<Boolean> flags{Boolean(true), Boolean(false)};
  const std::list<Complex> complex{cmplx(Real(1), Real(2))};
  XMLBufferWriter out;
  push(out, "root");
  write(out, "list", list);
  write(out, "vector", vector);
  write(out, "flags", flags);
  write(out, "complex", complex);
  pop(out);
  XMLReader in(out);
  std::string text;
  read(in, "list", text);
  CHECK(text == "0.5 -2 3");
  CHECK(in.count("complex/elem") == 1);
  std::list<Real> list_back;
  std::vector<Integer> vector_back;
  std::vector<Boolean> flags_back;
  std::list<Complex> complex_back;
  read(in, "list", list_back);
  read(in, "vector", vector_back);
  read(in, "flags", flags_back);
  read(in, "complex", complex_back);
  REQUIRE(list_back.size() == 3);
  CHECK(toDouble(list_back.back()) == 3);
  REQUIRE(vector_back.size() == 2);
  CHECK(toInt(vector_back[0]) == 7);
  REQUIRE(flags_back.size() == 2);
  CHECK(toBool(flags_back[0]));
  CHECK_FALSE(toBool(flags_back[1]));
  REQUIRE(complex_back.size() == 1);
  CHECK(toDouble(imag(complex_back.front())) == 2);
}

TEST_CASE("QIO's level of messages is kept") {
  CHECK(QIO_verbose(QIO_VERB_DEBUG) == QIO_VERB_OFF);
  CHECK(QIO_verbose(QIO_VERB_OFF) == 5);
}

TEST_CASE("copies of storage are deep, copies of views are views") {
  create_lattice({4, 4, 4, 8});
  const LatticeReal ones(1.0);
  const double half = static_cast<double>(Layout::vol()) / 2;
  SubLatticeReal a(rb[0], ones);
  SubLatticeReal b = a, c;
  c = a;  // c had no subset
  CHECK(c.subset().color() == 0);
  a *= 3.0;
  CHECK(toDouble(sum(a)) == 3 * half);
  CHECK(toDouble(sum(b)) == half);
  CHECK(toDouble(sum(c)) == half);
  b.getF();
  SubLatticeReal d = b;  // while its values lie in the program's order
  b = a;
  CHECK(toDouble(sum(b)) == 3 * half);
  CHECK(toDouble(sum(d)) == half);
  multi1d<SubLatticeReal> several(3);
  several[1] = a;
  CHECK(toDouble(sum(several[1])) == 3 * half);

  LatticeReal x(1.0);
  SubLatticeReal view = x[rb[1]], same = view, other(x, rb[1]);
  CHECK_FALSE(other.getOwnsMemory());
  same = 5.0;
  CHECK(toDouble(sum(view)) == 5 * half);
  CHECK(toDouble(sum(other)) == 5 * half);
  CHECK(toDouble(sum(x)) == 6 * half);
}

TEST_CASE("many threads ask a part for its values at once") {
  create_lattice({4, 4, 4, 8});
  SubLatticeReal part(rb[0]);
  part = 2.0;
  const int n = part.subset().numSiteTable();
  std::vector<double> sums(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      for (int j = 0; j < n; ++j) sums[t] += part.getF()[j].elem().elem().elem();
    });
  for (auto& thread : threads) thread.join();
  for (const double s : sums) CHECK(s == 2.0 * n);
}

TEST_CASE("wrong uses of parts are named") {
  create_lattice({4, 4, 4, 8});
  SubLatticeReal nothing;
  CHECK(contains(message_of([&] { nothing = 1.0; }), "without"));
  CHECK(contains(message_of([&] { nothing.getF(); }), "setSubset"));
  CHECK(contains(message_of([&] { nothing = LatticeReal(1.0)[rb[0]]; }), "without"));  // a view, to nothing
  nothing = SubLatticeReal();
  CHECK_FALSE(nothing.getOwnsMemory());
  LatticeReal x(1.0);
  SubLatticeReal view = x[rb[0]];
  CHECK(contains(message_of([&] { view.setSubset(rb[1]); }), "a view"));
}

// ---- traces of vectors -----------------------------------------------------------------------------------------------

TEST_CASE("the trace of adj(x) * y of vectors is their inner product, of another expression of vectors an error") {
  create_lattice({4, 4, 4, 8});
  const auto eta = random_lattice<D::Fermion>(), psi = random_lattice<D::Fermion>();
  LatticeReal t;
  t = real(trace(adj(eta) * psi));  // as Chroma's MesPbp
  CHECK(toDouble(norm2(t - localInnerProductReal(eta, psi))) == 0);
  const auto v = random_lattice<D::ColorVector>(), w = random_lattice<D::ColorVector>();
  CHECK(toDouble(norm2(trace(adj(v) * w) - localInnerProduct(v, w))) == 0);
  CHECK(contains(message_of([&] { t = real(trace(eta + psi)); }), "adj(x) * y"));
  CHECK(contains(message_of([&] { t = real(trace(eta * psi)); }), "localInnerProduct"));
}

// ---- numbers that are none -------------------------------------------------------------------------------------------

TEST_CASE("isnan, isinf, isnormal and isfinite look at every component of every site") {
  create_lattice({4, 4, 4, 8});
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  LatticeColorMatrixD u(1.0);
  u += cmplx(RealD(0.5), RealD(0.25));
  for (int a = 0; a < Nc; ++a)
    for (int b = 0; b < Nc; ++b) pokeColor(u, ComplexD(cmplx(RealD(0.5), RealD(0.25))), a, b);
  auto verdicts = [](const auto& x) { return std::vector<bool>{isnan(x), isinf(x), isfinite(x), isnormal(x)}; };
  CHECK(verdicts(u) == std::vector<bool>{false, false, true, true});
  CHECK(verdicts(u * 2.0) == std::vector<bool>{false, false, true, true});
  struct Case {
    double word;
    std::vector<bool> expected;
  };
  for (const Case& one : {Case{nan, {true, false, false, false}}, Case{inf, {false, true, false, false}},
                          Case{-inf, {false, true, false, false}}, Case{0.0, {false, false, true, false}},
                          Case{std::numeric_limits<double>::denorm_min(), {false, false, true, false}}}) {
    LatticeColorMatrixD damaged = u;
    ColorMatrixD m = peekSite(u, tests::to_multi1d({3, 1, 2, 7}));
    m.elem().elem().elem(Nc - 1, 0).imag() = one.word;  // one word of all; on ranks only one rank sees it
    pokeSite(damaged, m, tests::to_multi1d({3, 1, 2, 7}));
    CHECK(verdicts(damaged) == one.expected);
    CHECK(verdicts(m) == one.expected);
    CHECK(verdicts(m.elem()) == one.expected);
  }
  LatticeRealF f(1.0);
  CHECK(verdicts(f) == std::vector<bool>{false, false, true, true});
  CHECK(isinf(f / LatticeRealF(0.0)));
  CHECK_FALSE(isnan(LatticeInteger(3)));
}

// ---- input and output ------------------------------------------------------------------------------------------------

TEST_CASE("QDPIO::cin reads scalars word by word") {
  std::istringstream text("1.5 0.1 7 2 -3 11 0 5 13");
  QDPIO::cin.init(&text);
  Real x;
  Real32 f;
  Integer n;
  Complex z;
  Seed seed;
  QDPIO::cin >> x >> f >> n >> z >> seed;
  CHECK_FALSE(QDPIO::cin.fail());
  QDPIO::cin.init(nullptr);
  CHECK(toDouble(x) == 1.5);
  CHECK(toFloat(f) == 0.1f);
  CHECK(toInt(n) == 7);
  CHECK(toDouble(real(z)) == 2);
  CHECK(toDouble(imag(z)) == -3);
  CHECK(seed.elem().elem().elem(0).elem() == 11);
  CHECK(seed.elem().elem().elem(3).elem() == 13);
}

TEST_CASE("XMLReader::set takes a scalar as the number that it is") {
  std::istringstream text("<a><mass>1</mass><n>2</n></a>");
  XMLReader xml(text);
  xml.set<Real>("/a/mass", Real(0.25));
  xml.set("/a/n", Integer(17));
  Real mass;
  int n = 0;
  read(xml, "/a/mass", mass);
  read(xml, "/a/n", n);
  CHECK(toDouble(mass) == 0.25);
  CHECK(n == 17);
}

TEST_CASE("arrays of scalars go through record files, and boxes of fields do by the free function") {
  create_lattice({4, 4, 4, 8});
  const tests::TemporaryFolder folder;
  const std::string file = folder.file("records");
  multi1d<Complex> a(5);
  for (int i = 0; i < a.size(); ++i) a[i] = cmplx(Real(i + 0.5), Real(-i));
  multi1d<Real> r(3);
  r = Real(2.5);
  const auto u = random_lattice<D::ColorVector>();
  {
    XMLBufferWriter xml, record;
    push(xml, "file");
    pop(xml);
    push(record, "record");
    pop(record);
    QDPFileWriter out(xml, file, QDPIO_SINGLEFILE, QDPIO_SERIAL, QDPIO_OPEN);
    write(out, record, a);
    write(out, record, r);
    multi1d<int> lower(Nd), upper(Nd);
    lower = 0;
    upper = Layout::lattSize();
    for (int mu = 0; mu < Nd; ++mu) upper[mu] -= 1;
    upper[Nd - 1] = 0;
    write(out, record, u, lower, upper);
    close(out);
  }
  XMLReader xml, record;
  QDPFileReader in(xml, file, QDPIO_SERIAL);
  multi1d<Complex> a_back;
  multi1d<Real> r_back;
  read(in, record, a_back);
  read(in, record, r_back);
  // A box in a field without contents: elsewhere it is zero, not what its memory held before.
  for (int i = 0; i < 8; ++i) {
    OLattice<D::ColorVector> used;
    used = random_lattice<D::ColorVector>();
    CHECK(toDouble(norm2(used)) > 0);
  }
  OLattice<D::ColorVector> u_back;
  read(in, record, u_back);
  close(in);
  OLattice<D::ColorVector> box = zero;
  box = where(Layout::latticeCoordinate(Nd - 1) == 0, u, box);
  CHECK(toDouble(norm2(box)) > 0);
  CHECK(toDouble(norm2(u_back - box)) == 0);
  REQUIRE(a_back.size() == 5);
  for (int i = 0; i < 5; ++i) {
    CHECK(toDouble(real(a_back[i])) == i + 0.5);
    CHECK(toDouble(imag(a_back[i])) == -i);
  }
  REQUIRE(r_back.size() == 3);
  CHECK(toDouble(r_back[2]) == 2.5);
}

TEST_CASE("the names of QIO: types of records, sites in and out of buffers") {
  CHECK(std::string(QIOStringTraits<LatticeReal>::tname) == "Lattice");
  CHECK(std::string(QIOStringTraits<multi1d<Real>>::tname) == "Scalar");
  CHECK(std::string(QIOStringTraits<int*>::tname) == "QDP_GenericType");
  CHECK(std::string(QIOStringTraits<multi1d<LatticeColorMatrixF3>>::tname) == "QDP_F3_ColorMatrix");
  CHECK(std::string(QIOStringTraits<multi1d<LatticeColorMatrixD3>>::tname) == "QDP_D3_ColorMatrix");
  CHECK(std::string(QIOStringTraits<multi1d<LatticeDiracFermionD3>>::tname) == "USQCD_D3_DiracFermion");
  CHECK(std::string(QIOStringTraits<multi1d<LatticeDiracFermionF3>>::tname) == "USQCD_F3_DiracFermion");
  CHECK(std::string(QIOStringTraits<LatticeColorVectorF3>::tname) == "USQCD_F3_ColorVector");
  CHECK(std::string(QIOStringTraits<LatticeColorVectorD3>::tname) == "USQCD_D3_ColorVector");
  CHECK(std::string(QIOStringTraits<float>::tprec) + QIOStringTraits<double>::tprec + QIOStringTraits<int>::tprec +
            QIOStringTraits<bool>::tprec ==
        "FDIU");

  create_lattice({4, 4, 4, 8});
  auto u = random_lattice<D::ColorVector>();
  using Site = D::ColorVector;
  Site buffer[2];
  QDPOLatticeFactoryGet<Site>(reinterpret_cast<char*>(buffer), 5, 1, u.getF());
  CHECK(buffer[0].elem().elem(0).imag() == u.elem(5).elem().elem(0).imag());
  QDPOLatticeFactoryPut<Site>(reinterpret_cast<char*>(buffer), 6, 1, u.getF());
  CHECK(u.elem(6).elem().elem(0).imag() == u.elem(5).elem().elem(0).imag());
  multi1d<LatticeColorVectorD> both(2);
  both[0] = u;
  both[1] = 2.0 * u;
  QDPOLatticeFactoryGetArray<Site>(reinterpret_cast<char*>(buffer), 3, 1, &both);
  CHECK(buffer[1].elem().elem(0).real() == 2 * u.elem(3).elem().elem(0).real());
  QDPOLatticeFactoryPutArray<Site>(reinterpret_cast<char*>(buffer), 4, 1, &both);
  CHECK(both[1].elem(4).elem().elem(0).real() == buffer[1].elem().elem(0).real());
  multi1d<Real> numbers(3), copy(3);
  for (int i = 0; i < 3; ++i) numbers[i] = Real(i);
  QDPOScalarFactoryGet<Real>(reinterpret_cast<char*>(&copy[0]), 0, 3, &numbers[0]);
  CHECK(toDouble(copy[2]) == 2);
  QDPOScalarFactoryPut<Real>(reinterpret_cast<char*>(&copy[2]), 0, 1, &numbers[0]);
  CHECK(toDouble(numbers[0]) == 2);
}

TEST_CASE("the version, profiling hooks and the processors of threads") {
  CHECK(std::string(QDP_PACKAGE_STRING) == "Tessera");
  CHECK(std::string(QDP_PACKAGE_VERSION) == TESSERA_VERSION);
  QDP_PUSH_PROFILE(QDP::getProfileLevel());
  initProfile(__FILE__, __func__, __LINE__);
  pushProfileInfo(getProfileLevel(), __FILE__, __func__, __LINE__);
  popProfileInfo();
  printProfile();
  closeProfile();
  QDP_POP_PROFILE();
  CHECK(setProfileLevel(3) == 0);
  CHECK(setProgramProfileLevel(3) == 0);
  CHECK(getProfileLevel() == 0);  // nothing is recorded: QDP++ without QDP_USE_PROFILING
  CHECK(getProgramProfileLevel() == 0);
  const QDPTime_t begin = getClockTime();
  CHECK(begin > 1600000000UL * 1000000UL);  // microseconds since 1970
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(getClockTime() >= begin + 4000);
  RScalar<REAL> x[3] QDP_ALIGN16;
  CHECK(aligned(x, 16));

  CaptureNamedCout capture;
  reportAffinity();
  setThreadAffinity(1, 1);
  if (tests::job_rank() == 0) {
    CHECK(contains(capture.text.str(), "thread 0: "));
    CHECK(contains(capture.text.str(), "OMP_PROC_BIND"));
  }
}

TEST_CASE("small functions") {
  multi1d<int> list(7);
  const int numbers[] = {3, 1, 3, 3, 2, 1, 0};
  for (int i = 0; i < 7; ++i) list[i] = numbers[i];
  const multi1d<int> once = uniquify_list(list);
  REQUIRE(once.size() == 4);
  CHECK(once[0] == 3);
  CHECK(once[1] == 1);
  CHECK(once[2] == 2);
  CHECK(once[3] == 0);
  CHECK(uniquify_list(multi1d<int>()).size() == 0);

  Seed seed = zero;
  CHECK(toDouble(seedToFloat(seed)) == 0);
  seed.elem().elem().elem(3).elem() = 1024;
  CHECK(toDouble(seedToFloat(seed)) == 0.5);
  seed.elem().elem().elem(2).elem() = 2048;
  CHECK(toDouble(seedToFloat(seed)) == 0.5 + 0.5 / 2048);
}

// ---- what other tests do not say --------------------------------------------------------------------------------------

namespace {

template <class T, int N, template <class, int> class C> int rows(const PVector<T, N, C>&) { return N; }
template <class T, int N, template <class, int> class C> int rows(const PMatrix<T, N, C>&) { return 10 * N; }
template <class T, class C> int sites_of(const QDPSubType<T, C>& part) { return part.subset().numSiteTable(); }
void remember_threads(int lo, int hi, int id, std::vector<int>* seen) {
  for (int i = lo; i < hi; ++i) (*seen)[static_cast<std::size_t>(i)] = id == qdpThreadNum() ? id : -1;
}

}  // namespace

TEST_CASE("bases and families of classes") {
  create_lattice({4, 4, 4, 8});
  CHECK(rows(ColorVector().elem().elem()) == Nc);
  CHECK(rows(SpinMatrix().elem()) == 10 * Ns);
  LatticeReal x(1.0);
  CHECK(sites_of(x[rb[0]]) * tests::job_ranks() == static_cast<int>(Layout::vol() / 2));
  Real r;
  CHECK(sites_of(r[all]) == Layout::sitesOnNode());
  CHECK(GammaType<4>(3).elem() == 3);
  static_assert(std::is_same_v<GammaType<4>, Gamma>);

  MapObjectMemory<int, double> memory;
  MapObject<int, double>& map = memory;
  CHECK(map.insert(3, 2.5) == 0);
  double value = 0;
  CHECK(map.get(3, value) == 0);
  CHECK(value == 2.5);
  CHECK_FALSE(map.exist(4));

  TextBufferWriter to;
  TextWriter& writer = to;
  writer << 17;
  TextBufferReader from(to.str());
  TextReader& reader = from;
  int n = 0;
  reader >> n;
  CHECK(n == 17);

  static_assert(std::is_same_v<decltype(QDPIO::cin), StandardInputStream> &&
                std::is_same_v<decltype(QDPIO::cerr), StandardOutputStream>);
  const QDP_filemode_t modes[] = {QDPIO_CREATE, QDPIO_OPEN, QDPIO_APPEND};
  const QDP_serialparallel_t ways[] = {QDPIO_SERIAL, QDPIO_PARALLEL};
  const QDP_volfmt_t formats[] = {QDPIO_SINGLEFILE, QDPIO_MULTIFILE, QDPIO_PARTFILE};
  CHECK((modes[0] != modes[1] && modes[1] != modes[2] && ways[0] != ways[1] && formats[0] != formats[1] &&
         formats[1] != formats[2]));
  const QDP_iostate_t good = QDPIO_goodbit;
  CHECK(good == 0);
  CHECK((QDPIO_eofbit | QDPIO_failbit | QDPIO_badbit) == QDPIO_eofbit + QDPIO_failbit + QDPIO_badbit);
  const Allocator::MemoryPoolHint hint = Allocator::DEFAULT;
  CHECK(hint != Allocator::FAST);
  CHECK(sizeof(QDPUtil::n_uint16_t) == 2);
  CHECK(sizeof(QDPUtil::n_uint32_t) == 4);
  CHECK(sizeof(QDPUtil::n_uint64_t) == 8);
}

TEST_CASE("calls without effect have none") {
  create_lattice({4, 4, 4, 8});
  LatticeReal x(1.0);
  initDefaultSets();
  initDefaultMaps();
  Layout::setSMPFlag(true);
  multi1d<int> grid(Nd);
  grid = 1;
  Layout::setIONodeGrid(grid);
  CHECK(Layout::numIONodeGrid() == 1);
  const bool initialized = QDP_isInitialized();
  QDP_suspend();
  QDP_resume();
  CHECK(QDP_isInitialized() == initialized);
  CHECK(toDouble(sum(shift(x, FORWARD, 0), rb[0])) == static_cast<double>(Layout::vol()) / 2);
}

TEST_CASE("messages count their characters, threads know their numbers") {
  CHECK(QDP_info("%d sites", 7) == static_cast<int>(std::string("QDP info: 7 sites\n").size()));
  CHECK(QDP_error("no %s", "file") == static_cast<int>(std::string("QDP error: no file\n").size()));
  const int level = QDP_verbose(0);
  CHECK(QDP_info("nothing") == 0);
  CHECK(QDP_verbose(level) == 0);
  CHECK(qdpThreadNum() == 0);
  std::vector<int> seen(100, -2);
  // The argument is copied for the threads, as in QDP++: a pointer is what they share.
  dispatch_to_threads<std::vector<int>*>(
      100, &seen, [](int lo, int hi, int id, std::vector<int>** s) { remember_threads(lo, hi, id, *s); });
  for (const int id : seen) CHECK((id >= 0 && id < qdpNumThreads()));
}
