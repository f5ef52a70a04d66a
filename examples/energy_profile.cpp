// An observable of your own: the energy density per time slice after a few steps of gradient descent on the action.
//
// Shows a set of your own (time slices), a sum per slice, a site function of your own, and the library's forces.
//   example_energy_profile

#include "lib/action/gauge_actions.hpp"
#include "lib/gauge/start.hpp"
#include "lib/gauge/su3.hpp"

#include "qdp.h"

using namespace QDP;

namespace {

/// Sites by their time coordinate.
struct TimeSlices : SetFunc {
  int operator()(const multi1d<int>& site) const override { return site[Nd - 1]; }
  int numSubsets() const override { return Layout::lattSize()[Nd - 1]; }
};

/// 1 - Re tr m / Nc, from the components of m.
const auto deviation = siteFunction<1, LatticeReal>("deviation", [](const Sym& m) {
  Sym diagonal = real(m.color(0, 0));
  for (int c = 1; c < Nc; ++c) diagonal += real(m.color(c, c));
  return 1.0 - diagonal * (1.0 / Nc);
});

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> extents(Nd);
  extents = 4;
  extents[Nd - 1] = 8;
  Layout::setLattSize(extents);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd), force;
  qcd::disordered_start(u);

  // dU/dt = F U lowers the action: ten Euler steps of the Wilson flow.
  const qcd::LoopAction action = qcd::wilson_action(6.0);
  for (int step = 0; step < 10; ++step) {
    action.force(force, u);
    for (int mu = 0; mu < Nd; ++mu) u[mu] = qcd::su3_exp(Real(0.02) * force[mu]) * u[mu];
  }

  LatticeReal energy = zero;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      energy += deviation(u[mu] * shift(u[nu], FORWARD, mu) * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]));

  Set slices;
  slices.make(TimeSlices());
  const multi1d<Double> profile = sumMulti(energy, slices);
  for (int t = 0; t < profile.size(); ++t) QDPIO::cout << "t = " << t << "  energy " << profile[t] << std::endl;
  QDP_finalize();
}
