#include "jit/memory/field.hpp"

#include <cstring>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "jit/ir/abi.hpp"
#include "jit/ir/site_layout.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/relayout.hpp"
#include "jit/memory/residency.hpp"
#include "jit/memory/sites.hpp"
#include "jit/support/error.hpp"
#include "jit/support/lock.hpp"

namespace jit {
namespace {

std::string shape(const Field& field) {
  return std::string(ir::name(field.word())) + "[" + std::to_string(field.components()) + "] on " +
         std::to_string(field.order().sites) + " sites";
}

std::size_t words_to_bytes(std::int64_t sites, int components, ir::Type word) {
  return static_cast<std::size_t>(sites) * static_cast<std::size_t>(components) *
         static_cast<std::size_t>(ir::bytes(word));
}

/// What a transfer reads must not be driven out by what the transfer itself allocates.
class HeldPlace {
 public:
  HeldPlace(std::uint64_t& statement, std::uint64_t present)
      : statement_(statement), before_(std::exchange(statement, present)) {}
  ~HeldPlace() { statement_ = before_; }
  HeldPlace(const HeldPlace&) = delete;
  HeldPlace& operator=(const HeldPlace&) = delete;

 private:
  std::uint64_t& statement_;
  std::uint64_t before_;
};

}  // namespace

// INVARIANT: a valid side has memory; the image has memory only while it is valid. A tracked field is in the ring
// exactly while its device side has memory.

Field::Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, Residency& home,
             std::uint8_t encoding)
    : order_(std::move(order)),
      word_(word),
      components_(components),
      encoding_(encoding),
      state_(home.separate() ? kTracked : 0),
      home_(home) {
  place_.field = this;
  host_side_.resize(static_cast<std::uint32_t>(order_->sites));
}

Field::Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, void* memory, Residency& home,
             std::uint8_t encoding)
    : Field(std::move(order), word, components, home, encoding) {
  device_ = memory;
  lent_ = true;
  state_ = 0;  // others decide when it leaves the device
}

Field::Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components)
    : Field(std::move(order), word, components, Residency::instance()) {}

Field::Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, void* memory)
    : Field(std::move(order), word, components, memory, Residency::instance()) {}

Field::~Field() {
  if (host_ == nullptr && device_ == nullptr && image_ == nullptr) return;
  const RuntimeLock lock;
  release_host();
  release_device();
  release_image();
}

void Field::reorder(std::shared_ptr<const SiteOrder> order) {
  const RuntimeLock lock;
  settle();
  if ((state_ & kSides) != 0)
    throw InternalError({.what = "Field::reorder", .expected = "a field that was never written", .got = shape(*this)});
  release_host(), release_device(), release_image();
  order_ = std::move(order);
  host_side_.resize(static_cast<std::uint32_t>(order_->sites));
}

std::size_t Field::host_bytes() const { return words_to_bytes(order_->sites, components_, word_); }
std::size_t Field::device_bytes() const { return words_to_bytes(order_->groups * order_->lanes, components_, word_); }

/// INVARIANT: under the lock, after contents have come and before memory goes: without the lock other threads read what
/// this announces.
void Field::set_state(unsigned state) noexcept {
  state_.store(state, std::memory_order_relaxed);
  if ((state & kSides) == kHost) stamp_ = 0;
  const bool readable = encoding_ == 0 && (state & (kHost | kWriteWaits)) == kHost,
             writable = encoding_ == 0 && (state & (kSides | kAwaited)) == kHost;
  host_side_.announce(readable ? host_ : nullptr, writable ? host_ : nullptr);
}

void Field::wait_no_more() noexcept {
  if (is_awaited()) set_state(state_ & ~kAwaited);
}

void Field::lose(std::shared_ptr<const std::string> reason) noexcept {
  set_state(state_ & ~kSides);
  release_host(), release_device(), release_image();
  lost_ = std::move(reason);
}

