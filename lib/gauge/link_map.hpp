// From the gauge field to the links that an action sees: smearing, boundary conditions, phases, one after the other.
#pragma once

#include "lib/gauge/gauge_field.hpp"

#include <memory>
#include <vector>

namespace qcd {

/// One map U -> V(U) with its derivative. V need not be unitary.
class LinkMap {
 public:
  virtual ~LinkMap() = default;

  /// V(u), [Nd].
  virtual GaugeField apply(const GaugeField& u) const = 0;

  /// The chain rule: `g` is the derivative of S with respect to V (conv. 9) and becomes the derivative of S(V(u)) with
  /// respect to u.
  virtual void pull_back(GaugeField& g, const GaugeField& u) const = 0;

  /// True only if V(u) is the same for both, to the bit, whatever u.
  virtual bool same_as(const LinkMap& other) const = 0;
};

/// Maps in the order in which they act; none means V = U.
using LinkMaps = std::vector<std::shared_ptr<const LinkMap>>;

/// The links V(U) with the fields between U and V, kept for the derivative.
class LinkState {
 public:
  LinkState(const GaugeField& u, const LinkMaps& maps);

  const LinkMaps& maps() const { return maps_; }
  /// U.
  const GaugeField& gauge() const { return stages_.front(); }
  /// V.
  const GaugeField& links() const { return stages_.back(); }

  /// `g` is the derivative with respect to V and becomes that with respect to U.
  void pull_back(GaugeField& g) const;

  /// The force of conv. 4 on the momenta of U: F = taproj(U G_U), where `g` holds the derivative with respect to V and
  /// is pulled back in place.
  GaugeField force(GaugeField& g) const;

 private:
  LinkMaps maps_;
  std::vector<GaugeField> stages_;  ///< before the first map, between, after the last
};

/// The states of one field U, made when they are first asked for: actions whose maps are the same share one.
class LinkStates {
 public:
  /// Keeps a reference to `u`.
  explicit LinkStates(const GaugeField& u) : u_(u) {}

  std::shared_ptr<const LinkState> of(const LinkMaps& maps);

 private:
  const GaugeField& u_;
  std::vector<std::shared_ptr<const LinkState>> states_;
};

}  // namespace qcd
