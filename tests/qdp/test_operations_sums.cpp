// Sums, differences, quotients, comparisons, logic and integer arithmetic on every pair of operand types that accepts
// them.
#include "operations.hpp"

#include <cmath>

using namespace tests;

namespace {

template <class A, class B>
void sum(const char* what) {
  check_binary<A, B>(what, [](const auto& a, const auto& b) { return a + b; }, reference::add);
}
template <class A, class B>
void difference(const char* what) {
  check_binary<A, B>(what, [](const auto& a, const auto& b) { return a - b; }, reference::subtract);
}
template <class A, class B>
void quotient(const char* what) {
  check_binary<A, B>(what, [](const auto& a, const auto& b) { return a / b; }, reference::divide, 16);
}

using D = Sites<double>;
using F = Sites<float>;
using Integer = QDP::Integer::Subtype_t;
using Boolean = QDP::Boolean::Subtype_t;

template <class A, class B, class W, class F>
void real_pair(const char* what, F f, double (*formula)(double, double)) {
  check_binary<A, B, W>(what, f,
                        [formula](const SiteValue& a, const SiteValue& b) { return reference::map(a, b, formula); });
}
#define CHECK_PAIR(A, B, W, op)                                                                                        \
  real_pair<A, B, W>(                                                                                                  \
      #A " " #op " " #B, [](const auto& a, const auto& b) { return a op b; },                                          \
      [](double a, double b) -> double { return a op b; })
#define CHECK_INTEGERS(A, B, W, op)                                                                                    \
  real_pair<A, B, W>(                                                                                                  \
      #A " " #op " " #B, [](const auto& a, const auto& b) { return a op b; },                                          \
      [](double a, double b) -> double { return int(a) op int(b); })

}  // namespace

TEST_CASE("values of one type add up; a number beside a matrix is that multiple of one") {
  create_lattice({4, 4, 4, 8});
  sum<D::Real, D::Real>("Real + Real");
  sum<D::Complex, D::Complex>("Complex + Complex");
  sum<D::ColorMatrix, D::ColorMatrix>("ColorMatrix + ColorMatrix");
  sum<D::ColorVector, D::ColorVector>("ColorVector + ColorVector");
  sum<D::SpinMatrix, D::SpinMatrix>("SpinMatrix + SpinMatrix");
  sum<D::Fermion, D::Fermion>("Fermion + Fermion");
  sum<D::Propagator, D::Propagator>("Propagator + Propagator");
  sum<D::Real, D::Complex>("Real + Complex");
  sum<D::ColorMatrix, D::Complex>("ColorMatrix + Complex");
  sum<D::Real, D::SpinMatrix>("Real + SpinMatrix");
  sum<D::Complex, D::Propagator>("Complex + Propagator");
}

TEST_CASE("values of one type subtract; a number beside a matrix is that multiple of one") {
  create_lattice({3, 5, 7, 2});
  difference<F::Real, F::Real>("Real - Real");
  difference<F::Complex, F::Real>("Complex - Real");
  difference<F::Complex, F::ColorMatrix>("Complex - ColorMatrix");
  difference<F::SpinVector, F::SpinVector>("SpinVector - SpinVector");
  difference<F::HalfFermion, F::HalfFermion>("HalfFermion - HalfFermion");
  difference<F::Fermion, F::Fermion>("Fermion - Fermion");
  difference<F::SpinMatrix, F::Complex>("SpinMatrix - Complex");
  difference<F::ColorVectorSpinMatrix, F::ColorVectorSpinMatrix>("ColorVectorSpinMatrix - ColorVectorSpinMatrix");
}

TEST_CASE("everything divides by numbers") {
  create_lattice({2, 2, 2, 2});
  quotient<D::Real, D::Real>("Real / Real");
  quotient<D::Real, D::Complex>("Real / Complex");
  quotient<D::Complex, D::Real>("Complex / Real");
  quotient<D::Complex, D::Complex>("Complex / Complex");
  quotient<F::ColorMatrix, F::Real>("ColorMatrix / Real");
  quotient<F::Fermion, F::Complex>("Fermion / Complex");
  quotient<F::Propagator, F::Real>("Propagator / Real");
}

TEST_CASE("comparisons give truth values") {
  create_lattice({4, 4, 4, 8});
  CHECK_PAIR(D::Real, D::Real, bool, <);
  CHECK_PAIR(F::Real, D::Real, bool, <=);
  CHECK_PAIR(Integer, Integer, bool, >);
  CHECK_PAIR(Integer, Integer, bool, >=);
  CHECK_PAIR(Integer, Integer, bool, ==);
  CHECK_PAIR(Integer, D::Real, bool, !=);
  CHECK_PAIR(F::Real, Integer, bool, >);
}

