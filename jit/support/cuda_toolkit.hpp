// Where CUDA toolkits are on this machine. None is needed: parts of one are used if they are there.
#pragma once

#include <string>
#include <vector>

namespace jit {

/// Folders that may hold one: those that CUDA_HOME and CUDA_PATH name, /usr/local/cuda, and /usr/local/cuda-12.4 and the like,
/// newest first.
std::vector<std::string> cuda_toolkits();

}  // namespace jit
