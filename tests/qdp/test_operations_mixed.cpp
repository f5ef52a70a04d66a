// Operands of different precision: the result has the wider word, and is computed in it.
#include "operations.hpp"

using namespace tests;

namespace {

template <class V, class W>
void mixed_products() {
  using L = Sites<V>;
  using R = Sites<W>;
  auto times = [](const auto& a, const auto& b) { return a * b; };
  check_binary<typename L::Real, typename R::Real>("Real * Real", times, reference::multiply);
  check_binary<typename L::Real, typename R::Fermion>("Real * Fermion", times, reference::multiply);
  check_binary<typename L::Complex, typename R::ColorMatrix>("Complex * ColorMatrix", times, reference::multiply);
  check_binary<typename L::ColorMatrix, typename R::ColorMatrix>("ColorMatrix * ColorMatrix", times,
                                                                 reference::multiply, 20);
  check_binary<typename L::ColorMatrix, typename R::HalfFermion>("ColorMatrix * HalfFermion", times,
                                                                 reference::multiply, 20);
  check_binary<typename L::SpinMatrix, typename R::SpinVector>("SpinMatrix * SpinVector", times, reference::multiply,
                                                               20);
}

template <class V, class W>
void mixed_sums() {
  using L = Sites<V>;
  using R = Sites<W>;
  check_binary<typename L::Real, typename R::Complex>(
      "Real + Complex", [](const auto& a, const auto& b) { return a + b; }, reference::add);
  check_binary<typename L::Fermion, typename R::Fermion>(
      "Fermion - Fermion", [](const auto& a, const auto& b) { return a - b; }, reference::subtract);
  check_binary<typename L::Complex, typename R::Real>(
      "Complex / Real", [](const auto& a, const auto& b) { return a / b; }, reference::divide);
  check_binary<typename L::Complex, typename R::ColorMatrix>(
      "Complex + ColorMatrix", [](const auto& a, const auto& b) { return a + b; }, reference::add);
}

}  // namespace

TEST_CASE("float times double is double") {
  create_lattice({4, 4, 4, 8});
  mixed_products<float, double>();
}
TEST_CASE("double times float is double") {
  create_lattice({3, 5, 7, 2});
  mixed_products<double, float>();
}
TEST_CASE("float and double add and divide") {
  create_lattice({2, 2, 2, 2});
  mixed_sums<float, double>();
}
TEST_CASE("double and float add and divide") {
  create_lattice({4, 4, 4, 8});
  mixed_sums<double, float>();
}

TEST_CASE("a double scalar or word does not widen what it cannot: QDP++'s rules for words") {
  create_lattice({4, 4, 4, 8});
  const auto f = random_lattice<Sites<float>::Fermion>();
  static_assert(std::is_same_v<site_of<decltype(2.5 * f)>, Sites<float>::Fermion>,
                "a built-in number takes the word of the field");
  static_assert(std::is_same_v<site_of<decltype(QDP::Double(2.5) * f)>, Sites<double>::Fermion>,
                "a scalar keeps its own");
  const auto vf = values(f);
  QDP::LatticeFermionF r;
  r = QDP::Double(0.1) * f;  // computed in double, rounded once
  check_field(
      "Double * FermionF", r, [&](std::size_t i) { return reference::multiply(reference::real_number(0.1), vf[i]); },
      tol<float>(1) / 2);
}
