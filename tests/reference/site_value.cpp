#include "tests/reference/site_value.hpp"

#include <stdexcept>

namespace reference {

namespace {

using Component = std::function<Number(int s, int t, int a, int b)>;

/// Fills every component of a value of the given type.
SiteValue build(Index spin, Index color, bool complex, const Component& f) {
  SiteValue r(spin, color, complex);
  for (int s = 0; s < spin.rows; ++s)
    for (int t = 0; t < spin.cols; ++t)
      for (int a = 0; a < color.rows; ++a)
        for (int b = 0; b < color.cols; ++b) {
          r.at(s, t, a, b) = f(s, t, a, b);
          if (!complex) r.at(s, t, a, b).im = 0;  // not the NaN of 0 * infinity
        }
  return r;
}

Index sum_index(Index a, Index b) { return a.is_number() ? b : a; }

/// Type of a product, and what is summed over. Columns multiply component by component, as QDP++ tolerates.
struct ProductIndex {
  Index result;
  int summed = 1;
  bool by_component = false;
};
ProductIndex product_index(Index a, Index b) {
  if (a.is_number()) return {b, b.rows};
  if (b.is_number()) return {a, a.cols};
  if (a.is_column() && b.is_column()) return {a, 1, true};
  if (a.cols != b.rows || a.is_column()) throw std::logic_error("reference: extents of a product differ");
  return {{a.rows, b.cols, b.kind}, a.cols};
}

int epsilon(int i, int j, int k) { return (i - j) * (j - k) * (k - i) / 2; }  // of 0, 1, 2

}  // namespace

Number SiteValue::get(int s, int t, int a, int b) const {
  if ((spin.is_number() && s != t) || (color.is_number() && a != b)) return {};
  return at(spin.is_number() ? 0 : s, spin.is_number() ? 0 : t, color.is_number() ? 0 : a, color.is_number() ? 0 : b);
}

SiteValue real_number(double x) {
  SiteValue r(Index::number(), Index::number(), false);
  r.components[0] = {x, 0};
  return r;
}

std::string type_of(const SiteValue& x) {
  auto level = [](Index i) {
    return i.is_number() ? std::string("number") : std::to_string(i.rows) + "x" + std::to_string(i.cols);
  };
  return "spin " + level(x.spin) + ", colour " + level(x.color) + (x.complex ? ", complex" : ", real");
}

// ---- operators
// -------------------------------------------------------------------------------------------------------

SiteValue add(const SiteValue& x, const SiteValue& y) {
  return build(sum_index(x.spin, y.spin), sum_index(x.color, y.color), x.complex || y.complex,
               [&](int s, int t, int a, int b) { return x.get(s, t, a, b) + y.get(s, t, a, b); });
}

SiteValue subtract(const SiteValue& x, const SiteValue& y) { return add(x, negate(y)); }

SiteValue multiply(const SiteValue& x, const SiteValue& y) {
  const ProductIndex spin = product_index(x.spin, y.spin), color = product_index(x.color, y.color);
  return build(spin.result, color.result, x.complex || y.complex, [&](int s, int t, int a, int b) {
    Number sum;
    for (int k = 0; k < spin.summed; ++k)
      for (int c = 0; c < color.summed; ++c) {
        const int left_s = spin.by_component ? 0 : k, left_c = color.by_component ? 0 : c;
        const int right_s = spin.by_component ? s : k, right_c = color.by_component ? a : c;
        // a number reads as a multiple of one: skip its zeros, so that 0 * inf does not appear from nowhere
        if ((x.spin.is_number() && s != k) || (y.spin.is_number() && k != t)) continue;
        if ((x.color.is_number() && a != c) || (y.color.is_number() && c != b)) continue;
        sum = sum + x.get(s, left_s, a, left_c) * y.get(right_s, t, right_c, b);
      }
    return sum;
  });
}

SiteValue divide(const SiteValue& x, const SiteValue& y) {
  const Number d = y.components[0];
  const double square = d.re * d.re + d.im * d.im;
  return build(x.spin, x.color, x.complex || y.complex, [&](int s, int t, int a, int b) {
    const Number n = x.at(s, t, a, b);
    if (!y.complex) return Number{n.re / d.re, n.im / d.re};
    const Number m = n * conj(d);
    return Number{m.re / square, m.im / square};
  });
}

SiteValue negate(const SiteValue& x) {
  return build(x.spin, x.color, x.complex, [&](int s, int t, int a, int b) { return -x.at(s, t, a, b); });
}

SiteValue map(const SiteValue& x, const std::function<double(double)>& f) { return real_number(f(x.components[0].re)); }
SiteValue map(const SiteValue& x, const SiteValue& y, const std::function<double(double, double)>& f) {
  return real_number(f(x.components[0].re, y.components[0].re));
}

// ---- rearrangements
// --------------------------------------------------------------------------------------------------

SiteValue adjoint(const SiteValue& x) { return conjugate(transpose(x, true, true)); }

SiteValue conjugate(const SiteValue& x) {
  return build(x.spin, x.color, x.complex, [&](int s, int t, int a, int b) { return conj(x.at(s, t, a, b)); });
}

SiteValue transpose(const SiteValue& x, bool of_spin, bool of_color) {  // columns stay columns
  const bool flip_spin = of_spin && x.spin.is_matrix(), flip_color = of_color && x.color.is_matrix();
  return build(x.spin, x.color, x.complex, [&](int s, int t, int a, int b) {
    return x.at(flip_spin ? t : s, flip_spin ? s : t, flip_color ? b : a, flip_color ? a : b);
  });
}

SiteValue trace(const SiteValue& x, bool over_spin, bool over_color) {
  const bool spin = over_spin && x.spin.is_matrix(), color = over_color && x.color.is_matrix();
  return build(spin ? Index::number() : x.spin, color ? Index::number() : x.color, x.complex,
               [&](int s, int t, int a, int b) {
                 Number sum;
                 for (int i = 0; i < (spin ? x.spin.rows : 1); ++i)
                   for (int j = 0; j < (color ? x.color.rows : 1); ++j)
                     sum = sum + x.at(spin ? i : s, spin ? i : t, color ? j : a, color ? j : b);
                 return sum;
               });
}

SiteValue real_part(const SiteValue& x) {
  return build(x.spin, x.color, false, [&](int s, int t, int a, int b) { return Number{x.at(s, t, a, b).re, 0}; });
}
SiteValue imaginary_part(const SiteValue& x) {
  return build(x.spin, x.color, false, [&](int s, int t, int a, int b) { return Number{x.at(s, t, a, b).im, 0}; });
}
SiteValue times_i(const SiteValue& x, int sign) {
  return build(x.spin, x.color, true, [&](int s, int t, int a, int b) {
    const Number z = times_i(x.at(s, t, a, b));
    return sign > 0 ? z : -z;
  });
}
SiteValue complex_from(const SiteValue& re, const SiteValue& im) {
  return build(re.spin, re.color, true,
               [&](int s, int t, int a, int b) { return Number{re.at(s, t, a, b).re, im.at(s, t, a, b).re}; });
}

SiteValue spin_component(const SiteValue& x, int row, int col) {
  return build(Index::number(), x.color, x.complex, [&](int, int, int a, int b) { return x.at(row, col, a, b); });
}
SiteValue color_component(const SiteValue& x, int row, int col) {
  return build(x.spin, Index::number(), x.complex, [&](int s, int t, int, int) { return x.at(s, t, row, col); });
}
SiteValue with_spin_component(SiteValue x, const SiteValue& part, int row, int col) {
  for (int a = 0; a < x.color.rows; ++a)
    for (int b = 0; b < x.color.cols; ++b) x.at(row, col, a, b) = part.get(0, 0, a, b);
  return x;
}
SiteValue with_color_component(SiteValue x, const SiteValue& part, int row, int col) {
  for (int s = 0; s < x.spin.rows; ++s)
    for (int t = 0; t < x.spin.cols; ++t) x.at(s, t, row, col) = part.get(s, t, 0, 0);
  return x;
}

SiteValue where(bool mask, const SiteValue& x, const SiteValue& y) {
  return build(sum_index(x.spin, y.spin), sum_index(x.color, y.color), x.complex || y.complex,
               [&](int s, int t, int a, int b) { return mask ? x.get(s, t, a, b) : y.get(s, t, a, b); });
}

SiteValue spread(const SiteValue& x, const SiteValue& like) {
  return build(like.spin, like.color, like.complex, [&](int s, int t, int a, int b) { return x.get(s, t, a, b); });
}

// ---- contractions
// ----------------------------------------------------------------------------------------------------

SiteValue local_norm2(const SiteValue& x) {
  double sum = 0;
  for (Number z : x.components) sum += z.re * z.re + z.im * z.im;
  return real_number(sum);
}

SiteValue local_inner_product(const SiteValue& x, const SiteValue& y) {
  const Index spin = sum_index(x.spin, y.spin), color = sum_index(x.color, y.color);
  return build(Index::number(), Index::number(), x.complex || y.complex, [&](int, int, int, int) {
    Number sum;
    for (int s = 0; s < spin.rows; ++s)
      for (int t = 0; t < spin.cols; ++t)
        for (int a = 0; a < color.rows; ++a)
          for (int b = 0; b < color.cols; ++b) sum = sum + conj(x.get(s, t, a, b)) * y.get(s, t, a, b);
    return sum;
  });
}

namespace {

/// sum_c x_c y_c over the colour components, the spin levels multiplied.
SiteValue contract_colors(const SiteValue& x, const SiteValue& y) {
  SiteValue r;
  for (int a = 0; a < x.color.rows; ++a)
    for (int b = 0; b < x.color.cols; ++b) {
      const SiteValue term = multiply(color_component(x, a, b), color_component(y, a, b));
      r = a + b == 0 ? term : add(r, term);
    }
  return r;
}

}  // namespace

SiteValue local_color_inner_product(const SiteValue& x, const SiteValue& y) {
  return contract_colors(transpose(conjugate(x), true, false), y);
}
SiteValue color_vector_contract(const SiteValue& x, const SiteValue& y) { return contract_colors(x, y); }

SiteValue color_cross_product(const SiteValue& x, const SiteValue& y) {
  return build(x.spin, x.color, x.complex || y.complex, [&](int s, int t, int i, int) {
    Number sum;
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) sum = sum + Number{double(epsilon(i, j, k)), 0} * x.at(s, t, j, 0) * y.at(s, t, k, 0);
    return sum;
  });
}

