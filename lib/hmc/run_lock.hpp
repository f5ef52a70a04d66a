// One run at a time over one SavePrefix: a lock on <SavePrefix>.lock that the system drops when the process ends, however
// it ends.
#pragma once

#include <string>

namespace qcd {

class RunLock {
 public:
  /// Throws FileError if another process holds the lock (the file says which). Where the file system cannot lock (some
  /// network file systems), `warning` says so and nothing is locked.
  explicit RunLock(const std::string& save_prefix);
  ~RunLock();
  RunLock(const RunLock&) = delete;
  RunLock& operator=(const RunLock&) = delete;

  const std::string& warning() const { return warning_; }

 private:
  /// The warning, if there is one.
  std::string acquire(const std::string& save_prefix);

  std::string path_, warning_;
  int descriptor_ = -1;
};

}  // namespace qcd
