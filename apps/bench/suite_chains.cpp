#include <cstdlib>
#include <vector>

#include "apps/bench/fields.hpp"
#include "apps/bench/hopping_term.hpp"
#include "apps/bench/suites.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/support/env.hpp"

namespace bench {
namespace {

using namespace QDP;

/// Statements that follow each other, each for itself and then as the queue puts them together. The words are those that must be
/// moved at least: each operand once, each result once.
void measure_both(Session& session, const std::string& name, const Work& work,
                  const std::function<void()>& statements) {
  for (const bool fuse : {false, true}) {
    jit::run_deferred();
    setenv("TESSERA_FUSE", fuse ? "1" : "0", 1);
    jit::reload_env();
    session.run(name + (fuse ? " fused" : ""), work, [&] {
      statements();
      jit::run_deferred();  // or the next repetition would overwrite what nobody has read
    });
  }
}

template <class P>
void chained_vectors(Session& session) {
  typename P::Fermion x, y, z, p, q, r;
  for (typename P::Fermion* f : {&x, &y, &z, &p, &q, &r}) gaussian(*f);
  const typename P::Real a = 1e-6, b = 0.5;
  Double norm;

  measure_both(session, "three axpy", {6 * kFermion, 5 * kFermion}, [&] {
    y += a * x;
    y += a * z;
    y += a * p;
  });
  measure_both(session, "axpy norm2", {4 * kFermion, 3 * kFermion}, [&] {
    r -= a * q;
    norm = norm2(r);
  });
  measure_both(session, "cg vectors", {8 * kFermion, 7 * kFermion}, [&] {
    x += a * p;
    r -= a * q;
    norm = norm2(r);
    p = r + b * p;
  });
  measure_both(session, "temporary", {4 * kFermion, 4 * kFermion}, [&] {
    typename P::Fermion t = a * x;
    t += y;
    z = t + p;
  });
}

template <class P>
void chained_hop(Session& session) {
  multi1d<typename P::ColorMatrix> u(Nd);
  for (int mu = 0; mu < Nd; ++mu) gaussian(u[mu]);
  typename P::Fermion chi, psi;
  gaussian(psi);
  const typename P::Real a = 0.1;
  Double norm;

  // On one checkerboard, as in the even-odd preconditioned operator.
  const Work hop = kHoppingTerm;
  measure_both(session, "hop axpy norm2", {hop.flops + 4 * kFermion, hop.words + 1 * kFermion, hop.share_of_sites},
               [&] {
                 hopping_term<P>(chi, u, psi);
                 chi[rb[0]] = psi - a * chi;
                 norm = norm2(chi, rb[0]);
               });

  // The slices of a domain wall, the columns of a propagator: all with the same links.
  constexpr int kSides = 12;
  std::vector<typename P::Fermion> from(kSides), to(kSides);
  for (auto& side : from) gaussian(side);
  measure_both(session, "hop 12 sides",
               {kSides * hop.flops, hop.words + (kSides - 1) * 2 * kFermion, hop.share_of_sites}, [&] {
                 for (int side = 0; side < kSides; ++side) hopping_term<P>(to[side], u, from[side]);
               });
}

template <class P>
void all_chains(Session& session) {
  chained_vectors<P>(session);
  chained_hop<P>(session);
}

}  // namespace

void run_chains(Session& session, Precision precision) {
  precision == Precision::kSingle ? all_chains<SingleFields>(session) : all_chains<DoubleFields>(session);
}

}  // namespace bench
