// SU(2) subgroups of SU(Nc), for updates that change one subgroup of a link at a time.
//
// A quaternion a = (alpha, beta), |alpha|^2 + |beta|^2 = 1, is the matrix [ alpha  beta ; -beta^*  alpha^* ] in two
// rows and columns of SU(Nc). Of Re tr(a U W) the part that depends on a is 2 k Re (a q)_alpha, where
//   k q = (m_ii + m_jj^*, m_ij - m_ji^*)/2,  |q| = 1,   m = U W,
// and the product is (a b)_alpha = a_alpha b_alpha - a_beta b_beta^*, (a b)_beta = a_alpha b_beta + a_beta b_alpha^*.
// Source: Cabibbo and Marinari, Phys. Lett. 119B (1982) 387.
#pragma once

#include "lib/gauge/gauge_field.hpp"

namespace qcd {

/// Nc(Nc-1)/2. The subgroups are numbered by growing distance between their rows: for Nc = 3 (0,1) (1,2) (0,2).
constexpr int su2_subgroups() { return QDP::Nc * (QDP::Nc - 1) / 2; }

struct Quaternion {
  QDP::LatticeComplex alpha, beta;
};

/// k and q of m = u w for a subgroup, on `sites`; q = 1 where k is too small to tell.
void extract_quaternion(QDP::LatticeReal& k, Quaternion& q, const QDP::LatticeColorMatrix& u,
                        const QDP::LatticeColorMatrix& w, int subgroup, const QDP::Subset& sites);

/// u <- a u for a subgroup, on those of `sites` where the mask holds.
void rotate_rows(QDP::LatticeColorMatrix& u, const Quaternion& a, int subgroup, const QDP::LatticeBoolean& mask,
                 const QDP::Subset& sites);

/// u <- q^-2 u with the q of m = u w, on `sites`: the microcanonical change, which keeps Re tr(u w) (Creutz, Phys. Rev.
/// D36 (1987) 515).
void overrelax(QDP::LatticeColorMatrix& u, const QDP::LatticeColorMatrix& w, int subgroup, const QDP::Subset& sites);

}  // namespace qcd
