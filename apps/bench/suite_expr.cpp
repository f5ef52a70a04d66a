#include <type_traits>

#include "apps/bench/fields.hpp"
#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"
#include "lib/action/gauge_actions.hpp"
#include "lib/dirac/clover_term.hpp"
#include "lib/gauge/start.hpp"

namespace bench {
namespace {

using namespace QDP;

// Real operations. A complex product takes 6, a sum 2; SU(3): matrix times matrix 9*(3*6 + 2*2), times vector 3*(...).
// Clover: two Hermitian blocks of 6 rows, packed.
constexpr double kMatrixMatrix = 9 * 22, kSpinSpin = 16 * (4 * 6 + 3 * 2);
constexpr double kCloverFermion = 2 * (6 * 2 + 30 * 8);
constexpr double kSpin = 32, kClover = 2 * 36;  // reals of an element

template <class P>
void matrix_products(Session& session) {
  typename P::ColorMatrix u1, u2, u3;
  typename P::Fermion psi0, psi1, psi2;
  gaussian(u1);
  gaussian(u2);
  gaussian(u3);
  gaussian(psi1);
  gaussian(psi2);

  session.run("upsi", {kMatrixFermion, kLink + 2 * kFermion}, [&] { psi0 = u1 * psi2; });
  session.run("matvec", {2 * kMatrixFermion + kFermion, kLink + 3 * kFermion}, [&] { psi0 = u1 * psi1 + u1 * psi2; });
  session.run("lcm", {kMatrixMatrix, 3 * kLink}, [&] { u1 = u2 * u3; });
}

template <class P>
void spin_products(Session& session) {
  typename P::SpinMatrix g1, g2, g3;
  gaussian(g2);
  gaussian(g3);

  session.run("spmat", {kSpinSpin, 3 * kSpin}, [&] { g1 = g2 * g3; });
}

template <class P>
void vectors(Session& session) {
  typename P::Fermion x, y, z;
  gaussian(x);
  gaussian(y);
  const typename P::Real a = 1e-6;  // y stays finite however often it is added to
  DComplex inner;
  Double norm;

  session.run("zero", {0, kFermion}, [&] { z = zero; });
  session.run("copy", {0, 2 * kFermion}, [&] { z = x; });
  session.run("axpy", {2 * kFermion, 3 * kFermion}, [&] { y += a * x; });
  session.run("norm2", {2 * kFermion, kFermion}, [&] { norm = norm2(x); });
  session.run("innerProduct", {8 * kFermion / 2, 2 * kFermion}, [&] { inner = innerProduct(x, y); });
}

template <class P>
void gauge_covariant(Session& session) {
  multi1d<typename P::ColorMatrix> u(Nd);
  typename P::Fermion psi, phi;
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  gaussian(phi);

  const int mu = 0;
  session.run("covderiv", kCovariantDerivative, [&] { covariant_derivative<P>(psi, u[mu], phi, mu); });

  typename P::ColorMatrix staples;
  session.run("staples", {(Nd - 1) * (4 * kMatrixMatrix + 2 * kLink), (Nd + 1) * kLink}, [&] {
    staples = zero;
    for (int nu = 0; nu < Nd; ++nu)
      if (nu != mu) {
        const auto ahead = shift(u[nu], FORWARD, mu);
        staples += ahead * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]) +
                   adj(shift(ahead, BACKWARD, nu)) * adj(shift(u[mu], BACKWARD, nu)) * shift(u[nu], BACKWARD, nu);
      }
  });

  constexpr int kPlanes = Nd * (Nd - 1) / 2;
  constexpr double kRealTraceOfProduct = 9 * 3 + 8;
  Double plaquette;
  session.run("plaquette", {kPlanes * (2 * kMatrixMatrix + kRealTraceOfProduct + 1), kPlanes * 2 * kLink}, [&] {
    plaquette = 0;
    for (int nu = 1; nu < Nd; ++nu)
      for (int rho = 0; rho < nu; ++rho)
        plaquette +=
            sum(real(trace(u[rho] * shift(u[nu], FORWARD, rho) * adj(shift(u[rho], FORWARD, nu)) * adj(u[nu]))));
  });
}

/// Of plaquettes and rectangles. A link is in 2(Nd-1) plaquettes and three times as many rectangles: products of three and of five
/// links, which the link itself closes.
void gauge_force(Session& session) {
  qcd::GaugeField u(Nd), f;
  qcd::weak_field_start(u);
  const qcd::LoopAction action = qcd::improved_action(4.0, -1.0 / 12);
  constexpr double kPlaquettes = 2 * (Nd - 1), kRectangles = 3 * kPlaquettes;
  constexpr double kFlopsOfLink =
      (2 * kPlaquettes + 4 * kRectangles + 1) * kMatrixMatrix + (kPlaquettes + kRectangles) * kLink;
  session.run("gauge_force", {Nd * kFlopsOfLink, 2 * Nd * kLink}, [&] { action.force(f, u); });
}

template <class P>
void clover(Session& session) {
  qcd::GaugeField u(Nd);
  qcd::weak_field_start(u);
  const qcd::CloverTerm<typename P::Fermion> term(u, 4.1, [](int, int) { return 1.0; }, 0);
  typename P::Fermion chi, psi;
  gaussian(psi);
  session.run("clover", {kCloverFermion, kClover + 2 * kFermion}, [&] { chi = term.apply(+psi, qcd::Sign::plus); });
}

template <class P>
void all_cases(Session& session) {
  matrix_products<P>(session);
  spin_products<P>(session);
  clover<P>(session);
  vectors<P>(session);
  gauge_covariant<P>(session);
  // Gauge actions have one precision.
  if constexpr (std::is_same_v<typename P::ColorMatrix, LatticeColorMatrix>) gauge_force(session);
}

}  // namespace

void run_expr(Session& session, Precision precision) {
  precision == Precision::kSingle ? all_cases<SingleFields>(session) : all_cases<DoubleFields>(session);
}

}  // namespace bench
