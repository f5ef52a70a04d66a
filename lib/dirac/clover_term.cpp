#include "lib/dirac/clover_term.hpp"

#include "lib/gauge/loop.hpp"

#include <array>
#include <cmath>

namespace qcd {

using namespace QDP;

namespace {

constexpr int kRows = 2 * Nc;
using SymBlock = std::array<std::array<Sym, kRows>, kRows>;

/// Row i of a block is spin 2 block + i/Nc, colour i mod Nc.
int spin(int block, int i) { return 2 * block + i / Nc; }
int color(int i) { return i % Nc; }

/// One Hermitian block of the compressed form, both triangles.
SymBlock block_of(const Sym& packed, int block) {
  const Sym entries = packed.spin(block);
  SymBlock h;
  for (int i = 0, next = kRows; i < kRows; ++i) {
    h[i][i] = entries.color(i);
    for (int j = 0; j < i; ++j, next += 2) {
      h[i][j] = cmplx(entries.color(next), entries.color(next + 1));
      h[j][i] = conj(h[i][j]);
    }
  }
  return h;
}

void set_block(Sym& packed, int block, const SymBlock& h) {
  Sym entries = packed.spin(block);
  for (int i = 0, next = kRows; i < kRows; ++i) {
    entries.set_color(i, 0, real(h[i][i]));
    for (int j = 0; j < i; ++j, next += 2) {
      entries.set_color(next, 0, real(h[i][j]));
      entries.set_color(next + 1, 0, imag(h[i][j]));
    }
  }
  packed.set_spin(block, 0, entries);
}

/// The blocks of a Hermitian spin-colour matrix that commutes with gamma_5, and back.
template <class Packed>
Sym packed(const Sym& m) {
  Sym result = zero_of<Packed>(m);
  for (int block : {0, 1}) {
    SymBlock h;
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j <= i; ++j) h[i][j] = m.spin(spin(block, i), spin(block, j)).color(color(i), color(j));
    set_block(result, block, h);
  }
  return result;
}

Sym unpacked(const Sym& packed) {
  Sym m = zero_of<LatticePropagator>(packed);
  for (int block : {0, 1}) {
    const SymBlock h = block_of(packed, block);
    for (int i = 0; i < kRows; ++i)
      for (int j = 0; j < kRows; ++j) m.set(spin(block, i), spin(block, j), color(i), color(j), h[i][j]);
  }
  return m;
}

Sym times(const Sym& psi, const Sym& packed) {
  Sym result = zero_like(psi);
  for (int block : {0, 1}) {
    const SymBlock h = block_of(packed, block);
    for (int i = 0; i < kRows; ++i) {
      Sym sum = 0.0;
      for (int j = 0; j < kRows; ++j) sum = fma(h[i][j], psi.spin(spin(block, j)).color(color(j)), sum);
      result.set(spin(block, i), 0, color(i), 0, sum);
    }
  }
  return result;
}

/// H = L D L^+ with ones on L's diagonal; returns D with L below it. Row by row, with v = L D:
///   v_ij = H_ij - sum_{k<j} v_ik conj(L_jk),   L_ij = v_ij / D_j,   D_i = H_ii - sum_{k<i} v_ik conj(L_ik).
SymBlock factorized(const SymBlock& h) {
  SymBlock f = h;
  std::array<Sym, kRows> v, inverse_d;
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < i; ++j) {
      v[j] = h[i][j];
      for (int k = 0; k < j; ++k) v[j] = fma(-v[k], conj(f[j][k]), v[j]);
      f[i][j] = v[j] * inverse_d[j];
      f[i][i] = real(fma(-v[j], conj(f[i][j]), f[i][i]));
    }
    inverse_d[i] = 1.0 / f[i][i];
  }
  return f;
}

/// H^-1 = M^+ D^-1 M with M = L^-1:  M_ij = -L_ij - sum_{j<k<i} L_ik M_kj.
Sym inverse(const Sym& packed) {
  Sym result = zero_like(packed);
  for (int block : {0, 1}) {
    SymBlock m = factorized(block_of(packed, block)), w;  // M takes the place of L row by row; w = D^-1 M
    for (int i = 0; i < kRows; ++i) {
      w[i][i] = 1.0 / m[i][i];
      for (int j = 0; j < i; ++j) {
        m[i][j] = -m[i][j];
        for (int k = j + 1; k < i; ++k) m[i][j] = fma(-m[i][k], m[k][j], m[i][j]);
        w[i][j] = w[i][i] * m[i][j];
      }
    }
    for (int i = 0; i < kRows; ++i)  // H^-1 takes the place of w row by row
      for (int j = 0; j <= i; ++j)
        for (int k = i + 1; k < kRows; ++k) w[i][j] = fma(conj(m[k][i]), w[k][j], w[i][j]);
    set_block(result, block, w);
  }
  return result;
}

/// ln |det H|, and as imaginary part the number of negative eigenvalues: by Sylvester's law that of negative D_i.
Sym log_det(const Sym& packed) {
  Sym det = 1.0, negative = 0.0;
  for (const SymBlock& f : {factorized(block_of(packed, 0)), factorized(block_of(packed, 1))})
    for (int i = 0; i < kRows; ++i) {
      det = f[i][i] * det;
      negative = where(f[i][i] < 0.0, Sym(1.0), Sym(0.0)) + negative;
    }
  return cmplx(log(fabs(det)), negative);
}

