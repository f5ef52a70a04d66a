#include "lib/gauge/phases.hpp"

#include <cmath>
#include <numbers>
#include <string>

namespace qcd {

using namespace QDP;

namespace {

void require_direction(int mu, const char* where) {
  if (mu < 0 || mu >= Nd)
    throw ShapeError(std::string(where) + ": expected a direction 0.." + std::to_string(Nd - 1) + ", got " +
                     std::to_string(mu));
}

/// x_mu, in double precision: angles grow with the lattice.
LatticeRealD wide_coordinate(int mu) {
  LatticeRealD x;
  x = Layout::latticeCoordinate(mu);
  return x;
}

LatticeBoolean on_last_slice(int mu) {
  LatticeBoolean last;
  last = Layout::latticeCoordinate(mu) == Layout::lattSize()[mu] - 1;
  return last;
}

LatticeComplex exp_i(const LatticeRealD& angle) {
  LatticeComplex phase;
  phase = cmplx(cos(angle), sin(angle));
  return phase;
}

}  // namespace

LatticeComplex PhaseMap::Factor::field() const {
  const multi1d<int>& extents = Layout::lattSize();
  LatticeComplex phi;
  switch (kind) {
    case Kind::boundary:
      phi = where(on_last_slice(mu), LatticeComplex(cmplx(Real(value.real()), Real(value.imag()))),
                  LatticeComplex(Complex(1)));
      break;
    case Kind::twist: {
      const double step = value.real() / extents[mu];
      phi = cmplx(Real(std::cos(step)), Real(std::sin(step)));
      break;
    }
    case Kind::flux:
      phi = exp_i(RealD(2 * std::numbers::pi * value.real() / extents[mu] / extents[nu]) * wide_coordinate(nu));
      break;
    case Kind::flux_on_last_slice: {
      const LatticeRealD angle = RealD(-(2 * std::numbers::pi * value.real() / extents[nu])) * wide_coordinate(nu);
      phi = exp_i(where(on_last_slice(mu), angle, LatticeRealD(RealD(0))));
      break;
    }
  }
  return phi;
}

void PhaseMap::add(const Factor& factor) {
  factors_.push_back(factor);
  fields_.clear();  // made without it, if the map was used before
}

PhaseMap& PhaseMap::boundary(int mu, std::complex<double> factor) {
  require_direction(mu, "PhaseMap::boundary");
  if (factor != 1.0) add({Factor::Kind::boundary, mu, factor});
  return *this;
}

PhaseMap& PhaseMap::twist(int mu, double angle) {
  require_direction(mu, "PhaseMap::twist");
  if (angle != 0) add({Factor::Kind::twist, mu, angle});
  return *this;
}

PhaseMap& PhaseMap::flux(int mu, int nu, int quanta) {
  require_direction(mu, "PhaseMap::flux");
  require_direction(nu, "PhaseMap::flux");
  if (mu == nu)
    throw ShapeError("PhaseMap::flux: expected a plane of two directions, got " + std::to_string(mu) + " twice");
  if (quanta == 0) return *this;
  add({Factor::Kind::flux, nu, quanta, mu});
  add({Factor::Kind::flux_on_last_slice, mu, quanta, nu});
  return *this;
}

bool PhaseMap::same_as(const LinkMap& other) const {
  const auto* phases = dynamic_cast<const PhaseMap*>(&other);
  return phases && phases->factors_ == factors_;
}

GaugeField PhaseMap::apply(const GaugeField& u) const {
  require_gauge_field(u, "PhaseMap::apply");
  GaugeField v = u;
  multiply(v);
  return v;
}

void PhaseMap::pull_back(GaugeField& g, const GaugeField&) const {
  require_gauge_field(g, "PhaseMap::pull_back");
  multiply(g);
}

void PhaseMap::multiply(GaugeField& v) const {
  if (fields_.empty())
    for (const Factor& factor : factors_) {
      const auto [place, first] = fields_.try_emplace(factor.mu, factor.field());
      if (!first) place->second *= factor.field();
    }
  for (const auto& [mu, phi] : fields_) v[mu] = phi * v[mu];
}

}  // namespace qcd
