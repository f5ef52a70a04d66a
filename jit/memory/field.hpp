// A field: one value of a site type per lattice site, in host order, device order, or both (design D3, D7).
//
// Host order is an array of site structures by host index, as QDP++ programs expect; device order is
// `[block][component][lane]`. Each side has a valid bit. Reading one side copies from the other if needed, writing one side
// invalidates the other. A side is allocated when it is first used, and the host side is given back when a kernel writes
// the device side (a field takes its bytes once).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "jit/ir/ir.hpp"
#include "jit/runtime/sites.hpp"

namespace jit {

class Field {
 public:
  /// `components` words per site. Allocates nothing yet; contents are undefined until first written.
  Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components);
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  ir::Type word() const { return word_; }
  int components() const { return components_; }
  const SiteOrder& order() const { return *order_; }
  const std::shared_ptr<const SiteOrder>& order_ptr() const { return order_; }
  std::size_t host_bytes() const;    ///< sites * components * bytes(word)
  std::size_t device_bytes() const;  ///< with padding

  /// Host side for reading; pointer valid until the field is next written by a kernel or destroyed.
  const void* host_read() { return host_valid_ ? host_ : host_fetch(); }
  /// Host side for reading and writing; the device side becomes invalid.
  void* host_write() { return host_current() ? host_ : host_claim(true); }
  /// As host_write, but the present contents need not be preserved.
  void* host_overwrite() { return host_current() ? host_ : host_claim(false); }
  /// True while the host side may be written directly without a call (fast path of element access).
  bool host_current() const { return host_valid_ && !device_valid_; }
  void* host_pointer() const { return host_; }

  /// The address of the device side with the present contents (undefined if the field was never written).
  const void* device_read() { return device_valid_ ? device_ : device_fetch(); }
  /// `whole`: every site will be written, the present contents need not be preserved. The host side is released.
  void* device_write(bool whole) { return device_valid_ && !host_valid_ ? device_ : device_claim(whole); }
  /// Makes sure that device_write(whole) after this does not throw; the contents stay what and where they are.
  void device_reserve(bool whole);

  /// One site without moving the field (peekSite / pokeSite): `site` is a host index, `out` in host order.
  void read_site(std::int64_t site, void* out);
  void write_site(std::int64_t site, const void* in);

  /// Exchanges the contents of two fields of the same shape (b = f(shift(b)) through a temporary).
  void swap(Field& other);

  bool ever_written() const { return host_valid_ || device_valid_; }

 private:
  const void* host_fetch();
  void* host_claim(bool keep);
  const void* device_fetch();
  void* device_claim(bool whole);
  void allocate_host();
  void allocate_device();
  void release_host() noexcept;
  void release_device() noexcept;

  std::shared_ptr<const SiteOrder> order_;
  ir::Type word_;
  int components_;
  void* host_ = nullptr;
  void* device_ = nullptr;
  bool host_valid_ = false, device_valid_ = false;
};

}  // namespace jit
