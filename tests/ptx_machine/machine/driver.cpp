// The functions of CUDA's driver that Tessera uses, with the machine behind them. See ../README.md for the variables.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "jit/gpu/cuda_api.hpp"
#include "machine.hpp"
#include "memory.hpp"
#include "streams.hpp"

using namespace jit::cuda;
namespace pm = ptx_machine;

namespace {

constexpr Result kInvalidContext = 201, kInvalidHandle = 400, kNotReady = 600;
constexpr char kMagic[] = "PTXMACH1";  // of what cuLinkComplete gives: the magic, the length, the text

std::uint64_t number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == 0) return otherwise;
  char* end = nullptr;
  const auto value = std::strtoull(text, &end, 10);
  if (*end != 0) {
    std::fprintf(stderr, "ptx machine: %s is a number, got \"%s\"\n", name, text);
    std::abort();
  }
  return value;
}

struct LoadedFunction {
  const pm::Code* code = nullptr;
  std::uint64_t launches = 0;
};
struct LoadedModule {
  std::unique_ptr<pm::Module> module;
  std::vector<const LoadedFunction*> functions;
};
struct Link {
  std::string binary;
  std::vector<std::pair<JitOption, void*>> options;
};

using EventPointer = std::shared_ptr<pm::Event>;

/// What a handle points to, owned by the context: a handle that is not in here is refused.
template <class T>
class Handles {
 public:
  T* add(std::unique_ptr<T> object) {
    const std::lock_guard lock(mutex_);
    T* made = object.get();
    objects_.emplace(made, std::move(object));
    return made;
  }
  T* find(const void* handle) {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(static_cast<const T*>(handle));
    return found == objects_.end() ? nullptr : found->second.get();
  }
  std::unique_ptr<T> take(const void* handle) {
    const std::lock_guard lock(mutex_);
    auto node = objects_.extract(static_cast<const T*>(handle));
    return node.empty() ? nullptr : std::move(node.mapped());
  }

 private:
  std::mutex mutex_;
  std::map<const T*, std::unique_ptr<T>> objects_;
};

