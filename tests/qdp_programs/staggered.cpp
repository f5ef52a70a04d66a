// Staggered quarks: phases from coordinates, the operator on even and odd sites, a multi-shift solve, the condensate.
#include "qdp.h"
using namespace QDP;

namespace {

class Staggered {
 public:
  Staggered(const multi1d<LatticeColorMatrix>& u, const Real& m) : links(Nd), mass(m) {
    LatticeInteger before = zero;
    for (int mu = 0; mu < Nd; ++mu) {
      const LatticeReal eta = where((before % Integer(2)) == Integer(0), LatticeReal(Real(1)), LatticeReal(Real(-1)));
      links[mu] = eta * u[mu];
      before += Layout::latticeCoordinate(mu);
    }
  }
  void hop(LatticeStaggeredFermion& chi, const LatticeStaggeredFermion& psi, const Subset& s) const {
    chi[s] = zero;
    for (int mu = 0; mu < Nd; ++mu)
      chi[s] += Real(0.5) * (links[mu] * shift(psi, FORWARD, mu) - shift(adj(links[mu]) * psi, BACKWARD, mu));
  }
  // m^2 - D_eo D_oe on even sites.
  void even_even(LatticeStaggeredFermion& chi, const LatticeStaggeredFermion& psi, const Real& m2) const {
    LatticeStaggeredFermion tmp;
    hop(tmp, psi, rb[1]);
    hop(chi, tmp, rb[0]);
    chi[rb[0]] = m2 * psi - chi;
  }
  Real mass_squared() const { return mass * mass; }

 private:
  multi1d<LatticeColorMatrix> links;
  Real mass;
};

// All shifts at once.
int multi_shift(multi1d<LatticeStaggeredFermion>& x, const Staggered& D, const LatticeStaggeredFermion& b,
                const multi1d<Real>& m2) {
  const Subset& s = rb[0];
  const int n = m2.size();
  LatticeStaggeredFermion r = zero, ap;
  multi1d<LatticeStaggeredFermion> p(n);
  multi1d<Real> z(n), z_old(n), a(n), c(n);
  r[s] = b;
  Double rr = norm2(r, s);
  const Double stop = rr * 1e-22;
  for (int i = 0; i < n; ++i) {
    x[i][s] = zero;
    p[i][s] = b;
    z[i] = z_old[i] = 1;
  }
  Real alpha = 0, beta_old = 1;
  for (int k = 1; k < 200; ++k) {
    D.even_even(ap, p[0], m2[0]);
    const Real beta = -rr / innerProductReal(p[0], ap, s);
    for (int i = 0; i < n; ++i) {
      const Real denominator = beta * alpha * (z_old[i] - z[i]) + z_old[i] * beta_old * (1 - (m2[i] - m2[0]) * beta);
      const Real z_new = z[i] * z_old[i] * beta_old / denominator;
      c[i] = i == 0 ? beta : Real(beta * z_new / z[i]);
      z_old[i] = z[i];
      z[i] = i == 0 ? Real(1) : z_new;
      x[i][s] -= c[i] * p[i];
    }
    r[s] += beta * ap;
    const Double rr_new = norm2(r, s);
    if (toBool(rr_new < stop)) return k;
    alpha = rr_new / rr;
    for (int i = 0; i < n; ++i) {
      a[i] = i == 0 ? alpha : Real(alpha * z[i] * c[i] / (z_old[i] * beta));
      p[i][s] = z[i] * r + a[i] * p[i];
    }
    beta_old = beta;
    rr = rr_new;
  }
  return -1;
}

}  // namespace

int main(int argc, char** argv) {
  QDP_initialize(&argc, &argv);
  multi1d<int> nrow(Nd);
  nrow = 2;
  nrow[0] = nrow[3] = 4;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    random(u[mu]);
    u[mu] = Real(0.3) * u[mu] + Real(0.4);
  }
  const Staggered D(u, 0.5);
  LatticeStaggeredFermion psi, chi, d_psi, d_chi;
  random(psi);
  random(chi);
  D.hop(d_psi, psi, all);
  D.hop(d_chi, chi, all);
  QDPIO::cout << innerProduct(chi, d_psi) << " anti-Hermitian "
              << (toDouble(localNorm2(innerProduct(chi, d_psi) + conj(innerProduct(psi, d_chi)))) < 1e-20) << std::endl;
  QDPIO::cout << norm2(d_psi, rb[0]) << " " << norm2(d_psi, rb[1]) << std::endl;

  multi1d<Real> m2(3);
  m2[0] = D.mass_squared();
  m2[1] = m2[0] + 0.5;
  m2[2] = m2[0] + 4;
  multi1d<LatticeStaggeredFermion> x(3);
  for (int i = 0; i < 3; ++i) x[i] = zero;
  const int iterations = multi_shift(x, D, chi, m2);
  QDPIO::cout << "converged " << (iterations > 3 && iterations < 100) << std::endl;
  for (int i = 0; i < 3; ++i) {
    LatticeStaggeredFermion back = zero;
    D.even_even(back, x[i], m2[i]);
    back[rb[0]] -= chi;
    QDPIO::cout << norm2(x[i], rb[0]) << " solved "
                << (toDouble(norm2(back, rb[0])) < 1e-20 * toDouble(norm2(chi, rb[0]))) << std::endl;
  }
  QDPIO::cout << "condensate " << toDouble(innerProductReal(chi, x[0], rb[0])) * 0.5 / Layout::vol() << std::endl;

  QDP_finalize();
  return 0;
}
