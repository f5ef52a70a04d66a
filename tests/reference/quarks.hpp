// Quark operators as dense matrices on all sites, from the formulas of the papers and plain arrays of links.
// A component is 12 site + 3 spin + colour, of staggered quarks 3 site + colour.
#pragma once

#include "tests/reference/links.hpp"

namespace reference {

/// Wilson's operator with a clover term and a twisted mass:
///   m + sum_mu f_mu - sum_mu f_mu/2 [(1 - g_mu) V_mu(x) delta(x + mu) + (1 + g_mu) V_mu(x - mu)^+ delta(x - mu)]
///   - 1/2 sum_(mu < nu) c_mu,nu g_mu g_nu F_mu,nu + i mu g_5,   F = 1/8 sum over the four leaves of (W - W^+).
/// Sheikholeslami and Wohlert, Nucl. Phys. B259 (1985) 572; Luescher et al., Nucl. Phys. B478 (1996) 365, eq. (2.10).
struct WilsonQuark {
  double mass = 0;
  std::array<double, 4> f = {1, 1, 1, 1};
  std::array<std::array<double, 4>, 4> clover = {};  ///< c_mu,nu, mu < nu
  double twist = 0;
};
Dense wilson_matrix(const Links& v, const WilsonQuark& quark);
/// i g_5 on all sites.
Dense i_gamma_5(int sites);

/// m + 1/2 sum_mu eta_mu(x) [V_mu(x) delta(x + mu) - V_mu(x - mu)^+ delta(x - mu)],  eta_mu = (-1)^(x_0 + ... + x_(mu-1)).
/// Kogut and Susskind, Phys. Rev. D11 (1975) 395.
Dense staggered_matrix(const Links& v, double mass);

/// Numbers of the components on the sites of one parity.
std::vector<int> components(const Links& v, bool even, int per_site);

/// D_oo - D_oe D_ee^-1 D_eo, and D_oo^-1 times that.
Dense schur(const Dense& d, const std::vector<int>& even, const std::vector<int>& odd);
Dense symmetric_schur(const Dense& d, const std::vector<int>& even, const std::vector<int>& odd);

}  // namespace reference
