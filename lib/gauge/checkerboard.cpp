#include "lib/gauge/checkerboard.hpp"

#include "lib/error.hpp"

#include "qdp.h"

namespace qcd {

using namespace QDP;

std::string lattice_text(const std::vector<int>& extents) {
  std::string text;
  for (const int extent : extents) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

CheckerboardFault checkerboard_fault(const std::vector<int>& extents) {
  std::string odd;
  for (std::size_t mu = 0; mu < extents.size(); ++mu)
    if (extents[mu] % 2 != 0) odd += (odd.empty() ? "" : ", ") + std::to_string(mu);
  if (odd.empty()) return {};
  return {"even extents (across the boundary of an odd one neighbours have the same parity)",
          lattice_text(extents) + ", odd in direction " + odd};
}

void require_checkerboard(const std::string& what, const std::string& instead) {
  std::vector<int> extents;
  for (int mu = 0; mu < Nd; ++mu) extents.push_back(Layout::lattSize()[mu]);
  if (const CheckerboardFault fault = checkerboard_fault(extents))
    throw ShapeError(what + ": expected " + fault.expected + ", got " + fault.got + ". Use even extents" +
                     (instead.empty() ? "" : " or " + instead));
}

}  // namespace qcd