/// Before contents are asked for of a field that has none.
void Field::refuse_if_lost() const {
  if (lost_ == nullptr || (state_ & kSides) != 0) return;
  throw UserError({.what = "a field without contents, " + shape(*this),
                   .expected = "that the statement that should have written it succeeded",
                   .got = "it failed: " + *lost_,
                   .what_now = "assign to the field before it is read again"});
}

void Field::refuse_if_encoded() const {
  if (encoding_ == 0) return;
  throw UserError({.what = "elements, raw pointers or files of a field in compressed storage, " + shape(*this),
                   .expected = "a field of plain storage, whose words are its components",
                   .got = "words that kernels decode",
                   .what_now = "assign it to a plain field of the same type, and that one back"});
}

void Field::allocate_host() {
  if (host_ == nullptr) host_ = home_.host_memory().allocate(host_bytes());
}

/// The present statement needs the device side.
void Field::allocate_device() {
  if (device_ == nullptr) {
    Block block(home_.device_memory(), home_.device_memory().allocate(device_bytes()), device_bytes());
    // Kernels compute padding lanes too: zeros cost nothing, left-over bits may be denormal and slow.
    if (order_->groups * order_->lanes != order_->sites) home_.device().clear(block.address(), device_bytes());
    device_ = block.keep();
  }
  if ((state_ & kTracked) != 0) home_.use(place_);
}

void Field::release_host() noexcept {
  set_state(state_ & ~kHost);
  if (host_ != nullptr) home_.host_memory().free(std::exchange(host_, nullptr), host_bytes());
}

void Field::release_device() noexcept {
  Residency::leave(place_);
  set_state(state_ & ~kDevice);
  if (device_ != nullptr && !lent_) home_.device_memory().free(std::exchange(device_, nullptr), device_bytes());
}

void Field::release_image() noexcept {
  set_state(state_ & ~kImage);
  if (image_ != nullptr) home_.host_memory().free(std::exchange(image_, nullptr), device_bytes());
}

const void* Field::host_fetch() {
  refuse_if_encoded();
  return host_words();
}

const void* Field::host_words() {
  const RuntimeLock lock;
  settle_for_reading();
  refuse_if_lost();
  if ((state_ & kHost) != 0) return host_;  // another thread was faster
  allocate_host();
  if ((state_ & kImage) != 0) {
    reorder_to_host_order(home_.host_memory().device(), *order_, word_, components_, image_, host_);
    set_state(state_ | kHost);
  } else if ((state_ & kDevice) != 0) {
    const HeldPlace held(place_.statement, home_.statement_);
    device_to_host(home_.device_memory(), home_.host_memory(), *order_, word_, components_, device_, host_);
    set_state(state_ | kHost);
    if (home_.separate()) {
      ++home_.transfers_.out;
      home_.transfers_.bytes_out += device_bytes();
    }
  }
  return host_;
}

void* Field::host_claim(bool keep) {
  refuse_if_encoded();
  return claim_host_words(keep);
}

void* Field::overwrite_host_words() { return claim_host_words(false); }

void* Field::claim_host_words(bool keep) {
  const RuntimeLock lock;
  settle();
  if (host_current()) return host_;
  if (keep)
    host_words();
  else
    allocate_host();
  release_device();
  release_image();
  set_state(state_ | kHost);
  return host_;
}

void Field::host_done() noexcept {
  const RuntimeLock lock;
  if (is_awaited() || encoding_ != 0) return;  // these go on with it; nobody looked at elements
  if (host_current()) {
    // On a device with memory of its own, which may be short, the contents wait for the first statement that needs
    // them.
    if (home_.separate()) return;
    try {
      device_read();
    } catch (const DeviceError&) {  // no memory: nothing is lost
    }
  }
  if (!host_current()) release_host();
}

const void* Field::device_fetch() {
  settle_for_reading();
  refuse_if_lost();
  allocate_device();
  if ((state_ & kDevice) != 0 || (state_ & kSides) == 0) return device_;
  if ((state_ & kImage) != 0)
    home_.device().copy_to_device(device_, image_, device_bytes());
  else
    host_to_device(home_.device_memory(), home_.host_memory(), *order_, word_, components_, host_, device_);
  set_state(state_ | kDevice);
  if (home_.separate()) {
    ++home_.transfers_.in;
    home_.transfers_.bytes_in += device_bytes();
  }
  return device_;
}

