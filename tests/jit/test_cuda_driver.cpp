// CUDA's driver without CUDA: libraries that are not there, too old or refuse, and one that works on host memory and
// shows what it was asked (tests/jit/fake_cuda).
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <thread>

#include "fake_cuda/fake_cuda.hpp"
#include "jit/gpu/cuda_api.hpp"
#include "jit/gpu/driver.hpp"
#include "jit/gpu/gpu_device.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/settings.hpp"

using jit::DeviceError;
using jit::GpuDriver;
using jit::InternalError;

namespace {

namespace cuda = jit::cuda;

std::string path_of(const std::string& variant) {
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_cuda" / ("libcuda_" + variant + ".so"))
      .string();
}

/// TESSERA_LIBCUDA and TESSERA_PTXAS for the life of the object.
struct Library {
  explicit Library(const std::string& path, const std::string& ptxas = "0") : path_(path) {
    ::setenv("TESSERA_LIBCUDA", path.c_str(), 1);
    ::setenv("TESSERA_PTXAS", ptxas.c_str(), 1);
    jit::reload_env();
  }
  ~Library() {
    ::unsetenv("TESSERA_LIBCUDA");
    ::unsetenv("TESSERA_PTXAS");
    jit::reload_env();
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  /// The state of a fake library, as new.
  FakeCuda& fresh() const {
    void* library = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(library != nullptr, path_);
    auto* state = reinterpret_cast<FakeCuda* (*)()>(dlsym(library, "fake_cuda"))();
    const int contexts = state->contexts;
    const auto other_library_sets = state->other_library_sets;
    *state = FakeCuda{};
    state->contexts = contexts;
    state->other_library_sets = other_library_sets;
    return *state;
  }
  std::string path_;
};

/// The working library with a driver open on it.
struct Open {
  explicit Open(const std::string& ptxas = "0") : library(path_of("works"), ptxas) {}
  Library library;
  FakeCuda& fake = library.fresh();
  std::unique_ptr<GpuDriver> driver = jit::open_cuda_driver(0);

