// Statements for which the host's memory is too short: each allocation that one makes fails once. It throws, and no operand is lost, none
// is held on to, and the same statement works afterwards.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#include "jit/runtime.hpp"
#include "jit/support/env.hpp"
#include "jit/support/error.hpp"
#include "qdp.h"
#include "tests/jit/settings.hpp"
#include "tests/message_of.hpp"
#include "tests/qdp/lattices.hpp"
#include "tests/skip.hpp"

#include <doctest/doctest.h>

using namespace QDP;
using namespace tests;

namespace {

/// How many allocations of this thread succeed before one fails; negative: all do.
thread_local long granted = -1;
thread_local bool has_failed = false;

void* allocate(std::size_t bytes, std::size_t alignment = 0) noexcept {
  if (granted >= 0 && granted-- == 0) {
    has_failed = true;
    return nullptr;
  }
  return alignment == 0 ? std::malloc(std::max<std::size_t>(bytes, 1))
                        : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
}
void* or_throw(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

// The library and this program are one for the linker: these are the process's.
void* operator new(std::size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new[](std::size_t bytes) { return or_throw(allocate(bytes)); }
void* operator new(std::size_t bytes, std::align_val_t a) { return or_throw(allocate(bytes, std::size_t(a))); }
void* operator new[](std::size_t bytes, std::align_val_t a) { return or_throw(allocate(bytes, std::size_t(a))); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return allocate(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace {

/// statement(), with a failure at its first allocation, then at its second one, and so on until none is left; before() and after(what was
/// thrown) each of these. How many failed.
template <class Before, class Statement, class After>
int fail_at_each_allocation(Before&& before, Statement&& statement, After&& after) {
  for (int n = 0;; ++n) {
    CAPTURE(n);
    before();
    std::string thrown;
    granted = n, has_failed = false;
    try {
      statement();
      granted = -1;
    } catch (const std::exception& error) {
      granted = -1;
      thrown = error.what();
    }
    after(thrown);
    if (!has_failed) return n;
  }
}

void leave_case_if_short_memory_ends_it() {
  if (jit::Runtime::instance().device() != "cpu") leave_case("the driver of a GPU has allocations of its own");
  if (jit::env().assembler == false) leave_case("LLVM ends the process where memory is short");
  if (job_ranks() > 1) leave_case("a rank that fails leaves the others waiting");
}

}  // namespace

// None of the queue's lists has room yet, and a failure does not make it.
TEST_CASE("the first statement that waits, for which memory is short") {
  leave_case_if_short_memory_ends_it();
  create_small({4, 4, 4, 4});
  LatticeReal x, y, z;
  double wanted = 0;
  for (int site = 0; site < Layout::sitesOnNode(); ++site) {
    x.elem(site).elem().elem().elem() = REAL(site % 5), y.elem(site).elem().elem().elem() = REAL(site % 7);
    wanted += std::pow(2.0 * (site % 5) + site % 7, 2) + 4.0 * (site % 5);
  }
  {
    const Setting at_once("TESSERA_FUSE", "0");  // LLVM begins, which ends the process where memory is short
    z = x * y;
    (void)toDouble(norm2(z));
  }
  double found = 0;
  // Twice each: a list that has grown in vain is as long the second time, and another allocation fails.
  has_failed = true;
  for (int n = 0; has_failed; ++n)
    for (int again = 0; again < 2; ++again) {
      CAPTURE(n);
      found = 0;
      granted = n, has_failed = false;
      try {
        z = 2 * x + y;
        found = toDouble(norm2(z) + sum(4 * x));
        granted = -1;
      } catch (const jit::InternalError& error) {
        granted = -1;
        FAIL_CHECK(error.what());
      } catch (const std::exception& error) {
        granted = -1;
        CHECK(has_failed);
      }
      if (!has_failed) CHECK(found == doctest::Approx(wanted));
    }
  CHECK(found == doctest::Approx(wanted));
}

TEST_CASE("a node that cannot be made lets go of its operands") {
  create_small({4, 4, 4, 4});
  LatticeReal x = zero;
  constexpr auto shape = detail::shape_of<PScalar<PScalar<RScalar<REAL>>>>;
  const long before = x.field().use_count();
  std::vector<detail::Expr> held;
  held.reserve(1000);
  int failures = 0;
  // Nodes come in blocks: three a time, so that each of them is the one that needs a new block now and then.
  for (int i = 0; i < 900; ++i) {
    detail::Expr a = detail::make_field(x.field(), shape), b = detail::make_field(x.field(), shape);
    try {
      granted = 0;
      held.push_back(detail::make_node(detail::Op::add, shape, 0, std::move(a), std::move(b)));
    } catch (const std::bad_alloc&) {
      ++failures;
    }
    granted = -1;
  }
  CHECK(failures > 0);
  held.clear();
  CHECK(x.field().use_count() == before);
}

TEST_CASE("statements for which memory is short say so, and are right when there is some") {
  leave_case_if_short_memory_ends_it();
  create_small({4, 4, 4, 4});
  LatticeColorMatrix u, v, w, other;
  gaussian(u), gaussian(v);
  const Real a = 0.5, untouched = 7;
  const auto used = [&] { return std::vector<long>{u.field().use_count(), v.field().use_count()}; };
  for (const char* const waits : {"1", "0"}) {
    const Setting setting("TESSERA_FUSE", waits);
    // Kernels that nobody has made, lists that have never been as long: each statement comes here first.
    const auto run = [&](const std::string& name, const auto& statement, const auto& reference) {
      CAPTURE(name);
      std::vector<long> before;
      const int failures = fail_at_each_allocation(
          [&] {
            w = untouched;
            other = zero;
            (void)toDouble(norm2(w) + norm2(other));
            before = used();
            other = v - u;  // waits, and has nothing to do with it
          },
          [&] {
            statement();
            (void)toDouble(norm2(w));
          },
          [&](const std::string& thrown) {
            CAPTURE(thrown);
            const LatticeColorMatrix wanted = reference();
            // As it was, or as it should be, or known not to be there: nothing else.
            try {
              const double right = toDouble(norm2(w - wanted)), as_it_was = toDouble(norm2(w - untouched));
              CHECK((right < 1e-20 || (!thrown.empty() && as_it_was == 0)));
            } catch (const jit::UserError& error) {
              CHECK(!thrown.empty());
              CHECK(contains(error.what(), "a field without contents"));
            }
            try {
              const double off = toDouble(norm2(other + u - v));
              CHECK(off < 1e-20);
            } catch (const jit::UserError& error) {
              CHECK(!thrown.empty());
              CHECK(contains(error.what(), "a field without contents"));
            }
            CHECK(used() == before);
          });
      MESSAGE(name << ": " << failures << " failures");
      if (jit::env().fuse) CHECK(failures > 0);  // otherwise all has room by then
    };
    run("axpy", [&] { w = a * u + v; }, [&] { return LatticeColorMatrix(v + u * a); });
    run("product", [&] { w = u * adj(v) - a * v; }, [&] { return LatticeColorMatrix(-(v * a) + u * adj(v)); });
    run(
        "shifts", [&] { w = u * shift(v, FORWARD, 0) + shift(adj(u), BACKWARD, Nd - 1); },
        [&] { return LatticeColorMatrix(adj(shift(u, BACKWARD, Nd - 1)) + u * shift(v, FORWARD, 0)); });
    run("checkerboards", [&] { w[rb[0]] = u * v, w[rb[1]] = u * v; }, [&] { return LatticeColorMatrix(u * v); });
    run(
        "chain",
        [&] {
          LatticeColorMatrix sum = u + v, twice = sum + adj(sum);
          w = twice + trace(sum) * u;
        },
        [&] { return LatticeColorMatrix(u + v + adj(u + v) + trace(u + v) * u); });
    run("in place", [&] { w += u * v - untouched; }, [&] { return LatticeColorMatrix(u * v); });
    run(
        "sums",
        [&] {
          const Double n = norm2(u - a * v);
          const DComplex c = innerProduct(u, v * a);
          w = n * u + c * v;
        },
        [&] {
          const LatticeColorMatrix d = u - a * v, e = v * a;
          return LatticeColorMatrix(norm2(d) * u + innerProduct(u, e) * v);
        });
    run(
        "many",
        [&] {
          multi1d<LatticeColorMatrix> parts(24);
          for (int i = 0; i < parts.size(); ++i) parts[i] = Real(i) * u;
          LatticeColorMatrix all = v;
          for (int i = 0; i < parts.size(); ++i) all += parts[i];
          w = all;
        },
        [&] { return LatticeColorMatrix(v + Real(24 * 23 / 2) * u); });
    run(
        "elements",
        [&] {
          LatticeColorMatrix at_home = u * u;
          (void)at_home.elem(0);
          at_home.elem(1) = at_home.elem(2);
          w = u * u + at_home - at_home;
        },
        [&] { return LatticeColorMatrix(u * u); });
  }
}
