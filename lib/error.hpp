// The errors of the physics library. Their text says what, expected, got, where, and what to do now.
#pragma once

#include <stdexcept>
#include <string>

namespace qcd {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An input that cannot be run as it stands: a missing or malformed element, an unknown name, files that do not fit.
class InputError : public Error {
 public:
  using Error::Error;
};

/// A file that cannot be read or written, or whose content is damaged.
class FileError : public Error {
 public:
  using Error::Error;
};

/// Fields of the wrong number, or a parameter outside its range, in a call from C++.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// The numbers went wrong: links that left the group, energies that are not finite, a trajectory that does not repeat.
class NumericsError : public Error {
 public:
  using Error::Error;
};

}  // namespace qcd
