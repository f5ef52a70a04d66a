// A library with the functions of CUDA's driver that Tessera uses: device memory is the host's, streams do everything
// at once, kernels do nothing, code is a string. Calls that need a context are refused on threads that have set none.
//
// FAKE_CUDA_INIT and FAKE_CUDA_CONTEXT: what cuInit and cuDevicePrimaryCtxRetain return at first.
// FAKE_CUDA_RECORDING: 0 for a library whose calls cost next to nothing, beside which the host's own costs show.
#include "fake_cuda.hpp"

#include <cstdlib>
#include <cstring>

#include "jit/gpu/cuda_api.hpp"

using namespace jit::cuda;

#ifndef FAKE_CUDA_INIT
#define FAKE_CUDA_INIT 0
#endif
#ifndef FAKE_CUDA_CONTEXT
#define FAKE_CUDA_CONTEXT 0
#endif
#ifndef FAKE_CUDA_RECORDING
#define FAKE_CUDA_RECORDING 1
#endif

namespace {

constexpr Result kInvalidContext = 201;

FakeCuda& state() {
  static FakeCuda fake = [] {
    FakeCuda initial;
    initial.init_result = FAKE_CUDA_INIT;
    initial.context_result = FAKE_CUDA_CONTEXT;
    initial.recording = FAKE_CUDA_RECORDING;
    return initial;
  }();
  return fake;
}

thread_local Context current = nullptr;
void set_current(void* context) { current = static_cast<Context>(context); }
ContextHandle* the_context() { return reinterpret_cast<ContextHandle*>(&state()); }

Result called(const char* name) {
  if (!state().recording) return kSuccess;
  state().calls.emplace_back(name);
  const auto failure = state().failures.find(name);
  if (failure == state().failures.end()) return kSuccess;
  const Result result = failure->second;
  state().failures.erase(failure);
  return result;
}

Result called_in_context(const char* name) {
  const Result result = called(name);
  return result == kSuccess && current != the_context() ? kInvalidContext : result;
}

struct Code {
  std::string text;
  bool sums;  ///< a kernel with reductions, as its shared memory shows
};
struct Link {
  std::string binary;
  std::map<int, void*> options;
};

template <class Handle, class T>
Handle to_handle(T* object) {
  return reinterpret_cast<Handle>(object);
}

void write_log(const std::map<int, void*>& options, JitOption buffer, JitOption bytes, const std::string& text) {
  if (!options.contains(buffer)) return;
  const auto room = reinterpret_cast<std::size_t>(options.at(bytes));
  std::strncpy(static_cast<char*>(options.at(buffer)), text.c_str(), room - 1);
}

std::map<int, void*> table(unsigned count, const JitOption* options, void** values) {
  std::map<int, void*> result;
  for (unsigned i = 0; i < count; ++i) result[options[i]] = values[i];
  return result;
}

}  // namespace

