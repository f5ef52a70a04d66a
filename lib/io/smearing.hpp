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

/// What read_fat_links() reads, for --help.
inline constexpr const char* kFatLinksSchema =
    "one, [three], [five], [seven], [lepage]: weights, each for every path of its kind; [n_smear = 1], "
    "[unitarize = false: project to U(3) after each]";

/// Fat links (Fat7Weights), n_smear times.
LinkMaps read_fat_links(const Input& state);

}  // namespace qcd
