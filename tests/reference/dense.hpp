// Dense complex matrices by textbook algorithms: small enough lattices leave no doubt about determinants.
#pragma once

#include <complex>
#include <vector>

namespace reference {

using Complex = std::complex<double>;
using Vector = std::vector<Complex>;

class Dense {
 public:
  Dense() = default;
  Dense(int rows, int cols)
      : rows_(rows), cols_(cols), a_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols)) {}
  static Dense identity(int n);

  int rows() const { return rows_; }
  int cols() const { return cols_; }
  Complex& operator()(int i, int j) {
    return a_[static_cast<std::size_t>(i) * static_cast<std::size_t>(cols_) + static_cast<std::size_t>(j)];
  }
  const Complex& operator()(int i, int j) const { return const_cast<Dense&>(*this)(i, j); }

  Dense adjoint() const;
  /// The rows and columns with these numbers, in their order.
  Dense block(const std::vector<int>& rows, const std::vector<int>& cols) const;

 private:
  int rows_ = 0, cols_ = 0;
  std::vector<Complex> a_;
};

Dense operator+(Dense a, const Dense& b);
Dense operator-(Dense a, const Dense& b);
Dense operator*(const Dense& a, const Dense& b);
Dense operator*(Complex s, Dense a);
Vector operator*(const Dense& a, const Vector& x);
/// x^+ y.
Complex dot(const Vector& x, const Vector& y);

/// A^-1 B, by elimination with pivots.
Dense solve(Dense a, Dense b);
Vector solve(const Dense& a, const Vector& b);
double log_abs_det(Dense a);

/// A^p of a positive Hermitian matrix, by Jacobi's rotations.
Dense power(const Dense& a, double p);
/// Smallest and largest eigenvalue of a Hermitian matrix.
std::pair<double, double> extreme_eigenvalues(const Dense& a);

}  // namespace reference
