// Settings of a test that must not outlive it: environment variables, a folder.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>

#include "jit/support/env.hpp"

namespace tests {

/// A folder of its own that goes away.
struct Folder {
  Folder()
      : path(std::filesystem::temp_directory_path() / ("tessera_test_" + std::to_string(std::random_device{}()))) {}
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

/// Sets an environment variable for jit::env() and puts it back.
struct Setting {
  Setting(const char* name, const std::string& value)
      : name_(name), had_(std::getenv(name) != nullptr), old_(had_ ? std::getenv(name) : "") {
    ::setenv(name, value.c_str(), 1);
    jit::reload_env();
  }
  ~Setting() {
    had_ ? ::setenv(name_, old_.c_str(), 1) : ::unsetenv(name_);
    jit::reload_env();
  }
  const char* name_;
  bool had_;
  std::string old_;
};

}  // namespace tests
