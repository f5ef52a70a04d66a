// Sums, differences, assignments and compound assignments of every pair of types.
#include "every_function.hpp"

using namespace tests;

namespace {

using reference::Overloads;

constexpr Overloads kSum{"ss vv mm ms sm", "ss vv mm ms sm", "rr rc cr cc"};
// from the right to the left: a number becomes that multiple of one, a real number a complex one
constexpr Overloads kAssign{"ss vv mm ms", "ss vv mm ms", "rr cr cc"}, kScale{"ss vs ms", "ss vs ms", "rr cr cc"};

template <class F>
struct Statement {
  const char* name;
  F call;  ///< changes its first operand
  Overloads theirs;
  Formula2 formula;
};

template <class A, class B, class F>
void check_statement(const F& f, Census& census) {
  constexpr Shape sa = QDP::detail::shape_of<A>, sb = QDP::detail::shape_of<B>;
  constexpr bool ours = std::is_invocable_v<decltype(f.call), OLattice<A>&, const OLattice<B>&>;
  if constexpr (!ours) {
    note_absent(census, f.name, f.theirs, sa, sb);
  } else {
    note_checked(census, f.theirs, sa, sb);
    const std::string what = call_text(f.name, sa, sb);
    const auto& a = Operand<A>::template random<0>(Range::any);
    const auto& b = Operand<B>::template random<1>(Range::any);
    const Formula2 stored = [&](const SiteValue& x, const SiteValue& y) {
      return rounded(reference::spread(f.formula(x, y), x), sa.word);
    };
    OLattice<A> dest = a.field;
    f.call(dest, b.field);
    check_expression(what + ", lattices", QDP::detail::to_expr(dest), sa.word, stored, a.sites(), b.sites());
    OScalar<A> one = a.scalar;
    f.call(one, b.scalar);
    check_value(what + ", scalars", one, sa.word, stored(a.one, b.one));
    if constexpr (kMixedOuterLevels<A, B>) {
      dest = a.field;
      f.call(dest, b.scalar);
      check_expression(what + ", lattice and scalar", QDP::detail::to_expr(dest), sa.word, stored, a.sites(),
                       b.everywhere());
    }
  }
}

template <class F>
void check_every_statement(Census& census, const F& f) {
  for_each_pair([&]<class A, class B>() { check_statement<A, B>(f, census); });
}

#define STATEMENT(symbol) [](auto& a, const auto& b) requires requires { a symbol b; } { a symbol b; }

}  // namespace

TEST_CASE("sums") {
  Census census;
  check_every_pair(census, Function{"+", TESSERA_CALL2(a + b), kSum, reference::add});
  check_census(census, 232);
}
TEST_CASE("differences") {
  Census census;
  check_every_pair(census, Function{"-", TESSERA_CALL2(a - b), kSum, reference::subtract});
  check_census(census, 232);
}
TEST_CASE("assignments convert words and spread numbers") {
  Census census;
  check_every_statement(census,
                        Statement{"=", STATEMENT(=), kAssign, [](const SiteValue&, const SiteValue& y) { return y; }});
  check_census(census, 134);
}
TEST_CASE("compound sums") {
  Census census;
  check_every_statement(census, Statement{"+=", STATEMENT(+=), kAssign, reference::add});
  check_every_statement(census, Statement{"-=", STATEMENT(-=), kAssign, reference::subtract});
  check_census(census, 268);
}
