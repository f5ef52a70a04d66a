// The PTX machine on PTX written by hand: what instructions do, against NVIDIA's manual; what is noticed, and that
// right programs pass whatever the order.
#include <doctest/doctest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "jit/gpu/cuda_api.hpp"
#include "jit/support/env.hpp"

namespace {

namespace cuda = jit::cuda;
using cuda::Address;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

/// The machine with a context of its own; checks every access unless told otherwise.
class Gpu {
 public:
  explicit Gpu(u64 seed = 1, u64 checked_first = 1'000'000, u64 instructions = 20'000'000) {
    const auto library =
        std::filesystem::read_symlink("/proc/self/exe").parent_path() / "ptx_machine" / "libcuda_ptx.so";
    ::setenv("TESSERA_LIBCUDA", library.c_str(), 1);
    ::setenv("PTX_MACHINE_SEED", std::to_string(seed).c_str(), 1);
    ::setenv("PTX_MACHINE_CHECK_FIRST", std::to_string(checked_first).c_str(), 1);
    ::setenv("PTX_MACHINE_CHECK_EVERY", "0", 1);
    ::setenv("PTX_MACHINE_INSTRUCTIONS", std::to_string(instructions).c_str(), 1);
    jit::reload_env();
    api = cuda::load_api();
    REQUIRE(api.cuInit(0) == cuda::kSuccess);
    REQUIRE(api.cuDevicePrimaryCtxRetain(&context, 0) == cuda::kSuccess);
    REQUIRE(api.cuCtxSetCurrent(context) == cuda::kSuccess);
    REQUIRE(api.cuStreamCreate(&stream, cuda::kStreamNonBlocking) == cuda::kSuccess);
  }
  ~Gpu() { api.cuDevicePrimaryCtxRelease_v2(0); }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;

  Address allocate(std::size_t bytes) {
    Address a = 0;
    REQUIRE(api.cuMemAlloc_v2(&a, bytes) == cuda::kSuccess);
    return a;
  }
  template <class T>
  Address put(const std::vector<T>& values) {
    const Address a = allocate(values.size() * sizeof(T));
    REQUIRE(api.cuMemcpyHtoDAsync_v2(a, values.data(), values.size() * sizeof(T), stream) == cuda::kSuccess);
    return a;
  }
  template <class T>
  std::vector<T> get(Address a, std::size_t count) {
    std::vector<T> values(count);
    REQUIRE(api.cuMemcpyDtoHAsync_v2(values.data(), a, count * sizeof(T), stream) == cuda::kSuccess);
    return values;
  }

  /// What the loader says: "" if it takes the text.
  std::string load(const std::string& ptx) {
    std::vector<char> log(4096);
    cuda::JitOption options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
    void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
    cuda::Module module = nullptr;
    const int result = api.cuModuleLoadDataEx(&module, ptx.c_str(), 2, options, values);
    if (result != cuda::kSuccess) return std::to_string(result) + " " + log.data();
    REQUIRE(api.cuModuleGetFunction(&function, module, "k") == cuda::kSuccess);
    return "";
  }
  int launch(unsigned blocks, unsigned threads, std::vector<u64> parameters) {
    std::size_t bytes = parameters.size() * 8;
    void* extra[] = {reinterpret_cast<void*>(cuda::kLaunchBuffer), parameters.data(),
                     reinterpret_cast<void*>(cuda::kLaunchBufferBytes), &bytes,
                     reinterpret_cast<void*>(cuda::kLaunchEnd)};
    return api.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, nullptr, extra);
  }
  /// "" or the error's name and text.
  std::string finish() {
    const int result = api.cuStreamSynchronize(stream);
    if (result == cuda::kSuccess) return "";
    const char *name = "", *text = "";
    api.cuGetErrorName(result, &name);
    api.cuGetErrorString(result, &text);
    return std::string(name) + ": " + text;
  }
  std::string run(const std::string& ptx, unsigned blocks, unsigned threads, const std::vector<u64>& parameters) {
    const std::string refused = load(ptx);
    REQUIRE_MESSAGE(refused.empty(), refused);
    REQUIRE(launch(blocks, threads, parameters) == cuda::kSuccess);
    return finish();
  }

  cuda::Api api;
  cuda::Context context = nullptr;
  cuda::Stream stream = nullptr;
  cuda::Function function = nullptr;
};

/// A kernel with parameters a, b, c (pointers, in %rd1 to %rd3), the thread's number in its block in %r1, of all
/// threads in %r2, its block in %r3; %rd4 is a + 4 * %r1, %rd5 is a + 8 * %r2.
std::string kernel(const std::string& body, const std::string& before = "") {
  return ".version 7.8\n.target sm_90\n.address_size 64\n" + before +
         ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 c)\n{\n"
         ".reg .pred %p<20>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<60>;\n.reg .f32 %f<20>;\n.reg .f64 "
         "%fd<20>;\n"
         "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n"
         "mov.u32 %r1, %tid.x;\nmov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmad.lo.s32 %r2, %r3, %r4, %r1;\n"
         "mul.wide.u32 %rd4, %r1, 4;\nadd.s64 %rd4, %rd1, %rd4;\nmul.wide.u32 %rd5, %r2, 8;\nadd.s64 %rd5, %rd1, "
         "%rd5;\n" +
         body + "\nret;\n}\n";
}

