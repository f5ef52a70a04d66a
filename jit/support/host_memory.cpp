#include "jit/support/host_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <utility>

#include "jit/support/private_folder.hpp"

namespace jit {
namespace {

std::optional<HostMemory>& of_process() {
  static auto* memory = new std::optional<HostMemory>;  // the last kernels are made by exit handlers
  return *memory;
}

}  // namespace

HostMemory::HostMemory(Descriptor file, std::size_t bytes, const std::string& name)
    : file_(std::move(file)), bytes_(bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (memory == MAP_FAILED) throw_file_error("map", name, errno);
  memory_ = static_cast<std::byte*>(memory);
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : file_(std::move(other.file_)), memory_(std::exchange(other.memory_, nullptr)), bytes_(other.bytes_) {}

HostMemory::~HostMemory() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
}

HostMemory HostMemory::make(std::size_t bytes, std::string& name) {
  name = "/dev/shm/tessera-XXXXXX";
  Descriptor file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file.open()) throw_file_error("create", name, errno);
  try {
    if (::ftruncate(file.number(), static_cast<off_t>(bytes)) != 0) throw_file_error("make room in", name, errno);
    return {std::move(file), bytes, name};
  } catch (...) {
    forget(name);
    throw;
  }
}

HostMemory HostMemory::open(const std::string& name) {
  Descriptor file(::open(name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC));
  if (!file.open()) throw_file_error("open", name, errno);
  require_own_file(file.number(), name);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) throw_file_error("look at", name, errno);
  return {std::move(file), static_cast<std::size_t>(status.st_size), name};
}

void HostMemory::forget(const std::string& name) noexcept { ::unlink(name.c_str()); }

bool HostMemory::reserve(std::size_t byte, std::size_t bytes) const noexcept {
  return byte <= bytes_ && bytes <= bytes_ - byte &&
         ::posix_fallocate(file_.number(), static_cast<off_t>(byte), static_cast<off_t>(bytes)) == 0;
}

HostMemory* memory_of_host() { return of_process() ? &*of_process() : nullptr; }

void use_memory_of_host(HostMemory memory) { of_process().emplace(std::move(memory)); }

}  // namespace jit
