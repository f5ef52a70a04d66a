#include "lib/solver/lanczos.hpp"

#include "lib/solver/iteration.hpp"

#include <utility>

namespace qcd {

using namespace QDP;

namespace {

/// p(A) with p the Chebyshev polynomial T_n on [low, high], or A itself.
template <class F>
class Filtered {
 public:
  Filtered(const HermitianOperator<F>& a, const Subset& sites, const LanczosParameters& parameters)
      : a_(a), s_(sites), parameters_(parameters) {}

  /// T_0 = 1, T_1 = y, T_j = 2 y T_{j-1} - T_{j-2} with y = (A - center) / radius, or minus this so that the wanted
  /// side of the interval has y > 1.
  void apply(F& out, const F& in) {
    const int degree = parameters_.chebyshev_degree;
    if (degree == 0) {
      out[s_] = a_(in);
      ++applications_;
      return;
    }
    const double radius = (parameters_.high - parameters_.low) / 2, center = (parameters_.high + parameters_.low) / 2;
    const double slope = (parameters_.end == SpectrumEnd::lowest ? -1 : 1) / radius;
    F before, now;
    before[s_] = in;
    now[s_] = RealOf<F>(slope) * a_(in) - RealOf<F>(slope * center) * in;
    for (int j = 2; j <= degree; ++j) {
      before[s_] = RealOf<F>(2 * slope) * a_(now) - RealOf<F>(2 * slope * center) * now - before;
      std::swap(before, now);
    }
    out[s_] = now;
    applications_ += degree;
  }

  /// Of p(A) the wanted values are always the largest.
  SpectrumEnd end() const { return parameters_.chebyshev_degree > 0 ? SpectrumEnd::highest : parameters_.end; }
  long applications() const { return applications_; }

