// What the fuzz targets share: a file with the bytes in question, and what a reader may do with it.
//
// A reader may accept or refuse. To refuse is an error of the user's kind that says something; a bug of ours
// (InternalError), any other exception, or what a sanitizer finds ends the target.
#pragma once

#include "jit/support/error.hpp"
#include "lib/error.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include <unistd.h>

namespace fuzz {

/// A folder of this process, removed when it exits.
inline const std::string& folder() {
  static const std::string& path = *[] {  // never destroyed: the handler below may come after static objects are gone
    const std::filesystem::path made =
        std::filesystem::temp_directory_path() / ("tessera_fuzz_" + std::to_string(::getpid()));
    std::filesystem::create_directories(made);
    std::filesystem::permissions(made, std::filesystem::perms::owner_all);
    std::atexit([] { std::filesystem::remove_all(folder()); });
    return new std::string(made.string());
  }();
  return path;
}

/// A file there with this content.
inline std::string file_of(const std::uint8_t* data, std::size_t size) {
  const std::string path = folder() + "/input";
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  return path;
}

[[noreturn]] inline void fail(const std::string& what) {
  std::cerr << "fuzz: " << what << std::endl;
  std::abort();
}

/// Runs a reader; true if it accepted.
template <class Read>
bool accepted(const Read& read) {
  const auto refused = [](const std::exception& error) {
    if (std::string(error.what()).empty()) fail("refused without a word");
    return false;
  };
  try {
    read();
    return true;
  } catch (const jit::UserError& error) {
    return refused(error);
  } catch (const qcd::Error& error) {
    return refused(error);
  }
}

}  // namespace fuzz
