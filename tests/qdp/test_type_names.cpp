// The names of site types: each stands for the type that it stands for in QDP++, level by level, spelt out here by hand rather than
// by the rules of qdp/types/typedefs.hpp. The compiler does the checking; what is left is what such types are good for.
#include "qdp.h"

#include <doctest/doctest.h>

#include <type_traits>

using namespace QDP;

namespace {

template <class Expected, class... Names>
constexpr bool all_are = (std::is_same_v<Expected, Names> && ...);

// clang-format off
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns>>,
    LatticeDiracFermion, LatticeFermion>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, 1>>,
    LatticeStaggeredFermion>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, Ns>>,
    LatticeDiracPropagator, LatticePropagator>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, 1>>,
    LatticeStaggeredPropagator>);
static_assert(all_are<OLattice<PSpinMatrix<PColorVector<RComplex<REAL>, Nc>, Ns>>,
    LatticeColorVectorSpinMatrix>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns>>,
    DiracFermion, Fermion, ColorVectorSpinVector>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL>, Nc>, 1>>,
    StaggeredFermion>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, Ns>>,
    DiracPropagator, Propagator, ColorMatrixSpinMatrix>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, 1>>,
    StaggeredPropagator>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL>, Nc>>>,
    LatticeColorVector>);
static_assert(all_are<OLattice<PSpinVector<PScalar<RComplex<REAL>>, Ns>>,
    LatticeSpinVector>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL>, Nc>>>,
    LatticeColorMatrix>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL>>, Ns>>,
    LatticeSpinMatrix>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL>>, Ns / 2>>,
    LatticeHalfSpinMatrix>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns / 2>>,
    LatticeHalfFermion>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, Ns / 2>>,
    LatticeHalfPropagator>);
static_assert(all_are<OLattice<PScalar<PScalar<RComplex<REAL>>>>,
    LatticeComplex>);
static_assert(all_are<OLattice<PScalar<PScalar<RScalar<INTEGER32>>>>,
    LatticeInteger, LatticeInt>);
static_assert(all_are<OLattice<PScalar<PScalar<RScalar<REAL>>>>,
    LatticeReal>);
static_assert(all_are<OLattice<PScalar<PScalar<RScalar<REAL64>>>>,
    LatticeDouble, LatticeRealD>);
static_assert(all_are<OLattice<PScalar<PScalar<RScalar<LOGICAL>>>>,
    LatticeBoolean>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL>, Nc>>>,
    ColorVector>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL>, Nc>>>,
    ColorMatrix>);
static_assert(all_are<OScalar<PSpinVector<PScalar<RComplex<REAL>>, Ns>>,
    SpinVector>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL>>, Ns>>,
    SpinMatrix>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL>>, Ns / 2>>,
    HalfSpinMatrix>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns / 2>>,
    HalfFermion>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, Ns / 2>>,
    HalfPropagator>);
static_assert(all_are<OScalar<PScalar<PScalar<RComplex<REAL>>>>,
    Complex>);
static_assert(all_are<OScalar<PScalar<PScalar<RScalar<INTEGER32>>>>,
    Integer, Int>);
static_assert(all_are<OScalar<PScalar<PScalar<RScalar<REAL>>>>,
    Real>);
static_assert(all_are<OScalar<PScalar<PScalar<RScalar<REAL64>>>>,
    Double, RealD, Real64>);
static_assert(all_are<OScalar<PScalar<PScalar<RScalar<LOGICAL>>>>,
    Boolean>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns>>,
    LatticeDDiracFermion, LatticeDFermion, LatticeDiracFermionD, LatticeFermionD>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, 1>>,
    LatticeDStaggeredFermion, LatticeStaggeredFermionD>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, Ns>>,
    LatticeDDiracPropagator, LatticeDPropagator, LatticeDiracPropagatorD, LatticePropagatorD>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, 1>>,
    LatticeDStaggeredPropagator, LatticeStaggeredPropagatorD>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns>>,
    DDiracFermion, DFermion, DiracFermionD, FermionD>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, 1>>,
    DStaggeredFermion, StaggeredFermionD>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, Ns>>,
    DDiracPropagator, DPropagator, DiracPropagatorD, PropagatorD>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, 1>>,
    DStaggeredPropagator, StaggeredPropagatorD>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL64>, Nc>>>,
    LatticeDColorVector, LatticeColorVectorD>);
