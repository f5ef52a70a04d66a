// A part of a test in a process of its own.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

namespace tests {

/// Runs `body` in a child of this process, and waits; true if it has returned true.
template <class Body>
bool in_child(Body&& body) {
  const pid_t child = fork();
  if (child == 0) {
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    _exit(good ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace tests
