// The clover term against a dense construction on the host; exact fields; identities; derivatives against differences.
#include "lib/dirac/clover.hpp"
#include "lib/dirac/quark_operator.hpp"
#include "lib/dirac/twisted_mass.hpp"
#include "tests/lib/dirac.hpp"

#include <array>
#include <complex>
#include <sstream>

using namespace QDP;
using namespace qcd;
using tests::base_tol;

namespace {

const CloverParameters kIsotropic{.wilson = {.mass = 0.1}, .coeff_r = 1.7, .coeff_t = 1.7};
const CloverParameters kAnisotropic{
    .wilson = {.mass = 0.05, .aniso = {.on = true, .t_dir = 1, .xi_0 = 2.464, .nu = 0.95}},
    .coeff_r = 1.9,
    .coeff_t = 0.991};
const CloverParameters kTwisted{.wilson = {.mass = 0.1}, .coeff_r = 1.7, .coeff_t = 1.7, .mu = 0.3};
const CloverParameters kAll[] = {kIsotropic, kAnisotropic, kTwisted};

std::function<tests::Dirac(const GaugeField&)> clover(const CloverParameters& p) {
  return [p](const GaugeField& u) { return std::make_shared<const CloverOperator<LatticeFermion>>(u, p); };
}

// ---- the term on the host, from its definition: no shifts, no site functions, no chirality
// -----------------------------

using Number = std::complex<double>;
template <std::size_t N>
using Matrix = std::array<std::array<Number, N>, N>;
template <std::size_t N>
Matrix<N> operator*(const Matrix<N>& a, const Matrix<N>& b) {
  Matrix<N> c{};
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j)
      for (std::size_t k = 0; k < N; ++k) c[i][j] += a[i][k] * b[k][j];
  return c;
}
template <std::size_t N>
Matrix<N> dagger(const Matrix<N>& a) {
  Matrix<N> c;
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j < N; ++j) c[i][j] = std::conj(a[j][i]);
  return c;
}

constexpr Number I{0, 1};
const Matrix<4> kGamma[4] = {{{{0, 0, 0, I}, {0, 0, I, 0}, {0, -I, 0, 0}, {-I, 0, 0, 0}}},
                             {{{0, 0, 0, -1.}, {0, 0, 1., 0}, {0, 1., 0, 0}, {-1., 0, 0, 0}}},
                             {{{0, 0, I, 0}, {0, 0, 0, -I}, {-I, 0, 0, 0}, {0, I, 0, 0}}},
                             {{{0, 0, 1., 0}, {0, 0, 0, 1.}, {1., 0, 0, 0}, {0, 1., 0, 0}}}};

class HostLinks {
 public:
  explicit HostLinks(const GaugeField& u) : extents_(Layout::lattSize()) {
    for (int site = 0; site < static_cast<int>(Layout::vol()); ++site)
      for (int mu = 0; mu < Nd; ++mu) {
        const ColorMatrix link = peekSite(u[mu], crtesn(site, extents_));
        Matrix<3>& m = links_.emplace_back();
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j)
            m[i][j] = {link.elem().elem().elem(i, j).real(), link.elem().elem().elem(i, j).imag()};
      }
  }
  /// The product of links from x along steps +-(mu + 1).
  Matrix<3> along(multi1d<int> x, std::initializer_list<int> steps) const {
    Matrix<3> product{};
    for (int i = 0; i < 3; ++i) product[i][i] = 1;
    for (int step : steps) {
      const int mu = std::abs(step) - 1;
      if (step < 0) x[mu] = (x[mu] + extents_[mu] - 1) % extents_[mu];
      const Matrix<3>& link = links_[static_cast<std::size_t>(Nd * local_site(x, extents_) + mu)];
      product = product * (step > 0 ? link : dagger(link));
      if (step > 0) x[mu] = (x[mu] + 1) % extents_[mu];
    }
    return product;
  }

 private:
  multi1d<int> extents_;
  std::vector<Matrix<3>> links_;
};

