// Whether the sites of a lattice divide into even and odd ones such that every hop changes parity. Across the boundary
// of an odd extent the neighbours x = L - 1 and x = 0 are of one parity: what lives on even or odd sites alone, or has
// signs that alternate, is then not what it claims to be.
#pragma once

#include <string>
#include <vector>

namespace qcd {

/// "8x8x8x16"
std::string lattice_text(const std::vector<int>& extents);

/// Nothing if every hop changes parity on a lattice of these extents; else what is expected of them, and what they are.
struct CheckerboardFault {
  std::string expected, got;
  explicit operator bool() const { return !got.empty(); }
};
CheckerboardFault checkerboard_fault(const std::vector<int>& extents);

/// Throws ShapeError if there is such a fault in the layout. `what` needs the checkerboard; `instead` is what else would do.
void require_checkerboard(const std::string& what, const std::string& instead = "");

}  // namespace qcd
