#include "jit/runtime/checks.hpp"

#include <cmath>
#include <cstring>
#include <vector>

#include "jit/support/error.hpp"

namespace jit {
namespace {

/// The domain as pairs of a group and the lanes in it.
template <class Body>
void for_each_group(const Domain& domain, Body&& body) {
  for (std::int64_t i = domain.begin; i < domain.end; ++i) {
    if (domain.listed)
      body(domain.groups[static_cast<std::size_t>(i)], domain.masks[static_cast<std::size_t>(i)]);
    else
      body(i, ~std::uint64_t{0});
  }
}

void check_table(const ir::Kernel& kernel, std::size_t slot, const std::vector<std::int32_t>& table, std::int64_t bound) {
  for (const std::int32_t entry : table)
    if (entry < 0 || entry >= bound)
      throw InternalError({.what = "shift " + std::to_string(slot) + " of kernel " + kernel.name,
                           .expected = "a table of entries in 0.." + std::to_string(bound - 1),
                           .got = std::to_string(entry)});
}

bool is_nan(ir::Type word, const char* at) {
  if (word == ir::Type::f32) {
    float x;
    std::memcpy(&x, at, sizeof x);
    return std::isnan(x);
  }
  double x;
  std::memcpy(&x, at, sizeof x);
  return std::isnan(x);
}

void check_field(const ir::Kernel& kernel, std::size_t leaf, Field& field, const Domain& domain) {
  const SiteOrder& order = field.order();
  const auto word_bytes = static_cast<std::size_t>(ir::bytes(field.word()));
  std::vector<char> site(word_bytes * static_cast<std::size_t>(field.components()));
  for_each_group(domain, [&](std::int64_t group, std::uint64_t mask) {
    for (int lane = 0; lane < order.lanes; ++lane) {
      const std::int32_t index = order.host_index[static_cast<std::size_t>(group * order.lanes + lane)];
      if (index < 0 || (mask >> lane & 1) == 0) continue;
      field.read_site(index, site.data());
      for (int c = 0; c < field.components(); ++c)
        if (is_nan(field.word(), site.data() + static_cast<std::size_t>(c) * word_bytes))
          throw UserError({.what = "not a number (NaN) in a result",
                           .where = describe_operand(kernel, leaf) + ", site " + std::to_string(index) + ", word " +
                                    std::to_string(c),
                           .what_now = "Found by TESSERA_CHECK=1 after the statement ran"});
    }
  });
}

}  // namespace

std::string describe_operand(const ir::Kernel& kernel, std::size_t leaf) {
  const ir::Leaf& operand = kernel.leaves[leaf];
  return "operand " + std::to_string(leaf) + " (" + ir::name(operand.word) + "[" + std::to_string(operand.components) +
         "]) of kernel " + kernel.name;
}

void check_operands(const ir::Kernel& kernel, const Launch& launch) {
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i)
    if (kernel.leaves[i].read && !launch.fields[i]->ever_written())
      throw UserError({.what = "read of a field that was never written",
                       .where = describe_operand(kernel, i),
                       .what_now = "Assign to the field first (found by TESSERA_CHECK=1)"});
  if (launch.fields.empty()) return;
  const SiteOrder& order = launch.fields[0]->order();
  for (std::size_t s = 1; s < kernel.slots.size(); ++s) {
    if (kernel.slots[s].gathered)
      check_table(kernel, s, launch.maps[s]->source, order.groups * order.lanes);
    else
      check_table(kernel, s, launch.maps[s]->group_source, 2 * order.groups);
  }
}

void check_results(const ir::Kernel& kernel, const Launch& launch) {
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i)
    if (kernel.leaves[i].written && ir::is_float(kernel.leaves[i].word))
      check_field(kernel, i, *launch.fields[i], *launch.domain);
}

}  // namespace jit
