// Small matrices on the host: what block solvers, predictors and Lanczos need of linear algebra. Sizes up to a few
// hundred.
#pragma once

#include <complex>
#include <cstddef>
#include <vector>

namespace qcd {

using HostComplex = std::complex<double>;

/// Complex matrix, element (i, j) of row i, column j; nought at first.
class Matrix {
 public:
  Matrix() = default;
  Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), elements_(rows * columns) {}
  static Matrix identity(std::size_t n);

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  HostComplex& operator()(std::size_t i, std::size_t j) { return elements_[j * rows_ + i]; }
  const HostComplex& operator()(std::size_t i, std::size_t j) const { return elements_[j * rows_ + i]; }

 private:
  std::size_t rows_ = 0, columns_ = 0;
  std::vector<HostComplex> elements_;
};

/// a b. Throws ShapeError if they do not fit.
Matrix operator*(const Matrix& a, const Matrix& b);
Matrix adjoint(const Matrix& a);

/// H = V diag(values) V^+, values ascending; column j of `vectors` belongs to values[j].
struct Eigensystem {
  std::vector<double> values;
  Matrix vectors;
};
/// Of a Hermitian matrix, by Jacobi rotations; values to about 1e-15 of the largest. Throws NumericsError if an element
/// is not finite.
Eigensystem eigensystem(Matrix h);

/// H^-1 on the space where the eigenvalues of the positive H are above `cutoff` times the largest, nought elsewhere.
Matrix pseudo_inverse(const Matrix& h, double cutoff = 1e-14);

}  // namespace qcd
