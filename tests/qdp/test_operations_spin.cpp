// Gamma matrices, spin projection and reconstruction, and access to spin and colour components.
#include "operations.hpp"

using namespace tests;

namespace {

using D = Sites<double>;
using F = Sites<float>;
using QDP::Gamma;
using QDP::GammaDP;
using reference::Basis;

template <class T>
void gamma_from_the_left(const char* what) {
  const auto a = random_lattice<T>();
  const auto va = values(a);
  OLattice<T> r;
  for (int n = 0; n < 16; ++n) {
    r = Gamma(n) * a;
    check_field(
        what, r, [&](std::size_t i) { return reference::multiply(reference::gamma(n), va[i]); }, tol<word_of<T>>(8));
    r = GammaDP(n) * a;
    check_field(
        what, r, [&](std::size_t i) { return reference::multiply(reference::gamma(n, Basis::dirac_pauli), va[i]); },
        tol<word_of<T>>(8));
  }
}

template <class T>
void gamma_from_the_right(const char* what) {
  const auto a = random_lattice<T>();
  const auto va = values(a);
  OLattice<T> r;
  for (int n = 0; n < 16; ++n) {
    r = a * Gamma(n);
    check_field(
        what, r, [&](std::size_t i) { return reference::multiply(va[i], reference::gamma(n)); }, tol<word_of<T>>(8));
    r = a * GammaDP(n);
    check_field(
        what, r, [&](std::size_t i) { return reference::multiply(va[i], reference::gamma(n, Basis::dirac_pauli)); },
        tol<word_of<T>>(8));
  }
}

template <int n = 0>
void constant_gammas(const QDP::LatticePropagatorD& a, const std::vector<SiteValue>& va) {
  QDP::LatticePropagatorD r;
  r = QDP::GammaConst<4, n>() * a * QDP::GammaConst<4, (n + 5) % 16>();
  check_field(
      "GammaConst * a * GammaConst", r,
      [&](std::size_t i) {
        return reference::multiply(reference::multiply(reference::gamma(n), va[i]), reference::gamma((n + 5) % 16));
      },
      tol<double>(16));
  if constexpr (n < 15) constant_gammas<n + 1>(a, va);
}

#define PROJECTION(mu, Sign)                                                                                           \
  check_unary<D::Fermion>(                                                                                             \
      "spinProjectDir" #mu #Sign, [](const auto& x) { return QDP::spinProjectDir##mu##Sign(x); },                      \
      [](const SiteValue& x) { return reference::spin_project(x, mu, Sign); });                                        \
  check_unary<F::HalfFermion>(                                                                                         \
      "spinReconstructDir" #mu #Sign, [](const auto& x) { return QDP::spinReconstructDir##mu##Sign(x); },              \
      [](const SiteValue& x) { return reference::spin_reconstruct(x, mu, Sign); })
constexpr int Plus = +1, Minus = -1;

}  // namespace

TEST_CASE("Gamma(n) from the left") {
  create_lattice({2, 2, 2, 2});
  gamma_from_the_left<D::Fermion>("Gamma * Fermion");
  gamma_from_the_left<F::SpinVector>("Gamma * SpinVector");
  gamma_from_the_left<D::SpinMatrix>("Gamma * SpinMatrix");
  gamma_from_the_left<F::Propagator>("Gamma * Propagator");
}

TEST_CASE("Gamma(n) from the right") {
  create_lattice({2, 2, 2, 2});
  gamma_from_the_right<D::Propagator>("Propagator * Gamma");
  gamma_from_the_right<F::SpinMatrix>("SpinMatrix * Gamma");
}

TEST_CASE("constant gamma matrices on both sides") {
  create_small({1, 1, 1, 1});
  const auto a = random_lattice<D::Propagator>();
  constant_gammas(a, values(a));
}

TEST_CASE("gamma matrices of scalars and site values") {
  create_small({1, 1, 1, 1});
  const auto p = random_scalar<D::Propagator>();
  const auto f = random_scalar<F::Fermion>();
  for (int n = 0; n < 16; ++n) {
    check_site("Gamma * Propagator * Gamma", (Gamma(n) * p * Gamma(7)).elem(),
               reference::multiply(reference::multiply(reference::gamma(n), value(p.elem())), reference::gamma(7)),
               tol<double>(8));
    check_site("Gamma * Fermion", Gamma(n) * f.elem(), reference::multiply(reference::gamma(n), value(f.elem())),
               tol<float>(8));
  }
  QDP::SpinMatrix one = 1;
  check_site("Gamma(13) * 1", (Gamma(13) * one).elem(), reference::gamma(13), 0);
}

