#include "lib/smear/project.hpp"

#include "lib/gauge/su3.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace qcd {

using namespace QDP;

namespace site {

namespace {

using SymMatrix = std::vector<std::vector<Sym>>;

/// (row i, row j) -> (a row_i + b row_j, -b* row_i + a* row_j).
void rotate_rows(SymMatrix& m, int i, int j, const Sym& a, const Sym& b) {
  for (int c = 0; c < Nc; ++c) {
    const Sym upper = m[i][c], lower = m[j][c];
    m[i][c] = a * upper + b * lower;
    m[j][c] = conj(a) * lower - conj(b) * upper;
  }
}

constexpr double kTiny = 1e-30;  ///< squared length below which a part of a matrix counts as nought

/// A cosine that rounding took out of its range.
Sym clamped(const Sym& x) { return where(x < 1.0, where(x > -1.0, x, Sym(-1.0)), Sym(1.0)); }

/// Rotation (a, b), |a|^2 + |b|^2 = 1 -> another one.
using Relaxation = std::function<void(Sym& a, Sym& b)>;

/// Re tr(h m) with h = (a, b; -b*, a*) in rows i, j is Re[a (m_ii + m_jj^*) + b (m_ji - m_ij^*)] + rest: the best h has
/// the conjugates of the brackets, normalised.
Sym ascent(const Sym& m, const Relaxation& relax) {
  SymMatrix work(Nc), h(Nc);
  for (int r = 0; r < Nc; ++r)
    for (int c = 0; c < Nc; ++c) {
      work[r].push_back(m.color(r, c));
      h[r].push_back(Sym(r == c ? 1.0 : 0.0));
    }

  for (int distance = 1; distance < Nc; ++distance)
    for (int i = 0; i + distance < Nc; ++i) {
      const int j = i + distance;
      Sym a = conj(work[i][i]) + work[j][j], b = conj(work[j][i]) - work[i][j];
      const Sym length2 = real(conj(a) * a) + real(conj(b) * b);
      const Sym vanishes = length2 < kTiny;
      const Sym scale = 1.0 / sqrt(where(vanishes, Sym(1.0), length2));
      a = where(vanishes, Sym(1.0), scale * a);
      b = where(vanishes, Sym(0.0), scale * b);
      relax(a, b);
      rotate_rows(work, i, j, a, b);
      rotate_rows(h, i, j, a, b);
    }

  Sym result = zero_like(m);
  for (int r = 0; r < Nc; ++r)
    for (int c = 0; c < Nc; ++c) result.set_color(r, c, h[r][c]);
  return result;
}

/// The only rotation of one colour: Re(h m) is largest for the phase conj(m)/|m|.
Sym phase_ascent(const Sym& m) {
  const Sym entry = m.color(0, 0), length2 = real(conj(entry) * entry);
  const Sym vanishes = length2 < kTiny;
  const Sym scale = 1.0 / sqrt(where(vanishes, Sym(1.0), length2));
  Sym result = zero_like(m);
  result.set_color(0, 0, where(vanishes, Sym(1.0), scale * conj(entry)));
  return result;
}

}  // namespace

Sym su2_ascent(const Sym& m) {
  if constexpr (Nc == 1) return phase_ascent(m);
  return ascent(m, [](Sym&, Sym&) {});
}

Sym su2_over_ascent(const Sym& m, const Sym& omega) {
  if constexpr (Nc == 1) {
    const Sym h = phase_ascent(m).color(0, 0), theta = acos(clamped(real(h)));
    const Sym turned = omega * where(imag(h) < 0.0, -theta, theta);
    Sym result = zero_like(m);
    result.set_color(0, 0, cmplx(cos(turned), sin(turned)));
    return result;
  }
  return ascent(m, [&](Sym& a, Sym& b) {
    // cos theta = Re a; the rest of the quaternion has length sin theta.
    const Sym theta = acos(clamped(real(a))), sine = sin(theta), turned = omega * theta;
    const Sym small = sine < 1.0e-12;
    const Sym stretch = where(small, Sym(0.0), sin(turned) / where(small, Sym(1.0), sine));
    a = cmplx(cos(turned), stretch * imag(a));
    b = stretch * b;
  });
}

}  // namespace site

int project(LatticeColorMatrix& u, const LatticeColorMatrix& v, const Projection& how) {
  constexpr double kRounding = 16 * std::numeric_limits<WordType<LatticeColorMatrix>::Type_t>::epsilon();
  const bool to_rounding = how.accuracy == 0;
  const auto overlap = [&] { return toDouble(sum(real(trace(u * adj(v))))); };
  const double size = to_rounding ? std::sqrt(toDouble(norm2(v))) : 0;
  double before = to_rounding ? 0 : overlap();

  bool done = false;
  int sweeps = 0;
  while (!done && sweeps < how.max_sweeps) {
    u = su2_ascent(u * adj(v)) * u;
    ++sweeps;
    if (to_rounding) {
      done = std::sqrt(toDouble(norm2(taproj(u * adj(v))))) <= kRounding * size;
    } else {
      const double after = overlap();
      done = std::fabs(after - before) <= how.accuracy * std::fabs(before);
      before = after;
    }
  }
  u = su3_unitarize(u);
  return sweeps;
}

}  // namespace qcd
