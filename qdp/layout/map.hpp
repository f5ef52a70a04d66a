// Maps: fields whose value at a site is another field's value at another site. The nearest-neighbour shift is one of
// them.
//
//   shift(x, FORWARD, mu)(site) = x(site + mu),   shift(x, BACKWARD, mu)(site) = x(site - mu),   periodic.
//   Map m(f);   m(x)(site) = x(f(site, +1)).
//
// x is a field or any expression. A subset restricts where the result is wanted, not where it comes from. Maps are made
// once (one call of the function per site) and are light to copy; they belong to the layout they were made for.
#pragma once

#include "qdp/layout/layout.hpp"
#include "qdp/layout/map_table.hpp"
#include "qdp/util/multi.hpp"

#include <vector>

#define FORWARD 1
#define BACKWARD -1

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

/// The tables of a family of maps, [sign][dir].
class MapFamily {
 public:
  /// Throws jit::UserError naming the site if the map leaves the lattice.
  static MapFamily make(const char* what, const ArrayMapFunc& function, bool both_signs);
  static MapFamily nearest_neighbours();

  /// Throws jit::UserError for a map that was not made or belongs to an earlier layout, a direction out of range, sign
  /// 0.
  const MapTable& table(int sign, int dir) const {
    if (dir < 0 || dir >= directions_ || sign == 0) [[unlikely]]
      fail(sign, dir);
    const MapTable& table = tables_[sign < 0 ? directions_ + dir : dir];
    if (table.order != site_order()) [[unlikely]]
      fail_layout();
    return table;
  }

 private:
  [[noreturn]] void fail(int sign, int dir) const;
  [[noreturn]] void fail_layout() const;

  const char* what_ = "map";
  int directions_ = 0;
  std::vector<MapTable> tables_;
};

}  // namespace detail

// The call operators find make_shift(expression, MapTable) of the expression language by the type of the table.

/// One map: m(x).
class Map {
 public:
  Map() = default;
  Map(const MapFunc& function) { make(function); }
  void make(const MapFunc& function);

  template <class X>
  auto operator()(const X& x) const {
    return make_shift(x, table());
  }

  const detail::MapTable& table() const { return family_.table(+1, 0); }
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
    return make_shift(x, table(dir));
  }

  const detail::MapTable& table(int dir) const { return family_.table(+1, dir); }

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
    return make_shift(x, table(isign));
  }

  const detail::MapTable& table(int isign) const { return family_.table(isign, 0); }

 private:
  detail::MapFamily family_;
};

/// A family of maps with their inverses: m(x, sign, dir).
class ArrayBiDirectionalMap {
 public:
  ArrayBiDirectionalMap() = default;
  ArrayBiDirectionalMap(const ArrayMapFunc& function) { make(function); }
  void make(const ArrayMapFunc& function);

  template <class X>
  auto operator()(const X& x, int isign, int dir) const {
    return make_shift(x, table(isign, dir));
  }

  const detail::MapTable& table(int isign, int dir) const { return family_.table(isign, dir); }

 private:
  friend void initDefaultMaps();
  detail::MapFamily family_;
};

/// The periodic nearest-neighbour shift, made by Layout::create().
extern ArrayBiDirectionalMap shift;

void initDefaultMaps();

}  // namespace QDP
