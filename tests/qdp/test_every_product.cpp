// Products and quotients of every pair of types.
#include "every_function.hpp"

using namespace tests;

namespace {

using reference::Overloads;
using reference::Words;

constexpr Overloads kProduct{"ss sv vs sm ms mv mm", "ss sv vs sm ms mv mm", "rr rc cr cc"};
constexpr Overloads kQuotient{"ss vs ms", "ss vs ms", "rr rc cr cc", Words::some_real},
    kRatio{"ss", "ss", "rr", Words::integer_last};

template <class X> constexpr WordName word_in = QDP::detail::operand_shape<X>.word;
template <class A, class B>
concept OfWholes = !jit::ir::is_float(word_in<A>) && !jit::ir::is_float(word_in<B>);
template <class A, class B>
concept ByIntegers = OfWholes<A, B> && word_in<B> == WordName::i32;  // not by a truth value: it may be nought

Formula2 of_numbers(double (*f)(double, double)) {
  return [f](const SiteValue& x, const SiteValue& y) { return reference::map(x, y, f); };
}

}  // namespace

TEST_CASE("products") {
  Census census;
  check_every_pair(census, Function{"*", TESSERA_CALL2(a * b), kProduct, reference::multiply});
  check_census(census, 496);
}
TEST_CASE("quotients") {
  Census census;
  auto quotient = [](const auto& a, const auto& b) requires(!OfWholes<decltype(a), decltype(b)> && requires { a / b; })
  { return a / b; };
  check_every_pair(census, Function{"/", quotient, kQuotient, reference::divide});
  check_census(census, 140);
}
TEST_CASE("quotients and remainders of integers") {
  Census census;
  auto quotient = [](const auto& a, const auto& b) requires(ByIntegers<decltype(a), decltype(b)> && requires { a / b; })
  { return a / b; };
  auto remainder = [](const auto& a, const auto& b)
                       requires(ByIntegers<decltype(a), decltype(b)> && requires { a % b; }) { return a % b; };
  check_every_pair(census,
                   Function{"/", quotient, kRatio, of_numbers([](double x, double y) { return std::trunc(x / y); })});
  check_every_pair(census,
                   Function{"%", remainder, kRatio, of_numbers([](double x, double y) { return std::fmod(x, y); })});
  check_census(census, 4);
}
