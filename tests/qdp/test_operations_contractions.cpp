// Inner and outer products, products of propagators.
#include "operations.hpp"

using namespace tests;

namespace {

using D = Sites<double>;
using F = Sites<float>;
using Integer = QDP::Integer::Subtype_t;

#define FUNCTION2(name) [](const auto& x, const auto& y) { return QDP::name(x, y); }

SiteValue inner_real(const SiteValue& a, const SiteValue& b) {
  return reference::real_part(reference::local_inner_product(a, b));
}

}  // namespace

TEST_CASE("localNorm2 is in double precision") {
  create_lattice({4, 4, 4, 8});
  auto norm = [](const auto& x) { return QDP::localNorm2(x); };
  check_unary<D::Real, double>("Real", norm, reference::local_norm2);
  check_unary<F::Complex, double>("Complex", norm, reference::local_norm2);
  check_unary<F::ColorMatrix, double>("ColorMatrix", norm, reference::local_norm2, 24);
  check_unary<F::Fermion, double>("Fermion", norm, reference::local_norm2, 24);
  check_unary<D::Propagator, double>("Propagator", norm, reference::local_norm2, 100);
  check_unary<Integer, int>("Integer", norm, reference::local_norm2);
}

TEST_CASE("local inner products are in double precision") {
  create_lattice({3, 5, 7, 2});
  check_binary<D::Complex, D::Complex, double>("Complex", FUNCTION2(localInnerProduct), reference::local_inner_product);
  check_binary<F::ColorVector, F::ColorVector, double>("ColorVector", FUNCTION2(localInnerProduct),
                                                       reference::local_inner_product);
  check_binary<F::Fermion, F::Fermion, double>("Fermion", FUNCTION2(localInnerProduct), reference::local_inner_product,
                                               24);
  check_binary<F::Fermion, D::Fermion, double>("Fermion, mixed", FUNCTION2(localInnerProduct),
                                               reference::local_inner_product, 24);
  check_binary<D::ColorMatrix, D::ColorMatrix, double>("ColorMatrix", FUNCTION2(localInnerProduct),
                                                       reference::local_inner_product, 24);
  check_binary<D::Propagator, D::Propagator, double>("Propagator", FUNCTION2(localInnerProduct),
                                                     reference::local_inner_product, 100);
  check_binary<F::Fermion, F::Fermion, double>("Fermion", FUNCTION2(localInnerProductReal), inner_real, 24);
  check_binary<D::Complex, D::Complex, double>("Complex", FUNCTION2(localInnerProductReal), inner_real);
  check_binary<F::ColorVector, F::ColorVector, double>("ColorVector", FUNCTION2(localColorInnerProduct),
                                                       reference::local_color_inner_product);
  check_binary<F::ColorVector, F::Fermion, double>("ColorVector, Fermion", FUNCTION2(localColorInnerProduct),
                                                   reference::local_color_inner_product);
}

TEST_CASE("outerProduct conjugates its second operand") {
  create_lattice({2, 2, 2, 2});
  check_binary<D::ColorVector, D::ColorVector>("ColorVector", FUNCTION2(outerProduct), reference::outer_product);
  check_binary<F::Fermion, F::Fermion>("Fermion", FUNCTION2(outerProduct), reference::outer_product);
  check_binary<D::SpinVector, D::SpinVector>("SpinVector", FUNCTION2(outerProduct), reference::outer_product);
  check_binary<F::ColorVector, D::ColorVector>("ColorVector, mixed", FUNCTION2(outerProduct), reference::outer_product);
}

TEST_CASE("traceSpin of an outer product of fermions") {
  create_lattice({4, 4, 4, 8});
  check_binary<D::Fermion, D::Fermion>(
      "traceSpin(outerProduct)", [](const auto& a, const auto& b) { return QDP::traceSpin(QDP::outerProduct(a, b)); },
      [](const SiteValue& a, const SiteValue& b) {
        return reference::trace(reference::outer_product(a, b), true, false);
      },
      16);
}

TEST_CASE("propagators multiply") {
  create_lattice({4, 4, 4, 8});
  auto times = [](const auto& a, const auto& b) { return a * b; };
  check_binary<F::Propagator, F::Propagator>("Propagator * Propagator", times, reference::multiply, 100);
  check_binary<D::ColorMatrix, D::Propagator>("ColorMatrix * Propagator", times, reference::multiply, 20);
  check_binary<D::Propagator, D::ColorMatrix>("Propagator * ColorMatrix", times, reference::multiply, 20);
  check_binary<F::Propagator, F::SpinMatrix>("Propagator * SpinMatrix", times, reference::multiply, 20);
  check_binary<D::Complex, D::Propagator>("Complex * Propagator", times, reference::multiply, 20);
  check_binary<D::ColorMatrix, D::ColorVectorSpinMatrix>("ColorMatrix * ColorVectorSpinMatrix", times,
                                                         reference::multiply, 20);
  check_binary<D::Fermion, D::Fermion>("Fermion * Fermion, by component as QDP++ tolerates", times, reference::multiply,
                                       20);
}