Matrix<12> dense_term(const HostLinks& u, const multi1d<int>& x, const CloverParameters& p) {
  Matrix<12> a{};
  const Matrix<4> g5 = kGamma[0] * kGamma[1] * kGamma[2] * kGamma[3];
  for (int i = 0; i < 12; ++i) a[i][i] = p.wilson.diagonal() + I * p.mu * g5[i / 3][i / 3];
  const bool aniso = p.wilson.aniso.on;
  for (int mu = 0; mu < 4; ++mu)
    for (int nu = 0; nu < 4; ++nu) {
      if (mu == nu) continue;
      const bool temporal = mu == p.wilson.aniso.t_dir || nu == p.wilson.aniso.t_dir;
      const double c = !aniso ? p.coeff_r : temporal ? p.coeff_t : p.coeff_r / p.wilson.aniso.xi_0;
      const Matrix<4> sigma = kGamma[mu] * kGamma[nu];
      const int m = mu + 1, n = nu + 1;
      Matrix<3> q{};
      for (const Matrix<3>& leaf : {u.along(x, {m, n, -m, -n}), u.along(x, {n, -m, -n, m}), u.along(x, {-m, -n, m, n}),
                                    u.along(x, {-n, m, n, -m})})
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) q[i][j] += leaf[i][j];
      for (int i = 0; i < 12; ++i)
        for (int j = 0; j < 12; ++j)
          a[i][j] -= 0.25 * c * sigma[i / 3][j / 3] * (q[i % 3][j % 3] - std::conj(q[j % 3][i % 3])) / 8.0;
    }
  return a;
}

/// Replaces b by a^-1 b and returns det a: elimination with pivots.
Number solve(Matrix<12> a, std::array<Number, 12>& b) {
  Number det = 1;
  for (int k = 0; k < 12; ++k) {
    int pivot = k;
    for (int i = k; i < 12; ++i)
      if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
    if (pivot != k) std::swap(a[pivot], a[k]), std::swap(b[pivot], b[k]), det = -det;
    det *= a[k][k];
    for (int i = 0; i < 12; ++i) {
      if (i == k) continue;
      const Number f = a[i][k] / a[k][k];
      for (int j = k; j < 12; ++j) a[i][j] -= f * a[k][j];
      b[i] -= f * b[k];
    }
  }
  for (int k = 0; k < 12; ++k) b[k] /= a[k][k];
  return det;
}

std::array<Number, 12> site_vector(const LatticeFermion& psi, const multi1d<int>& x) {
  const Fermion f = peekSite(psi, x);
  std::array<Number, 12> v;
  for (int i = 0; i < 12; ++i)
    v[i] = {f.elem().elem(i / 3).elem(i % 3).real(), f.elem().elem(i / 3).elem(i % 3).imag()};
  return v;
}

/// Links exp(i theta_mu(x) lambda_3) with the same flux phi = 2 pi / (L_0 L_1) through every plaquette of the 0-1
/// plane.
GaugeField constant_abelian_field(double& phi) {
  const multi1d<int>& l = Layout::lattSize();
  phi = 2 * 3.14159265358979323846 / (l[0] * l[1]);
  const LatticeReal x = Layout::latticeCoordinate(0), y = Layout::latticeCoordinate(1);
  const LatticeReal angle_0 = where(Layout::latticeCoordinate(0) == l[0] - 1, Real(-phi * l[0]) * y, Real(0) * y);
  const LatticeReal angle_1 = Real(phi) * x;
  GaugeField u(Nd);
  for (int mu = 0; mu < Nd; ++mu) {
    u[mu] = 1.0;
    if (mu > 1) continue;
    const LatticeReal& angle = mu == 0 ? angle_0 : angle_1;
    pokeColor(u[mu], LatticeComplex(cmplx(cos(angle), sin(angle))), 0, 0);
    pokeColor(u[mu], LatticeComplex(cmplx(cos(angle), -sin(angle))), 1, 1);
  }
  return u;
}

