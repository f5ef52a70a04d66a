// Where word (site, component) of a field lies in device order: [block][component][lane].
//
// Sites come in groups of W = Kernel::lanes. A block is as many lanes as fill one register of 4-byte words, or half a
// group of 8-byte words; so a group is one block of small words, or two consecutive blocks of large ones. The order of
// sites is the same for every word, and loads of whole blocks are aligned and full width (design D2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "jit/ir/ir.hpp"

namespace jit {

/// Lanes per block of words of this type.
constexpr int block_lanes(int group_lanes, ir::Type word) {
  return ir::bytes(word) == 8 && group_lanes >= 2 ? group_lanes / 2 : group_lanes;
}

/// Lanes per block of a kernel's operand.
inline int block_lanes(const ir::Kernel& kernel, const ir::Leaf& leaf) {
  return leaf.host_order ? 1 : block_lanes(kernel.lanes, leaf.word);
}

/// Sites that a thread takes where code for `sites` of them is asked for (a power of two): they are neighbours in one
/// group, and so are those that their values come from; lists are of single sites.
inline int sites_per_thread(const ir::Kernel& kernel, int sites) {
  if (kernel.listed) return 1;
  sites = std::min(sites, kernel.lanes);
  while (std::ranges::any_of(kernel.slots, [&](const ir::Slot& slot) { return slot.exchange.straddles(sites); }))
    sites /= 2;
  return sites;
}

/// Number of the word (position, component), counted in words from the start of the field; position = group * W + lane.
constexpr std::int64_t word_index(int group_lanes, ir::Type word, int components, std::int64_t position,
                                  int component) {
  const int lanes = block_lanes(group_lanes, word);
  return (position / lanes * components + component) * lanes + position % lanes;
}

}  // namespace jit
