// Products of every pair of site types that QDP++ programs multiply, in both precisions and mixed.
#include "operations.hpp"

using namespace tests;

namespace {

template <class A, class B>
void product(const char* what) {
  check_binary<A, B>(what, [](const auto& a, const auto& b) { return a * b; }, reference::multiply, 40);
}

/// The pairs by kind: V is the word of the left operand, W that of the right one.
template <class V, class W>
void numbers_times_everything() {
  using L = Sites<V>;
  using R = Sites<W>;
  product<typename L::Real, typename R::Real>("Real * Real");
  product<typename L::Real, typename R::Complex>("Real * Complex");
  product<typename L::Real, typename R::ColorMatrix>("Real * ColorMatrix");
  product<typename L::Real, typename R::ColorVector>("Real * ColorVector");
  product<typename L::Real, typename R::Fermion>("Real * Fermion");
  product<typename L::Complex, typename R::Complex>("Complex * Complex");
  product<typename L::Complex, typename R::ColorMatrix>("Complex * ColorMatrix");
  product<typename L::Complex, typename R::ColorVector>("Complex * ColorVector");
  product<typename L::Complex, typename R::SpinVector>("Complex * SpinVector");
  product<typename L::Complex, typename R::SpinMatrix>("Complex * SpinMatrix");
  product<typename L::Complex, typename R::HalfFermion>("Complex * HalfFermion");
  product<typename L::Complex, typename R::Fermion>("Complex * Fermion");
  product<typename L::ColorMatrix, typename R::Real>("ColorMatrix * Real");
  product<typename L::SpinMatrix, typename R::Complex>("SpinMatrix * Complex");
  product<typename L::Fermion, typename R::Complex>("Fermion * Complex");
  product<typename L::Fermion, typename R::Real>("Fermion * Real");
}

template <class V, class W>
void matrices_times_everything() {
  using L = Sites<V>;
  using R = Sites<W>;
  product<typename L::ColorMatrix, typename R::ColorMatrix>("ColorMatrix * ColorMatrix");
  product<typename L::ColorMatrix, typename R::ColorVector>("ColorMatrix * ColorVector");
  product<typename L::ColorMatrix, typename R::HalfFermion>("ColorMatrix * HalfFermion");
  product<typename L::ColorMatrix, typename R::Fermion>("ColorMatrix * Fermion");
  product<typename L::ColorMatrix, typename R::SpinMatrix>("ColorMatrix * SpinMatrix");
  product<typename L::SpinMatrix, typename R::SpinMatrix>("SpinMatrix * SpinMatrix");
  product<typename L::SpinMatrix, typename R::SpinVector>("SpinMatrix * SpinVector");
  product<typename L::SpinMatrix, typename R::Fermion>("SpinMatrix * Fermion");
}

}  // namespace

TEST_CASE("numbers multiply every type, double by double") {
  create_lattice({4, 4, 4, 8});
  numbers_times_everything<double, double>();
}
TEST_CASE("numbers multiply every type, float by float") {
  create_lattice({3, 5, 7, 2});
  numbers_times_everything<float, float>();
}
TEST_CASE("matrices multiply every type, double by double") {
  create_lattice({2, 2, 2, 2});
  matrices_times_everything<double, double>();
}
TEST_CASE("matrices multiply every type, float by float") {
  create_lattice({4, 4, 4, 8});
  matrices_times_everything<float, float>();
}
