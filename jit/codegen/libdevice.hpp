// Where NVIDIA's library of elementary functions is on this machine: a file of every CUDA toolkit, found at run time.
#pragma once

#include <string>
#include <vector>

namespace jit {

/// Where libdevice.10.bc may be, in the order of search: the file TESSERA_LIBDEVICE and nothing else, or the toolkits
/// at CUDA_HOME and CUDA_PATH and in the usual places.
std::vector<std::string> libdevice_places();

/// The first that exists. Throws DeviceError naming all of them.
std::string find_libdevice();

}  // namespace jit
