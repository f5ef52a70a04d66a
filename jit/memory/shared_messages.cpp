#include "jit/memory/shared_messages.hpp"

#include <utility>
#include <vector>

#include "jit/comm/collectives.hpp"
#include "jit/support/env.hpp"
#include "jit/support/log.hpp"

namespace jit {

SharedMessages& SharedMessages::instance() {
  static auto* all = new SharedMessages;  // pools are not destroyed
  return *all;
}

void SharedMessages::connect(Communicator& ranks, const std::vector<int>& hosts) {
  // What is not used takes no memory: the bound is for a job that keeps all that it sends.
  constexpr std::size_t kShare = 8;
  if (connected_ || ranks.size() == 1) return;
  connected_ = true;
  const auto size = static_cast<std::size_t>(ranks.size()), own = static_cast<std::size_t>(ranks.rank());
  Device& device = Memory::instance().device();
  auto mine = std::make_unique<Own>();
  if (env().share_messages && device.host_accessible()) mine->segment = Segment::make(device.capacity() / kShare);
  const SegmentAddress address = mine->segment ? mine->segment->address() : SegmentAddress{};
  std::vector<SegmentAddress> addresses(size);
  ranks.gather(&address, sizeof address, addresses.data());
  std::vector<char> reached(size), all_reached(size * size);
  for (std::size_t rank = 0; rank < size; ++rank) {
    if (rank == own || !mine->segment || hosts[rank] != hosts[own] || addresses[rank].descriptor < 0) continue;
    auto mapped = map_segment(addresses[rank]);
    reached[rank] = mapped != nullptr;
    if (mapped) others_[static_cast<int>(rank)] = std::move(mapped);
  }
  ranks.gather(reached.data(), size, all_reached.data());
  std::erase_if(
      others_, [&](const auto& other) { return all_reached[static_cast<std::size_t>(other.first) * size + own] == 0; });
  log_info("comm", others_.size(), " of ", size - 1, " other ranks read messages where this one has written them");
  if (others_.empty()) return;
  mine->memory = std::make_unique<Memory>(device, *mine->segment);
  mine->pool = std::make_unique<MessagePool>(*mine->memory, *mine->memory, MessagePool::Read::by_others);
  own_ = std::move(mine);
}

SharedMessages::Address SharedMessages::give(MessageMemory& message, std::size_t bytes) const {
  message.give();
  return {own_->segment->memory().place_of(message.address()), bytes};
}

std::shared_ptr<MessageMemory> SharedMessages::take(int rank, const Address& address) {
  const std::size_t head = pool().head();
  std::byte* const at = others_.at(rank)->at(address.first - head, head + address.bytes);
  return std::make_shared<MessageMemory>(pool(), at + head, address.bytes);
}

}  // namespace jit