/// Bits of the result of one instruction; registers by letters, result first: s r d (16, 32, 64 bits), f F (floats).
u64 apply(Gpu& gpu, const std::string& op, const std::string& registers, const std::vector<u64>& arguments) {
  const auto reg = [](char c, std::size_t k) {
    const std::string stem = c == 's' ? "%rs" : c == 'r' ? "%r" : c == 'd' ? "%rd" : c == 'f' ? "%f" : "%fd";
    return stem + std::to_string(10 + k);
  };
  const auto type = [](char c) -> std::string {
    return c == 's' ? "b16" : c == 'r' ? "b32" : c == 'd' ? "b64" : c == 'f' ? "f32" : "f64";
  };
  std::string body, list = reg(registers[0], 0);
  for (std::size_t k = 1; k < registers.size(); ++k) {
    body += "ld.global." + type(registers[k]) + " " + reg(registers[k], k) + ", [%rd1+" + std::to_string(8 * (k - 1)) +
            "];\n";
    list += ", " + reg(registers[k], k);
  }
  body += op + " " + list + ";\nst.global." + type(registers[0]) + " [%rd2], " + reg(registers[0], 0) + ";";
  const Address in = gpu.put(arguments), out = gpu.put(std::vector<u64>{0});
  const std::string error = gpu.run(kernel(body), 1, 1, {in, out, 0});
  CHECK_MESSAGE(error.empty(), op, ": ", error);
  return gpu.get<u64>(out, 1)[0];
}
u64 bits(double a) { return std::bit_cast<u64>(a); }
u64 bits(float a) { return std::bit_cast<u32>(a); }
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr float kNanf = std::numeric_limits<float>::quiet_NaN();

}  // namespace

