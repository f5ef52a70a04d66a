// The compiled kernel and the interpreter mean the same: every operation, type, width, frame and domain.
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "codegen_kernels.hpp"
#include "jit/codegen/assembled_code.hpp"
#include "jit/codegen/assembler.hpp"
#include "jit/codegen/double_parts.hpp"
#include "jit/support/error.hpp"
#include "tests/jit/settings.hpp"
#include "tests/skip.hpp"

using namespace lab;
using jit::CodeOptions;

namespace {

jit::Compiler& compiler() {
  static jit::Compiler instance(jit::make_cpu_target());
  return instance;
}

/// The assembler's code for a kind of processor which this one can stand for; nullptr: it does not cover the kernel.
jit::KernelFunction assembled(const Kernel& kernel, const CodeOptions& options, jit::VectorIsa isa) {
  static jit::AssembledCode codes;
  static int count = 0;
  const bool runs = jit::native_lanes() >= (isa == jit::VectorIsa::avx512 ? 16 : 8);
  if (!runs || !jit::can_assemble(kernel, isa)) return nullptr;
  const std::string symbol = "assembled_" + std::to_string(count++);
  const jit::KernelCode code = codes.load(jit::assemble(kernel, symbol, options, isa), symbol);
  return reinterpret_cast<jit::KernelFunction>(const_cast<void*>(code));
}
constexpr jit::VectorIsa kAssembled[] = {jit::VectorIsa::avx2, jit::VectorIsa::avx512};

/// Whatever may stand for a kernel on a CPU agrees with the interpreter of single sites: LLVM's code, and the assembler's for the kinds
/// of processors that this one can stand for. Returns how many these are.
int check_every_code(const Kernel& kernel, unsigned seed, CodeOptions options = {}) {
  CAPTURE(kernel.lanes);
  CAPTURE(seed);
  jit::ir::verify(kernel);
  options.optimised = true;
  CHECK(Lab(kernel, seed).disagreements(compiler(), options) == 0);
  int kinds = 0;
  for (const jit::VectorIsa isa : kAssembled) {
    const jit::KernelFunction function = assembled(kernel, options, isa);
    if (function == nullptr) continue;
    ++kinds;
    CAPTURE(int(isa));
    Lab lab(kernel, seed);
    CHECK(lab.disagreements([&] { lab.run(function); }, 4) == 0);
  }
  return kinds;
}

jit::KernelFunction function(const Kernel& kernel) {
  return code<jit::KernelFunction>(compiler().compile(kernel, {.optimised = true}));
}

/// Numbers that are not finite, the largest, the smallest: all codes have the same bits of what they store and reduce.
void check_bits_of_corners(const Kernel& kernel, unsigned seed) {
  Lab good(kernel, seed);
  good.set_corners();
  good.run(function(kernel));
  for (const jit::VectorIsa isa : kAssembled) {
    const jit::KernelFunction function = assembled(kernel, {}, isa);
    if (function == nullptr) continue;
    CAPTURE(int(isa));
    Lab lab(kernel, seed);
    lab.set_corners();
    lab.run(function);
    CHECK(lab.differences(good) == 0);
  }
}

}  // namespace

TEST_CASE("every operation agrees with the interpreter, for every type and width") {
  for (Type t : kTypes)
    for (int lanes : kWidths) {
      CAPTURE(jit::ir::name(t));
      for (unsigned seed = 1; seed <= 5; ++seed)
        for (const bool elementary : {true, false}) check_every_code(all_operations(t, lanes, elementary), seed);
    }
}

TEST_CASE("all operations but quotients of integers are assembled") {
  const int kinds = (jit::native_lanes() >= 8) + (jit::native_lanes() == 16);
  for (Type t : kTypes)
    for (unsigned seed = 1; seed <= 5; ++seed) {
      CAPTURE(int(t));
      CHECK(check_every_code(all_operations(t, 8, true, false), seed) == kinds);
    }
}

