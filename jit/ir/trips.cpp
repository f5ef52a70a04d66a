#include "jit/ir/trips.hpp"

#include "jit/ir/nodes.hpp"

namespace jit::ir {
namespace {

constexpr int kMostHeld = 64;         // words of 4 bytes that may live through all trips
constexpr double kLittleWork = 0.25;  // of a trip's: may be repeated in each

double weight(const Node& n) {
  switch (n.op) {
    case Op::constant:
    case Op::argument:
      return 0;
    case Op::div:
    case Op::rem:
    case Op::sqrt:
      return 4;
    default:
      return is_elementary(n.op) ? 20 : 1;
  }
}

}  // namespace

std::vector<bool> computed_in_each_trip(const Kernel& kernel) {
  const std::size_t count = kernel.nodes.size();
  if (runs(kernel) == 1) return std::vector<bool>(count, true);
  // Loads that walk vary from trip to trip, and so do loads of what earlier trips may have written.
  std::vector<bool> varies(count, false), scalar(count, false);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& n = kernel.nodes[i];
    if (n.op == Op::load) varies[i] = walks(n.place) || kernel.leaves[std::size_t(n.place.leaf)].written;
    scalar[i] = n.op != Op::load;
    for (Value v : {n.a, n.b, n.c}) {
      if (v == kNone) continue;
      if (varies[std::size_t(v)]) varies[i] = true;
      if (!scalar[std::size_t(v)]) scalar[i] = false;
    }
  }
  const std::vector<bool> live = live_nodes(kernel);
  std::vector<bool> held(count, false);
  double once = 0, each = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!live[i] || scalar[i]) continue;
    const Node& n = kernel.nodes[i];
    if (varies[i])
      each += weight(n);
    else if (n.op != Op::load)
      once += weight(n);
    if (varies[i])
      for (Value v : {n.a, n.b, n.c})
        if (v != kNone && !varies[std::size_t(v)] && !scalar[std::size_t(v)]) held[std::size_t(v)] = true;
  }
  int held_words = 0;
  for (std::size_t i = 0; i < count; ++i)
    if (held[i]) held_words += bytes(kernel.nodes[i].type) == 8 ? 2 : 1;
  if (held_words > kMostHeld && once <= kLittleWork * each)
    for (std::size_t i = 0; i < count; ++i)
      if (!scalar[i]) varies[i] = true;
  return varies;
}

double work(const Kernel& kernel) {
  const std::vector<bool> each = computed_in_each_trip(kernel), live = live_nodes(kernel);
  double once = 0, repeated = double(kernel.stores.size());
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i)
    if (live[i]) (each[i] ? repeated : once) += weight(kernel.nodes[i]);
  return once + repeated * runs(kernel);
}

}  // namespace jit::ir
