// Plaquettes by functions over the type of the links, for links of two precisions and for single plaquettes.
#include <iomanip>

#include "qdp.h"
using namespace QDP;

namespace {

template <typename Link>
Double plaquette(const multi1d<Link>& u) {
  Double sum_of_all = zero;
  for (int mu = 1; mu < Nd; ++mu)
    for (int nu = 0; nu < mu; ++nu)
      sum_of_all += sum(real(trace(u[mu] * shift(u[nu], FORWARD, mu) * adj(shift(u[mu], FORWARD, nu)) * adj(u[nu]))));
  return 2.0 * sum_of_all / (Layout::vol() * Nd * (Nd - 1) * Nc);
}

template <typename T, typename C>
Double mean(const QDPType<T, C>& x) {
  return sum(static_cast<const C&>(x)) / Double(Layout::vol());
}

template <typename T, typename C>
Double mean(const QDPExpr<T, C>& x) {
  return mean(C(x));
}

}  // namespace

int main(int argc, char* argv[]) {
  QDP_initialize(&argc, &argv);
  const int extents[] = {2, 4, 2, 4};
  multi1d<int> nrow(Nd);
  nrow = extents;
  Layout::setLattSize(nrow);
  Layout::create();

  multi1d<LatticeColorMatrix> u(Nd);
  multi1d<LatticeColorMatrixF> u_f(Nd);
  for (int mu = 0; mu < u.size(); ++mu) {
    random(u[mu]);
    u[mu] = 0.5 * (u[mu] + adj(u[mu])) + Real(mu) * timesI(u[mu] - adj(u[mu]));
    u_f[mu] = u[mu];
  }

  std::cout << std::setprecision(14);
  const Double w = plaquette(u);
  QDPIO::cout << "w_plaq = " << w << std::endl;
  const Double w_f = plaquette(u_f);
  QDPIO::cout << "single precision agrees: " << (toDouble(fabs(w - w_f)) < 1e-5 * std::fabs(toDouble(w))) << std::endl;

  for (int mu = 0; mu < Nd; ++mu) {
    LatticeReal link = real(trace(u[mu])) / Real(Nc);
    QDPIO::cout << "link[" << mu << "] = " << mean(link) << " " << mean(link * link) << " "
                << mean(imag(trace(u[mu] * u[mu]))) << std::endl;
  }

  LatticeColorMatrix staple = zero;
  for (int nu = 1; nu < Nd; ++nu) {
    LatticeColorMatrix below = adj(u[nu]) * u[0] * shift(u[nu], FORWARD, 0);
    staple += u[nu] * shift(u[0], FORWARD, nu) * adj(shift(u[nu], FORWARD, 0)) + shift(below, BACKWARD, nu);
  }
  QDPIO::cout << "staples = " << sum(real(trace(u[0] * adj(staple)))) << std::endl;
  QDPIO::cout << "on even sites " << sum(real(trace(u[0] * adj(staple))), rb[0]) << std::endl;

  QDP_finalize();
  return 0;
}
