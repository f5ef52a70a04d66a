// The three families of errors, and the one layout of their text: what, expected, got, where, what now.
//
//   throw jit::UserError({.what = "norm2(psi, rb3[2])", .expected = "subset 0..1", .got = "2", .where = "set rb3",
//                         .what_now = "did you mean rb3[1]?"});
#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>

namespace jit {

/// The parts of a message; empty parts are left out.
struct ErrorText {
  std::string what = {};      ///< the operation that failed, as the user wrote it
  std::string expected = {};  ///< what would have been right
  std::string got = {};       ///< what was found instead
  std::string where = {};     ///< file and line, field, kernel, subset
  std::string what_now = {};  ///< what the reader of the message can do
};

/// "what: expected ..., got ... (where). What now." on one line.
std::string format_error(const ErrorText& text);

class Error : public std::runtime_error {
 public:
  // A template, so that a braced list of parts can only be an ErrorText (GCC 12 also tries std::string's constructors).
  template <class S>
  requires std::is_convertible_v<const S&, std::string>
  explicit Error(const S& message) : std::runtime_error(message) {}
  explicit Error(const ErrorText& text) : std::runtime_error(format_error(text)) {}
};

/// Wrong shape, subset, parameter, input file: the caller can correct it.
class UserError : public Error {
  using Error::Error;
};

/// The machine refused: CUDA driver, memory, a lost device.
class DeviceError : public Error {
  using Error::Error;
};

/// The fields of one launch do not fit its memory. Nothing has been launched.
class OutOfMemory : public DeviceError {
  using DeviceError::DeviceError;
};

/// A bug of this library; please report it.
class InternalError : public Error {
  using Error::Error;
};

}  // namespace jit
