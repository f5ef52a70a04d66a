// A lattice: its sites, which of them this rank has, the order they are stored in, and what follows from that alone.
//
// Fields hold the lattice that they live on, as their order of sites. Default sets, shifts, coordinates and the random
// numbers' multipliers are found through it, so several lattices live side by side; the operands of one statement share
// one.
#pragma once

#include "jit/memory/field.hpp"
#include "jit/memory/sites.hpp"
#include "jit/support/on_demand.hpp"
#include "qdp/layout/geometry.hpp"
#include "qdp/util/multi.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace QDP::detail {

struct Faces;
struct SetTables;

/// The sets that every lattice has.
enum class DefaultSet : int { all, rb, rb3, mcb };
constexpr int kDefaultSets = 4;

/// INVARIANT: every order of sites that a field of the language has is one of these (order_to_lattice).
class LatticeState : public jit::SiteOrder, public std::enable_shared_from_this<LatticeState> {
 public:
  /// The lattice of these extents, shared out over all ranks of the job, in groups of `lanes` sites, or of fewer where they
  /// fit better and TESSERA_LANES does not say. `ranks`: of each
  /// direction; if empty, those are chosen. `what` names who wants it in errors.
  /// Throws jit::UserError for a wrong number of extents, extents < 1, more sites than a rank can number, or a grid of
  /// ranks that does not divide the lattice or has not as many as there are.
  static std::shared_ptr<const LatticeState> make(const char* what, const multi1d<int>& extents,
                                                  const multi1d<int>& ranks, int lanes);
  ~LatticeState();
  LatticeState(const LatticeState&) = delete;
  LatticeState& operator=(const LatticeState&) = delete;

  /// All sites, with their lexicographic numbers, which have 64 bits.
  const Geometry& whole() const { return whole_; }
  /// Those of this rank, with their host indices. Coordinates are those of the whole lattice.
  const Geometry& here() const { return here_; }
  const RankGrid& grid() const { return grid_; }
  int rank() const { return rank_; }
  /// Whether all ranks form groups of as many lanes.
  bool alike() const { return alike_; }

  /// Made at the first call, as all that follows.
  const SetTables& set(DefaultSet which) const {
    const SetTables* made = sets_[static_cast<std::size_t>(which)].made();
    return made != nullptr ? *made : make_set(which);
  }
  /// The domain of every site.
  const jit::Domain& everything() const;
  /// result(x) = source(x + sign mu), periodic; sign is 1 or -1.
  const std::shared_ptr<const jit::SiteMap>& neighbours(int sign, int mu) const;
  /// How a statement on this domain gets what these maps take from other ranks; all of them leave the rank. Collective.
  std::shared_ptr<const Faces> faces(const jit::Domain& domain, std::span<const jit::SiteMap* const> maps) const;
  /// A field that depends on nothing but the lattice, by whose it is and its number there: `make` fills it in host order
  /// at the first call. Not to be written. Whoever holds it holds the lattice.
  std::shared_ptr<jit::Field> constant_field(const void* owner, int number, jit::ir::Type word, int components,
                                             const std::function<void(void* host)>& make) const;

  /// Bytes of the tables that exist by now: the order of sites, domains and lists of sets, shifts. Constant fields count
  /// as fields.
  std::size_t table_bytes() const;

 private:
  LatticeState(const Geometry& whole, const RankGrid& grid, int rank, int lanes, bool alike);
  const SetTables& make_set(DefaultSet which) const;

  Geometry whole_, here_;
  RankGrid grid_;
  int rank_;
  bool alike_;
  std::array<jit::OnDemand<SetTables>, kDefaultSets> sets_;
  std::array<std::array<jit::OnDemand<std::shared_ptr<const jit::SiteMap>>, QDP_ND>, 2> neighbours_;
  // Under the run time's lock:
  mutable std::map<std::pair<const void*, int>, std::unique_ptr<jit::Field>> constants_;
  struct KnownFaces {
    std::shared_ptr<const Faces> faces;
    std::uint64_t used;  ///< number of the question
  };
  mutable std::map<std::vector<std::uint64_t>, KnownFaces> faces_;  ///< by the identities of domain and maps
  mutable std::uint64_t questions_ = 0;
};

/// The lattice that a field lives on.
inline const LatticeState& lattice_of(const jit::SiteOrder& order) { return static_cast<const LatticeState&>(order); }
inline const LatticeState& lattice_of(const jit::Field& field) { return lattice_of(field.order()); }

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

  multi1d<int> extents() const { return detail::to_multi1d(state_->whole().extents()); }
  /// Sites, of all ranks and of this one.
  std::size_t vol() const { return static_cast<std::size_t>(state_->whole().volume()); }
  int sitesOnNode() const { return static_cast<int>(state_->sites); }
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
  std::unique_ptr<Before> before_;
};

}  // namespace QDP::Layout
