// Plain-loop arithmetic of site values: what every operation of the language is checked against.
//
// A value has two levels, spin and colour. Each is a number, a column of n rows or an n x n matrix; a number beside a
// matrix stands for that multiple of the unit matrix. Everything is a dense loop over double-precision complex numbers,
// written from the formulas of QDP++'s manual and sharing nothing with the language's own tables.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace reference {

/// A complex number with the schoolbook product: no rescue of infinities, unlike std::complex.
struct Number {
  double re = 0, im = 0;
};
inline Number operator+(Number a, Number b) { return {a.re + b.re, a.im + b.im}; }
inline Number operator-(Number a, Number b) { return {a.re - b.re, a.im - b.im}; }
inline Number operator-(Number a) { return {-a.re, -a.im}; }
inline Number operator*(Number a, Number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
inline Number conj(Number a) { return {a.re, -a.im}; }
inline Number times_i(Number a) { return {-a.im, a.re}; }

/// A number (whatever the extents of its partner), a column or a square matrix; extents of one leave them apart.
struct Index {
  enum class Kind { number, column, matrix };
  int rows = 1, cols = 1;
  Kind kind = Kind::number;

  static Index number() { return {}; }
  static Index column(int n) { return {n, 1, Kind::column}; }
  static Index matrix(int n) { return {n, n, Kind::matrix}; }
  bool is_number() const { return kind == Kind::number; }
  bool is_column() const { return kind == Kind::column; }
  bool is_matrix() const { return kind == Kind::matrix; }
  int size() const { return rows * cols; }
  bool operator==(const Index&) const = default;
};

class SiteValue {
 public:
  Index spin, color;
  bool complex = true;
  std::vector<Number> components;  ///< [spin row][spin column][colour row][colour column]

  SiteValue() : SiteValue(Index::number(), Index::number(), true) {}
  SiteValue(Index s, Index c, bool is_complex)
      : spin(s), color(c), complex(is_complex), components(static_cast<std::size_t>(s.size() * c.size())) {}

  Number& at(int s, int t, int a, int b) {
    return components[static_cast<std::size_t>(((s * spin.cols + t) * color.rows + a) * color.cols + b)];
  }
  const Number& at(int s, int t, int a, int b) const { return const_cast<SiteValue*>(this)->at(s, t, a, b); }
  /// As `at`, with a number at either level read as that multiple of the unit matrix.
  Number get(int s, int t, int a, int b) const;
};

SiteValue real_number(double x);
/// "spin 4x4, colour 3x1, complex", for messages.
std::string type_of(const SiteValue& x);

// ---- operators

SiteValue add(const SiteValue& x, const SiteValue& y);
SiteValue subtract(const SiteValue& x, const SiteValue& y);
SiteValue multiply(const SiteValue& x, const SiteValue& y);
SiteValue divide(const SiteValue& x, const SiteValue& y);
SiteValue negate(const SiteValue& x);
/// A function of one or two real numbers.
SiteValue map(const SiteValue& x, const std::function<double(double)>& f);
SiteValue map(const SiteValue& x, const SiteValue& y, const std::function<double(double, double)>& f);

// ---- rearrangements

SiteValue adjoint(const SiteValue& x);
SiteValue conjugate(const SiteValue& x);
SiteValue transpose(const SiteValue& x, bool of_spin, bool of_color);
SiteValue trace(const SiteValue& x, bool over_spin, bool over_color);
SiteValue real_part(const SiteValue& x);
SiteValue imaginary_part(const SiteValue& x);
SiteValue times_i(const SiteValue& x, int sign);
SiteValue complex_from(const SiteValue& re, const SiteValue& im);
SiteValue spin_component(const SiteValue& x, int row, int col);
SiteValue color_component(const SiteValue& x, int row, int col);
SiteValue with_spin_component(SiteValue x, const SiteValue& part, int row, int col);
SiteValue with_color_component(SiteValue x, const SiteValue& part, int row, int col);
SiteValue where(bool mask, const SiteValue& x, const SiteValue& y);
/// x in the type of `like`: numbers fill diagonals.
SiteValue spread(const SiteValue& x, const SiteValue& like);

// ---- contractions

SiteValue local_norm2(const SiteValue& x);
SiteValue local_inner_product(const SiteValue& x, const SiteValue& y);
SiteValue local_color_inner_product(const SiteValue& x, const SiteValue& y);
SiteValue color_vector_contract(const SiteValue& x, const SiteValue& y);
SiteValue color_cross_product(const SiteValue& x, const SiteValue& y);
SiteValue outer_product(const SiteValue& x, const SiteValue& y);
SiteValue color_contract(const SiteValue& x, const SiteValue& y, const SiteValue& z);
SiteValue quark_contract(int which, const SiteValue& x, const SiteValue& y);

// ---- spin

enum class Basis { chiral, dirac_pauli };
/// The dense matrix g0^n0 g1^n1 g2^n2 g3^n3, as a spin matrix.
SiteValue gamma(int n, Basis basis = Basis::chiral);
/// Upper half of (1 + sign gamma_mu) x.
SiteValue spin_project(const SiteValue& x, int mu, int sign);
/// (h, sign gamma_mu-partner of h): the spinor with upper half h that gamma_mu multiplies by sign.
SiteValue spin_reconstruct(const SiteValue& h, int mu, int sign);
/// (1 + sign gamma_5)/2 x.
SiteValue chiral_project(const SiteValue& x, int sign);

}  // namespace reference
