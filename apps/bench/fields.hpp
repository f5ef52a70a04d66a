// Field types of the suites, by precision.
#pragma once

#include "qdp.h"

namespace bench {

struct SingleFields {
  using Fermion = QDP::LatticeFermionF;
  using ColorMatrix = QDP::LatticeColorMatrixF;
  using SpinMatrix = QDP::LatticeSpinMatrixF;
  using Real = QDP::RealF;
};

struct DoubleFields {
  using Fermion = QDP::LatticeFermionD;
  using ColorMatrix = QDP::LatticeColorMatrixD;
  using SpinMatrix = QDP::LatticeSpinMatrixD;
  using Real = QDP::RealD;
};

}  // namespace bench