LatticeColorMatrix lambda_3() {
  LatticeColorMatrix m = zero;
  pokeColor(m, LatticeComplex(cmplx(Real(1), Real(0))), 0, 0);
  pokeColor(m, LatticeComplex(cmplx(Real(-1), Real(0))), 1, 1);
  return m;
}

}  // namespace

TEST_CASE("clover: the term, its inverse and its determinant equal a dense construction at every site") {
  tests::use_lattice({2, 4, 6, 4});
  const GaugeField u = tests::random_field();
  const HostLinks host(u);
  const LatticeFermion psi = tests::random_fermion();
  for (const CloverParameters& p : kAll) {
    const CloverOperator<LatticeFermion> d(u, p);
    const LatticeFermion image = d.diagonal(+psi, Sign::plus), solution = d.diagonal_inverse(+psi, Sign::plus);
    double worst_image = 0, worst_solution = 0, log_det = 0;
    for (int site = 0; site < static_cast<int>(Layout::vol()); ++site) {
      const multi1d<int> x = crtesn(site, Layout::lattSize());
      const Matrix<12> a = dense_term(host, x, p);
      std::array<Number, 12> v = site_vector(psi, x);
      const std::array<Number, 12> ours = site_vector(image, x), inverse = site_vector(solution, x);
      for (int i = 0; i < 12; ++i) {
        Number sum = -ours[i];
        for (int j = 0; j < 12; ++j) sum += a[i][j] * v[j];
        worst_image = std::max(worst_image, std::abs(sum));
      }
      log_det += std::log(std::abs(solve(a, v)));
      for (int i = 0; i < 12; ++i) worst_solution = std::max(worst_solution, std::abs(v[i] - inverse[i]));
    }
    CHECK(worst_image < base_tol(1e-13));
    CHECK(worst_solution < base_tol(1e-13));
    CHECK(toDouble(d.log_det_diagonal(all)) == doctest::Approx(log_det).epsilon(base_tol(1e-13)));
    CHECK(toDouble(d.log_det_diagonal(rb[0]) + d.log_det_diagonal(rb[1])) ==
          doctest::Approx(log_det).epsilon(base_tol(1e-13)));
  }
}

TEST_CASE("clover: inverse times term is one, adjoints included") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  for (const CloverParameters& p : kAll) {
    const tests::Dirac d = clover(p)(u);
    for (Sign sign : {Sign::plus, Sign::minus}) {
      const LatticeFermion once = d->diagonal(+psi, sign);
      CHECK(tests::relative(d->diagonal_inverse(+once, sign), psi) < base_tol(1e-13));
    }
  }
}

TEST_CASE("clover: adjoint, gamma5-hermiticity, gauge covariance") {
  tests::use_lattice({4, 4, 2, 4});
  const GaugeField u = tests::random_field();
  for (const CloverParameters& p : kAll) {
    CloverParameters partner = p;
    partner.mu = -p.mu;
    tests::check_adjoint(clover(p)(u));
    tests::check_gamma5_hermiticity(clover(p)(u), clover(partner)(u));
    tests::check_gauge_covariance(clover(p));
  }
}

TEST_CASE("clover: in a constant Abelian field the leaf is sin(phi) lambda_3") {
  tests::use_lattice({4, 3, 2, 2});
  double phi = 0;
  const GaugeField u = constant_abelian_field(phi);
  const LatticeFermion psi = tests::random_fermion();
  const double a = 4.1, c = 1.7;
  const CloverOperator<LatticeFermion> d(u, kIsotropic);
  const LatticeFermion expected = Real(a) * psi - Real(0.5 * c * std::sin(phi)) * timesI(Gamma(3) * (lambda_3() * psi));
  CHECK(tests::relative(d.diagonal(+psi, Sign::plus), expected) < base_tol(1e-14));
  // Eigenvalues: a for the third colour, a +- c/2 sin(phi) for the others, two spins each.
  const double h = 0.5 * c * std::sin(phi);
  CHECK(
      toDouble(d.log_det_diagonal(all)) ==
      doctest::Approx(Layout::vol() * 4 * (std::log(a) + std::log(a + h) + std::log(a - h))).epsilon(base_tol(1e-13)));
}

