// Which processors run our code, and which are warned that their bits are their own.
#include "jit/device/processor.hpp"

#include <doctest/doctest.h>

#include <string>

#include "jit/support/error.hpp"
#include "jit/support/log.hpp"
#include "tests/captured_log.hpp"

using namespace jit;

namespace {

std::string warning_of(const ProcessorFeatures& features) {
  const tests::CapturedLog log;
  check_processor(features);
  return log.text();
}

}  // namespace

TEST_CASE("a processor without SSE4.2 is refused before any code needs it") {
  CHECK_THROWS_WITH_AS(check_processor({}), doctest::Contains("this processor: expected SSE4.2"), DeviceError);
  CHECK_THROWS_AS(check_processor({.sse42 = false, .avx2 = true, .fma = true}), DeviceError);
}

TEST_CASE("a processor without AVX2 or FMA is told that its bits are its own") {
  CHECK(warning_of({.sse42 = true, .avx2 = false, .fma = false}).find("lacks FMA") != std::string::npos);
  CHECK(warning_of({.sse42 = true, .avx2 = true, .fma = false}).find("lacks FMA") != std::string::npos);
  CHECK(warning_of({.sse42 = true, .avx2 = false, .fma = true}).find("lacks AVX2") != std::string::npos);
  CHECK(warning_of({.sse42 = true, .avx2 = true, .fma = true}).empty());
}

TEST_CASE("the processor that runs this test will do") { CHECK_NOTHROW(check_processor(processor_features())); }