static_assert(all_are<OLattice<PSpinVector<PScalar<RComplex<REAL64>>, Ns>>,
    LatticeDSpinVector, LatticeSpinVectorD>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL64>, Nc>>>,
    LatticeDColorMatrix, LatticeColorMatrixD>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL64>>, Ns>>,
    LatticeDSpinMatrix, LatticeSpinMatrixD>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL64>>, Ns / 2>>,
    LatticeDHalfSpinMatrix, LatticeHalfSpinMatrixD>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns / 2>>,
    LatticeDHalfFermion, LatticeHalfFermionD>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, Ns / 2>>,
    LatticeDHalfPropagator, LatticeHalfPropagatorD>);
static_assert(all_are<OLattice<PScalar<PScalar<RComplex<REAL64>>>>,
    LatticeDComplex, LatticeComplexD>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL64>, Nc>>>,
    DColorVector, ColorVectorD>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL64>, Nc>>>,
    DColorMatrix, ColorMatrixD>);
static_assert(all_are<OScalar<PSpinVector<PScalar<RComplex<REAL64>>, Ns>>,
    DSpinVector, SpinVectorD>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL64>>, Ns>>,
    DSpinMatrix, SpinMatrixD>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL64>>, Ns / 2>>,
    DHalfSpinMatrix>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns / 2>>,
    DHalfFermion, HalfFermionD>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, Ns / 2>>,
    DHalfPropagator>);
static_assert(all_are<OScalar<PScalar<PScalar<RComplex<REAL64>>>>,
    DComplex, ComplexD, Complex64>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, Ns>>,
    LatticeDiracFermion3, LatticeFermion3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, Ns>>,
    LatticeDiracFermion2, LatticeFermion2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, Ns>>,
    LatticeDiracFermion1, LatticeFermion1>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, 1>>,
    LatticeStaggeredFermion3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, 1>>,
    LatticeStaggeredFermion2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, 1>>,
    LatticeStaggeredFermion1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 3>, Ns>>,
    LatticeDiracPropagator3, LatticePropagator3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 2>, Ns>>,
    LatticeDiracPropagator2, LatticePropagator2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 1>, Ns>>,
    LatticeDiracPropagator1, LatticePropagator1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 3>, 1>>,
    LatticeStaggerdPropagator3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 2>, 1>>,
    LatticeStaggerdPropagator2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 1>, 1>>,
    LatticeStaggerdPropagator1>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, Ns / 2>>,
    LatticeHalfFermion3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, Ns / 2>>,
    LatticeHalfFermion2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, Ns / 2>>,
    LatticeHalfFermion1>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL>, 3>>>,
    LatticeColorMatrix3>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL>, 2>>>,
    LatticeColorMatrix2>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL>, 1>>>,
    LatticeColorMatrix1>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL>, 3>>>,
    LatticeColorVector3>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL>, 2>>>,
    LatticeColorVector2>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL>, 1>>>,
    LatticeColorVector1>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL>, 3>>>,
    ColorMatrix3>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL>, 2>>>,
    ColorMatrix2>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL>, 1>>>,
    ColorMatrix1>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL>, 3>>>,
    ColorVector3>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL>, 2>>>,
    ColorVector2>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL>, 1>>>,
    ColorVector1>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns>>,
    LatticeDiracFermionF, LatticeFermionF>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns>>,
    LatticeDiracFermionF3, LatticeFermionF3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns>>,
    LatticeDiracFermionF2, LatticeFermionF2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns>>,
    LatticeDiracFermionF1, LatticeFermionF1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorVector<RComplex<REAL32>, Nc>, Ns>>,
    LatticeColorVectorSpinMatrixF>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, 1>>,
    LatticeStaggeredFermionF>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, 1>>,
    LatticeStaggeredFermionF3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, 1>>,
    LatticeStaggeredFermionF2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, 1>>,
    LatticeStaggeredFermionF1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, Ns>>,
    LatticeDiracPropagatorF, LatticePropagatorF>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, Ns>>,
    LatticeDiracPropagatorF3, LatticePropagatorF3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, Ns>>,
    LatticeDiracPropagatorF2, LatticePropagatorF2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, Ns>>,
    LatticeDiracPropagatorF1, LatticePropagatorF1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, 1>>,
    LatticeStaggeredPropagatorF>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, 1>>,
    LatticeStaggeredPropagatorF3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, 1>>,
    LatticeStaggeredPropagatorF2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, 1>>,
    LatticeStaggeredPropagatorF1>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns / 2>>,
    LatticeHalfFermionF>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns / 2>>,
    LatticeHalfFermionF3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns / 2>>,
    LatticeHalfFermionF2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns / 2>>,
    LatticeHalfFermionF1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, Ns / 2>>,
    LatticeHalfPropagatorF>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL32>>, Ns>>,
    LatticeSpinMatrixF>);
