// multi1d ... multi5d, multiNd, Array1dO, SingletonHolder.
#include "qdp/util/multi.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/util/array_one_based.hpp"
#include "qdp/util/singleton.hpp"
#include "tests/message_of.hpp"

using namespace QDP;
using tests::message_of;

namespace {

multi1d<int> counting(int n, int first = 0) {
  multi1d<int> a(n);
  for (int i = 0; i < n; ++i) a[i] = first + i;
  return a;
}

// Has no operators at all: arrays of it must still work.
struct Opaque {
  int value = 7;
};

template <class T>
concept Addable = requires(T a) { a += a; };
template <class T>
concept Comparable = requires(T a) { a == a; };

/// Counts its instances, and refuses to be assigned from one that is marked.
struct Fragile {
  static inline int alive = 0;
  bool refuses = false;
  Fragile() { ++alive; }
  Fragile(const Fragile& other) : refuses(other.refuses) { ++alive; }
  ~Fragile() { --alive; }
  Fragile& operator=(const Fragile& other) {
    if (other.refuses) throw std::runtime_error("no copy");
    return *this;
  }
};

}  // namespace

TEST_CASE("a new multi1d is zero, resize drops the content") {
  multi1d<double> a(3);
  CHECK(a.size() == 3);
  CHECK(a.size1() == 3);
  for (double x : a) CHECK(x == 0.0);
  a = 2.5;
  for (double x : a) CHECK(x == 2.5);
  a.resize(2);
  CHECK(a.size() == 2);
  CHECK(a[1] == 0.0);
  a.resize(0);
  CHECK(a.size() == 0);
  CHECK(multi1d<int>().size() == 0);
}

TEST_CASE("a copy of a multi1d that fails half-way frees what it has copied") {
  {
    multi1d<Fragile> a(3);
    a[1].refuses = true;
    CHECK_THROWS_AS(multi1d<Fragile>{a}, std::runtime_error);
    CHECK(Fragile::alive == 3);
    multi1d<Fragile> b(3);
    CHECK_THROWS_AS(b = a, std::runtime_error);
    CHECK(Fragile::alive == 6);
  }
  CHECK(Fragile::alive == 0);
}

TEST_CASE("multi1d copies deeply, moves without copies") {
  multi1d<int> a = counting(4);
  multi1d<int> b = a;
  b[0] = 100;
  CHECK(a[0] == 0);
  const int* memory = b.slice();
  multi1d<int> c = std::move(b);
  CHECK(c.slice() == memory);
  CHECK(c[0] == 100);
  a = c;
  CHECK(a.slice() != memory);
  CHECK(a == c);
  a = a;
  CHECK(a == c);
}

TEST_CASE("multi1d(pointer, n) borrows: writes go through, size is fixed") {
  double memory[3] = {1, 2, 3};
  multi1d<double> a(memory, 3);
  a[1] = 20;
  CHECK(memory[1] == 20);
  multi1d<double> other(3);
  other = 5.0;
  a = other;
  CHECK(memory[2] == 5.0);
  a = std::move(other);
  CHECK(a.slice() == memory);
  multi1d<double> own = a;
  own[0] = -1;
  CHECK(memory[0] == 5.0);
  CHECK(message_of([&] { a.resize(4); }).find("view") != std::string::npos);
  CHECK(message_of([&] { a = multi1d<double>(2); }).find("view") != std::string::npos);
}

TEST_CASE("element operators of multi1d") {
  multi1d<double> a(2), b(2);
  a[0] = 1, a[1] = 2, b[0] = 10, b[1] = 20;
  CHECK((a + b)[1] == 22);
  CHECK((b - a)[0] == 9);
  CHECK((a * b)[1] == 40);
  CHECK((b / a)[1] == 10);
  CHECK((-a)[1] == -2);
  CHECK((3.0 - a)[1] == 1);
  CHECK((a - 3.0)[1] == -1);
  CHECK((2.0 * a)[1] == 4);
  CHECK((a * 2.0)[1] == 4);
  CHECK((2.0 / a)[1] == 1);
  CHECK((a / 2.0)[1] == 1);
  CHECK((1.0 + a)[0] == 2);
  CHECK(norm2(a) == 5);
  CHECK(sqrt(b * b)[1] == doctest::Approx(20));
  CHECK(sin(a)[0] == doctest::Approx(std::sin(1.0)));
  double values[2] = {7, 8};
  a = values;
  CHECK(a[1] == 8);
  CHECK(message_of([&] { a += multi1d<double>(3); }).find("2 and 3 elements") != std::string::npos);
  multi1d<double> empty;
  CHECK(message_of([&] { empty = 1.0; }).find("resize") != std::string::npos);
  CHECK(message_of([&] { empty += 1.0; }).find("resize") != std::string::npos);
}

