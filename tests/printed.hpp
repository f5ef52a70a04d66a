// What a process prints to its standard output, also by printf().
#pragma once

#include <cstdio>
#include <functional>
#include <iostream>
#include <string>

#include <unistd.h>

namespace tests {

/// What `body`, which does not throw, prints.
inline std::string printed(const std::function<void()>& body) {
  std::FILE* const file = std::tmpfile();
  std::cout.flush();
  std::fflush(stdout);
  const int before = dup(STDOUT_FILENO);
  dup2(fileno(file), STDOUT_FILENO);
  body();
  std::cout.flush();
  std::fflush(stdout);
  dup2(before, STDOUT_FILENO);
  close(before);
  std::rewind(file);
  std::string text;
  for (int c; (c = std::fgetc(file)) != EOF;) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

}  // namespace tests