static_assert(all_are<OLattice<PSpinMatrix<PScalar<RComplex<REAL32>>, Ns / 2>>,
    LatticeHalfSpinMatrixF>);
static_assert(all_are<OLattice<PSpinVector<PScalar<RComplex<REAL32>>, Ns>>,
    LatticeSpinVectorF>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL32>, Nc>>>,
    LatticeColorMatrixF>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL32>, 3>>>,
    LatticeColorMatrixF3>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL32>, 2>>>,
    LatticeColorMatrixF2>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL32>, 1>>>,
    LatticeColorMatrixF1>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL32>, Nc>>>,
    LatticeColorVectorF>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL32>, 3>>>,
    LatticeColorVectorF3>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL32>, 2>>>,
    LatticeColorVectorF2>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL32>, 1>>>,
    LatticeColorVectorF1>);
static_assert(all_are<OLattice<PScalar<PScalar<RComplex<REAL32>>>>,
    LatticeComplexF>);
static_assert(all_are<OLattice<PScalar<PScalar<RScalar<REAL32>>>>,
    LatticeRealF>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns>>,
    DiracFermionF, FermionF>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns>>,
    DiracFermionF3, FermionF3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns>>,
    DiracFermionF2, FermionF2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns>>,
    DiracFermionF1, FermionF1>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, 1>>,
    StaggeredFermionF>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 3>, 1>>,
    StaggeredFermionF3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 2>, 1>>,
    StaggeredFermionF2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 1>, 1>>,
    StaggeredFermionF1>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, Ns>>,
    DiracPropagatorF, PropagatorF>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, Ns>>,
    DiracPropagatorF3, PropagatorF3>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, Ns>>,
    DiracPropagatorF2, PropagatorF2>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, Ns>>,
    DiracPropagatorF1, PropagatorF1>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, 1>>,
    StaggeredPropagatorF>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, 1>>,
    StaggeredPropagatorF3>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, 1>>,
    StaggeredPropagatorF2>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, 1>>,
    StaggeredPropagatorF1>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns / 2>>,
    HalfFermionF>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns / 2>>,
    HalfFermionF3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns / 2>>,
    HalfFermionF2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns / 2>>,
    HalfFermionF1>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, Ns / 2>>,
    HalfPropagatorF>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL32>>, Ns>>,
    SpinMatrixF>);
static_assert(all_are<OScalar<PSpinMatrix<PScalar<RComplex<REAL32>>, Ns / 2>>,
    HalfSpinMatrixF>);
static_assert(all_are<OScalar<PSpinVector<PScalar<RComplex<REAL32>>, Ns>>,
    SpinVectorF>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL32>, Nc>>>,
    ColorMatrixF>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL32>, 3>>>,
    ColorMatrixF3>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL32>, 2>>>,
    ColorMatrixF2>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL32>, 1>>>,
    ColorMatrixF1>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL32>, Nc>>>,
    ColorVectorF>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL32>, 3>>>,
    ColorVectorF3>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL32>, 2>>>,
    ColorVectorF2>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL32>, 1>>>,
    ColorVectorF1>);
static_assert(all_are<OScalar<PScalar<PScalar<RComplex<REAL32>>>>,
    ComplexF, Complex32>);
