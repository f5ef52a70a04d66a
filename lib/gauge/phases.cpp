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
LatticeRealD coordinate(int mu) {
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

PhaseMap& PhaseMap::boundary(int mu, std::complex<double> factor) {
  require_direction(mu, "PhaseMap::boundary");
  if (factor == 1.0) return *this;
  factors_.push_back({mu, [=] {
                        LatticeComplex phi;
                        phi = where(on_last_slice(mu), LatticeComplex(cmplx(Real(factor.real()), Real(factor.imag()))),
                                    LatticeComplex(Complex(1)));
                        return phi;
                      }});
  return *this;
}

PhaseMap& PhaseMap::twist(int mu, double angle) {
  require_direction(mu, "PhaseMap::twist");
  if (angle == 0) return *this;
  factors_.push_back({mu, [=] {
                        const double step = angle / Layout::lattSize()[mu];
                        LatticeComplex phi;
                        phi = cmplx(Real(std::cos(step)), Real(std::sin(step)));
                        return phi;
                      }});
  return *this;
}

PhaseMap& PhaseMap::flux(int mu, int nu, int quanta) {
  require_direction(mu, "PhaseMap::flux");
  require_direction(nu, "PhaseMap::flux");
  if (mu == nu)
    throw ShapeError("PhaseMap::flux: expected a plane of two directions, got " + std::to_string(mu) + " twice");
  if (quanta == 0) return *this;
  // F L_mu, computed when there is a lattice.
  const auto strip = [=] { return 2 * std::numbers::pi * quanta / Layout::lattSize()[nu]; };
  factors_.push_back({nu, [=] { return exp_i(RealD(strip() / Layout::lattSize()[mu]) * coordinate(mu)); }});
  factors_.push_back({mu, [=] {
                        const LatticeRealD angle = RealD(-strip()) * coordinate(nu);
                        return exp_i(where(on_last_slice(mu), angle, LatticeRealD(RealD(0))));
                      }});
  return *this;
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
