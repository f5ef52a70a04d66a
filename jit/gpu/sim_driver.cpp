// The simulated GPU: SIMT kernels on threads of the host, behind the interface of a driver. It exists to find mistakes
// in the code above that interface, so it is as late, as unordered and as unforgiving as the interface allows:
//
// - Streams run their operations late, and rest before some of them: sim_stream.hpp. Copies read and write host memory
//   when they run, pinned or not.
// - Blocks of a launch run in a scrambled order on a pool of threads.
// - Addresses are checked at the call, against what is allocated then; what an operation refers to cannot be freed
//   before the operation has run. Device memory itself: sim_memory.hpp. Pinned memory has an address of its own for
//   kernels, and a launch that is given the host's is refused.
// - Uses of the same memory in two streams that no event orders are an error at the call: sim_order.hpp.
// - An error in the work of a stream, or in a call that cannot throw, is kept: no further work is done, and every
//   synchronisation from then on throws it, as after an error in a kernel of CUDA.
#include "jit/gpu/sim_driver.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <mutex>
#include <numeric>
#include <unordered_map>
#include <utility>
#include <vector>

#include "jit/device/thread_pool.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/sim_memory.hpp"
#include "jit/gpu/sim_order.hpp"
#include "jit/gpu/sim_stream.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

constexpr int kLargestBlock = 1024;  // of the device; SimulatedGpu::largest_block is that of its kernels

/// Kernels know pinned memory by an address with these top bits, which the host cannot follow.
constexpr std::uint64_t kPinnedWindow = 0x5EEE'0000'0000'0000;
bool names_pinned(std::uint64_t address) { return address >> 48 == kPinnedWindow >> 48; }

