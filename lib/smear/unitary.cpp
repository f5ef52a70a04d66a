#include "lib/smear/unitary.hpp"

#include "lib/gauge/su3.hpp"
#include "lib/smear/fat_links.hpp"

#include <memory>
#include <numbers>
#include <string>

namespace qcd {

using namespace QDP;

namespace site {

namespace {

void require_three_colours() {
  if constexpr (Nc != 3) throw ShapeError("u3_project: expected three colours, got " + std::to_string(Nc));
}

/// By cofactors.
Sym inverse(const Sym& m) {
  const auto minor = [&](int i, int j) {  // indices modulo 3 carry the sign
    const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
    return m.color(a, c) * m.color(b, d) - m.color(a, d) * m.color(b, c);
  };
  Sym cofactors = zero_like(m);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) cofactors.set_color(j, i, minor(i, j));
  Sym det = m.color(0, 0) * cofactors.color(0, 0);
  for (int j = 1; j < 3; ++j) det = det + m.color(0, j) * cofactors.color(j, 0);
  return cofactors * (1.0 / det);
}

}  // namespace

// H = (V^+ V)^(1/2) from its invariants: with Q = H^2, Cayley-Hamilton for H reads H (Q + e2) = e1 Q + e3, so that
// H^-1 = (Q + e2) (e1 Q + e3)^-1. The invariants are those of the roots of Q's eigenvalues; coinciding ones do no harm.
Sym u3_project(const Sym& v) {
  require_three_colours();
  const Sym q = adj(v) * v;
  const Sym mean = real(trace(q)) * (1.0 / 3);
  const Sym s = q - mean;
  const Sym s2 = s * s;
  const Sym c1 = fabs(real(trace(s2))) * (1.0 / 6);  // rounding leaves either sign where Q is a multiple of 1
  const Sym radius = sqrt(c1);
  const Sym round = c1 < 1e-28 * mean * mean;  // then there is no angle, and any will do
  const Sym cosine = real(trace(s2 * s)) * (1.0 / 6) / where(round, Sym(1.0), radius * c1);
  // The eigenvalues' distances from their mean in units of the radius: 2 cos(acos(cosine)/3 + 2 pi k/3).
  const Sym size = fabs(cosine), side = where(cosine < 0.0, Sym(-1.0), Sym(1.0)) * radius;
  const Sym cosine_of_third = cos_of_third(where(size < 1.0, size, Sym(1.0)));
  const Sym sine2 = 1.0 - cosine_of_third * cosine_of_third;
  const Sym sine = std::numbers::sqrt3 * sqrt(where(sine2 > 0.0, sine2, Sym(0.0)));
  const Sym distances[3] = {2.0 * cosine_of_third, sine - cosine_of_third, -sine - cosine_of_third};
  Sym h[3];
  for (int k = 0; k < 3; ++k) {
    const Sym eigenvalue = mean + side * distances[k];
    h[k] = sqrt(where(eigenvalue > 0.0, eigenvalue, Sym(0.0)));
  }
  const Sym e1 = h[0] + h[1] + h[2];
  const Sym e2 = h[0] * h[1] + h[1] * h[2] + h[2] * h[0];
  const Sym e3 = h[0] * h[1] * h[2];
  const Sym w = v * ((q + e2) * inverse(e1 * q + e3));
  // One Newton step towards unitarity takes the rounding of the eigenvalues out.
  return w * (1.5 - 0.5 * (adj(w) * w));
}

// dV = dW H + W dH and W^+ dW = A anti-Hermitian: A H + H A = N - N^+ with N = W^+ dV. The operator X -> H X + X H is
// its own transpose, hence 2 Re tr(g dW) = 2 Re tr(A g W) = 2 Re tr(N Z). Z by Cayley-Hamilton, for any H without a
// common eigenvalue with -H:  2 Z (e1 H^2 + e3) = H^2 B - H B H + B H^2 - e1 (H B - B H) + e2 B.
Sym u3_project_pull_back(const Sym& v, const Sym& w, const Sym& g) {
  require_three_colours();
  const Sym h = adj(w) * v;
  const Sym h2 = h * h;
  const Sym e1 = real(trace(h));
  const Sym e2 = 0.5 * (e1 * e1 - real(trace(h2)));
  const Sym e3 = (1.0 / 3) * (real(trace(h2 * h)) - e1 * (real(trace(h2)) - e2));
  const Sym k = g * w;
  const Sym b = k - adj(k);
  const Sym hb = h * b, bh = b * h;
  const Sym eta = h * (hb - bh) + bh * h - e1 * (hb - bh) + e2 * b;
  return (0.5 * eta) * inverse(e1 * h2 + e3) * adj(w);
}

}  // namespace site

GaugeField UnitaryLinks::apply(const GaugeField& v) const {
  require_gauge_field(v, "UnitaryLinks::apply");
  GaugeField w(Nd);
  for (int mu = 0; mu < Nd; ++mu) w[mu] = u3_project(v[mu]);
  return w;
}

void UnitaryLinks::pull_back(GaugeField& g, const GaugeField& v) const {
  require_gauge_field(g, "UnitaryLinks::pull_back");
  const GaugeField w = apply(v);
  for (int mu = 0; mu < Nd; ++mu) g[mu] = u3_project_pull_back(v[mu], w[mu], g[mu]);
}

bool UnitaryLinks::same_as(const LinkMap& other) const { return dynamic_cast<const UnitaryLinks*>(&other) != nullptr; }

LinkMaps hisq_links() {
  return {std::make_shared<FatLinks>(fat7_paths(fat7_weights())), std::make_shared<UnitaryLinks>(),
          std::make_shared<FatLinks>(fat7_paths(hisq_weights()))};
}

}  // namespace qcd
