// A file that the primary process has open, and of which all processes know that it is.
#pragma once

#include "jit/support/owned.hpp"

#include <ios>
#include <iosfwd>
#include <string>

namespace QDP::io {

class PrimaryFile {
 public:
  /// `user`: the class that messages name.
  explicit PrimaryFile(const char* user);
  /// Closes it; an error of writing goes to the log.
  ~PrimaryFile();
  PrimaryFile(const PrimaryFile&) = delete;
  PrimaryFile& operator=(const PrimaryFile&) = delete;

  /// Closes what was open. Throws jit::UserError on every process if the primary cannot open it.
  void open(const std::string& path, std::ios_base::openmode mode);
  /// Throws jit::UserError on every process if not all could be written. Nothing if it is closed already.
  void close();
  void flush();
  bool is_open() const { return open_; }

  /// The primary's stream, and elsewhere one without a file. Throws jit::UserError if it is closed.
  std::iostream& stream() const;
  /// The path in quotes, for messages.
  std::string name() const { return "\"" + path_ + "\""; }

 private:
  /// Whether all was written that was to be.
  bool close_stream();

  const char* user_;
  jit::Owned<std::fstream> stream_;
  std::string path_;
  std::ios_base::openmode mode_{};
  bool open_ = false;
};

}  // namespace QDP::io
