// Sets colour the lattice; a subset is the sites of one colour.
//
//   chi[rb[0]] = zero;                    // even sites
//   Set timeslices(TimeSliceFunc(3));     // by the user, at any time after Layout::create()
//   sumMulti(x, timeslices)
//
// Sets and subsets are light to copy: they share their tables, which live as long as anyone needs them. The default sets
// are those of whatever lattice the field is on; sets of the user belong to the lattice that was present when they were
// made.
#pragma once

#include "qdp/layout/lattice.hpp"
#include "qdp/util/multi.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace jit {
struct Domain;
struct SiteOrder;
}  // namespace jit

namespace QDP {

/// The colour of a site, 0 .. numSubsets() - 1.
class SetFunc {
 public:
  virtual ~SetFunc() = default;
  virtual int operator()(const multi1d<int>& coordinate) const = 0;
  virtual int numSubsets() const = 0;
};

class Set;

namespace detail {

struct HostSites;
struct SetTables;
struct SubsetTables;

}  // namespace detail

class Subset {
 public:
  Subset() = default;
  virtual ~Subset();
  Subset(const Subset&);
  Subset& operator=(const Subset&);
  void make(const Subset& s) { *this = s; }

  // ---- as in QDP++. All of this throws jit::UserError for a subset that no set has made. The default sets are taken on
  // ---- the present lattice.

  int color() const;
  /// Host indices are start()..end() without a hole: then both are valid, otherwise -1.
  bool hasOrderedRep() const;
  int start() const;
  int end() const;
  /// Host indices, ascending.
  const multi1d<int>& siteTable() const;
  /// Sites on this rank; globalSites() has those of all.
  int numSiteTable() const;
  Set getSet() const;

  // ---- for the expression language

  const jit::Domain& domain() const;
  std::int64_t global_sites() const;
  /// On the lattice of a field. Throws jit::UserError if the set was made for another one.
  const jit::Domain& domain_for(const jit::SiteOrder& field_order) const;
  /// Its sites on the host, likewise: the siteTable() of that lattice.
  const multi1d<int>& sites_for(const jit::SiteOrder& field_order) const;
  /// The lattice of a set of the user, the present one for the default sets.
  const detail::LatticeState& lattice() const;
  /// "rb3[1]", for messages.
  std::string name() const;

 private:
  friend class Set;
  Subset(int default_set, int color) : default_set_(default_set), color_(color) {}
  const detail::SubsetTables& tables() const;
  const detail::SubsetTables& tables_for(const jit::SiteOrder& field_order) const;
  const detail::HostSites& host_sites() const;
  [[noreturn]] void fail_lattice(const jit::SiteOrder& field_order) const;

  int default_set_ = -1;  ///< DefaultSet, or -1: a set of the user
  int color_ = 0;
  std::shared_ptr<const detail::SubsetTables> tables_;  ///< shares ownership of the whole SetTables
};

class Set {
 public:
  Set() = default;
  Set(const SetFunc& function) { make(function); }
  /// One of those that every lattice has.
  explicit Set(detail::DefaultSet which);
  virtual ~Set();
  Set(const Set&);
  Set& operator=(const Set&);

  /// For the present lattice. Calls the function once per site. Throws jit::UserError naming the site if a colour is out
  /// of range.
  void make(const SetFunc& function);

  /// Throws jit::UserError if the index is out of range. The reference is valid as long as this set.
  const Subset& operator[](int subset_index) const {
    if (subset_index < 0 || subset_index >= numSubsets()) [[unlikely]]
      fail_index(subset_index);
    return subsets_[subset_index];
  }
  int numSubsets() const { return static_cast<int>(subsets_.size()); }
  /// Colour of each site, by host index.
  const multi1d<int>& latticeColoring() const;

 private:
  friend class Subset;
  void share(std::shared_ptr<const detail::SetTables> tables);
  [[noreturn]] void fail_index(int subset_index) const;

  std::shared_ptr<const detail::SetTables> tables_;  ///< of the user's sets
  std::vector<Subset> subsets_;
};

/// Sites of the subset on all ranks.
inline std::int64_t globalSites(const Subset& s) { return s.global_sites(); }

/// Every site.
extern Subset all;
/// Red-black: colour = parity of x+y+z+t.
extern Set rb;
/// Red-black in the first three directions: colour = parity of x+y+z.
extern Set rb3;
/// 2^(Nd+1) colours: place in the 2^Nd hypercube, lowest bit x, and above it the parity of the hypercube.
extern Set mcb;
/// rb[0] and rb[1].
extern Subset even, odd;

/// No effect: every lattice has the sets above.
void initDefaultSets();

}  // namespace QDP
