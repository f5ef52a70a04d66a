#include "jit/comm/plugin.hpp"

#include <dlfcn.h>

#include <filesystem>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libtessera_mpi.so";

/// The folder of the library or program that this code is in.
std::string own_folder() {
  static const char here = 0;
  Dl_info info{};
  if (dladdr(&here, &info) == 0 || info.dli_fname == nullptr) return "";
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? "" : file.parent_path().string();
}

std::string loader_says() {
  const char* text = dlerror();
  return text != nullptr ? text : "no reason from the loader";
}

[[noreturn]] void refuse(const std::string& file, const std::string& expected, const std::string& got) {
  throw DeviceError({.what = "the plug-in for MPI",
                     .expected = expected,
                     .got = got,
                     .where = file,
                     .what_now = "Build it anew with tessera-build-mpi, or name another one in TESSERA_MPI_LIBRARY"});
}

Plugin plugin_of(void* library, const std::string& file) {
  const auto interface = reinterpret_cast<mpi::InterfaceFunction>(dlsym(library, "tessera_mpi_interface"));
  const auto open = reinterpret_cast<mpi::OpenFunction>(dlsym(library, "tessera_mpi_open"));
  if (interface == nullptr || open == nullptr)
    refuse(file, "a library made of Tessera's tessera_mpi.cpp", "one without its functions");
  if (const int version = interface(); version != mpi::kInterface)
    refuse(file, "version " + std::to_string(mpi::kInterface) + " of the interface",
           "version " + std::to_string(version) + ", of " +
               (version < mpi::kInterface ? "an older Tessera" : "a newer Tessera"));
  return {file, open};
}

}  // namespace

std::vector<std::string> plugin_places() {
  if (!env().mpi_library.empty()) return {env().mpi_library};
  std::vector<std::string> places;
  if (const std::string folder = own_folder(); !folder.empty()) places.push_back(folder + "/" + kName);
  std::error_code error;
  if (const fs::path program = fs::read_symlink("/proc/self/exe", error); !error)
    places.push_back((program.parent_path().parent_path() / "lib" / kName).string());
  places.emplace_back(kName);
  return places;
}

Plugin load_plugin() {
  for (const std::string& place : plugin_places()) {
    const bool is_file = place.find('/') != std::string::npos;
    std::error_code error;
    if (is_file && env().mpi_library.empty() && !fs::exists(place, error)) continue;
    // What MPI itself loads later looks for MPI's functions among those that all can see.
    if (void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL)) return plugin_of(library, place);
    const std::string reason = loader_says();
    if (is_file || !env().mpi_library.empty()) refuse(place, "a library that can be loaded", reason);
  }
  return {};
}

}  // namespace jit
