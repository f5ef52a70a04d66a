#include "jit/device/device.hpp"

#include <cstdlib>

#include "jit/device/cpu_device.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace jit {
namespace {

Device* open_wanted() {
  const auto& wanted = env().device;
  if (wanted.empty()) return new CpuDevice;
  std::string names;
  for (const std::string& name : wanted) {
    if (name == "cpu") return new CpuDevice;
    names += (names.empty() ? "" : ",") + name;
  }
  throw DeviceError({.what = "TESSERA_DEVICE",
                     .expected = "a device that is there (cpu)",
                     .got = names,
                     .where = "environment",
                     .what_now = "unset it to take the best device there is"});
}

}  // namespace

Device& process_device() {
  // Never destroyed, so that fields of static storage may die after it; only its threads end with main.
  static Device* device = [] {
    Device* opened = open_wanted();
    std::atexit([] { process_device().set_threads(1); });
    return opened;
  }();
  return *device;
}

}  // namespace jit