static_assert(all_are<OScalar<PScalar<PScalar<RScalar<REAL32>>>>,
    RealF, Real32>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns>>,
    LatticeDiracFermionD3, LatticeFermionD3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns>>,
    LatticeDiracFermionD2, LatticeFermionD2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns>>,
    LatticeDiracFermionD1, LatticeFermionD1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorVector<RComplex<REAL64>, Nc>, Ns>>,
    LatticeColorVectorSpinMatrixD>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, 1>>,
    LatticeStaggeredFermionD3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, 1>>,
    LatticeStaggeredFermionD2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, 1>>,
    LatticeStaggeredFermionD1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, Ns>>,
    LatticeDiracPropagatorD3, LatticePropagatorD3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, Ns>>,
    LatticeDiracPropagatorD2, LatticePropagatorD2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, Ns>>,
    LatticeDiracPropagatorD1, LatticePropagatorD1>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, 1>>,
    LatticeStaggeredPropagatorD3>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, 1>>,
    LatticeStaggeredPropagatorD2>);
static_assert(all_are<OLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, 1>>,
    LatticeStaggeredPropagatorD1>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns / 2>>,
    LatticeHalfFermionD3>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns / 2>>,
    LatticeHalfFermionD2>);
static_assert(all_are<OLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns / 2>>,
    LatticeHalfFermionD1>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL64>, 3>>>,
    LatticeColorMatrixD3>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL64>, 2>>>,
    LatticeColorMatrixD2>);
static_assert(all_are<OLattice<PScalar<PColorMatrix<RComplex<REAL64>, 1>>>,
    LatticeColorMatrixD1>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL64>, 3>>>,
    LatticeColorVectorD3>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL64>, 2>>>,
    LatticeColorVectorD2>);
static_assert(all_are<OLattice<PScalar<PColorVector<RComplex<REAL64>, 1>>>,
    LatticeColorVectorD1>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns>>,
    DiracFermionD3, FermionD3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns>>,
    DiracFermionD2, FermionD2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns>>,
    DiracFermionD1, FermionD1>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 3>, 1>>,
    StaggeredFermionD3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 2>, 1>>,
    StaggeredFermionD2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 1>, 1>>,
    StaggeredFermionD1>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, Ns>>,
    DiracPropagatorD3, PropagatorD3>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, Ns>>,
    DiracPropagatorD2, PropagatorD2>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, Ns>>,
    DiracPropagatorD1, PropagatorD1>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, 1>>,
    StaggeredPropagatorD3>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, 1>>,
    StaggeredPropagatorD2>);
static_assert(all_are<OScalar<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, 1>>,
    StaggeredPropagatorD1>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns / 2>>,
    HalfFermionD3>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns / 2>>,
    HalfFermionD2>);
static_assert(all_are<OScalar<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns / 2>>,
    HalfFermionD1>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL64>, 3>>>,
    ColorMatrixD3>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL64>, 2>>>,
    ColorMatrixD2>);
static_assert(all_are<OScalar<PScalar<PColorMatrix<RComplex<REAL64>, 1>>>,
    ColorMatrixD1>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL64>, 3>>>,
    ColorVectorD3>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL64>, 2>>>,
    ColorVectorD2>);
static_assert(all_are<OScalar<PScalar<PColorVector<RComplex<REAL64>, 1>>>,
    ColorVectorD1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns>>,
    SubLatticeDiracFermion, SubLatticeFermion>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, 1>>,
    SubLatticeStaggeredFermion>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, Ns>>,
    SubLatticeDiracPropagator, SubLatticePropagator>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, Nc>, 1>>,
    SubLatticeStaggeredPropagator>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorVector<RComplex<REAL>, Nc>, Ns>>,
    SubLatticeColorVectorSpinMatrix>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL>, Nc>>>,
    SubLatticeColorVector>);
static_assert(all_are<OSubLattice<PSpinVector<PScalar<RComplex<REAL>>, Ns>>,
    SubLatticeSpinVector>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL>, Nc>>>,
    SubLatticeColorMatrix>);
