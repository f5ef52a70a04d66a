// What a kernel is found by inside of the process: bytes that say all that shapes its IR. The hash only finds the entry,
// the bytes are compared.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "jit/support/hash.hpp"

namespace jit {

struct TableKey {
  std::span<const std::byte> bytes;
  std::uint64_t hash = 0;  ///< of the bytes, by a rule of their writer's: equal bytes, equal hashes
};

/// Of a text, which must outlive the key.
inline TableKey table_key(std::string_view text) { return {std::as_bytes(std::span(text)), hash_text(text).a}; }

}  // namespace jit
