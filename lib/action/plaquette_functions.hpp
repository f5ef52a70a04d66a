// Functions of plaquette traces that gauge actions are made of, with their gradients (trace_action.hpp).
//
// Throughout T = tr U_p / Nc, so T = 1 for U = 1, and s = 1 - T.
#pragma once

#include "lib/gauge/trace_action.hpp"

namespace qcd {

/// -beta_F (Re T - 1) - beta_A (|T|^2 - 1): fundamental and adjoint plaquette.
TraceFunction adjoint_function(double beta_f, double beta_a);

/// -beta_F r - (1/2) beta_A r^2,  r = Re T.
TraceFunction two_plaquette_function(double beta_f, double beta_a);

/// beta r + gamma r^q,  r = 1 - Re T; a real power q >= 1.
TraceFunction constrained_function(double beta, double gamma, double q);

/// Re[ beta s + gamma s^q ],  q >= 1.
TraceFunction power_function(double beta, double gamma, int q);

/// beta (1 - Re T) + gamma (1 - |T|^2)^(q/2); an even power q >= 2.
TraceFunction adjoint_power_function(double beta, double gamma, int q);

/// adjoint_function plus the part of the sextet character that is the square of a trace:
/// -(beta_S/2) [ Nc/(Nc+1) Re T^2 - 1 ]. The other part, -(beta_S/2) Re tr U_p^2 / (Nc (Nc+1)), is a loop.
TraceFunction character_function(double beta_f, double beta_a, double beta_s);

/// -(coefficient/2) r(x) r(x + dir),  r = Re T: plaquettes next to each other.
TraceFunction neighbour_function(double coefficient, int dir);

/// `function`, times 1/2 on the first and the last plane of direction `decay_dir`: plaquettes within the boundaries of
/// the Schroedinger functional.
TraceFunction half_on_boundary(TraceFunction function, int decay_dir);

}  // namespace qcd
