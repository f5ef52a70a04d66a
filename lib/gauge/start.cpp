#include "lib/gauge/start.hpp"

#include "lib/gauge/su3.hpp"

namespace qcd {

using namespace QDP;

void unit_start(GaugeField& u) {
  u.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) u[mu] = Real(1);
}

void weak_field_start(GaugeField& u) {
  const Real amplitude = 0.04 * 3.14159265358979323846;
  const Real root_half = 0.70710678118654752440;

  const auto random_angle = [&] {
    LatticeReal theta;
    random(theta);
    theta *= amplitude;
    return theta;
  };

  u.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    u[mu] = Real(1);
    if (Nc == 1) {  // no subgroups: a phase
      const LatticeReal theta = random_angle();
      u[mu] = cmplx(cos(theta), sin(theta));
    }
    // The SU(2) subgroups in the order (0,1) (1,2) (0,2): growing distance between the two rows.
    for (int distance = 1; distance < Nc; ++distance)
      for (int i = 0; i + distance < Nc; ++i) {
        const int j = i + distance;
        const LatticeReal t1 = random_angle();
        const LatticeReal t2 = random_angle();
        const LatticeReal a0 = root_half * cos(t1), a1 = root_half * sin(t1);
        const LatticeReal a2 = root_half * cos(t2), a3 = root_half * sin(t2);

        LatticeColorMatrix embedded;
        embedded = Real(1);
        pokeColor(embedded, cmplx(a0, a3), i, i);
        pokeColor(embedded, cmplx(a2, a1), i, j);
        pokeColor(embedded, cmplx(-a2, a1), j, i);
        pokeColor(embedded, cmplx(a0, -a3), j, j);
        u[mu] = u[mu] * embedded;
      }
  }
}

void disordered_start(GaugeField& u) {
  u.resize(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    gaussian(u[mu]);
    u[mu] = su3_unitarize(su3_exp12(taproj(u[mu])));
  }
}

}  // namespace qcd
