// Gauge fields as plain arrays: loops by walking, smeared links and boundary conditions from the formulas of the papers.
// Three colours, four dimensions, periodic; nothing of the library is used.
#pragma once

#include "tests/reference/dense.hpp"

#include <array>
#include <functional>
#include <vector>

namespace reference {

using Coordinates = std::array<int, 4>;
/// 3 x 3.
struct Color : std::array<std::array<Complex, 3>, 3> {};

Color unit_color();
Color operator*(const Color& a, const Color& b);
Color operator+(const Color& a, const Color& b);
Color operator*(Complex s, const Color& a);
Color adjoint(const Color& a);
Complex trace(const Color& a);
/// (m - m^+)/2 less its trace.
Color algebra_part(const Color& m);
/// exp(m), by its series.
Color exponential(const Color& m);

class Links {
 public:
  explicit Links(const Coordinates& extents);

  const Coordinates& extents() const { return extents_; }
  int volume() const { return static_cast<int>(u_.size()) / 4; }
  int site(Coordinates x) const;  ///< coordinates are taken modulo the extents
  Coordinates coordinates(int site) const;
  int neighbour(int site, int mu, int steps) const;
  bool even(int site) const;

  /// U_mu(x), from x + mu to x.
  Color& at(int site, int mu) { return u_[static_cast<std::size_t>(4 * site + mu)]; }
  const Color& at(int site, int mu) const { return const_cast<Links&>(*this).at(site, mu); }

  /// The product of links along a walk; a step is mu + 1 forward, -(mu + 1) backward.
  Color walk(int site, const std::vector<int>& steps) const;
  /// sum over sites of a function of the loop that begins there.
  double sum(const std::vector<int>& loop, const std::function<double(const Color&, int site)>& f) const;
  /// sum over sites of Re tr / 3.
  double sum_real_trace(const std::vector<int>& loop) const;

 private:
  Coordinates extents_;
  std::vector<Color> u_;
};

/// A link multiplied by phase(x, mu).
Links with_phases(const Links& u, const std::function<Complex(const Coordinates& x, int mu)>& phase);

/// exp(taproj(C U^+)) U, C the staples times rho[mu][nu]. Morningstar and Peardon, Phys. Rev. D69 (2004) 054501.
Links stout(const Links& u, const std::array<std::array<double, 4>, 4>& rho);

/// Weights of the link, of 3-, 5- and 7-link staples and of the double staple of Lepage.
/// Orginos, Toussaint, Sugar, Phys. Rev. D60 (1999) 054503; Lepage, Phys. Rev. D59 (1999) 074502.
struct FatWeights {
  double one, three, five, seven, lepage;
};
Links fattened(const Links& u, const FatWeights& weights);

/// V (V^+ V)^(-1/2), by Newton's iteration.
Links unitarised(const Links& v);

}  // namespace reference
