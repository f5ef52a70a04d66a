#include "lib/heatbath/su2.hpp"

#include "lib/error.hpp"

#include <array>
#include <vector>

namespace qcd {

using namespace QDP;

namespace {

/// Below this k a quaternion has no direction.
const double kSmall = sizeof(REAL) == 4 ? 1e-3 : 1e-6;

struct SymQuaternion {
  Sym alpha, beta;
};

SymQuaternion operator*(const SymQuaternion& a, const SymQuaternion& b) {
  return {a.alpha * b.alpha - a.beta * conj(b.beta), a.alpha * b.beta + a.beta * conj(b.alpha)};
}

/// k q of m = u w for the subgroup of rows i and j.
SymQuaternion block(const Sym& u, const Sym& w, int i, int j) {
  const Sym m = u * w;
  return {0.5 * (m.color(i, i) + conj(m.color(j, j))), 0.5 * (m.color(i, j) - conj(m.color(j, i)))};
}

Sym modulus(const SymQuaternion& q) { return sqrt(localNorm2(q.alpha) + localNorm2(q.beta)); }

/// The rows i and j of u changed by a.
Sym rotated(const Sym& u, const SymQuaternion& a, int i, int j) {
  Sym v = u;
  for (int c = 0; c < Nc; ++c) {
    v.set_color(i, c, a.alpha * u.color(i, c) + a.beta * u.color(j, c));
    v.set_color(j, c, conj(a.alpha) * u.color(j, c) - conj(a.beta) * u.color(i, c));
  }
  return v;
}

/// The site functions of one subgroup.
struct Subgroup {
  Subgroup(int i, int j)
      : alpha(siteFunction<2, LatticeComplex>("su2_alpha",
                                              [=](const Sym& u, const Sym& w) { return block(u, w, i, j).alpha; })),
        beta(siteFunction<2, LatticeComplex>("su2_beta",
                                             [=](const Sym& u, const Sym& w) { return block(u, w, i, j).beta; })),
        rotate(siteFunction<3>("su2_rotate",
                               [=](const Sym& u, const Sym& a, const Sym& b) { return rotated(u, {a, b}, i, j); })),
        overrelax(siteFunction<2>("su2_overrelax", [=](const Sym& u, const Sym& w) {
          const SymQuaternion q = block(u, w, i, j);
          const Sym k = modulus(q), none = k < kSmall;
          const Sym scale = 1.0 / where(none, Sym(1.0), k);
          const SymQuaternion inverse = {scale * conj(q.alpha), -(scale * q.beta)};
          return where(none, u, rotated(u, inverse * inverse, i, j));
        })) {}

  SiteFunction<2, LatticeComplex> alpha, beta;
  SiteFunction<3> rotate;
  SiteFunction<2> overrelax;
};

const Subgroup& find_subgroup(int n) {
  static const std::vector<Subgroup> subgroups = [] {
    std::vector<Subgroup> made;
    for (int distance = 1; distance < Nc; ++distance)
      for (int i = 0; i + distance < Nc; ++i) made.emplace_back(i, i + distance);
    return made;
  }();
  if (n < 0 || n >= su2_subgroups())
    throw ShapeError("SU(2) subgroup: expected 0.." + std::to_string(su2_subgroups() - 1) + ", got " +
                     std::to_string(n));
  return subgroups[static_cast<std::size_t>(n)];
}

}  // namespace

void extract_quaternion(LatticeReal& k, Quaternion& q, const LatticeColorMatrix& u, const LatticeColorMatrix& w,
                        int subgroup, const Subset& sites) {
  const Subgroup& s = find_subgroup(subgroup);
  q.alpha[sites] = s.alpha(u, w);
  q.beta[sites] = s.beta(u, w);
  k[sites] = sqrt(localNorm2(q.alpha) + localNorm2(q.beta));
  LatticeBoolean none;
  none[sites] = k < Real(kSmall);
  k[sites] = where(none, Real(kSmall), k);
  q.alpha[sites] = where(none, Complex(1), q.alpha / k);
  q.beta[sites] = where(none, Complex(0), q.beta / k);
}

void rotate_rows(LatticeColorMatrix& u, const Quaternion& a, int subgroup, const LatticeBoolean& mask,
                 const Subset& sites) {
  u[sites] = where(mask, find_subgroup(subgroup).rotate(u, a.alpha, a.beta), u);
}

void overrelax(LatticeColorMatrix& u, const LatticeColorMatrix& w, int subgroup, const Subset& sites) {
  u[sites] = find_subgroup(subgroup).overrelax(u, w);
}

}  // namespace qcd