struct Device {
  std::uint64_t seed = number("PTX_MACHINE_SEED", 1);
  pm::Memory memory{number("PTX_MACHINE_MEMORY_MB", 16384) << 20, seed};
  pm::Machine machine{memory, number("PTX_MACHINE_INSTRUCTIONS", 4'000'000'000ull)};
  Handles<LoadedModule> modules_loaded;
  Handles<LoadedFunction> functions;
  Handles<Link> links;
  Handles<EventPointer> events;
  pm::Streams streams{seed};
  pm::Stream* default_stream = streams.create();
  std::uint64_t checked_first = number("PTX_MACHINE_CHECK_FIRST", 2);
  std::uint64_t checked_then = number("PTX_MACHINE_CHECK_EVERY", 64);
  int multiprocessors = static_cast<int>(number("PTX_MACHINE_MULTIPROCESSORS", 8));
  int contexts = 0;
  std::uint64_t launches = 0, checked = 0, modules = 0;
  std::string report = std::getenv("PTX_MACHINE_REPORT") != nullptr ? std::getenv("PTX_MACHINE_REPORT") : "";
};
std::atomic<Device*> device_now{nullptr};
Device& device() { return *device_now; }
thread_local Context current = nullptr;
ContextHandle* the_context() { return reinterpret_cast<ContextHandle*>(device_now.load()); }

Result in_context() {
  if (device_now == nullptr) return kDeinitialized;
  if (current == nullptr) return kInvalidContext;
  return device().streams.error();
}
#define IN_CONTEXT                                                                                                     \
  if (const Result result = in_context()) return result

pm::Stream* to_stream(Stream stream) {
  return stream == nullptr ? device().default_stream : reinterpret_cast<pm::Stream*>(stream);
}
#define KNOWN_STREAM(stream)                                                                                           \
  if (!device().streams.known(to_stream(stream))) return kInvalidHandle
void write_log(const std::vector<std::pair<JitOption, void*>>& options, JitOption buffer, JitOption bytes,
               const std::string& text) {
  char* to = nullptr;
  std::size_t room = 0;
  for (const auto& [option, value] : options) {
    if (option == buffer) to = static_cast<char*>(value);
    if (option == bytes) room = reinterpret_cast<std::size_t>(value);
  }
  if (to == nullptr || room == 0) return;
  std::strncpy(to, text.c_str(), room - 1);
  to[room - 1] = 0;
}
std::vector<std::pair<JitOption, void*>> table(unsigned count, const JitOption* options, void** values) {
  std::vector<std::pair<JitOption, void*>> list;
  for (unsigned i = 0; i < count; ++i) list.emplace_back(options[i], values[i]);
  return list;
}

std::uint64_t place_variable(std::uint64_t bytes, void*) { return device().memory.allocate(bytes); }

std::unique_ptr<pm::Module> decode(std::string_view text) {
  pm::ModuleOptions options;
  options.drop = static_cast<int>(number("PTX_MACHINE_DROP", 1'000'000));
  auto module = pm::decode(text, options, place_variable, nullptr);
  for (const auto& v : module->variables) {
    pm::Allocation* a = device().memory.find(v->address, std::max<std::uint64_t>(v->bytes, 1));
    std::memcpy(a->host, v->initial.data(), v->initial.size());
  }
  return module;
}
void drop_variables(const pm::Module& module) {
  for (const auto& v : module.variables) device().memory.free(v->address);
}

/// Where a copy goes to or comes from on the device: its memory, checked.
char* device_bytes(Address address, std::size_t bytes, const char* what) {
  pm::Allocation* a = device().memory.find(address, bytes);
  if (a == nullptr)
    throw pm::KernelError(kIllegalAddress, std::string(what) + ": " + device().memory.describe(address, bytes));
  return a->host + (address - a->address);
}
bool outside(Address address, std::size_t bytes) { return device().memory.find(address, bytes) == nullptr; }

}  // namespace

extern "C" {

/// What went wrong last, for tests: "" if nothing did.
const char* ptx_machine_error() {
  static thread_local std::string text;
  text = device_now == nullptr ? "" : device().streams.error_text();
  return text.c_str();
}
/// Launches so far; of which with all checks.
std::uint64_t ptx_machine_launches() { return device_now == nullptr ? 0 : device().launches; }
std::uint64_t ptx_machine_checked() { return device_now == nullptr ? 0 : device().checked; }

/// Some programs leave without giving the device back.
__attribute__((destructor)) static void write_report() {
  if (device_now == nullptr || device().report.empty()) return;
  if (std::FILE* file = std::fopen(device().report.c_str(), "a")) {
    std::fprintf(file, "%llu launches, %llu checked, %llu modules, error: %s\n",
                 static_cast<unsigned long long>(device().launches), static_cast<unsigned long long>(device().checked),
                 static_cast<unsigned long long>(device().modules), ptx_machine_error());
    std::fclose(file);
  }
}

Result cuInit(unsigned) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return kNoDevice;  // what it is compiled for
#endif
  return kSuccess;
}
Result cuDriverGetVersion(int* version) {
  *version = 12080;
  return kSuccess;
}
Result cuGetErrorName(Result error, const char** name) {
  switch (error) {
    case kSuccess:
      *name = "CUDA_SUCCESS";
      break;
    case kInvalidValue:
      *name = "CUDA_ERROR_INVALID_VALUE";
      break;
    case kOutOfMemory:
      *name = "CUDA_ERROR_OUT_OF_MEMORY";
      break;
    case kDeinitialized:
      *name = "CUDA_ERROR_DEINITIALIZED";
      break;
    case kNoDevice:
      *name = "CUDA_ERROR_NO_DEVICE";
      break;
    case kInvalidImage:
      *name = "CUDA_ERROR_INVALID_IMAGE";
      break;
    case kInvalidContext:
      *name = "CUDA_ERROR_INVALID_CONTEXT";
      break;
    case kInvalidPtx:
      *name = "CUDA_ERROR_INVALID_PTX";
      break;
    case kInvalidHandle:
      *name = "CUDA_ERROR_INVALID_HANDLE";
      break;
    case kNotFound:
      *name = "CUDA_ERROR_NOT_FOUND";
      break;
    case kIllegalAddress:
      *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
      break;
    case kLaunchOutOfResources:
      *name = "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES";
      break;
    case kLaunchTimeout:
      *name = "CUDA_ERROR_LAUNCH_TIMEOUT";
      break;
    case 715:
      *name = "CUDA_ERROR_ILLEGAL_INSTRUCTION";
      break;
    case 716:
      *name = "CUDA_ERROR_MISALIGNED_ADDRESS";
      break;
    case kLaunchFailed:
      *name = "CUDA_ERROR_LAUNCH_FAILED";
      break;
    case kUnknown:
      *name = "CUDA_ERROR_UNKNOWN";
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
Result cuGetErrorString(Result error, const char** text) {
  static thread_local std::string words;
  words = device_now != nullptr && error == device().streams.error() ? device().streams.error_text() : "";
  *text = words.c_str();
  return kSuccess;
}
Result cuDeviceGetCount(int* count) {
  *count = 1;
  return kSuccess;
}
Result cuDeviceGet(DeviceNumber* number, int ordinal) {
  if (ordinal != 0) return 101;
  *number = 0;
  return kSuccess;
}
Result cuDeviceGetName(char* name, int bytes, DeviceNumber) {
  std::snprintf(name, static_cast<std::size_t>(bytes), "PTX machine");
  return kSuccess;
}
Result cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceNumber) {
  switch (attribute) {
    case kMaxThreadsPerBlock:
      *value = 1024;
      break;
    case kMultiprocessorCount:
      *value = static_cast<int>(number("PTX_MACHINE_MULTIPROCESSORS", 8));
      break;
    case kMaxThreadsPerMultiprocessor:
      *value = 2048;
      break;
    case kComputeCapabilityMajor:
      *value = 9;
      break;
    case kComputeCapabilityMinor:
      *value = 0;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber) {
  *bytes = number("PTX_MACHINE_MEMORY_MB", 16384) << 20;
  return kSuccess;
}
Result cuDevicePrimaryCtxRetain(Context* context, DeviceNumber) {
  if (device_now == nullptr) device_now = new Device;
  ++device().contexts;
  *context = the_context();
  return kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(DeviceNumber) {
  if (device_now == nullptr) return kDeinitialized;
  if (--device().contexts > 0) return kSuccess;
  device().streams.synchronize_all();
  write_report();
  current = nullptr;
  delete device_now.exchange(nullptr);
  return kSuccess;
}
Result cuCtxGetCurrent(Context* context) {
  *context = current;
  return kSuccess;
}
Result cuCtxSetCurrent(Context context) {
  if (context != nullptr && context != the_context()) return kInvalidContext;
  current = context;
  return kSuccess;
}

// ---- memory ----

Result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* all_bytes) {
  IN_CONTEXT;
  *free_bytes = device().memory.available();
  *all_bytes = device().memory.total();
  return kSuccess;
}
Result cuMemAlloc_v2(Address* address, std::size_t bytes) {
  IN_CONTEXT;
  if (bytes == 0) return kInvalidValue;
  *address = device().memory.allocate(bytes);
  return *address == 0 ? kOutOfMemory : kSuccess;
}
Result cuMemFree_v2(Address address) {
  IN_CONTEXT;
  device().streams.synchronize_all();
  IN_CONTEXT;
  return device().memory.free(address) ? kSuccess : kInvalidValue;
}
Result cuMemHostAlloc(void** address, std::size_t bytes, unsigned) {
  IN_CONTEXT;
  *address = device().memory.allocate_pinned(bytes);
  return *address == nullptr ? kOutOfMemory : kSuccess;
}
Result cuMemHostGetDevicePointer_v2(Address* address, void* host, unsigned flags) {
  IN_CONTEXT;
  *address = device().memory.device_address(host);
  return flags == 0 && *address != 0 ? kSuccess : kInvalidValue;
}
Result cuMemFreeHost(void* address) {
  IN_CONTEXT;
  device().streams.synchronize_all();
  return device().memory.free_pinned(address) ? kSuccess : kInvalidValue;
}

// Host memory that is not pinned is read before the call returns, and written before it returns.
Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  if (outside(to, bytes)) return kInvalidValue;
  if (device().memory.is_pinned(from, bytes)) {
    device().streams.put(to_stream(stream),
                         [=] { std::memcpy(device_bytes(to, bytes, "copy to the device"), from, bytes); });
  } else {
    auto staged = std::make_shared<std::string>(static_cast<const char*>(from), bytes);
    device().streams.put(to_stream(stream),
                         [=] { std::memcpy(device_bytes(to, bytes, "copy to the device"), staged->data(), bytes); });
  }
  return kSuccess;
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  if (outside(from, bytes)) return kInvalidValue;
  device().streams.put(to_stream(stream),
                       [=] { std::memcpy(to, device_bytes(from, bytes, "copy to the host"), bytes); });
  if (device().memory.is_pinned(to, bytes)) return kSuccess;
  device().streams.synchronize(to_stream(stream));
  return device().streams.error();
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  if (outside(to, bytes) || outside(from, bytes)) return kInvalidValue;
  if (to < from + bytes && from < to + bytes) return kInvalidValue;
  device().streams.put(to_stream(stream),
                       [=] { std::memcpy(device_bytes(to, bytes, "copy"), device_bytes(from, bytes, "copy"), bytes); });
  return kSuccess;
}
Result cuMemcpy2DAsync_v2(const Copy2D* given, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  const Copy2D c = *given;
  if (c.rows == 0 || c.bytes == 0) return kSuccess;
  if (c.from_x + c.bytes > c.from_pitch || c.to_x + c.bytes > c.to_pitch) return kInvalidValue;
  const auto extent = [rows = c.rows, bytes = c.bytes](std::size_t pitch) { return (rows - 1) * pitch + bytes; };
  const auto from_offset = c.from_y * c.from_pitch + c.from_x, to_offset = c.to_y * c.to_pitch + c.to_x;
  const bool from_host = c.from_type == kMemoryHost, to_host = c.to_type == kMemoryHost;
  if (!from_host && outside(c.from_device + from_offset, extent(c.from_pitch))) return kInvalidValue;
  if (!to_host && outside(c.to_device + to_offset, extent(c.to_pitch))) return kInvalidValue;
  const char* host_from = from_host ? static_cast<const char*>(c.from_host) + from_offset : nullptr;
  char* host_to = to_host ? static_cast<char*>(c.to_host) + to_offset : nullptr;
  std::shared_ptr<std::string> staged;
  if (from_host && !device().memory.is_pinned(host_from, extent(c.from_pitch)))
    staged = std::make_shared<std::string>(host_from, extent(c.from_pitch));
  device().streams.put(to_stream(stream), [=] {
    const char* from = staged != nullptr ? staged->data()
                       : from_host       ? host_from
                                   : device_bytes(c.from_device + from_offset, extent(c.from_pitch), "copy of rows");
    char* to = to_host ? host_to : device_bytes(c.to_device + to_offset, extent(c.to_pitch), "copy of rows");
    for (std::size_t row = 0; row < c.rows; ++row)
      std::memcpy(to + row * c.to_pitch, from + row * c.from_pitch, c.bytes);
  });
  if (!to_host || device().memory.is_pinned(host_to, extent(c.to_pitch))) return kSuccess;
  device().streams.synchronize(to_stream(stream));
  return device().streams.error();
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  if (outside(to, bytes)) return kInvalidValue;
  device().streams.put(to_stream(stream), [=] { std::memset(device_bytes(to, bytes, "memset"), value, bytes); });
  return kSuccess;
}

// ---- streams and events ----

Result cuStreamCreate(Stream* stream, unsigned) {
  IN_CONTEXT;
  *stream = reinterpret_cast<Stream>(device().streams.create());
  return kSuccess;
}
Result cuStreamDestroy_v2(Stream stream) {
  IN_CONTEXT;
  return stream != nullptr && device().streams.destroy(to_stream(stream)) ? kSuccess : kInvalidHandle;
}
Result cuStreamSynchronize(Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  device().streams.synchronize(to_stream(stream));
  return device().streams.error();
}
Result cuStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  const EventPointer* known = device().events.find(event);
  if (known == nullptr) return kInvalidHandle;
  if (flags != 0) return kInvalidValue;
  device().streams.wait(to_stream(stream), *known);
  return kSuccess;
}
Result cuEventCreate(Event* event, unsigned) {
  IN_CONTEXT;
  *event = reinterpret_cast<Event>(device().events.add(std::make_unique<EventPointer>(std::make_shared<pm::Event>())));
  return kSuccess;
}
Result cuEventDestroy_v2(Event event) {
  IN_CONTEXT;
  return device().events.take(event) != nullptr ? kSuccess : kInvalidHandle;
}
Result cuEventRecord(Event event, Stream stream) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  const EventPointer* known = device().events.find(event);
  if (known == nullptr) return kInvalidHandle;
  device().streams.record(to_stream(stream), *known);
  return kSuccess;
}
Result cuEventSynchronize(Event event) {
  IN_CONTEXT;
  const EventPointer* known = device().events.find(event);
  if (known == nullptr) return kInvalidHandle;
  device().streams.synchronize(*known);
  return device().streams.error();
}
Result cuEventElapsedTime(float* milliseconds, Event from, Event to) {
  IN_CONTEXT;
  const EventPointer *begin = device().events.find(from), *end = device().events.find(to);
  if (begin == nullptr || end == nullptr) return kInvalidHandle;
  const pm::Event &a = **begin, &b = **end;
  if (a.done == 0 || b.done == 0) return kInvalidHandle;
  if (a.done < a.recorded || b.done < b.recorded) return kNotReady;
  *milliseconds = static_cast<float>(1e3 * (b.seconds - a.seconds));
  return kSuccess;
}

