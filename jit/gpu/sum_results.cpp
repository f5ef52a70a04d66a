#include "jit/gpu/sum_results.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>

#include "jit/support/error.hpp"
#include "jit/support/relax.hpp"

namespace jit {
namespace {

using Clock = std::chrono::steady_clock;

/// Sums that never need an allocation in the middle of a run, when fields may have taken all memory.
constexpr std::size_t kReadyReductions = 64;

// A number in memory is seen a fraction of a microsecond after it was written; the driver's waiting takes some ten
// more, but knows of failures. So it gets its turn when these no longer matter, and no waiting is ever without an end.
// In between the core is offered to others: to threads of the simulated GPU, if it is one.
constexpr auto kPolling = std::chrono::microseconds(1000);
constexpr auto kPollingAlone = std::chrono::microseconds(50);
constexpr int kPollsPerClock = 16;

bool is_marked(SumHeader& results, std::uint64_t launch) {
  return std::atomic_ref(results.mark).load(std::memory_order_acquire) == launch;
}

}  // namespace

SumResults::SumResults(GpuDriver& driver, Streams& streams) : driver_(driver), streams_(streams) {
  areas_ = allocate(kReadyReductions);
  if (areas_.device != nullptr) most_reductions_ = kReadyReductions;
}

SumResults::~SumResults() { release(areas_); }

std::size_t SumResults::device_bytes() const {
  return (areas_.shared != nullptr ? 1 : 2) * bytes_of_sums(most_reductions_);
}

SumResults::Areas SumResults::allocate(std::size_t reductions) {
  Areas areas;
  const std::size_t bytes = bytes_of_sums(reductions);
  if (void* pinned = driver_.allocate_pinned(bytes)) {
    areas.results = driver_.device_address(pinned);
    if (areas.results != nullptr) {
      std::memset(pinned, 0, bytes);  // marked by no launch
      areas.shared = static_cast<SumHeader*>(pinned);
    } else {
      driver_.free_pinned(pinned);
    }
  }
  areas.device = driver_.allocate(areas.shared != nullptr ? bytes : 2 * bytes);
  if (areas.device == nullptr) {
    release(areas);
    return {};
  }
  if (areas.shared == nullptr) areas.results = static_cast<std::byte*>(areas.device) + bytes;
  return areas;
}

void SumResults::release(const Areas& areas) noexcept {
  if (areas.device != nullptr) driver_.free(areas.device);
  if (areas.shared != nullptr) driver_.free_pinned(areas.shared);
}

SumResults::Parameters SumResults::prepare(std::size_t reductions) {
  if (reductions > most_reductions_) {
    streams_.synchronize(StreamRole::compute);  // nothing uses what will be given back
    const Areas larger = allocate(reductions);
    if (larger.device == nullptr)
      throw DeviceError({.what = "sums on \"" + driver_.properties().model + "\"",
                         .expected = std::to_string(2 * bytes_of_sums(reductions)) + " bytes of device memory",
                         .got = "none left",
                         .what_now = "Bound the memory of fields by TESSERA_MEM_MAX or use a smaller local lattice"});
    release(areas_);
    areas_ = larger;
    most_reductions_ = reductions;
    zero_ = false;
  }
  if (!zero_) {
    streams_.begin(StreamRole::compute);
    driver_.clear(streams_[StreamRole::compute], areas_.device, device_bytes());
  }
  zero_ = false;
  reductions_ = reductions;
  return {areas_.device, areas_.results, ++launch_};
}

bool SumResults::arrives_soon() const {
  driver_.lend_thread(streams_[StreamRole::compute]);
  const Clock::time_point start = Clock::now();
  for (int poll = 0;; ++poll) {
    if (is_marked(*areas_.shared, launch_)) return true;
    if (poll % kPollsPerClock != 0) {
      relax();
      continue;
    }
    const Clock::duration waited = Clock::now() - start;
    if (waited > kPolling) return false;
    if (waited > kPollingAlone) std::this_thread::yield();
  }
}

std::span<const SumBins> SumResults::wait() {
  SumHeader* results = areas_.shared;
  if (results == nullptr) {
    const std::size_t bytes = bytes_of_sums(reductions_);
    copied_.resize(bytes / sizeof(std::uint64_t));
    results = reinterpret_cast<SumHeader*>(copied_.data());
    streams_.begin(StreamRole::compute);
    driver_.copy_out(streams_[StreamRole::compute], results, areas_.results, bytes);
    streams_.synchronize(StreamRole::compute);
  } else if (!arrives_soon()) {
    streams_.synchronize(StreamRole::compute);
  }
  if (!is_marked(*results, launch_)) return {};
  zero_ = true;
  return {bins_behind(results), reductions_};
}

}  // namespace jit
