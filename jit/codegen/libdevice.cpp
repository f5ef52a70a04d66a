#include "jit/codegen/libdevice.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "jit/support/cuda_toolkit.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {

namespace {

/// A file named from the folder of the library (or program) that holds this code; empty if that is not known.
std::string beside_this_library(const char* name) {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&libdevice_places), &info) == 0 || info.dli_fname == nullptr) return {};
  return (std::filesystem::path(info.dli_fname).parent_path() / name).lexically_normal().string();
}

}  // namespace

std::vector<std::string> libdevice_places() {
  if (!env().libdevice.empty()) return {env().libdevice};
  std::vector<std::string> places;
  for (const std::string& toolkit : cuda_toolkits()) places.push_back(toolkit + "/nvvm/libdevice/libdevice.10.bc");
  if (const std::string bundled = beside_this_library("../share/tessera/libdevice.10.bc"); !bundled.empty())
    places.push_back(bundled);
  places.push_back("/usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc");
  return places;
}

std::string find_libdevice() {
  const std::vector<std::string> places = libdevice_places();
  std::string list;
  for (const std::string& place : places) {
    std::error_code error;
    if (std::filesystem::is_regular_file(place, error)) return place;
    list += (list.empty() ? "" : ", ") + place;
  }
  throw DeviceError({.what = "libdevice, which holds the elementary functions (sin, exp, ...) of NVIDIA GPUs",
                     .expected = "the file libdevice.10.bc of a CUDA toolkit",
                     .got = "no file " + list,
                     .what_now = "Set TESSERA_LIBDEVICE to its path"});
}

}  // namespace jit
