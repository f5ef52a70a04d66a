// A constant array of the host as kernels see it: the array itself where device memory is host memory, otherwise a copy
// made at first use.
#pragma once

#include <cstddef>
#include <utility>

namespace jit {

class DeviceCopy {
 public:
  DeviceCopy() = default;
  ~DeviceCopy() { release(); }
  /// Copies of the owner make their own.
  DeviceCopy(const DeviceCopy&) noexcept {}
  DeviceCopy(DeviceCopy&& other) noexcept { swap(other); }
  DeviceCopy& operator=(DeviceCopy other) noexcept {
    swap(other);
    return *this;
  }

  /// The device's address of `bytes` bytes at `data`, whose contents must be the same at every call with this `data`.
  /// The copy stays where it is and is never driven out. Under the run time's lock. Throws DeviceError when there is no memory.
  const void* address(const void* data, std::size_t bytes) const {
    return data == source_ ? address_ : make(data, bytes);
  }

 private:
  void swap(DeviceCopy& other) noexcept {
    std::swap(source_, other.source_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
  }
  const void* make(const void* data, std::size_t bytes) const;
  void release() const noexcept;

  mutable const void* source_ = nullptr;
  mutable const void* address_ = nullptr;
  mutable std::size_t bytes_ = 0;  // of the copy; 0: there is none
};

}  // namespace jit
