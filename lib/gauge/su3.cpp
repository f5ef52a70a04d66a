#include "lib/gauge/su3.hpp"

#include <cmath>
#include <sstream>
#include <vector>

namespace qcd {

using namespace QDP;

namespace site {

Sym taproj(const Sym& m) {
  const Sym anti = 0.5 * (m - adj(m));
  return anti - trace(anti) * (1.0 / Nc);
}

Sym exp12(const Sym& x) {
  // Horner: 1 + x (1 + x/2 (1 + x/3 (...)))
  Sym e = 1.0 + x * (1.0 / 12);
  for (int n = 11; n >= 1; --n) e = 1.0 + x * e * (1.0 / n);
  return e;
}

namespace {

/// sin(w)/w for w = sqrt(w2) >= 0; the series below w = 0.05 leaves out w^8/9! < 2e-16.
Sym sinc(const Sym& w, const Sym& w2) {
  const Sym series = 1.0 - w2 * (1.0 / 6) * (1.0 - w2 * (1.0 / 20) * (1.0 - w2 * (1.0 / 42)));
  const Sym small = w < 0.05;
  return where(small, series, sin(w) / where(small, Sym(1.0), w));
}

/// Multiplies the conjugate of one column with another: sum_c conj(u_{c,i}) u_{c,j}.
Sym column_product(const std::vector<Sym>& a, const std::vector<Sym>& b) {
  Sym s = conj(a[0]) * b[0];
  for (int c = 1; c < Nc; ++c) s = s + conj(a[c]) * b[c];
  return s;
}

}  // namespace

Sym exp(const Sym& x) {
  if constexpr (Nc != 3) {
    return exp12(x);
  } else {
    // Equation numbers of hep-lat/0311018. Q is Hermitian and traceless; it solves Q^3 = c1 Q + c0.
    const Sym q = timesMinusI(x);
    const Sym q2 = q * q;
    const Sym c0 = real(trace(q2 * q)) * (1.0 / 3);  // (14)
    const Sym c1 = real(trace(q2)) * (1.0 / 2);      // (15)

    // f(-c0) = conj(f(c0)) up to the sign of f1 (34): work with |c0|, where the denominator 9 u^2 - w^2 cannot vanish.
    // A zero matrix has c1 = 0 and takes the series below; c1 is lifted there to keep the unused branch finite.
    const Sym tiny = c1 < 1.0e-6;
    const Sym safe_c1 = where(tiny, Sym(1.0), c1);
    const Sym third = safe_c1 * (1.0 / 3);
    const Sym c0_max = 2.0 * third * sqrt(third);  // (17)
    const Sym ratio = where(tiny, Sym(0.0), fabs(c0)) / c0_max;
    const Sym theta = acos(where(ratio < 1.0, ratio, Sym(1.0)));  // rounding may pass 1; (25)
    const Sym u = sqrt(third) * cos(theta * (1.0 / 3));           // (23)
    // (24) squared, with sin^2 = 1 - cos^2: only even functions of w are needed, and rounding of w^2 does them no harm.
    const Sym u2 = u * u, difference = safe_c1 - 3.0 * u2;
    const Sym w2 = where(difference > 0.0, difference, Sym(0.0));
    const Sym w = sqrt(w2);
    const Sym cos_w = cos(w), xi0 = sinc(w, w2);  // (33)
    const Sym cos_u = cos(u), sin_u = sin(u);
    const Sym e_iu = cmplx(cos_u, -sin_u);  // e^{-iu}
    const Sym e_2iu = cmplx(1.0 - 2.0 * sin_u * sin_u, 2.0 * sin_u * cos_u);
    const Sym h0 = (u2 - w2) * e_2iu + e_iu * cmplx(8.0 * u2 * cos_w, 2.0 * u * (3.0 * u2 + w2) * xi0);  // (30)
    const Sym h1 = 2.0 * u * e_2iu - e_iu * cmplx(2.0 * u * cos_w, -((3.0 * u2 - w2) * xi0));            // (31)
    const Sym h2 = e_2iu - e_iu * cmplx(cos_w, 3.0 * u * xi0);                                           // (32)
    const Sym scale = 1.0 / (9.0 * u2 - w2);                                                             // (29)

    // Below c1 = 1e-6 (|Q| < 1.5e-3): the Taylor coefficients of exp(iQ) reduced with Q^3 = c1 Q + c0; what is left out
    // is of order |Q|^6/720 < 2e-20.
    const Sym s0 = cmplx(1.0 - c0 * c0 * (1.0 / 720), c0 * (-1.0 / 6) * (1.0 - c1 * (1.0 / 20)));
    const Sym s1 = cmplx(c0 * (1.0 / 24), 1.0 - c1 * (1.0 / 6) * (1.0 - c1 * (1.0 / 20)));
    const Sym s2 = cmplx(-0.5 + c1 * (1.0 / 24), c0 * (1.0 / 120));

    const Sym negative = c0 < 0.0;
    const auto pick = [&](const Sym& h, const Sym& series, double sign) {
      const Sym f = h * scale;
      const Sym mirrored = sign * conj(f);
      return where(tiny, series, where(negative, mirrored, f));
    };
    return pick(h0, s0, +1) + pick(h1, s1, -1) * q + pick(h2, s2, +1) * q2;  // (19), (34)
  }
}

Sym unitarize(const Sym& m) {
  static_assert(Nc <= 3, "the last column needs a formula for more than three colours");
  std::vector<std::vector<Sym>> column(Nc);
  for (int j = 0; j < Nc; ++j)
    for (int c = 0; c < Nc; ++c) column[j].push_back(m.color(c, j));

  for (int j = 0; j < (Nc == 1 ? 1 : Nc - 1); ++j) {
    for (int i = 0; i < j; ++i) {
      const Sym overlap = column_product(column[i], column[j]);
      for (int c = 0; c < Nc; ++c) column[j][c] = column[j][c] - overlap * column[i][c];
    }
    const Sym scale = 1.0 / sqrt(real(column_product(column[j], column[j])));
    for (int c = 0; c < Nc; ++c) column[j][c] = scale * column[j][c];
  }
  if constexpr (Nc == 2) {
    column[1] = {-conj(column[0][1]), conj(column[0][0])};
  } else if constexpr (Nc == 3) {
    const auto cross = [&](int a, int b) { return conj(column[0][a] * column[1][b] - column[0][b] * column[1][a]); };
    column[2] = {cross(1, 2), cross(2, 0), cross(0, 1)};
  }

  Sym u = zero_like(m);
  for (int j = 0; j < Nc; ++j)
    for (int c = 0; c < Nc; ++c) u.set_color(c, j, column[j][c]);
  return u;
}

Sym unitarity_defect(const Sym& m) {
  const Sym d = adj(m) * m - 1.0;
  const Sym p = m - unitarize(m);
  return sqrt(real(trace(adj(d) * d)) + real(trace(adj(p) * p)));
}

}  // namespace site

double unitarity_tolerance() { return sizeof(WordType<LatticeColorMatrix>::Type_t) == 4 ? 1e-5 : 1e-10; }

long reunitarize(GaugeField& u) {
  require_gauge_field(u, "reunitarize");
  const Real tolerance = unitarity_tolerance();
  long projected = 0;
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeReal defect;
    defect = su3_defect(u[mu]);
    LatticeBoolean bad;
    bad = defect > tolerance;
    const int count = toInt(sum(where(bad, LatticeInteger(1), LatticeInteger(0))));
    if (count > 0) u[mu] = where(bad, su3_unitarize(u[mu]), u[mu]);
    projected += count;
  }
  return projected;
}

void check_unitarity(const LatticeColorMatrix& u, const char* when) {
  // A sum, not a maximum: one NaN must not get lost in comparisons. Below the square of the tolerance no link exceeds
  // it.
  const double squares = toDouble(norm2(su3_defect(u)));
  if (squares <= unitarity_tolerance() * unitarity_tolerance()) return;
  const double worst = std::isfinite(squares) ? toDouble(globalMax(su3_defect(u))) : squares;
  if (worst <= unitarity_tolerance()) return;
  std::ostringstream text;
  text << when << ": expected links in SU(" << Nc << ") to " << unitarity_tolerance() << ", got a defect of " << worst
       << ". The step size is too large, or a field holds values that are not finite.";
  throw NumericsError(text.str());
}

}  // namespace qcd