// ---- code ----

Result cuLinkCreate_v2(unsigned count, JitOption* options, void** values, LinkState* link) {
  IN_CONTEXT;
  *link =
      reinterpret_cast<LinkState>(device().links.add(std::make_unique<Link>(Link{"", table(count, options, values)})));
  return kSuccess;
}
Result cuLinkAddData_v2(LinkState link, JitInput type, void* data, std::size_t bytes, const char*, unsigned, JitOption*,
                        void**) {
  IN_CONTEXT;
  if (device().links.find(link) == nullptr) return kInvalidHandle;
  if (type != kJitInputPtx || data == nullptr || bytes == 0) return kInvalidValue;
  Link& made = *device().links.find(link);
  const auto* text = static_cast<const char*>(data);
  const std::string_view ptx(text, strnlen(text, bytes));
  try {
    drop_variables(*decode(ptx));
  } catch (const pm::PtxError& error) {
    write_log(made.options, kJitErrorLog, kJitErrorLogBytes, std::string("ptx machine: ") + error.what());
    return kInvalidPtx;
  }
  const std::uint64_t length = ptx.size();
  made.binary.assign(kMagic, 8);
  made.binary.append(reinterpret_cast<const char*>(&length), 8);
  made.binary.append(ptx);
  return kSuccess;
}
Result cuLinkComplete(LinkState link, void** binary, std::size_t* bytes) {
  IN_CONTEXT;
  if (device().links.find(link) == nullptr) return kInvalidHandle;
  Link& made = *device().links.find(link);
  if (made.binary.empty()) return kInvalidValue;
  write_log(made.options, kJitInfoLog, kJitInfoLogBytes, "ptx machine: taken");
  *binary = made.binary.data();
  *bytes = made.binary.size();
  return kSuccess;
}
Result cuLinkDestroy(LinkState link) {
  IN_CONTEXT;
  return device().links.take(link) != nullptr ? kSuccess : kInvalidHandle;
}

Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, JitOption* options, void** values) {
  IN_CONTEXT;
  const auto* text = static_cast<const char*>(image);
  std::string_view ptx;
  if (std::strncmp(text, kMagic, 8) == 0) {
    std::uint64_t length;
    std::memcpy(&length, text + 8, 8);
    ptx = {text + 16, length};
  } else if (std::strstr(text, ".version") != nullptr) {
    ptx = text;  // the driver takes PTX here too
  } else {
    return kInvalidImage;
  }
  try {
    auto loaded = std::make_unique<LoadedModule>();
    loaded->module = decode(ptx);
    for (const std::string& what : loaded->module->dropped)
      std::fprintf(stderr, "ptx machine: left out: %s\n", what.c_str());
    ++device().modules;
    *module = reinterpret_cast<Module>(device().modules_loaded.add(std::move(loaded)));
  } catch (const pm::PtxError& error) {
    write_log(table(count, options, values), kJitErrorLog, kJitErrorLogBytes,
              std::string("ptx machine: ") + error.what());
    return kInvalidPtx;
  }
  return kSuccess;
}
Result cuModuleUnload(Module module) {
  IN_CONTEXT;
  device().streams.synchronize_all();
  const auto loaded = device().modules_loaded.take(module);
  if (loaded == nullptr) return kInvalidHandle;
  for (const LoadedFunction* f : loaded->functions) device().functions.take(f);
  drop_variables(*loaded->module);
  return kSuccess;
}
Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  IN_CONTEXT;
  LoadedModule* loaded = device().modules_loaded.find(module);
  if (loaded == nullptr) return kInvalidHandle;
  const auto found = loaded->module->kernels.find(name);
  if (found == loaded->module->kernels.end()) return kNotFound;
  auto made = std::make_unique<LoadedFunction>();
  made->code = found->second.get();
  loaded->functions.push_back(made.get());
  *function = reinterpret_cast<Function>(device().functions.add(std::move(made)));
  return kSuccess;
}
Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, Function function) {
  IN_CONTEXT;
  if (device().functions.find(function) == nullptr) return kInvalidHandle;
  const pm::Code& code = *device().functions.find(function)->code;
  switch (attribute) {
    case kFunctionRegisters:
      *value = code.registers;
      break;
    case kFunctionLocalBytes:
      *value = code.local_bytes;
      break;
    case kFunctionSharedBytes:
      *value = code.shared_bytes;
      break;
    case kFunctionMaxThreadsPerBlock:
      *value = std::min(code.largest_block, std::min(1024, 65536 / code.registers / 32 * 32));
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function function, int threads, std::size_t shared) {
  IN_CONTEXT;
  if (threads <= 0) return kInvalidValue;
  if (device().functions.find(function) == nullptr) return kInvalidHandle;
  const pm::Code& code = *device().functions.find(function)->code;
  const int by_registers = 65536 / (code.registers * ((threads + 31) / 32 * 32));
  const int by_shared = static_cast<int>(233472 / (static_cast<std::size_t>(code.shared_bytes) + shared + 1024));
  *blocks = std::min({32, 2048 / threads, by_registers, by_shared});
  return kSuccess;
}
Result cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared_bytes, Stream stream, void** parameters, void** extra) {
  IN_CONTEXT;
  KNOWN_STREAM(stream);
  if (device().functions.find(function) == nullptr) return kInvalidHandle;
  LoadedFunction& kernel = *device().functions.find(function);
  const std::uint64_t threads = std::uint64_t{bx} * by * bz;
  if (threads == 0 || gx == 0 || gy == 0 || gz == 0 || threads > 1024 || gy > 65535 || gz > 65535 || gx > 0x7FFFFFFF)
    return kInvalidValue;
  int largest = 0;
  cuFuncGetAttribute(&largest, kFunctionMaxThreadsPerBlock, function);
  if (threads > static_cast<std::uint64_t>(largest)) return kLaunchOutOfResources;
  if (static_cast<std::size_t>(kernel.code->shared_bytes) + shared_bytes > 49152) return kInvalidValue;
  pm::Launch launch;
  launch.code = kernel.code;
  launch.grid = {gx, gy, gz};
  launch.block = {bx, by, bz};
  launch.dynamic_shared = shared_bytes;
  launch.seed = device().seed + device().launches;
  const auto due = static_cast<std::size_t>(kernel.code->parameter_bytes);
  launch.parameters.assign(due, 0);
  if (parameters != nullptr) {
    if (extra != nullptr) return kInvalidValue;
    for (std::size_t k = 0; k < kernel.code->parameters.size(); ++k) {
      const pm::Parameter& p = kernel.code->parameters[k];
      std::memcpy(launch.parameters.data() + p.offset, parameters[k], static_cast<std::size_t>(p.bytes));
    }
  } else if (due != 0) {
    if (extra == nullptr) return kInvalidValue;
    const void* packet = nullptr;
    std::size_t bytes = 0;
    for (int i = 0; reinterpret_cast<std::size_t>(extra[i]) != kLaunchEnd; i += 2) {
      if (reinterpret_cast<std::size_t>(extra[i]) == kLaunchBuffer) packet = extra[i + 1];
      if (reinterpret_cast<std::size_t>(extra[i]) == kLaunchBufferBytes)
        bytes = *static_cast<std::size_t*>(extra[i + 1]);
    }
    if (packet == nullptr || bytes != due) return kInvalidValue;  // with their sizes and alignments
    std::memcpy(launch.parameters.data(), packet, bytes);
  }
  const std::uint64_t n = kernel.launches++;
  launch.checked = n < device().checked_first ||
                   (device().checked_then != 0 && (launch.seed * 2654435761u >> 7) % device().checked_then == 0);
  ++device().launches;
  device().checked += launch.checked;
  device().streams.put(to_stream(stream), [launch = std::move(launch)] { device().machine.run(launch); });
  return kSuccess;
}

}  // extern "C"
