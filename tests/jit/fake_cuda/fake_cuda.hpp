// What tests see of the fake CUDA library that they have loaded: what it shall answer, and what it was asked.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

struct FakeCuda {
  /// Whether calls are written down and may fail by `failures`.
  bool recording = true;

  // ---- answers ----
  int init_result = 0, context_result = 0;
  int devices = 2;
  int compute_capability = 90;
  std::map<std::string, int> failures;  ///< the next call of a function returns this, once
  std::size_t memory = std::size_t{64} << 30, free_memory = std::size_t{48} << 30;
  int registers = 40, local_bytes = 16, shared_bytes = 48, largest_block = 640;
  int threads_at_once = 1100;  ///< of any kernel on a multiprocessor
  std::string info_log = "ptxas info    : Used 40 registers", error_log;
  float milliseconds = 2.5f;
  bool hands_over_sums = true;  ///< launches of kernels with reductions mark their results

  // ---- questions ----
  std::vector<std::string> calls;
  struct Launch {
    const void* function;
    unsigned grid[3], block[3], shared_bytes;
    const void* stream;
    std::vector<std::uint64_t> packet;
  };
  std::vector<Launch> launches;
  std::map<int, std::uint64_t> link_options;  ///< of the last cuLinkCreate_v2; buffers as 1
  std::string ptx;                            ///< with its final zero
  unsigned stream_flags = 99, event_flags = 99, host_alloc_flags = 99;

  /// Sets the calling thread's context, as another library would: nullptr, or any other.
  void (*other_library_sets)(void* context) = nullptr;

  // ---- what is alive ----
  int contexts = 0, allocations = 0, pinned = 0, streams = 0, events = 0, modules = 0, links = 0;

  int count(const std::string& call) const {
    int n = 0;
    for (const std::string& c : calls) n += c == call;
    return n;
  }
};

/// Exported by the fake libraries.
extern "C" FakeCuda* fake_cuda();
