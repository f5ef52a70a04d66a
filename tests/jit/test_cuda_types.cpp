// What we restate of CUDA's driver API against NVIDIA's own header, where a toolkit is at hand: numbers, layouts, types
// of the functions, and that each name we look up is the one that the header's macros make of the plain name. Most of
// it is checked while this file is compiled.
#include <doctest/doctest.h>

#include "jit/gpu/cuda_api.hpp"  // before cuda.h, whose macros rename functions
#include "tests/skip.hpp"

#if __has_include(<cuda.h>)
#include <cuda.h>
#endif

#if !defined(CUDA_VERSION) || CUDA_VERSION < 12000

TEST_CASE("our types of the CUDA driver are those of cuda.h") {
  TESSERA_SKIP("no cuda.h of CUDA 12 or newer when this was built");
}

#else

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <type_traits>

#include "jit/gpu/driver.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"

namespace {

namespace cuda = jit::cuda;

// ---- numbers --------------------------------------------------------------------------------------------------------

template <class Ours, class Theirs>
constexpr bool equal(Ours ours, Theirs theirs) {
  return static_cast<long long>(ours) == static_cast<long long>(theirs);
}

static_assert(equal(cuda::kSuccess, CUDA_SUCCESS));
static_assert(equal(cuda::kInvalidValue, CUDA_ERROR_INVALID_VALUE));
static_assert(equal(cuda::kOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY));
static_assert(equal(cuda::kDeinitialized, CUDA_ERROR_DEINITIALIZED));
static_assert(equal(cuda::kStubLibrary, CUDA_ERROR_STUB_LIBRARY));
static_assert(equal(cuda::kDeviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE));
static_assert(equal(cuda::kNoDevice, CUDA_ERROR_NO_DEVICE));
static_assert(equal(cuda::kInvalidImage, CUDA_ERROR_INVALID_IMAGE));
static_assert(equal(cuda::kNoBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU));
static_assert(equal(cuda::kEccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE));
static_assert(equal(cuda::kInvalidPtx, CUDA_ERROR_INVALID_PTX));
static_assert(equal(cuda::kNvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE));
static_assert(equal(cuda::kJitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND));
static_assert(equal(cuda::kUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION));
static_assert(equal(cuda::kJitCompilationDisabled, CUDA_ERROR_JIT_COMPILATION_DISABLED));
#if CUDA_VERSION >= 13000
static_assert(equal(cuda::kContained, CUDA_ERROR_CONTAINED));
#endif
static_assert(equal(cuda::kInvalidSource, CUDA_ERROR_INVALID_SOURCE));
static_assert(equal(cuda::kOperatingSystem, CUDA_ERROR_OPERATING_SYSTEM));
static_assert(equal(cuda::kNotFound, CUDA_ERROR_NOT_FOUND));
static_assert(equal(cuda::kIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS));
static_assert(equal(cuda::kLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES));
static_assert(equal(cuda::kLaunchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT));
static_assert(equal(cuda::kHardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR));
static_assert(equal(cuda::kLaunchFailed, CUDA_ERROR_LAUNCH_FAILED));
static_assert(equal(cuda::kNotPermitted, CUDA_ERROR_NOT_PERMITTED));
static_assert(equal(cuda::kNotSupported, CUDA_ERROR_NOT_SUPPORTED));
static_assert(equal(cuda::kSystemNotReady, CUDA_ERROR_SYSTEM_NOT_READY));
static_assert(equal(cuda::kSystemDriverMismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH));
static_assert(equal(cuda::kCompatNotSupportedOnDevice, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE));
static_assert(equal(cuda::kMpsConnectionFailed, CUDA_ERROR_MPS_CONNECTION_FAILED));
static_assert(equal(cuda::kMpsClientTerminated, CUDA_ERROR_MPS_CLIENT_TERMINATED));
static_assert(equal(cuda::kUnknown, CUDA_ERROR_UNKNOWN));

static_assert(equal(cuda::kMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(equal(cuda::kMultiprocessorCount, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
static_assert(equal(cuda::kMaxThreadsPerMultiprocessor, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR));
static_assert(equal(cuda::kComputeCapabilityMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
static_assert(equal(cuda::kComputeCapabilityMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));

static_assert(equal(cuda::kFunctionMaxThreadsPerBlock, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
static_assert(equal(cuda::kFunctionSharedBytes, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES));
static_assert(equal(cuda::kFunctionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
static_assert(equal(cuda::kFunctionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS));

static_assert(equal(cuda::kJitMaxRegisters, CU_JIT_MAX_REGISTERS));
static_assert(equal(cuda::kJitInfoLog, CU_JIT_INFO_LOG_BUFFER));
static_assert(equal(cuda::kJitInfoLogBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES));
static_assert(equal(cuda::kJitErrorLog, CU_JIT_ERROR_LOG_BUFFER));
static_assert(equal(cuda::kJitErrorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES));
static_assert(equal(cuda::kJitOptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL));
static_assert(equal(cuda::kJitTargetFromContext, CU_JIT_TARGET_FROM_CUCONTEXT));
static_assert(equal(cuda::kJitLogVerbose, CU_JIT_LOG_VERBOSE));
static_assert(equal(cuda::kJitInputPtx, CU_JIT_INPUT_PTX));

static_assert(equal(cuda::kMemoryHost, CU_MEMORYTYPE_HOST));
static_assert(equal(cuda::kMemoryDevice, CU_MEMORYTYPE_DEVICE));
static_assert(equal(cuda::kStreamNonBlocking, CU_STREAM_NON_BLOCKING));
static_assert(equal(cuda::kEventDefault, CU_EVENT_DEFAULT));
static_assert(equal(cuda::kEventDisableTiming, CU_EVENT_DISABLE_TIMING));
static_assert(equal(cuda::kHostAllocPortable, CU_MEMHOSTALLOC_PORTABLE));
static_assert(equal(cuda::kLaunchEnd, CU_LAUNCH_PARAM_END_AS_INT));
static_assert(equal(cuda::kLaunchBuffer, CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT));
static_assert(equal(cuda::kLaunchBufferBytes, CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT));

// ---- types ----------------------------------------------------------------------------------------------------------

template <class T>
constexpr bool is_number = std::is_integral_v<T> || std::is_enum_v<T>;
/// Whether a function may be called with `Ours` where it is declared with `Theirs`: numbers of one size, pointers to
/// the like. Handles are pointers to structures that nobody defines; those that belong together are named.
template <class Ours, class Theirs>
struct Alike : std::is_same<Ours, Theirs> {};
template <class Ours, class Theirs>
requires(is_number<Ours> && is_number<Theirs>)
struct Alike<Ours, Theirs> : std::bool_constant<sizeof(Ours) == sizeof(Theirs)> {};
template <class Ours, class Theirs>
struct Alike<Ours*, Theirs*>
    : std::bool_constant<std::is_const_v<Ours> == std::is_const_v<Theirs> &&
                         Alike<std::remove_const_t<Ours>, std::remove_const_t<Theirs>>::value> {};
template <>
struct Alike<void*, void*> : std::true_type {};
template <>
struct Alike<const void*, const void*> : std::true_type {};
template <>
struct Alike<cuda::Context, CUcontext> : std::true_type {};
template <>
struct Alike<cuda::Module, CUmodule> : std::true_type {};
template <>
struct Alike<cuda::Function, CUfunction> : std::true_type {};
template <>
struct Alike<cuda::Stream, CUstream> : std::true_type {};
template <>
struct Alike<cuda::Event, CUevent> : std::true_type {};
template <>
struct Alike<cuda::LinkState, CUlinkState> : std::true_type {};
template <>
struct Alike<cuda::Copy2D, CUDA_MEMCPY2D> : std::true_type {};  // its members: below

template <class Ours, class Theirs>
constexpr bool same_function = false;
template <class... Ours, class... Theirs>
constexpr bool same_function<cuda::Result (*)(Ours...), CUresult (*)(Theirs...)> = [] {
  if constexpr (sizeof...(Ours) == sizeof...(Theirs))
    return (Alike<Ours, Theirs>::value && ...);
  else
    return false;
}();

static_assert(!same_function<cuda::Result (*)(cuda::Stream), CUresult (*)(CUevent)>, "the comparison compares nothing");
static_assert(!same_function<cuda::Result (*)(int), CUresult (*)(std::size_t)>, "the comparison compares nothing");
static_assert(!same_function<cuda::Result (*)(int*), CUresult (*)(const int*)>, "the comparison compares nothing");

static_assert(sizeof(cuda::Copy2D) == sizeof(CUDA_MEMCPY2D) && alignof(cuda::Copy2D) == alignof(CUDA_MEMCPY2D));
#define TESSERA_SAME_MEMBER(ours, theirs)                                                                              \
  static_assert(offsetof(cuda::Copy2D, ours) == offsetof(CUDA_MEMCPY2D, theirs) &&                                     \
                Alike<decltype(cuda::Copy2D::ours), decltype(CUDA_MEMCPY2D::theirs)>::value)
TESSERA_SAME_MEMBER(from_x, srcXInBytes);
TESSERA_SAME_MEMBER(from_y, srcY);
TESSERA_SAME_MEMBER(from_type, srcMemoryType);
TESSERA_SAME_MEMBER(from_host, srcHost);
TESSERA_SAME_MEMBER(from_device, srcDevice);
TESSERA_SAME_MEMBER(from_pitch, srcPitch);
TESSERA_SAME_MEMBER(to_x, dstXInBytes);
TESSERA_SAME_MEMBER(to_y, dstY);
TESSERA_SAME_MEMBER(to_type, dstMemoryType);
TESSERA_SAME_MEMBER(to_host, dstHost);
TESSERA_SAME_MEMBER(to_device, dstDevice);
TESSERA_SAME_MEMBER(to_pitch, dstPitch);
TESSERA_SAME_MEMBER(bytes, WidthInBytes);
TESSERA_SAME_MEMBER(rows, Height);
static_assert(offsetof(cuda::Copy2D, from_array) == offsetof(CUDA_MEMCPY2D, srcArray));
static_assert(offsetof(cuda::Copy2D, to_array) == offsetof(CUDA_MEMCPY2D, dstArray));

// ---- functions ------------------------------------------------------------------------------------------------------

}  // namespace

// The header maps the plain name to a newer symbol, which came with CUDA 12.8; ours is in older drivers too.
#ifdef cuEventElapsedTime
using ElapsedTime = decltype(cuEventElapsedTime);
#undef cuEventElapsedTime
extern "C" ElapsedTime cuEventElapsedTime;
#endif

// The header declares a function under one name, that of its present version. For a symbol of another version this does
// not compile: the header's macro changes it, or nothing declares it.
#define TESSERA_ROW(symbol, parameters) static_assert(same_function<decltype(cuda::Api::symbol), decltype(&::symbol)>);
TESSERA_CUDA_FUNCTIONS(TESSERA_ROW)
#undef TESSERA_ROW

TEST_CASE("the toolkit's library, which stands in for the driver's when programs are linked, has all our functions") {
  const char* const stub = TESSERA_CUDA_STUB;
  if (!std::filesystem::is_regular_file(stub)) TESSERA_SKIP("no libcuda.so of a toolkit");
  ::setenv("TESSERA_LIBCUDA", stub, 1);
  jit::reload_env();
  CHECK_NOTHROW(cuda::load_api());
  CHECK(jit::count_cuda_devices() == 0);
  CHECK_THROWS_WITH_AS(jit::open_cuda_driver(0), doctest::Contains("cuInit: got"), jit::DeviceError);
  CHECK_THROWS_WITH_AS(jit::open_cuda_driver(0), doctest::Contains("not the driver: take its folder out of"),
                       jit::DeviceError);
  ::unsetenv("TESSERA_LIBCUDA");
  jit::reload_env();
}

#endif