TEST_CASE("logic on truth values") {
  create_lattice({3, 5, 7, 2});
  CHECK_PAIR(Boolean, Boolean, bool, &&);
  CHECK_PAIR(Boolean, Boolean, bool, ||);
  CHECK_INTEGERS(Boolean, Boolean, bool, &);
  CHECK_INTEGERS(Boolean, Boolean, bool, |);
  CHECK_INTEGERS(Boolean, Boolean, bool, ^);
  check_unary<Boolean>(
      "!Boolean", [](const auto& a) { return !a; },
      [](const SiteValue& a) { return reference::map(a, [](double x) { return double(!x); }); });
}

TEST_CASE("integers compute as in C++") {
  create_lattice({4, 4, 4, 8});
  CHECK_INTEGERS(Integer, Integer, int, +);
  CHECK_INTEGERS(Integer, Integer, int, *);
  CHECK_INTEGERS(Integer, Integer, int, /);  // towards zero
  CHECK_INTEGERS(Integer, Integer, int, %);
  CHECK_INTEGERS(Integer, Integer, int, &);
  CHECK_INTEGERS(Integer, Integer, int, |);
  CHECK_INTEGERS(Integer, Integer, int, ^);
  check_binary<Integer, Integer>(
      "Integer << Integer", [](const auto& a, const auto& b) { return a << b; },
      [](const SiteValue& a, const SiteValue& b) {
        return reference::map(a, b, [](double x, double y) { return std::ldexp(x, int(y)); });
      },
      1, Range::any, Range::positive);
  check_binary<Integer, Integer>(
      "Integer >> Integer", [](const auto& a, const auto& b) { return a >> b; },
      [](const SiteValue& a, const SiteValue& b) {
        return reference::map(a, b, [](double x, double y) { return std::floor(std::ldexp(x, -int(y))); });
      },
      1, Range::any, Range::positive);
  check_unary<Integer>(
      "~Integer", [](const auto& a) { return ~a; },
      [](const SiteValue& a) { return reference::map(a, [](double x) { return -x - 1; }); });
  check_unary<Integer>("-Integer", [](const auto& a) { return -a; }, reference::negate);
}

TEST_CASE("integers mix with real and complex numbers") {
  create_lattice({2, 2, 2, 2});
  check_binary<Integer, D::Complex>(
      "Integer * Complex", [](const auto& a, const auto& b) { return a * b; }, reference::multiply);
  check_binary<F::Real, Integer>(
      "Real / Integer", [](const auto& a, const auto& b) { return a / b; }, reference::divide);
  check_binary<F::ColorMatrix, Integer>(
      "ColorMatrix * Integer", [](const auto& a, const auto& b) { return a * b; }, reference::multiply);
}

TEST_CASE("a built-in number takes the word of the value beside it") {
  create_lattice({4, 4, 4, 8});
  auto times = [](const auto& a, const auto& b) { return a * b; };
  auto plus = [](const auto& a, const auto& b) { return a + b; };
  auto minus = [](const auto& a, const auto& b) { return a - b; };
  check_with_word<D::Real>("Real *", times, reference::multiply, 2.5);
  check_with_word<F::ColorMatrix>("ColorMatrix +", plus, reference::add, -0.3);
  check_with_word<F::Real>("Real -", minus, reference::subtract, 3);
  check_with_word<D::Complex>("Complex -", minus, reference::subtract, 1.25);
  check_with_word<D::SpinMatrix>("SpinMatrix *", times, reference::multiply, 0.7);
  check_with_word<Integer>("Integer *", times, reference::multiply, 3);
  check_with_word<D::Real>("Real /", [](const auto& a, const auto& b) { return a / b; }, reference::divide, 0.7);
}

TEST_CASE("signs") {
  create_small({1, 1, 1, 1});
  check_unary<D::Real>("-Real", [](const auto& a) { return -a; }, reference::negate);
  check_unary<F::Fermion>("-Fermion", [](const auto& a) { return -a; }, reference::negate);
  check_unary<D::Propagator>("-Propagator", [](const auto& a) { return -a; }, reference::negate);
  check_unary<F::ColorMatrix>("+ColorMatrix", [](const auto& a) { return +a; }, [](const SiteValue& a) { return a; });
}