TEST_CASE("operators exist only where the element type has them") {
  static_assert(Addable<multi1d<double>> && !Addable<multi1d<Opaque>>);
  static_assert(Comparable<multi1d<int>> && !Comparable<multi1d<Opaque>>);
  multi1d<Opaque> a(2);
  multi1d<Opaque> b = a;
  b[0].value = 1;
  CHECK(a[0].value == 7);
}

TEST_CASE("comparison of multi1d is lexicographic, then by size") {
  CHECK(counting(3) == counting(3));
  CHECK(counting(3) != counting(4));
  CHECK(multi1d<int>() == multi1d<int>(0));
  CHECK(counting(3) < counting(4));
  CHECK(counting(3, 1) > counting(4));
  CHECK(counting(3) <= counting(3));
  CHECK(counting(3) >= counting(3));
  CHECK(concat(counting(2), counting(2, 5))[3] == 6);
  CHECK(concat(multi1d<std::string>(1), multi1d<std::string>(2)).size() == 3);
}

TEST_CASE("multi1d of multi1d keeps rows of different length") {
  multi1d<multi1d<int>> rows(2);
  rows[0] = counting(1);
  rows[1] = counting(3);
  multi1d<multi1d<int>> copy = rows;
  copy[1][2] = 9;
  CHECK(rows[1][2] == 2);
  CHECK(rows[0].size() == 1);
  rows = counting(2);  // each row
  CHECK(rows[0].size() == 2);
  CHECK(rows[1].size() == 2);
}

TEST_CASE("an index outside of an array throws and names the range") {
  multi1d<int> a(3);
  CHECK(message_of([&] { a[3] = 1; }).find("0..2, got 3") != std::string::npos);
  CHECK(message_of([&] { a[-1] = 1; }).find("got -1") != std::string::npos);
  multi1d<int> empty;
  CHECK(message_of([&] { empty[0] = 1; }).find("empty") != std::string::npos);
  CHECK(message_of([&] { a.resize(-2); }).find("got -2") != std::string::npos);
  multi2d<int> b(2, 3);
  CHECK(message_of([&] { b(2, 0) = 1; }).find("second last index: expected 0..1, got 2") != std::string::npos);
  CHECK(message_of([&] { b(0, 3) = 1; }).find("multi2d: last index") != std::string::npos);
  CHECK(message_of([&] { b[5]; }).find("got 5") != std::string::npos);
}

TEST_CASE("the last index is fastest and size1 is its extent") {
  multi2d<int> a(2, 3);
  CHECK(a.size1() == 3);
  CHECK(a.size2() == 2);
  CHECK(a.nrows() == 2);
  CHECK(a.ncols() == 3);
  for (int j = 0; j < 2; ++j)
    for (int i = 0; i < 3; ++i) a(j, i) = 10 * j + i;
  CHECK(a.slice(1)[2] == 12);
  CHECK(&a(1, 0) - &a(0, 0) == 3);
  CHECK(a[1][2] == 12);
  a[1][0] = 99;
  CHECK(a(1, 0) == 99);
  a[0] = counting(3, 50);
  CHECK(a(0, 2) == 52);
  const multi2d<int> copy = a;
  CHECK(copy[0].size() == 3);
  a = 4;
  CHECK(copy(0, 2) == 52);
  CHECK(a(1, 1) == 4);
}