TEST_CASE("gamma matrices anticommute and square to one") {
  create_small({1, 1, 1, 1});
  QDP::SpinMatrix one = 1.0;
  for (int mu = 0; mu < QDP::Nd; ++mu)
    for (int nu = 0; nu < 4; ++nu) {
      const QDP::SpinMatrix sum = Gamma(1 << mu) * (Gamma(1 << nu) * one) + Gamma(1 << nu) * (Gamma(1 << mu) * one);
      const QDP::SpinMatrix expected = mu == nu ? 2.0 : 0.0;
      CHECK(toDouble(norm2(sum - expected)) == 0.0);
    }
}

TEST_CASE("spin projection and reconstruction in every direction") {
  create_lattice({4, 4, 4, 8});
  PROJECTION(0, Plus);
  PROJECTION(0, Minus);
  PROJECTION(1, Plus);
  PROJECTION(1, Minus);
  PROJECTION(2, Plus);
  PROJECTION(2, Minus);
  PROJECTION(3, Plus);
  PROJECTION(3, Minus);
}

TEST_CASE("reconstruction undoes projection: (1 + s gamma_mu) psi") {
  create_lattice({3, 5, 7, 2});
  const auto psi = random_lattice<D::Fermion>();
  const auto v = values(psi);
  QDP::LatticeFermionD r;
  for (int mu = 0; mu < QDP::Nd; ++mu)
    for (int sign : {+1, -1}) {
      r = spinReconstruct(spinProject(psi, mu, sign), mu, sign);
      check_field(
          "spinReconstruct(spinProject)", r,
          [&](std::size_t i) {
            const SiteValue turned = reference::multiply(reference::gamma(1 << mu), v[i]);
            return sign > 0 ? reference::add(v[i], turned) : reference::subtract(v[i], turned);
          },
          tol<double>(4));
    }
}

TEST_CASE("chiral projections") {
  create_lattice({4, 4, 4, 8});
  check_unary<D::Fermion>(
      "chiralProjectPlus", [](const auto& x) { return QDP::chiralProjectPlus(x); },
      [](const SiteValue& x) { return reference::chiral_project(x, +1); });
  check_unary<F::Fermion>(
      "chiralProjectMinus", [](const auto& x) { return QDP::chiralProjectMinus(x); },
      [](const SiteValue& x) { return reference::chiral_project(x, -1); });
  check_unary<D::Propagator>(
      "chiralProjectMinus", [](const auto& x) { return QDP::chiralProjectMinus(x); },
      [](const SiteValue& x) { return reference::chiral_project(x, -1); });
}

TEST_CASE("peekSpin and peekColor take any component") {
  create_lattice({3, 5, 7, 2});
  for (int s = 0; s < 4; ++s)
    check_unary<D::Fermion>(
        "peekSpin Fermion", [s](const auto& x) { return QDP::peekSpin(x, s); },
        [s](const SiteValue& x) { return reference::spin_component(x, s, 0); });
  for (int a = 0; a < QDP::Nc; ++a) {
    check_unary<F::Fermion>(
        "peekColor Fermion", [a](const auto& x) { return QDP::peekColor(x, a); },
        [a](const SiteValue& x) { return reference::color_component(x, a, 0); });
    for (int b = 0; b < QDP::Nc; ++b)
      check_unary<D::ColorMatrix>(
          "peekColor ColorMatrix", [a, b](const auto& x) { return QDP::peekColor(x, a, b); },
          [a, b](const SiteValue& x) { return reference::color_component(x, a, b); });
  }
  check_unary<F::Propagator>(
      "peekSpin Propagator", [](const auto& x) { return QDP::peekSpin(x, 2, 1); },
      [](const SiteValue& x) { return reference::spin_component(x, 2, 1); });
  check_unary<F::Propagator>(
      "peekColor Propagator", [](const auto& x) { return QDP::peekColor(x, QDP::Nc - 1, QDP::Nc / 2); },
      [](const SiteValue& x) { return reference::color_component(x, QDP::Nc - 1, QDP::Nc / 2); });
  check_unary<F::Propagator>(
      "peekColor(peekSpin)", [](const auto& x) { return QDP::peekColor(QDP::peekSpin(x, 3, 0), 0, QDP::Nc - 1); },
      [](const SiteValue& x) {
        return reference::color_component(reference::spin_component(x, 3, 0), 0, QDP::Nc - 1);
      });
}