void* Field::device_reserve(bool whole) {
  settle();
  stamp_ = 0;  // a launch that fails half-way leaves something else
  if (whole)
    allocate_device();
  else
    device_read();
  return device_;
}

void* Field::device_claim(bool whole) {
  device_reserve(whole);
  release_host();
  release_image();
  set_state(state_ | kDevice);
  return device_;
}

/// Gives the device side up; false if its contents could not be saved for lack of host memory. Throws DeviceError if
/// the copy fails; then it is as it was.
bool Field::leave_device() {
  if ((state_ & kSides) == kDevice) {
    Memory& memory = home_.host_memory();
    Block image(memory, memory.try_allocate(device_bytes()), device_bytes());
    if (image.address() == nullptr) return false;
    home_.device().copy_to_host(image.address(), device_, device_bytes());
    image_ = image.keep();
    set_state(state_ | kImage);
    ++home_.transfers_.spilled;
    home_.transfers_.bytes_spilled += device_bytes();
  } else {
    ++home_.transfers_.dropped;
  }
  release_device();
  return true;
}

/// Where the first component of a site lies in device order, in bytes; the others follow block_lanes words apart.
std::size_t Field::device_offset(std::int64_t site) const {
  const std::int64_t position = order_->position[static_cast<std::size_t>(site)];
  return static_cast<std::size_t>(word_index(order_->lanes, word_, components_, position, 0)) *
         static_cast<std::size_t>(ir::bytes(word_));
}

void Field::read_site(std::int64_t site, void* out) {
  const bool on_host = host_side_.readable() != nullptr;
  std::optional<RuntimeLock> lock;
  if (!on_host) {
    lock.emplace();
    settle_for_reading();
    refuse_if_lost();
  }
  const auto word_bytes = static_cast<std::size_t>(ir::bytes(word_));
  const std::size_t site_bytes = word_bytes * static_cast<std::size_t>(components_);
  const std::size_t pitch = word_bytes * static_cast<std::size_t>(block_lanes(order_->lanes, word_));
  if (on_host || (state_ & kHost) != 0 || (state_ & kSides) == 0)
    std::memcpy(out, static_cast<const char*>(host_words()) + static_cast<std::size_t>(site) * site_bytes, site_bytes);
  else if ((state_ & kImage) != 0)
    for (int c = 0; c < components_; ++c)
      std::memcpy(static_cast<char*>(out) + static_cast<std::size_t>(c) * word_bytes,
                  static_cast<const char*>(image_) + device_offset(site) + static_cast<std::size_t>(c) * pitch,
                  word_bytes);
  else
    home_.device().copy_rows_to_host(out, static_cast<const char*>(device_) + device_offset(site), pitch, word_bytes,
                                     components_);
}

void Field::write_site(std::int64_t site, const void* in) {
  const RuntimeLock lock;
  settle();
  refuse_if_lost();
  stamp_ = 0;
  const auto word_bytes = static_cast<std::size_t>(ir::bytes(word_));
  const std::size_t site_bytes = word_bytes * static_cast<std::size_t>(components_);
  const std::size_t pitch = word_bytes * static_cast<std::size_t>(block_lanes(order_->lanes, word_));
  if ((state_ & kSides) == 0) claim_host_words(true);  // a field that is filled site by site begins on the host
  if ((state_ & kDevice) != 0)                         // first, because it may throw
    home_.device().copy_rows_to_device(static_cast<char*>(device_) + device_offset(site), pitch, in, word_bytes,
                                       components_);
  if ((state_ & kHost) != 0)
    std::memcpy(static_cast<char*>(host_) + static_cast<std::size_t>(site) * site_bytes, in, site_bytes);
  if ((state_ & kImage) != 0)
    for (int c = 0; c < components_; ++c)
      std::memcpy(static_cast<char*>(image_) + device_offset(site) + static_cast<std::size_t>(c) * pitch,
                  static_cast<const char*>(in) + static_cast<std::size_t>(c) * word_bytes, word_bytes);
}