TEST_CASE("multi3d, multi4d, multi5d: views, copies and extents agree") {
  multi3d<int> a(2, 3, 4);
  CHECK(a.leftSize() == 2);
  CHECK(a.middleSize() == 3);
  CHECK(a.rightSize() == 4);
  a(1, 2, 3) = 5;
  CHECK(a[1][2][3] == 5);
  CHECK(a.slice(1, 2)[3] == 5);
  multi3d<int> b;
  b = a;
  b(1, 2, 3) = 6;
  CHECK(a(1, 2, 3) == 5);

  multi4d<int> c(2, 3, 4, 5);
  c(1, 2, 3, 4) = 7;
  CHECK(c[1](2, 3, 4) == 7);
  CHECK(c.size4() == 2);
  CHECK(c.slice(1, 2, 3)[4] == 7);

  multi5d<int> d(2, 3, 4, 5, 6);
  d(1, 2, 3, 4, 5) = 8;
  CHECK(d[1](2, 3, 4, 5) == 8);
  CHECK(d.size5() == 2);
  CHECK(d.size1() == 6);
  CHECK(d[1][2][3][4][5] == 8);
}

TEST_CASE("multiNd has QDP++'s two index orders and checks the rank") {
  multiNd<int> a;
  CHECK(a.numElem() == 0);
  a.resize(counting(2, 2));  // extents 2, 3
  CHECK(a.numElem() == 6);
  CHECK(a.size(1) == 3);
  for (int i = 0; i < 6; ++i) a.getElem(i) = i;
  CHECK(a(2, 1) == 1 + 2 * 2);
  multi1d<int> index(2);
  index[0] = 1, index[1] = 2;
  CHECK(a[index] == 1 * 3 + 2);
  CHECK(message_of([&] { a(1); }).find("expected 2, got 1") != std::string::npos);
  CHECK(message_of([&] { a(0, 2); }).find("0..1, got 2") != std::string::npos);
  CHECK(message_of([&] { a.getElem(6); }).find("got 6") != std::string::npos);
  a = 3;
  CHECK(a.getElem(5) == 3);
  multiNd<int> b = a;
  b.getElem(0) = 0;
  CHECK(a.getElem(0) == 3);
}

TEST_CASE("Array1dO ... Array3dO count from 1") {
  Array1dO<int> a(2);
  a[1] = 5;
  a.push_back(7);
  CHECK(a.size() == 3);
  CHECK(a[3] == 7);
  CHECK(a.ref()[0] == 5);
  CHECK((-a)[1] == -5);
  CHECK((2 * a)[3] == 14);
  CHECK(message_of([&] { a[0] = 1; }) != "no error");
  CHECK(message_of([&] { a[4] = 1; }) != "no error");
  Array2dO<int> b(2, 3);
  b(2, 3) = 9;
  CHECK(b.ref()(1, 2) == 9);
  Array3dO<int> c(2);
  c = 4;
  CHECK(c(2, 2, 2) == 4);
}

namespace {

int made = 0;
struct Counted {
  Counted() { ++made; }
  int value = 1;
};

}  // namespace

TEST_CASE("SingletonHolder makes one object, at the first use") {
  using Holder = SingletonHolder<Counted, CreateUsingNew, NoDestroy, SingleThreaded>;
  CHECK(made == 0);
  Holder::Instance().value = 2;
  CHECK(Holder::Instance().value == 2);
  CHECK(made == 1);
  CHECK(&SingletonHolder<Counted, CreateStatic>::Instance() == &SingletonHolder<Counted, CreateStatic>::Instance());
  CHECK(made == 2);
}

