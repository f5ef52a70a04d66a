// Every function of one operand on every type.
#include "every_function.hpp"
#include "places.hpp"

using namespace tests;

namespace {

using reference::Overloads;
using reference::Words;

constexpr Overloads kAny{"s v m", "s v m", "r c"}, kSquare{"s m", "s m", "r c"}, kNumber{"s", "s", "r"},
    kTraceColor{"s m", "m", "r c"}, kTraceSpin{"m", "s v m", "r c"};
constexpr Overloads kFourSpins{"v m", "s v m", "c", Words::any, 4}, kFourSpinVector{"v", "s v m", "c", Words::any, 4},
    kFourSpinMatrix{"m", "s v m", "c", Words::any, 4}, kTwoSpinVector{"v", "s v m", "c", Words::any, 2};

Formula1 real_function(double (*f)(double)) {
  return [f](const SiteValue& x) { return reference::map(x, f); };
}

}  // namespace

TEST_CASE("signs, negations, conjugates, transposes and traces") {
  using namespace reference;
  Census census;
  auto same = [](const SiteValue& x) { return x; };
  auto every = [&](const auto& f) { check_every_type(census, f); };
  every(Function{"+", TESSERA_CALL1(+a), kAny, same});
  every(Function{"-", TESSERA_CALL1(-a), kAny, negate});
  every(Function{"!", TESSERA_CALL1(!a), kNumber,
                 [](const SiteValue& x) { return map(x, [](double y) { return double(y == 0); }); }, Result::truth});
  every(Function{"PETE_identity", TESSERA_CALL1(PETE_identity(a)), kAny, same, Result::first});
  every(Function{"adj", TESSERA_CALL1(adj(a)), kSquare, adjoint, Result::first});
  every(Function{"conj", TESSERA_CALL1(conj(a)), kAny, conjugate, Result::first});
  every(Function{"transpose", TESSERA_CALL1(transpose(a)), kSquare,
                 [](const SiteValue& x) { return transpose(x, true, true); }, Result::first});
  every(Function{"transposeColor", TESSERA_CALL1(transposeColor(a)), kTraceColor,
                 [](const SiteValue& x) { return transpose(x, false, true); }, Result::first});
  every(Function{"transposeSpin", TESSERA_CALL1(transposeSpin(a)), kTraceSpin,
                 [](const SiteValue& x) { return transpose(x, true, false); }, Result::first});
  every(Function{"trace", TESSERA_CALL1(trace(a)), kSquare, [](const SiteValue& x) { return trace(x, true, true); },
                 Result::first});
  every(Function{"traceColor", TESSERA_CALL1(traceColor(a)), kTraceColor,
                 [](const SiteValue& x) { return trace(x, false, true); }, Result::first});
  every(Function{"traceSpin", TESSERA_CALL1(traceSpin(a)), kTraceSpin,
                 [](const SiteValue& x) { return trace(x, true, false); }, Result::first});
  every(Function{"realTrace", TESSERA_CALL1(realTrace(a)), kSquare,
                 [](const SiteValue& x) { return real_part(trace(x, true, true)); }, Result::first});
  every(Function{"imagTrace", TESSERA_CALL1(imagTrace(a)), kSquare,
                 [](const SiteValue& x) { return imaginary_part(trace(x, true, true)); }, Result::first});
  every(Function{"real", TESSERA_CALL1(real(a)), kAny, real_part, Result::first});
  every(Function{"imag", TESSERA_CALL1(imag(a)), kAny, imaginary_part, Result::first});
  every(Function{"timesI", TESSERA_CALL1(timesI(a)), kAny, [](const SiteValue& x) { return times_i(x, +1); }});
  every(
      Function{"timesMinusI", TESSERA_CALL1(timesMinusI(a)), kAny, [](const SiteValue& x) { return times_i(x, -1); }});
  every(Function{"localNorm2", TESSERA_CALL1(localNorm2(a)), kAny, local_norm2, Result::sum});
  check_census(census, 674);
}

