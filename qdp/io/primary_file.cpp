#include "qdp/io/primary_file.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "qdp/util/primary.hpp"

namespace QDP::io {
namespace {

using Mode = std::ios_base;

const char* advice(Mode::openmode mode) {
  if (!(mode & Mode::in)) return "check the folder and the permissions";
  if (!(mode & Mode::out)) return "check the name and the permissions";
  return "check the name; a new file needs std::ios_base::trunc";
}

}  // namespace

PrimaryFile::PrimaryFile(const char* user) : user_(user), stream_(std::make_unique<std::fstream>()) {}

PrimaryFile::~PrimaryFile() {
  if (!close_stream()) jit::log_error("io", name(), " is not complete: write error");
}

void PrimaryFile::open(const std::string& path, std::ios_base::openmode mode) {
  close();
  path_ = path;
  mode_ = mode;
  on_primary([&] {
    stream_->open(path, mode);
    if (!stream_->is_open())
      throw jit::UserError(
          {.what = std::string(user_) + ": open " + name(), .got = std::strerror(errno), .what_now = advice(mode)});
  });
  open_ = true;
}

void PrimaryFile::close() {
  if (!open_) return;
  open_ = false;
  if (!(mode_ & Mode::out)) {
    close_stream();
    return;
  }
  on_primary([&] {
    if (!close_stream())
      throw jit::UserError({.what = std::string(user_) + ": " + name() + " is not complete",
                            .got = "a write error",
                            .what_now = "check the free disk space"});
  });
}

bool PrimaryFile::close_stream() {
  if (!stream_->is_open()) return true;
  // A read past the end fails, too, but is not bad.
  const bool failed = mode_ & Mode::in ? stream_->bad() : stream_->fail();
  stream_->clear();
  stream_->close();
  const bool closed = !stream_->fail();
  stream_->clear();
  return (!failed && closed) || !(mode_ & Mode::out);
}

void PrimaryFile::flush() {
  if (stream_->is_open()) stream_->flush();
}

std::iostream& PrimaryFile::stream() const {
  if (!open_)
    throw jit::UserError(
        {.what = user_, .expected = "an open file", .got = "a closed one", .what_now = "call open first"});
  return *stream_;
}

}  // namespace QDP::io
