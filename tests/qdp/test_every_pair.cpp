// Comparisons, logic, integer arithmetic and functions of two numbers, for every pair of types.
#include "every_function.hpp"

using namespace tests;

namespace {

using reference::Overloads;
using reference::Words;

constexpr Overloads kNumbers{"ss", "ss", "rr"}, kWholes{"ss", "ss", "rr", Words::whole}, kNone{"", "", ""},
    kCmplx{"ss vv mm", "ss vv mm", "rr"};

Formula2 of_numbers(double (*f)(double, double)) {
  return [f](const SiteValue& x, const SiteValue& y) { return reference::map(x, y, f); };
}

/// Functions that have a rule in common with one that is tried with every pair: those of numbers.
template <class F>
void check_numbers(Census& census, const F& f) {
  using Numbers = List<Sites<double>::Real, Sites<double>::Complex, Sites<float>::Real, Sites<float>::Complex,
                       QDP::Integer::Subtype_t, QDP::Boolean::Subtype_t>;
  for_each_type(Numbers{},
                [&]<class A>() { for_each_type(Numbers{}, [&]<class B>() { check_pair<A, B>(f, census); }); });
}

}  // namespace

TEST_CASE("comparisons and logic") {
  Census census;
  auto every = [&](const auto& f) { check_every_pair(census, f); };
  auto numbers = [&](const auto& f) { check_numbers(census, f); };
#define COMPARISON(pairs, symbol)                                                                                      \
  pairs(Function{#symbol, TESSERA_CALL2(a symbol b), kNumbers,                                                         \
                 of_numbers([](double x, double y) { return double(x symbol y); }), Result::truth})
  COMPARISON(every, <);
  COMPARISON(numbers, <=);
  COMPARISON(numbers, >);
  COMPARISON(numbers, >=);
  COMPARISON(numbers, ==);
  COMPARISON(numbers, !=);
  COMPARISON(every, &&);
  COMPARISON(numbers, ||);
  check_census(census, 8 * 16);
}

TEST_CASE("bits") {
  Census census;
  auto every = [&](const auto& f) { check_every_pair(census, f); };
  auto numbers = [&](const auto& f) { check_numbers(census, f); };
#define BITS(pairs, symbol)                                                                                            \
  pairs(Function{#symbol, TESSERA_CALL2(a symbol b), kWholes,                                                          \
                 of_numbers([](double x, double y) { return double(int(x) symbol int(y)); }), Result::bits})
  BITS(every, &);
  BITS(numbers, |);
  BITS(numbers, ^);
  every(Function{"<<", TESSERA_CALL2(a << b), kWholes,
                 of_numbers([](double x, double y) { return std::ldexp(x, int(y)); }), Result::promoted, Range::any,
                 Range::positive});
  numbers(Function{">>", TESSERA_CALL2(a >> b), kWholes,
                   of_numbers([](double x, double y) { return std::floor(std::ldexp(x, -int(y))); }), Result::promoted,
                   Range::any, Range::positive});
  check_census(census, 5 * 4);
}

TEST_CASE("functions of two real numbers") {
  using reference::complex_from;
  Census census;
  auto every = [&](const auto& f) { check_every_pair(census, f); };
  auto numbers = [&](const auto& f) { check_numbers(census, f); };
  every(Function{"pow", TESSERA_CALL2(pow(a, b)), kNumbers, of_numbers(std::pow), Result::function, Range::positive});
  numbers(Function{"atan2", TESSERA_CALL2(atan2(a, b)), kNumbers, of_numbers(std::atan2), Result::function});
  numbers(Function{"fmod", TESSERA_CALL2(fmod(a, b)), kNone, of_numbers(std::fmod), Result::function});
  numbers(Function{"ldexp", TESSERA_CALL2(ldexp(a, b)), kNone,
                   of_numbers([](double x, double y) { return x * std::exp2(y); }), Result::function});
  every(Function{"cmplx", TESSERA_CALL2(cmplx(a, b)), kCmplx, complex_from});
  check_census(census, 84);
}