TEST_CASE("more values than registers, of all signs, agree with the interpreter to the bit") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : {16, 8, 4})
      for (unsigned seed = 1; seed <= 12; ++seed)
        check_every_code(crowded(seed, t, lanes, seed % 3 == 0 ? 3 : 1), seed);
}

TEST_CASE("operations on bits that are one instruction together agree with the interpreter") {
  for (Type t : {Type::i32, Type::i64})
    for (int lanes : {16, 8, 4})
      for (unsigned seed = 1; seed <= 16; ++seed)
        check_every_code(crowded_bits(seed, t, lanes, seed % 4 == 0 ? 2 : 1), seed);
}

TEST_CASE("sines and cosines, of which one call gives both, agree with the interpreter") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : kWidths)
      for (unsigned seed = 1; seed <= 12; ++seed)
        check_every_code(sines_and_cosines(seed, t, lanes, seed % 3 == 0 ? 3 : 1), seed);
}

TEST_CASE("more addresses than registers, computed where they are asked for, agree with the interpreter to the bit") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : {16, 8, 4})
      for (unsigned seed = 1; seed <= 16; ++seed)
        for (const bool gathers : {false, true})
          check_every_code(scattered(seed, t, lanes, seed % 3 == 0 ? 3 : 1, seed % 2 == 0, gathers), seed,
                           {.prefetch = int(seed % 4 == 3)});
}

TEST_CASE("what is stored on some lanes leaves the others alone, those of the other half, too") {
  for (int lanes : kWidths)
    for (unsigned seed = 1; seed <= 5; ++seed) check_every_code(masked_after_calls(lanes), seed);
}

TEST_CASE("every conversion agrees with the interpreter") {
  for (Type from : kTypes)
    for (Type to : kTypes)
      for (int lanes : kWidths) {
        CAPTURE(jit::ir::name(from));
        CAPTURE(jit::ir::name(to));
        check_every_code(conversion(from, to, lanes), 3);
      }
}

TEST_CASE("integer division by zero gives 0, the smallest integer by -1 wraps, floats out of range saturate") {
  check_corners([](Lab& bench) { return bench.disagreements(compiler(), {.optimised = true}); });
  check_corners([](Lab& bench) { return bench.disagreements(compiler()); });
}

TEST_CASE("fma rounds once and a product followed by a sum rounds twice") {
  check_rounding([](Lab& bench, const Kernel& k) { bench.run(function(k)); });
  check_rounding([](Lab& bench, const Kernel& k) { bench.run(code<jit::KernelFunction>(compiler().compile(k, {}))); });
}

TEST_CASE("quotients of products agree with the interpreter") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : kWidths)
      for (const Op last : {Op::load, Op::select, Op::sin}) check_every_code(products(t, lanes, last), 4);
}

TEST_CASE("fused multiply-adds of constants agree with the interpreter") {
  for (Type t : {Type::f32, Type::f64})
    for (int lanes : kWidths) check_every_code(known_truths(t, lanes), 1);
}

TEST_CASE("fused multiply-adds by truth values agree with the interpreter") {
  for (int lanes : kWidths) {
    for (const int by_truth : {1, 2, 3, 7}) check_every_code(fused_by_truth(lanes, by_truth), 1);
    check_every_code(signs_by_truth(lanes), 1);
  }
}

TEST_CASE("random programs agree with the interpreter to the bit") {
  for (int lanes : kWidths)
    for (unsigned seed = 1; seed <= 40; ++seed)
      for (const bool rings : {true, false})
        check_every_code(random_kernel(seed, lanes, seed % 2 == 0, {.rings = rings}), seed,
                         {.streaming = seed % 3 == 0, .prefetch = int(seed % 4), .passing = seed % 5 == 0});
}

