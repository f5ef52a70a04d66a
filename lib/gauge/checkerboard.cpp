#include "lib/gauge/checkerboard.hpp"

#include "lib/error.hpp"

#include "qdp.h"

namespace qcd {

using namespace QDP;

CheckerboardFault checkerboard_fault(const std::vector<int>& extents) {
  std::string lattice, odd;
  for (std::size_t mu = 0; mu < extents.size(); ++mu) {
    lattice += (mu > 0 ? "x" : "") + std::to_string(extents[mu]);
    if (extents[mu] % 2 != 0) odd += (odd.empty() ? "" : ", ") + std::to_string(mu);
  }
  if (odd.empty()) return {};
  return {"even extents (across the boundary of an odd one neighbours have the same parity)",
          lattice + ", odd in direction " + odd};
}

void require_checkerboard(const std::string& what, const std::string& instead) {
  std::vector<int> extents;
  for (int mu = 0; mu < Nd; ++mu) extents.push_back(Layout::lattSize()[mu]);
  if (const CheckerboardFault fault = checkerboard_fault(extents))
    throw ShapeError(what + ": expected " + fault.expected + ", got " + fault.got + ". Use even extents" +
                     (instead.empty() ? "" : " or " + instead));
}

}  // namespace qcd
