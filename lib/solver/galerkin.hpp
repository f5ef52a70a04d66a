// The best combination of given vectors as a guess for A x = b, A = M^+ M + shift. For lib/solver/*.cpp.
#pragma once

#include "lib/solver/dense.hpp"
#include "lib/solver/iteration.hpp"

namespace qcd {

/// x = sum_i a_i v_i with (x - A^-1 b)^+ A (x - A^-1 b) as small as it gets: V^+ A V a = V^+ b. One application of A
/// per vector. Vectors that depend on those before them are left out. Source: Brower, Ivanenko, Levi, Orginos, Nucl.
/// Phys. B 484 (1997) 353 (hep-lat/9509012).
template <class F>
void galerkin_guess(F& x, NormalMatrix<F>& a, const F& b, std::span<const F* const> vectors) {
  const QDP::Subset& s = a.sites();
  constexpr double kDependent = std::is_same_v<F, Single<F>> ? 1e-5 : 1e-13;  // what is left after orthogonalisation
  std::vector<F> v;
  std::vector<const F*> basis;
  v.reserve(vectors.size());
  for (const F* candidate : vectors) {
    F w;
    w[s] = *candidate;
    const double before = std::sqrt(square(w, s));
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      std::vector<HostComplex> c;
      for (const F* e : basis) c.push_back(-product(*e, w, s));
      combine(w, s, c, basis, true);
    }
    const double left = std::sqrt(square(w, s));
    if (!(left > kDependent * before)) continue;
    w[s] = RealOf<F>(1 / left) * w;
    v.push_back(std::move(w));
    basis.push_back(&v.back());
  }
  const std::size_t n = v.size();
  if (n == 0) {
    x[s] = QDP::zero;
    return;
  }

  Matrix g(n, n), rhs(n, 1);
  F av;
  for (std::size_t j = 0; j < n; ++j) {
    a.apply(av, v[j]);
    for (std::size_t i = 0; i <= j; ++i) {
      g(i, j) = product(v[i], av, s);
      g(j, i) = std::conj(g(i, j));
    }
    g(j, j) = g(j, j).real();
    rhs(j, 0) = product(v[j], b, s);
  }
  const Matrix solution = pseudo_inverse(g) * rhs;
  std::vector<HostComplex> c;
  for (std::size_t i = 0; i < n; ++i) c.push_back(solution(i, 0));
  combine(x, s, c, basis);
}

}  // namespace qcd
