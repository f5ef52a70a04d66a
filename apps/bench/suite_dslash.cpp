#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"
#include "lib/gauge/gauge_field.hpp"
#include "lib/gauge/su3.hpp"

namespace bench {
namespace {

template <class P>
void dslash(Session& session) {
  qcd::GaugeField links(QDP::Nd);
  QDP::multi1d<typename P::ColorMatrix> u(QDP::Nd), two_rows(QDP::Nd);
  typename P::Fermion chi, psi;
  for (int mu = 0; mu < QDP::Nd; ++mu) gaussian(links[mu]);
  qcd::reunitarize(links);
  for (int mu = 0; mu < QDP::Nd; ++mu) {
    u[mu] = links[mu];
    if (QDP::Nc == 3) two_rows[mu].setStorage(QDP::FieldStorage::two_rows) = u[mu];
  }
  gaussian(psi);
  session.run("dslash", kHoppingTerm, [&] { hopping_term<P>(chi, u, psi); });
  if (QDP::Nc != 3) return;
  session.run("dslash_two_rows", kHoppingTermTwoRows, [&] { hopping_term<P>(chi, two_rows, psi); });
  if constexpr (std::is_same_v<P, SingleFields>) {
    for (int mu = 0; mu < QDP::Nd; ++mu) two_rows[mu].setStorage(QDP::FieldStorage::two_rows_half);
    chi.setStorage(QDP::FieldStorage::half);
    psi.setStorage(QDP::FieldStorage::half);
    session.run("dslash_half", kHoppingTermHalf, [&] { hopping_term<P>(chi, two_rows, psi); });
  }
}

}  // namespace

void run_dslash(Session& session, Precision precision) {
  precision == Precision::kSingle ? dslash<SingleFields>(session) : dslash<DoubleFields>(session);
}

}  // namespace bench
