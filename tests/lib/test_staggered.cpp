// The staggered operator against its definition, other people's determinants, inverses and forces, and differences.
#include "lib/dirac/fermion_action.hpp"
#include "lib/dirac/staggered.hpp"
#include "lib/gauge/phases.hpp"
#include "tests/lib/dirac.hpp"
#include "tests/lib/sites.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <vector>

using namespace QDP;
using namespace qcd;
using tests::base_tol;
using Field = LatticeStaggeredFermion;
using Dirac = std::shared_ptr<const DiracOperator<Field>>;

namespace {

Dirac staggered(const GaugeField& v, double mass) {
  StaggeredParameters parameters;
  parameters.mass = mass;
  return std::make_shared<StaggeredOperator<Field>>(v, parameters);
}

Field random_staggered() {
  Field psi;
  gaussian(psi);
  return psi;
}

/// 1 in every component on the sites of `s`, else 0.
Field ones(const Subset& s) {
  Field one = zero;
  for (int c = 0; c < Nc; ++c) {
    LatticeColorVector v = zero;
    LatticeComplex unit = Real(1);
    pokeColor(v, unit, c);
    Field with_colour = zero;
    pokeSpin(with_colour, v, 0);
    one[s] = one + with_colour;
  }
  return one;
}

double distance(const Field& a, const Field& b, const Subset& s = all) {
  return std::sqrt(toDouble(norm2(a - b, s)) / toDouble(norm2(b, s)));
}

/// D psi from conv. 10, site signs from coordinates.
Field plain_staggered(const GaugeField& v, double mass, const Field& psi) {
  Field out = Real(mass) * psi;
  for (int mu = 0; mu < Nd; ++mu) {
    LatticeInteger sum = 0;
    for (int nu = 0; nu < mu; ++nu) sum += Layout::latticeCoordinate(nu);
    const LatticeReal eta = Real(1) - Real(2) * (sum % 2);
    out += Real(0.5) * eta * (v[mu] * shift(psi, FORWARD, mu) - shift(adj(v[mu]) * psi, BACKWARD, mu));
  }
  return out;
}

/// M as a matrix on the components of its domain, by LU decomposition: determinants and inverses without a solver.
class Dense {
 public:
  explicit Dense(const FermionOperator<Field>& m)
      : numbers_(tests::numbers_in(m.domain())), n_(static_cast<int>(numbers_.size()) * Nc) {
    lu_.resize(static_cast<std::size_t>(n_ * n_));
    for (int j = 0; j < n_; ++j) {
      std::vector<std::complex<double>> unit(static_cast<std::size_t>(n_));
      unit[static_cast<std::size_t>(j)] = 1;
      Field column;
      m.apply(column, field(unit), Sign::plus);
      const auto entries = components(column);
      for (int i = 0; i < n_; ++i) at(i, j) = entries[static_cast<std::size_t>(i)];
    }
    decompose();
  }

  double log_det() const { return log_det_; }

  Field solve(const Field& b) const {
    auto x = components(b);
    for (int k = 0; k < n_; ++k) std::swap(x[index(k)], x[index(pivot_[index(k)])]);
    for (int i = 0; i < n_; ++i)
      for (int k = 0; k < i; ++k) x[index(i)] -= at(i, k) * x[index(k)];
    for (int i = n_ - 1; i >= 0; --i) {
      for (int k = i + 1; k < n_; ++k) x[index(i)] -= at(i, k) * x[index(k)];
      x[index(i)] /= at(i, i);
    }
    return field(x);
  }

 private:
  static std::size_t index(int i) { return static_cast<std::size_t>(i); }
  std::complex<double>& at(int i, int j) { return lu_[index(i * n_ + j)]; }
  const std::complex<double>& at(int i, int j) const { return lu_[index(i * n_ + j)]; }

  Field field(const std::vector<std::complex<double>>& x) const {
    Field psi = zero;
    for (int k = 0; k < static_cast<int>(numbers_.size()); ++k) {
      const int here = tests::index_here(numbers_[index(k)]);
      for (int c = 0; here >= 0 && c < Nc; ++c) {
        auto& z = psi.elem(here).elem(0).elem(c);
        z.real() = x[index(k * Nc + c)].real();
        z.imag() = x[index(k * Nc + c)].imag();
      }
    }
    return psi;
  }
  std::vector<std::complex<double>> components(const Field& psi) const {
    std::vector<std::complex<double>> x;
    const auto sites = reference::whole(psi);
    for (const int number : numbers_)
      for (int c = 0; c < Nc; ++c) {
        const auto& z = sites[index(number)].elem(0).elem(c);
        x.emplace_back(z.real(), z.imag());
      }
    return x;
  }

