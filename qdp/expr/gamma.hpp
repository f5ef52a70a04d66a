// Gamma matrices as sparse constants: one entry i^k per row.
//
// DeGrand-Rossi (chiral) basis, Gamma(n) = g0^n0 g1^n1 g2^n2 g3^n3 with n = sum n_i 2^i; g5 = Gamma(15) = diag(1,1,-1,-1).
// Dirac-Pauli basis: GammaDP, g5 off-diagonal, g4 (direction 3) diagonal.
#pragma once

#include <array>
#include <cstdint>

namespace QDP::detail {

/// Row r has its one entry, i^power[r], in column column[r].
struct SparseGamma {
  std::array<std::int8_t, 4> column{0, 1, 2, 3};
  std::array<std::int8_t, 4> power{0, 0, 0, 0};
  constexpr bool operator==(const SparseGamma&) const = default;
};

constexpr SparseGamma operator*(const SparseGamma& a, const SparseGamma& b) {
  SparseGamma c;
  for (std::size_t r = 0; r < 4; ++r) {
    auto m = static_cast<std::size_t>(a.column[r]);
    c.column[r] = b.column[m];
    c.power[r] = static_cast<std::int8_t>((a.power[r] + b.power[m]) % 4);
  }
  return c;
}

/// The four generators in the chiral basis.
constexpr std::array<SparseGamma, 4> kDeGrandRossi{{
    {{3, 2, 1, 0}, {1, 1, 3, 3}},  // g0: i i -i -i on the anti-diagonal
    {{3, 2, 1, 0}, {2, 0, 0, 2}},  // g1: -1 1 1 -1 on the anti-diagonal
    {{2, 3, 0, 1}, {1, 3, 3, 1}},  // g2: i -i -i i
    {{2, 3, 0, 1}, {0, 0, 0, 0}},  // g3: 1 1 1 1
}};
/// and in the Dirac-Pauli basis.
constexpr std::array<SparseGamma, 4> kDiracPauli{{
    {{3, 2, 1, 0}, {3, 3, 1, 1}},  // g0: -i -i i i on the anti-diagonal
    {{3, 2, 1, 0}, {2, 0, 0, 2}},  // g1: -1 1 1 -1 on the anti-diagonal
    {{2, 3, 0, 1}, {3, 1, 1, 3}},  // g2: -i i i -i
    {{0, 1, 2, 3}, {0, 0, 2, 2}},  // g3: diag(1, 1, -1, -1)
}};

/// n in [0, 15], + 16 for the Dirac-Pauli basis.
constexpr SparseGamma gamma_matrix(std::uint64_t n) {
  const auto& generator = n & 16 ? kDiracPauli : kDeGrandRossi;
  SparseGamma g;
  for (std::size_t mu = 0; mu < 4; ++mu)
    if (n >> mu & 1) g = g * generator[mu];
  return g;
}

static_assert(gamma_matrix(15) == SparseGamma{{0, 1, 2, 3}, {0, 0, 2, 2}});
static_assert(gamma_matrix(1) * gamma_matrix(1) == SparseGamma{} && gamma_matrix(2) * gamma_matrix(2) == SparseGamma{});
static_assert(gamma_matrix(4) * gamma_matrix(4) == SparseGamma{} && gamma_matrix(8) * gamma_matrix(8) == SparseGamma{});
static_assert(gamma_matrix(17) * gamma_matrix(17) == SparseGamma{} &&
              gamma_matrix(24) * gamma_matrix(24) == SparseGamma{});

}  // namespace QDP::detail
