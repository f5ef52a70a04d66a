// Schroedinger functional boundary conditions of gauge links, as a link map. Phases at the boundary: phases.hpp.
#pragma once

#include "lib/gauge/link_map.hpp"

#include <optional>
#include <vector>

namespace qcd {

/// The boundary fields of the Schroedinger functional: which constant fields the two boundaries carry.
enum class SchroedingerField {
  trivial,          ///< links 1
  nonperturbative,  ///< phases of Luescher, Sint, Sommer, Weisz, Wolff, Nucl. Phys. B491 (1997) 323, sect. 6.1
  coupling,         ///< Luescher, Sommer, Weisz, Wolff, Nucl. Phys. B413 (1994) 481, at eta = nu = 0
  chromomagnetic,   ///< a constant magnetic field through the planes of direction 0 and the last spatial direction
  zero              ///< links 0: nothing reaches through the boundary; W = 1 elsewhere
};

struct SchroedingerParameters {
  SchroedingerField field = SchroedingerField::trivial;
  double phase_factor = 1;      ///< multiplies the boundary phases (SchrPhiMult)
  int loop_extent = 1;          ///< of the longest loop in the action: 1 plaquette, 2 rectangles
  int decay_dir = QDP::Nd - 1;  ///< the direction with boundaries, "time" here

  bool operator==(const SchroedingerParameters&) const = default;
};

/// Schroedinger functional: links on the boundaries do not take part in the dynamics but hold a given field,
///   V = W where the mask holds, U elsewhere;   the derivative vanishes where the mask holds.
/// With L sites along decay_dir, t the coordinate there and T = L - loop_extent, spatial links are fixed for
/// t < loop_extent and t >= T, those along decay_dir for t < loop_extent - 1 and t >= T. Along decay_dir W is 1; in
/// space it is diagonal, exp(i [t phi' + (T - t) phi] / (T L_mu)) with the phases phi at t = 0 and phi' at t = T,
/// everywhere the classical solution between these. A lattice with L < 2 loop_extent + 1 is all boundary: ShapeError.
/// Masks and field are those of the lattice on which they are first needed.
class SchroedingerBoundary : public LinkMap {
 public:
  explicit SchroedingerBoundary(const SchroedingerParameters& parameters);

  const SchroedingerParameters& parameters() const { return parameters_; }

  /// Where the links of direction mu are fixed.
  const QDP::LatticeBoolean& mask(int mu) const;
  /// The sites on the boundaries, where spatial links are fixed. Quark fields vanish there.
  const QDP::LatticeBoolean& sites() const { return mask(parameters_.decay_dir == 0 ? 1 : 0); }
  /// W on the whole lattice: a classical solution.
  const GaugeField& field() const;

  GaugeField apply(const GaugeField& u) const override;
  void pull_back(GaugeField& g, const GaugeField& u) const override;
  bool same_as(const LinkMap& other) const override;

 private:
  struct Fields {
    std::vector<QDP::LatticeBoolean> mask;  ///< [Nd]
    GaugeField field;
  };
  const Fields& fields() const;

  SchroedingerParameters parameters_;
  mutable std::optional<Fields> fields_;
};

/// The Schroedinger functional boundary among the maps, if there is one.
std::shared_ptr<const SchroedingerBoundary> find_schroedinger_boundary(const LinkMaps& maps);

/// Boundary conditions first; fixed links stay fixed after each of the maps `smearing`.
LinkMaps with_fixed_links(const std::shared_ptr<const SchroedingerBoundary>& boundary, const LinkMaps& smearing);

}  // namespace qcd
