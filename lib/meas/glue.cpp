#include "lib/meas/glue.hpp"

#include "lib/gauge/loop.hpp"

namespace qcd {

using namespace QDP;

namespace {

/// 1/(n V Nc): turns a sum over n loops per site into the average of tr/Nc.
Double per_site_and_colour(int n) { return Double(1) / (Double(n) * Double(Layout::vol()) * Double(Nc)); }

}  // namespace

Plaquettes measure_plaquettes(const GaugeField& u) {
  Plaquettes p;
  p.average = p.space = p.time = zero;
  p.plane.resize(Nd, Nd);
  constexpr int time = Nd - 1;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu) {
      p.plane(mu, nu) = per_site_and_colour(1) * sum_real_trace(u, {{plaquette_loop(mu, nu), 1}});
      p.plane(nu, mu) = p.plane(mu, nu);
      p.average += p.plane(mu, nu);
      (mu == time ? p.time : p.space) += p.plane(mu, nu);
    }
  p.average *= Double(2.0 / (Nd * (Nd - 1)));
  p.time *= Double(1.0 / (Nd - 1));
  if constexpr (Nd > 2) p.space *= Double(2.0 / ((Nd - 1) * (Nd - 2)));
  p.link = average_link(u);
  return p;
}

Double average_plaquette(const GaugeField& u) {
  return per_site_and_colour(Nd * (Nd - 1) / 2) * sum_real_trace(u, all_plaquettes());
}

Double sum_rectangles(const GaugeField& u) { return sum_real_trace(u, all_rectangles()) / Double(Nc); }

DComplex polyakov_loop(const GaugeField& u, int mu) {
  require_gauge_field(u, "polyakov_loop");
  if (mu < 0 || mu >= Nd)
    throw ShapeError("polyakov_loop: expected a direction 0.." + std::to_string(Nd - 1) + ", got " +
                     std::to_string(mu));
  LatticeColorMatrix line = u[mu];
  for (int n = 1; n < Layout::lattSize()[mu]; ++n) line = u[mu] * shift(line, FORWARD, mu);
  DComplex loop = sum(trace(line));
  loop *= per_site_and_colour(1);
  return loop;
}

Double average_link(const GaugeField& u) {
  require_gauge_field(u, "average_link");
  Double total = zero;
  for (int mu = 0; mu < Nd; ++mu) total += sum(real(trace(u[mu])));
  return per_site_and_colour(Nd) * total;
}

}  // namespace qcd
