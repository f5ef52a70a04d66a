// Pure gauge theory in plain arrays, updated by Metropolis: averages for any numbers of dimensions and colours that share
// neither the algorithm nor a line with the library. Periodic, the same extent in each direction.
#pragma once

#include <complex>
#include <random>
#include <vector>

namespace reference {

/// Links in SU(n), or U(1) for n = 1, with the weight exp(beta sum_p Re tr U_p/n).
class PlainGauge {
 public:
  PlainGauge(int dimensions, int extent, int colors, double beta, unsigned seed);

  /// One sweep: a few proposals within `reach` of the unit matrix for each link and each pair of colours.
  void sweep();
  /// The average of Re tr U_p/n over all plaquettes.
  double plaquette() const;
  /// The share of proposals that were accepted since the start.
  double acceptance() const { return static_cast<double>(accepted_) / static_cast<double>(proposed_); }

 private:
  struct Number {
    double re = 0, im = 0;
  };
  using Matrix = std::vector<Number>;  ///< [row n + column]

  Matrix times(const Matrix& a, const Matrix& b) const;
  Matrix adjoint(const Matrix& a) const;
  double real_trace(const Matrix& a) const;
  int neighbour(int site, int mu, int steps) const;
  const Matrix& link(int site, int mu) const { return u_[static_cast<std::size_t>(dimensions_ * site + mu)]; }
  Matrix& link(int site, int mu) { return u_[static_cast<std::size_t>(dimensions_ * site + mu)]; }
  /// The sum of what closes the link to a plaquette: Re tr(U W) sums their traces.
  Matrix staples(int site, int mu) const;
  void propose(Matrix& u, const Matrix& w);

  int dimensions_, extent_, n_, sites_ = 1;
  double beta_, reach_;
  std::vector<Matrix> u_;
  std::mt19937_64 random_;
  long proposed_ = 0, accepted_ = 0;
};

}  // namespace reference
