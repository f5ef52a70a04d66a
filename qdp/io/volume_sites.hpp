#pragma once
// Which sites go to which file where fields are written as several, as QIO divides them. Internal to this folder.

#include "qdp/io/scidac_volumes.hpp"

namespace QDP::io {

/// For the present lattice; one rank writes a single file in each format. MULTIFILE: a file of each rank, sites in the order of host indices; PARTFILE: one of each rank that does
/// input and output (Layout::getIONodeGrid, each rank if there is no such grid), sites of its block of ranks in lexicographic order. Files
/// have the numbers of these ranks.
Volumes volumes_of_ranks(VolumeFormat format);

}  // namespace QDP::io
