// What we use of the CUDA driver API: types, numbers and the table of functions, restated after NVIDIA's reference, so
// that no toolkit is needed to build. The library is loaded at run time.
//
// Names with _v2 are the symbols of the present 64-bit interface; those without have not changed since CUDA 4.
#pragma once

#include <cstddef>
#include <string>

namespace jit::cuda {

using Result = int;  ///< CUresult
using DeviceNumber = int;
using Address = unsigned long long;  ///< CUdeviceptr
using Context = struct ContextHandle*;
using Module = struct ModuleHandle*;
using Function = struct FunctionHandle*;
using Stream = struct StreamHandle*;
using Event = struct EventHandle*;
using LinkState = struct LinkHandle*;

/// CUresult: those that we tell apart.
enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kDeinitialized = 4,
  kStubLibrary = 34,
  kDeviceUnavailable = 46,
  kNoDevice = 100,
  kInvalidImage = 200,
  kNoBinaryForGpu = 209,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kNvlinkUncorrectable = 220,
  kJitCompilerNotFound = 221,
  kUnsupportedPtxVersion = 222,
  kJitCompilationDisabled = 223,
  kContained = 226,
  kInvalidSource = 300,
  kOperatingSystem = 304,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kHardwareStackError = 714,
  kLaunchFailed = 719,
  kNotPermitted = 800,
  kNotSupported = 801,
  kSystemNotReady = 802,
  kSystemDriverMismatch = 803,
  kCompatNotSupportedOnDevice = 804,
  kMpsConnectionFailed = 805,
  kMpsClientTerminated = 810,
  kUnknown = 999,
};

/// CUdevice_attribute
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kMultiprocessorCount = 16,
  kMaxThreadsPerMultiprocessor = 39,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
};

/// CUfunction_attribute
enum FunctionAttribute : int {
  kFunctionMaxThreadsPerBlock = 0,
  kFunctionSharedBytes = 1,
  kFunctionLocalBytes = 3,
  kFunctionRegisters = 4,
};

/// CUjit_option. Values are passed in the bits of a void*.
enum JitOption : int {
  kJitMaxRegisters = 0,
  kJitInfoLog = 3,
  kJitInfoLogBytes = 4,
  kJitErrorLog = 5,
  kJitErrorLogBytes = 6,
  kJitOptimizationLevel = 7,
  kJitTargetFromContext = 8,
  kJitLogVerbose = 12,
};
enum JitInput : int { kJitInputPtx = 1 };  ///< CUjitInputType

/// CUmemorytype
enum MemoryType : int { kMemoryHost = 1, kMemoryDevice = 2 };

/// CUDA_MEMCPY2D
struct Copy2D {
  std::size_t from_x, from_y;
  MemoryType from_type;
  const void* from_host;
  Address from_device;
  void* from_array;
  std::size_t from_pitch;
  std::size_t to_x, to_y;
  MemoryType to_type;
  void* to_host;
  Address to_device;
  void* to_array;
  std::size_t to_pitch;
  std::size_t bytes, rows;
};

constexpr unsigned kStreamNonBlocking = 1;
constexpr unsigned kEventDefault = 0, kEventDisableTiming = 2;
constexpr unsigned kHostAllocPortable = 1, kHostAllocDeviceMap = 2;
/// Keys of the last argument of cuLaunchKernel.
constexpr std::size_t kLaunchEnd = 0, kLaunchBuffer = 1, kLaunchBufferBytes = 2;

