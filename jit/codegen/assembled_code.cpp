#include "jit/codegen/assembled_code.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "jit/codegen/cpu_target.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

/// What an object begins with. Behind it lie the code with all that it reads, its name, and the names of what it calls, one per line.
struct Header {
  char magic[8];
  std::uint64_t bytes;         ///< of the code
  std::uint64_t instructions;  ///< bytes of them
  std::uint64_t callees;       ///< how many
};
constexpr char kMagic[] = {'T', 'S', 'R', 'A', 'S', 'M', '0', '1'};
constexpr std::size_t kAddress = sizeof(std::uint64_t);
/// Bytes before a function: sanitizers of calls (clang's -fsanitize=function) look there for its type. As many as code is aligned to.
constexpr std::size_t kBefore = 64;

[[noreturn]] void damaged(const std::string& expected, const std::string& got) {
  throw InternalError({.what = "object of the assembler", .expected = expected, .got = got});
}

}  // namespace

std::string assembled_object(const std::string& symbol, std::span<const std::byte> code, std::size_t instructions,
                             std::span<const std::string> callees) {
  Header header{};
  std::copy(std::begin(kMagic), std::end(kMagic), header.magic);
  header.bytes = code.size();
  header.instructions = instructions;
  header.callees = callees.size();
  std::string object(reinterpret_cast<const char*>(&header), sizeof header);
  object.append(reinterpret_cast<const char*>(code.data()), code.size());
  object += symbol + '\n';
  for (const std::string& name : callees) object += name + '\n';
  return object;
}

bool is_assembled(const std::string& object) {
  return object.size() >= sizeof(Header) && std::equal(std::begin(kMagic), std::end(kMagic), object.begin());
}

std::span<const std::byte> instructions_of(const std::string& object) {
  Header header{};
  std::memcpy(&header, object.data(), sizeof header);
  return {reinterpret_cast<const std::byte*>(object.data()) + sizeof header, header.instructions};
}

struct AssembledCode::State {
  std::unordered_map<std::string, std::uint64_t> symbols;
  std::unordered_map<KernelCode, std::size_t> sizes;

  static void unmap(KernelCode code, std::size_t size) {
    munmap(static_cast<std::byte*>(const_cast<void*>(code)) - kBefore, size);
  }
};

AssembledCode::AssembledCode() : state_(std::make_unique<State>()) {
  for (const auto& [name, address] : callable_symbols())
    state_->symbols[name] = reinterpret_cast<std::uint64_t>(address);
}
AssembledCode::~AssembledCode() {
  for (const auto& [code, size] : state_->sizes) State::unmap(code, size);
}

KernelCode AssembledCode::load(const std::string& object, const std::string& symbol) {
  Header header{};
  std::memcpy(&header, object.data(), sizeof header);
  const std::size_t behind = object.size() - sizeof header;
  if (header.bytes == 0 || header.bytes > behind || header.callees > header.bytes / kAddress)
    damaged(std::to_string(header.bytes) + " bytes of code", std::to_string(behind));
  std::vector<std::uint64_t> addresses;
  std::size_t at = sizeof header + header.bytes;
  const auto next_name = [&] {
    const std::size_t end = std::min(object.find('\n', at), object.size());
    std::string name = object.substr(at, end - at);
    at = end + 1;
    return name;
  };
  if (const std::string name = next_name(); name != symbol) damaged(symbol, name);
  for (std::uint64_t i = 0; i < header.callees; ++i) {
    const std::string name = at < object.size() ? next_name() : "";
    const auto known = state_->symbols.find(name);
    if (known == state_->symbols.end()) damaged("a function that code may call", name);
    addresses.push_back(known->second);
  }
  if (at != object.size()) damaged("names of " + std::to_string(header.callees) + " functions", "more");

  const std::size_t size = kBefore + header.bytes;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    throw DeviceError(
        {.what = "memory for code", .expected = std::to_string(size) + " bytes", .got = std::strerror(errno)});
  std::byte* const bytes = static_cast<std::byte*>(memory) + kBefore;
  std::memcpy(bytes, object.data() + sizeof header, header.bytes);
  const std::size_t table = addresses.size() * kAddress;
  if (table > 0) std::memcpy(bytes + header.bytes - table, addresses.data(), table);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {
    const std::string reason = std::strerror(errno);
    munmap(memory, size);
    throw DeviceError({.what = "memory for code", .expected = "that it may be executed", .got = reason});
  }
  state_->sizes.emplace(bytes, size);
  return bytes;
}

bool AssembledCode::unload(KernelCode code) noexcept {
  const auto found = state_->sizes.find(code);
  if (found == state_->sizes.end()) return false;
  State::unmap(code, found->second);
  state_->sizes.erase(found);
  return true;
}

}  // namespace jit