TEST_CASE("instructions on registers do what the manual says") {
  Gpu gpu;
  const double e = std::ldexp(1.0, -52), tiny = std::ldexp(1.0, -60);
  struct Row {
    const char *op, *registers;
    std::vector<u64> arguments;
    u64 expected;
  };
  const Row rows[] = {
      {"add.s32", "rrr", {0x7FFFFFFF, 1}, 0x80000000},
      {"sub.s64", "ddd", {0, 1}, ~u64{0}},
      {"mul.lo.s32", "rrr", {0x10001, 0x10001}, 0x20001},
      {"mul.hi.u32", "rrr", {0xFFFFFFFF, 0xFFFFFFFF}, 0xFFFFFFFE},
      {"mul.hi.s32", "rrr", {0xFFFFFFFF, 0xFFFFFFFF}, 0},
      {"mul.hi.u64", "ddd", {~u64{0}, ~u64{0}}, ~u64{0} - 1},
      {"mul.wide.s32", "drr", {0xFFFFFFFE, 3}, ~u64{0} - 5},
      {"mul.wide.u32", "drr", {0xFFFFFFFE, 3}, 0x2FFFFFFFA},
      {"mad.lo.s32", "rrrr", {3, 5, 0xFFFFFFFF}, 14},
      {"mad.wide.u32", "drrd", {0xFFFFFFFF, 2, 1}, 0x1FFFFFFFF},
      {"mad.hi.u32", "rrrr", {0x80000000, 6, 1}, 4},
      {"neg.s32", "rr", {5}, 0xFFFFFFFB},
      {"abs.s32", "rr", {0xFFFFFFFB}, 5},
      {"min.s32", "rrr", {0xFFFFFFFF, 1}, 0xFFFFFFFF},
      {"min.u32", "rrr", {0xFFFFFFFF, 1}, 1},
      {"max.s64", "ddd", {~u64{0}, 1}, 1},
      {"shl.b32", "rrr", {1, 31}, 0x80000000},
      {"shl.b32", "rrr", {1, 32}, 0},
      {"shl.b64", "ddr", {1, 40}, u64{1} << 40},
      {"shl.b64", "ddr", {1, 64}, 0},
      {"shr.u32", "rrr", {0x80000000, 99}, 0},
      {"shr.s32", "rrr", {0x80000000, 99}, 0xFFFFFFFF},
      {"shr.s64", "ddr", {u64{1} << 63, 62}, ~u64{0} - 1},
      {"bfe.u32", "rrrr", {0x12345678, 8, 8}, 0x56},
      {"bfe.s32", "rrrr", {0xF00, 8, 4}, 0xFFFFFFFF},
      {"bfe.s32", "rrrr", {0x80000000, 28, 8}, 0xFFFFFFF8},
      {"bfe.u64", "ddrr", {0x123456789ABCDEF0, 60, 8}, 1},
      {"bfi.b32", "rrrrr", {0xF, 0, 28, 8}, 0xF0000000},
      {"popc.b64", "rd", {0xF0F0F0F0F0F0F0F0}, 32},
      {"clz.b32", "rr", {1}, 31},
      {"clz.b64", "rd", {0}, 64},
      {"brev.b32", "rr", {1}, 0x80000000},
      {"bfind.u32", "rr", {0x100}, 8},
      {"bfind.s32", "rr", {0xFFFFFFFF}, 0xFFFFFFFF},
      {"not.b64", "dd", {0}, ~u64{0}},
      {"and.b16", "sss", {0xFF0F, 0x0FFF}, 0x0F0F},
      {"prmt.b32", "rrrr", {0x33221100, 0x77665544, 0x7520}, 0x77552200},
      {"prmt.b32", "rrrr", {0x000080FF, 0, 0x7798}, 0x0000FFFF},
      {"lop3.b32", "rrrrr", {0xF0, 0xCC, 0xAA, 0x96}, 0xF0 ^ 0xCC ^ 0xAA},
      {"shf.l.wrap.b32", "rrrr", {0x80000000, 1, 33}, 3},
      {"shf.r.clamp.b32", "rrrr", {0, 7, 40}, 7},
      {"div.s32", "rrr", {0xFFFFFFF9, 2}, 0xFFFFFFFD},
      {"rem.s32", "rrr", {0xFFFFFFF9, 2}, 0xFFFFFFFF},
      {"div.u32", "rrr", {0xFFFFFFF9, 2}, 0x7FFFFFFC},
      {"rem.u64", "ddd", {~u64{0}, 10}, 5},
      {"cvt.u32.u64", "rd", {0x1'0000'0005}, 5},
      {"cvt.u64.u32", "dr", {0xFFFFFFFF}, 0xFFFFFFFF},
      {"cvt.s64.s32", "dr", {0xFFFFFFFF}, ~u64{0}},
      {"cvt.s32.s8", "rr", {0x80}, 0xFFFFFF80},
      {"cvt.s64.s8", "dd", {0x80}, ~u64{0x7F}},
      {"cvt.u16.u32", "sr", {0x12345}, 0x2345},
      {"cvt.sat.u8.s32", "rr", {0xFFFFFFFB}, 0},
      {"cvt.sat.u8.s32", "rr", {300}, 255},
      {"cvt.rn.f64.s32", "Fr", {0xFFFFFFFF}, bits(-1.0)},
      {"cvt.rn.f32.u32", "fr", {0xFFFFFFFF}, bits(4294967296.0f)},
      {"cvt.rz.f32.u32", "fr", {0xFFFFFFFF}, bits(4294967040.0f)},
      {"cvt.rni.s32.f64", "rF", {bits(2.5)}, 2},
      {"cvt.rni.s32.f64", "rF", {bits(3.5)}, 4},
      {"cvt.rzi.s32.f64", "rF", {bits(-2.9)}, 0xFFFFFFFE},
      {"cvt.rmi.s32.f32", "rf", {bits(-2.1f)}, 0xFFFFFFFD},
      {"cvt.rpi.s32.f32", "rf", {bits(2.1f)}, 3},
      {"cvt.rzi.s32.f64", "rF", {bits(1e20)}, 0x7FFFFFFF},
      {"cvt.rzi.u32.f64", "rF", {bits(-1.0)}, 0},
      {"cvt.rzi.s32.f32", "rf", {bits(kNanf)}, 0},
      {"cvt.rzi.s64.f64", "dF", {bits(kNan)}, u64{1} << 63},
      {"cvt.rni.f64.f64", "FF", {bits(-0.3)}, bits(-0.0)},
      {"cvt.rn.f32.f64", "fF", {bits(1 + std::ldexp(1.0, -24))}, bits(1.0f)},
      {"cvt.rp.f32.f64", "fF", {bits(1 + std::ldexp(1.0, -24))}, bits(std::nextafter(1.0f, 2.0f))},
      {"cvt.f64.f32", "Ff", {bits(0.1f)}, bits(static_cast<double>(0.1f))},
      {"add.rn.f64", "FFF", {bits(1.0), bits(tiny)}, bits(1.0)},
      {"add.rp.f64", "FFF", {bits(1.0), bits(tiny)}, bits(1 + e)},
      {"add.rm.f64", "FFF", {bits(1.0), bits(-tiny)}, bits(1 - e / 2)},
      {"add.rz.f32", "fff", {bits(1.0f), bits(-1e-20f)}, bits(std::nextafter(1.0f, 0.0f))},
      {"mul.rn.f64", "FFF", {bits(1 + e), bits(1 - e)}, bits(1.0)},
      {"fma.rn.f64", "FFFF", {bits(1 + e), bits(1 - e), bits(-1.0)}, bits(-e * e)},
      {"fma.rn.f32", "ffff", {bits(3.0f), bits(4.0f), bits(5.0f)}, bits(17.0f)},
      {"div.rn.f64", "FFF", {bits(1.0), bits(3.0)}, bits(1.0 / 3.0)},
      {"sqrt.rn.f64", "FF", {bits(2.0)}, bits(std::sqrt(2.0))},
      {"rcp.rn.f64", "FF", {bits(49.0)}, bits(1.0 / 49.0)},
      {"mul.rn.f32", "fff", {bits(1e-30f), bits(1e-10f)}, bits(1e-30f * 1e-10f)},
      {"mul.rn.ftz.f32", "fff", {bits(1e-30f), bits(1e-10f)}, bits(0.0f)},
      {"add.sat.f32", "fff", {bits(0.7f), bits(0.6f)}, bits(1.0f)},
      {"neg.f64", "FF", {bits(0.0)}, bits(-0.0)},
      {"abs.f32", "ff", {bits(-1.5f)}, bits(1.5f)},
      {"copysign.f64", "FFF", {bits(-1.0), bits(2.0)}, bits(-2.0)},
      {"min.f64", "FFF", {bits(kNan), bits(2.0)}, bits(2.0)},
      {"max.f64", "FFF", {bits(-0.0), bits(0.0)}, bits(0.0)},
      {"min.f32", "fff", {bits(0.0f), bits(-0.0f)}, bits(-0.0f)},
      {"rcp.approx.ftz.f64", "FF", {bits(4.0)}, bits(0.25)},
      {"ex2.approx.f32", "ff", {bits(3.0f)}, bits(8.0f)},
      {"lg2.approx.f32", "ff", {bits(8.0f)}, bits(3.0f)},
      {"rsqrt.approx.f32", "ff", {bits(4.0f)}, bits(0.5f)},
  };
  for (const Row& row : rows) {
    CAPTURE(std::string(row.op));
    CHECK(apply(gpu, row.op, row.registers, row.arguments) == row.expected);
  }
  // A gross approximation has nothing in its lower word.
  CHECK((apply(gpu, "rcp.approx.ftz.f64", "FF", {bits(3.0)}) & 0xFFFFFFFF) == 0);
}