  void decompose() {
    for (int k = 0; k < n_; ++k) {
      int p = k;
      for (int i = k + 1; i < n_; ++i)
        if (std::abs(at(i, k)) > std::abs(at(p, k))) p = i;
      pivot_.push_back(p);
      for (int j = 0; j < n_; ++j) std::swap(at(k, j), at(p, j));
      log_det_ += std::log(std::abs(at(k, k)));
      for (int i = k + 1; i < n_; ++i) {
        if (at(i, k) == 0.0) continue;
        const std::complex<double> factor = at(i, k) /= at(k, k);
        for (int j = k + 1; j < n_; ++j) at(i, j) -= factor * at(k, j);
      }
    }
  }

  std::vector<int> numbers_;  ///< of the sites of its domain
  int n_;
  std::vector<std::complex<double>> lu_;
  std::vector<int> pivot_;
  double log_det_ = 0;
};

double log_det(const Dirac& d) {
  return toDouble(d->log_det_diagonal(all)) * 0.5 + Dense(*make_preconditioned(d, Preconditioning::even_odd)).log_det();
}

LinkMaps antiperiodic() {
  auto map = std::make_shared<PhaseMap>();
  map->boundary(Nd - 1, -1);
  return {map};
}

/// (Nf/4) chi^+ D^-1 chi / V for chi = 1 everywhere and Nf = 2: the condensate with one noise vector.
std::complex<double> condensate(const Dirac& d) {
  const SchurSystem<Field> system(d, Preconditioning::even_odd);
  const Field chi = ones(all);
  const Field psi = system.reconstruct(Dense(system.op()).solve(system.prepare(chi)), chi);
  Field back;
  make_preconditioned(d, Preconditioning::none)->apply(back, psi, Sign::plus);
  CHECK(distance(back, chi) < base_tol(1e-12));
  const DComplex sum = innerProduct(chi, psi);
  return 0.5 * std::complex<double>(toDouble(real(sum)), toDouble(imag(sum))) / static_cast<double>(Layout::vol());
}

}  // namespace

TEST_CASE("staggered: D is the formula of conv. 10, and B is anti-Hermitian") {
  tests::use_lattice({2, 4, 6, 4});
  const GaugeField v = tests::random_field();
  const Field psi = random_staggered(), chi = random_staggered();
  const Dirac d = staggered(v, 0.3);
  const auto m = make_preconditioned(d, Preconditioning::none);
  Field out;
  m->apply(out, psi, Sign::plus);
  CHECK(distance(out, plain_staggered(v, 0.3, psi)) < base_tol(1e-14));
  m->apply(out, psi, Sign::minus);
  CHECK(distance(out, Field(Real(0.6) * psi - plain_staggered(v, 0.3, psi))) < base_tol(1e-14));
}

TEST_CASE("staggered: every M has its adjoint, and M^+ M on even sites is (D^+ D)_ee") {
  tests::use_lattice({4, 4, 2, 4});
  const Dirac d = staggered(tests::random_field(), 0.2);
  const Field x = random_staggered(), y = random_staggered();
  for (Preconditioning preconditioning : {Preconditioning::none, Preconditioning::even_odd,
                                          Preconditioning::symmetric_even_odd, Preconditioning::even_source}) {
    CAPTURE(static_cast<int>(preconditioning));
    const auto m = make_preconditioned(d, preconditioning);
    Field mx, my, mmx, normal;
    m->apply(mx, x, Sign::plus);
    m->apply(my, y, Sign::minus);
    CHECK(toDouble(norm2(mx, m->range())) > 0);
    const DComplex gap = innerProduct(y, mx, m->range()) - innerProduct(my, x, m->domain());
    CHECK(toDouble(norm2(gap)) < std::pow(base_tol(1e-11), 2) * toDouble(norm2(y, m->range())));
    m->apply(mmx, mx, Sign::minus);
    PendingReal energy;
    normal[m->domain()] = m->normal(x, &energy);
    CHECK(distance(normal, mmx, m->domain()) < base_tol(1e-13));
    CHECK(energy.get() == doctest::Approx(toDouble(norm2(mx, m->range()))).epsilon(base_tol(1e-13)));
  }
  Field even = zero, full, both;
  even[rb[0]] = x;
  full = make_preconditioned(d, Preconditioning::none)->normal(even);
  both[rb[0]] = make_preconditioned(d, Preconditioning::even_source)->normal(x);
  CHECK(distance(both, full, rb[0]) < base_tol(1e-13));
  CHECK(toDouble(norm2(full, rb[1])) < std::pow(base_tol(1e-12), 2));
}

