// CUDA's driver behind our interface. One context, the device's primary one, so that other users of the GPU in the
// process (a CUDA-aware MPI) share our addresses.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "jit/gpu/cuda_api.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/ptxas.hpp"
#include "jit/support/bytes.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "jit/support/log.hpp"

namespace jit {
namespace {

using cuda::Api;
using cuda::Result;

constexpr int kOldestComputeCapability = 75;  // PTX of ours needs no older one, and ptxas of CUDA 13 knows no older one
constexpr unsigned kWarp = 32;
/// What free_memory() keeps back for what the driver takes itself: per thread that can run at once the stack of a kernel that
/// spills 10 KB (baryons' contractions do), and code. A kernel that spills more may find no room; then fields must go
/// (OutOfGpuMemory).
constexpr std::size_t kStackBytes = std::size_t{12} << 10, kCodeBytes = std::size_t{256} << 20;
constexpr std::size_t kLogBytes = std::size_t{64} << 10;

std::string error_text(const Api& api, Result result) {
  const char *name = nullptr, *text = nullptr;
  if (api.cuGetErrorName(result, &name) != cuda::kSuccess || name == nullptr) name = "an error unknown to the driver";
  if (api.cuGetErrorString(result, &text) != cuda::kSuccess || text == nullptr) text = "";
  return std::string(name) + " = " + std::to_string(result) + (*text != 0 ? std::string(" (") + text + ")" : "");
}

std::string visible_devices() {
  const char* list = std::getenv("CUDA_VISIBLE_DEVICES");
  return list != nullptr ? "CUDA_VISIBLE_DEVICES=" + std::string(list) : "CUDA_VISIBLE_DEVICES is not set";
}

/// What to do when the driver does not even start, or refuses to open a GPU.
std::string start_advice(Result result) {
  switch (result) {
    case cuda::kNoDevice:
      return "This machine shows no NVIDIA GPU to this process (" + visible_devices() +
             "): ask the batch system for one; TESSERA_DEVICE=cpu runs without";
    case cuda::kStubLibrary:
      return "This is the toolkit's library to link with, not the driver: take its folder out of LD_LIBRARY_PATH";
    case cuda::kSystemDriverMismatch:
      return "The library and the running kernel module are of different versions: after an update of the driver, "
             "reboot; "
             "in a container, use the host's library";
    case cuda::kCompatNotSupportedOnDevice:
      return "This compatibility library does not serve this GPU: take its folder out of LD_LIBRARY_PATH, so that the "
             "driver's own is found";
    case cuda::kSystemNotReady:
      return "The machine's GPU services are not running yet (fabric manager): ask its administrator";
    case cuda::kDeviceUnavailable:
      return "Another process holds this GPU for itself (compute mode): end it, or name another GPU, like "
             "TESSERA_DEVICE=cuda:1";
    case cuda::kOutOfMemory:
      return "Other processes have taken the GPU's memory: nvidia-smi lists them";
    case cuda::kNotPermitted:
    case cuda::kOperatingSystem:
    case cuda::kUnknown:
      return "The kernel module does not answer: see whether nvidia-smi runs here and whether the device files can be "
             "read; TESSERA_DEVICE=cpu runs without a GPU";
    default:
      if (result >= cuda::kMpsConnectionFailed && result <= cuda::kMpsClientTerminated)
        return "The MPS service that shares the GPU refuses: restart it, or unset CUDA_MPS_PIPE_DIRECTORY";
      return "See whether nvidia-smi runs here; TESSERA_DEVICE=cpu runs without a GPU";
  }
}

std::string advice(Result result) {
  switch (result) {
    case cuda::kOutOfMemory:
      return "Bound the memory of fields by TESSERA_MEM_MAX, or use a smaller local lattice";
    case cuda::kUnsupportedPtxVersion:
      return "The driver is older than the PTX that this GPU's kernels need: update it";
    case cuda::kJitCompilerNotFound:
      return "The driver's assembler is missing: libnvidia-ptxjitcompiler.so.1 belongs beside libcuda.so.1";
    case cuda::kJitCompilationDisabled:
      return "Unset CUDA_DISABLE_PTX_JIT";
    case cuda::kEccUncorrectable:
    case cuda::kNvlinkUncorrectable:
    case cuda::kContained:
      return "The hardware failed: nothing computed since the last checkpoint can be trusted; use another GPU";
    case cuda::kLaunchTimeout:
      return "The system ends kernels that run for seconds on this GPU, which also serves a display: use a smaller local "
             "lattice, or another GPU";
    default:
      if (result == cuda::kIllegalAddress || (result >= cuda::kHardwareStackError && result <= cuda::kLaunchFailed))
        return "A kernel failed and the GPU's context is lost: start the program again, with TESSERA_SYNC=1 to see "
               "which "
               "kernel it is";
      return "";
  }
}

[[noreturn]] void fail_at_start(const Api& api, const std::string& call, Result result) {
  throw DeviceError(
      {.what = call, .got = error_text(api, result), .where = api.library, .what_now = start_advice(result)});
}

/// Loads the library and starts it; no GPU is touched.
Api start_api() {
  Api api = cuda::load_api();
  if (const Result result = api.cuInit(0); result != cuda::kSuccess) fail_at_start(api, "cuInit", result);
  return api;
}

int count_devices(const Api& api) {
  int count = 0;
  if (const Result result = api.cuDeviceGetCount(&count); result != cuda::kSuccess)
    fail_at_start(api, "cuDeviceGetCount", result);
  return count;
}

int device_attribute(const Api& api, cuda::DeviceAttribute attribute, cuda::DeviceNumber device) {
  int value = 0;
  if (const Result result = api.cuDeviceGetAttribute(&value, attribute, device); result != cuda::kSuccess)
    fail_at_start(api, "cuDeviceGetAttribute", result);
  return value;
}

cuda::DeviceNumber find_device(const Api& api, int ordinal) {
  const int count = count_devices(api);
  if (ordinal < 0 || ordinal >= count)
    throw DeviceError({.what = "cuda:" + std::to_string(ordinal),
                       .expected = count == 0   ? "a machine with an NVIDIA GPU"
                                   : count == 1 ? "cuda:0, the only GPU here"
                                                : "cuda:0 to cuda:" + std::to_string(count - 1),
                       .got = "number " + std::to_string(ordinal) + " of " + std::to_string(count) + " GPUs",
                       .where = visible_devices(),
                       .what_now = "Name one of them in TESSERA_DEVICE, or unset it to take the first"});
  cuda::DeviceNumber device = 0;
  if (const Result result = api.cuDeviceGet(&device, ordinal); result != cuda::kSuccess)
    fail_at_start(api, "cuDeviceGet", result);
  return device;
}

GpuProperties read_properties(const Api& api, cuda::DeviceNumber device) {
  GpuProperties gpu;
  std::array<char, 256> name{};
  if (const Result result = api.cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, device);
      result != cuda::kSuccess)
    fail_at_start(api, "cuDeviceGetName", result);
  gpu.model = name.data();
  int version = 0;
  if (api.cuDriverGetVersion(&version) == cuda::kSuccess)
    gpu.driver = "CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  gpu.sm = 10 * device_attribute(api, cuda::kComputeCapabilityMajor, device) +
           device_attribute(api, cuda::kComputeCapabilityMinor, device);
  gpu.multiprocessors = device_attribute(api, cuda::kMultiprocessorCount, device);
  gpu.largest_block = device_attribute(api, cuda::kMaxThreadsPerBlock, device);
  gpu.threads_per_multiprocessor = device_attribute(api, cuda::kMaxThreadsPerMultiprocessor, device);
  if (const Result result = api.cuDeviceTotalMem_v2(&gpu.memory, device); result != cuda::kSuccess)
    fail_at_start(api, "cuDeviceTotalMem_v2", result);
  return gpu;
}

// From this length of PTX on (contractions of propagators, whole in registers they would need thousands) the assembler's
// own reordering does harm: at level 1 it takes a quarter to an eighth of the time and spills the same or much less (CUDA
// 13: 2 s and 10 KB instead of 16 s and 320 KB for the baryons' kernel).
constexpr std::size_t kLongText = 400'000;
constexpr int kUsualLevel = 3, kLevelOfLongText = 1;

/// The buffers into which the driver's assembler and loader write, and the options that say so.
class JitLog {
 public:
  explicit JitLog(int registers) : info_(kLogBytes, '\0'), errors_(kLogBytes, '\0') {
    add(cuda::kJitInfoLog, info_.data());
    add(cuda::kJitInfoLogBytes, number(kLogBytes));
    add(cuda::kJitErrorLog, errors_.data());
    add(cuda::kJitErrorLogBytes, number(kLogBytes));
    add(cuda::kJitLogVerbose, number(1));
    if (registers > 0) add(cuda::kJitMaxRegisters, number(static_cast<std::size_t>(registers)));
  }
  JitLog(const JitLog&) = delete;
  JitLog& operator=(const JitLog&) = delete;