/// Calls copy(bytes from the first of these groups on, bytes) for stretches of words whose lanes hold a site.
template <class Copy>
void Field::for_each_run(std::int64_t first, std::int64_t count, Copy&& copy) const {
  const int lanes = block_lanes(order_->lanes, word_);
  const auto word = static_cast<std::size_t>(ir::bytes(word_)), row = static_cast<std::size_t>(lanes) * word;
  std::size_t at = 0;
  for (std::int64_t p = first * order_->lanes; p < (first + count) * order_->lanes; p += lanes) {
    const auto has_site = [&](int lane) { return order_->host_index[static_cast<std::size_t>(p + lane)] >= 0; };
    int from[kMaxLanes], to[kMaxLanes], runs = 0;
    for (int lane = 0; lane < lanes;) {
      if (!has_site(lane)) {
        ++lane;
        continue;
      }
      from[runs] = lane;
      while (lane < lanes && has_site(lane)) ++lane;
      to[runs++] = lane;
    }
    const bool whole = runs == 1 && to[0] - from[0] == lanes;
    if (whole) copy(at, row * static_cast<std::size_t>(components_));
    if (!whole && runs > 0)
      for (int c = 0; c < components_; ++c)
        for (int r = 0; r < runs; ++r)
          copy(at + static_cast<std::size_t>(c) * row + static_cast<std::size_t>(from[r]) * word,
               static_cast<std::size_t>(to[r] - from[r]) * word);
    at += row * static_cast<std::size_t>(components_);
  }
}

void Field::read_groups(std::int64_t first, std::int64_t count, void* out) {
  const RuntimeLock lock;
  const std::size_t bytes = words_to_bytes(order_->lanes, components_, word_);
  const auto* from = static_cast<const char*>(device_read()) + static_cast<std::size_t>(first) * bytes;
  std::vector<char> there;
  if (home_.separate()) {
    there.resize(static_cast<std::size_t>(count) * bytes);
    home_.device().copy_to_host(there.data(), from, there.size());
    from = there.data();
  }
  auto* to = static_cast<char*>(out);
  for_each_run(first, count, [&](std::size_t at, std::size_t n) {
    std::memcpy(to, from + at, n);
    to += n;
  });
}

void Field::overwrite_groups(std::int64_t first, std::int64_t count, const void* in) {
  const RuntimeLock lock;
  const std::size_t bytes = words_to_bytes(order_->lanes, components_, word_);
  auto* const device = static_cast<char*>(device_write(true)) + static_cast<std::size_t>(first) * bytes;
  std::vector<char> here(home_.separate() ? static_cast<std::size_t>(count) * bytes : 0);
  char* const to = home_.separate() ? here.data() : device;
  const auto* from = static_cast<const char*>(in);
  for_each_run(first, count, [&](std::size_t at, std::size_t n) {
    std::memcpy(to + at, from, n);
    from += n;
  });
  if (home_.separate()) home_.device().copy_to_device(device, here.data(), here.size());
}

std::uint64_t Field::contents() {
  settle_for_reading();
  static std::uint64_t last = 0;
  if (stamp_ == 0 && !host_current()) stamp_ = ++last;
  return stamp_;
}

void Field::swap(Field& other) {
  if (order_ != other.order_ || word_ != other.word_ || components_ != other.components_ ||
      encoding_ != other.encoding_ || &home_ != &other.home_)
    throw InternalError({.what = "Field::swap", .expected = shape(*this), .got = shape(other)});
  if (this == &other) return;
  const RuntimeLock lock;
  settle(), other.settle();
  std::swap(lost_, other.lost_);
  std::swap(lent_, other.lent_);
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  std::swap(image_, other.image_);
  std::swap(stamp_, other.stamp_);
  const unsigned state = state_;
  set_state(other.state_);
  other.set_state(state);
  Residency::exchange(place_, other.place_);
}

}  // namespace jit
