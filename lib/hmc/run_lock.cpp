#include "lib/hmc/run_lock.hpp"

#include "lib/error.hpp"
#include "qdp.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace qcd {

namespace {

/// "process 1234 on node7", as the holder wrote it.
std::string holder(int descriptor) {
  char text[200];
  const ssize_t got = ::pread(descriptor, text, sizeof text, 0);
  return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "another process";
}

/// The holder removes the file before it lets go of the lock: what was locked may have no name any more.
bool is_still(const std::string& path, int descriptor) {
  struct stat named{}, opened{};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &opened) == 0 && named.st_ino == opened.st_ino &&
         named.st_dev == opened.st_dev;
}

}  // namespace

RunLock::RunLock(const std::string& save_prefix) : path_(save_prefix + ".lock") {
  warning_ = QDP::io::once([&] { return acquire(save_prefix); });
}

std::string RunLock::acquire(const std::string& save_prefix) {
  for (;;) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    if (descriptor_ < 0)
      throw FileError(path_ + ": expected a lock file that can be written, got " + std::strerror(errno) +
                      ". SavePrefix must point to a folder that can be written");
    while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EINTR) continue;
      const int code = errno;
      const std::string who = holder(descriptor_);
      ::close(descriptor_);
      descriptor_ = -1;
      if (code == EWOULDBLOCK)
        throw FileError("SavePrefix " + save_prefix + ": expected no other run, got " + who +
                        ", which holds the lock " + path_ + ". Wait for it, or choose another SavePrefix");
      ::unlink(path_.c_str());
      return path_ + ": this file system has no locks (" + std::strerror(code) +
             "): see to it yourself that no other run has the SavePrefix " + save_prefix;
    }
    if (is_still(path_, descriptor_)) break;
    ::close(descriptor_);
  }
  char host[100] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string who = "process " + std::to_string(::getpid()) + " on " + host;
  [[maybe_unused]] const auto cut = ::ftruncate(descriptor_, 0);
  [[maybe_unused]] const auto written = ::pwrite(descriptor_, who.data(), who.size(), 0);
  return {};
}

RunLock::~RunLock() {
  if (descriptor_ < 0) return;
  ::unlink(path_.c_str());
  ::close(descriptor_);
}

}  // namespace qcd