std::uint64_t as_number(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

/// Calls of one kind in the process, and which of them fails.
struct Tally {
  std::atomic<std::int64_t> calls{0}, failing{0};

  /// Counts a call; its number if it is the one to fail, else 0.
  std::int64_t count() {
    const std::int64_t number = calls.fetch_add(1) + 1;
    return number == failing.load() ? number : 0;
  }
  void fail(std::int64_t next) { failing.store(next > 0 ? calls.load() + next : 0); }
};

struct Tallies {
  Tally allocations, launches, copies;
};
Tallies& tallies() {
  static Tallies counts;
  return counts;
}

[[noreturn]] void fail_as_asked(const char* kind, std::int64_t number) {
  throw DeviceError(std::string("simulated fault: ") + kind + " " + std::to_string(number));
}

struct SimEvent {
  std::shared_ptr<SimRecord> latest;  ///< nullptr before the first record()
  SimOrder::Clock clock;              ///< of the stream at that call
  bool timed = false;
};

/// A call of a kernel, with addresses that the host can follow.
struct SimLaunch {
  SimtFunction function;
  std::vector<std::uint64_t> packet;
  std::uint64_t blocks, threads;
  std::uint64_t seed;

  void run(ThreadPool& pool) const {
    // Block number (first + i stride) mod blocks for i = 0, 1, ...: every block once if the two have no common factor.
    std::uint64_t random = seed;
    const std::uint64_t first = next_random(random) % blocks;
    std::uint64_t stride = next_random(random) % blocks + 1;
    while (std::gcd(stride, blocks) != 1) ++stride;
    pool.run([&](int part) {
      const Share mine = share(0, static_cast<std::int64_t>(blocks), part, pool.threads());
      for (std::int64_t i = mine.begin; i < mine.end; ++i) {
        const std::uint64_t block = (first + static_cast<std::uint64_t>(i) * stride) % blocks;
        function(packet.data(), static_cast<std::int64_t>(block * threads),
                 static_cast<std::int64_t>((block + 1) * threads), static_cast<std::int64_t>(blocks * threads));
      }
    });
  }
};

class SimDriver final : public GpuDriver {
 public:
  explicit SimDriver(const SimulatedGpu& gpu) : gpu_(gpu), memory_(gpu.memory), pool_(ThreadPool::default_threads()) {
    properties_.model = "simulated GPU";
    properties_.driver = "simulated, " + std::to_string(pool_.threads()) + " threads";
    properties_.sm = 90;
    properties_.memory = memory_.free_bytes();
    properties_.multiprocessors = 4;
    properties_.largest_block = kLargestBlock;
    set_simulated_faults({gpu.failing_allocation, gpu.failing_launch, gpu.failing_copy});
  }

  ~SimDriver() override {
    for (auto& [handle, stream] : streams_) stream->run_until(stream->pushed());
    for (auto& [handle, stream] : streams_) stream.reset();
    if (!error_.empty() && !error_told_) log_error("gpu", error_);
    for (SimBlocks* blocks : {&memory_.blocks(), &pinned_})
      for (const auto& [address, block] : blocks->live())
        log_debug("gpu", "simulated GPU: ", blocks == &pinned_ ? "pinned memory" : "device memory",
                  " never freed: ", block.bytes, " bytes at ", format_address(address));
    if (!streams_.empty()) log_debug("gpu", "simulated GPU: ", streams_.size(), " streams never destroyed");
    if (!events_.empty()) log_debug("gpu", "simulated GPU: ", events_.size(), " events never destroyed");
    for (const auto& [address, block] : pinned_.live()) std::free(reinterpret_cast<void*>(block.address));
  }

  // The code of this device is made by the host's target, which loads it itself.
  std::string assemble(const std::string&, int, std::string&) override { refuse_code("assemble"); }
  KernelCode load(const std::string&, const std::string&, KernelResources&) override { refuse_code("load"); }
  void unload(KernelCode) noexcept override {}
  std::unique_ptr<Target> make_target() override { return make_simt_host_target(); }

  const GpuProperties& properties() const override { return properties_; }

  void* allocate(std::size_t bytes) override {
    if (tallies().allocations.count() != 0) return nullptr;
    std::lock_guard lock(mutex_);
    return reinterpret_cast<void*>(memory_.allocate(bytes));
  }

  void free(void* address) noexcept override {
    keep_errors([&] {
      if (address == nullptr) return;
      std::lock_guard lock(mutex_);
      check_unused(memory_.blocks(), address);
      if (memory_.blocks().find(as_number(address)) != nullptr) lent_or_not(address, "free", false);
      memory_.free(as_number(address));
    });
  }

  std::size_t free_memory() override {
    std::lock_guard lock(mutex_);
    return memory_.free_bytes();
  }

  void* allocate_pinned(std::size_t bytes) override {
    std::lock_guard lock(mutex_);
    if (pinned_granted_ == gpu_.most_pinned) return nullptr;
    const std::size_t whole_pages = (bytes + 4095) / 4096 * 4096;
    void* memory = bytes == 0 || whole_pages < bytes ? nullptr : std::aligned_alloc(4096, whole_pages);
    if (memory == nullptr) return nullptr;
    SimMemory::poison(memory, bytes);
    pinned_.insert(as_number(memory), bytes);
    ++pinned_granted_;
    return memory;
  }

  void free_pinned(void* address) noexcept override {
    keep_errors([&] {
      if (address == nullptr) return;
      {
        std::lock_guard lock(mutex_);
        check_unused(pinned_, address);
        pinned_.erase(as_number(address));
      }
      std::free(address);
    });
  }

  void* device_address(void* pinned) override {
    std::lock_guard lock(mutex_);
    pinned_.require(as_number(pinned), 1, "device_address");
    return reinterpret_cast<void*>(kPinnedWindow | as_number(pinned));
  }

  void* library_address(void* device) override { return memory_.host(as_number(device)); }
  void lend(void* device) override {
    std::lock_guard lock(mutex_);
    SimBlock& block = lent_or_not(device, "lend", false);
    if (block.users > 0)
      throw InternalError({.what = "simulated GPU: lend",
                           .expected = "memory whose work the host has waited for",
                           .got = std::to_string(block.users) + " unfinished operations on it"});
    check_unused(memory_.blocks(), device);
    block.lent = true;
  }
  void take_back(void* device) override {
    std::lock_guard lock(mutex_);
    lent_or_not(device, "take_back", true).lent = false;
  }

  Stream create_stream() override {
    std::lock_guard lock(mutex_);
    const Stream handle = new_handle();
    streams_[handle] = std::make_shared<SimStream>(
        order_.add_stream(), [this](SimOperation& operation) { execute(operation); }, handles_made_, gpu_.delays);
    return handle;
  }

  void destroy_stream(Stream stream) noexcept override {
    keep_errors([&] {
      const std::shared_ptr<SimStream> last = stream_of(stream);
      last->run_until(last->pushed());
      std::lock_guard lock(mutex_);
      streams_.erase(stream);
    });
  }

  void synchronize(Stream stream) override {
    const std::shared_ptr<SimStream> queue = stream_of(stream);
    queue->run_until(queue->pushed());
    throw_kept_error("synchronize");
  }

  /// The host does not know what it has run.
  void lend_thread(Stream stream) override {
    if (gpu_.delays) return;
    std::unique_lock lock(mutex_);
    const std::shared_ptr<SimStream> queue = find_stream(stream);
    lock.unlock();
    queue->run_until(queue->pushed());
  }

  void copy_in(Stream stream, void* device, const void* host, std::size_t bytes) override {
    copy("copy_in", stream, device, bytes, host, bytes, 1, Direction::in);
  }
  void copy_out(Stream stream, void* host, const void* device, std::size_t bytes) override {
    copy("copy_out", stream, device, bytes, host, bytes, 1, Direction::out);
  }
  void copy_rows_in(Stream stream, void* device, std::size_t device_pitch, const void* host, std::size_t bytes,
                    std::size_t rows) override {
    copy("copy_rows_in", stream, device, device_pitch, host, bytes, rows, Direction::in);
  }
  void copy_rows_out(Stream stream, void* host, const void* device, std::size_t device_pitch, std::size_t bytes,
                     std::size_t rows) override {
    copy("copy_rows_out", stream, device, device_pitch, host, bytes, rows, Direction::out);
  }

  void clear(Stream stream, void* device, std::size_t bytes) override {
    if (const std::int64_t number = tallies().copies.count()) fail_as_asked("copy", number);
    std::lock_guard lock(mutex_);
    SimStream& queue = *find_stream(stream);
    if (bytes == 0) return;
    SimBlock& block = memory_.blocks().require(as_number(device), bytes, "clear");
    begin(queue, "clear", {{&block, true}});
    push(queue, {[to = memory_.host(as_number(device)), bytes] { std::memset(to, 0, bytes); }, {&block}});
  }

  void copy_within(Stream stream, void* to, const void* from, std::size_t bytes) override {
    if (const std::int64_t number = tallies().copies.count()) fail_as_asked("copy", number);
    std::lock_guard lock(mutex_);
    SimStream& queue = *find_stream(stream);
    if (bytes == 0) return;
    const std::uint64_t source = as_number(from), target = as_number(to);
    SimBlock& read = memory_.blocks().require(source, bytes, "copy_within");
    SimBlock& written = memory_.blocks().require(target, bytes, "copy_within");
    if (source < target + bytes && target < source + bytes)
      throw InternalError({.what = "simulated GPU: copy_within",
                           .expected = "places that do not overlap",
                           .got = format_address(source) + " and " + format_address(target) + ", " +
                                  std::to_string(bytes) + " bytes each"});
    begin(queue, "copy_within", {{&read, false}, {&written, true}});
    push(queue,
         {[there = memory_.host(target), here = memory_.host(source), bytes] { std::memcpy(there, here, bytes); },
          {&read, &written}});
  }

  Event create_event(bool timed) override {
    std::lock_guard lock(mutex_);
    const Event handle = new_handle();
    events_[handle].timed = timed;
    return handle;
  }

  void destroy_event(Event event) noexcept override {
    keep_errors([&] {
      std::lock_guard lock(mutex_);
      find_event(event);
      events_.erase(event);
    });
  }

  void record(Event event, Stream stream) override {
    std::lock_guard lock(mutex_);
    const std::shared_ptr<SimStream>& queue = find_stream(stream);
    auto point = std::make_shared<SimRecord>(queue);
    SimEvent& recorded = find_event(event);
    recorded.latest = point;
    recorded.clock = order_.clock(queue->number);
    push(*queue, {.run = [point] { point->finish(); }, .uses = {}, .orders_streams = true});
  }

  void wait(Stream stream, Event event) override {
    std::lock_guard lock(mutex_);
    SimStream& queue = *find_stream(stream);
    const SimEvent& found = find_event(event);
    order_.wait(queue.number, found.clock);
    if (const std::shared_ptr<SimRecord> point = found.latest)
      push(queue, {.run = [point] { point->wait(); }, .uses = {}, .orders_streams = true});
  }

  void synchronize_event(Event event) override {
    if (const std::shared_ptr<SimRecord> point = record_of(event)) point->wait();
    throw_kept_error("synchronize_event");
  }

  double seconds(Event from, Event to) override {
    require_timed(from);
    require_timed(to);
    const std::shared_ptr<SimRecord> first = record_of(from), last = record_of(to);
    if (!first || !last)
      throw InternalError(
          {.what = "simulated GPU: seconds", .expected = "two recorded events", .got = "one that was never recorded"});
    const double seconds = std::chrono::duration<double>(last->wait() - first->wait()).count();
    throw_kept_error("seconds");
    return seconds;
  }

  LaunchStatus launch(Stream stream, KernelCode code, unsigned blocks, unsigned threads, const std::uint64_t* packet,
                      std::size_t parameters) override {
    if (const std::int64_t number = tallies().launches.count()) fail_as_asked("launch", number);
    if (code == nullptr) throw InternalError({.what = "simulated GPU: launch", .expected = "code", .got = "nullptr"});
    if (blocks == 0 || blocks > 0x7FFF'FFFF || threads == 0)
      throw DeviceError({.what = "simulated GPU: launch",
                         .expected = "1 to 2147483647 blocks of at least one thread",
                         .got = std::to_string(blocks) + " blocks of " + std::to_string(threads)});
    if (threads > static_cast<unsigned>(std::min(gpu_.largest_block, kLargestBlock))) return LaunchStatus::too_large;

    std::lock_guard lock(mutex_);
    if (memory_.free_bytes() < gpu_.stack)
      throw OutOfGpuMemory({.what = "simulated GPU: launch",
                            .expected = std::to_string(gpu_.stack) + " bytes for the stacks of a kernel",
                            .got = std::to_string(memory_.free_bytes())});
    SimStream& queue = *find_stream(stream);
    SimLaunch call{.function = reinterpret_cast<SimtFunction>(const_cast<void*>(code)),
                   .packet = std::vector<std::uint64_t>(packet, packet + parameters),
                   .blocks = blocks,
                   .threads = threads,
                   .seed = ++launches_made_};
    std::vector<SimBlock*> uses;
    std::vector<Use> read;
    bool watched = false;
    for (std::uint64_t& parameter : call.packet)
      if (SimMemory::is_address(parameter)) {
        uses.push_back(&memory_.blocks().require(parameter, 1, "parameter of a launch"));
        read.push_back({uses.back(), false});
        parameter = as_number(memory_.host(parameter));
      } else if (names_pinned(parameter)) {
        parameter ^= kPinnedWindow;
        uses.push_back(&pinned_.require(parameter, 1, "parameter of a launch"));
        read.push_back({uses.back(), false});
        watched = true;
      } else if (const SimBlock* block = pinned_.find(parameter); block != nullptr && block->address == parameter) {
        // Only where it begins: numbers are parameters too, and the seed of a draw once lay inside.
        throw InternalError({.what = "simulated GPU: launch",
                             .expected = "pinned memory as device_address() names it",
                             .got = "the host's address " + format_address(parameter)});
      }
    begin(queue, "launch", read);
    push(queue,
         {.run = [this, call = std::move(call)] { call.run(pool_); }, .uses = std::move(uses), .watched = watched});
    return LaunchStatus::done;
  }
  int blocks_at_once(KernelCode, unsigned threads) override {
    return properties_.threads_per_multiprocessor / static_cast<int>(threads);
  }

 private:
  enum class Direction { in, out };

  [[noreturn]] static void refuse_code(const char* call) {
    throw InternalError({.what = std::string("simulated GPU: ") + call,
                         .expected = "code of the host's SIMT target",
                         .got = "code of another target"});
  }

  /// The one copy of all four. `host` is written if the direction is out: it was not const then.
  void copy(const char* what, Stream stream, const void* device, std::size_t pitch, const void* host, std::size_t bytes,
            std::size_t rows, Direction direction) {
    if (const std::int64_t number = tallies().copies.count()) fail_as_asked("copy", number);
    std::lock_guard lock(mutex_);
    SimStream& queue = *find_stream(stream);
    if (bytes == 0 || rows == 0) return;
    if (pitch < bytes)
      throw InternalError({.what = std::string("simulated GPU: ") + what,
                           .expected = "a pitch of at least one row",
                           .got = "rows of " + std::to_string(bytes) + " bytes, " + std::to_string(pitch) + " apart"});
    if (host == nullptr || SimMemory::is_address(as_number(host)) || names_pinned(as_number(host)))
      throw InternalError(
          {.what = std::string("simulated GPU: ") + what,
           .expected = "host memory",
           .got = host == nullptr ? "nullptr" : "the device's address " + format_address(as_number(host))});
    if (rows - 1 > (SimMemory::kLargest - bytes) / pitch)
      throw InternalError({.what = std::string("simulated GPU: ") + what,
                           .expected = "rows inside device memory",
                           .got = std::to_string(rows) + " rows, " + std::to_string(pitch) + " bytes apart"});

    std::vector<SimBlock*> uses{&memory_.blocks().require(as_number(device), (rows - 1) * pitch + bytes, what)};
    std::vector<Use> ordered{{uses.back(), direction == Direction::in}};
    if (pinned_.find(as_number(host)) != nullptr) {
      uses.push_back(&pinned_.require(as_number(host), rows * bytes, what));
      ordered.push_back({uses.back(), direction == Direction::out});
    }
    begin(queue, what, ordered);

    std::byte* there = memory_.host(as_number(device));
    auto* here = static_cast<std::byte*>(const_cast<void*>(host));
    push(queue, {[=] {
                   for (std::size_t row = 0; row < rows; ++row) {
                     std::byte *far = there + row * pitch, *near = here + row * bytes;
                     if (direction == Direction::in)
                       std::memcpy(far, near, bytes);
                     else
                       std::memcpy(near, far, bytes);
                   }
                 },
                 std::move(uses)});
  }

  struct Use {
    SimBlock* block;
    bool written;
  };
  SimBlock& lent_or_not(void* device, const char* what, bool lent) {
    SimBlock& block = memory_.blocks().require(as_number(device), 1, what);
    if (block.lent != lent)
      throw InternalError({.what = std::string("simulated GPU: ") + what,
                           .expected = lent ? "memory that was lent" : "memory that was not lent",
                           .got = std::to_string(block.bytes) + " bytes at " + format_address(block.address)});
    return block;
  }
  /// With the lock held: what the next operation of the stream does to memory. Throws if it is not ordered.
  void begin(const SimStream& stream, const char* what, const std::vector<Use>& uses) {
    for (const Use& use : uses)
      if (use.block->lent)
        throw InternalError({.what = std::string("simulated GPU: ") + what,
                             .expected = "memory that only the device uses",
                             .got = "an operation on memory that was lent to libraries of the host",
                             .where = format_address(use.block->address)});
    if (!gpu_.checks_order) return;
    order_.begin(stream.number, what);
    for (const Use& use : uses) order_.use(use.block->history, stream.number, use.written);
  }
  /// That work has ended is not enough if the host could not know it.
  void check_unused(SimBlocks& blocks, const void* address) {
    if (const SimBlock* block = blocks.find(as_number(address)); block != nullptr && block->users == 0)
      order_.end_use(block->history);
  }

  /// With the lock held.
  void push(SimStream& stream, SimOperation operation) {
    for (SimBlock* block : operation.uses) ++block->users;
    stream.push(std::move(operation));
  }

  /// On the stream's thread.
  void execute(SimOperation& operation) {
    if (operation.orders_streams || !has_failed()) keep_errors(operation.run);
    std::lock_guard lock(mutex_);
    for (SimBlock* block : operation.uses) --block->users;
  }

  /// Of a stream or event; none is used twice, so that stale ones are found.
  void* new_handle() { return reinterpret_cast<void*>(++handles_made_); }
  void require_timed(Event event) {
    std::lock_guard lock(mutex_);
    if (!find_event(event).timed)
      throw InternalError(
          {.what = "simulated GPU: seconds", .expected = "events made for timing", .got = "one made for order only"});
  }
  const std::shared_ptr<SimStream>& find_stream(Stream stream) {
    const auto found = streams_.find(stream);
    if (found == streams_.end())
      throw InternalError({.what = "simulated GPU", .expected = "a live stream", .got = "an unknown or destroyed one"});
    return found->second;
  }
  SimEvent& find_event(Event event) {
    const auto found = events_.find(event);
    if (found == events_.end())
      throw InternalError({.what = "simulated GPU", .expected = "a live event", .got = "an unknown or destroyed one"});
    return found->second;
  }
  /// For a host that waits for it.
  std::shared_ptr<SimStream> stream_of(Stream stream) {
    std::lock_guard lock(mutex_);
    const std::shared_ptr<SimStream>& found = find_stream(stream);
    order_.host_waits(order_.clock(found->number));
    return found;
  }
  std::shared_ptr<SimRecord> record_of(Event event) {
    std::lock_guard lock(mutex_);
    const SimEvent& found = find_event(event);
    order_.host_waits(found.clock);
    return found.latest;
  }

  template <class Body>
  void keep_errors(const Body& body) noexcept {
    std::string text;
    try {
      body();
      return;
    } catch (const std::exception& error) {
      text = error.what();
    } catch (...) {
      text = "simulated GPU: an unknown exception in the work of a stream";
    }
    std::lock_guard lock(error_mutex_);
    if (error_.empty()) error_ = std::move(text);
  }
  bool has_failed() {
    std::lock_guard lock(error_mutex_);
    return !error_.empty();
  }
  void throw_kept_error(const char* call) {
    std::lock_guard lock(error_mutex_);
    if (error_.empty()) return;
    error_told_ = true;
    throw InternalError({.what = error_, .where = std::string("found by ") + call});
  }

  const SimulatedGpu gpu_;
  GpuProperties properties_;
  std::mutex mutex_;  ///< of all below up to error_mutex_; never held while an operation runs
  SimMemory memory_;
  SimBlocks pinned_{"pinned memory"};
  SimOrder order_;
  std::int64_t pinned_granted_ = 0;
  std::unordered_map<Stream, std::shared_ptr<SimStream>> streams_;
  std::unordered_map<Event, SimEvent> events_;
  std::uint64_t handles_made_ = 0, launches_made_ = 0;
  std::mutex error_mutex_;
  std::string error_;  ///< the first one
  bool error_told_ = false;
  ThreadPool pool_;
};

[[noreturn]] void reject_fault(const std::string& got) {
  throw UserError({.what = "TESSERA_SIM_FAULT",
                   .expected = "list of allocate:<n>, launch:<n>, copy:<n>, block:<threads>, pinned:<n>, stack:<bytes>",
                   .got = "\"" + got + "\"",
                   .where = "environment"});
}

}  // namespace

SimulatedCounts simulated_counts() {
  return {tallies().allocations.calls, tallies().launches.calls, tallies().copies.calls};
}

void set_simulated_faults(const SimulatedCounts& next) {
  tallies().allocations.fail(next.allocations);
  tallies().launches.fail(next.launches);
  tallies().copies.fail(next.copies);
}

SimulatedGpu simulated_gpu_from_environment() {
  SimulatedGpu gpu;
  gpu.memory = env().sim_memory;
  gpu.delays = env().sim_delay;
  const std::string& list = env().sim_fault;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string item = list.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos) reject_fault(item);
    const std::string kind = item.substr(0, colon);
    std::int64_t number = 0;
    const char* stop = item.data() + item.size();
    const auto [last, failure] = std::from_chars(item.data() + colon + 1, stop, number);
    if (failure != std::errc{} || last != stop || number < (kind == "pinned" ? 0 : 1)) reject_fault(item);
    if (kind == "allocate")
      gpu.failing_allocation = number;
    else if (kind == "launch")
      gpu.failing_launch = number;
    else if (kind == "copy")
      gpu.failing_copy = number;
    else if (kind == "pinned")
      gpu.most_pinned = number;
    else if (kind == "stack")
      gpu.stack = static_cast<std::size_t>(number);
    else if (kind == "block" && number <= kLargestBlock)
      gpu.largest_block = static_cast<int>(number);
    else
      reject_fault(item);
  }
  return gpu;
}

std::unique_ptr<GpuDriver> open_simulated_driver(const SimulatedGpu& gpu) { return std::make_unique<SimDriver>(gpu); }

}  // namespace jit
