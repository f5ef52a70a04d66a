// What a statement of the language costs the host beside the driver's own time, counted rather than timed: calls of the
// CUDA driver and allocations, on a library that stands in for NVIDIA's (fake_cuda). What it computes is nonsense.
#include <dlfcn.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <new>
#include <set>
#include <string>
#include <vector>

#include "fake_cuda/fake_cuda.hpp"
#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "qdp.h"

using namespace QDP;

namespace {

long allocations = 0;

void* allocate(std::size_t bytes) {
  ++allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}

}  // namespace

// The library and this program are one for the linker: these are the process's.
void* operator new(std::size_t bytes) { return allocate(bytes); }
void* operator new[](std::size_t bytes) { return allocate(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return ++allocations, std::malloc(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return ++allocations, std::malloc(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

using Calls = std::vector<std::string>;

/// The library behind the process's device, which is made here, and a lattice on it.
FakeCuda& fake() {
  static FakeCuda& library = []() -> FakeCuda& {
    const std::string path =
        (std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_cuda/libcuda_works.so").string();
    ::setenv("TESSERA_LIBCUDA", path.c_str(), 1);
    ::setenv("TESSERA_DEVICE", "cuda", 1);
    ::setenv("TESSERA_FUSE", "0", 1);      // a statement is a launch
    ::setenv("TESSERA_CACHE", "0", 1);     // what an earlier run of the test has found
    ::setenv("TESSERA_TUNE", "eager", 1);  // so that the number of launches until a statement is tuned is known
    jit::reload_env();
    void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(handle != nullptr, path);
    multi1d<int> extents(Nd);
    extents = 4;
    Layout::setLattSize(extents);
    Layout::create();
    REQUIRE(jit::Runtime::instance().device() == "cuda:0");
    return *reinterpret_cast<FakeCuda* (*)()>(dlsym(handle, "fake_cuda"))();
  }();
  return library;
}

/// More launches than the tuner needs, and than there may be whose marks nobody has asked for yet.
constexpr int kUntilSteady = 300;

/// Statements that the programs of a lattice theorist are made of.
struct Statements {
  FakeCuda& driver = fake();
  LatticeFermion x = zero, y = zero, z = zero;
  LatticeColorMatrix u = zero;
  Real a = 0.5;

  void axpy() { z = a * x + y; }
  void axpy_on_a_checkerboard() { z[rb[1]] = a * x + y; }
  void hop() { z[rb[0]] = u * shift(x, FORWARD, 1) + shift(adj(u) * y, BACKWARD, 2); }
  void norm() { (void)norm2(x); }
  void extrema() { (void)globalMax(localNorm2(x)); }
};

template <class Statement>
Calls calls_of(FakeCuda& driver, Statement&& statement) {
  for (int i = 0; i < kUntilSteady; ++i) statement();
  driver.calls.clear();
  statement();
  return driver.calls;
}

}  // namespace

TEST_CASE("a statement that is tuned is one call of the driver") {
  Statements s;
  const Calls one_launch{"cuLaunchKernel"};
  CHECK((calls_of(s.driver, [&] { s.axpy(); }) == one_launch));
  CHECK((calls_of(s.driver, [&] { s.axpy_on_a_checkerboard(); }) == one_launch));
  CHECK((calls_of(s.driver, [&] { s.hop(); }) == one_launch));
}

TEST_CASE("a statement whose tuner waits for it to use more time is one call of the driver") {
  Statements s;
  ::setenv("TESSERA_TUNE", "1", 1);
  jit::reload_env();
  s.driver.milliseconds = 1e-6f;  // more than a million launches until then
  CHECK((calls_of(s.driver, [&] { s.z = s.a * s.x - s.y; }) == Calls{"cuLaunchKernel"}));
  s.driver.milliseconds = 2.5f;
  ::setenv("TESSERA_TUNE", "eager", 1);
  jit::reload_env();
  CHECK((calls_of(s.driver, [&] { s.z = s.a * s.x - s.y; }) == Calls{"cuLaunchKernel"}));  // tuned in the end
}

TEST_CASE("tuning tries bounds on registers, and sites per thread in smaller grids") {
  Statements s;
  s.driver.launches.clear();
  s.driver.registers =
      64;  // of 1536 threads of a multiprocessor 1024 run at once in blocks of 512, with 40 registers all
  for (int i = 0; i < kUntilSteady; ++i) s.z = s.x - s.a * s.y;
  std::set<const void*> functions;
  std::map<unsigned, std::set<unsigned>> threads;  // of the grid, by block
  for (const FakeCuda::Launch& launch : s.driver.launches) {
    functions.insert(launch.function);
    threads[launch.block[0]].insert(launch.grid[0] * launch.block[0]);
  }
  CHECK(functions.size() == 1 + 2 + 1 + 1);         // plain; sites 2 and 4; streaming; fewer registers
  CHECK((threads[32] == std::set<unsigned>{256}));  // 4^4 sites in the smallest blocks, which are not the best
  CHECK(threads[256].size() == 1);
  CHECK(s.driver.link_options[0] == 40);  // CU_JIT_MAX_REGISTERS
  s.driver.registers = 40;
}

TEST_CASE("a sum is one call of the driver too: its results come by themselves") {
  Statements s;
  const Calls one_launch{"cuLaunchKernel"};
  CHECK((calls_of(s.driver, [&] { s.norm(); }) == one_launch));
  CHECK((calls_of(s.driver, [&] { s.extrema(); }) == one_launch));
}

TEST_CASE("a sum that does not come is asked for, is an error, and the next one begins at zero") {
  Statements s;
  calls_of(s.driver, [&] { s.norm(); });
  s.driver.calls.clear();
  s.driver.hands_over_sums = false;
  CHECK_THROWS_WITH_AS(s.norm(), doctest::Contains("without them"), jit::InternalError);
  CHECK((s.driver.calls == Calls{"cuLaunchKernel", "cuStreamSynchronize"}));
  s.driver.hands_over_sums = true;
  s.driver.calls.clear();
  s.norm();
  CHECK((s.driver.calls == Calls{"cuMemsetD8Async", "cuLaunchKernel"}));
  s.driver.calls.clear();
  s.norm();
  CHECK((s.driver.calls == Calls{"cuLaunchKernel"}));
}

TEST_CASE("after a field has travelled there is an event behind each launch, and only then") {
  Statements s;
  const auto look_and_go_on = [&] {
    (void)s.y.elem(0);
    s.axpy();
  };
  // The copy waits for what used its memory, re-ordering waits for the copy.
  CHECK((calls_of(s.driver, look_and_go_on) == Calls{"cuStreamWaitEvent", "cuMemcpyHtoDAsync_v2", "cuEventRecord",
                                                     "cuEventRecord", "cuStreamWaitEvent", "cuLaunchKernel",
                                                     "cuEventRecord", "cuLaunchKernel", "cuEventRecord"}));
  s.driver.calls.clear();
  s.axpy();
  CHECK((s.driver.calls == Calls{"cuLaunchKernel", "cuEventRecord"}));
  CHECK((calls_of(s.driver, [&] { s.axpy(); }) == Calls{"cuLaunchKernel"}));
}

TEST_CASE("only profiling puts marks around a launch") {
  Statements s;
  calls_of(s.driver, [&] { s.axpy(); });
  jit::Runtime::instance().set_profiling(true);
  const Calls timed = calls_of(s.driver, [&] { s.axpy(); });
  jit::Runtime::instance().set_profiling(false);
  CHECK((timed == Calls{"cuEventRecord", "cuLaunchKernel", "cuEventRecord"}));
  CHECK((calls_of(s.driver, [&] { s.axpy(); }) == Calls{"cuLaunchKernel"}));
}

TEST_CASE("the time of a sum is that between marks around its kernel") {
  Statements s;
  calls_of(s.driver, [&] { s.norm(); });
  jit::Runtime::instance().set_profiling(true);
  const Calls timed = calls_of(s.driver, [&] { s.norm(); });
  jit::Runtime::instance().set_profiling(false);
  CHECK((timed == Calls{"cuEventRecord", "cuLaunchKernel", "cuEventRecord"}));
}

TEST_CASE("a statement that is tuned allocates nothing on the host") {
  Statements s;
  s.driver.recording = false;  // its notes are allocations too
  const auto allocations_of = [](auto&& statement) {
    for (int i = 0; i < kUntilSteady; ++i) statement();
    const long before = allocations;
    statement();
    return allocations - before;
  };
  CHECK(allocations_of([&] { s.axpy(); }) == 0);
  CHECK(allocations_of([&] { s.hop(); }) == 0);
  CHECK(allocations_of([&] { s.norm(); }) == 0);
  s.driver.recording = true;
}
