// A lattice: its sites, which of them this rank has, the order they are stored in, and what follows from that alone.
//
// Fields hold the lattice that they live on, as their order of sites. Default sets, shifts, coordinates and the random
// numbers' multipliers are found through it, so several lattices live side by side; the operands of one statement share
// one.
#pragma once

#include "qdp/layout/geometry.hpp"
#include "qdp/util/multi.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "jit/support/owned.hpp"

namespace jit {
class Field;
}

namespace QDP::detail {

class LatticeState;

/// The sets that every lattice has.
enum class DefaultSet : int { all, rb, rb3, mcb };
/// The lattice that a field lives on.
const LatticeState& lattice_of(const jit::Field& field);

/// "lattice (4, 4, 4, 8)", for messages.
std::string describe(const LatticeState& lattice);

Coord to_coord(const multi1d<int>& x, const char* what);
multi1d<int> to_multi1d(const Coord& x);

}  // namespace QDP::detail

namespace QDP::Layout {

/// A lattice beside the one that Layout::create() makes: a coarse grid, a second volume.
///
///   const Layout::Lattice coarse(extents);
///   LatticeFermion eta(coarse);          // lives there
///   {
///     const Layout::Scope here(coarse);   // so does what is made without saying where, and Layout:: speaks of it
///     LatticeColorMatrix u;
///     eta[rb[0]] = u * shift(eta, FORWARD, mu);
///   }
///   eta *= 2;                            // statements find the lattice through their operands
///
/// Light to copy. A lattice lives as long as it is held here, by a field, a set or a map. Two lattices of the same
/// extents are different ones.
class Lattice {
 public:
  /// Throws jit::UserError as Layout::create() does.
  explicit Lattice(const multi1d<int>& extents);
  explicit Lattice(std::shared_ptr<const detail::LatticeState> state) : state_(std::move(state)) {}
  /// That of the innermost Scope, otherwise of the last Layout::create(). Throws jit::UserError if there is none.
  static Lattice present();

  /// That of a field.
  static Lattice of(const jit::Field& field);

  multi1d<int> extents() const;
  /// Sites, of all ranks and of this one.
  std::size_t vol() const;
  int sitesOnNode() const;
  bool operator==(const Lattice& other) const = default;

  const std::shared_ptr<const detail::LatticeState>& state() const { return state_; }

 private:
  std::shared_ptr<const detail::LatticeState> state_;
};

/// Until its end this lattice is the present one, for all threads.
class [[nodiscard]] Scope {
 public:
  explicit Scope(const Lattice& lattice);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  struct Before;
  jit::Owned<Before> before_;
};

}  // namespace QDP::Layout
