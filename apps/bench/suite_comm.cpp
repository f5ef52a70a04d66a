#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"

namespace bench {
namespace {

using namespace QDP;

template <class P>
void comm(Session& session) {
  multi1d<typename P::ColorMatrix> u(Nd);
  typename P::Fermion chi, psi;
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  gaussian(psi);
  session.run_on_ranks("hop", kHoppingTerm, [&] { hopping_term<P>(chi, u, psi); });
  for (int mu = 0; mu < Nd; ++mu)
    session.run_on_ranks("covderiv_" + std::to_string(mu), kCovariantDerivative,
                         [&] { covariant_derivative<P>(chi, u[mu], psi, mu); });
  Double sum;
  session.run("norm2", {.flops = 48, .words = 24, .share_of_sites = 0.5}, [&] { sum = norm2(chi, rb[0]); });
}

}  // namespace

void run_comm(Session& session, Precision precision) {
  precision == Precision::kSingle ? comm<SingleFields>(session) : comm<DoubleFields>(session);
}

}  // namespace bench