static_assert(all_are<OSubLattice<PSpinMatrix<PScalar<RComplex<REAL>>, Ns>>,
    SubLatticeSpinMatrix>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, Nc>, Ns / 2>>,
    SubLatticeHalfFermion>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RComplex<REAL>>>>,
    SubLatticeComplex>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RScalar<INTEGER32>>>>,
    SubLatticeInteger>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RScalar<REAL>>>>,
    SubLatticeReal>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RScalar<REAL64>>>>,
    SubLatticeDouble, SubLatticeRealD>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RScalar<LOGICAL>>>>,
    SubLatticeBoolean>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns>>,
    SubLatticeDDiracFermion, SubLatticeDFermion, SubLatticeDiracFermionD, SubLatticeFermionD>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, 1>>,
    SubLatticeDStaggeredFermion, SubLatticeStaggeredFermionD>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, Ns>>,
    SubLatticeDDiracPropagator, SubLatticeDPropagator, SubLatticeDiracPropagatorD, SubLatticePropagatorD>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, Nc>, 1>>,
    SubLatticeDStaggeredPropagator, SubLatticeStaggeredPropagatorD>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorVector<RComplex<REAL64>, Nc>, Ns>>,
    SubLatticeDColorVectorSpinMatrix, SubLatticeColorVectorSpinMatrixD>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL64>, Nc>>>,
    SubLatticeDColorVector, SubLatticeColorVectorD>);
static_assert(all_are<OSubLattice<PSpinVector<PScalar<RComplex<REAL64>>, Ns>>,
    SubLatticeDSpinVector, SubLatticeSpinVectorD>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL64>, Nc>>>,
    SubLatticeDColorMatrix, SubLatticeColorMatrixD>);
static_assert(all_are<OSubLattice<PSpinMatrix<PScalar<RComplex<REAL64>>, Ns>>,
    SubLatticeDSpinMatrix, SubLatticeSpinMatrixD>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, Nc>, Ns / 2>>,
    SubLatticeDHalfFermion, SubLatticeHalfFermionD>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RComplex<REAL64>>>>,
    SubLatticeDComplex, SubLatticeComplexD>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, Ns>>,
    SubLatticeDiracFermion3, SubLatticeFermion3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, Ns>>,
    SubLatticeDiracFermion2, SubLatticeFermion2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, Ns>>,
    SubLatticeDiracFermion1, SubLatticeFermion1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, 1>>,
    SubLatticeStaggeredFermion3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, 1>>,
    SubLatticeStaggeredFermion2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, 1>>,
    SubLatticeStaggeredFermion1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 3>, Ns>>,
    SubLatticeDiracPropagator3, SubLatticePropagator3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 2>, Ns>>,
    SubLatticeDiracPropagator2, SubLatticePropagator2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 1>, Ns>>,
    SubLatticeDiracPropagator1, SubLatticePropagator1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 3>, 1>>,
    SubLatticeStaggerdPropagator3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 2>, 1>>,
    SubLatticeStaggerdPropagator2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL>, 1>, 1>>,
    SubLatticeStaggerdPropagator1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 3>, Ns / 2>>,
    SubLatticeHalfFermion3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 2>, Ns / 2>>,
    SubLatticeHalfFermion2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL>, 1>, Ns / 2>>,
    SubLatticeHalfFermion1>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL>, 3>>>,
    SubLatticeColorMatrix3>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL>, 2>>>,
    SubLatticeColorMatrix2>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL>, 1>>>,
    SubLatticeColorMatrix1>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL>, 3>>>,
    SubLatticeColorVector3>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL>, 2>>>,
    SubLatticeColorVector2>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL>, 1>>>,
    SubLatticeColorVector1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns>>,
    SubLatticeDiracFermionF, SubLatticeFermionF>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns>>,
    SubLatticeDiracFermionF3, SubLatticeFermionF3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns>>,
    SubLatticeDiracFermionF2, SubLatticeFermionF2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns>>,
    SubLatticeDiracFermionF1, SubLatticeFermionF1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorVector<RComplex<REAL32>, Nc>, Ns>>,
    SubLatticeColorVectorSpinMatrixF>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, 1>>,
    SubLatticeStaggeredFermionF>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, 1>>,
    SubLatticeStaggeredFermionF3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, 1>>,
    SubLatticeStaggeredFermionF2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, 1>>,
    SubLatticeStaggeredFermionF1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, Ns>>,
    SubLatticeDiracPropagatorF, SubLatticePropagatorF>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, Ns>>,
    SubLatticeDiracPropagatorF3, SubLatticePropagatorF3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, Ns>>,
    SubLatticeDiracPropagatorF2, SubLatticePropagatorF2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, Ns>>,
    SubLatticeDiracPropagatorF1, SubLatticePropagatorF1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, Nc>, 1>>,
    SubLatticeStaggeredPropagatorF>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 3>, 1>>,
    SubLatticeStaggeredPropagatorF3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 2>, 1>>,
    SubLatticeStaggeredPropagatorF2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL32>, 1>, 1>>,
    SubLatticeStaggeredPropagatorF1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, Nc>, Ns / 2>>,
    SubLatticeHalfFermionF>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 3>, Ns / 2>>,
    SubLatticeHalfFermionF3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 2>, Ns / 2>>,
    SubLatticeHalfFermionF2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL32>, 1>, Ns / 2>>,
    SubLatticeHalfFermionF1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PScalar<RComplex<REAL32>>, Ns>>,
    SubLatticeSpinMatrixF>);
