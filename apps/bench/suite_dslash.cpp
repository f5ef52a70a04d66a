#include "apps/bench/fields.hpp"
#include "apps/bench/suites.hpp"

namespace bench {
namespace {

using namespace QDP;

// 8 directions: project 12, SU(3) times half spinor 2*66; 7 sums of 24: 8*(12 + 132) + 7*24.
constexpr double kFlops = 1320, kLink = 18, kFermion = 24;

template <class P>
void dslash(Session& session) {
  multi1d<typename P::ColorMatrix> u(Nd);
  typename P::Fermion chi, psi;
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  gaussian(psi);

  const Work work{.flops = kFlops, .words = 8 * kLink + 2 * kFermion, .share_of_sites = 0.5};
  session.run("dslash", work, [&] {
    chi[rb[0]] = spinReconstructDir0Minus(u[0] * shift(spinProjectDir0Minus(psi), FORWARD, 0)) +
                 spinReconstructDir0Plus(shift(adj(u[0]) * spinProjectDir0Plus(psi), BACKWARD, 0)) +
                 spinReconstructDir1Minus(u[1] * shift(spinProjectDir1Minus(psi), FORWARD, 1)) +
                 spinReconstructDir1Plus(shift(adj(u[1]) * spinProjectDir1Plus(psi), BACKWARD, 1)) +
                 spinReconstructDir2Minus(u[2] * shift(spinProjectDir2Minus(psi), FORWARD, 2)) +
                 spinReconstructDir2Plus(shift(adj(u[2]) * spinProjectDir2Plus(psi), BACKWARD, 2)) +
                 spinReconstructDir3Minus(u[3] * shift(spinProjectDir3Minus(psi), FORWARD, 3)) +
                 spinReconstructDir3Plus(shift(adj(u[3]) * spinProjectDir3Plus(psi), BACKWARD, 3));
  });
}

}  // namespace

void run_dslash(Session& session, Precision precision) {
  precision == Precision::kSingle ? dslash<SingleFields>(session) : dslash<DoubleFields>(session);
}

}  // namespace bench
