// The names of the site types: LatticeFermion, ColorMatrixD3, SubLatticeComplex ... (450 of QDP++'s, by rule).
//
//   B        base precision, scalar            LatticeB      on the lattice        SubLatticeB   on a subset
//   DB       at least double (results of sums) B F, B D      single, double        B 3, 2, 1     number of colours
#pragma once

#include "qdp/types/functions.hpp"
#include "qdp/types/traits.hpp"

namespace QDP {

namespace detail {
template <class W, int C = Nc> struct Sites {
  using Real = PScalar<PScalar<RScalar<W>>>;
  using Complex = PScalar<PScalar<RComplex<W>>>;
  using ColorVector = PScalar<PColorVector<RComplex<W>, C>>;
  using ColorMatrix = PScalar<PColorMatrix<RComplex<W>, C>>;
  using SpinVector = PSpinVector<PScalar<RComplex<W>>, Ns>;
  using SpinMatrix = PSpinMatrix<PScalar<RComplex<W>>, Ns>;
  using HalfSpinVector = PSpinVector<PScalar<RComplex<W>>, (Ns + 1) / 2>;
  using HalfSpinMatrix = PSpinMatrix<PScalar<RComplex<W>>, (Ns + 1) / 2>;
  using Fermion = PSpinVector<PColorVector<RComplex<W>, C>, Ns>;
  using HalfFermion = PSpinVector<PColorVector<RComplex<W>, C>, (Ns + 1) / 2>;
  using DiracFermion = Fermion;
  using StaggeredFermion = PSpinVector<PColorVector<RComplex<W>, C>, 1>;
  using Propagator = PSpinMatrix<PColorMatrix<RComplex<W>, C>, Ns>;
  using HalfPropagator = PSpinMatrix<PColorMatrix<RComplex<W>, C>, (Ns + 1) / 2>;
  using DiracPropagator = Propagator;
  using StaggeredPropagator = PSpinMatrix<PColorMatrix<RComplex<W>, C>, 1>;
  using ColorVectorSpinMatrix = PSpinMatrix<PColorVector<RComplex<W>, C>, Ns>;
  using ColorMatrixSpinVector = PSpinVector<PColorMatrix<RComplex<W>, C>, Ns>;
  using ColorVectorSpinVector = PSpinVector<PColorVector<RComplex<W>, C>, Ns>;
};
/// Two quarks' spins and colours in one, with S of each: names and elements for programs that have them, no algebra.
template <class W, int S> using BlockOfColorMatrices = PSpinMatrix<PColorMatrix<RComplex<W>, Nc>, S>;
template <class W, int S> using Baryonblocks = PSpinMatrix<PColorVector<BlockOfColorMatrices<W, S>, Nc>, S>;
template <class W, int S> using Fourquarks = PSpinMatrix<PColorMatrix<BlockOfColorMatrices<W, S>, Nc>, S>;
using BaseSites = Sites<REAL>;
}  // namespace detail

// clang-format off
#define QDP_OUTER(Name, ...)                                                                                           \
  using Name = OScalar<__VA_ARGS__>;                                                                                   \
  using Lattice##Name = OLattice<__VA_ARGS__>;                                                                         \
  using SubLattice##Name = OSubLattice<__VA_ARGS__>;
#define QDP_LATTICE(Name, ...)                                                                                         \
  using Lattice##Name = OLattice<__VA_ARGS__>;                                                                         \
  using SubLattice##Name = OSubLattice<__VA_ARGS__>;

// base precision, F, D, and the sum type DName
#define QDP_PRECISIONS(B)                                                                                              \
  QDP_OUTER(B, detail::Sites<REAL>::B)                                                                                 \
  QDP_OUTER(B##F, detail::Sites<REAL32>::B)                                                                            \
  QDP_OUTER(B##D, detail::Sites<REAL64>::B)                                                                            \
  QDP_OUTER(D##B, detail::Sites<DOUBLE>::B)
#define QDP_COLORS(B)                                                                                                  \
  QDP_OUTER(B##3, detail::Sites<REAL, 3>::B) QDP_OUTER(B##2, detail::Sites<REAL, 2>::B) QDP_OUTER(B##1, detail::Sites<REAL, 1>::B) \
  QDP_OUTER(B##F3, detail::Sites<REAL32, 3>::B) QDP_OUTER(B##F2, detail::Sites<REAL32, 2>::B) QDP_OUTER(B##F1, detail::Sites<REAL32, 1>::B) \
  QDP_OUTER(B##D3, detail::Sites<REAL64, 3>::B) QDP_OUTER(B##D2, detail::Sites<REAL64, 2>::B) QDP_OUTER(B##D1, detail::Sites<REAL64, 1>::B)
// clang-format on

QDP_PRECISIONS(DiracFermion)
QDP_PRECISIONS(StaggeredFermion)
QDP_PRECISIONS(DiracPropagator)
QDP_PRECISIONS(StaggeredPropagator)
QDP_PRECISIONS(ColorVector)
QDP_PRECISIONS(ColorMatrix)
QDP_PRECISIONS(SpinVector)
QDP_PRECISIONS(SpinMatrix)
QDP_PRECISIONS(HalfSpinMatrix)
QDP_PRECISIONS(Fermion)
QDP_PRECISIONS(HalfFermion)
QDP_PRECISIONS(Propagator)
QDP_PRECISIONS(HalfPropagator)
QDP_PRECISIONS(Complex)
QDP_PRECISIONS(ColorVectorSpinMatrix)

QDP_COLORS(DiracFermion)
QDP_COLORS(StaggeredFermion)
QDP_COLORS(DiracPropagator)
QDP_COLORS(StaggeredPropagator)
QDP_COLORS(Fermion)
QDP_COLORS(HalfFermion)
QDP_COLORS(Propagator)
QDP_COLORS(ColorMatrix)
QDP_COLORS(ColorVector)

QDP_OUTER(Real, detail::Sites<REAL>::Real)
QDP_OUTER(RealF, detail::Sites<REAL32>::Real)
QDP_OUTER(RealD, detail::Sites<REAL64>::Real)
QDP_OUTER(Double, detail::Sites<DOUBLE>::Real)
QDP_OUTER(Integer, PScalar<PScalar<RScalar<INTEGER32>>>)
QDP_OUTER(Boolean, PScalar<PScalar<RScalar<LOGICAL>>>)
QDP_OUTER(Seed, PScalar<PSeed<RScalar<INTEGER32>>>)

// historical spellings
using LatticeStaggerdPropagator3 = LatticeStaggeredPropagator3;
using LatticeStaggerdPropagator2 = LatticeStaggeredPropagator2;
using LatticeStaggerdPropagator1 = LatticeStaggeredPropagator1;
using SubLatticeStaggerdPropagator3 = SubLatticeStaggeredPropagator3;
using SubLatticeStaggerdPropagator2 = SubLatticeStaggeredPropagator2;
using SubLatticeStaggerdPropagator1 = SubLatticeStaggeredPropagator1;
using Int = Integer;
using LatticeInt = LatticeInteger;
using Real32 = RealF;
using Real64 = RealD;
using Complex32 = ComplexF;
using Complex64 = ComplexD;
using ColorVectorSpinVector = OScalar<detail::BaseSites::ColorVectorSpinVector>;
using ColorMatrixSpinVector = OScalar<detail::BaseSites::ColorMatrixSpinVector>;
using ColorMatrixSpinMatrix = Propagator;
using ILatticeReal = Real;
using ILatticeSeed = Seed;
using IntReal = RScalar<REAL>;
using IntReal32 = RScalar<REAL32>;
using IntReal64 = RScalar<REAL64>;
using IntDouble = RScalar<DOUBLE>;
using IntInteger = RScalar<INTEGER32>;
using IntBoolean = RScalar<LOGICAL>;

#define QDP_BLOCKS(Suffix, Word)                                                                                       \
  using Baryonblock##Suffix = OScalar<detail::Baryonblocks<Word, Ns>>;                                                 \
  using LatticeBaryonblock##Suffix = OLattice<detail::Baryonblocks<Word, Ns>>;                                         \
  using HalfBaryonblock##Suffix = OScalar<detail::Baryonblocks<Word, Ns / 2>>;                                         \
  using LatticeHalfBaryonblock##Suffix = OLattice<detail::Baryonblocks<Word, Ns / 2>>;                                 \
  using Fourquark##Suffix = OScalar<detail::Fourquarks<Word, Ns>>;                                                     \
  using LatticeFourquark##Suffix = OLattice<detail::Fourquarks<Word, Ns>>;                                             \
  using HalfFourquark##Suffix = OScalar<detail::Fourquarks<Word, Ns / 2>>;                                             \
  using LatticeHalfFourquark##Suffix = OLattice<detail::Fourquarks<Word, Ns / 2>>;
QDP_BLOCKS(, REAL)
QDP_BLOCKS(F, REAL32)
QDP_BLOCKS(D, REAL64)

#undef QDP_BLOCKS
#undef QDP_OUTER
#undef QDP_LATTICE
#undef QDP_PRECISIONS
#undef QDP_COLORS

}  // namespace QDP
