#include "jit/gpu/cuda_api.hpp"

#include <dlfcn.h>

#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit::cuda {
namespace {

/// The file that holds a symbol of the library.
std::string file_of(void* symbol, const std::string& otherwise) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : otherwise;
}

}  // namespace

Api load_api() {
  const std::string name = env().libcuda;
  void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    throw DeviceError({.what = "the CUDA driver",
                       .expected = "the library " + name,
                       .got = reason != nullptr ? reason : "no reason from the loader",
                       .where = name.find('/') == std::string::npos ? "looked for where the system looks for libraries"
                                                                    : "TESSERA_LIBCUDA",
                       .what_now = "Install NVIDIA's driver, add the folder of its library to LD_LIBRARY_PATH or set "
                                   "TESSERA_LIBCUDA to the file; TESSERA_DEVICE=cpu runs without a GPU"});
  }

  Api api;
  std::string missing;
  int missing_count = 0;
#define TESSERA_ROW(symbol, parameters)                                                                                \
  if (void* address = dlsym(library, #symbol); address != nullptr) {                                                   \
    api.symbol = reinterpret_cast<Result(*) parameters>(address);                                                      \
    if (api.library.empty()) api.library = file_of(address, name);                                                     \
  } else if (++missing_count <= 3) {                                                                                   \
    missing += (missing.empty() ? "" : ", ") + std::string(#symbol);                                                   \
  }
  TESSERA_CUDA_FUNCTIONS(TESSERA_ROW)
#undef TESSERA_ROW
  if (missing_count > 0) {
    dlclose(library);
    throw DeviceError({.what = "the CUDA driver",
                       .expected = "all functions of CUDA 11.0 or newer",
                       .got = "a library without " + missing +
                              (missing_count > 3 ? " and " + std::to_string(missing_count - 3) + " more" : ""),
                       .where = api.library.empty() ? name : api.library,
                       .what_now =
                           "Update NVIDIA's driver, or set TESSERA_LIBCUDA to the library of the one that runs; "
                           "TESSERA_DEVICE=cpu runs without a GPU"});
  }
  return api;
}

}  // namespace jit::cuda
