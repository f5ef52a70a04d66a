// A field: one value of a site type per lattice site, in host order, device order, or both (design D3, D7).
//
// Host order is an array of site structures by host index, as QDP++ programs expect; device order is
// `[block][component][lane]`. A field has up to three sides: host order in host memory, device order in device memory, and
// on devices with a memory of their own an image, device order in host memory: where its contents are after memory ran
// short. Each side has a valid bit. Reading one copies from the cheapest valid other if needed, writing one invalidates
// the others. A side is allocated when it is first used, and the others are given back when one is written (a field takes
// its bytes once).
//
// Statements that wait (deferred.hpp) may read or write a field: then every look at it, but those that change nothing they
// need, runs them first.
//
// Threads: the host side may be asked for, read and written by any number of threads at once, as long as nothing else
// writes the field. The device side belongs to whoever holds the run time's lock (jit/support/lock.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "jit/ir/type.hpp"
#include "jit/memory/deferred.hpp"
#include "jit/memory/host_side.hpp"
#include "jit/memory/residency_place.hpp"

namespace jit {

class Residency;
struct SiteOrder;

class Field {
 public:
  /// `components` words per site. Allocates nothing yet; contents are undefined until first written.
  /// `encoding` other than 0: the words are not the components of a site type, but stand for them in a way that kernels know.
  /// There are no elements and no raw pointers then: host_read and its kin throw UserError.
  Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, Residency& home,
        std::uint8_t encoding = 0);
  /// At home in Residency::instance().
  Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components);
  /// Its device side is `memory` of the device (device_bytes() at a multiple of Device::kAlignment), which lives longer than the field
  /// and stays where it is: what a message carries, for instance.
  Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, void* memory, Residency& home,
        std::uint8_t encoding = 0);
  Field(std::shared_ptr<const SiteOrder> order, ir::Type word, int components, void* memory);
  ~Field();
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;

  ir::Type word() const { return word_; }
  int components() const { return components_; }
  std::uint8_t encoding() const { return encoding_; }
  const SiteOrder& order() const { return *order_; }
  /// Another order of sites for a field that was never written. Throws InternalError for one that was.
  void reorder(std::shared_ptr<const SiteOrder> order);
  std::size_t host_bytes() const;    ///< sites * components * bytes(word)
  std::size_t device_bytes() const;  ///< with padding

  /// Host side for reading; pointer valid until the field is next written by a kernel or destroyed.
  const void* host_read() {
    const void* const words = host_side_.readable();
    return words ? words : host_fetch();
  }
  /// The same, and that of host_overwrite, for whoever moves the words of encoded fields, too, and does not ask what they mean.
  const void* host_words();
  void* overwrite_host_words();
  /// Host side for reading and writing; the other sides become invalid.
  void* host_write() { return host_or_claim(true); }
  /// As host_write, but the present contents need not be preserved.
  void* host_overwrite() { return host_or_claim(false); }
  /// True while the host side may be written directly without a call.
  bool host_current() const { return host_side_.writable() != nullptr; }
  /// For access to single elements.
  const HostSide& host_side() const { return host_side_; }
  /// Its memory, whatever is in it; nullptr: it has none.
  void* host_pointer() const { return host_; }
  /// The host has seen or set what it wanted: its side is given back if the contents are, or can be put, elsewhere.
  void host_done() noexcept;

  /// The address of the device side with the present contents (undefined if the field was never written). On devices with
  /// memory of their own it stays there until the statement after the present one begins (Residency::begin_statement).
  const void* device_read() {
    return (state_ & (kDevice | kTracked | kWriteWaits)) == kDevice ? device_ : device_fetch();
  }
  /// `whole`: every site will be written, the present contents need not be preserved. The other sides are released.
  void* device_write(bool whole) {
    stamp_ = 0;
    return state_ == kDevice ? device_ : device_claim(whole);
  }
  /// Makes sure that device_write(whole) in this statement does not throw, and returns what it will; the contents stay
  /// what they are.
  void* device_reserve(bool whole);

  /// The words of one site without moving the field (peekSite / pokeSite): `site` is a host index, `out` in host order.
  void read_site(std::int64_t site, void* out);
  void write_site(std::int64_t site, const void* in);

  /// The sites of some groups in the order of device memory, without padding: what messages between like devices carry.
  void read_groups(std::int64_t first, std::int64_t count, void* out);
  /// The other groups stay as they are; if the device side did not hold the contents, they are undefined.
  void overwrite_groups(std::int64_t first, std::int64_t count, const void* in);

  /// Exchanges the contents of two fields of the same shape (b = f(shift(b)) through a temporary).
  void swap(Field& other);

  bool ever_written() const { return (state_ & (kSides | kWriteWaits)) != 0; }

  // ---- statements that wait. Under the lock.

  /// One that waits reads the field, or writes it.
  void wait_for_reading() { wait_for(kReadWaits); }
  void wait_for_writing() { wait_for(kWriteWaits); }
  bool is_awaited() const { return (state_ & kAwaited) != 0; }
  /// None waits any more, or they run now.
  void wait_no_more() noexcept;
  /// Runs those that have to come before the field is written, or only read, and what these need.
  void settle() {
    if (is_awaited()) run_deferred(*this);
  }
  void settle_for_reading() {
    if ((state_ & kWriteWaits) != 0) run_deferred(*this);
  }
  /// What should have been written was not, for the reason given: whoever reads it before it is written anew gets a UserError.
  void lose(std::shared_ptr<const std::string> reason) noexcept;

  /// A number that no other contents have or had, of whatever field: what was made from the same contents is the same. 0 while
  /// the host may write without a call. Under the lock.
  std::uint64_t contents();
  /// Whether contents() was called since they were last written.
  bool were_asked_for() const { return stamp_ != 0; }

 private:
  friend class Residency;

  // Bits of state_: the sides that hold the present contents, and whether the device side is in the Residency's ring.
  static constexpr unsigned kHost = 1, kDevice = 2, kImage = 4, kSides = 7, kTracked = 8;
  // And what statements that wait will do with it.
  static constexpr unsigned kReadWaits = 16, kWriteWaits = 32, kAwaited = kReadWaits | kWriteWaits;

  void wait_for(unsigned what) {
    if ((state_ & what) == 0) set_state(state_ | what);
  }
  void refuse_if_lost() const;
  void refuse_if_encoded() const;
  const void* host_fetch();
  void* host_claim(bool keep);
  void* claim_host_words(bool keep);
  void* host_or_claim(bool keep) {
    void* const words = host_side_.writable();
    return words ? words : host_claim(keep);
  }
  const void* device_fetch();
  void* device_claim(bool whole);
  void allocate_host();
  void allocate_device();
  void release_host() noexcept;
  void release_device() noexcept;
  void release_image() noexcept;
  bool leave_device();
  std::size_t device_offset(std::int64_t site) const;
  template <class Copy> void for_each_run(std::int64_t first, std::int64_t count, Copy&& copy) const;
  void set_state(unsigned state) noexcept;

  std::shared_ptr<const SiteOrder> order_;
  ir::Type word_;
  int components_;
  std::uint8_t encoding_;
  std::atomic<unsigned> state_;  // changed by set_state() only, under the lock; ever_written() asks without it
  HostSide host_side_;           // what other threads may see of it without the lock
  void* host_ = nullptr;
  void* device_ = nullptr;
  void* image_ = nullptr;
  std::uint64_t stamp_ = 0;                  ///< of the present contents; 0: none yet
  bool lent_ = false;                        ///< the memory of the device side is somebody else's
  std::shared_ptr<const std::string> lost_;  ///< why there are no contents, if a statement failed
  Residency& home_;
  ResidencyPlace place_;
};

}  // namespace jit