TEST_CASE("random programs of what is assembled agree with the interpreter to the bit") {
  int kinds = 0;
  for (int lanes : {16, 8, 4})
    for (unsigned seed = 1; seed <= 60; ++seed)
      for (const bool truths : {true, false})
        kinds += check_every_code(
            random_kernel(seed, lanes, seed % 2 == 0, {.gathers = !truths, .quotients = false, .truths = truths}), seed,
            {.streaming = seed % 3 == 0, .prefetch = int(seed % 4), .passing = seed % 5 == 0});
  if (jit::native_lanes() == 16) CHECK(kinds > 350);
  if (jit::native_lanes() == 8) CHECK(kinds > 80);
}

TEST_CASE("random programs on words with corners have the same bits from every code, sums and all") {
  for (int lanes : kWidths)
    for (unsigned seed = 1; seed <= 24; ++seed) {
      CAPTURE(lanes);
      CAPTURE(seed);
      const bool plain = seed % 2 == 0;  // more of it is assembled
      const Kernel kernel =
          random_kernel(seed, lanes, false,
                        {.rings = seed % 3 == 0, .gathers = !plain, .quotients = !plain, .truths = seed % 4 != 0});
      check_bits_of_corners(kernel, seed);
    }
}

TEST_CASE(
    "what is read once is prefetched past the caches, if that is asked for; what neighbours share and what is written is not") {
  Kernel k;
  k.name = "neighbours";
  k.lanes = 16;
  k.leaves = {{Type::f32, 2, true, false}, {Type::f32, 3, true, false}, {Type::f32, 1, true, true}};
  k.slots.resize(1);
  Value sum = load(k, 2, 0, 0);
  for (int slot = 1; slot <= 3; ++slot) {
    k.slots.push_back({0, false, {}});
    for (int c = 0; c < 2; ++c) sum = apply(k, Op::add, Type::f32, sum, permute(k, slot, load(k, 0, c, slot)));
  }
  for (int c = 0; c < 3; ++c) sum = apply(k, Op::add, Type::f32, sum, load(k, 1, c, 0));
  store(k, 2, 0, sum);
  // Registers of ModRM of 0F 18: the hint.
  const auto prefetches = [&](const CodeOptions& options, int hint) {
    const std::string object = jit::assemble(k, "neighbours", options, jit::VectorIsa::avx512);
    int count = 0;
    for (std::size_t i = 0; i + 2 < object.size(); ++i)
      count += object[i] == 0x0F && object[i + 1] == 0x18 && ((object[i + 2] >> 3) & 7) == hint;
    return count;
  };
  constexpr int kPast = 0, kNearest = 1, kSecondLevel = 2;
  REQUIRE(jit::can_assemble(k, jit::VectorIsa::avx512));
  for (const bool passing : {false, true}) {
    const CodeOptions options{.prefetch = 1, .passing = passing};
    CHECK(prefetches(options, kPast) == (passing ? 3 : 0));
    CHECK(prefetches(options, kNearest) == (passing ? 7 : 0));
    CHECK(prefetches(options, kSecondLevel) == (passing ? 0 : 10));
    CHECK(prefetches({.passing = passing}, kPast) == 0);
    check_every_code(k, 1, options);
  }
}

TEST_CASE("trips: loads and stores walk by their strides, reductions see every trip") {
  for (int lanes : kWidths) {
    check_every_code(trips(lanes), 2);
    check_every_code(rounds(lanes), 2, {.prefetch = 2});
  }
}

TEST_CASE("lanes are exchanged within registers and across the halves of a group, alone and nested") {
  for (int lanes : {16, 8, 2})
    for (const jit::LaneExchange& exchange : every_exchange(lanes)) {
      CAPTURE(exchange.flip);
      CAPTURE(exchange.ring);
      CAPTURE(exchange.step);
      for (unsigned seed = 1; seed < 3; ++seed) check_every_code(halves(lanes, exchange), seed, {.prefetch = 2});
      const jit::LaneExchange other = {.flip = std::uint8_t(lanes / 2)};
      for (const Type t : {Type::f32, Type::f64}) {
        check_every_code(product_of_neighbours(t, lanes, exchange, other), 1);
        check_every_code(product_of_neighbours(t, lanes, other, exchange), 1);
      }
    }
}