TEST_CASE("clover: traces over spin and colour that hold on any SU(3) field") {
  tests::use_lattice({4, 4, 4, 4});
  const tests::Dirac d = clover(kIsotropic)(tests::random_field());
  DComplex trace = zero;
  double squares = 0, term_squares = 0;
  for (int s = 0; s < Ns; ++s)
    for (int c = 0; c < Nc; ++c) {
      const LatticeFermion e = tests::unit_fermion(s, c);
      const LatticeFermion de = tests::applied(d, Preconditioning::none, e);
      trace += innerProduct(e, de);
      squares += toDouble(norm2(de));
      term_squares += toDouble(norm2(d->diagonal(+e, Sign::plus)));
    }
  CHECK(toDouble(real(trace)) == doctest::Approx(12 * 4.1).epsilon(base_tol(1e-14)));
  CHECK(std::fabs(toDouble(imag(trace))) < base_tol(1e-13));
  CHECK(squares - term_squares ==
        doctest::Approx(48).epsilon(base_tol(1e-13)));  // eight hops: 12 * 16 kappa^2 / (2 kappa)^2
}

TEST_CASE("clover: negative eigenvalues are counted and reported, and ln |det| taken") {
  tests::use_lattice({4, 3, 2, 2});
  double phi = 0;
  const GaugeField u = constant_abelian_field(phi);
  CloverParameters p = kIsotropic;
  CHECK(CloverOperator<LatticeFermion>(u, p).term().negative_eigenvalues(all) == 0);
  p.coeff_r = 20;  // c/2 sin(phi) = 5 > 4.1
  const CloverOperator<LatticeFermion> d(u, p);
  CHECK(d.term().negative_eigenvalues(all) == 4 * Layout::vol());
  CHECK(d.term().negative_eigenvalues(rb[1]) == 2 * Layout::vol());
  const double h = 10 * std::sin(phi);
  std::ostringstream warning;
  QDPIO::cerr.init(&warning);
  const Double log_det = d.log_det_diagonal(all);
  QDPIO::cerr.init(nullptr);
  CHECK((warning.str().find("192 negative eigenvalues") != std::string::npos) == (tests::job_rank() == 0));
  CHECK(toDouble(log_det) ==
        doctest::Approx(Layout::vol() * 4 * (std::log(4.1) + std::log(4.1 + h) + std::log(h - 4.1)))
            .epsilon(base_tol(1e-12)));
}

TEST_CASE("clover: one negative eigenvalue is enough for a warning, none is not") {
  tests::use_lattice({2, 2, 2, 2});
  const GaugeField u = tests::random_field();
  const auto at_mass = [&](double mass) {
    CloverParameters p = kIsotropic;
    p.wilson.mass = mass;
    return CloverOperator<LatticeFermion>(u, p);
  };
  const auto negative = [&](double mass) { return at_mass(mass).term().negative_eigenvalues(all); };
  const auto warning = [&](double mass) {
    const CloverOperator<LatticeFermion> d = at_mass(mass);
    std::ostringstream text;
    QDPIO::cerr.init(&text);
    d.log_det_diagonal(all);
    QDPIO::cerr.init(nullptr);
    return text.str();
  };
  // A = T + mass: between the lowest eigenvalue of T and the next.
  double above = 20, below = -20;
  REQUIRE(negative(above) == 0);
  REQUIRE(negative(below) == Ns * Nc * Layout::vol());
  for (int n = 0; n < 60 && negative(below) != 1; ++n) {
    const double mass = (above + below) / 2;
    (negative(mass) == 0 ? above : below) = mass;
  }
  REQUIRE(negative(below) == 1);
  CHECK((warning(below).find(" 1 negative eigenvalues") != std::string::npos) == (tests::job_rank() == 0));
  CHECK(warning(above) == "");
}

