#include "lib/meas/field_strength.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/meas/glue.hpp"

#include <cmath>
#include <numbers>

namespace qcd {

using namespace QDP;

namespace {

/// m steps a, n steps b, back along both.
Path rectangle(Step a, int m, Step b, int n) {
  std::vector<Step> steps;
  const auto walk = [&](Step step, int count) { steps.insert(steps.end(), static_cast<std::size_t>(count), step); };
  walk(a, m);
  walk(b, n);
  walk(-a, m);
  walk(-b, n);
  return Path(std::move(steps));
}

void require_plane(int mu, int nu) {
  if (mu < 0 || nu < 0 || mu >= Nd || nu >= Nd || mu == nu)
    throw ShapeError("field_strength: expected two different directions below " + std::to_string(Nd) + ", got " +
                     std::to_string(mu) + " and " + std::to_string(nu));
}

}  // namespace

std::vector<WeightedPath> clover_leaves(int mu, int nu, int m, int n, double weight) {
  const Step x = forward(mu), y = forward(nu);
  // Each leaf turns from its first side to its second as +mu turns to +nu.
  return {{rectangle(x, m, y, n), weight / 4},
          {rectangle(y, n, -x, m), weight / 4},
          {rectangle(-x, m, -y, n), weight / 4},
          {rectangle(-y, n, x, m), weight / 4}};
}

FieldStrengthDefinition clover_definition() { return {{1, 1, 1.0}}; }

FieldStrengthDefinition rectangle_improved_definition() { return {{1, 1, 5.0 / 3}, {1, 2, -1.0 / 3}}; }

FieldStrengthDefinition five_loop_definition(double k5) {
  return {{1, 1, 19.0 / 9 - 55 * k5},
          {2, 2, 1.0 / 36 - 16 * k5},
          {1, 2, 64 * k5 - 32.0 / 45},
          {1, 3, 1.0 / 15 - 6 * k5},
          {3, 3, k5}};
}

namespace {

/// U_mu(x) U_mu(x+mu) ..., n links.
LatticeColorMatrix line(const GaugeField& u, int mu, int n) {
  LatticeColorMatrix product = u[mu];
  for (int k = 1; k < n; ++k) product = LatticeColorMatrix(u[mu] * shift(product, FORWARD, mu));
  return product;
}

/// The value `n` steps further on; one shift per statement, so that all sizes of loops share their kernels.
LatticeColorMatrix moved(LatticeColorMatrix x, int n, int mu, int sign) {
  for (int k = 0; k < n; ++k) x = LatticeColorMatrix(shift(x, sign, mu));
  return x;
}

/// sum of the four m x n loops around a site: the rectangles with their lower corner at each site, A B C^+ D^+, read
/// from each of their corners and brought there.
LatticeColorMatrix large_leaves(const GaugeField& u, int mu, int nu, int m, int n) {
  const LatticeColorMatrix a = line(u, mu, m), d = line(u, nu, n);
  const LatticeColorMatrix b = moved(d, m, mu, FORWARD), c = moved(a, n, nu, FORWARD);
  LatticeColorMatrix leaves, loop;
  leaves = a * b * adj(c) * adj(d);
  loop = b * adj(c) * adj(d) * a;
  leaves += moved(loop, m, mu, BACKWARD);
  loop = adj(c) * adj(d) * a * b;
  leaves += moved(moved(loop, m, mu, BACKWARD), n, nu, BACKWARD);
  loop = adj(d) * a * b * adj(c);
  leaves += moved(loop, n, nu, BACKWARD);
  return leaves;
}

}  // namespace

LatticeColorMatrix field_strength(const GaugeField& u, int mu, int nu, const FieldStrengthDefinition& definition) {
  require_gauge_field(u, "field_strength");
  require_plane(mu, nu);
  LatticeColorMatrix q = zero;
  for (const auto& [m, n, c] : definition) {
    if (c == 0) continue;
    if (m == 1 && n == 1) {
      q += weighted_sum(u, clover_leaves(mu, nu, 1, 1, c));  // one kernel
    } else {
      q += Real((m == n ? c : c / 2) / 4) * large_leaves(u, mu, nu, m, n);
      if (m != n) q += Real(c / 8) * large_leaves(u, mu, nu, n, m);
    }
  }
  LatticeColorMatrix g;
  g = taproj(q);
  return g;
}

Double topological_charge(const GaugeField& u, const FieldStrengthDefinition& definition) {
  require_gauge_field(u, "topological_charge");
  if (Nd != 4) throw ShapeError("topological_charge: expected four dimensions, got " + std::to_string(Nd));
  const auto g = [&](int mu, int nu) { return field_strength(u, mu, nu, definition); };
  Double total = sum(real(trace(g(0, 1) * g(2, 3))));
  total -= sum(real(trace(g(0, 2) * g(1, 3))));
  total += sum(real(trace(g(0, 3) * g(1, 2))));
  return Double(-1 / (4 * std::numbers::pi * std::numbers::pi)) * total;
}

EnergyDensity energy_density(const GaugeField& u, int t_dir) {
  require_gauge_field(u, "energy_density");
  const Double per_site = Double(1) / Double(Layout::vol());
  EnergyDensity e;
  e.clover = e.space = e.time = zero;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = mu + 1; nu < Nd; ++nu) {
      const LatticeColorMatrix q = weighted_sum(u, clover_leaves(mu, nu));
      const Double traceless = per_site * norm2(taproj(q));
      // A = G + i Im tr Q / Nc, so -tr A A = |G|^2 + (Im tr Q)^2 / Nc.
      const Double with_trace = traceless + per_site * Double(1.0 / Nc) * norm2(imag(trace(q)));
      e.clover += traceless;
      (mu == t_dir || nu == t_dir ? e.time : e.space) += with_trace;
    }
  e.plaquette = Double(Nd * (Nd - 1) * Nc) * (Double(1) - average_plaquette(u));
  return e;
}

}  // namespace qcd