TEST_CASE("comparisons, carries, braces, scopes, functions") {
  Gpu gpu;
  const Address out = gpu.allocate(8 * 32);
  const auto result = [&](const std::string& body, const std::string& before = "") {
    CHECK(gpu.run(kernel(body, before), 1, 1, {out, 0, 0}) == "");
    return gpu.get<u64>(out, 1)[0];
  };
  const auto compares = [&](const std::string& comparison, const std::string& a, const std::string& b) {
    return result("setp." + comparison + " %p1|%p2, " + a + ", " + b +
                  ";\nselp.u32 %r10, 1, 0, %p1;\nselp.u32 %r11, 2, 0, %p2;\nor.b32 %r10, %r10, %r11;\n"
                  "cvt.u64.u32 %rd10, %r10;\nst.global.u64 [%rd1], %rd10;");
  };
  CHECK(compares("lt.s32", "-1", "0") == 1);
  CHECK(compares("lt.u32", "-1", "0") == 2);
  CHECK(compares("hs.u32", "-1", "0") == 1);
  const std::string nan = "0d7FF8000000000000", one = "0d3FF0000000000000";
  CHECK(compares("lt.f64", one, nan) == 2);
  CHECK(compares("ltu.f64", one, nan) == 1);
  CHECK(compares("neu.f64", nan, nan) == 1);
  CHECK(compares("ne.f64", nan, nan) == 2);
  CHECK(compares("nan.f64", nan, one) == 1);
  CHECK(compares("num.f64", one, one) == 1);
  CHECK(compares("eq.f64", "0d0000000000000000", "0d8000000000000000") == 1);
  CHECK(result("setp.eq.u32 %p1, 1, 1;\nsetp.lt.and.s32 %p2, 1, 2, !%p1;\nselp.u64 %rd10, 7, 9, %p2;\nst.global.u64 "
               "[%rd1], %rd10;") == 9);

  // 2^64 - 1 plus 1 in two words, and the borrow back.
  CHECK(result("mov.u32 %r10, -1;\nadd.cc.u32 %r11, %r10, 1;\naddc.u32 %r12, %r10, 0;\nmov.b64 %rd10, {%r11, %r12};\n"
               "st.global.u64 [%rd1], %rd10;") == 0);
  CHECK(
      result(
          "sub.cc.u32 %r11, 0, 1;\nsubc.u32 %r12, 5, 0;\nmov.b64 %rd10, {%r11, %r12};\nst.global.u64 [%rd1], %rd10;") ==
      0x4'FFFF'FFFF);
  CHECK(result("mov.u32 %r10, -1;\nmad.lo.cc.u32 %r11, %r10, %r10, %r10;\nmadc.hi.u32 %r12, %r10, %r10, 0;\n"
               "mov.b64 %rd10, {%r11, %r12};\nst.global.u64 [%rd1], %rd10;") ==
        0xFFFFFFFFull * 0xFFFFFFFF + 0xFFFFFFFF);
  // Names of an inner scope hide the outer ones; pieces of a register.
  CHECK(
      result(
          "mov.u64 %rd10, 0x0000000200000001;\nmov.u32 %r10, 5;\n{\n.reg .b32 %r10, low;\nmov.b64 {low, %r10}, %rd10;\n"
          "add.s32 %r11, low, %r10;\n}\nadd.s32 %r11, %r11, %r10;\ncvt.u64.u32 %rd11, %r11;\nst.global.u64 [%rd1], "
          "%rd11;") == 8);
  const std::string function =
      ".func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [x];\nsetp_free: add.s32 "
      "%r2, %r1, %r1;\n"
      "st.param.b32 [r+0], %r2;\nret;\n}\n";
  CHECK(result("mov.u32 %r10, 21;\n{\n.param .b32 p0;\nst.param.b32 [p0+0], %r10;\n.param .b32 q;\ncall.uni (q), "
               "twice, (p0);\n"
               "ld.param.b32 %r11, [q+0];\n}\ncvt.u64.u32 %rd10, %r11;\nst.global.u64 [%rd1], %rd10;",
               function) == 42);
  // Variables of the module, local memory, narrow and vector accesses.
  CHECK(result("mov.u64 %rd10, table;\nld.global.nc.u16 %rs1, [%rd10+2];\ncvt.u64.u16 %rd11, %rs1;\nst.global.u64 "
               "[%rd1], %rd11;",
               ".global .align 4 .u16 table[3] = {7, 8, 9};\n") == 8);
  CHECK(
      result(
          ".local .align 16 .b8 stack[32];\nmov.u64 %rd10, stack;\ncvta.local.u64 %rd11, %rd10;\nst.local.v2.u64 "
          "[%rd10+16], {3, 4};\n"
          "ld.u64 %rd12, [%rd11+24];\nst.local.u8 [stack], 255;\nld.local.s8 %r10, [%rd10];\ncvt.s64.s32 %rd13, %r10;\n"
          "add.s64 %rd12, %rd12, %rd13;\nst.global.u64 [%rd1], %rd12;") == 3);
}

TEST_CASE("loops in which lanes part give each lane its own result, in any order") {
  // The length of the Collatz sequence of each thread's number.
  const std::string ptx = kernel(
      "add.s32 %r10, %r2, 1;\nmov.u32 %r11, 0;\nbra.uni test;\nloop:\nand.b32 %r12, %r10, 1;\nsetp.eq.u32 %p1, %r12, "
      "0;\n@%p1 bra even;\n"
      "mad.lo.s32 %r10, %r10, 3, 1;\nbra.uni next;\neven:\nshr.u32 %r10, %r10, 1;\nnext:\nadd.s32 %r11, %r11, 1;\n"
      "test:\nsetp.ne.u32 %p2, %r10, 1;\n@%p2 bra loop;\ncvt.u64.u32 %rd10, %r11;\nst.global.u64 [%rd5], %rd10;");
  for (u64 seed = 1; seed < 5; ++seed)
    for (u64 checked : {0, 1}) {
      Gpu gpu(seed, checked);
      const Address out = gpu.allocate(8 * 100);
      CHECK(gpu.run(ptx, 2, 50, {out, 0, 0}) == "");
      const auto lengths = gpu.get<u64>(out, 100);
      for (u64 n = 0; n < 100; ++n) {
        u64 length = 0;
        for (u64 x = n + 1; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1) ++length;
        CHECK(lengths[n] == length);
      }
    }
}

