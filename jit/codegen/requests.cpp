#include "jit/codegen/requests.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

#include "jit/ir/nodes.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/ir/trips.hpp"

namespace jit {
namespace {

constexpr std::int64_t kCacheLine = 64;

/// A field in a frame, and how it is walked: slot, frame, leaf, stride, leap, the number that moves it.
using Stream = std::tuple<int, int, int, int, int, int>;
/// By their numbers in a block: a word of each.
using Lines = std::map<std::int64_t, ir::Place>;
using Streams = std::map<Stream, Lines>;

Streams streams_of(const ir::Kernel& kernel, const std::vector<Step>& steps, auto&& wanted) {
  Streams streams;
  for (const Step& s : steps) {
    if (s.kind != Step::Kind::node) continue;
    const ir::Node& n = kernel.nodes[static_cast<std::size_t>(s.number)];
    const ir::Place& p = n.place;
    if (n.op != ir::Op::load || kernel.slots[static_cast<std::size_t>(p.slot)].gathered || !wanted(p)) continue;
    const ir::Leaf& leaf = kernel.leaves[static_cast<std::size_t>(p.leaf)];
    const std::int64_t bytes = std::int64_t{block_lanes(kernel, leaf)} * ir::bytes(leaf.word);
    streams[{p.slot, ir::frame_of(p), p.leaf, p.stride, p.leap, p.shifted_by}].emplace(p.component * bytes / kCacheLine,
                                                                                       p);
  }
  return streams;
}

std::vector<Request> spread(const Streams& streams, std::size_t steps, const std::vector<CacheLevel>& into) {
  // Line j of n in stream k of m has its place at (j + (k + 1/2) / m) / n of the whole.
  std::vector<std::pair<double, ir::Place>> wanted;
  double number = 0.5;
  for (const auto& [stream, lines] : streams) {
    double line = number++ / static_cast<double>(streams.size());
    for (const auto& [component, place] : lines) wanted.emplace_back(line++ / static_cast<double>(lines.size()), place);
  }
  std::ranges::stable_sort(wanted, {}, [](const auto& w) { return w.first; });
  std::vector<Request> result;
  for (const auto& [part, place] : wanted)
    result.push_back({static_cast<std::size_t>(part * static_cast<double>(steps)), place,
                      into[static_cast<std::size_t>(place.leaf)]});
  return result;
}

}  // namespace

Requests requests(const ir::Kernel& kernel, const CodeOptions& options, const Schedule& order) {
  if (options.prefetch <= 0 || kernel.listed) return {};
  std::vector<CacheLevel> into(kernel.leaves.size(), options.passing ? CacheLevel::nearest : CacheLevel::second);
  if (options.passing) {
    const std::vector<bool> once = ir::once_touched(kernel);
    for (std::size_t leaf = 0; leaf < into.size(); ++leaf)
      if (once[leaf]) into[leaf] = CacheLevel::passed;
  }
  const auto spread_over = [&](const std::vector<Step>& steps, auto&& wanted) {
    return spread(streams_of(kernel, steps, wanted), steps.size(), into);
  };
  const auto all = [](const ir::Place&) { return true; };
  if (ir::runs(kernel) == 1) return {.once = {}, .each = spread_over(order.each, all), .repeated = {}};
  const auto repeated = [](const ir::Place& p) { return !ir::walks(p); };
  return {.once = spread_over(order.once, all),
          .each = spread_over(order.each, ir::walks),
          .repeated = spread_over(order.each, repeated)};
}

}  // namespace jit
