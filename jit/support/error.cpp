#include "jit/support/error.hpp"

namespace jit {

std::string format_error(const ErrorText& text) {
  std::string message = text.what;
  const auto add = [&message](const char* separator, const char* lead, const std::string& part) {
    if (part.empty()) return;
    if (!message.empty()) message += separator;
    message += lead;
    message += part;
  };
  add(": ", "expected ", text.expected);
  add(text.expected.empty() ? ": " : ", ", "got ", text.got);
  if (!text.where.empty()) message += (message.empty() ? "(" : " (") + text.where + ")";
  add(". ", "", text.what_now);
  return message;
}

}  // namespace jit