  jit::KernelCode kernel() {
    jit::KernelResources resources;
    return driver->load("cubin of k", "k", resources);
  }
};

std::string message_of_opening(int ordinal = 0) {
  try {
    jit::open_cuda_driver(ordinal);
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const std::string& part) {
  const bool found = text.find(part) != std::string::npos;
  if (!found) MESSAGE("\"", part, "\" is not in: ", text);
  return found;
}

}  // namespace

// ---- libraries and machines that do not do --------------------------------------------------------------------------

TEST_CASE("no library: the message says what, where and what to do, and there are no GPUs") {
  Library library("/no/such/folder/libcuda.so.1");
  const std::string message = message_of_opening();
  CHECK(contains(message, "/no/such/folder/libcuda.so.1"));
  CHECK(contains(message, "TESSERA_LIBCUDA"));
  CHECK(contains(message, "Install NVIDIA's driver"));
  CHECK(contains(message, "TESSERA_DEVICE=cpu"));
  CHECK(jit::count_cuda_devices() == 0);
}

TEST_CASE("a library that lacks functions: the first of them are named, with the file") {
  Library library(path_of("lacking"));
  const std::string message = message_of_opening();
  CHECK(contains(message, "without cuGetErrorName, cuGetErrorString, cuDeviceGet and "));
  CHECK(contains(message, "libcuda_lacking.so"));
  CHECK(contains(message, "Update NVIDIA's driver"));
  CHECK(jit::count_cuda_devices() == 0);
}

TEST_CASE("a driver that finds no GPU") {
  Library library(path_of("without_device"));
  const std::string message = message_of_opening();
  CHECK(contains(message, "cuInit: got CUDA_ERROR_NO_DEVICE = 100"));
  CHECK(contains(message, "shows no NVIDIA GPU"));
  CHECK(contains(message, "CUDA_VISIBLE_DEVICES"));
  CHECK(contains(message, "libcuda_without_device.so"));
  CHECK(jit::count_cuda_devices() == 0);
}

TEST_CASE("a GPU that refuses a context is counted and cannot be opened") {
  Library library(path_of("refusing"));
  CHECK(jit::count_cuda_devices() == 2);
  const std::string message = message_of_opening();
  CHECK(contains(message, "cuDevicePrimaryCtxRetain for cuda:0 (\"Fake GPU\")"));
  CHECK(contains(message, "CUDA_ERROR_DEVICE_UNAVAILABLE"));
  CHECK(contains(message, "compute mode"));
}

TEST_CASE("each reason of cuInit has its own advice") {
  Library library(path_of("works"));
  FakeCuda& fake = library.fresh();
  for (const auto& [code, advice] : std::map<int, std::string>{{34, "toolkit"},
                                                               {803, "reboot"},
                                                               {804, "LD_LIBRARY_PATH"},
                                                               {802, "fabric manager"},
                                                               {806, "CUDA_MPS_PIPE_DIRECTORY"},
                                                               {999, "nvidia-smi"},
                                                               {304, "device files"},
                                                               {12345, "nvidia-smi"}}) {
    fake.init_result = code;
    const std::string message = message_of_opening();
    CHECK(contains(message, "cuInit"));
    CHECK(contains(message, "= " + std::to_string(code)));
    CHECK(contains(message, advice));
    CHECK(jit::count_cuda_devices() == 0);
  }
}

TEST_CASE("a number beyond the GPUs of the machine") {
  Library library(path_of("works"));
  FakeCuda& fake = library.fresh();
  for (const int ordinal : {2, -1}) CHECK(contains(message_of_opening(ordinal), "expected cuda:0 to cuda:1"));
  fake.devices = 1;
  CHECK(contains(message_of_opening(1), "cuda:1: expected cuda:0, the only GPU here"));
  fake.devices = 0;
  CHECK(contains(message_of_opening(0), "expected a machine with an NVIDIA GPU"));
  CHECK(fake.count("cuDevicePrimaryCtxRetain") == 0);
}

TEST_CASE("of GPUs that others may have the next that opens is taken, from any place in their row") {
  Library library(path_of("works"));
  const auto opened = [&](int from, int refusals) {
    FakeCuda& fake = library.fresh();
    fake.devices = 3;
    int ordinal = from;
    if (refusals > 0) fake.failures["cuDevicePrimaryCtxRetain"] = 46;  // CUDA_ERROR_DEVICE_UNAVAILABLE, once
    return std::pair{jit::open_next_cuda_driver(ordinal)->properties().model, ordinal};
  };
  for (int from = 0; from < 7; ++from) {
    CHECK(opened(from, 0) == std::pair{std::string("Fake GPU"), from % 3});
    CHECK(opened(from, 1).second == (from + 1) % 3);
  }
  FakeCuda& fake = library.fresh();
  fake.context_result = 46;
  int ordinal = 0;
  CHECK_THROWS_WITH_AS(jit::open_next_cuda_driver(ordinal), doctest::Contains("cuda:1"), DeviceError);
  fake.devices = 0;
  CHECK_THROWS_AS(jit::open_next_cuda_driver(ordinal), DeviceError);
}

TEST_CASE("a GPU older than our code") {
  Library library(path_of("works"));
  library.fresh().compute_capability = 70;
  const std::string message = message_of_opening();
  CHECK(contains(message, "cuda:0 (\"Fake GPU\"): expected compute capability 7.5 or newer, got 7.0"));
  CHECK(contains(message, "TESSERA_DEVICE=cpu"));
  CHECK(library.fresh().contexts == 0);
}

TEST_CASE("counting touches no GPU") {
  Library library(path_of("works"));
  FakeCuda& fake = library.fresh();
  CHECK(jit::count_cuda_devices() == 2);
  CHECK((fake.calls == std::vector<std::string>{"cuInit", "cuDeviceGetCount"}));
}

// ---- a driver that works --------------------------------------------------------------------------------------------

TEST_CASE("the GPU's properties") {
  Open open;
  const auto& gpu = open.driver->properties();
  CHECK(gpu.model == "Fake GPU");
  CHECK(gpu.driver == "CUDA 12.8");
  CHECK(gpu.sm == 90);
  CHECK(gpu.memory == std::size_t{64} << 30);
  CHECK(gpu.multiprocessors == 132);
  CHECK(gpu.largest_block == 1024);
  CHECK(gpu.threads_per_multiprocessor == 1536);
}

TEST_CASE("everything is given back at the end") {
  Open open;
  open.kernel();
  open.kernel();
  CHECK(open.fake.contexts == 1);
  CHECK(open.fake.modules == 2);
  open.driver.reset();
  CHECK(open.fake.contexts == 0);
  CHECK(open.fake.modules == 0);
}

TEST_CASE("memory: no more left is nullptr, anything else an error with the request") {
  Open open;
  void* memory = open.driver->allocate(1000);
  REQUIRE(memory != nullptr);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
  open.driver->free(memory);
  CHECK(open.fake.allocations == 0);
  CHECK(open.driver->allocate(std::size_t{60} << 30) == nullptr);
  open.fake.failures["cuMemAlloc_v2"] = cuda::kIllegalAddress;
  try {
    open.driver->allocate(std::size_t{3} << 29);
    FAIL("no error");
  } catch (const DeviceError& error) {
    CHECK(contains(
        error.what(),
        "cuMemAlloc_v2(1.50 GiB) on \"Fake GPU\": got CUDA_ERROR_ILLEGAL_ADDRESS = 700 (words of the fake driver)"));
    CHECK(contains(error.what(), "context is lost"));
    CHECK(contains(error.what(), "TESSERA_SYNC=1"));
  }
}

TEST_CASE("memory is left to the driver for the stacks of kernels that spill 10 KB") {
  Open open;
  constexpr std::size_t kOne = 1, kAll = kOne << 36;
  open.fake.memory = kAll;
  const std::size_t left = open.fake.free_memory - open.driver->free_memory();
  CHECK(left >= std::size_t{10240} * 1536 * 132);  // of the threads that the fake GPU runs at once
  CHECK(left <= kAll / 16);
  open.fake.memory = kOne << 40;  // it does not depend on the memory that there is,
  CHECK(open.fake.free_memory - open.driver->free_memory() == left);
  open.fake.memory = kOne << 33;  // unless that is little
  CHECK(open.fake.free_memory - open.driver->free_memory() == kOne << 30);
  open.fake.free_memory = 1000;
  CHECK(open.driver->free_memory() == 0);
}

TEST_CASE("pinned memory, or nullptr where a system has none; a lost context is an error") {
  Open open;
  void* memory = open.driver->allocate_pinned(4096);
  CHECK(memory != nullptr);
  CHECK(open.fake.host_alloc_flags == (cuda::kHostAllocPortable | cuda::kHostAllocDeviceMap));
  CHECK(open.driver->device_address(memory) == memory);
  for (const int lacking :
       {cuda::kInvalidValue, cuda::kNotPermitted, cuda::kNotSupported, cuda::kOutOfMemory, cuda::kOperatingSystem}) {
    open.fake.failures["cuMemHostAlloc"] = open.fake.failures["cuMemHostGetDevicePointer_v2"] = lacking;
    CHECK(open.driver->allocate_pinned(4096) == nullptr);
    CHECK(open.driver->device_address(memory) == nullptr);
  }
  for (const int lost :
       {int{cuda::kIllegalAddress}, int{cuda::kLaunchFailed}, int{cuda::kEccUncorrectable}, 201, 710, 999}) {
    open.fake.failures["cuMemHostAlloc"] = open.fake.failures["cuMemHostGetDevicePointer_v2"] = lost;
    CHECK_THROWS_WITH_AS(open.driver->allocate_pinned(4096), doctest::Contains("cuMemHostAlloc on"), DeviceError);
    CHECK_THROWS_WITH_AS(open.driver->device_address(memory), doctest::Contains("cuMemHostGetDevicePointer_v2 on"),
                         DeviceError);
  }
  open.driver->free_pinned(memory);
  CHECK(open.fake.pinned == 0);
}

TEST_CASE("another library may change the thread's context between our calls") {
  Open open;
  int of_another = 0;
  void* memory = open.driver->allocate(256);
  for (void* context : {static_cast<void*>(&of_another), static_cast<void*>(nullptr)}) {
    open.fake.calls.clear();
    open.fake.other_library_sets(context);
    CHECK_NOTHROW(open.driver->free_memory());
    CHECK(open.fake.count("cuCtxSetCurrent") == 1);
    CHECK_NOTHROW(open.driver->free_memory());
    CHECK(open.fake.count("cuCtxSetCurrent") == 1);  // still ours
    open.fake.other_library_sets(context);
    const auto stream = open.driver->create_stream();
    open.fake.other_library_sets(context);
    const std::uint64_t packet[] = {1, 2};
    CHECK(open.driver->launch(stream, open.kernel(), 10, 32, packet, 2) == jit::LaunchStatus::done);
    open.fake.other_library_sets(context);
    open.driver->destroy_stream(stream);
  }
  open.fake.other_library_sets(&of_another);
  open.driver->free(memory);
  CHECK(open.fake.allocations + open.fake.streams == 0);
}

TEST_CASE("copies, rows and clears reach the bytes they name") {
  Open open;
  GpuDriver& driver = *open.driver;
  const auto stream = driver.create_stream();
  CHECK(open.fake.stream_flags == cuda::kStreamNonBlocking);
  auto* device = static_cast<unsigned char*>(driver.allocate(64));  // this library's device memory is host memory
  std::vector<unsigned char> host(64), back(12), expected(64);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(1));
  driver.copy_in(stream, device, host.data(), 64);
  CHECK(std::equal(host.begin(), host.end(), device));
  driver.clear(stream, device + 8, 16);
  std::fill_n(host.begin() + 8, 16, static_cast<unsigned char>(0));
  CHECK(std::equal(host.begin(), host.end(), device));

