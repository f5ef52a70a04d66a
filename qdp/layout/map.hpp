// Maps: fields whose value at a site is another field's value at another site. The nearest-neighbour shift is one of
// them.
//
//   shift(x, FORWARD, mu)(site) = x(site + mu),   shift(x, BACKWARD, mu)(site) = x(site - mu),   periodic.
//   Map m(f);   m(x)(site) = x(f(site, +1)).
//
// x is a field or any expression. A subset restricts where the result is wanted, not where it comes from. Maps are made
// once (one call of the function per site) for the lattice that is present then, and are light to copy. shift is that of
// whatever lattice x is on.
#pragma once

#include "qdp/layout/layout.hpp"
#include "qdp/util/multi.hpp"

#include <memory>
#include <utility>
#include <vector>

#define FORWARD 1
#define BACKWARD -1

namespace jit {
class SiteMap;
}

namespace QDP {

class Subset;

/// Source site of a site. sign > 0 for the map, sign < 0 for its inverse.
class MapFunc {
 public:
  virtual ~MapFunc() = default;
  virtual multi1d<int> operator()(const multi1d<int>& coordinate, int sign) const = 0;
};

/// A family of maps, numbered dir = 0 .. numArray() - 1.
class ArrayMapFunc {
 public:
  virtual ~ArrayMapFunc() = default;
  virtual multi1d<int> operator()(const multi1d<int>& coordinate, int sign, int dir) const = 0;
  virtual int numArray() const = 0;
};

namespace detail {

/// The maps of a family, [sign][dir].
class MapFamily {
 public:
  MapFamily() = default;
  /// For the present lattice. Throws jit::UserError naming the site if the map leaves it.
  static MapFamily make(const char* what, const ArrayMapFunc& function, bool both_signs);
  /// That of the nearest neighbours, on any lattice.
  static MapFamily nearest_neighbours();

  /// The map for a field on this lattice. Throws jit::UserError for a family that was not made or belongs to another
  /// lattice, a direction out of range, sign 0.
  const std::shared_ptr<const jit::SiteMap>& on(const LatticeState& lattice, int sign, int dir) const;
  /// On the lattice that the family was made for; the nearest neighbours on the present one.
  const std::shared_ptr<const jit::SiteMap>& map(int sign, int dir) const;
  /// The lattice that map() speaks of.
  const LatticeState& lattice() const;
  /// Throws as on() does for sign and direction.
  void check(int sign, int dir) const;

 private:
  const char* what_ = "map";
  int directions_ = 0;
  std::shared_ptr<const LatticeState> lattice_;  ///< none: nearest neighbours
  std::vector<std::shared_ptr<const jit::SiteMap>> maps_;
};

}  // namespace detail

// The call operators find make_shift(expression, MapFamily, sign, dir) of the expression language by the type of the family.

/// One map: m(x).
class Map {
 public:
  Map() = default;
  Map(const MapFunc& function) { make(function); }
  void make(const MapFunc& function);

  template <class X>
  auto operator()(const X& x) const {
    return make_shift(x, family_, +1, 0);
  }

  const detail::MapFamily& family() const { return family_; }
  /// Host index of the source of each site.
  multi1d<int> goffset() const;
  multi1d<int> Offsets() const { return goffset(); }
  /// Sites of this rank that other ranks need, in the order they are sent: none, with one rank.
  multi1d<int> soffset() const { return multi1d<int>(0); }

 private:
  detail::MapFamily family_;
};

/// A family of maps: m(x, dir).
class ArrayMap {
 public:
  ArrayMap() = default;
  ArrayMap(const ArrayMapFunc& function) { make(function); }
  void make(const ArrayMapFunc& function);

  template <class X>
  auto operator()(const X& x, int dir) const {
    return make_shift(x, family_, +1, dir);
  }

  const detail::MapFamily& family() const { return family_; }

 private:
  detail::MapFamily family_;
};

/// A map and its inverse: m(x, sign).
class BiDirectionalMap {
 public:
  BiDirectionalMap() = default;
  BiDirectionalMap(const MapFunc& function) { make(function); }
  void make(const MapFunc& function);

  template <class X>
  auto operator()(const X& x, int isign) const {
    return make_shift(x, family_, isign, 0);
  }

  const detail::MapFamily& family() const { return family_; }

 private:
  detail::MapFamily family_;
};

/// A family of maps with their inverses: m(x, sign, dir).
class ArrayBiDirectionalMap {
 public:
  ArrayBiDirectionalMap() = default;
  explicit ArrayBiDirectionalMap(detail::MapFamily family) : family_(std::move(family)) {}
  ArrayBiDirectionalMap(const ArrayMapFunc& function) { make(function); }
  void make(const ArrayMapFunc& function);

  template <class X>
  auto operator()(const X& x, int isign, int dir) const {
    return make_shift(x, family_, isign, dir);
  }

  const detail::MapFamily& family() const { return family_; }

 private:
  detail::MapFamily family_;
};

/// The periodic nearest-neighbour shift.
extern ArrayBiDirectionalMap shift;

/// No effect: every lattice has the shift.
void initDefaultMaps();

}  // namespace QDP