TEST_CASE("clover: without coefficients it is the Wilson or the twisted-mass operator") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const CloverParameters p{.wilson = {.mass = 0.1}, .mu = 0.3};
  const auto twisted =
      std::make_shared<const TwistedMassOperator<LatticeFermion>>(u, TwistedMassParameters{p.wilson, p.mu});
  const tests::Dirac d = clover(p)(u);
  for (Preconditioning preconditioning : tests::kSchurForms)
    for (Sign sign : {Sign::plus, Sign::minus})
      CHECK(tests::relative(tests::applied(d, preconditioning, psi, sign),
                            tests::applied(twisted, preconditioning, psi, sign), rb[1]) < base_tol(1e-13));
  CHECK(toDouble(d->log_det_diagonal(rb[0])) ==
        doctest::Approx(toDouble(twisted->log_det_diagonal(rb[0]))).epsilon(base_tol(1e-13)));
}

TEST_CASE("clover: derivatives of the operators agree with finite differences") {
  tests::use_lattice({4, 4, 2, 4});
  for (const CloverParameters& p : kAll) tests::check_operator_derivatives(clover(p));
}

TEST_CASE("clover: the derivative of ln |det A| agrees with finite differences") {
  tests::use_lattice({4, 4, 2, 4});
  for (const CloverParameters& p : kAll) tests::check_log_det_derivative(clover(p));
}

TEST_CASE("clover: single precision agrees with double") {
  tests::use_lattice({4, 4, 4, 4});
  const GaugeField u = tests::random_field();
  const auto u_f = converted_links<LinksOf<LatticeFermionF>>(u);
  const LatticeFermion x = tests::random_fermion(), y = tests::random_fermion();
  const LatticeFermionF x_f = x, y_f = y;
  for (const CloverParameters& p : {kIsotropic, kTwisted}) {
    const auto d_f = std::make_shared<const CloverOperator<LatticeFermionF>>(u_f, p);
    const auto m_f = make_preconditioned<LatticeFermionF>(d_f, Preconditioning::even_odd);
    LatticeFermionF out_f;
    m_f->apply(out_f, x_f, Sign::plus);
    CHECK(tests::relative(LatticeFermion(out_f), tests::applied(clover(p)(u), Preconditioning::even_odd, x), rb[1]) <
          1e-6);
    GaugeField g = tests::no_derivative();
    auto g_f = converted_links<LinksOf<LatticeFermionF>>(g);
    m_f->add_derivative(g_f, y_f, x_f, 1);
    make_preconditioned(clover(p)(u), Preconditioning::even_odd)->add_derivative(g, y, x, 1);
    clover(p)(u)->add_log_det_derivative(g, rb[0], 1);
    d_f->add_log_det_derivative(g_f, rb[0], 1);
    CHECK(tests::distance(converted_links<GaugeField>(g_f), g) < 1e-5 * std::sqrt(tests::inner(g, g)));
    CHECK(toDouble(d_f->log_det_diagonal(all)) ==
          doctest::Approx(toDouble(clover(p)(u)->log_det_diagonal(all))).epsilon(1e-6));
  }
}

TEST_CASE("clover: a field that is not finite is reported") {
  tests::use_lattice({4, 4, 2, 2});
  GaugeField u = tests::random_field();
  u[2] = Real(std::nan("")) * u[2];
  CHECK_THROWS_WITH_AS(clover(kIsotropic)(u)->log_det_diagonal(all), doctest::Contains("log_det"), NumericsError);
}

// ---- in an input
// -----------------------------------------------------------------------------------------------------