  driver.copy_rows_out(stream, back.data(), device + 4, 20, 4, 3);
  for (std::size_t row = 0; row < 3; ++row)
    for (std::size_t i = 0; i < 4; ++i) CHECK(back[4 * row + i] == host[4 + 20 * row + i]);
  std::fill(back.begin(), back.end(), static_cast<unsigned char>(200));
  driver.copy_rows_in(stream, device + 1, 20, back.data(), 4, 3);
  for (std::size_t row = 0; row < 3; ++row)
    std::fill_n(host.begin() + 1 + static_cast<std::ptrdiff_t>(20 * row), 4, static_cast<unsigned char>(200));
  CHECK(std::equal(host.begin(), host.end(), device));
  driver.copy_out(stream, back.data(), device + 30, 12);
  CHECK(std::equal(back.begin(), back.end(), host.begin() + 30));
  driver.copy_within(stream, device + 50, device + 2, 14);
  CHECK(std::equal(host.begin() + 2, host.begin() + 16, device + 50));

  open.fake.failures["cuMemcpyHtoDAsync_v2"] = cuda::kLaunchFailed;
  CHECK_THROWS_WITH_AS(driver.copy_in(stream, device, host.data(), 64), doctest::Contains("cuMemcpyHtoDAsync_v2(64 B)"),
                       DeviceError);
  open.fake.failures["cuMemcpy2DAsync_v2"] = cuda::kEccUncorrectable;
  CHECK_THROWS_WITH_AS(driver.copy_rows_out(stream, back.data(), device, 20, 4, 3),
                       doctest::Contains("hardware failed"), DeviceError);
  driver.free(device);
  driver.destroy_stream(stream);
  CHECK(open.fake.streams == 0);
}

TEST_CASE("each way in which work fails has its own advice") {
  Open open;
  const auto stream = open.driver->create_stream();
  for (const auto& [code, advice] : std::map<int, std::string>{{214, "the last checkpoint"},
                                                               {226, "the last checkpoint"},
                                                               {700, "context is lost"},
                                                               {702, "a display"},
                                                               {716, "context is lost"},
                                                               {719, "context is lost"}}) {
    open.fake.failures["cuStreamSynchronize"] = code;
    CHECK_THROWS_WITH_AS(open.driver->synchronize(stream), doctest::Contains(advice.c_str()), DeviceError);
  }
  open.driver->destroy_stream(stream);
}

TEST_CASE("waiting for a driver that has ended with the program is no error") {
  Open open;
  const auto stream = open.driver->create_stream();
  open.fake.failures["cuStreamSynchronize"] = cuda::kDeinitialized;
  CHECK_NOTHROW(open.driver->synchronize(stream));
  open.driver->destroy_stream(stream);
}

TEST_CASE("events take part in timing") {
  Open open;
  GpuDriver& driver = *open.driver;
  const auto stream = driver.create_stream();
  const auto from = driver.create_event(true), to = driver.create_event(true);
  CHECK(open.fake.event_flags == cuda::kEventDefault);
  driver.destroy_event(driver.create_event(false));
  CHECK(open.fake.event_flags == cuda::kEventDisableTiming);
  driver.record(from, stream);
  driver.record(to, stream);
  driver.wait(stream, from);
  CHECK(driver.seconds(from, to) == doctest::Approx(2.5e-3));
  CHECK(open.fake.count("cuEventSynchronize") == 1);
  driver.destroy_event(from);
  driver.destroy_event(to);
  driver.destroy_stream(stream);
  CHECK(open.fake.events == 0);
}

TEST_CASE("the assembler gets PTX, the bound on registers and room for its logs") {
  Open open;
  std::string log;
  CHECK(open.driver->assemble("ptx of k", 128, log) == "cubin of ptx of k");
  CHECK(open.fake.ptx == std::string("ptx of k\0", 9));
  CHECK(log == open.fake.info_log);
  auto& options = open.fake.link_options;
  CHECK(options.at(cuda::kJitMaxRegisters) == 128);
  CHECK(options.at(cuda::kJitLogVerbose) == 1);
  CHECK(options.at(cuda::kJitInfoLog) == 1);
  CHECK(options.at(cuda::kJitErrorLog) == 1);
  CHECK(options.at(cuda::kJitInfoLogBytes) >= 4096);
  CHECK(options.at(cuda::kJitErrorLogBytes) >= 4096);
  CHECK(options.contains(cuda::kJitTargetFromContext));
  open.driver->assemble("ptx of k", 0, log);
  CHECK(!options.contains(cuda::kJitMaxRegisters));
  CHECK(open.fake.links == 0);
}

TEST_CASE("PTX that is refused is our mistake, and the first lines of the assembler's errors are shown") {
  Open open;
  std::string log;
  for (int line = 1; line <= 100; ++line) open.fake.error_log += "ptxas error in line " + std::to_string(line) + "\n";
  for (const char* call : {"cuLinkAddData_v2", "cuLinkComplete"}) {
    open.fake.failures[call] = cuda::kInvalidPtx;
    try {
      open.driver->assemble("nonsense", 0, log);
      FAIL("no error");
    } catch (const InternalError& error) {
      CHECK(contains(error.what(), std::string(call) + " for sm_90: got CUDA_ERROR_INVALID_PTX"));
      CHECK(contains(error.what(), "ptxas error in line 1\n"));
      CHECK(contains(error.what(), "ptxas error in line 8\n"));
      CHECK(std::string(error.what()).find("line 9") == std::string::npos);
    }
    CHECK(open.fake.links == 0);
  }
}

TEST_CASE("an assembler that is too old or not there is the machine's fault") {
  Open open;
  std::string log;
  open.fake.failures["cuLinkAddData_v2"] = cuda::kUnsupportedPtxVersion;
  CHECK_THROWS_WITH_AS(open.driver->assemble("ptx", 0, log), doctest::Contains("update it"), DeviceError);
  open.fake.failures["cuLinkAddData_v2"] = cuda::kJitCompilerNotFound;
  CHECK_THROWS_WITH_AS(open.driver->assemble("ptx", 0, log), doctest::Contains("libnvidia-ptxjitcompiler"),
                       DeviceError);
  open.fake.failures["cuLinkCreate_v2"] = cuda::kOutOfMemory;
  CHECK_THROWS_WITH_AS(open.driver->assemble("ptx", 0, log), doctest::Contains("48.0 GiB free of 64.0 GiB"),
                       DeviceError);
}

TEST_CASE("a ptxas makes code instead of the driver's assembler, which has the last word") {
  const tests::Folder folder;
  std::filesystem::create_directory(folder.path);
  const auto file = [&](const char* name) { return (folder.path / name).string(); };
  const auto program = [&](const char* name, const std::string& version, const std::string& body) {
    const std::string path = file(name);
    std::ofstream(path) << "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'Cuda compilation tools, release " << version
                        << ", V" << version << ".88'; exit; }\n"
                        << "while [ \"$1\" != -o ]; do all=\"$all $1\"; in=$1; shift; done\n"
                        << body;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  };
  const std::string good = program("good", "12.4", "echo \"$all\"; printf '\\177ELF of ' > $2; cat $in >> $2\n");
  std::string log;
  {
    Open open(good);
    CHECK(open.driver->assembler() == "ptxas V12.4.88");
    CHECK(open.driver->assemble("some ptx", 128, log) ==
          "\x7f"
          "ELF of some ptx");
    CHECK(contains(log, "-arch=sm_90 -O3 -maxrregcount=128 /proc/self/fd/"));
    CHECK(open.driver->assemble(std::string(400'001, 'x'), 0, log).size() == 400'009);
    CHECK(contains(log, "-O1 /proc/self/fd/"));
    CHECK(open.fake.ptx.empty());
    std::vector<std::thread> threads;
    std::vector<std::string> made(8);
    for (std::size_t i = 0; i < made.size(); ++i)
      threads.emplace_back([&, i] {
        std::string words;
        made[i] = open.driver->assemble("ptx " + std::to_string(i), 0, words);
      });
    for (std::thread& thread : threads) thread.join();
    for (std::size_t i = 0; i < made.size(); ++i)
      CHECK(made[i] ==
            "\x7f"
            "ELF of ptx " +
                std::to_string(i));
  }
  SUBCASE("what it refuses, or dies of, goes to the driver") {
    for (const char* end : {"exit 1", "kill -9 $$", "printf nonsense > $2", "true"}) {
      CAPTURE(end);
      const std::string path =
          program("sometimes", "12.0",
                  "grep -q empty $in && { printf '\\177ELF of ' > $2; exit; }\n" + std::string(end) + "\n");
      Open open(path);
      CHECK(open.driver->assembler() == "ptxas V12.0.88");
      CHECK(open.driver->assemble("ptx of k", 0, log) == "cubin of ptx of k");
    }
  }
  SUBCASE("one that is asked for and of no use is an error that says why") {
    const auto complains = [&](const std::string& path, const char* words) {
      CAPTURE(path);
      Open open(path);
      CHECK_THROWS_WITH_AS(open.driver->assembler(), doctest::Contains(words), DeviceError);
    };
    complains(file("none"), "does not run");
    complains(program("newer", "99.1", "exit 1\n"), "of CUDA 99, the driver is of CUDA ");
    complains(program("other", "x", "exit 1\n"), "not ptxas");
    complains(program("older", "11.0", "echo unknown architecture; exit 1\n"),
              "has no code for sm_90: unknown architecture");
    complains(program("foreign", "12.0", "printf '\\177ELF for another' > $2\n"), "the driver does not take");
  }
  SUBCASE("one that is found and of no use is left alone") {
    program("ptxas", "99.1", "exit 1\n");
    const tests::Setting path("PATH", folder.path.string() + ":" + std::getenv("PATH"));
    Open open("auto");
    CHECK(contains(open.driver->assembler(), "CUDA "));
    CHECK(open.driver->assemble("ptx of k", 0, log) == "cubin of ptx of k");
  }
  SUBCASE("of several that are found the first of use is taken") {
    std::filesystem::create_directory(folder.path / "older");
    program("ptxas", "99.1", "exit 1\n");
    std::filesystem::rename(good, folder.path / "older" / "ptxas");
    const tests::Setting path("PATH", folder.path.string() + ":" + file("older") + ":" + std::getenv("PATH"));
    Open open("auto");
    CHECK(open.driver->assembler() == "ptxas V12.4.88");
  }
}

TEST_CASE("loading tells what a kernel takes, and refuses what is no code of this GPU") {
  Open open;
  jit::KernelResources resources;
  CHECK(open.driver->load("cubin of k", "k", resources) != nullptr);
  CHECK(resources.registers == 40);
  CHECK(resources.spill_bytes == 16);
  CHECK(resources.shared_bytes == 48);
  CHECK(resources.largest_block == 640);
  CHECK_THROWS_WITH_AS(open.driver->load("garbage", "k", resources), doctest::Contains("cuModuleLoadDataEx for sm_90"),
                       InternalError);
  CHECK_THROWS_WITH_AS(open.driver->load("cubin of k", "other", resources),
                       doctest::Contains("cuModuleGetFunction(other)"), InternalError);
  open.fake.failures["cuModuleLoadDataEx"] = cuda::kOutOfMemory;
  CHECK_THROWS_WITH_AS(open.driver->load("cubin of k", "k", resources), doctest::Contains("TESSERA_MEM_MAX"),
                       DeviceError);
}

TEST_CASE("unloaded code gives its module back, and code that has no such kernel leaves none") {
  Open open;
  const auto first = open.kernel(), second = open.kernel();
  CHECK(open.fake.modules == 2);
  open.driver->unload(first);
  CHECK(open.fake.modules == 1);
  jit::KernelResources resources;
  CHECK_THROWS_AS(open.driver->load("cubin of k", "other", resources), InternalError);
  CHECK(open.fake.modules == 1);
  CHECK(open.driver->blocks_at_once(second, 512) == 2);
  open.fake.threads_at_once = 512;  // the driver is asked once,
  CHECK(open.driver->blocks_at_once(second, 512) == 2);
  const auto third = open.kernel();  // for each code
  CHECK(open.driver->blocks_at_once(third, 512) == 1);
  CHECK(open.driver->blocks_at_once(third, 1024) == 1);  // at least one
  open.driver.reset();
  CHECK(open.fake.modules == 0);
}

TEST_CASE("a launch for which the driver has no memory says so, and may be repeated") {
  Open open;
  const auto stream = open.driver->create_stream();
  const auto kernel = open.kernel();
  const std::uint64_t packet[] = {1, 2};
  open.fake.failures["cuLaunchKernel"] = cuda::kOutOfMemory;
  CHECK_THROWS_WITH_AS(open.driver->launch(stream, kernel, 10, 128, packet, 2),
                       doctest::Contains("48.0 GiB free of 64.0 GiB"), jit::OutOfGpuMemory);
  CHECK(open.driver->launch(stream, kernel, 10, 128, packet, 2) == jit::LaunchStatus::done);
  open.fake.failures["cuModuleLoadDataEx"] = cuda::kOutOfMemory;
  jit::KernelResources resources;
  CHECK_THROWS_AS(open.driver->load("cubin of k", "k", resources), jit::OutOfGpuMemory);
  open.driver->destroy_stream(stream);
}

TEST_CASE("a launch passes grid, block, stream and packet") {
  Open open;
  const auto stream = open.driver->create_stream();
  const std::vector<std::uint64_t> packet{1, ~std::uint64_t{0}, 3, 4, 5};
  REQUIRE(open.driver->launch(stream, open.kernel(), 1000, 128, packet.data(), packet.size()) ==
          jit::LaunchStatus::done);
  REQUIRE(open.fake.launches.size() == 1);
  const auto& launch = open.fake.launches.front();
  CHECK((std::vector<unsigned>{launch.grid[0], launch.grid[1], launch.grid[2]} == std::vector<unsigned>{1000, 1, 1}));
  CHECK((std::vector<unsigned>{launch.block[0], launch.block[1], launch.block[2]} == std::vector<unsigned>{128, 1, 1}));
  CHECK(launch.shared_bytes == 0);
  CHECK((launch.stream == stream));
  CHECK((launch.packet == packet));
  open.driver->destroy_stream(stream);
}

TEST_CASE("a block that the kernel's registers do not allow is too large, other refusals are errors") {
  Open open;
  const auto stream = open.driver->create_stream();
  const auto kernel = open.kernel();
  const std::uint64_t packet[] = {1, 2};
  const auto launch = [&](unsigned threads) { return open.driver->launch(stream, kernel, 10, threads, packet, 2); };
  CHECK(launch(1024) == jit::LaunchStatus::too_large);
  CHECK(launch(641) == jit::LaunchStatus::too_large);
  CHECK(open.fake.launches.empty());
  CHECK(launch(640) == jit::LaunchStatus::done);
  open.fake.failures["cuLaunchKernel"] = cuda::kLaunchOutOfResources;
  CHECK(launch(64) == jit::LaunchStatus::too_large);
  open.fake.failures["cuLaunchKernel"] = cuda::kLaunchOutOfResources;
  CHECK_THROWS_WITH_AS(launch(32), doctest::Contains("CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"), DeviceError);
  open.fake.failures["cuLaunchKernel"] = cuda::kInvalidValue;
  CHECK_THROWS_WITH_AS(launch(128), doctest::Contains("cuLaunchKernel(10 blocks of 128 threads, 2 parameters)"),
                       DeviceError);
  open.driver->destroy_stream(stream);
}

TEST_CASE("other threads may use the driver, and a second driver in one process") {
  Open open;
  void* memory = nullptr;
  std::thread([&] { memory = open.driver->allocate(256); }).join();
  CHECK(memory != nullptr);
  open.driver->free(memory);
  open.driver.reset();
  open.driver = jit::open_cuda_driver(1);
  CHECK_NOTHROW(open.driver->free(open.driver->allocate(256)));
  CHECK(open.fake.allocations == 0);
}

TEST_CASE("a device on top of it copies, launches and goes, leaving nothing behind") {
  Open open;
  {
    jit::GpuDevice device("cuda:0", std::move(open.driver));
    CHECK(device.name() == "cuda:0");
    CHECK(device.capacity() == device.driver().free_memory());
    std::vector<double> there(1'000'000), back(there.size());
    std::iota(there.begin(), there.end(), 0.0);
    void* memory = device.allocate(there.size() * 8);
    device.copy_to_device(memory, there.data(), there.size() * 8);
    device.copy_to_host(back.data(), memory, there.size() * 8);
    CHECK((back == there));

    jit::ir::Kernel kernel;
    kernel.name = "k";
    kernel.lanes = 32;
    kernel.leaves.resize(1);
    jit::KernelResources resources;
    jit::DeviceLaunch launch;
    launch.kernel = &kernel;
    launch.code = device.driver().load("cubin of k", "k", resources);
    launch.fields = {&memory, 1};
    launch.end = 100;
    CHECK(device.launch(launch));
    CHECK(open.fake.launches.back().grid[0] == 25);
    CHECK((open.fake.launches.back().packet ==
           std::vector<std::uint64_t>{reinterpret_cast<std::uint64_t>(memory), 0, 100}));
    CHECK(device.occupancy(launch.code, 512) == doctest::Approx(2 * 512 / 1536.0));
    CHECK(device.occupancy(launch.code, 1024) == doctest::Approx(1024 / 1536.0));
    launch.block = 1024;
    CHECK(!device.launch(launch));
    launch.block = 0;
    open.fake.failures["cuLaunchKernel"] = cuda::kIllegalAddress;
    CHECK_THROWS_WITH_AS(device.launch(launch), doctest::Contains("[kernel k, 3200 sites, block 128]"), DeviceError);
    const auto from = device.mark();
    CHECK(device.seconds_between(from, device.mark()) == doctest::Approx(2.5e-3));
    device.free(memory, there.size() * 8);
  }
  CHECK(open.fake.allocations + open.fake.pinned + open.fake.streams + open.fake.events + open.fake.modules +
            open.fake.contexts ==
        0);
}