static_assert(all_are<OSubLattice<PSpinVector<PScalar<RComplex<REAL32>>, Ns>>,
    SubLatticeSpinVectorF>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL32>, Nc>>>,
    SubLatticeColorMatrixF>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL32>, 3>>>,
    SubLatticeColorMatrixF3>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL32>, 2>>>,
    SubLatticeColorMatrixF2>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL32>, 1>>>,
    SubLatticeColorMatrixF1>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL32>, Nc>>>,
    SubLatticeColorVectorF>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL32>, 3>>>,
    SubLatticeColorVectorF3>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL32>, 2>>>,
    SubLatticeColorVectorF2>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL32>, 1>>>,
    SubLatticeColorVectorF1>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RComplex<REAL32>>>>,
    SubLatticeComplexF>);
static_assert(all_are<OSubLattice<PScalar<PScalar<RScalar<REAL32>>>>,
    SubLatticeRealF>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns>>,
    SubLatticeDiracFermionD3, SubLatticeFermionD3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns>>,
    SubLatticeDiracFermionD2, SubLatticeFermionD2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns>>,
    SubLatticeDiracFermionD1, SubLatticeFermionD1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, 1>>,
    SubLatticeStaggeredFermionD3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, 1>>,
    SubLatticeStaggeredFermionD2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, 1>>,
    SubLatticeStaggeredFermionD1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, Ns>>,
    SubLatticeDiracPropagatorD3, SubLatticePropagatorD3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, Ns>>,
    SubLatticeDiracPropagatorD2, SubLatticePropagatorD2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, Ns>>,
    SubLatticeDiracPropagatorD1, SubLatticePropagatorD1>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 3>, 1>>,
    SubLatticeStaggeredPropagatorD3>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 2>, 1>>,
    SubLatticeStaggeredPropagatorD2>);
static_assert(all_are<OSubLattice<PSpinMatrix<PColorMatrix<RComplex<REAL64>, 1>, 1>>,
    SubLatticeStaggeredPropagatorD1>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 3>, Ns / 2>>,
    SubLatticeHalfFermionD3>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 2>, Ns / 2>>,
    SubLatticeHalfFermionD2>);
static_assert(all_are<OSubLattice<PSpinVector<PColorVector<RComplex<REAL64>, 1>, Ns / 2>>,
    SubLatticeHalfFermionD1>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL64>, 3>>>,
    SubLatticeColorMatrixD3>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL64>, 2>>>,
    SubLatticeColorMatrixD2>);
static_assert(all_are<OSubLattice<PScalar<PColorMatrix<RComplex<REAL64>, 1>>>,
    SubLatticeColorMatrixD1>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL64>, 3>>>,
    SubLatticeColorVectorD3>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL64>, 2>>>,
    SubLatticeColorVectorD2>);
static_assert(all_are<OSubLattice<PScalar<PColorVector<RComplex<REAL64>, 1>>>,
    SubLatticeColorVectorD1>);
