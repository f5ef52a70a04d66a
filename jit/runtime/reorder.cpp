#include "jit/runtime/reorder.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "jit/ir/builder.hpp"
#include "jit/memory/relayout.hpp"

namespace jit {
namespace {

constexpr int kLongestTrip = 24;

}  // namespace

int components_per_trip(int components) {
  int chunk = std::min(components, kLongestTrip);
  while (components % chunk != 0) --chunk;
  return chunk;
}

ir::Kernel reorder_kernel(int lanes, ir::Type word, int components, bool to_device_order) {
  const int chunk = components_per_trip(components);
  ir::Kernel kernel;
  kernel.name = to_device_order ? "to_device_order" : "to_host_order";
  kernel.lanes = lanes;
  kernel.trips = components / chunk;
  kernel.leaves = {
      {.word = word,
       .components = static_cast<std::int16_t>(components),
       .written = true,
       .host_order = !to_device_order},
      {.word = word, .components = static_cast<std::int16_t>(components), .read = true, .host_order = to_device_order}};
  kernel.slots.push_back({.parent = 0, .gathered = true});
  ir::Builder builder(kernel);
  const auto stride = static_cast<std::int16_t>(kernel.trips > 1 ? chunk : 0);
  for (std::int16_t c = 0; c < chunk; ++c)
    kernel.stores.push_back(
        {.place = {.leaf = 0, .component = c, .stride = stride},
         .value = builder.permute(1, builder.load({.leaf = 1, .slot = 1, .component = c, .stride = stride}))});
  builder.finish();
  return kernel;
}

void reorder_on_device(Device& device, std::function<Compiler&()> compiler) {
  struct Code {
    ir::Kernel kernel;
    KernelCode code;
  };
  using Key = std::tuple<int, ir::Type, int, bool>;
  set_device_reorder(
      [&device, compiler = std::move(compiler), known = std::map<Key, Code>()](const DeviceReordering& r) mutable {
        if (&r.device != &device) return false;
        // With padding, positions and host indices are not the same number: small lattices, which the host re-orders at once.
        if (r.order.sites != r.order.groups * r.order.lanes) return false;
        const Key key{r.order.lanes, r.word, r.components, r.to_device_order};
        auto found = known.find(key);
        if (found == known.end()) {
          Code made{reorder_kernel(r.order.lanes, r.word, r.components, r.to_device_order), nullptr};
          made.code = compiler().compile(made.kernel, {}).code;
          found = known.emplace(key, std::move(made)).first;
        }
        void* const fields[] = {r.to_device_order ? r.device_order : r.host_order,
                                r.to_device_order ? r.host_order : r.device_order};
        const std::int32_t* const tables[] = {
            nullptr, r.to_device_order ? r.order.host_index_on_device() : r.order.position_on_device()};
        DeviceLaunch launch;
        launch.kernel = &found->second.kernel;
        launch.code = found->second.code;
        launch.fields = fields;
        launch.tables = tables;
        launch.end = r.order.sites / r.order.lanes;
        launch.middle = launch.end / 2;
        launch.block = kServiceBlock;
        return device.launch(launch);
      });
}

}  // namespace jit
