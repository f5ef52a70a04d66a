// The exception of the XML readers and writers.
#pragma once

#include <string>

#include "jit/support/error.hpp"

namespace QDP {

/// Caught by `catch (const std::string&)`, which is how QDP++ programs handle a missing path, and by
/// `catch (const std::exception&)` or `catch (const jit::UserError&)`.
class XMLError : public std::string, public jit::UserError {
 public:
  explicit XMLError(const std::string& message) : std::string(message), jit::UserError(message) {}
  explicit XMLError(const jit::ErrorText& text) : XMLError(jit::format_error(text)) {}
};

}  // namespace QDP