  void add(cuda::JitOption option, void* value) {
    options_.push_back(option);
    values_.push_back(value);
  }
  static void* number(std::size_t value) { return reinterpret_cast<void*>(value); }

  unsigned count() const { return static_cast<unsigned>(options_.size()); }
  cuda::JitOption* options() { return options_.data(); }
  void** values() { return values_.data(); }

  std::string info() const { return info_.c_str(); }
  /// The first lines: an assembler that refuses a kernel can have something to say about each of its lines.
  std::string first_errors() const {
    std::string_view text = errors_.c_str();
    std::size_t end = 0;
    for (int line = 0; line < 8 && end < text.size(); ++line) end = std::min(text.find('\n', end), text.size() - 1) + 1;
    text = text.substr(0, std::min<std::size_t>(end, 2000));
    while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
    return std::string(text);
  }

 private:
  std::string info_, errors_;
  std::vector<cuda::JitOption> options_;
  std::vector<void*> values_;
};

/// What a KernelCode of this driver points to.
struct LoadedKernel {
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  unsigned largest_block = 0;
  std::map<unsigned, int> blocks_at_once = {};  ///< by threads per block; the driver takes its time to answer
};

LoadedKernel& kernel_behind(KernelCode code) { return *static_cast<LoadedKernel*>(const_cast<void*>(code)); }

cuda::Stream handle(GpuDriver::Stream stream) { return static_cast<cuda::Stream>(stream); }
cuda::Address number_of(const void* address) { return reinterpret_cast<cuda::Address>(address); }

class CudaDriver final : public GpuDriver {
 public:
  explicit CudaDriver(int ordinal)
      : api_(start_api()), device_(find_device(api_, ordinal)), properties_(read_properties(api_, device_)) {
    if (properties_.sm < kOldestComputeCapability)
      throw DeviceError({.what = "cuda:" + std::to_string(ordinal) + " (\"" + properties_.model + "\")",
                         .expected = "compute capability 7.5 or newer",
                         .got = std::to_string(properties_.sm / 10) + "." + std::to_string(properties_.sm % 10),
                         .what_now = "Name a newer GPU in TESSERA_DEVICE, or run with TESSERA_DEVICE=cpu"});
    if (const Result result = api_.cuDevicePrimaryCtxRetain(&context_, device_); result != cuda::kSuccess)
      fail_at_start(api_,
                    "cuDevicePrimaryCtxRetain for cuda:" + std::to_string(ordinal) + " (\"" + properties_.model + "\")",
                    result);
  }

