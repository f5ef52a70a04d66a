#include "qdp/io/stdio.hpp"

#include <iostream>

namespace QDP {

std::ostream& StandardOutputStream::stream() {
  static const std::ios_base::Init ready;  // static constructors elsewhere may print before ours have run
  if (redirect_ != nullptr) return *redirect_;
  return target_ == Target::out ? std::cout : std::cerr;
}

void StandardOutputStream::flush() {
  if (io::is_primary()) stream().flush();
}

bool StandardOutputStream::fail() {
  bool failed = io::is_primary() && stream().fail();
  io::broadcast(failed);
  return failed;
}

StandardOutputStream& StandardOutputStream::operator<<(std::ostream& (*manipulator)(std::ostream&)) {
  if (io::is_primary()) manipulator(stream());
  return *this;
}

StandardOutputStream& StandardOutputStream::operator<<(std::ios_base& (*manipulator)(std::ios_base&)) {
  if (io::is_primary()) manipulator(stream());
  return *this;
}

template StandardOutputStream& StandardOutputStream::put(const char* const&);
template StandardOutputStream& StandardOutputStream::put(const std::string&);
template StandardOutputStream& StandardOutputStream::put(const bool&);
template StandardOutputStream& StandardOutputStream::put(const int&);
template StandardOutputStream& StandardOutputStream::put(const unsigned&);
template StandardOutputStream& StandardOutputStream::put(const long&);
template StandardOutputStream& StandardOutputStream::put(const unsigned long&);
template StandardOutputStream& StandardOutputStream::put(const float&);
template StandardOutputStream& StandardOutputStream::put(const double&);

std::istream& StandardInputStream::stream() {
  static const std::ios_base::Init ready;
  return redirect_ != nullptr ? *redirect_ : std::cin;
}

bool StandardInputStream::fail() {
  bool failed = io::is_primary() && stream().fail();
  io::broadcast(failed);
  return failed;
}

StandardInputStream& StandardInputStream::operator>>(std::string& x) {
  if (io::is_primary()) {
    std::string word;
    if (stream() >> word) x = word;
  }
  io::broadcast(x);
  return *this;
}

namespace QDPIO {

constinit StandardInputStream cin;
constinit StandardOutputStream cout(StandardOutputStream::Target::out);
constinit StandardOutputStream cerr(StandardOutputStream::Target::err);

}  // namespace QDPIO
}  // namespace QDP