namespace {

/// The action of <FermAct>name</FermAct> and further elements, without boundary conditions.
std::shared_ptr<const WilsonTypeAction> action(const std::string& name, const std::string& elements) {
  const InputFile document = tests::input("<FermionAction><FermAct>" + name + "</FermAct>" + elements +
                                          "<boundary>1 1 1 1</boundary></FermionAction>");
  const auto* row = wilson_type_action_table().find(document.root(), "FermAct");
  const auto made = row ? row->make(document.root()) : nullptr;
  document.require_valid();
  return made;
}

constexpr const char* kAnisotropicInput =
    "<Kappa>0.115</Kappa><clovCoeff>2.0171</clovCoeff><clovCoeffR>2.078</clovCoeffR><clovCoeffT>0.991</clovCoeffT>"
    "<AnisoParam><anisoP>true</anisoP><t_dir>3</t_dir><xi_0>2.464</xi_0><nu>0.95</nu></AnisoParam>";

}  // namespace

TEST_CASE("clover: actions from an input are the operators of their parameters") {
  tests::use_lattice({4, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  const auto same = [&](const WilsonTypeAction& a, const CloverParameters& p) {
    return tests::relative(tests::applied(a.make(u), Preconditioning::even_odd, psi),
                           tests::applied(clover(p)(u), Preconditioning::even_odd, psi), rb[1]) < base_tol(1e-14);
  };
  const auto isotropic = action("CLOVER", "<Mass>0.1</Mass><clovCoeff>1.7</clovCoeff><u0>0.9</u0>");
  CHECK(isotropic->preconditioning() == Preconditioning::even_odd);
  CHECK(isotropic->twist() == 0);
  CHECK(same(*isotropic, kIsotropic));
  const auto anisotropic = action("SEOPREC_CLOVER", kAnisotropicInput);
  CHECK(anisotropic->preconditioning() == Preconditioning::symmetric_even_odd);
  CHECK(same(*anisotropic,
             {.wilson = {.mass = 1 / 0.23 - 4, .aniso = {.on = true, .t_dir = 3, .xi_0 = 2.464, .nu = 0.95}},
              .coeff_r = 2.078,
              .coeff_t = 0.991}));
  CHECK(action("UNPRECONDITIONED_CLOVER", "<Mass>0.1</Mass><clovCoeff>1.7</clovCoeff>")->preconditioning() ==
        Preconditioning::none);
  CHECK(same(*action("TWISTED_MASS_CLOVER", "<Mass>0.1</Mass><TwistedMass>0.3</TwistedMass><clovCoeff>1.7</clovCoeff>"),
             kTwisted));
}

TEST_CASE("clover: TwistedM is added to the preconditioned operator") {
  tests::use_lattice({4, 4, 2, 2});
  const GaugeField u = tests::random_field();
  const LatticeFermion psi = tests::random_fermion();
  for (const char* name : {"CLOVER", "SEOPREC_CLOVER"}) {
    const auto a = action(name, "<Mass>0.1</Mass><clovCoeff>1.7</clovCoeff><TwistedM>0.2</TwistedM>");
    const QuarkOperator<LatticeFermion> quark({a, a->preconditioning(), a->twist()}, u);
    LatticeFermion out;
    quark.m().apply(out, psi, Sign::plus);
    const LatticeFermion plain = tests::applied(clover(kIsotropic)(u), a->preconditioning(), psi);
    CHECK(tests::relative(out, LatticeFermion(plain + Real(0.2) * timesI(Gamma(15) * psi)), rb[1]) < base_tol(1e-14));
  }
}

TEST_CASE("clover: an input with missing or contradicting elements says what is wrong") {
  CHECK_THROWS_WITH_AS(action("CLOVER", "<Mass>0.1</Mass>"), doctest::Contains("clovCoeff"), InputError);
  CHECK_THROWS_WITH_AS(action("CLOVER", "<Mass>0.1</Mass><Kappa>0.12</Kappa><clovCoeff>1</clovCoeff>"),
                       doctest::Contains("either Mass or Kappa"), InputError);
  CHECK_THROWS_WITH_AS(action("TWISTED_MASS_CLOVER", "<Mass>0.1</Mass><clovCoeff>1</clovCoeff>"),
                       doctest::Contains("TwoKappaMu"), InputError);
}