TEST_CASE("words of neighbours are read again rather than kept, and permuted once however far they come from") {
  const tests::Folder folder;
  const tests::Setting off("TESSERA_CACHE", "0"), where("TESSERA_DUMP_DIR", folder.path), what("TESSERA_DUMP", "asm");
  const int lanes = jit::native_lanes();
  if (!jit::can_assemble(product_of_neighbours(Type::f32, lanes, {.flip = 1}, {.flip = 2}), jit::VectorIsa::avx2))
    TESSERA_SKIP("this processor has no assembled code");
  struct Counted {
    int kept = 0, permuted = 0;
  };
  const auto count = [&](jit::LaneExchange exchange, jit::LaneExchange other) {
    const Kernel kernel = product_of_neighbours(Type::f32, lanes, exchange, other);
    const auto made = jit::Compiler(jit::make_cpu_target()).compile(kernel, {});
    std::ifstream file(folder.path / (kernel.name + "_" + made.hash + ".asm"));
    REQUIRE(file);
    Counted result;
    for (std::string line; std::getline(file, line);) {
      result.permuted += line.find("vpermps") != std::string::npos || line.find("vpermilps") != std::string::npos;
      result.kept += line.find("vmovap") != std::string::npos && line.ends_with("(%rsp)");
    }
    return result;
  };
  const Counted apart = count({}, {}), exchanged = count({.flip = 1}, {.flip = 2});
  constexpr int kWords = 4 * 25;
  CHECK(apart.permuted == 0);
  CHECK(exchanged.permuted >= kWords);
  CHECK(exchanged.permuted <= 2 * kWords);
  CHECK(exchanged.kept <= apart.kept + 12);  // three orders of lanes among them; a matrix is 25
}

TEST_CASE("sums in kernels have the same bits for every width and split") {
  Dice dice(5);
  std::vector<double> results;
  for (int lanes : {16, 8, 4, 1}) {
    Kernel k;
    k.name = "sum";
    k.lanes = lanes;
    k.leaves = {{Type::f64, 1, true, false}};
    k.reductions = {{jit::ir::Reduction::Kind::sum, load(k, 0, 0)}};
    Lab bench(k, 1);
    const int sites = 6;  // as many as the smallest lab has; the others are 0
    for (int p = 0; p < bench.sites(); ++p) {
      const double x = p < sites ? std::ldexp(1.0 + 0.1 * p, 40 * (p % 3) - 30) * (p % 2 ? -1 : 1) : 0;
      std::uint64_t bits;
      std::memcpy(&bits, &x, sizeof bits);
      bench.fields()[0].set(p, 0, bits);
    }
    bench.run(function(k));
    results.push_back(bench.reductions()[0]);
    for (const jit::VectorIsa isa : kAssembled) {
      const jit::KernelFunction function = assembled(k, {}, isa);
      if (function == nullptr) continue;
      bench.run(function);
      results.push_back(bench.reductions()[0]);
    }
  }
  for (double r : results) CHECK(r == results[0]);
  CHECK(results[0] != 0);
}

TEST_CASE("doubles that only reductions read agree with the interpreter, and have the same bits from every code") {
  int kinds = 0;
  for (const int lanes : kWidths) {
    if (lanes < 2) continue;
    for (const bool listed : {false, true})
      for (const int trips : {1, 3})
        for (unsigned seed = 1; seed <= 6; ++seed) {
          CAPTURE(listed);
          CAPTURE(trips);
          const Kernel k = reduced(lanes, listed, trips);
          kinds += check_every_code(k, seed, {.streaming = seed % 2 == 0 && !listed, .prefetch = int(seed % 3)});
          check_bits_of_corners(k, seed);
        }
  }
  if (jit::native_lanes() == 16) CHECK(kinds >= 4 * 24);
}

