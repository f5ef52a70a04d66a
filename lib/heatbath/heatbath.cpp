#include "lib/heatbath/heatbath.hpp"

#include "lib/error.hpp"
#include "lib/gauge/boundary.hpp"
#include "lib/gauge/phases.hpp"
#include "lib/gauge/su3.hpp"
#include "lib/heatbath/su2.hpp"

#include <algorithm>
#include <numbers>
#include <numeric>
#include <optional>
#include <set>

namespace qcd {

using namespace QDP;

// ---- which links may change together ------------------------------------------------------------------------------

namespace {

/// Where the links of direction mu lie that occur in the staples of the link at the origin.
std::set<Displacement> partners(const LoopAction& action, int mu) {
  std::set<Displacement> found;
  for (const WeightedPath& staple : action.staples_of(mu)) {
    Displacement at = Path{forward(mu)}.displacement();
    for (int k = 0; k < staple.path.length(); ++k) {
      const Displacement start = walk(staple.path[k], at);
      if (staple.path[k].mu == mu) found.insert(start);
    }
  }
  return found;
}

int modulo(int x, int n) { return ((x % n) + n) % n; }

/// Colour sum_i f_i(x_i) mod n; f_i[x] for all x of direction i.
class Colouring : public SetFunc {
 public:
  Colouring(std::vector<std::vector<int>> f, int n) : f_(std::move(f)), n_(n) {}

  /// f_i(x) = a_i x.
  static Colouring linear(const std::vector<int>& a, int n, const std::vector<int>& extents) {
    return Colouring(tables(extents, [&](std::size_t i, int x) { return a[i] * x; }), n);
  }
  /// Three colours in which neighbours differ on any lattice: 0 1 0 1 ..., and 2 at the end of an odd extent.
  static Colouring three(const std::vector<int>& extents) {
    return Colouring(tables(extents,
                            [&](std::size_t i, int x) {
                              return extents[i] % 2 != 0 && extents[i] > 1 && x == extents[i] - 1 ? 2 : x % 2;
                            }),
                     3);
  }

  int operator()(const multi1d<int>& x) const override {
    int sum = 0;
    for (int i = 0; i < Nd; ++i) sum += f_[static_cast<std::size_t>(i)][static_cast<std::size_t>(x[i])];
    return modulo(sum, n_);
  }
  int numSubsets() const override { return n_; }

  /// No site has a partner of its own colour.
  bool separates(const std::set<Displacement>& partners) const {
    return std::none_of(partners.begin(), partners.end(), [&](const Displacement& d) { return may_agree(d); });
  }

 private:
  template <class Function>
  static std::vector<std::vector<int>> tables(const std::vector<int>& extents, const Function& f) {
    std::vector<std::vector<int>> all(extents.size());
    for (std::size_t i = 0; i < extents.size(); ++i)
      for (int x = 0; x < extents[i]; ++x) all[i].push_back(f(i, x));
    return all;
  }
  /// Whether x and x + d are of one colour for some x.
  bool may_agree(const Displacement& d) const {
    std::set<int> differences = {0};
    for (std::size_t i = 0; i < f_.size(); ++i) {
      const std::vector<int>& f = f_[i];
      const int extent = static_cast<int>(f.size());
      std::set<int> sums;
      for (int x = 0; x < extent; ++x)
        for (int before : differences)
          sums.insert(modulo(
              before + f[static_cast<std::size_t>(modulo(x + d[i], extent))] - f[static_cast<std::size_t>(x)], n_));
      differences = std::move(sums);
    }
    return differences.contains(0);
  }