static_assert(all_are<OScalar<PScalar<PSeed<RScalar<INTEGER32>>>>, Seed>);
static_assert(all_are<OLattice<PScalar<PSeed<RScalar<INTEGER32>>>>, LatticeSeed>);
static_assert(all_are<OSubLattice<PScalar<PSeed<RScalar<INTEGER32>>>>, SubLatticeSeed>);
static_assert(all_are<Real, ILatticeReal> && all_are<Seed, ILatticeSeed>);
static_assert(all_are<RScalar<REAL>, IntReal> && all_are<RScalar<REAL32>, IntReal32> && all_are<RScalar<REAL64>, IntReal64, IntDouble> &&
              all_are<RScalar<INTEGER32>, IntInteger> && all_are<RScalar<LOGICAL>, IntBoolean>);

// Two quarks in one: spin and colour twice.
template <class W, int S> using Diquark = PSpinMatrix<PColorMatrix<RComplex<W>, Nc>, S>;
template <class W, int S> using Baryon = PSpinMatrix<PColorVector<Diquark<W, S>, Nc>, S>;
template <class W, int S> using Four = PSpinMatrix<PColorMatrix<Diquark<W, S>, Nc>, S>;
static_assert(all_are<OScalar<Baryon<REAL, Ns>>, Baryonblock> && all_are<OLattice<Baryon<REAL, Ns>>, LatticeBaryonblock> &&
              all_are<OScalar<Baryon<REAL, Ns / 2>>, HalfBaryonblock> && all_are<OLattice<Baryon<REAL, Ns / 2>>, LatticeHalfBaryonblock> &&
              all_are<OScalar<Four<REAL, Ns>>, Fourquark> && all_are<OLattice<Four<REAL, Ns>>, LatticeFourquark> &&
              all_are<OScalar<Four<REAL, Ns / 2>>, HalfFourquark> && all_are<OLattice<Four<REAL, Ns / 2>>, LatticeHalfFourquark>);
static_assert(all_are<OScalar<Baryon<REAL32, Ns>>, BaryonblockF> && all_are<OLattice<Baryon<REAL32, Ns>>, LatticeBaryonblockF> &&
              all_are<OScalar<Baryon<REAL32, Ns / 2>>, HalfBaryonblockF> && all_are<OLattice<Baryon<REAL32, Ns / 2>>, LatticeHalfBaryonblockF> &&
              all_are<OScalar<Four<REAL32, Ns>>, FourquarkF> && all_are<OLattice<Four<REAL32, Ns>>, LatticeFourquarkF> &&
              all_are<OScalar<Four<REAL32, Ns / 2>>, HalfFourquarkF> && all_are<OLattice<Four<REAL32, Ns / 2>>, LatticeHalfFourquarkF>);
static_assert(all_are<OScalar<Baryon<REAL64, Ns>>, BaryonblockD> && all_are<OLattice<Baryon<REAL64, Ns>>, LatticeBaryonblockD> &&
              all_are<OScalar<Baryon<REAL64, Ns / 2>>, HalfBaryonblockD> && all_are<OLattice<Baryon<REAL64, Ns / 2>>, LatticeHalfBaryonblockD> &&
              all_are<OScalar<Four<REAL64, Ns>>, FourquarkD> && all_are<OLattice<Four<REAL64, Ns>>, LatticeFourquarkD> &&
              all_are<OScalar<Four<REAL64, Ns / 2>>, HalfFourquarkD> && all_are<OLattice<Four<REAL64, Ns / 2>>, LatticeHalfFourquarkD>);
// clang-format on

}  // namespace

TEST_CASE("single and double precision are different types whatever the base precision is") {
  static_assert(!std::is_same_v<LatticeColorMatrixF3, LatticeColorMatrixD3>);
  static_assert(std::is_same_v<LatticeColorMatrix,
                               std::conditional_t<sizeof(REAL) == 4, LatticeColorMatrixF, LatticeColorMatrixD>>);
  static_assert(std::is_same_v<::REAL, QDP::REAL> && sizeof(::REAL32) == 4 && sizeof(::REAL64) == 8 &&
                sizeof(::INTEGER32) == 4 && std::is_same_v<::DOUBLE, double> && std::is_same_v<::LOGICAL, bool>);
  CHECK(BASE_PRECISION == 8 * sizeof(REAL));
}

