// What the ranks of a job on one machine have together.
#pragma once

namespace QDP {

/// Of a lattice, what lies on ranks of this machine: 1 for a job on one machine. Collective.
double share_of_machine();

}  // namespace QDP