template <class Packed>
const auto pack = siteFunction<1, Packed>("pack", packed<Packed>);
const auto unpack = siteFunction<1, LatticePropagator>("unpack", unpacked);
const auto packed_times = siteFunction<2>("packed_times", times);
const auto packed_inverse = siteFunction<1>("packed_inverse", inverse);
const auto packed_log_det = siteFunction<1, LatticeComplexD>("packed_log_det", log_det);
/// The unit matrix of spin times a colour matrix.
const auto spin_diagonal = siteFunction<1, LatticePropagator>("spin_diagonal", [](const Sym& u) { return u; });

using SpinColorExpr = QDPExpr<LatticePropagator::Site, LatticePropagator>;

/// mu, nu of all planes.
std::vector<std::pair<int, int>> planes() {
  std::vector<std::pair<int, int>> planes;
  for (int mu = 0; mu < Nd; ++mu)
    for (int nu = mu + 1; nu < Nd; ++nu) planes.emplace_back(mu, nu);
  return planes;
}

Insertions nothing_inserted() {
  Insertions none;
  for (const auto& [mu, nu] : planes()) none.push_back({mu, nu, LatticeColorMatrix(zero)});
  return none;
}

/// gamma_mu gamma_nu, mu < nu.
Gamma gammas(int mu, int nu) { return Gamma(1 << mu | 1 << nu); }

/// F_mu,nu: the leaves are the plaquette begun at each of its corners.
ColorMatrixExpr field_strength(const GaugeField& v, int mu, int nu) {
  std::vector<WeightedPath> leaves;
  for (int corner = 0; corner < 4; ++corner) leaves.push_back({plaquette_loop(mu, nu).rotated(corner), 1.0 / 8});
  const LatticeColorMatrix q = weighted_sum(v, leaves);
  return q - adj(q);
}

}  // namespace

template <class F>
CloverTerm<F>::CloverTerm(const GaugeField& v, double a, PlaneCoefficient c, double twist)
    : c_(std::move(c)), mu_(twist) {
  if (Nd != 4) throw ShapeError("clover term: expected four dimensions, got " + std::to_string(Nd));
  SpinColorExpr t = spin_diagonal(LatticeColorMatrix(Real(a)));
  for (const auto& [mu, nu] : planes())
    t = t + Real(-0.5 * c_(mu, nu)) * (gammas(mu, nu) * spin_diagonal(field_strength(v, mu, nu)));
  term_ = pack<Packed>(t);
  const auto square = pack<Packed>(unpack(term_) * unpack(term_) + Real(mu_ * mu_));
  inverse_ = packed_inverse(mu_ == 0 ? +term_ : square);
}

template <class F>
FermionExpr<F> CloverTerm<F>::apply(const FermionExpr<F>& psi, Sign sign) const {
  const FermionExpr<F> image = packed_times(psi, term_);
  return mu_ == 0 ? image : image + mu(sign) * i_gamma_5(psi);
}

template <class F>
FermionExpr<F> CloverTerm<F>::apply_inverse(const FermionExpr<F>& psi, Sign sign) const {
  const FermionExpr<F> image = packed_times(psi, inverse_);
  return mu_ == 0 ? image : packed_times(image, term_) - mu(sign) * i_gamma_5(image);
}

template <class F>
Double CloverTerm<F>::log_det(const Subset& sites) const {
  const Double of_inverse = sum(real(packed_log_det(inverse_)), sites);
  if (!std::isfinite(toDouble(of_inverse)))
    throw NumericsError("CloverTerm::log_det: expected blocks without zero eigenvalues, got ln |det A| = " +
                        std::to_string(-toDouble(of_inverse)) + ". Are the links finite and the mass large enough?");
  return mu_ == 0 ? -of_inverse : Double(-0.5) * of_inverse;
}

template <class F>
long CloverTerm<F>::negative_eigenvalues(const Subset& sites) const {
  return std::lround(toDouble(sum(imag(packed_log_det(term_)), sites)));
}

// d Re(y^+ A x) = -c/2 Re tr(dF tr_spin(gamma_mu gamma_nu x y^+)).
template <class F>
void CloverTerm<F>::add_insertions(Insertions& l, const F& y, const F& x, double weight, const Subset& sites) const {
  if (l.empty()) l = nothing_inserted();
  for (auto& [mu, nu, here] : l)
    here[sites] += RealOf<F>(-0.5 * weight * c_(mu, nu)) * traceSpin(outerProduct(gammas(mu, nu) * x, y));
}

// d ln |det A| = Re tr(w dT), w the Hermitian part of A^-1: T^-1; with a twisted mass (T^2 + mu^2)^-1 T.
template <class F>
Insertions CloverTerm<F>::log_det_insertions(const Subset& sites, double weight) const {
  const LatticePropagator w = mu_ == 0 ? +unpack(inverse_) : unpack(inverse_) * unpack(term_);
  Insertions l = nothing_inserted();
  for (auto& [mu, nu, here] : l) here[sites] = Real(-0.25 * weight * c_(mu, nu)) * traceSpin(gammas(mu, nu) * w);
  return l;
}

// With L = (l - l^+)/8, 2 Re tr F l is 2 Re tr W L for the leaves W: L stands at every corner of the plaquette. Walked
// backward, Re tr W L = -Re tr W^+ L, since L^+ = -L.
void add_field_strength_derivative(GaugeField& g, const GaugeField& v, const Insertions& l) {
  for (const auto& [mu, nu, here] : l) {
    const LatticeColorMatrix at_corners = Real(1.0 / 8) * (here - adj(here));
    for (int rho : {mu, nu})
      for (const LoopLink& link : links_along(plaquette_loop(mu, nu), rho))
        g[rho] += Real(link.reversed ? -1 : 1) * product_with_insertion(v, at_corners, link.rest, {forward(rho)});
  }
}

template class CloverTerm<LatticeFermionD>;
template class CloverTerm<LatticeFermionF>;

}  // namespace qcd
