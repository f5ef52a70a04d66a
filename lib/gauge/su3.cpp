#include "lib/gauge/su3.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <sstream>
#include <vector>

namespace qcd {

using namespace QDP;

namespace site {

Sym taproj(const Sym& m) {
  const Sym anti = 0.5 * (m - adj(m));
  return Nc == 1 ? anti : anti - trace(anti) * (1.0 / Nc);
}

Sym exp12(const Sym& x) {
  // Horner: 1 + x (1 + x/2 (1 + x/3 (...)))
  Sym e = 1.0 + x * (1.0 / 12);
  for (int n = 11; n >= 1; --n) e = 1.0 + x * e * (1.0 / n);
  return e;
}

Sym cos_of_third(const Sym& x) {
  const double at_0 = std::sqrt(0.75), at_half = std::cos(std::numbers::pi / 9);  // 1 at x = 1
  Sym g = at_0 + x * ((4 * at_half - 3 * at_0 - 1) + x * (2 * at_0 + 2 - 4 * at_half));
  for (int step = 0; step < 3; ++step) {
    const Sym g2 = g * g;
    g = g - (g * (4.0 * g2 - 3.0) - x) / (12.0 * g2 - 3.0);
  }
  return g;
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

namespace {

/// exp(iQ) of a Hermitian traceless 3x3 matrix as f0 + f1 Q + f2 Q^2. Equation numbers of hep-lat/0311018.
/// Q solves Q^3 = c1 Q + c0. f(-c0) = conj(f(c0)) up to the sign of f1 (34), so that `f` is computed for |c0|, where
/// the denominator 9 u^2 - w^2 cannot vanish; mirrored() takes it to c0.
struct CayleyHamilton {
  Sym q, q2, c0, c1;
  Sym tiny, negative;  ///< c1 < 1e-6, where f is not to be used; c0 < 0
  Sym u, u2, w, w2, cos_w, xi0, e_iu, e_2iu, scale;
  Sym f[3];

  explicit CayleyHamilton(const Sym& x) {
    q = timesMinusI(x);
    q2 = q * q;
    c0 = real(trace(q2 * q)) * (1.0 / 3);  // (14)
    c1 = real(trace(q2)) * (1.0 / 2);      // (15)

    // A zero matrix has c1 = 0; c1 is lifted there to keep the unused branch finite.
    tiny = c1 < 1.0e-6;
    negative = c0 < 0.0;
    const Sym safe_c1 = where(tiny, Sym(1.0), c1);
    const Sym third = safe_c1 * (1.0 / 3);
    const Sym c0_max = 2.0 * third * sqrt(third);  // (17)
    const Sym ratio = where(tiny, Sym(0.0), fabs(c0)) / c0_max;
    u = sqrt(third) * cos_of_third(ratio);  // (23), (25)
    // (24) squared, with sin^2 = 1 - cos^2: only even functions of w are needed, and rounding of w^2 does them no harm.
    u2 = u * u;
    const Sym difference = safe_c1 - 3.0 * u2;
    w2 = where(difference > 0.0, difference, Sym(0.0));
    w = sqrt(w2);
    cos_w = cos(w);
    xi0 = sinc(w, w2);  // (33)
    const Sym cos_u = cos(u), sin_u = sin(u);
    e_iu = cmplx(cos_u, -sin_u);  // e^{-iu}
    e_2iu = cmplx(1.0 - 2.0 * sin_u * sin_u, 2.0 * sin_u * cos_u);
    scale = 1.0 / (9.0 * u2 - w2);
    f[0] = (u2 - w2) * e_2iu + e_iu * cmplx(8.0 * u2 * cos_w, 2.0 * u * (3.0 * u2 + w2) * xi0);  // (30)
    f[1] = 2.0 * u * e_2iu - e_iu * cmplx(2.0 * u * cos_w, -((3.0 * u2 - w2) * xi0));            // (31)
    f[2] = e_2iu - e_iu * cmplx(cos_w, 3.0 * u * xi0);                                           // (32)
    for (Sym& fj : f) fj = fj * scale;                                                           // (29)
  }

  /// A coefficient computed for |c0|, taken to c0: it is `parity` (+1 or -1) times its conjugate for negative c0.
  Sym mirrored(const Sym& x, double parity) const {
    const Sym image = parity * conj(x);
    return where(negative, image, x);
  }
};

}  // namespace

namespace {

/// exp(x) = exp(x/64)^64: the powers 1, 2, 4, ..., 32 of exp12(x/64). What exp12 leaves out is 64 |x/64|^13/13!, below
/// 3e-15 for |x| < 20, which Gaussian matrices of size 5 have for four colours.
constexpr int kSquarings = 6;
std::array<Sym, kSquarings> powers_of_exp(const Sym& x) {
  std::array<Sym, kSquarings> p{exp12(x * (1.0 / (1 << kSquarings)))};
  for (int k = 1; k < kSquarings; ++k) p[k] = p[k - 1] * p[k - 1];
  return p;
}

}  // namespace

Sym exp(const Sym& x) {
  if constexpr (Nc == 1) {
    const Sym angle = imag(x.color(0, 0));
    Sym phase = zero_like(x);
    phase.set_color(0, 0, cmplx(cos(angle), sin(angle)));
    return phase;
  } else if constexpr (Nc != 3) {
    const Sym root = powers_of_exp(x).back();
    return root * root;
  } else {
    const CayleyHamilton e(x);
    const Sym &c0 = e.c0, &c1 = e.c1;
    // Below c1 = 1e-6 (|Q| < 1.5e-3): the Taylor coefficients of exp(iQ) reduced with Q^3 = c1 Q + c0; what is left out
    // is of order |Q|^6/720 < 2e-20.
    const Sym s0 = cmplx(1.0 - c0 * c0 * (1.0 / 720), c0 * (-1.0 / 6) * (1.0 - c1 * (1.0 / 20)));
    const Sym s1 = cmplx(c0 * (1.0 / 24), 1.0 - c1 * (1.0 / 6) * (1.0 - c1 * (1.0 / 20)));
    const Sym s2 = cmplx(-0.5 + c1 * (1.0 / 24), c0 * (1.0 / 120));
    return where(e.tiny, s0, e.mirrored(e.f[0], +1)) + where(e.tiny, s1, e.mirrored(e.f[1], -1)) * e.q +
           where(e.tiny, s2, e.mirrored(e.f[2], +1)) * e.q2;  // (19), (34)
  }
}

namespace {

/// (cos w - sin(w)/w) / w^2, the derivative of sinc over w. Closed form from w = 0.5 on, where cancellation costs two
/// bits; the series below leaves out 16 w^14/17! < 3e-18.
Sym sinc_slope(const Sym& w2, const Sym& cos_w, const Sym& xi0) {
  Sym series = 0.0;
  double coefficient[8] = {};  // (-1)^k 2k/(2k+1)!
  double factorial = 1;
  for (int k = 1; k < 8; ++k) {
    factorial *= (2 * k) * (2 * k + 1);
    coefficient[k] = (k % 2 ? -1 : +1) * 2 * k / factorial;
  }
  for (int k = 7; k >= 1; --k) series = coefficient[k] + series * w2;
  const Sym small = w2 < 0.25;
  return where(small, series, (cos_w - xi0) / where(small, Sym(1.0), w2));
}

/// f_j and their derivatives with respect to c1 and c0, for c0 of either sign.
struct ExponentialDerivatives {
  Sym f[3], b1[3], b2[3];
};

/// Near Q = 0, from the Taylor series of exp(iQ) up to Q^9 with Q^n = p0 + p1 Q + p2 Q^2 by recursion in n.
ExponentialDerivatives small_derivatives(const Sym& c0, const Sym& c1) {
  const Sym none = zero_like(c0);
  Sym p[3] = {none, none, 1.0 + none};                             // n = 2
  Sym p_c1[3] = {none, none, none}, p_c0[3] = {none, none, none};  // the derivatives of p
  // Real and imaginary parts: even and odd n.
  Sym f[3][2] = {{1.0 + none, none}, {none, 1.0 + none}, {-0.5 + none, none}};
  Sym b1[3][2] = {{none, none}, {none, none}, {none, none}}, b2[3][2] = {{none, none}, {none, none}, {none, none}};

  double factorial = 2;
  for (int n = 3; n <= 9; ++n) {
    const Sym next[3] = {p[2] * c0, p[0] + p[2] * c1, p[1]};
    const Sym next_c1[3] = {p_c1[2] * c0, p_c1[0] + p[2] + p_c1[2] * c1, p_c1[1]};
    const Sym next_c0[3] = {p[2] + p_c0[2] * c0, p_c0[0] + p_c0[2] * c1, p_c0[1]};
    factorial *= n;
    const double weight = ((n / 2) % 2 ? -1 : +1) / factorial;  // i^n = (-1)^(n/2) or i (-1)^(n/2)
    for (int j = 0; j < 3; ++j) {
      p[j] = next[j];
      p_c1[j] = next_c1[j];
      p_c0[j] = next_c0[j];
      f[j][n % 2] += weight * p[j];
      b1[j][n % 2] += weight * p_c1[j];
      b2[j][n % 2] += weight * p_c0[j];
    }
  }
  ExponentialDerivatives d;
  for (int j = 0; j < 3; ++j) {
    d.f[j] = cmplx(f[j][0], f[j][1]);
    d.b1[j] = cmplx(b1[j][0], b1[j][1]);
    d.b2[j] = cmplx(b2[j][0], b2[j][1]);
  }
  return d;
}

/// By the closed formulas, (57) to (68); from c1 = 1e-3 on, where cancellation costs five bits.
ExponentialDerivatives derivatives(const CayleyHamilton& e) {
  const Sym &u = e.u, &u2 = e.u2, &w2 = e.w2, &cos_w = e.cos_w, &xi0 = e.xi0;
  const Sym xi1 = sinc_slope(w2, cos_w, xi0);  // (67)
  const Sym u3 = 3.0 * u2;

  // First with respect to u, then to w: r1[j] = df/du, r2[j] = (df/dw)/w, both of the numerators.
  const Sym r1[3] = {
      2.0 * (cmplx(u, u2 - w2) * e.e_2iu +
             e.e_iu * cmplx(8.0 * u * cos_w + u * (u3 + w2) * xi0, -4.0 * u2 * cos_w + (9.0 * u2 + w2) * xi0)),
      cmplx(Sym(2.0), 4.0 * u) * e.e_2iu +
          e.e_iu * cmplx(-2.0 * cos_w - (w2 - u3) * xi0, 2.0 * u * cos_w + 6.0 * u * xi0),
      timesI(2.0 * e.e_2iu + e.e_iu * cmplx(cos_w - 3.0 * xi0, 3.0 * u * xi0)),
  };
  const Sym r2[3] = {
      2.0 * (timesI(u * (e.e_iu * cmplx(cos_w + xi0 + u3 * xi1, 4.0 * u * xi0))) - e.e_2iu),
      timesMinusI(e.e_iu * cmplx(cos_w + xi0 - u3 * xi1, 2.0 * u * xi0)),
      e.e_iu * cmplx(xi0, -3.0 * u * xi1),
  };

  ExponentialDerivatives d;
  const Sym half_scale2 = 0.5 * e.scale * e.scale;
  for (int j = 0; j < 3; ++j) {
    const double parity = j % 2 ? -1 : +1;
    const Sym b1 = half_scale2 * (2.0 * u * r1[j] + (u3 - w2) * r2[j] - 2.0 * (15.0 * u2 + w2) * e.f[j]);  // (57)
    const Sym b2 = half_scale2 * (r1[j] - 3.0 * u * r2[j] - 24.0 * u * e.f[j]);                            // (58)
    d.f[j] = e.mirrored(e.f[j], parity);
    d.b1[j] = e.mirrored(b1, parity);  // (68)
    d.b2[j] = e.mirrored(b2, -parity);
  }
  return d;
}

}  // namespace

Sym exp_pull_back(const Sym& x, const Sym& m) {
  if constexpr (Nc != 3) {
    // Back through the squarings, d(p p) = dp p + p dp, to the series of y = x/64, whose term n contributes
    // sum_k y^k m y^(n-1-k) / n!.
    const auto powers = powers_of_exp(x);
    Sym left = m;
    for (int k = kSquarings - 1; k >= 0; --k) left = left * powers[k] + powers[k] * left;
    const Sym y = x * (1.0 / (1 << kSquarings));
    Sym power = 1.0, term = left, total = left;
    double factorial = 1;
    for (int n = 2; n <= 12; ++n) {
      power = n == 2 ? y : power * y;
      term = y * term + left * power;
      factorial *= n;
      total = total + term * (1.0 / factorial);
    }
    return taproj(total * (1.0 / (1 << kSquarings)));
  } else {
    const CayleyHamilton e(x);
    const ExponentialDerivatives closed = derivatives(e), series = small_derivatives(e.c0, e.c1);
    const Sym small = e.c1 < 1.0e-3;
    const auto pick = [&](const Sym& a, const Sym& b) { return where(small, a, b); };
    const Sym mq = m * e.q;
    const Sym traces[3] = {trace(m), trace(mq), trace(mq * e.q)};
    Sym c1_slope = pick(series.b1[0], closed.b1[0]) * traces[0];
    Sym c0_slope = pick(series.b2[0], closed.b2[0]) * traces[0];
    for (int j = 1; j < 3; ++j) {
      c1_slope = c1_slope + pick(series.b1[j], closed.b1[j]) * traces[j];
      c0_slope = c0_slope + pick(series.b2[j], closed.b2[j]) * traces[j];
    }
    const Sym gamma = c1_slope * e.q + c0_slope * e.q2 + pick(series.f[1], closed.f[1]) * m +
                      pick(series.f[2], closed.f[2]) * (mq + e.q * m);  // (74)
    return taproj(timesMinusI(gamma));
  }
}

namespace {

/// Determinant of the rows `rows` of the first rows.size() columns, along the last of these.
Sym determinant(const std::vector<std::vector<Sym>>& column, const std::vector<int>& rows) {
  const std::size_t n = rows.size();
  if (n == 1) return column[0][rows[0]];
  Sym sum;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<int> others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const Sym term = column[n - 1][rows[i]] * determinant(column, others);
    sum = i == 0 ? (n % 2 ? term : -term) : (n - 1 - i) % 2 ? sum - term : sum + term;
  }
  return sum;
}

}  // namespace

Sym unitarize(const Sym& m) {
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
  } else if constexpr (Nc > 3) {
    for (int c = 0; c < Nc; ++c) {
      std::vector<int> rows;
      for (int i = 0; i < Nc; ++i)
        if (i != c) rows.push_back(i);
      const Sym minor = conj(determinant(column, rows));
      column[Nc - 1][c] = (Nc - 1 - c) % 2 ? -minor : minor;
    }
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

UnitarityCheck::UnitarityCheck(const LatticeColorMatrix& u)
    : defect_(su3_defect(u)), squares_(pending_sum(localNorm2(defect_), all)) {}

void UnitarityCheck::require(const char* when) const {
  // A sum, not a maximum: one NaN must not get lost in comparisons. Below the square of the tolerance no link exceeds
  // it.
  const double squares = toDouble(squares_.get());
  if (squares <= unitarity_tolerance() * unitarity_tolerance()) return;
  const double worst = std::isfinite(squares) ? toDouble(globalMax(defect_)) : squares;
  if (worst <= unitarity_tolerance()) return;
  std::ostringstream text;
  text << when << ": expected links in SU(" << Nc << ") to " << unitarity_tolerance() << ", got a defect of " << worst
       << ". The step size is too large, or a field holds values that are not finite.";
  throw NumericsError(text.str());
}

void check_unitarity(const LatticeColorMatrix& u, const char* when) { UnitarityCheck(u).require(when); }

}  // namespace qcd