 private:
  const HermitianOperator<F>& a_;
  const Subset& s_;
  const LanczosParameters& parameters_;
  long applications_ = 0;
};

/// Gaussian of norm one, from a seed of its own.
template <class F>
F random_start(const Subset& sites) {
  Seed kept;
  RNG::savern(kept);
  RNG::initDefaultRNG();
  F v;
  gaussian(v, sites);
  RNG::setrn(kept);
  v[sites] = RealOf<F>(1 / std::sqrt(square(v, sites))) * v;
  return v;
}

template <class F>
std::vector<const F*> pointers(const std::vector<F>& v, std::size_t n) {
  std::vector<const F*> result;
  for (std::size_t i = 0; i < n; ++i) result.push_back(&v[i]);
  return result;
}

/// w -= V V^+ w, twice; returns V^+ w of the first time plus the correction of the second.
template <class F>
std::vector<HostComplex> orthogonalise(F& w, const std::vector<F>& v, std::size_t n, const Subset& s) {
  std::vector<HostComplex> total(n);
  for (int pass = 0; pass < 2; ++pass) {
    const std::vector<const F*> basis = pointers(v, n), single = {&w};
    const Matrix column = products<F>(basis, single, s);
    std::vector<HostComplex> c(n);
    for (std::size_t i = 0; i < n; ++i) {
      total[i] += column(i, 0);
      c[i] = -column(i, 0);
    }
    combine(w, s, c, basis, true);
  }
  return total;
}

void require_sensible(const LanczosParameters& p, int basis) {
  if (p.wanted < 1) throw ShapeError("lanczos: expected wanted >= 1, got " + std::to_string(p.wanted));
  if (basis < p.wanted + 2)
    throw ShapeError("lanczos: expected a basis of at least wanted + 2 = " + std::to_string(p.wanted + 2) +
                     " vectors, got " + std::to_string(basis));
  if (p.chebyshev_degree < 0 || (p.chebyshev_degree > 0 && !(p.high > p.low)))
    throw ShapeError("lanczos: expected a Chebyshev degree >= 0 and an interval with low < high, got degree " +
                     std::to_string(p.chebyshev_degree) + " on [" + std::to_string(p.low) + ", " +
                     std::to_string(p.high) + "]");
}

}  // namespace

template <class F>
Eigenpairs<F> lanczos(const HermitianOperator<F>& a, const Subset& sites, const LanczosParameters& parameters) {
  const int basis = parameters.basis > 0 ? parameters.basis : 2 * parameters.wanted + 24;
  require_sensible(parameters, basis);
  const auto m = static_cast<std::size_t>(basis), wanted = static_cast<std::size_t>(parameters.wanted);
  Filtered<F> op(a, sites, parameters);

  std::vector<F> v(m + 1);
  v[0] = random_start<F>(sites);
  Matrix t(m, m);
  std::size_t filled = 0;  // columns of T
  double beta = 0;
  std::vector<std::size_t> ritz;  // indices of T's eigenvalues, from the wanted end on
  Eigensystem e;
  bool converged = false, invariant = false;
  double iterated_value = 0, iterated_residual = 0;
  for (int restart = 0; !converged && !invariant && restart <= parameters.max_restarts; ++restart) {
    std::size_t size = m;
    for (; filled < m; ++filled) {
      F& w = v[filled + 1];
      op.apply(w, v[filled]);
      const std::vector<HostComplex> column = orthogonalise(w, v, filled + 1, sites);
      for (std::size_t i = 0; i <= filled; ++i) {
        t(i, filled) = column[i];
        t(filled, i) = std::conj(column[i]);
      }
      t(filled, filled) = column[filled].real();
      beta = std::sqrt(square(w, sites));
      require_finite(beta, "lanczos", static_cast<int>(op.applications()));
      // An invariant subspace: everything that the start vector holds has been found.
      invariant = beta <= 1e-14 * std::abs(column[filled]);
      if (invariant) {
        size = ++filled;
        break;
      }
      w[sites] = RealOf<F>(1 / beta) * w;
    }

    Matrix part(size, size);
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j) part(i, j) = t(i, j);
    e = eigensystem(part);
    ritz.resize(size);
    for (std::size_t i = 0; i < size; ++i) ritz[i] = op.end() == SpectrumEnd::lowest ? i : size - 1 - i;

    iterated_value = e.values[ritz[0]];
    iterated_residual = invariant ? 0 : std::abs(beta * e.vectors(size - 1, ritz[0]));
    const double scale = std::max(std::fabs(e.values.front()), std::fabs(e.values.back()));
    std::size_t good = 0;
    while (good < std::min(wanted, size) &&
           (invariant || std::abs(beta * e.vectors(size - 1, ritz[good])) <= parameters.tolerance * scale))
      ++good;
    converged = good == wanted;

    // The new basis: the wanted Ritz vectors, some more that help convergence, and v_{m+1}.
    const std::size_t keep = converged || invariant ? std::min(wanted, size) : wanted + (m - wanted) / 3;
    std::vector<F> next(m + 1);
    for (std::size_t j = 0; j < keep; ++j) {
      std::vector<HostComplex> c(size);
      for (std::size_t i = 0; i < size; ++i) c[i] = e.vectors(i, ritz[j]);
      combine(next[j], sites, c, pointers(v, size));
    }
    std::swap(next[keep], v[std::min(size, m)]);
    v = std::move(next);
    t = Matrix(m, m);
    for (std::size_t j = 0; j < keep; ++j) t(j, j) = e.values[ritz[j]];
    filled = keep;
  }

  // Values and residuals of A itself.
  Eigenpairs<F> result;
  F av;
  for (std::size_t j = 0; j < std::min(wanted, filled); ++j) {
    F vector;
    vector[sites] = RealOf<F>(1 / std::sqrt(square(v[j], sites))) * v[j];
    av[sites] = a(vector);
    const double value = product(vector, av, sites).real();
    av[sites] -= RealOf<F>(value) * vector;
    result.values.push_back(value);
    result.residuals.push_back(std::sqrt(square(av, sites)));
    result.vectors.push_back(std::move(vector));
  }
  result.converged = converged;
  if (!result.values.empty()) {
    result.iterated_value = iterated_value;
    result.iterated_residual = iterated_residual;
  }
  result.applications = op.applications() + static_cast<long>(result.values.size());
  return result;
}

template <class F>
Eigenpairs<F> lanczos(const FermionOperator<F>& m, const LanczosParameters& parameters) {
  return lanczos<F>([&m](const F& in) { return m.normal(in); }, m.domain(), parameters);
}

namespace {

/// The eigenvalue below `low` at which the polynomial of these parameters (SpectrumEnd::lowest) is y >= 1.
double inverse_of_filter(const LanczosParameters& p, double y) {
  const double radius = (p.high - p.low) / 2, center = (p.high + p.low) / 2;
  return center - radius * std::cosh(std::acosh(std::max(y, 1.0)) / p.chebyshev_degree);
}

}  // namespace

