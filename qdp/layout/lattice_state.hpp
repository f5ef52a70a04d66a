// What a lattice is made of: its sites, which of them this rank has, the order they are stored in, and what follows from that
// alone, made when it is first asked for. Statements look here; programs have Layout::Lattice (lattice.hpp).
#pragma once

#include "jit/memory/field.hpp"
#include "jit/memory/sites.hpp"
#include "jit/support/on_demand.hpp"
#include "qdp/layout/geometry.hpp"
#include "qdp/layout/lattice.hpp"
#include "qdp/layout/set_tables.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace QDP::detail {

struct Faces;

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

/// The lattice that a field with this order lives on.
inline const LatticeState& lattice_of(const jit::SiteOrder& order) { return static_cast<const LatticeState&>(order); }

}  // namespace QDP::detail
