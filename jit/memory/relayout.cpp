#include "jit/memory/relayout.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include "jit/ir/site_layout.hpp"

namespace jit {
namespace {

constexpr int kWidestBlock = 64;

// One block: L site structures against L lanes of each component. L = 0: the number of lanes is known at run time only.
template <class Word, int L>
void gather_block(const Word* const* site, int lanes, int components, Word* block) {
  const int width = L > 0 ? L : lanes;
  for (int c = 0; c < components; ++c)
    for (int l = 0; l < width; ++l) block[c * width + l] = site[l][c];
}

template <class Word, int L>
void scatter_block(const Word* block, int lanes, int components, Word* const* site) {
  const int width = L > 0 ? L : lanes;
  for (int c = 0; c < components; ++c)
    for (int l = 0; l < width; ++l) site[l][c] = block[c * width + l];
}

/// A contiguous piece of the order, in blocks. The padding's sites all are `spare`.
template <class Word, int L, bool to_device>
void move_blocks(const SiteOrder& order, int lanes, int components, std::int64_t begin, std::int64_t end, Word* host,
                 Word* image, Word* spare) {
  const int width = L > 0 ? L : lanes;
  Word* site[kWidestBlock];
  for (std::int64_t b = begin; b < end; ++b) {
    const std::int32_t* index = order.host_index.data() + b * width;
    for (int l = 0; l < width; ++l)
      site[l] = index[l] < 0 ? spare : host + static_cast<std::int64_t>(index[l]) * components;
    Word* block = image + b * width * components;
    if constexpr (to_device)
      gather_block<Word, L>(site, lanes, components, block);
    else
      scatter_block<Word, L>(block, lanes, components, site);
  }
}

template <class Word, bool to_device>
void move(Device& device, const SiteOrder& order, int lanes, int components, Word* host, Word* image) {
  const auto body = [&](std::int64_t first_group, std::int64_t last_group) {
    std::vector<Word> spare(
        static_cast<std::size_t>(components));  // zeros to the device, a bin from it; one per thread
    const int per_group = order.lanes / lanes;
    const std::int64_t begin = first_group * per_group, end = last_group * per_group;
    switch (lanes) {
      case 4:
        return move_blocks<Word, 4, to_device>(order, lanes, components, begin, end, host, image, spare.data());
      case 8:
        return move_blocks<Word, 8, to_device>(order, lanes, components, begin, end, host, image, spare.data());
      case 16:
        return move_blocks<Word, 16, to_device>(order, lanes, components, begin, end, host, image, spare.data());
      default:
        return move_blocks<Word, 0, to_device>(order, lanes, components, begin, end, host, image, spare.data());
    }
  };
  // Small fields are not worth waking the team: moving a word takes about a nanosecond.
  if (order.sites * components < 4096)
    body(0, order.groups);
  else
    device.parallel_for(halves(order.first_odd, 0, order.groups), body);
}

template <bool to_device>
void move_words(Device& device, const SiteOrder& order, ir::Type word, int components, void* host, void* image) {
  const int lanes = block_lanes(order.lanes, word);
  switch (ir::bytes(word)) {
    case 1:
      return move<std::uint8_t, to_device>(device, order, lanes, components, static_cast<std::uint8_t*>(host),
                                           static_cast<std::uint8_t*>(image));
    case 4:
      return move<std::uint32_t, to_device>(device, order, lanes, components, static_cast<std::uint32_t*>(host),
                                            static_cast<std::uint32_t*>(image));
    default:
      return move<std::uint64_t, to_device>(device, order, lanes, components, static_cast<std::uint64_t*>(host),
                                            static_cast<std::uint64_t*>(image));
  }
}

struct Sizes {
  std::size_t host_order, device_order;  // bytes
};

Sizes sizes_of(const SiteOrder& order, ir::Type word, int components) {
  const auto site = static_cast<std::size_t>(components * ir::bytes(word));
  return {static_cast<std::size_t>(order.sites) * site, static_cast<std::size_t>(order.groups * order.lanes) * site};
}

DeviceReorder& device_reorder() {
  // Never destroyed: fields of static storage may die after main.
  static auto* reorder = new DeviceReorder;
  return *reorder;
}

}  // namespace

void reorder_to_device_order(Device& host, const SiteOrder& order, ir::Type word, int components, const void* from,
                             void* to) {
  move_words<true>(host, order, word, components, const_cast<void*>(from), to);
}

void reorder_to_host_order(Device& host, const SiteOrder& order, ir::Type word, int components, const void* from,
                           void* to) {
  move_words<false>(host, order, word, components, to, const_cast<void*>(from));
}

void host_to_device(Memory& device, Memory& host, const SiteOrder& order, ir::Type word, int components,
                    const void* from, void* to) {
  Device& target = device.device();
  if (target.host_accessible()) return reorder_to_device_order(target, order, word, components, from, to);
  const Sizes sizes = sizes_of(order, word, components);
  if (device_reorder()) {
    // Only what is free: driving a field out for it would cost more than re-ordering on the host.
    const Block staging(device, device.try_allocate(sizes.host_order), sizes.host_order);
    if (staging.address() != nullptr) {
      target.copy_to_device(staging.address(), from, sizes.host_order);
      if (device_reorder()({target, order, word, components, staging.address(), to, true})) return;
    }
  }
  const Block image(host, host.allocate(sizes.device_order), sizes.device_order);
  reorder_to_device_order(host.device(), order, word, components, from, image.address());
  target.copy_to_device(to, image.address(), sizes.device_order);
}

void device_to_host(Memory& device, Memory& host, const SiteOrder& order, ir::Type word, int components,
                    const void* from, void* to) {
  Device& source = device.device();
  if (source.host_accessible()) return reorder_to_host_order(source, order, word, components, from, to);
  const Sizes sizes = sizes_of(order, word, components);
  if (device_reorder()) {
    const Block staging(device, device.try_allocate(sizes.host_order), sizes.host_order);
    if (staging.address() != nullptr &&
        device_reorder()({source, order, word, components, staging.address(), const_cast<void*>(from), false}))
      return source.copy_to_host(to, staging.address(), sizes.host_order);
  }
  const Block image(host, host.allocate(sizes.device_order), sizes.device_order);
  source.copy_to_host(image.address(), from, sizes.device_order);
  reorder_to_host_order(host.device(), order, word, components, image.address(), to);
}

void set_device_reorder(DeviceReorder reorder) { device_reorder() = std::move(reorder); }

}  // namespace jit
