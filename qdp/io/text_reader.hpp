// TextReader: words and numbers from text, read by the primary process and broadcast.
// At the end of the text, and at a word that is no value of the type, fail() becomes true and reading goes on without effect, as
// with a std::istream: programs read to the end that way. Who never asks is told: close() throws jit::UserError with the first such
// place, open() and the destructor log it.
#pragma once

#include <exception>
#include <iosfwd>
#include <string>
#include <type_traits>

#include "jit/support/owned.hpp"
#include "qdp/io/primary_file.hpp"
#include "qdp/util/multi.hpp"

namespace QDP {

class TextReader {
 public:
  virtual ~TextReader();

  bool fail();                   ///< true from the first value that could not be read
  void read(std::string& word);  ///< up to the next white space
  void read(char& x);
  void read(bool& x);  ///< 0 or 1
  void read(short& x);
  void read(unsigned short& x);
  void read(int& x);
  void read(unsigned int& x);
  void read(long& x);
  void read(unsigned long& x);
  void read(long long& x);
  void read(unsigned long long& x);
  void read(float& x);
  void read(double& x);

 protected:
  virtual std::istream& getIstream() = 0;
  virtual std::string name() const = 0;  ///< for messages
  void throw_unasked();                  ///< a failure after which nobody called fail(); collective
  void log_unasked() noexcept;

 private:
  template <class T>
  void read_word(T& x);
  std::exception_ptr unasked_;
};

class TextBufferReader : public TextReader {
 public:
  TextBufferReader();
  explicit TextBufferReader(const std::string& text);
  ~TextBufferReader() override;

  void open(const std::string& text);
  std::string str() const;             ///< the primary's text, everywhere
  std::string strPrimaryNode() const;  ///< empty elsewhere

 private:
  std::istream& getIstream() override;
  std::string name() const override { return "text buffer"; }
  jit::Owned<std::istringstream> stream_;
};

class TextFileReader : public TextReader {
 public:
  TextFileReader();
  explicit TextFileReader(const std::string& path);
  ~TextFileReader() override;

  void open(const std::string& path);
  bool is_open() const { return file_.is_open(); }
  void close();

 private:
  std::istream& getIstream() override;
  std::string name() const override { return file_.name(); }
  io::PrimaryFile file_;
};

template <class T>
requires requires(TextReader& text, T& x) { text.read(x); } TextReader& operator>>(TextReader& text, T& x) {
  text.read(x);
  return text;
}

/// Reads size() elements.
template <class T>
TextReader& operator>>(TextReader& text, multi1d<T>& a) {
  for (T& x : a) text >> x;
  return text;
}

}  // namespace QDP
