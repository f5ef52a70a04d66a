// Choices between values and replaced components, for every pair of types.
#include "every_function.hpp"

using namespace tests;

namespace {
using reference::Overloads;
}  // namespace

TEST_CASE("where") {
  using Mask = QDP::Boolean::Subtype_t;
  const auto& mask = Operand<Mask>::random<2>(Range::any);
  Census census;
  constexpr Overloads theirs{"ss vv mm", "ss vv mm", "rr rc cr cc"};
  for_each_pair([&]<class A, class B>() {
    constexpr Shape sa = QDP::detail::shape_of<A>, sb = QDP::detail::shape_of<B>;
    constexpr bool ours =
        requires(const OLattice<Mask>& m, const OLattice<A>& x, const OLattice<B>& y) { where(m, x, y); };
    if constexpr (!ours) {
      note_absent(census, "where", theirs, sa, sb);
    } else {
      note_checked(census, theirs, sa, sb);
      const std::string what = call_text("where", sa, sb);
      const auto& a = Operand<A>::template random<0>(Range::any);
      const auto& b = Operand<B>::template random<1>(Range::any);
      const WordName word = result_word(Result::bits, sa.word, sb.word);
      auto chosen = [&](std::size_t i) { return mask.at[i].components[0].re != 0; };
      check_expression(what + ", lattices", QDP::detail::to_expr(where(mask.field, a.field, b.field)), word,
                       [&](std::size_t i) { return reference::where(chosen(i), a.at[i], b.at[i]); });
      for (bool yes : {true, false})
        check_value(what + ", scalars", where(QDP::Boolean(yes), a.scalar, b.scalar), word,
                    reference::where(yes, a.one, b.one));
      if constexpr (kMixedOuterLevels<A, B>)
        check_expression(what + ", scalar and lattice", QDP::detail::to_expr(where(mask.field, a.scalar, b.field)),
                         word, [&](std::size_t i) { return reference::where(chosen(i), a.one, b.at[i]); });
    }
  });
  check_census(census, 232);
}

TEST_CASE("components are replaced") {
  Census census;
  for_each_pair([&]<class A, class B>() {
    constexpr Shape sa = QDP::detail::shape_of<A>, sb = QDP::detail::shape_of<B>;
    const int spin = sa.spin.n - 1, color = sa.color.n - 1;
    auto check = [&](const char* name, auto poke, const Overloads& theirs, const Formula2& formula) {
      if constexpr (std::is_invocable_v<decltype(poke), OLattice<A>&, const OLattice<B>&>) {
        note_checked(census, theirs, sa, sb);
        const auto& a = Operand<A>::template random<0>(Range::any);
        const auto& b = Operand<B>::template random<1>(Range::any);
        const Formula2 stored = [&](const SiteValue& x, const SiteValue& y) { return formula(x, rounded(y, sa.word)); };
        OLattice<A> dest = a.field;
        poke(dest, b.field);
        check_expression(call_text(name, sa, sb) + ", lattices", QDP::detail::to_expr(dest), sa.word, stored, a.sites(),
                         b.sites());
        OScalar<A> one = a.scalar;
        poke(one, b.scalar);
        check_value(call_text(name, sa, sb) + ", scalars", one, sa.word, stored(a.one, b.one));
      } else {
        note_absent(census, name, theirs, sa, sb);
      }
    };
    auto poke_color = [=](auto& d, const auto& x) requires requires { pokeColor(d, x, 0); }
    { pokeColor(d, x, color, 0); };
    auto poke_spin = [=](auto& d, const auto& x) requires requires { pokeSpin(d, x, 0); }
    { pokeSpin(d, x, 0, sa.spin.kind == QDP::detail::Kind::matrix ? spin : 0); };
    check("pokeColor", poke_color, {"ss vv mm", "vs ms", "rr cr cc"},
          [=](const SiteValue& x, const SiteValue& y) { return reference::with_color_component(x, y, color, 0); });
    check("pokeSpin", poke_spin, {"vs ms", "ss vv mm", "rr cr cc"}, [=](const SiteValue& x, const SiteValue& y) {
      return reference::with_spin_component(x, y, 0, x.spin.is_matrix() ? spin : 0);
    });
  });
  check_census(census, 130);
}
