// What errors say.
#pragma once

#include <string>

#include "jit/support/error.hpp"

namespace tests {

/// The text of the jit::UserError that f() throws, or "no error".
template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const jit::UserError& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace tests
