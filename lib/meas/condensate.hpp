// The trace of the inverse Dirac operator from random sources: chiral condensates.
#pragma once

#include "lib/meas/propagator.hpp"

namespace qcd {

/// What the components of a random source are, independently for every site, spin and colour; <eta eta^+> = 1.
enum class TraceNoise {
  z2,        ///< (+-1 +- i)/sqrt 2: no error from the diagonal
  u1,        ///< exp(i theta)
  gaussian,  ///< complex normal: the largest variance
  unit       ///< 1 everywhere: no noise, for comparison with other programs
};
template <class F>
F trace_source(TraceNoise kind);

/// One estimate, per site: Tr D^-1/V and Tr g5 D^-1/V (staggered: the sign (-1)^(x+y+z+t) instead of g5), the traces
/// over spin and colour. <psibar psi> of one quark is minus the first.
struct Condensate {
  QDP::DComplex scalar, pseudoscalar;
};
template <class F>
Condensate estimate_condensate(const QuarkInverter<F>& inverse, const F& source,
                               std::vector<SolveResult>* results = nullptr);

}  // namespace qcd
