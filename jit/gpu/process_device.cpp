#include "jit/gpu/process_device.hpp"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include "jit/device/cpu_device.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/gpu_device.hpp"
#include "jit/support/cores.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

std::unique_ptr<Device> make_cuda(int ordinal, std::unique_ptr<GpuDriver> driver) {
  return std::make_unique<GpuDevice>("cuda:" + std::to_string(ordinal), std::move(driver));
}

/// One that is to be had: each rank of a job has one of its own if there are as many.
std::unique_ptr<Device> open_any_cuda() {
  int ordinal = rank_on_host();
  std::unique_ptr<GpuDriver> driver = open_next_cuda_driver(ordinal);
  return make_cuda(ordinal, std::move(driver));
}

/// A GPU, or nothing: a machine without one, or with none that works, computes on its processor.
std::unique_ptr<Device> open_any_gpu() {
  if (count_cuda_devices() == 0) return nullptr;
  try {
    return open_any_cuda();
  } catch (const DeviceError& error) {
    log_warn("device", "no GPU is used: ", error.what());
    return nullptr;
  }
}

/// TESSERA_DEVICE's word for a device; throws DeviceError if it is not there.
std::unique_ptr<Device> open_named(const std::string& name) {
  if (name == "cpu") return std::make_unique<CpuDevice>();
  if (name == "sim") return std::make_unique<GpuDevice>("sim", open_simulated_driver(simulated_gpu_from_environment()));
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return open_any_cuda();
  const int ordinal = std::stoi(name.substr(colon + 1));
  return make_cuda(ordinal, open_cuda_driver(ordinal));
}

std::unique_ptr<Device> open_wanted() {
  const auto& wanted = env().device;
  if (wanted.empty()) {
    if (auto gpu = open_any_gpu()) return gpu;
    return std::make_unique<CpuDevice>();
  }
  std::string names, reasons;
  for (const std::string& name : wanted) {
    try {
      return open_named(name);
    } catch (const DeviceError& error) {
      names += (names.empty() ? "" : ",") + name;
      reasons += (reasons.empty() ? "" : "; ") + std::string(error.what());
    }
  }
  throw DeviceError({.what = "TESSERA_DEVICE=" + names,
                     .expected = "one of these devices to be there",
                     .got = reasons,
                     .where = "environment",
                     .what_now = "Unset it to take the best device there is"});
}

}  // namespace

Device& process_device() {
  // Never destroyed, so that fields of static storage may die after it; only its threads end with main.
  static Device* device = [] {
    Device* opened = open_wanted().release();
    static const pid_t owner = getpid();  // a process that is forked off has no threads to end
    std::atexit([] {
      if (getpid() == owner) process_device().set_threads(1);
    });
    return opened;
  }();
  return *device;
}

}  // namespace jit