#define IN_ORDER(call)                                                                                                 \
  if (const Result result = called(#call)) return result
#define IN_CONTEXT(call)                                                                                               \
  if (const Result result = called_in_context(#call)) return result

extern "C" {

FakeCuda* fake_cuda() {
  state().other_library_sets = &set_current;
  return &state();
}

Result cuInit(unsigned) {
  IN_ORDER(cuInit);
  return state().init_result;
}
Result cuDriverGetVersion(int* version) {
  IN_ORDER(cuDriverGetVersion);
  *version = 12080;
  return kSuccess;
}
Result cuGetErrorName(Result error, const char** name) {
  static const std::map<int, const char*> names{{1, "CUDA_ERROR_INVALID_VALUE"},
                                                {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                                                {34, "CUDA_ERROR_STUB_LIBRARY"},
                                                {46, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
                                                {100, "CUDA_ERROR_NO_DEVICE"},
                                                {201, "CUDA_ERROR_INVALID_CONTEXT"},
                                                {218, "CUDA_ERROR_INVALID_PTX"},
                                                {222, "CUDA_ERROR_UNSUPPORTED_PTX_VERSION"},
                                                {500, "CUDA_ERROR_NOT_FOUND"},
                                                {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                                                {701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
                                                {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"}};
  const auto found = names.find(error);
  if (found == names.end()) return kInvalidValue;
  *name = found->second;
  return kSuccess;
}
Result cuGetErrorString(Result, const char** text) {
  *text = "words of the fake driver";
  return kSuccess;
}
Result cuDeviceGetCount(int* count) {
  IN_ORDER(cuDeviceGetCount);
  *count = state().devices;
  return kSuccess;
}
Result cuDeviceGet(DeviceNumber* device, int ordinal) {
  IN_ORDER(cuDeviceGet);
  *device = 10 + ordinal;
  return kSuccess;
}
Result cuDeviceGetName(char* name, int bytes, DeviceNumber) {
  IN_ORDER(cuDeviceGetName);
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes));
  return kSuccess;
}
Result cuDeviceGetAttribute(int* value, DeviceAttribute attribute, DeviceNumber) {
  IN_ORDER(cuDeviceGetAttribute);
  switch (attribute) {
    case kMaxThreadsPerBlock:
      *value = 1024;
      break;
    case kMultiprocessorCount:
      *value = 132;
      break;
    case kMaxThreadsPerMultiprocessor:
      *value = 1536;
      break;
    case kComputeCapabilityMajor:
      *value = state().compute_capability / 10;
      break;
    case kComputeCapabilityMinor:
      *value = state().compute_capability % 10;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
Result cuDeviceTotalMem_v2(std::size_t* bytes, DeviceNumber) {
  IN_ORDER(cuDeviceTotalMem_v2);
  *bytes = state().memory;
  return kSuccess;
}
Result cuDevicePrimaryCtxRetain(Context* context, DeviceNumber) {
  IN_ORDER(cuDevicePrimaryCtxRetain);
  if (state().context_result != kSuccess) return state().context_result;
  ++state().contexts;
  *context = the_context();
  return kSuccess;
}
Result cuDevicePrimaryCtxRelease_v2(DeviceNumber) {
  IN_ORDER(cuDevicePrimaryCtxRelease_v2);
  if (--state().contexts == 0) current = nullptr;
  return kSuccess;
}
Result cuCtxGetCurrent(Context* context) {  // a look at the thread's own memory: not noted
  *context = current;
  return kSuccess;
}
Result cuCtxSetCurrent(Context context) {
  IN_ORDER(cuCtxSetCurrent);
  if (context != the_context()) return kInvalidContext;
  current = context;
  return kSuccess;
}

Result cuMemGetInfo_v2(std::size_t* free_bytes, std::size_t* all_bytes) {
  IN_CONTEXT(cuMemGetInfo_v2);
  *free_bytes = state().free_memory;
  *all_bytes = state().memory;
  return kSuccess;
}
Result cuMemAlloc_v2(Address* address, std::size_t bytes) {
  IN_CONTEXT(cuMemAlloc_v2);
  void* memory = bytes <= state().free_memory ? std::aligned_alloc(256, (bytes + 255) / 256 * 256) : nullptr;
  if (memory == nullptr) return kOutOfMemory;
  ++state().allocations;
  *address = reinterpret_cast<Address>(memory);
  return kSuccess;
}
Result cuMemFree_v2(Address address) {
  IN_CONTEXT(cuMemFree_v2);
  --state().allocations;
  std::free(reinterpret_cast<void*>(address));
  return kSuccess;
}
Result cuMemHostAlloc(void** address, std::size_t bytes, unsigned flags) {
  IN_CONTEXT(cuMemHostAlloc);
  state().host_alloc_flags = flags;
  *address = std::malloc(bytes);
  ++state().pinned;
  return kSuccess;
}
Result cuMemHostGetDevicePointer_v2(Address* address, void* host, unsigned flags) {
  IN_CONTEXT(cuMemHostGetDevicePointer_v2);
  *address = reinterpret_cast<Address>(host);
  return flags == 0 ? kSuccess : kInvalidValue;
}
Result cuMemFreeHost(void* address) {
  IN_CONTEXT(cuMemFreeHost);
  --state().pinned;
  std::free(address);
  return kSuccess;
}

Result cuMemcpyHtoDAsync_v2(Address to, const void* from, std::size_t bytes, Stream) {
  IN_CONTEXT(cuMemcpyHtoDAsync_v2);
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  return kSuccess;
}
Result cuMemcpyDtoHAsync_v2(void* to, Address from, std::size_t bytes, Stream) {
  IN_CONTEXT(cuMemcpyDtoHAsync_v2);
  std::memcpy(to, reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
Result cuMemcpy2DAsync_v2(const Copy2D* c, Stream) {
  IN_CONTEXT(cuMemcpy2DAsync_v2);
  if (c->from_pitch < c->bytes || c->to_pitch < c->bytes || c->from_type == c->to_type) return kInvalidValue;
  const auto* from = c->from_type == kMemoryHost ? static_cast<const char*>(c->from_host)
                                                 : reinterpret_cast<const char*>(c->from_device);
  auto* to = c->to_type == kMemoryHost ? static_cast<char*>(c->to_host) : reinterpret_cast<char*>(c->to_device);
  for (std::size_t row = 0; row < c->rows; ++row)
    std::memcpy(to + (c->to_y + row) * c->to_pitch + c->to_x, from + (c->from_y + row) * c->from_pitch + c->from_x,
                c->bytes);
  return kSuccess;
}
Result cuMemcpyDtoDAsync_v2(Address to, Address from, std::size_t bytes, Stream) {
  IN_CONTEXT(cuMemcpyDtoDAsync_v2);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
  return kSuccess;
}
Result cuMemsetD8Async(Address to, unsigned char value, std::size_t bytes, Stream) {
  IN_CONTEXT(cuMemsetD8Async);
  std::memset(reinterpret_cast<void*>(to), value, bytes);
  return kSuccess;
}

Result cuStreamCreate(Stream* stream, unsigned flags) {
  IN_CONTEXT(cuStreamCreate);
  state().stream_flags = flags;
  ++state().streams;
  *stream = to_handle<Stream>(new int);
  return kSuccess;
}
Result cuStreamDestroy_v2(Stream stream) {
  IN_CONTEXT(cuStreamDestroy_v2);
  --state().streams;
  delete reinterpret_cast<int*>(stream);
  return kSuccess;
}
Result cuStreamSynchronize(Stream) {
  IN_CONTEXT(cuStreamSynchronize);
  return kSuccess;
}
Result cuStreamWaitEvent(Stream, Event, unsigned flags) {
  IN_CONTEXT(cuStreamWaitEvent);
  return flags == 0 ? kSuccess : kInvalidValue;
}
Result cuEventCreate(Event* event, unsigned flags) {
  IN_CONTEXT(cuEventCreate);
  state().event_flags = flags;
  ++state().events;
  *event = to_handle<Event>(new int);
  return kSuccess;
}
Result cuEventDestroy_v2(Event event) {
  IN_CONTEXT(cuEventDestroy_v2);
  --state().events;
  delete reinterpret_cast<int*>(event);
  return kSuccess;
}
Result cuEventRecord(Event, Stream) {
  IN_CONTEXT(cuEventRecord);
  return kSuccess;
}
Result cuEventSynchronize(Event) {
  IN_CONTEXT(cuEventSynchronize);
  return kSuccess;
}
Result cuEventElapsedTime(float* milliseconds, Event, Event) {
  IN_CONTEXT(cuEventElapsedTime);
  *milliseconds = state().milliseconds;
  return kSuccess;
}

Result cuLinkCreate_v2(unsigned count, JitOption* options, void** values, LinkState* link) {
  IN_CONTEXT(cuLinkCreate_v2);
  auto* made = new Link{"", table(count, options, values)};
  state().link_options.clear();
  for (const auto& [option, value] : made->options)
    state().link_options[option] =
        option == kJitInfoLog || option == kJitErrorLog ? value != nullptr : reinterpret_cast<std::uint64_t>(value);
  ++state().links;
  *link = to_handle<LinkState>(made);
  return kSuccess;
}
Result cuLinkAddData_v2(LinkState link, JitInput type, void* data, std::size_t bytes, const char*, unsigned, JitOption*,
                        void**) {
  auto& made = *reinterpret_cast<Link*>(link);
  write_log(made.options, kJitErrorLog, kJitErrorLogBytes, state().error_log);
  IN_CONTEXT(cuLinkAddData_v2);
  if (type != kJitInputPtx) return kInvalidValue;
  state().ptx.assign(static_cast<const char*>(data), bytes);
  made.binary = "cubin of " + std::string(static_cast<const char*>(data));
  return kSuccess;
}
Result cuLinkComplete(LinkState link, void** binary, std::size_t* bytes) {
  auto& made = *reinterpret_cast<Link*>(link);
  write_log(made.options, kJitInfoLog, kJitInfoLogBytes, state().info_log);
  IN_CONTEXT(cuLinkComplete);
  *binary = made.binary.data();
  *bytes = made.binary.size();
  return kSuccess;
}
Result cuLinkDestroy(LinkState link) {
  IN_CONTEXT(cuLinkDestroy);
  --state().links;
  delete reinterpret_cast<Link*>(link);
  return kSuccess;
}

Result cuModuleLoadDataEx(Module* module, const void* image, unsigned count, JitOption* options, void** values) {
  IN_CONTEXT(cuModuleLoadDataEx);
  write_log(table(count, options, values), kJitErrorLog, kJitErrorLogBytes, state().error_log);
  const std::string text = static_cast<const char*>(image);
  if (!text.starts_with("cubin of ") && !text.starts_with("\x7f"
                                                          "ELF of "))
    return kInvalidImage;
  ++state().modules;
  *module = to_handle<Module>(new Code{text, text.find("_parts[") != std::string::npos});
  return kSuccess;
}
Result cuModuleUnload(Module module) {
  IN_CONTEXT(cuModuleUnload);
  --state().modules;
  delete reinterpret_cast<Code*>(module);
  return kSuccess;
}
Result cuModuleGetFunction(Function* function, Module module, const char* name) {
  IN_CONTEXT(cuModuleGetFunction);
  auto* code = reinterpret_cast<Code*>(module);
  if (code->text.find(name) == std::string::npos) return kNotFound;
  *function = to_handle<Function>(code);
  return kSuccess;
}
Result cuFuncGetAttribute(int* value, FunctionAttribute attribute, Function) {
  IN_CONTEXT(cuFuncGetAttribute);
  switch (attribute) {
    case kFunctionRegisters:
      *value = state().registers;
      break;
    case kFunctionLocalBytes:
      *value = state().local_bytes;
      break;
    case kFunctionSharedBytes:
      *value = state().shared_bytes;
      break;
    case kFunctionMaxThreadsPerBlock:
      *value = state().largest_block;
      break;
    default:
      return kInvalidValue;
  }
  return kSuccess;
}
Result cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function, int threads, std::size_t) {
  IN_CONTEXT(cuOccupancyMaxActiveBlocksPerMultiprocessor);
  *blocks = state().threads_at_once / threads;
  return kSuccess;
}
Result cuLaunchKernel(Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared_bytes, Stream stream, void** parameters, void** extra) {
  IN_CONTEXT(cuLaunchKernel);
  if (parameters != nullptr || extra == nullptr) return kInvalidValue;
  const std::uint64_t* packet = nullptr;
  std::size_t bytes = 0;
  for (int i = 0; reinterpret_cast<std::size_t>(extra[i]) != kLaunchEnd; i += 2) {
    if (reinterpret_cast<std::size_t>(extra[i]) == kLaunchBuffer) packet = static_cast<std::uint64_t*>(extra[i + 1]);
    if (reinterpret_cast<std::size_t>(extra[i]) == kLaunchBufferBytes) bytes = *static_cast<std::size_t*>(extra[i + 1]);
  }
  // What the last block of such a kernel does at the end (jit/ir/abi.hpp); begin and end follow these parameters.
  const std::size_t count = bytes / sizeof *packet;
  if (state().hands_over_sums && reinterpret_cast<Code*>(function)->sums)
    *reinterpret_cast<std::uint64_t*>(packet[count - 4]) = packet[count - 3];
  if (!state().recording) return kSuccess;
  state().launches.push_back(
      {function, {gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, {packet, packet + bytes / 8}});
  return kSuccess;
}

}  // extern "C"