  std::vector<std::vector<int>> f_;
  int n_;
};

/// The colours sum_i a_i x_i mod n fit together across the boundaries, and no partner has the colour of the origin.
bool separates(const std::vector<int>& a, int n, const std::vector<int>& extents,
               const std::set<Displacement>& partners) {
  const auto colour = [&](const Displacement& d) {
    return modulo(std::inner_product(a.begin(), a.end(), d.begin(), 0), n);
  };
  for (std::size_t i = 0; i < extents.size(); ++i)
    if (a[i] * extents[i] % n != 0) return false;
  return std::none_of(partners.begin(), partners.end(), [&](const Displacement& d) { return colour(d) == 0; });
}

/// The next lower number with these digits, the first one the lowest; false behind 0.
bool count_down(std::vector<int>& digits, int base) {
  for (int& digit : digits) {
    if (digit > 0) {
      --digit;
      return true;
    }
    digit = base - 1;
  }
  return false;
}

constexpr int kMaxColours = 24;

/// Nothing for even and odd sites.
std::optional<Colouring> find_colouring(const LoopAction& action, int mu, const std::vector<int>& extents) {
  const std::set<Displacement> others = partners(action, mu);
  for (const Displacement& d : others) {
    bool same = true;
    for (std::size_t i = 0; i < extents.size(); ++i) same = same && d[i] % extents[i] == 0;
    if (same)
      throw InputError(
          "heatbath: expected an action that is linear in each link, got a loop that passes twice through a link "
          "of direction " +
          std::to_string(mu) + ". On a larger lattice it might not.");
  }
  for (int n = 2; n <= kMaxColours; ++n) {
    // Counts down from a = (n-1, ..., n-1), so that n = 2 gives even and odd sites if they will do.
    std::vector<int> a(extents.size(), n - 1);
    do {
      if (!separates(a, n, extents, others)) continue;
      if (n == 2 && std::count(a.begin(), a.end(), 1) == static_cast<std::ptrdiff_t>(a.size())) return {};
      return Colouring::linear(a, n, extents);
    } while (count_down(a, n));
  }
  if (const Colouring colouring = Colouring::three(extents); colouring.separates(others)) return colouring;
  throw InputError("heatbath: the links of direction " + std::to_string(mu) + " cannot be told apart by up to " +
                   std::to_string(kMaxColours) + " colours on this lattice; use extents with more common divisors");
}

}  // namespace

Set independent_links(const LoopAction& action, int mu) {
  const std::optional<Colouring> colouring =
      find_colouring(action, mu, {Layout::lattSize().slice(), Layout::lattSize().slice() + Nd});
  return colouring ? Set(*colouring) : rb;
}

void require_independent_links(const LoopAction& action, const std::vector<int>& extents) {
  for (int mu = 0; mu < Nd; ++mu) find_colouring(action, mu, extents);
}

// ---- the weight of a heatbath -------------------------------------------------------------------------------------

namespace {

/// Uniform numbers on `sites`. Chroma draws a single number after each field; so do we, to get the same sequence.
void draw(LatticeReal& x, const Subset& sites) {
  random(x, sites);
  Real unused;
  random(unused);
}

constexpr double kTwoPi = 2 * std::numbers::pi;

/// exp(w a_0), relative to its largest value, is uniform in [exp(-2 w), 1].
auto creutz_trial(const LatticeReal& weight, const LatticeReal& x) {
  const auto low = exp(Real(-2) * weight);
  return Real(1) + log(low * (Real(1) - x) + x) / weight;
}

/// 1 - a_0 as a sum of the squares of three Gaussians. Numbers are in [0, 1), so 1 - x has a logarithm.
auto kennedy_pendleton_trial(const LatticeReal& weight, const LatticeReal& x, const LatticeReal& y,
                             const LatticeReal& z) {
  const auto angle = cos(Real(kTwoPi) * y);
  return Real(1) + (log(Real(1) - x) + angle * angle * log(Real(1) - z)) / weight;
}

/// Below this weight the trials of Kennedy and Pendleton seldom fall into [-1, 1]; those of Creutz take their place.
constexpr double kSmallWeight = 2;

/// A trial for a_0 where `accepted` does not hold yet, and whether it is accepted now.
void try_once(HeatbathDraw& h, const LatticeReal& weight, HeatbathTrial trial, const Subset& sites) {
  LatticeReal x, y, z, r;
  draw(x, sites);
  if (trial == HeatbathTrial::creutz) {
    h.a[0][sites] = where(h.accepted, h.a[0], creutz_trial(weight, x));
    draw(r, sites);
    h.accepted[sites] = h.accepted || (r * r < Real(1) - h.a[0] * h.a[0]);
    return;
  }
  draw(y, sites);
  draw(z, sites);
  LatticeBoolean small;
  small[sites] = weight < Real(kSmallWeight);
  h.a[0][sites] =
      where(h.accepted, h.a[0], where(small, creutz_trial(weight, x), kennedy_pendleton_trial(weight, x, y, z)));
  draw(r, sites);
  const auto bound = where(small, Real(1) - h.a[0] * h.a[0], Real(0.5) * (Real(1) + h.a[0]));
  h.accepted[sites] = h.accepted || (r * r < bound);
}

}  // namespace

HeatbathDraw draw_heatbath(const LatticeReal& weight, const HeatbathParameters& parameters, const Subset& sites) {
  HeatbathDraw h;
  h.a[0][sites] = zero;
  h.accepted[sites] = false;
  for (int trial = 1;; ++trial) {
    try_once(h, weight, parameters.trial, sites);
    if (trial == parameters.max_trials) break;
    if (toInt(sum(where(h.accepted, LatticeInteger(0), LatticeInteger(1)), sites)) == 0) break;
  }

  // The direction of (a_1, a_2, a_3) is uniform on the sphere.
  LatticeReal cos_theta, phi, radius;
  draw(cos_theta, sites);
  draw(phi, sites);
  cos_theta[sites] = Real(1) - Real(2) * cos_theta;
  radius[sites] = sqrt(where(h.accepted, Real(1) - h.a[0] * h.a[0], Real(0) * h.a[0]));
  h.a[3][sites] = radius * cos_theta;
  radius[sites] = radius * sqrt(Real(1) - cos_theta * cos_theta);
  h.a[1][sites] = radius * cos(Real(kTwoPi) * phi);
  h.a[2][sites] = radius * sin(Real(kTwoPi) * phi);
  return h;
}

// ---- sweeps -------------------------------------------------------------------------------------------------------

namespace {

/// Replaces the quaternion k q of m = u w by k a, a with the weight exp((2 k/Nc) a_0).
void heat(LatticeColorMatrix& u, const LatticeColorMatrix& w, int subgroup, const HeatbathParameters& parameters,
          const Subset& sites) {
  LatticeReal k;
  Quaternion q;
  extract_quaternion(k, q, u, w, subgroup, sites);
  LatticeReal weight;
  weight[sites] = Real(2.0 / Nc) * k;
  const HeatbathDraw h = draw_heatbath(weight, parameters, sites);
  LatticeComplex alpha, beta;
  alpha[sites] = cmplx(h.a[0], h.a[3]);
  beta[sites] = cmplx(h.a[2], h.a[1]);
  Quaternion change;  // a q^-1
  change.alpha[sites] = alpha * conj(q.alpha) + beta * conj(q.beta);
  change.beta[sites] = beta * q.alpha - alpha * q.beta;
  rotate_rows(u, change, subgroup, h.accepted, sites);
}

}  // namespace

bool links_stay_linear(const LinkMaps& links) {
  return std::all_of(links.begin(), links.end(), [](const auto& map) {
    return dynamic_cast<const SchroedingerBoundary*>(map.get()) || dynamic_cast<const PhaseMap*>(map.get());
  });
}

Heatbath::Heatbath(std::shared_ptr<const LoopAction> action, LinkMaps links, const HeatbathParameters& parameters)
    : action_(std::move(action)), links_(std::move(links)), parameters_(parameters) {
  if (!links_stay_linear(links_))
    throw InputError("heatbath: expected links with boundary conditions only, got smeared ones");
  if (su2_subgroups() == 0)
    throw InputError(
        "heatbath: expected two colours or more, whose SU(2) subgroups it updates, got one (QDP_NC). Use hmc");
}

LatticeColorMatrix Heatbath::staple(const GaugeField& u, int mu, const Subset& sites) const {
  LatticeColorMatrix w;
  const std::vector<WeightedPath>& paths = action_->staples_of(mu);
  if (paths.empty()) {
    w = zero;
  } else if (links_.empty()) {
    w[sites] = weighted_sum(u, paths, {forward(mu)});
  } else {
    const LinkState state(u, links_);
    GaugeField g(Nd);
    g = zero;
    g[mu][sites] = weighted_sum(state.links(), paths, {forward(mu)});
    state.pull_back(g);
    w = g[mu];
  }
  return w;
}

template <class Change>
void Heatbath::sweep(GaugeField& u, const Change& change) {
  require_gauge_field(u, "Heatbath");
  if (sets_.empty())
    for (int mu = 0; mu < Nd; ++mu) sets_.push_back(independent_links(*action_, mu));
  int colours = 0;
  for (const Set& set : sets_) colours = std::max(colours, set.numSubsets());
  for (int colour = 0; colour < colours; ++colour)
    for (int mu = 0; mu < Nd; ++mu) {
      const Set& set = sets_[static_cast<std::size_t>(mu)];
      if (colour < set.numSubsets()) change(u[mu], staple(u, mu, set[colour]), set[colour]);
    }
}

void Heatbath::overrelax_sweep(GaugeField& u) {
  sweep(u, [](LatticeColorMatrix& link, const LatticeColorMatrix& w, const Subset& sites) {
    for (int subgroup = 0; subgroup < su2_subgroups(); ++subgroup) overrelax(link, w, subgroup, sites);
  });
}

void Heatbath::heat_sweep(GaugeField& u) {
  sweep(u, [this](LatticeColorMatrix& link, const LatticeColorMatrix& w, const Subset& sites) {
    for (int subgroup = 0; subgroup < su2_subgroups(); ++subgroup) heat(link, w, subgroup, parameters_, sites);
    link[sites] = su3_unitarize(link);
  });
}

void Heatbath::update(GaugeField& u) {
  for (int i = 0; i < parameters_.over_relaxation; ++i) overrelax_sweep(u);
  heat_sweep(u);
  for (const auto& map : links_)
    if (dynamic_cast<const SchroedingerBoundary*>(map.get())) u = map->apply(u);
}

}  // namespace qcd