TEST_CASE("elements of two quarks in one are kept and copied") {
  Baryonblock a;
  for (int s = 0; s < Ns; ++s)
    for (int c = 0; c < Nc; ++c) {
      auto& inner = a.elem().elem(s, 1).elem(c).elem(2, s).elem(0, c);
      inner.real() = s + 0.5;
      inner.imag() = c;
    }
  const Baryonblock b = a;
  a.elem().elem(1, 1).elem(0).elem(2, 1).elem(0, 0).real() = 7;
  CHECK(b.elem().elem(1, 1).elem(0).elem(2, 1).elem(0, 0).real() == REAL(1.5));
  CHECK(b.elem().elem(3, 1).elem(Nc - 1).elem(2, 3).elem(0, Nc - 1).imag() == REAL(Nc - 1));
  CHECK(sizeof(Fourquark) == sizeof(REAL) * 2 * Nc * Nc * Nc * Nc * Ns * Ns * Ns * Ns);
}

TEST_CASE("types made from types") {
  static_assert(std::is_same_v<WordType<LatticeFermionF>::Type_t, float> &&
                std::is_same_v<WordType<ColorMatrixD::Site>::Type_t, double>);
  static_assert(std::is_same_v<WordType<float>::Type_t, float> && std::is_same_v<WordType<bool>::Type_t, bool>);
  static_assert(std::is_same_v<WordType<SubLatticeInteger>::Type_t, int>);
  static_assert(std::is_same_v<SinglePrecType<LatticeFermionD>::Type_t, LatticeFermionF> &&
                std::is_same_v<DoublePrecType<LatticeFermionF>::Type_t, LatticeFermionD>);
  static_assert(std::is_same_v<SinglePrecType<REAL64>::Type_t, REAL32> &&
                std::is_same_v<DoublePrecType<REAL32>::Type_t, REAL64>);
  static_assert(std::is_same_v<SinglePrecType<multi1d<LatticeFermionD>>::Type_t, multi1d<LatticeFermionF>> &&
                std::is_same_v<DoublePrecType<multi1d<ColorMatrixF>>::Type_t, multi1d<ColorMatrixD>>);
  static_assert(
      std::is_same_v<SinglePrecType<SubLatticeColorMatrixD>::Type_t, SubLatticeColorMatrixF> &&
      std::is_same_v<DoublePrecType<PColorVector<RComplex<float>, 3>>::Type_t, PColorVector<RComplex<double>, 3>>);
  static_assert(
      std::is_same_v<SimpleScalar<float>::Type_t, RealF> && std::is_same_v<SimpleScalar<double>::Type_t, RealD> &&
      std::is_same_v<SimpleScalar<int>::Type_t, Integer> && std::is_same_v<SimpleScalar<bool>::Type_t, Boolean>);
  static_assert(std::is_same_v<InternalScalar<LatticePropagatorF>::Type_t, RealF> &&
                std::is_same_v<InternalScalar<PColorMatrix<RComplex<float>, 3>>::Type_t, PScalar<RScalar<float>>> &&
                std::is_same_v<InternalScalar<RComplex<double>>::Type_t, RScalar<double>>);
  static_assert(std::is_same_v<PrimitiveScalar<LatticePropagatorF>::Type_t, LatticeRealF> &&
                std::is_same_v<PrimitiveScalar<ComplexD>::Type_t, RealD>);
  static_assert(std::is_same_v<LatticeScalar<LatticePropagatorF>::Type_t, PropagatorF> &&
                std::is_same_v<LatticeScalar<ComplexD>::Type_t, ComplexD>);
  static_assert(std::is_same_v<RealScalar<LatticeComplexF>::Type_t, RealF> &&
                std::is_same_v<RealScalar<ComplexD>::Type_t, RealD>);
  static_assert(std::is_empty_v<NoComplex<LatticeReal>>);
  static_assert(std::is_same_v<QDPSubTypeTrait<LatticeFermion>::Type_t, SubLatticeFermion> &&
                std::is_same_v<QDPSubTypeTrait<Real>::Type_t, OSubScalar<Real::Site>>);
  CHECK(NumSpins<LatticeFermion>::value == Ns);
  CHECK(NumSpins<LatticeStaggeredFermion>::value == 1);
  CHECK(NumColors<ColorMatrixD3>::value == 3);
  CHECK(NumColors<SpinMatrix>::value == 1);
}