  ~CudaDriver() override {
    if (api_.cuCtxSetCurrent(context_) == cuda::kSuccess)
      for (const auto& [code, kernel] : kernels_) api_.cuModuleUnload(kernel->module);
    api_.cuDevicePrimaryCtxRelease_v2(device_);
  }

  const GpuProperties& properties() const override { return properties_; }
  std::unique_ptr<Target> make_target() override { return make_nvptx_target(properties_.sm, this); }
  bool assembles_alone() override { return ptxas() == nullptr; }
  std::string assembler() override { return ptxas() != nullptr ? ptxas()->name() : properties_.driver; }

  // ---- memory ----

  void* allocate(std::size_t bytes) override {
    enter();
    cuda::Address address = 0;
    const Result result = api_.cuMemAlloc_v2(&address, bytes);
    if (result == cuda::kOutOfMemory) return nullptr;
    if (result != cuda::kSuccess) fail("cuMemAlloc_v2(" + format_bytes(bytes) + ")", result);
    return reinterpret_cast<void*>(address);
  }

  void free(void* address) noexcept override {
    quietly("cuMemFree_v2", [&] { return api_.cuMemFree_v2(number_of(address)); });
  }

  std::size_t free_memory() override {
    enter();
    std::size_t available = 0, all = 0;
    check(api_.cuMemGetInfo_v2(&available, &all), "cuMemGetInfo_v2");
    const auto threads = static_cast<std::size_t>(properties_.threads_per_multiprocessor * properties_.multiprocessors);
    return available - std::min({available, kStackBytes * threads + kCodeBytes, all / 8});
  }

