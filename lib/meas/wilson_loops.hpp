// Wilson loops R x T: a line of R steps in space, closed by lines of T links in time.
//
// A step in space is one link, or for directions off the axes the average over short paths to the same site, for
// example (+x +y) and (+y +x): the step's paths are data (loop.hpp), so planar and off-axis loops are one function.
#pragma once

#include "lib/gauge/loop.hpp"

#include <vector>

namespace qcd {

/// W(R, T) = (1/(V Nc)) sum_x Re tr[ L_R(x) T_T(x + R d) L_R(x + T t)^+ T_T(x)^+ ] for R = 1..r_max, T = 1..t_max, with
/// L_R the product of R steps and T_T that of T links along t_dir. All paths of `step` lead to the same site; their
/// weights are as given. Result (R-1, T-1). Loops longer than the lattice wind around it.
/// Throws ShapeError for an empty step, for paths to different sites, and for steps along t_dir.
QDP::multi2d<QDP::Double> wilson_loops(const GaugeField& u, const std::vector<WeightedPath>& step, int t_dir, int r_max,
                                       int t_max);

/// Planar loops, R links along mu and T along nu.
QDP::multi2d<QDP::Double> planar_wilson_loops(const GaugeField& u, int mu, int nu, int r_max, int t_max);

/// The average over all orders of the given steps, each order once; off-axis displacements.
std::vector<WeightedPath> averaged_orders(std::vector<Step> steps);

}  // namespace qcd
