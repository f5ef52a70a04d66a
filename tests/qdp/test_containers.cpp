// multi1d ... multi5d, multiNd, Array1dO, SingletonHolder.
#include "qdp/util/multi.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "jit/support/error.hpp"
#include "qdp/util/array_one_based.hpp"
#include "qdp/util/singleton.hpp"

using namespace QDP;

namespace {

multi1d<int> counting(int n, int first = 0) {
  multi1d<int> a(n);
  for (int i = 0; i < n; ++i) a[i] = first + i;
  return a;
}

template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const jit::UserError& e) {
    return e.what();
  }
  return "no error";
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
  CHECK(error_of([&] { a.resize(4); }).find("view") != std::string::npos);
  CHECK(error_of([&] { a = multi1d<double>(2); }).find("view") != std::string::npos);
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
  CHECK(error_of([&] { a += multi1d<double>(3); }).find("2 and 3 elements") != std::string::npos);
  multi1d<double> empty;
  CHECK(error_of([&] { empty = 1.0; }).find("resize") != std::string::npos);
  CHECK(error_of([&] { empty += 1.0; }).find("resize") != std::string::npos);
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
  CHECK(error_of([&] { a[3] = 1; }).find("0..2, got 3") != std::string::npos);
  CHECK(error_of([&] { a[-1] = 1; }).find("got -1") != std::string::npos);
  multi1d<int> empty;
  CHECK(error_of([&] { empty[0] = 1; }).find("empty") != std::string::npos);
  CHECK(error_of([&] { a.resize(-2); }).find("got -2") != std::string::npos);
  multi2d<int> b(2, 3);
  CHECK(error_of([&] { b(2, 0) = 1; }).find("second last index: expected 0..1, got 2") != std::string::npos);
  CHECK(error_of([&] { b(0, 3) = 1; }).find("multi2d: last index") != std::string::npos);
  CHECK(error_of([&] { b[5]; }).find("got 5") != std::string::npos);
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
  CHECK(error_of([&] { a(1); }).find("expected 2, got 1") != std::string::npos);
  CHECK(error_of([&] { a(0, 2); }).find("0..1, got 2") != std::string::npos);
  CHECK(error_of([&] { a.getElem(6); }).find("got 6") != std::string::npos);
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
  CHECK(error_of([&] { a[0] = 1; }) != "no error");
  CHECK(error_of([&] { a[4] = 1; }) != "no error");
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