namespace {

/// Extents, slowest first, all different.
template <int Rank>
constexpr std::array<int, Rank> different_extents() {
  std::array<int, Rank> n{};
  for (int k = 0; k < Rank; ++k) n[static_cast<std::size_t>(k)] = 2 + (3 * k + 1) % 5;
  return n;
}

/// f(indices...) for each element in the order of memory.
template <int Rank, class F>
void for_all_indices(const std::array<int, Rank>& extents, const F& f) {
  std::array<int, Rank> index{};
  for (bool more = true; more;) {
    std::apply(f, index);
    more = false;
    for (std::size_t k = Rank; k-- > 0 && !more;) {
      more = ++index[k] < extents[k];
      if (!more) index[k] = 0;
    }
  }
}

/// Sizes by number, 1 the last extent.
template <class A>
std::vector<int> sizes_of(const A& a) {
  std::vector<int> n;
  if constexpr (requires { a.size1(); }) n.push_back(a.size1());
  if constexpr (requires { a.size2(); }) n.push_back(a.size2());
  if constexpr (requires { a.size3(); }) n.push_back(a.size3());
  if constexpr (requires { a.size4(); }) n.push_back(a.size4());
  if constexpr (requires { a.size5(); }) n.push_back(a.size5());
  return n;
}

/// Every element is where the header says, through all ways to reach it.
template <class A, int Rank>
void check_array() {
  CAPTURE(Rank);
  const auto n = different_extents<Rank>();
  const std::vector<int> sizes(n.rbegin(), n.rend());
  A a = std::apply([](auto... extents) { return A(extents...); }, n);
  REQUIRE(sizes_of(a) == sizes);
  int next = 0;
  for_all_indices<Rank>(n, [&](auto... i) { a(i...) = next++; });
  CHECK(std::distance(a.begin(), a.end()) == next);
  int expected = 0;
  bool ordered = true;
  for (const int x : a) ordered = ordered && x == expected++;
  CHECK(ordered);

  const A& same = a;
  bool views = true, constant = true, slices = true;
  for_all_indices<Rank>(n, [&](int first, auto... rest) {
    constant = constant && &same(first, rest...) == &a(first, rest...);
    if constexpr (sizeof...(rest) > 0) {
      views = views && &a[first](rest...) == &a(first, rest...) && same[first](rest...) == a(first, rest...) &&
              sizes_of(a[first]) == std::vector<int>(sizes.begin(), sizes.end() - 1);
      std::array<int, Rank> index{first, rest...};
      const int last = index.back();
      index.back() = 0;
      const auto row = std::apply([&](auto... i) { return &a(i...); }, index);
      views = views && row + last == &a(first, rest...);
      const auto leading = [&]<std::size_t... K>(std::index_sequence<K...>) { return a.slice(index[K]...); };
      slices = slices && leading(std::make_index_sequence<Rank - 1>()) == row;
    }
  });
  CHECK(constant);
  CHECK(views);
  CHECK(slices);

  A copy = a, assigned, moved;
  assigned = a;
  CHECK(sizes_of(copy) == sizes);
  CHECK(std::equal(a.begin(), a.end(), copy.begin(), copy.end()));
  CHECK(std::equal(a.begin(), a.end(), assigned.begin(), assigned.end()));
  copy = 3;
  CHECK(std::all_of(copy.begin(), copy.end(), [](int x) { return x == 3; }));
  CHECK(*assigned.begin() == 0);
  moved = std::move(assigned);
  CHECK(sizes_of(moved) == sizes);
  CHECK(std::equal(a.begin(), a.end(), moved.begin(), moved.end()));
  auto reversed = n;  // other extents, the same number of elements
  std::reverse(reversed.begin(), reversed.end());
  moved = std::apply([](auto... extents) { return A(extents...); }, reversed);
  CHECK(sizes_of(moved) == std::vector<int>(n.begin(), n.end()));
  CHECK(std::all_of(moved.begin(), moved.end(), [](int x) { return x == 0; }));
  std::apply([&](auto... extents) { a.resize(extents...); }, reversed);
  CHECK(sizes_of(a) == std::vector<int>(n.begin(), n.end()));
  CHECK(std::all_of(a.begin(), a.end(), [](int x) { return x == 0; }));
  std::vector<int> memory(static_cast<std::size_t>(next));
  A borrowing = std::apply([&](auto... extents) { return A(memory.data(), extents...); }, n);
  CHECK(sizes_of(borrowing) == sizes);
  borrowing = 4;
  CHECK(memory == std::vector<int>(memory.size(), 4));
  for (int k = 0; k < Rank; ++k) {  // one index too large, the others not
    std::array<int, Rank> index{};
    index[static_cast<std::size_t>(k)] = n[static_cast<std::size_t>(k)];
    CHECK(message_of([&] { std::apply([&](auto... i) { borrowing(i...) = 1; }, index); }) != "no error");
  }
}

/// The same counted from one.
template <class A, int Rank>
void check_one_based() {
  CAPTURE(Rank);
  const auto n = different_extents<Rank>();
  const std::vector<int> sizes(n.rbegin(), n.rend());
  A a = std::apply([](auto... extents) { return A(extents...); }, n), b;
  std::apply([&](auto... extents) { b.resize(extents...); }, n);
  const A& same = a;
  bool right = true;
  for_all_indices<Rank>(
      n, [&](auto... i) { right = right && &a((i + 1)...) == &a.ref()(i...) && &same((i + 1)...) == &a.ref()(i...); });
  CHECK(right);
  for (const A& x : {a, b}) {
    CHECK(sizes_of(x) == sizes);
    CHECK(sizes_of(x.ref()) == sizes);
    CHECK(x.size() == sizes[0]);
  }
  A square(3), resized;
  resized.resize(3);
  for (const A& x : {square, resized}) CHECK(sizes_of(x) == std::vector<int>(Rank, 3));
  a = 5;
  CHECK(std::all_of(a.ref().begin(), a.ref().end(), [](int x) { return x == 5; }));
  for (int k = 0; k < Rank; ++k)
    for (const int wrong : {0, n[static_cast<std::size_t>(k)] + 1}) {
      std::array<int, Rank> index;
      index.fill(1);
      index[static_cast<std::size_t>(k)] = wrong;
      CHECK(message_of([&] { std::apply([&](auto... i) { a(i...) = 1; }, index); }) != "no error");
    }
}

/// A product that does not commute.
struct Word {
  std::string text;
};
Word operator*(const Word& a, const Word& b) { return {a.text + b.text}; }
Word operator/(const Word& a, const Word& b) { return {a.text + "/" + b.text}; }
Word& operator*=(Word& a, const Word& b) { return a = a * b; }
Word& operator/=(Word& a, const Word& b) { return a = a / b; }

}  // namespace

