#include <iostream>

#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"
#include "qdp/expr/exchange.hpp"

namespace bench {
namespace {

using namespace QDP;

/// Where the time of the statements goes that `run` executes: on the first rank, per statement.
template <class Run>
void with_messages(const std::string& name, Run run) {
  const detail::ExchangeTimes before = detail::exchange_times();
  run();
  const detail::ExchangeTimes after = detail::exchange_times();
  const auto statements = static_cast<double>(after.statements - before.statements);
  if (statements == 0) return;
  const auto micros = [&](double a, double b) { return (b - a) / statements * 1e6; };
  const auto messages = static_cast<double>(after.messages - before.messages);
  std::cout << "  " << name << ": " << messages / statements << " messages of "
            << (messages == 0 ? 0 : static_cast<double>(after.bytes - before.bytes) / messages / 1024)
            << " KiB; microseconds: pack " << micros(before.pack, after.pack) << ", inner "
            << micros(before.inner, after.inner) << ", wait " << micros(before.wait, after.wait) << ", faces "
            << micros(before.faces, after.faces) << "\n";
}

template <class P>
void comm(Session& session) {
  multi1d<typename P::ColorMatrix> u(Nd);
  typename P::Fermion chi, psi;
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  gaussian(psi);
  with_messages("hop", [&] { session.run("hop", kHoppingTerm, [&] { hopping_term<P>(chi, u, psi); }); });
  for (int mu = 0; mu < Nd; ++mu) {
    const std::string name = "covderiv_" + std::to_string(mu);
    with_messages(
        name, [&] { session.run(name, kCovariantDerivative, [&] { covariant_derivative<P>(chi, u[mu], psi, mu); }); });
  }
}

}  // namespace

void run_comm(Session& session, Precision precision) {
  precision == Precision::kSingle ? comm<SingleFields>(session) : comm<DoubleFields>(session);
}

}  // namespace bench