TEST_CASE("a step is as wide as words of four bytes allow if doubles only lead to reductions") {
  CHECK(jit::reduces_doubles_only(reduced(16)));
  CHECK(jit::reduces_doubles_only(reduced(16, true, 3)));
  CHECK_FALSE(jit::reduces_doubles_only(trips(16)));  // stores them
  const auto with = [](auto&& change) {
    Kernel k = reduced(16);
    change(k, k.reductions[0].value);
    jit::ir::verify(k);
    return jit::reduces_doubles_only(k);
  };
  CHECK(with([](Kernel& k, Value v) { apply(k, Op::convert, Type::f32, v); }));  // which nobody needs
  CHECK(with([](Kernel& k, Value v) { k.reductions[0].value = apply(k, Op::sqrt, Type::f64, v); }));
  CHECK_FALSE(with([](Kernel& k, Value v) { store(k, 2, 7, apply(k, Op::convert, Type::f32, v)); }));
  CHECK_FALSE(with([](Kernel& k, Value v) { k.reductions[0].value = apply(k, Op::sin, Type::f64, v); }));
  CHECK_FALSE(with([](Kernel& k, Value) {
    k.reductions[0].value = permute(k, 1, apply(k, Op::convert, Type::f64, load(k, 0, 5, 1)));
  }));
  CHECK_FALSE(with([](Kernel& k, Value v) {
    const Value which = apply(k, Op::lt, Type::b1, load(k, 0, 0), load(k, 0, 1));
    k.reductions[0].value = apply(k, Op::select, Type::f64, which, v, k.reductions[1].value);
  }));
  CHECK_FALSE(with([](Kernel& k, Value v) {
    const Value which = apply(k, Op::lt, Type::b1, v, k.reductions[1].value);
    store(k, 2, 7, apply(k, Op::select, Type::f32, which, load(k, 0, 0), load(k, 0, 1)));
  }));
  CHECK_FALSE(with([](Kernel& k, Value) {
    const Value number = apply(k, Op::convert, Type::i64, load(k, 1, 0));
    k.reductions[3].value = apply(k, Op::convert, Type::f64, number);
  }));
  Kernel stored = reduced(16);
  stored.reductions.clear();
  CHECK_FALSE(jit::reduces_doubles_only(stored));

  if (jit::native_lanes() < 16) return;
  const tests::Folder folder;
  const tests::Setting off("TESSERA_CACHE", "0"), where("TESSERA_DUMP_DIR", folder.path), what("TESSERA_DUMP", "asm");
  const auto made = jit::Compiler(jit::make_cpu_target()).compile(reduced(16), {});
  std::ifstream file(folder.path / ("reduced_" + made.hash + ".asm"));
  REQUIRE(file);
  int differences = 0, conversions = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("vsubps") != std::string::npos) differences += line.find("%zmm") != std::string::npos ? 1 : 100;
    conversions += line.find("vcvtps2pd") != std::string::npos;
  }
  CHECK(differences == 4);
  CHECK(conversions == 16);
}