SiteValue outer_product(const SiteValue& x, const SiteValue& y) {
  const Index spin = x.spin.is_number() ? x.spin : Index::matrix(x.spin.rows);
  const Index color = x.color.is_number() ? x.color : Index::matrix(x.color.rows);
  return build(spin, color, x.complex || y.complex,
               [&](int s, int t, int a, int b) { return x.at(s, 0, a, 0) * conj(y.at(t, 0, b, 0)); });
}

SiteValue color_contract(const SiteValue& x, const SiteValue& y, const SiteValue& z) {
  const bool matrices = x.color.is_matrix();
  SiteValue sum;
  bool first = true;
  for (int n = 0; n < 729; ++n) {
    const int i = n % 3, j = n / 3 % 3, k = n / 9 % 3, i2 = n / 27 % 3, j2 = n / 81 % 3, k2 = n / 243;
    if (!matrices && (i2 || j2 || k2)) continue;
    const int sign = epsilon(i, j, k) * (matrices ? epsilon(i2, j2, k2) : 1);
    if (sign == 0) continue;
    SiteValue term =
        multiply(multiply(color_component(x, i, i2), color_component(y, j, j2)), color_component(z, k, k2));
    if (sign < 0) term = negate(term);
    sum = first ? term : add(sum, term);
    first = false;
  }
  return sum;
}

