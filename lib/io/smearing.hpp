// Smearing of links as inputs describe it.
#pragma once

#include "lib/gauge/link_map.hpp"
#include "lib/io/input.hpp"

namespace qcd {

/// What read_stout() reads, for --help.
inline constexpr const char* kStoutSchema =
    "rho, n_smear, [orthog_dir: left out of the smearing] or [smear_in_this_dirP: Nd times true or false]";

/// n_smear steps of stout smearing with weight rho in all planes, or in those of some directions; a FermState or
/// GaugeState group as in Chroma's STOUT_FERM_STATE and STOUT_GAUGE_STATE.
LinkMaps read_stout(const Input& state);

}  // namespace qcd
