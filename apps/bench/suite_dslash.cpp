#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"

namespace bench {
namespace {

template <class P>
void dslash(Session& session) {
  QDP::multi1d<typename P::ColorMatrix> u(QDP::Nd);
  typename P::Fermion chi, psi;
  for (int mu = 0; mu < QDP::Nd; ++mu) gaussian(u[mu]);
  gaussian(psi);
  session.run("dslash", kHoppingTerm, [&] { hopping_term<P>(chi, u, psi); });
}

}  // namespace

void run_dslash(Session& session, Precision precision) {
  precision == Precision::kSingle ? dslash<SingleFields>(session) : dslash<DoubleFields>(session);
}

}  // namespace bench
