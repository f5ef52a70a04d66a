#include "jit/memory/residency.hpp"

#include "jit/memory/field.hpp"

namespace jit {

Residency::Residency(Memory& device, Memory& host)
    : device_(device), host_(host), separate_(!device.device().host_accessible()) {
  ring_.older = ring_.newer = &ring_;
  if (separate_) device_.add_holder(this);
}

Residency::~Residency() {
  if (separate_) device_.remove_holder(this);
}

Residency& Residency::instance() {
  static Residency* residency = new Residency(Memory::instance(), Memory::host());
  return *residency;
}

void Residency::use(Place& place) {
  place.statement = statement_;
  leave(place);
  place.older = ring_.older;
  place.newer = &ring_;
  place.older->newer = place.newer->older = &place;
}

void Residency::leave(Place& place) noexcept {
  if (place.older == nullptr) return;
  place.older->newer = place.newer;
  place.newer->older = place.older;
  place.older = place.newer = nullptr;
}

/// Puts `next`, which is in no ring, where `present` is.
void Residency::replace(Place& present, Place& next) noexcept {
  next.statement = present.statement;
  if (present.older == nullptr) return;
  next.older = present.older;
  next.newer = present.newer;
  next.older->newer = next.newer->older = &next;
  present.older = present.newer = nullptr;
}

void Residency::exchange(Place& a, Place& b) noexcept {
  Place between;
  replace(a, between);
  replace(b, a);
  replace(between, b);
}

std::int64_t Residency::resident_fields() const {
  std::int64_t fields = 0;
  for (const Place* place = ring_.newer; place != &ring_; place = place->newer) ++fields;
  return fields;
}

std::size_t Residency::spare_bytes() const {
  std::size_t bytes = 0;
  for (const Place* place = ring_.newer; place != &ring_; place = place->newer)
    if (place->statement != statement_) bytes += Memory::block_bytes(place->field->device_bytes());
  return bytes;
}

bool Residency::give_up_one() {
  for (Place* place = ring_.newer; place != &ring_; place = place->newer) {
    if (place->statement == statement_) continue;
    if (place->field->leave_device()) return true;
    host_is_full_ = true;  // those that the host has a copy of may still leave
  }
  return false;
}

std::string Residency::describe() const {
  std::int64_t needed = 0;
  for (const Place* place = ring_.newer; place != &ring_; place = place->newer)
    needed += place->statement == statement_;
  return std::to_string(resident_fields()) + " fields resident, " + std::to_string(needed) +
         " of them needed by the present statement" +
         (host_is_full_ ? ", and no host memory to move the others to" : "");
}

}  // namespace jit