TEST_CASE("elementary functions of real numbers, integers and truth values") {
  Census census;
  auto every = [&](const auto& f) { check_every_type(census, f); };
#define ELEMENTARY(name, range)                                                                                        \
  every(Function{#name, TESSERA_CALL1(name(a)), kNumber, real_function(std::name), Result::function, Range::range})
  ELEMENTARY(sin, any);
  ELEMENTARY(cos, any);
  ELEMENTARY(tan, any);
  ELEMENTARY(asin, any);
  ELEMENTARY(acos, any);
  ELEMENTARY(atan, any);
  ELEMENTARY(sinh, any);
  ELEMENTARY(cosh, any);
  ELEMENTARY(tanh, any);
  ELEMENTARY(exp, any);
  ELEMENTARY(log, positive);
  ELEMENTARY(log10, positive);
  ELEMENTARY(sqrt, positive);
  ELEMENTARY(ceil, any);
  ELEMENTARY(floor, any);
  every(Function{"fabs", TESSERA_CALL1(fabs(a)), kNumber, real_function(std::fabs)});
  check_census(census, 16 * 4);
}

TEST_CASE("gamma matrices and projections of spin") {
  using namespace reference;
  using QDP::Gamma;
  using QDP::GammaDP;
  Census census;
  auto every = [&](const auto& f) { check_every_type(census, f); };
  every(Function{"Gamma(6) *", TESSERA_CALL1(Gamma(6) * a), kFourSpins,
                 [](const SiteValue& x) { return multiply(gamma(6), x); }, Result::first});
  every(Function{"GammaDP(13) *", TESSERA_CALL1(GammaDP(13) * a), kFourSpins,
                 [](const SiteValue& x) { return multiply(gamma(13, Basis::dirac_pauli), x); }, Result::first});
  every(Function{"GammaConst<9> *", TESSERA_CALL1(QDP::GammaConst<4, 9>() * a), kFourSpins,
                 [](const SiteValue& x) { return multiply(gamma(9), x); }, Result::first});
  every(Function{"* Gamma(7)", TESSERA_CALL1(a * Gamma(7)), kFourSpinMatrix,
                 [](const SiteValue& x) { return multiply(x, gamma(7)); }, Result::first});
  every(Function{"* GammaConstDP<10>", TESSERA_CALL1(a * QDP::GammaConstDP<4, 10>()), kFourSpinMatrix,
                 [](const SiteValue& x) { return multiply(x, gamma(10, Basis::dirac_pauli)); }, Result::first});
  every(Function{"chiralProjectPlus", TESSERA_CALL1(chiralProjectPlus(a)), kFourSpins,
                 [](const SiteValue& x) { return chiral_project(x, +1); }, Result::first});
  every(Function{"chiralProjectMinus", TESSERA_CALL1(chiralProjectMinus(a)), kFourSpins,
                 [](const SiteValue& x) { return chiral_project(x, -1); }, Result::first});
#define PROJECTION(mu, Sign, sign)                                                                                     \
  every(Function{"spinProjectDir" #mu #Sign, TESSERA_CALL1(spinProjectDir##mu##Sign(a)), kFourSpinVector,              \
                 [](const SiteValue& x) { return spin_project(x, mu, sign); }, Result::first});                        \
  every(Function{"spinReconstructDir" #mu #Sign, TESSERA_CALL1(spinReconstructDir##mu##Sign(a)), kTwoSpinVector,       \
                 [](const SiteValue& x) { return spin_reconstruct(x, mu, sign); }, Result::first})
  PROJECTION(0, Plus, +1);
  PROJECTION(1, Plus, +1);
  PROJECTION(2, Plus, +1);
  PROJECTION(3, Plus, +1);
  PROJECTION(0, Minus, -1);
  PROJECTION(1, Minus, -1);
  PROJECTION(2, Minus, -1);
  PROJECTION(3, Minus, -1);
  check_census(census, 162);
}

TEST_CASE("components") {
  using namespace reference;
  using QDP::detail::operand_shape;
  Census census;
  auto every = [&](const auto& f) { check_every_type(census, f); };
  auto last_color = [](const SiteValue& x) { return color_component(x, x.color.rows - 1, 0); };
  every(Function{"peekColor of a vector",
                 TESSERA_CALL1(peekColor(a, QDP::Nc - 1)),
                 {"s v m", "v", "r c"},
                 last_color,
                 Result::first});
  every(Function{"peekColor of a matrix",
                 TESSERA_CALL1(peekColor(a, QDP::Nc - 1, 0)),
                 {"s v m", "m", "r c"},
                 last_color,
                 Result::first});
  every(Function{"peekSpin of a vector",
                 TESSERA_CALL1(peekSpin(a, operand_shape<decltype(a)>.spin.n - 1)),
                 {"v", "s v m", "r c"},
                 [](const SiteValue& x) { return spin_component(x, x.spin.rows - 1, 0); },
                 Result::first});
  every(Function{"peekSpin of a matrix",
                 TESSERA_CALL1(peekSpin(a, 0, operand_shape<decltype(a)>.spin.n - 1)),
                 {"m", "s v m", "r c"},
                 [](const SiteValue& x) { return spin_component(x, 0, x.spin.rows - 1); },
                 Result::first});
  check_census(census, 50);
}

TEST_CASE("shifts") {
  create_small_lattice();
  const Places places({8, 4, 2, 2});
  for_each_type(EveryType{}, [&]<class T>() {
    const auto& a = Operand<T>::template random<0>(Range::any);
    for (int sign : {FORWARD, BACKWARD}) {
      const int mu = sign == FORWARD ? 0 : QDP::Nd - 1;
      check_expression(call_text("shift", QDP::detail::shape_of<T>),
                       QDP::detail::to_expr(QDP::shift(a.field, sign, mu)), QDP::detail::shape_of<T>.word,
                       [&](std::size_t i) { return a.at[places.neighbour(i, mu, sign)]; });
    }
  });
}

TEST_CASE("sums over the lattice") {
  using namespace reference;
  create_small_lattice();
  const QDP::Set slices(Coloring(2, [](const Extents& x) { return x[QDP::Nd - 1] % 2; }));
  const Places places({8, 4, 2, 2});
  for_each_type(EveryType{}, [&]<class T>() {
    constexpr Shape shape = QDP::detail::shape_of<T>;
    const auto& a = Operand<T>::template random<0>(Range::any);
    const auto& b = Operand<T>::template random<1>(Range::any);
    const WordName word = result_word(Result::sum, shape.word, shape.word);
    const SiteValue nought = subtract(a.at[0], a.at[0]);
    SiteValue total = nought, part = nought, norm = real_number(0), product = real_number(0);
    for (std::size_t i = 0; i < a.at.size(); ++i) {
      total = add(total, a.at[i]);
      if (places.at(i)[QDP::Nd - 1] % 2 == 1) part = add(part, a.at[i]);
      norm = add(norm, local_norm2(a.at[i]));
      product = add(product, local_inner_product(a.at[i], b.at[i]));
    }
    check_value(call_text("sum", shape), sum(a.field), word, total);
    check_value(call_text("sum over a subset", shape), sum(a.field, slices[1]), word, part);
    check_value(call_text("sumMulti", shape), sumMulti(a.field, slices)[1], word, part);
    check_value(call_text("norm2", shape), norm2(a.field), word, norm);
    check_value(call_text("innerProduct", shape), innerProduct(a.field, b.field), word, product);
    check_value(call_text("innerProductReal", shape), innerProductReal(a.field, b.field), word, real_part(product));
    check_value(call_text("sum of a scalar", shape), sum(a.scalar), word, a.one);
    check_value(call_text("norm2 of a scalar", shape), norm2(a.scalar), word, local_norm2(a.one));
    check_value(call_text("innerProduct of scalars", shape), innerProduct(a.scalar, b.scalar), word,
                local_inner_product(a.one, b.one));
    if constexpr (shape.scalar_levels() && !shape.complex) {
      auto less = [](const SiteValue& x, const SiteValue& y) { return x.components[0].re < y.components[0].re; };
      check_value(call_text("globalMax", shape), QDP::globalMax(a.field), shape.word,
                  *std::max_element(a.at.begin(), a.at.end(), less));
      check_value(call_text("globalMin", shape), QDP::globalMin(a.field), shape.word,
                  *std::min_element(a.at.begin(), a.at.end(), less));
    }
    CHECK(QDP::isfinite(a.field));
  });
}

TEST_CASE("bytes are read as elem() reads them") {
  for_each_type(EveryType{}, [&]<class T>() {
    const auto& a = Operand<T>::template random<0>(Range::any);
    CHECK(reference::difference(decode(QDP::detail::shape_of<T>, &a.scalar.elem()), a.one, 0).empty());
  });
}
