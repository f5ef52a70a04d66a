#include "lib/gauge/boundary.hpp"

#include <cmath>
#include <numbers>

namespace qcd {

using namespace QDP;

namespace {

constexpr double kPi = std::numbers::pi;

/// Phases of the diagonal spatial links on the two boundaries, over the whole extent of space.
struct BoundaryValues {
  std::vector<double> lower, upper;  ///< [Nc]
};

BoundaryValues boundary_values(const SchroedingerParameters& p) {
  const std::vector<double> none(Nc, 0);
  const bool coupling = p.field == SchroedingerField::coupling;
  if (!coupling && p.field != SchroedingerField::nonperturbative) return {none, none};
  const double unit = kPi * p.phase_factor;
  if (Nc == 2) return {{-unit / 4, unit / 4}, {-3 * unit / 4, 3 * unit / 4}};
  if (Nc != 3) throw InputError("Schroedinger functional: boundary phases are known for 2 and 3 colours only");
  if (coupling) return {{-unit / 3, 0, unit / 3}, {-unit, unit / 3, 2 * unit / 3}};
  return {{-unit / 6, 0, unit / 6}, {-5 * unit / 6, unit / 3, unit / 2}};
}

/// diag(exp(i a_1), ..., exp(i a_Nc)).
LatticeColorMatrix diagonal(const std::vector<LatticeReal>& angles) {
  LatticeColorMatrix m;
  m = zero;
  for (int c = 0; c < Nc; ++c) {
    const LatticeReal& angle = angles[static_cast<std::size_t>(c)];
    pokeColor(m, cmplx(cos(angle), sin(angle)), c, c);
  }
  return m;
}

LatticeReal coordinate(int mu) {
  LatticeReal x;
  x = Layout::latticeCoordinate(mu);
  return x;
}

}  // namespace

SchroedingerBoundary::SchroedingerBoundary(const SchroedingerParameters& parameters) : parameters_(parameters) {
  if (parameters_.loop_extent != 1 && parameters_.loop_extent != 2)
    throw InputError("Schroedinger functional: expected loop_extent 1 or 2, got " +
                     std::to_string(parameters_.loop_extent));
  if (parameters_.decay_dir < 0 || parameters_.decay_dir >= Nd)
    throw InputError("Schroedinger functional: expected a decay_dir from 0 to " + std::to_string(Nd - 1) + ", got " +
                     std::to_string(parameters_.decay_dir));
}

namespace {

LatticeBoolean fixed_links(const SchroedingerParameters& p, int mu) {
  const int dir = p.decay_dir, extent = p.loop_extent, length = Layout::lattSize()[dir];
  if (length < 2 * extent + 1)
    throw ShapeError("Schroedinger functional: expected at least " + std::to_string(2 * extent + 1) +
                     " sites in direction " + std::to_string(dir) + ", got " + std::to_string(length));
  const LatticeInteger t = Layout::latticeCoordinate(dir);
  // Temporal links reach from t to t + 1: one plane less is fixed below.
  const int below = mu == dir ? extent - 1 : extent;
  LatticeBoolean fixed;
  fixed = (t < below) || (t >= length - extent);
  return fixed;
}

/// A magnetic field through the planes of direction 0 and the spatial direction `along`.
LatticeColorMatrix chromomagnetic_links(const SchroedingerParameters& p) {
  const int along = p.decay_dir == Nd - 1 ? Nd - 2 : Nd - 1;
  std::vector<LatticeReal> angles(Nc);
  for (LatticeReal& angle : angles) angle = zero;
  angles[0] = Real(2 * kPi * p.phase_factor / Layout::lattSize()[along]) * coordinate(along);
  angles[1] = -angles[0];
  return diagonal(angles);
}

/// Interpolates between the boundary values.
LatticeColorMatrix interpolating_links(const SchroedingerParameters& p, int mu) {
  const BoundaryValues values = boundary_values(p);
  const int total = Layout::lattSize()[p.decay_dir] - p.loop_extent;
  const double scale = 1.0 / (static_cast<double>(total) * Layout::lattSize()[mu]);
  const LatticeReal t = coordinate(p.decay_dir);
  std::vector<LatticeReal> angles(Nc);
  for (std::size_t c = 0; c < angles.size(); ++c)
    angles[c] = Real(scale * values.upper[c]) * t + Real(scale * values.lower[c]) * (Real(total) - t);
  return diagonal(angles);
}

}  // namespace

const SchroedingerBoundary::Fields& SchroedingerBoundary::fields() const {
  if (fields_) return *fields_;
  Fields made{{}, GaugeField(Nd)};
  for (int mu = 0; mu < Nd; ++mu) {
    made.mask.push_back(fixed_links(parameters_, mu));
    LatticeColorMatrix& w = made.field[mu];
    if (mu == parameters_.decay_dir)
      w = Real(1);
    else if (parameters_.field != SchroedingerField::chromomagnetic)
      w = interpolating_links(parameters_, mu);
    else if (mu == 0)
      w = chromomagnetic_links(parameters_);
    else
      w = Real(1);
    if (parameters_.field == SchroedingerField::zero) w = where(made.mask.back(), Real(0) * w, w);
  }
  return fields_.emplace(std::move(made));
}

const LatticeBoolean& SchroedingerBoundary::mask(int mu) const {
  return fields().mask.at(static_cast<std::size_t>(mu));
}

const GaugeField& SchroedingerBoundary::field() const { return fields().field; }

bool SchroedingerBoundary::same_as(const LinkMap& other) const {
  const auto* boundary = dynamic_cast<const SchroedingerBoundary*>(&other);
  return boundary && boundary->parameters_ == parameters_;
}

GaugeField SchroedingerBoundary::apply(const GaugeField& u) const {
  require_gauge_field(u, "SchroedingerBoundary::apply");
  GaugeField v(Nd);
  for (int mu = 0; mu < Nd; ++mu) v[mu] = where(mask(mu), field()[mu], u[mu]);
  return v;
}

void SchroedingerBoundary::pull_back(GaugeField& g, const GaugeField&) const {
  for (int mu = 0; mu < Nd; ++mu) g[mu] = where(mask(mu), Real(0) * g[mu], g[mu]);
}

std::shared_ptr<const SchroedingerBoundary> find_schroedinger_boundary(const LinkMaps& maps) {
  for (const auto& map : maps)
    if (auto boundary = std::dynamic_pointer_cast<const SchroedingerBoundary>(map)) return boundary;
  return nullptr;
}

LinkMaps with_fixed_links(const std::shared_ptr<const SchroedingerBoundary>& boundary, const LinkMaps& smearing) {
  LinkMaps maps{boundary};
  for (const auto& map : smearing) {
    maps.push_back(map);
    maps.push_back(boundary);
  }
  return maps;
}

}  // namespace qcd