TEST_CASE("every element of arrays of each rank is where it should be, by every way to reach it") {
  check_array<multi1d<int>, 1>();
  check_array<multi2d<int>, 2>();
  check_array<multi3d<int>, 3>();
  check_array<multi4d<int>, 4>();
  check_array<multi5d<int>, 5>();
}

TEST_CASE("arrays that count from one: every element, size and error of each rank") {
  check_one_based<Array2dO<int>, 2>();
  check_one_based<Array3dO<int>, 3>();
  check_one_based<Array4dO<int>, 4>();
  check_one_based<Array5dO<int>, 5>();
  Array3dO<int> a(2, 3, 4);
  CHECK(a.leftSize() == 2);
  CHECK(a.middleSize() == 3);
  CHECK(a.rightSize() == 4);
  Array2dO<int> b(2, 3);
  CHECK(b.nrows() == 2);
  CHECK(b.ncols() == 3);
  CHECK(Array1dO<int>(counting(3, 5))[3] == 7);
  CHECK(Array1dO<int>(std::vector<int>{4, 6})[1] == 4);
}

TEST_CASE("multiNd of every rank: both orders of indices on unequal extents") {
  const int extents[] = {2, 5, 3, 4};
  for (int rank = 1; rank <= 4; ++rank) {
    CAPTURE(rank);
    multi1d<int> nz(rank);
    int total = 1;
    for (int k = 0; k < rank; ++k) total *= nz[k] = extents[k];
    multiNd<int> a(nz);
    REQUIRE(a.numElem() == total);
    CHECK(a.size() == nz);
    for (int i = 0; i < total; ++i) a.getElem(i) = i;
    const multiNd<int>& same = a;
    for (int i = 0; i < total; ++i) {
      std::vector<int> fast_first, slow_first;  // digits of i, for extents with the first fastest, and slowest
      for (int k = 0, rest = i; k < rank; rest /= nz[k++]) fast_first.push_back(rest % nz[k]);
      for (int k = rank - 1, rest = i; k >= 0; rest /= nz[k--]) slow_first.push_back(rest % nz[k]);
      multi1d<int> index(rank);
      for (int k = 0; k < rank; ++k) index[k] = slow_first[static_cast<std::size_t>(rank - 1 - k)];
      CHECK(a[index] == i);
      CHECK(same[index] == i);
      const auto x = [&](int k) { return fast_first[static_cast<std::size_t>(k)]; };
      const auto at = [&](auto& b) {
        return rank == 1   ? b(x(0))
               : rank == 2 ? b(x(1), x(0))
               : rank == 3 ? b(x(2), x(1), x(0))
                           : b(x(3), x(2), x(1), x(0));
      };
      CHECK(at(a) == i);
      CHECK(at(same) == i);
    }
  }
}