SiteValue quark_contract(int which, const SiteValue& x, const SiteValue& y) {
  return build(x.spin, x.color, true, [&](int al, int be, int k2, int k) {
    Number sum;
    for (int rho = 0; rho < x.spin.rows; ++rho) {
      int xs = 0, xt = 0, ys = 0, yt = 0;
      switch (which) {  // the first index of x and of y, the second of y, ... is summed
        case 13:
          xs = rho, xt = al, ys = rho, yt = be;
          break;
        case 14:
          xs = rho, xt = al, ys = be, yt = rho;
          break;
        case 23:
          xs = al, xt = rho, ys = rho, yt = be;
          break;
        case 24:
          xs = al, xt = rho, ys = be, yt = rho;
          break;
        case 12:
          xs = rho, xt = rho, ys = al, yt = be;
          break;
        case 34:
          xs = al, xt = be, ys = rho, yt = rho;
          break;
        default:
          throw std::logic_error("reference: no such quark contraction");
      }
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
          for (int i2 = 0; i2 < 3; ++i2)
            for (int j2 = 0; j2 < 3; ++j2) {
              const int sign = epsilon(i, j, k) * epsilon(i2, j2, k2);
              if (sign) sum = sum + Number{double(sign), 0} * x.at(xs, xt, i, i2) * y.at(ys, yt, j, j2);
            }
    }
    return sum;
  });
}

