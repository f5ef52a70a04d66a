#include "jit/runtime/checks.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/runtime/kernel_table.hpp"
#include "jit/runtime/reorder.hpp"
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

void check_table(const ir::Kernel& kernel, std::size_t slot, const std::vector<std::int32_t>& table,
                 std::int64_t bound) {
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

/// [leaves] whether floating-point arithmetic made a word of it. A word that was only moved was looked at when it was
/// made, or nobody set it: a copy of all sites of a field of which one checkerboard is used is no error.
std::vector<bool> made_by_arithmetic(const ir::Kernel& kernel) {
  std::vector<bool> moved(kernel.nodes.size()), made(kernel.leaves.size());
  for (std::size_t i = 0; i < kernel.nodes.size(); ++i) {
    const ir::Node& n = kernel.nodes[i];
    const auto operand = [&](ir::Value v) { return bool(moved[static_cast<std::size_t>(v)]); };
    switch (n.op) {
      case ir::Op::constant:
      case ir::Op::argument:
      case ir::Op::load:
        moved[i] = true;
        break;
      case ir::Op::permute:
      case ir::Op::neg:
      case ir::Op::convert:
      case ir::Op::bitcast:
        moved[i] = operand(n.a);
        break;
      case ir::Op::select:
        moved[i] = operand(n.b) && operand(n.c);
        break;
      default:
        moved[i] = !ir::is_float(n.type);
    }
  }
  for (const ir::Store& store : kernel.stores) {
    const auto leaf = static_cast<std::size_t>(store.place.leaf);
    if (ir::is_float(kernel.leaves[leaf].word) && !moved[static_cast<std::size_t>(store.value)]) made[leaf] = true;
  }
  return made;
}

/// The first NaN in the order of the domain, as an error; returns if there is none.
void name_nan(const ir::Kernel& kernel, std::size_t leaf, Field& field, const Domain& domain) {
  const SiteOrder& order = field.order();
  const auto word_bytes = static_cast<std::size_t>(ir::bytes(field.word()));
  const auto components = static_cast<std::size_t>(field.components());
  const auto* words = static_cast<const char*>(field.host_words());
  for_each_group(domain, [&](std::int64_t group, std::uint64_t mask) {
    for (int lane = 0; lane < order.lanes; ++lane) {
      const std::int32_t site = order.host_index[static_cast<std::size_t>(group * order.lanes + lane)];
      if (site < 0 || (mask >> lane & 1) == 0) continue;
      for (std::size_t c = 0; c < components; ++c)
        if (is_nan(field.word(), words + (static_cast<std::size_t>(site) * components + c) * word_bytes))
          throw UserError({.what = "not a number (NaN) in a result",
                           .where = describe_operand(kernel, leaf) + ", site " + std::to_string(site) + ", word " +
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

namespace {

/// Whether a part before this one writes the field.
bool written_before(const Launch& launch, const Field* field, const Plan& plan) {
  for (const Launch* part = plan.parts.data(); part != &launch; ++part)
    for (std::size_t i = 0; i < part->kernel->ir.leaves.size(); ++i)
      if (part->kernel->ir.leaves[i].written && part->fields[i] == field) return true;
  return false;
}

/// [slots] how many groups the table of a slot may point to: those of the fields that are read there, which need not be
/// on the lattice of the kernel, and those for which the tables behind it have entries.
std::vector<std::int64_t> groups_reached(const Launch& launch) {
  const ir::Kernel& kernel = launch.kernel->ir;
  std::vector<std::int64_t> groups(kernel.slots.size(), std::numeric_limits<std::int32_t>::max());
  const auto bound = [&](std::int16_t slot, std::int64_t by) {
    std::int64_t& own = groups[static_cast<std::size_t>(slot)];
    own = std::min(own, by);
  };
  for (const ir::Node& n : kernel.nodes)
    if (n.op == ir::Op::load)
      bound(n.place.slot, launch.fields[static_cast<std::size_t>(n.place.leaf)]->order().groups);
  for (std::size_t s = 1; s < kernel.slots.size(); ++s) {
    const auto entries = [](const std::vector<std::int32_t>& table) {
      return static_cast<std::int64_t>(table.size()) - kTablePadding;
    };
    bound(kernel.slots[s].parent, kernel.slots[s].gathered ? entries(launch.maps[s]->sources()) / kernel.lanes
                                                           : entries(launch.maps[s]->group_sources()));
  }
  return groups;
}

/// Places that an argument shifts stay within the site.
void check_shifted(const Launch& launch, const ir::Place& p) {
  if (p.shifted_by < 0) return;
  const ir::Kernel& kernel = launch.kernel->ir;
  const int components = kernel.leaves[static_cast<std::size_t>(p.leaf)].components;
  const auto by = static_cast<std::int32_t>(launch.scalars[static_cast<std::size_t>(p.shifted_by)]);
  if (by < 0 || p.component + by >= components)
    throw InternalError({.what = describe_operand(kernel, static_cast<std::size_t>(p.leaf)),
                         .expected = "words below " + std::to_string(components),
                         .got = std::to_string(p.component) + " shifted by " + std::to_string(by)});
}

void check_operands(const Launch& launch, const Plan& plan) {
  const ir::Kernel& kernel = launch.kernel->ir;
  for (const ir::Node& n : kernel.nodes)
    if (n.op == ir::Op::load) check_shifted(launch, n.place);
  for (const ir::Store& s : kernel.stores) check_shifted(launch, s.place);
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i)
    if (kernel.leaves[i].read && !launch.fields[i]->ever_written() && !written_before(launch, launch.fields[i], plan))
      throw UserError({.what = "read of a field that was never written",
                       .where = describe_operand(kernel, i),
                       .what_now = "Assign to the field first (found by TESSERA_CHECK=1)"});
  const std::vector<std::int64_t> groups = groups_reached(launch);
  for (std::size_t s = 1; s < kernel.slots.size(); ++s) {
    if (kernel.slots[s].gathered)
      check_table(kernel, s, launch.maps[s]->sources(), groups[s] * kernel.lanes);
    else
      check_table(kernel, s, launch.maps[s]->group_sources(), 2 * groups[s]);
  }
}

}  // namespace

void check_operands(const Plan& plan) {
  for (const Launch& launch : plan.parts) check_operands(launch, plan);
}

ir::Kernel nan_kernel(int lanes, ir::Type word, int components, bool listed) {
  const int chunk = components_per_trip(components);
  ir::Kernel kernel;
  kernel.name = "look_for_nan";
  kernel.lanes = lanes;
  kernel.listed = listed;
  kernel.trips = components / chunk;
  kernel.leaves = {{.word = word, .components = static_cast<std::int16_t>(components), .read = true}};
  ir::Builder builder(kernel);
  const auto stride = static_cast<std::int16_t>(kernel.trips > 1 ? chunk : 0);
  ir::Value found = ir::kNone;
  for (std::int16_t c = 0; c < chunk; ++c) {
    const ir::Value x = builder.load({.leaf = 0, .component = c, .stride = stride});
    const ir::Value nan = builder.binary(ir::Op::ne, x, x);
    found = c == 0 ? nan : builder.binary(ir::Op::or_, found, nan);
  }
  kernel.reductions = {{.kind = ir::Reduction::Kind::max, .value = builder.convert(ir::Type::f64, found)}};
  builder.finish();
  return kernel;
}

bool ResultCheck::may_hold_nan(Field& field, const Domain& domain) {
  if (domain.begin == domain.end) return false;
  const SiteOrder& order = field.order();
  Code& made = known_[{order.lanes, field.word(), field.components(), domain.listed}];
  if (made.code == nullptr) {
    made.kernel = nan_kernel(order.lanes, field.word(), field.components(), domain.listed);
    made.code = compiler_().compile(made.kernel, {.check = true}).code;
  }
  void* const fields[] = {const_cast<void*>(field.device_read())};
  const std::int32_t* const tables[] = {nullptr};
  ReductionValue found;
  DeviceLaunch launch;
  launch.kernel = &made.kernel;
  launch.code = made.code;
  launch.fields = fields;
  launch.tables = tables;
  launch.groups = domain.listed ? domain.groups_on_device() : nullptr;
  launch.masks = domain.listed ? domain.masks_on_device() : nullptr;
  launch.begin = domain.begin;
  launch.end = domain.end;
  launch.middle = domain.listed ? domain.end : order.first_odd;
  launch.block = kServiceBlock;
  launch.results = &found;
  return !device_.launch(launch) || found.value() > 0;
}

void ResultCheck::operator()(const ir::Kernel& kernel, const Launch& launch) {
  const std::vector<bool> made = made_by_arithmetic(kernel);
  for (std::size_t i = 0; i < kernel.leaves.size(); ++i)
    if (made[i] && may_hold_nan(*launch.fields[i], *launch.domain))
      name_nan(kernel, i, *launch.fields[i], *launch.domain);
}

}  // namespace jit
