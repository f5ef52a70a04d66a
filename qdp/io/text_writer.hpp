// TextWriter: values as text, written by the primary process, in std::ostream's format and without separators.
// Errors: jit::UserError for a file that cannot be opened or written.
#pragma once

#include <iosfwd>
#include <string>
#include <type_traits>

#include "jit/support/owned.hpp"
#include "qdp/io/primary_file.hpp"
#include "qdp/util/multi.hpp"
#include "qdp/util/primary.hpp"

namespace QDP {

class TextWriter {
 public:
  virtual ~TextWriter();

  virtual void flush() = 0;
  bool fail();
  void write(const std::string& text);
  void write(const char* text);
  void write(char x);
  void write(bool x);  ///< 0 or 1
  void write(short x);
  void write(unsigned short x);
  void write(int x);
  void write(unsigned int x);
  void write(long x);
  void write(unsigned long x);
  void write(long long x);
  void write(unsigned long long x);
  void write(float x);
  void write(double x);

 protected:
  virtual std::ostream& getOstream() = 0;

 private:
  template <class T>
  void write_value(const T& x);
};

class TextBufferWriter : public TextWriter {
 public:
  TextBufferWriter();
  explicit TextBufferWriter(const std::string& text);
  ~TextBufferWriter() override;

  /// Starts with `text`; what is written follows it.
  void open(const std::string& text);
  void flush() override {}
  std::string str() const;             ///< the primary's text, everywhere
  std::string strPrimaryNode() const;  ///< empty elsewhere

 private:
  std::ostream& getOstream() override;
  jit::Owned<std::ostringstream> stream_;
};

class TextFileWriter : public TextWriter {
 public:
  TextFileWriter();
  explicit TextFileWriter(const std::string& path);
  ~TextFileWriter() override;

  void open(const std::string& path);
  bool is_open() const { return file_.is_open(); }
  void close();
  void flush() override;

 private:
  std::ostream& getOstream() override;
  io::PrimaryFile file_;
};

/// Built-in numbers come by value, as on QDPIO::cout; those smaller than short are ints, but for char and bool.
template <class T>
requires(std::is_arithmetic_v<T> && requires(TextWriter& text, T x) { text.write(x); })
TextWriter& operator<<(TextWriter& text, T x) {
  text.write(x);
  return text;
}
template <class T>
requires(!std::is_arithmetic_v<T> && requires(TextWriter& text, const T& x) { text.write(x); })
TextWriter& operator<<(TextWriter& text, const T& x) {
  text.write(x);
  return text;
}

}  // namespace QDP