TEST_CASE("staggered: gauge covariance, and single precision agrees") {
  tests::use_lattice({4, 2, 2, 6});
  const GaugeField u = tests::random_field();
  LatticeColorMatrix g;
  const GaugeField v = tests::gauge_transformed(u, g);
  const Field psi = random_staggered(), turned = g * psi;
  Field here, there;
  make_preconditioned(staggered(u, 0.1), Preconditioning::none)->apply(here, psi, Sign::plus);
  make_preconditioned(staggered(v, 0.1), Preconditioning::none)->apply(there, turned, Sign::plus);
  CHECK(distance(there, Field(g * here)) < base_tol(1e-13));

  StaggeredParameters parameters;
  parameters.mass = 0.1;
  const auto single = std::make_shared<StaggeredOperator<LatticeStaggeredFermionF>>(
      converted_links<LinksOf<LatticeStaggeredFermionF>>(u), parameters);
  LatticeStaggeredFermionF out, in;
  in = psi;
  make_preconditioned<LatticeStaggeredFermionF>(single, Preconditioning::none)->apply(out, in, Sign::plus);
  Field widened;
  widened = out;
  CHECK(distance(widened, here) < 1e-6);
}

TEST_CASE("staggered: the derivative is that of finite differences") {
  tests::use_lattice({4, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const Field x = random_staggered(), y = random_staggered();
  for (Preconditioning preconditioning :
       {Preconditioning::none, Preconditioning::even_odd, Preconditioning::even_source}) {
    CAPTURE(static_cast<int>(preconditioning));
    const auto value = [&](const GaugeField& v) {
      const auto m = make_preconditioned(staggered(v, 0.3), preconditioning);
      Field mx;
      m->apply(mx, x, Sign::plus);
      return 0.7 * 2 * toDouble(innerProductReal(y, mx, m->range()));
    };
    GaugeField g = tests::no_derivative();
    make_preconditioned(staggered(u, 0.3), preconditioning)->add_derivative(g, y, x, 0.7);
    tests::check_derivative(value, g, u);
  }
}

TEST_CASE("staggered: determinant of the free operator, and Tr(-D^2) at m = 0") {
  tests::use_lattice({4, 4, 4, 4});
  GaugeField u(Nd);
  unit_start(u);
  CHECK(log_det(staggered(LinkState(u, antiperiodic()).links(), 0.1)) ==
        doctest::Approx(219.813537414028).epsilon(base_tol(1e-13)));

  // |B e|^2 summed over the unit vectors e of a site is Tr(-B^2)/V: 2 Nc on any SU(3) field, at every site.
  u = tests::random_field();
  double trace = 0;
  const Dirac d = staggered(u, 0.0);
  for (const std::vector<int>& at : {std::vector<int>{0, 0, 0, 0}, {1, 2, 3, 1}})
    for (int c = 0; c < Nc; ++c) {
      Field e = zero, out;
      multi1d<int> x(Nd);
      for (int mu = 0; mu < Nd; ++mu) x[mu] = at[static_cast<std::size_t>(mu)];
      if (const int here = tests::index_here(tests::number_of(x)); here >= 0) e.elem(here).elem(0).elem(c).real() = 1;
      make_preconditioned(d, Preconditioning::none)->apply(out, e, Sign::plus);
      trace += toDouble(norm2(out));
    }
  CHECK(trace == doctest::Approx(2 * 2 * 3).epsilon(base_tol(1e-13)));
}

TEST_CASE("staggered: determinant, inverse, pseudofermion action and force on conf.00200, from other codes") {
  const std::string file = tests::data_file("conf.00200");
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::read_field("SCIDAC", file);
  const LinkState state(u, antiperiodic());

  CHECK(log_det(staggered(state.links(), 0.1)) == doctest::Approx(125.951077445123).epsilon(base_tol(1e-13)));
  CHECK(log_det(staggered(state.links(), 0.5)) == doctest::Approx(221.026241115917).epsilon(base_tol(1e-13)));

  const auto check_condensate = [](const std::complex<double>& got, double re, double im) {
    CHECK(got.real() == doctest::Approx(re).epsilon(base_tol(1e-11)));
    CHECK(got.imag() == doctest::Approx(im).epsilon(base_tol(1e-11)));
  };
  check_condensate(condensate(staggered(u, 0.1)), 0.20344039707296779, -0.00655061784868673);
  const GaugeField twisted = PhaseMap().twist(Nd - 1, std::numbers::pi).apply(u);
  check_condensate(condensate(staggered(twisted, 0.1)), 0.25968115501530797, -0.02196357651209398);

  // S = phi^+ (M^+ M)^-1 phi with phi = 1 on even sites.
  const Dirac d = staggered(state.links(), 0.1);
  const auto m = make_preconditioned(d, Preconditioning::even_source);
  const Field phi = ones(rb[0]);
  // X = (M^+ M)^-1 phi = D^-1 D^+-1 phi = D^+-1 D^-1 phi (B is normal), which is zero on odd sites.
  const SchurSystem<Field> system(d, Preconditioning::even_odd);
  const Dense dense(system.op());
  Field x = system.reconstruct(dense.solve(system.prepare(phi)), phi);  // D^-1 phi = D^+ X
  CHECK(toDouble(norm2(x)) == doctest::Approx(562.1289828975).epsilon(base_tol(1e-12)));
  // D^+ has the sign of B turned: D^+-1 = (-)^x D^-1 (-)^x.
  x[rb[1]] = -x;
  x = system.reconstruct(dense.solve(system.prepare(x)), x);
  x[rb[1]] = -x;
  Field normal, y;
  normal[m->domain()] = m->normal(x);
  CHECK(distance(normal, phi, rb[0]) < base_tol(1e-12));
  m->apply(y, x, Sign::plus);
  GaugeField g = tests::no_derivative();
  m->add_derivative(g, y, x, -1);
  const GaugeField f = state.force(g);
  CHECK(tests::inner(f, f) == doctest::Approx(22541.0179274).epsilon(base_tol(5e-10)));  // an iterative solver's number
}

TEST_CASE("staggered: the action by name, and wrong use") {
  tests::use_lattice({2, 2, 2, 4});
  const auto make = [](const std::string& xml) {
    const InputFile document = tests::input("<FermionAction>" + xml + "</FermionAction>");
    const auto* row = staggered_type_action_table().find(document.root(), "FermAct");
    const auto action = row ? row->make(document.root()) : nullptr;
    document.require_valid();
    return action;
  };
  const auto action = make("<FermAct>STAGGERED</FermAct><Mass>0.2</Mass><boundary>1 1 1 -1</boundary>");
  CHECK(action->preconditioning() == Preconditioning::even_source);
  const GaugeField u = tests::random_field();
  const LinkState state(u, action->link_maps());
  const Field psi = random_staggered();
  Field out;
  make_preconditioned(action->make(state.links()), Preconditioning::none)->apply(out, psi, Sign::plus);
  CHECK(distance(out, plain_staggered(LinkState(u, antiperiodic()).links(), 0.2, psi)) < base_tol(1e-14));

  CHECK_THROWS_WITH_AS(make("<FermAct>STAGGERED</FermAct><boundary>1 1 1 -1</boundary>"), doctest::Contains("Mass"),
                       InputError);
  CHECK_THROWS_WITH_AS(make("<FermAct>KOGUT</FermAct><Mass>0.2</Mass>"), doctest::Contains("STAGGERED"), InputError);
  CHECK_THROWS_WITH_AS(staggered(GaugeField(2), 0.1), doctest::Contains("direction"), ShapeError);
  const Dirac massless = staggered(u, 0);
  CHECK_THROWS_WITH_AS(massless->diagonal_inverse(+psi, Sign::plus), doctest::Contains("mass"), ShapeError);
  CHECK_THROWS_WITH_AS(massless->log_det_diagonal(all), doctest::Contains("mass"), ShapeError);
}
