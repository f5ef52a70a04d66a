#include "lib/meas/source.hpp"

#include "lib/io/lattice.hpp"
#include "lib/io/seed.hpp"
#include "lib/meas/momenta.hpp"

#include <cmath>
#include <numbers>
#include <optional>

namespace qcd {

using namespace QDP;

LatticeComplex point_profile(const multi1d<int>& site) {
  if (site.size() != Nd)
    throw ShapeError("point source: expected " + std::to_string(Nd) + " coordinates, got " +
                     std::to_string(site.size()));
  for (int mu = 0; mu < Nd; ++mu)
    if (site[mu] < 0 || site[mu] >= Layout::lattSize()[mu])
      throw ShapeError("point source: expected coordinates on the lattice, got " + std::to_string(site[mu]) +
                       " in direction " + std::to_string(mu) + " of extent " + std::to_string(Layout::lattSize()[mu]));
  LatticeComplex eta = zero;
  pokeSite(eta, Complex(cmplx(Real(1), Real(0))), site);
  return eta;
}

LatticeComplex slice_profile(const LatticeComplex& inside, int direction, int t) {
  if (direction < 0 || direction >= Nd)
    throw ShapeError("wall source: expected a direction 0.." + std::to_string(Nd - 1) + ", got " +
                     std::to_string(direction));
  if (t < 0 || t >= Layout::lattSize()[direction]) return inside;
  const LatticeComplex nought = zero;
  LatticeComplex eta;
  eta = where(Layout::latticeCoordinate(direction) == t, inside, nought);
  return eta;
}

LatticeComplex noise(Noise kind) {
  LatticeComplex eta;
  if (kind == Noise::gaussian) {
    gaussian(eta);
    eta *= Real(std::sqrt(0.5));
    return eta;
  }
  LatticeReal first;
  random(first);
  if (kind == Noise::u1) {
    const LatticeReal angle = Real(2 * std::numbers::pi) * first;
    eta = cmplx(cos(angle), sin(angle));
    return eta;
  }
  LatticeReal second;
  random(second);
  const LatticeReal plus = Real(std::sqrt(0.5)), minus = Real(-std::sqrt(0.5));
  const Real half = 0.5;
  eta = cmplx(where(first > half, plus, minus), where(second > half, plus, minus));
  return eta;
}

LatticeComplex zn_noise(int n) {
  LatticeReal r;
  random(r);
  const LatticeReal angle = Real(2 * std::numbers::pi / n) * floor(Real(n) * r);
  LatticeComplex eta;
  eta = cmplx(cos(angle), sin(angle));
  return eta;
}

namespace {

/// hop = sum over both neighbours in all directions but one, times `weight`, plus `from`.
template <class Q>
void add_neighbours(Q& sum, const Q& psi, const GaugeField& u, double weight, int no_smear_dir) {
  for (int mu = 0; mu < Nd; ++mu)
    if (mu != no_smear_dir)
      sum += Real(weight) * (u[mu] * shift(psi, FORWARD, mu) + shift(adj(u[mu]) * psi, BACKWARD, mu));
}

int smeared_directions(int no_smear_dir) { return no_smear_dir >= 0 && no_smear_dir < Nd ? Nd - 1 : Nd; }

}  // namespace

template <class Q>
void gaussian_smear(Q& psi, const GaugeField& u, double width, int steps, int no_smear_dir) {
  require_gauge_field(u, "gaussian_smear");
  if (steps < 1) return;
  const double weight = width * width / (4.0 * steps);
  const double diagonal = 1 - 2 * smeared_directions(no_smear_dir) * weight;
  for (int n = 0; n < steps; ++n) {
    const Q before = psi;
    psi = Real(diagonal) * before;
    add_neighbours(psi, before, u, weight, no_smear_dir);
  }
}

template <class Q>
void jacobi_smear(Q& psi, const GaugeField& u, double kappa, int steps, int no_smear_dir) {
  require_gauge_field(u, "jacobi_smear");
  const Q source = psi;
  for (int n = 0; n < steps; ++n) {
    const Q before = psi;
    psi = source;
    add_neighbours(psi, before, u, kappa, no_smear_dir);
  }
}

template <class Q>
void displace(Q& psi, const GaugeField& u, int length, int mu) {
  require_gauge_field(u, "displace");
  for (int n = length; n != 0; n -= n > 0 ? 1 : -1) {
    Q moved;
    if (n > 0)
      moved = u[mu] * shift(psi, FORWARD, mu);
    else
      moved = shift(adj(u[mu]) * psi, BACKWARD, mu);
    psi = std::move(moved);
  }
}

// ---- from inputs ---------------------------------------------------------------------------------------------------

namespace {

/// Draws with the seed `ran_seed` of the input, and leaves the generator as it was (Chroma's random walls).
std::function<LatticeComplex()> seeded(const Input& in, std::function<LatticeComplex()> draw) {
  const std::array<int, 4> digits = read_seed(in.group("ran_seed"));
  return [digits, draw] {
    Seed before;
    RNG::savern(before);
    RNG::setrn(make_seed(digits));
    const LatticeComplex eta = draw();
    RNG::setrn(before);
    return eta;
  };
}

/// `lowest` -1: everywhere for t_source -1.
std::function<LatticeComplex()> on_slice(const Input& in, std::function<LatticeComplex()> inside, int lowest = 0) {
  const int direction = in.integer("j_decay", {0, Nd - 1}), t = read_coordinate(in, "t_source", direction, lowest);
  return [=] { return slice_profile(inside(), direction, t); };
}

std::function<LatticeComplex()> read_point(const Input& in) {
  const std::vector<int> site = read_site(in, "t_srce");
  multi1d<int> at(Nd);
  for (int mu = 0; mu < Nd; ++mu) at[mu] = site[static_cast<std::size_t>(mu)];
  return [at] { return point_profile(at); };
}

LatticeComplex ones() {
  LatticeComplex one;
  one = cmplx(Real(1), Real(0));
  return one;
}

/// exp(i p (x - x0)) in the slice of t_srce.
std::function<LatticeComplex()> read_momentum_wall(const Input& in) {
  const int direction = in.integer("j_decay", {0, Nd - 1});
  const std::vector<int> site = read_site(in, "t_srce"), n = in.integers("mom", Nd - 1);
  return [=] {
    LatticeReal angle = zero;
    std::size_t component = 0;
    for (int mu = 0; mu < Nd; ++mu)
      if (mu != direction)
        angle += Real(2 * std::numbers::pi * n[component++] / Layout::lattSize()[mu]) *
                 LatticeReal(Layout::latticeCoordinate(mu) - site[static_cast<std::size_t>(mu)]);
    LatticeComplex phase;
    phase = cmplx(cos(angle), sin(angle));
    return slice_profile(phase, direction, site[static_cast<std::size_t>(direction)]);
  };
}

/// 1 where every direction of FixedDirs{elem{dir, coord}...} has its coordinate.
std::function<LatticeComplex()> read_partial_wall(const Input& in) {
  std::vector<std::pair<int, int>> fixed;
  for (const Input& elem : in.elements("FixedDirs")) {
    const int direction = elem.integer("dir", {0, Nd - 1});
    fixed.emplace_back(direction, read_coordinate(elem, "coord", direction));
  }
  return [fixed] {
    LatticeComplex eta = ones();
    for (const auto& [direction, coordinate] : fixed) eta = slice_profile(eta, direction, coordinate);
    return eta;
  };
}

template <class Q>
QuarkSmearing<Q> nothing() {
  return [](Q&, const GaugeField&) {};
}

template <class Q>
QuarkSmearing<Q> read_quark_smearing(const Input& group) {
  const auto* row = quark_smearing_table<Q>().find(group, "wvf_kind");
  return row ? row->make(group) : nothing<Q>();
}

/// [Displacement{DisplacementType}]; `sign` -1 at sources, as in Chroma.
template <class Q>
QuarkSmearing<Q> read_displacement(const Input& in, int sign) {
  if (!in.has("Displacement")) return nothing<Q>();
  const Input group = in.group("Displacement");
  group.accept_unused({"version"});
  const std::string type = group.word("DisplacementType");
  if (type == "SIMPLE_DISPLACEMENT") {
    const int length = sign * group.integer("disp_length"), mu = group.integer("disp_dir", {0, Nd - 1});
    return [=](Q& psi, const GaugeField& u) { displace(psi, u, length, mu); };
  }
  if (!type.empty() && type != "NONE") group.error("DisplacementType", "NONE or SIMPLE_DISPLACEMENT", type);
  return nothing<Q>();
}

/// Links are smeared first; then the displacement and the smearing of the quarks, in the order that the input says.
template <class Q>
QuarkSmearing<Q> read_smearing_chain(const Input& in, bool smears, int displacement_sign) {
  const LinkSmearing links = read_optional_link_smearing(in);
  const QuarkSmearing<Q> displacement = read_displacement<Q>(in, displacement_sign);
  const QuarkSmearing<Q> smearing = smears ? read_quark_smearing<Q>(in.group("SmearingParam")) : nothing<Q>();
  const bool smear_last =
      displacement_sign < 0 ? in.flag("quark_smear_lastP", true) : !in.flag("quark_smear_firstP", true);
  return [=](Q& psi, const GaugeField& u) {
    const GaugeField v = links(u);
    if (!smear_last) smearing(psi, v);
    displacement(psi, v);
    if (smear_last) smearing(psi, v);
  };
}

}  // namespace

template <class Q>
const Table<QuarkSmearing<Q>>& quark_smearing_table() {
  static const Table<QuarkSmearing<Q>> table(
      "a quark smearing",
      {
          {"GAUGE_INV_GAUSSIAN", "wvf_param (width), wvfIntPar (steps), no_smear_dir: (1 + (w^2/4n) Laplacian)^n",
           [](const Input& in) -> QuarkSmearing<Q> {
             const double width = in.real("wvf_param");
             const int steps = in.integer("wvfIntPar", at_least(0)), without = in.integer("no_smear_dir");
             return [=](Q& psi, const GaugeField& u) { gaussian_smear(psi, u, width, steps, without); };
           }},
          {"GAUGE_INV_JACOBI", "wvf_param (kappa), wvfIntPar (steps), no_smear_dir: sum_k (kappa H)^k",
           [](const Input& in) -> QuarkSmearing<Q> {
             const double kappa = in.real("wvf_param");
             const int steps = in.integer("wvfIntPar", at_least(0)), without = in.integer("no_smear_dir");
             return [=](Q& psi, const GaugeField& u) { jacobi_smear(psi, u, kappa, steps, without); };
           }},
          {"NONE", "fields as they are", [](const Input&) { return nothing<Q>(); }},
      });
  return table;
}

const Table<std::function<LatticeComplex()>>& source_table() {
  using Profile = std::function<LatticeComplex()>;
  static const Table<Profile> table(
      "a source",
      {
          {"POINT_SOURCE", "j_decay, t_srce (Nd coordinates)", read_point},
          {"SHELL_SOURCE", "the same, with SmearingParam{wvf_kind, ...}", read_point},
          {"WALL_SOURCE", "j_decay, t_source: 1 in a slice",
           [](const Input& in) -> Profile { return on_slice(in, ones); }},
          {"PARTIAL_WALL_SOURCE",
           "j_decay, t_source, FixedDirs{elem{dir, coord}...}: 1 where the coordinates are these", read_partial_wall},
          {"MOMENTUM_WALL_SOURCE", "j_decay, t_srce, mom (Nd - 1 integers): exp(i p (x - x0)) in a slice",
           read_momentum_wall},
          {"RAND_Z2_WALL_SOURCE", "ran_seed{Seed}, j_decay, t_source: (+-1 +- i)/sqrt 2 in a slice",
           [](const Input& in) -> Profile { return on_slice(in, seeded(in, [] { return noise(Noise::z2); })); }},
          {"RAND_ZN_WALL_SOURCE",
           "ran_seed{Seed}, j_decay, t_source, N, [SmearingParam]: exp(2 pi i k/N) in a slice, everywhere for t_source "
           "-1",
           [](const Input& in) -> Profile {
             const int n = in.integer("N", at_least(2));
             return on_slice(in, seeded(in, [n] { return zn_noise(n); }), -1);
           }},
          {"RAND_U1_WALL_SOURCE", "ran_seed{Seed}, j_decay, t_source, [SmearingParam]: exp(i theta) likewise",
           [](const Input& in) -> Profile { return on_slice(in, seeded(in, [] { return noise(Noise::u1); }), -1); }},
      });
  return table;
}

template <class Q>
const Table<QuarkSmearing<Q>>& sink_table() {
  static const Table<QuarkSmearing<Q>> table(
      "a sink", {
                    {"POINT_SINK", "[Displacement], [LinkSmearing]: the propagator as it is",
                     [](const Input& in) { return read_smearing_chain<Q>(in, false, +1); }},
                    {"SHELL_SINK", "SmearingParam{wvf_kind, ...}, [Displacement], [LinkSmearing]",
                     [](const Input& in) { return read_smearing_chain<Q>(in, true, +1); }},
                    {"WALL_SINK", "the sum over each slice across j_decay, at all its sites",
                     [](const Input& in) -> QuarkSmearing<Q> {
                       const int direction = in.integer("j_decay", {0, Nd - 1});
                       return [direction](Q& psi, const GaugeField&) {
                         const Set slices = time_slices(direction);
                         for (int t = 0; t < slices.numSubsets(); ++t) {
                           const auto total = sum(psi, slices[t]);
                           psi[slices[t]] = total;
                         }
                       };
                     }},
                });
  return table;
}

template <class Q>
Q QuarkSource<Q>::operator()(const GaugeField& u) const {
  Q source;
  source = profile();  // times the unit matrix
  smear(source, u);
  return source;
}

template <class Q>
QuarkSource<Q> read_quark_source(const Input& in) {
  QuarkSource<Q> source;
  source.smear = nothing<Q>();
  in.integer("version", at_least(1), 1);  // Chroma's, of the elements of each type
  const auto* row = source_table().find(in, "SourceType");
  source.j_decay = in.integer("j_decay", {0, Nd - 1});
  if (!row) return source;
  source.type = row->name;
  source.profile = row->make(in);
  if (in.has("t_srce"))
    source.t_source = in.integers("t_srce", Nd)[static_cast<std::size_t>(source.j_decay)];
  else
    source.t_source = in.integer("t_source");
  source.smear = read_smearing_chain<Q>(in, source.type == "SHELL_SOURCE" || in.has("SmearingParam"), -1);
  return source;
}

template <class Q>
QuarkSmearing<Q> read_quark_sink(const Input& in) {
  in.integer("version", at_least(1), 1);
  in.integer("j_decay", {0, Nd - 1}, Nd - 1);
  const auto* row = sink_table<Q>().find(in, "SinkType");
  return row ? row->make(in) : nothing<Q>();
}

#define QCD_INSTANTIATE(Q)                                                                                             \
  template void gaussian_smear<Q>(Q&, const GaugeField&, double, int, int);                                            \
  template void jacobi_smear<Q>(Q&, const GaugeField&, double, int, int);                                              \
  template void displace<Q>(Q&, const GaugeField&, int, int);                                                          \
  template const Table<QuarkSmearing<Q>>& quark_smearing_table<Q>();                                                   \
  template const Table<QuarkSmearing<Q>>& sink_table<Q>();                                                             \
  template struct QuarkSource<Q>;                                                                                      \
  template QuarkSource<Q> read_quark_source<Q>(const Input&);                                                          \
  template QuarkSmearing<Q> read_quark_sink<Q>(const Input&);
QCD_INSTANTIATE(LatticePropagator)
QCD_INSTANTIATE(LatticeStaggeredPropagator)
#undef QCD_INSTANTIATE

}  // namespace qcd
