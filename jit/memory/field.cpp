#include "jit/memory/field.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "jit/ir/site_layout.hpp"
#include "jit/memory/memory.hpp"
#include "jit/memory/relayout.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

std::string shape(const Field& field) {
  return std::string(ir::name(field.word())) + "[" + std::to_string(field.components()) + "] on " +
         std::to_string(field.order().sites) + " sites";
}

std::size_t words_to_bytes(std::int64_t sites, int components, ir::Type word) {
  return static_cast<std::size_t>(sites) * static_cast<std::size_t>(components) * static_cast<std::size_t>(ir::bytes(word));
}

}  // namespace

// INVARIANT: host_valid_ implies host_ != nullptr, device_valid_ implies device_ != nullptr.

Field::Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components)
    : order_(std::move(order)), word_(word), components_(components) {}

Field::~Field() {
  release_host();
  release_device();
}

std::size_t Field::host_bytes() const { return words_to_bytes(order_->sites, components_, word_); }
std::size_t Field::device_bytes() const { return words_to_bytes(order_->groups * order_->lanes, components_, word_); }

void Field::allocate_host() {
  if (host_ == nullptr) host_ = Memory::instance().allocate(host_bytes());
}

void Field::allocate_device() {
  if (device_ != nullptr) return;
  Memory& memory = Memory::instance();
  device_ = memory.allocate(device_bytes());
  // Kernels compute padding lanes too: zeros cost nothing, left-over bits may be denormal and slow.
  if (order_->groups * order_->lanes != order_->sites) memory.device().clear(device_, device_bytes());
}

void Field::release_host() noexcept {
  if (host_ != nullptr) Memory::instance().free(std::exchange(host_, nullptr), host_bytes());
  host_valid_ = false;
}

void Field::release_device() noexcept {
  if (device_ != nullptr) Memory::instance().free(std::exchange(device_, nullptr), device_bytes());
  device_valid_ = false;
}

const void* Field::host_fetch() {
  allocate_host();
  if (device_valid_) {
    device_to_host(Memory::instance().device(), *order_, word_, components_, device_, host_);
    host_valid_ = true;
  }
  return host_;
}

void* Field::host_claim(bool keep) {
  if (keep)
    host_read();
  else
    allocate_host();
  release_device();
  host_valid_ = true;
  return host_;
}

const void* Field::device_fetch() {
  allocate_device();
  if (host_valid_) {
    host_to_device(Memory::instance().device(), *order_, word_, components_, host_, device_);
    device_valid_ = true;
  }
  return device_;
}

void Field::device_reserve(bool whole) {
  if (whole)
    allocate_device();
  else
    device_read();
}

void* Field::device_claim(bool whole) {
  device_reserve(whole);
  release_host();
  device_valid_ = true;
  return device_;
}

void Field::read_site(std::int64_t site, void* out) {
  const std::size_t word_bytes = static_cast<std::size_t>(ir::bytes(word_));
  const std::size_t site_bytes = word_bytes * static_cast<std::size_t>(components_);
  if (host_valid_ || !device_valid_) {
    std::memcpy(out, static_cast<const char*>(host_read()) + static_cast<std::size_t>(site) * site_bytes, site_bytes);
    return;
  }
  Device& device = Memory::instance().device();
  const std::int64_t position = order_->position[static_cast<std::size_t>(site)];
  for (int c = 0; c < components_; ++c) {
    const std::int64_t index = word_index(order_->lanes, word_, components_, position, c);
    device.copy_to_host(static_cast<char*>(out) + static_cast<std::size_t>(c) * word_bytes,
                        static_cast<const char*>(device_) + static_cast<std::size_t>(index) * word_bytes, word_bytes);
  }
}

void Field::write_site(std::int64_t site, const void* in) {
  const std::size_t word_bytes = static_cast<std::size_t>(ir::bytes(word_));
  const std::size_t site_bytes = word_bytes * static_cast<std::size_t>(components_);
  if (!ever_written()) host_write();  // a field that is filled site by site begins on the host
  if (host_valid_) std::memcpy(static_cast<char*>(host_) + static_cast<std::size_t>(site) * site_bytes, in, site_bytes);
  if (!device_valid_) return;
  Device& device = Memory::instance().device();
  const std::int64_t position = order_->position[static_cast<std::size_t>(site)];
  for (int c = 0; c < components_; ++c) {
    const std::int64_t index = word_index(order_->lanes, word_, components_, position, c);
    device.copy_to_device(static_cast<char*>(device_) + static_cast<std::size_t>(index) * word_bytes,
                          static_cast<const char*>(in) + static_cast<std::size_t>(c) * word_bytes, word_bytes);
  }
}

void Field::swap(Field& other) {
  if (order_ != other.order_ || word_ != other.word_ || components_ != other.components_)
    throw InternalError({.what = "Field::swap", .expected = shape(*this), .got = shape(other)});
  std::swap(host_, other.host_);
  std::swap(device_, other.device_);
  std::swap(host_valid_, other.host_valid_);
  std::swap(device_valid_, other.device_valid_);
}

}  // namespace jit
