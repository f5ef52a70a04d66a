// Objects of the assembler: code for any address, with a table of what it calls at its end.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "jit/ir/abi.hpp"

namespace jit {

/// `symbol`: the function's name. `instructions`: how many bytes of the code, its first, are such. `callees`: names of what is called; their addresses, eight bytes
/// each, are the last of the code.
std::string assembled_object(const std::string& symbol, std::span<const std::byte> code, std::size_t instructions,
                             std::span<const std::string> callees);

/// Whether an object is one of assembled_object().
bool is_assembled(const std::string& object);

/// The instructions of such an object.
std::span<const std::byte> instructions_of(const std::string& object);

/// Such objects in this process. The function begins where the code does.
class AssembledCode {
 public:
  /// Code may call what all code for this machine may: callable_symbols().
  AssembledCode();
  ~AssembledCode();
  /// Throws InternalError if the object is damaged or another function's, DeviceError if there is no memory for it.
  KernelCode load(const std::string& object, const std::string& symbol);
  /// False: load() has not returned it. Otherwise it is gone now.
  bool unload(KernelCode code) noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jit