  void* allocate_pinned(std::size_t bytes) override {
    enter();
    void* address = nullptr;
    constexpr unsigned kFlags = cuda::kHostAllocPortable | cuda::kHostAllocDeviceMap;
    return granted(api_.cuMemHostAlloc(&address, bytes, kFlags), "cuMemHostAlloc") ? address : nullptr;
  }

  void free_pinned(void* address) noexcept override {
    quietly("cuMemFreeHost", [&] { return api_.cuMemFreeHost(address); });
  }

  void* device_address(void* pinned) override {
    enter();
    cuda::Address address = 0;  // the same number wherever addresses are unified
    return granted(api_.cuMemHostGetDevicePointer_v2(&address, pinned, 0), "cuMemHostGetDevicePointer_v2")
               ? reinterpret_cast<void*>(address)
               : nullptr;
  }

  // ---- streams ----

  Stream create_stream() override {
    enter();
    cuda::Stream stream = nullptr;
    // Not blocking: work that a library puts into the default stream must not hold ours up.
    check(api_.cuStreamCreate(&stream, cuda::kStreamNonBlocking), "cuStreamCreate");
    return stream;
  }
  void destroy_stream(Stream stream) noexcept override {
    quietly("cuStreamDestroy_v2", [&] { return api_.cuStreamDestroy_v2(handle(stream)); });
  }
  void synchronize(Stream stream) override {
    enter();
    const Result result = api_.cuStreamSynchronize(handle(stream));
    if (result == cuda::kDeinitialized) return;  // fields of static storage may go after the driver: nothing runs then
    check(result, "cuStreamSynchronize");
  }

  void copy_in(Stream stream, void* device, const void* host, std::size_t bytes) override {
    enter();
    check(api_.cuMemcpyHtoDAsync_v2(number_of(device), host, bytes, handle(stream)), "cuMemcpyHtoDAsync_v2", bytes);
  }
  void copy_out(Stream stream, void* host, const void* device, std::size_t bytes) override {
    enter();
    check(api_.cuMemcpyDtoHAsync_v2(host, number_of(device), bytes, handle(stream)), "cuMemcpyDtoHAsync_v2", bytes);
  }
  void copy_rows_in(Stream stream, void* device, std::size_t device_pitch, const void* host, std::size_t bytes,
                    std::size_t rows) override {
    cuda::Copy2D copy{};
    copy.from_type = cuda::kMemoryHost;
    copy.from_host = host;
    copy.from_pitch = bytes;
    copy.to_type = cuda::kMemoryDevice;
    copy.to_device = number_of(device);
    copy.to_pitch = device_pitch;
    copy_rows(copy, stream, bytes, rows);
  }
  void copy_rows_out(Stream stream, void* host, const void* device, std::size_t device_pitch, std::size_t bytes,
                     std::size_t rows) override {
    cuda::Copy2D copy{};
    copy.from_type = cuda::kMemoryDevice;
    copy.from_device = number_of(device);
    copy.from_pitch = device_pitch;
    copy.to_type = cuda::kMemoryHost;
    copy.to_host = host;
    copy.to_pitch = bytes;
    copy_rows(copy, stream, bytes, rows);
  }
  void clear(Stream stream, void* device, std::size_t bytes) override {
    enter();
    check(api_.cuMemsetD8Async(number_of(device), 0, bytes, handle(stream)), "cuMemsetD8Async", bytes);
  }
  void copy_within(Stream stream, void* to, const void* from, std::size_t bytes) override {
    enter();
    check(api_.cuMemcpyDtoDAsync_v2(number_of(to), number_of(from), bytes, handle(stream)), "cuMemcpyDtoDAsync_v2",
          bytes);
  }