/// X(symbol, parameters); every function returns a Result.
// clang-format off
#define TESSERA_CUDA_FUNCTIONS(X)                                                                                      \
  X(cuInit, (unsigned flags))                                                                                          \
  X(cuDriverGetVersion, (int* version))                                                                                \
  X(cuGetErrorName, (Result error, const char** name))                                                                 \
  X(cuGetErrorString, (Result error, const char** text))                                                               \
  X(cuDeviceGetCount, (int* count))                                                                                    \
  X(cuDeviceGet, (DeviceNumber * device, int ordinal))                                                                 \
  X(cuDeviceGetName, (char* name, int bytes, DeviceNumber device))                                                     \
  X(cuDeviceGetAttribute, (int* value, DeviceAttribute attribute, DeviceNumber device))                                \
  X(cuDeviceTotalMem_v2, (std::size_t * bytes, DeviceNumber device))                                                   \
  X(cuDevicePrimaryCtxRetain, (Context * context, DeviceNumber device))                                                \
  X(cuDevicePrimaryCtxRelease_v2, (DeviceNumber device))                                                               \
  X(cuCtxGetCurrent, (Context * context))                                                                              \
  X(cuCtxSetCurrent, (Context context))                                                                                \
  X(cuMemGetInfo_v2, (std::size_t * free_bytes, std::size_t * all_bytes))                                              \
  X(cuMemAlloc_v2, (Address * address, std::size_t bytes))                                                             \
  X(cuMemFree_v2, (Address address))                                                                                   \
  X(cuMemHostAlloc, (void** address, std::size_t bytes, unsigned flags))                                               \
  X(cuMemHostGetDevicePointer_v2, (Address * address, void* host, unsigned flags))                                     \
  X(cuMemFreeHost, (void* address))                                                                                    \
  X(cuMemcpyHtoDAsync_v2, (Address to, const void* from, std::size_t bytes, Stream stream))                            \
  X(cuMemcpyDtoHAsync_v2, (void* to, Address from, std::size_t bytes, Stream stream))                                  \
  X(cuMemcpyDtoDAsync_v2, (Address to, Address from, std::size_t bytes, Stream stream))                                \
  X(cuMemcpy2DAsync_v2, (const Copy2D* copy, Stream stream))                                                           \
  X(cuMemsetD8Async, (Address to, unsigned char value, std::size_t bytes, Stream stream))                              \
  X(cuStreamCreate, (Stream * stream, unsigned flags))                                                                 \
  X(cuStreamDestroy_v2, (Stream stream))                                                                               \
  X(cuStreamSynchronize, (Stream stream))                                                                              \
  X(cuStreamWaitEvent, (Stream stream, Event event, unsigned flags))                                                   \
  X(cuEventCreate, (Event * event, unsigned flags))                                                                    \
  X(cuEventDestroy_v2, (Event event))                                                                                  \
  X(cuEventRecord, (Event event, Stream stream))                                                                       \
  X(cuEventSynchronize, (Event event))                                                                                 \
  X(cuEventElapsedTime, (float* milliseconds, Event from, Event to))                                                   \
  X(cuLinkCreate_v2, (unsigned count, JitOption * options, void** values, LinkState* state))                           \
  X(cuLinkAddData_v2, (LinkState state, JitInput type, void* data, std::size_t bytes, const char* name,                \
                       unsigned count, JitOption* options, void** values))                                             \
  X(cuLinkComplete, (LinkState state, void** binary, std::size_t* bytes))                                              \
  X(cuLinkDestroy, (LinkState state))                                                                                  \
  X(cuModuleLoadDataEx, (Module * module, const void* image, unsigned count, JitOption* options, void** values))       \
  X(cuModuleUnload, (Module module))                                                                                   \
  X(cuModuleGetFunction, (Function * function, Module module, const char* name))                                       \
  X(cuFuncGetAttribute, (int* value, FunctionAttribute attribute, Function function))                                  \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor,                                                                       \
    (int* blocks, Function function, int threads, std::size_t dynamic_shared_bytes))                                   \
  X(cuLaunchKernel, (Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,           \
                     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** parameters,      \
                     void** extra))
// clang-format on

/// The functions of one loaded library, which stays loaded: its threads outlive any use of ours.
struct Api {
#define TESSERA_ROW(symbol, parameters) Result(*symbol) parameters = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_ROW)
#undef TESSERA_ROW
  std::string library;  ///< the file that they were found in
};

/// Loads the library (TESSERA_LIBCUDA, or libcuda.so.1 where the system looks for it) and looks its functions up; calls
/// none of them. Throws DeviceError.
Api load_api();

}  // namespace jit::cuda