TEST_CASE("elementary functions give the same bits in every lane, whatever shares the register") {
  for (Type t : {Type::f32, Type::f64}) {
    std::vector<std::uint64_t> seen;
    for (int lanes : {16, 4, 1}) {
      for (const int variant : {0, 1, 2, 3}) {
        const bool mixed = variant % 2 == 1, beside = variant >= 2;  // the sine's call gives the cosine, too
        Kernel k;
        k.name = "lanes";
        k.lanes = lanes;
        k.leaves = {{t, 1, true, false}, {t, 4, false, true}};
        if (mixed) k.leaves.push_back({Type::f64, 1, true, false});  // halves the lanes of a step
        const Value x = load(k, 0, 0);
        store(k, 1, 0, apply(k, Op::exp, t, x));
        if (beside) store(k, 1, 3, apply(k, Op::cos, t, x));
        store(k, 1, 1, apply(k, Op::sin, t, x));
        store(k, 1, 2, apply(k, Op::pow, t, apply(k, Op::abs, t, x), x));
        Lab bench(k, 1);
        for (int p = 0; p < bench.sites(); ++p) {
          const double x64 = p == bench.sites() - 1 ? 1.2345 : 700.0 * p / bench.sites() - 300;
          const float x32 = float(x64);
          std::uint64_t bits = 0;
          t == Type::f32 ? std::memcpy(&bits, &x32, sizeof x32) : std::memcpy(&bits, &x64, sizeof x64);
          bench.fields()[0].set(p, 0, bits);
        }
        std::vector<jit::KernelFunction> functions;
        for (const bool optimised : {true, false})
          functions.push_back(code<jit::KernelFunction>(compiler().compile(k, {.optimised = optimised})));
        for (const jit::VectorIsa isa : kAssembled) functions.push_back(assembled(k, {}, isa));
        for (const jit::KernelFunction function : functions) {
          if (function == nullptr) continue;
          bench.run(function);
          for (int c = 0; c < 3; ++c) seen.push_back(bench.fields()[1].get(bench.sites() - 1, c).bits);
        }
      }
    }
    for (std::size_t i = 3; i < seen.size(); ++i) CHECK(seen[i] == seen[i % 3]);
  }
}

TEST_CASE("a kernel that does not verify is refused before it is compiled") {
  Kernel k;
  k.name = "wrong";
  k.leaves = {{Type::f32, 1, true, false}};
  k.reductions = {{jit::ir::Reduction::Kind::sum, load(k, 0, 0)}};
  CHECK_THROWS_WITH_AS(compiler().compile(k, {}), doctest::Contains("a summand f64"), jit::InternalError);
}

TEST_CASE("checked kernels pass LLVM's verifier and compute the same") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const Kernel k = random_kernel(seed, 16, false);
    CHECK(Lab(k, seed).disagreements(compiler(), {.check = true}) == 0);
  }
}

TEST_CASE("what lies before a function can be read, as sanitizers of calls do") {
  const Kernel k = random_kernel(1, 16, false);
  for (const bool optimised : {false, true}) {
    const auto made = compiler().compile(k, {.optimised = optimised});
    std::uint64_t before = 0;
    std::memcpy(&before, static_cast<const std::byte*>(made.code) - sizeof before, sizeof before);
    CAPTURE(before);
    CHECK(Lab(k, 1).disagreements(compiler(), {.optimised = optimised}) == 0);
  }
}

TEST_CASE("vectors that find no register are kept where none crosses a line of the cache") {
  const tests::Folder folder;
  const tests::Setting off("TESSERA_CACHE", "0"), where("TESSERA_DUMP_DIR", folder.path), what("TESSERA_DUMP", "asm");
  const Kernel hop = wilson_hop(Type::f32, jit::native_lanes());
  for (const CodeOptions& options : {CodeOptions{}, CodeOptions{.optimised = true}}) {
    const auto made = jit::Compiler(jit::make_cpu_target()).compile(hop, options);
    std::ifstream file(folder.path / (hop.name + "_" + made.hash + ".asm"));
    REQUIRE(file);
    int kept = 0, crossing = 0;
    for (std::string line; std::getline(file, line);) {
      const bool on_stack = line.find("(%rsp)") != std::string::npos || line.find("(%rbp)") != std::string::npos;
      const bool wide = line.find("%zmm") != std::string::npos || line.find("%ymm") != std::string::npos;
      kept += on_stack && wide;
      crossing += on_stack && wide && line.find("vmovup") != std::string::npos;
    }
    CAPTURE(options.optimised);
    if (jit::native_lanes() > 4) CHECK(kept > 50);  // narrower ones are as C aligns the stack
    CHECK(crossing == 0);
  }
}