TEST_CASE("shuffles, votes and matches") {
  Gpu gpu;
  const Address out = gpu.allocate(8 * 32);
  const auto lanes = [&](const std::string& body) {
    CHECK(gpu.run(kernel(body + "\ncvt.u64.u32 %rd10, %r20;\nst.global.u64 [%rd5], %rd10;"), 1, 32, {out, 0, 0}) == "");
    return gpu.get<u64>(out, 32);
  };
  auto d = lanes("shfl.sync.bfly.b32 %r20, %r1, 5, 31, -1;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == (l ^ 5));
  d = lanes("shfl.sync.up.b32 %r20|%p1, %r1, 3, 0, -1;\n@!%p1 add.s32 %r20, %r20, 100;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == (l < 3 ? l + 100 : l - 3));
  d = lanes("shfl.sync.down.b32 %r20|%p1, %r1, 3, 0x181f, -1;\n@!%p1 add.s32 %r20, %r20, 100;");  // segments of 8 lanes
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == (l % 8 >= 5 ? l + 100 : l + 3));
  d = lanes("shfl.sync.idx.b32 %r20, %r1, 7, 31, -1;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == 7);
  d = lanes("and.b32 %r10, %r1, 1;\nsetp.eq.u32 %p1, %r10, 0;\nvote.sync.ballot.b32 %r20, %p1, -1;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == 0x55555555);
  d = lanes(
      "setp.lt.u32 %p1, %r1, 31;\nvote.sync.all.pred %p2, %p1, -1;\nvote.sync.any.pred %p3, !%p1, -1;\n"
      "selp.u32 %r20, 1, 0, %p2;\nselp.u32 %r10, 2, 0, %p3;\nor.b32 %r20, %r20, %r10;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == 2);
  d = lanes("and.b32 %r10, %r1, 3;\nmatch.any.sync.b32 %r20, %r10, -1;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == 0x11111111u << l % 4);
  // Two halves that go their own ways name themselves.
  d = lanes(
      "setp.lt.u32 %p1, %r1, 16;\nmov.u32 %r10, -65536;\n@%p1 mov.u32 %r10, 65535;\nshfl.sync.bfly.b32 %r20, %r1, 1, "
      "31, %r10;");
  for (u64 l = 0; l < 32; ++l) CHECK(d[l] == (l ^ 1));
}

TEST_CASE("a shuffle whose lanes do not come is noticed") {
  const auto error = [](const std::string& body) { return Gpu().run(kernel(body), 1, 32, {0, 0, 0}); };
  const std::string some = "setp.lt.u32 %p1, %r1, 16;\n@%p1 bra out;\n";
  const std::string late = "shfl.sync.bfly.b32 %r20, %r1, 1, 31, -1;\nout:\nbar.warp.sync -1;";
  CHECK(error(some + late).find("deadlock") != std::string::npos);
  CHECK(error("shfl.sync.bfly.b32 %r20, %r1, 1, 31, 65535;").find("its own mask does not name") != std::string::npos);
  CHECK(error(some + "bar.sync 0;\nret;\nout:\nbar.sync 0;").find("lanes of a warp at different barriers") !=
        std::string::npos);
  CHECK(error(some + "bar.warp.sync -1;\nout:").empty());  // those that have left are not waited for
}

TEST_CASE("barriers: sums over a block, reductions, threads that have left") {
  const std::string sum =
      ".shared .align 8 .u32 cells[64];\nmov.u32 %r10, cells;\nshl.b32 %r11, %r1, 2;\nadd.s32 %r12, %r10, "
      "%r11;\nst.shared.u32 [%r12], %r1;\n"
      "bar.sync 0;\nmov.u32 %r13, 0;\nmov.u32 %r14, 0;\nloop:\nshl.b32 %r15, %r14, 2;\nadd.s32 %r15, %r10, "
      "%r15;\nld.shared.u32 %r16, [%r15];\n"
      "add.s32 %r13, %r13, %r16;\nadd.s32 %r14, %r14, 1;\nsetp.lt.u32 %p1, %r14, 64;\n@%p1 bra loop;\ncvt.u64.u32 "
      "%rd10, %r13;\n"
      "st.global.u64 [%rd5], %rd10;";
  // An address register of 32 bits is enough for shared memory; its symbol is 64 bits wide.
  std::string wide = sum;
  wide.replace(wide.find("mov.u32 %r10, cells;"), 20, "mov.u64 %rd20, cells;\ncvt.u32.u64 %r10, %rd20;");
  for (u64 seed = 1; seed < 6; ++seed) {
    Gpu gpu(seed);
    const Address out = gpu.allocate(8 * 128);
    REQUIRE(gpu.run(kernel(wide), 2, 64, {out, 0, 0}) == "");
    for (const u64 s : gpu.get<u64>(out, 128)) CHECK(s == 63 * 32);
  }
  std::string racing = wide;
  racing.erase(racing.find("bar.sync 0;"), 11);
  {
    Gpu gpu;
    const std::string error = gpu.run(kernel(racing), 1, 64, {gpu.allocate(8 * 64), 0, 0});
    CHECK_MESSAGE((error.find("race") != std::string::npos || error.find("not written") != std::string::npos), error);
  }
  {
    Gpu gpu;
    const Address out = gpu.allocate(8 * 96);
    REQUIRE(gpu.run(kernel("setp.lt.u32 %p1, %r1, 40;\nbar.red.popc.u32 %r10, 0, %p1;\nbar.red.and.pred %p2, 0, %p1;\n"
                           "bar.red.or.pred %p3, 0, %p1;\nselp.u32 %r11, 100, 0, %p2;\nselp.u32 %r12, 1000, 0, %p3;\n"
                           "add.s32 %r10, %r10, %r11;\nadd.s32 %r10, %r10, %r12;\ncvt.u64.u32 %rd10, "
                           "%r10;\nst.global.u64 [%rd5], %rd10;"),
                    1, 96, {out, 0, 0}) == "");
    for (const u64 s : gpu.get<u64>(out, 96)) CHECK(s == 1040);
  }
  // A warp that has left is not waited for; half a warp at an aligned barrier of 16 threads is an error.
  CHECK(Gpu().run(kernel("setp.lt.u32 %p1, %r1, 32;\n@%p1 exit;\nbar.sync 0;"), 1, 96, {0, 0, 0}) == "");
  CHECK(Gpu().run(kernel("setp.lt.u32 %p1, %r1, 16;\n@%p1 bar.sync 1, 16;\nbar.sync 0;"), 1, 32, {0, 0, 0}) != "");
}

TEST_CASE("lanes of a warp that wait for each other go on") {
  // A lock by compare and swap, taken by every lane in turn.
  const std::string ptx = kernel(
      "again:\natom.global.cas.b32 %r10, [%rd1], 0, 1;\nsetp.ne.u32 %p1, %r10, 0;\n@%p1 bra again;\nmembar.gl;\n"
      "ld.global.u32 %r11, [%rd2];\nadd.s32 %r11, %r11, 1;\nst.global.u32 [%rd2], "
      "%r11;\nmembar.gl;\natom.global.exch.b32 %r12, [%rd1], 0;");
  for (u64 seed = 1; seed < 4; ++seed) {
    Gpu gpu(seed);
    const Address lock = gpu.put(std::vector<u32>{0}), count = gpu.put(std::vector<u32>{0});
    CHECK(gpu.run(ptx, 2, 40, {lock, count, 0}) == "");
    CHECK(gpu.get<u32>(count, 1)[0] == 80);
  }
}

TEST_CASE("races are found, and ordered accesses are none") {
  const auto error = [](const std::string& body, unsigned blocks, unsigned threads, u64 seed = 1) {
    Gpu gpu(seed);
    const Address a = gpu.put(std::vector<u64>(256, 0)), b = gpu.put(std::vector<u64>(256, 0));
    return gpu.run(kernel(body), blocks, threads, {a, b, 0});
  };
  const auto races = [&](const std::string& body, unsigned blocks, unsigned threads) {
    const std::string text = error(body, blocks, threads);
    return text.find("race") != std::string::npos || text.find("in no order") != std::string::npos;
  };
  CHECK(races("st.global.u32 [%rd1], %r2;", 1, 2));
  CHECK(races("st.global.u32 [%rd1], %r2;", 2, 1));
  CHECK(races("setp.eq.u32 %p1, %r2, 0;\n@%p1 st.global.u32 [%rd1], 1;\n@!%p1 ld.global.u32 %r10, [%rd1];", 2, 1));
  CHECK(error("st.global.u64 [%rd5], 1;\nld.global.u64 %rd10, [%rd5];", 2, 32) == "");
  CHECK(error("atom.global.add.u32 %r10, [%rd1], 1;", 4, 64) == "");
  CHECK(error("red.global.add.u32 [%rd1], 1;", 4, 64) == "");
  CHECK(races("red.global.add.u32 [%rd1], 1;\nsetp.eq.u32 %p1, %r2, 9;\n@%p1 ld.global.u32 %r10, [%rd1];", 4, 64));
  CHECK(races("red.global.add.u32 [%rd1], 1;\nsetp.eq.u32 %p1, %r2, 9;\n@%p1 atom.global.exch.b32 %r10, [%rd1], 0;", 4,
              64));
  CHECK(error("ld.global.nc.u64 %rd10, [%rd5];\nst.global.u64 [%rd5], %rd10;", 1, 1).find(".nc") != std::string::npos);

  // Data through a flag: thread 0 of block 0 to thread 0 of block 1.
  const auto message = [](const std::string& before, const std::string& after, const std::string& flag_store,
                          const std::string& flag_load) {
    return "setp.eq.u32 %p1, %r2, 0;\n@!%p1 bra receive;\nst.global.u32 [%rd1], 42;\n" + before + "\n" + flag_store +
           " [%rd2], 1;\nbra.uni done;\nreceive:\n" + flag_load +
           " %r10, [%rd2];\nsetp.eq.u32 %p2, %r10, 0;\n@%p2 bra receive;\n" + after +
           "\nld.global.u32 %r11, [%rd1];\nsetp.ne.u32 %p3, %r11, 42;\n@%p3 trap;\ndone:";
  };
  const std::string relaxed_store = "st.relaxed.gpu.global.u32", relaxed_load = "ld.relaxed.gpu.global.u32";
  for (u64 seed = 1; seed < 5; ++seed) {
    CHECK(error(message("membar.gl;", "membar.gl;", relaxed_store, relaxed_load), 2, 1, seed) == "");
    CHECK(error(message("fence.acq_rel.gpu;", "fence.acq_rel.gpu;", "st.volatile.global.u32", "ld.volatile.global.u32"),
                2, 1, seed) == "");
    CHECK(error(message("", "", "st.release.gpu.global.u32", "ld.acquire.gpu.global.u32"), 2, 1, seed) == "");
    CHECK(error(message("membar.cta;", "membar.cta;", "st.volatile.global.u32", "ld.volatile.global.u32"), 1, 2,
                seed) == "");
  }
  CHECK(races(message("", "membar.gl;", relaxed_store, relaxed_load), 2, 1));
  CHECK(races(message("membar.gl;", "", relaxed_store, relaxed_load), 2, 1));
  CHECK(races(message("membar.cta;", "membar.gl;", relaxed_store, relaxed_load), 2, 1));
  CHECK(races(message("membar.gl;", "membar.gl;", "st.global.u32", relaxed_load), 2, 1));
}

TEST_CASE("a flag for the host overtakes its data, unless a fence of the system's scope is between") {
  const auto overtaken = [](const std::string& fence, u64 seed) {
    Gpu gpu(seed);
    void* pinned = nullptr;
    REQUIRE(gpu.api.cuMemHostAlloc(&pinned, 16, cuda::kHostAllocDeviceMap) == cuda::kSuccess);
    auto* words = static_cast<volatile u64*>(pinned);
    words[0] = 0;
    words[1] = 0;
    Address address = 0;
    REQUIRE(gpu.api.cuMemHostGetDevicePointer_v2(&address, pinned, 0) == cuda::kSuccess);
    REQUIRE(gpu.load(kernel("st.global.u64 [%rd1], 42;\n" + fence + "\nst.volatile.global.u64 [%rd1+8], 1;")) == "");
    REQUIRE(gpu.launch(1, 1, {address, 0, 0}) == cuda::kSuccess);
    while (words[1] == 0) {
    }
    const bool early = words[0] != 42;
    CHECK(gpu.finish() == "");
    CHECK(words[0] == 42);
    return early;
  };
  int without = 0, device_only = 0, with = 0;
  for (u64 seed = 1; seed <= 10 || (seed <= 60 && (without == 0 || device_only == 0)); ++seed) {
    without += overtaken("", seed);
    device_only += overtaken("membar.gl;", seed);
    with += overtaken("membar.sys;", seed);
  }
  CHECK(without >= 1);
  CHECK(device_only >= 1);
  CHECK(with == 0);
}

TEST_CASE("accesses that must not be") {
  for (const u64 checked : {0, 1}) {
    const auto error = [&](const std::string& body, unsigned threads = 1) {
      Gpu gpu(1, checked);
      return gpu.run(kernel(body), 1, threads, {gpu.allocate(64), gpu.allocate(64), 0});
    };
    const auto has = [](const std::string& text, const char* word) {
      CHECK_MESSAGE(text.find(word) != std::string::npos, text);
    };
    has(error("ld.global.u64 %rd10, [%rd1+64];"), "byte 64 of an allocation of 64");
    has(error("ld.global.u64 %rd10, [%rd1+-8];"), "outside memory");
    has(error("st.global.u64 [%rd5], 0;", 9), "outside memory");  // the last of nine
    has(error("ld.global.u64 %rd10, [%rd1+4];"), "no multiple");
    has(error("ld.global.v2.u64 {%rd10, %rd11}, [%rd1+8];"), "no multiple");
    has(error("mov.u64 %rd10, 0;\nld.global.u32 %r10, [%rd10];"), "near no allocation");
    has(error(".shared .align 8 .b8 s[16];\nmov.u64 %rd10, s;\nst.shared.u64 [%rd10+16], 1;"),
        "16 bytes of shared memory");
    has(error(".local .align 8 .b8 s[16];\nmov.u64 %rd10, s;\nst.local.u64 [%rd10+16], 1;"),
        "16 bytes of local memory");
    has(error("add.s32 %r10, %r11, 1;\nst.global.u32 [%rd1], %r10;"), "a register is read that was not written");
    has(error("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r11, 1;\nst.global.u32 [%rd4], %r11;", 2), "a register is read");
    CHECK(error("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r11, 1;\n@%p1 st.global.u32 [%rd4], %r11;", 2) == "");
    has(error("div.u32 %r10, %r1, %r1;"), "divided by zero");
    has(error("trap;"), "trap");
  }
  // Only where every access is checked.
  CHECK(
      Gpu()
          .run(kernel(".shared .align 8 .b8 s[16];\nmov.u64 %rd10, s;\nld.shared.u64 %rd11, [%rd10];"), 1, 1, {0, 0, 0})
          .find("shared memory is read that was not written") != std::string::npos);
  CHECK(Gpu()
            .run(kernel(".local .align 8 .b8 s[16];\nmov.u64 %rd10, s;\nst.local.u32 [%rd10], 1;\nld.local.u64 %rd11, "
                        "[%rd10];"),
                 1, 1, {0, 0, 0})
            .find("local memory is read that was not written") != std::string::npos);
  {
    Gpu gpu;  // memory is poisoned, and not used again
    const Address a = gpu.allocate(64);
    CHECK(std::isnan(gpu.get<double>(a, 8)[7]));
    CHECK(std::isnan(gpu.get<float>(a, 16)[15]));
    REQUIRE(gpu.api.cuMemFree_v2(a) == cuda::kSuccess);
    gpu.allocate(64);
    CHECK(gpu.run(kernel("ld.global.u64 %rd10, [%rd1];"), 1, 1, {a, 0, 0}).find("that was freed") != std::string::npos);
    CHECK(gpu.api.cuMemFree_v2(a) == cuda::kIllegalAddress);  // the context is lost
  }
  {
    Gpu gpu(1, 1, 100'000);
    CHECK(gpu.run(kernel("loop:\nbra.uni loop;"), 1, 32, {0, 0, 0}).find("does not end") != std::string::npos);
  }
}

TEST_CASE("what is not known is refused with its line") {
  Gpu gpu;
  const auto refused = [&](const std::string& body, const char* word) {
    const std::string text = gpu.load(kernel(body));
    CHECK_MESSAGE(text.find(word) != std::string::npos, text);
    CHECK(text.starts_with(std::to_string(cuda::kInvalidPtx)));
  };
  refused("sin.wrong.f32 %f1, %f2;", "line 23: the machine does not know sin.wrong.f32");
  refused("add.s32 %r10, %rd10, 1;", "64 bits");
  refused("bra nowhere;", "no label nowhere");
  refused("add.s32 %r100, %r1, 1;", "%r100");
  refused("ld.relaxed.global.u32 %r10, [%rd1];", "scope");
  refused("atom.global.add.b32 %r10, [%rd1], 1;", "no atomic operation of this type");
  refused("add.s32 %r10, %r1, 1, 2;", "more operands");
  refused("call.uni missing;", "no function missing");
  refused("st.global.nc.u32 [%rd1], 1;", "constant data");
  std::string newer = kernel("");
  newer.replace(newer.find("sm_90"), 5, "sm_100");
  CHECK(gpu.load(newer).find("made for sm_100") != std::string::npos);
  cuda::Module module = nullptr;
  CHECK(gpu.api.cuModuleLoadDataEx(&module, "ELF or what", 0, nullptr, nullptr) == cuda::kInvalidImage);
}

TEST_CASE("the driver's functions refuse what CUDA's refuse") {
  Gpu gpu;
  REQUIRE(gpu.load(kernel("")) == "");
  CHECK(gpu.launch(1, 2048, {0, 0, 0}) == cuda::kInvalidValue);
  CHECK(gpu.launch(0, 32, {0, 0, 0}) == cuda::kInvalidValue);
  CHECK(gpu.launch(1, 32, {0, 0}) == cuda::kInvalidValue);  // three parameters are due
  CHECK(gpu.launch(1, 32, {0, 0, 0}) == cuda::kSuccess);
  const Address a = gpu.allocate(64);
  u64 word = 0;
  Address b = 0;
  CHECK(gpu.api.cuMemHostGetDevicePointer_v2(&b, &gpu, 0) == cuda::kInvalidValue);
  CHECK(gpu.api.cuMemcpyHtoDAsync_v2(a + 60, &word, 8, gpu.stream) == cuda::kInvalidValue);
  CHECK(gpu.api.cuMemFree_v2(a + 8) == cuda::kInvalidValue);
  cuda::Stream gone = nullptr;
  REQUIRE(gpu.api.cuStreamCreate(&gone, 0) == cuda::kSuccess);
  REQUIRE(gpu.api.cuStreamDestroy_v2(gone) == cuda::kSuccess);
  CHECK(gpu.api.cuMemcpyHtoDAsync_v2(a, &word, 8, gone) != cuda::kSuccess);
  cuda::Event event = nullptr;
  REQUIRE(gpu.api.cuEventCreate(&event, 0) == cuda::kSuccess);
  REQUIRE(gpu.api.cuEventDestroy_v2(event) == cuda::kSuccess);
  CHECK(gpu.api.cuEventRecord(event, gpu.stream) != cuda::kSuccess);
  CHECK(gpu.api.cuModuleUnload(nullptr) != cuda::kSuccess);
  REQUIRE(gpu.api.cuCtxSetCurrent(nullptr) == cuda::kSuccess);
  CHECK(gpu.api.cuMemAlloc_v2(&b, 64) == 201);
  REQUIRE(gpu.api.cuCtxSetCurrent(gpu.context) == cuda::kSuccess);
}

TEST_CASE("streams run in any order that events allow, copies of pinned memory late") {
  std::set<u64> without, with;
  // Which stream comes first is drawn, and left to the threads of a busy machine: sooner or later both do.
  for (u64 seed = 1; seed <= 20 || (seed <= 1000 && without.size() < 2); ++seed)
    for (const bool wait : {false, true}) {
      Gpu gpu(seed);
      cuda::Stream second = nullptr;
      cuda::Event event = nullptr;
      REQUIRE(gpu.api.cuStreamCreate(&second, 0) == cuda::kSuccess);
      REQUIRE(gpu.api.cuEventCreate(&event, 0) == cuda::kSuccess);
      const Address a = gpu.put(std::vector<u64>{0}), big = gpu.allocate(1 << 22);
      REQUIRE(gpu.finish() == "");
      // Both streams are held up, so that both copies wait; then either may be the first.
      REQUIRE(gpu.api.cuMemsetD8Async(big, 0, 1 << 22, gpu.stream) == cuda::kSuccess);
      REQUIRE(gpu.api.cuMemsetD8Async(a, 1, 8, gpu.stream) == cuda::kSuccess);
      REQUIRE(gpu.api.cuEventRecord(event, gpu.stream) == cuda::kSuccess);
      if (wait) REQUIRE(gpu.api.cuStreamWaitEvent(second, event, 0) == cuda::kSuccess);
      REQUIRE(gpu.api.cuMemsetD8Async(a, 2, 8, second) == cuda::kSuccess);
      REQUIRE(gpu.api.cuStreamSynchronize(second) == cuda::kSuccess);
      (wait ? with : without).insert(gpu.get<u64>(a, 1)[0] & 255);
    }
  CHECK(without.size() == 2);
  CHECK(with == std::set<u64>{2});
}