// ---- spin
// ------------------------------------------------------------------------------------------------------------

namespace {

constexpr Number O{0, 0}, P{1, 0}, M{-1, 0}, I{0, 1}, J{0, -1};
using Dense = Number[4][4];

// DeGrand-Rossi and Dirac-Pauli bases as printed in QDP++'s documentation and used by its GammaConst products from the
// left.
constexpr Dense kChiral[4] = {
    {{O, O, O, I}, {O, O, I, O}, {O, J, O, O}, {J, O, O, O}},
    {{O, O, O, M}, {O, O, P, O}, {O, P, O, O}, {M, O, O, O}},
    {{O, O, I, O}, {O, O, O, J}, {J, O, O, O}, {O, I, O, O}},
    {{O, O, P, O}, {O, O, O, P}, {P, O, O, O}, {O, P, O, O}},
};
constexpr Dense kDiracPauli[4] = {
    {{O, O, O, J}, {O, O, J, O}, {O, I, O, O}, {I, O, O, O}},
    {{O, O, O, M}, {O, O, P, O}, {O, P, O, O}, {M, O, O, O}},
    {{O, O, J, O}, {O, O, O, I}, {I, O, O, O}, {O, J, O, O}},
    {{P, O, O, O}, {O, P, O, O}, {O, O, M, O}, {O, O, O, M}},
};

SiteValue unit() {
  return build(Index::matrix(4), Index::number(), true, [](int s, int t, int, int) { return s == t ? P : O; });
}

}  // namespace

SiteValue gamma(int n, Basis basis) {
  SiteValue g = unit();
  for (int mu = 0; mu < 4; ++mu) {
    if (!(n >> mu & 1)) continue;
    const Dense& one = basis == Basis::chiral ? kChiral[mu] : kDiracPauli[mu];
    g = multiply(g, build(Index::matrix(4), Index::number(), true, [&](int s, int t, int, int) { return one[s][t]; }));
  }
  return g;
}

SiteValue spin_project(const SiteValue& x, int mu, int sign) {
  const SiteValue full = sign > 0 ? add(x, multiply(gamma(1 << mu), x)) : subtract(x, multiply(gamma(1 << mu), x));
  return build({2, x.spin.cols, x.spin.kind}, x.color, true,
               [&](int s, int t, int a, int b) { return full.at(s, t, a, b); });
}

SiteValue spin_reconstruct(const SiteValue& h, int mu, int sign) {
  // the lower half of sign gamma_mu (h, 0): gamma_mu has no diagonal blocks in this basis
  const SiteValue upper = build({4, h.spin.cols, h.spin.kind}, h.color, true,
                                [&](int s, int t, int a, int b) { return s < 2 ? h.at(s, t, a, b) : O; });
  const SiteValue turned = multiply(gamma(1 << mu), upper);
  return build(upper.spin, h.color, true, [&](int s, int t, int a, int b) {
    if (s < 2) return upper.at(s, t, a, b);
    return sign > 0 ? turned.at(s, t, a, b) : -turned.at(s, t, a, b);
  });
}

SiteValue chiral_project(const SiteValue& x, int sign) {
  const SiteValue g5x = multiply(gamma(15), x);
  const SiteValue sum = sign > 0 ? add(x, g5x) : subtract(x, g5x);
  return build(x.spin, x.color, x.complex, [&](int s, int t, int a, int b) {
    const Number z = sum.at(s, t, a, b);
    return Number{z.re / 2, z.im / 2};
  });
}

}  // namespace reference
