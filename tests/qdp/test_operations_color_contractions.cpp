// Colour contractions and quark contractions, which are defined for three colours.
#include "operations.hpp"

using namespace tests;

namespace {

using D = Sites<double>;
using F = Sites<float>;

#define FUNCTION2(name) [](const auto& x, const auto& y) { return QDP::name(x, y); }

}  // namespace

TEST_CASE("cross products and contractions of colour vectors") {
  create_lattice({3, 5, 7, 2});
  check_binary<D::ColorVector, D::ColorVector>("colorCrossProduct", FUNCTION2(colorCrossProduct),
                                               reference::color_cross_product);
  check_binary<F::ColorVector, F::ColorVector>("colorVectorContract", FUNCTION2(colorVectorContract),
                                               reference::color_vector_contract);
  check_binary<D::Fermion, D::ColorVector>("colorVectorContract", FUNCTION2(colorVectorContract),
                                           reference::color_vector_contract);
}

TEST_CASE("colorContract of three matrices or vectors") {
  create_lattice({3, 5, 7, 2});
  auto check = [](auto type, const char* what) {
    using T = decltype(type);
    using W = word_of<T>;
    const auto a = random_lattice<T>();
    const auto b = random_lattice<T>();
    const auto c = random_lattice<T>();
    const auto s = random_scalar<T>();
    const auto va = values(a), vb = values(b), vc = values(c);
    OLattice<typename Sites<W>::Complex> r;
    r = colorContract(a, b, c);
    check_field(what, r, [&](std::size_t i) { return reference::color_contract(va[i], vb[i], vc[i]); }, tol<W>(80));
    r = colorContract(a, s, c);
    check_field(
        what, r, [&](std::size_t i) { return reference::color_contract(va[i], value(s.elem()), vc[i]); }, tol<W>(80));
    check_site(what, colorContract(s, s, s).elem(),
               reference::color_contract(value(s.elem()), value(s.elem()), value(s.elem())), tol<W>(80));
  };
  check(D::ColorMatrix{}, "ColorMatrix");
  check(F::ColorMatrix{}, "ColorMatrix");
  check(D::ColorVector{}, "ColorVector");
}

TEST_CASE("quark contractions of two propagators") {
  create_lattice({2, 2, 2, 2});
  auto formula = [](int which) {
    return [which](const SiteValue& a, const SiteValue& b) { return reference::quark_contract(which, a, b); };
  };
  check_binary<F::Propagator, F::Propagator>("quarkContract13", FUNCTION2(quarkContract13), formula(13), 100);
  auto check = [&](auto f, int which, const char* what) {
    const auto a = random_lattice<D::Propagator>();
    const auto b = random_lattice<D::Propagator>();
    const auto va = values(a), vb = values(b);
    QDP::LatticePropagatorD r;
    r = f(a, b);
    check_field(
        what, r, [&](std::size_t i) { return reference::quark_contract(which, va[i], vb[i]); }, tol<double>(100));
  };
  check(FUNCTION2(quarkContract14), 14, "quarkContract14");
  check(FUNCTION2(quarkContract23), 23, "quarkContract23");
  check(FUNCTION2(quarkContract24), 24, "quarkContract24");
  check(FUNCTION2(quarkContract12), 12, "quarkContract12");
  check(FUNCTION2(quarkContract34), 34, "quarkContract34");
}