template <class F>
SpectralBounds spectral_bounds(const FermionOperator<F>& m, double accuracy, int max_restarts) {
  SpectralBounds bounds;
  LanczosParameters parameters;
  parameters.end = SpectrumEnd::highest;
  parameters.tolerance = accuracy;
  parameters.max_restarts = max_restarts;
  const Eigenpairs<F> top = lanczos(m, parameters);
  bounds.highest = top.values[0];
  bounds.highest_error = top.residuals[0];
  bounds.applications = top.applications;

  // The low end is dense in comparison with the spectrum's width, and often a band just above the mass squared: waiting for
  // one eigenvector of it to separate takes forever, and is not needed. A few plain vectors show where the end is. From
  // there on a polynomial of A that falls steeply up to `low`, a multiple of the value found so far, brings it out, each
  // time with a better multiple. The largest value of the polynomial is within the residual of what was found, and the
  // polynomial's slope says what that means for the eigenvalue.
  parameters.end = SpectrumEnd::lowest;
  parameters.max_restarts = 0;
  parameters.basis = 24;
  parameters.tolerance = 0;
  const Eigenpairs<F> first = lanczos(m, parameters);
  bounds.applications += first.applications;
  bounds.lowest = first.values[0];
  bounds.lowest_error = first.residuals[0];
  const HermitianOperator<F> normal = [&m](const F& in) { return m.normal(in); };
  parameters.high = 1.1 * (bounds.highest + bounds.highest_error);
  bool settled = false;  // the value found changes by less than a factor of two: this polynomial is good enough
  constexpr int kMaxPasses = 20, kMaxDegree = 4000;
  for (int pass = 0; pass < kMaxPasses && bounds.lowest_error > accuracy * bounds.lowest; ++pass) {
    const double before = bounds.lowest;
    parameters.low = std::min(std::max(4 * before, 1e-12 * bounds.highest), 0.5 * bounds.highest);
    // T_n grows like exp(2 n sqrt(low / high)) below the interval: enough for a factor of 100 from one application.
    parameters.chebyshev_degree =
        std::clamp(static_cast<int>(2.7 * std::sqrt(parameters.high / parameters.low)), 4, kMaxDegree);
    // d log p is n d lambda / sqrt(high low) or more: half of what may be missing from the accuracy that is asked for.
    parameters.tolerance =
        0.5 * accuracy * before * parameters.chebyshev_degree / std::sqrt(parameters.high * parameters.low);
    parameters.max_restarts = settled ? max_restarts : 0;
    const Eigenpairs<F> bottom = lanczos(m, parameters);
    // Once more through the polynomial: what is left of the upper spectrum weighs little in p(A) but much in A.
    Filtered<F> filter(normal, m.domain(), parameters);
    F polished;
    filter.apply(polished, bottom.vectors[0]);
    PendingReal energy;
    m.normal(polished, &energy);
    const double quotient = energy.get() / square(polished, m.domain());
    bounds.applications += bottom.applications + filter.applications() + 1;
    bounds.lowest = std::min(before, quotient);
    bounds.lowest_error =
        std::fabs(bounds.lowest - inverse_of_filter(parameters, bottom.iterated_value + bottom.iterated_residual));
    if (settled) break;
    settled = bounds.lowest > before / 2;
  }
  bounds.converged = top.converged && bounds.lowest_error <= accuracy * bounds.lowest;
  return bounds;
}

template <class F>
void Deflation<F>::project(F& out, const F& b, const Subset& sites) const {
  std::vector<HostComplex> c;
  for (const F& v : pairs_.vectors) c.push_back(product(v, b, sites));
  combine(out, sites, c, pointers(pairs_.vectors, pairs_.vectors.size()));
}

template <class F>
void Deflation<F>::improve(F& x, const SystemOperator<F>& system, const F& b) const {
  NormalMatrix<F> a(system.m);
  F r;
  a.residual(r, b, x);
  std::vector<HostComplex> c;
  for (std::size_t i = 0; i < pairs_.vectors.size(); ++i)
    c.push_back(product(pairs_.vectors[i], r, a.sites()) / pairs_.values[i]);
  combine(x, a.sites(), c, pointers(pairs_.vectors, pairs_.vectors.size()), true);
}

#define QCD_INSTANTIATE(F)                                                                                             \
  template Eigenpairs<F> lanczos(const HermitianOperator<F>&, const Subset&, const LanczosParameters&);                \
  template Eigenpairs<F> lanczos(const FermionOperator<F>&, const LanczosParameters&);                                 \
  template SpectralBounds spectral_bounds(const FermionOperator<F>&, double, int);                                     \
  template class Deflation<F>;
QCD_FOR_ALL_FIELDS(QCD_INSTANTIATE)
#undef QCD_INSTANTIATE

}  // namespace qcd
