#include "jit/tune/space.hpp"

#include <algorithm>

namespace jit {
namespace {

constexpr std::size_t kMostBounds = 2;  // on registers
// Steps ahead whose operands the nearest cache holds besides the present ones.
constexpr int kMostPassing = 2;

std::string list(const std::vector<int>& numbers) {
  std::string words;
  for (const int number : numbers) words += " " + std::to_string(number);
  return words;
}

/// One alternative per value of a knob of the code.
template <class Knob>
Round code_round(std::vector<int> values, Knob knob) {
  return {.alternatives = [values = std::move(values), knob](const Configuration& best) {
    std::vector<Configuration> alternatives;
    for (const int value : values) {
      alternatives.push_back(best);
      alternatives.back().code.*knob = value;
    }
    return alternatives;
  }};
}

std::vector<Configuration> with_blocks(const Configuration& best, const std::vector<int>& blocks) {
  std::vector<Configuration> alternatives(blocks.size(), best);
  for (std::size_t i = 0; i < blocks.size(); ++i) alternatives[i].block = blocks[i];
  return alternatives;
}

/// All at once, or one after the other.
std::vector<std::vector<int>> in_turn(const std::vector<int>& all, bool one_by_one) {
  std::vector<std::vector<int>> groups;
  for (const int number : all) {
    if (groups.empty() || one_by_one) groups.emplace_back();
    groups.back().push_back(number);
  }
  return groups;
}

std::vector<int> beside_best(const Configuration& best, const std::vector<int>& blocks) {
  std::vector<int> near;
  for (const int block : blocks)
    if (block == 2 * best.block || 2 * block == best.block) near.push_back(block);
  return near;
}

}  // namespace

bool TuningSpace::settled() const {
  return blocks.size() < 2 && prefetch.empty() && sites.empty() && !try_streaming && !registers && !try_optimised;
}

std::vector<Round> TuningSpace::rounds() const {
  std::vector<Round> rounds;
  if (!blocks.empty())
    rounds.push_back({.alternatives = [all = blocks](const Configuration& best) { return with_blocks(best, all); },
                      .compiles = false,
                      .by_block = true});
  if (!prefetch.empty())
    rounds.push_back({.alternatives = [distances = prefetch, with_passing = try_passing](Configuration other) {
      std::vector<Configuration> alternatives;
      for (const bool passing : {false, true})
        for (const int distance : distances) {
          if (passing && (!with_passing || distance == 0 || distance > kMostPassing)) continue;
          other.code.prefetch = distance, other.code.passing = passing;
          alternatives.push_back(other);
        }
      return alternatives;
    }});
  // A thread with more sites takes more registers: the block with half the threads is tried as well.
  const auto with_sites = [blocks = blocks](const Configuration& best, const std::vector<int>& numbers) {
    std::vector<Configuration> alternatives;
    for (const int number : numbers)
      for (const int block : {best.block, best.block / 2}) {
        if (std::find(blocks.begin(), blocks.end(), block) == blocks.end()) continue;
        alternatives.push_back(best);
        alternatives.back().code.sites = number;
        alternatives.back().block = block;
      }
    return alternatives;
  };
  int before = 1;  // what a group goes on from
  for (const std::vector<int>& group : in_turn(sites, thrifty)) {
    rounds.push_back({.alternatives = [=](const Configuration& best) {
      return best.code.sites == before ? with_sites(best, group) : std::vector<Configuration>{};
    }});
    before = group.back();
  }
  if (try_streaming)
    rounds.push_back({.alternatives = [](Configuration other) {
      other.code.streaming = !other.code.streaming;
      return std::vector<Configuration>{other};
    }});
  const auto with_bounds = [bounds = registers](const Configuration& best, std::size_t most) {
    std::vector<int> chosen;
    for (const int bound : bounds(best))
      if (chosen.size() < most) chosen.push_back(bound);
    return code_round(chosen, &CodeOptions::registers).alternatives(best);
  };
  const std::size_t at_once = thrifty ? 1 : kMostBounds;
  for (std::size_t tried = 0; registers && tried < kMostBounds; tried += at_once)
    rounds.push_back({.alternatives = [=](const Configuration& best) {
      return tried == 0 || best.code.registers != 0 ? with_bounds(best, at_once) : std::vector<Configuration>{};
    }});
  if (try_optimised)
    rounds.push_back({.alternatives = [](Configuration other) {
      other.code.optimised = true;
      return std::vector<Configuration>{other};
    }});
  const auto beside = [all = blocks, plain = start.code](const Configuration& best) {
    return best.code == plain ? std::vector<Configuration>{} : with_blocks(best, beside_best(best, all));
  };
  if (blocks.size() > 1 && rounds.size() > 1)
    rounds.push_back({.alternatives = beside, .compiles = false, .by_block = true});
  return rounds;
}

std::string TuningSpace::text() const {
  TuningProgress none{.best = start};
  return "start\n" + jit::text(none) + "check " + std::to_string(start.code.check) + "\nblocks" + list(blocks) +
         "\nprefetch" + list(prefetch) + "\npassing " + std::to_string(try_passing) + "\nsites" + list(sites) +
         "\nstreaming " + std::to_string(try_streaming) + "\nregisters " + std::to_string(registers != nullptr) +
         "\noptimised " + std::to_string(try_optimised) + "\n";
}

}  // namespace jit