  // ---- events ----

  Event create_event(bool timed) override {
    enter();
    cuda::Event event = nullptr;
    check(api_.cuEventCreate(&event, timed ? cuda::kEventDefault : cuda::kEventDisableTiming), "cuEventCreate");
    return event;
  }
  void destroy_event(Event event) noexcept override {
    quietly("cuEventDestroy_v2", [&] { return api_.cuEventDestroy_v2(static_cast<cuda::Event>(event)); });
  }
  void record(Event event, Stream stream) override {
    enter();
    check(api_.cuEventRecord(static_cast<cuda::Event>(event), handle(stream)), "cuEventRecord");
  }
  void wait(Stream stream, Event event) override {
    enter();
    check(api_.cuStreamWaitEvent(handle(stream), static_cast<cuda::Event>(event), 0), "cuStreamWaitEvent");
  }
  void synchronize_event(Event event) override {
    enter();
    check(api_.cuEventSynchronize(static_cast<cuda::Event>(event)), "cuEventSynchronize");
  }
  double seconds(Event from, Event to) override {
    synchronize_event(to);
    float milliseconds = 0;
    check(api_.cuEventElapsedTime(&milliseconds, static_cast<cuda::Event>(from), static_cast<cuda::Event>(to)),
          "cuEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  // ---- code ----

  /// The driver's assembler has the last word, also about what is wrong with a kernel.
  std::string assemble(const std::string& ptx, int registers, std::string& log) override {
    const bool is_long = ptx.size() > kLongText;
    if (const Ptxas* const program = ptxas()) {
      if (const auto binary = program->assemble(ptx, registers, is_long ? kLevelOfLongText : kUsualLevel, log))
        return *binary;
      log_info("gpu", program->name(), " made no code: ", log);
    }
    enter();
    JitLog notes(registers);
    notes.add(cuda::kJitTargetFromContext, nullptr);
    if (is_long) notes.add(cuda::kJitOptimizationLevel, JitLog::number(kLevelOfLongText));
    cuda::LinkState state = nullptr;
    check(api_.cuLinkCreate_v2(notes.count(), notes.options(), notes.values(), &state), "cuLinkCreate_v2");
    const struct Linker {
      ~Linker() { api.cuLinkDestroy(state); }
      const Api& api;
      cuda::LinkState state;
    } linker{api_, state};

    std::string text = ptx;  // the driver takes it as not constant, and with its final zero
    check_code(api_.cuLinkAddData_v2(state, cuda::kJitInputPtx, text.data(), text.size() + 1, "kernel.ptx", 0, nullptr,
                                     nullptr),
               "cuLinkAddData_v2", notes);
    void* binary = nullptr;
    std::size_t bytes = 0;
    check_code(api_.cuLinkComplete(state, &binary, &bytes), "cuLinkComplete", notes);
    log = notes.info();
    return std::string(static_cast<const char*>(binary), bytes);
  }

  KernelCode load(const std::string& binary, const std::string& symbol, KernelResources& resources) override {
    enter();
    JitLog notes(0);
    auto kernel = std::make_unique<LoadedKernel>();
    with_room([&] {
      check_code(
          api_.cuModuleLoadDataEx(&kernel->module, binary.c_str(), notes.count(), notes.options(), notes.values()),
          "cuModuleLoadDataEx", notes);
    });
    LoadedKernel& loaded = *kernel;
    kernels_[&loaded] = std::move(kernel);  // from here on unloaded with the driver
    try {
      check_code(api_.cuModuleGetFunction(&loaded.function, loaded.module, symbol.c_str()),
                 "cuModuleGetFunction(" + symbol + ")", notes);
      resources.registers = attribute(loaded.function, cuda::kFunctionRegisters);
      resources.spill_bytes = attribute(loaded.function, cuda::kFunctionLocalBytes);
      resources.shared_bytes = attribute(loaded.function, cuda::kFunctionSharedBytes);
      resources.largest_block = attribute(loaded.function, cuda::kFunctionMaxThreadsPerBlock);
    } catch (...) {
      unload(&loaded);
      throw;
    }
    loaded.largest_block = static_cast<unsigned>(std::max(resources.largest_block, 0));
    return &loaded;
  }

  void unload(KernelCode code) noexcept override {
    quietly("cuModuleUnload", [&] { return api_.cuModuleUnload(kernel_behind(code).module); });
    kernels_.erase(code);
  }

  LaunchStatus launch(Stream stream, KernelCode code, unsigned blocks, unsigned threads, const std::uint64_t* packet,
                      std::size_t parameters) override {
    enter();
    const LoadedKernel& kernel = kernel_behind(code);
    // CUDA calls it an invalid value, which could be anything else too.
    if (threads > kernel.largest_block) return LaunchStatus::too_large;
    std::size_t bytes = parameters * sizeof *packet;
    void* extra[] = {JitLog::number(cuda::kLaunchBuffer), const_cast<std::uint64_t*>(packet),
                     JitLog::number(cuda::kLaunchBufferBytes), &bytes, JitLog::number(cuda::kLaunchEnd)};
    const Result result =
        api_.cuLaunchKernel(kernel.function, blocks, 1, 1, threads, 1, 1, 0, handle(stream), nullptr, extra);
    if (result == cuda::kLaunchOutOfResources && threads > kWarp) return LaunchStatus::too_large;
    if (result != cuda::kSuccess)
      fail("cuLaunchKernel(" + std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads, " +
               std::to_string(parameters) + " parameters)",
           result);
    return LaunchStatus::done;
  }

  int blocks_at_once(KernelCode code, unsigned threads) override {
    LoadedKernel& kernel = kernel_behind(code);
    int& blocks = kernel.blocks_at_once[threads];
    if (blocks != 0) return blocks;
    enter();
    check(api_.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel.function, static_cast<int>(threads), 0),
          "cuOccupancyMaxActiveBlocksPerMultiprocessor");
    return blocks = std::max(blocks, 1);
  }

 private:
  /// Makes the context the calling thread's: another library may have set its own since our last call. Ours stays.
  void enter() {
    thread_local std::uint64_t entered = 0;
    cuda::Context current = nullptr;
    if (entered == number_ && api_.cuCtxGetCurrent(&current) == cuda::kSuccess && current == context_) return;
    check(api_.cuCtxSetCurrent(context_), "cuCtxSetCurrent");
    entered = number_;
  }

  /// Whether there was such memory; a system that lacks it says so in several ways, and is only slower without. Throws for
  /// everything else: errors of the work before show in the next call, whichever it is.
  bool granted(Result result, const char* call) const {
    switch (result) {
      case cuda::kSuccess:
        return true;
      case cuda::kOutOfMemory:
      case cuda::kInvalidValue:
      case cuda::kNotPermitted:
      case cuda::kNotSupported:
      case cuda::kOperatingSystem:
        return false;
      default:
        fail(call, result);
    }
  }

  [[noreturn]] void fail(const std::string& call, Result result) const {
    std::string figures;
    std::size_t available = 0, all = 0;
    if (result == cuda::kOutOfMemory && api_.cuMemGetInfo_v2(&available, &all) == cuda::kSuccess)
      figures = format_bytes(available) + " free of " + format_bytes(all);
    const ErrorText text{.what = call + " on \"" + properties_.model + "\"",
                         .got = error_text(api_, result),
                         .where = figures,
                         .what_now = advice(result)};
    if (result == cuda::kOutOfMemory) throw OutOfGpuMemory(text);
    throw DeviceError(text);
  }

  void check(Result result, const char* call) const {
    if (result != cuda::kSuccess) fail(call, result);
  }
  void check(Result result, const char* call, std::size_t bytes) const {
    if (result != cuda::kSuccess) fail(std::string(call) + "(" + format_bytes(bytes) + ")", result);
  }

  /// Code that is refused for what it is was made wrongly; everything else is the machine's fault.
  void check_code(Result result, const std::string& call, const JitLog& notes) const {
    if (result == cuda::kSuccess) return;
    const bool wrong_code = result == cuda::kInvalidPtx || result == cuda::kInvalidImage ||
                            result == cuda::kInvalidSource || result == cuda::kNoBinaryForGpu ||
                            result == cuda::kNotFound || result == cuda::kInvalidValue;
    if (!wrong_code) fail(call, result);
    const std::string errors = notes.first_errors();
    throw InternalError({.what = call + " for sm_" + std::to_string(properties_.sm),
                         .got = error_text(api_, result) + (errors.empty() ? "" : ":\n" + errors + "\n")});
  }

  /// For calls that must not throw. Only the first failure is told: after the loss of a context they all fail. After
  /// the end of main the driver may be gone already.
  template <class Call>
  void quietly(const char* name, Call&& call) noexcept {
    std::string text;
    try {
      enter();
      const Result result = call();
      if (result != cuda::kSuccess && result != cuda::kDeinitialized)
        text = std::string(name) + ": " + error_text(api_, result);
    } catch (const std::exception& error) {
      text = error.what();
    }
    if (!text.empty() && !told_.exchange(true)) log_warn("gpu", text);
  }

  /// The program that makes code here, if there is one whose code the driver takes.
  const Ptxas* ptxas() {
    std::call_once(looked_for_ptxas_, [&] { ptxas_ = find_ptxas(); });
    return ptxas_ ? &*ptxas_ : nullptr;
  }
  std::optional<Ptxas> find_ptxas() {
    int version = 0;
    check(api_.cuDriverGetVersion(&version), "cuDriverGetVersion");
    const auto takes = [&](const std::string& binary) {
      enter();
      cuda::Module module = nullptr;
      if (api_.cuModuleLoadDataEx(&module, binary.c_str(), 0, nullptr, nullptr) != cuda::kSuccess) return false;
      check(api_.cuModuleUnload(module), "cuModuleUnload");
      return true;
    };
    std::string why;
    std::optional<Ptxas> found = Ptxas::find(properties_.sm, version / 1000, takes, why);
    const std::string& wanted = env().ptxas;
    if (!found && wanted != "auto" && wanted != "0")
      throw DeviceError({.what = "TESSERA_PTXAS=" + wanted,
                         .expected = "NVIDIA's assembler ptxas, of CUDA " + std::to_string(version / 1000) +
                                     " or older, with code for sm_" + std::to_string(properties_.sm),
                         .got = why,
                         .what_now = "Name another, or unset it; 0: the driver's own assembler"});
    log_info("gpu", "code is made by ", found ? found->name() : "the driver's assembler: " + why);
    return found;
  }

  int attribute(cuda::Function function, cuda::FunctionAttribute which) const {
    int value = 0;
    check(api_.cuFuncGetAttribute(&value, which, function), "cuFuncGetAttribute");
    return value;
  }

  void copy_rows(cuda::Copy2D& copy, Stream stream, std::size_t bytes, std::size_t rows) {
    enter();
    copy.bytes = bytes;
    copy.rows = rows;
    check(api_.cuMemcpy2DAsync_v2(&copy, handle(stream)), "cuMemcpy2DAsync_v2", bytes * rows);
  }

  static std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const Api api_;
  const cuda::DeviceNumber device_;
  const GpuProperties properties_;
  cuda::Context context_ = nullptr;
  const std::uint64_t number_ = next_number();  ///< contexts of different drivers may have the same address
  std::unordered_map<KernelCode, std::unique_ptr<LoadedKernel>> kernels_;
  std::atomic<bool> told_{false};
  std::once_flag looked_for_ptxas_;
  std::optional<Ptxas> ptxas_;
};

}  // namespace

std::unique_ptr<GpuDriver> open_cuda_driver(int ordinal) { return std::make_unique<CudaDriver>(ordinal); }

std::unique_ptr<GpuDriver> open_next_cuda_driver(int& ordinal) {
  const int count = std::max(count_cuda_devices(), 1);
  ordinal %= count;
  for (int tries = 1; tries < count; ++tries, ordinal = (ordinal + 1) % count) try {
      return open_cuda_driver(ordinal);
    } catch (const DeviceError& error) {
      log_info("gpu", "the next GPU is tried: ", error.what());
    }
  return open_cuda_driver(ordinal);
}

int count_cuda_devices() noexcept {
  try {
    return count_devices(start_api());
  } catch (const std::exception& error) {
    log_debug("gpu", error.what());
    return 0;
  }
}

}  // namespace jit
