// QDPIO::cout, cerr and cin: the standard streams of the primary process.
#pragma once

#include <iosfwd>
#include <istream>
#include <ostream>
#include <string>
#include <type_traits>

#include "qdp/util/multi.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

namespace io {
/// Significant digits of a type's numbers on QDPIO::cout and cerr, as QDP++ writes them; 0: as the stream has it.
template <class T> inline constexpr int kDigits = 0;
template <> inline constexpr int kDigits<float> = 7;
template <> inline constexpr int kDigits<double> = 15;
template <class T> inline constexpr int kDigits<multi1d<T>> = kDigits<T>;

/// An int to the functions of T's namespace: where T is what std::setprecision() gives, the program has <iomanip>, which takes a
/// twentieth of all that compiling an empty program takes and is not included here.
template <class T> struct IntOfNamespace {
  operator int() const;
};
template <class T> inline constexpr bool kIsPrecision = false;
template <class T> requires std::is_same_v<T, decltype(setprecision(IntOfNamespace<T>()))>
inline constexpr bool kIsPrecision<T> = true;
}  // namespace io

/// Output appears once: only the primary process writes. Takes everything a std::ostream takes, and std manipulators. Numbers
/// have 7 or 15 digits (float, double), or as many as the last std::setprecision said.
class StandardOutputStream {
 public:
  enum class Target { out, err };

  constexpr explicit StandardOutputStream(Target target) : target_(target) {}
  StandardOutputStream(const StandardOutputStream&) = delete;
  StandardOutputStream& operator=(const StandardOutputStream&) = delete;

  /// Sends the output to another stream, which must outlive its use; nullptr goes back to the standard stream.
  void init(std::ostream* os) {
    redirect_ = os;
    own_precision_ = false;
  }
  void flush();
  bool fail();
  bool is_open() const { return true; }

  /// Built-in numbers come by value: a class's `static const int n = 3;` need not be defined anywhere. Small ones other
  /// than char are numbers, not characters, as in QDP++.
  template <class T>
  requires std::is_arithmetic_v<T> StandardOutputStream& operator<<(T x) {
    if constexpr (std::is_same_v<T, signed char> || std::is_same_v<T, unsigned char>)
      return put(static_cast<int>(x));
    else
      return put(x);
  }
  StandardOutputStream& operator<<(const char* text) { return put(text); }
  StandardOutputStream& operator<<(const std::string& text) { return put(text); }
  /// Literals go the way above: this one would be compiled anew for every length.
  template <class T>
  requires(!std::is_arithmetic_v<T> && !std::is_same_v<T, std::string> &&
           !(std::is_array_v<T> && std::is_same_v<std::remove_cv_t<std::remove_extent_t<T>>, char>) &&
           requires(std::ostream& os, const T& x) { os << x; })
  StandardOutputStream& operator<<(const T& x) {
    return put(x);
  }
  StandardOutputStream& operator<<(std::ostream& (*manipulator)(std::ostream&));
  StandardOutputStream& operator<<(std::ios_base& (*manipulator)(std::ios_base&));

  /// The stream behind it; use it on the primary process only.
  std::ostream& stream();

 private:
  template <class T>
  StandardOutputStream& put(const T& x);

  Target target_;
  std::ostream* redirect_ = nullptr;
  bool own_precision_ = false;  // the program has set one
};

template <class T>
StandardOutputStream& StandardOutputStream::put(const T& x) {
  if (!io::is_primary()) return *this;
  std::ostream& os = stream();
  if constexpr (io::kDigits<T> > 0) {
    const std::streamsize before = os.precision();
    if (!own_precision_) os.precision(io::kDigits<T>);
    os << x;
    os.precision(before);
  } else {
    os << x;
    own_precision_ = own_precision_ || io::kIsPrecision<T>;
  }
  return *this;
}
extern template StandardOutputStream& StandardOutputStream::put(const char* const&);
extern template StandardOutputStream& StandardOutputStream::put(const std::string&);
extern template StandardOutputStream& StandardOutputStream::put(const bool&);
extern template StandardOutputStream& StandardOutputStream::put(const int&);
extern template StandardOutputStream& StandardOutputStream::put(const unsigned&);
extern template StandardOutputStream& StandardOutputStream::put(const long&);
extern template StandardOutputStream& StandardOutputStream::put(const unsigned long&);
extern template StandardOutputStream& StandardOutputStream::put(const float&);
extern template StandardOutputStream& StandardOutputStream::put(const double&);

/// The primary process reads, all get the value. A value that does not parse sets fail() and leaves the variable alone.
class StandardInputStream {
 public:
  constexpr StandardInputStream() = default;
  StandardInputStream(const StandardInputStream&) = delete;
  StandardInputStream& operator=(const StandardInputStream&) = delete;

  void init(std::istream* is) { redirect_ = is; }
  bool fail();
  bool is_open() const { return true; }

  StandardInputStream& operator>>(std::string& x);
  template <class T>
  requires std::is_arithmetic_v<T> StandardInputStream& operator>>(T& x) {
    if (io::is_primary()) {
      T value{};
      if (stream() >> value) x = value;
    }
    io::broadcast(x);
    return *this;
  }

  std::istream& stream();

 private:
  std::istream* redirect_ = nullptr;
};

/// Reads size() elements.
template <class T>
StandardInputStream& operator>>(StandardInputStream& s, multi1d<T>& a) {
  for (T& x : a) s >> x;
  return s;
}

namespace QDPIO {

extern StandardInputStream cin;
extern StandardOutputStream cout;
extern StandardOutputStream cerr;

}  // namespace QDPIO
}  // namespace QDP
