// Inner and outer products and contractions of every pair of types.
#include "every_function.hpp"

using namespace tests;

namespace {

using reference::Overloads;
using reference::Words;

constexpr Overloads kOuter{"ss vv", "ss vv", "rr rc cr cc"}, kInner{"ss vv mm ms sm", "ss vv mm ms sm", "rr cc"},
    kColorInner{"ss mm", "ss vv", "rr cc"};
constexpr Overloads kVectorContract{"ss", "vv", "rr rc cr cc"}, kCross{"ss", "vv", "rr rc cr cc", Words::any, 0, 3};
constexpr Overloads kQuarks{"mm", "mm", "cc", Words::any, 4, 3};

}  // namespace

TEST_CASE("inner and outer products") {
  using namespace reference;
  Census census;
  auto every = [&](const auto& f) { check_every_pair(census, f); };
  auto inner_real = [](const SiteValue& a, const SiteValue& b) { return real_part(local_inner_product(a, b)); };
  every(
      Function{"localInnerProduct", TESSERA_CALL2(localInnerProduct(a, b)), kInner, local_inner_product, Result::sum});
  every(Function{"localInnerProductReal", TESSERA_CALL2(localInnerProductReal(a, b)), kInner, inner_real, Result::sum});
  every(Function{"localColorInnerProduct", TESSERA_CALL2(localColorInnerProduct(a, b)), kColorInner,
                 local_color_inner_product, Result::sum});
  every(Function{"outerProduct", TESSERA_CALL2(outerProduct(a, b)), kOuter, outer_product});
  every(Function{"colorVectorContract", TESSERA_CALL2(colorVectorContract(a, b)), kVectorContract,
                 color_vector_contract});
  every(Function{"colorCrossProduct", TESSERA_CALL2(colorCrossProduct(a, b)), kCross, color_cross_product});
  check_census(census, 754);
}

TEST_CASE("contractions of quarks") {
  Census census;
  auto every = [&](const auto& f) { check_every_pair(census, f); };
#define CONTRACTION(n)                                                                                                 \
  every(Function{"quarkContract" #n, TESSERA_CALL2(quarkContract##n(a, b)), kQuarks,                                   \
                 [](const SiteValue& x, const SiteValue& y) { return reference::quark_contract(n, x, y); }})
  CONTRACTION(13);
#undef CONTRACTION
  // the others are the same for all pairs of types
#define CONTRACTION(n)                                                                                                 \
  for_each_type(List<Sites<double>::Propagator, Sites<float>::Propagator>{}, [&]<class P>() {                          \
    const Function f{"quarkContract" #n, TESSERA_CALL2(quarkContract##n(a, b)), kQuarks,                               \
                     [](const SiteValue& x, const SiteValue& y) { return reference::quark_contract(n, x, y); }};       \
    check_pair<P, P>(f, census);                                                                                       \
  })
  CONTRACTION(14);
  CONTRACTION(23);
  CONTRACTION(24);
  CONTRACTION(12);
  CONTRACTION(34);
  check_census(census, QDP::Nc == 3 ? 6 + 5 * 2 : 0);
}