TEST_CASE("operators and functions of multi1d act on each element, factors in their order") {
  multi1d<Word> a(2), b(2);
  a[0].text = "a", a[1].text = "c", b[0].text = "b", b[1].text = "d";
  const Word s{"s"};
  const auto texts = [](const multi1d<Word>& x) { return x[0].text + " " + x[1].text; };
  CHECK(texts(a * b) == "ab cd");
  CHECK(texts(a * s) == "as cs");
  CHECK(texts(s * a) == "sa sc");
  CHECK(texts(a / b) == "a/b c/d");
  CHECK(texts(a / s) == "a/s c/s");
  CHECK(texts(s / a) == "s/a s/c");

  multi1d<double> x(3), y(3);
  for (int i = 0; i < 3; ++i) x[i] = 0.2 + 0.25 * i, y[i] = 3.0 - i;
  multi1d<double> z = x;
  const auto each = [&](const multi1d<double>& got, const auto& f) {
    REQUIRE(got.size() == 3);
    for (int i = 0; i < 3; ++i) CHECK(got[i] == f(i));
  };
  each(z += y, [&](int i) { return x[i] + y[i]; });
  z = x;
  each(z -= y, [&](int i) { return x[i] - y[i]; });
  z = x;
  each(z *= y, [&](int i) { return x[i] * y[i]; });
  z = x;
  each(z /= y, [&](int i) { return x[i] / y[i]; });
  z = x;
  each(z += 7.0, [&](int i) { return x[i] + 7; });
  z = x;
  each(z -= 7.0, [&](int i) { return x[i] - 7; });
  z = x;
  each(z *= 7.0, [&](int i) { return x[i] * 7; });
  z = x;
  each(z /= 7.0, [&](int i) { return x[i] / 7; });
  each(+x, [&](int i) { return x[i]; });
  each(sqrt(x), [&](int i) { return std::sqrt(x[i]); });
  each(log(x), [&](int i) { return std::log(x[i]); });
  each(sin(x), [&](int i) { return std::sin(x[i]); });
  each(cos(x), [&](int i) { return std::cos(x[i]); });
  each(tan(x), [&](int i) { return std::tan(x[i]); });
  each(asin(x), [&](int i) { return std::asin(x[i]); });
  each(acos(x), [&](int i) { return std::acos(x[i]); });
  each(atan(x), [&](int i) { return std::atan(x[i]); });

  const multi1d<int> p = counting(3), q = counting(2, 5);
  const multi1d<int> joined = concat(p, q);
  CHECK(joined == [] {
    multi1d<int> c(5);
    const int values[] = {0, 1, 2, 5, 6};
    c = values;
    return c;
  }());
  // The first difference decides, then the size; each relation against every other.
  const std::vector<multi1d<int>> ascending = {multi1d<int>(), counting(1),    counting(2),   counting(3),
                                               counting(2, 1), counting(3, 1), counting(1, 2)};
  for (std::size_t i = 0; i < ascending.size(); ++i)
    for (std::size_t j = 0; j < ascending.size(); ++j) {
      const auto &left = ascending[i], &right = ascending[j];
      CAPTURE(i);
      CAPTURE(j);
      CHECK((left < right) == (i < j));
      CHECK((left > right) == (i > j));
      CHECK((left <= right) == (i <= j));
      CHECK((left >= right) == (i >= j));
      CHECK((left == right) == (i == j));
      CHECK((left != right) == (i != j));
    }
}
