// The exception of the XML readers and writers.
#pragma once

#include <string>

#include "jit/support/error.hpp"

namespace QDP {

/// Caught by `catch (const std::string&)`, which is how QDP++ programs handle a missing path, and by
/// `catch (const std::exception&)` or `catch (const jit::UserError&)`.
class XMLError : public std::string, public jit::UserError {
 public:
  template <class S>
  requires std::is_convertible_v<const S&, std::string>
  explicit XMLError(const S& message) : std::string(message), jit::UserError(std::string(message)) {}
  explicit XMLError(const jit::ErrorText& text) : XMLError(jit::format_error(text)) {}
};

}  // namespace QDP
